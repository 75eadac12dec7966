"""Cells of a notebook, run in this process with its parameters set: each kernel would start a Spark of its own."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import nbformat


def shown(notebook: Path, **parameters: Any) -> dict[str, Any]:
    """Run the code cells in order, and return what each shows, by its source.

    Args:
        notebook: the notebook.
        parameters: values for names that its first code cell sets.
    """
    cells = [cell.source for cell in nbformat.read(notebook, as_version=4).cells if cell.cell_type == "code"]
    names: dict[str, Any] = {}
    found = {cells[0]: _value(cells[0], names)}
    unknown = parameters.keys() - names.keys()
    if unknown:
        raise KeyError(f"{notebook.name} has no parameters named {', '.join(sorted(unknown))}")
    names.update(parameters)
    return found | {source: _value(source, names) for source in cells[1:]}


def _value(source: str, names: dict[str, Any]) -> Any:
    """Run a cell, but for IPython's own lines, and return the value of its last line; None where that has none."""
    body = ast.parse("\n".join(line for line in source.splitlines() if not line.startswith("%"))).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body, type_ignores=[]), "<cell>", "exec"), names)
    return None if last is None else eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)
