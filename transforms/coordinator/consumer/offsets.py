"""Whether a member of a consumer group may commit and fetch offsets.

Source: ConsumerGroup.validateOffsetCommit, validateOffsetFetch, validateMemberEpoch (4.2).
"""

from __future__ import annotations

from transforms.coordinator.consumer.group import Group, Member
from transforms.coordinator.kafka.answers import Error
from transforms.coordinator.modern.requests import CommitRequest, FetchRequest
from transforms.coordinator.modern.world import ModernSettings, Refused

_WITH_EPOCH = 9
"""Version of OffsetCommit since which members of the consumer protocol may use it."""


def check_commit(group: Group, request: CommitRequest, api_version: int, settings: ModernSettings) -> None:
    """Refuse a commit that a member may not make."""
    epoch = request.generation_id_or_member_epoch
    if epoch < 0 and not group.members:
        return
    is_nobodys = not request.member_id and request.group_instance_id is None and epoch == -1
    if request.is_transactional and is_nobodys and settings.rules.lets_nobody_commit:
        return
    member = _member(group, request.member_id)
    error = _epoch_error(member, epoch)
    is_too_old = not request.is_transactional and not member.is_classic and api_version < _WITH_EPOCH
    if is_too_old and (error or settings.rules.needs_new_commits):
        raise Refused(Error.UNSUPPORTED_VERSION)
    if error is Error.STALE_MEMBER_EPOCH and request.is_transactional:
        error = Error.ILLEGAL_GENERATION
    if error:
        raise Refused(error)


def check_fetch(group: Group, request: FetchRequest) -> None:
    """Refuse a fetch that a member may not make."""
    if request.member_id is None and request.member_epoch < 0:
        return
    error = _epoch_error(_member(group, request.member_id or ""), request.member_epoch)
    if error:
        raise Refused(error)


def _member(group: Group, member_id: str) -> Member:
    member = group.members.get(member_id)
    if member is None:
        raise Refused(Error.UNKNOWN_MEMBER_ID)
    return member


def _epoch_error(member: Member, epoch: int) -> Error:
    if epoch == member.epoch:
        return Error.NONE
    return Error.ILLEGAL_GENERATION if member.is_classic else Error.STALE_MEMBER_EPOCH
