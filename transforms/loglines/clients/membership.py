"""Lines of Java consumers about heartbeats, leaving, rejoining and the coordinator, AbstractCoordinator, 0.11 to 4.2.

Heartbeats are answered while the group is joined: a failed one that resets nothing leaves the client STABLE.
"""

from __future__ import annotations

from transforms.loglines.clients.fields import table

MEMBERSHIP = table(
    r"""
heartbeat_failed · 2.0-2.8 · STABLE
Attempt to heartbeat failed since {rebalancing}
    Attempt to heartbeat failed since group is rebalancing
heartbeat_failed · 2.0-2.5 · UNJOINED
Attempt to heartbeat failed since generation {generation} is not current
    Attempt to heartbeat failed since generation 5 is not current
Attempt to heartbeat failed for since member id {member_id} is not valid.
    Attempt to heartbeat failed for since member id c1-7d1e is not valid.
heartbeat_failed · 2.0-
Attempt to heartbeat failed since {reason}
    Attempt to heartbeat failed since coordinator broker1:9092 (id: 2147483646 rack: null) is either not started or not valid
    Attempt to heartbeat failed since coordinator broker1:9092 (id: 2147483646 rack: null) is either not started or not valid.
heartbeat_failed · 2.6- · UNJOINED
Attempt to heartbeat with {generation} and group instance id {group_instance_id} failed due to {reason}, resetting generation
    Attempt to heartbeat with Generation{generationId=5, memberId='c1-7d1e', protocol='range'} and group instance id Optional.empty failed due to Specified group generation id is not valid., resetting generation
heartbeat_failed · 2.6-
Attempt to heartbeat with stale {generation} and group instance id {group_instance_id} failed due to {reason}, ignoring the error
    Attempt to heartbeat with stale Generation{generationId=5, memberId='c1-7d1e', protocol='range'} and group instance id Optional[i1] failed due to The coordinator is not aware of this member., ignoring the error
heartbeat_stopped · 0.11-1.0
Unexpected interrupt received in heartbeat thread for group {group_id}
    Unexpected interrupt received in heartbeat thread for group g1
Heartbeat thread for group {group_id} failed due to unexpected error
    Heartbeat thread for group g1 failed due to unexpected error
A group authorization error occurred in the heartbeat thread for group {group_id}
    A group authorization error occurred in the heartbeat thread for group g1
heartbeat_stopped · 1.0-
An {reason} error occurred in the heartbeat thread
    An authentication error occurred in the heartbeat thread
A {reason} error occurred in the heartbeat thread
    A group authorization error occurred in the heartbeat thread
Unexpected {reason} received in heartbeat thread
    Unexpected interrupt received in heartbeat thread
Heartbeat thread failed due to {reason}
    Heartbeat thread failed due to unexpected error
generation_reset · 3.0- · UNJOINED
Resetting generation due to: {reason}
    Resetting generation due to: encountered ILLEGAL_GENERATION from HEARTBEAT response
Resetting generation and member id due to: {reason}
    Resetting generation and member id due to: consumer pro-actively leaving the group
Resetting generation {any}due to: {reason}
    Resetting generation or so due to: boom
generation_reset · 2.4- · UNJOINED
Giving away all assigned partitions as lost since {reason}
    Giving away all assigned partitions as lost since generation has been reset,indicating that consumer is no longer part of the group
    Giving away all assigned partitions as lost since generation/memberID has been reset,indicating that consumer is in old state or no longer part of the group
rejoin_requested · 3.0- · STABLE
Request joining group due to: {rebalancing}
    Request joining group due to: group is already rebalancing
rejoin_requested · 3.0-
Request joining group due to: {given_member}
    Request joining group due to: need to re-join with the given member-id: c1-7d1e
Request joining group due to: {reason}
    Request joining group due to: cached metadata has changed from (version4: {orders=2}) at the beginning of the rebalance to (version5: {orders=3})
rejoin_requested · 2.7-2.8
Need to {reason} and re-join the group
    Need to revoke partitions [orders-0] and re-join the group
Requesting to re-join the group and trigger rebalance since {reason}
    Requesting to re-join the group and trigger rebalance since the assignment metadata has changed from (version4: {orders=2}) to (version5: {orders=3})
    Requesting to re-join the group and trigger rebalance since the subscription has changed from [a] to [b]
rejoin_requested · 2.4-2.8
We received an assignment {any} that doesn't match our current subscription {reason}; it is likely {rest}
    We received an assignment [orders-0] that doesn't match our current subscription Subscribe(a); it is likely that the subscription has changed since we joined the group. Will try re-join the group with current subscription
leaving · 2.4- · UNJOINED
Member {member_id} sending LeaveGroup request to coordinator {any} due to {reason}
    Member c1-7d1e sending LeaveGroup request to coordinator broker1:9092 (id: 2147483646 rack: null) due to the consumer is being closed
leaving · 2.2-2.3 · UNJOINED
Member {member_id} sending LeaveGroup request to coordinator {rest}
    Member c1-7d1e sending LeaveGroup request to coordinator broker1:9092 (id: 2147483646 rack: null)
leaving · 2.1 · UNJOINED
Sending LeaveGroup request to coordinator {rest}
    Sending LeaveGroup request to coordinator broker1:9092 (id: 2147483646 rack: null)
leave_failed · 2.6-
LeaveGroup request with {generation} failed with error: {reason}
    LeaveGroup request with Generation{generationId=5, memberId='c1-7d1e', protocol='range'} failed with error: The coordinator is not aware of this member.
leave_failed · 2.4-2.5
LeaveGroup request failed with error: {reason}
    LeaveGroup request failed with error: The coordinator is not aware of this member.
leave_failed · 0.11-
Close timed out with {reason}
    Close timed out with 2 pending requests to coordinator, terminating client connections
    Close timed out with 2 pending requests to coordinator, terminating client connections for group g1.
poll_timeout · 3.0-
consumer poll timeout has expired. {rest}
    consumer poll timeout has expired. This means the time between subsequent calls to poll() was longer than the configured max.poll.interval.ms, which typically implies that the poll loop is spending too much time processing messages.
poll_timeout · 2.1-2.8
This member will leave the group because consumer poll timeout has expired. {rest}
    This member will leave the group because consumer poll timeout has expired. This means the time between subsequent calls to poll() was longer than the configured max.poll.interval.ms, which typically implies that the poll loop is spending too much time processing messages.

coordinator_discovered · 1.1-
Discovered group coordinator {rest}
    Discovered group coordinator broker1:9092 (id: 2147483646 rack: null)
coordinator_discovered · 0.11
Discovered coordinator {any} for group {group_id}.
    Discovered coordinator broker1:9092 (id: 2147483646 rack: null) for group g1.
coordinator_discovered · 1.0
Discovered coordinator {rest}
    Discovered coordinator broker1:9092 (id: 2147483646 rack: null)
coordinator_lost · 2.7-
Group coordinator {any} is unavailable or invalid due to cause: {reason}. Rediscovery will be attempted.
    Group coordinator broker1:9092 (id: 2147483646 rack: null) is unavailable or invalid due to cause: session timed out without receiving a heartbeat response. isDisconnected: false. Rediscovery will be attempted.
    Group coordinator broker1:9092 (id: 2147483646 rack: null) is unavailable or invalid due to cause: error response NOT_COORDINATOR.isDisconnected: false. Rediscovery will be attempted.
coordinator_lost · 1.1-2.6
Group coordinator {any} is unavailable or invalid, will attempt rediscovery
    Group coordinator broker1:9092 (id: 2147483646 rack: null) is unavailable or invalid, will attempt rediscovery
coordinator_lost · 0.11
Marking the coordinator {any} dead for group {group_id}
    Marking the coordinator broker1:9092 (id: 2147483646 rack: null) dead for group g1
coordinator_lost · 1.0
Marking the coordinator {any} dead
    Marking the coordinator broker1:9092 (id: 2147483646 rack: null) dead
coordinator_lookup_failed · 2.8-
FindCoordinator request {reason}
    FindCoordinator request hit fatal exception
coordinator_lookup_failed · 3.0-
Group coordinator lookup failed: {reason}
    Group coordinator lookup failed: Invalid response containing more than a single coordinator
disconnected · 2.8-
Consumer has been disconnected from the group coordinator for {any}ms
    Consumer has been disconnected from the group coordinator for 6012ms

ignored · 3.1-
Requesting disconnect from last known coordinator {rest}
    Requesting disconnect from last known coordinator broker1:9092 (id: 2147483646 rack: null)
ignored · 0.11-
Interrupted while waiting for consumer heartbeat thread to close
    Interrupted while waiting for consumer heartbeat thread to close
still waiting to ensure active group
    still waiting to ensure active group
"""  # noqa: E501 (a log line is one line)
)
