"""The report as a person sees it: in Chromium, by mouse and by keys, wide and narrow, in light and dark."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver import ActionChains, Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from tests.report.conftest import HOSTILE, PICTURES, Published
from tests.support.browser import browser, complaints, keep_picture

pytestmark = [pytest.mark.spark, pytest.mark.slow]

MARKS = """
return [...document.querySelectorAll("figure.chart .canvas")].map((node) =>
  echarts.getInstanceByDom(node).getZr().storage.getDisplayList(true)
    .filter((each) => each.type !== "text" && each.type !== "tspan" && !each.ignore && !each.invisible).length)
"""
"""How many shapes each chart of the page has drawn."""

COLOURS = """
const colours = (node) => [...node.querySelectorAll("svg path, svg rect")].map((each) => each.getAttribute("fill"));
return new Set([...document.querySelectorAll("figure.chart .canvas")].flatMap(colours)).size
"""

RANGE = "return CHARTS.find((each) => each.kind === Timeline).range()"

CONTRAST = """
const light = (text) => {
  const [r, g, b] = text.match(/[\\d.]+/g).slice(0, 3).map(Number).map((each) => each / 255)
    .map((each) => (each <= 0.03928 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const ground = (node) => {
  for (let each = node; each; each = each.parentElement) {
    const colour = getComputedStyle(each).backgroundColor;
    if (!/, 0\\)$/.test(colour)) return colour;
  }
  return "rgb(255, 255, 255)";
};
return [...document.querySelectorAll("h1, h2, h3, p, dt, dd, td, th, a, summary, button, .chip, li")]
  .filter((node) => node.checkVisibility() && node.textContent.trim())
  .map((node) => {
    const [a, b] = [light(getComputedStyle(node).color), light(ground(node))];
    return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), node.textContent.trim().slice(0, 60)];
  })
  .filter(([ratio]) => ratio < 4.5)
"""
"""Texts that stand out from their ground by less than WCAG 2.2 AA asks for."""


CUT_OFF = """
return [...document.querySelectorAll(".scroll")].filter((each) => each.scrollHeight > each.clientHeight + 2).length
"""


@pytest.fixture(scope="module")
def chrome() -> Iterator[Chrome]:
    with browser() as started:
        yield started


def visit(chrome: Chrome, page: Path) -> None:
    chrome.get(page.as_uri())


def pages(published: Published) -> dict[str, Path]:
    return {
        "index": published.folder / "index.html",
        "findings": published.folder / "findings.html",
        "quality": published.folder / "quality.html",
        "storm": published.page_of("checkout-storm"),
        "burst": published.page_of("fraud-zombie"),
        "static": published.page_of("ledger-static"),
        "commits-only": published.page_of("simple-tool"),
    }


def test_every_chart_of_every_page_has_marks_and_no_page_complains(chrome: Chrome, published: Published) -> None:
    charts = 0
    for page in published.folder.rglob("*.html"):
        visit(chrome, page)
        drawn = chrome.execute_script(MARKS) if chrome.find_elements(By.CSS_SELECTOR, "figure.chart") else []
        assert all(marks >= 3 for marks in drawn), page
        assert complaints(chrome) == [], page
        charts += len(drawn)
    assert charts > 10


@pytest.mark.parametrize(
    ("group", "has_ways", "step"),
    [
        ("modern-848", True, "epoch"),
        ("streams-wc", False, "epoch"),
        ("share-pay", False, "epoch"),
        ("ledger-static", False, "generation"),
    ],
)
def test_a_page_of_each_protocol_draws_what_its_protocol_has(
    chrome: Chrome, published: Published, group: str, has_ways: bool, step: str
) -> None:
    visit(chrome, published.page_of(group))
    (data,) = chrome.execute_script("return CHARTS.filter((each) => each.kind === Timeline).map((each) => each.data)")
    panels = {panel["name"]: panel for panel in data["panels"]}
    assert panels["states"]["lanes"] == [step, "state"]
    assert panels["members, and how they went"]["bars"]
    assert ("members on their way to their targets" in panels) == has_ways
    assert chrome.execute_script(MARKS)[0] >= sum(len(panel["bars"]) + len(panel["marks"]) for panel in data["panels"])
    assert complaints(chrome) == []
    heading = chrome.find_element(By.CSS_SELECTOR, "#rows + *").text
    assert heading.startswith(f"{step.capitalize()}s, the newest first")


@pytest.mark.parametrize("is_dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390], ids=["wide", "narrow"])
def test_pages_can_be_read_in_light_and_dark_wide_and_narrow(published: Published, width: int, is_dark: bool) -> None:
    with browser(width, 900, is_dark) as chrome:
        for name, page in pages(published).items():
            visit(chrome, page)
            assert chrome.execute_script("return document.documentElement.scrollWidth <= innerWidth"), name
            assert chrome.execute_script(CONTRAST) == [], name
            assert complaints(chrome) == []
            keep_picture(chrome, PICTURES / f"{name}-{width}-{'dark' if is_dark else 'light'}.png")
        ground = chrome.execute_script("return getComputedStyle(document.body).backgroundColor")
        assert (sum(int(each) for each in ground[4:-1].split(",")) < 384) == is_dark


def test_charts_follow_when_light_turns_dark(published: Published) -> None:
    with browser() as chrome:
        visit(chrome, published.page_of("checkout-storm"))
        first = "return CHARTS[0].node.querySelector('svg text[fill]').getAttribute('fill')"
        light = chrome.execute_script(first)
        dark = [{"name": "prefers-color-scheme", "value": "dark"}]
        chrome.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": dark})
        WebDriverWait(chrome, 5).until(lambda _: chrome.execute_script(first) != light)
        assert chrome.execute_script(COLOURS) > 5


def test_the_timeline_is_zoomed_and_moved_by_keys(chrome: Chrome, published: Published) -> None:
    visit(chrome, published.page_of("checkout-storm"))
    canvas = chrome.find_element(By.CSS_SELECTOR, "figure.chart .canvas")
    begin, end = chrome.execute_script(RANGE)
    canvas.send_keys("+")
    closer = chrome.execute_script(RANGE)
    assert begin < closer[0] < closer[1] < end
    canvas.send_keys(Keys.ARROW_RIGHT)
    later = chrome.execute_script(RANGE)
    assert later[0] > closer[0]
    assert later[1] - later[0] == pytest.approx(closer[1] - closer[0], abs=2)
    assert chrome.find_element(By.CSS_SELECTOR, "figure.chart output").text.count("2026-") == 2
    canvas.send_keys("0")
    assert chrome.execute_script(RANGE) == pytest.approx([begin, end], abs=2)


def test_a_finding_leads_to_its_place_in_the_timeline_and_to_its_rows(chrome: Chrome, published: Published) -> None:
    visit(chrome, published.page_of("fraud-zombie"))
    whole = chrome.execute_script(RANGE)
    button = chrome.find_element(By.CSS_SELECTOR, "[data-zoom]")
    begin, end = (float(each) for each in button.get_attribute("data-zoom").split())
    button.send_keys(Keys.ENTER)
    seen = chrome.execute_script(RANGE)
    assert seen[0] <= begin and seen[1] >= end
    assert seen[1] - seen[0] < whole[1] - whole[0]
    visit(chrome, published.page_of("checkout-storm"))
    chrome.find_element(By.CSS_SELECTOR, "details summary").send_keys(Keys.ENTER)
    link = chrome.find_element(By.CSS_SELECTOR, "table.evidence a")
    row = chrome.find_element(By.ID, link.get_attribute("href").partition("#")[2])
    assert link.text == row.find_element(By.TAG_NAME, "td").text


def test_hovering_tells_what_happened(chrome: Chrome, published: Published) -> None:
    visit(chrome, published.page_of("checkout-storm"))
    canvas = chrome.find_element(By.CSS_SELECTOR, "figure.chart .canvas")
    place = chrome.execute_script(
        """const {chart, data} = CHARTS[0];
        const at = data.panels.findIndex((panel) => panel.marks.length);
        const mark = data.panels[at].marks[3];
        CHARTS[0].node.scrollIntoView({block: "center", behavior: "instant"});
        return chart.convertToPixel({xAxisIndex: at, yAxisIndex: at}, [mark.at, mark.lane]).concat(mark.tip)"""
    )
    size = canvas.size
    move = ActionChains(chrome, duration=50)
    move.move_to_element_with_offset(canvas, place[0] - size["width"] // 2, place[1] - size["height"] // 2).perform()
    tip = chrome.find_element(By.CSS_SELECTOR, ".tip").text
    assert tip.splitlines()[:2] == place[2:4]


def test_groups_are_searched_and_sorted_by_keys_alone(chrome: Chrome, published: Published) -> None:
    visit(chrome, published.folder / "index.html")
    chrome.find_element(By.TAG_NAME, "body").send_keys("/")
    field = chrome.switch_to.active_element
    assert field.get_attribute("id") == "search"
    field.send_keys("storm")
    rows = chrome.find_elements(By.CSS_SELECTOR, "#group-list tbody tr")
    assert [row.find_element(By.TAG_NAME, "td").text for row in rows if row.is_displayed()] == ["checkout-storm"]
    field.send_keys(Keys.ESCAPE)
    chrome.find_element(By.CSS_SELECTOR, "#group-list th button").send_keys(Keys.ENTER)
    names = [cell.text for cell in chrome.find_elements(By.CSS_SELECTOR, "#group-list tbody td:first-child")]
    assert chrome.find_element(By.CSS_SELECTOR, "#group-list th").get_attribute("aria-sort") == "ascending"
    assert names == chrome.execute_script("return arguments[0].toSorted((a, b) => a.localeCompare(b))", names)
    field.send_keys("storm", Keys.ENTER)
    assert chrome.title.startswith("checkout-storm")


def test_a_name_that_is_a_script_is_shown_and_does_not_run(chrome: Chrome, published: Published) -> None:
    script = HOSTILE["warm-up"]
    for page in (published.folder / "index.html", published.page_of(script)):
        visit(chrome, page)
        assert chrome.title != "run"
        assert script in chrome.find_element(By.TAG_NAME, "main").text
        assert complaints(chrome) == []
    visit(chrome, published.folder / "index.html")
    chrome.find_element(By.ID, "search").send_keys("<script>", Keys.ENTER)
    assert chrome.find_element(By.TAG_NAME, "h1").text == script


def test_a_script_that_is_not_of_the_site_does_not_run(chrome: Chrome, published: Published) -> None:
    visit(chrome, published.folder / "index.html")
    chrome.execute_script(
        "const node = document.createElement('script'); node.textContent = 'window.ran = 1'; document.body.append(node)"
    )
    assert chrome.execute_script("return window.ran") is None
    assert any("Content Security Policy" in each for each in complaints(chrome))


def test_in_print_nothing_is_cut_off_and_the_charts_are_light(published: Published) -> None:
    with browser(is_dark=True) as chrome:
        visit(chrome, published.page_of("checkout-storm"))
        chrome.execute_script("dispatchEvent(new Event('beforeprint'))")
        fill = chrome.execute_script("return getComputedStyle(document.documentElement).getPropertyValue('--ground')")
        assert fill.strip() == "#fdfdfc"
        chrome.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
        assert chrome.execute_script(CUT_OFF) == 0
