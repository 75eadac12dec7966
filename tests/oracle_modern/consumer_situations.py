"""The situations of consumer groups in which the oracle's driver asked Kafka, and how it printed what came of it."""

from __future__ import annotations

import struct
from typing import Any

import msgspec

from transforms.coordinator.consumer.conversion import ClassicAfter, ClassicBefore, ClassicMemberBefore
from transforms.coordinator.consumer.group import Group, Member
from transforms.coordinator.consumer.machine import Elsewhere, Machine
from transforms.coordinator.consumer.reconcile import Standing
from transforms.coordinator.consumer.records import (
    ClassicMember,
    ClassicProtocol,
    ConsumerRecord,
    CurrentAssignment,
    MemberMetadata,
    ResolvedRegex,
)
from transforms.coordinator.kafka.states import MemberState
from transforms.coordinator.modern.elsewhere import GroupType
from transforms.coordinator.modern.partitions import Partitions
from transforms.coordinator.modern.records import CLASSIC_GROUP, GroupEpoch, MemberTarget, TargetEpoch, partitions_of
from transforms.coordinator.modern.topics import Topic, Topics
from transforms.coordinator.modern.world import ModernSettings, World

FOO, BAR = "AAAAAAAADwAAAAAAAAAAAQ", "AAAAAAAAC6IAAAAAAAAAAg"
TOPICS = Topics([Topic("foo", FOO, 6), Topic("bar", BAR, 3)])
CLIENT, HOST = "client", "host"
REBALANCE_MS, SESSION_MS = 20_000, 10_000
MADE_UP = "made-up"
"""The id that stands for those which Kafka made up; the oracle prints them as <new>."""

UNREVOKED, UNRELEASED = MemberState.UNREVOKED_PARTITIONS, MemberState.UNRELEASED_PARTITIONS


def subscription(*topics: str, owned: tuple[int, ...] = ()) -> bytes:
    """Return the bytes of a ConsumerProtocolSubscription v3: topics, and partitions of foo that the member has."""
    names = b"".join(struct.pack(">h", len(name)) + name.encode() for name in topics)
    listed = struct.pack(f">ih3si{len(owned)}i", 1, 3, b"foo", len(owned), *owned) if owned else struct.pack(">i", 0)
    return struct.pack(">hi", 3, len(topics)) + names + struct.pack(">i", -1) + listed + struct.pack(">ih", -1, -1)


def _assignment(*numbers: int) -> bytes:
    listed = struct.pack(f">i{len(numbers)}i", len(numbers), *numbers)
    return struct.pack(">hih", 3, 1, 3) + b"foo" + listed + struct.pack(">i", -1)


def _classic(owned: tuple[int, ...]) -> ClassicMember:
    return ClassicMember(SESSION_MS, (ClassicProtocol("range", subscription("foo", owned=owned)),))


def _group(epoch: int, assignment_epoch: int, *members: tuple[Member, Partitions]) -> Group:
    group = Group(epoch, TOPICS.hash_of(["foo"]), assignment_epoch)
    for member, target in members:
        group.put(member)
        group.targets[member.member_id] = target
    return group


def _member(
    member_id: str,
    epoch: int,
    previous: int,
    assigned: tuple[int, ...],
    target: tuple[int, ...] | None = None,
    state: MemberState = MemberState.STABLE,
    revoking: tuple[int, ...] = (),
    instance: str | None = None,
    said_owned: tuple[int, ...] = (),
) -> tuple[Member, Partitions]:
    classic = _classic(said_owned) if member_id.startswith("c") else None
    metadata = MemberMetadata(instance, None, CLIENT, HOST, ("foo",), "", REBALANCE_MS, None, classic)
    standing = Standing(epoch, previous, state, _foo(assigned), _foo(revoking))
    return Member(member_id, metadata, standing), _foo(assigned if target is None else target)


def _foo(numbers: tuple[int, ...]) -> Partitions:
    return {FOO: numbers} if numbers else {}


def situation(name: str) -> Group | None:
    """Return the consumer group of a situation; None where the id is no consumer group."""
    low, high = (0, 1, 2), (3, 4, 5)
    stable = _member("m1", 2, 1, low), _member("m2", 2, 2, high)
    groups = {
        "EMPTY": lambda: _group(4, 2),
        "STABLE": lambda: _group(2, 2, *stable),
        "FULL(max 2)": lambda: _group(2, 2, *stable),
        "RECONCILING": lambda: _group(
            3,
            3,
            _member("m1", 2, 2, (0, 1), (0, 1), UNREVOKED, (2,)),
            _member("m2", 2, 2, high, (3, 4)),
            _member("m3", 3, 3, (), (2, 5), UNRELEASED),
        ),
        "ASSIGNING": lambda: _group(4, 3, _member("m1", 3, 2, (0, 1)), _member("m3", 3, 3, (2, 5))),
        "STATIC": lambda: _group(
            2, 2, _member("m1", 2, 1, low, instance="i1"), _member("m2", 2, 2, high, instance="i2")
        ),
        "STATIC_LEFT": lambda: _group(
            2, 2, _member("m1", -2, 1, low, instance="i1"), _member("m2", 2, 2, high, instance="i2")
        ),
        "MIXED": lambda: _group(
            2,
            2,
            _member("c1", 2, 1, (0, 1), said_owned=(0, 1)),
            _member("c2", 2, 1, (3, 4), said_owned=(3, 4)),
            _member("m1", 2, 2, (2, 5)),
        ),
        "MIXED_BEHIND": lambda: _group(
            2,
            2,
            _member("c1", 1, 1, low, (0, 1)),
            _member("c2", 1, 1, high, (3, 4)),
            _member("m1", 2, 0, (), (2, 5), UNRELEASED),
        ),
    }
    return groups[name]() if name in groups else None


def machine(name: str) -> Machine:
    """Return the machine in a situation; Kafka had looked at the topics since the group was made."""
    made = Machine(situation(name))
    made.memory.must_refresh = made.present is None
    return made


def elsewhere(name: str) -> Elsewhere:
    """Return what the group id is in a situation in which it is no consumer group."""
    if name == "CLASSIC_STABLE":
        return classic_group({"c1": (0, 1, 2), "c2": (3, 4, 5)})
    if name == "CLASSIC_EMPTY":
        return Elsewhere(GroupType.CLASSIC)
    others = {"SHARE": GroupType.SHARE, "STREAMS": GroupType.STREAMS}
    return Elsewhere(others[name], is_empty=False) if name in others else Elsewhere()


def classic_group(owned: dict[str, tuple[int, ...]]) -> Elsewhere:
    """Return a classic group whose members have partitions of foo."""
    members = [
        ClassicMemberBefore(each, None, CLIENT, HOST, REBALANCE_MS, _classic(()), _assignment(*numbers))
        for each, numbers in owned.items()
    ]
    return Elsewhere(GroupType.CLASSIC, False, ClassicBefore(1, "consumer", "range", members))


def world(name: str) -> World:
    """Return what surrounds the group in a situation."""
    settings = ModernSettings(max_size=2) if name.startswith("FULL") else ModernSettings()
    return World(TOPICS, settings, 1_000.0)


# --- printing --------------------------------------------------------------------------------------------------

_NAMES = {FOO: "foo", BAR: "bar"}


def parts(partitions: Partitions) -> str:
    """Print partitions."""
    named = sorted((_NAMES[topic], numbers) for topic, numbers in partitions.items())
    return " ".join(f"{topic}[{','.join(map(str, numbers))}]" for topic, numbers in named)


def token(record: ConsumerRecord) -> str:
    """Print a record."""
    name = record.name.replace(MADE_UP, "<new>")
    value: Any = record.value
    head = f"{record.type_id}({name})" if name else str(record.type_id)
    if value is None:
        return f"{head}=X"
    if isinstance(value, GroupEpoch):
        return f"{head}{{epoch={value.epoch}" + ("" if value.metadata_hash else ",hash=0") + "}"
    if isinstance(value, TargetEpoch):
        return f"{head}{{{value.assignment_epoch}}}"
    if isinstance(value, MemberTarget):
        return f"{head}{{{parts(partitions_of(value.topic_partitions))}}}"
    if isinstance(value, MemberMetadata):
        return f"{head}{{{_said(value)}}}"
    if isinstance(value, CurrentAssignment):
        return f"{head}{{{_stands(value)}}}"
    if isinstance(value, ClassicAfter):
        members = ", ".join(sorted(value.assigned)).replace(MADE_UP, "<new>")
        return f"2{{gen={value.generation},type=consumer,proto={value.protocol},members=[{members}]}}"
    assert isinstance(value, ResolvedRegex)
    return f"{head}{{{','.join(value.topics)}}}"


def _said(value: MemberMetadata) -> str:
    more = {
        "regex": value.subscribed_topic_regex,
        "inst": value.instance_id,
        "assignor": value.server_assignor,
    }
    said = [f"[{', '.join(value.subscribed_topic_names)}]", *(f"{key}={said}" for key, said in more.items() if said)]
    return " ".join([*said, *(["classic"] if value.classic_member_metadata else [])])


def _stands(value: CurrentAssignment) -> str:
    state = MemberState(value.state).name
    said = f"e={value.member_epoch},prev={value.previous_member_epoch},{state}"
    said += f",asg={parts(partitions_of(value.assigned_partitions))}"
    revoking = parts(partitions_of(value.partitions_pending_revocation))
    return said + (f",rev={revoking}" if revoking else "")


def state_line(group: Group | None, records: list[ConsumerRecord]) -> list[str]:
    """Print a group, as words in no order."""
    for record in records:
        if record.type_id == CLASSIC_GROUP and isinstance(record.value, ClassicAfter):
            state = "PreparingRebalance" if record.value.must_rebalance else "Stable"
            return sorted(["classic", f"{state}#{record.value.generation}", f"n={len(record.value.assigned)}"])
    if group is None:
        return ["absent"]
    members = [f"{_shown(member)}({member.epoch},{member.standing.state.name})" for member in group.members.values()]
    counts = [f"epoch={group.epoch}", f"asgEpoch={group.assignment_epoch}", f"n={len(group.members)}"]
    return sorted(["consumer", group.state.value, *counts, *members])


def _shown(member: Member) -> str:
    """Ids that Kafka had made up are not printed in a group, as those of the classic members were."""
    name = "<new>" if member.member_id in (MADE_UP, "c1", "c2") else member.member_id
    return f"{name}/classic" if member.is_classic else name


def decoded(kind: type[msgspec.Struct], **fields: Any) -> Any:
    """Return a request by Kafka's field names."""
    return msgspec.convert(fields, kind)
