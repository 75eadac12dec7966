"""One lake has names of one kind for a cluster: as they are, or hashed with one salt.

With two kinds, the replay would take one member for two. Which salt it is, is noted as a hash of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from jobs.frame.job import Job
from schemas.table import TableSpec
from transforms.errors import SettingsError


def require_same_hashes(job: Job, source: str, tables: Sequence[TableSpec]) -> None:
    """Refuse to add rows whose names are of another kind than those that are there; note which kind it is.

    Args:
        job: the job.
        source: what is read, for the note.
        tables: silver tables that hold names, all of which exist.

    Raises:
        SettingsError: the settings want another kind.
    """
    step = f"hashes_of_{source}"
    pseudonyms = job.settings.privacy.pseudonyms()
    wanted = pseudonyms.mark if pseudonyms else ""
    noted = (job.lake.progress.last(step) or {}).get("salt", "")
    if noted == wanted:
        return
    if sum(job.lake.contents.row_counts(tables).values()):
        there = "hashed with another salt" if noted else "as they are"
        raise SettingsError(
            f"silver of cluster {job.lake.cluster} has names of clients {there}, and the settings want them "
            "otherwise: set privacy.hash_clients and its salt as they were, take another lake.root, or delete silver "
            "and gold, to be derived anew from bronze"
        )
    job.lake.progress.note(step, tables, {"salt": wanted})
