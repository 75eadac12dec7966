"""The jobs as one command: `rebalance-analytics run --settings my.toml`, and each step by its name.

Each file in `jobs/` is a command, its name with dashes; `run_pipeline` is `run` for short.
"""

from __future__ import annotations

import ast
import difflib
import importlib
import importlib.metadata
import importlib.util
import pkgutil
import sys
from collections.abc import Sequence
from importlib.abc import InspectLoader

import jobs
from jobs.frame.exit_codes import ExitCode, guarded
from jobs.frame.neighbours import DISTRIBUTION
from transforms.errors import SettingsError

_SHORT = {"run_pipeline": "run"}


def commands() -> dict[str, str]:
    """Return the commands, each with the module that it is."""
    modules = [each.name for each in pkgutil.iter_modules(jobs.__path__) if not each.ispkg and each.name[0] != "_"]
    modules.sort(key=lambda name: (name not in _SHORT, name))
    return {_SHORT.get(name, name.replace("_", "-")): f"jobs.{name}" for name in modules}


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; return its exit code.

    Args:
        argv: the command and its own arguments; None = those of the process.
    """
    name, *rest = list(sys.argv[1:] if argv is None else argv) or [""]
    if name in ("-h", "--help", ""):
        sys.stdout.write(_help())
        return int(ExitCode.DONE if name else ExitCode.BAD_SETTINGS)
    if name == "--version":
        sys.stdout.write(f"{DISTRIBUTION} {version()}\n")
        return int(ExitCode.DONE)
    return guarded(lambda: _run(name, rest))


def version() -> str:
    """Return the version that is installed; of a checkout, that it is one."""
    try:
        return importlib.metadata.version(DISTRIBUTION)
    except importlib.metadata.PackageNotFoundError:
        return "(a checkout)"


def summary(module: str) -> str:
    """Return the first line of what a module says of itself, without importing it."""
    spec = importlib.util.find_spec(module)
    assert spec is not None, f"{module} is one of our own"
    assert isinstance(spec.loader, InspectLoader), "modules of files and of zips can be read"
    text = ast.get_docstring(ast.parse(spec.loader.get_source(module) or "")) or ""
    return text.partition("\n")[0]


def _run(name: str, rest: Sequence[str]) -> int:
    known = commands()
    if name not in known:
        near = difflib.get_close_matches(name.replace("_", "-"), known, n=1)
        meant = f"; did you mean {near[0]}?" if near else ""
        raise SettingsError(f"there is no command {name}{meant} (known: {', '.join(known)})")
    sys.argv[0] = f"{DISTRIBUTION} {name}"  # what --help and errors of the command call it
    code: int = importlib.import_module(known[name]).main(rest)
    return code


def _help() -> str:
    known = commands()
    width = max(map(len, known))
    lines = [f"usage: {DISTRIBUTION} COMMAND [--settings FILE] [--KEY=VALUE …]", ""]
    lines += [f"  {name:<{width}}  {summary(module)}" for name, module in known.items()]
    lines += ["", f"{DISTRIBUTION} COMMAND --help shows a command's own arguments and all settings."]
    return "\n".join(lines) + "\n"
