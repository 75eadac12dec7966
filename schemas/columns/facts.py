"""Columns of what happened: who and where, what was read of it, and what the replay makes of that."""

from __future__ import annotations

from schemas.columns.entry import Entry
from schemas.types import BIGINT, BINARY, BOOLEAN, DOUBLE, INT, STRING, TIMESTAMP, Array, Map, struct
from schemas.words import (
    DIALECTS,
    END_CAUSES,
    EVIDENCE,
    GENERATION_OUTCOMES,
    GROUP_STATES,
    GROUP_TYPES,
    HOLDS,
    MEMBER_PROTOCOLS,
    TASK_ROLES,
    TRIGGERS,
    TXN_STATES,
)

TOPIC_PARTITIONS = Array(struct("TopicPartitions", "topic", topic=STRING, partitions=Array(INT)))
HELD_PARTITIONS = Array(struct("HeldPartitions", topic_id=STRING, partitions=Array(INT)))
HELD_TASKS = Array(struct("HeldTasks", subtopology_id=STRING, partitions=Array(INT)))

FACT_COLUMNS: dict[str, Entry] = {
    # Who and where
    "cluster": Entry(STRING, "name of the Kafka cluster, from the settings"),
    "group_id": Entry(STRING, "consumer group"),
    "group_type": Entry(STRING, "type of the group: the protocol that it spoke then", GROUP_TYPES),
    "member_id": Entry(STRING, "member id given out by the coordinator"),
    "group_instance_id": Entry(STRING, "group.instance.id of a static member; null for a dynamic one"),
    "client_id": Entry(STRING, "client.id of the member or request"),
    "client_host": Entry(STRING, "address of the client, as Kafka prints it (/10.1.2.3)"),
    "client_software": Entry(STRING, "software name and version that the client told the broker"),
    "broker": Entry(STRING, "broker whose log holds this"),
    "topic": Entry(STRING, "topic name"),
    "partition": Entry(INT, "partition of the topic"),
    "topic_id": Entry(STRING, "topic id (uuid, base64url), where the record carries one"),
    # Bronze
    "topic_partition": Entry(INT, "partition of __consumer_offsets"),
    "record_offset": Entry(BIGINT, "offset of the record in its partition of __consumer_offsets"),
    "recorded_at": Entry(TIMESTAMP, "timestamp of the record: the coordinator's clock at append"),
    "key": Entry(BINARY, "raw record key"),
    "value": Entry(BINARY, "raw record value; null is a tombstone"),
    "producer_id": Entry(BIGINT, "producer id of the record's batch; null where the source cannot know"),
    "producer_epoch": Entry(INT, "producer epoch of the record's batch"),
    "is_transactional": Entry(
        BOOLEAN, "the record's batch is part of a transaction; null where the source cannot know"
    ),
    "control_type": Entry(STRING, "kind of control record; null for data", ("commit", "abort")),
    "source": Entry(STRING, "what this was read from"),
    "loaded_at": Entry(TIMESTAMP, "start of the run that added the row"),
    "source_file": Entry(STRING, "log file, below the logs path"),
    "line_number": Entry(BIGINT, "number of the (first) line in its file, from 1"),
    "logged_at": Entry(TIMESTAMP, "time printed in the log line, in UTC"),
    "text": Entry(STRING, "the line, with the stack trace or the further lines that belong to it"),
    # Records of __consumer_offsets
    "topic_partition_of_record": Entry(INT, "partition of __consumer_offsets that holds the record"),
    "committed_offset": Entry(BIGINT, "committed offset; null in a tombstone"),
    "leader_epoch": Entry(INT, "leader epoch of the last consumed record; null where none was given"),
    "metadata": Entry(STRING, "the committer's own text"),
    "committed_at": Entry(TIMESTAMP, "time of the commit, by the coordinator's clock"),
    "expires_at": Entry(TIMESTAMP, "explicit expiry (value version 1 only)"),
    "is_tombstone": Entry(BOOLEAN, "the record deletes its key"),
    "value_version": Entry(INT, "version of the record value; null in a tombstone"),
    "txn_state": Entry(STRING, "fate of a transactional commit", TXN_STATES),
    "generation": Entry(INT, "generation of the group"),
    "protocol_type": Entry(STRING, "protocol type of the group, e.g. consumer or connect"),
    "protocol": Entry(STRING, "assignor that the members voted for; of a consumer group the server's"),
    "leader_member_id": Entry(STRING, "member id of the group's leader"),
    "state_changed_at": Entry(TIMESTAMP, "currentStateTimestamp: when the group entered the state before the record"),
    "members": Entry(
        Array(
            struct(
                "StoredMember",
                "member_id",
                member_id=STRING,
                group_instance_id=STRING,
                client_id=STRING,
                client_host=STRING,
                session_timeout_ms=INT,
                rebalance_timeout_ms=INT,
                topics=Array(STRING),
                owned=TOPIC_PARTITIONS,
                assigned=TOPIC_PARTITIONS,
                user_data=BINARY,
                subscription=BINARY,
                assignment=BINARY,
            )
        ),
        "members as the record holds them, subscription and assignment decoded for protocol type consumer",
    ),
    "regular_expression": Entry(STRING, "regular expression of topics that the record is about (type 16)"),
    "record_type": Entry(INT, "id of the record type (CoordinatorRecordType)"),
    "record_name": Entry(STRING, "name of the record type (CoordinatorRecordType)"),
    "body": Entry(STRING, "record value as JSON, in Kafka's own field names"),
    # Log events
    "event": Entry(STRING, "what happened"),
    "state": Entry(STRING, "group state printed in the line"),
    "reason": Entry(STRING, "reason as logged, without the client's part"),
    "client_reason": Entry(STRING, "reason that the client gave (KIP-800)"),
    "member_count": Entry(INT, "members of the group"),
    "topic_partition_of_group": Entry(INT, "partition of __consumer_offsets that the group lives in"),
    "dialect": Entry(STRING, "which coordinator wrote the line", DIALECTS),
    "attributes": Entry(Map(STRING, STRING), "further facts of the line, by name"),
    # Requests
    "received_at": Entry(TIMESTAMP, "when the broker had read the request (log time less total time)"),
    "handled_at": Entry(TIMESTAMP, "when a request handler took it up (received_at and the time in the queue)"),
    "answered_at": Entry(TIMESTAMP, "when the answer had been sent (time of the log line)"),
    "api": Entry(STRING, "API of the request, e.g. JoinGroup"),
    "api_version": Entry(INT, "version of the request"),
    "answered_member_id": Entry(STRING, "member id in the answer"),
    "answered_generation": Entry(INT, "generation or member epoch in the answer; null where it has none"),
    "error_code": Entry(INT, "first non-zero error code of the answer, else 0"),
    "error": Entry(STRING, "Kafka's name of the error"),
    "connection": Entry(STRING, "connection id, unique for each connection to the broker"),
    "correlation_id": Entry(INT, "number of the request on its connection"),
    "parked_ms": Entry(DOUBLE, "time the answer was held back (remoteTimeMs)"),
    "session_timeout_ms": Entry(INT, "session timeout of the member"),
    "rebalance_timeout_ms": Entry(INT, "rebalance timeout of the member"),
    "protocols": Entry(
        Array(struct("OfferedProtocol", "name", name=STRING, metadata=BINARY)),
        "protocols offered in a JoinGroup, in the member's order",
    ),
    "answered_protocol": Entry(STRING, "protocol in the answer"),
    "answered_leader": Entry(STRING, "leader in the answer of a JoinGroup"),
    "answered_members": Entry(
        Array(struct("ToldMember", "member_id", member_id=STRING, group_instance_id=STRING, metadata=BINARY)),
        "members told to the leader in the answer of a JoinGroup",
    ),
    "assignments": Entry(
        Array(struct("SentAssignment", "member_id", member_id=STRING, assignment=BINARY)),
        "assignments that the leader sent in a SyncGroup",
    ),
    "answered_assignment": Entry(BINARY, "assignment in the answer of a SyncGroup"),
    "leaving_members": Entry(
        Array(struct("LeavingMember", member_id=STRING, group_instance_id=STRING, reason=STRING, error_code=INT)),
        "members of a LeaveGroup, each with its own answer",
    ),
    "partition_errors": Entry(Map(INT, INT), "error code to number of partitions, in the answer of a commit"),
    "rack_id": Entry(STRING, "rack of the member"),
    "subscribed_topics": Entry(Array(STRING), "topics that a heartbeat subscribes to; null = as before"),
    "subscribed_regex": Entry(STRING, "regular expression that a heartbeat subscribes to; null = as before"),
    "server_assignor": Entry(STRING, "assignor of the server that the member wishes for; null = as before"),
    "owned": Entry(HELD_PARTITIONS, "partitions that a heartbeat reports to be the member's; null = it says nothing"),
    "told": Entry(HELD_PARTITIONS, "partitions that the answer to a heartbeat gives the member; null = as before"),
    "topology": Entry(STRING, "topology that a joining member of a streams group brings, as JSON"),
    "owned_active": Entry(HELD_TASKS, "active tasks that a heartbeat reports to be held; null = it says nothing"),
    "owned_standby": Entry(HELD_TASKS, "standby tasks that it reports to be held; null = it says nothing"),
    "owned_warmup": Entry(HELD_TASKS, "warm-up tasks that it reports to be held; null = it says nothing"),
    "told_active": Entry(HELD_TASKS, "active tasks that the answer to a heartbeat gives the member; null = as before"),
    "told_standby": Entry(HELD_TASKS, "standby tasks that the answer gives the member; null = as before"),
    "told_warmup": Entry(HELD_TASKS, "warm-up tasks that the answer gives the member; null = as before"),
    "heartbeat_interval_ms": Entry(INT, "how often the member is to send heartbeats, by the answer"),
    "sent_offsets": Entry(
        Array(struct("SentOffset", "topic", "partition", topic=STRING, partition=INT, offset=BIGINT)),
        "offsets in a commit that was refused; null for others",
    ),
    # Client logs
    "host": Entry(STRING, "host of the client log, the folder it was found in"),
    "client_state": Entry(STRING, "the client's own state"),
    "partitions": Entry(Array(STRING), "partitions as topic-partition"),
    "broker_state": Entry(STRING, "furthest state that the generation reached at the coordinator", GROUP_STATES),
    # Rejected
    "position": Entry(STRING, "where in the source: partition and offset, or file and line"),
    "reason_code": Entry(STRING, "why it could not be read, stable name"),
    "detail": Entry(STRING, "why, in words"),
    "raw": Entry(BINARY, "the bytes or the line that could not be read"),
    "seen_at": Entry(TIMESTAMP, "start of the run that rejected it"),
    # Generations
    "life": Entry(INT, "counts the lives of a group id: one more after every deletion or restart of its generations"),
    "preparing_at": Entry(TIMESTAMP, "join phase began"),
    "completing_at": Entry(TIMESTAMP, "join phase ended, leader and members fixed"),
    "stable_at": Entry(TIMESTAMP, "assignment stored"),
    "emptied_at": Entry(TIMESTAMP, "join phase ended without members"),
    "ended_at": Entry(TIMESTAMP, "end; null while still open or not known"),
    "outcome": Entry(STRING, "how the generation came out; null = not known or under way", GENERATION_OUTCOMES),
    "rebalance_ms": Entry(BIGINT, "from preparing_at to stable_at or emptied_at"),
    "trigger": Entry(STRING, "first cause of the rebalance", TRIGGERS),
    "trigger_member_id": Entry(STRING, "member that caused it"),
    "trigger_client_id": Entry(STRING, "client.id of that member"),
    "trigger_client_host": Entry(STRING, "host of that member"),
    "is_subscription_changed": Entry(
        BOOLEAN, "a member came with another subscription than in the last stable generation"
    ),
    "joined_member_ids": Entry(Array(STRING), "members that the last stable generation did not have"),
    "departed_member_ids": Entry(Array(STRING), "members of the last stable generation that are gone"),
    "partitions_total": Entry(INT, "partitions assigned in this generation"),
    "assignor": Entry(
        STRING,
        "assignor whose result the assignment equals, of the clients or, in a consumer group, of the broker; "
        "or 'custom'; null = not known",
    ),
    "partitions_moved": Entry(INT, "partitions whose owner changed against the last stable generation"),
    "evidence": Entry(Array(STRING), "what the row rests on: " + ", ".join(EVIDENCE)),
    "is_inferred": Entry(BOOLEAN, "at least one step was put in without evidence of its own"),
    "missing_before": Entry(INT, "generations skipped before this one that no evidence shows"),
    "bump_count": Entry(
        INT,
        "bumps of the group epoch until the group was settled again, this one among them; 0 = it came while a "
        "rebalance was under way, or rebalanced nothing; a generation of a classic group counts as one",
    ),
    # Members and assignments
    "member_epoch": Entry(INT, "epoch that the member had when the generation ended; null in a classic group"),
    "member_protocol": Entry(
        STRING,
        "what a member of a consumer group speaks; classic = it has not changed over; null in other groups",
        MEMBER_PROTOCOLS,
    ),
    "topology_epoch": Entry(INT, "epoch of the topology that a member of a streams group runs; null in other groups"),
    "process_id": Entry(STRING, "process that a member of a streams group is a thread of; null in other groups"),
    "user_endpoint": Entry(
        STRING, "where a member of a streams group answers queries of its stores, as host:port; null = it does not"
    ),
    "client_tags": Entry(
        Map(STRING, STRING), "tags of a member of a streams group, by which standbys are spread; null in other groups"
    ),
    "changed_at": Entry(
        TIMESTAMP, "when the member changed what it subscribes to or is, last in this epoch; null = not in it"
    ),
    "hold": Entry(STRING, "how the member has the partition", HOLDS),
    "role": Entry(STRING, "what a member of a streams group does for the task; null in other groups", TASK_ROLES),
    "from_epoch": Entry(INT, "member epoch when it began"),
    "to_epoch": Entry(INT, "member epoch when it was over; null while open, and where the member went"),
    "waits_for_member_ids": Entry(Array(STRING), "members that had what this one waited for"),
    "is_leader": Entry(BOOLEAN, "the member leads the generation"),
    "topics": Entry(Array(STRING), "topics the member subscribed to"),
    "partitions_assigned": Entry(INT, "partitions assigned to the member; null = not known"),
    "joined_at": Entry(TIMESTAMP, "when the member was added to the group"),
    "told_at": Entry(
        TIMESTAMP,
        "first SyncGroup answered without error in this generation; of an epoch when its coordinator led the member to "
        "it, as the answer to the heartbeat told; null = never told",
    ),
    "replaces_member_id": Entry(STRING, "member it replaced inside this generation, without a rebalance"),
    "remembered_generation": Entry(
        INT,
        "generation of the last assignment that the member knew of as it joined, by its subscription or its sticky "
        "assignor; one of before its first generation shows that it lived on; -1 = none, although its assignor would "
        "have kept it; null = it does not say",
    ),
    "valid_from": Entry(TIMESTAMP, "assigned from (inclusive)"),
    "valid_to": Entry(TIMESTAMP, "assigned until (exclusive); null while open"),
    "seq": Entry(BIGINT, "order within the life of the group, from 1"),
    "at": Entry(TIMESTAMP, "when"),
    "from_state": Entry(STRING, "state before", GROUP_STATES),
    "to_state": Entry(STRING, "state after", GROUP_STATES),
    "end_cause": Entry(STRING, "why the membership ended; null = still in", END_CAUSES),
    "stay": Entry(INT, "counts the stays of a member id in a life; where the client makes its id, it comes back by it"),
    "first_generation": Entry(INT, "first generation"),
    "last_generation": Entry(INT, "last generation"),
    "previous_member_id": Entry(STRING, "member id before, of the same instance, or of the same client and host"),
    # Audit
    "state_before": Entry(STRING, "state of the replayed group when the request was handled", GROUP_STATES),
    "observed_error": Entry(INT, "error code that the group answered; errors of single partitions of a commit aside"),
    "predicted_error": Entry(INT, "error code that the replayed state machine answers; null = not predicted"),
    "observed_generation": Entry(INT, "generation in the broker's answer of a successful JoinGroup"),
    "predicted_generation": Entry(INT, "generation in the replayed answer of a successful JoinGroup"),
    "is_assignment_agreed": Entry(
        BOOLEAN,
        "assignments in the answer and in the replayed one are the same; null = no answer has one, or one leaves out a "
        "whole topic, as brokers do with those that are deleted",
    ),
    "agrees": Entry(BOOLEAN, "prediction and answer are the same; null = nothing could be predicted"),
    "is_answer_used": Entry(
        BOOLEAN, "the prediction needed the broker's own answer: it shows that the two fit together, and no more"
    ),
    "why": Entry(STRING, "for a disagreement, a null, a race, or an answer used as evidence: what lies behind it"),
    "hour_at": Entry(TIMESTAMP, "begin of the hour in which the requests were answered"),
    "request_count": Entry(BIGINT, "requests"),
    "agree_count": Entry(BIGINT, "requests that were answered as predicted"),
    "differ_count": Entry(BIGINT, "requests that were answered otherwise than predicted"),
    "unpredicted_count": Entry(BIGINT, "requests of which nothing could be predicted"),
    "race_count": Entry(BIGINT, "agreements that rest on one of two orders within one millisecond"),
    "answer_used_count": Entry(BIGINT, "agreements that needed the broker's own answer"),
    # Batches
    "is_settled": Entry(
        BOOLEAN, "final, but for evidence that comes late; other rows are replaced, or settled, by a later run"
    ),
    "settled_at": Entry(TIMESTAMP, "how far the evidence had been taken when this was over; null = it is not"),
    "version": Entry(INT, "version of the state's layout; one that is not known is passed over"),
    "size_bytes": Entry(BIGINT, "size of the state"),
    "taken_until": Entry(TIMESTAMP, "moment up to which evidence was taken; rows settled later are not of this state"),
    "seen_until": Entry(TIMESTAMP, "newest evidence of the group; not well before `at` = there is more to take"),
    "awaits_records": Entry(
        BOOLEAN, "what lies behind it is to be judged once more, as records that tell of it had not been read"
    ),
    # Coordinators
    "observed_partition": Entry(INT, "partition of __consumer_offsets in which the group was seen"),
    "computed_partition": Entry(INT, "abs(hashCode(group_id)) % partitions of __consumer_offsets"),
    "epoch": Entry(INT, "coordinator epoch (leader epoch of the partition)"),
    "from_at": Entry(TIMESTAMP, "coordinator from; null = before the data begins"),
    "to_at": Entry(TIMESTAMP, "coordinator until; null while open"),
}
