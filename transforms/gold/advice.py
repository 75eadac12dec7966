"""What a finding means and what to do about it: the tables behind `severity`, `suspected_cause` and `advice`.

Texts are for the person on call: what probably goes on, then the Kafka setting or the habit that prevents it. The
settings are the client's unless the text says broker. Thresholds stand here and nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass

# --- Storms -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SeverityRule:
    """A storm has this severity if one of the two limits is reached.

    Attributes:
        severity: one of `schemas.words.SEVERITIES`.
        unstable_ratio: share of the storm without a stable assignment, from which on the rule holds.
        mean_gap_ms: mean time from one rebalance to the next, up to which the rule holds.
    """

    severity: str
    unstable_ratio: float
    mean_gap_ms: int


SEVERITY_RULES = (
    SeverityRule("critical", unstable_ratio=0.5, mean_gap_ms=6_000),
    SeverityRule("warning", unstable_ratio=0.1, mean_gap_ms=30_000),
)
"""In order, the first that holds; a storm that reaches no limit is "info".

There is no standard. Ten rebalances a minute and one every 30 s are limits that operators alert on; half of the time
without an assignment means that the group spends more time on sharing out the work than on doing it.
"""
MILDEST_SEVERITY = "info"

STORM_ADVICE: dict[str, str] = {
    "member_joined": "New members keep joining. Start and stop instances in waves instead of all at once, and look for "
    "instances that crash and start again. A group.instance.id (static membership) lets a restart within "
    "session.timeout.ms pass without a rebalance; the CooperativeStickyAssignor, or group.protocol=consumer, lets the "
    "others go on working meanwhile. Broker: a higher group.initial.rebalance.delay.ms collects the first members.",
    "member_left": "Members keep leaving in an orderly way: deployments, an autoscaler, or jobs that close their "
    "consumer after each batch. Keep consumers open, scale in larger steps and less often, and give instances a "
    "group.instance.id: a static member does not leave when it closes.",
    "session_expired": "The coordinator heard no heartbeat for session.timeout.ms: the process was killed, paused "
    "(garbage collection, CPU limit, a frozen virtual machine) or cut off. Look at the named host first. Raise "
    "session.timeout.ms (45 s is Kafka's default) and keep heartbeat.interval.ms at a third of it or less.",
    "poll_timeout": "The application took longer than max.poll.interval.ms between two polls. Lower max.poll.records, "
    "make the work on a batch faster or hand it to another thread and pause the partitions, or raise "
    "max.poll.interval.ms to more than the slowest batch takes.",
    "rebalance_timeout": "A member did not come back to the join phase in time and was removed. Its poll loop is "
    "stuck or slow: lower max.poll.records or raise max.poll.interval.ms, which is the time that a member has for "
    "rejoining. Everyone else waits for it meanwhile.",
    "sync_timeout": "Members joined but never fetched their assignment. Look for a leader that hangs or is slow in "
    "computing the assignment (many topics and partitions), for slow rebalance callbacks, and for clients that give "
    "up early because of a short request.timeout.ms.",
    "subscription_changed": "Members come with another subscription or other assignors each time: different versions "
    "or settings of the application share one group.id, or a pattern subscription sees topics come and go. Give each "
    "application its own group.id and roll a changed subscription out once.",
    "topic_metadata_changed": "Topics or partitions that the group reads were added or removed. Create topics before "
    "the consumers start, add partitions in one step, and narrow pattern subscriptions. If nothing was changed, look "
    "for clients that see different metadata: a broker that comes and goes, or missing authorisation for a topic.",
    "leader_rejoined": "The leader keeps joining again, which starts a rebalance each time. Look at its log for the "
    "reason: a failed assignment, enforceRebalance(), an assignor that asks for follow-up rebalances, or changing "
    "metadata.",
    "static_member_replaced": "A static member came back under its group.instance.id with another subscription or "
    "assignor, or two processes use the same group.instance.id in turn. Make the id unique to each instance and keep "
    "it over restarts.",
    "pending_member_left": "Clients ask for a member id and leave before they use it. Look for clients that close "
    "while they are still joining: short-lived jobs, or a health check that stops slow starters.",
    "coordinator_failover": "The group's coordinator moved or restarted. Look at the brokers: restarts, leader "
    "elections of __consumer_offsets, full disks, lost connections to the controller. Consumers are not the cause.",
    "group_over_capacity": "More members want in than the broker's group.max.size allows, and those sent away try "
    "again. Run fewer consumers (more than partitions is of no use), or raise group.max.size on the broker.",
    "assignment_store_failed": "The coordinator could not store the assignment. Look at the brokers that hold "
    "__consumer_offsets: in-sync replicas below min.insync.replicas, a full disk, or an assignment that is larger "
    "than message.max.bytes.",
    "protocol_downgraded": "The group went from the consumer protocol back to the classic one because of a member "
    "that only speaks the latter. Finish the upgrade (or the way back): do not leave both kinds in one group.",
    "unknown": "What triggered the rebalances is not in the data. Keep the broker's log of kafka.coordinator.group and "
    "org.apache.kafka.coordinator.group at INFO or finer, and read it together with the offsets.",
}
"""By main trigger (`schemas.words.TRIGGERS`): what would stop the storm."""

ALSO_FROM_SHARE = 0.25
"""Another trigger than the main one is spoken of as well if it made up this share of the rebalances: where members
crash and come back, every other rebalance is a join, but the crash is what to mend."""

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
