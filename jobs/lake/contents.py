"""What is known of the rows that one cluster has in each table, so that nobody has to ask the table.

It holds for the version of the table at which it was found out, and for later ones whose commits say that they do not
concern this cluster: each commit of ours names its cluster. Whatever is not known is asked once and kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from functools import reduce
from itertools import islice
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from jobs.jvm.delta_log import Commit
from jobs.lake.load_clock import iso, iso_of_micros, next_load
from jobs.lake.notes import Notes
from jobs.lake.signatures import cluster_of, is_joining
from jobs.lake.storage_errors import storage_errors
from jobs.lake.tables import Tables
from schemas.table import TableSpec

NAME = "contents"

_MOST_COMMITS = 50
"""Reading so many commits takes as long as asking the table."""

NO_ROWS = "no rows"
"""Passes all checks."""

_SAME_ROWS = ("OPTIMIZE", "VACUUM START", "VACUUM END", "SET TBLPROPERTIES")
"""Operations that change no row."""


@dataclass(frozen=True)
class Content:
    """What is known of one table.

    Attributes:
        table_id: the table that it is known of.
        seen: version up to which all commits were looked at.
        changed: version by which this cluster's rows changed last, as far as is known.
        row_count: rows of the cluster; None = not known.
        is_load_known: `newest_load` is known.
        newest_load: greatest `loaded_at`, ISO 8601 in UTC to the microsecond; None = no row.
        passed: the checks that all rows passed; empty if none.
        passed_before: those that all rows passed but what this cluster's runs have written since; `NO_ROWS` where
            there were none.
    """

    table_id: str
    seen: int
    changed: int
    row_count: int | None = None
    is_load_known: bool = False
    newest_load: str | None = None
    passed: str = ""
    passed_before: str = ""


class Contents:
    """What is known of the tables, for one cluster.

    Args:
        tables: the tables.
        notes: where it is kept from run to run.
        cluster: the cluster.
    """

    def __init__(self, tables: Tables, notes: Notes, cluster: str) -> None:
        self._tables = tables
        self._notes = notes
        self._cluster = cluster
        self._kept: dict[str, Content] | None = None
        self._known: dict[str, Content] = {}

    # --- verbs of the jobs ---

    def mark(self, spec: TableSpec) -> str:
        """Return a text that is another one once the cluster's rows of a table have changed; empty without a table."""
        content = self.of(spec)
        return f"{content.table_id}@{content.changed}" if content else ""

    def newest_load(self, specs: Sequence[TableSpec]) -> dict[str, str | None]:
        """Return the greatest `loaded_at` of each table, as ISO 8601 in UTC to the microsecond."""
        there = self._there(specs)
        unknown = [(spec, content) for spec, content in there if not content.is_load_known]
        for (spec, content), micros in zip(
            unknown, self._asked(unknown, F.max(F.unix_micros("loaded_at"))), strict=True
        ):
            self._found(spec, replace(content, is_load_known=True, newest_load=iso_of_micros(micros)))
        return dict.fromkeys((spec.full_name for spec in specs), None) | {
            spec.full_name: self._known[spec.full_name].newest_load for spec, _ in there
        }

    def next_load_time(self, specs: Sequence[TableSpec]) -> datetime:
        """Return the time for the rows of a run: now, but later than all rows that these tables hold."""
        return next_load(self.newest_load(specs).values())

    def row_counts(self, specs: Sequence[TableSpec]) -> dict[str, int]:
        """Return the number of the cluster's rows of each table."""
        there = self._there(specs)
        unknown = [(spec, content) for spec, content in there if content.row_count is None]
        for (spec, content), count in zip(unknown, self._asked(unknown, F.count("*")), strict=True):
            self._found(spec, replace(content, row_count=int(count)))
        return dict.fromkeys((spec.full_name for spec in specs), 0) | {
            spec.full_name: self._known[spec.full_name].row_count or 0 for spec, _ in there
        }

    def has_rows(self, spec: TableSpec) -> bool:
        """Tell whether a table has rows of the cluster."""
        return self.row_counts([spec])[spec.full_name] > 0

    def has_passed(self, spec: TableSpec, checks: str) -> bool:
        """Tell whether all rows of a table passed these checks, and have not changed since."""
        content = self.of(spec)
        return content is None or content.row_count == 0 or content.passed == checks

    def note_passed(self, spec: TableSpec, checks: str) -> None:
        """Note that all rows of a table, as they are now, pass these checks."""
        content = self.of(spec)
        if content is not None:
            self._found(spec, replace(content, passed=checks))

    def note_new_passed(self, spec: TableSpec, checks: str) -> None:
        """Note that what was written since all rows had passed these checks passes them as well."""
        content = self.of(spec)
        if content is not None and (content.passed_before in (NO_ROWS, checks) or content.passed == checks):
            self._found(spec, replace(content, passed=checks, passed_before=""))

    def has_passed_before(self, spec: TableSpec, checks: str) -> bool:
        """Tell whether all rows passed these checks but those that runs of this cluster have written since."""
        content = self.of(spec)
        return content is not None and content.passed_before in (NO_ROWS, checks)

    def derived(self, name: str, of: Sequence[TableSpec], how: Any, derive: Callable[[], Any]) -> Any:
        """Return what is derived from tables, and derive it only if they have changed since it was last.

        Args:
            name: what it is noted by.
            of: the tables.
            how: changes with the way it is derived; something that JSON can hold.
            derive: derives it; likewise.
        """
        marks = {"how": how, **{spec.full_name: self.mark(spec) for spec in of}}
        kept = self._notes.get(name)
        if kept is None or kept.get("of") != marks:
            kept = {"of": marks, "is": derive()}
            self._notes.put(name, kept)
        return kept["is"]

    def keep(self) -> None:
        """Keep what is known for later runs; nothing is written if it is nothing new."""
        if self._known != self._kept:
            self._notes.put(NAME, {name: asdict(content) for name, content in self._known.items()})
            self._kept = dict(self._known)

    def was_kept(self, spec: TableSpec) -> bool:
        """Tell whether an earlier run kept anything of a table; those of release 0.1.0 did of none."""
        self.of(spec)
        return spec.full_name in (self._kept or {})

    # --- how it becomes known ---

    def of(self, spec: TableSpec) -> Content | None:
        """Return what is known of a table as it is now; None if it does not exist."""
        if self._kept is None:
            self._kept = self._notes.of_kind(NAME, dict[str, Content]) or {}
            self._known |= self._kept
        with storage_errors(spec.full_name):
            return self._looked_up(spec)

    def created(self, spec: TableSpec) -> Content:
        """Take down that a table has just been created, and is empty."""
        content = self.of(spec)
        assert content is not None, "it has just been created"
        return self._found(spec, replace(content, row_count=0, is_load_known=True, newest_load=None))

    def wrote(self, spec: TableSpec, before: Content, rows: int | None, at: datetime | None = None) -> None:
        """Take down what a write of ours has changed.

        Args:
            spec: the table.
            before: what was known before the write.
            rows: how many there are more, or less; None = not known.
            at: their time of loading, if there are any that have one.
        """
        now = self.of(spec)
        if now is None or now.seen == before.seen:
            return
        is_counted = before.row_count is not None and rows is not None
        now = replace(
            before,
            seen=now.seen,
            changed=now.seen,
            row_count=(before.row_count or 0) + (rows or 0) if is_counted else None,
            passed="",
            passed_before=NO_ROWS if before.row_count == 0 else before.passed or before.passed_before,
        )
        self._found(spec, replace(now, is_load_known=True, newest_load=iso(at)) if at else now)

    def _looked_up(self, spec: TableSpec) -> Content | None:
        log = self._tables.log(spec)
        state = log.state()
        if state is None:
            self._known.pop(spec.full_name, None)
            return None
        known = self._known.get(spec.full_name)
        if known is None or known.table_id != state.table_id or state.version < known.seen:
            known = Content(state.table_id, state.version, state.version)
        elif known.seen < state.version:
            known = self._caught_up(known, log.commits(known.seen), state.version)
        return self._found(spec, known)

    def _caught_up(self, known: Content, commits: Iterable[Commit], version: int) -> Content:
        later = list(islice(commits, _MOST_COMMITS + 1))
        if len(later) > _MOST_COMMITS or len(later) != version - known.seen:
            return Content(known.table_id, version, version)
        changed = [commit.version for commit in later if self._concerns(commit)]
        return Content(known.table_id, version, changed[-1]) if changed else replace(known, seen=version)

    def _concerns(self, commit: Commit) -> bool:
        """Tell whether a commit may have changed rows of this cluster."""
        has_same_rows = commit.operation in _SAME_ROWS or is_joining(commit)
        return not has_same_rows and cluster_of(commit) in (None, self._cluster)

    def _found(self, spec: TableSpec, content: Content) -> Content:
        self._known[spec.full_name] = content
        return content

    def _there(self, specs: Sequence[TableSpec]) -> list[tuple[TableSpec, Content]]:
        return [(spec, content) for spec in specs if (content := self.of(spec)) is not None]

    def _asked(self, tables: Sequence[tuple[TableSpec, Content]], what: Column) -> list[Any]:
        """Ask several tables for one number, in one query."""
        parts = [
            self._tables.read(spec).agg(what.alias("found")).select(F.lit(at).alias("at"), "found")
            for at, (spec, _) in enumerate(tables)
        ]
        with storage_errors("the lake"):
            found = dict(map(tuple, reduce(DataFrame.unionAll, parts).collect())) if parts else {}
        return [found[at] for at in range(len(tables))]
