"""Groups of epochs as the job describes them, out of the few rows that it reads of a lake."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from jobs.describing.reading import Asked, offset_use_of, standing_of
from jobs.lake.lake import Lake
from schemas.catalog import BY_NAME
from schemas.rows import AssignmentRow, GenerationRow
from schemas.table import Layer, TableSpec
from schemas.tables.gold import STANDING_COMMITS, TRANSITIONS
from schemas.tables.silver import OFFSET_COMMITS, TOPIC_NAMES
from tests.support.answers import answered
from tests.support.captures import MODERN
from tests.support.frames import to_frame, to_rows
from tests.support.pure_pipeline import Tables, run_pipeline, topic_names
from tests.support.searches import stand
from tests.truth.test_described_epochs import Told, snapshots_of
from tests.unit.findings.golden import complete
from transforms.findings.description.standing import Standing
from transforms.findings.evidence import Commit, Request
from transforms.findings.offsets.keeping import GOES_ON, SLACK_MS, keeping_of, use_of
from transforms.gold.group_health import group_health

pytestmark = pytest.mark.spark

GROUPS = ("etl-slow", "ledger-static", "flow-raw", "share-pay")
READ = (
    "generations",
    "generation_members",
    "assignments",
    "reconciliations",
    "orphaned_partitions",
    "transitions",
    "member_sessions",
    "offset_commits",
    "modern_group_records",
)


@pytest.fixture(scope="module")
def tables(capture_dir: Callable[[str], Path]) -> Tables:
    return run_pipeline(capture_dir(MODERN[0]))


@pytest.fixture(scope="module")
def told(capture_dir: Callable[[str], Path], tables: Tables) -> list[Told]:
    """Snapshots of some groups, each of another kind: what was going on, and how far the targets were behind."""
    found = {}
    for each in snapshots_of(capture_dir(MODERN[0]), tables):
        if each.line["group"] in GROUPS and any(member.wait for member in each.members.values()):
            found.setdefault((each.line["gtype"], each.line["state"]), each)
        if each.line["group"] in GROUPS and any(member["epoch"] == -2 for member in each.line["members"].values()):
            found.setdefault((each.line["gtype"], "away"), each)
        if each.line["group"] in GROUPS and each.shares is not None and each.shares.initialised:
            found.setdefault((each.line["gtype"], "shares"), each)
    return list(found.values())


def filled(spark: Any, root: Path, tables: Tables, groups: tuple[str, ...] = GROUPS) -> Lake:
    lake = Lake(spark, str(root), "", "demo")
    lake.open()
    for name in READ:
        spec = BY_NAME[name]
        rows = [dict(row) for row in tables[name] if row["group_id"] in groups]
        for row in rows if spec.layer is Layer.SILVER else ():
            row |= {"loaded_at": 0.0, **({"txn_state": "none"} if name == "offset_commits" else {})}
        lake.replace(spec, to_frame(spark, spec, rows))
    names = [{"cluster": "demo", "topic_id": each, "topic": name} for each, name in topic_names(tables).items()]
    lake.replace(TOPIC_NAMES, to_frame(spark, TOPIC_NAMES, [{**row, "loaded_at": 0.0} for row in names]))
    return lake


def asked(read: Callable[[TableSpec], DataFrame], group: str, at: float) -> Asked:
    return Asked(read, group, F.timestamp_micros(F.lit(round(at * 1000))), at)


def test_a_group_of_epochs_is_described_as_the_broker_described_it(
    spark: Any, tmp_path: Path, tables: Tables, told: list[Told], capsys: pytest.CaptureFixture[str]
) -> None:
    """The few rows that are read tell the same as all of them, which are compared with the broker elsewhere."""
    from jobs import describe_group

    lake = filled(spark, tmp_path, tables)
    assert len(told) >= 4
    assert any(each.shares for each in told) and any(each.topology for each in told)
    for each in told:
        state = {"group_type": each.line["gtype"].lower(), "life": 1, "state": each.standing.state}
        there = [
            {"member_id": name, "group_instance_id": member.get("instance")}
            for name, member in each.line["members"].items()
        ]
        assert standing_of(asked(lake.read, each.line["group"], each.at), state, there) == Standing(
            each.epochs, each.members, share_partitions=each.shares, topology=each.topology
        )
    line = told[0].line
    arguments = ["--cluster=demo", f"--lake.root={tmp_path}", f"--group={line['group']}", f"--at={told[0].at:.0f}"]
    assert describe_group.main([*arguments, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["group_type"] == line["gtype"].lower()
    assert (document["group_epoch"], document["assignment_epoch"]) == (line["epoch"], line["assignment_epoch"])
    assert {each["member_id"]: each["member_epoch"] for each in document["members"]} == {
        name: member["epoch"] for name, member in line["members"].items()
    }
    assert document["offsets"]["kept_by"] == "members"
    assert describe_group.main(arguments) == 0
    text = capsys.readouterr().out
    assert f"epoch       {line['epoch']} of life 1, targets computed" in text
    assert "waits for" in text and "is still to give up" in text


def test_what_nobody_has_in_a_stable_group_is_described_for_as_long_as_it_lasts(
    spark: Any, tmp_path: Path, tables: Tables, capsys: pytest.CaptureFixture[str]
) -> None:
    from jobs import describe_group

    group = "logs-regex"
    filled(spark, tmp_path, tables, (group,))
    rows = [row for row in tables["orphaned_partitions"] if row["group_id"] == group]
    first = min(row["from_at"] for row in rows)
    expected = {(row["topic"], row["partition"], row["member_id"]) for row in rows if row["from_at"] == first}
    after = min(row["to_at"] for row in rows)
    arguments = ["--cluster=demo", f"--lake.root={tmp_path}", f"--group={group}"]

    def orphaned(at: float) -> set[tuple[str, int, str]]:
        assert describe_group.main([*arguments, f"--at={at:.0f}", "--json"]) == 0
        told = json.loads(capsys.readouterr().out)["orphaned"]
        return {
            (topic["topic"], number, each["member_id"])
            for each in told
            for topic in each["partitions"]
            for number in topic["partitions"]
        }

    assert len(expected) == 5
    assert (orphaned(first - 1), orphaned(first + 1000), orphaned(after)) == (set(), expected, set())
    assert describe_group.main([*arguments, f"--at={first + 1000:.0f}"]) == 0
    assert "orphaned    nobody has " in capsys.readouterr().out


def history(seed: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """A group that is empty now and then, whose partitions are committed by members, and by others."""
    dice = random.Random(seed)
    for generation in range(1, 9):
        begin = generation * 60_000.0
        row = {"life": 1, "generation": generation, "trigger": "member_joined", "evidence": [], "is_inferred": False}
        row |= {"missing_before": 0, "bump_count": 1, "group_type": "classic", "ended_at": begin + 60_000}
        if dice.random() < 0.4:
            yield "generations", {**row, "emptied_at": begin}
            continue
        yield "generations", {**row, "stable_at": begin}
        for partition in range(4):
            whose = {"member_id": f"m-{partition}", "client_id": f"c-{partition}", "hold": "owned"}
            held = {"valid_from": begin, "valid_to": begin + 60_000, "topic": "t", "partition": partition}
            yield "assignments", {"life": 1, "generation": generation, "group_type": "classic", **whose, **held}
    for _ in range(dice.choice((0, 12, 60))):
        at = 60_000.0 + dice.randrange(480) * 1000 + dice.choice((0.0, SLACK_MS))
        state = {"txn_state": dice.choice(("none", "none", "none", "aborted")), "is_tombstone": dice.random() < 0.1}
        place = {"topic": "t", "partition": dice.choice((0, 1, 2, 3, 9)), "committed_offset": 1}
        yield "offset_commits", {**place, **state, "recorded_at": at}


@pytest.mark.parametrize("seed", [0, 1, 3])
@pytest.mark.parametrize("has_log", [False, True])
def test_the_few_commits_that_are_read_tell_who_keeps_the_offsets_as_all_of_them_do(
    spark: Any, seed: int, has_log: bool
) -> None:
    rows: dict[str, list[dict[str, Any]]] = {"generations": [], "assignments": [], "offset_commits": []}
    for name, row in history(seed):
        place = {"topic_partition_of_record": 0, "record_offset": len(rows[name]), "loaded_at": 0.0}
        more = {key: value for key, value in place.items() if name == "offset_commits"}
        rows[name].append(complete(name, {"cluster": "demo", "group_id": "g", "is_settled": True, **row, **more}))
    rows["group_requests"] = list(requests(seed)) if has_log else []
    taken = [row for row in rows["offset_commits"] if not row["is_tombstone"] and row["txn_state"] != "aborted"]
    whole = use_of(
        [convert(row, AssignmentRow) for row in rows["assignments"]],
        [convert(row, GenerationRow) for row in rows["generations"]],
        [convert(row, Commit) for row in taken],
        [convert(row, Request) for row in rows["group_requests"]],
    )
    given = {name: rows.get(name, []) for name in (*rows, "member_sessions")}
    frames = {BY_NAME[name]: to_frame(spark, BY_NAME[name], of) for name, of in given.items()}
    found = offset_use_of(asked(frames.__getitem__, "g", 1e12), "classic")
    assert found is not None
    assert keeping_of(found) == keeping_of(whole)
    if not has_log:  # how many there are beyond those that decide is not counted
        found, whole = (
            msgspec.structs.replace(use, free_commits=min(use.free_commits, GOES_ON)) for use in (found, whole)
        )
    assert found == whole
    there = complete("transitions", {"cluster": "demo", "group_id": "g", "life": 1, "seq": 1, "to_state": "Stable"})
    frames[TRANSITIONS] = to_frame(spark, TRANSITIONS, [there])
    frames[STANDING_COMMITS] = to_frame(spark, STANDING_COMMITS, to_rows(stand(frames, 1e6)))
    for commits in (OFFSET_COMMITS, STANDING_COMMITS):
        of_group = group_health(1e6, commits)
        tables = {spec: frames.get(spec, to_frame(spark, spec, [])) for spec in of_group.read}
        (row,) = answered(spark, of_group, tables).collect()
        assert row.offsets_kept_by == keeping_of(whole), "all of it was within a day"


def requests(seed: int) -> Iterator[dict[str, Any]]:
    dice = random.Random(seed)
    for number in range(40):
        member = dice.choice(("", "m-1"))
        sent = {"api": "OffsetCommit", "member_id": member, "generation": 3 if member else -1, "line_number": number}
        error = dice.choice(("NONE", "NONE", "UNKNOWN_MEMBER_ID"))
        whose = {
            "client_id": dice.choice(("c-1", "free-1", "free-2")),
            "error": error,
            "answered_at": 70_000.0 + number,
        }
        place = {"cluster": "demo", "group_id": "g", "source_file": "log", "seq": 0, "loaded_at": 0.0}
        yield complete("group_requests", {**place, **sent, **whose})


def convert(row: dict[str, Any], of: type[msgspec.Struct]) -> Any:
    plain = {name: row[name] for name in of.__struct_fields__ if row.get(name) is not None}
    return msgspec.convert(plain, of, strict=False)
