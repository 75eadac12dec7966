"""Pages out of view models: the templates, and the files that all pages share.

Nothing that comes out of the data is taken for markup: templates escape it, data of charts is JSON in which no tag can
begin, and what is not seen or turns text around stands there as an escape sequence. A policy in each page allows no
script but the site's own files.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, fields, is_dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined

from transforms.foreign_text import printable
from transforms.report.fleet import FIRST_FINDINGS, Fleet
from transforms.report.group_page import GroupPage, headline
from transforms.report.quality_page import QualityPage

MOST_FINDINGS = 500
"""Findings on the page of all findings; the pages of the groups have theirs in any case."""

_HERE = "jobs.report"
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}")
_TEXTS = (".css", ".js", ".txt")


@dataclass(frozen=True)
class Site:
    """What all pages show.

    Attributes:
        cluster: Kafka cluster.
    """

    cluster: str


def group_html(site: Site, page: GroupPage) -> str:
    """Return the page of a group."""
    return _render("group.html", root="../", site=site, page=page, headline=headline(page))


def index_html(site: Site, fleet: Fleet) -> str:
    """Return the first page."""
    return _render("index.html", root="", site=site, fleet=fleet, first_findings=FIRST_FINDINGS)


def findings_html(site: Site, fleet: Fleet) -> str:
    """Return the page of all findings."""
    shown = fleet.findings[:MOST_FINDINGS]
    return _render("findings.html", root="", site=site, findings=shown, left_out=fleet.finding_count - len(shown))


def quality_html(site: Site, page: QualityPage, checks: str) -> str:
    """Return the page on quality.

    Args:
        site: what all pages show.
        page: what this one shows.
        checks: where the results of the quality gate are, seen from the page; empty if they are not there.
    """
    return _render("quality.html", root="", site=site, page=page, checks=checks)


def data_end_js(until: float | None) -> str:
    """Return the script that knows where the data ends: in one place, so that pages without news stay as they are."""
    return f'"use strict";\nconst REPORT = {json.dumps({"until": until})};\n'


@lru_cache
def assets() -> dict[str, str]:
    """Return the files that all pages share, by name."""
    folder = files(_HERE) / "assets"
    return {each.name: each.read_text("utf-8") for each in folder.iterdir() if each.name.endswith(_TEXTS)}


@lru_cache
def layout() -> str:
    """Return a digest of all that decides how a page looks, its data aside."""
    digest = hashlib.blake2b(digest_size=16)
    for package, ending in ((f"{_HERE}", ".py"), (f"{_HERE}.templates", ".html"), ("transforms.report", ".py")):
        folder = files(_HERE) / "templates" if package.endswith("templates") else files(package)
        for each in sorted(folder.iterdir(), key=lambda file: file.name):
            if each.name.endswith(ending):
                digest.update(each.name.encode() + b"\0" + each.read_bytes() + b"\0")
    return digest.hexdigest()


def _render(template: str, **values: Any) -> str:
    text = _environment().get_template(template).render(**{name: shown(value) for name, value in values.items()})
    return "\n".join(line.rstrip() for line in text.splitlines() if line.strip()) + "\n"


def shown(value: Any) -> Any:
    """Return a view model in which every text can be shown."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, dict):
        return {shown(key): shown(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(shown(each) for each in value)
    if is_dataclass(value) and not isinstance(value, type):
        return type(value)(**{each.name: shown(getattr(value, each.name)) for each in fields(value)})
    return value


@lru_cache
def _environment() -> Environment:
    folder = files(_HERE) / "templates"
    loader = FunctionLoader(lambda name: (folder / name).read_text("utf-8"))
    made = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.tests["moment"] = lambda text: bool(_MOMENT.fullmatch(str(text)))
    return made
