"""Groups of epochs as they are described at a moment, against what a real broker described then."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from schemas.rows import AssignmentRow, GenerationMemberRow, GenerationRow, ReconciliationRow
from tests.support.captures import MODERN, MODERN_CHAOTIC, MODERN_EARLIER
from tests.support.pure_pipeline import Row, Tables, run_pipeline
from tests.truth.described_groups import SLACK_MS, Standing, described, parts_told, timelines, topics_of
from transforms.findings.description.epochs import Rows, epochs_at, members_at
from transforms.findings.description.standing import Epochs, Member, Part, SharePartitions, Topology
from transforms.findings.description.stored import TARGETS, share_partitions, targets, topology

_TYPES = {
    "generations": GenerationRow,
    "generation_members": GenerationMemberRow,
    "assignments": AssignmentRow,
    "reconciliations": ReconciliationRow,
}


_MEMBERS = (5, 10, 19)
"""Record types that say who a member is, of consumer, share and streams groups."""

_WishOf = Callable[[Row, Epochs, float], str | None]


class Told(NamedTuple):
    """What a broker described, and what is described of the same moment.

    Attributes:
        wishes: the assignor that most members wished for, since targets were computed; "" = none; None = none of one.
        without_records: the members as they are described where no records of targets are at hand.
    """

    line: Row
    at: float
    standing: Standing
    epochs: Epochs
    members: dict[str, Member]
    wishes: str | None
    shares: SharePartitions | None = None
    topology: Topology | None = None
    without_records: dict[str, Member] = {}


@pytest.fixture(scope="module", params=(*MODERN, *MODERN_EARLIER, *MODERN_CHAOTIC))
def snapshots(request: pytest.FixtureRequest, capture_dir: Callable[[str], Path]) -> list[Told]:
    folder = capture_dir(request.param)
    return list(snapshots_of(folder, run_pipeline(folder)))


def snapshots_of(folder: Path, tables: Tables) -> Iterator[Told]:
    topics = topics_of(folder)
    known, lives, wishes = timelines(tables, topics), _lives(tables, topics), _wishes(tables)
    stored, to_have = _stored(tables), _to_have(tables, topics)
    for line in described(folder):
        timeline = known[line["group"], line["gtype"]]
        until = line["t1"] * 1000 + SLACK_MS
        standing = timeline.at(until)
        if standing is not None and timeline.stands_still(line["t0"] * 1000 - SLACK_MS, until):
            life = lives[line["group"], timeline.life_at(until)]
            told = _told(line, standing, life, until, wishes, to_have(line, until))
            bodies = stored(line["group"], until)
            yield told._replace(shares=share_partitions(bodies), topology=topology(bodies))


def _lives(tables: Tables, topics: dict[str, str]) -> dict[tuple[str, int], dict[str, list[Any]]]:
    """Rows by group and life, with the names of their topics."""
    found: dict[tuple[str, int], dict[str, list[Any]]] = defaultdict(lambda: {name: [] for name in _TYPES})
    for name, of in _TYPES.items():
        for row in tables[name]:
            named = {**row, "topic": topics.get(row["topic"], row["topic"])} if "topic" in row else dict(row)
            if "waits_for_member_ids" in row:
                named["partitions"] = [_renamed(each, topics) for each in row["partitions"]]
            found[row["group_id"], row["life"]][name].append(msgspec.convert(named, of, strict=False))
    return found


def _stored(tables: Tables) -> Callable[[str, float], dict[int, str | None]]:
    """Return what gives, of a group and a moment, what its newest records said that gold has not."""
    said: dict[str, list[Row]] = defaultdict(list)
    for row in tables["modern_group_records"]:
        said[row["group_id"]].append(row)

    def at(group: str, moment: float) -> dict[int, str | None]:
        return {row["record_type"]: row["body"] for row in said[group] if row["recorded_at"] <= moment}

    return at


def _to_have(tables: Tables, topics: dict[str, str]) -> Callable[[Row, float], dict[str, tuple[Part, ...]]]:
    """Return what gives, of a group as it was described and a moment, what members are to have by their records."""
    said: dict[tuple[str, int], list[Row]] = defaultdict(list)
    for row in tables["modern_group_records"]:
        said[row["group_id"], row["record_type"]].append(row)

    def at(line: Row, moment: float) -> dict[str, tuple[Part, ...]]:
        of_targets = said[line["group"], TARGETS[line["gtype"].lower()]]
        return targets({row["member_id"]: row["body"] for row in of_targets if row["recorded_at"] <= moment}, topics)

    return at


def _renamed(part: str, topics: dict[str, str]) -> str:
    topic, _, number = part.rpartition("-")
    return f"{topics.get(topic, topic)}-{number}"


def _told(
    line: Row,
    standing: Standing,
    rows: dict[str, list[Any]],
    at: float,
    wishes: _WishOf,
    to_have: dict[str, tuple[Part, ...]],
) -> Told:
    epochs = epochs_at(rows["generations"], at)
    assert epochs is not None
    asked = [row for row in rows["generation_members"] if row.generation in epochs.told_of]
    waits = rows["reconciliations"]
    given = Rows(members=asked, assignments=rows["assignments"], reconciliations=waits, targets=to_have)
    members = members_at(given, epochs, standing.members, at)
    without = members_at(msgspec.structs.replace(given, targets={}), epochs, standing.members, at)
    return Told(line, at, standing, epochs, members, wishes(line, epochs, at), without_records=without)


def _members(snapshots: list[Told]) -> Iterator[tuple[Told, Row, Member]]:
    for each in snapshots:
        for name, member in each.line["members"].items():
            yield each, member, each.members[name]


def _parts(member: Row) -> set[Part]:
    return {Part(topic, number, role or "") for topic, number, role in parts_told(member)}


def _target(line: Row, member: Row) -> set[Part]:
    return _parts({"tasks" if line["gtype"] == "STREAMS" else "parts": member["target"]})


def test_epochs_and_what_members_have_are_as_the_broker_told_them(snapshots: list[Told]):
    assert len(snapshots) >= 450
    for line, _, _, epochs, members, *_ in snapshots:
        assert (epochs.group_epoch, epochs.assignment_epoch) == (line["epoch"], line["assignment_epoch"]), line
        assert {name: set(each.owned) for name, each in members.items()} == {
            name: _parts(member) for name, member in line["members"].items()
        }, line


def test_members_are_at_the_epochs_that_the_broker_told_or_it_is_not_known(snapshots: list[Told]):
    """Members that left for a while among them."""
    found = Counter[bool]()
    for each, told, member in _members(snapshots):
        assert member.epoch in (told["epoch"], None), each.line
        found[member.epoch is not None] += 1
    assert found[True] >= 0.999 * found.total(), found


def test_the_topology_is_the_one_that_the_broker_told(snapshots: list[Told]):
    """A broker up to 4.1 tells none of a group that is not ready."""
    of_streams = [each for each in snapshots if each.line["gtype"] == "STREAMS" and each.line["topology"] is not None]
    for each in of_streams:
        assert each.topology is not None
        told = each.line["topology"]
        assert each.topology.epoch == told["epoch"], each.line
        assert {
            part.subtopology: {
                "source": list(part.sources),
                "repartition_source": list(part.repartition_sources),
                "repartition_sink": list(part.repartition_sinks),
                "changelog": list(part.changelogs),
            }
            for part in each.topology.subtopologies
        } == {name: {key: sorted(of) for key, of in part.items()} for name, part in told["subtopologies"].items()}
    assert len(of_streams) >= 40 or not any(each.line["gtype"] == "STREAMS" for each in snapshots)


def test_members_of_a_share_group_have_what_it_can_give_out(snapshots: list[Told]):
    """Of what is initialised; and where there are members that got to the newest epoch, all of it."""
    found = Counter[str]()
    for each in snapshots:
        if each.line["gtype"] != "SHARE" or not each.line["members"] or each.shares is None:
            continue
        held = {part for member in each.line["members"].values() for part in _parts(member)}
        ready, begun = set(each.shares.initialised), set(each.shares.initialising)
        assert not held & begun and not ready & begun
        wanted = {topic for member in each.line["members"].values() for topic in member["topics"]}
        is_settled = all(member["epoch"] == each.line["epoch"] for member in each.line["members"].values())
        assert held <= ready, each.line
        if is_settled and each.line["assignment_epoch"] == each.line["epoch"] and held:
            assert held == {part for part in ready if part.topic in wanted}, each.line
            found["whole"] += 1
        found["all"] += 1
    assert found["whole"] >= 25 or not any(each.line["gtype"] == "SHARE" for each in snapshots), found


def _endpoint(told: Any) -> str | None:
    return None if told is None else f"{told['host']}:{told['port']}" if isinstance(told, dict) else str(told)


_PROTOCOLS = {0: "classic", 1: "consumer"}
"""Kafka's numbers of what a member of a consumer group speaks; earlier releases told none."""


def test_what_members_subscribe_to_and_speak_is_as_the_broker_told(snapshots: list[Told]):
    found = Counter[str]()
    for each, told, member in _members(snapshots):
        said = member.subscription
        if said is None:
            continue
        assert said.rack_id == told["rack"], each.line
        if each.line["gtype"] == "STREAMS":
            assert said.topology_epoch == told["topology_epoch"], each.line
            assert said.process_id == told["process"], each.line
            assert said.user_endpoint == _endpoint(told["endpoint"]), each.line
            assert said.client_tags == told["tags"], each.line
            found["topologies"] += 1
            continue
        assert set(told["topics"]) <= set(said.topics or ()), each.line
        assert told.get("regex") or set(told["topics"]) == set(said.topics or ()), each.line
        assert said.regex == (told.get("regex") or None), each.line
        if told.get("member_type") is not None:
            assert said.protocol == _PROTOCOLS[told["member_type"]], each.line
            found[said.protocol or ""] += 1
        found["all"] += 1
        found["regexes"] += said.regex is not None
    assert found["all"] >= 0.98 * sum(each.line["gtype"] != "STREAMS" for each, _, _ in _members(snapshots)), found
    if snapshots[0].line["group"].startswith("chaos"):
        assert min(found["classic"], found["consumer"], found["regexes"], found["topologies"]) >= 5, found


def test_targets_are_those_that_the_broker_told(snapshots: list[Told]):
    """Also of members that have not got to them yet."""
    found = Counter[bool]()
    for each, told, member in _members(snapshots):
        if "target" not in told or not each.epochs.assignment_epoch:
            continue
        target = _target(each.line, told)
        assert member.target_count == len(target), each.line
        assert set(member.target or ()) == target, each.line
        assert member.target is not None, each.line
        found[told["epoch"] == each.line["assignment_epoch"]] += 1
    assert found[True] > 500 and found[False] > 5, found


def test_without_records_targets_are_those_that_members_have_got_to_or_it_is_not_known_which(snapshots: list[Told]):
    found = Counter[bool]()
    for each in snapshots:
        for name, told in each.line["members"].items():
            if "target" not in told or not each.epochs.assignment_epoch:
                continue
            target = each.without_records[name].target
            assert target is None or set(target) == _target(each.line, told), each.line
            found[target is not None] += 1
    assert found[True] >= 0.85 * found.total(), found


def test_who_waits_waits_for_what_its_target_has_and_others_hold(snapshots: list[Told]):
    found = Counter[bool]()
    for each, told, member in _members(snapshots):
        if member.wait is None:
            continue
        found[member.wait.gives_up] += 1
        if member.wait.gives_up:
            assert member.wait.parts and not _parts(told) & set(member.wait.parts), each.line
        elif each.line["gtype"] == "CONSUMER" and told["epoch"] == each.line["assignment_epoch"]:
            assert set(member.wait.parts) == _target(each.line, told) - _parts(told), each.line
        for holder, parts in member.wait.holders.items():
            has = each.members[holder]
            places = {(part.topic, part.partition) for part in (*has.owned, *has.revoking)}
            assert {(part.topic, part.partition) for part in parts} <= places, each.line
    assert found[False] >= 5, found


def test_the_assignor_is_the_one_that_members_wished_for_when_targets_were_computed(snapshots: list[Told]):
    """A broker tells the wish of the members that it has at the moment; so it is compared where that is the same.

    Where as many wish for one as for another, it goes by the order of a hash map, which is another one when it computes
    than when it describes.
    """
    compared = 0
    for each in snapshots:
        if each.line["gtype"] == "STREAMS" or not each.line["members"] or not each.epochs.assignment_epoch:
            continue
        if each.wishes is not None:
            assert each.epochs.assignor == each.line["assignor"], each.line
            compared += 1
    assert compared >= 300


def _wishes(tables: Tables) -> _WishOf:
    """By the records of members: what most of them wished for when targets were computed and at a moment, if one."""
    said: dict[str, list[tuple[float, str, str | None]]] = defaultdict(list)
    for row in tables["modern_group_records"]:
        if row["record_type"] in _MEMBERS:
            wish = None if row["is_tombstone"] else json.loads(row["body"]).get("serverAssignor") or ""
            said[row["group_id"]].append((row["recorded_at"], row["member_id"], wish))

    def most_wanted(group: str, at: float) -> str | None:
        present = {name: wish for since, name, wish in said[group] if since <= at}
        (first, count), (_, other) = [*Counter(filter(None, present.values())).most_common(2), ("", 0), ("", 0)][:2]
        return first if count > other else None if count else ""

    def of(line: Row, epochs: Epochs, at: float) -> str | None:
        then, now = most_wanted(line["group"], epochs.computed_at or at), most_wanted(line["group"], at)
        return now if then == now else None

    return of
