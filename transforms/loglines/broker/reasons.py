"""Reasons in "Preparing to rebalance ... (reason: ...)": the words that Kafka prints and the trigger they mean."""

from __future__ import annotations

from msgspec import Struct

from schemas.client_reasons import refined, said
from schemas.words import TRIGGERS
from transforms.loglines.templates.fields import GREEDY, Kind, drop
from transforms.loglines.templates.matching import Index, Vocabulary
from transforms.loglines.templates.printed import member_ids, option

_CLIENT_REASON = "; client reason: "


class Reason(Struct):
    """A reason, read.

    Attributes:
        trigger: word for it, out of `schemas.words.TRIGGERS`; `unknown` for a text that no template fits.
        text: as logged, without the client's part.
        client_reason: what the client said (KIP-800); None where it said nothing.
        member_ids: members named; the first one is the culprit.
        group_instance_id: instance named.
    """

    trigger: str
    text: str = ""
    client_reason: str | None = None
    member_ids: tuple[str, ...] = ()
    group_instance_id: str | None = None


def _member(reason: Reason, raw: str) -> None:
    # Up to 2.8 the id is the one in the request, and an administrator's request has none.
    reason.member_ids = (raw,) if raw else ()


def _members(reason: Reason, raw: str) -> None:
    reason.member_ids = tuple(member_ids(raw))


def _instance(reason: Reason, raw: str) -> None:
    reason.group_instance_id = option(raw)


_KINDS: dict[str, Kind[Reason]] = {
    "member": (GREEDY, _member),
    "members": (GREEDY, _members),
    "instance": (GREEDY, _instance),
    "state": (r"(\w+)", drop),
    "error": (GREEDY, drop),
    "rest": (GREEDY, drop),
}

REASONS = Vocabulary(TRIGGERS, _KINDS.__getitem__, lambda meaning, _: Reason(meaning)).table(
    """
member_joined · 2.5-
Adding new member {member} with group instance id {instance}
    Adding new member c1-7d1e with group instance id Some(i1)
member_joined · 2.3-2.4
Adding new member {member} with group instanceid {instance}
    Adding new member c1-7d1e with group instanceid Some(i1)
member_joined · 2.1-2.2
Adding new member {member}
    Adding new member c1-7d1e
unknown · 3.6-
Member {member} is joining group during {state}
    Member c1-7d1e is joining group during PreparingRebalance
unknown · 2.7-3.9
Member {member} joining group during {state}
    Member c1-7d1e joining group during PreparingRebalance
static_member_replaced · 2.5-
Updating metadata for static member {member} with instance id {instance}
    Updating metadata for static member c1-7d1e with instance id Some(i1)
static_member_replaced · 2.7-
Group's selectedProtocol will change because static member {member} with instance id {instance} joined with change of protocol
    Group's selectedProtocol will change because static member c1-7d1e with instance id i1 joined with change of protocol
subscription_changed · 2.7-
Updating metadata for member {member} during {state}
    Updating metadata for member c1-7d1e during Stable
subscription_changed · 2.1-2.6
Updating metadata for member {member}
    Updating metadata for member c1-7d1e
leader_rejoined · 3.0-
Leader {member} re-joining group during {state}
    Leader c1-7d1e re-joining group during Stable
leader_rejoined · 2.7-2.8
leader {member} re-joining group during {state}
    leader c1-7d1e re-joining group during Stable
member_left · 3.0-3.9
Removing member {member} on LeaveGroup
    Removing member c1-7d1e on LeaveGroup
member_left · 2.1-2.8
removing member {member} on LeaveGroup
    removing member c1-7d1e on LeaveGroup
member_left · 3.7-
explicit `LeaveGroup` request for ({members}) members.
    explicit `LeaveGroup` request for (c1-7d1e, c2-91af) members.
session_expired · 2.1-3.9
removing member {member} on heartbeat expiration
    removing member c1-7d1e on heartbeat expiration
session_expired · 3.6-
removing member {member} on heartbeat expiration.
    removing member c1-7d1e on heartbeat expiration.
sync_timeout · 3.0-
Removing {members} on pending sync request expiration
    Removing Set(c1-7d1e, c2-91af) on pending sync request expiration
assignment_store_failed · 2.1-2.8
error when storing group assignment during SyncGroup (member: {member})
    error when storing group assignment during SyncGroup (member: c1-7d1e)
assignment_store_failed · 3.0-3.3
Error when storing group assignment during SyncGroup (member: {member})
    Error when storing group assignment during SyncGroup (member: c1-7d1e)
assignment_store_failed · 3.4-3.9
Error {error} when storing group assignment during SyncGroup (member: {member})
    Error NOT_COORDINATOR when storing group assignment during SyncGroup (member: c1-7d1e)
assignment_store_failed · 3.6-
Error {error} when storing group assignmentduring SyncGroup (member: {member}).
    Error NOT_COORDINATOR when storing group assignmentduring SyncGroup (member: c1-7d1e).
group_over_capacity · 2.2-
Freshly-loaded group {rest}
    Freshly-loaded group g1 (size 3) is over capacity 2. Rebalancing in order to give a chance for consumers to commit offsets
protocol_downgraded · 3.8-
Downgrade group {rest}
    Downgrade group g1 from consumer to classic for member leaving.
"""  # noqa: E501 (a reason is one line)
)
"""Reasons without the client's part, the more telling before the shorter ones that would fit them too.

`{member}` is one member, `{members}` a collection. A version '3.6-' or later without an end is the Java coordinator's.
"""

_INDEX = Index(REASONS)


def read_reason(printed: str) -> Reason:
    """Read the text between "(reason: " and its closing parenthesis; never fails."""
    text, has_client_reason, client_reason = printed.partition(_CLIENT_REASON)
    reason = _INDEX.read(text) or Reason("unknown")
    reason.text = text
    if has_client_reason:
        reason.client_reason = said(client_reason)
    reason.trigger = refined(reason.trigger, reason.client_reason)
    return reason
