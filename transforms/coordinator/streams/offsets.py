"""Whether a member of a streams group may commit and fetch offsets (StreamsGroup.validateOffsetCommit, …Fetch)."""

from __future__ import annotations

from collections.abc import Iterable

from transforms.coordinator.kafka.answers import Error
from transforms.coordinator.kafka.modern_rules import ModernRules
from transforms.coordinator.modern.requests import CommitRequest, FetchRequest
from transforms.coordinator.modern.world import Refused
from transforms.coordinator.streams.group import Group, Member

FIRST_WITH_EPOCH = 9
"""Version of OffsetCommit since which members of a streams group may use it."""


def check_commit(
    group: Group,
    request: CommitRequest,
    api_version: int,
    partitions: Iterable[tuple[str, int]],
    rules: ModernRules,
) -> None:
    """Refuse a commit that a member may not make.

    Args:
        group: the group.
        request: the request.
        api_version: its version.
        partitions: topics and partitions that it commits.
        rules: those of the broker's release.
    """
    epoch = request.generation_id_or_member_epoch
    if epoch < 0 and not group.members:
        return
    is_nobodys = not request.member_id and request.group_instance_id is None and epoch == -1
    if request.is_transactional and is_nobodys:
        return
    member = _member(group, request.member_id)
    if not request.is_transactional and api_version < FIRST_WITH_EPOCH:
        raise Refused(Error.UNSUPPORTED_VERSION)
    is_old_but_holding = (
        rules.lets_old_epochs_commit
        and epoch < member.epoch
        and all(_given_at(group, member, topic, number) <= epoch for topic, number in partitions)
    )
    if epoch != member.epoch and not is_old_but_holding:
        raise Refused(Error.ILLEGAL_GENERATION if request.is_transactional else Error.STALE_MEMBER_EPOCH)


def check_fetch(group: Group, request: FetchRequest) -> None:
    """Refuse a fetch that a member may not make."""
    if request.member_id is None and request.member_epoch < 0:
        return
    if _member(group, request.member_id or "").epoch != request.member_epoch:
        raise Refused(Error.STALE_MEMBER_EPOCH)


def _member(group: Group, member_id: str) -> Member:
    member = group.members.get(member_id)
    if member is None:
        raise Refused(Error.UNKNOWN_MEMBER_ID)
    return member


def _given_at(group: Group, member: Member, topic: str, number: int) -> float:
    """Return the epoch at which a member was given the task that reads a partition; infinite if it has not got it."""
    parts = () if group.topology is None else group.topology.subtopologies
    standing = member.standing
    for part in parts:
        if topic in part.sources:
            for held in (standing.assigned, standing.revoking):
                epoch = held.active.get(part.subtopology_id, {}).get(number)
                if epoch is not None:
                    return epoch
    return float("inf")
