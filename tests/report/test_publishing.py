"""What of a report is written, and what is left as it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from jobs import publish_report
from tests.report.conftest import HOSTILE, Published
from tests.support.lakes import CLUSTER

pytestmark = [pytest.mark.spark, pytest.mark.slow]


def test_a_report_without_news_is_left_as_it_is(published: Published) -> None:
    assert published.unchanged == published.before
    assert len([name for name in published.before if name.startswith("groups/")]) > 10


def test_only_pages_of_groups_that_changed_are_written_again(published: Published) -> None:
    def pages(files: dict[str, int]) -> dict[str, int]:
        return {name: at for name, at in files.items() if name.startswith("groups/")}

    before, after = pages(published.unchanged), pages(published.after)
    changed = {name for name, at in after.items() if before.get(name) != at}
    assert changed == {f"groups/{published.page_of(name).name}" for name in HOSTILE.values()}
    gone = before.keys() - after.keys()
    assert gone == {f"groups/{published.page_of(name).name}" for name in HOSTILE}
    assert published.after["assets/echarts.min.js"] == published.before["assets/echarts.min.js"]


def test_a_page_that_was_deleted_by_hand_is_written_again(published: Published) -> None:
    page = published.page_of("checkout-storm")
    page.unlink()
    arguments = [f"--cluster={CLUSTER}", f"--lake.root={published.folder.parent}"]
    assert publish_report.main(arguments) == 0
    assert page.is_file()


def test_the_results_of_the_quality_gate_are_linked_once_they_are_there(published: Published) -> None:
    link = 'href="quality/index.html"'
    assert link not in (published.folder / "quality.html").read_text(encoding="utf-8")
    (published.folder / "quality").mkdir()
    (published.folder / "quality" / "index.html").write_text("<!DOCTYPE html><title>checks</title>")
    assert publish_report.main([f"--cluster={CLUSTER}", f"--lake.root={published.folder.parent}"]) == 0
    assert link in (published.folder / "quality.html").read_text(encoding="utf-8")


def test_a_group_with_a_path_for_a_name_stays_in_the_folder(published: Published) -> None:
    outside = {path.name for path in published.folder.parent.iterdir()}
    assert not {name for name in outside if name.startswith("x")}
    assert published.page_of("../../x").is_file()
    assert published.page_of("../../x").resolve().parent == (published.folder / "groups").resolve()


def test_there_is_one_copy_of_the_chart_library_and_no_address_of_another_machine(published: Published) -> None:
    library = [path for path in published.folder.rglob("*.js") if path.stat().st_size > 500_000]
    assert [path.name for path in library] == ["echarts.min.js"]
    for page in published.folder.rglob("*.html"):
        assert "://" not in page.read_text(encoding="utf-8"), page


def test_a_folder_with_the_report_of_another_cluster_is_refused(
    published: Published, capsys: pytest.CaptureFixture[str]
) -> None:
    root = published.folder.parent
    assert publish_report.main(["--cluster=other", f"--lake.root={root}"]) == 2
    said = capsys.readouterr().err
    assert "report.path" in said and CLUSTER in said


def test_the_report_goes_where_the_settings_say_and_a_lost_manifest_costs_only_time(
    published: Published, tmp_path: Path, capsys: pytest.CaptureFixture[Any]
) -> None:
    arguments = [f"--cluster={CLUSTER}", f"--lake.root={published.folder.parent}", f"--report.path={tmp_path / 'here'}"]
    assert publish_report.main(arguments) == 0
    assert str(tmp_path / "here" / "index.html") in capsys.readouterr().out
    (tmp_path / "here" / "manifest.json").write_text("{")
    assert publish_report.main(arguments) == 0
    manifest = json.loads((tmp_path / "here" / "manifest.json").read_text())
    assert len(manifest["pages"]) == len(list((tmp_path / "here" / "groups").iterdir()))
