"""The closed vocabularies of the tables: every value that a coded column can hold."""

from __future__ import annotations

GROUP_TYPES = ("classic", "consumer", "share", "streams")
"""Types of a group: the protocols that a coordinator speaks (GroupType)."""

CLASSIC_STATES = ("Empty", "PreparingRebalance", "CompletingRebalance", "Stable", "Dead")
"""States of a classic group, as Kafka's admin API spells them (ClassicGroupState)."""

GROUP_STATES = (*CLASSIC_STATES, "NotReady", "Assigning", "Reconciling")
"""States of a group of whatever type, as Kafka's admin API spells them (GroupState)."""

HOLDS = ("owned", "revoking")
"""How a member has a partition: it is its own, or was taken from it and it has not shown that it gave it back."""

TASK_ROLES = ("active", "standby", "warmup")
"""What a member of a streams group does for a task."""

MEMBER_PROTOCOLS = ("classic", "consumer")
"""What a member of a consumer group speaks (ConsumerGroupDescribe's MemberType)."""

AWAY = "AWAY"
"""No state of Kafka's: a static member left for a while (epoch -2). What it had stays its own, and the group is not
Stable until somebody comes back under its instance id, or its session is over."""

WAITING_STATES = ("UNREVOKED_PARTITIONS", "UNRELEASED_PARTITIONS", "UNREVOKED_TASKS", "UNRELEASED_TASKS", AWAY)
"""What a member is about for which its group waits: it is to give something up, waits until others have, or is away."""

UNREVOKED = ("UNREVOKED_PARTITIONS", "UNREVOKED_TASKS")
"""Those of them in which a member is to give something up."""

SHARE_STATES = ("initialising", INITIALISED := "initialised", "deleting")
"""What becomes of the share state of a share group's partition: members are given those that are initialised alone."""

DIALECTS = ("scala", "java")
"""The two coordinators: Scala up to 3.9, Java from 3.7 (the only one from 4.0)."""

TXN_STATES = ("none", "open", "committed", "aborted", "unknown")
"""Fate of a commit: not transactional, marker not seen yet, marker seen; unknown where the source hides it."""

EVIDENCE = ("offsets", "broker_log", "request_log", "client_log")
"""Kinds of evidence, from the most to the least authoritative for what was stored."""

GENERATION_OUTCOMES = ("stable", "abandoned", "empty")

TRIGGERS = (
    "member_joined",
    "member_left",
    "session_expired",
    "poll_timeout",
    "rebalance_timeout",
    "sync_timeout",
    "subscription_changed",
    "topic_metadata_changed",
    "leader_rejoined",
    "static_member_replaced",
    "pending_member_left",
    "coordinator_failover",
    "group_over_capacity",
    "assignment_store_failed",
    "protocol_downgraded",
    "converted",
    "member_removed",
    "regex_changed",
    "topology_changed",
    "partitions_initialised",
    "instance_replaced",
    "unknown",
)
"""Causes of a rebalance; member_removed: a leave or an expiry, where nothing tells which."""

END_CAUSES = (
    "left",
    "session_expired",
    "poll_timeout",
    "rebalance_timeout",
    "sync_timeout",
    "fenced",
    "replaced",
    "group_over_capacity",
    "group_ended",
    "removed",
    "unknown",
)
"""Causes of the end of a membership; removed: it left or was fenced, where nothing tells which."""

SEVERITIES = ("info", "warning", "critical")

FENCING_ERRORS = (
    "ILLEGAL_GENERATION",
    "UNKNOWN_MEMBER_ID",
    "FENCED_INSTANCE_ID",
    "STALE_MEMBER_EPOCH",
    "FENCED_MEMBER_EPOCH",
    "UNRELEASED_INSTANCE_ID",
)
"""Errors by which a coordinator fences a member, or keeps it out; bursts are counted for each of them apart."""

COMES_AND_GOES = ("JoinGroup", "LeaveGroup")
"""Requests by which members of a classic group come and go."""

SUSPECTED_CAUSES = (
    "zombie",
    "slow_poller",
    "lost_session",
    "coordinator_move",
    "rebalance_in_flight",
    "fencing_war",
    "commit_retry",
    "not_a_member",
    "unreleased_instance",
    "unknown",
)
"""What can lie behind a burst of fencing errors."""

OFFSET_STEPS = ("rewind", "jump", "deleted")
"""What is told of committed offsets: backwards, far forwards, gone."""

OFFSET_ORIGINS = ("member", "admin", "transaction_aborted", "expired", "unknown")
"""Who moves a committed offset."""

OFFSET_KEEPERS = ("members", "consumers", "both", "elsewhere", "nobody")
"""Who keeps a group's offsets: its members; consumers with assign(), which are none; both; somebody outside Kafka."""

COMMIT_GAPS = ("silent", "lost")
"""Why a partition has no commit across a rebalance: its owner does not commit, or its commit was refused."""

STORM_PATTERNS = (
    "flapping_member",
    "crash_loop",
    "lost_session",
    "crash_or_pause",
    "slow_poll_loop",
    "rolling_restart",
    "scaling",
    "fencing_war",
    "subscription_conflict",
    "metadata_refresh",
    "coordinator_trouble",
    "slow_revoker",
    "mixed",
    "unknown",
)
"""What goes on in a storm: the story that most of its rebalances are part of."""

FINDING_KINDS = ("rebalance_storm", "illegal_generation_burst", "offset_rewind", "commit_gap", "slow_revoker")
"""Kinds of findings: their tables' names for one row."""
