"""How fast the replay is, in one process on one core.

    python -m tests.benchmarks.bench_replay [capture]

Prints medians of evidence events (records, lines, requests) per second: of the state machine alone, which handles the
requests in their order and lets its timers run out, and of the whole replay, rows in and rows out.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from transforms.coordinator.brokers import Brokers

from tests.benchmarks.rates import median_rate
from tests.support.captures import capture
from tests.support.pure_pipeline import evidence_by_group, read_silver
from transforms.coordinator.classic.machine.machine import Machine
from transforms.coordinator.evidence import CLASSIC_APIS, Kind, in_order
from transforms.coordinator.replay import replay_group

RUNS = 7


def main(name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        groups = evidence_by_group(read_silver(capture(name, Path(folder))))
    settings = {group: Brokers.of(group, *evidence).settings for group, evidence in groups.items()}
    exchanges = {
        group: [
            (item.exchange.request, item.exchange.handled_at)
            for item in in_order(*evidence)
            if item.kind is Kind.REQUEST and item.exchange is not None and item.exchange.request.api in CLASSIC_APIS
        ]
        for group, evidence in groups.items()
    }

    def machine_alone() -> None:
        for group, requests in exchanges.items():
            machine = Machine(group, settings[group])
            for request, at in requests:
                while (timer := machine.next_timer(at)) is not None:
                    machine.fire(timer[1])
                machine.handle(request, at)
            machine.drain()

    def whole() -> None:
        for group, evidence in groups.items():
            replay_group("bench", group, *evidence)

    requests_count = sum(map(len, exchanges.values()))
    events_count = sum(len(rows) for evidence in groups.values() for rows in evidence)
    machine_rate = median_rate(requests_count, machine_alone, RUNS)
    whole_rate = median_rate(events_count, whole, RUNS)
    sys.stdout.write(
        f"{name}: state machine alone {machine_rate:,.0f} requests/s, whole replay {whole_rate:,.0f} events/s "
        f"(ratio {whole_rate / machine_rate:.2f})\n"
    )


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "kafka-4.2.0")
