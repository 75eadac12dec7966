"""Lines of other libraries than Java's, and what applications log of any, each with the row that it gives."""

from __future__ import annotations

from typing import Any

import pytest

from schemas.client_events import LIBRARIES as NAMES
from schemas.kafka_errors import ERROR_CODES
from transforms.loglines.clients.applications import APPLICATIONS
from transforms.loglines.clients.libraries import LIBRARIES
from transforms.loglines.facts import ClientEvent
from transforms.loglines.parse import parse_entry
from transforms.loglines.templates.matching import IGNORED, Index, Template

LOGGED_AT = 1729827181123
STAMP = "2024-10-25 03:33:01,123"

LAYOUTS: dict[str, list[str]] = {
    "librdkafka": [
        STAMP + " WARNING rdkafka JOIN [app-1#consumer-1] [thrd:main]: {message}",
        "%4|1729827181.123|JOIN|app-1#consumer-1| [thrd:main]: {message}",
        "[" + STAMP + "] WARNING JOIN [app-1#consumer-1] [thrd:main]: {message} (rdkafka)",
    ],
    "kafka-python": [
        STAMP + " INFO kafka.coordinator {message}",
        STAMP + " - kafka.coordinator.consumer - INFO - {message}",
        STAMP + " [INFO] kafka.coordinator.heartbeat: {message}",
        "[" + STAMP + "] INFO {message} (kafka.coordinator)",
    ],
    "aiokafka": [
        STAMP + " INFO aiokafka.consumer.group_coordinator {message}",
        STAMP + " - aiokafka.consumer.group_coordinator - INFO - {message}",
        "[" + STAMP + "] INFO {message} (aiokafka.consumer.group_coordinator)",
    ],
    "franz-go": ["2024-10-25T03:33:01.123Z app-1 [INFO] {message}", "2024/10/25 03:33:01 [INFO] {message}"],
    "sarama": ["[sarama] 2024/10/25 03:33:01.123456 {message}", "2024/10/25 03:33:01 {message}"],
}
APPLICATION = [
    "2024-10-25T03:33:01.123+02:00 ERROR 1 --- [main] com.example.App : {message}",
    STAMP + " ERROR app {message}",
    "[app] 2024/10/25 03:33:01.123456 {message}",
]

OF_LIBRARIES = [
    (library.name, template, sample, layout)
    for library in LIBRARIES
    for template in library.templates
    for sample in template.samples
    for layout in LAYOUTS[library.name]
    if not (layout.endswith("{message} (rdkafka)") and sample.endswith(")"))
]
OF_APPLICATIONS = [
    (template, sample, layout) for template in APPLICATIONS for sample in template.samples for layout in APPLICATION
]


def names(value: Any) -> str:
    return getattr(value, "meaning", str(value))


def only(text: str) -> Any:
    (row,) = parse_entry(text, LOGGED_AT)
    return row


def assert_told(row: Any, library: str, template: Template[ClientEvent]) -> None:
    assert (row.event, row.client_software, row.logged_at) == (template.meaning, library, LOGGED_AT)
    filled = {
        "group_id": row.group_id,
        "reason": row.reason,
        "brief": row.reason,
        "named_error": row.reason,
        "join_state": row.client_state,
        "generation": row.generation,
        "error_code": row.error,
        "client_id": row.client_id,
        "one_of_topic": row.partitions,
        "one_behind_slash": row.partitions,
    }
    assert all(value for name, value in filled.items() if f"{{{name}}}" in template.text)


@pytest.mark.parametrize(("library", "template", "sample", "layout"), OF_LIBRARIES, ids=names)
def test_a_real_line_gives_its_event_in_any_layout(
    library: str, template: Template[ClientEvent], sample: str, layout: str
) -> None:
    text = layout.replace("{message}", sample)
    if template.meaning == IGNORED:
        assert parse_entry(text, LOGGED_AT) == []
        return
    assert_told(only(text), library, template)


@pytest.mark.parametrize(("template", "sample", "layout"), OF_APPLICATIONS, ids=names)
def test_what_a_client_told_its_application_is_read_from_the_applications_line(
    template: Template[ClientEvent], sample: str, layout: str
) -> None:
    row = only(layout.replace("{message}", sample))
    assert_told(row, row.client_software, template)


@pytest.mark.parametrize(
    "templates", [*(library.templates for library in LIBRARIES), APPLICATIONS], ids=[*LAYOUTS, "applications"]
)
def test_no_template_stands_in_the_shadow_of_another(templates: tuple[Template[ClientEvent], ...]) -> None:
    lines = Index(templates)
    for template in templates:
        for sample in template.samples:
            fitting = [each for each in lines.candidates(sample) if each.read(sample) is not None]
            assert fitting[0] is template, sample


def test_every_library_has_a_name_of_its_own() -> None:
    assert {"java", *(library.name for library in LIBRARIES)} == set(NAMES)
    assert set(LAYOUTS) == {library.name for library in LIBRARIES}


def test_partitions_are_written_as_java_writes_them() -> None:
    python = (
        "{TopicPartition(topic='my.topic', partition=0), TopicPartition(topic='b', partition=12)} for group g1".join(
            ("Setting newly assigned partitions ", "")
        )
    )
    assert only(f"{STAMP} INFO kafka.coordinator.consumer {python}").partitions == ["my.topic-0", "b-12"]
    nothing = f"{STAMP} INFO kafka.coordinator.consumer Revoking previously assigned partitions set() for group g1"
    assert only(nothing).partitions == []
    go = only("2024-10-25T03:33:01.123Z x [INFO] synced; group: g 1, assigned: my.topic[0 12], b[3]")
    assert (go.group_id, go.partitions) == ("g 1", ["my.topic-0", "my.topic-12", "b-3"])
    lost = "cooperative consumer calling onRevoke; group: g1, lost: map[b:[1] t:[0 1]], stage: 0"
    assert only(f"2024-10-25T03:33:01.123Z [INFO] {lost}").partitions == ["b-1", "t-0", "t-1"]


def test_a_member_is_named_with_its_generation_and_its_instance() -> None:
    joined = "joined; group: g1, member_id: i1-8a, instance_id: i1, generation: 7, leader: false"
    row = only(f"2024-10-25T03:33:01.123Z x [INFO] {joined}")
    assert (row.member_id, row.generation, row.group_instance_id) == ("i1-8a", 7, "i1")
    row = only(f"2024-10-25T03:33:01.123Z x [INFO] {joined.replace('instance_id: i1', 'instance_id: <nil>')}")
    assert row.group_instance_id is None
    row = only("[sarama] 2024/10/25 03:33:01 consumergroup/session/a/b-8a/7 released")
    assert (row.member_id, row.generation) == ("a/b-8a", 7)


def test_librdkafka_says_who_it_is_in_every_line() -> None:
    text = STAMP + ' DEBUG rdkafka LEAVE [a client, no 1#consumer-12] [thrd:main]: Group "g "1"": leave (in state up)'
    row = only(text)
    assert (row.client_id, row.group_id, row.event) == ("a client, no 1", 'g "1"', "leaving")


JAVA = "[" + STAMP + "] INFO [Consumer clientId=a, groupId=g] "
KGO = "2024-10-25T03:33:01.123Z x [WARN] "
REFUSED = [
    (STAMP + " WARNING kafka.coordinator.heartbeat Heartbeat failed for group g1: generation id is not  current.",
     "Heartbeat", "ILLEGAL_GENERATION"),
    (STAMP + " WARNING kafka.coordinator Heartbeat: local member_id was not recognized; this consumer needs to re-join",
     "Heartbeat", "UNKNOWN_MEMBER_ID"),
    (STAMP + " INFO kafka.coordinator.heartbeat Group g1 is rebalancing; rejoining.", "Heartbeat",
     "REBALANCE_IN_PROGRESS"),
    (STAMP + " ERROR kafka.coordinator.consumer OffsetCommit for group g1 failed due to fenced id error: i1",
     "OffsetCommit", "FENCED_INSTANCE_ID"),
    (STAMP + " WARNING aiokafka.consumer.group_coordinator Heartbeat failed for group g1 because it is rebalancing",
     "Heartbeat", "REBALANCE_IN_PROGRESS"),
    (STAMP + " INFO aiokafka.consumer.group_coordinator OffsetCommit failed for group g1 due to a coordinator error "
     "(NotCoordinatorForGroupError), will find new coordinator and retry", "OffsetCommit", "NOT_COORDINATOR"),
    (STAMP + ' DEBUG rdkafka HEARTBEAT [a#consumer-1] [thrd:main]: Group "g1" heartbeat error response in state up '
     "(join-state steady, 2 partition(s) assigned): Broker: Specified group generation id is not valid",
     "Heartbeat", "ILLEGAL_GENERATION"),
    ("%2|1729827181.123|FATAL|a#consumer-1| [thrd:main]: Fatal error: Broker: Static consumer fenced by other consumer "
     "with same group.instance.id: OffsetCommit failed: Broker: Static consumer fenced by other consumer with same "
     "group.instance.id", "OffsetCommit", "FENCED_INSTANCE_ID"),
    (KGO + "unable to commit offset for topic partition; group: g1, topic: t, partition: 0, "
     "commit_from: 3, commit_to: 3, commit_epoch: 0, error_code: 22", "OffsetCommit", "ILLEGAL_GENERATION"),
    ("[app] 2024/10/25 03:33:01 x Error from consumer group: kafka: error while consuming t/2: kafka server: The "
     "provided member is not known in the current generation", "OffsetCommit", "UNKNOWN_MEMBER_ID"),
    ("[sarama] 2024/10/25 03:33:01 JoinGroup failed: group instance id i1 has been fenced", "JoinGroup",
     "FENCED_INSTANCE_ID"),
    ("[" + STAMP + "] INFO [Producer clientId=a, transactionalId=b] Transiting to abortable error state "
     "due to org.apache.kafka.clients.consumer.CommitFailedException: Transaction offset Commit failed due to consumer "
     "group metadata mismatch: Specified group generation id is not valid. (o.a.k.c.p.internals.TransactionManager)",
     "TxnOffsetCommit", "ILLEGAL_GENERATION"),
    (JAVA + "Attempt to heartbeat with Generation{generationId=1, "
     "memberId='a-1', protocol='range'} and group instance id Optional.empty failed due to UNKNOWN_MEMBER_ID, "
     "resetting generation (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
     "Heartbeat", "UNKNOWN_MEMBER_ID"),
    (JAVA + "OffsetCommit failed with Generation{generationId=2, "
     "memberId='a-1', protocol='range'} due to group instance id Optional[i1] fenced "
     "(org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)", "OffsetCommit", "FENCED_INSTANCE_ID"),
    (JAVA + "OffsetCommit failed with stale member epoch. x "
     "(org.apache.kafka.clients.consumer.internals.CommitRequestManager)", "OffsetCommit", "STALE_MEMBER_EPOCH"),
    (JAVA + "OffsetCommit failed for member m with stale member epoch error. Last epoch sent: Optional[5] "
     "(org.apache.kafka.clients.consumer.internals.CommitRequestManager)", "OffsetCommit", "STALE_MEMBER_EPOCH"),
    (JAVA + "OffsetCommit failed with unknown member ID. The coordinator is not aware of this member. "
     "(org.apache.kafka.clients.consumer.internals.CommitRequestManager)", "OffsetCommit", "UNKNOWN_MEMBER_ID"),
    (JAVA + "ConsumerGroupHeartbeatRequest failed for member m with state STABLE due to FENCED_MEMBER_EPOCH: x "
     "(org.apache.kafka.clients.consumer.internals.ConsumerHeartbeatRequestManager)",
     "ConsumerGroupHeartbeat", "FENCED_MEMBER_EPOCH"),
    (JAVA + "ConsumerGroupHeartbeatRequest failed for member m "
     "because epoch 5 is fenced. (org.apache.kafka.clients.consumer.internals.ConsumerHeartbeatRequestManager)",
     "ConsumerGroupHeartbeat", "FENCED_MEMBER_EPOCH"),
    # HeartbeatRequestManager of 3.7, and of 3.8 and 3.9, calls its request otherwise than later ones.
    (JAVA.replace("INFO", "ERROR") + "GroupHeartbeatRequest failed due to the instance id i1 was not released: Static "
     "member m with instance id i1 cannot join the group because the instance id is owned by k member. "
     "(org.apache.kafka.clients.consumer.internals.HeartbeatRequestManager)",
     "ConsumerGroupHeartbeat", "UNRELEASED_INSTANCE_ID"),
    (JAVA.replace("INFO", "ERROR") + "GroupHeartbeatRequest failed due to unreleased instance id i1: Static "
     "member m with instance id i1 cannot join the group because the instance id is owned by k member. "
     "(org.apache.kafka.clients.consumer.internals.HeartbeatRequestManager)",
     "ConsumerGroupHeartbeat", "UNRELEASED_INSTANCE_ID"),
    (JAVA + "GroupHeartbeatRequest failed because the group coordinator Optional[b:9092 (id: 2147483646 rack: null)] "
     "is still loading.Will retry in 100ms: null "
     "(org.apache.kafka.clients.consumer.internals.HeartbeatRequestManager)",
     "ConsumerGroupHeartbeat", "COORDINATOR_LOAD_IN_PROGRESS"),
    (JAVA + "GroupHeartbeatRequest failed for member m because epoch 5 is fenced. in 0ms: x "
     "(org.apache.kafka.clients.consumer.internals.HeartbeatRequestManager)",
     "ConsumerGroupHeartbeat", "FENCED_MEMBER_EPOCH"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "api", "error"), REFUSED)
def test_a_refusal_has_the_request_and_kafkas_name_of_the_error(text: str, api: str, error: str) -> None:
    row = only(text)
    assert (row.api, row.error) == (api, error)
    assert error in ERROR_CODES


@pytest.mark.parametrize(
    "text",
    [
        STAMP + " WARNING kafka.coordinator.heartbeat Heartbeat session expired, marking coordinator dead",
        STAMP + " INFO kafka.coordinator.consumer Failing OffsetCommit request since the consumer is not part of an "
        "active group",
        "[2024-10-25 03:33:01,123] ERROR x (App)\norg.apache.kafka.clients.consumer.CommitFailedException: Offset "
        "commit cannot be completed since the consumer is not part of an active group for auto partition assignment",
    ],
)
def test_what_a_client_refused_by_itself_is_no_error_of_the_coordinator(text: str) -> None:
    assert only(text).error is None


def test_lines_that_no_template_fits_are_kept_and_details_are_not() -> None:
    row = only(STAMP + " WARNING kafka.coordinator Something new happened")
    assert (row.event, row.reason, row.client_software) == ("unrecognised", "Something new happened", "kafka-python")
    assert only("2024-10-25T03:33:01.123Z x [WARN] something new; group: g1").event == "unrecognised"
    assert only(STAMP + " WARNING rdkafka CGRPNEW [a#consumer-1] [thrd:main]: New").event == "unrecognised"
    for text in (
        STAMP + " DEBUG kafka.coordinator Something new happened",
        "2024-10-25T03:33:01.123Z x [DEBUG] something new; group: g1",
        STAMP + " DEBUG rdkafka CGRPNEW [a#consumer-1] [thrd:main]: New",
        STAMP + " ERROR rdkafka FAIL [a#consumer-1] [thrd:b:9092/1]: b:9092/1: Connect to b:9092 failed",
        STAMP + " INFO kafka.coordinators.elsewhere Something new happened",
        STAMP + " INFO app the kafka server: it is up",
    ):
        assert parse_entry(text, LOGGED_AT) == []


def test_a_broker_is_no_client_of_python() -> None:
    line = "[2024-10-25 03:33:01,123] INFO {} (kafka.coordinator.transaction.TransactionCoordinator)"
    assert parse_entry(line.format("[TransactionCoordinator id=1] Startup complete."), LOGGED_AT) == []


def test_a_stack_trace_does_not_hide_a_line() -> None:
    text = (
        STAMP + " ERROR kafka.coordinator.consumer Offset commit failed: This is likely\nTraceback (most recent):\n x"
    )
    assert only(text).event == "commit_failed"
    text = STAMP + " ERROR kafka.coordinator Heartbeat session expired, odd\nTraceback (most recent call last):\n  x"
    assert (only(text).event, only(text).reason) == ("session_timeout", "odd")
