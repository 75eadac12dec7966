"""No advice names a session that brokers refuse, or a setting that the clients of the group do not have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from schemas.rows import GenerationRow
from tests.unit.findings import pure
from tests.unit.findings.golden import Row, cases, complete
from transforms.findings.bounds import least_ms, raise_first
from transforms.findings.client_settings import or_smaller_batches, settings_for
from transforms.findings.evidence import Evidence, Request
from transforms.findings.giving_up import how_to_give_up_sooner

BOUND = "Brokers allow no session longer than group.max.session.timeout.ms (1800000 by default): "
OF_EPOCHS = "Brokers allow no session longer than group.consumer.max.session.timeout.ms (60000 by default): "

Change = Callable[[str, Row], Row]


def storm(name: str, change: Change) -> Row:
    """The storm of a golden case, in which something is otherwise."""
    (case,) = (each for each in cases("rebalance_storms") if each.name == name)
    tables = {table: [change(table, row) for row in case.rows(table)] for table in pure.TABLES.values()}
    (found,) = pure.storms(tables, case.thresholds())
    return found


def burst(name: str, change: Change, printed: str | None = None) -> Row:
    """Likewise the burst of one, of a group whose session timeout was printed."""
    (case,) = (each for each in cases("illegal_generation_bursts") if each.name == name)
    tables = {table: [change(table, row) for row in case.rows(table)] for table in pure.TABLES_OF_BURSTS.values()}
    if printed is not None:
        said = {"group_id": case.rows("group_requests")[0]["group_id"], "consumer.session.timeout.ms": printed}
        line = {"event": "group_settings", "logged_at": 0.0, "attributes": said}
        tables["coordinator_events"] = [complete("coordinator_events", line)]
    (found,) = pure.bursts(tables, case.given.settings["gap_ms"], case.given.settings["min_errors"])
    return found


def as_it_is(_: str, row: Row) -> Row:
    """Nothing is otherwise."""
    return row


def with_all(**values: Any) -> Change:
    """Whatever has one of some columns has this in it."""
    return lambda _, row: {**row, **{name: value for name, value in values.items() if row.get(name) is not None}}


def test_what_brokers_allow_needs_no_word() -> None:
    assert raise_first("classic", 1_800_000) == raise_first("share", 60_000) == ""
    assert raise_first("classic", 1_800_001).startswith(BOUND)
    assert raise_first("streams", 60_001).startswith("Brokers allow no session longer than group.streams.max.session")


def test_who_has_a_session_beyond_the_default_was_not_refused() -> None:
    assert raise_first("classic", 2_400_000, now=2_400_000) == ""
    assert (least_ms("classic", 1_000), least_ms("classic")) == (1_000, 6_000)


@pytest.mark.parametrize("name", ["lost_session", "crash_loop", "coordinator_trouble"])
def test_a_longer_session_of_a_storm_is_no_longer_than_brokers_allow(name: str) -> None:
    advice = storm(name, with_all(session_timeout_ms=1_795_000))["advice"]
    assert f" {BOUND}mend what takes so long, or raise that first. " in advice
    assert "session.timeout.ms=2249000 (now 1795000)" in advice
    assert BOUND not in storm(name, with_all(session_timeout_ms=45_000))["advice"]


def test_a_longer_session_of_a_burst_is_no_longer_than_brokers_allow() -> None:
    advice = burst("lost_session_of_three_threads", with_all(session_timeout_ms=1_795_000))["advice"]
    assert f"The silence lasted up to 30 min. {BOUND}" in advice
    assert "session.timeout.ms=2249000 (now 1795000) covers that" in advice
    assert BOUND not in burst("lost_session_of_three_threads", as_it_is)["advice"]


def test_sessions_of_consumer_groups_have_a_quarter_of_a_minute_to_grow() -> None:
    def later(_: str, row: Row) -> Row:
        return {n: v + 5_000 if isinstance(v, int | float) and 32_000 <= v < 40_000 else v for n, v in row.items()}

    assert OF_EPOCHS not in storm("lost_session_with_epochs", as_it_is)["advice"]
    advice = storm("lost_session_with_epochs", later)["advice"]
    assert f"was back 13.0 s later at most. {OF_EPOCHS}" in advice and "that is 17.0 s longer covers that" in advice


def test_a_session_that_is_not_known_is_advised_with_no_less_than_brokers_allow() -> None:
    advice = storm("flapping_member", lambda _, row: {**row, "session_timeout_ms": None})["advice"]
    assert "session.timeout.ms=6000 lets it" in advice


@pytest.mark.parametrize(
    ("printed", "said"),
    [
        ("45000", "of the group is refused below group.consumer.min.session.timeout.ms (45000 by default)."),
        ("55000", "of the group, down to group.consumer.min.session.timeout.ms (45000 by default), ends it sooner; "),
    ],
)
def test_a_shorter_session_is_advised_down_to_what_brokers_allow(printed: str, said: str) -> None:
    advice = burst("restart_without_giving_back", as_it_is, printed)["advice"]
    assert f"a shorter consumer.session.timeout.ms {said}" in advice


JAVA = ("session.timeout.ms", "max.poll.interval.ms", "group.instance.id", "max.poll.records")


@pytest.mark.parametrize(
    ("protocol_type", "software", "names"),
    [
        (None, [], JAVA),
        ("consumer", ["apache-kafka-java/4.2.0", "unknown/unknown"], JAVA),
        ("consumer", ["confluent-kafka-python/2.16.1-rdkafka-2.16.0"], (*JAVA[:3], None)),
        ("consumer", ["a-library-of-their-own/1.0"], (*JAVA[:3], None)),
        (
            "consumer",
            ["kafka-python/3.0.12"],
            ("session_timeout_ms", "max_poll_interval_ms", "group_instance_id", "max_poll_records"),
        ),
        ("consumer", ["kgo/v1.22.2"], ("SessionTimeout", "RebalanceTimeout", "InstanceID", None)),
        ("consumer", ["kafka-python/3.0.12", "apache-kafka-java/4.2.0"], JAVA),
        ("consumer", ["sarama/v1.61.1", "apache-kafka-java/4.2.0"], (*JAVA[:3], None)),
        ("connect", ["apache-kafka-java/4.2.0"], ("session.timeout.ms", "rebalance.timeout.ms", None, None)),
        ("sr", ["apache-kafka-java/4.2.0"], (None, None, None, None)),
    ],
)
def test_settings_are_called_as_the_clients_call_them(
    protocol_type: str | None, software: list[str], names: tuple[str | None, ...]
) -> None:
    told: dict[str, Any] = {"cluster": "c", "group_id": "g", "life": 1, "generation": 1, "trigger": "unknown"}
    told |= {"evidence": [], "is_inferred": False, "missing_before": 0, "protocol_type": protocol_type}
    join: dict[str, Any] = {"answered_at": 0.0, "api": "JoinGroup", "error": "NONE", "client_id": "a"}
    requests = [Request(**join, client_software=each) for each in software]
    requests.append(Request(**join | {"client_id": "else"}, client_software="kgo/v1"))
    found = settings_for(
        Evidence(cluster="c", group_id="g", generations=[GenerationRow(**told)], requests=requests), {("a", None)}
    )
    assert (found.session, found.poll, found.instance, found.batch) == names
    assert found.are_consumers == (protocol_type not in ("connect", "sr"))
    assert ("max.poll.records" in or_smaller_batches(found, 0.5)) == ("max.poll.records" in names)


def test_workers_of_connect_are_not_offered_a_protocol_of_consumers() -> None:
    (case,) = (each for each in cases("rebalance_storms") if each.name == "members_that_are_no_consumers")
    tables = {table: case.rows(table) for table in pure.TABLES.values()}
    for row in pure.storms(tables, case.thresholds()):
        for name in ("max.poll", "group.instance.id", "group.protocol", "onPartitionsRevoked"):
            assert name not in row["advice"]


@pytest.mark.parametrize(
    ("name", "protocol_type", "said"),
    [
        ("subscription_conflict", "connect", "as workers do when connectors or tasks are added, changed or taken away"),
        ("subscription_conflict", "sr", "joined again with other metadata in"),
        ("metadata_refresh", "connect", "What the group shares out changed, which is behind"),
        ("lost_session", "sr", "3 times, but the process lived on and was back 4.0 s later at most: a pause of the"),
        ("lost_session", "connect", "session.timeout.ms=13000 (now 6000) covers the longest one"),
        ("coordinator_trouble", "sr", "Members were without a coordinator for up to 10.0 s and lost their sessions."),
        ("slow_poll_loop", "sr", "up to 8.0 s, with 5.0 s allowed."),
    ],
)
def test_causes_are_told_without_settings_of_consumers(name: str, protocol_type: str, said: str) -> None:
    def of_type(table: str, row: Row) -> Row:
        return {**row, "protocol_type": protocol_type} if table == "generations" else row

    advice = storm(name, of_type)["advice"]
    assert said in advice
    for word in ("group.id", "max.poll", "session.timeout.ms" if protocol_type == "sr" else "group.instance.id"):
        assert word not in advice


@pytest.mark.parametrize(
    ("name", "said"),
    [("lost_session_of_three_threads", "lasted up to 10.0 s."), ("slow_poller_that_left", "took up to 9.5 s.")],
)
def test_bursts_of_members_that_are_no_consumers_name_no_setting(name: str, said: str) -> None:
    advice = burst(name, lambda table, row: {**row, "protocol_type": "sr"} if table == "generations" else row)["advice"]
    assert advice.endswith(said)


def test_the_bound_of_a_wait_for_partitions_is_named_as_it_is() -> None:
    """In how long somebody gave partitions up says nothing of how long its batches take."""
    assert "max.poll.interval.ms=300000 (as now) bounds" in how_to_give_up_sooner("consumer", 300_000)
    assert "max.poll.interval.ms bounds" in how_to_give_up_sooner("consumer", None)
    assert how_to_give_up_sooner("streams", 300_000).startswith("A task is given up")
