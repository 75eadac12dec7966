from __future__ import annotations

import re
from collections.abc import Iterable

import pytest
from msgspec.structs import replace

from tests.oracle_modern.cells import DESCRIBES, Cell, assert_described, cells
from tests.oracle_modern.consumer_probes import PROBES, request
from tests.oracle_modern.consumer_situations import (
    CLIENT,
    FOO,
    HOST,
    MADE_UP,
    elsewhere,
    machine,
    parts,
    situation,
    state_line,
    token,
    world,
)
from transforms.coordinator.consumer.machine import Machine
from transforms.coordinator.kafka.answers import Error
from transforms.coordinator.modern.elsewhere import GroupType
from transforms.coordinator.modern.machine import Outcome
from transforms.coordinator.modern.requests import Answer, Caller

ALL = list(cells("state_x_request_modern"))


def _outcome(cell: Cell, group: Machine) -> Outcome[Answer]:
    asked, version = request(cell.request, group.present)
    caller = Caller(version, CLIENT, HOST)
    return group.handle(asked, world(cell.situation), caller, elsewhere(cell.situation), MADE_UP)


ASKED = [cell for cell in ALL if cell.request in PROBES]


def test_the_table_is_read_whole():
    assert len(ALL) == 98 * 14
    assert {cell.request for cell in ALL} - set(PROBES) == {
        *DESCRIBES,
        "DeleteGroups",
        "OffsetDelete foo-0",
        "ShareGroupHeartbeat epoch 0 new member",
        "StreamsGroupHeartbeat epoch 0 new member",
    }


@pytest.mark.parametrize("cell", ASKED, ids=str)
def test_a_request_is_answered_and_writes_as_in_kafka(cell: Cell):
    group = machine(cell.situation)
    outcome = _outcome(cell, group)
    if outcome.answer is None:
        assert _is_the_classic_ones(cell)
        assert sorted(map(token, outcome.records)) == [each for each in sorted(cell.records) if each.endswith("=X")]
        return
    assert _error(outcome.answer) == cell.error.replace("NONE/NONE", "NONE") if "Commit" in cell.request else cell.error
    assert _answer(outcome.answer, cell) == _wanted_answer(cell)
    assert _comparable(map(token, outcome.records), cell) == _comparable(cell.records, cell)
    if cell.after is not None:
        assert state_line(group.present, outcome.records) == sorted(_CLASSIC_ID.sub("<new>", cell.after).split())


def _is_the_classic_ones(cell: Cell) -> bool:
    """Whether a request goes to the coordinator of classic groups, or to that of streams groups."""
    api, _, _ = cell.request.partition(" ")
    makes_simple_group = cell.situation == "ABSENT" and cell.error == "NONE/NONE"
    makes_classic_group = cell.situation in ("ABSENT", "EMPTY") and cell.error in ("PARKED", "MEMBER_ID_REQUIRED")
    is_streams_groups = cell.situation == "STREAMS" and api in ("OffsetCommit", "TxnOffsetCommit", "OffsetFetch")
    is_classic_groups = cell.situation.startswith("CLASSIC") and api != "CGHeartbeat"
    return is_classic_groups or is_streams_groups or makes_simple_group or makes_classic_group


@pytest.mark.parametrize("cell", [each for each in ALL if each.request == "DeleteGroups"], ids=str)
def test_a_group_is_deleted_only_when_it_is_empty(cell: Cell):
    if elsewhere(cell.situation).group_type is not GroupType.ABSENT:
        return
    group = machine(cell.situation)
    outcome = group.delete(world(cell.situation))
    assert outcome.answer is not None
    assert (outcome.answer.error.name, list(map(token, outcome.records))) == (cell.error, list(cell.records))
    assert (group.present is None) == (cell.situation in ("ABSENT", "EMPTY"))


@pytest.mark.parametrize("cell", [each for each in ALL if each.request in DESCRIBES], ids=str)
def test_a_group_is_described_as_by_kafka(cell: Cell):
    group, there = machine(cell.situation), elsewhere(cell.situation).group_type
    said = group.describe(DESCRIBES[cell.request], 6, there, world(cell.situation).settings)
    assert_described(cell, said, there)


def test_the_assignor_that_a_describe_names_is_the_one_that_most_members_wish_for():
    group = machine("STABLE")
    assert group.present is not None
    for member in [*group.present.members.values()]:
        metadata = replace(member.metadata, server_assignor="range")
        group.present.put(replace(member, metadata=metadata))
    said = group.describe(GroupType.CONSUMER)
    assert said is not None
    assert (said.assignor, set(said.member_ids)) == ("range", {"m1", "m2"})


def test_before_version_6_a_group_that_is_not_there_is_dead_without_an_error():
    for api_version, error in ((5, Error.NONE), (6, Error.GROUP_ID_NOT_FOUND)):
        said = machine("STABLE").describe(GroupType.CLASSIC, api_version)
        assert said is not None
        assert (said.error, said.state) == (error, "Dead")


@pytest.mark.parametrize("cell", [each for each in ALL if each.request == "OffsetDelete foo-0"], ids=str)
def test_offsets_of_a_topic_that_somebody_subscribes_to_are_kept(cell: Cell):
    if situation(cell.situation) is not None:
        kept, gone = (machine(cell.situation).delete_offsets(topic) for topic in ("foo", "bar"))
        assert kept is not None
        assert kept.error.name == cell.error.removeprefix("NONE/")
        assert gone == Answer()


_MADE_UP_ID = re.compile(r"[A-Za-z0-9_-]{22}(?=\))")
_CLASSIC_ID = re.compile(r"\bc[12]\b")


def _error(answer: Answer) -> str:
    if answer.leaver_errors:
        return f"NONE/{','.join(error.name for error in answer.leaver_errors)}"
    return answer.error.name


_TELLING = ("CGH", "JoinGroup", "SyncGroup")
"""Begins of the requests whose answer says more than an error."""


def _answer(answer: Answer, cell: Cell) -> str:
    if answer.error or not cell.request.startswith(_TELLING):
        return ""
    if cell.request.startswith("JoinGroup"):
        member_id = "<new>" if answer.member_id == MADE_UP else answer.member_id
        return f"gen={answer.epoch},member={member_id},leader='',proto={answer.protocol},members=0"
    if cell.request.startswith("SyncGroup"):
        (numbers,) = (answer.assignment or {FOO: ()}).values()
        return f"[{', '.join(f'foo-{number}' for number in numbers)}]"
    told = "null" if answer.assignment is None else "{" + parts(answer.assignment) + "}"
    return f"epoch={answer.epoch},assignment={told}"


def _wanted_answer(cell: Cell) -> str:
    """Return what was told beside the error; members of mixed groups had made-up ids, which a JoinGroup shows."""
    if cell.error != "NONE" or not cell.request.startswith(_TELLING):
        return ""
    is_of_known = cell.situation.startswith("MIXED") and "known classic c1" in cell.request
    return _MADE_UP_MEMBER.sub("member=c1" if is_of_known else "member=<new>", cell.answer)


_MADE_UP_MEMBER = re.compile(r"member=(?:<new>|[A-Za-z0-9_-]{22})(?=,)")


def _comparable(records: Iterable[str], cell: Cell) -> list[str]:
    """Return the records that are a group's, and not those of its offsets.

    In the mixed groups members had made-up ids, by which it is decided who gives up a partition and which.
    """
    of_group = [_MADE_UP_ID.sub("<new>", each) for each in records if not each.startswith("1(")]
    of_group = [_LEADER.sub("", each) for each in of_group]
    if cell.situation.startswith("MIXED"):
        of_group = [each if each.endswith("=X") or not each.startswith("7(") else "7" for each in of_group]
    return sorted(of_group)


_LEADER = re.compile(r"leader=\w+,")
