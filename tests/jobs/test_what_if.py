"""The what-if job reads a lake, says what the pure prediction says, and leaves the lake as it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.pairs.table import ARCHIVES
from tests.support.captures import capture
from tests.support.evidence_of import evidence_of

pytestmark = pytest.mark.spark

CLUSTER = "test"
CAPTURE = "raw-4.2.0"
GROUP = "flapping"
STRANGE = "[bold]not\x1b[31m markup[/bold]"
"""A group name that a terminal must not take at its word."""

EPOCHS = "orders"
"""A consumer group: of it there are epochs, and no generations."""

CHANGE = ["--set", "session.timeout.ms=30000", "--static"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return capture(CAPTURE, tmp_path_factory.mktemp("what_if"), ARCHIVES)


@pytest.fixture(scope="module")
def root(spark: Any, folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake that holds one group, the same once more under a strange name, and epochs of another one."""
    from jobs.lake.lake import Lake
    from schemas.tables.gold import ASSIGNMENTS, GENERATION_MEMBERS, GENERATIONS, MEMBER_SESSIONS
    from schemas.tables.silver import COORDINATOR_EVENTS, GROUP_REQUESTS
    from tests.support.frames import to_frame
    from tests.support.pure_pipeline import run_pipeline

    into = tmp_path_factory.mktemp("lake")
    lake = Lake(spark, str(into), "", CLUSTER)
    lake.open()
    tables = run_pipeline(folder)
    for spec in (GENERATIONS, GENERATION_MEMBERS, ASSIGNMENTS, MEMBER_SESSIONS, GROUP_REQUESTS, COORDINATOR_EVENTS):
        loaded = {"loaded_at": 0.0} if "loaded_at" in spec.columns else {}
        rows = [{**row, **loaded, "cluster": CLUSTER} for row in tables[spec.name] if row["group_id"] in (GROUP, None)]
        twins = [{**row, "group_id": STRANGE, "source_file": "2"} for row in rows if row["group_id"] is not None]
        epochs = [{**row, "group_id": EPOCHS, "group_type": "consumer"} for row in twins] if spec is GENERATIONS else []
        lake.replace(spec, to_frame(spark, spec, rows + twins + epochs))
    return into


def run(root: Path, *arguments: str) -> int:
    from jobs import what_if

    return what_if.main([f"--cluster={CLUSTER}", f"--lake.root={root}", *arguments])


def test_the_job_says_what_the_pure_prediction_says(
    root: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from transforms.whatif.change import change_of
    from transforms.whatif.outcome import outcome
    from transforms.whatif.prediction import predict

    assert run(root, "--group", GROUP, *CHANGE, "--json") == 0
    said = json.loads(capsys.readouterr().out)
    known, change = evidence_of(folder, GROUP), change_of(["session.timeout.ms=30000"], is_static=True)
    expected = json.loads(json.dumps(outcome(known, change, predict(known, change))))
    assert said == {"cluster": CLUSTER, "group_id": GROUP, **expected}
    assert said["rebalances_predicted_high"] < said["rebalances_observed"]


def test_another_protocol_is_answered_by_whose_pauses_would_not_have_been(
    root: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from transforms.whatif.change import change_of
    from transforms.whatif.outcome import answer

    asked = "group.protocol=consumer"
    expected = json.loads(json.dumps(answer(evidence_of(folder, GROUP), change_of([asked]))))
    assert run(root, "--group", GROUP, "--set", asked, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert {name: found[name] for name in expected} == expected
    assert found["pauses_observed"] >= found["pauses_avoided"] > 0
    assert run(root, "--group", GROUP, "--set", asked) == 0
    told = capsys.readouterr().out
    assert f"{found['pauses_avoided']} less" in told and "not known" in told


def test_only_the_time_asked_about_counts(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(root, "--group", GROUP, *CHANGE, "--json") == 0
    whole = json.loads(capsys.readouterr().out)
    middle = ["--from", "2026-11-21T15:02:05", "--to", "2026-11-21T15:02:30"]
    assert run(root, "--group", GROUP, *CHANGE, *middle, "--json") == 0
    part = json.loads(capsys.readouterr().out)
    assert 0 < part["rebalances_observed"] < whole["rebalances_observed"]
    assert part["rebalances_predicted_low"] == 0
    assert (part["from"], part["to"]) == ("2026-11-21T15:02:05.000+00:00", "2026-11-21T15:02:30.000+00:00")


def test_a_reader_is_told_in_words_and_foreign_text_stays_text(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(root, "--group", STRANGE, *CHANGE) == 0
    said = capsys.readouterr().out
    assert "[bold]not" in said
    assert "\x1b[31m" not in said
    assert "partitions moved" in said
    assert "noticed later" in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--group", "nobody", "--static"], "there is no group nobody in cluster test, nor one with a name like it"),
        (["--group", EPOCHS[:-1], "--static"], f"near names: {EPOCHS}"),
        (["--group", EPOCHS, "--static"], "group orders in cluster test is a consumer group"),
        (["--group", EPOCHS, "--set", "group.protocol=consumer"], "speaks group.protocol=consumer already"),
        (["--group", EPOCHS, "--static", "--to", "2020-01-01"], "nothing is known of group orders"),
        (["--group", GROUP], "nothing to ask about"),
        (["--group", GROUP, "--set", "fetch.min.bytes=1"], "no change that can be asked about"),
        (["--group", GROUP, "--set", "session.timeout.ms=soon"], "must be a number of milliseconds"),
        (["--group", GROUP, "--set", "session.timeout.ms=100"], "would be refused"),
        (["--group", GROUP, "--set", "partition.assignment.strategy=fair"], "must be one of"),
        (["--group", GROUP, "--static", "--from", "2026-11-21T16:00:00", "--to", "2026-11-21T15:00:00"], "--from"),
    ],
)
def test_what_cannot_be_asked_is_one_sentence_and_exit_code_2(
    root: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(root, *arguments) == 2
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error: ")]
    assert len(lines) == 1
    assert message in lines[0]


def test_asking_changes_nothing(spark: Any, root: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in root.rglob("*") if path.is_file()}
    assert run(root, "--group", GROUP, *CHANGE, "--json") == 0
    assert {path: path.stat().st_mtime_ns for path in root.rglob("*") if path.is_file()} == before
