"""How much each check must have compared, at the least: a truth that is not looked at proves nothing.

The numbers are those of the captures: assignments and member lists that were told, snapshots that equal their
neighbours, "Preparing to rebalance" lines.
"""

from __future__ import annotations

TOLD_ASSIGNMENTS = {
    "kafka-3.9.1": 118,
    "kafka-4.2.0": 132,
    "chaos-3.9.1": 375,
    "chaos-4.2.0": 292,
    "failover-3.9.1": 141,
    "failover-4.2.0": 107,
    "chaos-2.8.2": 332,
    "chaos-2.4.1": 391,
    "chaos-2.1.1": 389,
}
TOLD_MEMBERS = {
    "kafka-3.9.1": 42,
    "kafka-4.2.0": 50,
    "chaos-3.9.1": 175,
    "chaos-4.2.0": 140,
    "failover-3.9.1": 86,
    "failover-4.2.0": 57,
    "chaos-2.8.2": 192,
    "chaos-2.4.1": 202,
    "chaos-2.1.1": 155,
}
SNAPSHOTS = {
    "kafka-3.9.1": 407,
    "kafka-4.2.0": 399,
    "chaos-3.9.1": 46,
    "chaos-4.2.0": 70,
    "failover-3.9.1": 22,
    "failover-4.2.0": 20,
    "chaos-2.8.2": 12,
    "chaos-2.4.1": 17,
    "chaos-2.1.1": 16,
}
PREPARED = {
    "kafka-3.9.1": 70,
    "kafka-4.2.0": 77,
    "chaos-3.9.1": 196,
    "chaos-4.2.0": 165,
    "failover-3.9.1": 120,
    "failover-4.2.0": 76,
    "chaos-2.8.2": 219,
    "chaos-2.4.1": 211,
    "chaos-2.1.1": 167,
}
REQUESTS = {
    "kafka-3.9.1": 3505,
    "kafka-4.2.0": 3574,
    "chaos-3.9.1": 2996,
    "chaos-4.2.0": 2511,
    "failover-3.9.1": 1987,
    "failover-4.2.0": 1510,
    "chaos-2.8.2": 2513,
    "chaos-2.4.1": 2849,
    "chaos-2.1.1": 2497,
}

LEAST_COMPARED: dict[str, dict[str, int]] = {
    "assignments_told": {name: 4 * count for name, count in TOLD_ASSIGNMENTS.items()},
    "members_told": {name: 3 * count for name, count in TOLD_MEMBERS.items()},
    "snapshots_seen": {name: 3 * count for name, count in SNAPSHOTS.items()},
    "rebalances_started": {name: 2 * count for name, count in PREPARED.items()},
    "triggers_named": {name: 3 * count for name, count in PREPARED.items()},
    "phases_reached": {name: 3 * count for name, count in PREPARED.items()},
    "audit_agrees": REQUESTS,
    "audit_is_complete": REQUESTS,
}
