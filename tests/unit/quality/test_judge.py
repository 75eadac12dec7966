"""Great Expectations as the judge of counts, and the pages that come of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from jobs.quality.offline import without_network

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
    from jobs.quality.judge import Count, Judge

    site = tmp_path / "report" / "quality"
    site.mkdir(parents=True)
    (site / "gold.old_table.html").touch()
    at = "2026-11-20T12:00:00+00:00"
    owner = Count("gold.assignments", "one_owner", "a partition has one owner", "critical", 2, (HOSTILE,), at)
    key = Count("gold.assignments", "unique(cluster, group_id)", "keys differ", "critical", 0, (), at)
    odd = Count("gold.coordinators", "group_in_its_partition", "a group is at home", "warning", 1, ("{}",), at)
    assert Judge(LocalFiles(site.parent)).failed([owner, key, odd]) == [owner, odd]
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
