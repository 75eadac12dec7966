"""The report of a lake in which two groups have names that mean harm."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from jobs import publish_report
from jobs.report.reading import READ
from tests.support.lakes import CLUSTER

HOSTILE = {"warm-up": "<script>document.title='run'</script>", "billing-steady": "../../x"}
"""What two groups of the capture are called instead."""

PICTURES = Path(__file__).resolve().parents[2] / "build" / "report-pictures"
"""Where pictures of the pages are kept, for whoever wants to see them."""


@dataclass
class Published:
    """A report that was published, with what its files were before and after a change of two groups."""

    folder: Path
    before: dict[str, int] = field(default_factory=dict)
    unchanged: dict[str, int] = field(default_factory=dict)
    after: dict[str, int] = field(default_factory=dict)

    def page_of(self, group_id: str) -> Path:
        from transforms.report.names import page_name

        return self.folder / "groups" / page_name(CLUSTER, group_id)


def written_at(folder: Path) -> dict[str, int]:
    return {str(path.relative_to(folder)): path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="session")
def published(spark: Any, lake: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Published]:
    """Publish a lake's report, once more without news, and once more after two groups were renamed."""
    root = tmp_path_factory.mktemp("report") / "lake"
    shutil.copytree(lake("kafka-4.2.0"), root, ignore=shutil.ignore_patterns("report"))
    report = Published(root / "report")
    arguments = [f"--cluster={CLUSTER}", f"--lake.root={root}"]
    assert publish_report.main(arguments) == 0
    report.before = written_at(report.folder)
    assert publish_report.main(arguments) == 0
    report.unchanged = written_at(report.folder)
    renamed = "CASE group_id " + " ".join(f'WHEN "{old}" THEN "{new}"' for old, new in HOSTILE.items()) + " END"
    which = ", ".join(f'"{old}"' for old in HOSTILE)
    for spec in READ:
        if "group_id" in spec.columns:
            spark.sql(f"UPDATE delta.`{root}/gold/{spec.name}` SET group_id = {renamed} WHERE group_id IN ({which})")
    assert publish_report.main(arguments) == 0
    report.after = written_at(report.folder)
    yield report
