r"""Lines of Java consumers of the new protocol (KIP-848, group.protocol=consumer), 3.7 to 4.2.

Members of share and streams groups print most of them too; what those alone say is in `streams`.

Their states are those of org.apache.kafka.clients.consumer.internals.MemberState; the epoch stands for the generation.
"""

from __future__ import annotations

from transforms.loglines.clients.fields import table

MODERN = table(
    r"""
state_changed · 3.7-
Member {member_id} with epoch {generation} transitioned from {any} to {client_state}.
    Member c1-7d1e with epoch 5 transitioned from RECONCILING to ACKNOWLEDGING.
state_changed · 3.8-
Member {member_id} with epoch {generation} transitioned to {client_state} after a heartbeat was sent to ack a previous reconciliation. {rest}
    Member c1-7d1e with epoch 5 transitioned to STABLE after a heartbeat was sent to ack a previous reconciliation. \n\t\tCurrent assignment: [] \n\t\tTarget assignment: []\n
fenced · 3.7-
Member {member_id} with epoch {generation} transitioned to {client_state} state. It will release its assignment and rejoin the group.
    Member c1-7d1e with epoch 5 transitioned to FENCED state. It will release its assignment and rejoin the group.
Member {member_id} with epoch {generation} got fenced but {rest}
    Member c1-7d1e with epoch 5 got fenced but it already left the group, so it won't attempt to rejoin.
Member {member_id} with epoch {generation} got fenced before {rest}
    Member c1-7d1e with epoch 5 got fenced before sending leave group heartbeat. It will not send the leave request and won't attempt to rejoin.
{any}HeartbeatRequest failed for member {member_id} because epoch {generation} is fenced. in {any}ms: {reason}
    ConsumerGroupHeartbeatRequest failed for member c1-7d1e because epoch 5 is fenced. in 0ms: The consumer group member has a smaller member epoch (5) than the one known by the group coordinator (6). The member must abandon all its partitions and rejoin.
{any} failed due to fenced instance id {group_instance_id}: {reason}
    ConsumerGroupHeartbeatRequest failed due to fenced instance id i1: boom
state_changed · 3.7-
Member {member_id} with epoch {generation} transitioned to fatal state
    Member c1-7d1e with epoch 5 transitioned to fatal state
Member {member_id} with epoch {generation} got fatal error from the broker {reason}
    Member c1-7d1e with epoch 5 got fatal error from the broker but it already left the group, so onPartitionsLost callback won't be triggered.
joining · 3.8-
Member {member_id} will join the group on the next call to poll.
    Member c1-7d1e will join the group on the next call to poll.
reconciling · 3.7-
Reconciling assignment with local epoch {any}\n\tMember: {member_id}\n\tAssigned partitions: {partitions}\n{rest}
    Reconciling assignment with local epoch 5\n\tMember:                                    c1-7d1e\n\tAssigned partitions:                       [orders-0, orders-1]\n\tCurrent owned partitions:                  []\n\tAdded partitions (assigned - owned):       [orders-0, orders-1]\n\tRevoked partitions (owned - assigned):     []\n
leaving · 3.8-
Member {member_id} with epoch {generation} generated the heartbeat to leave due to {reason}. It will remain stale {rest}
    Member c1-7d1e with epoch 5 generated the heartbeat to leave due to expired poll timer. It will remain stale (no heartbeat) until it rejoins the group on the next consumer poll.
Member {member_id} with epoch {generation} generated the heartbeat to leave the group.
    Member c1-7d1e with epoch 5 generated the heartbeat to leave the group.
Member {member_id} is triggering callbacks to release assignment {partitions} and leave group
    Member c1-7d1e is triggering callbacks to release assignment [orders-0] and leave group
left · 3.8-
Member {member_id} with epoch {generation} received a {reason} response to the heartbeat to leave the group and completed the leave operation.
    Member c1-7d1e with epoch -1 received a successful response to the heartbeat to leave the group and completed the leave operation.
    Member c1-7d1e with epoch -1 received a failed response to the heartbeat to leave the group and completed the leave operation.
Member {member_id} sent leave group heartbeat and released its assignment. {rest}
    Member c1-7d1e sent leave group heartbeat and released its assignment. It will remain in STALE state until the poll timer is reset, and it will then rejoin the group
leave_failed · 4.0-
{any}HeartbeatRequest failed because of {error_name}: {reason}
    ConsumerGroupHeartbeatRequest failed because of UNKNOWN_MEMBER_ID: boom
{any}HeartbeatRequest failed because of unexpected exception.
    ConsumerGroupHeartbeatRequest failed because of unexpected exception.
leave_failed · 3.8-3.9
GroupHeartbeat failed because of {error_name}: {reason}
    GroupHeartbeat failed because of UNKNOWN_MEMBER_ID: boom
GroupHeartbeat failed because of unexpected exception.
    GroupHeartbeat failed because of unexpected exception.
leave_failed · 3.8-
Heartbeat to leave group cannot be sent ({reason}). Member {member_id} with epoch {generation} will transition to {client_state}.
    Heartbeat to leave group cannot be sent (most probably due to coordinator not known/available). Member c1-7d1e with epoch -1 will transition to UNSUBSCRIBED.
Member {member_id} with epoch {generation} won't send leave group request because {reason}
    Member c1-7d1e with epoch 5 won't send leave group request because it is in FATAL state
Member {member_id} won't send leave group request because {reason}
    Member c1-7d1e won't send leave group request because it is already out of the group.
poll_timeout · 3.7-
Consumer poll timeout has expired. {rest}
    Consumer poll timeout has expired. This means the time between subsequent calls to poll() was longer than the configured max.poll.interval.ms, which typically implies that the poll loop is spending too much time processing messages.
rejoin_requested · 3.8-
Time between subsequent calls to poll() was longer than the configured max.poll.interval.ms, {reason}. Member {member_id} will rejoin the group now.
    Time between subsequent calls to poll() was longer than the configured max.poll.interval.ms, exceeded approximately by 712 ms. Member c1-7d1e will rejoin the group now.
Expired poll timer has been reset so stale member {member_id} will rejoin {rest}
    Expired poll timer has been reset so stale member c1-7d1e will rejoin the group when it completes releasing its previous assignment.
heartbeat_failed · 3.7-
{any} failed for member {member_id} with state {client_state} due to {reason}
    ConsumerGroupHeartbeatRequest failed for member c1-7d1e with state STABLE due to UNKNOWN_MEMBER_ID: boom
{any}HeartbeatRequest failed because member {member_id} is unknown. in {any}ms: {reason}
    ConsumerGroupHeartbeatRequest failed because member c1-7d1e is unknown. in 0ms: Member c1-7d1e is not a member of group g1.
{any}HeartbeatRequest failed because {no_coordinator}
    ConsumerGroupHeartbeatRequest failed because the group coordinator Optional[broker1:9092 (id: 2147483646 rack: null)] is incorrect. Will attempt to find the coordinator again and retry in 0ms: This is not the correct coordinator.
    ConsumerGroupHeartbeatRequest failed because the group coordinator Optional[broker1:9092 (id: 2147483646 rack: null)] is still loading. Will retry in 100ms: The coordinator is loading and hence can't process requests.
{any} failed because of the retriable exception. {reason}
    ConsumerGroupHeartbeatRequest failed because of the retriable exception. Will retry in 100 ms: boom
{any}HeartbeatRequest regex resolution not supported: {reason}
    ConsumerGroupHeartbeatRequest regex resolution not supported: boom
{any}HeartbeatRequest failed due to {reason}
    ConsumerGroupHeartbeatRequest failed due to group authorization failure: boom
    ConsumerGroupHeartbeatRequest failed due to unreleased instance id i1: boom
    GroupHeartbeatRequest failed due to the instance id i1 was not released: boom
coordinator_lookup_failed · 3.7-
FindCoordinator failed with {reason}
    FindCoordinator failed with exception
commit_failed · 3.8-
OffsetCommit failed for member {member_id} with {brief}. Last epoch sent: {generation}
    OffsetCommit failed for member c1-7d1e with stale member epoch error. Last epoch sent: 5
OffsetCommit failed for member {member_id} with {brief}. Last epoch sent: {rest}
    OffsetCommit failed for member c1-7d1e with stale member epoch error. Last epoch sent: undefined
OffsetCommit failed with {error_name}
    OffsetCommit failed with UNKNOWN_MEMBER_ID
OffsetCommit failed due to {reason}
    OffsetCommit failed due to not authorized to commit to topics [orders]
OffsetCommit {brief} so it won't be retried anymore
    OffsetCommit timeout expired so it won't be retried anymore
Auto-commit request before reconciling new assignment {reason}
    Auto-commit request before reconciling new assignment failed. Will proceed with the reconciliation anyway.
commit_failed · 3.7-
OffsetCommit failed with unknown {brief}. {rest}
    OffsetCommit failed with unknown member ID. The coordinator is not aware of this member.
Unexpected error in commit: {reason}
    Unexpected error in commit: boom
OffsetCommit failed with stale member epoch. {reason}
    OffsetCommit failed with stale member epoch. boom
Auto-commit of offsets {any} failed due to {reason}
    Auto-commit of offsets {orders-0=OffsetAndMetadata{offset=17, leaderEpoch=null, metadata=''}} failed due to retriable error: boom
Auto-commit of offsets {any} failed
    Auto-commit of offsets {orders-0=OffsetAndMetadata{offset=17, leaderEpoch=null, metadata=''}} failed
Auto-commit sync before rebalance {reason}
    Auto-commit sync before rebalance failed with non-retriable error
callback_failed · 3.7-
{reason} callback invocation failed for partitions {partitions}
    onPartitionsRevoked callback invocation failed for partitions [orders-0]
{reason} callback invocation failed while releasing assignment{rest}
    onPartitionsLost callback invocation failed while releasing assignment after member got fenced. Member will rejoin the group anyways.
callback_failed · 3.8-
Member {member_id} callback to release assignment failed. {rest}
    Member c1-7d1e callback to release assignment failed. It will proceed to clear its assignment and send a leave group heartbeat
Reconciliation failed.
    Reconciliation failed.

ignored · 3.7-
Member {member_id} updated its target assignment {rest}
    Member c1-7d1e updated its target assignment from [] to [orders-0]. Member will reconcile it on the next poll.
Ignoring {rest}
    Ignoring reconciliation attempt. Target assignment is equal to the current assignment.
Target assignment {rest}
    Target assignment [] received from the broker is equals to the member current assignment []. Nothing to reconcile.
Leave group operation already in progress for member {rest}
    Leave group operation already in progress for member c1-7d1e
Leaving newly assigned partitions {rest}
    Leaving newly assigned partitions [orders-0] marked as non-fetchable and not requiring initializing positions after onPartitionsAssigned callback failed.
Member {any} completed callback to release assignment. {rest}
    Member c1-7d1e completed callback to release assignment. It will proceed to clear its assignment and send a leave group heartbeat
Member {any} was leaving the group with state {any} when it got a fatal error from the broker. {rest}
    Member c1-7d1e with epoch -1 was leaving the group with state LEAVING when it got a fatal error from the broker. It will discard the ongoing leave and remain in fatal state.
No action taken to join the group {rest}
    No action taken to join the group with the updated subscription because the member is in FATAL state
The {any} method completed with an error {rest}
    The onPartitionsRevoked method completed with an error (boom); signaling to continue to the next phase of rebalance
Interrupting reconciliation {rest}
    Interrupting reconciliation that is not relevant anymore because the member has re-joined the group
"""  # noqa: E501 (a log line is one line)
)
