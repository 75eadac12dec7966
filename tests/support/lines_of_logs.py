"""Rows of `bronze.log_lines`, for tests to which it does not matter what a line says."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

AT = datetime(2026, 1, 1, tzinfo=timezone.utc)


def lines(spark: Any, numbers: range, text: str = "x") -> Any:
    rows = [("b1", "server.log", number, AT, text) for number in numbers]
    schema = "broker string, source_file string, line_number bigint, logged_at timestamp, text string"
    return spark.createDataFrame(rows, schema)


def loaded(spark: Any, numbers: range, text: str = "x") -> Any:
    return lines(spark, numbers, text).selectExpr("*", "logged_at AS loaded_at")
