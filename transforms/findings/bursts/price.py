"""What a burst cost: which change shut its senders out, for how long they went on, and what is done twice."""

from __future__ import annotations

from collections import Counter, defaultdict

from schemas.kafka_errors import ERROR_CODES
from schemas.rows import GenerationRow
from transforms.findings.bursts.course import Course, over_at
from transforms.findings.bursts.senders import COMMITS, Sender
from transforms.findings.evidence import Evidence, Request


def fenced_by(senders: list[Sender], course: Course) -> GenerationRow | None:
    """Return the change that shut most of the senders out, of equally many the first."""
    changes = [change for sender in senders if (change := change_of(sender, course)) is not None]
    if not changes:
        return None
    counts = Counter((row.life, row.generation) for row in changes)
    return max(changes, key=lambda row: (counts[row.life, row.generation], -row.life, -row.generation))


def change_of(sender: Sender, course: Course) -> GenerationRow | None:
    """Return the change that shut one sender out; a static member that was replaced was, within a generation."""
    stay = sender.stay
    if sender.is_kept_out:
        return None
    if sender.was_gone and stay is not None and stay.ended_at is not None:
        if stay.end_cause in ("replaced", "fenced"):
            return course.at(stay.ended_at)
        return course.change_without(stay.member_id, stay.ended_at)
    return None if sender.sent is None else course.change_after(sender.sent, sender.told_at)


def zombie_ms(senders: list[Sender], course: Course) -> int | None:
    """Return for how long a sender went on after it had been shut out, the longest of them."""
    times = [
        sender.refused[-1].answered_at - since
        for sender in senders
        if (since := sender.shut_out_at(course)) is not None
    ]
    return round(max(0.0, *times)) if times else None


def lost_commit_count(refused: list[Request]) -> int:
    """Count the commits of partitions that were refused; of a commit that does not say, one."""
    return sum(_partitions(request) for request in refused if request.api in COMMITS)


def _partitions(request: Request) -> int:
    counted = (request.partition_errors or {}).get(ERROR_CODES.get(request.error, 0), 0)
    return counted or len(request.sent_offsets or ()) or 1


def reread_count(evidence: Evidence, senders: list[Sender], course: Course) -> int | None:
    """Sum up what was done and could not be committed, and so is done again by whoever owned the partitions next.

    The next owner begins where the last commit before its assignment stands.
    """
    tried: dict[tuple[str, int], tuple[int, float]] = {}
    for sender in senders:
        change = change_of(sender, course)
        begins_at = None if change is None else over_at(change)
        if begins_at is None:
            continue
        for sent in (each for request in sender.refused for each in request.sent_offsets or ()):
            key = (sent.topic, sent.partition)
            offset = max(sent.offset, tried.get(key, (sent.offset, 0.0))[0])
            tried[key] = (offset, begins_at)
    stored: dict[tuple[str, int], list[tuple[float, int]]] = defaultdict(list)
    for row in evidence.commits:
        if row.committed_offset is not None and row.recorded_at is not None:
            stored[row.topic, row.partition].append((row.recorded_at, row.committed_offset))
    counts = []
    for key, (offset, begins_at) in tried.items():
        before = [commit for commit in stored[key] if commit[0] <= begins_at]
        if before:
            counts.append(max(0, offset - max(before)[1]))
    return sum(counts) if counts else None
