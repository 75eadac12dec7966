"""A group as it was at one moment, in full: as DescribeGroups would have answered, and what it would not have said.

The document is what `--json` prints; the lines are the same for people. In the lines all foreign text is such that a
terminal obeys nothing in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from transforms.findings.handover.json_lines import columns, moment
from transforms.findings.handover.kinds import BURST, STORM
from transforms.findings.sentences import counted, duration, times
from transforms.foreign_text import printable

Row = Mapping[str, Any]

_REBALANCE = (
    "life",
    "generation",
    "trigger",
    "trigger_member_id",
    "trigger_client_id",
    "trigger_client_host",
    "reason",
    "client_reason",
    "outcome",
    "rebalance_ms",
    "is_inferred",
)
_MEMBER = ("member_id", "group_instance_id", "client_id", "client_host")
_STATE = ("life", "state", "generation", "protocol_type", "protocol")

Line = tuple[str, str]
"""A label, empty where a line goes on with what the one before is about, and its text."""


def document(
    cluster: str,
    group_id: str,
    at: float | None,
    state: Row,
    members: Sequence[Row],
    rebalance: Row | None,
    storms: Sequence[Row],
    bursts: Sequence[Row],
) -> dict[str, Any]:
    """Return what is known of a group at a moment.

    Args:
        cluster: the cluster.
        group_id: the group.
        at: the moment (epoch ms); None = the end of the data, which nobody has noted.
        state: as `transforms.gold.as_of.state_at` has it, with `group_type`; of a group that has but offsets, the state
            alone.
        members: as `members_at` has them.
        rebalance: as `last_rebalance_at` has it; None = none is known.
        storms: those that cover the moment.
        bursts: likewise.

    Returns:
        A document that JSON can hold; moments are ISO 8601 in UTC.
    """
    leader = state.get("leader_member_id")
    return {
        "cluster": cluster,
        "group_id": group_id,
        "at": moment(at),
        "group_type": state.get("group_type"),
        **{name: state.get(name) for name in _STATE},
        "since": moment(state.get("since")),
        "in_state_ms": _length(state.get("since"), at),
        "members": [_member(member, leader) for member in members],
        "last_rebalance": None if rebalance is None else _rebalance(rebalance, at),
        "findings": [
            {"finding_kind": kind.name, **columns(kind, row)}
            for kind, rows in ((STORM, storms), (BURST, bursts))
            for row in rows
        ],
    }


def _member(member: Row, leader: str | None) -> dict[str, Any]:
    owned: dict[str, list[int]] = {}
    for name in member["partitions"]:
        topic, _, partition = name.rpartition("-")
        owned.setdefault(topic, []).append(int(partition))
    return {
        **{name: member[name] for name in _MEMBER},
        "is_leader": member["member_id"] == leader,
        "joined_at": moment(member["joined_at"]),
        "partitions": [{"topic": topic, "partitions": sorted(numbers)} for topic, numbers in owned.items()],
    }


def _rebalance(row: Row, at: float | None) -> dict[str, Any]:
    """Of one that is under way at the moment nobody knows yet how long it takes, and how it comes out."""
    told = {"began_at": moment(row["began_at"]), **{name: row[name] for name in _REBALANCE}}
    is_under_way = at is not None and row["began_at"] + (row["rebalance_ms"] or 0) > at
    return {**told, "outcome": None, "rebalance_ms": None} if is_under_way else told


def _length(since: float | None, until: float | None) -> int | None:
    return None if since is None or until is None else max(0, round(until - since))


def lines(told: Mapping[str, Any]) -> Iterator[Line]:
    """Yield a document as lines."""
    yield "group", f"{_shown(told['group_id'])} of cluster {_shown(told['cluster'])}"
    if told["at"]:
        yield "at", f"{_time(told['at'])} UTC"
    lasts = "" if told["in_state_ms"] is None else f", for {duration(told['in_state_ms'])}"
    yield "state", f"{told['state']}, since {_time(told['since'])}{lasts if told['since'] else ''}"
    if told["life"] is None:
        yield "", "never seen with members: offsets were committed by assign(), or by a tool"
        return
    yield "generation", f"{told['generation']} of life {told['life']}"
    yield "protocol", f"{_shown(told['protocol'], 'none')} ({_shown(told['protocol_type'], 'no type')})"
    yield from _last_rebalance(told["last_rebalance"])
    yield "members", str(len(told["members"]) or "none")
    for member in told["members"]:
        yield from _of_member(member)
    yield "findings", str(len(told["findings"]) or "none open")
    for finding in told["findings"]:
        yield from _storm(finding) if finding["finding_kind"] == STORM.name else _burst(finding)


def _last_rebalance(row: Mapping[str, Any] | None) -> Iterator[Line]:
    if row is None:
        yield "rebalance", "none known"
        return
    took = "" if row["rebalance_ms"] is None else f", took {duration(row['rebalance_ms'])}"
    yield "rebalance", f"{_time(row['began_at'])}, to generation {row['generation']} of life {row['life']}{took}"
    yield "", f"because of {row['trigger']}{' (inferred)' if row['is_inferred'] else ''}"
    if row["trigger_member_id"] is not None or row["trigger_client_id"] is not None:
        client = _client(row["trigger_client_id"], row["trigger_client_host"])
        yield "", f"by {_shown(row['trigger_member_id'], 'a member not known')}, {client}"
    for name, label in (("reason", "reason"), ("client_reason", "the client's reason")):
        if row[name]:
            yield "", f"{label}: {_shown(row[name])}"


def _of_member(member: Mapping[str, Any]) -> Iterator[Line]:
    instance = member["group_instance_id"]
    yield "", f"{_shown(member['member_id'])}{' (leader)' if member['is_leader'] else ''}"
    static = "" if instance is None else f", instance {_shown(instance)}"
    yield "", f"  {_client(member['client_id'], member['client_host'])}{static}, joined {_time(member['joined_at'])}"
    owned = [f"{_shown(each['topic'])} {_ranges(each['partitions'])}" for each in member["partitions"]]
    yield "", f"  owns {'; '.join(owned) or 'nothing'}"


def _storm(row: Mapping[str, Any]) -> Iterator[Line]:
    rebalances = counted(row["rebalance_count"], "rebalance", "rebalances")
    yield "", f"{row['severity']}: rebalance storm, {row['pattern']}, {_span(row)}, {rebalances}"
    if row["main_client_id"]:
        culprit = f"{_shown(row['main_client_id'])} at {_shown(row['main_client_host'])}"
        yield "", f"  culprit {culprit}, mostly by {row['main_trigger']}"
    yield "", f"  {_shown(row['advice'], 'no advice')}"


def _burst(row: Mapping[str, Any]) -> Iterator[Line]:
    yield "", f"burst of {row['error']}, {times(row['error_count'])}, {_span(row)}, {row['suspected_cause']}"
    if row["client_ids"]:
        yield "", f"  culprit {', '.join(map(_shown, row['client_ids']))}"
    yield "", f"  {_shown(row['advice'], 'no advice')}"


def _span(row: Mapping[str, Any]) -> str:
    end = ", still going on where the data end" if row["is_open"] else f" to {_time(row['ended_at'])}"
    return f"{_time(row['started_at'])}{end}"


def _client(client_id: str | None, host: str | None) -> str:
    return f"client {_shown(client_id)} at {_shown(host)}"


def _shown(text: str | None, otherwise: str = "not known") -> str:
    return printable(text) if text else otherwise


def _time(iso: str | None) -> str:
    return "not known" if iso is None else iso.replace("T", " ").removesuffix("Z")


def _ranges(numbers: Sequence[int]) -> str:
    """Write ordered numbers in short: 0-3, 7."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1] = [runs[-1][0], number]
        else:
            runs.append([number])
    return ", ".join("-".join(map(str, run)) for run in runs)
