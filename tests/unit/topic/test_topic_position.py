"""Rules of reading on in a topic that others trim, delete and make anew."""

from __future__ import annotations

from transforms.topic_position import (
    Extent,
    Loss,
    Position,
    is_another_topic,
    losses,
    not_reached,
    start,
    waiting,
)

READ = Position("id-1", 1, {0: 10, 1: 0, 2: 5})


def test_a_topic_that_was_not_read_yet_is_read_from_its_beginning() -> None:
    topic = Extent("id-1", {0: 3, 1: 0}, {0: 10, 1: 0})
    assert start(None, topic) == Position("id-1", 1, {})
    assert losses(start(None, topic), topic) == []  # what was gone before is no loss
    assert waiting(start(None, topic), topic) == 7


def test_reading_goes_on_at_the_position() -> None:
    topic = Extent("id-1", {0: 3, 1: 0, 2: 0}, {0: 12, 1: 1, 2: 5})
    assert start(READ, topic) is READ
    assert waiting(READ, topic) == 3
    assert not_reached(READ, topic) == [0, 1]


def test_what_retention_took_is_told_with_its_offsets() -> None:
    topic = Extent("id-1", {0: 14, 1: 0, 2: 5}, {0: 20, 1: 4, 2: 5})
    assert losses(READ, topic) == [Loss(0, 10, 13)]
    assert waiting(READ, topic) == 6 + 4


def test_a_topic_made_anew_is_known_by_its_id_even_when_it_has_grown_past_the_position() -> None:
    anew = Extent("id-2", {0: 0, 1: 0, 2: 0}, {0: 100, 1: 100, 2: 100})
    assert is_another_topic(READ, anew)
    assert start(READ, anew) == Position("id-2", 2, {})
    assert start(Position("id-2", 2, {0: 100}), anew) == Position("id-2", 2, {0: 100})


def test_without_ids_it_is_known_by_ends_that_fell() -> None:
    unnamed = Position(None, 4, {0: 10})
    assert not is_another_topic(unnamed, Extent(None, {0: 0}, {0: 10}))
    assert not is_another_topic(unnamed, Extent("id-1", {0: 0}, {0: 10}))  # brokers that were upgraded
    assert is_another_topic(unnamed, Extent(None, {0: 0}, {0: 9}))
    assert is_another_topic(unnamed, Extent(None, {}, {}))


def test_empty_partitions_need_not_be_reached() -> None:
    assert not_reached(Position("id-1", 1, {}), Extent("id-1", {0: 0, 1: 7}, {0: 0, 1: 7})) == []
    assert not_reached(Position("id-1", 1, {}), Extent("id-1", {0: 0, 1: 7}, {0: 1, 1: 8})) == [0, 1]
