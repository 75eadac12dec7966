"""All checks, by name: each takes what the clients saw and the tables, and returns what does not fit.

`tables` is table name to rows, silver and gold; times are epoch milliseconds. A check compares and never repairs.
"""

from __future__ import annotations

from collections.abc import Callable

from tests.support.truth import Truth
from tests.truth.checks_audit import audit_agrees, audit_is_complete, audit_is_consistent
from tests.truth.checks_broker import phases_reached, rebalances_started, triggers_named
from tests.truth.checks_clients import assignments_told, members_told, requests_counted, snapshots_seen
from tests.truth.checks_contract import columns_are_filled, keys_are_unique, values_are_allowed
from tests.truth.checks_findings import bursts_found, storms_found
from tests.truth.checks_invariants import (
    assignments_exclusive,
    members_counted,
    outcomes_hold,
    phases_in_order,
    sessions_hold,
    transitions_hold,
)
from tests.truth.timelines import Differences, Tables

Check = Callable[[Truth, Tables], Differences]

OF_CLASSIC_GROUPS = (
    rebalances_started,
    triggers_named,
    phases_reached,
    phases_in_order,
    outcomes_hold,
    members_counted,
    assignments_exclusive,
    sessions_hold,
    transitions_hold,
)
"""Checks by the rules of classic groups; `test_modern_groups` has those of the others."""


def of_classic_groups(tables: Tables) -> Tables:
    """Return the rows that are not about groups of another type."""
    return {
        name: [row for row in rows if row.get("group_type", "classic") == "classic"] for name, rows in tables.items()
    }


def _of_classic_groups(check: Check) -> Check:
    return lambda truth, tables: check(truth, of_classic_groups(tables))


CHECKS: dict[str, Check] = {
    check.__name__: _of_classic_groups(check) if check in OF_CLASSIC_GROUPS else check
    for check in (
        assignments_told,
        members_told,
        requests_counted,
        snapshots_seen,
        rebalances_started,
        triggers_named,
        phases_reached,
        storms_found,
        bursts_found,
        audit_agrees,
        audit_is_consistent,
        audit_is_complete,
        keys_are_unique,
        columns_are_filled,
        values_are_allowed,
        phases_in_order,
        outcomes_hold,
        members_counted,
        assignments_exclusive,
        sessions_hold,
        transitions_hold,
    )
}
