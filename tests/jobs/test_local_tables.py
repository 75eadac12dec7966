"""Large tables on a local disk are written without Spark as they are with it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from schemas.catalog import BY_NAME
from schemas.spark import struct_type
from transforms.wanted_rows import Wanted

pytestmark = pytest.mark.spark

TRANSITIONS = BY_NAME["transitions"]
RECORDS = BY_NAME["offsets_records"]
CLUSTERS = ("c's", "plain")
AT = datetime(2026, 1, 1, tzinfo=timezone.utc)


def transition(group: str, number: int, is_settled: bool) -> dict[str, Any]:
    at = AT + timedelta(seconds=number)
    stamps = {"at": at, "settled_at": at if is_settled else None, "is_settled": is_settled, "is_inferred": False}
    words = {"to_state": "Stable", "event": "record", "source": "record", "group_type": "classic"}
    return {"group_id": group, "life": 1, "seq": number, "generation": number, **stamps, **words}


def record(partition: int, offset: int) -> dict[str, Any]:
    return {"topic_partition": partition, "record_offset": offset, "recorded_at": AT, "value": b"x"}


def frame(spark: Any, spec: Any, rows: list[dict[str, Any]]) -> Any:
    kind = struct_type(spec).toNullable()
    return spark.createDataFrame([tuple(row.get(name) for name in kind.names) for row in rows], kind).drop("cluster")


def lake_of(spark: Any, root: Path, cluster: str) -> Any:
    from jobs.lake.lake import Lake

    return Lake(spark, str(root), "", cluster)


@pytest.fixture(params=CLUSTERS)
def lake(request: pytest.FixtureRequest, spark: Any, tmp_path: Path) -> Iterator[Any]:
    """A lake with three settled rows and two others, of a cluster beside which there is another one."""
    rows = [transition("a", number, number < 3) for number in range(5)]
    for cluster in (request.param, "other"):
        lake_of(spark, tmp_path / "a lake's", cluster).replace(TRANSITIONS, frame(spark, TRANSITIONS, rows))
    return lake_of(spark, tmp_path / "a lake's", request.param)


def told(lake: Any, spec: Any = TRANSITIONS) -> list[str]:
    """What a session reads that knows nothing but the table's log."""
    rows = lake.spark.read.format("delta").load(lake.path(spec)).where(f'cluster = "{lake.cluster}"')
    return sorted(str(row) for row in rows.select(*spec.columns).collect())


def operation(lake: Any, spec: Any = TRANSITIONS) -> str:
    """Who wrote last: delta-rs names its writes otherwise than Delta does."""
    from deltalake import DeltaTable

    (last,) = DeltaTable(lake.path(spec)).history(1)
    return str(last.get("clientVersion") or last.get("engineInfo"))


@pytest.mark.usefixtures("no_table_is_small")
def test_what_is_not_settled_is_replaced_as_spark_does_it(spark: Any, lake: Any) -> None:
    """Some of what is put in is settled by now, some is what was there, and a row is gone."""
    rows = frame(spark, TRANSITIONS, [transition("a", 3, True), transition("b", 5, False), transition("b", 6, False)])
    others = told(lake_of(spark, Path(lake.root), "other"))
    with lake.brief(True):
        assert lake.replace(TRANSITIONS, rows, "NOT is_settled") == 3
    assert "delta-rs" in operation(lake)
    by_delta_rs, count = told(lake), lake.contents.row_counts([TRANSITIONS])[TRANSITIONS.full_name]
    assert lake.replace(TRANSITIONS, rows, "NOT is_settled") == 3
    assert "delta-rs" not in operation(lake)
    expected = [row for row in told(lake) if "seq=3" not in row]
    assert sorted(row for row in by_delta_rs if "seq=3" not in row) == expected
    assert len(by_delta_rs) == count == 6
    assert told(lake_of(spark, Path(lake.root), "other")) == others


@pytest.mark.usefixtures("no_table_is_small")
def test_nothing_can_take_the_place_of_what_is_not_settled(spark: Any, lake: Any) -> None:
    with lake.brief(True):
        assert lake.replace(TRANSITIONS, frame(spark, TRANSITIONS, []), "NOT is_settled") == 0
    assert len(told(lake)) == 3
    version = lake.version(TRANSITIONS)
    with lake.brief(True):
        assert lake.replace(TRANSITIONS, frame(spark, TRANSITIONS, []), "NOT is_settled") == 0
    assert lake.version(TRANSITIONS) == version, "a commit that changes nothing"


def test_whoever_comes_second_is_turned_away(spark: Any, lake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between its look at the table and its commit another one replaces the same rows."""
    from deltalake.exceptions import CommitFailedError

    from jobs.lake.local_tables import LocalTables
    from jobs.lake.rows import few

    first, second = (
        few(TRANSITIONS, frame(spark, TRANSITIONS, [transition(name, 7, False)]), lake.cluster)
        for name in ("first", "second")
    )
    tables, another = (LocalTables(spark, Path(lake.root), lake.cluster) for _ in range(2))
    inner, meanwhile = LocalTables._written, iter([True])

    def written(those: Any, *given: Any) -> Any:
        if next(meanwhile, False):
            assert another.replace_unsettled(TRANSITIONS, first, "first") == (1, 2)
        return inner(those, *given)

    monkeypatch.setattr(LocalTables, "_written", written)
    with pytest.raises(CommitFailedError):
        tables.replace_unsettled(TRANSITIONS, second, "second")
    assert len([row for row in told(lake) if "first" in row]) == 1
    assert tables.replace_unsettled(TRANSITIONS, second, "second") == (1, 1)
    assert [len([row for row in told(lake) if name in row]) for name in ("first", "second")] == [0, 1]


def files(spark: Any, folder: Path, *parts: list[dict[str, Any]]) -> Any:
    """Rows that lie in files of this machine."""
    from jobs.frame.row_files import of_files

    paths = []
    for number, part in enumerate(parts):
        paths.append(str(folder / f"{number}.parquet"))
        parquet.write_table(frame(spark, TRANSITIONS, part).toArrow(), paths[-1])
    return of_files(spark, paths, frame(spark, TRANSITIONS, []).schema)


def test_files_fill_a_table_that_has_nothing_of_a_cluster_and_else_are_rows_as_others(
    spark: Any, lake: Any, tmp_path: Path
) -> None:
    parts = [[transition("a", number, number < 3) for number in range(start, 5, 2)] for start in (0, 1)]
    rows, others = files(spark, tmp_path, *parts), told(lake_of(spark, Path(lake.root), "other"))
    new = lake_of(spark, Path(lake.root), f"new {lake.cluster}")
    assert new.replace(TRANSITIONS, rows) == 5
    assert "delta-rs" in operation(new)
    assert [row.replace("new ", "") for row in told(new)] == told(lake)
    assert new.contents.row_counts([TRANSITIONS])[TRANSITIONS.full_name] == 5
    assert new.replace(TRANSITIONS, files(spark, tmp_path, parts[0])) == 3
    assert "delta-rs" not in operation(new)
    assert len(told(new)) == 3
    assert told(lake_of(spark, Path(lake.root), "other")) == others


def test_of_two_who_fill_a_table_one_is_turned_away(
    spark: Any, lake: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between its look at the table and its commit another one fills it."""
    from deltalake.exceptions import CommitFailedError

    from jobs.frame.row_files import files_of
    from jobs.lake import local_tables

    paths = files_of(files(spark, tmp_path, [transition("a", 7, False)]))
    tables, another = (local_tables.LocalTables(spark, Path(lake.root), "new") for _ in range(2))
    inner, meanwhile = local_tables._batches, iter([True])

    def batches(those: Any) -> Any:
        if next(meanwhile, False):
            assert another.fill(TRANSITIONS, those, "first", ("me", 0)) == 1
        return inner(those)

    monkeypatch.setattr(local_tables, "_batches", batches)
    with pytest.raises(CommitFailedError):
        tables.fill(TRANSITIONS, paths or (), "second", ("me", 0))
    assert tables.fill(TRANSITIONS, paths or (), "second", ("me", 1)) is None
    assert len(told(lake_of(spark, Path(lake.root), "new"))) == 1


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_what_came_since_a_load_is_that_whether_or_not_files_were_put_together(
    spark: Any, tmp_path: Path, cluster: str
) -> None:
    from jobs.lake.duckdb_files import connected

    lake, other = (lake_of(spark, tmp_path, name) for name in (cluster, "other"))
    loads = [AT + timedelta(hours=hour, microseconds=999 * hour) for hour in range(3)]
    for at, offset in zip(loads, (10, 20, 30), strict=True):
        for each in (lake, other):
            each.append(RECORDS, frame(spark, RECORDS, [record(0, offset), record(1, offset)]), at)

    def offsets_after(load: datetime | None) -> list[int]:
        query = lake.query_after(RECORDS, None if load is None else load.isoformat())
        assert query is not None
        with connected() as connection:
            rows = connection.sql(query).to_arrow_table()
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
def test_only_what_is_not_settled_is_looked_through_for_it(lake: Any) -> None:
    found = {}
    for is_settled in (True, False):
        by_spark = lake.some(TRANSITIONS, Wanted(is_settled=is_settled))
        with lake.brief(True):
            found[is_settled] = sorted(map(str, lake.some(TRANSITIONS, Wanted(is_settled=is_settled)).collect()))
        assert found[is_settled] == sorted(map(str, by_spark.collect()))
    assert [len(rows) for rows in found.values()] == [3, 2]


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
    assert len(opened) == 3 and opened[0] > opened[1] > opened[2], "files of loads before the last one read are opened"
