r"""Lines of members of share groups (KIP-932, ShareConsumer, 3.9 to 4.2) and of streams groups (KIP-1071, 4.1 to 4.2).

Most of what they log they have in common with consumers of the new protocol, see `modern`; here is what they alone say.
A task stands where a partition does, as the partition of its subtopology.
"""

from __future__ import annotations

from transforms.loglines.clients.fields import table

STREAMS = table(
    r"""
reconciling · 4.1-
Assigned tasks with local epoch {any}\n\tMember: {member_id}\n\tAssigned active tasks: {tasks}\n{rest}
    Assigned tasks with local epoch 5\n\tMember:                        c1-7d1e\n\tAssigned active tasks:         [TaskId{subtopologyId=0, partitionId=0}, TaskId{subtopologyId=0, partitionId=1}]\n\tOwned active tasks:            []\n\tActive tasks to revoke:        []\n
    Assigned tasks with local epoch 5 and group is not ready\n\tMember:                        c1-7d1e\n\tAssigned active tasks:         []\n\tOwned active tasks:            []\n\tActive tasks to revoke:        []\n
assigned · 4.1-
Assigning active tasks {{tasks}}, standby tasks {{any}}, and warm-up tasks {{any}} to the member.
    Assigning active tasks {TaskId{subtopologyId=0, partitionId=0}}, standby tasks {TaskId{subtopologyId=1, partitionId=0}}, and warm-up tasks {} to the member.
revoked · 4.1-
Revoking previously assigned active tasks {tasks}
    Revoking previously assigned active tasks TaskId{subtopologyId=0, partitionId=0}, TaskId{subtopologyId=0, partitionId=1}
lost · 4.1-
Revoking previously assigned and now lost active tasks {tasks}
    Revoking previously assigned and now lost active tasks TaskId{subtopologyId=0, partitionId=0}
membership_status · 4.1-
Membership is in the following statuses: {reason}
    Membership is in the following statuses: (1) Source topics orders are missing.
callback_failed · 4.1-
Reconciliation failed{any} for tasks {tasks}
    Reconciliation failed: callback invocation failed for tasks [TaskId{subtopologyId=0, partitionId=0}]
{reason} callback invocation failed for tasks {tasks}
    onTasksRevoked callback invocation failed for tasks [TaskId{subtopologyId=0, partitionId=0}]
Task revocation callback invocation failed after {reason}
    Task revocation callback invocation failed after member left group due to expired poll timer.
Member {member_id} callback to revoke task assignment failed. {rest}
    Member c1-7d1e callback to revoke task assignment failed. It will proceed to clear its assignment and send a leave group heartbeat
callback_failed · 4.2-
Streams rebalance listener failed on invocation of {reason} for tasks {tasks}
    Streams rebalance listener failed on invocation of onTasksRevoked for tasks [TaskId{subtopologyId=0, partitionId=0}]
Streams rebalance listener failed on invocation of {reason}.
    Streams rebalance listener failed on invocation of onTasksLost.
heartbeat_failed · 4.1-
StreamsGroupHeartbeatRequest failed because of an {reason}
    StreamsGroupHeartbeatRequest failed because of an unsupported version exception: boom
StreamsGroupHeartbeatRequest failed because of a {reason}
    StreamsGroupHeartbeatRequest failed because of a fatal exception while sending request: boom
state_changed · 3.9
Member {member_id} with epoch {generation} transitioned to {client_state} state
    Member c1-7d1e with epoch 5 transitioned to FATAL state
Non-member transitioned to {client_state} state
    Non-member transitioned to FATAL state
poll_timeout · 3.9
Share consumer poll timeout has expired. {rest}
    Share consumer poll timeout has expired. This means the time between subsequent calls to poll() was longer than the configured max.poll.interval.ms, which typically implies that the poll loop is spending too much time processing messages.
leave_failed · 3.9
ShareGroupHeartbeat failed because of {error_name}: {reason}
    ShareGroupHeartbeat failed because of UNKNOWN_MEMBER_ID: boom
ShareGroupHeartbeat failed because of unexpected exception.
    ShareGroupHeartbeat failed because of unexpected exception.
Heartbeat for leaving group could not be sent. Member {member_id} with epoch {generation} will transition to {client_state}.
    Heartbeat for leaving group could not be sent. Member c1-7d1e with epoch -1 will transition to UNSUBSCRIBED.

ignored · 4.1-
Member {any} completed callback to revoke task assignment. {rest}
    Member c1-7d1e completed callback to revoke task assignment. It will proceed to clear its assignment and send a leave group heartbeat
The {any} callback completed {rest}
    The onTasksRevoked callback completed with an error (boom); signaling to continue to the next phase of rebalance
ignored · 4.2-
Invoking task{rest}
    Invoking tasks assigned callback for new assignment: Assignment{activeTasks=[], standbyTasks=[], warmupTasks=[]}
"""  # noqa: E501 (a log line is one line)
)
