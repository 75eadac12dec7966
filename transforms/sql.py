"""Names, values and conditions as SQL text.

Delta takes conditions as text only. And a list of values is one call to the JVM as text, and one for each as columns.
"""

from __future__ import annotations

from collections.abc import Iterable


def quoted(name: str) -> str:
    """Quote a name for SQL."""
    return "`" + name.replace("`", "``") + "`"


def literal(text: str) -> str:
    """Write a string for SQL; Spark would put its settings, or the environment's, in the place of `${...}`."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'").replace("$", "\\u0024") + "'"


def among(column: str, values: Iterable[str | int]) -> str:
    """Return the condition that a column has one of some values."""
    listed = ", ".join(literal(value) if isinstance(value, str) else str(value) for value in values)
    return f"{column} IN ({listed})" if listed else truth(False)


def moment(at: float) -> str:
    """Write a moment (epoch ms) for SQL: so that readers can leave out files that have nothing on its other side."""
    return f"timestamp_micros({round(at * 1000)})"


def truth(value: bool) -> str:
    """Write a truth value for SQL, which is also how Delta writes it as the value of a partition."""
    return "true" if value else "false"


def standard_text(text: str) -> str:
    """Write a string as SQL's standard has it, and DuckDB: nothing but a quote means anything else in it."""
    return "'" + text.replace("'", "''") + "'"


def standard_list(values: Iterable[str | int]) -> str:
    """Write a list of values for DuckDB."""
    return f"[{', '.join(standard_text(each) if isinstance(each, str) else str(each) for each in values)}]"
