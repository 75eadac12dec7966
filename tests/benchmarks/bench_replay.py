"""How fast the replay is, in one process on one core.

    python -m tests.benchmarks.bench_replay [capture]

Prints medians of evidence events (records, lines, requests) per second of CPU time: of the state machine alone, which
handles the requests in their order and lets its timers run out; of the whole replay, typed rows in and typed rows out;
and of the kernel, which reads its rows from JSON as they come from Spark.
"""

from __future__ import annotations

import sys
import tempfile
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import msgspec

from schemas.rows import CoordinatorEventRow, GroupMetadataRow, GroupRequestRow
from tests.benchmarks.rates import median_rate
from tests.support.captures import capture
from tests.support.pure_pipeline import evidence_by_group, read_silver
from transforms.coordinator.classic.machine.machine import Machine
from transforms.coordinator.evidence.brokers import Brokers
from transforms.coordinator.evidence.connections import Connections
from transforms.coordinator.evidence.exchanges import exchange_of
from transforms.coordinator.evidence.items import Kind
from transforms.coordinator.evidence.sequence import in_order
from transforms.coordinator.kafka.apis import CLASSIC_APIS
from transforms.coordinator.replay import replay, typed_evidence

RUNS = 7
_DECODERS = tuple(map(msgspec.json.Decoder, (GroupMetadataRow, CoordinatorEventRow, GroupRequestRow)))


def main(name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        rows = evidence_by_group(read_silver(capture(name, Path(folder))))
    groups: dict[str, tuple[Any, ...]] = {group: typed_evidence(*evidence) for group, evidence in rows.items()}
    packed = {
        group: tuple([msgspec.json.encode(row) for row in kind] for kind in evidence)
        for group, evidence in groups.items()
    }
    requests = {
        group: [
            (exchange_of(item).request, item.handled_at)
            for item in in_order(Connections(), *evidence)
            if item.kind is Kind.REQUEST and item.request is not None and item.request.api in CLASSIC_APIS
        ]
        for group, evidence in groups.items()
    }
    settings = {group: _settings(evidence[1]) for group, evidence in groups.items()}

    def machine_alone() -> None:
        for group, of_group in requests.items():
            machine = Machine(group, settings[group])
            for request, at in of_group:
                while (timer := machine.next_timer(at)) is not None:
                    machine.fire(timer[1])
                machine.handle(request, at)
            machine.drain()

    def whole() -> None:
        for group, evidence in groups.items():
            replay("bench", group, *evidence)

    def kernel() -> None:
        for group, evidence in packed.items():
            decoded = [list(map(each.decode, kind)) for each, kind in zip(_DECODERS, evidence, strict=True)]
            replay("bench", group, *decoded)

    events = sum(len(kind) for evidence in groups.values() for kind in evidence)
    rate = partial(median_rate, runs=RUNS, clock=process_time)
    machine_rate = rate(sum(map(len, requests.values())), machine_alone)
    whole_rate, kernel_rate = rate(events, whole), rate(events, kernel)
    sys.stdout.write(
        f"{name}: state machine alone {machine_rate:,.0f} requests/s, whole replay {whole_rate:,.0f} events/s "
        f"(ratio {whole_rate / machine_rate:.2f}), from JSON {kernel_rate:,.0f} events/s\n"
    )


def _settings(events: list[CoordinatorEventRow]) -> Any:
    brokers = Brokers()
    for row in events:
        brokers.notice_line(row)
    return brokers.of(None if not events else events[0].broker)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "kafka-4.2.0")
