"""A group as it was at one moment as lines for people: what its document says, aligned.

All foreign text is such that a terminal obeys nothing in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from transforms.findings.description.standing import AWAY
from transforms.findings.handover.kinds import BURST, REVOKER, STORM
from transforms.findings.sentences import counted, duration, times
from transforms.foreign_text import printable

Line = tuple[str, str]
"""A label, empty where a line goes on with what the one before is about, and its text."""

Told = Mapping[str, Any]


def lines(told: Told) -> Iterator[Line]:
    """Yield a document as lines."""
    yield "group", f"{_shown(told['group_id'])} of cluster {_shown(told['cluster'])}"
    if told["at"]:
        yield "at", f"{_time(told['at'])} UTC"
    is_classic = told["group_epoch"] is None
    if not is_classic:
        yield "type", f"{told['group_type']} group"
    lasts = "" if told["in_state_ms"] is None else f", for {duration(told['in_state_ms'])}"
    yield "state", f"{told['state']}, since {_time(told['since'])}{lasts if told['since'] else ''}"
    offsets = None if told["offsets"] is None else printable(told["offsets"]["told"])
    if told["life"] is None:
        yield "", "never seen with members"
        yield "offsets", offsets or "committed by assign(), or by a tool"
        return
    yield from _generation(told) if is_classic else _epochs(told)
    yield from _share_partitions(told["share_partitions"])
    yield from _topology(told["topology"])
    yield from _last_rebalance(told["last_rebalance"], "generation" if is_classic else "epoch")
    yield "members", str(len(told["members"]) or "none")
    for member in told["members"]:
        yield from _of_member(member) if is_classic else _of_epoch_member(member, told)
    yield from _orphaned(told)
    yield from [("offsets", offsets)] if offsets else []
    yield "findings", str(len(told["findings"]) or "none open")
    for finding in told["findings"]:
        yield from _FINDINGS[finding["finding_kind"]](finding)


def _generation(told: Told) -> Iterator[Line]:
    yield "generation", f"{told['generation']} of life {told['life']}"
    yield "protocol", f"{_shown(told['protocol'], 'none')} ({_shown(told['protocol_type'], 'no type')})"


def _epochs(told: Told) -> Iterator[Line]:
    newest = told["assignment_epoch"]
    yield "epoch", f"{told['group_epoch']} of life {told['life']}, {_of_targets(newest, told['group_epoch'])}"
    if told["assignor"]:
        yield "assignor", _shown(told["assignor"])


def _of_targets(newest: int, group_epoch: int) -> str:
    if not newest:
        return "no targets computed yet"
    return "targets computed" if newest == group_epoch else f"targets computed up to epoch {newest}"


def _share_partitions(told: Told | None) -> Iterator[Line]:
    """What a share group gives out, and what it does not yet, or no more."""
    if told is None:
        return
    yield "shares", _places(told["initialised"], " ")
    if told["initialising"]:
        yield "", f"not yet {_places(told['initialising'], ' ')}, which the broker is initialising"
    if told["deleting"]:
        yield "", f"no more {', '.join(map(_shown, told['deleting']))}"


def _topology(told: Told | None) -> Iterator[Line]:
    if told is None:
        return
    valid, epoch = told["validated_epoch"], told["epoch"]
    topics = "the topics are as it needs them" if valid == epoch else "topics are missing, or are not as it needs them"
    yield "topology", f"epoch {epoch}" if valid is None else f"epoch {epoch}, {topics}"
    for part in told["subtopologies"]:
        reads = ", ".join(map(_shown, (*part["sources"], *part["repartition_sources"])))
        yield "", f"{_shown(part['subtopology'])} reads {reads or 'nothing'}"


def _last_rebalance(row: Told | None, what: str) -> Iterator[Line]:
    if row is None:
        yield "rebalance", "none known"
        return
    took = "" if row["rebalance_ms"] is None else f", took {duration(row['rebalance_ms'])}"
    yield "rebalance", f"{_time(row['began_at'])}, to {what} {row['generation']} of life {row['life']}{took}"
    yield "", f"because of {row['trigger']}{' (inferred)' if row['is_inferred'] else ''}"
    if row["trigger_member_id"] is not None or row["trigger_client_id"] is not None:
        client = _client(row["trigger_client_id"], row["trigger_client_host"])
        yield "", f"by {_shown(row['trigger_member_id'], 'a member not known')}, {client}"
    for name, label in (("reason", "reason"), ("client_reason", "the client's reason")):
        if row[name]:
            yield "", f"{label}: {_shown(row[name])}"


def _of_member(member: Told) -> Iterator[Line]:
    yield "", f"{_shown(member['member_id'])}{' (leader)' if member['is_leader'] else ''}"
    yield "", _who(member)
    yield "", f"  owns {_places(member['partitions'], ' ')}"


def _who(member: Told) -> str:
    instance = member["group_instance_id"]
    static = "" if instance is None else f", instance {_shown(instance)}"
    return f"  {_client(member['client_id'], member['client_host'])}{static}, joined {_time(member['joined_at'])}"


def _of_epoch_member(member: Told, told: Told) -> Iterator[Line]:
    """A member with what it has; what it is to have is told where that is something else."""
    epoch, newest, colon = member["member_epoch"], told["assignment_epoch"], ": " if _has_tasks(told) else " "
    yield "", f"{_shown(member['member_id'])}, {_at_epoch(epoch)}"
    yield "", _who(member)
    yield from _wants(member)
    owned, target, count = member["assignment"], member["target"], member["target_count"]
    yield "", f"  owns {_places(member['partitions'] if owned is None else owned, colon)}"
    if target is not None and target != owned:
        yield "", f"  is to have {_places(target, colon)}"
    if target is None and count is not None:
        what = counted(count, "task", "tasks") if _has_tasks(told) else counted(count, "partition", "partitions")
        yield "", f"  is to have {what}, not known which"
    if member["reconciliation"] is not None:
        yield from _reconciliation(member["reconciliation"], colon)
    elif epoch is not None and 0 <= epoch < newest:
        yield "", f"  has not heard of the targets of epoch {newest} yet"


def _wants(member: Told) -> Iterator[Line]:
    """What a member subscribes to, and what it is: told where it is not what most are."""
    if member["topics"] is not None:
        by_regex = "" if member["subscribed_regex"] is None else f", by {_shown(member['subscribed_regex'])}"
        yield "", f"  subscribes to {', '.join(map(_shown, member['topics'])) or 'no topic yet'}{by_regex}"
    if member["member_protocol"] == "classic":
        yield "", "  still speaks the classic protocol"
    if member["rack_id"] is not None:
        yield "", f"  is in rack {_shown(member['rack_id'])}"
    if member["topology_epoch"]:
        yield "", f"  runs the topology of epoch {member['topology_epoch']}"
    if member["process_id"] is not None:
        at = "" if member["user_endpoint"] is None else f", which answers queries at {_shown(member['user_endpoint'])}"
        yield "", f"  is of process {_shown(member['process_id'])}{at}"
    if member["client_tags"]:
        tags = (f"{_shown(name)}={_shown(value, '')}" for name, value in sorted(member["client_tags"].items()))
        yield "", f"  has the tags {', '.join(tags)}"


def _orphaned(told: Told) -> Iterator[Line]:
    """What nobody has although the group is Stable; nothing if there is none."""
    colon, label = ": " if _has_tasks(told) else " ", "orphaned"
    for each in told["orphaned"] or ():
        yield label, f"nobody has {_places(each['partitions'], colon)}, since {_time(each['since'])}"
        yield "", f"  which {_shown(each['member_id'])} is to have"
        label = ""


def _has_tasks(told: Told) -> bool:
    return bool(told["group_type"] == "streams")


def _at_epoch(epoch: int | None) -> str:
    if epoch == AWAY:
        return "left for a while, and may be back under its instance id"
    return "at an epoch not known" if epoch is None else f"at epoch {epoch}"


def _reconciliation(told: Told, colon: str) -> Iterator[Line]:
    since = f"since {_time(told['since'])}"
    if told["gives_up"]:
        yield "", f"  is still to give up {_places(told['gives_up'], colon)}, {since}"
        return
    yield "", f"  waits for {_places(told['waits_for'], colon)}, {since}"
    for holder in told["held_by"]:
        yield "", f"    of which {_shown(holder['member_id'])} holds {_places(holder['partitions'], colon)}"


def _places(places: Sequence[Told], colon: str) -> str:
    """Write partitions by topics, or tasks by subtopologies, in short."""
    roles = (f"{_shown(each['role'])} " if "role" in each else "" for each in places)
    named = [
        f"{role}{_shown(each['topic'])}{colon}{_ranges(each['partitions'])}"
        for role, each in zip(roles, places, strict=True)
    ]
    return "; ".join(named) or "nothing"


def _storm(row: Told) -> Iterator[Line]:
    rebalances = counted(row["rebalance_count"], "rebalance", "rebalances")
    yield "", f"{row['severity']}: rebalance storm, {row['pattern']}, {_span(row)}, {rebalances}"
    if row["main_client_id"]:
        culprit = f"{_shown(row['main_client_id'])} at {_shown(row['main_client_host'])}"
        yield "", f"  culprit {culprit}, mostly by {row['main_trigger']}"
    yield "", f"  {_shown(row['advice'], 'no advice')}"


def _burst(row: Told) -> Iterator[Line]:
    yield "", f"burst of {row['error']}, {times(row['error_count'])}, {_span(row)}, {row['suspected_cause']}"
    if row["client_ids"]:
        yield "", f"  culprit {', '.join(map(_shown, row['client_ids']))}"
    yield "", f"  {_shown(row['advice'], 'no advice')}"


def _revoker(row: Told) -> Iterator[Line]:
    parts = counted(row["partition_count"], "partition", "partitions")
    yield "", f"slow revoker, {parts} not given up, {_span(row)}, {duration(row['held_up_ms'])}"
    yield "", f"  culprit {_shown(row['client_id'])} at {_shown(row['client_host'])}"
    yield "", f"  {_shown(row['advice'], 'no advice')}"


_FINDINGS = {STORM.name: _storm, BURST.name: _burst, REVOKER.name: _revoker}
"""By kind of a finding, how it is told."""


def _span(row: Told) -> str:
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
