"""What the last runs of the replay changed in gold: for those that follow, and read only what is about these groups.

A step that is through notes the marks of the replay's tables. The next time it looks for the runs since: the first of
them found the tables by these marks. Where one is missing, all groups may have changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf

import msgspec

from schemas.tables.gold import AUDIT_COUNTS, REPLAY_AUDIT, REPLAY_SNAPSHOTS

MOST_RUNS = 10
"""Runs that are remembered; whoever lags further behind reads everything."""

NOT_READ = {spec.full_name for spec in (REPLAY_AUDIT, AUDIT_COUNTS, REPLAY_SNAPSHOTS)}
"""Tables of the replay that no later step reads."""


class Groups(msgspec.Struct, frozen=True, kw_only=True):
    """Groups whose rows were written; None in place of them: all groups, from their beginnings.

    Those that came out as they were, but for rows that are settled by now, may be missing.

    Attributes:
        named: by group, the moment (epoch ms) before which its settled rows stayed as they were; None = none of them
            did.
        others: such a moment for all that are not named, where there are too many to name; None = they are as they
            were.
        quiet: the moment (epoch ms) from which on there is new evidence of those that are as they were: that their
            members live, and commit; None = there is none.
    """

    named: dict[str, float | None] = {}
    others: float | None = None
    quiet: float | None = None


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """What one run changed.

    Attributes:
        before: marks of the tables as the run found them.
        groups: the named groups whose rows it wrote, as `Groups` has them; None = all may have changed.
        others: see `Groups`.
        quiet: likewise.
    """

    before: dict[str, str]
    groups: dict[str, float | None] | None
    others: float | None = None
    quiet: float | None = None


def change_of(before: dict[str, str], groups: Groups | None) -> Change:
    """Return what a run changed, as it is noted.

    Args:
        before: marks of the tables as the run found them.
        groups: the groups whose rows it wrote.
    """
    if groups is None:
        return Change(before=before, groups=None)
    return Change(before=before, groups=groups.named, others=groups.others, quiet=groups.quiet)


def with_change(changes: Sequence[Change], change: Change) -> tuple[Change, ...]:
    """Add the change of one more run; those that are too old, or hold no more, are left out."""
    return (*changes, change)[-MOST_RUNS:]


def without_audit(marks: Mapping[str, str]) -> dict[str, str]:
    """Return the marks of what others read; retention takes rows out of the audit, which changes nothing for them."""
    return {table: mark for table, mark in marks.items() if table not in NOT_READ}


def changed_since(changes: Sequence[Change], marks: Mapping[str, str]) -> Groups | None:
    """Return what has changed since tables had some marks; that they have them still is for the caller to see."""
    first = next((place for place, change in enumerate(changes) if change.before.items() >= marks.items()), None)
    if first is None:
        return None
    named: dict[str, float | None] = {}
    others, quiet = inf, inf
    for change in changes[first:]:
        if change.groups is None:
            return None
        others = others if change.others is None else min(others, change.others)
        quiet = quiet if change.quiet is None else min(quiet, change.quiet)
        for group, at in change.groups.items():
            known = named.get(group, inf)
            named[group] = None if at is None or known is None else min(at, known)
    as_known = None if quiet == inf else quiet
    if others == inf:
        return Groups(named=named, quiet=as_known)
    return Groups(named={group: at and min(at, others) for group, at in named.items()}, others=others, quiet=as_known)
