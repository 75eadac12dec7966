"""Quality: what the runs did, what they were held to, and which rows were not let through."""

from __future__ import annotations

from schemas.columns import Entry
from schemas.table import Layer, TableSpec
from schemas.types import STRING

RESULTS = TableSpec(
    Layer.QUALITY,
    "results",
    grain="one check or law that the rows of one table were held to in one run",
    key=("cluster", "run_id", "table", "check"),
    columns=("cluster", "run_id", "table", "check", "severity", "passed", "failed_row_count", "sample", "at"),
    required=("severity", "passed", "failed_row_count", "at"),
    notes={"at": "when it was looked at"},
    own={"severity": Entry(STRING, "critical: rows that break it are not published", ("warning", "critical"))},
)

RUNS = TableSpec(
    Layer.QUALITY,
    "runs",
    grain="one run of a job that writes",
    key=("cluster", "run_id"),
    columns=(
        "cluster",
        "run_id",
        "started_at",
        "ended_at",
        "exit_code",
        "steps",
        "left_out_count",
        "horizon_at",
        "version",
        "note",
    ),
    required=("started_at", "ended_at", "exit_code", "steps", "version"),
    own={"version": Entry(STRING, "version of the product")},
)

SET_ASIDE = TableSpec(
    Layer.QUALITY,
    "set_aside",
    grain="one row that breaks a critical check or law, and was not published for it",
    key=("cluster", "run_id", "table", "check", "seq"),
    columns=("cluster", "run_id", "table", "check", "seq", "row", "at"),
    required=("row", "at"),
    notes={"seq": "number among the rows that the run set aside, from 1", "at": "when it was set aside"},
)

TABLES = (RESULTS, RUNS, SET_ASIDE)
