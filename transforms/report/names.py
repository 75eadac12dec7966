"""What a group's page is called on disk, whatever the group is called."""

from __future__ import annotations

import hashlib
import re

_READABLE = 40
_HASH = 12


def page_name(cluster: str, group_id: str) -> str:
    """Return the file name of a group's page.

    Any string can be a group id: `../../x`, one that differs from another by its case only, one of 500 letters. So the
    name is told apart by a hash, and what stands before it is only there to be read.
    """
    readable = re.sub(r"[^a-z0-9]+", "-", group_id.lower())[:_READABLE].strip("-")
    digest = hashlib.sha256(f"{cluster}\0{group_id}".encode()).hexdigest()[:_HASH]
    return f"{readable}-{digest}.html" if readable else f"{digest}.html"


def generation_anchor(life: int, generation: int) -> str:
    """Return the anchor of a generation's row on its group's page."""
    return f"g{life}-{generation}"
