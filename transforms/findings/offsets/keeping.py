"""Who keeps a group's offsets: its members, consumers that are none, both, or somebody outside of Kafka.

None of this is an error. A consumer with assign() that has a group.id commits with generation -1 and without a member
id. The coordinator takes that while the group has no members, and refuses it with UNKNOWN_MEMBER_ID while it has some;
in a transaction it takes it always (validateOffsetCommit, validateTransactionalOffsetCommit). So does an administrator
who resets offsets; but that is one commit a partition, and a consumer goes on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from msgspec import Struct

from schemas.rows import AssignmentRow, GenerationRow
from transforms.findings.evidence import Commit, Request
from transforms.findings.sentences import counted, listed

COMMITS = ("OffsetCommit", "TxnOffsetCommit")

SLACK_MS = 5_000
"""The last member's last commit may be stored so long after the group was found empty: clocks of two threads."""

GOES_ON = 3
"""From so many commits of one partition on they are a consumer's: a reset is one, or one more that puts it right."""


class OffsetUse(Struct, kw_only=True, frozen=True):
    """What is known of a group's commits.

    Attributes:
        has_assignments: members were given partitions.
        has_commits: offsets were committed under the group's id.
        free_commits: most commits that were taken of one client that is no member; without a request log, of one
            partition.
        free_refused: requests of no member that were refused, because the group had members.
        free_client_ids: who sent them, as far as a request log names them.
    """

    has_assignments: bool
    has_commits: bool
    free_commits: int = 0
    free_refused: int = 0
    free_client_ids: tuple[str, ...] = ()


def use_of(
    assignments: Iterable[AssignmentRow],
    generations: Iterable[GenerationRow],
    commits: Iterable[Commit],
    requests: Iterable[Request],
    member_client_ids: Iterable[str] = (),
) -> OffsetUse:
    """Gather what is known of one group's commits.

    A request log names who commits; members that have left may forget who they were (aiokafka), and are members all the
    same. Without one a commit is nobody's if the group was empty then, or if the partition
    was never assigned since assignments are known.

    Args:
        assignments: all of the group.
        generations: all of the group.
        commits: commits that the coordinator stored, without those of transactions that were aborted.
        requests: commits in the request log; none where there is no log.
        member_client_ids: client ids of members, of those that never had a partition among them.
    """
    stored, owned = list(commits), list(assignments)
    sent = [request for request in requests if request.api in COMMITS]
    members = {*member_client_ids, *(row.client_id for row in owned)}
    free = [request for request in sent if is_free(request) and request.client_id not in members]
    taken: Counter[object] = Counter(request.client_id for request in free if request.error == "NONE")
    if not sent:
        taken = Counter(_free(stored, owned, _empty_times(generations)))
    return OffsetUse(
        has_assignments=bool(owned),
        has_commits=bool(stored),
        free_commits=max(taken.values(), default=0),
        free_refused=sum(request.error == "UNKNOWN_MEMBER_ID" for request in free),
        free_client_ids=tuple(sorted({request.client_id for request in free if request.client_id})),
    )


def is_free(request: Request) -> bool:
    """Whether a request commits without being a member's; what does not say so is taken to be one's."""
    is_nobodys = request.member_id == "" and request.group_instance_id is None
    return is_nobodys and request.generation is not None and request.generation < 0


def _empty_times(generations: Iterable[GenerationRow]) -> list[tuple[float, float]]:
    """From when to when the group had no members."""
    return [
        (row.emptied_at + SLACK_MS, float("inf") if row.ended_at is None else row.ended_at)
        for row in generations
        if row.emptied_at is not None
    ]


def _free(
    commits: Iterable[Commit], assignments: list[AssignmentRow], empty: list[tuple[float, float]]
) -> Iterator[tuple[str, int]]:
    """The partition of each commit that no member can have made."""
    owned = {(row.topic, row.partition) for row in assignments}
    is_of_topics = not any(row.role for row in assignments)  # tasks are of subtopologies, which no commit names
    begins = (row.valid_from for row in assignments if row.valid_from is not None and is_of_topics)
    known_since = min(begins, default=float("inf"))
    for commit in commits:
        place, at = (commit.topic, commit.partition), commit.recorded_at
        if at is None:
            continue
        was_never_owned = place not in owned and at >= known_since
        if was_never_owned or any(since <= at <= until for since, until in empty):
            yield place


def keeping_of(use: OffsetUse) -> str:
    """Return who keeps a group's offsets, one of `schemas.words.OFFSET_KEEPERS`."""
    is_free = use.free_commits >= GOES_ON or use.free_refused > 0
    if not use.has_assignments:
        return "consumers" if use.has_commits or use.free_refused else "nobody"
    if is_free:
        return "both"
    return "members" if use.has_commits else "elsewhere"


def keeping_told(use: OffsetUse) -> str:
    """Return a sentence about who keeps a group's offsets."""
    keeper = keeping_of(use)
    return _both(use) if keeper == "both" else _TOLD[keeper].format(by=_by(use))


def _by(use: OffsetUse) -> str:
    return f" ({listed(list(use.free_client_ids))})" if use.free_client_ids else ""


def _both(use: OffsetUse) -> str:
    requests = counted(use.free_refused, "request of theirs was", "requests of theirs were")
    refused = f"; {requests} refused while the group had members" if use.free_refused else ""
    return (
        f"Members share the partitions out, and consumers with assign(){_by(use)} commit under the same group.id "
        f"beside them{refused}. Where both read a partition, each overwrites the other's offset: a group.id of its own "
        "keeps them apart."
    )


_TOLD = {
    "members": "Its members commit the partitions that they own.",
    "consumers": "It has no members: consumers with assign(){by} commit under its id, or somebody set its offsets.",
    "elsewhere": "Its members own partitions and commit nothing: they keep their offsets elsewhere, or need none. Its "
    "lag cannot be told from Kafka.",
    "nobody": "It has neither assignments nor commits.",
}
