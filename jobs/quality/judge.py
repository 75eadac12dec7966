"""Great Expectations as the judge: suites out of checks and laws, results out of what was counted, and Data Docs.

A validation by Great Expectations' own Spark engine takes one to two seconds for each table and a query or two for each
expectation, which is as long as a small run takes altogether. So the rows that break each check and law are counted in
one query (`jobs.quality.verdicts`), and the suites hold these counts to zero: a table is an asset with one column for
each check, an expectation says what holds, how severe it is, and what breaks it.

As a process (`jobs.quality.judging` starts it) this reads cases from its standard input, a line of JSON each, and
answers on its standard output, until the input ends.
"""

from __future__ import annotations

import importlib
import logging
import os
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO, Any

import msgspec
import pandas as pd

from jobs.quality.offline import beside_its_index, without_network

_PACKAGE = "great_expectations"


class Count(msgspec.Struct, frozen=True):
    """What was counted for one check, and when.

    Attributes:
        table: full name of the table.
        check: name of the check or law.
        meaning: what holds where it is passed.
        severity: critical or warning.
        failed_row_count: rows that break it.
        sample: some of them, as JSON.
        at: when they were counted, ISO 8601.
    """

    table: str
    check: str
    meaning: str
    severity: str
    failed_row_count: int
    sample: tuple[str, ...]
    at: str


class Judgement(msgspec.Struct, frozen=True):
    """What became of the counts of one table.

    Attributes:
        failed: checks and laws that do not hold.
        page: what its Data Docs say of it, as HTML that loads nothing from elsewhere.
    """

    failed: tuple[str, ...]
    page: str


class Case(msgspec.Struct, frozen=True):
    """Counts to be judged.

    Attributes:
        counts: all counts of some tables.
        is_urgent: they are to be answered; others may be asked for later, and had better be judged by then.
    """

    counts: tuple[Count, ...]
    is_urgent: bool


Answer = dict[str, Judgement]
"""By full name of the table."""


class Judge:
    """Holds counts to zero; what it has judged last of a table it knows."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Sequence[Count], Judgement]] = {}

    def judge(self, counts: Iterable[Count]) -> Answer:
        """Return what became of the counts of each table."""
        by_table: dict[str, list[Count]] = {}
        for count in counts:
            by_table.setdefault(count.table, []).append(count)
        new = {table: of_table for table, of_table in by_table.items() if not self._knows(table, of_table)}
        for table, judgement in _judged(new).items():
            self._known[table] = (new[table], judgement)
        return {table: self._known[table][1] for table in by_table}

    def _knows(self, table: str, counts: Sequence[Count]) -> bool:
        return table in self._known and self._known[table][0] == counts


def _judged(by_table: dict[str, list[Count]]) -> Answer:
    if not by_table:
        return {}
    gx = _great_expectations()
    base: Any = importlib.import_module(f"{_PACKAGE}.data_context.types.base")
    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = base.ProgressBarsConfig(globally=False, metric_calculations=False)
    source = context.data_sources.add_pandas("lake")
    with tempfile.TemporaryDirectory() as scratch:
        context.add_data_docs_site("docs", _site(scratch))
        failed = {table: _failed(gx, context, source, table, counts) for table, counts in by_table.items()}
        context.build_data_docs(site_names=["docs"])
        built = Path(scratch)
        found = {".".join(page.relative_to(built).parts[1:3]): page for page in built.glob("validations/*/*/**/*.html")}
        pages = {table: without_network(found[table].read_text(encoding="utf-8")) for table in by_table}
    return {table: Judgement(failed[table], beside_its_index(page)) for table, page in pages.items()}


def _great_expectations() -> Any:
    """Import the package, which takes seconds: no sooner than it is needed."""
    os.environ.setdefault("GX_ANALYTICS_ENABLED", "false")  # read at import
    package = importlib.import_module(_PACKAGE)
    logging.getLogger(_PACKAGE).setLevel(logging.ERROR)
    return package


def _failed(gx: Any, context: Any, source: Any, table: str, counts: Sequence[Count]) -> tuple[str, ...]:
    frame = pd.DataFrame({count.check: [count.failed_row_count] for count in counts})
    batch = source.add_dataframe_asset(table).add_batch_definition_whole_dataframe(counts[0].at)
    none = gx.expectations.ExpectColumnMaxToBeBetween
    expectations = [
        none(column=count.check, max_value=0, severity=count.severity, description=_said(count)) for count in counts
    ]
    suite = context.suites.add(gx.ExpectationSuite(name=table, expectations=expectations))
    definition = context.validation_definitions.add(gx.ValidationDefinition(name=table, data=batch, suite=suite))
    results = definition.run(batch_parameters={"dataframe": frame}).results
    return tuple(result.expectation_config.kwargs["column"] for result in results if not result.success)


def _said(count: Count) -> str:
    """Say what holds, and what does not hold it."""
    sample = f" Rows that break it: {count.failed_row_count:,}, such as {count.sample[0]}" if count.sample else ""
    said = f"{count.severity}: {count.meaning}.{sample}"
    for char in "<>&$":  # the pages are HTML, and Great Expectations takes what follows a `$` for a name
        said = said.replace(char, f"\\u{ord(char):04x}")
    return said


def _site(folder: str) -> dict[str, Any]:
    return {
        "class_name": "SiteBuilder",
        "site_index_builder": {"class_name": "DefaultSiteIndexBuilder"},
        "site_section_builders": {"expectations": "None", "profiling": "None"},  # results tell all
        "store_backend": {"class_name": "TupleFilesystemStoreBackend", "base_directory": folder},
    }


def serve(cases: IO[bytes], answers: IO[bytes]) -> None:
    """Answer cases until there are no more."""
    _great_expectations()  # so that it is there when the first one comes
    judge = Judge()
    for line in cases:
        case = msgspec.json.decode(line, type=Case)
        answer = judge.judge(case.counts)
        if case.is_urgent:
            answers.write(msgspec.json.encode(answer) + b"\n")
            answers.flush()


if __name__ == "__main__":
    its_own = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whoever prints something does not spoil an answer
    serve(sys.stdin.buffer, its_own)
