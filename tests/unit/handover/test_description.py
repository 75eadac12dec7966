"""A group as it was at a moment: what the document holds, and how it reads."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.unit.findings.golden import complete
from transforms.findings.description.document import document
from transforms.findings.description.lines import lines
from transforms.findings.description.standing import AWAY, Epochs, Member, Orphan, Part, Standing, Subscription, Wait
from transforms.findings.description.stored import (
    SHARE_STATE,
    STREAMS_GROUP,
    STREAMS_TOPOLOGY,
    share_partitions,
    targets,
    topology,
)
from transforms.findings.offsets.keeping import OffsetUse

FOREIGN = st.text(st.characters(), min_size=1, max_size=12)

STATE = {
    "life": 2,
    "state": "Stable",
    "generation": 7,
    "protocol_type": "consumer",
    "protocol": "range",
    "leader_member_id": "m-1",
    "since": 1000.0,
    "group_type": "classic",
}


def member(name: str, *partitions: str) -> dict[str, Any]:
    given = {"member_id": name, "client_id": f"c-{name}", "client_host": "/10.0.0.1", "group_instance_id": None}
    return {**given, "joined_at": 500.0, "partitions": list(partitions)}


def rebalance(**more: Any) -> dict[str, Any]:
    row = complete(
        "generations", {"life": 2, "generation": 7, "trigger": "session_expired", "rebalance_ms": 1500, **more}
    )
    return {**row, "began_at": 900.0}


def text_of(told: dict[str, Any]) -> str:
    return "\n".join(f"{label}: {text}" for label, text in lines(told))


def test_the_document_says_who_owned_what_and_who_led() -> None:
    members = [member("m-1", "a-b-0", "a-b-1", "a-b-2", "a-b-9", "c-3"), member("m-2")]
    told = document("demo", "shop", 61_000.0, STATE, members, rebalance(), [], [])
    assert [each["is_leader"] for each in told["members"]] == [True, False]
    assert told["members"][0]["partitions"] == [
        {"topic": "a-b", "partitions": [0, 1, 2, 9]},
        {"topic": "c", "partitions": [3]},
    ]
    text = text_of(told)
    assert "owns a-b 0-2, 9; c 3" in text
    assert "owns nothing" in text
    assert "m-1 (leader)" in text
    assert "Stable, since 1970-01-01 00:00:01.000, for 60.0 s" in text


def test_it_says_why_the_group_last_rebalanced() -> None:
    row = rebalance(
        trigger_member_id="m-0",
        trigger_client_id="c-0",
        trigger_client_host="/10.0.0.9",
        reason="removing member",
        client_reason="the consumer is being closed",
    )
    text = text_of(document("demo", "shop", None, STATE, [], row, [], []))
    assert "1970-01-01 00:00:00.900, to generation 7 of life 2, took 1.5 s" in text
    assert "because of session_expired" in text
    assert "by m-0, client c-0 at /10.0.0.9" in text
    assert "reason: removing member" in text
    assert "the client's reason: the consumer is being closed" in text


def test_of_a_rebalance_under_way_it_does_not_say_how_it_came_out() -> None:
    row = rebalance(outcome="stable")
    under_way = document("demo", "shop", 2000.0, STATE, [], row, [], [])["last_rebalance"]
    through = document("demo", "shop", 2400.0, STATE, [], row, [], [])["last_rebalance"]
    assert (under_way["outcome"], under_way["rebalance_ms"]) == (None, None)
    assert (through["outcome"], through["rebalance_ms"]) == ("stable", 1500)


def test_findings_that_cover_the_moment_are_told_with_their_culprit_and_advice() -> None:
    storm = complete(
        "rebalance_storms", {"started_at": 0.0, "ended_at": 9000.0, "is_open": False, "rebalance_count": 9}
    )
    storm |= {"severity": "critical", "pattern": "crash_loop", "main_client_id": "c-0", "advice": "mend c-0"}
    burst = complete("illegal_generation_bursts", {"started_at": 0.0, "error": "UNKNOWN_MEMBER_ID", "is_open": True})
    burst |= {"error_count": 30, "suspected_cause": "zombie", "client_ids": ["c-1"], "advice": "stop c-1"}
    told = document("demo", "shop", 5.0, STATE, [], None, [storm], [burst])
    assert [finding["finding_kind"] for finding in told["findings"]] == ["rebalance_storm", "illegal_generation_burst"]
    text = text_of(told)
    for said in (
        "crash_loop",
        "9 rebalances",
        "culprit c-0 at not known",
        "mend c-0",
        "30 times",
        "zombie",
        "stop c-1",
    ):
        assert said in text


@given(FOREIGN, FOREIGN, FOREIGN)
def test_whatever_others_call_things_the_terminal_shows_it_and_json_keeps_it(group: str, client: str, why: str) -> None:
    row = rebalance(trigger_client_id=client, reason=why, client_reason=why)
    there = {**member(client), "group_instance_id": why, "client_host": group, "partitions": [f"{client}-0"]}
    storm = complete("rebalance_storms", {"started_at": 0.0, "ended_at": 1.0, "is_open": True, "rebalance_count": 2})
    storm |= {"severity": "info", "pattern": "mixed", "main_client_id": client, "advice": why}
    told = document(client, group, 0.0, {**STATE, "protocol": why}, [there], row, [storm], [])
    assert all(text.isprintable() for _, text in lines(told))
    kept = json.dumps(told)
    assert kept.isascii()
    assert kept.isprintable()
    assert json.loads(kept)["members"][0]["partitions"][0]["topic"] == client


def test_a_group_that_has_but_offsets_is_told_as_such() -> None:
    told = document("demo", "shop", 0.0, {"state": "Empty", "group_type": None}, [], None, [], [])
    assert (told["state"], told["members"], told["life"]) == ("Empty", [], None)
    assert "never seen with members" in text_of(told)
    use = OffsetUse(has_assignments=False, has_commits=True, free_commits=5, free_client_ids=("lister-1",))
    told = document("demo", "shop", 0.0, {"state": "Empty", "group_type": None}, [], None, [], [], offsets=use)
    assert told["offsets"]["kept_by"] == "consumers"
    assert "offsets: It has no members: consumers with assign() (lister-1) commit under its id" in text_of(told)


# --- groups of epochs ------------------------------------------------------------------------------------------------

EPOCHS_STATE = {**STATE, "state": "Reconciling", "group_type": "consumer", "leader_member_id": None, "generation": 6}


def parts(topic: str, *numbers: int, role: str = "") -> tuple[Part, ...]:
    return tuple(Part(topic, number, role) for number in numbers)


def stood(epoch: int | None, owned: tuple[Part, ...] = (), **more: Any) -> Member:
    nothing: dict[str, Any] = {"revoking": (), "target_count": None, "target": None, "wait": None}
    return Member(epoch=epoch, owned=owned, **{**nothing, **more})


def of_epochs(
    members: dict[str, Member], epochs: Epochs, orphans: tuple[Orphan, ...] = (), **more: Any
) -> dict[str, Any]:
    stored = {name: more.pop(name) for name in ("share_partitions", "topology") if name in more}
    there, standing = [member(name) for name in members], Standing(epochs, members, orphans, **stored)
    return document("demo", "shop", 5000.0, {**EPOCHS_STATE, **more}, there, rebalance(), [], [], standing)


def test_a_group_of_epochs_is_told_with_who_gives_up_what_and_who_waits_for_whom() -> None:
    gives = Wait("UNREVOKED_PARTITIONS", 3000.0, parts("a", 2, 3), {})
    waits = Wait("UNRELEASED_PARTITIONS", 2000.0, parts("a", 2, 3), {"m-1": parts("a", 2, 3)})
    members = {
        "m-1": stood(6, parts("a", 0, 1), revoking=parts("a", 2, 3), target_count=2, wait=gives),
        "m-2": stood(7, target_count=2, target=parts("a", 2, 3), wait=waits),
        "m-3": stood(6, parts("b", 0), target_count=1, target=parts("b", 0)),
        "m-4": stood(AWAY, parts("b", 1)),
        "m-5": stood(None),
    }
    told = of_epochs(members, Epochs(8, 7, assignor="uniform"))
    assert (told["generation"], told["group_epoch"], told["assignment_epoch"], told["assignor"]) == (8, 8, 7, "uniform")
    assert [each["member_epoch"] for each in told["members"]] == [6, 7, 6, AWAY, None]
    assert told["members"][0]["reconciliation"]["gives_up"] == [{"topic": "a", "partitions": [2, 3]}]
    assert told["members"][1]["reconciliation"]["held_by"] == [
        {"member_id": "m-1", "partitions": [{"topic": "a", "partitions": [2, 3]}]}
    ]
    assert told["members"][2]["reconciliation"] is None
    text = [line for line in text_of(told).splitlines() if "joined" not in line]
    shown = text[text.index(": m-1, at epoch 6") :]
    assert shown == [
        ": m-1, at epoch 6",
        ":   owns a 0-1",
        ":   is to have 2 partitions, not known which",
        ":   is still to give up a 2-3, since 1970-01-01 00:00:03.000",
        ": m-2, at epoch 7",
        ":   owns nothing",
        ":   is to have a 2-3",
        ":   waits for a 2-3, since 1970-01-01 00:00:02.000",
        ":     of which m-1 holds a 2-3",
        ": m-3, at epoch 6",
        ":   owns b 0",
        ":   has not heard of the targets of epoch 7 yet",
        ": m-4, left for a while, and may be back under its instance id",
        ":   owns b 1",
        ": m-5, at an epoch not known",
        ":   owns nothing",
        "findings: none open",
    ]
    assert text[2:5] == [
        "type: consumer group",
        "state: Reconciling, since 1970-01-01 00:00:01.000, for 4.0 s",
        "epoch: 8 of life 2, targets computed up to epoch 7",
    ]


def test_tasks_of_a_streams_group_are_told_by_their_roles() -> None:
    owned = (*parts("0", 0, 1, role="active"), *parts("1", 2, role="standby"))
    target = (*parts("0", 0, role="active"), *parts("0", 1, role="warmup"))
    told = of_epochs({"m-1": stood(3, owned, target_count=2, target=target)}, Epochs(3, 3), group_type="streams")
    assert told["members"][0]["assignment"] == [
        {"topic": "0", "partitions": [0, 1], "role": "active"},
        {"topic": "1", "partitions": [2], "role": "standby"},
    ]
    text = text_of(told)
    assert "owns active 0: 0-1; standby 1: 2" in text
    assert "is to have active 0: 0; warmup 0: 1" in text
    assert "epoch: 3 of life 2, targets computed\n" in text


def test_what_a_share_group_gives_out_is_told_and_what_it_does_not_yet() -> None:
    state = '{"initializedTopics":[{"topicName":"a","partitions":[1,0]}],'
    state += '"initializingTopics":[{"topicName":"a","partitions":[2]}],"deletingTopics":[{"topicName":"b"}]}'
    shares = share_partitions({SHARE_STATE: state})
    told = of_epochs({"m-1": stood(6)}, Epochs(6, 6), group_type="share", share_partitions=shares)
    assert told["share_partitions"] == {
        "initialised": [{"topic": "a", "partitions": [0, 1]}],
        "initialising": [{"topic": "a", "partitions": [2]}],
        "deleting": ["b"],
    }
    assert "shares: a 0-1\n: not yet a 2, which the broker is initialising\n: no more b\n" in text_of(told)
    assert share_partitions({SHARE_STATE: None}) is None
    assert share_partitions({SHARE_STATE: '{"initializedTopics":7}'}) is None


def test_what_members_are_to_have_is_read_off_their_records() -> None:
    of_consumer = '{"topicPartitions":[{"topicId":"id-a","partitions":[2,0]},{"topicId":"id-b","partitions":[1]}]}'
    assert targets({"m-1": of_consumer, "m-2": None, "m-3": '{"topicPartitions":7}', "m-4": "{}"}, {"id-a": "a"}) == {
        "m-1": (*parts("a", 0, 2), *parts("id-b", 1)),
        "m-4": (),
    }
    of_streams = '{"activeTasks":[{"subtopologyId":"0","partitions":[1]}],'
    of_streams += '"standbyTasks":[{"subtopologyId":"0","partitions":[0]}],"warmupTasks":[]}'
    assert targets({"m-1": of_streams}, {}) == {"m-1": (Part("0", 0, "standby"), Part("0", 1, "active"))}


def test_the_topology_of_a_streams_group_is_told() -> None:
    second = '{"subtopologyId":"1","repartitionSourceTopics":[{"name":"r"}],"stateChangelogTopics":[{"name":"c"}]}'
    first = '{"subtopologyId":"0","sourceTopics":["b","a"],"repartitionSinkTopics":["r"]}'
    bodies = {STREAMS_TOPOLOGY: f'{{"epoch":3,"subtopologies":[{second},{first}]}}', STREAMS_GROUP: '{"epoch":9}'}
    told = of_epochs({"m-1": stood(6)}, Epochs(6, 6), group_type="streams", topology=topology(bodies))
    assert [part["subtopology"] for part in told["topology"]["subtopologies"]] == ["0", "1"]
    assert told["topology"]["subtopologies"][1]["changelogs"] == ("c",)
    assert "topology: epoch 3\n: 0 reads a, b\n: 1 reads r\n" in text_of(told)
    bodies[STREAMS_GROUP] = '{"epoch":9,"validatedTopologyEpoch":2}'
    told = of_epochs({}, Epochs(6, 6), group_type="streams", topology=topology(bodies))
    assert "topology: epoch 3, topics are missing, or are not as it needs them\n" in text_of(told)
    bodies[STREAMS_GROUP] = '{"epoch":9,"validatedTopologyEpoch":3}'
    told = of_epochs({}, Epochs(6, 6), group_type="streams", topology=topology(bodies))
    assert "topology: epoch 3, the topics are as it needs them\n" in text_of(told)


def test_what_members_subscribe_to_and_who_has_not_changed_over_is_told() -> None:
    members = {
        "m-1": stood(6, subscription=Subscription(("a", "b"), protocol="classic", rack_id="r1")),
        "m-2": stood(6, subscription=Subscription(("b",), "b.*", "consumer")),
        "m-3": stood(6, subscription=Subscription((), "c.*", "consumer")),
        "m-4": stood(6, subscription=Subscription(topology_epoch=2)),
        "m-5": stood(6),
        "m-6": stood(6, subscription=Subscription(process_id="p-1", user_endpoint="h:8080", client_tags={"zone": "a"})),
        "m-7": stood(6, subscription=Subscription(process_id="p-2", client_tags={})),
    }
    told = of_epochs(members, Epochs(6, 6))
    assert [each["subscribed_regex"] for each in told["members"]] == [None, "b.*", "c.*", *[None] * 4]
    assert [each["member_protocol"] for each in told["members"]] == ["classic", "consumer", "consumer", *[None] * 4]
    assert (told["members"][0]["topics"], told["members"][0]["rack_id"]) == (["a", "b"], "r1")
    assert (told["members"][3]["topics"], told["members"][3]["topology_epoch"]) == (None, 2)
    tagged = [(m["process_id"], m["user_endpoint"], m["client_tags"]) for m in told["members"][4:]]
    assert tagged == [(None, None, None), ("p-1", "h:8080", {"zone": "a"}), ("p-2", None, {})]
    wants = [line for line in text_of(told).splitlines() if "joined" not in line and "owns" not in line]
    assert wants[wants.index(": m-1, at epoch 6") : wants.index("findings: none open")] == [
        ": m-1, at epoch 6",
        ":   subscribes to a, b",
        ":   still speaks the classic protocol",
        ":   is in rack r1",
        ": m-2, at epoch 6",
        ":   subscribes to b, by b.*",
        ": m-3, at epoch 6",
        ":   subscribes to no topic yet, by c.*",
        ": m-4, at epoch 6",
        ":   runs the topology of epoch 2",
        ": m-5, at epoch 6",
        ": m-6, at epoch 6",
        ":   is of process p-1, which answers queries at h:8080",
        ":   has the tags zone=a",
        ": m-7, at epoch 6",
        ":   is of process p-2",
    ]


def test_what_nobody_has_in_a_stable_group_is_told_with_whose_it_is_to_be_and_since_when() -> None:
    members = {"m-1": stood(6, parts("a", 0)), "m-2": stood(6)}
    orphans = tuple(Orphan(2000.0, "m-2", part) for part in parts("a", 1, 2)) + (Orphan(3000.0, "m-1", *parts("b", 0)),)
    told = of_epochs(members, Epochs(6, 6), orphans=orphans)
    assert told["orphaned"] == [
        {"since": "1970-01-01T00:00:02.000Z", "member_id": "m-2", "partitions": [{"topic": "a", "partitions": [1, 2]}]},
        {"since": "1970-01-01T00:00:03.000Z", "member_id": "m-1", "partitions": [{"topic": "b", "partitions": [0]}]},
    ]
    text = text_of(told).splitlines()
    begin = text.index("orphaned: nobody has a 1-2, since 1970-01-01 00:00:02.000")
    assert text[begin + 1 : begin + 4] == [
        ":   which m-2 is to have",
        ": nobody has b 0, since 1970-01-01 00:00:03.000",
        ":   which m-1 is to have",
    ]
    assert "orphaned" not in text_of(of_epochs(members, Epochs(6, 6)))


def test_a_consumer_group_without_members_has_no_assignor_that_anybody_wished_for() -> None:
    assert of_epochs({}, Epochs(3, 3, assignor="range"))["assignor"] is None
    assert of_epochs({}, Epochs(3, 3, assignor="simple"), group_type="share")["assignor"] == "simple"
    assert "no targets computed yet" in text_of(of_epochs({}, Epochs(1)))


def test_a_classic_group_has_the_keys_of_groups_of_epochs_and_nothing_under_them() -> None:
    told = document("demo", "shop", 61_000.0, STATE, [member("m-1", "a-0")], None, [], [])
    assert {told[name] for name in ("group_epoch", "assignment_epoch", "assignor", "orphaned", "offsets")} == {None}
    (there,) = told["members"]
    assert there["member_epoch"] is there["assignment"] is there["target"] is there["reconciliation"] is None
    assert "type" not in dict(lines(told))


@given(FOREIGN, FOREIGN)
def test_what_others_call_topics_members_and_clients_the_terminal_shows_in_groups_of_epochs_too(
    topic: str, name: str
) -> None:
    waits = Wait("UNRELEASED_PARTITIONS", None, parts(topic, 1), {name: parts(topic, 1)})
    held = stood(2, parts(topic, 0), target_count=2, target=parts(topic, 0, 1), wait=waits)
    use = OffsetUse(has_assignments=True, has_commits=True, free_refused=1, free_client_ids=(name,))
    orphans = (Orphan(0.0, name, Part(topic, 2)),)
    standing = Standing(Epochs(2, 2, assignor=topic), {name: held}, orphans)
    told = document("demo", topic, 0.0, EPOCHS_STATE, [member(name)], None, [], [], standing, use)
    assert all(text.isprintable() for _, text in lines(told))
    assert json.loads(json.dumps(told))["members"][0]["target"] == [{"topic": topic, "partitions": [0, 1]}]
