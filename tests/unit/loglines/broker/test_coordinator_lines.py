"""Lines of group coordinators, each with the row that it gives."""

from __future__ import annotations

import json
from typing import Any

import pytest

from schemas.coordinator_events import EVENTS
from transforms.loglines.broker.dialects import COMMIT_DETAILS, LOGGERS
from transforms.loglines.broker.tables import LINES, TEMPLATES
from transforms.loglines.facts import CoordinatorEvent
from transforms.loglines.parse import parse_entry
from transforms.loglines.templates.matching import IGNORED, Template

GROUP, MEMBER, INSTANCE, GENERATION, PARTITION = "g1", "c1-7d1e", "i1", 5, 13
"""What every sample in the tables of templates is about."""

SCALA = "kafka.coordinator.group.GroupCoordinator"
SCALA_MANAGER = "kafka.coordinator.group.GroupMetadataManager"
JAVA = "org.apache.kafka.coordinator.group.GroupMetadataManager"
PREFIXES = {
    SCALA: "[GroupCoordinator 1]: ",
    SCALA_MANAGER: "[GroupMetadataManager brokerId=1] ",
    JAVA: "[GroupCoordinator id=1 topic=__consumer_offsets partition=13] ",
}
ALL = [
    (dialect, template, sample)
    for dialect, templates in TEMPLATES.items()
    for template in templates
    for sample in template.samples
]


def read(message: str, logger: str, level: str = "INFO", prefix: str | None = None) -> list[Any]:
    before = PREFIXES.get(logger, "") if prefix is None else prefix
    parsed = parse_entry(f"[2024-10-25 03:33:01,123] {level} {before}{message} ({logger})", 1729827181123)
    assert {each.table for each in parsed} <= {"coordinator_events"}
    return list(parsed)


def one(message: str, logger: str) -> Any:
    (row,) = read(message, logger)
    return row


def logger_of(dialect: str) -> str:
    return SCALA if dialect == "scala" else JAVA


def ids(value: Any) -> str:
    return value if isinstance(value, str) else value.meaning


@pytest.mark.parametrize(("dialect", "template", "sample"), ALL, ids=ids)
def test_a_sample_line_gives_its_event_and_what_it_names(
    dialect: str, template: Template[CoordinatorEvent], sample: str
) -> None:
    rows = read(sample, logger_of(dialect))
    if template.meaning == IGNORED:
        assert rows == []
        return
    row = rows[0]
    assert row.event == template.meaning
    assert row.dialect == dialect
    assert row.logged_at == 1729827181123
    for column, expected in (
        ("group_id", GROUP),
        ("member_id", MEMBER),
        ("group_instance_id", INSTANCE),
        ("generation", GENERATION),
        ("topic_partition_of_group", PARTITION),
    ):
        assert getattr(row, column) in (None, expected), column
        if f"{{{column}}}" in template.text:
            assert getattr(row, column) == expected, column
    if dialect == "java":
        assert row.topic_partition_of_group == PARTITION


@pytest.mark.parametrize(
    ("dialect", "template", "sample"),
    [each for each in ALL if "{group_id}" in each[1].text and each[1].meaning != IGNORED],
    ids=ids,
)
@pytest.mark.parametrize("nasty", ["a (reason: b) c", "in group g2", "x) in state Stable", "générale 群 ]", "g.1-_"])
def test_a_group_id_may_hold_anything(
    dialect: str, template: Template[CoordinatorEvent], sample: str, nasty: str
) -> None:
    around_group = _fragment_around(template.text)
    assert around_group in sample
    message = sample.replace(around_group, around_group.replace(GROUP, nasty))
    assert read(message, logger_of(dialect))[0].group_id == nasty


def _fragment_around(template: str) -> str:
    """The literal text just around the group id, with the sample's group in it."""
    before, _, after = template.partition("{group_id}")
    return before[before.rfind("}") + 1 :] + GROUP + after[: after.find("{") if "{" in after else None]


@pytest.mark.parametrize(("dialect", "template", "sample"), ALL, ids=ids)
def test_no_template_stands_in_the_shadow_of_another(
    dialect: str, template: Template[CoordinatorEvent], sample: str
) -> None:
    fitting = [each for each in LINES[dialect].candidates(sample) if each.read(sample) is not None]
    assert fitting[0] is template


def test_every_event_of_the_vocabulary_has_a_line() -> None:
    from_other_lines = {"broker_settings", "group_settings", "broker_version", "unrecognised"}
    assert {template.meaning for _, template, _ in ALL} - {IGNORED} == EVENTS.keys() - from_other_lines


def test_scala_preparing_is_read_with_reason_culprit_and_partition() -> None:
    row = one(
        "Preparing to rebalance group pay (eu) in state PreparingRebalance with old generation 7 "
        "(__consumer_offsets-42) (reason: Removing member c1-7d1e on LeaveGroup; client reason: bye (now))",
        SCALA,
    )
    assert row.group_id == "pay (eu)"
    assert row.generation == 7
    assert row.topic_partition_of_group == 42
    assert row.member_id == "c1-7d1e"
    assert row.reason == "Removing member c1-7d1e on LeaveGroup"
    assert row.client_reason == "bye (now)"
    assert row.attributes == {"trigger": "member_left", "member_ids": '["c1-7d1e"]'}


def test_java_preparing_ends_in_a_dot_that_is_not_part_of_the_reason() -> None:
    row = one(
        "Preparing to rebalance group g1 in state PreparingRebalance with old generation 3 "
        "(reason: removing member c1-7d1e on heartbeat expiration.).",
        JAVA,
    )
    assert row.reason == "removing member c1-7d1e on heartbeat expiration."
    assert row.attributes["trigger"] == "session_expired"
    assert row.topic_partition_of_group == 13


def test_an_admins_leave_names_nobody_in_the_java_reason() -> None:
    row = one(
        "Preparing to rebalance group g1 in state PreparingRebalance with old generation 3 "
        "(reason: explicit `LeaveGroup` request for () members.).",
        JAVA,
    )
    assert row.member_id is None
    assert "member_ids" not in row.attributes
    assert row.attributes["trigger"] == "member_left"


def test_a_scala_leave_tells_the_client_and_its_host() -> None:
    row = one(
        "Member MemberMetadata(memberId=c1-7d1e, groupInstanceId=Some(i1), clientId=my, app, clientHost=/10.0.0.7, "
        "sessionTimeoutMs=6000, rebalanceTimeoutMs=9000, supportedProtocols=List(range, roundrobin)) has left group g1 "
        "through explicit `LeaveGroup`; client reason: consumer poll timeout has expired.",
        SCALA,
    )
    assert (row.member_id, row.group_instance_id) == ("c1-7d1e", "i1")
    assert row.client_reason == "consumer poll timeout has expired."
    assert row.attributes == {"client_id": "my, app", "client_host": "/10.0.0.7"}


@pytest.mark.parametrize("printed", ["Set(a-1, b-2)", "HashSet(a-1, b-2)"])
def test_scala_sets_are_read_whatever_their_class(printed: str) -> None:
    row = one(f"Group g1 removed dynamic members who haven't joined: {printed}", SCALA)
    assert json.loads(row.attributes["member_ids"]) == ["a-1", "b-2"]


def test_java_maps_give_their_keys() -> None:
    row = one("Setting empty assignments for members {a-1=[B@7fedfe27, b-2=[B@1} of g1 for generation 5.", JAVA)
    assert json.loads(row.attributes["member_ids"]) == ["a-1", "b-2"]
    assert row.group_id == "g1"


def test_a_deletion_gives_a_row_for_each_group() -> None:
    rows = read("The following groups were deleted: a, b. A total of 6 offsets were removed.", SCALA)
    assert [(row.seq, row.group_id) for row in rows] == [(0, "a"), (1, "b")]
    assert rows[0].attributes == {"offsets_removed": "6"}


def test_a_deletion_that_nobody_was_subject_to_gives_none() -> None:
    assert read("The following groups were deleted: . A total of 0 offsets were removed.", JAVA) == []


def test_a_reason_not_provided_is_not_known_and_an_empty_one_is_empty() -> None:
    line = "[Group g1] Member c1-7d1e has left group through explicit `LeaveGroup` request; client reason: "
    assert one(line + "not provided", JAVA).client_reason is None
    assert one(line, JAVA).client_reason == ""


@pytest.mark.parametrize("epoch", ["7", "OptionalInt[7]", "Some(7)"])
def test_epochs_are_read_with_and_without_their_wrapping(epoch: str) -> None:
    row = one(f"Resigned as the group coordinator for partition 13 in epoch {epoch}", SCALA)
    assert row.attributes == {"epoch": "7"}


@pytest.mark.parametrize("epoch", ["OptionalInt.empty", "None"])
def test_a_coordinator_can_resign_without_an_epoch(epoch: str) -> None:
    row = one(f"Resigned as the group coordinator for partition 13 in epoch {epoch}", SCALA)
    assert (row.event, row.attributes) == ("coordinator_resigned", {})


def test_the_dialect_is_the_loggers_even_where_the_text_is_the_same() -> None:
    message = "Pending member c1-7d1e in group g1 has been removed after session timeout expiration."
    assert one(message, SCALA).dialect == "scala"
    assert one(message, JAVA).dialect == "java"


@pytest.mark.parametrize("logger", LOGGERS)
def test_an_unknown_line_of_a_coordinators_logger_is_kept(logger: str) -> None:
    row = one("Something Kafka never said before", logger)
    assert row.event == "unrecognised"
    assert row.attributes == {"logger": logger, "text": "Something Kafka never said before"}


def test_a_number_that_does_not_fit_makes_the_line_unrecognised() -> None:
    row = one("Stabilized group g1 generation 9999999999 (__consumer_offsets-13) with 2 members", SCALA)
    assert row.event == "unrecognised"


@pytest.mark.parametrize(
    "line",
    [
        "[2024-10-25 03:33:01,123] INFO Startup complete. (kafka.coordinator.transaction.TransactionCoordinator)",
        "[2024-10-25 03:33:01,123] INFO [ShareCoordinator id=1] Closing coordinator runtime. "
        "(org.apache.kafka.coordinator.common.runtime.CoordinatorRuntime)",
        "[2024-10-25 03:33:01,123] INFO Member x in group y has failed, removing it from the group (my.app.Log)",
        "[2024-10-25 03:33:01,123] INFO coordinator",
    ],
)
def test_lines_of_other_loggers_give_nothing(line: str) -> None:
    assert parse_entry(line, 1) == []


def test_a_stack_trace_stays_with_its_line() -> None:
    text = (
        "[2024-10-25 03:33:01,123] ERROR [GroupMetadataManager brokerId=1] Error loading offsets from "
        "__consumer_offsets-13 (kafka.coordinator.group.GroupMetadataManager)\n"
        "java.lang.IllegalStateException: Unexpected message key\n\tat kafka.Foo.bar(Foo.scala:1)"
    )
    (parsed,) = parse_entry(text, 1)
    assert parsed.event == "load_failed"
    assert parsed.attributes == {"exception": "java.lang.IllegalStateException: Unexpected message key"}


def test_a_message_may_run_over_several_lines() -> None:
    text = (
        "[2024-10-25 03:33:01,123] INFO [GroupCoordinator 1]: Stabilized group two\nlines generation 5 "
        "(__consumer_offsets-13) with 2 members (kafka.coordinator.group.GroupCoordinator)"
    )
    (parsed,) = parse_entry(text, 1)
    assert parsed.group_id == "two\nlines"


def test_a_line_number_behind_the_logger_does_not_matter() -> None:
    text = f"[2024-10-25 03:33:01,123] INFO [GroupCoordinator 1]: Startup complete. ({SCALA}:66)"
    assert parse_entry(text, 1)[0].event == "coordinator_started"


def test_strimzis_layout_is_read() -> None:
    text = f"2024-10-25 03:33:01,123 INFO [GroupCoordinator 1]: Startup complete. ({SCALA}) [main]"
    assert parse_entry(text, 1)[0].event == "coordinator_started"


def test_prefixes_of_old_releases_are_taken_off() -> None:
    rows = read(
        "Removed 6 expired offsets in 2 milliseconds.",
        SCALA_MANAGER,
        prefix="[Group Metadata Manager on Broker 1]: ",
    )
    assert rows[0].event == "offsets_expired"


@pytest.mark.parametrize("detail", COMMIT_DETAILS)
def test_a_detail_of_commits_is_one_of_lines_that_tell_nothing(detail: str) -> None:
    meanings = {template.meaning for _, template, sample in ALL if detail in f" {sample}"}
    assert meanings == {IGNORED}
