r"""Lines of aiokafka, logger `aiokafka.consumer.group_coordinator`; sources and logs of 0.10, 0.12 and 0.14.

They never name the client, and not always the group.
"""

from __future__ import annotations

from transforms.loglines.clients.fields import VOCABULARIES

AIOKAFKA = VOCABULARIES["aiokafka"].table(
    r"""
joining · 0.10-
(Re-)joining group {group_id}
    (Re-)joining group session-index
joined · 0.10-
Joined group '{group_id}' (generation {generation}) with member_id {member_id}
    Joined group 'session-index' (generation 1) with member_id session-index-3-346931b6-6733-461e-a68e-c6b7f851869b
join_failed · 0.10-
Unexpected error in join group '{group_id}' response: {reason}
    Unexpected error in join group 'aio010-fenced' response: [Error -1] UnknownError
synced · 0.10-
Successfully synced group {group_id} with generation {generation}
    Successfully synced group session-index with generation 1
sync_failed · 0.10-
Unexpected error from SyncGroup: {reason}
    Unexpected error from SyncGroup: [Error -1] UnknownError
assigned · 0.10-
Setting newly assigned partitions {tuples} for group {group_id}
    Setting newly assigned partitions {TopicPartition(topic='orders', partition=4)} for group session-index
revoked · 0.10-
Revoking previously assigned partitions {tuples} for group {group_id}
    Revoking previously assigned partitions frozenset({TopicPartition(topic='orders', partition=4)}) for group session-index
    Revoking previously assigned partitions set() for group session-index
heartbeat_failed · 0.10-
Heartbeat failed for group {group_id} because {reason}
    Heartbeat failed for group session-index because it is rebalancing
Heartbeat failed for group {group_id}: {reason}
    Heartbeat failed for group dispatch-a: coordinator (node 2) is either not started or not valid
Heartbeat failed: {reason}
    Heartbeat failed: local member_id was not recognized; resetting and re-joining group
session_timeout · 0.10-
Heartbeat session expired - {reason}
    Heartbeat session expired - marking coordinator dead
commit_failed · 0.10-
OffsetCommit failed for group {group_id} due to {reason}
    OffsetCommit failed for group geo-tiles due to group error ([Error 25] UnknownMemberIdError: geo-tiles), will rejoin
    OffsetCommit failed for group dispatch-a due to a coordinator error (NotCoordinatorForGroupError), will find new coordinator and retry
OffsetCommit failed for group {group_id} because {reason}
    OffsetCommit failed for group aio010-fenced because group is initializing (GroupLoadInProgressError), will retry
OffsetCommit failed before join, ignoring: {reason}
    OffsetCommit failed before join, ignoring: CommitFailedError: ('Commit cannot be completed since the group has already
Auto offset commit failed: {reason}
    Auto offset commit failed: [Error 25] UnknownMemberIdError: geo-tiles
Error sending OffsetCommitRequest{any} to node {any} [{brief}] -- marking coordinator dead
    Error sending OffsetCommitRequest to node 1 [NodeNotReadyError: Attempt to send a request to node which is not ready (node id 1).] -- marking coordinator dead
    Error sending OffsetCommitRequest_v3 to node 1 [NodeNotReadyError: Attempt to send a request to node which is not ready (node id 1).] -- marking coordinator dead
left · 0.10-
LeaveGroup request succeeded
    LeaveGroup request succeeded
coordinator_discovered · 0.10-
Discovered coordinator {any} for group {group_id}
    Discovered coordinator 1 for group session-index
coordinator_lost · 0.10-
Marking the coordinator dead (node {any})for group {group_id}.
    Marking the coordinator dead (node 1)for group geo-tiles.
coordinator_lookup_failed · 0.10-
Group Coordinator Request failed: {reason}
    Group Coordinator Request failed: NodeNotReadyError: Attempt to send a request to node which is not ready (node id 1).

ignored · 0.10-
Elected group leader -- {rest}
    Elected group leader -- performing partition assignments using range
"""  # noqa: E501 (a log line is one line)
)
