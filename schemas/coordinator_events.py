"""The events that a broker's log tells of its group coordinator, each with what the line proves.

`transforms.loglines.broker.tables` says which line of which Kafka version is which event. Unless said otherwise an
event carries `group_id`, and `generation` is the number printed in the line. A list of member ids is a JSON array
in `attributes["member_ids"]`.
"""

from __future__ import annotations

GROUP_EVENTS: dict[str, str] = {
    "preparing_rebalance": "join phase began; generation is the old one, `reason` and `client_reason` as logged, "
    "member_id the first culprit, attributes: trigger, member_ids",
    "stabilized": "join phase ended (state CompletingRebalance): generation, member_count",
    "assignment_received": "the leader's SyncGroup: generation, member_id = leader, member_count, "
    "attributes: static_count",
    "group_empty": "join phase ended without members: generation, already incremented",
    "members_not_rejoined": "dynamic members removed at the rebalance timeout: attributes: member_ids",
    "rebalance_extended": "nobody rejoined, join phase goes on",
    "rebalance_skipped": "group is dead",
    "member_failed": "session timeout of member_id",
    "pending_member_expired": "member_id never came back with the id it was given",
    "member_id_required": "member_id was given out, client must join again with it",
    "pending_member_joined": "member_id came back with the id it was given",
    "member_added": "member_id joined in one step",
    "static_member_added": "member_id is the first member of group_instance_id",
    "static_member_replaced": "group_instance_id joined again; member_id is the old id (the new one is not printed "
    "by every version: attributes: new_member_id)",
    "static_member_kept_generation": "the replacement of a static member did not need a rebalance "
    "(group_id null: not printed)",
    "member_left": "LeaveGroup of member_id, client_reason",
    "pending_member_left": "LeaveGroup of a pending member_id",
    "member_fenced": "request of member_id refused: group_instance_id belongs to attributes: current_member_id; "
    "attributes: operation",
    "leader_replaced": "leader member_id did not rejoin, attributes: new_leader_member_id (absent: no member joined)",
    "members_not_synced": "members removed for not sending SyncGroup: attributes: member_ids",
    "empty_assignments": "members got an empty assignment, generation, attributes: member_ids",
    "rejoin_unexpected": "rejoin of member_id in an unexpected state",
    "store_failed": "group metadata could not be appended, attributes: detail",
    "offset_append_failed": "commit could not be appended, attributes: detail",
    "simple_group_created": "group came into being by a manual commit",
    "group_deleted": "group removed by an administrator (one event for each group named)",
    "group_offsets_deleted": "offsets of the group removed by an administrator",
    "group_offsets_expired": "offsets of the group expired, attributes: detail",
    "txn_commit_skipped": "a transactional commit took no effect: a plain one of the same partition came after it, "
    "attributes: producer_id, topic, partition, record_offset, last_record_offset",
    "group_expired": "group transitioned to Dead in generation",
    "group_loaded": "group taken over from the log: generation, or member_count",
    "group_unloaded": "group given up: generation",
    "group_moved": "another broker coordinates the group by now",
    "member_loaded": "member_id taken over from the log: generation",
    "mixed_commits": "group commits both plainly and in transactions",
    "protocol_unparsed": "subscription of the group could not be parsed by the coordinator",
    "group_converted": "group changed between the classic and the consumer protocol, attributes: from, to",
    "conversion_refused": "group could not be converted, attributes: detail",
    "modern_member_joined": "member_id joined a consumer, share or streams group, attributes: protocol",
    "modern_member_replaced": "static member_id took the place of attributes: old_member_id",
    "modern_member_left": "member_id left a consumer, share or streams group",
    "modern_member_fenced": "member_id was fenced from a consumer, share or streams group, reason",
    "modern_instance_held": "join of member_id refused: group_instance_id is held by attributes: current_member_id",
    "modern_epoch_bumped": "group epoch (generation) of a consumer, share or streams group went up",
    "modern_assignment_computed": "target assignment for epoch (generation) computed, "
    "attributes: assignor, duration_ms",
    "modern_assignment_failed": "target assignment for epoch (generation) could not be computed, attributes: detail",
    "modern_member_state": "member_id got a new assignment state, attributes: detail",
    "modern_other": "another line about a consumer, share or streams group, attributes: detail",
}
"""Events about one group."""

COORDINATOR_EVENTS: dict[str, str] = {
    "coordinator_elected": "broker coordinates topic_partition_of_group, attributes: epoch",
    "coordinator_resigned": "broker no longer coordinates topic_partition_of_group, attributes: epoch",
    "load_scheduled": "loading of topic_partition_of_group begins, attributes: epoch",
    "load_finished": "topic_partition_of_group is loaded, attributes: epoch, duration_ms",
    "load_failed": "topic_partition_of_group could not be loaded, attributes: epoch, detail",
    "coordinator_kept": "topic_partition_of_group was to be loaded, and the broker goes on with what it has of it",
    "unload_scheduled": "unloading of topic_partition_of_group begins, attributes: epoch",
    "unload_finished": "topic_partition_of_group is unloaded, attributes: epoch",
    "coordinator_started": "coordinator of the broker is up",
    "coordinator_stopped": "coordinator of the broker shut down",
    "offsets_expired": "offsets removed by expiry or topic deletion, attributes: detail",
    "coordinator_error": "the coordinator reports an error of its own, attributes: detail",
    "coordinator_notice": "another line about the coordinator, attributes: detail",
    "broker_settings": "KafkaConfig values: attributes hold those that rule the coordinator, by Kafka's names",
    "group_settings": "settings of one group were set or deleted: attributes hold those that it has by now, by Kafka's "
    "names, and group_id",
    "broker_version": "attributes: version, or scala; read_as: the release as which a version is read that is newer "
    "than all that are known",
    "unrecognised": "a line of a group coordinator's logger that no template fits, attributes: logger, text",
}
"""Events about a coordinator as a whole; group_id is null."""

EVENTS: dict[str, str] = {**GROUP_EVENTS, **COORDINATOR_EVENTS}
