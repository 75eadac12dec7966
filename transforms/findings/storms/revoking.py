"""Who held rebalances up: members that were to give partitions up, and for how long the group waited for them.

Only modern groups wait so: each member goes its own way to the target, and what one has not given up another
cannot have (KIP-848, KIP-1071).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from math import inf

from schemas.rows import GenerationRow, ReconciliationRow
from schemas.words import UNREVOKED
from transforms.findings.clients import Client
from transforms.findings.evidence import Evidence, began_at
from transforms.findings.storms.costs import length_of_union, unstable_intervals

_SLOW_MS = 1_000
"""A client gives up at its next poll and says so at once: what takes longer than this is its own doing."""

_MAIN_SHARE = 0.5
"""From this share of a rebalance on its time went mainly into one wait."""


@dataclass(frozen=True)
class Wait:
    """The longest wait of one rebalance.

    Attributes:
        client: whom it waited for.
        member_id: its member.
        ms: for how long the member was to give partitions up.
        of_ms: how long the rebalance took.
        stood_still_ms: partition-milliseconds in which a partition was taken away and not yet given up.
        partitions: those partitions, as topic-partition.
        is_given_up: the member gave them up, in the end.
    """

    client: Client
    member_id: str
    ms: float
    of_ms: float
    stood_still_ms: float
    partitions: frozenset[str]
    is_given_up: bool

    @property
    def is_most(self) -> bool:
        """Whether the rebalance was held up: it waited long, and did little else."""
        return self.ms >= _SLOW_MS and self.ms >= _MAIN_SHARE * self.of_ms


def longest_waits(evidence: Evidence) -> list[Wait | None]:
    """Return the longest wait of each rebalance of a storm; null where there was none.

    Args:
        evidence: of the storm; its generations are whole rebalances.
    """
    waiting = [row for row in evidence.reconciliations if row.state in UNREVOKED and row.from_at is not None]
    if not waiting:
        return [None] * len(evidence.generations)
    spans = dict(_spans(evidence))
    return [_longest(waiting, row, spans.get((row.life, row.generation))) for row in evidence.generations]


def _spans(evidence: Evidence) -> list[tuple[tuple[int, int], tuple[float, float]]]:
    """From when to when each rebalance went on whose begin is known."""
    known = [row for row in evidence.generations if row.preparing_at is not None]
    intervals = unstable_intervals(evidence.generations, evidence.next_at)
    return [((row.life, row.generation), interval) for row, interval in zip(known, intervals, strict=True)]


Part = tuple[float, float, ReconciliationRow]
"""From when to when, of a rebalance, a member was to give something up."""


def _longest(waiting: list[ReconciliationRow], row: GenerationRow, span: tuple[float, float] | None) -> Wait | None:
    """Return the longest wait of a rebalance: of equally long ones the one that began first."""
    if span is None or began_at(row) is None:
        return None
    since, until = span
    of_member: dict[str, list[Part]] = defaultdict(list)
    for each in waiting:
        begin, end = max(since, each.from_at or since), min(until, until if each.to_at is None else each.to_at)
        if each.life == row.life and begin < end:
            of_member[each.member_id].append((begin, end, each))
    if not of_member:
        return None
    lengths = {id_: length_of_union([(begin, end) for begin, end, _ in parts]) for id_, parts in of_member.items()}
    begins = {id_: min(begin for begin, *_ in parts) for id_, parts in of_member.items()}
    slowest = min(of_member, key=lambda id_: (-lengths[id_], begins[id_], id_))
    return _wait(slowest, of_member[slowest], lengths[slowest], until - since)


def _wait(member_id: str, parts: list[Part], ms: float, of_ms: float) -> Wait:
    last = max((each for *_, each in parts), key=_ended)
    return Wait(
        client=Client(last.client_id, last.client_host, last.group_instance_id),
        member_id=member_id,
        ms=ms,
        of_ms=of_ms,
        stood_still_ms=sum((end - begin) * len(each.partitions or ()) for begin, end, each in parts),
        partitions=frozenset(name for *_, each in parts for name in each.partitions or ()),
        is_given_up=last.to_epoch is not None,
    )


def _ended(row: ReconciliationRow) -> tuple[float, int]:
    return (inf if row.to_at is None else row.to_at, row.seq)
