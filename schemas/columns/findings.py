"""Columns of what was found: storms, bursts, offsets that went astray, the health of groups, and their hand-over."""

from __future__ import annotations

from schemas.columns.entry import Entry
from schemas.types import BIGINT, BOOLEAN, DOUBLE, INT, STRING, TIMESTAMP, Array, Map
from schemas.words import (
    FENCING_ERRORS,
    FINDING_KINDS,
    OFFSET_KEEPERS,
    OFFSET_ORIGINS,
    SEVERITIES,
    STORM_PATTERNS,
    SUSPECTED_CAUSES,
    TRIGGERS,
)

FINDING_COLUMNS: dict[str, Entry] = {
    # Findings
    "started_at": Entry(TIMESTAMP, "begin"),
    "rebalance_count": Entry(INT, "rebalances in the storm"),
    "peak_count": Entry(INT, "most rebalances in any one window"),
    "unstable_ms": Entry(BIGINT, "time without a stable assignment"),
    "unstable_ratio": Entry(DOUBLE, "unstable_ms as a share of the storm's length"),
    "triggers": Entry(Map(STRING, INT), "trigger to number of rebalances"),
    "main_trigger": Entry(
        STRING,
        "most frequent cause: that a member came back counts as what it had gone by, not as a join",
        TRIGGERS,
    ),
    "main_client_id": Entry(STRING, "client.id behind most of the rebalances; null where no client is"),
    "main_client_host": Entry(STRING, "host of that client"),
    "main_client_software": Entry(STRING, "software name and version of that client; needs the request log"),
    "pattern": Entry(STRING, "what goes on", STORM_PATTERNS),
    "pattern_share": Entry(
        DOUBLE, "share of the rebalances that fit the pattern; mixed: that fit any; unknown: that fit none"
    ),
    "is_open": Entry(BOOLEAN, "not over yet where the data ends"),
    "open_until": Entry(TIMESTAMP, "it is open as long as the data end by then; null = that hangs on more than time"),
    "unowned_ms": Entry(BIGINT, "milliseconds that partitions were without an owner, summed over the partitions"),
    "partitions_moved_back": Entry(INT, "moves of a partition back to a client that had owned it before"),
    "refused_commit_count": Entry(INT, "commits that the coordinator refused; needs the request log"),
    "severity": Entry(STRING, "how bad it is", SEVERITIES),
    "advice": Entry(STRING, "what would prevent it"),
    "error_count": Entry(INT, "requests answered with the error"),
    "apis": Entry(Map(STRING, INT), "API to number of requests"),
    "member_ids": Entry(Array(STRING), "members that sent them"),
    "client_ids": Entry(Array(STRING), "clients that sent them"),
    "stale_generation_min": Entry(INT, "lowest generation sent"),
    "stale_generation_max": Entry(INT, "highest generation sent"),
    "current_generation": Entry(INT, "generation of the group at that time"),
    "fenced_by_life": Entry(INT, "life of the change that shut the senders out"),
    "fenced_by_generation": Entry(INT, "generation of the change that shut the senders out, most of them"),
    "behind_count": Entry(INT, "generations that a request was behind the group, at most"),
    "zombie_ms": Entry(BIGINT, "how long a sender went on after it had been shut out, the longest"),
    "lost_commit_count": Entry(INT, "commits of partitions that were refused"),
    "reread_count": Entry(
        BIGINT, "offsets between what was refused and where the next owner began: work that is done twice"
    ),
    "from_offset": Entry(BIGINT, "committed offset before; of an aborted transaction what it would have committed"),
    "to_offset": Entry(BIGINT, "committed offset after; null where it is gone"),
    "origin": Entry(STRING, "who moved it", OFFSET_ORIGINS),
    "is_at_rebalance": Entry(BOOLEAN, "a rebalance began since the commit before"),
    "last_commit_at": Entry(TIMESTAMP, "last commit of the partition before its assignment"),
    "first_commit_at": Entry(TIMESTAMP, "first commit of the partition since its assignment; null = none"),
    "refused_at": Entry(TIMESTAMP, "when the first commit that was lost was refused; null = none was lost"),
    "owned_ms": Entry(BIGINT, "how long it was owned without a commit"),
    "kind": Entry(STRING, "what it is"),
    "suspected_cause": Entry(STRING, "what lies behind the burst, most likely", SUSPECTED_CAUSES),
    "held_up_ms": Entry(BIGINT, "for how long the member had not given up what was taken from it"),
    "partition_count": Entry(INT, "partitions, or tasks, that stood still meanwhile"),
    "waiting_member_ids": Entry(Array(STRING), "members that were to have some of them, and waited"),
    # Health
    "entered_at": Entry(TIMESTAMP, "when the group entered its state; null = before the data begins"),
    "hour_rebalance_count": Entry(INT, "rebalances in the last hour"),
    "day_rebalance_count": Entry(INT, "rebalances in the last 24 hours"),
    "week_rebalance_count": Entry(INT, "rebalances in the last seven days"),
    "hour_unstable_ms": Entry(BIGINT, "time without a stable assignment in the last hour"),
    "day_unstable_ms": Entry(BIGINT, "time without a stable assignment in the last 24 hours"),
    "week_unstable_ms": Entry(BIGINT, "time without a stable assignment in the last seven days"),
    "last_rebalance_at": Entry(TIMESTAMP, "begin of the last rebalance"),
    "last_storm_started_at": Entry(TIMESTAMP, "begin of the last storm; null = none"),
    "last_storm_ended_at": Entry(TIMESTAMP, "end of the last storm"),
    "last_storm_pattern": Entry(STRING, "what went on in the last storm", STORM_PATTERNS),
    "is_last_storm_open": Entry(BOOLEAN, "the last storm is not over where the data ends"),
    "last_burst_error": Entry(STRING, "error of the last burst; null = none", FENCING_ERRORS),
    "last_burst_started_at": Entry(TIMESTAMP, "begin of the last burst"),
    "last_burst_cause": Entry(STRING, "what lies behind the last burst, most likely", SUSPECTED_CAUSES),
    "orphaned_partition_count": Entry(
        INT,
        "partitions, or active tasks, that the group's targets, as far as they are known, give to members and nobody "
        "has now, though the group is Stable",
    ),
    "orphaned_since": Entry(
        TIMESTAMP, "since when nobody has the one of them that nobody has had longest; null where there is none"
    ),
    "commit_interval_ms": Entry(
        BIGINT,
        "median time between two commits of one partition, by the last four of each that was committed within a day of "
        "the group's last commit; null = no partition had two",
    ),
    "has_assignments": Entry(BOOLEAN, "partitions have been assigned to its members"),
    "has_commits": Entry(
        BOOLEAN,
        "it has committed offsets that held; false beside assignments: it keeps its offsets elsewhere, which is no "
        "fault",
    ),
    "offsets_kept_by": Entry(
        STRING,
        "who keeps the group's offsets, by the last commits within a day: its members; consumers with assign(), which "
        "are none; both; somebody outside Kafka; null = a share group's are not among these",
        OFFSET_KEEPERS,
    ),
    # Hand-over
    "finding_id": Entry(STRING, "name of the finding, the same in all runs, though it grows or its begin moves"),
    "finding_kind": Entry(STRING, "what kind of finding it is", FINDING_KINDS),
    "about": Entry(STRING, "what tells findings of one kind and group apart, beside their time: a burst's error"),
    "first_seen_at": Entry(TIMESTAMP, "start of the run that handed the finding over first"),
}
