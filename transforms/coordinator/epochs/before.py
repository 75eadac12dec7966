"""What is looked at of a group of epochs before an operation changes it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from transforms.coordinator.epochs.protocol import EpochProtocol, Glimpse, Part
from transforms.coordinator.modern.partitions import Partitions, of_numbers
from transforms.coordinator.modern.records import Record


class Before(Struct, gc=False):
    """What is looked at of a group before an operation, as far as the operation is about it.

    Attributes:
        seen: members that the operation names.
        members: all of them, if it bumps the epoch or computes targets.
        targets: what each of `members` was to have.
    """

    is_there: bool
    epoch: int
    seen: dict[str, Glimpse]
    targets_seen: dict[str, tuple[Part, ...]]
    members: dict[str, Glimpse]
    targets: dict[str, tuple[Part, ...]]


def named(operation: Sequence[Record[Struct]], protocol: EpochProtocol) -> list[str]:
    """Return the members that an operation is about."""
    types = protocol.types
    of_members = (types.member, types.target, types.current)
    return list(dict.fromkeys(record.name for record in operation if record.type_id in of_members))


def targets_before(members: Mapping[str, Glimpse], before: Before) -> dict[str, Partitions]:
    """Return what members were to have before an operation, or the members whose places they took.

    Args:
        members: the members after the operation, by id.
        before: the group before it.
    """
    of_instances = {each.instance_id: name for name, each in before.members.items() if each.instance_id is not None}
    found: dict[str, Partitions] = {}
    for name, member in members.items():
        known = name if name in before.members else of_instances.get(member.instance_id or "")
        if known is not None:
            found[name] = _by_topic(before.targets[known])
    return found


def _by_topic(parts: Iterable[Part]) -> Partitions:
    numbers: dict[str, list[int]] = {}
    for topic, number, _ in parts:
        numbers.setdefault(topic, []).append(number)
    return of_numbers(numbers)
