"""What a finding means and what to do about it: the tables behind `severity`, `suspected_cause` and `advice`.

Texts are for the person on call: what probably goes on, then the Kafka setting or the habit that prevents it. The
settings are the client's unless the text says broker. Thresholds stand here and nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass

# --- Bursts of fencing errors -----------------------------------------------------------------------------------

HEARTBEAT_INTERVAL_MS = 3_000
"""Default of heartbeat.interval.ms: a healthy member learns of a rebalance, or of its own end, within this time."""

REMOVAL_CAUSES: dict[str, str] = {
    "session_expired": "lost_session",
    "poll_timeout": "slow_poller",
    "rebalance_timeout": "slow_poller",
    "sync_timeout": "slow_poller",
    "member_left": "zombie",
    "left": "zombie",
    "replaced": "zombie",
    "fenced": "zombie",
}
"""Why a member went (trigger of a generation, or end cause of a session) to what its later requests point to."""


@dataclass(frozen=True, slots=True)
class BurstRule:
    """One explanation of a burst.

    Attributes:
        cause: one of `schemas.words.SUSPECTED_CAUSES`.
        condition: Spark SQL over the facts of the burst (`transforms.gold.illegal_generation_bursts`).
        advice: what goes on and what would prevent it.
    """

    cause: str
    condition: str
    advice: str


_SLOW_POLLER = (
    "The members had been removed because they took too long between two polls or to rejoin, and their late requests "
    "were refused. Lower max.poll.records, speed up or hand off the work on a batch, or raise max.poll.interval.ms. "
    "What they did after their removal was done twice, by them and by the new owners."
)
_LOST_SESSION = (
    "The members had lost their session (no heartbeat for session.timeout.ms) and did not know yet. Look for long "
    "pauses on their hosts: garbage collection, CPU limits, frozen machines, network cuts. Raise session.timeout.ms "
    "if such pauses are normal there."
)
_ZOMBIE = (
    "A client goes on with a generation that is over: a thread or process that outlived a rebalance and does not act "
    "on the refusal. Find it by member, client and host, and stop or restart it. Its commits were refused, but what it "
    "wrote elsewhere stands. Commit only from the thread that polls, and treat a refused commit as lost partitions."
)

BURST_RULES = (
    BurstRule(
        "zombie",
        "error = 'FENCED_INSTANCE_ID'",
        "Two processes use the same group.instance.id; the older one was fenced and is still running. Make the id "
        "unique to each instance, and make sure that the old process is gone before its replacement starts.",
    ),
    BurstRule(
        "coordinator_move",
        "is_ahead OR is_after_failover",
        "The requests carry a newer generation than the group has, or followed a change of coordinator: the group lost "
        "generations in a failover, or was deleted and came back. Members mend this by joining again. Look at why the "
        "coordinator moved: broker restarts, leader elections of __consumer_offsets.",
    ),
    BurstRule(
        "unknown",
        "size(member_ids) = 0 AND stale_generation_max IS NULL",
        "The requests named no member and no generation: a tool or a consumer with assign() commits under the group.id "
        "of a group that is alive. Give it a group.id of its own, or reset offsets only while the group is stopped.",
    ),
    BurstRule("zombie", f"persisted_ms > {HEARTBEAT_INTERVAL_MS}", _ZOMBIE),
    BurstRule("slow_poller", "removal_cause = 'slow_poller'", _SLOW_POLLER),
    BurstRule("lost_session", "removal_cause = 'lost_session'", _LOST_SESSION),
    BurstRule("zombie", "removal_cause = 'zombie'", _ZOMBIE),
    BurstRule(
        "rebalance_in_flight",
        "is_in_flight OR error = 'STALE_MEMBER_EPOCH'",
        "The requests crossed a rebalance on their way; single ones are normal. If it happens often, look at the "
        "group's storms first. Commit before giving partitions back (in onPartitionsRevoked), do not retry a refused "
        "commit, and commit less often.",
    ),
    BurstRule("zombie", "stale_generation_min < current_generation", _ZOMBIE),
    BurstRule(
        "unknown",
        "true",
        "Nothing in the data explains the refusals. Compare the named clients' own logs, and read the broker's request "
        "log together with its coordinator log.",
    ),
)
"""In order, the first whose condition holds; the last one always does."""
