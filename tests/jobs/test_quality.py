"""The quality gate through the jobs: what breaks a law is set aside and not published, and every run is kept."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from schemas.catalog import BY_NAME, TABLES
from schemas.expectations import checks_of

pytestmark = [pytest.mark.spark, pytest.mark.slow]

CAPTURE = "kafka-4.2.0"


@pytest.fixture
def given(copy: Path, capture_dir: Callable[[str], Path]) -> list[str]:
    from tests.support.lakes import arguments

    return arguments(copy, capture_dir(CAPTURE))


def kept(spark: Any, root: Path, name: str, run_id: str | None = None) -> list[dict[str, Any]]:
    from tests.support.lakes import rows_of_quality

    return [row for row in rows_of_quality(spark, root, name) if run_id in (None, row["run_id"])]


def last_run(spark: Any, root: Path) -> dict[str, Any]:
    return max(kept(spark, root, "runs"), key=lambda row: row["started_at"])


def test_a_run_is_kept_with_its_steps_and_what_its_rows_were_held_to(spark: Any, lake: Callable[[str], Path]) -> None:
    root = lake(CAPTURE)
    run = min(kept(spark, root, "runs"), key=lambda row: row["started_at"])
    assert (run["exit_code"], run["note"]) == (0, None)
    assert run["horizon_at"] is not None
    steps = {step["name"]: step for step in run["steps"]}
    assert list(steps)[-5:] == [
        "ingest_offsets",
        "ingest_logs",
        "rebuild_timelines",
        "detect_findings",
        "check_quality",
    ]
    assert steps["ingest_offsets"]["rows_read"] > 2000
    assert steps["rebuild_timelines"]["rows_written"] > 1000
    results = kept(spark, root, "results", run["run_id"])
    assert all(row["passed"] and not row["failed_row_count"] for row in results)
    asked = {(row["table"], row["check"]) for row in results}
    assert len(asked) == len(results)
    for name in ("generations", "assignments", "group_requests", "offsets_records", "rebalance_storms"):
        spec = BY_NAME[name]
        assert {(spec.full_name, check.name) for check in checks_of(spec)} <= asked
    assert ("gold.assignments", "one_owner") in asked
    assert ("gold.rebalance_storms", "storm_of_generations") in asked


def test_the_pages_about_quality_load_nothing_from_elsewhere(lake: Callable[[str], Path]) -> None:
    site = lake(CAPTURE) / "report" / "quality"
    index = (site / "index.html").read_text(encoding="utf-8")
    pages = re.findall(r'href="([^"]+\.html)"', index)
    assert len(pages) >= 10
    told = "".join((site / page).read_text(encoding="utf-8") for page in pages)
    assert "a partition has one owner at a time within a generation" in told
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert "<script" not in text
        assert not re.search(r"<(?:link|img)\b[^>]*https?://", text), page


def test_the_pages_about_quality_are_where_the_report_is_be_that_on_no_disk(spark: Any, tmp_path: Path) -> None:
    """Hadoop's file system and Delta's log store write them on an object store; here they do so on a disk."""
    from jobs.jvm.files import HadoopFiles
    from jobs.quality.judge import Count
    from jobs.quality.judging import judging, put_pages

    at = "2026-11-20T12:00:00+00:00"
    site = HadoopFiles(spark, f"file:{tmp_path}/report")
    for check in ("one_owner", "no_gap"):  # the second time in the place of the first
        counts = [Count("gold.assignments", check, f"what {check} says", "critical", 1, ("{}",), at)]
        put_pages(site, "prod", counts, judging().judge(counts))
    written = {file.name for file in site.list("quality")}
    assert written == {"index.html", "gold.assignments.html"}
    assert 'href="gold.assignments.html"' in (site.read("quality/index.html") or "")
    assert "what no_gap says" in (site.read("quality/gold.assignments.html") or "")


@pytest.mark.parametrize("is_much", [False, True])
def test_a_batch_whose_evidence_is_damaged_is_not_published(
    spark: Any,
    copy: Path,
    given: list[str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    is_much: bool,
) -> None:
    """Of much evidence the table's own files are asked."""
    from jobs import rebuild_timelines
    from tests.support.lakes import versions

    if is_much:
        monkeypatch.setattr("jobs.quality.gate.MOST_AT_HAND", -1)
    path = str(copy / "silver" / "coordinator_events")
    lines = spark.read.format("delta").load(path).where("group_id IS NOT NULL").limit(1)
    late = lines.withColumn("loaded_at", lines["loaded_at"] + _an_hour()).persist()
    late.unionAll(late).write.format("delta").mode("append").save(path)
    before = {name: version for name, version in versions(spark, copy).items() if name.startswith("gold")}
    assert rebuild_timelines.main(given) == 3
    error = capsys.readouterr().err
    assert "unique(cluster, source_file, line_number, seq) of silver.coordinator_events is broken by 1 rows" in error
    assert {name: version for name, version in versions(spark, copy).items() if name.startswith("gold")} == before
    run = last_run(spark, copy)
    assert run["run_id"] in error
    assert run["exit_code"] == 3
    assert "silver.coordinator_events" in run["note"]
    (aside,) = kept(spark, copy, "set_aside", run["run_id"])
    assert aside["table"] == "silver.coordinator_events"
    assert '"line_number"' in aside["row"]
    failed = [row for row in kept(spark, copy, "results", run["run_id"]) if not row["passed"]]
    assert [(row["check"], row["severity"]) for row in failed] == [
        ("unique(cluster, source_file, line_number, seq)", "critical")
    ]
    assert is_much or rebuild_timelines.main(given) == 3, "a second try lets it through"


@pytest.fixture(params=["the driver", "DuckDB, in files", "Spark"])
def job(request: pytest.FixtureRequest, spark: Any, copy: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A job whose rows are looked at in one of three ways."""
    from jobs.frame.job import Job
    from jobs.frame.report import Report
    from jobs.lake.lake import Lake
    from jobs.settings.loading import load
    from tests.support.lakes import CLUSTER

    if request.param != "the driver":
        monkeypatch.setattr("jobs.quality.gate.MOST_AT_HAND", -1)
    if request.param == "Spark":
        monkeypatch.setattr("jobs.frame.keeping.Keep.folder", lambda *_: None)
    settings = load(None, {"cluster": CLUSTER, "lake": {"root": str(copy)}})
    return Job(settings, Lake(spark, str(copy), "", CLUSTER), Report(), None)  # type: ignore[arg-type]


def test_rows_that_break_a_law_never_reach_a_table(spark: Any, copy: Path, job: Any) -> None:
    """Broken off between audit and commit, or not let through: the tables and what is known of them stay."""
    from jobs.quality.gate import Batch, audited
    from schemas.tables.gold import REBALANCE_STORMS
    from tests.support.lakes import versions
    from transforms.errors import QualityError

    before = versions(spark, copy)
    storms = job.lake.read(REBALANCE_STORMS)
    twice = Batch({REBALANCE_STORMS: storms.unionAll(storms)})
    with pytest.raises(QualityError, match="storms_apart of gold.rebalance_storms"), audited(job, twice):
        job.replace([(REBALANCE_STORMS, storms)])
    with pytest.raises(KeyboardInterrupt), audited(job, Batch({REBALANCE_STORMS: storms.where("false")})):
        raise KeyboardInterrupt
    assert versions(spark, copy) == before


def test_findings_are_held_against_all_generations_wherever_these_are_looked_at(job: Any) -> None:
    from pyspark.sql import functions as F

    from jobs.frame.keeping import keeping
    from jobs.quality.gate import Batch, audited
    from schemas.tables.gold import GENERATIONS, REBALANCE_STORMS
    from transforms.errors import QualityError
    from transforms.wanted_rows import Wanted

    storms = job.lake.read(REBALANCE_STORMS)
    more = storms.withColumn("rebalance_count", F.col("rebalance_count") + 1_000)
    with keeping() as keep:
        generations = {GENERATIONS: job.lake.in_place(GENERATIONS, Wanted(), keep)}
        with audited(job, Batch({REBALANCE_STORMS: storms}, beside=generations)) as rows:
            assert rows.keys() == {REBALANCE_STORMS}
        batch = Batch({REBALANCE_STORMS: more}, beside=generations)
        broken = "storm_of_generations of gold.rebalance_storms"
        with pytest.raises(QualityError, match=broken), audited(job, batch):
            raise AssertionError("storms that the generations do not have are let through")


def test_a_warning_is_kept_and_closes_nothing(spark: Any, copy: Path, given: list[str]) -> None:
    from jobs import check_quality

    path = str(copy / "gold" / "coordinators")
    row = spark.read.format("delta").load(path).limit(1)
    row.selectExpr(*("false AS agrees" if name == "agrees" else name for name in row.columns)).write.format(
        "delta"
    ).mode("append").save(path)
    assert check_quality.main(given) == 0
    run = last_run(spark, copy)
    odd = [row for row in kept(spark, copy, "results", run["run_id"]) if not row["passed"]]
    assert [(row["check"], row["severity"], row["failed_row_count"]) for row in odd] == [
        ("group_in_its_partition", "warning", 1)
    ]
    assert "group_in_its_partition" in run["note"]


def test_all_tables_hold_when_they_are_looked_at_as_a_whole(spark: Any, copy: Path, given: list[str]) -> None:
    from jobs import check_quality

    assert check_quality.main([*given, "--all"]) == 0
    results = kept(spark, copy, "results", last_run(spark, copy)["run_id"])
    assert {spec.full_name for spec in TABLES if spec.name in ("generations", "log_lines", "commit_gaps")} <= {
        row["table"] for row in results
    }
    assert all(row["passed"] for row in results)


def test_of_commits_alone_the_new_ones_are_looked_at(
    spark: Any, copy: Path, given: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is replayed for them, so that no audit has; a hundred million older ones have been looked at before."""
    from pyspark.sql import functions as F

    from jobs import check_quality
    from jobs.lake.lake import Lake
    from schemas.tables.silver import OFFSET_COMMITS
    from tests.support.lakes import CLUSTER

    hold, looked_at = check_quality.hold, list[int]()

    def held(job: Any, batch: Any, so: str) -> Any:
        looked_at.append(batch.evidence[OFFSET_COMMITS].count())
        return hold(job, batch, so)

    def commit(behind: int, **other: str) -> None:
        lake = Lake(spark, str(copy), "", CLUSTER)
        rows = lake.read(OFFSET_COMMITS).drop("cluster", "loaded_at").orderBy("record_offset").limit(1)
        rows = rows.withColumns({name: F.lit(value) for name, value in other.items()})
        at = lake.contents.next_load_time([OFFSET_COMMITS])
        lake.append(OFFSET_COMMITS, rows.withColumn("record_offset", F.col("record_offset") + behind), at)
        lake.contents.keep()

    monkeypatch.setattr(check_quality, "hold", held)
    commit(10_000_000)
    assert check_quality.main(given) == 0
    commit(20_000_000)
    assert check_quality.main(given) == 0
    commit(30_000_000, txn_state="lost")
    assert check_quality.main(given) == 3
    assert check_quality.main(given) == 3, "a second try lets it through"
    commit(40_000_000)
    assert check_quality.main(given) == 3, "what comes later covers it"
    assert looked_at == [1, 1, 1, 1, 2]


def test_states_of_many_groups_do_not_pass_through_the_driver(
    spark: Any, copy: Path, given: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of 10,000 groups are more than it can hold."""
    from jobs import check_quality
    from jobs.quality import gate
    from schemas.tables.gold import REPLAY_SNAPSHOTS

    fetched, seen = gate.fetched, list[int]()

    def fetches(rows: Any, most: int) -> Any:
        if "size_bytes" in rows.columns:
            seen.append(most)
        return fetched(rows, most)

    monkeypatch.setattr(gate, "fetched", fetches)
    monkeypatch.setattr(gate, "_FEW", {REPLAY_SNAPSHOTS: 1})
    assert check_quality.main([*given, "--all"]) == 0
    assert seen == [1]
    results = kept(spark, copy, "results", last_run(spark, copy)["run_id"])
    assert {(row["table"], row["passed"]) for row in results} >= {(REPLAY_SNAPSHOTS.full_name, True)}
    assert all(row["passed"] for row in results)


def _an_hour() -> Any:
    from pyspark.sql import functions as F

    return F.expr("INTERVAL 1 HOUR")
