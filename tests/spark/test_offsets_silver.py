"""From segment files or exported rows through Spark to the silver tables."""

from __future__ import annotations

import base64
import json
import shutil
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import BinaryType, LongType, StringType, StructField, StructType

from jobs.frame.keeping import at_hand
from jobs.sources import exported as records_source
from jobs.sources.record_type import RECORD_TYPE
from jobs.sources.segments import reader as segments_source
from jobs.sources.segments.files import find_segments, plan
from schemas.records.classic_groups import OFFSET_COMMIT
from tests.support.odd_records import odd_pairs
from tests.support.record_writer import batch, key_bytes, marker, value_bytes
from tests.unit.wire.test_wire_vectors import VECTORS
from transforms.errors import SourceError
from transforms.silver import offsets, plain_commits, transactions

pytestmark = pytest.mark.spark

CAPTURES = ("kafka-3.9.1", "kafka-4.2.0", "chaos-3.9.1", "chaos-4.2.0")
BRONZE = ("topic_partition", "record_offset", "recorded_at", "key", "value", "producer_id", "producer_epoch")


def segments(spark: SparkSession, path: str) -> DataFrame:
    return segments_source.read(spark, find_segments(path))


def bronze_of(records: DataFrame) -> DataFrame:
    good = records.where("reason_code is null").drop("reason_code", "detail", "raw", "position")
    return good.withColumn("cluster", F.lit("c"))


def bronze_rows(spark: SparkSession, pairs: list[tuple[bytes | None, bytes | None]]) -> DataFrame:
    """Bronze records with given keys and values; every third is not transactional, is, or is not known to be."""
    rows = [(index, key, value) for index, (key, value) in enumerate(pairs)]
    schema = StructType(
        [
            StructField("record_offset", LongType()),
            StructField("key", BinaryType()),
            StructField("value", BinaryType()),
        ]
    )
    return spark.createDataFrame(rows, schema).selectExpr(
        "'c' cluster",
        "1 topic_partition",
        "record_offset",
        "timestamp_millis(record_offset) recorded_at",
        "key",
        "value",
        "5L producer_id",
        "0 producer_epoch",
        "case record_offset % 3 when 0 then false when 1 then true end is_transactional",
        "cast(null as string) control_type",
        "'s' source",
    )


def rows_of(frame: DataFrame) -> list[dict[str, Any]]:
    place = "record_offset" if "record_offset" in frame.columns else "position"
    rows = [row.asDict(recursive=True) for row in frame.collect()]
    return sorted(rows, key=lambda row: (row.get("topic_partition_of_record"), str(row[place])))


@pytest.mark.parametrize("are_here", [False, True])
def test_both_ways_give_the_same_rows(spark: SparkSession, are_here: bool) -> None:
    bronze = bronze_rows(spark, odd_pairs()).cache()
    rest = at_hand(offsets.not_plain(bronze), 10_000)[0] if are_here else None
    fast, careful = offsets.decode(bronze, rest), offsets.decode_carefully(bronze)
    counts = {}
    for table in offsets.TABLES:
        expected = rows_of(careful[table])
        assert rows_of(fast[table]) == expected, table
        if are_here:  # of rows that the driver has, nothing says that a column has no nulls
            assert fast[table].schema.toNullable() == careful[table].schema.toNullable()
        else:
            assert fast[table].schema == careful[table].schema
        counts[table] = len(expected)
    assert sum(counts.values()) == len(odd_pairs())
    assert min(counts.values()) > 5


def test_commits_as_brokers_write_them_since_2_1_never_reach_python(spark: SparkSession) -> None:
    key = key_bytes(OFFSET_COMMIT, {"group": "g", "topic": "t", "partition": 0})
    value = {"offset": 1, "leaderEpoch": 2, "metadata": "m", "commitTimestamp": 3, "expireTimestamp": 4}
    with_id = {**value, "topicId": "AAAAAAAAAAEAAAAAAAAAAg"}
    pairs = [(key, value_bytes(OFFSET_COMMIT, value, version)) for version in (3, 4)]
    pairs += [(key, value_bytes(OFFSET_COMMIT, with_id, 4)), (key, None)]
    measured = plain_commits.with_parts(bronze_rows(spark, pairs))
    assert measured.where(plain_commits.is_plain()).count() == len(pairs)


@pytest.mark.parametrize("name", CAPTURES)
def test_captures_both_ways(name: str, spark: SparkSession, capture_dir: Callable[[str], Path]) -> None:
    records = segments(spark, str(capture_dir(name) / "consumer_offsets"))
    assert records.schema == RECORD_TYPE
    bronze = bronze_of(records).cache()
    fast, careful = offsets.decode(bronze), offsets.decode_carefully(bronze)
    total = 0
    for table in offsets.TABLES:
        rows = rows_of(fast[table])
        assert rows == rows_of(careful[table]), table
        assert fast[table].schema.simpleString() == offsets.silver_type(table).simpleString()
        total += len(rows)
    assert fast["rejected"].count() == records.where("reason_code is not null").count() == 0
    assert total == bronze.where("control_type is null").count() > 400


def test_fate_of_transactional_commits(spark: SparkSession, capture_dir: Callable[[str], Path]) -> None:
    bronze = bronze_of(segments(spark, str(capture_dir("kafka-3.9.1") / "consumer_offsets"))).cache()
    commits = offsets.decode(bronze)["offset_commits"]
    resolved = transactions.resolve(commits, bronze.where("control_type is not null"))
    assert resolved.columns == commits.columns
    assert resolved.count() == commits.count()
    fates = {row["record_offset"]: row["txn_state"] for row in resolved.where("group_id = 'txn-copy'").collect()}
    # Told from the bytes alone: a producer's commit, and the next marker of the same producer.
    expected, pending = {}, {}
    for row in bronze.where("is_transactional").orderBy("topic_partition", "record_offset").collect():
        held = pending.setdefault((row["topic_partition"], row["producer_id"]), [])
        if row["control_type"] is None:
            held.append(row["record_offset"])
        else:
            expected |= dict.fromkeys(held, {"commit": "committed", "abort": "aborted"}[row["control_type"]])
            held.clear()
    assert fates == expected
    assert set(fates.values()) == {"committed", "aborted"}
    others = {row["txn_state"] for row in resolved.where("group_id != 'txn-copy'").select("txn_state").collect()}
    assert others == {"none"}


def test_a_commit_without_a_marker_stays_open_and_an_unknown_one_unknown(spark: SparkSession, tmp_path: Path) -> None:
    commit = (bytes.fromhex(VECTORS[3]["key"]), bytes.fromhex(VECTORS[3]["value"]))
    raw = (
        batch(0, [commit], producer=(1, 0), transactional=True)
        + batch(1, [commit], producer=(2, 0), transactional=True)
        + marker(2, 0, (1, 1))
        + batch(3, [commit], producer=(1, 1), transactional=True)
        + batch(4, [commit])
        + marker(5, 1, (3, 0))
    )
    bronze = bronze_of(segments(spark, str(_segment(tmp_path, 4, raw))))
    unknown = bronze.where("record_offset = 4").withColumns(
        {"record_offset": F.lit(6), "is_transactional": F.lit(None).cast("boolean")}
    )
    commits = offsets.decode(bronze.unionByName(unknown))["offset_commits"]
    resolved = transactions.resolve(commits, bronze.where("control_type is not null"))
    states = {row["record_offset"]: row["txn_state"] for row in resolved.collect()}
    assert states == {0: "aborted", 1: "open", 3: "open", 4: "none", 6: "unknown"}


def _segment(root: Path, partition: int, raw: bytes, name: str = "00000000000000000000.log") -> Path:
    folder = root / f"__consumer_offsets-{partition}"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(raw)
    return root


def test_segments_are_found_and_the_bad_ones_told(spark: SparkSession, tmp_path: Path) -> None:
    rows = [(b"k", b"v")] * 3
    _segment(tmp_path / "broker-1", 3, batch(0, rows) + batch(3, rows)[:-1])
    _segment(tmp_path / "broker-1", 3, batch(6, rows), "00000000000000000006.log")
    _segment(tmp_path / "broker-2", 40, b"\xff" * 100 + batch(7, rows))
    _segment(tmp_path / "broker-2", 40, b"no segment", "00000000000000000006.log.deleted")
    shutil.copytree(
        tmp_path / "broker-2" / "__consumer_offsets-40", tmp_path / "broker-2" / "__consumer_offsets-4.x-delete"
    )
    found = segments(spark, str(tmp_path)).collect()
    good = sorted((row["source"], row["record_offset"]) for row in found if row["reason_code"] is None)
    first = "broker-1/__consumer_offsets-3/0000000000000000000"
    third = "broker-2/__consumer_offsets-40/00000000000000000000.log"
    assert good == [(f"{first}0.log", o) for o in range(3)] + [(f"{first}6.log", o) for o in (6, 7, 8)] + [
        (third, o) for o in (7, 8, 9)
    ]
    size = len(batch(0, rows))
    bad = sorted((row["position"], row["reason_code"], len(row["raw"])) for row in found if row["reason_code"])
    assert bad == [(f"3/3@{size}", "truncated_batch", size - 1), ("40/?@0", "corrupt_batch", 100)]
    [row] = segments(spark, str(tmp_path / "broker-2" / "__consumer_offsets-40")).where("key is null").collect()
    assert row["source"] == "__consumer_offsets-40/00000000000000000000.log"


def test_files_are_cut_at_batches_and_small_ones_share_a_task(tmp_path: Path) -> None:
    raw = b"".join(batch(base, [(b"k", bytes(100))]) for base in range(100))
    _segment(tmp_path, 0, raw)
    for partition in range(1, 30):
        _segment(tmp_path, partition, raw[: len(raw) // 50])
    shares = plan(find_segments(str(tmp_path)), share_bytes=len(raw) // 4)
    assert 5 <= len(shares) <= 9
    sizes = [sum(each.end - each.start for each in share.ranges) for share in shares]
    assert sum(sizes) == len(raw) + 29 * (len(raw) // 50)
    assert max(sizes) <= len(raw) // 3


def test_a_source_that_is_not_there_is_said_so(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for path in (tmp_path / "none", tmp_path / "empty"):
        with pytest.raises(SourceError, match="offsets.path"):
            find_segments(str(path))
    with pytest.raises(SourceError, match="does not exist"):
        records_source.read(spark, str(tmp_path / "none"))
    with pytest.raises(SourceError, match="cannot be read"):
        records_source.read(spark, str(tmp_path / "empty"))
    spark.range(1).selectExpr("binary('a') key", "id offset").write.parquet(str(tmp_path / "other"))
    with pytest.raises(SourceError, match="value, partition, timestamp"):
        records_source.read(spark, str(tmp_path / "other"))


@pytest.mark.parametrize("name", ["key", "value", "partition", "offset", "timestamp"])
def test_rows_of_json_without_a_column_are_refused(spark: SparkSession, tmp_path: Path, name: str) -> None:
    """Records without their values would end whatever they are about."""
    row = {"key": "AAE=", "value": "AAE=", "partition": 3, "offset": 7, "timestamp": 1_700_000_000_123}
    path = tmp_path / "exported.json"
    path.write_text(json.dumps({"payload": "AAE=", **{each: row[each] for each in row if each != name}}) + "\n")
    with pytest.raises(SourceError, match=f"has no column {name}"):
        records_source.read(spark, str(path))
    tombstones = [json.dumps({each: row[each] for each in row if each != "value"})] * 1_200
    path.write_text("\n".join([*tombstones, json.dumps(row)]))
    assert records_source.read(spark, str(path)).where("value IS NOT NULL").count() == 1
    path.write_text("")
    assert not records_source.read(spark, str(path)).take(1)


@pytest.mark.parametrize("kind", ["parquet", "delta", "json", "base64 parquet", "json.gz"])
def test_exported_records_of_every_format(kind: str, spark: SparkSession, tmp_path: Path) -> None:
    key, value = bytes.fromhex(VECTORS[3]["key"]), bytes.fromhex(VECTORS[3]["value"])
    path = str(tmp_path / "exported")
    rows = [(key, value, 3, 7), (key, None, 3, 8), (b"\x00\x00\x00\x01", b"\x00" * 6, 3, 9)]
    schema = "key binary, value binary, partition int, offset bigint"
    exported = spark.createDataFrame(rows, schema).withColumn("timestamp", F.timestamp_millis(F.lit(1_700_000_000_123)))
    if kind in ("parquet", "delta"):
        exported.withColumn("topic", F.lit("__consumer_offsets")).write.format(kind).save(path)
    elif kind == "base64 parquet":
        text = exported.withColumns({"key": F.base64("key"), "value": F.base64("value")})
        text.withColumn("timestamp", F.lit(1_700_000_000_123)).write.parquet(path)
    else:
        writer = exported.write.option("timestampFormat", "yyyy-MM-dd'T'HH:mm:ss.SSSXXX")
        writer.option("compression", "gzip" if kind.endswith("gz") else "none").json(path)
    read = records_source.read(spark, path)
    assert read.schema.simpleString() == RECORD_TYPE.simpleString()
    got = sorted(read.collect(), key=lambda row: row["record_offset"])
    moment = datetime(2023, 11, 14, 22, 13, 20, 123_000)
    assert [(row["topic_partition"], row["recorded_at"], row["source"]) for row in got] == [(3, moment, path)] * 3
    assert [(row["key"], row["value"]) for row in got] == [(bytearray(k), v and bytearray(v)) for k, v, _, _ in rows]
    assert [row["control_type"] for row in got] == [None, None, "commit"]
    assert {(row["producer_id"], row["is_transactional"], row["reason_code"]) for row in got} == {(None, None, None)}
    decoded = offsets.decode(bronze_of(read))
    assert {row["txn_state"] for row in decoded["offset_commits"].collect()} == {"unknown"}
    assert decoded["rejected"].count() == 0


def test_exported_rows_that_cannot_be_placed_or_read_are_told(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "exported.json"
    good = {"key": base64.b64encode(b"k").decode(), "value": None, "partition": 1, "offset": 2, "timestamp": 3}
    lines = [
        good,
        {**good, "offset": None},
        {**good, "offset": "5", "timestamp": "soon"},
        {**good, "key": "?!", "offset": 6},
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines) + "{broken\n{broken too\n")
    rows = records_source.read(spark, str(path)).collect()
    found = {row["record_offset"]: row for row in rows if row["reason_code"] is None}
    assert set(found) == {2, 5}
    assert found[2]["recorded_at"].replace(tzinfo=timezone.utc).timestamp() == 0.003
    assert found[5]["recorded_at"] is None
    bad = [row for row in rows if row["reason_code"]]
    assert sorted(row["reason_code"] for row in bad) == ["invalid_base64"] + ["missing_position"] * 3
    assert len({row["position"] for row in bad}) == 4
    assert {bytes(row["raw"]) for row in bad} == {b"k", b"?!", b"{broken", b"{broken too"}


def test_rejected_rows_say_where_and_why(spark: SparkSession) -> None:
    bronze = bronze_rows(spark, [(b"\x00\x63abc", b"x"), (b"\x00\x02\x00\x01g", b"\x00\x03")])
    rows = rows_of(offsets.decode(bronze)["rejected"])
    assert [(row["source"], row["position"], row["reason_code"], bytes(row["raw"])) for row in rows] == [
        ("s", "1/0", "unknown_record_type", b"\x00\x63abc"),
        ("s", "1/1", "buffer_underflow", b"\x00\x03"),
    ]
    assert isinstance(offsets.silver_type("rejected")["raw"].dataType, BinaryType)
    assert isinstance(offsets.silver_type("offset_commits")["txn_state"].dataType, StringType)
