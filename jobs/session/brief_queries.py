"""Queries over few rows: their time goes into the driver, which compiles each and plans it again and again.

Where rows are few they are cheaper interpreted as they were planned first. Where they are many, compiled code and plans
that follow what was found are worth far more than they cost: from the moment on that Spark itself has to look through
large tables, queries are compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import lru_cache

from pyspark.sql import SparkSession

FEW_ROWS = 20_000
"""So many new rows, of bronze, are few."""

FEW_BYTES = 64 << 20
"""So many bytes to be read are few."""

MOST_INTERPRETED = 1_000_000
"""Rows of the tables that Spark looks through for what belongs to few new ones; with more, queries are compiled."""

_INTERPRETED = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}

_PLANNED_ONCE = {"spark.sql.adaptive.enabled": "false"}
"""On this machine only: a cluster has many partitions for a shuffle, and joins small ones while it plans again."""


@contextmanager
def queries(spark: SparkSession, are_brief: bool) -> Iterator[Callable[[], None]]:
    """Let queries be run as it suits their size; what the user has set stays as it is.

    Yields:
        What has them compiled from then on, although they are brief.
    """
    with ExitStack() as stack:
        if are_brief:
            for key, value in _settings(spark).items():
                stack.callback(_restore, spark, key, spark.conf.get(key, None))
                spark.conf.set(key, value)
        yield stack.close


@lru_cache(maxsize=1)  # of the one session: what was submitted does not change, and is fetched setting by setting
def _settings(spark: SparkSession) -> Mapping[str, str]:
    submitted = spark.sparkContext.getConf()
    is_local = (submitted.get("spark.master", "") or "").startswith("local")
    wanted = {**_INTERPRETED, **_PLANNED_ONCE} if is_local else _INTERPRETED
    return {key: value for key, value in wanted.items() if not submitted.contains(key)}


def _restore(spark: SparkSession, key: str, value: str | None) -> None:
    if value is None:
        spark.conf.unset(key)
    else:
        spark.conf.set(key, value)
