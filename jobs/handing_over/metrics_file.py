"""The metrics' file: some metrics anew, the others as they stand in it."""

from __future__ import annotations

import time
from pathlib import Path

from jobs.handing_over.files import text_of, written
from jobs.settings.settings import Settings
from jobs.settings.sources import local_path
from transforms.findings.handover.exposition import Families, merged
from transforms.findings.handover.tally import of_run

KEY = "findings.prometheus"


def put_metrics(settings: Settings, families: Families) -> None:
    """Write metrics anew; nothing is written if the settings name no file."""
    if not settings.findings.prometheus:
        return
    path = Path(local_path(settings.findings.prometheus))
    text = merged(text_of(path, KEY), settings.cluster, families)
    with written(path, KEY) as file:
        file.write(text)


def note_end(settings: Settings, started_at: float, exit_code: int) -> None:
    """Take down how a run ended, and when (epoch seconds)."""
    put_metrics(settings, of_run(started_at, time.time(), exit_code))
