"""What pages show of groups of epochs alone: members on the way to their targets, and what nobody had."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf

from schemas.words import AWAY, UNREVOKED
from transforms.report.charts import Bar, Panel, bar, panel
from transforms.report.rows import GroupRows, Row, owner_names
from transforms.report.tables import Table, TableRow, table
from transforms.report.words import count, duration, moment, span

_MOST_NAMED = 12


def ways(rows: GroupRows, note: str) -> Panel:
    """Return a lane for each member that gave something up, waited for others, or was away, and a bar for each time."""
    known = [row for row in rows.of("reconciliations") if row["from_at"] is not None]
    names = owner_names(known)
    called = _called(rows)
    lanes = list(dict.fromkeys(names))
    bars = []
    for row, name in zip(known, names, strict=True):
        end = None if row["to_at"] is None else max(row["to_at"], row["from_at"])
        tip = [f"{name}: {_about(row)}", _when(row["from_at"], end), f"from epoch {row['from_epoch']}"]
        tip += [f"waits for {_name(called, each)}" for each in row["waits_for_member_ids"] or ()]
        colour = "away" if row["state"] == AWAY else "unrevoked" if row["state"] in UNREVOKED else "unreleased"
        bars.append(bar(lanes.index(name), row["from_at"], end, colour, row["state"], tip))
    return panel("members on their way to their targets", lanes, bars, note=note)


def nobodys(rows: GroupRows, places: Mapping[tuple[str, int], int]) -> list[Bar]:
    """Return a bar for each stretch of time in which nobody had a partition, in the lane of the partition."""
    called = _called(rows)
    bars = []
    for row in rows.of("orphaned_partitions"):
        tip = [
            f"{row['topic']}-{row['partition']}: nobody, though the group was Stable",
            _when(row["from_at"], row["to_at"]),
            f"which {_name(called, row['member_id'])} was to have, by epoch {row['generation']}",
        ]
        bars.append(bar(places[row["topic"], row["partition"]], row["from_at"], row["to_at"], "nobody", "", tip))
    return bars


def ways_table(rows: GroupRows) -> Table:
    """Return who was to give up what, who waited for whom, and who was away."""
    called = _called(rows)
    newest_first = sorted(rows.of("reconciliations"), key=lambda row: row["from_at"] or 0, reverse=True)
    found = [
        TableRow(
            (
                _name(called, row["member_id"]),
                row["state"],
                moment(row["from_at"]),
                _took(row),
                f"{row['from_epoch']}",
                _some(row["partitions"] or ()),
                _some([_name(called, each) for each in row["waits_for_member_ids"] or ()]),
            )
        )
        for row in newest_first
    ]
    columns = ("member", "state", "from", "took", "epoch #", "partitions", "waited for")
    title = "Members that were to give something up, waited for others, or were away, the newest first"
    return table(title, columns, found, rows.in_all("reconciliations"))


def nobodys_table(rows: GroupRows) -> Table:
    """Return what nobody had although the group was Stable."""
    called = _called(rows)
    newest_first = sorted(rows.of("orphaned_partitions"), key=lambda row: row["from_at"], reverse=True)
    found = [
        TableRow(
            (
                f"{row['topic']}-{row['partition']}",
                moment(row["from_at"]),
                "still so" if row["to_at"] is None else duration(row["to_at"] - row["from_at"]),
                _name(called, row["member_id"]),
                f"{row['generation']}",
            )
        )
        for row in newest_first
    ]
    columns = ("partition", "since", "for", "who was to have it", "epoch #")
    title = "Partitions that nobody had, although the group was Stable"
    return table(title, columns, found, rows.in_all("orphaned_partitions"))


def nobodys_now(rows: GroupRows) -> str:
    """Say what nobody has where the data end; empty if there is nothing."""
    still = [row for row in rows.of("orphaned_partitions") if row["to_at"] is None]
    if not still:
        return ""
    return f"{count(len(still), 'partition')}, the first since {moment(min(row['from_at'] for row in still))}"


def share_states_table(rows: GroupRows) -> Table:
    """Return what became of the share state of a share group's partitions, in one row what went together of a topic."""
    together: dict[tuple[float, str, str, float], list[int]] = {}
    for row in rows.of("share_partitions"):
        end = inf if row["to_at"] is None else row["to_at"]
        together.setdefault((row["from_at"], row["topic"], row["state"], end), []).append(row["partition"])
    found = [
        TableRow(
            (
                topic,
                _some([f"{number}" for number in sorted(numbers)]),
                state,
                moment(begin),
                "still so" if end == inf else duration(end - begin),
            )
        )
        for (begin, topic, state, end), numbers in sorted(together.items(), reverse=True)
    ]
    columns = ("topic", "partitions", "share state", "since", "for")
    title = "Share state of partitions, the newest first: members are given those alone that are initialised"
    left_out = rows.in_all("share_partitions") - len(rows.of("share_partitions"))
    return table(title, columns, found, len(found) + left_out)


def _called(rows: GroupRows) -> dict[str, str]:
    sessions = rows.of("member_sessions")
    return {row["member_id"]: name for row, name in zip(sessions, owner_names(sessions), strict=True)}


def _name(called: Mapping[str, str], member_id: str) -> str:
    return called.get(member_id, member_id)


def _about(row: Row) -> str:
    if row["state"] == AWAY:
        return f"left for a while, and keeps {_some(row['partitions'] or ()) or 'nothing'}"
    what = "to give up" if row["state"] in UNREVOKED else "waiting for"
    return f"{what} {_some(row['partitions'] or ())}"


def _took(row: Row) -> str:
    if row["to_at"] is None or row["from_at"] is None:
        return "still so" if row["to_at"] is None else "not known"
    return duration(max(row["to_at"] - row["from_at"], 0))


def _when(begin: float, end: float | None) -> str:
    return f"since {moment(begin)}" if end is None else f"{span(begin, end)}, {duration(end - begin)}"


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more
