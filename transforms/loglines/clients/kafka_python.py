r"""Lines of kafka-python, loggers `kafka.coordinator` and below; sources and logs of 2.0, 2.2 and 3.0.

They name the group, hardly ever the client. A heartbeat that is refused for an unknown member names neither.
"""

from __future__ import annotations

from transforms.loglines.clients.fields import VOCABULARIES

KAFKA_PYTHON = VOCABULARIES["kafka-python"].table(
    r"""
joining · 2.0-
(Re-)joining group {group_id}
    (Re-)joining group orders-enricher
member_id_required · 2.2-
Received member id {member_id} for group {group_id}; will retry join-group
    Received member id geo-lane-l1-053cec66-77c7-48ef-aa81-798d50676895 for group geo-lane; will retry join-group
joined · 2.2-
Successfully joined group {group_id} <Generation {generation} (member_id: {member_id}, protocol: {rest}
    Successfully joined group orders-enricher <Generation 1 (member_id: orders-enricher-m1-b9a51b36-e051-4ba6-9013-13e721cd146f, protocol: range)>
synced · 2.0-2.1
Successfully joined group {group_id} with generation {generation}
    Successfully joined group kp202-manual with generation 2
join_failed · 2.0-
Attempt to join group {group_id} failed due to {reason}
    Attempt to join group axle-count-a failed due to unknown member id
    Attempt to join group axle-count-a failed due to obsolete coordinator information: NotCoordinatorError
    Attempt to join group audit-sink failed due to fatal error: InconsistentGroupProtocolError
join_failed · 2.2
Failed to join group {group_id}: {reason}
    Failed to join group kp2215-auto: [Error 79] MemberIdRequiredError
    Failed to join group kp2215-auto: NodeNotReadyError: coordinator-1
sync_failed · 2.2-
SyncGroup for group {group_id} failed due to {reason}
    SyncGroup for group kp-busy failed due to coordinator rebalance
assigned · 2.0-
Setting newly assigned partitions {tuples} for group {group_id}
    Setting newly assigned partitions {TopicPartition(topic='orders', partition=3), TopicPartition(topic='orders', partition=4), TopicPartition(topic='orders', partition=5)} for group orders-enricher
revoked · 3.0-
Revoking previously assigned partitions {tuples} for group {group_id} on close
    Revoking previously assigned partitions {TopicPartition(topic='payments', partition=3), TopicPartition(topic='payments', partition=0)} for group notebook-etl on close
revoked · 2.0-
Revoking previously assigned partitions {tuples} for group {group_id}
    Revoking previously assigned partitions {TopicPartition(topic='orders', partition=3), TopicPartition(topic='orders', partition=4)} for group orders-enricher
    Revoking previously assigned partitions set() for group orders-enricher
lost · 3.0-
Group {group_id} lost membership; forcibly revoking {tuples}
    Group kp-busy lost membership; forcibly revoking {TopicPartition(topic='a', partition=0), TopicPartition(topic='a', partition=1)}
heartbeat_failed · 3.0-
Group {group_id} is rebalancing; {reason}.
    Group orders-enricher is rebalancing; rejoining.
Heartbeat failed for group {group_id} due to {reason}
    Heartbeat failed for group kp-fenced due to fenced id error: kp-0
heartbeat_failed · 2.0-
Heartbeat failed for group {group_id}: {reason}
    Heartbeat failed for group axle-count-a: coordinator (node coordinator-2) is either not started or not valid
Heartbeat failed for group {group_id} because {reason}
    Heartbeat failed for group kp202-auto because it is rebalancing
Heartbeat: local {reason}
    Heartbeat: local member_id was not recognized; this consumer needs to re-join
session_timeout · 2.0-
Heartbeat session expired, {reason}
    Heartbeat session expired, marking coordinator dead
poll_timeout · 2.2-
Consumer poll timeout has expired. {rest}
    Consumer poll timeout has expired. This means the time between subsequent calls to poll() was longer than the configured max_poll_interval_ms, which typically implies that the poll loop is spending too much time processing messages. You can address this either by increasing max_poll_interval_ms or by reducing the maximum size of batches returned in poll() with max_poll_records.
poll_timeout · 2.0-2.1
Heartbeat poll expired, leaving group
    Heartbeat poll expired, leaving group
fenced · 3.0-
Heartbeat thread caught fenced group_instance_id {group_instance_id} error
    Heartbeat thread caught fenced group_instance_id kp-0 error
commit_failed · 3.0-
OffsetCommit for group {group_id} failed due to fenced id error: {group_instance_id}
    OffsetCommit for group kp-fenced failed due to fenced id error: kp-0
commit_failed · 2.2-
OffsetCommit for group {group_id} failed: {reason}
    OffsetCommit for group kp-busy failed: [Error 25] UnknownMemberIdError: kp-busy
Failing OffsetCommit request since {reason}
    Failing OffsetCommit request since the consumer is not part of an active group
commit_failed · 2.0-
Auto offset commit failed for group {group_id}: {reason}{rest}
    Auto offset commit failed for group kp202-auto: CommitFailedError: Commit cannot be completed since the group has already\n            rebalanced and assigned the partitions to another member.
Offset commit failed: {reason}{rest}
    Offset commit failed: This is likely to cause duplicate message delivery
commit_failed · 3.0-
Pre-rebalance offset commit failed: {reason}{rest}
    Pre-rebalance offset commit failed: This is likely to cause duplicate message delivery
commit_failed · 2.0-
Error sending OffsetCommitRequest{any} to node {any} [{brief}]
    Error sending OffsetCommitRequest to node coordinator-1 [KafkaConnectionError: 111 ECONNREFUSED]
    Error sending OffsetCommitRequest_v2 to node coordinator-1 [KafkaConnectionError: socket disconnected]
heartbeat_failed · 2.0-
Error sending HeartbeatRequest{any} to node {any} [{brief}]
    Error sending HeartbeatRequest_v2 to node coordinator-1 [KafkaConnectionError: socket disconnected]
coordinator_lookup_failed · 2.0-
Error sending FindCoordinatorRequest{any} to node {any} [{brief}]
    Error sending FindCoordinatorRequest to node 1 [KafkaConnectionError: 111 ECONNREFUSED]
leaving · 3.0-
Leaving consumer group {group_id} (member {member_id}).
    Leaving consumer group cam-encode-c (member cam-encode-c-s-f46ab9dd-9a21-4338-a26e-3fe59b2f8873).
leaving · 2.0-2.2
Leaving consumer group ({group_id}).
    Leaving consumer group (kp202-manual).
left · 2.2-
LeaveGroup request for group {group_id} returned successfully
    LeaveGroup request for group orders-enricher returned successfully
leave_failed · 2.0-
LeaveGroup request for group {group_id} failed with error: {reason}
    LeaveGroup request for group kp2215-auto failed with error: [Error 25] UnknownMemberIdError
coordinator_discovered · 2.0-
Discovered coordinator {any} for group {group_id}
    Discovered coordinator coordinator-1 for group orders-enricher
coordinator_lost · 2.0-
Marking the coordinator dead (node {any}) for group {group_id}: {reason}
    Marking the coordinator dead (node coordinator-1) for group axle-count-a: [Error 16] NotCoordinatorError.
    Marking the coordinator dead (node coordinator-1) for group dispatch-a: KafkaConnectionError: 111 ECONNREFUSED.

ignored · 2.0-
Elected group leader -- {rest}
    Elected group leader -- performing partition assignments using range
ignored · 2.0-2.2
Starting new heartbeat thread
    Starting new heartbeat thread
Stopping heartbeat thread
    Stopping heartbeat thread
"""  # noqa: E501 (a log line is one line)
)
