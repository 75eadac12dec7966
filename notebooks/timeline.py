"""What gold holds of one group, as the charts take it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pandas as pd


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
        until: last moment that the lake knows of; what is still open is drawn up to here.
    """

    cluster: str
    group_id: str
    generations: pd.DataFrame
    transitions: pd.DataFrame
    assignments: pd.DataFrame
    storms: pd.DataFrame
    until: pd.Timestamp

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
        owned = self.assignments[
            (self.assignments["valid_from"] < last) & ~(self.assignments["valid_to"] <= first)
        ].copy()
        owned["valid_from"] = owned["valid_from"].clip(lower=first)
        owned["valid_to"] = owned["valid_to"].clip(upper=last)
        return replace(
            self,
            generations=self.generations[(began_at >= first) & (began_at < last)],
            transitions=self.transitions[(self.transitions["at"] >= first) & (self.transitions["at"] < last)],
            assignments=owned,
            storms=self.storms[(self.storms["started_at"] < last) & (self.storms["ended_at"] >= first)],
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
        """What each storm was, and what would stop it, as Markdown."""
        if self.storms.empty:
            return f"`{self.group_id}` had no storm."
        return "\n\n".join(_in_words(storm) for storm in self.storms.sort_values("started_at").itertuples())


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
    """When each generation's rebalance began: by `preparing_at`, or the first later step that is known."""
    at = generations["preparing_at"]
    for later in ("completing_at", "stable_at", "emptied_at"):
        at = at.fillna(generations[later])
    return at
