"""Rows of the tables as the pure ring handles them; moments are epoch ms.

Generated from the tables by `python -m schemas.codegen`: change the declarations, and run it again.
"""

from __future__ import annotations

from msgspec import Struct


class TopicPartitions(Struct, kw_only=True, gc=False):
    """One element of a list in a row."""

    topic: str
    partitions: list[int] | None = None


class StoredMember(Struct, kw_only=True, gc=False):
    """One element of a list in a row."""

    member_id: str
    group_instance_id: str | None = None
    client_id: str | None = None
    client_host: str | None = None
    session_timeout_ms: int | None = None
    rebalance_timeout_ms: int | None = None
    topics: list[str] | None = None
    owned: list[TopicPartitions] | None = None
    assigned: list[TopicPartitions] | None = None
    user_data: bytes | None = None
    subscription: bytes | None = None
    assignment: bytes | None = None


class OfferedProtocol(Struct, kw_only=True, gc=False):
    """One element of a list in a row."""

    name: str
    metadata: bytes | None = None


class ToldMember(Struct, kw_only=True, gc=False):
    """One element of a list in a row."""

    member_id: str
    group_instance_id: str | None = None
    metadata: bytes | None = None


class SentAssignment(Struct, kw_only=True, gc=False):
    """One element of a list in a row."""

    member_id: str
    assignment: bytes | None = None


class LeavingMember(Struct, kw_only=True, gc=False):
    """One element of a list in a row."""

    member_id: str | None = None
    group_instance_id: str | None = None
    reason: str | None = None
    error_code: int | None = None


class HeldPartitions(Struct, kw_only=True, gc=False):
    """One element of a list in a row."""

    topic_id: str | None = None
    partitions: list[int] | None = None


class HeldTasks(Struct, kw_only=True, gc=False):
    """One element of a list in a row."""

    subtopology_id: str | None = None
    partitions: list[int] | None = None


class GroupMetadataRow(Struct, kw_only=True, gc=False):
    """Row of `silver.group_metadata`: one GroupMetadata record (type 2) of a classic group, tombstones included."""

    topic_partition_of_record: int
    record_offset: int
    group_id: str
    is_tombstone: bool
    generation: int | None = None
    protocol_type: str | None = None
    protocol: str | None = None
    leader_member_id: str | None = None
    state_changed_at: float | None = None
    recorded_at: float | None = None
    value_version: int | None = None
    members: list[StoredMember] | None = None


class ModernGroupRecordRow(Struct, kw_only=True, gc=False):
    """Row of `silver.modern_group_records`.

    One record of a consumer (KIP-848), share or streams group (types 3 to 23).
    """

    topic_partition_of_record: int
    record_offset: int
    group_id: str
    record_type: int
    member_id: str | None = None
    regular_expression: str | None = None
    is_tombstone: bool
    value_version: int | None = None
    recorded_at: float | None = None
    body: str | None = None


class CoordinatorEventRow(Struct, kw_only=True, gc=False):
    """Row of `silver.coordinator_events`.

    One fact about a group, or about a coordinator (group_id null), in a broker's log; a line that names several groups
    gives one row for each.
    """

    source_file: str
    line_number: int
    seq: int
    broker: str
    logged_at: float | None = None
    event: str
    group_id: str | None = None
    generation: int | None = None
    member_id: str | None = None
    group_instance_id: str | None = None
    state: str | None = None
    reason: str | None = None
    client_reason: str | None = None
    member_count: int | None = None
    topic_partition_of_group: int | None = None
    dialect: str | None = None
    attributes: dict[str, str] | None = None


class GroupRequestRow(Struct, kw_only=True, gc=False):
    """Row of `silver.group_requests`.

    One request to a group coordinator with its answer; a DeleteGroups gives one row for each group.
    """

    source_file: str
    line_number: int
    seq: int
    broker: str
    handled_at: float | None = None
    answered_at: float
    api: str
    api_version: int | None = None
    group_id: str
    member_id: str | None = None
    answered_member_id: str | None = None
    group_instance_id: str | None = None
    generation: int | None = None
    answered_generation: int | None = None
    error_code: int
    client_id: str | None = None
    client_host: str | None = None
    connection: str | None = None
    correlation_id: int | None = None
    parked_ms: float | None = None
    session_timeout_ms: int | None = None
    rebalance_timeout_ms: int | None = None
    protocol_type: str | None = None
    protocol: str | None = None
    protocols: list[OfferedProtocol] | None = None
    reason: str | None = None
    answered_protocol: str | None = None
    answered_leader: str | None = None
    answered_members: list[ToldMember] | None = None
    assignments: list[SentAssignment] | None = None
    answered_assignment: bytes | None = None
    leaving_members: list[LeavingMember] | None = None
    partition_errors: dict[int, int] | None = None
    rack_id: str | None = None
    subscribed_topics: list[str] | None = None
    subscribed_regex: str | None = None
    server_assignor: str | None = None
    owned: list[HeldPartitions] | None = None
    told: list[HeldPartitions] | None = None
    topology: str | None = None
    owned_active: list[HeldTasks] | None = None
    owned_standby: list[HeldTasks] | None = None
    owned_warmup: list[HeldTasks] | None = None
    told_active: list[HeldTasks] | None = None
    told_standby: list[HeldTasks] | None = None
    told_warmup: list[HeldTasks] | None = None
    heartbeat_interval_ms: int | None = None


class ClientEventRow(Struct, kw_only=True, gc=False):
    """Row of `silver.client_events`: one fact in a consumer's own log."""

    source_file: str
    line_number: int
    host: str | None = None
    logged_at: float | None = None
    client_id: str | None = None
    group_id: str | None = None
    group_instance_id: str | None = None
    event: str
    generation: int | None = None
    member_id: str | None = None
    client_state: str | None = None
    partitions: list[str] | None = None
    reason: str | None = None
    api: str | None = None


class GenerationRow(Struct, kw_only=True, gc=False):
    """Row of `gold.generations`: one generation of one life of a classic group, or one epoch of any other."""

    cluster: str
    group_id: str
    life: int
    generation: int
    group_type: str = "classic"
    protocol_type: str | None = None
    protocol: str | None = None
    leader_member_id: str | None = None
    preparing_at: float | None = None
    completing_at: float | None = None
    stable_at: float | None = None
    emptied_at: float | None = None
    ended_at: float | None = None
    outcome: str | None = None
    rebalance_ms: int | None = None
    trigger: str
    trigger_member_id: str | None = None
    trigger_client_id: str | None = None
    trigger_client_host: str | None = None
    reason: str | None = None
    client_reason: str | None = None
    is_subscription_changed: bool | None = None
    member_count: int | None = None
    joined_member_ids: list[str] | None = None
    departed_member_ids: list[str] | None = None
    partitions_total: int | None = None
    partitions_moved: int | None = None
    assignor: str | None = None
    evidence: list[str]
    is_inferred: bool
    missing_before: int
    bump_count: int = 1
    is_settled: bool = False
    settled_at: float | None = None


class GenerationMemberRow(Struct, kw_only=True, gc=False):
    """Row of `gold.generation_members`: one member of one generation."""

    cluster: str
    group_id: str
    life: int
    generation: int
    member_id: str
    group_type: str = "classic"
    group_instance_id: str | None = None
    client_id: str | None = None
    client_host: str | None = None
    is_leader: bool | None = None
    topics: list[str] | None = None
    session_timeout_ms: int | None = None
    rebalance_timeout_ms: int | None = None
    partitions_assigned: int | None = None
    joined_at: float | None = None
    told_at: float | None = None
    replaces_member_id: str | None = None
    remembered_generation: int | None = None
    member_epoch: int | None = None
    member_protocol: str | None = None
    subscribed_regex: str | None = None
    rack_id: str | None = None
    topology_epoch: int | None = None
    process_id: str | None = None
    user_endpoint: str | None = None
    client_tags: dict[str, str] | None = None
    changed_at: float | None = None
    is_settled: bool = False
    settled_at: float | None = None


class AssignmentRow(Struct, kw_only=True, gc=False):
    """Row of `gold.assignments`: one partition that one member had in one generation."""

    cluster: str
    group_id: str
    life: int
    generation: int
    member_id: str
    topic: str
    partition: int
    hold: str = "owned"
    group_type: str = "classic"
    role: str | None = None
    group_instance_id: str | None = None
    client_id: str | None = None
    client_host: str | None = None
    valid_from: float | None = None
    valid_to: float | None = None
    is_settled: bool = False
    settled_at: float | None = None


class ReconciliationRow(Struct, kw_only=True, gc=False):
    """Row of `gold.reconciliations`.

    One stretch of time in which one member was to give partitions up, waited for some, or was away.
    """

    cluster: str
    group_id: str
    life: int
    member_id: str
    seq: int
    group_type: str = "classic"
    group_instance_id: str | None = None
    client_id: str | None = None
    client_host: str | None = None
    state: str
    from_epoch: int | None = None
    to_epoch: int | None = None
    from_at: float | None = None
    to_at: float | None = None
    partitions: list[str] | None = None
    waits_for_member_ids: list[str] | None = None
    is_settled: bool = False
    settled_at: float | None = None


class OrphanedPartitionRow(Struct, kw_only=True, gc=False):
    """Row of `gold.orphaned_partitions`.

    One stretch of time, within one epoch, in which nobody had a partition that the target gives to a member, although
    the group was Stable.
    """

    cluster: str
    group_id: str
    life: int
    group_type: str = "classic"
    topic: str
    partition: int
    generation: int
    member_id: str
    group_instance_id: str | None = None
    client_id: str | None = None
    client_host: str | None = None
    from_at: float
    to_at: float | None = None
    is_settled: bool = False
    settled_at: float | None = None


class SharePartitionRow(Struct, kw_only=True, gc=False):
    """Row of `gold.share_partitions`.

    One stretch of time in which the share state of one partition of a share group was being made, was ready, or was
    being deleted.
    """

    cluster: str
    group_id: str
    life: int
    group_type: str = "classic"
    topic: str
    partition: int
    state: str
    from_at: float
    to_at: float | None = None
    is_settled: bool = False
    settled_at: float | None = None


class TransitionRow(Struct, kw_only=True, gc=False):
    """Row of `gold.transitions`: one change of state of a group."""

    cluster: str
    group_id: str
    life: int
    seq: int
    group_type: str = "classic"
    at: float | None = None
    from_state: str | None = None
    to_state: str
    event: str
    generation: int | None = None
    member_id: str | None = None
    source: str | None = None
    is_inferred: bool
    is_settled: bool = False
    settled_at: float | None = None


class MemberSessionRow(Struct, kw_only=True, gc=False):
    """Row of `gold.member_sessions`: one stay of a member in a group."""

    cluster: str
    group_id: str
    life: int
    member_id: str
    stay: int = 1
    group_type: str = "classic"
    group_instance_id: str | None = None
    client_id: str | None = None
    client_host: str | None = None
    joined_at: float | None = None
    ended_at: float | None = None
    end_cause: str | None = None
    first_generation: int | None = None
    last_generation: int | None = None
    previous_member_id: str | None = None
    is_settled: bool = False
    settled_at: float | None = None


class ReplayAuditRow(Struct, kw_only=True, gc=False):
    """Row of `gold.replay_audit`: one request to a group, its answer and the replayed state machine's."""

    cluster: str
    source_file: str
    line_number: int
    seq: int
    at: float
    handled_at: float | None = None
    broker: str
    api: str
    group_id: str
    group_type: str = "classic"
    member_id: str | None = None
    state_before: str | None = None
    observed_error: int
    predicted_error: int | None = None
    observed_generation: int | None = None
    predicted_generation: int | None = None
    is_assignment_agreed: bool | None = None
    agrees: bool | None = None
    is_answer_used: bool
    why: str | None = None
    is_settled: bool = False
    settled_at: float | None = None


class AuditCountRow(Struct, kw_only=True, gc=False):
    """Row of `gold.audit_counts`: the audited requests of one API to one group in one hour."""

    cluster: str
    group_id: str
    api: str
    hour_at: float
    request_count: int
    agree_count: int
    differ_count: int
    unpredicted_count: int
    race_count: int
    answer_used_count: int
    is_settled: bool = False
    settled_at: float | None = None


class CoordinatorRow(Struct, kw_only=True, gc=False):
    """Row of `gold.coordinators`: one stretch of time in which one broker coordinated one group from one partition."""

    cluster: str
    group_id: str
    observed_partition: int | None = None
    computed_partition: int
    agrees: bool | None = None
    broker: str | None = None
    epoch: int | None = None
    from_at: float | None = None
    to_at: float | None = None
    is_settled: bool = False
    settled_at: float | None = None


class ClientTimelineRow(Struct, kw_only=True, gc=False):
    """Row of `gold.client_timeline`.

    One fact in a consumer's own log, beside what the coordinator knows of the generation and member it names.
    """

    cluster: str
    source_file: str
    line_number: int
    host: str | None = None
    logged_at: float | None = None
    client_id: str | None = None
    group_id: str
    group_instance_id: str | None = None
    life: int | None = None
    generation: int | None = None
    member_id: str | None = None
    event: str
    client_state: str | None = None
    reason: str | None = None
    partitions: list[str] | None = None
    broker_state: str | None = None
    told_at: float | None = None
    end_cause: str | None = None


class ReplaySnapshotRow(Struct, kw_only=True, gc=False):
    """Row of `gold.replay_snapshots`: the replay of one group as it stood at one moment, to go on from."""

    cluster: str
    group_id: str
    at: float
    version: int
    state: bytes
    size_bytes: int
    taken_until: float | None = None
    seen_until: float | None = None
    awaits_records: bool | None = None


class RebalanceStormRow(Struct, kw_only=True, gc=False):
    """Row of `gold.rebalance_storms`.

    One storm: overlapping or touching runs of too many rebalances of one group in one window.
    """

    cluster: str
    group_id: str
    started_at: float
    ended_at: float
    rebalance_count: int
    first_generation: int | None = None
    last_generation: int | None = None
    peak_count: int | None = None
    unstable_ms: int | None = None
    unstable_ratio: float | None = None
    triggers: dict[str, int] | None = None
    main_trigger: str
    main_client_id: str | None = None
    main_client_host: str | None = None
    main_client_software: str | None = None
    pattern: str
    pattern_share: float
    is_open: bool
    open_until: float | None = None
    unowned_ms: int | None = None
    partitions_moved: int | None = None
    partitions_moved_back: int | None = None
    refused_commit_count: int | None = None
    severity: str
    advice: str
    evidence: list[str]


class IllegalGenerationBurstRow(Struct, kw_only=True, gc=False):
    """Row of `gold.illegal_generation_bursts`: one run of requests of one group answered with one fencing error."""

    cluster: str
    group_id: str
    error: str
    started_at: float
    ended_at: float
    error_count: int
    apis: dict[str, int] | None = None
    member_ids: list[str] | None = None
    client_ids: list[str] | None = None
    stale_generation_min: int | None = None
    stale_generation_max: int | None = None
    current_generation: int | None = None
    fenced_by_life: int | None = None
    fenced_by_generation: int | None = None
    behind_count: int | None = None
    zombie_ms: int | None = None
    lost_commit_count: int
    reread_count: int | None = None
    is_open: bool
    open_until: float | None = None
    suspected_cause: str
    advice: str
    evidence: str


class OffsetRewindRow(Struct, kw_only=True, gc=False):
    """Row of `gold.offset_rewinds`.

    One commit, or deletion, that moved a partition's committed offset back, far forward, or away.
    """

    cluster: str
    topic_partition_of_record: int
    record_offset: int
    group_id: str
    topic: str
    partition: int
    at: float | None = None
    from_offset: int
    to_offset: int | None = None
    kind: str
    origin: str
    member_id: str | None = None
    client_id: str | None = None
    generation: int | None = None
    is_at_rebalance: bool | None = None


class CommitGapRow(Struct, kw_only=True, gc=False):
    """Row of `gold.commit_gaps`.

    One partition of one generation that misses commits: its owner made none, or the one before it lost one.
    """

    cluster: str
    group_id: str
    life: int
    generation: int
    topic: str
    partition: int
    member_id: str
    client_id: str | None = None
    last_commit_at: float | None = None
    first_commit_at: float | None = None
    owned_ms: int | None = None
    kind: str
    refused_at: float | None = None


class SlowRevokerRow(Struct, kw_only=True, gc=False):
    """Row of `gold.slow_revokers`.

    One stretch of time in which one member held a rebalance up: it was to give partitions up, and did not for too long.
    """

    cluster: str
    group_id: str
    life: int | None = None
    generation: int | None = None
    group_type: str = "classic"
    member_id: str
    group_instance_id: str | None = None
    client_id: str | None = None
    client_host: str | None = None
    started_at: float
    ended_at: float | None = None
    held_up_ms: int
    rebalance_timeout_ms: int | None = None
    partition_count: int
    partitions: list[str] | None = None
    waiting_member_ids: list[str] | None = None
    end_cause: str | None = None
    is_open: bool
    advice: str


class StandingCommitRow(Struct, kw_only=True, gc=False):
    """Row of `gold.standing_commits`.

    One commit that, with others, stands for all: what later ones are compared with, and health is told from.
    """

    cluster: str
    topic_partition_of_record: int
    record_offset: int
    recorded_at: float | None = None
    group_id: str
    topic: str
    partition: int
    committed_offset: int | None = None
    is_tombstone: bool
    txn_state: str


class GroupHealthRow(Struct, kw_only=True, gc=False):
    """Row of `gold.group_health`: one group, as it is at the newest time in the data of its cluster."""

    cluster: str
    group_id: str
    at: float
    group_type: str = "classic"
    life: int | None = None
    state: str | None = None
    entered_at: float | None = None
    generation: int | None = None
    member_count: int | None = None
    orphaned_partition_count: int | None = None
    orphaned_since: float | None = None
    hour_rebalance_count: int
    day_rebalance_count: int
    week_rebalance_count: int
    hour_unstable_ms: int
    day_unstable_ms: int
    week_unstable_ms: int
    last_rebalance_at: float | None = None
    last_storm_started_at: float | None = None
    last_storm_ended_at: float | None = None
    last_storm_pattern: str | None = None
    is_last_storm_open: bool | None = None
    last_burst_error: str | None = None
    last_burst_started_at: float | None = None
    last_burst_cause: str | None = None
    commit_interval_ms: int | None = None
    has_assignments: bool
    has_commits: bool
    offsets_kept_by: str | None = None
    evidence: list[str]


class KnownFindingRow(Struct, kw_only=True, gc=False):
    """Row of `gold.known_findings`: one finding that some run has seen, whether it still stands or not."""

    cluster: str
    finding_id: str
    finding_kind: str
    group_id: str
    about: str
    started_at: float | None = None
    ended_at: float | None = None
    first_seen_at: float
