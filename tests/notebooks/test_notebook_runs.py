"""The notebooks as they are saved, and run anew on a lake."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from matplotlib.figure import Figure
from nbformat import NotebookNode

from notebooks.run_notebook import FOLDER, run
from tests.support.cells import shown

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


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize(
    ("group", "word"),
    [("modern-848", "STABLE"), ("share-pay", "member"), ("streams-wc", "STABLE"), ("checkout-storm", "member")],
)
def test_the_notebook_of_one_group_shows_groups_of_every_protocol(
    group: str, word: str, lake: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.path", [*sys.path])
    found = shown(FOLDER / "group_timeline.ipynb", LAKE=str(lake("kafka-4.2.0")), GROUP=group)
    drawings = {source: value for source, value in found.items() if isinstance(value, Figure)}
    assert list(drawings) == ["book.states()", "book.ownership()", "book.members()"]
    for figure in drawings.values():
        figure.draw_without_rendering()
    (panel,) = drawings["book.members()"].axes
    assert word in {each.get_label() for each in panel.collections}
    assert group in set(found["book.groups()"]["group_id"])
