"""Maintenance: what is too old goes once nobody needs it, nothing else goes, and files stay few."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from schemas.catalog import BY_NAME, TABLES
from schemas.table import TableSpec

pytestmark = pytest.mark.spark

LOG_LINES, OFFSETS_RECORDS, RECORDS = (BY_NAME[name] for name in ("log_lines", "offsets_records", "group_metadata"))
EVENTS, AUDIT, SNAPSHOTS = (BY_NAME[name] for name in ("coordinator_events", "replay_audit", "replay_snapshots"))
NOW = datetime.now(timezone.utc).replace(microsecond=0)

FILLERS: dict[str, Any] = {
    "string": "x",
    "int": 1,
    "bigint": 1,
    "boolean": True,
    "timestamp": 0,
    "binary": b"x",
    "array<string>": [],
}
"""Values of columns that must have one and do not matter."""


def ago(days: float) -> int:
    """Return the time so many days ago as epoch ms."""
    return int((NOW - timedelta(days=days)).timestamp() * 1000)


@pytest.fixture
def put(spark: Any, tmp_path: Path) -> Callable[..., None]:
    """Fill a table of a cluster with rows, of which only what matters is given."""
    from jobs.lake.lake import Lake
    from schemas.spark import struct_type
    from tests.support.frames import to_frame

    def fill(spec: TableSpec, *rows: dict[str, Any], cluster: str = "test") -> None:
        types = {field.name: field.dataType.simpleString() for field in struct_type(spec)}
        blank = {name: FILLERS[types[name]] if name in spec.not_null else None for name in spec.columns}
        whole = [{**blank, "cluster": cluster, **row} for row in rows]
        Lake(spark, str(tmp_path / "lake"), "", cluster).replace(spec, to_frame(spark, spec, whole))

    return fill


@pytest.fixture
def open_lake(spark: Any, tmp_path: Path) -> Callable[..., Any]:
    """Open the lake as another run would."""
    from jobs.lake.lake import Lake

    return lambda cluster="test": Lake(spark, str(tmp_path / "lake"), "", cluster)


@pytest.fixture
def maintain(spark: Any, tmp_path: Path) -> Callable[..., int]:
    from jobs import maintain_tables

    return lambda *given: maintain_tables.main(["--cluster=test", f"--lake.root={tmp_path / 'lake'}", *given])


def values(lake: Any, spec: TableSpec, column: str) -> list[Any]:
    return sorted(row[0] for row in lake.read(spec).select(column).collect())


def read_up_to(lake: Any, step: str, spec: TableSpec) -> None:
    """Note that a step has read all rows that a table has now."""
    lake.progress.note(step, [spec], dict(lake.contents.newest_load([spec])))


def line(number: int, days: float | None, **more: Any) -> dict[str, Any]:
    at = None if days is None else ago(days)
    return {"source_file": "s", "line_number": number, "logged_at": at, "loaded_at": ago(0), **more}


def record(number: int, days: float, **more: Any) -> dict[str, Any]:
    return {
        "topic_partition": 3,
        "record_offset": number,
        "recorded_at": ago(days),
        "loaded_at": ago(0),
        "is_transactional": False,
        **more,
    }


def evidence(number: int, group: str, days: float) -> dict[str, Any]:
    at = ago(days)
    return {"record_offset": number, "group_id": group, "recorded_at": at, "loaded_at": ago(0)}


# --- what goes ---


def test_old_bronze_goes_once_it_has_been_decoded_and_does_not_come_back(
    spark: Any, put: Any, open_lake: Any, maintain: Any
) -> None:
    put(OFFSETS_RECORDS, record(1, 40), record(2, 31), record(3, 29))
    assert maintain("--retention.bronze_days=30") == 0
    lake = open_lake()
    assert values(lake, OFFSETS_RECORDS, "record_offset") == [1, 2, 3], "nobody has decoded them"

    read_up_to(lake, "decode_offsets", OFFSETS_RECORDS)
    assert maintain("--retention.bronze_days=30") == 0
    lake = open_lake()
    assert values(lake, OFFSETS_RECORDS, "record_offset") == [3]

    again = spark.createDataFrame(
        [(3, 1, NOW - timedelta(days=40)), (3, 9, NOW - timedelta(days=1)), (4, 1, NOW - timedelta(days=40))],
        "topic_partition int, record_offset bigint, recorded_at timestamp",
    ).selectExpr(
        "*",
        *(
            f"cast(null AS {kind}) AS {name}"
            for name, kind in (("key", "binary"), ("value", "binary"), ("producer_id", "bigint"))
        ),
        "cast(null AS int) AS producer_epoch",
        "false AS is_transactional",
        "cast(null AS string) AS control_type",
        "'x' AS source",
    )
    assert lake.append(OFFSETS_RECORDS, again, NOW) == 2, "the young one, and a partition that is new to the lake"
    assert values(lake, OFFSETS_RECORDS, "topic_partition") == [3, 3, 4]
    shutil.rmtree(lake.path(OFFSETS_RECORDS))
    assert open_lake().append(OFFSETS_RECORDS, again, NOW) == 3, "a table that is made anew takes in all there is"


def test_lines_without_a_time_age_in_the_lake(put: Any, open_lake: Any, maintain: Any) -> None:
    put(LOG_LINES, line(1, 40), line(2, None, loaded_at=ago(40)), line(3, None), line(4, 1))
    read_up_to(open_lake(), "parse_logs", LOG_LINES)
    assert maintain("--retention.bronze_days=30") == 0
    assert values(open_lake(), LOG_LINES, "line_number") == [3, 4]


def test_evidence_goes_only_as_far_as_the_oldest_snapshot_of_its_group_stands_for_it(
    put: Any, open_lake: Any, maintain: Any
) -> None:
    """Wherever late evidence sends a group back to, all that came after is still there."""
    from transforms.coordinator.state import VERSION

    groups = ("stands", "new", "none", "unknown")
    put(RECORDS, *(evidence(10 * n + i, g, d) for n, g in enumerate(groups) for i, d in enumerate((100, 70, 40, 1))))
    put(EVENTS, line(1, 100, group_id="stands"), line(2, 100, group_id=None), line(3, 40, group_id="stands"))

    def snapshot(group: str, days: float, version: int = VERSION) -> dict[str, Any]:
        return {"group_id": group, "at": ago(days), "version": version}

    put(SNAPSHOTS, snapshot("stands", 60), snapshot("stands", 2), snapshot("new", 5), snapshot("unknown", 60, -1))
    lake = open_lake()
    lake.progress.note("rebuild_timelines", [SNAPSHOTS], {"loaded": dict(lake.contents.newest_load([RECORDS, EVENTS]))})
    before = {spec.name: lake.read(spec).count() for spec in TABLES if spec.layer.value == "gold"}
    assert maintain("--retention.silver_days=30") == 0
    lake = open_lake()
    left = [number for number in range(40) if number % 10 < 4 and number not in (0, 1)]
    assert values(lake, RECORDS, "record_offset") == left
    assert values(lake, EVENTS, "line_number") == [2, 3], "what tells of a broker alone may concern any group"
    assert {spec.name: lake.read(spec).count() for spec in TABLES if spec.layer.value == "gold"} == before


def test_silver_that_no_replay_has_read_stays(put: Any, open_lake: Any, maintain: Any) -> None:
    put(BY_NAME["offset_commits"], {"record_offset": 1, "recorded_at": ago(90), "loaded_at": ago(0)})
    assert maintain("--retention.silver_days=1") == 0
    assert values(open_lake(), BY_NAME["offset_commits"], "record_offset") == [1]


def test_of_gold_only_settled_requests_of_the_audit_go(put: Any, open_lake: Any, maintain: Any) -> None:
    rows = [
        {"line_number": n, "at": ago(d), "is_settled": s} for n, d, s in ((1, 90, True), (2, 90, False), (3, 1, True))
    ]
    put(AUDIT, *rows)
    put(AUDIT, *rows, cluster="other")
    put(BY_NAME["generations"], {"life": 1, "generation": 1, "stable_at": ago(900), "is_settled": True})
    assert maintain("--retention.audit_days=30", "--retention.bronze_days=1", "--retention.silver_days=1") == 0
    assert values(open_lake(), AUDIT, "line_number") == [2, 3]
    assert values(open_lake("other"), AUDIT, "line_number") == [1, 2, 3]
    assert open_lake().read(BY_NAME["generations"]).count() == 1


def test_without_a_retention_nothing_goes(put: Any, open_lake: Any, maintain: Any) -> None:
    put(LOG_LINES, line(1, 4000))
    put(AUDIT, {"at": ago(4000), "is_settled": True})
    read_up_to(open_lake(), "parse_logs", LOG_LINES)
    versions = {spec.name: open_lake().version(spec) for spec in (LOG_LINES, AUDIT)}
    assert maintain() == 0
    assert {spec.name: open_lake().version(spec) for spec in (LOG_LINES, AUDIT)} == versions


def test_what_is_known_of_a_table_stays_right_when_rows_go(put: Any, open_lake: Any, maintain: Any) -> None:
    """The newest time of loading does not go back with the rows: later rows must be newer than all that was read."""
    put(LOG_LINES, line(1, 40, loaded_at=ago(2)), line(2, 1, loaded_at=ago(3)))
    lake = open_lake()
    newest = lake.contents.newest_load([LOG_LINES])
    read_up_to(lake, "parse_logs", LOG_LINES)
    assert maintain("--retention.bronze_days=30") == 0
    lake = open_lake()
    assert lake.contents.newest_load([LOG_LINES]) == newest
    assert (
        lake.contents.row_counts([LOG_LINES])
        == {LOG_LINES.full_name: 1}
        == {"bronze.log_lines": lake.read(LOG_LINES).count()}
    )


# --- files ---


def files(spark: Any, lake: Any, spec: TableSpec) -> int:
    """Return the number of files that hold the rows of a cluster."""
    rows = spark.read.format("delta").load(lake.path(spec)).where(f"cluster = '{lake.cluster}'")
    return len({row[0] for row in rows.selectExpr("_metadata.file_path").collect()})


def history(spark: Any, lake: Any, spec: TableSpec) -> list[Any]:
    return list(spark.sql(f"DESCRIBE HISTORY delta.`{lake.path(spec)}`").orderBy("version").collect())


def test_small_files_are_joined_and_those_of_others_left_alone(
    spark: Any, put: Any, open_lake: Any, maintain: Any
) -> None:
    """Another cluster's run may be writing at this moment: nothing of its rows is touched."""
    lake, other = open_lake(), open_lake("other")
    for number in range(3):
        for each in (lake, other):
            rows = spark.createDataFrame(
                [("b", "s", number, NOW, "x")],
                "broker string, source_file string, line_number bigint, logged_at timestamp, text string",
            )
            each.append(LOG_LINES, rows, NOW)
    assert (files(spark, lake, LOG_LINES), files(spark, other, LOG_LINES)) == (3, 3)
    assert maintain() == 0
    assert (files(spark, lake, LOG_LINES), files(spark, other, LOG_LINES)) == (1, 3)
    assert values(lake, LOG_LINES, "line_number") == [0, 1, 2]


def test_a_large_table_is_laid_by_group_and_again_only_when_it_has_grown(
    spark: Any, put: Any, open_lake: Any, maintain: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from jobs.upkeep import files as upkeep

    monkeypatch.setattr(upkeep, "LARGE_BYTES", 1)
    put(RECORDS, *(evidence(n, f"group-{n % 7}", 1) for n in range(50)))
    put(LOG_LINES, line(1, 1))

    def laid(spec: TableSpec) -> int:
        commits = history(spark, open_lake(), spec)
        return sum("group_id" in (each.operationParameters or {}).get("zOrderBy", "") for each in commits)

    assert maintain() == 0
    assert (laid(RECORDS), laid(LOG_LINES)) == (1, 0)
    assert maintain() == 0
    assert laid(RECORDS) == 1
    assert values(open_lake(), RECORDS, "record_offset") == list(range(50))


def test_files_that_runs_may_still_need_cannot_be_removed(maintain: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert maintain("--retain-hours=1") == 2
    (sentence,) = capsys.readouterr().err.strip().splitlines()
    assert "--retain-hours" in sentence
    assert "168" in sentence
