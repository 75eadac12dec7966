"""The events that a consumer's own log tells of its membership, each with what the line proves.

`transforms.loglines.clients.tables` says which line of which Kafka version is which event. Unless said otherwise
`generation` and `member_id` are null where the line does not print them.
"""

from __future__ import annotations

CLIENT_STATES = ("UNJOINED", "PREPARING_REBALANCE", "COMPLETING_REBALANCE", "STABLE")
"""States of a classic consumer (AbstractCoordinator.MemberState; until 2.6 both middle ones were REBALANCING).

Consumers of the new protocol have those of `org.apache.kafka.clients.consumer.internals.MemberState`.
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
    "poll_timeout": "the application did not poll in time and the client leaves",
    "commit_failed": "offsets could not be committed, reason",
    "fenced": "another client took over group_instance_id, or the epoch of this one is over",
    "disconnected": "no connection to the coordinator for some time",
    "callback_failed": "the application's rebalance listener failed for partitions",
    "topics_unassigned": "subscribed topics that no member got, reason: which",
    "topics_unsubscribed": "assigned topics that nobody subscribed to, reason: which",
    "assignor_violation": "the assignor broke the rules of cooperative rebalancing, reason: the partitions",
    "state_changed": "member_id of the new protocol is in client_state; generation is its epoch",
    "reconciling": "member_id of the new protocol goes from the partitions it has to those it is to have",
    "unrecognised": "a line of the client's coordinator that no template fits, reason: its text",
}
"""Every value of `silver.client_events.event`."""
