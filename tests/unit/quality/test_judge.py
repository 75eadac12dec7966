"""Great Expectations as the judge of counts, and the pages that come of it."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from jobs.lake.processes import process_start
from jobs.quality.offline import without_network
from tests.support.package import ROOT

if TYPE_CHECKING:
    from jobs.quality.judge import Count

HOSTILE = '{"group_id":"<script>alert(1)</script>","member_id":"$PARAM & </table>"}'


def test_a_page_loads_nothing_and_runs_nothing() -> None:
    page = (
        '<html><head><link rel="stylesheet" href="https://cdn.example/a.css"><link href="./own.css">'
        "<script src=\"https://cdn.example/b.js\"></script><style>a { background: url('https://cdn.example/c.png') }"
        '</style></head><body><img class="logo"\n src="https://cdn.example/d.png"><p>kept</p>'
        "<script>\nboom()</script></body></html>"
    )
    plain = without_network(page)
    assert "cdn.example" not in plain
    assert "boom" not in plain
    assert "<p>kept</p>" in plain
    assert './own.css"' in plain


@pytest.mark.slow
def test_counts_are_judged_and_shown(tmp_path: Path) -> None:
    from jobs.jvm.files import LocalFiles
    from jobs.quality.judge import Count
    from jobs.quality.judging import judging, put_pages

    site = tmp_path / "report" / "quality"
    site.mkdir(parents=True)
    (site / "gold.old_table.html").touch()
    at = "2026-11-20T12:00:00+00:00"
    owner = Count("gold.assignments", "one_owner", "a partition has one owner", "critical", 2, (HOSTILE,), at)
    key = Count("gold.assignments", "unique(cluster, group_id)", "keys differ", "critical", 0, (), at)
    odd = Count("gold.coordinators", "group_in_its_partition", "a group is at home", "warning", 1, ("{}",), at)
    counts = [owner, key, odd]
    judgements = judging().judge(counts)
    put_pages(LocalFiles(site.parent), "prod", counts, judgements)
    assert {table: judgement.failed for table, judgement in judgements.items()} == {
        owner.table: (owner.check,),
        odd.table: (odd.check,),
    }
    index = (site / "index.html").read_text(encoding="utf-8")
    assert "1 broken, 1 of them critical" in index
    assert "1 broken, none critical" in index
    assert not (site / "gold.old_table.html").exists(), "pages of an earlier run are left"
    pages = [site / page for page in re.findall(r'href="([^"]+)"', index)]
    assert len(pages) == 2
    told = pages[0].read_text(encoding="utf-8")
    led_to = [site / link for link in re.findall(r'href="([^"#]+)', told)]
    assert led_to
    assert all(page.is_file() for page in led_to)
    assert "critical: a partition has one owner. Rows that break it: 2, such as" in told
    assert "alert(1)" in told
    assert "<script" not in told
    assert '</table>"' not in told


@pytest.mark.slow
def test_what_is_judged_already_need_not_be_judged_again() -> None:
    """Unless another count of the table was made since."""
    from jobs.quality.judge import Judge

    judge = Judge()
    first = judge.judge([_count("gold.generations", 0), _count("gold.assignments", 0)])
    again = judge.judge([_count("gold.generations", 0), _count("gold.assignments", 1)])
    assert again["gold.generations"] is first["gold.generations"]
    assert [each["gold.assignments"].failed for each in (first, again)] == [(), ("one_owner",)]


@pytest.mark.slow
def test_counts_are_judged_though_the_process_for_it_has_ended() -> None:
    from jobs.quality.judging import Judging

    judging = Judging()
    assert judging.judge([_count("gold.assignments", 1)])["gold.assignments"].failed == ("one_owner",)
    process = judging._process
    assert process is not None
    process.kill()
    process.wait()
    assert judging.judge([_count("gold.assignments", 1)])["gold.assignments"].failed == ("one_owner",)
    assert judging.judge([_count("gold.assignments", 0)])["gold.assignments"].failed == ()


def test_the_process_that_judges_ends_with_the_one_that_asks() -> None:
    asking = "from jobs.quality.judging import judging; j = judging(); j.look_at([]); print(j._process.pid)"
    asked = subprocess.run([sys.executable, "-c", asking], cwd=ROOT, capture_output=True, text=True, check=True)
    until = time.monotonic() + 60
    while process_start(int(asked.stdout)) and time.monotonic() < until:
        time.sleep(0.1)
    assert process_start(int(asked.stdout)) is None


def _count(table: str, failed_row_count: int) -> Count:
    from jobs.quality.judge import Count

    said = ("one_owner", "a partition has one owner", "critical", failed_row_count, (), "2026-11-20T12:00:00+00:00")
    return Count(table, *said)


@pytest.mark.slow
def test_pages_of_another_cluster_stay_as_they_are(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    from jobs.jvm.files import LocalFiles
    from jobs.quality.judge import Count
    from jobs.quality.judging import judging, put_pages

    files = LocalFiles(tmp_path)
    of_one, of_other = (
        [Count(table, "one_owner", "a partition has one owner", "critical", 0, (), "2026-11-20T12:00:00+00:00")]
        for table in ("gold.assignments", "gold.generations")
    )
    put_pages(files, HOSTILE, of_one, judging().judge(of_one))
    before = {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / "quality").iterdir()}
    put_pages(files, "b", of_other, judging().judge(of_other))
    assert {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / "quality").iterdir()} == before
    assert "set report.path for b" in caplog.text
    put_pages(files, HOSTILE, of_other, judging().judge(of_other))
    assert {path.name for path in (tmp_path / "quality").iterdir()} == {"index.html", "gold.generations.html"}
