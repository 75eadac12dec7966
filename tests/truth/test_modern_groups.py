"""Consumer, share and streams groups of a real broker: the tables of the replay against what it described."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path

import pytest

from schemas.catalog import BY_NAME
from schemas.tables.gold import REPLAYED
from tests.support.captures import MODERN, MODERN_EARLIER, MODERN_FAILOVER, MODERN_POLICIES
from tests.support.pure_pipeline import (
    Row,
    Tables,
    evidence_by_group,
    modern_by_group,
    read_silver,
    replay,
    run_pipeline,
)
from tests.truth.described_groups import SLACK_MS, described, standing_told, timelines, topics_of
from tests.truth.test_captures_cut_anywhere import MOST_BYTES
from tests.unit.coordinator.test_batch import batches
from tests.unit.coordinator.test_batch import counted as counted_rows
from tests.unit.coordinator.test_fold import counted, folded, items_of
from transforms.coordinator.replay import typed_evidence, typed_records
from transforms.coordinator.timeline.audit import WHY_BROKER, WHY_EITHER, WHY_UNREPLICATED

_LEAST = {
    "modern-4.2.0": (1_100, 130),
    "modern-4.1.1": (1_100, 130),
    "modern-3.9.1": (500, 0),
    "modern-chaos-4.2.0": (350, 40),
    "modern-failover-4.1.1": (40, 0),
    "modern-policy-disabled-4.2.0": (50, 0),
    "modern-policy-upgrade-4.2.0": (100, 0),
    "modern-policy-downgrade-4.2.0": (10, 0),
}
"""How many describes of consumer groups, and of share and of streams groups, are compared at least."""


def test_a_group_that_stands_still_is_as_the_broker_described_it(folder: Path, tables: Tables):
    known, compared = timelines(tables, topics_of(folder)), Counter[str]()
    for line in described(folder):
        timeline = known[line["group"], line["gtype"]]
        since, until = line["t0"] * 1000 - SLACK_MS, line["t1"] * 1000 + SLACK_MS
        if timeline.stands_still(since, until):
            assert timeline.at(until) == standing_told(line), line
            compared[line["gtype"]] += 1
    assert compared["CONSUMER"] >= _LEAST[folder.name][0]
    assert min(compared["SHARE"], compared["STREAMS"]) >= _LEAST[folder.name][1], compared


# --- the rows among themselves ---------------------------------------------------------------------------------------


def test_rows_have_keys_of_their_own_and_all_that_is_never_null(tables: Tables):
    for spec in REPLAYED:
        keys = Counter(tuple(row[name] for name in spec.key) for row in tables[spec.name])
        assert not spec.key or not [key for key, count in keys.items() if count > 1], spec.name
        assert not [row for row in tables[spec.name] if any(row[name] is None for name in spec.not_null)], spec.name


def test_nobody_loses_a_partition_in_a_conversion(folder: Path, tables: Tables):
    """The next life begins when the one before ends, with the same owners."""
    lives = defaultdict(list)
    for row in sorted(tables["generations"], key=lambda row: (row["life"], row["generation"])):
        lives[row["group_id"], row["life"]].append(row)
    owned = defaultdict(set)
    for row in tables["assignments"]:
        if row["hold"] == "owned":
            owned[row["group_id"], row["life"], row["valid_from"]].add((row["topic"], row["partition"]))
    found = 0
    for (group, life), rows in lives.items():
        first = rows[0]
        if first["trigger"] != "converted" or first["bump_count"] or (group, life - 1) not in lives:
            continue
        began = first["stable_at"]
        ended = max(row["ended_at"] or 0 for row in lives[group, life - 1])
        assert began == ended, (group, life)
        found += bool(owned[group, life, began])
    assert found or folder.name in MODERN_POLICIES  # by which only empty groups may be converted


def test_a_history_may_be_cut_anywhere(tables: Tables):
    """Rows of all parts are those of the whole, whether the state is put down in between or not."""
    dice, modern = random.Random(5), modern_by_group(tables)
    for group, rows in sorted(evidence_by_group(tables).items()):
        stored, lines, asked = typed_evidence(*rows)
        evidence = ([*stored, *typed_records(modern.get(group, ()))], lines, asked)
        whole, _ = folded(items_of(evidence), [])
        items = items_of(evidence)
        cuts = dice.sample(range(len(items) + 1), min(6, len(items) + 1))
        parts, sizes = folded(items, cuts)
        assert counted(parts) == counted(whole), group
        assert max(sizes) < MOST_BYTES


def test_batches_out_of_order_end_in_the_rows_of_one(tables: Tables):
    """Of every other group as time goes by with nothing new of it."""
    dice, modern = random.Random(7), modern_by_group(tables)
    for number, (group, rows) in enumerate(sorted(evidence_by_group(tables).items())[::2]):
        stored, lines, asked = typed_evidence(*rows)
        evidence = ([*stored, *typed_records(modern.get(group, ()))], lines, asked)
        several, one = batches(evidence, dice, 4, is_late=True, waits=number % 2 == 1)
        assert counted_rows(several.all_rows()) == counted_rows(one.all_rows()), group


_SAID_MORE = {
    "generations": {"trigger", "reason", "client_reason", "is_inferred", "protocol", "assignor", "evidence"},
    "member_sessions": {"end_cause", "previous_member_id"},  # lines tell of classic members whom no record names
}
"""What lines say beside the records."""


def test_lines_say_why_members_went_and_contradict_nothing_that_records_say(folder: Path, tables: Tables):
    silver = read_silver(folder)
    alone = replay({name: [] if name in ("coordinator_events", "group_requests") else silver[name] for name in silver})
    refined = Counter[str]()
    for name in ("generations", "generation_members", "assignments", "reconciliations", "member_sessions"):
        less, more = (_of_epochs(rows[name]) for rows in (alone, tables))
        assert less.keys() == more.keys(), name
        for key, row in less.items():
            said = {column for column, value in row.items() if value != more[key][column]}
            assert said - {"is_settled", "settled_at", "life"} <= _SAID_MORE.get(name, set()), (name, key, said)
            if "assignor" in said:  # several would have given the same, and the line says which one did
                assert {row["assignor"], more[key]["assignor"]} == {"uniform", "range"}
            if "trigger" in said:
                assert row["trigger"] == "member_removed"
                refined[more[key]["trigger"]] += 1
    assert refined["member_left"] >= 1
    assert not [row for row in tables["member_sessions"] if row["end_cause"] == "removed"]


def test_targets_are_known_by_the_assignor_that_the_broker_says_computed_them(folder: Path, tables: Tables):
    """Whatever epoch the log tells of; and the broker of these captures has no other assignors."""
    epochs = {
        (row["group_id"], row["generation"], row["completing_at"]): row
        for row in tables["generations"]
        if row["group_type"] == "consumer" and row["completing_at"] is not None
    }
    assert not [key for key, row in epochs.items() if row["assignor"] not in (row["protocol"], None)]
    told = [row for row in epochs.values() if row["protocol"] is not None and row["partitions_total"]]
    assert told and sum(row["assignor"] is not None for row in told) >= 0.99 * len(told)


def _of_epochs(rows: list[Row]) -> dict[tuple[object, ...], Row]:
    """Rows of groups that are no classic ones, by what tells them apart whatever the count of lives."""
    names = ("group_id", "generation", "member_id", "stay", "topic", "partition", "hold", "seq")
    found: dict[tuple[object, ...], Row] = {}
    for row in rows:
        if row["group_type"] != "classic":
            began = next(
                row[each] for each in ("preparing_at", "valid_from", "joined_at", "from_at", "told_at") if each in row
            )
            found[(*(row.get(name) for name in names), began)] = row
    return found


# --- what it answered ------------------------------------------------------------------------------------------------

_CALM_SHARE, _CHAOTIC_SHARE, _MOST_RACES = 0.999, 0.995, 0.01
_MOST_USED_IN_FAILOVERS = 0.01
_HEARTBEATS = ("ConsumerGroupHeartbeat", "ShareGroupHeartbeat", "StreamsGroupHeartbeat")


def _audited(tables: Tables) -> list[Row]:
    return [row for row in tables["replay_audit"] if row["group_type"] != "classic"]


def test_the_machine_answers_as_the_broker_did(folder: Path, tables: Tables):
    rows = [row for row in _audited(tables) if row["why"] != WHY_BROKER]
    agreed, races = (
        sum(bool(row[name] == value) for row in rows) for name, value in (("agrees", True), ("why", "race"))
    )
    least = _CALM_SHARE if folder.name in (*MODERN, *MODERN_EARLIER) else _CHAOTIC_SHARE
    assert agreed >= least * len(rows), Counter((row["api"], row["why"]) for row in rows if not row["agrees"])
    assert races <= _MOST_RACES * len(rows)
    used = [row for row in rows if row["is_answer_used"]]
    assert len(used) <= (_MOST_USED_IN_FAILOVERS * len(rows) if folder.name in MODERN_FAILOVER else 0)
    assert {row["why"] for row in used} <= {WHY_EITHER, WHY_UNREPLICATED}


def test_what_brokers_answer_that_do_not_coordinate_a_group_is_foreseen(folder: Path, tables: Tables):
    refused = [row for row in _audited(tables) if row["observed_error"] in (14, 15, 16)]
    assert not [row for row in refused if row["agrees"] is not True]
    assert not refused or folder.name in MODERN_FAILOVER
    assert {row["observed_error"] for row in refused} == ({14, 15, 16} if folder.name in MODERN_FAILOVER else set())


def test_classic_groups_that_are_converted_answer_as_foreseen(folder: Path, tables: Tables):
    """Whoever asks meets the group as it was by then, however often it changed its type."""
    rows = [row for row in tables["replay_audit"] if row["group_type"] == "classic" and row["why"] != WHY_BROKER]
    least = _CALM_SHARE if folder.name in (*MODERN, *MODERN_EARLIER) else _CHAOTIC_SHARE
    doubted = [row for row in rows if row["agrees"] is not True]
    assert len(doubted) <= max(1, (1 - least) * len(rows)), Counter((row["api"], row["why"]) for row in doubted)
    assert sum(row["is_answer_used"] for row in rows) <= max(2, 0.03 * len(rows))


def test_what_streams_groups_answer_is_foreseen(folder: Path, tables: Tables):
    rows = [row for row in _audited(tables) if row["api"] == "StreamsGroupHeartbeat"]
    assert len(rows) >= {"modern-4.2.0": 133, "modern-4.1.1": 135, "modern-chaos-4.2.0": 413}.get(folder.name, 0)
    assert not [row for row in rows if row["agrees"] is False]
    least = _CALM_SHARE if folder.name in (*MODERN, *MODERN_EARLIER) else _CHAOTIC_SHARE
    assert sum(row["agrees"] is True for row in rows) >= least * len(rows)
    assert all(row["is_assignment_agreed"] for row in rows if row["is_assignment_agreed"] is not None)
    told = [row for row in tables["group_requests"] if row["api"] == "StreamsGroupHeartbeat" and row["told_active"]]
    assert sum(row["is_assignment_agreed"] is True for row in rows) >= len(told)


def test_every_heartbeat_has_its_row(tables: Tables):
    asked = Counter(row["api"] for row in tables["group_requests"] if row["api"] in _HEARTBEATS)
    assert Counter(row["api"] for row in _audited(tables) if row["api"] in _HEARTBEATS) == asked


def test_assignments_are_as_the_broker_told_them(tables: Tables):
    rows = [row for row in _audited(tables) if row["is_assignment_agreed"] is not None]
    assert len(rows) >= 8
    assert all(row["is_assignment_agreed"] for row in rows)


def test_members_of_the_classic_protocol_are_told_what_is_foreseen(tables: Tables):
    """Whose SyncGroup a consumer group answers; a wrong partition in it is found."""
    kept = [row for row in _audited(tables) if row["api"] == "SyncGroup" and not row["observed_error"]]
    assert len(kept) >= 9
    assert all(row["is_assignment_agreed"] for row in kept)
    places, requests = {_place(row) for row in kept}, list(tables["group_requests"])
    lies = set()
    for index, row in enumerate(requests):
        told = row["answered_assignment"]
        if _place(row) in places and len(told) > _EMPTY_ASSIGNMENT and len(lies) < 20:
            requests[index] = {**row, "answered_assignment": told[:-8] + (77).to_bytes(4, "big") + told[-4:]}
            lies.add(_place(row))
    lied = [row for row in replay({**tables, "group_requests": requests})["replay_audit"] if _place(row) in lies]
    assert lies and len(lied) == len(lies)
    assert not [row for row in lied if row["agrees"] is not False]


_EMPTY_ASSIGNMENT = 2 + 4 + 4
"""Bytes of one: version, number of topics, and the length of user data, which follow the last partition."""


@pytest.mark.parametrize(
    ("api", "told"), [("ConsumerGroupHeartbeat", "told"), ("StreamsGroupHeartbeat", "told_active")]
)
def test_a_prediction_can_be_wrong(folder: Path, api: str, told: str):
    """An answer that the broker did not give is found, whatever it is about."""
    silver = read_silver(folder)
    places = [place for place, row in enumerate(silver["group_requests"]) if row["api"] == api and row[told]]
    if not places and folder.name in (*MODERN_POLICIES, "modern-3.9.1"):
        pytest.skip("nobody spoke that protocol there")
    lies: tuple[Row, ...] = (
        {"error_code": 110, "answered_generation": None},
        {"answered_generation": 999},
        {told: []},
    )
    requests, lied = list(silver["group_requests"]), {}
    for place, lie in zip(places[-3:], lies, strict=False):
        requests[place] = {**requests[place], **lie}
        lied[_place(requests[place])] = lie
    rows = [row for row in replay({**silver, "group_requests": requests})["replay_audit"] if _place(row) in lied]
    assert rows and len(rows) == len(lied)
    assert not [lied[_place(row)] for row in rows if row["agrees"] is not False]


_LATE_MS = 500
_MOST_TURNED, _MOST_USED = 0.002, 0.004


@pytest.mark.parametrize("name", ["modern-4.2.0", "modern-4.1.1"])
def test_late_lines_of_the_request_log_cast_no_doubt_on_what_they_tell(name: str, capture_dir: Callable[[str], Path]):
    """Every line is late by up to half a second, each by its own; lines and records of the group are not."""
    silver, dice, tables = read_silver(capture_dir(name)), random.Random(17), run_pipeline(capture_dir(name))
    lag: dict[tuple[str, int], int] = defaultdict(lambda: dice.randint(0, _LATE_MS))
    requests = [_later(row, lag[row["source_file"], row["line_number"]]) for row in silver["group_requests"]]
    honest = {_place(row) for row in _audited(tables) if row["agrees"]}
    late = {_place(row): row for row in _audited(replay({**silver, "group_requests": requests}))}
    turned = [place for place in honest if place not in late or not late[place]["agrees"]]
    used = [row for row in late.values() if row["is_answer_used"]]
    assert len(turned) <= _MOST_TURNED * len(honest), (len(turned), len(honest))
    assert len(used) <= _MOST_USED * len(honest), (len(used), len(honest))
    assert all(row["why"] for row in used)


def _later(row: Row, lag: int) -> Row:
    """Return a request as its line tells of it that was printed late: all its times follow from that of the line."""
    times = ("received_at", "handled_at", "answered_at")
    return {**row, **{name: None if row[name] is None else row[name] + lag for name in times}}


def _place(row: Row) -> tuple[str, int, int]:
    return row["source_file"], row["line_number"], row["seq"]


# --- what is missing or odd -------------------------------------------------------------------------------------------

_ODD_BODIES = (None, "{}", "[]", "nonsense", '{"epoch":-5}', '{"memberEpoch":3,"previousMemberEpoch":1,"state":77}')


def test_records_that_are_missing_or_odd_are_lived_with(folder: Path):
    """Nothing fails, and what is told still has a life and an epoch of its own."""
    silver, dice = read_silver(folder), random.Random(11)
    records = [dict(row) for row in silver["modern_group_records"] if dice.random() > 0.15]
    for row in dice.sample(records, len(records) // 8):
        odd: tuple[Row, ...] = (
            {"body": dice.choice(_ODD_BODIES)},
            {"is_tombstone": True, "body": None},
            {"member_id": "ghost"},
            {"record_type": dice.choice((0, 2, 3, 9, 11, 17, 99))},
            {"recorded_at": None},
            {"recorded_at": row["recorded_at"] + dice.choice((-5_000, -20, 3, 800))},
        )
        row.update(dice.choice(odd))
    classic = [row for row in silver["group_metadata"] if dice.random() > 0.3]
    lines = [row for row in silver["coordinator_events"] if dice.random() > 0.2]
    requests = [row for row in silver["group_requests"] if dice.random() > 0.2]
    found = replay(
        {
            **silver,
            "modern_group_records": records,
            "group_metadata": classic,
            "coordinator_events": lines,
            "group_requests": requests,
        }
    )
    for name in ("generations", "generation_members", "transitions", "member_sessions"):
        keys = Counter(tuple(row[each] for each in BY_NAME[name].key) for row in found[name])
        assert keys.total() > 10
        assert not [key for key, count in keys.items() if count > 1], name
