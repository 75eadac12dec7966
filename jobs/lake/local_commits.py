"""Commits to a table on a local disk, by delta-rs: of files that are written already, and of what goes with any."""

from __future__ import annotations

import time
from collections.abc import Sequence

from deltalake import CommitProperties, DeltaTable, Transaction
from deltalake.transaction import AddAction, RemoveAction

from jobs.lake.cluster_files import ClusterFile
from jobs.lake.conflicts import Overtaken
from jobs.lake.new_files import NewFile
from schemas.table import TableSpec
from transforms.sql import truth


def commit_files(
    spec: TableSpec,
    table: DeltaTable,
    cluster: str,
    new: Sequence[NewFile],
    old: Sequence[ClusterFile],
    noted: CommitProperties,
    are_same_rows: bool = False,
) -> None:
    """Put files of a cluster in the place of others, in one commit.

    Args:
        spec: the table.
        table: the table as it was seen: with the old files.
        cluster: whose files they are.
        new: files that are written.
        old: files that go.
        noted: what goes with the commit.
        are_same_rows: the new files hold the rows of the old ones.
    """
    is_change = not are_same_rows

    def partition(is_settled: bool | None) -> dict[str, str | None]:
        return {"cluster": cluster, **({} if is_settled is None else {"is_settled": truth(is_settled)})}

    now = round(time.time() * 1000)
    added = [
        AddAction(each.path, each.size, partition(each.is_settled), now, is_change, each.statistics) for each in new
    ]
    removed = [RemoveAction(each.name, is_change, now, each.size, partition(each.is_settled)) for each in old]
    table.create_write_transaction(
        [*added, *removed],
        mode="append",
        schema=table.schema(),
        partition_by=list(spec.partitions),
        commit_properties=noted,
    )


def properties(note: str, numbered: list[Transaction] | None = None) -> CommitProperties:
    """Return what goes with a commit: the note, and the number of the write if it has one."""
    return CommitProperties(custom_metadata={"userMetadata": note}, app_transactions=numbered)


def number(table: DeltaTable, transaction: tuple[str, int] | None) -> list[Transaction] | None:
    """Return the number of a write, which is later than that of the writer's last one.

    Raises:
        Overtaken: the writer's write of this number, or a later one, is there already.
    """
    if transaction is None:
        return None
    last = table.transaction_version(transaction[0])
    if last is not None and last >= transaction[1]:
        raise Overtaken
    return [Transaction(*transaction)]
