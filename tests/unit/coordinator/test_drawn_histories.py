"""A slip of the pen in a drawn history is told, and not replayed as something else."""

from __future__ import annotations

import pytest

from tests.support.drawn_history import GROUP_ID, ORIGIN_MS, PARTITION, parse
from tests.support.drawn_table import NO_ROWS
from tests.support.drawn_table import parse as parse_table


@pytest.mark.parametrize(
    "line",
    [
        "5 a Heartbeat a-1 generation 1",  # no answer
        "5 a Hartbeat a-1 generation 1 -> NONE",
        "5 a Heartbeat a-1 generation 1 -> REBALANCE_IN_PROGRES",
        "5 a Heartbeat a-1 generation 1 -> 4 NONE",  # answered before it came
        "5 a JoinGroup a-1, offer range -> generation 1, leader a-1",
        "5 a JoinGroup a-1 -> generation 1, leader a-1, member b-1",
        "5 a SyncGroup a-1 generation 1 -> ILLEGAL_GENERATIO",
        "5 a LeaveGroup a-1, b-1 -> NONE",  # two leavers, one answer
        "5 log Preparing to rebalance the group orders",
        "5 record generation 1, leader a-1, member a-1: t-0",
        "5 record generation 1, leader a-1",
        "6 log Startup complete.\n5 log Shutdown complete.",  # not in the order of time
    ],
)
def test_what_is_not_understood_is_refused(line: str) -> None:
    with pytest.raises(ValueError):
        parse(line)


def test_a_history_is_read_by_the_readers_of_the_product() -> None:
    history = parse(
        """
        kafka = 3.9.1
        group.max.size = 2

        1.5  a        JoinGroup v5 (i)[u t] "why, really", offers range sticky  -> 30 generation 1 as a-1, leader a-1
        2    log@2/7  Stabilized group orders generation 1 (__consumer_offsets-7) with 1 members
        3    record   generation 1, since 2, leader a-1, members a-1(i): t-0 u-0 t-1
        """
    )
    request, record = history.requests[0], history.records[0]
    assert (request["api_version"], request["group_instance_id"], request["member_id"]) == (5, "i", "")
    assert (request["handled_at"] - ORIGIN_MS, request["answered_at"] - ORIGIN_MS, request["parked_ms"]) == (
        1.5,
        30,
        28.5,
    )
    assert [protocol["name"] for protocol in request["protocols"]] == ["range", "sticky"]
    assert (request["reason"], request["answered_member_id"], request["answered_generation"]) == (
        "why, really",
        "a-1",
        1,
    )
    assert [(row["event"], row["broker"], row["topic_partition_of_group"]) for row in history.events] == [
        ("broker_settings", "1", None),
        ("broker_version", "1", None),
        ("stabilized", "2", 7),
    ]
    assert {row["dialect"] for row in history.events if row["group_id"] == GROUP_ID} == {"scala"}
    assert (record["topic_partition_of_record"], record["state_changed_at"] - ORIGIN_MS) == (PARTITION, 2)
    assert [each["topic"] for each in record["members"][0]["assigned"]] == ["t", "u", "t"]


def test_a_table_without_rows_has_to_say_so() -> None:
    drawing = parse_table(f"generations\n{NO_ROWS}\n\nassignments\n| topic |\n| t     |")
    assert (drawing.tables["generations"], drawing.columns["generations"]) == ([], ())
    assert drawing.tables["assignments"] == [{"topic": "t"}]
