"""Columns of what runs say of themselves, and of what their rows were held to."""

from __future__ import annotations

from schemas.columns.entry import Entry
from schemas.types import BIGINT, BOOLEAN, DOUBLE, INT, STRING, TIMESTAMP, Array, struct

QUALITY_COLUMNS: dict[str, Entry] = {
    "run_id": Entry(STRING, "one run of a job: when it began, and a number by chance"),
    "table": Entry(STRING, "layer and name of the table"),
    "check": Entry(STRING, "name of the check or law"),
    "passed": Entry(BOOLEAN, "no row breaks it"),
    "failed_row_count": Entry(BIGINT, "rows that break it"),
    "sample": Entry(Array(STRING), "some of the rows that break it, as JSON"),
    "row": Entry(STRING, "the row, as JSON"),
    "exit_code": Entry(INT, "what the job told its scheduler"),
    "steps": Entry(
        Array(
            struct(
                "Step",
                "name",
                name=STRING,
                seconds=DOUBLE,
                rows_read=BIGINT,
                rows_written=BIGINT,
                rows_rejected=BIGINT,
            )
        ),
        "steps of the run in their order, with how long they took and the rows they read (those left out among them), "
        "wrote and rejected",
    ),
    "left_out_count": Entry(
        BIGINT, "entries of logs that were read and that no table has, as they tell nothing of groups (`logs.keep`)"
    ),
    "horizon_at": Entry(TIMESTAMP, "moment before which the evidence was taken to be complete; null = not known"),
    "note": Entry(STRING, "what was said about it: why it failed, and what was odd"),
}
