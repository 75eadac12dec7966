"""The demo's own numbers: its worst storm, computed from its capture and its settings as a run does, without Spark."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timezone
from functools import cache
from pathlib import Path
from typing import Any

from docs.generator.markdown import code, table
from docs.generator.unpacked import unpacked
from jobs.settings.loading import load
from tests.support.evidence_of import evidence_of
from tests.support.pure_pipeline import Tables, run_pipeline
from tests.unit.findings.pure import storms
from transforms.whatif.change import change_of
from transforms.whatif.outcome import outcome
from transforms.whatif.prediction import predict

ROOT = Path(__file__).resolve().parents[2]
CAPTURE, GROUP = "kafka-4.2.0", "checkout-storm"
SET = ("session.timeout.ms=38000",)
_SHOWN = 6


@cache
def demo() -> tuple[Tables, dict[str, Any]]:
    """Return the demo's tables, and the storm of its worst group."""
    thresholds = load(ROOT / "conf" / "demo.toml", {}).storms.thresholds()
    tables = run_pipeline(unpacked(CAPTURE))
    (found,) = (row for row in storms(tables, thresholds) if row["group_id"] == GROUP)
    return tables, found


def storm() -> str:
    """Return the storm's row, column by column, with how to read it."""
    found, limits = demo()[1], load(ROOT / "conf" / "demo.toml", {}).storms
    lasted = found["ended_at"] - found["started_at"]
    gap = lasted / (found["rebalance_count"] - 1)
    triggers = ", ".join(f"{count} × {name}" for name, count in sorted(found["triggers"].items()))
    rows = [
        ("started_at, ended_at", f"{_time(found['started_at'])} to {_time(found['ended_at'])}", f"{_s(lasted)} long"),
        (
            "rebalance_count, peak_count",
            f"{found['rebalance_count']}, {found['peak_count']}",
            f"{found['peak_count']} within one window of {_s(limits.window_ms)} (`storms.window_ms`); "
            f"{limits.min_rebalances} make a storm; one each {_s(gap)}",
        ),
        (
            "unstable_ms, unstable_ratio",
            f"{found['unstable_ms']:,}, {found['unstable_ratio']:.2f}",
            f"for {_s(found['unstable_ms'])} of the {_s(lasted)} the group had no assignment that held",
        ),
        (
            "severity",
            found["severity"],
            f"critical from a share of {limits.critical_ratio} (`storms.critical_ratio`) or a rebalance each "
            f"{_s(limits.critical_gap_ms)} (`storms.critical_gap_ms`) on",
        ),
        ("triggers", triggers, "what the coordinator gave as the reason, one by one: a member that leaves comes back"),
        ("main_trigger", found["main_trigger"], "so this is the cause, and the joins are its consequence"),
        (
            "pattern, pattern_share",
            f"{found['pattern']}, {found['pattern_share']:.2f}",
            "the story that this share of the rebalances is part of",
        ),
        (
            "main_client_id, main_client_host",
            f"{found['main_client_id']}, {found['main_client_host']}",
            "who is behind most of them: whose logs to look at first",
        ),
        (
            "unowned_ms",
            f"{found['unowned_ms']:,}",
            "partitions without an owner, summed: what nobody consumed meanwhile",
        ),
        (
            "partitions_moved, partitions_moved_back",
            f"{found['partitions_moved']}, {found['partitions_moved_back']}",
            "most moves only undid an earlier one: caches and state were thrown away for nothing",
        ),
        ("refused_commit_count", str(found["refused_commit_count"]), "nothing was consumed twice because of it"),
        ("evidence", ", ".join(found["evidence"]), "nothing is missing: with records alone there would be no reasons"),
        ("advice", found["advice"], "setting, value, what it saves, and its price"),
    ]
    return table(("column", "here", "how to read it"), ((_names(name), value, text) for name, value, text in rows))


def first_generations() -> str:
    """Return the storm's first generations."""
    rows = [row for row in demo()[0]["generations"] if row["group_id"] == GROUP]
    return table(
        ("generation", "preparing_at", "stable_at", "rebalance_ms", "trigger", "members", "partitions moved"),
        (
            (
                str(row["generation"]),
                _time(row["preparing_at"]),
                _time(row["stable_at"]),
                f"{row['rebalance_ms']:,}",
                row["trigger"],
                str(row["member_count"]),
                "" if row["partitions_moved"] is None else str(row["partitions_moved"]),
            )
            for row in rows[:_SHOWN]
        ),
    )


def what_if() -> str:
    """Return what the advice would have changed."""
    change = change_of(list(SET), is_static=True)
    known = evidence_of(unpacked(CAPTURE), GROUP)
    found = outcome(known, change, predict(known, change))
    rows = [
        ("rebalances", str(found["rebalances_observed"]), _span(found, "rebalances")),
        ("unstable, ms", f"{found['unstable_ms_observed']:,}", _span(found, "unstable_ms")),
        ("partitions moved", str(found["partitions_moved_observed"]), str(found["partitions_moved_predicted"])),
    ]
    return table(("", "observed", "predicted"), rows) + f"\n\nIts price: {found['price']['text']}"


def _span(found: Mapping[str, Any], name: str) -> str:
    low, high = found[f"{name}_predicted_low"], found[f"{name}_predicted_high"]
    if high is None:
        return f"{low:,} or more"
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _names(text: str) -> str:
    return ", ".join(map(code, text.split(", ")))


def _s(milliseconds: float) -> str:
    return f"{milliseconds / 1000:.1f} s".replace(".0 s", " s")


def _time(at: float | None) -> str:
    return "" if at is None else datetime.fromtimestamp(at / 1000, timezone.utc).strftime("%H:%M:%S.%f")[:-3]
