"""Lines of the Java coordinator about consumer (KIP-848), share (KIP-932) and streams (KIP-1071) groups."""

from __future__ import annotations

from transforms.loglines.broker.fields import table

MODERN = table(
    """
member_id_required · 3.8-
[GroupId {group_id}] Dynamic member with unknown member id joins the consumer group. Created a new member id {member_id} and requesting the member to rejoin with this id.
    [GroupId g1] Dynamic member with unknown member id joins the consumer group. Created a new member id c1-7d1e and requesting the member to rejoin with this id.
modern_member_joined · 3.7-
[GroupId {group_id}] Static member {member_id} with instance id {group_instance_id} joins the {group_type} group using the {protocol} protocol.
    [GroupId g1] Static member c1-7d1e with instance id i1 joins the consumer group using the classic protocol.
[GroupId {group_id}] Static member {member_id} with instance id {group_instance_id} joins the {group_type} group.
    [GroupId g1] Static member c1-7d1e with instance id i1 joins the consumer group.
[GroupId {group_id}] Member {member_id} joins the {group_type} group using the {protocol} protocol.
    [GroupId g1] Member c1-7d1e joins the consumer group using the consumer protocol.
    [GroupId g1] Member c1-7d1e joins the share group using the share protocol.
[GroupId {group_id}] Member {member_id} joins the {group_type} group.
    [GroupId g1] Member c1-7d1e joins the consumer group.
[GroupId {group_id}][MemberId {member_id}] Member joins the {group_type} group.
    [GroupId g1][MemberId c1-7d1e] Member joins the streams group.
modern_member_replaced · 3.8-
[GroupId {group_id}] Static member with unknown member id and instance id {group_instance_id} re-joins the consumer group. Created a new member {member_id} to replace the existing member {old_member_id}.
    [GroupId g1] Static member with unknown member id and instance id i1 re-joins the consumer group. Created a new member c1-7d1e to replace the existing member c2-91af.
[GroupId {group_id}] Static member with instance id {group_instance_id} re-joins the consumer group using the {protocol} protocol. Created a new member {member_id} to replace the existing member {old_member_id}.
    [GroupId g1] Static member with instance id i1 re-joins the consumer group using the consumer protocol. Created a new member c1-7d1e to replace the existing member c2-91af.
modern_member_replaced · 3.7-3.8
[GroupId {group_id}] Static member {member_id} with instance id {group_instance_id} re-joins the consumer group.
    [GroupId g1] Static member c1-7d1e with instance id i1 re-joins the consumer group.

modern_member_left · 3.7-
[GroupId {group_id}] Static member {member_id} with instance id {group_instance_id} temporarily left the {group_type} group.
    [GroupId g1] Static member c1-7d1e with instance id i1 temporarily left the consumer group.
[GroupId {group_id}] Static member {member_id} with instance id {group_instance_id} left the {group_type} group.
    [GroupId g1] Static member c1-7d1e with instance id i1 left the consumer group.
[GroupId {group_id}] Static Member {member_id} with instance id {group_instance_id} temporarily left the {group_type} group.
    [GroupId g1] Static Member c1-7d1e with instance id i1 temporarily left the consumer group.
[GroupId {group_id}] Static Member {member_id} with instance id {group_instance_id} left the {group_type} group.
    [GroupId g1] Static Member c1-7d1e with instance id i1 left the consumer group.
[GroupId {group_id}][MemberId {stated_member_id}] Member {member_id} left the {group_type} group.
    [GroupId g1][MemberId c1-7d1e] Member c1-7d1e left the streams group.
[GroupId {group_id}] Member {member_id} left the {group_type} group.
    [GroupId g1] Member c1-7d1e left the consumer group.
    [GroupId g1] Member c1-7d1e left the share group.
modern_member_left · 4.0-
[GroupId {group_id}] Static member {member_id} with instance id {group_instance_id} has left group through explicit `LeaveGroup` request; client reason: {client_reason}
    [GroupId g1] Static member c1-7d1e with instance id i1 has left group through explicit `LeaveGroup` request; client reason: not provided
[GroupId {group_id}] Dynamic member {member_id} has left group through explicit `LeaveGroup` request; client reason: {client_reason}
    [GroupId g1] Dynamic member c1-7d1e has left group through explicit `LeaveGroup` request; client reason: the consumer is being closed
modern_member_left · 3.8-3.9
[Group {group_id}] Static Member {member_id} with instance id {group_instance_id} has left group through explicit `LeaveGroup` request; client reason: {client_reason}
    [Group g1] Static Member c1-7d1e with instance id i1 has left group through explicit `LeaveGroup` request; client reason: not provided
[Group {group_id}] Dynamic Member {member_id} has left group through explicit `LeaveGroup` request; client reason: {client_reason}
    [Group g1] Dynamic Member c1-7d1e has left group through explicit `LeaveGroup` request; client reason: not provided
modern_member_fenced · 3.6-
[GroupId {group_id}] Streams member {member_id} fenced from the group because {reason}.
    [GroupId g1] Streams member c1-7d1e fenced from the group because the member session expired.
[GroupId {group_id}] Member {member_id} fenced from the group because {reason}.
    [GroupId g1] Member c1-7d1e fenced from the group because its session expired.
    [GroupId g1] Member c1-7d1e fenced from the group because it failed to transition from epoch 5 within 300000ms.
[GroupId {group_id}] Static member {member_id} with instance id {group_instance_id} is fenced by existing member {current_member_id}.
    [GroupId g1] Static member c1-7d1e with instance id i1 is fenced by existing member c2-91af.
modern_instance_held · 3.6-
[GroupId {group_id}] Static member {member_id} with instance id {group_instance_id} cannot join the group because the instance id is owned by member {current_member_id}.
    [GroupId g1] Static member c1-7d1e with instance id i1 cannot join the group because the instance id is owned by member c2-91af.
[GroupId {group_id}] Static member {member_id} with instance id {group_instance_id} cannot join the group because the instance id is is owned by member {current_member_id}.
    [GroupId g1] Static member c1-7d1e with instance id i1 cannot join the group because the instance id is is owned by member c2-91af.

modern_epoch_bumped · 4.2-
[GroupId {group_id}][MemberId {member_id}] Bumped streams group epoch to {generation} with metadata hash {metadata_hash} and validated topic epoch {topology_epoch}.
    [GroupId g1][MemberId c1-7d1e] Bumped streams group epoch to 5 with metadata hash -77 and validated topic epoch 0.
modern_epoch_bumped · 4.1
[GroupId {group_id}][MemberId {member_id}] Bumped streams group epoch to {generation} with metadata hash {metadata_hash}.
    [GroupId g1][MemberId c1-7d1e] Bumped streams group epoch to 5 with metadata hash -77.
modern_epoch_bumped · 4.1-
[GroupId {group_id}] Bumped group epoch to {generation} with metadata hash {metadata_hash}.
    [GroupId g1] Bumped group epoch to 5 with metadata hash -77.
modern_epoch_bumped · 3.6-4.0
[GroupId {group_id}] Bumped group epoch to {generation}.
    [GroupId g1] Bumped group epoch to 5.
modern_assignment_computed · 3.8-
[GroupId {group_id}] Computed a new target assignment for epoch {generation} with '{assignor}' assignor in {duration_ms}ms: {assignment}.
    [GroupId g1] Computed a new target assignment for epoch 5 with 'uniform' assignor in 3ms: {c1-7d1e=Assignment(partitions={})}.
modern_assignment_computed · 4.0-
[GroupId {group_id}] Computed a new target assignment for epoch {generation} with '{assignor}' assignor in {duration_ms}ms.
    [GroupId g1] Computed a new target assignment for epoch 5 with 'uniform' assignor in 3ms.
modern_assignment_computed · 3.7
[GroupId {group_id}] Computed a new target assignment for epoch {generation} with '{assignor}' assignor: {assignment}.
    [GroupId g1] Computed a new target assignment for epoch 5 with 'uniform' assignor: {c1-7d1e=Assignment(partitions={})}.
modern_assignment_computed · 3.6
[GroupId {group_id}] Computed a new target assignment for epoch {generation}: {assignment}.
    [GroupId g1] Computed a new target assignment for epoch 5: {c1-7d1e=Assignment(partitions={})}.
modern_assignment_failed · 3.6-
[GroupId {group_id}] Failed to compute a new target assignment for epoch {generation}: {detail}.
    [GroupId g1] Failed to compute a new target assignment for epoch 5: Mismatch in partition movement record.
modern_member_state · 3.6-
[GroupId {group_id}][MemberId {member_id}] Member's new assignment state: {detail}.
    [GroupId g1][MemberId c1-7d1e] Member's new assignment state: epoch=5, previousEpoch=4, state=STABLE, assignedTasks={} and tasksPendingRevocation={}.
[GroupId {group_id}] Member {member_id} new assignment state: {detail}.
    [GroupId g1] Member c1-7d1e new assignment state: epoch=5, previousEpoch=4, state=STABLE, assignedPartitions=[] and revokedPartitions=[].
[GroupId {group_id}] Member {member_id} transitioned from {detail}.
    [GroupId g1] Member c1-7d1e transitioned from CurrentAssignment(memberEpoch=4) to CurrentAssignment(memberEpoch=5).
group_converted · 4.0-
[GroupId {group_id}] Converted the empty {from} group to a {to} group.
    [GroupId g1] Converted the empty classic group to a consumer group.
    [GroupId g1] Converted the empty streams group to a classic group.
[GroupId {group_id}] Converted the {from} group to a {to} group.
    [GroupId g1] Converted the consumer group to a classic group.

ignored · 3.6-
[GroupId {group_id}] Could not fence {rest}
    [GroupId g1] Could not fence c1-7d1e because the group does not exist.
[GroupId {group_id}] Ignoring rebalance timeout for {rest}
    [GroupId g1] Ignoring rebalance timeout for c1-7d1e because the member left the epoch 5.
[GroupId {group_id}] Ignoring revocation timeout for {rest}
    [GroupId g1] Ignoring revocation timeout for c1-7d1e because the member state does not match the expected state.

modern_other · 3.6-
[GroupId {group_id}][MemberId {member_id}] {detail}
    [GroupId g1][MemberId c1-7d1e] Configuring the topology 0
[GroupId {short_group_id}] Member {member_id} updated its {detail}
    [GroupId g1] Member c1-7d1e updated its subscribed topics to: [orders].
[GroupId {short_group_id}] {detail}
    [GroupId g1] Computed new metadata hash: -77.
"""  # noqa: E501 (a log line is one line)
)
