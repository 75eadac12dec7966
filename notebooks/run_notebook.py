"""Run a notebook from the beginning and save it with what it shows.

    python notebooks/run_notebook.py [notebook …]

What is saved is the same on every machine: no run times, no kernel's details, nothing that Spark writes to standard
error. The lake is that of REBALANCE__LAKE__ROOT, else the demo's.
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode

FOLDER = Path(__file__).resolve().parent
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
_LOG = logging.getLogger("run_notebook")


def run(notebook: Path, timeout_seconds: int = 600) -> NotebookNode:
    """Run all cells in the notebook's own folder, and return it with its outputs.

    Raises:
        CellExecutionError: a cell failed.
        ValueError: an output names a folder of this machine.
    """
    node = nbformat.read(notebook, as_version=4)
    resources = {"metadata": {"path": str(FOLDER)}}
    NotebookClient(node, timeout=timeout_seconds, kernel_name=KERNEL["name"], resources=resources).execute()
    _clean(node)
    for text in _texts(node):
        if str(FOLDER.parent) in text:
            raise ValueError(f"{notebook.name}: an output names a folder of this machine: {text[:200]}")
    return node


def _clean(node: NotebookNode) -> None:
    """Drop what differs from run to run."""
    node.metadata = NotebookNode(kernelspec=KERNEL, language_info={"name": "python"})
    for cell in node.cells:
        cell.metadata = NotebookNode()
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]


def _texts(node: NotebookNode) -> Iterator[str]:
    """All text of the outputs."""
    for cell in node.cells:
        for output in cell.get("outputs", []):
            yield output.get("text", "")
            yield from (data for kind, data in output.get("data", {}).items() if kind.startswith("text/"))


def main(arguments: Sequence[str]) -> int:
    """Run the notebooks named, or all of them, in place; the exit code is 1 if one fails."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    parser = argparse.ArgumentParser(description="Run notebooks and save them with their outputs.")
    parser.add_argument("notebooks", nargs="*", type=Path, help="default: all notebooks of this folder")
    for notebook in parser.parse_args(arguments).notebooks or sorted(FOLDER.glob("*.ipynb")):
        try:
            node = run(notebook)
        except (CellExecutionError, ValueError) as error:
            _LOG.error("%s", error)
            return 1
        nbformat.write(node, notebook)
        _LOG.info("%s: %d cells run", notebook.name, len(node.cells))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
