"""Settings and versions of brokers, and what is no entry at all."""

from __future__ import annotations

import pytest

from schemas.kafka_errors import ERROR_CODES, ERROR_NAMES, error_name
from transforms.loglines.parse import parse_entry

SETTINGS = """[2024-06-15 12:00:00,001] INFO KafkaConfig values:\x20
\tadvertised.listeners = [PLAINTEXT://127.0.0.1:9092]
\tbroker.id = 1
\tgroup.coordinator.new.enable = false
\tgroup.initial.rebalance.delay.ms = 3000
\tgroup.max.size = 2147483647
\tgroup.min.session.timeout.ms = 6000
\tinter.broker.protocol.version = 3.9-IV0
\tlog.dirs = /var/lib/kafka
\toffset.metadata.max.bytes = 4096
\toffsets.topic.num.partitions = 50
\tprocess.roles = []
\tssl.key.password = null
 (kafka.server.KafkaConfig)"""


def test_settings_that_rule_the_coordinator_are_kept() -> None:
    (parsed,) = parse_entry(SETTINGS, 7)
    assert parsed.table == "coordinator_events"
    assert (parsed.event, parsed.logged_at, parsed.dialect) == ("broker_settings", 7, None)
    assert parsed.attributes == {
        "broker.id": "1",
        "group.coordinator.new.enable": "false",
        "group.initial.rebalance.delay.ms": "3000",
        "group.max.size": "2147483647",
        "group.min.session.timeout.ms": "6000",
        "inter.broker.protocol.version": "3.9-IV0",
        "offset.metadata.max.bytes": "4096",
        "offsets.topic.num.partitions": "50",
        "process.roles": "[]",
    }


@pytest.mark.parametrize(
    ("group_id", "printed", "kept"),
    [
        ("ship-crash", "consumer.session.timeout.ms -> 4000", {"consumer.session.timeout.ms": "4000"}),
        (
            "team a/with new configuration : x",
            "share.session.timeout.ms -> 5000,consumer.session.timeout.ms -> 4000",
            {"share.session.timeout.ms": "5000", "consumer.session.timeout.ms": "4000"},
        ),
        ("ship-crash", "", {}),
    ],
)
def test_all_settings_of_a_group_are_kept(group_id: str, printed: str, kept: dict[str, str]) -> None:
    """The first line is of a broker 4.2.0; that of a group whose last setting is deleted ends with nothing."""
    (parsed,) = parse_entry(
        f"[2026-11-21 13:53:30,618] INFO [DynamicConfigPublisher broker id=1] Updating group {group_id} with new "
        f"configuration : {printed} (kafka.server.metadata.DynamicConfigPublisher)",
        7,
    )
    assert (parsed.event, parsed.group_id) == ("group_settings", None)
    assert parsed.attributes == {"group_id": group_id, **kept}


@pytest.mark.parametrize("printed", ["Kafka version: 4.2.0", "Kafka version : 4.2.0"])
def test_the_version_is_kept(printed: str) -> None:
    (parsed,) = parse_entry(
        f"[2024-06-15 12:00:00,001] INFO {printed} (org.apache.kafka.common.utils.AppInfoParser)", 7
    )
    assert parsed.event == "broker_version"
    assert parsed.attributes == {"version": "4.2.0"}


@pytest.mark.parametrize(
    ("version", "more"), [("4.2.1", {}), ("4.3.0", {"read_as": "4.2"}), ("5.0.0", {"read_as": "4.2"})]
)
def test_a_version_later_than_all_that_are_known_is_marked(version: str, more: dict[str, str]) -> None:
    (parsed,) = parse_entry(
        f"[2024-06-15 12:00:00,001] INFO Kafka version: {version} (org.apache.kafka.common.utils.AppInfoParser)", 7
    )
    assert parsed.attributes == {"version": version, **more}


def test_text_without_a_time_is_rejected_with_its_bytes() -> None:
    (parsed,) = parse_entry("\tat kafka.Fooü", None)
    assert parsed.table == "rejected"
    assert parsed.reason_code == "no_timestamp"
    assert parsed.raw == "\tat kafka.Fooü".encode()


@pytest.mark.parametrize("text", ["", "  \n\t"])
def test_blank_text_is_nothing(text: str) -> None:
    assert parse_entry(text, None) == []


def test_the_rest_of_an_overlong_entry_is_nothing() -> None:
    assert parse_entry("\tat kafka.coordinator.group.GroupCoordinator", 7) == []


def test_error_names_are_kafkas() -> None:
    assert {code: ERROR_NAMES[code] for code in (-1, 0, 16, 22, 25, 27, 79, 81, 82, 110, 113, 120, 132)} == {
        -1: "UNKNOWN_SERVER_ERROR",
        0: "NONE",
        16: "NOT_COORDINATOR",
        22: "ILLEGAL_GENERATION",
        25: "UNKNOWN_MEMBER_ID",
        27: "REBALANCE_IN_PROGRESS",
        79: "MEMBER_ID_REQUIRED",
        81: "GROUP_MAX_SIZE_REACHED",
        82: "FENCED_INSTANCE_ID",
        110: "FENCED_MEMBER_EPOCH",
        113: "STALE_MEMBER_EPOCH",
        120: "TRANSACTION_ABORTABLE",
        132: "STREAMS_TOPOLOGY_FENCED",
    }
    assert len(ERROR_CODES) == len(ERROR_NAMES)


def test_an_error_newer_than_the_table_keeps_its_number() -> None:
    assert error_name(999) == "UNKNOWN(999)"


@pytest.mark.parametrize("scala", ["2.12", "2.13"])
def test_the_class_path_of_a_broker_with_zookeeper_tells_what_it_was_built_with(scala: str) -> None:
    jars = f"/opt/kafka/libs/zookeeper-3.5.7.jar:/opt/kafka/libs/kafka_{scala}-2.4.1.jar:/opt/kafka/libs/scala-lib.jar"
    entry = f"[2026-11-21 20:04:45,767] INFO Client environment:java.class.path={jars} (org.apache.zookeeper.ZooKeeper)"
    (parsed,) = parse_entry(entry, 1)
    assert (parsed.event, parsed.attributes) == ("broker_version", {"scala": scala})
