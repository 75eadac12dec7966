"""The events that a consumer's own log tells of its membership, each with what the line proves.

`transforms.loglines.clients.tables` says which line of which version of which library is which event. Unless said
otherwise `generation` and `member_id` are null where the line does not print them.
"""

from __future__ import annotations

LIBRARIES = ("java", "librdkafka", "kafka-python", "aiokafka", "franz-go", "sarama")
"""Libraries whose lines are known, as `silver.client_events.client_software` names them."""

CLIENT_STATES = ("UNJOINED", "PREPARING_REBALANCE", "COMPLETING_REBALANCE", "STABLE")
"""States of a classic consumer (AbstractCoordinator.MemberState; until 2.6 both middle ones were REBALANCING).

Consumers of the new protocol have those of `org.apache.kafka.clients.consumer.internals.MemberState`, librdkafka its
own join states (wait-join, wait-sync, steady, ...), as its lines print them.
"""

EVENTS: dict[str, str] = {
    "coordinator_discovered": "the client found its coordinator",
    "coordinator_lost": "the client gave its coordinator up, reason: why",
    "coordinator_lookup_failed": "the coordinator could not be found, reason",
    "joining": "JoinGroup sent",
    "member_id_required": "JoinGroup was answered with member_id, to be sent again",
    "joined": "JoinGroup succeeded: generation, member_id (until 2.6: SyncGroup too, and only the generation)",
    "join_failed": "JoinGroup failed: reason, generation as sent",
    "assignment_finished": "this client leads generation and has computed the assignment of all",
    "assignment_skipped": "this client leads generation again as a static member and leaves the assignment as it is",
    "assignment_received": "partitions told to the client in the answer to its SyncGroup",
    "assignment_updated": "partitions that the client is to have from now on; only what changes is given or taken",
    "synced": "SyncGroup succeeded: generation, member_id",
    "sync_failed": "SyncGroup failed: reason, generation as sent",
    "rebalance_failed": "the generation was lost while the client was joining, reason",
    "assigned": "partitions handed to the application",
    "revoked": "partitions taken from the application",
    "lost": "partitions that were lost and not given back in order",
    "heartbeat_failed": "Heartbeat was answered with an error, or there was none to send: reason, generation as sent",
    "heartbeat_stopped": "the thread that sends heartbeats died, reason",
    "generation_reset": "the client forgot its generation, reason",
    "rejoin_requested": "the client will join again, reason",
    "leaving": "LeaveGroup sent: member_id, reason",
    "leave_failed": "LeaveGroup failed: reason",
    "left": "the client is out of the group",
    "session_timeout": "the coordinator did not answer for a whole session, so the client gives its place up",
    "poll_timeout": "the application did not poll in time and the client leaves",
    "commit_failed": "offsets could not be committed, reason; error where the coordinator refused them",
    "fenced": "another client took over group_instance_id, or the epoch of this one is over",
    "disconnected": "no connection to the coordinator for some time",
    "callback_failed": "the application's rebalance listener failed for partitions",
    "topics_unassigned": "subscribed topics that no member got, reason: which",
    "topics_unsubscribed": "assigned topics that nobody subscribed to, reason: which",
    "assignor_violation": "the assignor broke the rules of cooperative rebalancing, reason: the partitions",
    "state_changed": "the client, of the new protocol the member_id with generation as its epoch, is in client_state",
    "reconciling": "member_id of the new protocol goes from the partitions it has to those it is to have; of a streams "
    "group: to the active tasks, as subtopology-partition",
    "membership_status": "the coordinator told a member of a streams group what hinders it, reason: the statuses",
    "unrecognised": "a line of the client's coordinator that no template fits, reason: its text",
}
"""Every value of `silver.client_events.event`."""

API_OF_EVENT: dict[str, str] = {
    "joining": "JoinGroup",
    "member_id_required": "JoinGroup",
    "join_failed": "JoinGroup",
    "synced": "SyncGroup",
    "sync_failed": "SyncGroup",
    "heartbeat_failed": "Heartbeat",
    "commit_failed": "OffsetCommit",
    "leaving": "LeaveGroup",
    "leave_failed": "LeaveGroup",
}
"""Event to the API that it is about, unless the line itself names another."""
