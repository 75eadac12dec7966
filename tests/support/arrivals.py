"""How the files of a capture come in: what of each is there when a run looks, drawn from a seed."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

RECORDS = "consumer_offsets"
LOGS = ("broker_logs", "client_logs")
MOST_RUNS = 4
WRITTEN_S = 60
"""How long ago the last bytes of a file came."""


@dataclass(frozen=True)
class Arrivals:
    """What of a capture comes in, and when.

    Attributes:
        capture: the folder with its files.
        sizes: of each file, below that folder, how many of its bytes are there in each run; never fewer than before.
    """

    capture: Path
    sizes: dict[str, tuple[int, ...]]

    @property
    def runs(self) -> int:
        """Return how many runs there are."""
        return len(next(iter(self.sizes.values())))

    def arrive(self, run: int, into: Path) -> None:
        """Let a folder have what is there in a run, counted from 0; -1 is all that ever comes.

        A file that is all there has been so for a while: at the end of one that was just written, a run waits for more
        of a stack trace.
        """
        for name, sizes in self.sizes.items():
            if sizes[run]:
                file = into / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes((self.capture / name).read_bytes()[: sizes[run]])
                if sizes[run] == sizes[-1]:
                    os.utime(file, times=(time.time() - WRITTEN_S,) * 2)

    def arguments(self, seen: Path) -> list[str]:
        """Return how a job is told of these files, once they are in a folder."""
        tops = {name.split("/")[0] for name in self.sizes}
        given = []
        if RECORDS in tops:
            given += ["--offsets.kind=segments", f"--offsets.path={seen / RECORDS}"]
        if not tops.isdisjoint(LOGS):
            is_flat = (self.capture / "broker_logs" / "server.log").exists()
            given += [f"--logs.path={seen / '*_logs'}", f"--logs.broker={'1' if is_flat else '{dir}'}"]
        return given


def drawn(capture: Path, dice: random.Random) -> Arrivals:
    """Draw how the files of a capture come in: some sources never, some late, cut anywhere, in two to four runs."""
    runs = dice.randrange(2, MOST_RUNS + 1)
    kinds: dict[str, list[str]] = {}
    for name in _files(capture):
        kinds.setdefault(_kind(name), []).append(name)
    left_out = {kind for kind in kinds if dice.random() < 0.15}
    if len(left_out) == len(kinds):
        left_out = set()
    late = {source: dice.randrange(runs) for source in _sources(capture) if dice.random() < 0.3}
    sizes = {}
    for kind, names in kinds.items():
        if kind in left_out:
            continue
        pace = sorted(dice.random() for _ in range(runs - 1))
        for name in names:
            shares = [min(1.0, max(0.0, each + dice.uniform(-0.1, 0.1))) for each in pace]
            shares = [each if run >= late.get(_source(name), 0) else 0.0 for run, each in enumerate(sorted(shares))]
            whole = (capture / name).read_bytes()
            cuts = [_cut(name, whole, each, dice) for each in shares]
            sizes[name] = (*accumulate(cuts, max), len(whole))
    return Arrivals(capture, _with_something_at_first(sizes))


def _files(capture: Path) -> Iterator[str]:
    for top in (RECORDS, *LOGS):
        for file in sorted((capture / top).rglob("*")):
            if file.is_file():
                yield file.relative_to(capture).as_posix()


def _kind(name: str) -> str:
    """Return the kind of source that a file is of: what comes or does not come as a whole."""
    top, last = name.split("/", 1)[0], name.rsplit("/", 1)[-1]
    return last if top == "broker_logs" else top


def _source(name: str) -> str:
    """Return who wrote a file: the folder it is in, or the file itself where each broker has no folder."""
    return name.rsplit("/", 1)[0] if not name.startswith("broker_logs/") or name.count("/") > 1 else name


def _sources(capture: Path) -> list[str]:
    return sorted({_source(name) for name in _files(capture)})


def _cut(name: str, whole: bytes, share: float, dice: random.Random) -> int:
    """Return how many bytes are there: at the end of a line where one is being written, or in its middle."""
    size = round(len(whole) * share)
    is_log = not name.startswith(RECORDS)
    return whole.rfind(b"\n", 0, size) + 1 if is_log and dice.random() < 0.5 else size


def _with_something_at_first(sizes: dict[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
    """Let each source that ever comes be there in the first run, were it one file: one that is not is a mistake."""
    tops = {name.split("/")[0] if name.startswith(RECORDS) else "logs" for name in sizes}
    for top in tops:
        names = [name for name in sizes if name.startswith(RECORDS) == (top == RECORDS)]
        if not any(sizes[name][0] for name in names):
            least = min(names, key=lambda name: sizes[name][-1])
            sizes[least] = (sizes[least][-1],) * len(sizes[least])
    return sizes
