"""The laws of the quality gate: true of all captures, and each kind of damage is found by what is there for it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from schemas.catalog import BY_NAME
from tests.support.captures import ALL, MODERN, MODERN_CHAOTIC, MODERN_POLICIES
from tests.support.damage import DAMAGES, Damage, Row, Tables
from tests.support.laws import READ
from transforms.quality.laws.all_laws import LAWS
from transforms.quality.thresholds import Thresholds

pytestmark = pytest.mark.spark

EVERY = (*ALL, *MODERN, *MODERN_CHAOTIC, *MODERN_POLICIES)
KNOWN = {"modern-chaos-4.2.0": {"generations_in_time_in_doubt"}}
"""Where a group is converted to and fro, and some requests are not understood, two generations are of the same 5 ms."""

GROUPS = ("etl-slow", "ledger-static", "web-rr")
OF_SEVERAL_GENERATIONS = {
    "an assignment open twice",
    "a life that was skipped",
    "a partition owned until the year 2100",
}
"""Damages that happen to two generations of a group at once."""
BEGUN_MS = 1_763_640_000_000
MISSING = {
    "records": ("group_metadata", "offset_commits"),
    "the broker's log": ("coordinator_events",),
    "the request log": ("group_requests",),
    "the middle": (),
}
NOW = Thresholds(now=datetime.now(timezone.utc))


@pytest.fixture(scope="module")
def pure_tables(capture_dir: Callable[[str], Path]) -> Callable[[str], Tables]:
    from tests.support.pure_pipeline import run_pipeline

    return lambda name: run_pipeline(capture_dir(name))


def broken(
    spark: Any, of_clusters: dict[str, Tables], with_checks: bool, known: dict[str, Tables] | None = None
) -> dict[str, dict[str, list[str]]]:
    """By cluster, the checks and laws that are broken, each with a sample.

    Args:
        spark: the session.
        of_clusters: the rows.
        with_checks: they are held to the checks as well.
        known: rows that stand before them, and passed in an earlier batch.
    """
    from tests.support.known_rows import as_looked_at

    frames = framed(spark, of_clusters)
    if known is not None:
        frames = as_looked_at({name: rows for name, rows in framed(spark, known).items() if name in BY_NAME}, frames)
    return _found(spark, {name: rows.coalesce(1).persist() for name, rows in frames.items()}, with_checks)


def framed(spark: Any, of_clusters: dict[str, Tables]) -> dict[str, Any]:
    from jobs.quality.verdicts import SOURCES_SCHEMA
    from tests.support.frames import EPOCH, timedelta, to_frame

    rows: Tables = {name: [] for name in READ}
    sources = []
    for cluster, tables in of_clusters.items():
        for name in READ:
            columns = BY_NAME[name].columns
            rows[name] += [
                {**{column: row.get(column) for column in columns}, "cluster": cluster} for row in tables.get(name, ())
            ]
        sources += [
            (cluster, row["source"], EPOCH + timedelta(milliseconds=row["newest_at"]))
            for row in tables.get("sources", ())
        ]
    frames = {name: to_frame(spark, BY_NAME[name], of_table) for name, of_table in rows.items()}
    return frames | {"sources": spark.createDataFrame(sources, SOURCES_SCHEMA)}


def _found(spark: Any, frames: dict[str, Any], with_checks: bool) -> dict[str, dict[str, list[str]]]:
    from jobs.quality.verdicts import Question

    specs = [BY_NAME[name] for name in READ] if with_checks else []
    found: dict[str, dict[str, list[str]]] = defaultdict(dict)
    for row in Question(frames, specs, LAWS, NOW).broken(spark):
        found[row["cluster"]][row["check"]] = row["sample"]
    at_hand = {name: frame.toArrow() for name, frame in frames.items()}
    told = {(cluster, check) for cluster, checks in found.items() for check in checks}
    with TemporaryDirectory() as folder:
        in_files = {name: _as_file(rows, Path(folder) / f"{name}.parquet") for name, rows in at_hand.items()}
        for rows, scratch in ((at_hand, None), (in_files, Path(folder))):
            without_spark = Question(frames, specs, LAWS, NOW, rows, scratch).broken(spark)
            assert {(row["cluster"], row["check"]) for row in without_spark} == told
    return found


def _as_file(rows: Any, file: Path) -> Any:
    from pyarrow import parquet

    from jobs.quality.by_duckdb import rows_of

    parquet.write_table(rows, file)
    return rows_of([((str(file),), {})], rows.column_names)


def test_every_law_is_true_of_every_capture(spark: Any, pure_tables: Callable[[str], Tables]) -> None:
    found = broken(spark, {name: _thinned(pure_tables(name)) for name in EVERY}, with_checks=False)
    for name in EVERY:
        assert found[name].keys() == KNOWN.get(name, set()), found[name]


def test_no_critical_law_is_broken_by_what_is_missing(spark: Any, pure_tables: Callable[[str], Tables]) -> None:
    """Incomplete evidence, as there often is, is no damage: only warnings may come of it."""
    from tests.support.pure_pipeline import SILVER, replay

    clusters = {}
    for name in ("kafka-4.2.0", "chaos-2.4.1", "failover-4.2.0"):
        silver = {table: pure_tables(name)[table] for table in SILVER}
        for missing in MISSING:
            clusters[f"{name} without {missing}"] = _thinned(_without(silver, missing, replay))
    found = broken(spark, clusters, with_checks=False)
    critical = {law.name for law in LAWS if law.is_critical}
    assert not {cluster: critical & found[cluster].keys() for cluster in clusters if critical & found[cluster].keys()}
    assert any(found[cluster] for cluster in clusters), "nothing was missed, so nothing was tested"


def test_each_kind_of_damage_is_found_by_what_is_there_for_it(spark: Any, pure_tables: Callable[[str], Tables]) -> None:
    good = _good(pure_tables("kafka-4.2.0"))
    clusters = {"good": good} | {damage.name: _damaged(good, damage) for damage in DAMAGES}
    found = broken(spark, clusters, with_checks=True)
    told = {cluster: (set(found[cluster]), set()) for cluster in clusters}
    wanted = {"good": (set(), set())} | {damage.name: (set(damage.found_by), set()) for damage in DAMAGES}
    different = {
        cluster: {"found": sorted(told[cluster][0]), "wanted": sorted(wanted[cluster][0]), "rows": found[cluster]}
        for cluster in clusters
        if told[cluster] != wanted[cluster]
    }
    assert not different, {name: sorted(rows) for name, rows in different.items()}


def test_what_is_looked_at_of_a_history_that_is_known_breaks_no_law(
    spark: Any, pure_tables: Callable[[str], Tables]
) -> None:
    """A law that counts on what is not there any more would keep a good batch from being published."""
    new, known = _parted({name: _thinned(pure_tables(name)) for name in EVERY}, 0.5)
    assert all(len(known[name]["generations"]) > 2 for name in ALL)
    found = broken(spark, new, with_checks=False, known=known)
    critical = {law.name for law in LAWS if law.is_critical}
    for name in EVERY:
        assert not found[name].keys() - KNOWN.get(name, set()), found[name]
        assert not critical & found[name].keys()


def test_damage_behind_a_known_history_is_found(spark: Any, pure_tables: Callable[[str], Tables]) -> None:
    good, known = _parted({"good": _good(pure_tables("kafka-4.2.0"))}, 0.1)
    assert {row["generation"] for row in known["good"]["generations"]} == {1}
    clusters = dict(good)
    for damage in DAMAGES:
        if damage.name not in OF_SEVERAL_GENERATIONS:
            with suppress(StopIteration):  # of a row that is known
                clusters[damage.name] = _damaged(good["good"], damage)
    assert len(clusters) > 0.8 * len(DAMAGES)
    found = broken(spark, clusters, with_checks=True, known=dict.fromkeys(clusters, known["good"]))
    wanted = {damage.name: damage.found_by for damage in DAMAGES}
    different = {name: found[name] for name in clusters if found[name].keys() != set(wanted.get(name, ()))}
    assert not different, {name: sorted(rows) for name, rows in different.items()}


def test_every_law_has_its_damage() -> None:
    found = {name for damage in DAMAGES for name in damage.found_by}
    assert {law.name for law in LAWS} <= found
    assert len({damage.name for damage in DAMAGES}) == len(DAMAGES) >= 25


def _parted(clusters: dict[str, Tables], share: float) -> tuple[dict[str, Tables], dict[str, Tables]]:
    """Return what runs gave that went on behind a share of each group's generations, and what these found there."""
    from tests.support.known_rows import first_new, parted

    new: dict[str, Tables] = {name: {} for name in clusters}
    known: dict[str, Tables] = {name: {} for name in clusters}
    for cluster, tables in clusters.items():
        first = first_new(tables, share)
        for name, rows in tables.items():
            known[cluster][name], new[cluster][name] = parted(name, rows, first)
    return new, known


def _thinned(tables: Tables) -> Tables:
    """Leave out some of the many rows of which each stands for itself."""
    return {**tables, "replay_audit": tables["replay_audit"][::10]}


def _without(silver: Tables, missing: str, replay: Callable[[Tables], Tables]) -> Tables:
    if missing != "the middle":
        return replay({**silver, **{table: [] for table in MISSING[missing]}})
    written = {"group_metadata": "recorded_at", "coordinator_events": "logged_at", "group_requests": "answered_at"}
    moments = sorted(row["logged_at"] for row in silver["coordinator_events"] if row["logged_at"])
    first, last = moments[len(moments) // 4], moments[3 * len(moments) // 4]
    return replay(
        {
            **silver,
            **{
                table: [row for row in silver[table] if not first <= (row[at] or 0) < last]
                for table, at in written.items()
            },
        }
    )


def _damaged(good: Tables, damage: Damage) -> Tables:
    return {**good, damage.table: damage.change(good.get(damage.table, []))}


def _good(tables: Tables) -> Tables:
    """A few groups of a capture, with findings about one of them, and the sources they were read from."""
    own: Tables = {
        name: [row for row in rows if row.get("group_id") in GROUPS] for name, rows in tables.items() if name in READ
    }
    own["replay_audit"] = own["replay_audit"][::20]
    for name, rows in own.items():  # one more group, whose members have an assignor of their own
        if name in ("replay_audit", "coordinator_events", "group_metadata"):
            continue
        like = [{**row, "group_id": "own-assignor"} for row in rows if row.get("group_id") == "web-rr"]
        if name == "generations":
            like = [{**row, "protocol": row["protocol"] and "mine"} for row in like]
        if name == "audit_counts":  # and of which something could not be predicted
            like[0] |= {name: like[0][name] + 1 for name in ("request_count", "unpredicted_count")}
        own[name] = [*rows, *like]
    for name in ("coordinator_events", "group_metadata"):
        own[name] = [{**row, "loaded_at": 0} for row in own[name]]
    generations = sorted(
        (row for row in own["generations"] if row["group_id"] == "etl-slow"), key=lambda row: row["generation"]
    )
    assigned = next(row for row in own["assignments"] if row["group_id"] == "etl-slow")
    first, last = generations[0], generations[-1]
    return {
        **own,
        "rebalance_storms": [_storm(first, last, len(generations))],
        "illegal_generation_bursts": [_burst(first)],
        "commit_gaps": [{**assigned, "kind": "silent"}],
        "offset_rewinds": [_rewind()],
        "log_lines": [_line(number) for number in range(1, 101)],
        "offsets_records": [_record(number) for number in range(50)],
        "rejected": [],
        "sources": [{"source": "1", "newest_at": BEGUN_MS}],
    }


def _storm(first: Row, last: Row, count: int) -> Row:
    return {
        "group_id": "etl-slow",
        "started_at": first["preparing_at"],
        "ended_at": last["preparing_at"],
        "rebalance_count": count,
        "first_generation": first["generation"],
        "last_generation": last["generation"],
        "main_trigger": "member_left",
        "pattern": "mixed",
        "pattern_share": 1.0,
        "is_open": False,
        "severity": "info",
        "advice": "",
        "evidence": ["offsets"],
    }


def _burst(generation: Row) -> Row:
    return {
        "group_id": "etl-slow",
        "error": "ILLEGAL_GENERATION",
        "started_at": BEGUN_MS,
        "ended_at": BEGUN_MS,
        "error_count": 5,
        "lost_commit_count": 0,
        "is_open": False,
        "suspected_cause": "zombie",
        "advice": "",
        "evidence": "request_log",
        "fenced_by_life": generation["life"],
        "fenced_by_generation": generation["generation"],
    }


def _rewind() -> Row:
    place = {"topic_partition_of_record": 1, "record_offset": 1, "group_id": "etl-slow", "topic": "t", "partition": 0}
    return {**place, "from_offset": 10, "to_offset": 5, "kind": "rewind", "origin": "member"}


def _line(number: int) -> Row:
    return {"broker": "1", "source_file": "server.log", "line_number": number, "text": "", "loaded_at": 0}


def _record(number: int) -> Row:
    return {"topic_partition": 0, "record_offset": number, "loaded_at": 0}
