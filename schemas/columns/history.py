"""Columns of what the replay makes of it: generations, members, what the replay is worth, and how far it has come."""

from __future__ import annotations

from schemas.columns.entry import Entry
from schemas.types import BIGINT, BOOLEAN, INT, STRING, TIMESTAMP, Array
from schemas.words import END_CAUSES, EVIDENCE, GENERATION_OUTCOMES, GROUP_STATES, HOLDS, TASK_ROLES, TRIGGERS

HISTORY_COLUMNS: dict[str, Entry] = {
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
    "hold": Entry(STRING, "how the member has the partition", HOLDS),
    "role": Entry(STRING, "what a member of a streams group does for the task; null in other groups", TASK_ROLES),
    "from_epoch": Entry(INT, "member epoch when it began"),
    "to_epoch": Entry(INT, "member epoch when it was over; null while open, and where the member went"),
    "waits_for_member_ids": Entry(Array(STRING), "members that had what this one waited for"),
    "is_leader": Entry(BOOLEAN, "the member leads the generation"),
    "topics": Entry(Array(STRING), "topics the member subscribed to"),
    "partitions_assigned": Entry(INT, "partitions assigned to the member; null = not known"),
    "joined_at": Entry(TIMESTAMP, "when the member was added to the group"),
    "told_at": Entry(TIMESTAMP, "first SyncGroup answered without error in this generation; null = never told"),
    "replaces_member_id": Entry(STRING, "member it replaced inside this generation, without a rebalance"),
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
        BOOLEAN, "assignments in the answer and in the replayed one are the same; null = no answer has one"
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
    "is_settled": Entry(BOOLEAN, "final, but for evidence that comes late; other rows are replaced by each run"),
    "settled_at": Entry(TIMESTAMP, "how far the evidence had been taken when the row was settled; null = it is not"),
    "version": Entry(INT, "version of the state's layout; one that is not known is passed over"),
    "size_bytes": Entry(BIGINT, "size of the state"),
    "taken_until": Entry(TIMESTAMP, "moment up to which evidence was taken; rows settled later are not of this state"),
    "seen_until": Entry(TIMESTAMP, "newest evidence of the group; not well before `at` = there is more to take"),
    # Coordinators
    "observed_partition": Entry(INT, "partition of __consumer_offsets in which the group was seen"),
    "computed_partition": Entry(INT, "abs(hashCode(group_id)) % partitions of __consumer_offsets"),
    "epoch": Entry(INT, "coordinator epoch (leader epoch of the partition)"),
    "from_at": Entry(TIMESTAMP, "coordinator from; null = before the data begins"),
    "to_at": Entry(TIMESTAMP, "coordinator until; null while open"),
}
