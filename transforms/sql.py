"""Names and values as SQL text, for where Delta takes conditions as text only."""

from __future__ import annotations


def quoted(name: str) -> str:
    """Quote a name for SQL."""
    return "`" + name.replace("`", "``") + "`"


def literal(text: str) -> str:
    """Write a string for SQL."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def truth(value: bool) -> str:
    """Write a truth value for SQL, which is also how Delta writes it as the value of a partition."""
    return "true" if value else "false"
