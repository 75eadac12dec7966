"""The notebooks as they are saved, and run anew on a lake."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from notebooks.run_notebook import FOLDER, run

NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
EACH = pytest.mark.parametrize("notebook", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])


def outputs(node: NotebookNode) -> list[NotebookNode]:
    return [output for cell in node.cells for output in cell.get("outputs", [])]


def images(node: NotebookNode) -> list[str]:
    return [output.data["image/png"] for output in outputs(node) if "image/png" in output.get("data", {})]


@EACH
def test_a_saved_notebook_shows_its_charts_without_a_lake(notebook: Path) -> None:
    node = nbformat.read(notebook, as_version=4)
    assert images(node)
    assert not [output for output in outputs(node) if output.output_type == "error"]
    assert str(FOLDER.parent) not in notebook.read_text(encoding="utf-8")


@EACH
def test_a_notebook_defines_no_logic(notebook: Path) -> None:
    node = nbformat.read(notebook, as_version=4)
    code = "\n".join(cell.source.partition("#")[0] for cell in node.cells[2:] if cell.cell_type == "code")
    assert not [word for word in ("def ", "lambda", "for ", "while ", "if ", "groupby", "merge(") if word in code]


@EACH
def test_a_notebook_says_first_what_it_looks_at(notebook: Path) -> None:
    first = next(cell for cell in nbformat.read(notebook, as_version=4).cells if cell.cell_type == "code")
    names = [line.partition(" ")[0] for line in first.source.splitlines()]
    assert names[:5] == ["LAKE", "CLUSTER", "GROUP", "SINCE", "UNTIL"]


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("notebook", [path for path in NOTEBOOKS if path.stem in ("fleet", "group_timeline")])
def test_a_notebook_runs_on_a_lake(
    notebook: Path, lake: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REBALANCE__LAKE__ROOT", str(lake("kafka-4.2.0")))
    monkeypatch.setenv("REBALANCE__SPARK__PROPERTIES", str(FOLDER.parent / "conf" / "spark-defaults-demo.conf"))
    node = run(notebook)
    assert images(node)
    assert not [output for output in outputs(node) if output.output_type == "error"]
    assert not [output for output in outputs(node) if output.get("name") == "stderr"]
