"""The rows of one group, as the report takes them: dictionaries by table, moments as epoch milliseconds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from schemas.kafka_errors import ERROR_CODES
from schemas.rows import GenerationRow
from schemas.tables.gold import BEGINS
from transforms.findings.rebalances import whole_rebalances

Row = Mapping[str, Any]

ORDINARY_ANSWERS = {
    "JoinGroup": (ERROR_CODES["MEMBER_ID_REQUIRED"],),
    "Heartbeat": (ERROR_CODES["REBALANCE_IN_PROGRESS"],),
    "SyncGroup": (ERROR_CODES["REBALANCE_IN_PROGRESS"],),
}
"""Errors that are no refusal, but how the coordinator says what comes next."""


@dataclass(frozen=True)
class GroupRows:
    """What gold holds of one group, the newest rows only where there are very many.

    Attributes:
        cluster: Kafka cluster.
        group_id: consumer group.
        tables: rows by name of their table.
        row_counts: how many there are in all, by name of their table.
    """

    cluster: str
    group_id: str
    tables: Mapping[str, list[Row]]
    row_counts: Mapping[str, int] = field(default_factory=dict)

    def of(self, table: str) -> list[Row]:
        """Return the rows of a table; of one that is not there, none."""
        return self.tables.get(table, [])

    def in_all(self, table: str) -> int:
        """Return how many rows of the table the group has, those that were left out among them."""
        return max(self.row_counts.get(table, 0), len(self.of(table)))

    def generations(self) -> list[Row]:
        """Return the generations in order."""
        return sorted(self.of("generations"), key=lambda row: (row["life"], row["generation"]))

    def rebalances(self) -> list[GenerationRow]:
        """Return the rebalances, as `whole_rebalances` has them."""
        known = ({name: value for name, value in row.items() if value is not None} for row in self.generations())
        return whole_rebalances([msgspec.convert({"cluster": self.cluster, **row}, GenerationRow) for row in known])

    def step(self, is_many: bool = False) -> str:
        """Return what a rebalance leads to, in the words of the protocols that the group spoke."""
        return step_words((row.get("group_type") for row in self.generations()), is_many)


def step_words(group_types: Iterable[str | None], is_many: bool = False) -> str:
    """Return what rebalances lead to in groups of some types; where nothing is known of them, generations."""
    words = dict.fromkeys("generation" if name in (None, "classic") else "epoch" for name in group_types)
    return " or ".join(f"{word}s" if is_many else word for word in words or ("generation",))


def step_word(row: Row, is_many: bool = False) -> str:
    """Return what the number of a row about a group is: of a generation, or of an epoch."""
    return step_words([row.get("group_type")], is_many)


def rebalanced_at(generation: Row) -> float | None:
    """Return when the rebalance that led to a generation began."""
    return next((generation[name] for name in BEGINS if generation.get(name) is not None), None)


def is_rebalance(generation: Row) -> bool:
    """Whether a generation came by a rebalance of its own: no bump on the way to another, nor merely taken over.

    As `transforms.gold.rebalances.IS_OF_REBALANCE` tells it of a row.
    """
    is_taken_over = generation.get("trigger") == "coordinator_failover" and generation.get("preparing_at") is None
    return generation.get("bump_count") != 0 and not is_taken_over


def owner_names(rows: Iterable[Row]) -> list[str]:
    """Return what each row's member is called: like itself when it comes back under another member id.

    That is its group.instance.id, else its client.id, with the host where one client.id is on several.
    """
    known = list(rows)
    hosts: dict[str, set[str]] = {}
    for row in known:
        hosts.setdefault(_client(row), set()).add(row.get("client_host") or "")
    return [_name(row, len(hosts[_client(row)]) > 1) for row in known]


def _client(row: Row) -> str:
    return str(row.get("client_id") or row.get("member_id") or "")


def _name(row: Row, needs_host: bool) -> str:
    if row.get("group_instance_id"):
        return str(row["group_instance_id"])
    return f"{_client(row)} {row.get('client_host') or ''}".strip() if needs_host else _client(row)
