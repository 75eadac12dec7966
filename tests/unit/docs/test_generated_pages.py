"""The pages of `docs/` say what the code says, and nobody has to remember to write them anew."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from docs.generator.error_codes import OF_SOURCES
from docs.generator.pages import FOLDER, pages
from schemas.catalog import TABLES
from schemas.columns import COLUMNS
from schemas.privacy import HOLDING

ROOT = FOLDER.parent


PAGES = pages()


@pytest.mark.parametrize("name", PAGES)
def test_a_generated_page_is_what_its_generator_makes(name: str) -> None:
    if name == "licences.md" and sys.version_info[:2] != (3, 11):
        pytest.skip("which packages are needed differs a little from Python to Python; the page is of 3.11")
    is_fresh = (FOLDER / name).read_text(encoding="utf-8") == PAGES[name]()
    assert is_fresh, f"docs/{name} is not what the code says any more: run `make docs` and commit it"


def test_each_table_and_column_is_in_the_dictionary() -> None:
    text = (FOLDER / "data-dictionary.md").read_text(encoding="utf-8")
    for spec in TABLES:
        section = text.partition(f"### {spec.full_name}\n")[2].partition("\n### ")[0]
        assert all(f"| `{name}`" in section for name in spec.columns), spec.full_name


def test_personal_columns_are_columns_and_marked() -> None:
    assert set(COLUMNS) >= HOLDING
    text = (FOLDER / "data-dictionary.md").read_text(encoding="utf-8")
    generations = text.partition("### gold.generations\n")[2].partition("\n### ")[0]
    assert "`trigger_client_host` ●" in generations
    assert "`joined_member_ids` ●" in generations
    assert "`group_id` ●" not in generations


def test_each_reason_a_source_gives_is_in_the_list() -> None:
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "jobs" / "sources").rglob("*.py"))
    assert all(f'"{reason}"' in sources for reason in OF_SOURCES)


@pytest.mark.parametrize("page", [*sorted(FOLDER.glob("*.md")), *sorted(ROOT.glob("*.md"))], ids=lambda path: path.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
        file, _, anchor = target.partition("#")
        if "://" in target:
            continue
        there = (page.parent / file) if file else page
        assert there.exists(), f"{page.name} links to {target}"
        if anchor and there.suffix == ".md":
            assert anchor in _anchors(there), f"{page.name} links to {target}"


def _anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
