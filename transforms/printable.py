"""Foreign text, so that it can be shown and is obeyed by nobody."""

from __future__ import annotations


def printable(text: str) -> str:
    """Return foreign text with all that is not seen, or turns what is seen around, as an escape sequence."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)
