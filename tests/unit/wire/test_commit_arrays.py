"""Commits out of Arrow's buffers are what they are one by one."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from schemas.records.classic_groups import OFFSET_COMMIT
from tests.support.odd_records import odd_pairs
from tests.support.record_writer import key_bytes
from tests.unit.wire.test_wire_commit_columns import KEYS, Pair, of_each_version, value
from transforms.silver.commit_arrays import CommitArrays
from transforms.wire import records

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def check(commits: CommitArrays, pairs: Sequence[Pair], begin: int = 0) -> int:
    """Compare with the decoding of each record behind the first few; return how many were read by the many."""
    keys, values = (pa.array([pair[place] for pair in pairs], pa.binary())[begin:] for place in (0, 1))
    at, columns, others = commits.decode(keys, values)
    assert sorted([*at.tolist(), *others]) == list(range(len(pairs) - begin))
    assert sorted(at.tolist()) == at.tolist()
    for place, row in zip(at.tolist(), pa.table(columns).to_pylist() if columns else [], strict=True):
        decoded = records.decode(*pairs[begin + place])
        assert decoded.table == "offset_commits"
        assert row == {name: _moment(name, each) for name, each in decoded.row.items()}
    return len(at)


def _moment(name: str, each: Any) -> Any:
    return EPOCH + timedelta(milliseconds=each) if name in ("committed_at", "expires_at") and each is not None else each


def test_odd_records_in_any_order() -> None:
    pairs = odd_pairs()
    commits = CommitArrays()
    for seed in range(3):
        random.Random(seed).shuffle(pairs)
        assert check(commits, pairs, seed) > 100


def test_each_version_is_read_by_the_many() -> None:
    pairs = of_each_version()
    assert check(CommitArrays(), pairs * 3) == len(pairs) * 3


def test_no_record_and_none_that_fits() -> None:
    assert check(CommitArrays(), []) == 0
    assert check(CommitArrays(), [(None, b"x"), (b"\x00\x02\x00\x01g", None), (KEYS[0], b"")]) == 0


@given(st.lists(st.tuples(st.sampled_from(KEYS), st.integers(0, 5), st.text(max_size=40), st.binary(max_size=3))))
def test_whatever_stands_behind_a_value_is_noticed(drawn: list[tuple[bytes, int, str, bytes]]) -> None:
    check(CommitArrays(), [(key, value(version, text) + more) for key, version, text, more in drawn])


def test_more_keys_than_are_remembered() -> None:
    keys = [key_bytes(OFFSET_COMMIT, {"group": "g", "topic": "t", "partition": number}) for number in range(70_000)]
    raw = value(3, "")
    assert CommitArrays().decode(pa.array(keys), pa.array([raw] * len(keys)))[1]["partition"].to_pylist() == list(
        range(len(keys))
    )
