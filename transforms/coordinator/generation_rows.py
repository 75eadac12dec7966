"""Rows of `gold.generations`, `gold.generation_members` and `gold.assignments`.

What a generation is depends on those beside it: it ends where the next begins, and who came and went is told against
the last one that was Stable.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from transforms.coordinator.assignors.recognise import assignor_of
from transforms.coordinator.facts import EVIDENCE_OF, GenerationFacts, MemberFacts, Timeline

_EVIDENCE_ORDER = ("offsets", "broker_log", "request_log", "client_log")


def whole(at: float | None) -> int | None:
    """Return a moment in whole ms."""
    return None if at is None else int(at)


class Chain:
    """Walks the generations of one life in order, with what each is compared to."""

    def __init__(self, timeline: Timeline, life: int) -> None:
        self.timeline = timeline
        self.life = life
        self.rows = [row for row in timeline.of_life(life) if row.facts.sources]
        self.next_of = dict(zip((row.generation for row in self.rows), self.rows[1:], strict=False))
        self.last_stable: GenerationFacts | None = None
        self.partition_counts: dict[str, int] = {}
        first = self.rows[0] if self.rows else None
        is_reloaded = first is not None and first.facts.get("trigger") == "coordinator_failover"
        self.last_number = first.generation - 1 if first is not None and is_reloaded else 0

    def passed(self, row: GenerationFacts) -> None:
        """Go on to the next generation."""
        self.last_number = row.generation
        if self.outcome(row) == "stable":
            self.last_stable = row
            for topic, count in _partition_counts(row.members.values()).items():
                self.partition_counts[topic] = max(self.partition_counts.get(topic, 0), count)

    # --- times -------------------------------------------------------------------------------------------------

    def outcome(self, row: GenerationFacts) -> str | None:
        """How the generation came out; where the machine and the evidence differ, as the evidence says."""
        facts = row.facts
        reached = max(facts.authority(name) for name in ("completing_at", "assigned_at", "stable_at", "joined_by"))
        if facts.authority("emptied_at") and facts.authority("emptied_at") >= max(reached, 2 if row.told else 0):
            return "empty"
        if self.stable_at(row) is not None:
            return "stable"
        if facts.get("completing_at") is not None and row.generation in self.next_of:
            return "abandoned"
        return None

    def stable_at(self, row: GenerationFacts) -> float | None:
        """When the assignment was stored: the record, else the leader's line, else the replayed SyncGroup.

        The machine alone does not show it: a record, a line or an answered SyncGroup must.
        """
        stored, assigned = row.facts.get("stable_at"), row.facts.get("assigned_at")
        if stored is not None:
            return float(stored)
        if assigned is not None:
            return float(assigned)
        if row.told:
            first_told = min(row.told.values())
            return float(min(row.facts.get("foreseen_stable_at") or first_told, first_told))
        return None

    def ended_at(self, row: GenerationFacts) -> float | None:
        """When it ended: at the next join phase, or with the group; where that is not known, at what came next."""
        following = self.next_of.get(row.generation)
        if following is None:
            end = self.timeline.life_ends.get(self.life)
            return None if end is None else end.get("ended_at")
        for name in ("preparing_at", "completing_at", "emptied_at", "stable_at"):
            at = following.facts.get(name)
            if at is not None:
                return float(at)
        return None

    # --- rows --------------------------------------------------------------------------------------------------

    def generation_row(self, row: GenerationFacts) -> dict[str, Any]:
        """Row of `gold.generations`."""
        facts, outcome = row.facts, self.outcome(row)
        stable_at = None if outcome == "empty" else self.stable_at(row)
        emptied_at = facts.get("emptied_at") if outcome == "empty" else None
        preparing_at = facts.get("preparing_at")
        reached = stable_at if stable_at is not None else emptied_at
        members = {} if outcome == "empty" else row.current_members
        culprit = facts.get("trigger_member_id")
        client_id, client_host = self._client_of(culprit)
        is_known = bool(row.members) or outcome == "empty"
        return {
            "life": row.life,
            "generation": row.generation,
            "protocol_type": facts.get("protocol_type"),
            "protocol": None if outcome == "empty" else facts.get("protocol"),
            "leader_member_id": None if outcome == "empty" else facts.get("leader"),
            "preparing_at": whole(preparing_at),
            "completing_at": None if outcome == "empty" else whole(facts.get("completing_at")),
            "stable_at": whole(stable_at),
            "emptied_at": whole(emptied_at),
            "ended_at": whole(self.ended_at(row)),
            "outcome": outcome,
            "rebalance_ms": None if preparing_at is None or reached is None else int(reached) - int(preparing_at),
            "trigger": self._trigger(row, members),
            "trigger_member_id": culprit,
            "trigger_client_id": client_id,
            "trigger_client_host": client_host,
            "reason": facts.get("reason"),
            "client_reason": facts.get("client_reason"),
            "is_subscription_changed": self._is_subscription_changed(row, members),
            "member_count": len(members) if is_known else facts.get("member_count"),
            "joined_member_ids": self._against_last(members, is_known, joined=True),
            "departed_member_ids": self._against_last(members, is_known, joined=False),
            "partitions_total": self._partitions_total(row, outcome, members),
            "partitions_moved": self._partitions_moved(row, outcome, members),
            "assignor": assignor_of(row) if outcome == "stable" else None,
            "evidence": self._evidence(row),
            "is_inferred": self._is_inferred(row, outcome),
            "missing_before": row.generation - self.last_number - 1,
        }

    def _is_inferred(self, row: GenerationFacts, outcome: str | None) -> bool:
        if row.is_inferred or row.facts.get("preparing_at") is None:
            return True
        return outcome == "stable" and not row.facts.get("stable_at") and not row.told

    def _evidence(self, row: GenerationFacts) -> list[str]:
        found = {EVIDENCE_OF.get(source, source) for source in row.facts.sources}
        return [name for name in _EVIDENCE_ORDER if name in found]

    def _client_of(self, member_id: str | None) -> tuple[str | None, str | None]:
        """Client and host of a member, from its stay or from a generation it was in."""
        if member_id is None:
            return None, None
        session = self.timeline.sessions.get((self.life, member_id))
        if session is not None and session.facts.get("client_id") is not None:
            return session.facts.get("client_id"), session.facts.get("client_host")
        for row in self.rows:
            member = row.members.get(member_id)
            if member is not None and member.client_id is not None:
                return member.client_id, member.client_host
        return None, None

    def _trigger(self, row: GenerationFacts, members: Mapping[str, MemberFacts]) -> str:
        """The trigger that was told; from records alone only "somebody came and nobody went" gives a cause."""
        trigger = row.facts.get("trigger")
        if trigger is not None:
            if trigger == "leader_rejoined" and not row.facts.get("client_reason") and self._partitions_grew(members):
                return "topic_metadata_changed"
            return str(trigger)
        joined = self._against_last(members, bool(row.members), joined=True)
        departed = self._against_last(members, bool(row.members), joined=False)
        return "member_joined" if joined and not departed and row.members else "unknown"

    def _partitions_grew(self, members: Mapping[str, MemberFacts]) -> bool:
        """Same subscriptions, and a topic with more partitions than it ever had here.

        Fewer partitions prove nothing: leaders leave some out, and Kafka never takes any away.
        """
        before = self.last_stable.current_members if self.last_stable is not None else {}
        subscribed = {member.topics for member in members.values()}
        if None in subscribed or subscribed != {member.topics for member in before.values()}:
            return False
        counts = _partition_counts(members.values())
        return any(
            count > self.partition_counts[topic] for topic, count in counts.items() if topic in self.partition_counts
        )

    def _is_subscription_changed(self, row: GenerationFacts, members: Mapping[str, MemberFacts]) -> bool | None:
        if self.last_stable is None or not row.members:
            return None
        before = self.last_stable.current_members
        both = [(member, before[key]) for key, member in members.items() if key in before]
        known = [(now.topics, then.topics) for now, then in both if now.topics is not None and then.topics is not None]
        if len(known) < len(both):
            return None
        return any(set(now) != set(then) for now, then in known)

    def _against_last(self, members: Mapping[str, MemberFacts], is_known: bool, joined: bool) -> list[str] | None:
        if not is_known or (self.last_stable is not None and not self.last_stable.members):
            return None
        if self.last_stable is None and self.rows[0].generation > 1:
            return None  # the generations before are not known, so neither is who was in the last stable one
        before = {} if self.last_stable is None else self.last_stable.current_members
        ours, theirs = (members, before) if joined else (before, members)
        return sorted(key for key in ours if key not in theirs)

    def _partitions_total(
        self, row: GenerationFacts, outcome: str | None, members: Mapping[str, MemberFacts]
    ) -> int | None:
        if outcome == "empty":
            return 0
        if outcome != "stable":
            return None
        assigned = [member.assigned for member in members.values()]
        if not assigned or any(each is None for each in assigned):
            return None
        return sum(len(each) for each in assigned if each is not None)

    def _partitions_moved(
        self, row: GenerationFacts, outcome: str | None, members: Mapping[str, MemberFacts]
    ) -> int | None:
        """Partitions whose owner is another than in the last stable generation; unassigned is no owner."""
        if outcome not in ("stable", "empty") or self.last_stable is None:
            return None
        now, then = _owners(members.values()), _owners(self.last_stable.current_members.values())
        if now is None or then is None:
            return None
        return sum(now.get(key) != then.get(key) for key in now.keys() | then.keys())

    def member_rows(self, row: GenerationFacts) -> Iterable[dict[str, Any]]:
        """Rows of `gold.generation_members`."""
        leader = row.facts.get("leader")
        for member in row.members.values():
            session = self.timeline.sessions.get((row.life, member.member_id))
            known = session.facts if session is not None else None
            yield {
                "life": row.life,
                "generation": row.generation,
                "member_id": member.member_id,
                "group_instance_id": member.group_instance_id,
                "client_id": member.client_id or (known.get("client_id") if known else None),
                "client_host": member.client_host or (known.get("client_host") if known else None),
                "is_leader": member.member_id == leader,
                "topics": None if member.topics is None else list(member.topics),
                "session_timeout_ms": member.session_timeout_ms,
                "rebalance_timeout_ms": member.rebalance_timeout_ms,
                "partitions_assigned": None
                if member.assigned is None or self.outcome(row) != "stable"
                else len(member.assigned),
                "joined_at": whole(known.get("joined_at") if known else None),
                "told_at": whole(row.told.get(member.member_id)),
                "replaces_member_id": member.replaces,
            }

    def assignment_rows(self, row: GenerationFacts) -> Iterable[dict[str, Any]]:
        """Rows of `gold.assignments`; only a generation that became Stable has any."""
        if self.outcome(row) != "stable":
            return
        stable_at, ended_at = self.stable_at(row), self.ended_at(row)
        for member in row.members.values():
            valid_from = stable_at if member.valid_from is None else member.valid_from
            valid_to = ended_at if member.valid_to is None else member.valid_to
            for topic, partition in dict.fromkeys(member.assigned or ()):
                yield {
                    "life": row.life,
                    "generation": row.generation,
                    "member_id": member.member_id,
                    "topic": topic,
                    "partition": partition,
                    "group_instance_id": member.group_instance_id,
                    "client_id": member.client_id,
                    "client_host": member.client_host,
                    "valid_from": whole(valid_from),
                    "valid_to": whole(valid_to),
                }


def _partition_counts(members: Iterable[MemberFacts]) -> dict[str, int]:
    """Partitions that each topic has at least, by the highest one assigned."""
    counts: dict[str, int] = {}
    for member in members:
        for topic, partition in member.assigned or ():
            counts[topic] = max(counts.get(topic, 0), partition + 1)
    return counts


def _owners(members: Iterable[MemberFacts]) -> dict[tuple[str, int], tuple[str | None, ...]] | None:
    """Owner of each partition: the instance, else client and host, which need not be unique."""
    owners: dict[tuple[str, int], tuple[str | None, ...]] = {}
    for member in members:
        if member.assigned is None:
            return None
        owner = (member.group_instance_id,) if member.group_instance_id else (member.client_id, member.client_host)
        owners.update(dict.fromkeys(member.assigned, owner))
    return owners
