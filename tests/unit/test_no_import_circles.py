"""No file needs another one that needs it, be it for types only: so each can be read after those that it rests on."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RINGS = ("schemas", "transforms", "jobs")

Graph = dict[str, set[str]]


def modules(root: Path) -> dict[str, Path]:
    """Name of each module below the rings to its file; a package is its `__init__`."""
    found = {}
    for ring in RINGS:
        for path in (root / ring).rglob("*.py"):
            parts = path.relative_to(root).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(root: Path) -> Graph:
    """Module to the modules that it names, those below `TYPE_CHECKING` and inside functions too."""
    known = modules(root)
    return {name: {*_named(ast.parse(path.read_text(encoding="utf-8")), known)} for name, path in known.items()}


def _named(tree: ast.Module, known: dict[str, Path]) -> set[str]:
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name in known}
        elif isinstance(node, ast.ImportFrom):
            assert node.module is not None and not node.level, "relative imports are banned"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                found |= {inner if inner in known else node.module} & known.keys()
    return found


def circle(graph: Graph) -> list[str]:
    """One circle, its first module named again at the end; empty if there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_circle() -> None:
    assert circle(imports(ROOT)) == []


def test_a_circle_would_be_found(tmp_path: Path) -> None:
    package = tmp_path / "schemas"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "a.py").write_text("from schemas import b\n")
    (package / "b.py").write_text("def f():\n    import schemas.c\n")
    (package / "c.py").write_text("if TYPE_CHECKING:\n    from schemas.a import x\n")
    assert set(circle(imports(tmp_path))) == {"schemas.a", "schemas.b", "schemas.c"}
