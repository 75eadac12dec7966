"""Pages out of view models: nothing that comes out of the data is taken for markup."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

import jobs.report
from jobs.report.pages import Site, assets, data_end_js, group_html
from tests.unit.report.drawn import generation, group, owned, storm
from transforms.report.group_page import group_page

FOLDER = Path(jobs.report.__path__[0])


def page_of(group_id: str) -> str:
    rows = group(
        group_id,
        generations=[generation(1, 100, reason=group_id, trigger_client_id=group_id)],
        assignments=[owned(0, group_id, 100, client_id=group_id)],
        rebalance_storms=[storm(100, 200, group_id=group_id, advice=group_id)],
    )
    return group_html(Site("c"), group_page(rows))


@given(st.text(alphabet=st.sampled_from("<>&'\"/{}%-! \\scriptSCRIPT\n\u202e\u2028\x00")))
@settings(deadline=None)  # the first page waits for the templates
def test_no_name_opens_a_tag(name: str) -> None:
    tags = re.compile(r"<[a-zA-Z/!][^>]*>")
    plain, hostile = page_of("x" * len(name)), page_of(name)
    assert len(tags.findall(plain)) == len(tags.findall(hostile))
    assert "\u202e" not in hostile and "\x00" not in hostile


def test_a_name_is_shown_as_it_is() -> None:
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page_of("<script>alert(1)</script>")


def test_a_page_without_news_is_the_same_however_far_the_data_goes() -> None:
    assert page_of("x") == page_of("x")
    assert "REPORT" in data_end_js(1.0) and data_end_js(1.0) != data_end_js(2.0)


def test_the_chart_library_is_the_one_that_is_told_of_with_its_licence() -> None:
    told = (FOLDER / "assets" / "VENDORED.md").read_text(encoding="utf-8")
    library = (FOLDER / "assets" / "echarts.min.js").read_bytes()
    assert hashlib.sha256(library).hexdigest() in told
    assert f"{len(library):,} bytes" in told
    assert {"echarts-LICENSE.txt", "echarts-NOTICE.txt", "echarts-LICENSE-d3.txt"} <= assets().keys()
