"""Commits by the many are what they are one by one."""

from __future__ import annotations

import random
import struct
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from schemas.records.classic_groups import OFFSET_COMMIT
from tests.support.odd_records import odd_pairs
from tests.support.record_writer import key_bytes, value_bytes
from transforms.wire import commit_columns, records
from transforms.wire.commit_columns import CommitColumns

Pair = tuple[bytes | None, bytes | None]

KEYS = [key_bytes(OFFSET_COMMIT, {"group": "g", "topic": "t", "partition": number}) for number in range(3)]


def check(commits: CommitColumns, pairs: Sequence[Pair]) -> int:
    """Compare with the decoding of each record; return how many were read by the many."""
    columns, others = commits.decode(*(list(part) for part in zip(*pairs, strict=True)))
    assert sorted([*columns["at"], *others]) == list(range(len(pairs)))
    for row in zip(*columns.values(), strict=True):
        named = dict(zip(columns, row, strict=True))
        decoded = records.decode(*pairs[named.pop("at")])
        assert (decoded.table, decoded.row) == ("offset_commits", named)
    return len(columns["at"])


def value(version: int, metadata: str, topic_id: str | None = None) -> bytes:
    body = {"offset": 5, "leaderEpoch": -1, "metadata": metadata, "commitTimestamp": 7, "expireTimestamp": 9}
    return value_bytes(OFFSET_COMMIT, body if topic_id is None else {**body, "topicId": topic_id}, version)


def of_each_version() -> list[Pair]:
    """Commits of each version, with texts of several lengths, with and without an id of the topic; and tombstones."""
    pairs: list[Pair] = [
        (key, value(version, metadata, topic_id))
        for key in KEYS
        for version in range(5)
        for metadata in ("", "é", "x" * 18, "x" * 126)
        for topic_id in (None, "__________-_-_-_-_-_-w")
    ]
    return [*pairs, *((key, None) for key in KEYS)]


def test_odd_records_in_any_order() -> None:
    pairs = odd_pairs()
    commits = CommitColumns()
    for seed in range(3):
        random.Random(seed).shuffle(pairs)
        for start in range(0, len(pairs), 97):
            check(commits, pairs[start : start + 97])


def test_each_version_is_read_by_the_many() -> None:
    pairs = of_each_version()
    assert check(CommitColumns(), pairs * 70) == len(pairs) * 70


@given(st.lists(st.tuples(st.sampled_from(KEYS), st.integers(0, 5), st.text(max_size=40), st.binary(max_size=3))))
def test_values_of_any_size_side_by_side(drawn: list[tuple[bytes, int, str, bytes]]) -> None:
    pairs = [(key, value(version, metadata) + behind) for key, version, metadata, behind in drawn]
    if pairs:
        check(CommitColumns(), pairs)


def test_no_value_hides_behind_another_one_of_its_size() -> None:
    """A length that does not fit the size, among values whose length does."""
    good = value(3, "abc")
    bad = good[:14] + struct.pack(">h", 2) + good[16:]
    assert check(CommitColumns(), [(KEYS[0], good), (KEYS[1], bad), (KEYS[2], good)]) == 0


def test_keys_that_are_remembered_are_bounded() -> None:
    commits = CommitColumns()
    for number in range(commit_columns._KEYS_MAX + 10):
        key = key_bytes(OFFSET_COMMIT, {"group": "g", "topic": "t", "partition": number})
        commits.decode([key], [None])
    assert len(commits._keys) <= commit_columns._KEYS_MAX + 1
