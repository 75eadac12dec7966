"""Lines of the Java coordinator (3.6 on, opt-in until 4.0): classic groups, offsets, loading.

Classes org.apache.kafka.coordinator.group.{GroupMetadataManager, classic.ClassicGroup, OffsetMetadataManager,
GroupCoordinatorShard, GroupCoordinatorService} and org.apache.kafka.coordinator.common.runtime.CoordinatorRuntime.
The partition of the group stands in the prefix of the line.
"""

from __future__ import annotations

from transforms.loglines.broker.fields import table

CLASSIC = table(
    """
preparing_rebalance · 3.6-
Preparing to rebalance group {group_id} in state {state} with old generation {generation} (reason: {reason}).
    Preparing to rebalance group g1 in state PreparingRebalance with old generation 5 (reason: Adding new member c1-7d1e with group instance id null; client reason: not provided).
stabilized · 3.6-
Stabilized group {group_id} generation {generation} with {member_count} members.
    Stabilized group g1 generation 5 with 2 members.
assignment_received · 3.6-
Assignment received from leader {member_id} for group {group_id} for generation {generation}. The group has {member_count} members, {static_count} of which are static.
    Assignment received from leader c1-7d1e for group g1 for generation 5. The group has 2 members, 0 of which are static.
group_empty · 3.6-
Group {group_id} with generation {generation} is now empty.
    Group g1 with generation 5 is now empty.
members_not_rejoined · 3.6-
Group {group_id} removed dynamic members who haven't joined: {members}
    Group g1 removed dynamic members who haven't joined: [c1-7d1e, c2-91af]
members_not_synced · 3.6-
Group {group_id} removed members who haven't sent their sync requests: {members}
    Group g1 removed members who haven't sent their sync requests: [c1-7d1e]
rebalance_extended · 3.6-
Group {group_id} could not complete rebalance because no members rejoined.
    Group g1 could not complete rebalance because no members rejoined.
rebalance_skipped · 3.6-
Group {group_id} is dead, skipping rebalance stage.
    Group g1 is dead, skipping rebalance stage.

member_failed · 3.6-
Member {member_id} in group {group_id} has failed, removing it from the group.
    Member c1-7d1e in group g1 has failed, removing it from the group.
pending_member_expired · 3.6-
Pending member {member_id} in group {group_id} has been removed after session timeout expiration.
    Pending member c1-7d1e in group g1 has been removed after session timeout expiration.
member_id_required · 3.6-
Dynamic member with unknown member id joins group {group_id} in {state} state. Created a new member id {member_id} and requesting the member to rejoin with this id.
    Dynamic member with unknown member id joins group g1 in Empty state. Created a new member id c1-7d1e and requesting the member to rejoin with this id.
pending_member_joined · 3.6-
Pending dynamic member with id {member_id} joins group {group_id} in {state} state. Adding to the group now.
    Pending dynamic member with id c1-7d1e joins group g1 in Empty state. Adding to the group now.
member_added · 3.6-
Dynamic member with unknown member id joins group {group_id} in state {state}. Created a new member id {member_id} and added the member to the group.
    Dynamic member with unknown member id joins group g1 in state Empty. Created a new member id c1-7d1e and added the member to the group.
static_member_added · 3.6-
Static member with groupInstanceId={group_instance_id} and unknown member id joins group {group_id} in {state} state. Created a new member id {member_id} for this member and added to the group.
    Static member with groupInstanceId=i1 and unknown member id joins group g1 in Empty state. Created a new member id c1-7d1e for this member and added to the group.
static_member_replaced · 3.6-
Static member with groupInstanceId={group_instance_id} and unknown member id joins group {group_id} in {state} state. Replacing previously mapped member {member_id} with this groupInstanceId.
    Static member with groupInstanceId=i1 and unknown member id joins group g1 in Stable state. Replacing previously mapped member c1-7d1e with this groupInstanceId.
static_member_kept_generation · 3.6-
Static member which joins during Stable stage and doesn't affect the selected protocol will not trigger a rebalance.
    Static member which joins during Stable stage and doesn't affect the selected protocol will not trigger a rebalance.
member_left · 3.7-
[Group {group_id}] Member {member_id} has left group through explicit `LeaveGroup` request; client reason: {client_reason}
    [Group g1] Member c1-7d1e has left group through explicit `LeaveGroup` request; client reason: consumer poll timeout has expired.
pending_member_left · 3.7-
[Group {group_id}] Pending member {member_id} has left group through explicit `LeaveGroup` request; client reason: {client_reason}
    [Group g1] Pending member c1-7d1e has left group through explicit `LeaveGroup` request; client reason: not provided

empty_assignments · 3.6-
Setting empty assignments for members {members} of {group_id} for generation {generation}.
    Setting empty assignments for members {c1-7d1e=[B@7fedfe27, c2-91af=[B@7fedfe27} of g1 for generation 5.
empty_assignments · 3.6-
Sending empty assignment to member {members} of {group_id} for generation {generation} with no errors
    Sending empty assignment to member c1-7d1e of g1 for generation 5 with no errors
rejoin_unexpected · 3.6-
Attempt to add rejoining member {member_id} of group {group_id} in unexpected group state {state}
    Attempt to add rejoining member c1-7d1e of group g1 in unexpected group state Dead
store_failed · 3.6-
Failed to persist metadata for group {group_id} static member {member_id} with group instance id {group_instance_id} due to {detail}. Reverting to old member id {old_member_id}.
    Failed to persist metadata for group g1 static member c1-7d1e with group instance id i1 due to The request timed out.. Reverting to old member id c2-91af.
store_failed · 3.6-
Failed to write empty metadata for group {group_id}: {detail}
    Failed to write empty metadata for group g1: This is not the correct coordinator.
leader_replaced · 3.6-
Group leader [memberId: {member_id}, groupInstanceId: {instance_option}] failed to join before the rebalance timeout. Member {new_leader} was elected as the new leader.
    Group leader [memberId: c1-7d1e, groupInstanceId: i1] failed to join before the rebalance timeout. Member ClassicGroupMember(memberId='c2-91af', groupInstanceId='null', clientId='c2', clientHost='/10.0.0.8', rebalanceTimeoutMs=9000, sessionTimeoutMs=6000, protocolType='consumer', supportedProtocols=[range]) was elected as the new leader.
leader_replaced · 3.6-
Group leader [memberId: {member_id}, groupInstanceId: {instance_option}] failed to join before the rebalance timeout and the group couldn't proceed to the next generation because no member joined.
    Group leader [memberId: c1-7d1e, groupInstanceId: None] failed to join before the rebalance timeout and the group couldn't proceed to the next generation because no member joined.
member_fenced · 3.6-
Request memberId={member_id} for static member with groupInstanceId={group_instance_id} is fenced by existing memberId={current_member_id} during operation {operation}
    Request memberId=c1-7d1e for static member with groupInstanceId=i1 is fenced by existing memberId=c2-91af during operation offset-commit
protocol_unparsed · 3.6-
Failed to parse Consumer Protocol {protocol} of group {group_id}. Consumer group coordinator is not aware of the subscribed topics.
    Failed to parse Consumer Protocol consumer:range of group g1. Consumer group coordinator is not aware of the subscribed topics.

group_loaded · 3.6-
Loaded {group_type} group {group_id} with {member_count} members.
    Loaded classic group g1 with 2 members.
    Loaded generic group g1 with 2 members.
    Loaded consumer group g1 with 2 members.
    Loaded share group g1 with 2 members.
    Loaded streams group g1 with 2 members.
member_loaded · 3.6-
Loaded member {member_id} in {group_type} group {group_id}.
    Loaded member c1-7d1e in classic group g1.
group_unloaded · 3.8-
[GroupId={group_id}] Unloading group metadata for generation {generation}.
    [GroupId=g1] Unloading group metadata for generation 5.
group_unloaded · 3.8-
[GroupId={group_id}] Unloaded group metadata for group epoch {generation}.
    [GroupId=g1] Unloaded group metadata for group epoch 5.
conversion_refused · 3.8-
Cannot upgrade classic group {group_id} to consumer group because {detail}
    Cannot upgrade classic group g1 to consumer group because the group does not use the consumer embedded protocol.
Cannot upgrade classic group {group_id} to consumer group: {detail}
    Cannot upgrade classic group g1 to consumer group: No value present.
Cannot upgrade the classic group {group_id} to consumer group because {detail}
    Cannot upgrade the classic group g1 to consumer group because the embedded consumer protocol is malformed: boom.
Cannot downgrade consumer group {group_id} to classic group because {detail}
    Cannot downgrade consumer group g1 to classic group because the online downgrade is disabled.
Cannot downgrade the consumer group {group_id}: {detail}
    Cannot downgrade the consumer group g1: fail to parse the Consumer Protocol consumer.

coordinator_error · 3.6-
Received unexpected notification of sync expiration {rest}
    Received unexpected notification of sync expiration for g1 with an old generation 4 while the group has 5.
Loaded group {name} with an unknown group type {type}.
    Loaded group g1 with an unknown group type X.
Removed group {name} with an unknown group type {type}.
    Removed group g1 with an unknown group type X.
onUnloaded group with an unknown group type {type}.
    onUnloaded group with an unknown group type X.
coordinator_notice · 4.1-
Initializing topic {topic} for share group {group_id} found in deleting state as well, removing from deleting.
    Initializing topic orders for share group g1 found in deleting state as well, removing from deleting.
Existing deleting entries found in share group {group_id} - {rest}
    Existing deleting entries found in share group g1 - {}
Some topics for share group id {group_id} were not found in the metadata image - {rest}
    Some topics for share group id g1 were not found in the metadata image - [orders]

ignored · 3.6-
Cannot complete join phase of group {rest}
    Cannot complete join phase of group g1 because this is an initial rebalance.
Cannot find the group, skipping {rest}
    Cannot find the group, skipping rebalance stage.
Member {member_id} has already been removed from the group.
    Member c1-7d1e has already been removed from the group.
Received notification of {rest}
    Received notification of heartbeat expiration for member c1-7d1e after group g1 had already been deleted or upgraded.
Skip downgrading the consumer group {rest}
    Skip downgrading the consumer group g1 to classic group because it's empty.
ShareGroup{record} tombstone {rest}
    ShareGroupMemberMetadata tombstone without group - g1
"""  # noqa: E501 (a log line is one line)
)

OFFSETS = table(
    """
simple_group_created · 4.0-
[GroupId {group_id}] Creating a simple consumer group via manual offset commit.
    [GroupId g1] Creating a simple consumer group via manual offset commit.
group_offsets_expired · 3.7-
[GroupId {group_id}] Expired offset for partition={detail}
    [GroupId g1] Expired offset for partition=orders-0
txn_commit_skipped · 3.8-
Skipped the materialization of transactional offset commit {offset} for producer id {producer_id} in group {group_id} with topic {topic}, partition {partition} since its record offset {record_offset} is smaller than the record offset {last_record_offset} of the last committed offset.
    Skipped the materialization of transactional offset commit OffsetAndMetadata(offset=7) for producer id 9 in group g1 with topic orders, partition 0 since its record offset 11 is smaller than the record offset 12 of the last committed offset.

ignored · 3.6-
[GroupId {group_id}] Committing offsets {rest}
    [GroupId g1] Committing offsets 7 for partition orders-0 from member c1-7d1e with leader epoch 0.
[GroupId {group_id}] Committing transactional offsets {rest}
    [GroupId g1] Committing transactional offsets 7 for partition orders-0 from member c1-7d1e with leader epoch 0.
Replaying offset commit with key {rest}
    Replaying offset commit with key OffsetCommitKey(group='g1', topic='orders', partition=0), value null
Replaying transactional offset commit with producer id {rest}
    Replaying transactional offset commit with producer id 9, key OffsetCommitKey(group='g1'), value null
Replayed end transaction marker with result {rest}
    Replayed end transaction marker with result COMMIT for producer id 9 but no pending offsets are present. Ignoring it.
Committed transaction offset commit for producer id {rest}
    Committed transaction offset commit for producer id 9 in group g1 with topic orders, partition 0, and offset 7.
Committed transactional offset commit {rest}
    Committed transactional offset commit OffsetAndMetadata(offset=7) for producer id 9 in group g1 with topic orders and partition 0.
Committed transactional offset commits for producer id {producer_id}.
    Committed transactional offset commits for producer id 9.
Aborted transactional offset commits for producer id {producer_id}.
    Aborted transactional offset commits for producer id 9.
"""  # noqa: E501 (a log line is one line)
)
