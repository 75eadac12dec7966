"""The SQL that holds rows to checks and laws: one statement for all of them, so that one query answers for all.

What passes gives no row. `{name}` stands for the rows of a table, as in the laws.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from schemas.expectations import Check, Rule, checks_of
from schemas.table import TableSpec
from transforms.quality.laws.law import DOUBTED, IN_DOUBT, Law
from transforms.sql import literal, quoted

FOUND = "cluster STRING, table STRING, check STRING, failed_row_count BIGINT, sample ARRAY<STRING>"
"""What the statement gives: a row for each check or law that rows of a cluster break, with two of them as JSON."""

MOST_SET_ASIDE = 1000
"""Rows of one check or law that are set aside."""

WHOLE_ROW = "to_json(struct(offending.*))"
"""A row of a query named `offending`, as JSON."""

_NO_GROUP = "CAST(NULL AS STRING)"


def _not_null(check: Check) -> str:
    return f"{quoted(check.columns[0])} IS NULL"


def _one_of(check: Check) -> str:
    return f"{quoted(check.columns[0])} NOT IN ({', '.join(map(literal, check.allowed))})"


def _at_least(check: Check) -> str:
    return f"{quoted(check.columns[0])} < {check.minimum}"


def _not_after(check: Check) -> str:
    first, second = map(quoted, check.columns)
    return f"{first} > {second}"


BROKEN: dict[Rule, Callable[[Check], str]] = {
    Rule.NOT_NULL: _not_null,
    Rule.ONE_OF: _one_of,
    Rule.AT_LEAST: _at_least,
    Rule.NOT_AFTER: _not_after,
}
"""By rule about single rows, the SQL condition of those that break it."""


def found(specs: Sequence[TableSpec], laws: Sequence[Law]) -> str:
    """Return the statement that tells which checks of tables, and which laws, are broken; see `FOUND`.

    Each is put to the rows once. What breaks a law that needs whole evidence is told under another name where its group
    is in doubt.
    """
    parts = [part for spec in specs for part in (_broken_rows(spec), *map(_broken_by(spec), _keys(spec))) if part]
    parts += [_breaking(law.table, law.name, law.query, law.needs_whole_evidence) for law in laws]
    rows = "\nUNION ALL\n".join(parts)
    counted = "cluster, table, check, count(*) AS failed_row_count, array_distinct(array(min(row), max(row))) AS sample"
    if not any(law.needs_whole_evidence for law in laws):
        return f"SELECT {counted} FROM ({rows}) GROUP BY cluster, table, check"
    return f"""
        SELECT {counted} FROM (
            SELECT /*+ BROADCAST(doubted) */ cluster, table,
                IF(is_in_doubt, concat(check, {literal(IN_DOUBT)}), check) AS check, row
            FROM ({rows}) LEFT JOIN (SELECT *, true AS is_in_doubt FROM ({DOUBTED})) doubted USING (cluster, group_id)
        ) GROUP BY cluster, table, check"""


def found_apart(specs: Sequence[TableSpec], laws: Sequence[Law]) -> list[str]:
    """Return statements that tell the same, one for the checks of each table and one for each law.

    Of large tables each by itself fits into memory; all at once do not.
    """
    checked = [found([spec], []) for spec in specs if checks_of(spec)]
    return checked + [found([], [law]) for law in laws]


def broken(spec: TableSpec, check: Check) -> str:
    """Return the query for the rows of a table that break a check."""
    if check.rule is Rule.UNIQUE:
        key = ", ".join(map(quoted, check.columns))
        return f"SELECT {key}, count(*) AS rows FROM {{{spec.name}}} GROUP BY {key} HAVING count(*) > 1"
    return f"SELECT {_told(spec, check)} FROM {{{spec.name}}} WHERE {BROKEN[check.rule](check)}"


def rows_of(queries: Mapping[tuple[str, str], str]) -> str:
    """Return the statement for the rows that some queries select.

    Args:
        queries: by table and check.

    Returns:
        SQL that gives table, check and the row as JSON, of each no more than `MOST_SET_ASIDE`.
    """
    parts = [
        f"(SELECT {literal(table)} AS table, {literal(check)} AS check, to_json(struct(*)) AS row FROM ({query}) "
        f"LIMIT {MOST_SET_ASIDE})"
        for (table, check), query in queries.items()
    ]
    return "\nUNION ALL\n".join(parts)


def _keys(spec: TableSpec) -> list[Check]:
    return [check for check in checks_of(spec) if check.rule is Rule.UNIQUE]


def _broken_by(spec: TableSpec) -> Callable[[Check], str]:
    return lambda check: _breaking(spec.name, check.name, broken(spec, check))


def _breaking(table: str, name: str, query: str, can_be_in_doubt: bool = False) -> str:
    group = "group_id" if can_be_in_doubt else _NO_GROUP
    return (
        f"SELECT cluster, {group} AS group_id, {literal(table)} AS table, {literal(name)} AS check, "
        f"{WHOLE_ROW} AS row FROM ({query}) offending"
    )


def _broken_rows(spec: TableSpec) -> str:
    """Look at each row of a table once, for all checks that are about single rows."""
    checks = [check for check in checks_of(spec) if check.rule in BROKEN]
    if not checks:
        return ""
    broken_checks = ", ".join(
        f"IF({BROKEN[check.rule](check)}, struct({literal(check.name)} AS check, "
        f"to_json(struct({_told(spec, check)})) AS row), NULL)"
        for check in checks
    )
    any_broken = " OR ".join(f"({BROKEN[check.rule](check)})" for check in checks)
    return (
        f"SELECT cluster, {_NO_GROUP} AS group_id, {literal(spec.name)} AS table, told.check, told.row FROM (SELECT "
        f"cluster, explode(array_compact(array({broken_checks}))) AS told FROM {{{spec.name}}} WHERE {any_broken})"
    )


def _told(spec: TableSpec, check: Check) -> str:
    """Return the columns that say which row it is, and what is wrong with it."""
    names = dict.fromkeys(("cluster", *spec.key, *check.columns))
    return ", ".join(quoted(name) for name in names if name in spec.columns)
