"""Text that others wrote: ids and reasons may hold any character, those that a terminal obeys among them."""

from __future__ import annotations


def printable(text: str) -> str:
    """Return foreign text so that a terminal shows it and obeys nothing in it.

    Control characters, escapes, line ends, marks that turn the direction of writing, and whatever else leaves no mark
    of its own are written as Python's escapes.
    """
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)


def storable(text: str) -> str:
    """Return foreign text that UTF-8 can hold: JSON may have halves of surrogate pairs, as of an emoji cut in two."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def distinct(text: str) -> str:
    """Return foreign text so that it can be shown, and two texts never look the same: a backslash is doubled."""
    return printable(text.replace("\\", "\\\\"))
