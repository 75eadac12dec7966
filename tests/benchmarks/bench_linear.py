"""Whether the replay stays linear, and its state bounded, however long a group's history is.

    python -m tests.benchmarks.bench_linear [generations] [heartbeats]

One group with many generations, from records alone, and one with many heartbeats: CPU time per piece of evidence, the
largest state that was put down, and how much the process grew, at a hundredth of the size and at the full one. Evidence
is made, taken and forgotten in pieces of 10,000, as batches would be.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Iterable, Iterator
from itertools import islice

from schemas.rows import GroupMetadataRow, GroupRequestRow, StoredMember, TopicPartitions
from transforms.coordinator.evidence.sequence import in_order
from transforms.coordinator.fold import advance, begin, dump, load

BATCH = 10_000
MEMBERS = 5
SECOND = 1_000.0


def records(generations: int) -> Iterator[GroupMetadataRow]:
    """One record every three seconds, as of a group that never comes to rest; every tenth generation is empty."""
    for number in range(1, generations + 1):
        count = 0 if number % 10 == 0 else MEMBERS - number % 2
        yield GroupMetadataRow(
            topic_partition_of_record=7,
            record_offset=number,
            group_id="long",
            is_tombstone=False,
            generation=number,
            protocol_type="consumer",
            protocol="range",
            leader_member_id=f"m-{number}-0" if count else None,
            state_changed_at=number * 3 * SECOND,
            recorded_at=number * 3 * SECOND + 5,
            members=[
                StoredMember(
                    member_id=f"m-{number // 7}-{each}",
                    client_id=f"client-{each}",
                    client_host=f"/10.0.0.{each}",
                    session_timeout_ms=10_000,
                    rebalance_timeout_ms=60_000,
                    topics=["t"],
                    assigned=[TopicPartitions(topic="t", partitions=[each * 2, each * 2 + 1])],
                    subscription=b"\x00\x00\x00\x00\x00\x01\x00\x01t\xff\xff\xff\xff",
                    assignment=b"",
                )
                for each in range(count)
            ],
        )


def heartbeats(count: int) -> Iterator[GroupRequestRow]:
    """Heartbeats of the members of one generation, one every three seconds each."""
    for number in range(count):
        at = 10 * SECOND + number * 3 * SECOND / MEMBERS
        member = number % MEMBERS
        yield GroupRequestRow(
            source_file="requests.log",
            line_number=number,
            seq=0,
            broker="1",
            answered_at=at + 1,
            api="Heartbeat",
            group_id="long",
            error_code=0,
            handled_at=at,
            api_version=4,
            member_id=f"m-0-{member}",
            generation=1,
            client_id=f"client-{member}",
            client_host=f"/10.0.0.{member}",
            connection=f"c-{member}",
            correlation_id=number,
        )


def run(stored: Iterable[GroupMetadataRow], sent: Iterable[GroupRequestRow]) -> tuple[float, int, float]:
    """Fold some evidence; return CPU seconds of the fold, the largest state, and how many MiB the process grew."""
    state, seconds, largest = begin("bench", "long", 50), 0.0, 0
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    left, right = iter(stored), iter(sent)
    while True:
        some_records, some_requests = list(islice(left, BATCH)), list(islice(right, BATCH))
        if not some_records and not some_requests:
            grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
            return seconds, largest, grown
        began = time.process_time()
        items = in_order(state.connections, some_records, [], some_requests)
        state, _ = advance(state, items)
        seconds += time.process_time() - began
        raw = dump(state)
        largest, state = max(largest, len(raw)), load(raw)


def main(generations: int, beats: int) -> None:
    for name, count, evidence in (
        ("generations from records alone", generations, lambda n: (records(n), ())),
        ("heartbeats", beats, lambda n: (records(1), heartbeats(n))),
    ):
        run(*evidence(1_000))  # code and caches are warm
        small, small_state, _ = run(*evidence(count // 100))
        large, large_state, grown = run(*evidence(count))
        each = 1e6 / count
        sys.stdout.write(
            f"{count:,} {name}: {large * each:.1f} µs each, {small * each * 100:.1f} at a hundredth "
            f"({large / small / 100:.2f}×); state {large_state:,} bytes ({small_state:,}); grew by {grown:.0f} MiB\n"
        )


if __name__ == "__main__":
    arguments = [int(each) for each in sys.argv[1:]]
    main(*arguments or (100_000, 1_000_000))
