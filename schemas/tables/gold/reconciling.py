"""How members of modern groups get from what they hold to their targets, what nobody takes, and what can be given."""

from __future__ import annotations

from schemas.columns import Entry
from schemas.table import Layer, TableSpec
from schemas.tables.gold.settled import SETTLED
from schemas.types import STRING
from schemas.words import SHARE_STATES, WAITING_STATES

RECONCILIATIONS = TableSpec(
    Layer.GOLD,
    "reconciliations",
    grain="one stretch of time in which one member was to give partitions up, waited for some, or was away",
    key=("cluster", "group_id", "life", "member_id", "seq"),
    columns=(
        "cluster",
        "group_id",
        "life",
        "member_id",
        "seq",
        "group_type",
        "group_instance_id",
        "client_id",
        "client_host",
        "state",
        "from_epoch",
        "to_epoch",
        "from_at",
        "to_at",
        "partitions",
        "waits_for_member_ids",
        *SETTLED,
    ),
    required=("group_type", "state", "is_settled"),
    notes={
        "from_epoch": "member epoch when it began; -2 of a static member that left for a while",
        "from_at": "when the member was told to give up, or that it has to wait; when it left for a while",
        "to_at": "when it had given up, had all, or it or another under its instance id was back; null while open",
        "partitions": "what it was to give up, waited for, or kept while it was away, as topic-partition",
    },
    own={
        "state": Entry(
            STRING,
            "what the member was about; AWAY = a static member left for a while, and keeps what it has (epoch -2)",
            WAITING_STATES,
        )
    },
)

ORPHANED_PARTITIONS = TableSpec(
    Layer.GOLD,
    "orphaned_partitions",
    grain="one stretch of time, within one epoch, in which nobody had a partition that the target gives to a member, "
    "although the group was Stable",
    key=("cluster", "group_id", "topic", "partition", "from_at"),
    columns=(
        "cluster",
        "group_id",
        "life",
        "group_type",
        "topic",
        "partition",
        "generation",
        "member_id",
        "group_instance_id",
        "client_id",
        "client_host",
        "from_at",
        "to_at",
        *SETTLED,
    ),
    required=("life", "group_type", "generation", "member_id", "is_settled"),
    notes={
        "topic": "topic; where the name of its id is not known, the id; of an active streams task its subtopology",
        "generation": "epoch of the group, and of the target",
        "member_id": "member that the target gives the partition to; in a share group the first by id of several",
        "from_at": "when the group was Stable and nobody had the partition",
        "to_at": "when somebody had it, or the group was not Stable any more; null while open",
    },
)

SHARE_PARTITIONS = TableSpec(
    Layer.GOLD,
    "share_partitions",
    grain="one stretch of time in which the share state of one partition of a share group was being made, was ready, "
    "or was being deleted",
    key=("cluster", "group_id", "topic", "partition", "from_at"),
    columns=(
        "cluster",
        "group_id",
        "life",
        "group_type",
        "topic",
        "partition",
        "state",
        "from_at",
        "to_at",
        *SETTLED,
    ),
    required=("life", "group_type", "state", "is_settled"),
    notes={
        "topic": "topic, by the name that the coordinator wrote; where it wrote none, the id",
        "from_at": "when the coordinator wrote so",
        "to_at": "when it wrote otherwise, or the group was gone; null while open",
    },
    own={
        "state": Entry(
            STRING,
            "what had become of the share state; members are given partitions alone whose state is initialised",
            SHARE_STATES,
        )
    },
)
