"""The tables of a lake by their names in a database of Spark's catalog, so that SQL finds them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pyspark.sql import SparkSession

from jobs.lake.storage_errors import storage_errors
from schemas.table import TableSpec
from transforms.errors import SettingsError
from transforms.sql import literal, quoted

_SCHEME = "file:"


def register(spark: SparkSession, database: str, specs: Iterable[TableSpec], path: Callable[[TableSpec], str]) -> None:
    """Register tables that are not yet; columns and comments are those of the tables themselves.

    Args:
        spark: the session.
        database: the database, which exists.
        specs: tables that exist.
        path: returns where one lies.

    Raises:
        SettingsError: another table bears the name of one of them.
    """
    with storage_errors(f"database {database}"):
        known = {row["tableName"] for row in spark.sql(f"SHOW TABLES IN {quoted(database)}").collect()}
        for spec in specs:
            name = f"{quoted(database)}.{quoted(spec.name)}"
            if spec.name not in known:
                spark.sql(f"CREATE TABLE IF NOT EXISTS {name} USING DELTA LOCATION {literal(path(spec))}")
                continue
            there = spark.sql(f"DESCRIBE DETAIL {name}").collect()[0]["location"]
            if _plain(there) != _plain(path(spec)):
                raise SettingsError(
                    f"{database}.{spec.name} is a table at {there}, and not of this lake: set lake.database to a "
                    "database of its own"
                )


def _plain(path: str) -> str:
    """Return a path without what can be left out of it."""
    return "/" + path.removeprefix(_SCHEME).strip("/") if path.startswith((_SCHEME, "/")) else path.rstrip("/")
