"""Who may speak in a consumer group: the checks of a request, in Kafka's order, and the member that it is of.

Source: GroupCoordinatorService.throwIfConsumerGroupHeartbeatRequestIsInvalid, GroupMetadataManager.throwIf…,
getOrMaybeSubscribeDynamicConsumerGroupMember, …Static… (4.2; earlier ones by `modern_rules`).
"""

from __future__ import annotations

from msgspec.structs import replace

from transforms.coordinator.consumer.group import Group, Member
from transforms.coordinator.consumer.reconcile import Standing
from transforms.coordinator.consumer.requests import JOIN, HeartbeatRequest
from transforms.coordinator.consumer.turn import Turn
from transforms.coordinator.kafka.answers import Error
from transforms.coordinator.modern.group import LEFT, LEFT_FOR_A_WHILE
from transforms.coordinator.modern.partitions import Partitions, minus
from transforms.coordinator.modern.world import ModernSettings, Refused

_ID_FROM_CLIENT = 1
"""Version of ConsumerGroupHeartbeat since which the client makes its member id."""


def check_fields(request: HeartbeatRequest, api_version: int, settings: ModernSettings) -> None:
    """Refuse a heartbeat whose fields do not go together, whatever the group is.

    Raises:
        Refused: INVALID_REQUEST or UNSUPPORTED_ASSIGNOR.
    """
    epoch, rules = request.member_epoch, settings.rules
    needs_id = api_version >= _ID_FROM_CLIENT or epoch > JOIN or epoch == LEFT
    if not rules.leaves_for_a_while_nameless:
        needs_id |= epoch == LEFT_FOR_A_WHILE
    names_nothing = request.subscribed_topic_names is None and request.subscribed_topic_regex is None
    if not rules.joins_by_regex:
        names_nothing = not request.subscribed_topic_names
    is_incomplete_join = epoch == JOIN and (
        request.rebalance_timeout_ms == -1 or request.topic_partitions is None or bool(request.topic_partitions)
    )
    is_invalid = (
        (needs_id and not request.member_id)
        or "" in (request.instance_id, request.rack_id)
        or is_incomplete_join
        or (epoch == JOIN and names_nothing)
        or (epoch == LEFT_FOR_A_WHILE and request.instance_id is None)
        or epoch < LEFT_FOR_A_WHILE
    )
    if is_invalid:
        raise Refused(Error.INVALID_REQUEST)
    if request.server_assignor is not None and settings.is_supported(request.server_assignor) is False:
        raise Refused(Error.UNSUPPORTED_ASSIGNOR)


def check_size(group: Group, member_id: str, settings: ModernSettings) -> None:
    """Refuse one more member in a full group."""
    if len(group.members) >= settings.max_size and member_id not in group.members:
        raise Refused(Error.GROUP_MAX_SIZE_REACHED)


def known_member(group: Group, member_id: str, instance_id: str | None) -> Member:
    """Return a member that must be there, and must be the one that its instance is taken by."""
    if instance_id is None:
        member = group.members.get(member_id)
        if member is None:
            raise Refused(Error.UNKNOWN_MEMBER_ID)
        return member
    member = group.static_member(instance_id)
    if member is None:
        raise Refused(Error.UNKNOWN_MEMBER_ID)
    if member.member_id != member_id:
        raise Refused(Error.FENCED_INSTANCE_ID)
    return member


def speaker(turn: Turn, request: HeartbeatRequest) -> Member:
    """Return the member that a heartbeat is of: a known one, a new one, or the heir of its instance."""
    is_joining = request.member_epoch == JOIN
    if is_joining:
        member = joiner(turn, request.member_id, request.instance_id, is_classic=False)
        if request.instance_id is None and not turn.world.settings.rules.lets_rejoin:
            _check_epoch(member.standing, JOIN, request.owned)
        return member
    member = known_member(turn.group, request.member_id, request.instance_id)
    _check_epoch(member.standing, request.member_epoch, request.owned)
    return member


def joiner(turn: Turn, member_id: str, instance_id: str | None, *, is_classic: bool) -> Member:
    """Return who joins; one that takes over its instance's place has its forerunner's subscription and partitions."""
    forerunner = turn.group.static_member(instance_id)
    if forerunner is None:
        return turn.group.members.get(member_id) or Member(member_id)
    replaces_at_once = is_classic or (forerunner.is_classic and turn.world.settings.rules.replaces_classic_instances)
    if not replaces_at_once and forerunner.epoch != LEFT_FOR_A_WHILE:
        raise Refused(Error.UNRELEASED_INSTANCE_ID)
    heir = Member(member_id, forerunner.metadata, replace(forerunner.standing, epoch=JOIN, previous_epoch=JOIN))
    turn.forget_member(forerunner.member_id)
    if turn.world.settings.rules.heirs_have_no_target:
        return replace(heir, standing=Standing(assigned=forerunner.standing.assigned))
    turn.write_member(heir)
    turn.write_target(member_id, turn.group.targets.get(forerunner.member_id, {}))
    turn.write_standing(member_id, heir.standing)
    return heir


def _check_epoch(standing: Standing, epoch: int, owned: Partitions | None) -> None:
    """Refuse an epoch that is neither the member's own, nor the one before while it shows to hold nothing else."""
    if epoch == standing.epoch:
        return
    is_one_behind = epoch < standing.epoch and epoch == standing.previous_epoch
    if not is_one_behind or owned is None or minus(owned, standing.assigned):
        raise Refused(Error.FENCED_MEMBER_EPOCH)
