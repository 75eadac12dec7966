"""Which small files a run joins: few stay, and no row is written anew much more often than its table grows twofold."""

from __future__ import annotations

import random
from math import log2
from uuid import uuid4

import pytest

from jobs.lake.cluster_files import ClusterFile
from jobs.lake.passing import MANY_FILES, MOST_BYTES, SMALL_BYTES, many_alike

RUNS = 3_000


def file_of(size: int) -> ClusterFile:
    return ClusterFile(uuid4().hex, "", size, None, None, {}, {}, {})


def sizes(files: list[ClusterFile]) -> list[int]:
    return sorted(file.size for file in files)


@pytest.mark.parametrize(
    "drawn",
    [[2_000], [10_000], [100_000], [400_000], [1_000, 20_000, 900_000]],
    ids=["tiny", "small", "middling", "largish", "mixed"],
)
def test_files_stay_few_and_are_not_written_over_and_over(drawn: list[int]) -> None:
    dice, files, written, rewritten = random.Random(3), list[ClusterFile](), 0, 0
    for _ in range(RUNS):
        files.append(file_of(dice.choice(drawn)))
        written += files[-1].size
        if chosen := many_alike(files):
            joined = sum(file.size for file in chosen)
            assert joined <= MOST_BYTES
            rewritten += joined
            files = [file for file in files if file not in chosen] + [file_of(joined)]
        assert sum(file.size < SMALL_BYTES for file in files) <= 3 * MANY_FILES
    assert sum(sizes(files)) == written
    assert rewritten <= log2(RUNS) * written


def test_what_is_far_larger_stays_and_does_not_keep_others_from_being_joined() -> None:
    alike, larger = [file_of(10_000 + number) for number in range(MANY_FILES)], [file_of(500_000)]
    assert sizes(many_alike(larger + alike)) == sizes(alike)
    tiny = [file_of(10)]
    large = [file_of(300_000 + number) for number in range(MANY_FILES)]
    assert sizes(many_alike(tiny + large)) == sizes(large)
    assert many_alike(alike[1:]) == []
    assert many_alike([file_of(SMALL_BYTES)] * MANY_FILES) == []


def test_of_very_many_no_more_are_joined_than_a_run_has_time_for() -> None:
    chosen = many_alike([file_of(SMALL_BYTES - 1)] * 200)
    assert len(chosen) >= MANY_FILES
    assert sum(file.size for file in chosen) <= MOST_BYTES
