"""Which pages of `docs/` are generated, and from what."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from docs.generator.blocks import filled, has_blocks
from docs.generator.dictionary import dictionary
from docs.generator.error_codes import error_codes
from docs.generator.licences import licences
from docs.generator.log_lines import log_lines
from docs.generator.settings import settings
from docs.generator.states import states

FOLDER = Path(__file__).resolve().parents[1]

PAGES: dict[str, Callable[[], str]] = {
    "data-dictionary.md": dictionary,
    "states.md": states,
    "settings.md": settings,
    "log-lines.md": log_lines,
    "error-codes.md": error_codes,
    "licences.md": licences,
}
"""File to what makes its text."""


def pages() -> dict[str, Callable[[], str]]:
    """Return all pages that are generated, and those that are in part."""
    by_hand = [path for path in sorted(FOLDER.glob("*.md")) if path.name not in PAGES and has_blocks(path)]
    return {**PAGES, **{path.name: partial(filled, path) for path in by_hand}}
