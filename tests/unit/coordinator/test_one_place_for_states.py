"""A group changes its state in one file, whatever brings it about."""

from __future__ import annotations

import ast
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[3] / "transforms" / "coordinator"
STATES = {"state", "previous_state"}


def setters(root: Path) -> set[str]:
    """Files in which something's state is set."""
    found = set()
    for path in root.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            flat = [each for target in targets for each in (target.elts if isinstance(target, ast.Tuple) else [target])]
            names = {each.attr for each in flat if isinstance(each, ast.Attribute) and not _is_own(each)}
            if names & STATES:
                found.add(path.relative_to(root).as_posix())
    return found


def _is_own(target: ast.Attribute) -> bool:
    """`self.state`, by which an object keeps what it was given."""
    return isinstance(target.value, ast.Name) and target.value.id == "self"


def test_one_file_sets_the_state_of_a_classic_group() -> None:
    assert setters(FOLDER) == {"classic/machine/moves.py"}
