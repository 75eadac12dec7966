"""What the notebooks open: one lake, seen through one cluster, one group and one stretch of time.

A notebook sets these at its top and calls what it shows by name; questions are asked here, drawings are made in
`charts` and `plates`. Sums are made by Spark, so that a thousand groups are no more work for the notebook than ten.
"""

from __future__ import annotations

import io
import json
from contextlib import redirect_stdout
from functools import cached_property
from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from jobs import what_if
from jobs.lake.rows import typed
from notebooks import charts, plates
from notebooks.lake_reader import open_lake
from notebooks.members import draw_members
from notebooks.ownership import draw_ownership
from notebooks.rebalances import one_after_the_other
from notebooks.timeline import GroupTimeline
from schemas.kafka_errors import ERROR_NAMES
from schemas.rows import GenerationRow
from schemas.tables.gold import BEGINS
from transforms.gold import rebalances as gold_rebalances
from transforms.gold.rebalances import IS_REBALANCE
from transforms.gold.report import refused_requests
from transforms.report.fleet import bin_width_ms

AT = {
    "generations": f"coalesce({', '.join(BEGINS)})",
    "replay_audit": "at",
    "offset_rewinds": "at",
    "audit_counts": "hour_at",
}
"""When what a row tells of was; tables that are not named here have started_at and ended_at, or no time."""

BUSIEST = 20


class Book:
    """What one notebook sees of a lake.

    Args:
        lake: folder or URI; None = that of the environment, else the demo's.
        cluster: Kafka cluster; None = the only one there is.
        group: consumer group, where the notebook is about one.
        since: begin of the time looked at, in UTC; None = where the data begins.
        until: end of it; None = where the data ends.
    """

    def __init__(
        self,
        lake: str | None = None,
        cluster: str | None = None,
        group: str = "",
        since: str | None = None,
        until: str | None = None,
    ) -> None:
        self._lake = open_lake(lake)
        self.cluster = cluster or self._lake.only_cluster()
        self.group = group
        self._since = pd.Timestamp(since) if since else None
        self._until = pd.Timestamp(until) if until else None

    def groups(self) -> pd.DataFrame:
        """Every group with its generations, storms and bursts, the busiest first."""
        found = self._lake.groups()
        return found[found["cluster"] == self.cluster].reset_index(drop=True)

    # --- one group ---

    @cached_property
    def timeline(self) -> GroupTimeline:
        """The group's life in the time looked at."""
        return self._lake.timeline(self.group, self.cluster).between(self._since, self._until)

    def states(self) -> Figure:
        """Its states and what set off its rebalances."""
        return charts.draw_states(self.timeline)

    def ownership(self) -> Figure:
        """Who owned which partition."""
        return draw_ownership(self.timeline)

    def members(self) -> Figure:
        """Its members, what each was about, and who waited for whom."""
        return draw_members(self.timeline)

    def storms(self) -> str:
        """Its storms in words, as Markdown."""
        return self.timeline.storms_in_words()

    def order_of_events(self) -> pd.DataFrame:
        """Its rebalances, one after the other; of several bumps of its epoch, what they come to."""
        return one_after_the_other(typed(self._of_group("generations"), GenerationRow))

    def cost(self) -> Figure:
        """How long each rebalance took, from its first bump on where it is made up of several."""
        return plates.draw_cost(self.order_of_events(), self.group, self.timeline.step)

    def culprits(self) -> Figure:
        """Which clients set off its rebalances, and how."""
        rows = self._of_group("generations").where(IS_REBALANCE)
        return plates.draw_culprits(_culprits(rows), f"{self.group}: who set off its rebalances")

    def what_if(self, *changes: str) -> pd.DataFrame:
        """What would have been with other settings.

        Args:
            changes: settings as NAME=VALUE, each tried alone; "static" = static membership.

        Raises:
            ValueError: it cannot be asked; of a group that never was a classic one the table says so instead.
        """
        return pd.DataFrame([self._predicted(change) for change in changes]).set_index("change")

    def _predicted(self, change: str) -> dict[str, Any]:
        how = ["--static"] if change == "static" else ["--set", change]
        where = [f"--cluster={self.cluster}", f"--lake.root={self._lake.root}", "--group", self.group, "--json"]
        times = {"--from": self._since, "--to": self._until}
        span = [part for name, at in times.items() if at is not None for part in (name, at.isoformat())]
        said = io.StringIO()
        with redirect_stdout(said):
            code = what_if.main([*where, *how, *span])
        if code and "classic" not in self.timeline.group_types:
            return {"change": change, "price": f"not foretold of {' and '.join(self.timeline.group_types)} groups"}
        if code:
            raise ValueError(f"what_if ended with exit code {code}")
        found = json.loads(said.getvalue().splitlines()[-1])
        names = ("rebalances_observed", "rebalances_predicted_low", "rebalances_predicted_high", "unstable_ms_observed")
        told = {name: found[name] for name in (*names, "unstable_ms_predicted_low", "unstable_ms_predicted_high")}
        return {"change": change, **told, "price": found["price"]["text"]}

    # --- fencing and commits ---

    def bursts(self) -> pd.DataFrame:
        """Bursts of fencing errors, of the group or of all groups, the largest first."""
        names = ("group_id", "started_at", "ended_at", "error", "error_count", "suspected_cause", "lost_commit_count")
        rows = self._of("illegal_generation_bursts").orderBy(F.desc("error_count"), "started_at")
        return rows.select(*names, "zombie_ms", "behind_count", "client_ids", "advice").limit(100).toPandas()

    def refused(self) -> pd.DataFrame:
        """Requests that were refused: at, api, member_id, error."""
        rows = refused_requests(self._of("replay_audit")).orderBy("at").limit(20_000).toPandas()
        return rows.assign(error=rows["observed_error"].map(ERROR_NAMES))

    def refusals(self) -> Figure:
        """Refused requests over time, a lane for each member."""
        return plates.draw_refusals(self.refused(), f"{self.group}: requests that were refused")

    def lost_commits(self) -> pd.DataFrame:
        """Partitions that miss commits, the longest without one first."""
        return self._of("commit_gaps").drop("cluster").orderBy(F.desc_nulls_last("owned_ms")).limit(100).toPandas()

    def rewinds(self) -> pd.DataFrame:
        """Committed offsets that went back, far ahead or away, counted by how and at whose hand."""
        by = ("group_id", "kind", "origin", "is_at_rebalance")
        steps = F.sum(F.col("from_offset") - F.col("to_offset")).alias("offsets_back")
        found = self._of("offset_rewinds").groupBy(*by).agg(F.count("*").alias("times"), steps)
        return found.orderBy(F.desc("times"), *by).limit(100).toPandas()

    # --- all groups ---

    def busiest(self) -> pd.DataFrame:
        """The groups with most rebalances, with their storms and bursts."""
        per_group = gold_rebalances.whole_rebalances(self._of("generations")).groupBy("group_id")
        rows = per_group.agg(
            F.count("*").alias("rebalances"),
            F.sum("lasted_ms").alias("unstable_ms"),
            F.sum("partitions_moved").alias("partitions_moved"),
            F.count_if(F.col("outcome") == "abandoned").alias("abandoned"),
        )
        for name, table in (("storms", "rebalance_storms"), ("bursts", "illegal_generation_bursts")):
            counted = self._of(table).groupBy("group_id").agg(F.count("*").alias(name))
            rows = rows.join(counted, "group_id", "left").fillna(0, [name])
        return rows.orderBy(F.desc("rebalances"), "group_id").limit(BUSIEST).toPandas().set_index("group_id")

    def heat(self) -> Figure:
        """Rebalances of the busiest groups over time."""
        since, until = self._extent()
        width_ms = bin_width_ms(since, until)
        rows = self._of("generations").where(IS_REBALANCE)
        rows = rows.withColumn("bin", F.floor(F.unix_millis(F.expr(AT["generations"])) / width_ms))
        counted = rows.where("bin IS NOT NULL").groupBy("group_id", "bin").agg(F.count("*").alias("rebalances"))
        names = list(self.busiest().index)
        return plates.draw_heat(counted.where(F.col("group_id").isin(names)).toPandas(), names, width_ms)

    def top_culprits(self) -> Figure:
        """The clients that set off most rebalances, over all groups."""
        return plates.draw_culprits(
            _culprits(self._of("generations").where(IS_REBALANCE)), "who set off the rebalances of all groups"
        )

    def periods(self, boundary: str | None = None) -> Figure:
        """The busiest groups before and after a moment.

        Args:
            boundary: the moment, in UTC; None = the middle of the time looked at.
        """
        since, until = self._extent()
        middle = pd.Timestamp(boundary) if boundary else pd.Timestamp((since + until) / 2, unit="ms")
        is_after = F.expr(AT["generations"]) >= F.lit(middle.isoformat()).cast("timestamp")
        rows = (
            self._of("generations")
            .where(IS_REBALANCE)
            .groupBy("group_id")
            .agg(F.count_if(~is_after).alias("before"), F.count_if(is_after).alias("after"))
        )
        largest = rows.orderBy(F.desc(F.abs(F.col("after") - F.col("before"))), "group_id").limit(BUSIEST).toPandas()
        lengths = (middle.timestamp() * 1000 - since, until - middle.timestamp() * 1000)
        return plates.draw_periods(largest, middle, lengths)

    # --- trust ---

    def agreement(self) -> pd.DataFrame:
        """The broker's answers beside the replay's predictions, by kind of request."""
        rows = self._of("audit_counts")
        counts = [name for name in rows.columns if name.endswith("_count")]
        sums = rows.groupBy("api").agg(*(F.sum(name).alias(name) for name in counts))
        return sums.orderBy(F.desc("request_count")).toPandas().set_index("api")

    def agreement_drawn(self) -> Figure:
        """The same as shares of 100 %."""
        return plates.draw_agreement(self.agreement())

    def evidence(self) -> pd.DataFrame:
        """What the generations rest on, how many were inferred in part, and how many are missing."""
        rows = self._of("generations").withColumn("rests_on", F.array_join("evidence", " + "))
        found = rows.groupBy("rests_on").agg(
            F.count("*").alias("generations"),
            F.count_if("is_inferred").alias("inferred_in_part"),
            F.sum("missing_before").alias("missing_before_them"),
            F.count_if(~F.col("is_settled")).alias("still_open_to_late_evidence"),
        )
        return found.orderBy(F.desc("generations")).toPandas().set_index("rests_on")

    def rejected(self) -> pd.DataFrame:
        """What could not be read, by source and reason."""
        rows = self._lake.read("rejected").where(F.col("cluster") == self.cluster)
        found = rows.groupBy("source", "reason_code").agg(
            F.count("*").alias("rows"), F.min("detail").alias("one_of_them")
        )
        return found.orderBy(F.desc("rows")).limit(200).toPandas()

    def doubtful_groups(self) -> pd.DataFrame:
        """Groups about which the replay knows least: answers it did not foresee, generations that no evidence shows."""
        audit = (
            self._of("audit_counts")
            .groupBy("group_id")
            .agg(F.sum("differ_count").alias("otherwise"), F.sum("unpredicted_count").alias("not_predicted"))
        )
        gaps = (
            self._of("generations")
            .groupBy("group_id")
            .agg(
                F.sum("missing_before").alias("missing_generations"),
                F.count_if("is_inferred").alias("inferred_in_part"),
            )
        )
        rows = gaps.join(audit, "group_id", "full").fillna(0)
        doubt = F.col("otherwise") + F.col("missing_generations")
        return rows.orderBy(F.desc(doubt), F.desc("inferred_in_part"), "group_id").limit(BUSIEST).toPandas()

    # --- what is read ---

    def _of(self, name: str) -> DataFrame:
        """Rows of the cluster, of the group where there is one, in the time looked at."""
        rows = self._lake.read(name).where(F.col("cluster") == self.cluster)
        rows = rows.where(F.col("group_id") == self.group) if self.group else rows
        if name in AT:
            return rows.where(_within(F.expr(AT[name]), F.expr(AT[name]), self._since, self._until))
        if "started_at" in rows.columns:
            return rows.where(_within(F.col("started_at"), F.col("ended_at"), self._since, self._until))
        return rows

    def _of_group(self, name: str) -> DataFrame:
        if not self.group:
            raise ValueError("name a group at the top of the notebook")
        return self._of(name)

    def _extent(self) -> tuple[float, float]:
        """First and last rebalance in the time looked at, epoch ms."""
        at = F.unix_millis(F.expr(AT["generations"]))
        row = self._of("generations").agg(F.min(at), F.max(at)).collect()[0]
        return float(row[0] or 0), float(row[1] or 0)


def _within(begins: Column, ends: Column, since: pd.Timestamp | None, until: pd.Timestamp | None) -> Column:
    is_in = F.lit(True)
    if since is not None:
        is_in = is_in & (ends >= F.lit(since.isoformat()).cast("timestamp"))
    return is_in if until is None else is_in & (begins < F.lit(until.isoformat()).cast("timestamp"))


def _culprits(generations: DataFrame) -> pd.DataFrame:
    """Rebalances by client and trigger, of the clients that set off most."""
    client = F.coalesce("trigger_client_id", F.lit("not known")).alias("client")
    rows = generations.select(client, "trigger", "group_id")
    most = rows.groupBy("client").agg(F.count("*").alias("in_all")).orderBy(F.desc("in_all"), "client").limit(BUSIEST)
    counted = rows.groupBy("client", "trigger").agg(F.count("*").alias("rebalances"))
    return counted.join(most, "client").toPandas()
