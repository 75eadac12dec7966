"""Makes Data Docs that need no network: Great Expectations' pages load their looks and their index from elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape, unescape

FOLDER = "quality"
"""Where the pages are, within the report."""

_ELSEWHERE = (
    re.compile(r"<script\b.*?</script>", re.DOTALL | re.IGNORECASE),  # all of them build upon a library from elsewhere
    re.compile(r"<link\b[^>]*\bhref=\"https?://[^>]*>", re.IGNORECASE),
    re.compile(r"<link\b[^>]*\bicon\b[^>]*>", re.IGNORECASE),  # a picture that Great Expectations does not bring
    re.compile(r"<img\b[^>]*\bsrc=\"https?://[^>]*>", re.IGNORECASE),
    re.compile(r"<footer\b.*?</footer>", re.DOTALL | re.IGNORECASE),
    re.compile(r"url\('https?://[^']*'\)", re.IGNORECASE),
    re.compile(r"<!--.*?-->", re.DOTALL),
)

_TO_INDEX = re.compile(r'href="(?:\.\./)+index\.html"')
_TO_SUITE = re.compile(r'href="(?:\.\./)+expectations/[^"]*"')
"""Pages about suites are not built: results tell all."""

_CLUSTER = re.compile(r'<meta name="cluster" content="([^"]*)">')

_STYLE = """<style>
:root { color-scheme: light dark; }
body { font: 15px/1.45 system-ui, sans-serif; margin: 0 auto; max-width: 80rem; padding: 1rem; }
body .row, body .d-flex { display: block; }
nav, .fas, .fa, button, .cooltip .top { display: none; }
table { border-collapse: collapse; width: 100%; margin: .5rem 0 1rem; }
th, td { border: 1px solid #8886; padding: .3rem .5rem; text-align: left; vertical-align: top; }
td { overflow-wrap: anywhere; }
.failed { font-weight: 600; }
.navigation-link, a { color: LinkText; }
</style>"""


def without_network(page: str) -> str:
    """Return a page that loads nothing from elsewhere and runs nothing."""
    for pattern in _ELSEWHERE:
        page = pattern.sub("", page)
    return page.replace("</head>", f"{_STYLE}</head>", 1)


def beside_its_index(page: str) -> str:
    """Return a page of Great Expectations' tree of folders as one that lies in its index's folder, as all others do."""
    return _TO_INDEX.sub('href="index.html"', _TO_SUITE.sub("", page))


def cluster_of(page: str) -> str | None:
    """Return the cluster that the page that leads to the others is about; None if it does not say."""
    named = _CLUSTER.search(page)
    return None if named is None else unescape(named[1])


def index(cluster: str, rows: Iterable[tuple[str, str, int, int, int, str]]) -> str:
    """Return the page that leads to the others.

    Args:
        cluster: Kafka cluster that they are about.
        rows: of each table its name, the address of its page, the number of checks, how many of them failed, how many
            of these are critical, and when it was looked at.
    """
    lines = "".join(
        f'<tr{" class=failed" if failed else ""}><td><a href="{escape(link)}">{escape(table)}</a></td><td>{checks}</td>'
        f"<td>{_verdict(failed, critical)}</td><td>{escape(at)}</td></tr>"
        for table, link, checks, failed, critical, at in rows
    )
    head = "<tr><th>table</th><th>checks and laws</th><th>verdict</th><th>looked at (UTC)</th></tr>"
    title = f"Quality of the lake: {escape(cluster)}"
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="UTF-8"><meta name="cluster" content="{escape(cluster)}">'
        f"<title>{title}</title>{_STYLE}</head>"
        f"<body><h1>{title}</h1><table>{head}{lines}</table></body></html>"
    )


def _verdict(failed: int, critical: int) -> str:
    if not failed:
        return "✓ all hold"
    return f"✗ {failed} broken, {critical} of them critical" if critical else f"! {failed} broken, none critical"
