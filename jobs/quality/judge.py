"""Great Expectations as the judge: suites out of checks and laws, results out of what was counted, and Data Docs.

A validation by Great Expectations' own Spark engine takes one to two seconds for each table and a query or two for each
expectation, which is as long as a small run takes altogether. So the rows that break each check and law are counted in
one query (`jobs.quality.verdicts`), and the suites hold these counts to zero: a table is an asset with one column for
each check, an expectation says what holds, how severe it is, and what breaks it.
"""

from __future__ import annotations

import importlib
import logging
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from jobs.jvm.files import Files
from jobs.quality.offline import FOLDER, beside_its_index, index, without_network


@dataclass(frozen=True)
class Count:
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
    sample: Sequence[str]
    at: str


class Judge:
    """Holds counts to zero.

    Args:
        site: files of the report, among which the Data Docs are; None = none are written.
    """

    def __init__(self, site: Files | None = None) -> None:
        self._gx: Any = load_great_expectations()
        base: Any = importlib.import_module("great_expectations.data_context.types.base")
        self._site = site
        self._context = self._gx.get_context(mode="ephemeral")
        self._context.variables.progress_bars = base.ProgressBarsConfig(globally=False, metric_calculations=False)
        self._source = self._context.data_sources.add_pandas("lake")

    def failed(self, counts: Sequence[Count]) -> list[Count]:
        """Return the counts that do not hold, and write the Data Docs of all of them."""
        with tempfile.TemporaryDirectory() as scratch:
            if self._site is not None:
                self._context.add_data_docs_site("quality", _site(Path(scratch)))
            by_table: dict[str, list[Count]] = {}
            for count in counts:
                by_table.setdefault(count.table, []).append(count)
            failed = [count for table, of_table in by_table.items() for count in self._judged(table, of_table)]
            if self._site is not None:
                self._context.build_data_docs(site_names=["quality"])
                self._put(self._site, Path(scratch), by_table, failed)
        return failed

    def _put(self, site: Files, built: Path, by_table: Mapping[str, Sequence[Count]], failed: Sequence[Count]) -> None:
        """Put pages where people look, each in the place of the last one; that which leads to them comes last."""
        found = (page.relative_to(built) for page in built.glob("validations/*/*/**/*.html"))
        pages = {".".join(page.parts[1:3]): page for page in found}
        rows = []
        for table, counts in by_table.items():
            page, broken = f"{table}.html", [count for count in failed if count.table == table]
            text = (built / pages[table]).read_text(encoding="utf-8")
            site.write(f"{FOLDER}/{page}", beside_its_index(without_network(text)))
            critical = sum(count.severity == "critical" for count in broken)
            rows.append((table, page, len(counts), len(broken), critical, counts[0].at))
        site.write(f"{FOLDER}/index.html", index("Quality of the lake", rows))
        now = {"index.html", *(f"{table}.html" for table in by_table)}
        for name in {file.name for file in site.list(FOLDER) if file.name.endswith(".html")} - now:
            site.delete(f"{FOLDER}/{name}")

    def _judged(self, table: str, counts: Sequence[Count]) -> list[Count]:
        frame = pd.DataFrame({count.check: [count.failed_row_count] for count in counts})
        batch = self._source.add_dataframe_asset(table).add_batch_definition_whole_dataframe(counts[0].at)
        suite = self._context.suites.add(self._suite(table, counts))
        definition = self._gx.ValidationDefinition(name=table, data=batch, suite=suite)
        validation = self._context.validation_definitions.add(definition)
        results = validation.run(batch_parameters={"dataframe": frame}).results
        failed = {result.expectation_config.kwargs["column"] for result in results if not result.success}
        return [count for count in counts if count.check in failed]

    def _suite(self, table: str, counts: Sequence[Count]) -> Any:
        none = self._gx.expectations.ExpectColumnMaxToBeBetween
        return self._gx.ExpectationSuite(
            name=table,
            expectations=[
                none(column=count.check, max_value=0, severity=count.severity, description=_said(count))
                for count in counts
            ],
        )


def load_great_expectations() -> Any:
    """Import the package, which takes seconds: whoever needs it later can let a thread do it in the meantime."""
    os.environ.setdefault("GX_ANALYTICS_ENABLED", "false")  # read at import
    package = importlib.import_module("great_expectations")
    logging.getLogger("great_expectations").setLevel(logging.ERROR)
    return package


def _said(count: Count) -> str:
    """Say what holds, and what does not hold it."""
    sample = f" Rows that break it: {count.failed_row_count:,}, such as {count.sample[0]}" if count.sample else ""
    said = f"{count.severity}: {count.meaning}.{sample}"
    for char in "<>&$":  # the pages are HTML, and Great Expectations takes what follows a `$` for a name
        said = said.replace(char, f"\\u{ord(char):04x}")
    return said


def _site(folder: Path) -> dict[str, Any]:
    return {
        "class_name": "SiteBuilder",
        "site_index_builder": {"class_name": "DefaultSiteIndexBuilder"},
        "site_section_builders": {"expectations": "None", "profiling": "None"},  # results tell all
        "store_backend": {"class_name": "TupleFilesystemStoreBackend", "base_directory": str(folder)},
    }
