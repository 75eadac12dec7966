"""Whether members that come with another subscription disagree, or follow topics that come and go."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from schemas.rows import GenerationMemberRow, GenerationRow
from transforms.findings.clients import Client
from transforms.findings.evidence import Evidence
from transforms.findings.storms.kinds import Kind

_AGREE_SHARE = 0.25
"""Members that follow a pattern agree again once all of them have seen the change; those that disagree never do."""

_REFUSED = "INCONSISTENT_GROUP_PROTOCOL"


class Subscriptions:
    """What the members of a storm's generations subscribed to.

    Args:
        evidence: of the storm.
    """

    def __init__(self, evidence: Evidence) -> None:
        self._generations = evidence.generations
        topics: dict[tuple[int, int], set[tuple[str, ...]]] = defaultdict(set)
        self._members: dict[tuple[int, int], dict[str, GenerationMemberRow]] = defaultdict(dict)
        for member in evidence.members:
            if member.topics is not None:
                generation = member.life, member.generation
                topics[generation].add(tuple(sorted(member.topics)))
                self._members[generation][member.member_id] = member
        self._has_grown = _have_grown(evidence.generations)
        shared = [len(topics[generation]) == 1 for generation, of in self._members.items() if len(of) > 1]
        agree = not shared or sum(shared) >= _AGREE_SHARE * len(shared)
        is_refused = any(request.error == _REFUSED for request in evidence.requests)
        self._is_conflict = is_refused or not agree or not self._members

    def kind_of(self, number: int) -> Kind:
        """Return what a rebalance is part of that a changed subscription, or the leader, brought about."""
        row = self._generations[number]
        if row.trigger == "topic_metadata_changed" or (row.trigger == "regex_changed" and not row.trigger_member_id):
            return Kind.METADATA
        if row.trigger in ("subscription_changed", "regex_changed") or row.is_subscription_changed:
            return Kind.SUBSCRIPTION if self._is_conflict else Kind.METADATA
        if row.trigger == "unknown":
            return Kind.METADATA if self.has_grown(number) else Kind.OTHER
        before = self._generations[number - 1] if number else None
        totals = (before and before.partitions_total, row.partitions_total)
        is_other = None not in totals and totals[0] != totals[1]
        return Kind.METADATA if is_other else Kind.OTHER

    def has_grown(self, number: int) -> bool:
        """Tell whether a rebalance gave out more partitions than any before it.

        In the first half of a cooperative rebalance some have no owner, so that a second half seems to grow.
        """
        return self._has_grown[number]

    def changed_by(self, number: int) -> Client | None:
        """Return the client that came with other topics than in the rebalance before; none where several did."""
        if not number:
            return None
        before, row = (
            self._members.get((r.life, r.generation), {}) for r in self._generations[number - 1 : number + 1]
        )
        found = [
            Client(member.client_id, member.client_host, member.group_instance_id)
            for member_id, member in row.items()
            if (had := before.get(member_id)) is not None and set(had.topics or ()) != set(member.topics or ())
        ]
        return found[0] if len(found) == 1 else None


def _have_grown(generations: Iterable[GenerationRow]) -> list[bool]:
    """Of each rebalance, whether it gave out more partitions than any before it; of the first nothing tells."""
    found: list[bool] = []
    most: int | None = None
    for total in (row.partitions_total for row in generations):
        found.append(total is not None and most is not None and total > most)
        most = total if most is None else max(most, total or 0)
    return found
