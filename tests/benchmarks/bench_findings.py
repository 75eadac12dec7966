"""How many incidents are found, and how many are found that there are none of.

    python -m tests.benchmarks.bench_findings --seed 1 --incidents 22 --calm 1000 [--page docs/findings-accuracy.md]

Plays groups by seed (`tests.support.incidents`): incidents of eleven kinds among calm groups. Their evidence, at
several depths, goes through the replay and the findings as they are. Prints a table; with --page it writes the page of
the docs.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from datetime import datetime, timezone
from functools import partial
from os import cpu_count
from pathlib import Path
from platform import machine, python_version

from tests.support.incidents.play import DEPTHS
from tests.support.incidents.plots import KINDS
from tests.support.incidents.score import ACCUSES_NOBODY, BURSTS, EITHER, Case, case, figures

NOT_OF_THE_TEN = ("lost_session",)
"""Planted beside the ten kinds: what lines of brokers alone cannot always tell from a crash loop."""

NAMES = {
    "all": "records, brokers' INFO lines, request log",
    "lines and clients": "records, brokers' and clients' INFO lines",
    "lines": "records, brokers' INFO lines",
    "records": "records alone",
}

PAGE = Path(__file__).with_name("findings_page.md")
"""What stands around the tables on the page of the docs."""

_OUT_OF_SIGHT = "The detector was mended on other seeds."
_IN_SIGHT = "What went wrong with this seed was in sight when the detector was mended."

_CULPRITS = ("flapping_member", "crash_loop", "slow_poll_loop", "subscription_conflict", "lost_session")


def _case(seed: int, of: tuple[str, int]) -> Case:
    return case(*of, seed)


def play_all(seed: int, incidents: int, calm: int) -> list[Case]:
    """Play everything, on all cores."""
    wanted = [(kind, number) for kind in KINDS for number in range(incidents)]
    wanted += [("calm", number) for number in range(calm)]
    with ProcessPoolExecutor(cpu_count()) as pool:
        return list(pool.map(partial(_case, seed), wanted, chunksize=8))


def table(cases: list[Case], depth: str) -> list[str]:
    """Return the figures of a depth as a table."""
    lines = [
        "| kind | planted | found | called so | rightly | precision | recall | culprit named | otherwise called |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for kind in sorted(KINDS, key=lambda kind: kind in NOT_OF_THE_TEN):
        line = figures(cases, kind, depth)
        named = f"{line.named} of {line.found}" if kind in _CULPRITS and line.found else ""
        instead = ", ".join(f"{name} {count}" for name, count in sorted(line.instead.items()))
        lines.append(
            f"| {kind} | {line.planted} | {line.found} | {line.called} | {line.right} | {_share(line.precision)} | "
            f"{_share(line.recall)} | {named} | {instead} |"
        )
    return lines


def undecided(cases: list[Case], depth: str) -> list[str]:
    """Return what is said of patterns that leave open which of some kinds it was."""
    said = []
    for name, kinds in EITHER.items():
        called = [each for each in cases if name in each.found[depth].names]
        right = sum(each.kind in kinds for each in called)
        parts = [f"{figures(cases, kind, depth).undecided} {kind}" for kind in kinds]
        if called:
            counts = f"{len(called)} ({', '.join(parts)}), {right} rightly"
            said += [f"Called '{name}', which leaves open which of the two it was: {counts}.", ""]
    return said


def alarms(cases: Iterable[Case], depth: str) -> str:
    """Return what is said of the calm groups."""
    calm = [each for each in cases if each.kind == "calm"]
    large = sum(each.is_large for each in calm)
    told = sum(any(each.is_right(name) for name in each.found[depth].names) for each in calm)
    by_chance = Counter(name for each in calm for name in each.found[depth].names if name in ACCUSES_NOBODY)
    said = Counter(name for each in calm for name in each.false_alarms(depth))
    false = sum(bool(each.false_alarms(depth)) for each in calm)
    loud = sum(bool(each.alarms(depth)) for each in calm)
    return (
        f"{len(calm)} calm groups, of which {large} rebalanced so often that it is a storm by definition: {told} told "
        f"of a deploy or a scaling that there was; {by_chance.total()} of which no single story is told"
        f"{_counted(by_chance)}; {false} false{_counted(said)}, {loud} with more than info."
    )


def _counted(names: Counter[str]) -> str:
    return f" ({', '.join(f'{name} {count}' for name, count in sorted(names.items()))})" if names else ""


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def report(cases: list[Case]) -> str:
    """Return all tables."""
    parts = []
    for depth in DEPTHS:
        parts += [
            f"### {NAMES[depth][0].upper()}{NAMES[depth][1:]}",
            "",
            *table(cases, depth),
            "",
            *undecided(cases, depth),
            alarms(cases, depth),
            "",
        ]
    return "\n".join(parts)


def small(cases: Iterable[Case]) -> str:
    """Return how many incidents are below the thresholds."""
    few = Counter(each.kind for each in cases if each.kind != "calm" and not each.is_large)
    return ", ".join(f"{kind} {count}" for kind, count in sorted(few.items())) or "none"


def page(cases: list[Case], seed: int, took_s: float, is_in_sight: bool = False) -> str:
    """Return the page of the docs."""
    planted = sum(each.kind not in ("calm", *NOT_OF_THE_TEN) and each.is_large for each in cases)
    return PAGE.read_text(encoding="utf-8").format(
        calm=sum(each.kind == "calm" for each in cases),
        planted=planted,
        beside=sum(each.kind in NOT_OF_THE_TEN for each in cases),
        small=small(cases),
        bursts=" and ".join(BURSTS),
        seed=seed,
        seen=_IN_SIGHT if is_in_sight else _OUT_OF_SIGHT,
        further=" --in-sight" if is_in_sight else "",
        date=f"{datetime.now(timezone.utc):%d %B %Y}".lstrip("0"),
        machine=f"{cpu_count()} cores ({machine()}), Python {python_version()}",
        took=f"{took_s / 60:.0f} min",
        incidents=max((each.number + 1 for each in cases if each.kind != "calm"), default=0),
        tables=report(cases).replace("### ", "## "),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--incidents", type=int, default=22, help="of each kind")
    parser.add_argument("--calm", type=int, default=1000)
    parser.add_argument("--page", type=Path, help="file to write the page of the docs to")
    parser.add_argument("--in-sight", action="store_true", help="the seed was looked at when the detector was mended")
    given = parser.parse_args()
    began = time.perf_counter()
    cases = play_all(given.seed, given.incidents, given.calm)
    took_s = time.perf_counter() - began
    sys.stdout.write(f"{report(cases)}\nbelow the thresholds: {small(cases)}; {took_s:.0f} s\n")
    for each in cases:
        for depth in DEPTHS if each.kind == "calm" else ():
            if each.false_alarms(depth):
                sys.stderr.write(f"calm {each.number} {depth}: {each.acts} {each.found[depth]}\n")
    if given.page:
        given.page.write_text(page(cases, given.seed, took_s, given.in_sight), encoding="utf-8")


if __name__ == "__main__":
    main()
