"""A group with epochs is not foretold, and whoever asks is told what is known of it and what cannot be asked."""

from __future__ import annotations

import pytest

from transforms.whatif.change import Change, change_of
from transforms.whatif.epochs import not_to_be_asked

STATIC = change_of([], is_static=True)


LONGER = change_of(["session.timeout.ms=60000"])
STORMY = {"member_joined": 5, "session_expired": 3, "member_left": 2, "topic_metadata_changed": 4}


def told(change: Change, epochs: dict[str, dict[str, int]]) -> str:
    return str(not_to_be_asked("orders", "prod", change, epochs))


def test_of_a_group_that_was_never_seen_nothing_is_known() -> None:
    assert told(STATIC, {}) == "nothing is known of group orders in cluster prod at that time"


def test_a_group_with_epochs_is_known_but_not_foretold() -> None:
    said = told(STATIC, {"consumer": {"member_joined": 12}})
    assert "nothing is known" not in said
    assert said.startswith("group orders in cluster prod is a consumer group: 12 epochs of it are known")
    assert "classic groups only" in said and "describe_group" in said
    assert "1 epoch of it is known" in told(STATIC, {"share": {"unknown": 1}})


def test_a_group_that_spoke_several_protocols_is_called_by_all_of_them() -> None:
    assert "is a consumer and streams group: 5 epochs" in told(
        STATIC, {"streams": {"unknown": 2}, "consumer": {"member_left": 2, "unknown": 1}}
    )


@pytest.mark.parametrize(("group_type", "is_spoken"), [("consumer", True), ("share", False), ("streams", False)])
def test_who_speaks_the_protocol_already_is_told_so(group_type: str, is_spoken: bool) -> None:
    said = told(change_of(["group.protocol=consumer"]), {group_type: {"unknown": 2}})
    assert ("speaks group.protocol=consumer already" in said) == is_spoken
    assert "\n" not in said


def test_whose_setting_a_session_is_and_how_much_a_longer_one_spares_at_most_is_told():
    said = told(LONGER, {"consumer": STORMY})
    assert "group.consumer.session.timeout.ms of the broker, or consumer.session.timeout.ms of the group" in said
    assert "at most 6 epochs" in said
    assert "group.share.session.timeout.ms" in told(LONGER, {"share": STORMY})
    once = told(LONGER, {"consumer": {"session_expired": 3, "member_joined": 1}})
    assert "at most 4 epochs" in once, "who did not come back did not join"


def test_removals_of_which_only_records_tell_may_have_been_sessions_that_were_over():
    assert "at most 1 epoch:" in told(LONGER, {"consumer": {"member_removed": 1}})


def test_a_longer_session_spares_nothing_where_none_was_over():
    assert "longer ones can have spared none;" in told(LONGER, {"consumer": {"member_joined": 2, "member_left": 2}})


def test_static_members_are_for_consumer_groups_and_spare_restarts_at_most():
    assert "static membership can have spared at most 10 epochs" in told(STATIC, {"consumer": STORMY})
    assert "streams groups have no static members" in told(STATIC, {"streams": STORMY})


def test_of_a_group_of_several_types_no_bound_is_told():
    assert "at most" not in told(LONGER, {"consumer": STORMY, "streams": STORMY})
