"""How much brokers log, measured from two captures of the same twenty groups on either coordinator."""

from __future__ import annotations

import gzip

from docs.generator.markdown import table
from docs.generator.unpacked import unpacked
from transforms.loglines.broker.dialects import LOGGERS
from transforms.loglines.requests.apis import APIS

_CAPTURES = ("kafka-3.9.1", "kafka-4.2.0")
_INFO = (" INFO ", " WARN ", " ERROR ")


def volume() -> str:
    """Return the table."""
    columns = [_measured(name) for name in _CAPTURES]
    rows = [(label, *(column[label] for column in columns)) for label in columns[0]]
    return table(("", *(f"Kafka {name.rpartition('-')[2]}" for name in _CAPTURES)), rows)


def _measured(name: str) -> dict[str, str]:
    logs = unpacked(name) / "broker_logs"
    server = (logs / "server.log").read_text(encoding="utf-8", errors="replace").splitlines()
    requests = (logs / "kafka-request.log").read_text(encoding="utf-8", errors="replace").splitlines()
    coordinator = [line for line in server if any(f"({logger})" in line for logger in LOGGERS)]
    of_info = [line for line in coordinator if any(level in line[:60] for level in _INFO)]
    rebalances = sum("Preparing to rebalance group" in line for line in of_info)
    names = [f'"requestApiKey":{key},' for key in APIS]
    of_groups = [line for line in requests if any(each in line for each in names)]
    return {
        "rebalances": f"{rebalances}",
        "lines of the coordinator at INFO": f"{len(of_info):,}, {_kb(of_info)}",
        "… for each rebalance": f"{len(of_info) / rebalances:.0f} lines, {_size(of_info) / rebalances / 1000:.1f} kB",
        "lines of the coordinator at DEBUG": f"{len(coordinator):,}, {_kb(coordinator)}",
        "lines of the request log": f"{len(requests):,}, {_kb(requests)}",
        "… that tell of groups": f"{len(of_groups):,}, {_kb(of_groups)}",
        "… bytes for each of these": f"{_size(of_groups) / len(of_groups):,.0f}",
        "request log, gzipped": f"{100 * _zipped(requests) / _size(requests):.0f} % of it",
    }


def _size(lines: list[str]) -> int:
    return sum(len(line.encode("utf-8")) + 1 for line in lines)


def _kb(lines: list[str]) -> str:
    return f"{_size(lines) / 1000:,.0f} kB"


def _zipped(lines: list[str]) -> int:
    return len(gzip.compress("\n".join(lines).encode("utf-8"), compresslevel=6, mtime=0))
