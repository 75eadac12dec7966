"""A group as it was at one moment as a document, which is what `--json` prints.

Of a classic group it says what DescribeGroups would have answered, of others what ConsumerGroupDescribe,
ShareGroupDescribe and StreamsGroupDescribe would have; and of all what these do not say.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import to_builtins

from transforms.findings.description.standing import Member, Orphan, Part, SharePartitions, Standing, Subscription, Wait
from transforms.findings.handover.json_lines import columns, moment
from transforms.findings.handover.kinds import BURST, REVOKER, STORM
from transforms.findings.offsets.keeping import OffsetUse, keeping_of, keeping_told

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
_WANTS = (
    "topics",
    "subscribed_regex",
    "member_protocol",
    "rack_id",
    "topology_epoch",
    "process_id",
    "user_endpoint",
    "client_tags",
)
_OF_EPOCHS = ("member_epoch", *_WANTS, "assignment", "revoking", "target_count", "target", "reconciliation")
_STATE = ("life", "state", "generation", "protocol_type", "protocol")

ROLES = ("active", "standby", "warmup")
"""What a streams task is to the member that has it."""


def document(
    cluster: str,
    group_id: str,
    at: float | None,
    state: Row,
    members: Sequence[Row],
    rebalance: Row | None,
    storms: Sequence[Row],
    bursts: Sequence[Row],
    standing: Standing | None = None,
    offsets: OffsetUse | None = None,
    revokers: Sequence[Row] = (),
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
        standing: where its epochs and members stood; None = it is a classic group, or no epoch of it is known.
        offsets: what is known of its commits; None = it commits none, whatever it does.
        revokers: slow revokers, those that cover the moment.

    Returns:
        A document that JSON can hold; moments are ISO 8601 in UTC.
    """
    leader, epochs = state.get("leader_member_id"), None if standing is None else standing.epochs
    given = state if epochs is None else {**state, "generation": epochs.group_epoch}
    stood = {} if standing is None else standing.members
    return {
        "cluster": cluster,
        "group_id": group_id,
        "at": moment(at),
        "group_type": state.get("group_type"),
        **{name: given.get(name) for name in _STATE},
        "group_epoch": None if epochs is None else epochs.group_epoch,
        "assignment_epoch": None if epochs is None else epochs.assignment_epoch,
        "assignor": None if standing is None else _assignor(standing, state),
        "since": moment(state.get("since")),
        "in_state_ms": _length(state.get("since"), at),
        "members": [{**_member(member, leader), **_of_epochs(stood.get(member["member_id"]))} for member in members],
        "share_partitions": None if standing is None else _share_partitions(standing.share_partitions),
        "topology": None if standing is None or standing.topology is None else to_builtins(standing.topology),
        "orphaned": None if standing is None else _orphaned(standing.orphans),
        "last_rebalance": None if rebalance is None else _rebalance(rebalance, at),
        "offsets": None if offsets is None else {"kept_by": keeping_of(offsets), "told": keeping_told(offsets)},
        "findings": [
            {"finding_kind": kind.name, **columns(kind, row)}
            for kind, rows in ((STORM, storms), (BURST, bursts), (REVOKER, revokers))
            for row in rows
        ],
    }


def _share_partitions(told: SharePartitions | None) -> dict[str, Any] | None:
    if told is None:
        return None
    ready, begun = _places(told.initialised), _places(told.initialising)
    return {"initialised": ready, "initialising": begun, "deleting": list(told.deleting)}


def _orphaned(orphans: Sequence[Orphan]) -> list[dict[str, Any]]:
    """What nobody had, by whose it was to be and since when, the longest first."""
    found: dict[tuple[float, str], list[Part]] = {}
    for orphan in orphans:
        found.setdefault((orphan.since, orphan.member_id), []).append(orphan.part)
    return [
        {"since": moment(since), "member_id": member_id, "partitions": _places(parts)}
        for (since, member_id), parts in found.items()
    ]


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


def _assignor(standing: Standing, state: Row) -> str | None:
    """Without members there is nobody's wish, and a consumer group has the broker's first assignor, whichever that is.

    A share group has but one, and a streams group none to wish for.
    """
    return standing.epochs.assignor if standing.members or state.get("group_type") == "share" else None


def _of_epochs(member: Member | None) -> dict[str, Any]:
    """What only members of groups of epochs have; of all others it is null."""
    if member is None:
        return dict.fromkeys(_OF_EPOCHS)
    return {
        "member_epoch": member.epoch,
        **_wants(member.subscription),
        "assignment": _places(member.owned),
        "revoking": _places(member.revoking),
        "target_count": member.target_count,
        "target": None if member.target is None else _places(member.target),
        "reconciliation": None if member.wait is None else _reconciliation(member.wait),
    }


def _wants(said: Subscription | None) -> dict[str, Any]:
    if said is None:
        return dict.fromkeys(_WANTS)
    topics = None if said.topics is None else list(said.topics)
    what = (said.regex, said.protocol, said.rack_id, said.topology_epoch)
    tags = None if said.client_tags is None else dict(said.client_tags)
    return dict(zip(_WANTS, (topics, *what, said.process_id, said.user_endpoint, tags), strict=True))


def _reconciliation(wait: Wait) -> dict[str, Any]:
    return {
        "state": wait.state,
        "since": moment(wait.since),
        "gives_up": _places(wait.parts) if wait.gives_up else [],
        "waits_for": [] if wait.gives_up else _places(wait.parts),
        "held_by": [{"member_id": name, "partitions": _places(parts)} for name, parts in sorted(wait.holders.items())],
    }


def _places(parts: Iterable[Part]) -> list[dict[str, Any]]:
    """Return partitions by their topics; tasks by their roles and subtopologies, which stand for topics."""
    found: dict[tuple[str, str], list[int]] = {}
    for part in sorted(parts, key=lambda part: (ROLES.index(part.role) if part.role in ROLES else -1, part)):
        found.setdefault((part.role, part.topic), []).append(part.partition)
    return [
        {"topic": topic, "partitions": numbers, **({"role": role} if role else {})}
        for (role, topic), numbers in found.items()
    ]


def _rebalance(row: Row, at: float | None) -> dict[str, Any]:
    """Of one that is under way at the moment nobody knows yet how long it takes, and how it comes out."""
    told = {"began_at": moment(row["began_at"]), **{name: row[name] for name in _REBALANCE}}
    is_under_way = at is not None and row["began_at"] + (row["rebalance_ms"] or 0) > at
    return {**told, "outcome": None, "rebalance_ms": None} if is_under_way else told


def _length(since: float | None, until: float | None) -> int | None:
    return None if since is None or until is None else max(0, round(until - since))
