"""What a broker answers that does not coordinate the group, or not yet."""

from __future__ import annotations

import pytest

from tests.unit.coordinator.evidence_rows import Row, line, typed_line
from transforms.coordinator.evidence.ownership import Ownership

NOT_COORDINATOR, LOADING, REBALANCING = 16, 14, 27


def lines(dialect: str, has_epochs: bool = True) -> list[Row]:
    """Scheduled at 1000, loaded at 1100, of which 60 ms in the scheduler; given up at 2000."""
    loaded = {"attributes": {"duration_ms": "100", "scheduler_ms": "60"}}
    rows = [
        line(999, "coordinator_elected"),
        line(1_000, "load_scheduled", **({"attributes": {"epoch": "4"}} if has_epochs else {})),
        line(1_100, "load_finished", **loaded),
        line(2_000, "unload_scheduled"),
    ]
    return [{**row, "dialect": dialect} for row in rows]


def told(rows: list[Row]) -> Ownership:
    """What is known when all these lines have been seen."""
    ownership = Ownership()
    for row in rows:
        ownership.notice(typed_line(row), "java")
    return ownership


@pytest.mark.parametrize(
    ("dialect", "api", "at", "answer"),
    [
        ("scala", "JoinGroup", 900, NOT_COORDINATOR),
        ("scala", "JoinGroup", 1_030, NOT_COORDINATOR),  # scheduled, and not its turn yet
        ("scala", "JoinGroup", 1_080, LOADING),
        ("scala", "Heartbeat", 1_080, 0),
        ("scala", "SyncGroup", 1_080, REBALANCING),
        ("scala", "SyncGroup", 1_030, NOT_COORDINATOR),
        ("java", "JoinGroup", 900, NOT_COORDINATOR),
        ("java", "JoinGroup", 1_030, LOADING),
        ("java", "OffsetCommit", 1_080, LOADING),
        ("java", "Heartbeat", 1_030, 0),
        ("java", "SyncGroup", 1_080, LOADING),
        ("java", "SyncGroup", 1_500, None),
        ("scala", "SyncGroup", 1_500, None),
        ("java", "Heartbeat", 2_500, NOT_COORDINATOR),
        ("scala", "Heartbeat", 2_500, NOT_COORDINATOR),
    ],
)
def test_the_answer_follows_the_state_of_the_partition(dialect, api, at, answer):
    ownership = told(lines(dialect))
    assert ownership.answers("1", api, at, at + 1) == [answer]


@pytest.mark.parametrize(("api", "answer"), [("JoinGroup", LOADING), ("Heartbeat", 0), ("SyncGroup", REBALANCING)])
def test_up_to_2_7_a_partition_is_being_loaded_as_soon_as_that_is_scheduled(api, answer):
    ownership = told(lines("scala", has_epochs=False))
    assert ownership.answers("1", api, 990, 991) == [NOT_COORDINATOR]
    assert ownership.answers("1", api, 1_030, 1_031) == [answer]


def test_a_request_that_waits_until_the_partition_goes_may_be_sent_away():
    ownership = told(lines("java"))
    assert ownership.answers("1", "JoinGroup", 1_900, 2_001) == [None, NOT_COORDINATOR]


def test_within_a_millisecond_of_a_line_both_may_be():
    ownership = told(lines("scala"))
    assert ownership.answers("1", "JoinGroup", 1_060.4, 1_060.9) == [NOT_COORDINATOR, LOADING]


def test_of_a_broker_without_lines_nothing_is_known():
    ownership = told(lines("java"))
    assert ownership.answers("2", "JoinGroup", 1_500, 1_501) == []
    assert ownership.is_settled("2", 1_500, 1_501)


def test_between_two_changes_the_group_is_asked():
    ownership = told(lines("java"))
    assert ownership.is_settled("1", 1_500, 1_501)
    assert not ownership.is_settled("1", 1_500, 2_001)
    assert not ownership.is_settled("1", 1_030, 1_031)


@pytest.mark.parametrize(("dialect", "answer"), [("java", NOT_COORDINATOR), ("scala", None)])
def test_a_partition_that_cannot_be_loaded_is_owned_all_the_same_by_the_old_coordinator(dialect, answer):
    rows = [{**line(1_000, "load_failed"), "dialect": dialect}]
    assert told(rows).answers("1", "JoinGroup", 1_500, 1_501) == [answer]


def elected(at: float, broker: str, epoch: int | None) -> list[Row]:
    """A broker is elected in an epoch, which lines tell since 2.8, and has loaded the partition ten ms later."""
    of_epoch = {} if epoch is None else {"attributes": {"epoch": str(epoch)}}
    return [
        *([] if epoch is None else [line(at, "coordinator_elected", broker, **of_epoch)]),
        line(at, "load_scheduled", broker, **of_epoch),
        line(at + 10, "load_finished", broker, **of_epoch),
    ]


def test_a_broker_that_starts_is_behind_until_it_has_read_what_happened_since():
    ownership = told(
        [
            *elected(1_000, "2", 5),
            line(2_000, "coordinator_started", "1"),
            *elected(2_100, "1", 4),
            line(2_150, "unload_finished", "1"),
            *elected(3_000, "1", 6),
        ]
    )
    assert not ownership.is_outdated("1", 2_090)
    assert ownership.is_outdated("1", 2_110)
    assert not ownership.is_outdated("1", 2_160)
    assert not ownership.is_outdated("1", 3_010)
    assert not ownership.is_outdated("2", 2_110)


@pytest.mark.parametrize("epochs", [(4, 5), (None, None)])
@pytest.mark.parametrize(("hears_at", "is_frozen"), [(5_100, True), (1_050, False)])
def test_a_broker_that_stood_still_is_behind_until_it_hears_of_the_next(
    hears_at: float, is_frozen: bool, epochs: tuple[int | None, int | None]
):
    rows = [*elected(0, "1", epochs[0]), *elected(1_000, "2", epochs[1]), line(hears_at, "unload_finished", "1")]
    ownership = told(rows)
    assert ownership.is_outdated("1", 1_020)
    assert ownership.stood_still("1", 1_020) == is_frozen
    assert not ownership.is_outdated("1", 1_005)
    assert not ownership.is_outdated("1", hears_at)
    assert not ownership.is_outdated("2", 1_020)


def test_where_lines_tell_no_epoch_nobody_is_behind():
    rows = [line(0, "load_finished", "1"), line(1_000, "load_finished", "2"), line(1_010, "load_finished", "1")]
    ownership = told(rows)
    assert not any(ownership.is_outdated(broker, at) for broker in "12" for at in (0, 1_005, 1_020))


def test_when_a_broker_begins_to_ask_the_group():
    ownership = told(lines("scala"))
    assert ownership.begins_to_ask("1", 1_080, 1_500) == 1_100
    assert ownership.begins_to_ask("1", 1_100.2, 1_500) == 1_100  # in the millisecond of the line
    assert ownership.begins_to_ask("1", 1_080, 1_090) is None
    assert ownership.begins_to_ask("1", 1_300, 1_500) is None
    assert ownership.begins_to_ask("2", 1_300, 1_500) is None


def test_who_has_loaded_later_was_not_elected_later():
    """Where lines tell no epochs, the moment in which a broker began to load counts."""
    rows = [
        line(1_000, "load_scheduled", "1"),
        line(2_000, "load_scheduled", "2"),
        line(2_010, "load_finished", "2"),
        line(2_500, "load_finished", "1"),
    ]
    ownership = told(rows)
    assert not ownership.is_outdated("2", 3_000)
    assert ownership.is_outdated("1", 3_000)


def test_epochs_and_moments_are_not_compared():
    """While a cluster is brought to a later release, some brokers' lines tell epochs, and others' none."""
    ownership = told([*elected(0, "1", 4), *elected(1_000, "2", None), *elected(2_000, "1", 6)])
    assert not any(ownership.is_outdated(broker, 3_000) for broker in "12")


def test_what_a_broker_was_through_with_before_it_was_elected_again_ends_nothing():
    of_epochs = [("unload_scheduled", 5), ("load_scheduled", 6), ("unload_finished", 5), ("load_finished", 6)]
    rows = [*elected(1_000, "1", 4)]
    rows += [line(2_000 + at, event, attributes={"epoch": str(epoch)}) for at, (event, epoch) in enumerate(of_epochs)]
    assert told(rows[:-1]).answers("1", "JoinGroup", 2_500, 2_501) == [LOADING]
    ownership = told(rows)
    assert ownership.answers("1", "JoinGroup", 2_500, 2_501) == [None]
    for row in elected(3_000, "2", 5):
        ownership.notice(typed_line(row), "java")
    assert ownership.is_outdated("2", 3_100), "another was elected later"


def test_who_coordinates_a_partition_is_told_by_its_own_lines_wherever_the_group_lives():
    rows = [{**row, "topic_partition_of_group": 7} for row in elected(1_000, "1", 4)]
    rows += [{**row, "topic_partition_of_group": 57} for row in elected(2_000, "2", 9)]
    rows += [{**line(3_000, "unload_scheduled", "1"), "topic_partition_of_group": 7}]
    ownership = told(rows)
    assert ownership.answers("1", "JoinGroup", 2_500, 2_501) == [None]
    assert ownership.answers("1", "JoinGroup", 3_500, 3_501) == [NOT_COORDINATOR]
    assert ownership.answers("2", "JoinGroup", 2_500, 2_501) == []
    assert ownership.move_to(57)
    assert ownership.answers("2", "JoinGroup", 2_500, 2_501) == [None]
    assert ownership.answers("1", "JoinGroup", 2_500, 2_501) == []
    ownership.notice(typed_line(line(4_000, "coordinator_started", "2")), "java")
    assert ownership.answers("2", "JoinGroup", 4_500, 4_501) == [NOT_COORDINATOR]
    assert ownership.move_to(7)
    assert ownership.answers("1", "JoinGroup", 3_500, 3_501) == [NOT_COORDINATOR]
    assert not ownership.move_to(7)
