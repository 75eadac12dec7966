"""Records of `__consumer_offsets` that were exported to files, with the columns of Spark's Kafka source."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

from delta.tables import DeltaTable
from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, IntegralType, StringType

from jobs.sources.record_type import RECORD_TYPE
from transforms.errors import SourceError
from transforms.wire.rows import LAST_MOMENT_MS

WANTED = ("key", "value", "partition", "offset", "timestamp")
_FIRST_ROWS, _FEW_ROWS = 1_000, 20
_BESIDE = ("topic", "timestampType", "headers")
"""Columns of Spark's Kafka source that are not read."""
_CORRUPT = "_corrupt_record"
_JSON_SCHEMA = ", ".join(f"{name} STRING" for name in (*WANTED, _CORRUPT))
"""All as text: so a number is taken with quotes and without."""
_JSON_ENDINGS = (".json", ".jsonl", ".ndjson")
_MARKERS = {b"\x00\x00\x00\x00": "abort", b"\x00\x00\x00\x01": "commit"}
"""Keys of transaction markers: version 0 and the type (EndTransactionMarker); no key of a data record is one."""


def read(spark: SparkSession, path: str) -> DataFrame:
    """Read exported records.

    Args:
        spark: session.
        path: Delta table, or Parquet or JSON files, with the columns key, value (binary, or text in base64),
            partition, offset and timestamp (a timestamp, ISO text, or epoch milliseconds). Other columns are ignored.

    Returns:
        `jobs.sources.record_type.RECORD_TYPE`. Grain: one record. Producers and transactions are not known;
        rows whose key is a transaction marker's have `control_type`.

    Raises:
        SourceError: there are no such files, or a column is missing.
    """
    exported = _load(spark, path)
    missing = [name for name in WANTED if name not in exported.columns]
    if not missing and _CORRUPT in exported.columns:
        missing = _never_there(spark, exported, path)
    if missing:
        raise SourceError(f"offsets.path {path} has no column {', '.join(missing)}: export Kafka's own columns.")
    return as_records(exported, path)


def _never_there(spark: SparkSession, exported: DataFrame, path: str) -> list[str]:
    """Return the columns that no row of JSON has: what is null is left out there, and so is what is called otherwise.

    Without values all records would be taken for the end of what they are about. That they all are may be so, where
    rows have nothing that may be their values under another name.
    """
    counts = [F.count(name).alias(name) for name in WANTED]
    first = exported.limit(_FIRST_ROWS).agg(*counts, F.count("*").alias("rows")).collect()[0]
    if not first["rows"]:
        return []
    absent = [name for name in WANTED if not first[name] and not exported.where(F.col(name).isNotNull()).take(1)]
    if absent == ["value"] and not _names_in(spark, path) - {*WANTED, *_BESIDE}:
        return []
    return absent


def _names_in(spark: SparkSession, path: str) -> set[str]:
    """Return what the first rows of JSON call their columns."""
    names = set[str]()
    for row in spark.read.text(path).limit(_FEW_ROWS).collect():
        with suppress(ValueError):
            fields = json.loads(row[0])
            names |= set(fields) if isinstance(fields, dict) else set()
    return names


def as_records(kafka: DataFrame, source: str) -> DataFrame:
    """Bring rows with Kafka's columns into the shape of the sources.

    Args:
        kafka: columns as in `WANTED`.
        source: what the column `source` says.

    Returns:
        `jobs.sources.record_type.RECORD_TYPE`, a row for each row.
    """
    types = {field.name: field.dataType for field in kafka.schema}
    key, value = (_binary(name, types[name]) for name in ("key", "value"))
    partition, offset = F.col("partition").try_cast("int"), F.col("offset").try_cast("bigint")
    damaged = [name for name in ("value", "key") if isinstance(types[name], StringType)]
    reason, raw = F.lit(None).cast("string"), F.lit(None).cast("binary")
    for name in damaged:
        is_damaged = F.col(name).isNotNull() & _binary(name, types[name]).isNull()
        reason = F.when(is_damaged, "invalid_base64").otherwise(reason)
        raw = F.when(is_damaged, F.col(name).cast("binary")).otherwise(raw)
    is_nowhere = partition.isNull() | offset.isNull()
    line = F.col(_CORRUPT) if _CORRUPT in types else F.lit(None)
    rejected_raw = F.when(is_nowhere, F.coalesce(line.cast("binary"), key)).otherwise(raw)
    reason_code = F.when(is_nowhere, "missing_position").otherwise(reason)
    columns = {
        "topic_partition": partition,
        "record_offset": offset,
        "recorded_at": _moment(types["timestamp"]),
        "key": key,
        "value": value,
        "control_type": F.when(F.length(key) == 4, _control_type(key)),
        "source": F.lit(source),
        "reason_code": reason_code,
        "detail": _detail(reason_code),
        "raw": rejected_raw,
        "position": F.when(reason_code.isNotNull(), _position(partition, offset, rejected_raw)),
    }
    return kafka.select(
        *(columns.get(field.name, F.lit(None)).cast(field.dataType).alias(field.name) for field in RECORD_TYPE)
    )


def _load(spark: SparkSession, path: str) -> DataFrame:
    """Read with the format that the files have; what is not on this machine is Delta or Parquet."""
    try:
        return _reader_of(spark, path)
    except AnalysisException as error:
        reason = str(error).splitlines()[0]
        raise SourceError(f"offsets.path {path} cannot be read as Delta, Parquet or JSON: {reason}") from error


def _reader_of(spark: SparkSession, path: str) -> DataFrame:
    local = Path(path)
    is_local = "://" not in path and not any(sign in path for sign in "*?[{")
    if is_local and not local.exists():
        raise SourceError(f"offsets.path {path} does not exist: give a Delta table, or Parquet or JSON files.")
    if (local / "_delta_log").is_dir() or (not is_local and DeltaTable.isDeltaTable(spark, path)):
        return spark.read.format("delta").load(path)
    names = [local.name, *(file.name for file in local.rglob("*") if is_local)]
    if any(name.removesuffix(".gz").endswith(_JSON_ENDINGS) for name in names):
        return spark.read.schema(_JSON_SCHEMA).option("columnNameOfCorruptRecord", _CORRUPT).json(path)
    return spark.read.parquet(path)


def _binary(name: str, kind: DataType) -> Column:
    return F.try_to_binary(F.col(name), F.lit("base64")) if isinstance(kind, StringType) else F.col(name)


def _moment(kind: DataType) -> Column:
    """Timestamps as they are; numbers, also in text, are epoch milliseconds."""
    column = F.col("timestamp")
    if not isinstance(kind, (IntegralType, StringType)):
        return column.cast("timestamp")
    milliseconds = column.try_cast("bigint")
    moment = F.when(milliseconds.between(0, LAST_MOMENT_MS), F.timestamp_millis(milliseconds))
    if isinstance(kind, StringType):
        return F.when(milliseconds.isNull(), column.try_cast("timestamp")).otherwise(moment)
    return moment


def _control_type(key: Column) -> Column:
    chosen = F.lit(None).cast("string")
    for marker, name in _MARKERS.items():
        chosen = F.when(key == F.lit(marker), name).otherwise(chosen)
    return chosen


def _detail(reason_code: Column) -> Column:
    return F.when(reason_code == "missing_position", "row without a partition or an offset").when(
        reason_code.isNotNull(), "key or value is not base64"
    )


def _position(partition: Column, offset: Column, raw: Column) -> Column:
    """Partition and offset; where one is missing, a digest of the row's bytes keeps its key apart."""
    place = F.concat_ws(
        "/", F.coalesce(partition.cast("string"), F.lit("?")), F.coalesce(offset.cast("string"), F.lit("?"))
    )
    return F.when(partition.isNull() | offset.isNull(), F.concat_ws("#", place, F.sha1(raw))).otherwise(place)
