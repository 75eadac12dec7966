"""What becomes of a group's snapshots when a run puts down a new one: a few older ones stay."""

from __future__ import annotations

import pandas as pd
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.pandas.functions import pandas_udf

from schemas.tables.gold import REPLAY_SNAPSHOTS
from transforms.batches.keeping import kept
from transforms.gold.timelines.evidence import GROUP
from transforms.gold.timelines.starting_points import ms

IS_GONE = "is_gone"


def changes(new: DataFrame, old: DataFrame, starting: DataFrame) -> DataFrame:
    """Return what is to change in `gold.replay_snapshots`.

    Args:
        new: the snapshots that the run has put down.
        old: those that there are.
        starting: the groups of the run, and from where they went on; of those that went back, younger ones go.

    Returns:
        Columns of the table, and `is_gone`: true = the row of this key is to go.
    """
    moments = old.select(*GROUP, "at").join(starting.select(*GROUP, "since", "is_late"), [*GROUP])
    is_left = F.coalesce(ms("at") <= F.col("since"), ~F.col("is_late"))
    standing = moments.where(is_left).select(*GROUP, ms("at").alias("at_ms"))
    all_moments = standing.unionByName(new.select(*GROUP, ms("at").alias("at_ms")))
    keeping = all_moments.groupBy(*GROUP).agg(_kept(F.collect_set("at_ms")).alias("kept"))
    gone = moments.join(keeping, [*GROUP]).where(~F.array_contains("kept", ms("at")))
    others = [F.lit(None).alias(name) for name in REPLAY_SNAPSHOTS.columns if name not in REPLAY_SNAPSHOTS.key]
    going = gone.select(*REPLAY_SNAPSHOTS.key, *others, F.lit(True).alias(IS_GONE))
    return new.select(*REPLAY_SNAPSHOTS.columns, F.lit(False).alias(IS_GONE)).unionByName(going)


@pandas_udf(T.ArrayType(T.DoubleType()))  # type: ignore[untyped-decorator, call-overload]
def _kept(moments: pd.Series) -> pd.Series:
    return moments.map(lambda each: kept(list(each)))
