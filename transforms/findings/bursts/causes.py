"""What lies behind a burst: how its senders had gone, and what they did when they were told.

How long the errors lasted decides nothing: a process that wakes with three threads is refused three times within a
moment or within minutes. Whoever joins again when it is told lost its session, or was too slow; whoever goes on with
its work is a zombie.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from schemas.client_defaults import HEARTBEAT_INTERVAL_MS
from transforms.findings.bursts.course import Course, in_force_at, over_at
from transforms.findings.bursts.holders import Holders, cause_by
from transforms.findings.bursts.senders import COMMITS, Sender
from transforms.findings.evidence import Evidence
from transforms.findings.moves import moves_of
from transforms.findings.offsets.keeping import is_free

_GOES_ON = 2
"""From so many further requests on a client that was told goes on as if it were not."""

_RETRIES = 3
"""From so many commits on, refused within one rebalance, a client does nothing else than try again."""

_SLOW = ("poll_timeout", "rebalance_timeout", "sync_timeout")
_REPLACED = ("replaced", "fenced")

_OF_MEMBERS = ("ILLEGAL_GENERATION", "STALE_MEMBER_EPOCH", "FENCED_MEMBER_EPOCH")
"""Errors that only members of a group are told: its coordinator looks for the member before it compares generations
(ClassicGroup.validateOffsetCommit and its like). Commits to a group that is gone altogether get the first as well."""

_OF_EPOCHS = ("STALE_MEMBER_EPOCH", "FENCED_MEMBER_EPOCH")
"""Errors that say nothing but that an epoch is over: its own heartbeat moves a member on, so that it cannot be behind
for longer than an answer takes, however many bumps that was."""


def cause_of(evidence: Evidence, senders: list[Sender], course: Course, holders: Holders) -> str:
    """Return what lies behind a burst, one of `schemas.words.SUSPECTED_CAUSES`: what holds for most of its senders.

    Of equally many the one with more requests decides, then the one that was refused first.
    """
    is_kept_out = any(sender.is_kept_out for sender in senders)
    if not is_kept_out and _is_coordinators(evidence, course):
        return "coordinator_move"
    votes: Counter[str] = Counter()
    requests: Counter[str] = Counter()
    burst = _Burst(evidence, course, holders)
    for sender in senders:
        cause = _of_sender(burst, sender)
        votes[cause] += 1
        requests[cause] += len(sender.refused)
    return max(votes, key=lambda cause: (votes[cause], requests[cause]))


class _Burst:
    """What is asked of a burst for each of its senders.

    Args:
        evidence: of the burst.
        course: of the group's generations.
        holders: who held its instance ids.
    """

    def __init__(self, evidence: Evidence, course: Course, holders: Holders) -> None:
        self.error = evidence.refused[0].error
        self.course = course
        self.holders = holders
        self._replaced = Counter(
            row.group_instance_id
            for row in evidence.sessions
            if row.end_cause in _REPLACED and row.group_type == "classic"
        )
        self._tried: dict[tuple[str | None, str | None], set[float]] = defaultdict(set)
        for request in (*evidence.refused, *evidence.requests):
            if request.api in COMMITS and request.error in ("REBALANCE_IN_PROGRESS", "ILLEGAL_GENERATION"):
                self._tried[request.client_id, request.client_host].add(request.answered_at)

    def replaced(self, sender: Sender) -> int:
        """Return how often the sender's instance was replaced, other than by who it had been given back for."""
        return 0 if sender.instance is None else self._replaced[sender.instance]

    def tried(self, sender: Sender) -> list[float]:
        """Return when commits of the sender were refused because of a rebalance, or of the one before."""
        client = sender.client
        return [] if client.client_id is None else sorted(self._tried[client.client_id, client.client_host])


def _of_sender(burst: _Burst, sender: Sender) -> str:
    if sender.is_kept_out:
        return cause_by(burst.holders.of([sender]))
    if sender.stay is None and all(is_free(request) for request in sender.refused):
        return "not_a_member"
    if not sender.has_member:
        return "unknown"
    if _retries(burst.tried(sender), burst.course):
        return "commit_retry"
    error = burst.error
    if error == "FENCED_INSTANCE_ID" or (sender.was_gone and sender.stay and sender.stay.end_cause in _REPLACED):
        return "fencing_war" if burst.replaced(sender) > 1 else "zombie"
    cause = None if error == "ILLEGAL_GENERATION" else _of_gone(sender)
    return cause or (_of_member if error in _OF_MEMBERS else _of_stranger)(sender, burst.course)


def _of_gone(sender: Sender) -> str | None:
    """What is behind a client that the coordinator had removed; null where that does not tell.

    Who left may have done so as it was closed, with commits on their way, or as it did not poll in time, which not all
    clients say: then it goes on with what it has read, is refused, and comes back by itself. A thread that goes on
    beside that, whenever another process comes up under its name, has outlived its member.
    """
    how = sender.stay.end_cause if sender.was_gone and sender.stay is not None else None
    if how in _SLOW:
        return "slow_poller"
    if how == "session_expired":
        return "zombie" if sender.went_on >= _GOES_ON else "lost_session"
    if sender.was_closing:
        return "rebalance_in_flight"
    if how == "left":
        return "slow_poller" if sender.came_back else "zombie"
    return None


def _of_member(sender: Sender, course: Course) -> str:
    """What is behind a member of the group that sent a generation, or an epoch, which was over.

    What crossed the rebalance had been sent before its sender was told. Who is told and sends the same again goes on as
    if it were not, however soon after the rebalance that is.
    """
    behind = max(behind_counts([sender], course), default=0)
    is_one_rebalance = behind <= 1 or sender.refused[0].error in _OF_EPOCHS
    if sender.held_on >= _GOES_ON:
        return "zombie"
    if is_one_rebalance and _is_all_in_flight(sender, course):
        return "rebalance_in_flight"
    is_told_by_client = sender.sent is None  # and not with what generation; so long after that it was told is no chance
    return "zombie" if behind > 0 or (is_told_by_client and sender.went_on >= _GOES_ON) else "unknown"


def _of_stranger(sender: Sender, course: Course) -> str:
    """What is behind a client that is no member any more, where nothing tells how it had gone.

    The group went on without it, so that what it sends is not merely late. Soon after a rebalance it cannot know that
    yet: then only what it does when it is told makes it a zombie.
    """
    behind = max(behind_counts([sender], course), default=0)
    is_behind = behind > 1 if _is_all_in_flight(sender, course) else behind > 0
    return "zombie" if is_behind or sender.went_on >= _GOES_ON else "unknown"


def behind_counts(senders: list[Sender], course: Course) -> Iterator[int]:
    """For each request that names a generation, how many the group was ahead of it."""
    for sender in senders:
        for request in sender.refused:
            now = course.at(request.answered_at)
            if now is not None and (held := request.held_generation) is not None:
                yield now.generation - held


def _is_all_in_flight(sender: Sender, course: Course) -> bool:
    return all(_is_in_flight(request.answered_at, course) for request in sender.refused)


def _is_in_flight(moment: float, course: Course) -> bool:
    """Whether a request fell into a rebalance, or came so soon after it that it was on its way."""
    rebalance = course.rebalance_at(moment)
    if rebalance is None:
        return False
    over = over_at(rebalance)
    return over is None or moment <= over + HEARTBEAT_INTERVAL_MS


def _is_coordinators(evidence: Evidence, course: Course) -> bool:
    """Whether the coordinator is behind it: it lost generations, or moved a short time before."""
    first = evidence.refused[0]
    behind = [course.at(r.answered_at) for r in evidence.refused]
    sent = [r.generation for r in evidence.refused]
    ahead = [
        now is not None and generation is not None and generation > now.generation
        for now, generation in zip(behind, sent, strict=True)
        if generation is not None and generation >= 0
    ]
    if ahead and all(ahead):
        return True
    rebalance = course.rebalance_at(first.answered_at)
    is_taken_over = rebalance is not None and rebalance.trigger == "coordinator_failover"
    if is_taken_over and _is_in_flight(first.answered_at, course):
        return True
    return moves_of(evidence).explain(first.answered_at)


def _retries(moments: list[float], course: Course) -> bool:
    """Whether a client kept a rebalance waiting: it retried a commit, and the join phase ended when it stopped.

    Whoever goes on afterwards in the same way was not what the group waited for.
    """
    if len(moments) < _RETRIES:
        return False
    rebalance = course.rebalance_at(moments[0])
    if rebalance is None or rebalance.preparing_at is None:
        return False
    waited_until = in_force_at(rebalance)
    inside = [at for at in moments if waited_until is None or at <= waited_until]
    goes_on = [at for at in moments[len(inside) :] if course.rebalance_at(at) is rebalance]
    if len(inside) < _RETRIES or len(goes_on) >= _GOES_ON:
        return False
    return waited_until is None or inside[-1] - rebalance.preparing_at >= (waited_until - rebalance.preparing_at) / 2
