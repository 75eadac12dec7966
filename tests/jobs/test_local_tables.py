"""Large tables on a local disk are read, and added to, without Spark as they are with it."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable

from schemas.tables.bronze import LOG_LINES
from tests.support.written_rows import (
    AT,
    CLUSTERS,
    RECORDS,
    TRANSITIONS,
    frame,
    lake_of,
    operation,
    record,
    told,
    transition,
)
from transforms.wanted_rows import Wanted

pytestmark = pytest.mark.spark


@pytest.mark.usefixtures("no_table_is_small")
@pytest.mark.parametrize("cluster", CLUSTERS)
def test_what_came_since_a_load_is_that_whether_or_not_files_were_put_together(
    spark: Any, tmp_path: Path, cluster: str
) -> None:
    from jobs.frame.keeping import keeping
    from jobs.lake.duckdb_files import connected, without_spark
    from transforms.loads import loaded_after

    lake, other = (lake_of(spark, tmp_path, name) for name in (cluster, "other"))
    loads = [AT + timedelta(hours=hour, microseconds=999 * hour) for hour in range(3)]
    for at, offset in zip(loads, (10, 20, 30), strict=True):
        for each in (lake, other):
            each.append(RECORDS, frame(spark, RECORDS, [record(0, offset), record(1, offset)]), at)

    def offsets_after(load: datetime | None) -> list[int]:
        wanted = loaded_after(None if load is None else load.isoformat())
        with keeping() as keep, connected() as connection:
            rows = without_spark(lake.in_place(RECORDS, wanted, keep))
            if isinstance(rows, str):  # else there is no file that may have any
                rows = connection.sql(rows).to_arrow_table()
        assert {*rows.column_names} == {*RECORDS.columns}
        assert {*rows["cluster"].to_pylist()} <= {cluster}
        return sorted(rows["record_offset"].to_pylist())

    assert offsets_after(None) == [10, 10, 20, 20, 30, 30]
    assert offsets_after(loads[0]) == [20, 20, 30, 30]
    assert offsets_after(loads[1]) == [30, 30]
    assert offsets_after(loads[2]) == []
    spark.sql(f"OPTIMIZE delta.`{lake.path(RECORDS)}`")
    assert offsets_after(loads[0]) == [20, 20, 30, 30]
    assert offsets_after(None) == [10, 10, 20, 20, 30, 30]


@pytest.mark.usefixtures("no_table_is_small")
def test_only_what_is_not_settled_is_looked_through_for_it(settled_and_others: Any) -> None:
    lake = settled_and_others
    found = {}
    for is_settled in (True, False):
        by_spark = Wanted(is_settled=is_settled).of(lake.read(TRANSITIONS))
        with lake.brief(True):
            found[is_settled] = sorted(map(str, lake.some(TRANSITIONS, Wanted(is_settled=is_settled)).collect()))
        assert found[is_settled] == sorted(map(str, by_spark.collect()))
    assert [len(rows) for rows in found.values()] == [3, 2]


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_what_was_put_into_a_small_table_is_known_without_reading_it(
    spark: Any, tmp_path: Path, cluster: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake, other = (lake_of(spark, tmp_path, name) for name in (cluster, "other"))
    settled, young = (transition("a", 1, True), transition("b", 2, False))
    for each in (lake, other):
        each.replace(TRANSITIONS, frame(spark, TRANSITIONS, [settled, young]))
    again = frame(spark, TRANSITIONS, [transition("b", 3, False), transition("c", 4, True)])
    with lake.brief(True), other.brief(True):
        lake.replace(TRANSITIONS, again, "NOT is_settled")
        assert "delta-rs" in operation(lake, TRANSITIONS)
        with monkeypatch.context() as closed:
            closed.delattr(DeltaTable, "to_pyarrow_table")
            known = sorted(str(row) for row in lake.read(TRANSITIONS).collect())
        other.replace(TRANSITIONS, again, "NOT is_settled")
        afterwards = sorted(str(row) for row in lake.read(TRANSITIONS).collect())
    assert len(known) == 3
    assert known == afterwards == told(lake, TRANSITIONS, by_spark=True)


@pytest.mark.usefixtures("no_table_is_small")
@pytest.mark.parametrize("cluster", CLUSTERS)
def test_rows_that_a_large_table_has_are_not_added_again(spark: Any, tmp_path: Path, cluster: str) -> None:
    """Of two partitions whose offsets lie far apart, some new records lie between those that there are."""
    lake = lake_of(spark, tmp_path, cluster)
    there = [record(partition, offset) for partition, begin in ((0, 100), (7, 9_000)) for offset in (begin, begin + 2)]
    lake.append(RECORDS, frame(spark, RECORDS, there), AT)
    lake_of(spark, tmp_path, "other").append(RECORDS, frame(spark, RECORDS, [record(0, 101)]), AT)
    new = [record(partition, offset) for partition in (0, 7) for offset in (99, 100, 101, 102, 9_000, 9_001, 9_003)]
    with lake.brief(True):
        assert lake.append(RECORDS, frame(spark, RECORDS, new), AT) == 11
        assert "delta-rs" in operation(lake, RECORDS)
        assert lake.append(RECORDS, frame(spark, RECORDS, new), AT) == 0
    assert lake.append(RECORDS, frame(spark, RECORDS, [*new, *there]), AT) == 0, "Spark finds them there as well"
    assert len(told(lake, RECORDS)) == 4 + 11


def test_files_without_a_key_that_is_looked_for_are_not_opened(spark: Any, tmp_path: Path) -> None:
    import pyarrow as pa

    from jobs.lake.cluster_files import ClusterFile
    from jobs.lake.found_rows import new_rows

    rows = pa.table({"cluster": ["c"], "topic_partition": [3], "record_offset": [50]})
    gone = [
        ClusterFile("x", str(tmp_path / "x"), 10, 1, None, {"record_offset": least}, {"record_offset": most}, {})
        for least, most in ((0, 49), (51, 99))
    ]
    found = new_rows(RECORDS, gone, "c", rows)
    assert found is not None and found.num_rows == 1


def test_too_many_files_with_a_key_are_left_to_spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pyarrow as pa

    from jobs.lake.cluster_files import ClusterFile
    from jobs.lake.found_rows import new_rows

    monkeypatch.setattr("jobs.lake.found_rows.MOST_BYTES", 5)
    rows = pa.table({"cluster": ["c"], "topic_partition": [3], "record_offset": [50]})
    assert new_rows(RECORDS, [ClusterFile("x", str(tmp_path / "x"), 10, 1, None, {}, {}, {})], "c", rows) is None


def test_files_that_duckdb_cannot_name_are_left_to_spark(tmp_path: Path) -> None:
    import pyarrow as pa

    from jobs.lake.cluster_files import ClusterFile
    from jobs.lake.found_rows import new_rows

    rows = pa.table({"cluster": ["c"], "topic_partition": [3], "record_offset": [50]})
    assert new_rows(RECORDS, [ClusterFile("x", str(tmp_path / "x*"), 10, 1, None, {}, {}, {})], "c", rows) is None


@pytest.mark.usefixtures("no_table_is_small")
@pytest.mark.parametrize("places", [3, 150])
def test_of_a_few_places_or_of_many_keys_are_compared(spark: Any, tmp_path: Path, places: int) -> None:
    """Logs have names of whatever letters; every second line of each is there."""
    lake = lake_of(spark, tmp_path, "c")
    names = [f"it's {number}.log" for number in range(places)]

    def entries(lines: range) -> Any:
        rows = [
            {"source_file": name, "line_number": line, "logged_at": AT, "broker": "1", "text": "x"}
            for name in names
            for line in lines
        ]
        return frame(spark, LOG_LINES, rows)

    lake.append(LOG_LINES, entries(range(0, 6, 2)), AT)
    with lake.brief(True):
        assert lake.append(LOG_LINES, entries(range(4)), AT) == 2 * places
        assert lake.append(LOG_LINES, entries(range(6)), AT) == places


@pytest.mark.usefixtures("no_table_is_small")
def test_what_a_step_has_not_read_is_found_in_the_files_that_came_since(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from jobs.lake import found_rows
    from jobs.lake.increments import Increment
    from jobs.lake.load_clock import iso
    from transforms.given_rows import rows_held

    lake = lake_of(spark, tmp_path, "c's")
    times = [AT + timedelta(seconds=number) for number in range(3)]
    for number, at in enumerate(times):
        lake.append(RECORDS, frame(spark, RECORDS, [record(0, 2 * number), record(1, 2 * number)]), at)
    read, opened = found_rows.rows_in, list[int]()

    def rows_in(spec: Any, files: Any, cluster: str) -> str:
        opened.append(len(files))
        return read(spec, files, cluster)

    monkeypatch.setattr(found_rows, "rows_in", rows_in)
    for place, at in enumerate(times):
        new = Increment({RECORDS.full_name: iso(at)}, {}).new(lake, RECORDS)
        by_spark = lake.read(RECORDS).where(f"record_offset > {2 * place}")
        assert sorted(map(str, new.collect())) == sorted(map(str, by_spark.collect()))
        assert rows_held(new) is not None
    assert len(opened) == 2 and opened[0] > opened[1], "files of loads that were read are opened"
