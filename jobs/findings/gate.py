"""Runs the declared checks with Great Expectations: one validation for each table."""

from __future__ import annotations

import importlib
import logging
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame

from jobs.lake.lake import Lake
from schemas.expectations import Check, Rule, checks_of
from schemas.table import TableSpec

_SAMPLE = 3
_TABLES_AT_ONCE = 3


@dataclass(frozen=True)
class Failure:
    """A check that rows do not pass.

    Attributes:
        table: full name of the table.
        check: the check.
        expectation: Great Expectations' name of it.
        row_count: rows that do not pass.
        sample: some of their values.
    """

    table: str
    check: Check
    expectation: str
    row_count: int
    sample: tuple[Any, ...]

    def __str__(self) -> str:
        columns = ", ".join(self.check.columns)
        sample = "; ".join(str(value) for value in self.sample)
        return f"{self.table}: {self.expectation} ({columns}) fails for {self.row_count:,} rows, e.g. {sample}"


def _unique(check: Check) -> tuple[str, dict[str, Any]]:
    if len(check.columns) == 1:
        return "ExpectColumnValuesToBeUnique", {"column": check.columns[0]}
    return "ExpectCompoundColumnsToBeUnique", {"column_list": list(check.columns)}


def _not_null(check: Check) -> tuple[str, dict[str, Any]]:
    return "ExpectColumnValuesToNotBeNull", {"column": check.columns[0]}


def _one_of(check: Check) -> tuple[str, dict[str, Any]]:
    return "ExpectColumnValuesToBeInSet", {"column": check.columns[0], "value_set": list(check.allowed)}


def _at_least(check: Check) -> tuple[str, dict[str, Any]]:
    return "ExpectColumnValuesToBeBetween", {"column": check.columns[0], "min_value": check.minimum}


def _not_after(check: Check) -> tuple[str, dict[str, Any]]:
    first, second = check.columns
    pair = {"column_A": second, "column_B": first, "or_equal": True, "ignore_row_if": "either_value_is_missing"}
    return "ExpectColumnPairValuesAToBeGreaterThanB", pair


EXPECTATIONS: dict[Rule, Callable[[Check], tuple[str, dict[str, Any]]]] = {
    Rule.UNIQUE: _unique,
    Rule.NOT_NULL: _not_null,
    Rule.ONE_OF: _one_of,
    Rule.AT_LEAST: _at_least,
    Rule.NOT_AFTER: _not_after,
}
"""How each rule is said in Great Expectations: class and arguments."""


class Gate:
    """Holds tables to their checks."""

    def __init__(self, lake: Lake) -> None:
        self._gx: Any = load_great_expectations()
        base: Any = importlib.import_module("great_expectations.data_context.types.base")
        self._lake = lake
        context = self._gx.get_context(mode="ephemeral")
        context.variables.progress_bars = base.ProgressBarsConfig(globally=False, metric_calculations=False)
        self._source = context.data_sources.add_spark("lake", persist=False)

    def check(self, specs: Sequence[TableSpec]) -> list[Failure]:
        """Return the checks that the rows of tables do not pass, in the order of the tables."""
        frames = [self._columns_checked(spec).persist() for spec in specs]  # a validation reads them many times over
        try:
            batches = [self._batch(spec, frame) for spec, frame in zip(specs, frames, strict=True)]
            with ThreadPoolExecutor(_TABLES_AT_ONCE) as threads:
                found = threads.map(self._failures, specs, batches)
                return [failure for failures in found for failure in failures]
        finally:
            for frame in frames:
                frame.unpersist()

    def _columns_checked(self, spec: TableSpec) -> DataFrame:
        return self._lake.read(spec).select(*dict.fromkeys(name for check in checks_of(spec) for name in check.columns))

    def _batch(self, spec: TableSpec, frame: DataFrame) -> Any:
        whole = self._source.add_dataframe_asset(name=spec.full_name).add_batch_definition_whole_dataframe("all")
        return whole.get_batch(batch_parameters={"dataframe": frame})

    def _failures(self, spec: TableSpec, batch: Any) -> list[Failure]:
        """Find out in few queries which checks fail, and only for those how many rows and which."""
        checks = checks_of(spec)
        verdicts = batch.validate(self._suite(spec, checks), result_format="BOOLEAN_ONLY").results
        failed = [_check_of(checks, verdict) for verdict in verdicts if not verdict.success]
        if not failed:
            return []
        details = {"result_format": "BASIC", "partial_unexpected_count": _SAMPLE}
        results = batch.validate(self._suite(spec, failed), result_format=details).results
        return [_failure(spec, _check_of(failed, result), result) for result in results]

    def _suite(self, spec: TableSpec, checks: Sequence[Check]) -> Any:
        suite = self._gx.ExpectationSuite(name=spec.full_name)
        for number, check in enumerate(checks):
            name, arguments = EXPECTATIONS[check.rule](check)
            severity = "critical" if check.is_critical else "warning"
            kind = getattr(self._gx.expectations, name)
            suite.add_expectation(kind(**arguments, severity=severity, meta={"number": number}))
        return suite


def load_great_expectations() -> Any:
    """Import the package, which takes seconds: whoever needs it later can let a thread do it in the meantime."""
    os.environ.setdefault("GX_ANALYTICS_ENABLED", "false")  # read at import
    package = importlib.import_module("great_expectations")
    logging.getLogger("great_expectations").setLevel(logging.ERROR)
    return package


def _check_of(checks: Sequence[Check], result: Any) -> Check:
    return checks[int(result.expectation_config.meta["number"])]


def _failure(spec: TableSpec, check: Check, result: Any) -> Failure:
    raised = result.exception_info or {}
    if "unexpected_count" not in result.result:
        raise RuntimeError(f"{spec.full_name}: {check.name} could not be checked: {raised}")
    found = result.result
    sample = tuple(found.get("partial_unexpected_list") or ())
    return Failure(spec.full_name, check, result.expectation_config.type, int(found["unexpected_count"]), sample)
