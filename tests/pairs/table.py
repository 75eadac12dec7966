"""Predicted and real, side by side, of all pairs that are kept; as the table of `docs/what-if.md`.

python -m tests.pairs.table
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from tests.support.captures import capture
from tests.support.evidence_of import evidence_of
from transforms.whatif.change import change_of
from transforms.whatif.figures import Window
from transforms.whatif.prediction import Prediction, Range, predict

ARCHIVES = Path(__file__).resolve().parents[1] / "data" / "what_if"
PAGE = Path(__file__).resolve().parents[2] / "docs" / "what-if.md"
NAMES = tuple(sorted(path.name.removesuffix(".tar.xz") for path in ARCHIVES.glob("*.tar.xz")))


@dataclass(frozen=True)
class Outcome:
    """One pair: what was asked, what was predicted of the unchanged group, and what the changed one really did."""

    capture: str
    group: str
    asked: tuple[str, ...]
    predicted: Prediction
    really: dict[str, Any]

    @property
    def is_right(self) -> bool:
        """Whether the rebalances lie in the range."""
        return _holds(self.predicted.rebalances, self.really["rebalances"])

    @property
    def is_time_right(self) -> bool:
        """Whether the unstable time lies in the range."""
        return self.predicted.unstable_ms is not None and _holds(self.predicted.unstable_ms, self.really["unstable_ms"])

    @property
    def is_narrow(self) -> bool:
        """Whether the range is no wider than a third of what was observed, or 2."""
        found = self.predicted.rebalances
        return found.high is not None and found.high - found.low <= max(2, self.predicted.observed.rebalances / 3)


def _holds(found: Range, value: float) -> bool:
    return found.low <= value and (found.high is None or value <= found.high)


def outcomes(name: str, folder: Path, has_requests: bool = True) -> Iterator[Outcome]:
    """Predict every pair of an unpacked capture.

    Args:
        name: the capture's.
        folder: where it is.
        has_requests: whether the request log is looked at, or the broker's log alone.
    """
    told = json.loads((folder / "observed.json").read_text(encoding="utf-8"))
    window = Window(told["begins_at"], told["ends_at"])
    for group, pair in told["pairs"].items():
        known = evidence_of(folder, group)
        if not has_requests:
            known = replace(known, requests=[])
        settings = [each for each in pair["asked"] if not each.startswith("--")]
        change = change_of(settings, "--static" in pair["asked"])
        yield Outcome(name, group, tuple(pair["asked"]), predict(known, change, window), pair["after"])


def lines(found: Iterable[Outcome]) -> list[str]:
    """Draw the table."""
    head = [
        "| capture | group | asked | rebalances | really | unstable s | really | partitions moved | really |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    return head + [_line(each) for each in found]


def _line(each: Outcome) -> str:
    predicted, really = each.predicted, each.really
    seen = predicted.observed
    cells = [
        each.capture,
        each.group,
        " ".join(f"`{word}`" for word in each.asked),
        f"{seen.rebalances} → {_range(predicted.rebalances)}",
        f"{really['rebalances']}{'' if each.is_right else ' ✗'}",
        f"{(seen.unstable_ms or 0.0) / 1000:.1f} → {_range(predicted.unstable_ms, 1000)}",
        f"{really['unstable_ms'] / 1000:.1f}{'' if each.is_time_right else ' ✗'}",
        f"{seen.partitions_moved} → {predicted.partitions_moved}",
        str(really["partitions_moved"]),
    ]
    return f"| {' | '.join(cells)} |"


def _range(found: Range | None, scale: int = 1) -> str:
    if found is None:
        return "not known"
    low, high = (f"{end / scale:.{0 if scale == 1 else 1}f}" for end in (found.low, found.high or 0.0))
    if found.high is None:
        return f"{low} or more"
    return low if low == high else f"{low} to {high}"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        rows = [row for name in NAMES for row in outcomes(name, capture(name, Path(scratch), ARCHIVES))]
    sys.stdout.write("\n".join(lines(rows)) + "\n")
