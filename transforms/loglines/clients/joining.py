"""Lines of Java consumers about JoinGroup and SyncGroup, AbstractCoordinator and ConsumerCoordinator, 0.11 to 4.2.

A JoinGroup or SyncGroup that fails leaves the client UNJOINED.
"""

from __future__ import annotations

from transforms.loglines.clients.fields import table

JOINING = table(
    r"""
joining · 1.0- · PREPARING_REBALANCE
(Re-)joining group
    (Re-)joining group
joining · 0.11 · PREPARING_REBALANCE
(Re-)joining group {group_id}
    (Re-)joining group g1
member_id_required · 2.7- · UNJOINED
JoinGroup failed due to non-fatal error: MEMBER_ID_REQUIRED{any} Will set the member id as {member_id} and then rejoin. Sent generation was {rest}
    JoinGroup failed due to non-fatal error: MEMBER_ID_REQUIRED. Will set the member id as c1-7d1e and then rejoin. Sent generation was Generation{generationId=-1, memberId='', protocol='null'}
joined · 2.7- · COMPLETING_REBALANCE
Successfully joined group with generation Generation{any}generationId={generation}, memberId='{member_id}', protocol={rest}
    Successfully joined group with generation Generation{generationId=5, memberId='c1-7d1e', protocol='range'}
joined · 1.0-2.6 · STABLE
Successfully joined group with generation {generation}
    Successfully joined group with generation 5
joined · 0.11 · STABLE
Successfully joined group {group_id} with generation {generation}
    Successfully joined group g1 with generation 5
fenced · 2.6- · UNJOINED
JoinGroup failed: The group instance id {group_instance_id} has been fenced by another instance. Sent generation was {generation}
    JoinGroup failed: The group instance id Optional[i1] has been fenced by another instance. Sent generation was Generation{generationId=5, memberId='c1-7d1e', protocol='range'}
SyncGroup failed: The group instance id {group_instance_id} has been fenced by another instance. Sent generation was {generation}
    SyncGroup failed: The group instance id Optional[i1] has been fenced by another instance. Sent generation was Generation{generationId=5, memberId='c1-7d1e', protocol='range'}
Attempt to join group with generation {generation} failed because the group instance id {group_instance_id} has been fenced by another instance
    Attempt to join group with generation Generation{generationId=5, memberId='c1-7d1e', protocol='range'} failed because the group instance id Optional[i1] has been fenced by another instance
SyncGroup with {generation} failed because the group instance id {group_instance_id} has been fenced by another instance
    SyncGroup with Generation{generationId=5, memberId='c1-7d1e', protocol='range'} failed because the group instance id Optional[i1] has been fenced by another instance
fenced · 2.3-
Caught fenced group.instance.id {group_instance_id} error in heartbeat thread
    Caught fenced group.instance.id Optional[i1] error in heartbeat thread
Received fatal exception: group.instance.id gets fenced
    Received fatal exception: group.instance.id gets fenced
OffsetCommit failed with {generation} due to group instance id {group_instance_id} fenced
    OffsetCommit failed with Generation{generationId=5, memberId='c1-7d1e', protocol='range'} due to group instance id Optional[i1] fenced
join_failed · 2.7- · UNJOINED
JoinGroup failed: {reason} Need to re-join the group. Sent generation was {generation}
    JoinGroup failed: The coordinator is not aware of this member. Need to re-join the group. Sent generation was Generation{generationId=5, memberId='c1-7d1e', protocol='range'}
JoinGroup failed: {reason} Marking coordinator unknown. Sent generation was {generation}
    JoinGroup failed: This is not the correct coordinator. Marking coordinator unknown. Sent generation was Generation{generationId=5, memberId='c1-7d1e', protocol='range'}
JoinGroup failed due to fatal error: {reason}
    JoinGroup failed due to fatal error: The group member's supported protocols are incompatible with those of existing members.
JoinGroup failed due to non-fatal error: {reason}
    JoinGroup failed due to non-fatal error: REBALANCE_IN_PROGRESS, which could indicate a replication timeout on the broker. Will retry.
JoinGroup failed due to unexpected error: {reason}
    JoinGroup failed due to unexpected error: boom
JoinGroup failed due to {reason}
    JoinGroup failed due to unsupported version error. Please unset field group.instance.id and retry to see if the problem resolves
    JoinGroup failed due to inconsistent Protocol Type, received connect but expected consumer
JoinGroup failed: {reason}
    JoinGroup failed: Coordinator broker1:9092 (id: 2147483646 rack: null) is loading the group.
    JoinGroup failed: Inconsistent Protocol Type, received connect but expected consumer
join_failed · 0.11-2.6 · UNJOINED
Attempt to join group {group_id} failed due to fatal error: {reason}
    Attempt to join group g1 failed due to fatal error: boom
Attempt to join group failed due to {reason}
    Attempt to join group failed due to fatal error: boom
    Attempt to join group failed due to unexpected error: boom
Join group failed with {reason}
    Join group failed with org.apache.kafka.common.errors.DisconnectException
rebalance_failed · 2.7- · UNJOINED
Generation data was cleared by heartbeat thread to {generation} and state is now {client_state} before {reason}, marking this rebalance as failed and retry
    Generation data was cleared by heartbeat thread to Generation{generationId=-1, memberId='', protocol='null'} and state is now UNJOINED before receiving SyncGroup response, marking this rebalance as failed and retry
Rebalance failed.
    Rebalance failed.
rebalance_failed · 2.4-2.6 · UNJOINED
Generation data was cleared by heartbeat thread. {reason}.
    Generation data was cleared by heartbeat thread. Initiating rejoin.

assignment_finished · 2.4- · COMPLETING_REBALANCE
Finished assignment for group at generation {generation}: {rest}
    Finished assignment for group at generation 5: {c1-7d1e=Assignment(partitions=[orders-0, orders-1])}
assignment_skipped · 3.2- · COMPLETING_REBALANCE
Skipped assignment for returning static leader at generation {generation}. {rest}
    Skipped assignment for returning static leader at generation 5. The static leader will continue with its existing assignment.
synced · 2.7- · STABLE
Successfully synced group in generation {generation}
    Successfully synced group in generation Generation{generationId=5, memberId='c1-7d1e', protocol='range'}
sync_failed · 2.7- · UNJOINED
SyncGroup failed: {reason} Need to re-join the group. Sent generation was {generation}
    SyncGroup failed: The group began another rebalance. Need to re-join the group. Sent generation was Generation{generationId=5, memberId='c1-7d1e', protocol='range'}
    SyncGroup failed: Specified group generation id is not valid. Need to re-join the group. Sent generation was Generation{generationId=5, memberId='c1-7d1e', protocol='range'}
SyncGroup failed: {reason} Marking coordinator unknown. Sent generation was {generation}
    SyncGroup failed: This is not the correct coordinator. Marking coordinator unknown. Sent generation was Generation{generationId=5, memberId='c1-7d1e', protocol='range'}
sync_failed · 2.6- · UNJOINED
SyncGroup failed due to {reason}
    SyncGroup failed due to inconsistent Protocol Type, received connect but expected consumer
    SyncGroup failed due to inconsistent Protocol Name, received range but expected sticky
SyncGroup with {generation} failed: {reason}, would request re-join
    SyncGroup with Generation{generationId=5, memberId='c1-7d1e', protocol='range'} failed: boom, would request re-join
"""  # noqa: E501 (a log line is one line)
)
