"""Reasons in "Preparing to rebalance ... (reason: ...)": the words that Kafka prints and the trigger they mean."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from schemas.words import TRIGGERS
from transforms.loglines.templates.matching import NOT_PROVIDED
from transforms.loglines.templates.printed import collection, option

_CLIENT_REASON = "; client reason: "

_FIELDS = {"members": "(?P<members>.*)", "state": r"\w+", "number": r"\d+"}
_FIELD = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class ReasonPattern:
    """One reason.

    Attributes:
        trigger: what it means, out of `schemas.words.TRIGGERS`.
        versions: Kafka versions that print it; '3.6-' and later without an end is the Java coordinator.
        template: Kafka's text without the client's reason; `{members}` names one member or a collection of them.
        sample: such a reason as it is printed.
    """

    trigger: str
    versions: str
    template: str
    sample: str
    regex: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Compile the template; refuse a trigger that is not in the vocabulary."""
        if self.trigger not in TRIGGERS:
            raise ValueError(f"{self.trigger} is not a trigger")
        pieces = _FIELD.split(self.template)
        regex = "".join(
            _FIELDS.get(piece, f"(?P<{piece}>.*)") if number % 2 else re.escape(piece)
            for number, piece in enumerate(pieces)
        )
        object.__setattr__(self, "regex", re.compile(regex, re.DOTALL))


@dataclass(frozen=True, slots=True)
class Reason:
    """A reason, read.

    Attributes:
        trigger: word for it; `unknown` for a text that is not in the table.
        text: as logged, without the client's part.
        client_reason: what the client said (KIP-800); None where it said nothing.
        member_ids: members named; the first one is the culprit.
        group_instance_id: instance named.
    """

    trigger: str
    text: str
    client_reason: str | None
    member_ids: tuple[str, ...]
    group_instance_id: str | None


REASONS: tuple[ReasonPattern, ...] = tuple(
    ReasonPattern(*row)
    for row in (
        ("member_joined", "2.5-", "Adding new member {members} with group instance id {instance}",
         "Adding new member c1-7d1e with group instance id Some(i1); client reason: need to re-join"),
        ("member_joined", "2.3-2.4", "Adding new member {members} with group instanceid {instance}",
         "Adding new member c1-7d1e with group instanceid Some(i1)"),
        ("member_joined", "2.1-2.2", "Adding new member {members}",
         "Adding new member c1-7d1e"),
        ("unknown", "3.6-", "Member {members} is joining group during {state}",
         "Member c1-7d1e is joining group during PreparingRebalance; client reason: not provided"),
        ("unknown", "2.7-3.9", "Member {members} joining group during {state}",
         "Member c1-7d1e joining group during PreparingRebalance; client reason: not provided"),
        ("static_member_replaced", "2.5-", "Updating metadata for static member {members} with instance id {instance}",
         "Updating metadata for static member c1-7d1e with instance id Some(i1); client reason: not provided"),
        ("static_member_replaced", "2.7-", "Group's selectedProtocol will change because static member {members} "
         "with instance id {instance} joined with change of protocol",
         "Group's selectedProtocol will change because static member c1-7d1e with instance id i1 joined with change "
         "of protocol; client reason: not provided"),
        ("subscription_changed", "2.7-", "Updating metadata for member {members} during {state}",
         "Updating metadata for member c1-7d1e during Stable; client reason: subscription has changed"),
        ("subscription_changed", "2.1-2.6", "Updating metadata for member {members}",
         "Updating metadata for member c1-7d1e"),
        ("leader_rejoined", "3.0-", "Leader {members} re-joining group during {state}",
         "Leader c1-7d1e re-joining group during Stable; client reason: rebalance enforced by user"),
        ("leader_rejoined", "2.7-2.8", "leader {members} re-joining group during {state}",
         "leader c1-7d1e re-joining group during Stable"),
        ("member_left", "3.0-3.9", "Removing member {members} on LeaveGroup",
         "Removing member c1-7d1e on LeaveGroup; client reason: the consumer is being closed"),
        ("member_left", "2.1-2.8", "removing member {members} on LeaveGroup",
         "removing member c1-7d1e on LeaveGroup"),
        ("member_left", "3.7-", "explicit `LeaveGroup` request for ({members}) members.",
         "explicit `LeaveGroup` request for (c1-7d1e, c2-91af) members."),
        ("session_expired", "2.1-3.9", "removing member {members} on heartbeat expiration",
         "removing member c1-7d1e on heartbeat expiration"),
        ("session_expired", "3.6-", "removing member {members} on heartbeat expiration.",
         "removing member c1-7d1e on heartbeat expiration."),
        ("sync_timeout", "3.0-", "Removing {members} on pending sync request expiration",
         "Removing Set(c1-7d1e, c2-91af) on pending sync request expiration"),
        ("assignment_store_failed", "2.1-2.8", "error when storing group assignment during SyncGroup "
         "(member: {members})",
         "error when storing group assignment during SyncGroup (member: c1-7d1e)"),
        ("assignment_store_failed", "3.0-3.3", "Error when storing group assignment during SyncGroup "
         "(member: {members})",
         "Error when storing group assignment during SyncGroup (member: c1-7d1e)"),
        ("assignment_store_failed", "3.4-3.9", "Error {error} when storing group assignment during SyncGroup "
         "(member: {members})",
         "Error NOT_COORDINATOR when storing group assignment during SyncGroup (member: c1-7d1e)"),
        ("assignment_store_failed", "3.6-", "Error {error} when storing group assignmentduring SyncGroup "
         "(member: {members}).",
         "Error NOT_COORDINATOR when storing group assignmentduring SyncGroup (member: c1-7d1e)."),
        ("group_over_capacity", "2.2-", "Freshly-loaded group {rest}",
         "Freshly-loaded group g1 (size 3) is over capacity 2. Rebalancing in order to give a chance for consumers to "
         "commit offsets"),
        ("protocol_downgraded", "3.8-", "Downgrade group {rest}",
         "Downgrade group g1 from consumer to classic for member leaving."),
    )
)  # fmt: skip
"""Reasons, the more telling before the shorter ones that would match them too."""

CLIENT_REASONS: dict[tuple[str, str], str] = {
    ("leader_rejoined", "cached metadata has changed"): "topic_metadata_changed",
    ("member_left", "consumer poll timeout has expired"): "poll_timeout",
}
"""(trigger, what the client said) to the trigger that this turns it into."""


def refine(trigger: str, client_reason: str | None) -> str:
    """Return the trigger that a client's own words make of the coordinator's."""
    if client_reason is None:
        return trigger
    return CLIENT_REASONS.get((trigger, client_reason.rstrip(".")), trigger)


def read_reason(printed: str) -> Reason:
    """Read the text between "(reason: " and its closing parenthesis; never fails."""
    text, has_client_reason, said = printed.partition(_CLIENT_REASON)
    client_reason = said if has_client_reason and said != NOT_PROVIDED else None
    for pattern in REASONS:
        match = pattern.regex.fullmatch(text)
        if match is None:
            continue
        fields = match.groupdict()
        named = fields.get("members")
        members = () if named is None else _members(pattern.template, named)
        instance = fields.get("instance")
        return Reason(
            refine(pattern.trigger, client_reason),
            text,
            client_reason,
            members,
            None if instance is None else option(instance),
        )
    return Reason("unknown", text, client_reason, (), None)


def _members(template: str, named: str) -> tuple[str, ...]:
    """Return the ids named: a reason that says "member" names one, others a collection."""
    if "ember {members}" in template or "eader {members}" in template or "member: {members}" in template:
        return (named,)
    return tuple(collection(named))
