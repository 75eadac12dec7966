"""What gold holds of one group, as the charts take it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import pandas as pd

from schemas.tables.gold import (
    ASSIGNMENTS,
    BEGINS,
    GENERATIONS,
    MEMBER_SESSIONS,
    ORPHANED_PARTITIONS,
    REBALANCE_STORMS,
    RECONCILIATIONS,
    SHARE_PARTITIONS,
    SLOW_REVOKERS,
    TRANSITIONS,
)
from transforms.report.words import count

FRAMES = {
    "generations": GENERATIONS,
    "transitions": TRANSITIONS,
    "assignments": ASSIGNMENTS,
    "storms": REBALANCE_STORMS,
    "revokers": SLOW_REVOKERS,
    "sessions": MEMBER_SESSIONS,
    "reconciliations": RECONCILIATIONS,
    "orphans": ORPHANED_PARTITIONS,
    "shares": SHARE_PARTITIONS,
}
"""Frames of a timeline, and the tables of which they have the group's rows."""


@dataclass(frozen=True)
class GroupTimeline:
    """One group's rows of gold, as pandas; times are UTC without a zone.

    Attributes:
        cluster: Kafka cluster.
        group_id: consumer group.
        generations: `gold.generations`.
        transitions: `gold.transitions`.
        assignments: `gold.assignments`.
        storms: `gold.rebalance_storms`.
        revokers: `gold.slow_revokers`; only consumer and streams groups have any.
        sessions: `gold.member_sessions`.
        reconciliations: `gold.reconciliations`; classic and share groups have none.
        orphans: `gold.orphaned_partitions`; classic groups have none.
        shares: `gold.share_partitions`; only share groups have any.
        until: last moment that the lake knows of; what is still open is drawn up to here.
    """

    cluster: str
    group_id: str
    generations: pd.DataFrame
    transitions: pd.DataFrame
    assignments: pd.DataFrame
    storms: pd.DataFrame
    revokers: pd.DataFrame
    sessions: pd.DataFrame
    reconciliations: pd.DataFrame
    orphans: pd.DataFrame
    shares: pd.DataFrame
    until: pd.Timestamp

    @property
    def group_types(self) -> list[str]:
        """Protocols that the group spoke, in the order of its lives."""
        of_lives = self.generations.sort_values("life")["group_type"].dropna().drop_duplicates()
        return [str(name) for name in of_lives] or ["classic"]

    @property
    def step(self) -> str:
        """What a rebalance leads to, in the words of the protocols that the group spoke."""
        words = ("generation" if name == "classic" else "epoch" for name in self.group_types)
        return " or ".join(dict.fromkeys(words))

    @property
    def size(self) -> str:
        """How many generations, or epochs, or both there are."""
        is_classic = self.generations["group_type"].fillna("classic") == "classic"
        counts = {"generation": int(is_classic.sum()), "epoch": int((~is_classic).sum())}
        told = [count(number, word) for word, number in counts.items() if number]
        return ", ".join(told) or "no generation"

    @property
    def rebalances(self) -> pd.DataFrame:
        """The generations that came by a rebalance: of the bumps of an epoch that make up one, the first."""
        return self.generations[self.generations["bump_count"] != 0]

    def life_begins(self, lives: pd.Series) -> pd.Series:
        """When lives of the group began: those that were members then already have no moment of joining."""
        firsts = self.transitions.groupby("life")["at"].min()
        return lives.map(firsts).fillna(self.since)

    @property
    def since(self) -> pd.Timestamp:
        """First moment of the group."""
        firsts = [self.transitions["at"].min(), rebalanced_at(self.generations).min()]
        firsts.append(self.assignments["valid_from"].min())
        return min((moment for moment in firsts if not pd.isna(moment)), default=self.until)

    def between(self, since: pd.Timestamp | None, until: pd.Timestamp | None) -> GroupTimeline:
        """The same group, but for what lies outside a stretch of time; what reaches over its ends is cut there."""
        if since is None and until is None:
            return self
        first, last = since or pd.Timestamp.min, min(until or self.until, self.until)
        began_at = rebalanced_at(self.generations)
        return replace(
            self,
            generations=self.generations[(began_at >= first) & (began_at < last)],
            transitions=self.transitions[(self.transitions["at"] >= first) & (self.transitions["at"] < last)],
            assignments=_cut(self.assignments, "valid_from", "valid_to", first, last),
            storms=self.storms[(self.storms["started_at"] < last) & (self.storms["ended_at"] >= first)],
            revokers=_cut(self.revokers, "started_at", "ended_at", first, last),
            sessions=_cut(self.sessions, "joined_at", "ended_at", first, last),
            reconciliations=_cut(self.reconciliations, "from_at", "to_at", first, last),
            orphans=_cut(self.orphans, "from_at", "to_at", first, last),
            shares=_cut(self.shares, "from_at", "to_at", first, last),
            until=last,
        )

    def state_bands(self) -> pd.DataFrame:
        """The stretches of time in which the group stayed in one state.

        Returns:
            One row for each transition, in order: state, starts_at, ends_at (the next transition, or `until`). A
            deleted group is Dead until it comes back.
        """
        steps = self.transitions.sort_values(["life", "seq"])
        ends = steps["at"].shift(-1).fillna(self.until)
        bands = pd.DataFrame({"state": steps["to_state"], "starts_at": steps["at"], "ends_at": ends})
        # Two witnesses of one step can be a few ms apart: never draw backwards.
        bands["ends_at"] = bands[["starts_at", "ends_at"]].max(axis=1)
        return bands.reset_index(drop=True)

    def generation_bands(self) -> pd.DataFrame:
        """The stretches of time from each rebalance to the next.

        Returns:
            One row for each generation of known time, in order: generation, life, outcome, starts_at, ends_at.
        """
        rows = self.generations.assign(starts_at=rebalanced_at(self.generations)).dropna(subset=["starts_at"])
        rows = rows.sort_values(["starts_at", "life", "generation"])
        following = rows["starts_at"].shift(-1).fillna(self.until)
        # Between the end of a life and the next one there is no generation.
        last_of_life = rows["life"] != rows["life"].shift(-1)
        rows["ends_at"] = following.where(~last_of_life | rows["ended_at"].isna(), rows["ended_at"])
        return rows[["generation", "life", "outcome", "starts_at", "ends_at"]].reset_index(drop=True)

    def storms_in_words(self) -> str:
        """What each storm was, and what would stop it, and who held rebalances up, as Markdown."""
        storms = [_in_words(storm) for storm in self.storms.sort_values("started_at").itertuples()]
        slow = [_slow_in_words(row) for row in self.revokers.sort_values("started_at").itertuples()]
        return "\n\n".join([*(storms or [f"`{self.group_id}` had no storm."]), *slow])


def _cut(rows: pd.DataFrame, begin: str, end: str, first: pd.Timestamp, last: pd.Timestamp) -> pd.DataFrame:
    """Those rows that are in a stretch of time in part, and of them that part."""
    found = rows[~(rows[begin] >= last) & ~(rows[end] <= first)].copy()
    found[begin] = found[begin].clip(lower=first)
    found[end] = found[end].clip(upper=last)
    return found


def _slow_in_words(row: Any) -> str:
    """One slow revoker as Markdown: when, how much stood still, for whom others waited; what helps."""
    parts = count(row.partition_count, "partition")
    said = f"**{row.started_at:%Y-%m-%d %H:%M:%S} UTC: {parts} not given up for {row.held_up_ms / 1000:.1f} s.**"
    return f"{said}\n\n> {row.advice}"


def _in_words(storm: Any) -> str:
    """One storm as Markdown: when, how many, how bad; why, by whom; what helps."""
    lines = [
        f"**{storm.started_at:%Y-%m-%d %H:%M:%S} to {storm.ended_at:%H:%M:%S} UTC: "
        f"{storm.rebalance_count} rebalances, {storm.severity}.**"
    ]
    if not pd.isna(storm.unstable_ratio):
        lines.append(f"The group was without a stable assignment for {storm.unstable_ratio:.0%} of the time.")
    triggers = sorted(storm.triggers.items(), key=lambda item: (-item[1], item[0]))
    lines.append("Triggers: " + ", ".join(f"`{name}` {count}" for name, count in triggers) + ".")
    if not pd.isna(storm.main_client_id):
        lines.append(f"No client triggered more of them than `{storm.main_client_id}` at `{storm.main_client_host}`.")
    return " ".join(lines) + f"\n\n> {storm.advice}"


def rebalanced_at(generations: pd.DataFrame) -> pd.Series:
    """When each generation's rebalance began."""
    first, *later = (generations[name] for name in BEGINS)
    return reduce(lambda known, other: known.fillna(other), later, first)
