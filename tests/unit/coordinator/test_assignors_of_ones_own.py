"""Members of consumer groups wish for an assignor, of which a broker has those that group.consumer.assignors lists.

A class of one's own is listed, and what its assignor is called is not said; Kafka's own go by names since 4.0, and by
their classes before (GroupCoordinatorConfig, GroupCoordinatorService.throwIfConsumerGroupHeartbeatRequestIsInvalid).
"""

from __future__ import annotations

import pytest

from tests.unit.coordinator.consumer_records import STABLE, parts, targets
from tests.unit.coordinator.converted_rows import NEW, broker, comes
from tests.unit.coordinator.evidence_rows import GROUP, Row, modern_records
from transforms.coordinator.kafka.broker_settings import CoordinatorSettings
from transforms.coordinator.modern.world import settings_of
from transforms.coordinator.replay import replay_group
from transforms.coordinator.timeline.audit import WHY_SETTING

NONE, INVALID_REQUEST, UNSUPPORTED_ASSIGNOR = 0, 42, 112
OF_KAFKA = "org.apache.kafka.coordinator.group.assignor"
BY_CLASS = f"[{OF_KAFKA}.UniformAssignor, {OF_KAFKA}.RangeAssignor]"
MIXED = "[org.acme.Mine, uniform]"


def _replayed(printed: str | None, *requests: Row, is_let_in: bool = True) -> dict[str, list[Row]]:
    joined = [
        (5, "m", {**NEW, "serverAssignor": requests[0]["server_assignor"] if requests else None}),
        (3, "", {"epoch": 1}),
        *targets(1, m=(0, 1)),
        (8, "m", {"memberEpoch": 1, "previousMemberEpoch": 0, "state": STABLE, "assignedPartitions": parts(0, 1)}),
    ]
    lines = broker("4.2.0", **({} if printed is None else {"group.consumer.assignors": printed}))
    records = modern_records((2_000, joined)) if is_let_in else []
    return replay_group("c", GROUP, [], lines, requests, 50, modern_records=records)


def _judged(printed: str | None, wish: str, error: int, **fields: object) -> Row:
    """The row of the audit of a join that wishes for an assignor, and was answered so."""
    told = {"answered_generation": 1, "told": [{"topic_id": parts(0)[0]["topicId"], "partitions": [0, 1]}]}
    asked = comes(2_000, error, server_assignor=wish, **({} if error else told), **fields)
    (row,) = _replayed(printed, asked, is_let_in=not error)["replay_audit"]
    return row


@pytest.mark.parametrize("printed", [None, MIXED, "[org.acme.Mine]"])
@pytest.mark.parametrize("error", [NONE, UNSUPPORTED_ASSIGNOR])
def test_whether_there_is_one_of_that_name_only_the_answer_shows(printed: str | None, error: int):
    row = _judged(printed, "mine", error)
    assert (row["predicted_error"], row["agrees"]) == (error, True)
    assert (row["is_answer_used"], row["why"]) == (True, WHY_SETTING)


def test_a_request_that_is_refused_before_that_shows_nothing():
    row = _judged(MIXED, "mine", INVALID_REQUEST, owned=None)
    assert (row["predicted_error"], row["agrees"], row["is_answer_used"]) == (INVALID_REQUEST, True, False)


@pytest.mark.parametrize(
    ("printed", "wish", "error"),
    [
        (MIXED, "uniform", NONE),
        (MIXED, "range", UNSUPPORTED_ASSIGNOR),
        ("[range]", "range", NONE),
        ("[range]", "uniform", UNSUPPORTED_ASSIGNOR),
        ("[range]", "mine", UNSUPPORTED_ASSIGNOR),
        (BY_CLASS, "uniform", NONE),
        (BY_CLASS, "range", NONE),
        (BY_CLASS, "mine", UNSUPPORTED_ASSIGNOR),
        (None, "range", NONE),
    ],
)
def test_what_the_list_tells_is_foreseen(printed: str | None, wish: str, error: int):
    row = _judged(printed, wish, error)
    assert (row["predicted_error"], row["agrees"], row["is_answer_used"]) == (error, True, False)


@pytest.mark.parametrize(
    ("printed", "assignors", "are_told"),
    [
        ("[uniform, range]", ("uniform", "range"), True),
        (BY_CLASS, ("uniform", "range"), True),
        (f"{OF_KAFKA}.RangeAssignor", ("range",), True),
        (MIXED, ("org.acme.Mine", "uniform"), False),
        ("[]", ("uniform", "range"), False),
        (None, ("uniform", "range"), False),
    ],
)
def test_the_first_of_the_list_is_the_default(printed: str | None, assignors: tuple[str, ...], are_told: bool):
    attributes = {} if printed is None else {"group.consumer.assignors": printed}
    settings = settings_of(CoordinatorSettings().updated(CoordinatorSettings.relevant(attributes)))
    assert (settings.assignors, settings.are_assignors_told) == (assignors, are_told)


@pytest.mark.parametrize(("printed", "assignor"), [(None, "uniform"), ("[range, uniform]", "range")])
def test_targets_that_several_would_give_are_the_defaults(printed: str | None, assignor: str):
    (row,) = _replayed(printed)["generations"]
    assert row["assignor"] == assignor
