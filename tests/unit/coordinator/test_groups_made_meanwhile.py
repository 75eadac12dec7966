"""Requests that waited in the coordinator's queue while their group was made, or was empty no more."""

from __future__ import annotations

from tests.unit.coordinator.converted_rows import CLASSIC, NEW, NOTHING, broker, standing
from tests.unit.coordinator.evidence_rows import GROUP, Row, join, modern_records, request
from transforms.coordinator.replay import replay_group
from transforms.coordinator.timeline.audit import WHY_RACE

_STATIC = {**NEW, "instanceId": "i1"}


def _joined(at: float, member: str, epoch: int, metadata: Row) -> tuple[float, list[tuple[int, str, Row]]]:
    written = [(5, member, metadata), (3, "", {"epoch": epoch}), (7, member, NOTHING)]
    return at, [*written, (6, "", {"assignmentEpoch": epoch}), (8, member, standing(epoch, epoch))]


def _audited(records: list[Row], asked: Row) -> Row:
    (row,) = replay_group("c", GROUP, [], broker("4.2.0"), [asked], 50, modern_records=records)["replay_audit"]
    return row


def test_who_comes_second_into_a_new_group_under_an_instance_id_is_kept_out():
    asked = request(
        1_000, "ConsumerGroupHeartbeat", "n", 111, parked_ms=20, generation=0, group_instance_id="i1",
        subscribed_topics=["orders"], rebalance_timeout_ms=60_000, owned=[], api_version=1
    )  # fmt: skip
    row = _audited(modern_records(_joined(1_010, "m", 1, _STATIC)), asked)
    assert (row["agrees"], row["predicted_error"], row["why"]) == (True, 111, WHY_RACE)
    lie = _audited(modern_records(_joined(1_010, "m", 1, NEW)), asked)
    assert lie["agrees"] is not True, "nobody has the instance id"


def test_a_join_by_the_classic_protocol_meets_a_group_that_is_empty_no_more():
    left = (2_000, [(8, "m", None), (7, "m", None), (5, "m", None), (3, "", {"epoch": 2})])
    asked = request(3_000, "JoinGroup", "", 79, parked_ms=200, api_version=9, protocol_type="consumer",
                    session_timeout_ms=10_000, rebalance_timeout_ms=60_000,
                    protocols=[{"name": "range", "metadata": b"\0\0\0\0\0\0\xff\xff\xff\xff"}])  # fmt: skip
    written = [_joined(1_000, "m", 1, NEW), left, _joined(3_100, "n", 3, NEW)]
    row = _audited(modern_records(*written), asked)
    assert (row["group_type"], row["agrees"], row["why"]) == ("consumer", True, WHY_RACE)


def test_a_join_that_waited_until_a_new_group_was_there_is_of_that_group():
    asked = join(1_000, "", 2, "n", parked_ms=40, api_version=2)
    written = modern_records(_joined(1_010, "m", 1, NEW), _joined(1_030, "n", 2, CLASSIC))
    row = _audited(written, asked)
    assert (row["group_type"], row["agrees"], row["why"]) == ("consumer", True, None)
    refused = _audited(written, join(1_000, "", None, error_code=25, parked_ms=40, api_version=2))
    assert refused["agrees"] is not True, "it was let in"
