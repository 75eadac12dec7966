"""Sets of partitions as records and heartbeats carry them: numbers by topic.

A plain value: numbers stand in order, and no topic is without any. Where a topic is named by its id (consumer and
share groups) or is a subtopology (the tasks of streams groups) makes no difference here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

Partitions = dict[str, tuple[int, ...]]
"""Partition numbers by topic, in the order in which the record or request had the topics."""


def of_numbers(numbers: Mapping[str, Iterable[int]]) -> Partitions:
    """Return numbers by topic as `Partitions`; topics without any are left out."""
    found = {topic: tuple(sorted(set(each))) for topic, each in numbers.items()}
    return {topic: each for topic, each in found.items() if each}


def plus(left: Partitions, right: Partitions) -> Partitions:
    """Return what is in either."""
    return of_numbers({topic: (*left.get(topic, ()), *right.get(topic, ())) for topic in (*left, *right)})


def minus(left: Partitions, right: Partitions) -> Partitions:
    """Return what is in the left only."""
    return _where(left, lambda topic, number: number not in right.get(topic, ()))


def common(left: Partitions, right: Partitions) -> Partitions:
    """Return what is in both."""
    return _where(left, lambda topic, number: number in right.get(topic, ()))


def of_topics(partitions: Partitions, has_topic: Callable[[str], bool]) -> Partitions:
    """Return what is of some topics."""
    return {topic: numbers for topic, numbers in partitions.items() if has_topic(topic)}


def each(partitions: Partitions) -> Iterator[tuple[str, int]]:
    """Yield the partitions one by one."""
    for topic, numbers in partitions.items():
        for number in numbers:
            yield topic, number


def _where(partitions: Partitions, test: Callable[[str, int], bool]) -> Partitions:
    kept = {topic: tuple(n for n in numbers if test(topic, n)) for topic, numbers in partitions.items()}
    return {topic: numbers for topic, numbers in kept.items() if numbers}
