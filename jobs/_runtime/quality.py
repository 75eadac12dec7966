"""Runs the declared checks with Great Expectations: one validation for each table that has rows."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame

from jobs._runtime.lake import Lake
from schemas.expectations import Check, Rule, checks_of
from schemas.table import TableSpec

os.environ.setdefault("GX_ANALYTICS_ENABLED", "false")  # read when the package is imported

import great_expectations as gx  # noqa: E402
import great_expectations.expectations as gxe  # noqa: E402
from great_expectations.data_context.types.base import ProgressBarsConfig  # noqa: E402

_SAMPLE = 3


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


def _unique(check: Check) -> gxe.Expectation:
    if len(check.columns) == 1:
        return gxe.ExpectColumnValuesToBeUnique(column=check.columns[0], severity=_severity(check))
    return gxe.ExpectCompoundColumnsToBeUnique(column_list=list(check.columns), severity=_severity(check))


def _not_null(check: Check) -> gxe.Expectation:
    return gxe.ExpectColumnValuesToNotBeNull(column=check.columns[0], severity=_severity(check))


def _one_of(check: Check) -> gxe.Expectation:
    column, allowed = check.columns[0], list(check.allowed)
    return gxe.ExpectColumnValuesToBeInSet(column=column, value_set=allowed, severity=_severity(check))


def _at_least(check: Check) -> gxe.Expectation:
    column = check.columns[0]
    return gxe.ExpectColumnValuesToBeBetween(column=column, min_value=check.minimum, severity=_severity(check))


def _not_after(check: Check) -> gxe.Expectation:
    first, second = check.columns
    return gxe.ExpectColumnPairValuesAToBeGreaterThanB(
        column_A=second,
        column_B=first,
        or_equal=True,
        ignore_row_if="either_value_is_missing",
        severity=_severity(check),
    )


EXPECTATIONS: dict[Rule, Callable[[Check], gxe.Expectation]] = {
    Rule.UNIQUE: _unique,
    Rule.NOT_NULL: _not_null,
    Rule.ONE_OF: _one_of,
    Rule.AT_LEAST: _at_least,
    Rule.NOT_AFTER: _not_after,
}
"""How each rule is said in Great Expectations."""


class Gate:
    """Holds tables to their checks."""

    def __init__(self, lake: Lake) -> None:
        logging.getLogger("great_expectations").setLevel(logging.ERROR)
        self._lake = lake
        self._context = gx.get_context(mode="ephemeral")
        self._context.variables.progress_bars = ProgressBarsConfig(globally=False, metric_calculations=False)
        self._source = self._context.data_sources.add_spark("lake", persist=False)

    def check(self, spec: TableSpec) -> list[Failure]:
        """Return the checks that a table's rows do not pass."""
        rows = self._lake.read(spec)
        checks = checks_of(spec)
        if not checks or not rows.take(1):
            return []
        columns = dict.fromkeys(name for check in checks for name in check.columns)
        return self._failures(spec, checks, rows.select(*columns))

    def _failures(self, spec: TableSpec, checks: Iterable[Check], rows: DataFrame) -> list[Failure]:
        suite = gx.ExpectationSuite(name=spec.full_name)
        for number, check in enumerate(checks):
            expectation = EXPECTATIONS[check.rule](check)
            expectation.meta = {"number": number}
            suite.add_expectation(expectation)
        asset = self._source.add_dataframe_asset(name=spec.full_name)
        batch = asset.add_batch_definition_whole_dataframe("all").get_batch(batch_parameters={"dataframe": rows})
        validated = batch.validate(suite, result_format={"result_format": "BASIC", "partial_unexpected_count": _SAMPLE})
        by_number = dict(enumerate(checks))
        return [_failure(spec, by_number, result) for result in validated.results if not result.success]


def _failure(spec: TableSpec, by_number: dict[int, Check], result: Any) -> Failure:
    check = by_number[result.expectation_config.meta["number"]]
    if result.exception_info and result.exception_info.get("raised_exception"):
        raise RuntimeError(f"{spec.full_name}: {check.name}: {result.exception_info['exception_message']}")
    found = result.result
    sample = tuple(found.get("partial_unexpected_list") or ())
    return Failure(spec.full_name, check, result.expectation_config.type, int(found["unexpected_count"]), sample)


def _severity(check: Check) -> str:
    return "critical" if check.is_critical else "warning"
