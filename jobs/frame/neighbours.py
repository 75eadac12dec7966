"""Whether the packages beside `jobs` are ours: `transforms` and `schemas` are names that somebody else may have too.

A foreign package of such a name hides ours if it comes first on Python's path, and mixes with ours if it is installed
in the same environment, where pip lets the later one write over the earlier.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

DISTRIBUTION = "rebalance-analytics"
PACKAGES = ("jobs", "transforms", "schemas")
_ADVICE = "install Rebalance Analytics in an environment of its own, or take the other out of PYTHONPATH"


def refuse_strangers() -> None:
    """End the process with one sentence and exit code 2 if a package is not ours."""
    found = stranger(Path(__file__).parents[2])
    if found:
        sys.stderr.write(f"error: {found}; {_ADVICE}\n")
        raise SystemExit(2)


def stranger(home: Path) -> str | None:
    """Say which package is not ours, and why it is known; None if all of them are.

    Args:
        home: folder, or zip, that our packages lie in.
    """
    return next(_hiding(home), None) or next(_mixed_in(home), None)


def _hiding(home: Path) -> Iterator[str]:
    """Packages that Python would import from elsewhere."""
    for name in PACKAGES:
        spec = importlib.util.find_spec(name)
        places = list(spec.submodule_search_locations or [spec.origin or ""]) if spec else []
        if not places:
            yield f"the package {name} is not in {home}"
        elif home / name not in map(Path, places):
            yield f"the package {name} in {places[0]} is not that of Rebalance Analytics"


def _mixed_in(home: Path) -> Iterator[str]:
    """What an installation put into our packages that pip did not install with them."""
    installed = _installed(home)
    if installed is None:
        return
    ours = {PurePosixPath(file.as_posix()): file.size for file in installed.files or ()}
    known = {path.parts[:2] for path in ours}
    for name in PACKAGES:
        for path in sorted((home / name).iterdir()):
            if path.name != "__pycache__" and (name, path.name) not in known and _is_code(path):
                yield f"{path} belongs to another package {name} in the same environment"
        begin = home / name / "__init__.py"
        if begin.stat().st_size != ours.get(PurePosixPath(name, "__init__.py"), begin.stat().st_size):
            yield f"{begin} was written over by another package {name}"


def _installed(home: Path) -> importlib.metadata.Distribution | None:
    """Return the installation that `home` is of; None if it is a checkout or a zip."""
    if not home.is_dir():
        return None
    found = importlib.metadata.distributions(name=DISTRIBUTION, path=[str(home)])
    return next((each for each in found if Path(str(each.locate_file("jobs"))).is_dir()), None)


def _is_code(path: Path) -> bool:
    return path.suffix in (".py", ".so", ".pyd") or (path.is_dir() and any(path.glob("**/*.py")))
