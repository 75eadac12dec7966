"""How the notebooks read the lake: gold tables in, pandas out. Whatever they show comes through here."""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from jobs.session.spark_session import spark_session
from jobs.settings.settings import SparkSettings
from notebooks.timeline import FRAMES, GroupTimeline
from schemas.catalog import BY_NAME

REPOSITORY = Path(__file__).resolve().parents[1]
DEMO_LAKE = REPOSITORY / "lake" / "demo"
CONF = REPOSITORY / "conf"


def open_lake(root: str | None = None) -> LakeReader:
    """Open a lake for reading.

    Args:
        root: folder or URI; by default the environment's REBALANCE__LAKE__ROOT, else the demo's lake. Spark is started
            with REBALANCE__SPARK__PROPERTIES, else as on a laptop.
    """
    properties = os.environ.get("REBALANCE__SPARK__PROPERTIES") or str(CONF / "spark-defaults-laptop.conf")
    settings = SparkSettings(properties=properties, log4j2=str(CONF / "log4j2.properties"))
    root = root or os.environ.get("REBALANCE__LAKE__ROOT") or str(DEMO_LAKE)
    return LakeReader(spark_session(settings, "rebalance-analytics notebook"), root.rstrip("/"))


class LakeReader:
    """The tables of one lake."""

    def __init__(self, spark: SparkSession, root: str) -> None:
        self._spark = spark
        self.root = root

    def table(self, name: str, group_id: str | None = None) -> pd.DataFrame:
        """Read a table, or one group's rows of it, in the order of its key.

        Raises:
            KeyError: no table has this name.
            FileNotFoundError: the lake does not have the table.
        """
        rows = self.read(name)
        if group_id is not None:
            rows = rows.where(F.col("group_id") == group_id)
        return rows.orderBy(*BY_NAME[name].key).toPandas()

    def groups(self) -> pd.DataFrame:
        """Every group with its last type, and its generations or epochs, storms and bursts; the busiest first."""
        key = ["cluster", "group_id"]
        generations = (
            self.read("generations")
            .groupBy(*key)
            .agg(
                F.max_by("group_type", F.struct("life", "generation")).alias("group_type"),
                F.count("*").alias("generations"),
            )
        )
        storms = self.read("rebalance_storms").groupBy(*key).agg(F.count("*").alias("storms"))
        bursts = self.read("illegal_generation_bursts").groupBy(*key).agg(F.count("*").alias("bursts"))
        counted = generations.join(storms, key, "left").join(bursts, key, "left").fillna(0, ["storms", "bursts"])
        return counted.orderBy(F.desc("generations"), *key).toPandas()

    def timeline(self, group_id: str, cluster: str | None = None) -> GroupTimeline:
        """Read what gold holds of one group.

        Args:
            group_id: the group.
            cluster: its cluster; may be left out where only one cluster has a group of this name.

        Raises:
            ValueError: no such group, or several.
        """
        clusters = [cluster] if cluster else self._clusters_of(group_id)
        if len(clusters) != 1:
            found = f"the clusters {', '.join(clusters)} have" if clusters else "no cluster has"
            raise ValueError(f"{found} a group named {group_id}")
        frames = {}
        for name, spec in FRAMES.items():
            rows = self.table(spec.name, group_id)
            frames[name] = rows[rows["cluster"] == clusters[0]].reset_index(drop=True)
        return GroupTimeline(clusters[0], group_id, **frames, until=self._until(clusters[0]))

    def only_cluster(self) -> str:
        """Name the cluster, where the lake has no more than one.

        Raises:
            ValueError: it has several, or none.
        """
        found = sorted(row["cluster"] for row in self.read("generations").select("cluster").distinct().collect())
        if len(found) != 1:
            raise ValueError(f"name a cluster at the top of the notebook; the lake has {', '.join(found) or 'none'}")
        return str(found[0])

    def _clusters_of(self, group_id: str) -> list[str]:
        rows = self.read("generations").where(F.col("group_id") == group_id).select("cluster").distinct()
        return sorted(row["cluster"] for row in rows.collect())

    def _until(self, cluster: str) -> pd.Timestamp:
        """The last moment that gold knows of in a cluster."""
        moments = self.read("transitions").unionByName(self.read("replay_audit"), allowMissingColumns=True)
        latest = moments.where(F.col("cluster") == cluster).agg(F.max("at").alias("at"))
        return pd.Timestamp(latest.toPandas()["at"][0])

    def read(self, name: str) -> DataFrame:
        """Return a table, its rows not yet read."""
        spec = BY_NAME[name]
        try:
            return self._spark.read.format("delta").load(f"{self.root}/{spec.layer.value}/{spec.name}")
        except AnalysisException as error:
            raise FileNotFoundError(f"no table {spec.full_name} in {self.root}; has the pipeline run?") from error
