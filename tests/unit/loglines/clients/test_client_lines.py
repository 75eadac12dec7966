"""Lines of Java consumers, each with the row that it gives."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from schemas.client_events import EVENTS
from transforms.loglines.clients.applications import APPLICATIONS
from transforms.loglines.clients.libraries import LIBRARIES
from transforms.loglines.clients.tables import LINES, TEMPLATES
from transforms.loglines.facts import ClientEvent
from transforms.loglines.parse import parse_entry
from transforms.loglines.templates.matching import IGNORED, Template

LOGGED_AT = 1729827181123
RELEASES = Path(__file__).resolve().parents[3] / "data" / "loglines" / "templates_client.txt"
INTERNALS = "org.apache.kafka.clients.consumer.internals."
LOGGER = INTERNALS + "ConsumerCoordinator"
PREFIX = "[Consumer clientId=app-1, groupId=g1] "
GENERATION = "Generation{generationId=5, memberId='c1-7d1e', protocol='range'}"

ALL = [(template, sample) for template in TEMPLATES for sample in template.samples]

LAYOUTS = {
    "Kafka": "[2024-10-25 03:33:01,123] INFO {message} ({logger})",
    "Strimzi": "2024-10-25 03:33:01,123 INFO {message} ({logger}) [main]",
    "log4j": "2024-10-25 03:33:01,123 INFO  [main] {logger} - {message}",
    "Spring Boot 2": "2024-10-25 03:33:01.123  INFO 1 --- [main] o.a.k.c.c.internals.ConsumerCoordinator : {message}",
}


def read(message: str, prefix: str = PREFIX, logger: str = LOGGER, layout: str = "Kafka") -> list[Any]:
    text = LAYOUTS[layout].format(message=prefix + message, logger=logger)
    parsed = parse_entry(text, LOGGED_AT)
    assert {each.table for each in parsed} <= {"client_events"}
    return list(parsed)


def one(message: str, **how: str) -> Any:
    (row,) = read(message, **how)
    return row


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("template", "sample"), ALL, ids=lambda value: getattr(value, "meaning", value))
def test_a_sample_line_gives_its_event_and_what_it_names(
    template: Template[ClientEvent], sample: str, layout: str
) -> None:
    rows = read(sample, layout=layout)
    if template.meaning == IGNORED:
        assert rows == []
        return
    (row,) = rows
    assert row.event == template.meaning
    assert (row.group_id, row.client_id, row.logged_at) == ("g1", "app-1", LOGGED_AT)
    if "{generation}" in template.text:
        assert row.generation in (5, -1)
    if "{member_id}" in template.text:
        assert row.member_id == "c1-7d1e"
    if template.state is not None:
        assert row.client_state == template.state
    if "{partitions}" in template.text:
        assert row.partitions in (["orders-0", "orders-1"], ["orders-0"])
    if "{reason}" in template.text:
        assert row.reason
    if "Optional[i1]" in sample:
        assert row.group_instance_id == "i1"


def test_every_event_has_a_line() -> None:
    templates = [*TEMPLATES, *APPLICATIONS, *(each for library in LIBRARIES for each in library.templates)]
    assert {template.meaning for template in templates} - {IGNORED} == EVENTS.keys() - {"unrecognised"}


@pytest.mark.parametrize(("template", "sample"), ALL, ids=lambda value: getattr(value, "meaning", value))
def test_no_template_stands_in_the_shadow_of_another(template: Template[ClientEvent], sample: str) -> None:
    fitting = [each for each in LINES.candidates(sample) if each.read(sample) is not None]
    assert fitting[0] is template


def templates() -> list[str]:
    found = []
    for line in RELEASES.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            text = re.split(r" (?:INFO|DEBUG|WARN|ERROR) ", line, maxsplit=1)[1]
            text = re.sub(r"^\{\} failed", "SyncGroup failed", text)
            text = text.replace("the new {}", "the new Assignment(partitions=[{}])").replace("{}", "5")
            found.append(text.replace("\\n", "\n").replace("\\t", "\t"))
    return found


@pytest.mark.parametrize("message", templates())
def test_every_template_of_every_release_is_known(message: str) -> None:
    assert "unrecognised" not in {row.event for row in read(message)}


def test_the_list_is_whole() -> None:
    assert len(templates()) > 130


def test_the_prefix_says_who_it_is() -> None:
    row = one("(Re-)joining group", prefix="[Consumer instanceId=i1, clientId=app, 1, groupId=g [x]] ")
    assert (row.group_instance_id, row.client_id, row.group_id) == ("i1", "app, 1", "g [x]")
    assert one("(Re-)joining group", prefix="[Worker clientId=connect-1, groupId=connect] ").group_id == "connect"


def test_a_consumer_without_a_group_says_nothing() -> None:
    assert read("(Re-)joining group", prefix="[Consumer clientId=app, groupId=null] ") == []


@pytest.mark.parametrize(
    ("message", "group"),
    [
        ("Successfully joined group g1 with generation 5", "g1"),
        ("Revoking previously assigned partitions [orders-0] for group g 2", "g 2"),
    ],
)
def test_before_1_0_the_group_stands_in_the_text(message: str, group: str) -> None:
    row = one(message, prefix="", logger=INTERNALS + "AbstractCoordinator")
    assert (row.group_id, row.client_id) == (group, None)
    assert read(message, prefix="", logger="com.example.App") == []


def test_a_generation_names_its_member() -> None:
    row = one(f"Successfully synced group in generation {GENERATION}")
    assert (row.generation, row.member_id, row.client_state) == (5, "c1-7d1e", "STABLE")
    odd = one("Successfully synced group in generation Generation{generationId=5, memberId='a}', b-1', protocol='x'}")
    assert odd.member_id == "a}', b-1"


def test_no_generation_is_minus_one_as_in_requests() -> None:
    row = one(
        "JoinGroup failed: The coordinator is not aware of this member. Need to re-join the group. "
        "Sent generation was Generation{generationId=-1, memberId='', protocol='null'}"
    )
    assert (row.generation, row.member_id) == (-1, "")
    assert row.reason == "The coordinator is not aware of this member."


def test_partitions_may_be_none() -> None:
    for text in ("Adding newly assigned partitions: ", "Adding newly assigned partitions: []"):
        assert one(text).partitions == []


def test_a_stack_trace_does_not_hide_a_line() -> None:
    text = (
        f"[2024-10-25 03:33:01,123] ERROR {PREFIX}Heartbeat thread failed due to unexpected error ({LOGGER})\nX\n\tat y"
    )
    assert parse_entry(text, LOGGED_AT)[0].event == "heartbeat_stopped"
    spring = (
        LAYOUTS["Spring Boot 2"].format(message=PREFIX + "Heartbeat thread failed due to unexpected error")
        + "\nX\n\tat y"
    )
    row = parse_entry(spring, LOGGED_AT)[0]
    assert (row.event, row.reason) == ("heartbeat_stopped", "unexpected error")


def test_why_a_client_left_is_kept() -> None:
    row = one(
        "Member c1-7d1e sending LeaveGroup request to coordinator b:9092 (id: 2147483646 rack: null) due to "
        "consumer poll timeout has expired."
    )
    assert (row.member_id, row.reason) == ("c1-7d1e", "consumer poll timeout has expired.")


def test_why_a_client_joins_again_is_kept_whole() -> None:
    row = one("Request joining group due to: group is already rebalancing")
    assert (row.reason, row.client_state) == ("group is already rebalancing", "STABLE")
    row = one("Attempt to heartbeat failed since group is rebalancing")
    assert (row.reason, row.client_state) == ("group is rebalancing", "STABLE")
    row = one("Request joining group due to: need to re-join with the given member-id: c1-7d1e")
    assert (row.reason, row.member_id) == ("need to re-join with the given member-id: c1-7d1e", "c1-7d1e")


def test_the_epoch_of_an_assignment_is_not_that_of_the_member() -> None:
    row = one(
        "Reconciling assignment with local epoch 0\n\tMember:                   c1-7d1e\n"
        "\tAssigned partitions:                       [orders-0]\n\tCurrent owned partitions:                  []\n"
    )
    assert (row.event, row.generation, row.member_id) == ("reconciling", None, "c1-7d1e")


def test_a_cause_without_a_text_is_not_known() -> None:
    line = "Group coordinator b:9092 (id: 2147483646 rack: null) is unavailable or invalid due to cause: null. "
    assert one(line + "Rediscovery will be attempted.").reason is None


def test_a_coordinator_is_lost_once() -> None:
    lines = (
        "Group coordinator b:9092 (id: 2147483646 rack: null) is unavailable or invalid due to cause: "
        "error response NOT_COORDINATOR. isDisconnected: false. Rediscovery will be attempted.",
        "Requesting disconnect from last known coordinator b:9092 (id: 2147483646 rack: null)",
    )
    assert [row.event for line in lines for row in read(line)] == ["coordinator_lost"]


def test_unknown_lines_of_the_coordinator_are_kept_and_others_are_not() -> None:
    row = one("Something new happened to the group")
    assert (row.event, row.reason) == ("unrecognised", "Something new happened to the group")
    assert read("Something new", layout="Spring Boot 2")[0].event == "unrecognised"
    assert read("Resetting offset for partition orders-0", logger=INTERNALS + "SubscriptionState") == []
    debug = f"[2024-10-25 03:33:01,123] DEBUG {PREFIX}Sending Heartbeat request ({LOGGER})"
    assert parse_entry(debug, LOGGED_AT) == []


def test_a_consumer_of_the_new_protocol() -> None:
    row = one("Member <no ID> with epoch 0 transitioned from UNSUBSCRIBED to JOINING.", logger=INTERNALS + "X")
    assert (row.member_id, row.generation, row.client_state) == ("", 0, "JOINING")
