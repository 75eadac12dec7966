"""Parts of hand-written pages that are generated: what stands between `<!-- name -->` and `<!-- /name -->`."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from docs.generator.demo import first_generations, storm, what_if
from docs.generator.jobs import commands, submits
from docs.generator.volume import volume

BLOCKS: dict[str, Callable[[], str]] = {
    "storm": storm,
    "first generations": first_generations,
    "what-if": what_if,
    "volume": volume,
    "commands": commands,
    "submits": submits,
}
"""Name of a part to what makes its text."""

_BLOCK = re.compile(r"(<!-- ([a-z -]+) -->\n).*?(\n<!-- /\2 -->)", re.DOTALL)


def filled(page: Path) -> str:
    """Return a page with its generated parts as they are to be."""
    return _BLOCK.sub(lambda found: found[1] + BLOCKS[found[2]]() + found[3], page.read_text(encoding="utf-8"))


def has_blocks(page: Path) -> bool:
    """Tell whether a page has such parts."""
    return _BLOCK.search(page.read_text(encoding="utf-8")) is not None
