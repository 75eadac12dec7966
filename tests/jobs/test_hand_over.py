"""Findings on their way out of the lake, and a group as it is described."""

from __future__ import annotations

import json
import shutil
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jobs.findings.health import look_at_health
from jobs.findings.summary import summarise
from jobs.frame.exit_codes import ExitCode
from jobs.frame.job import Job
from jobs.frame.report import Report
from jobs.handing_over import findings as handing_over
from jobs.handing_over.findings import hand_over
from jobs.lake.lake import Lake
from jobs.lake.rows import collected
from jobs.settings.settings import FindingsSettings, LakeSettings, Settings
from schemas.tables.gold import FINDINGS, GROUP_HEALTH, ORPHANED_PARTITIONS, REBALANCE_STORMS, TRANSITIONS
from schemas.tables.silver import OFFSET_COMMITS
from tests.support.frames import to_frame
from tests.unit.findings.golden import complete
from transforms.errors import LakeError

pytestmark = pytest.mark.spark

EVIL = 'shop\x1b[31m"\n\\'
"""A group whose name would colour a terminal, end a label and break a line."""

NOW = 1763636400000.0

OpenJob = Callable[..., Job]


def storm(group: str, begin: float, end: float = NOW, is_open: bool = True) -> dict[str, Any]:
    given = {"cluster": "c", "group_id": group, "started_at": begin, "ended_at": end, "is_open": is_open}
    told = {"pattern": "crash_loop", "severity": "critical", "main_trigger": "member_left", "rebalance_count": 9}
    return complete(
        "rebalance_storms", {**given, **told, "pattern_share": 1.0, "advice": f"stop {group}", "evidence": []}
    )


WINDOWS = {name for name in GROUP_HEALTH.columns if name.endswith(("_rebalance_count", "_unstable_ms"))}


def health(group: str) -> dict[str, Any]:
    counts = dict.fromkeys(WINDOWS, 2)
    told = {"at": NOW, "state": "Stable", "group_type": "classic", "has_assignments": True, "has_commits": True}
    return complete("group_health", {"cluster": "c", "group_id": group, **told, **counts, "evidence": []})


@pytest.fixture
def open_job(spark: Any, tmp_path: Path) -> OpenJob:
    def opened(**findings: Any) -> Job:
        names = {"json_lines": str(tmp_path / "f.jsonl"), "prometheus": str(tmp_path / "f.prom"), **findings}
        settings = Settings(
            cluster="c", lake=LakeSettings(root=str(tmp_path / "lake")), findings=FindingsSettings(**names)
        )
        lake = Lake(spark, settings.lake.root, "", "c")
        lake.open()
        lake.create([*FINDINGS, GROUP_HEALTH])
        return Job(settings, lake, Report(), Namespace())

    return opened


def found(job: Job, *storms: dict[str, Any]) -> None:
    """Put storms into the lake in the place of those there are."""
    job.lake.replace(REBALANCE_STORMS, to_frame(job.spark, REBALANCE_STORMS, list(storms)))


def orphaned(job: Job, ends: float | None) -> None:
    """Put two partitions into the lake that nobody has had since second 5."""
    known = {"cluster": "c", "group_id": "shop", "life": 1, "group_type": "consumer", "generation": 3}
    told = {**known, "member_id": "m", "topic": "t", "from_at": 5000.0, "to_at": ends, "is_settled": True}
    rows = [complete("orphaned_partitions", {**told, "partition": number}) for number in range(2)]
    job.lake.replace(ORPHANED_PARTITIONS, to_frame(job.spark, ORPHANED_PARTITIONS, rows))


def lines(job: Job) -> dict[str, bool]:
    """Groups in the file, and whether their finding is new."""
    text = Path(job.settings.findings.json_lines).read_text(encoding="ascii")
    return {row["group_id"]: row["is_new"] for row in map(json.loads, text.splitlines())}


def test_what_nobody_has_in_a_stable_group_is_a_metric_until_somebody_has_it(open_job: OpenJob) -> None:
    job = open_job()

    def metrics(ends: float | None) -> str:
        orphaned(job, ends)
        hand_over(job)
        return Path(job.settings.findings.prometheus).read_text(encoding="utf-8")

    open_ones = metrics(None)
    assert 'rebalance_orphaned_partitions{cluster="c",type="consumer"} 2\n' in open_ones
    assert 'rebalance_group_orphaned_partitions{cluster="c",group="shop"} 2\n' in open_ones
    assert 'rebalance_group_orphaned_since_timestamp_seconds{cluster="c",group="shop"} 5\n' in open_ones
    over = metrics(9000.0)
    assert 'rebalance_orphaned_partitions{cluster="c",type="consumer"} 0\n' in over
    assert 'group="shop"' not in over


def test_the_end_of_a_run_names_groups_of_which_nobody_has_some_partitions(
    open_job: OpenJob, capsys: pytest.CaptureFixture[str]
) -> None:
    job = open_job()

    def said(ends: float | None) -> str:
        orphaned(job, ends)
        summarise(job)
        return capsys.readouterr().out

    assert "  shop: 2 partitions, the first since 1970-01-01 00:00:05\n" in said(None)
    assert "shop" not in said(9000.0)


def test_what_a_run_saw_first_is_new_in_that_run_alone(open_job: OpenJob) -> None:
    job = open_job()
    job.lake.replace(GROUP_HEALTH, to_frame(job.spark, GROUP_HEALTH, [health(EVIL)]))
    found(job, storm(EVIL, NOW - 60_000))
    hand_over(job)
    assert lines(job) == {EVIL: True}
    metrics = Path(job.settings.findings.prometheus).read_text(encoding="utf-8")
    assert r'group="shop\\x1b[31m\"\\n\\\\"' in metrics
    assert 'rebalance_findings_new{cluster="c",kind="rebalance_storm"} 1\n' in metrics
    assert 'rebalance_groups{cluster="c",type="classic",state="Stable"} 1\n' in metrics
    assert "\x1b" not in metrics
    hand_over(job)
    assert lines(job) == {EVIL: False}
    assert 'kind="rebalance_storm"} 0\n' in Path(job.settings.findings.prometheus).read_text(encoding="utf-8")
    found(job, storm(EVIL, NOW - 90_000), storm("other", NOW - 60_000))
    hand_over(job)
    assert lines(job) == {EVIL: False, "other": True}


def test_what_is_new_is_not_lost_when_a_run_breaks_off_at_any_step(
    open_job: OpenJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It breaks off before the file, between the two files, and before the table."""
    job = open_job()
    found(job, storm("shop", NOW - 60_000))
    for step in ("_put_lines", "put_metrics", "_remember"):
        with monkeypatch.context() as broken:
            broken.setattr(handing_over, step, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
            with pytest.raises(KeyboardInterrupt):
                hand_over(job)
    hand_over(job)
    assert lines(job) == {"shop": True}
    assert sorted(path.name for path in Path(job.settings.findings.json_lines).parent.glob("*f.*")) == [
        "f.jsonl",
        "f.prom",
    ]


def test_old_findings_go_from_the_files_but_for_those_that_are_open_or_new(open_job: OpenJob) -> None:
    job = open_job(days=1)
    job.lake.progress.note("rebuild_timelines", [], {"newest": {"offsets": NOW}, "horizon": NOW - 60_000})
    old = NOW - 9 * 86_400_000
    storms = (
        storm("old", old, old + 5, is_open=False),
        storm("open", old, old + 5),
        storm("late", NOW - 5, is_open=False),
    )
    found(job, *storms)
    hand_over(job)
    assert lines(job) == {"old": True, "open": True, "late": True}
    hand_over(job)
    assert lines(job) == {"open": False, "late": False}
    metrics = Path(job.settings.findings.prometheus).read_text(encoding="utf-8")
    assert f'rebalance_horizon_timestamp_seconds{{cluster="c"}} {(NOW - 60_000) / 1000:.0f}\n' in metrics


def test_findings_are_known_though_no_file_is_written_and_a_place_that_is_gone_is_told_of(
    open_job: OpenJob, tmp_path: Path
) -> None:
    job = open_job(json_lines="", prometheus="")
    found(job, storm("shop", NOW - 60_000))
    hand_over(job)
    assert not list(tmp_path.glob("f.*"))
    job = open_job()
    hand_over(job)
    assert lines(job) == {"shop": False}
    (tmp_path / "gone").mkdir()
    job = open_job(json_lines=str(tmp_path / "gone" / "f"))
    shutil.rmtree(tmp_path / "gone")
    with pytest.raises(LakeError, match=r"findings\.json_lines = .*cannot be written"):
        hand_over(job)


def test_the_health_of_groups_with_news_and_of_those_that_age_is_told_anew_and_others_stay(open_job: OpenJob) -> None:
    job = open_job()
    rows = [
        complete(
            "transitions",
            {
                "cluster": "c",
                "group_id": group,
                "seq": 1,
                "at": NOW,
                "to_state": "Stable",
                "event": "x",
                "is_settled": True,
            },
        )
        for group in ("news", "ageing", "resting")
    ]
    job.lake.replace(TRANSITIONS, to_frame(job.spark, TRANSITIONS, rows))
    before = [health("ageing"), {**health("resting"), **dict.fromkeys(WINDOWS, 0)}]
    job.lake.replace(GROUP_HEALTH, to_frame(job.spark, GROUP_HEALTH, before))
    look_at_health(job, ["news"], NOW + 5000)
    at = {row["group_id"]: row["at"] for row in collected(job.lake.read(GROUP_HEALTH))}
    assert at == {"news": NOW + 5000, "ageing": NOW + 5000, "resting": NOW}
    look_at_health(job, None, NOW + 9000)
    assert {row["at"] for row in collected(job.lake.read(GROUP_HEALTH))} == {NOW + 9000}


def test_where_too_many_groups_age_they_grow_older_by_what_is_known_of_them(
    open_job: OpenJob, many_groups: None
) -> None:
    """Of one there is no more than its row: nobody looks for what it was told from. Of others all is looked at."""
    job = open_job()
    entered = {"life": 1, "seq": 1, "at": NOW, "to_state": "Stable", "event": "x", "is_settled": True}
    rows = [complete("transitions", {"cluster": "c", "group_id": "news", **entered})]
    job.lake.replace(TRANSITIONS, to_frame(job.spark, TRANSITIONS, rows))
    ageing = [health(f"ageing-{number}") for number in range(3)]
    both = {**health("looked at"), "offsets_kept_by": "both"}
    job.lake.replace(GROUP_HEALTH, to_frame(job.spark, GROUP_HEALTH, [*ageing, both]))
    look_at_health(job, ["news"], NOW + 5000)
    found = {row["group_id"]: row for row in collected(job.lake.read(GROUP_HEALTH))}
    assert sorted(found) == ["ageing-0", "ageing-1", "ageing-2", "news"]
    for old in ageing:
        row = found[old["group_id"]]
        assert (row["at"], row["week_rebalance_count"], row["week_unstable_ms"]) == (NOW + 5000, 0, 0)
        assert {name for name, value in row.items() if value != old[name]} <= {"at"} | WINDOWS


def test_a_group_is_described_with_what_is_amiss_and_its_name_does_nothing_to_the_terminal(
    open_job: OpenJob, capsys: pytest.CaptureFixture[str]
) -> None:
    from jobs import describe_group

    job = open_job()
    entered = {"life": 1, "seq": 1, "at": NOW - 9000, "to_state": "PreparingRebalance", "event": "member_added"}
    rows = [complete("transitions", {"cluster": "c", "group_id": EVIL, "generation": 3, "is_settled": True, **entered})]
    job.lake.replace(TRANSITIONS, to_frame(job.spark, TRANSITIONS, rows))
    job.lake.replace(GROUP_HEALTH, to_frame(job.spark, GROUP_HEALTH, [health(EVIL), health("checkout")]))
    found(job, storm(EVIL, NOW - 60_000))
    arguments = ["--cluster=c", f"--lake.root={job.settings.lake.root}"]
    assert describe_group.main([*arguments, f"--group={EVIL}"]) == 0
    told = capsys.readouterr().out
    assert r"shop\x1b[31m" in told
    assert "\x1b" not in told
    assert "PreparingRebalance, since 2025-11-20 10:59:51.000, for 9.0 s" in told
    assert "rebalance storm, crash_loop" in told
    assert describe_group.main([*arguments, f"--group={EVIL}", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["group_id"], document["state"], document["in_state_ms"]) == (EVIL, "PreparingRebalance", 9000)
    assert [finding["pattern"] for finding in document["findings"]] == ["crash_loop"]
    assert describe_group.main([*arguments, f"--group={EVIL}", f"--at={NOW - 3600_000:.0f}"]) == ExitCode.BAD_SETTINGS
    assert "it is first seen at 2025-11-20 10:59:51" in capsys.readouterr().err
    assert describe_group.main([*arguments, "--group=chekout"]) == ExitCode.BAD_SETTINGS
    assert "there is no group chekout in cluster c; near names: checkout" in capsys.readouterr().err
    assert describe_group.main([*arguments, "--group=shop"]) == ExitCode.BAD_SETTINGS
    assert r"near names: shop\x1b[31m" in capsys.readouterr().err


def test_a_group_that_has_but_offsets_is_empty_to_its_coordinator(
    open_job: OpenJob, capsys: pytest.CaptureFixture[str]
) -> None:
    from jobs import describe_group

    job = open_job()
    commit = complete("offset_commits", {"cluster": "c", "group_id": "assigned", "recorded_at": NOW, "topic": "t"})
    commit |= {"topic_partition_of_record": 1, "record_offset": 1, "partition": 0, "loaded_at": NOW}
    job.lake.replace(OFFSET_COMMITS, to_frame(job.spark, OFFSET_COMMITS, [commit]))
    arguments = ["--cluster=c", f"--lake.root={job.settings.lake.root}", "--group=assigned"]
    assert describe_group.main(arguments) == 0
    assert "never seen with members" in capsys.readouterr().out
