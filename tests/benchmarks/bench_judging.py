"""Whether judging a storm takes time in proportion to its length.

    python -m tests.benchmarks.bench_judging [rebalances]

One group whose members are closed and started again without a pause (`load_workload`), for so many rebalances and for a
tenth of them; judged as one storm, by all evidence and by records alone.
"""

from __future__ import annotations

import statistics
import sys
import time
from random import Random

import msgspec

from jobs.frame.garbage import collect_rarely
from tests.benchmarks.load_workload import BEGIN, MEMBERS, keep_busy
from tests.support.incidents.play import tables_of
from tests.support.incidents.service import SECOND, Group, a_group, a_setup
from tests.unit.findings.pure import evidence_of_storms
from transforms.findings.storms.judge import storm_row
from transforms.findings.storms.limits import Thresholds

SEED = 1
ROUNDS = 3


def played(rebalances: int) -> Group:
    """Play a group of so many rebalances."""
    random = Random(SEED)
    group, _ = a_group("long", 1, random, MEMBERS, a_setup(random, session_ms=10 * SECOND), BEGIN)
    keep_busy(group, random, rebalances)
    return group


def judged_ms(group: Group, depth: str) -> tuple[float, int]:
    """Judge a group's one storm by the evidence of a depth; return ms for each of its rebalances, and their number."""
    ((evidence, limits),) = evidence_of_storms(tables_of(group, depth), Thresholds())
    raw, seconds = msgspec.json.encode(evidence), []
    for _ in range(ROUNDS):
        evidence = msgspec.json.decode(raw, type=type(evidence))
        began = time.process_time()
        row = storm_row(evidence, limits)
        seconds.append(time.process_time() - began)
    return 1000 * statistics.median(seconds) / row.rebalance_count, row.rebalance_count


def main(rebalances: int) -> None:
    collect_rarely()  # as jobs do
    short, long = played(rebalances // 10), played(rebalances)
    for depth in ("all", "records"):
        (each, few), (each_of_many, many) = judged_ms(short, depth), judged_ms(long, depth)
        sys.stdout.write(
            f"by {depth}: {each:.3f} ms for each of {few:,} rebalances, {each_of_many:.3f} for each of {many:,}: "
            f"{each_of_many / each:.2f}×\n"
        )


if __name__ == "__main__":
    main(*[int(each) for each in sys.argv[1:]] or [4_000])
