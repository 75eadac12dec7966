"""Lines of the Scala coordinator (0.11 to 3.9), kafka.coordinator.group.GroupCoordinator and GroupMetadata.

"Stabilized" means CompletingRebalance. Stable has no line of its own. Until 2.6 "Updating metadata" is also what a
leader's rejoin looks like.
"""

from __future__ import annotations

from transforms.loglines.broker.fields import table

COORDINATOR = table(
    """
preparing_rebalance · 2.1-3.9
Preparing to rebalance group {group_id} in state {state} with old generation {generation} (__consumer_offsets-{topic_partition_of_group}) (reason: {reason})
    Preparing to rebalance group g1 in state PreparingRebalance with old generation 5 (__consumer_offsets-13) (reason: Adding new member c1-7d1e with group instance id None; client reason: not provided)
preparing_rebalance · 0.11-2.0
Preparing to rebalance group {group_id} with old generation {generation} (__consumer_offsets-{topic_partition_of_group})
    Preparing to rebalance group g1 with old generation 5 (__consumer_offsets-13)

stabilized · 2.8-3.9
Stabilized group {group_id} generation {generation} (__consumer_offsets-{topic_partition_of_group}) with {member_count} members
    Stabilized group g1 generation 5 (__consumer_offsets-13) with 2 members
stabilized · 0.11-2.7
Stabilized group {group_id} generation {generation} (__consumer_offsets-{topic_partition_of_group})
    Stabilized group g1 generation 5 (__consumer_offsets-13)

assignment_received · 3.0-3.9
Assignment received from leader {member_id} for group {group_id} for generation {generation}. The group has {member_count} members, {static_count} of which are static.
    Assignment received from leader c1-7d1e for group g1 for generation 5. The group has 2 members, 1 of which are static.
assignment_received · 2.8
Assignment received from leader for group {group_id} for generation {generation}. The group has {member_count} members, {static_count} of which are static.
    Assignment received from leader for group g1 for generation 5. The group has 2 members, 0 of which are static.
assignment_received · 0.11-2.7
Assignment received from leader for group {group_id} for generation {generation}
    Assignment received from leader for group g1 for generation 5

group_empty · 0.11-3.9
Group {group_id} with generation {generation} is now empty (__consumer_offsets-{topic_partition_of_group})
    Group g1 with generation 5 is now empty (__consumer_offsets-13)

members_not_rejoined · 2.8-3.9
Group {group_id} removed dynamic members who haven't joined: {members}
    Group g1 removed dynamic members who haven't joined: Set(c1-7d1e, c2-91af)
members_not_rejoined · 2.7
Group {group_id} remove dynamic members who haven't joined: {members}
    Group g1 remove dynamic members who haven't joined: Set(c1-7d1e)
members_not_synced · 3.0-3.9
Group {group_id} removed members who haven't sent their sync request: {members}
    Group g1 removed members who haven't sent their sync request: HashSet(c1-7d1e, c2-91af)
rebalance_extended · 2.3-3.9
Group {group_id} could not complete rebalance because no members rejoined
    Group g1 could not complete rebalance because no members rejoined
rebalance_skipped · 2.3-3.9
Group {group_id} is dead, skipping rebalance stage
    Group g1 is dead, skipping rebalance stage

member_failed · 0.11-3.9
Member {member_id} in group {group_id} has failed, removing it from the group
    Member c1-7d1e in group g1 has failed, removing it from the group
pending_member_expired · 2.2-3.9
Pending member {member_id} in group {group_id} has been removed after session timeout expiration.
    Pending member c1-7d1e in group g1 has been removed after session timeout expiration.

member_id_required · 2.5-3.9
Dynamic member with unknown member id joins group {group_id} in {state} state. Created a new member id {member_id} and request the member to rejoin with this id.
    Dynamic member with unknown member id joins group g1 in Empty state. Created a new member id c1-7d1e and request the member to rejoin with this id.
member_id_required · 2.4
Dynamic member with unknown member id rejoins group {group_id} in {state} state. Created a new member id {member_id} and request the member to rejoin with this id.
    Dynamic member with unknown member id rejoins group g1 in Stable state. Created a new member id c1-7d1e and request the member to rejoin with this id.
pending_member_joined · 3.0-3.9
Pending dynamic member with id {member_id} joins group {group_id} in {state} state. Adding to the group now.
    Pending dynamic member with id c1-7d1e joins group g1 in Stable state. Adding to the group now.
pending_member_joined · 2.5-2.8
Dynamic Member with specific member id {member_id} joins group {group_id} in {state} state. Adding to the group now.
    Dynamic Member with specific member id c1-7d1e joins group g1 in Stable state. Adding to the group now.
member_added · 2.5-3.9
Dynamic Member with unknown member id joins group {group_id} in {state} state. Created a new member id {member_id} for this member and add to the group.
    Dynamic Member with unknown member id joins group g1 in Stable state. Created a new member id c1-7d1e for this member and add to the group.
member_added · 2.4
Dynamic member with unknown member id rejoins group {group_id} in {state} state. Created a new member id {member_id} for this member and add to the group.
    Dynamic member with unknown member id rejoins group g1 in Stable state. Created a new member id c1-7d1e for this member and add to the group.

static_member_added · 3.0-3.9
Static member with groupInstanceId={group_instance_id} and unknown member id joins group {group_id} in {state} state. Created a new member id {member_id} for this member and add to the group.
    Static member with groupInstanceId=i1 and unknown member id joins group g1 in Empty state. Created a new member id c1-7d1e for this member and add to the group.
static_member_added · 2.5-2.8
Static Member with unknown member id joins group {group_id} in {state} state. Created a new member id {member_id} for this member and add to the group.
    Static Member with unknown member id joins group g1 in Stable state. Created a new member id c1-7d1e for this member and add to the group.
static_member_added · 2.5-2.8
Adding new static member {instance_option} to group {group_id} with member id {member_id}.
    Adding new static member Some(i1) to group g1 with member id c1-7d1e.
static_member_replaced · 3.0-3.9
Static member with groupInstanceId={group_instance_id} and unknown member id joins group {group_id} in {state} state. Replacing previously mapped member {member_id} with this groupInstanceId.
    Static member with groupInstanceId=i1 and unknown member id joins group g1 in Stable state. Replacing previously mapped member c1-7d1e with this groupInstanceId.
static_member_replaced · 2.5-2.8
Static member {instance_option} of group {group_id} with unknown member id rejoins, assigning new member id {new_member_id}, while old member id {member_id} will be removed.
    Static member Some(i1) of group g1 with unknown member id rejoins, assigning new member id c2-91af, while old member id c1-7d1e will be removed.
static_member_replaced · 2.3-2.4
Static member {instance_option} with unknown member id rejoins, assigning new member id {new_member_id}, while old member {member_id} will be removed.
    Static member Some(i1) with unknown member id rejoins, assigning new member id c2-91af, while old member c1-7d1e will be removed.
static_member_kept_generation · 2.7-3.9
Static member which joins during Stable stage and doesn't affect selectProtocol will not trigger rebalance.
    Static member which joins during Stable stage and doesn't affect selectProtocol will not trigger rebalance.
static_member_kept_generation · 2.3-2.6
Static member joins during {state} stage will not trigger rebalance.
    Static member joins during Stable stage will not trigger rebalance.

member_left · 3.2-3.9
Member {member} has left group {group_id} through explicit `LeaveGroup`; client reason: {client_reason}
    Member MemberMetadata(memberId=c1-7d1e, groupInstanceId=None, clientId=c1, clientHost=/10.0.0.7, sessionTimeoutMs=6000, rebalanceTimeoutMs=9000, supportedProtocols=List(range, roundrobin)) has left group g1 through explicit `LeaveGroup`; client reason: the consumer is being closed
member_left · 3.0-3.1
Member {member} has left group {group_id} through explicit `LeaveGroup` request
    Member MemberMetadata(memberId=c1-7d1e, groupInstanceId=Some(i1), clientId=c1, clientHost=/10.0.0.7, sessionTimeoutMs=6000, rebalanceTimeoutMs=9000, supportedProtocols=List(range)) has left group g1 through explicit `LeaveGroup` request
member_left · 2.4-2.8
Member[group.instance.id {instance_option}, member.id {member_id}] in group {group_id} has left, removing it from the group
    Member[group.instance.id Some(i1), member.id c1-7d1e] in group g1 has left, removing it from the group
member_left · 0.11-2.3
Member {member_id} in group {group_id} has left, removing it from the group
    Member c1-7d1e in group g1 has left, removing it from the group
pending_member_left · 3.0-3.9
Pending member with memberId={member_id} has left group {group_id} through explicit `LeaveGroup` request
    Pending member with memberId=c1-7d1e has left group g1 through explicit `LeaveGroup` request
pending_member_left · 2.2-2.8
Pending member {member_id} is leaving group {group_id}.
    Pending member c1-7d1e is leaving group g1.

member_fenced · 3.0-3.9
Request memberId={member_id} for static member with groupInstanceId={group_instance_id} is fenced by current memberId={current_member_id} during operation {operation}
    Request memberId=c1-7d1e for static member with groupInstanceId=i1 is fenced by current memberId=c2-91af during operation heartbeat

empty_assignments · 2.5-3.9
Setting empty assignments for members {members} of {group_id} for generation {generation}
    Setting empty assignments for members Set(c1-7d1e, c2-91af) of g1 for generation 5
empty_assignments · 2.5-3.9
Sending empty assignment to member {members} of {group_id} for generation {generation} with no errors
    Sending empty assignment to member c1-7d1e of g1 for generation 5 with no errors
rejoin_unexpected · 2.2-3.9
Attempt to add rejoining member {member_id} of group {group_id} in unexpected group state {state}
    Attempt to add rejoining member c1-7d1e of group g1 in unexpected group state Dead
store_failed · 2.7-3.9
Failed to persist metadata for group {group_id}: {detail}
    Failed to persist metadata for group g1: The coordinator is not available.
store_failed · 0.11-3.9
Failed to write empty metadata for group {group_id}: {detail}
    Failed to write empty metadata for group g1: This is not the correct coordinator.

group_deleted · 2.0-3.9
The following groups were deleted: {groups}. A total of {offsets_removed} offsets were removed.
    The following groups were deleted: g1, g2. A total of 6 offsets were removed.
group_deleted · 1.1
The following groups were deleted: {groups}
    The following groups were deleted: g1
group_offsets_deleted · 2.4-3.9
The following offsets of the group {group_id} were deleted: {detail}. A total of {offsets_removed} offsets were removed.
    The following offsets of the group g1 were deleted: orders-0, orders-1. A total of 2 offsets were removed.
offsets_expired · 2.0-3.9
Removed {offsets_removed} offsets associated with deleted partitions: {detail}.
    Removed 4 offsets associated with deleted partitions: orders-0, orders-1.

coordinator_elected · 3.0-3.9
Elected as the group coordinator for partition {topic_partition_of_group} in epoch {epoch}
    Elected as the group coordinator for partition 13 in epoch 7
coordinator_elected · 2.8
Elected as the group coordinator for partition {topic_partition_of_group}
    Elected as the group coordinator for partition 13
coordinator_resigned · 3.0-3.9
Resigned as the group coordinator for partition {topic_partition_of_group} in epoch {epoch}
    Resigned as the group coordinator for partition 13 in epoch OptionalInt[7]
coordinator_resigned · 2.8
Resigned as the group coordinator for partition {topic_partition_of_group}
    Resigned as the group coordinator for partition 13
group_loaded · 0.11-3.9
Loading group metadata for {group_id} with generation {generation}
    Loading group metadata for g1 with generation 5
group_unloaded · 0.11-3.9
Unloading group metadata for {group_id} with generation {generation}
    Unloading group metadata for g1 with generation 5
coordinator_started · 0.11-3.9
Startup complete.
    Startup complete.
coordinator_stopped · 0.11-3.9
Shutdown complete.
    Shutdown complete.
coordinator_error · 3.0-3.9
Received unexpected notification of sync expiration {rest}
    Received unexpected notification of sync expiration for g1 with an old generation 4 while the group has 5.

simple_group_created · 4.0
Creating simple consumer group {group_id} via manual offset commit.
    Creating simple consumer group g1 via manual offset commit.

ignored · 0.11-3.9
Starting up.
    Starting up.
Shutting down.
    Shutting down.
Could not fetch offsets for group {rest}
    Could not fetch offsets for group g1 (not group coordinator).
Member {member_id} has already been removed from the group.
    Member c1-7d1e has already been removed from the group.
Member id {member_id} was not found in {rest}
    Member id c1-7d1e was not found in g1 during heartbeat completion check
Received notification of heartbeat expiration for member {rest}
    Received notification of heartbeat expiration for member c1-7d1e after group g1 had already been unloaded or deleted.
"""  # noqa: E501 (a log line is one line)
)

GROUP = table(
    """
leader_replaced · 2.3-3.9
Group leader [member.id: {member_id}, group.instance.id: {instance_option}] failed to join before rebalance timeout, while new leader {new_leader} was elected.
    Group leader [member.id: c1-7d1e, group.instance.id: Some(i1)] failed to join before rebalance timeout, while new leader MemberMetadata(memberId=c2-91af, groupInstanceId=None, clientId=c2, clientHost=/10.0.0.8, sessionTimeoutMs=4000, rebalanceTimeoutMs=3000, supportedProtocols=List(range)) was elected.
leader_replaced · 2.3-3.9
Group leader [member.id: {member_id}, group.instance.id: {instance_option}] failed to join before rebalance timeout, and the group couldn't proceed to next generationbecause no member joined.
    Group leader [member.id: c1-7d1e, group.instance.id: None] failed to join before rebalance timeout, and the group couldn't proceed to next generationbecause no member joined.
member_fenced · 2.5-2.8
given member.id {member_id} is identified as a known static member {group_instance_id}, but not matching the expected member.id {current_member_id} during {operation}, will respond with instance fenced error
    given member.id c1-7d1e is identified as a known static member i1, but not matching the expected member.id c2-91af during sync-group, will respond with instance fenced error
member_fenced · 2.3-2.4
given member.id {member_id} is identified as a known static member {group_instance_id},but not matching the expected member.id {current_member_id}
    given member.id c1-7d1e is identified as a known static member i1,but not matching the expected member.id c2-91af
protocol_unparsed · 2.4-3.9
Failed to parse Consumer Protocol {protocol} of group {group_id}. Consumer group coordinator is not aware of the subscribed topics.
    Failed to parse Consumer Protocol consumer:range of group g1. Consumer group coordinator is not aware of the subscribed topics.
member_loaded · 2.8-3.9
Loaded member {member} in group {group_id} with generation {generation}.
    Loaded member MemberMetadata(memberId=c1-7d1e, groupInstanceId=None, clientId=c1, clientHost=/10.0.0.7, sessionTimeoutMs=6000, rebalanceTimeoutMs=9000, supportedProtocols=List(range)) in group g1 with generation 5.
member_loaded · 2.5-2.7
Static member {metadata}.groupInstanceId of group {group_id} loaded with member id {member_id} at generation {generation}.
    Static member MemberMetadata(memberId=c1-7d1e, groupInstanceId=Some(i1), clientId=c1, clientHost=/10.0.0.7, sessionTimeoutMs=6000, rebalanceTimeoutMs=9000, supportedProtocols=List(range)).groupInstanceId of group g1 loaded with member id c1-7d1e at generation 5.
group_offsets_expired · 2.1-3.9
Expired offsets from group '{group_id}': {detail}
    Expired offsets from group 'g1': Set(orders-0, orders-1)
coordinator_error · 3.4-3.9
Failed to invoke join callback for {rest}
    Failed to invoke join callback for MemberMetadata(memberId=c1-7d1e) due to null.
coordinator_error · 3.4-3.9
Failed to invoke sync callback for {rest}
    Failed to invoke sync callback for MemberMetadata(memberId=c1-7d1e) due to null.
"""  # noqa: E501 (a log line is one line)
)
