"""The notebook as it is saved, and run anew on a lake."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from notebooks.run_notebook import FOLDER, run

NOTEBOOK = FOLDER / "group_timeline.ipynb"


def outputs(node: NotebookNode) -> list[NotebookNode]:
    return [output for cell in node.cells for output in cell.get("outputs", [])]


def images(node: NotebookNode) -> list[str]:
    return [output.data["image/png"] for output in outputs(node) if "image/png" in output.get("data", {})]


def test_saved_notebook_shows_its_charts_without_a_lake() -> None:
    node = nbformat.read(NOTEBOOK, as_version=4)
    assert len(images(node)) >= 2
    assert not [output for output in outputs(node) if output.output_type == "error"]
    assert str(FOLDER.parent) not in NOTEBOOK.read_text(encoding="utf-8")


def test_notebook_defines_no_logic() -> None:
    node = nbformat.read(NOTEBOOK, as_version=4)
    code = "\n".join(cell.source for cell in node.cells if cell.cell_type == "code")
    assert not [word for word in ("def ", "lambda", "for ", "while ", "if ", "groupby", "merge(") if word in code]


@pytest.mark.spark
@pytest.mark.slow
def test_notebook_runs_on_a_lake(lake: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REBALANCE__LAKE__ROOT", str(lake("kafka-4.2.0")))
    node = run(NOTEBOOK)
    assert len(images(node)) >= 2
    assert not [output for output in outputs(node) if output.output_type == "error"]
    assert not [output for output in outputs(node) if output.get("name") == "stderr"]
