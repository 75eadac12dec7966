"""Lines of the Java coordinator as a whole (3.6 on): shard, service, runtime and loader."""

from __future__ import annotations

from transforms.loglines.broker.fields import table

SHARD = table(
    """
group_deleted · 3.7-
The following groups were deleted: {groups}. A total of {offsets_removed} offsets were removed.
    The following groups were deleted: g1. A total of 3 offsets were removed.
offsets_expired · 3.7-
Generated {records} tombstone records while cleaning up group metadata in {duration_ms} milliseconds.
    Generated 4 tombstone records while cleaning up group metadata in 2 milliseconds.
offsets_expired · 3.8-
Generated {records} tombstone records in {duration_ms} milliseconds while deleting offsets for partitions {detail}.
    Generated 4 tombstone records in 2 milliseconds while deleting offsets for partitions [orders-0].

ignored · 4.1-
Unable to delete share group{rest}
    Unable to delete share group. GroupId g1 not found.
    Unable to delete share group offsets. Provided group g1 is not empty.
"""
)

SERVICE = table(
    """
coordinator_started · 3.6-
Startup complete.
    Startup complete.
coordinator_stopped · 3.6-
Shutdown complete.
    Shutdown complete.
coordinator_error · 3.6-
{operation} hit an unexpected exception: {rest}
    Operation delete-groups with {...} hit an unexpected exception: boom.
    JoinGroup request JoinGroupRequestData(groupId='g1') hit an unexpected exception: boom
Could not delete offsets for deleted partitions {rest}
    Could not delete offsets for deleted partitions [orders-0] due to: boom.
Persister initialization failed
    Persister initialization failed
Unable to {rest}
    Unable to initialize share group state for g1, orders while altering share group offsets
    Unable to cleanup state for the deleted topics [orders]
Received error while {rest}
    Received error while calling initialize state for g1 on persister, errorCode: 15.
    Received error while deleting share group g1 - boom
Error deleting share group {group_id} due to error {rest}
    Error deleting share group g1 due to error boom
Failed to delete share group state due to: {rest}
    Failed to delete share group state due to: boom
Failed to retrieve {rest}
    Failed to retrieve partition end offsets while calculating share partitions lag for share group - g1
Failed to read summary of the share partition
    Failed to read summary of the share partition
Result is null for the {rest}
    Result is null for the read state summary
Partition end offset fetch failed for topicPartition {rest}
    Partition end offset fetch failed for topicPartition orders-0

ignored · 3.6-
Starting up.
    Starting up.
Shutting down.
    Shutting down.
Group coordinator is already {rest}
    Group coordinator is already running.
"""
)

RUNTIME = table(
    """
load_scheduled · 3.6-
Scheduling loading of metadata from __consumer_offsets-{topic_partition_of_group} with epoch {epoch}
    Scheduling loading of metadata from __consumer_offsets-13 with epoch 7
load_finished · 3.7-
Finished loading of metadata from __consumer_offsets-{topic_partition_of_group} with epoch {epoch} in {duration_ms}ms where {scheduler_ms}ms was spent in the scheduler. Loaded {records} records which total to {bytes} bytes.
    Finished loading of metadata from __consumer_offsets-13 with epoch 7 in 21ms where 4ms was spent in the scheduler. Loaded 12 records which total to 3456 bytes.
load_finished · 3.6
Finished loading of metadata from __consumer_offsets-{topic_partition_of_group} with epoch {epoch}{rest}
    Finished loading of metadata from __consumer_offsets-13 with epoch 7 and LoadSummary=null.
load_failed · 3.6-
Failed to load metadata from __consumer_offsets-{topic_partition_of_group} with epoch {epoch} due to {detail}.
    Failed to load metadata from __consumer_offsets-13 with epoch 7 due to boom.
unload_scheduled · 3.6-
Scheduling unloading of metadata for __consumer_offsets-{topic_partition_of_group} with epoch {epoch}
    Scheduling unloading of metadata for __consumer_offsets-13 with epoch OptionalInt[7]
unload_finished · 3.6-
Finished unloading metadata for __consumer_offsets-{topic_partition_of_group} with epoch {epoch}.
    Finished unloading metadata for __consumer_offsets-13 with epoch OptionalInt[7].
coordinator_kept · 3.6-
The coordinator __consumer_offsets-{topic_partition_of_group} is already active.
    The coordinator __consumer_offsets-13 is already active.
coordinator_notice · 3.6-
Loaded metadata from __consumer_offsets-{topic_partition_of_group} with buffer larger {rest}
    Loaded metadata from __consumer_offsets-13 with buffer larger (9 bytes) than configured buffer size (8 bytes).
coordinator_error · 3.6-
The state machine of the coordinator __consumer_offsets-{topic_partition_of_group} is out of sync with the underlying log. {rest}
    The state machine of the coordinator __consumer_offsets-13 is out of sync with the underlying log. The last written offset returned is 5 while the coordinator expected 7.
Writing records to __consumer_offsets-{topic_partition_of_group} failed due to: {rest}.
    Writing records to __consumer_offsets-13 failed due to: The request timed out..
Replaying records to __consumer_offsets-{topic_partition_of_group} failed due to: {rest}.
    Replaying records to __consumer_offsets-13 failed due to: Member m1 is not a member of group g1..
Replaying record {rest}
    Replaying record CoordinatorRecord(key=..., value=...) to __consumer_offsets-13 failed due to: boom.
Execution of {rest}
    Execution of FlushBatch failed due to This is not the correct coordinator..
Completion of event {rest}
    Completion of event InternalEvent(name=FlushBatch) failed due to boom.
Deserializing record {rest}
    Deserializing record DefaultRecord(offset=5, timestamp=1, key=7 bytes, value=24 bytes) from __consumer_offsets-13 failed.
Unknown record type {rest}
    Unknown record type 25 while loading offsets and group metadata from __consumer_offsets-13. Ignoring it. It could be a left over from an aborted upgrade.
Cannot load coordinator {rest}
    Cannot load coordinator __consumer_offsets-13 in state CLOSED.
Failed to unload {rest}
    Failed to unload metadata for __consumer_offsets-13 with epoch OptionalInt[7] due to boom.
The write event {rest}
    The write event classic-group-join-g1 for the timer join-g1 failed due to boom. Rescheduling it.

ignored · 3.7-
Scheduled execution of {rest}
    Scheduled execution of write operation consumer-group-heartbeat.
    Scheduled execution of internal operation UpdateImage(tp=__consumer_offsets-13, offset=102).
Scheduling applying of a new metadata image with {rest}
    Scheduling applying of a new metadata image with offset 102.
    Scheduling applying of a new metadata image with version 102.
Applying new metadata image with {rest}
    Applying new metadata image with offset 102 to __consumer_offsets-13.
    Applying new metadata image with version 102 to __consumer_offsets-13.
Ignoring new metadata image with {rest}
    Ignoring new metadata image with offset 102 for __consumer_offsets-13 because the coordinator is not active.
Ignored new metadata image with {rest}
    Ignored new metadata image with offset 102 for __consumer_offsets-13 because the coordinator does not exist.
    Ignored new metadata image with version 102 for __consumer_offsets-13 because the coordinator is not active.
Ignored high watermark updated for {rest}
    Ignored high watermark updated for __consumer_offsets-13 to 7 because the coordinator is not active.
Tried to flush an empty batch for {rest}
    Tried to flush an empty batch for __consumer_offsets-13.
Replaying end transaction marker from {rest}
    Replaying end transaction marker from __consumer_offsets-13 at offset 5 to commit transaction with producer id 9 and producer epoch 0.
Failed to complete the loading of metadata for {rest}
    Failed to complete the loading of metadata for __consumer_offsets-13 in epoch 7 since the coordinator does not exist.
High watermark of {rest}
    High watermark of __consumer_offsets-13 incremented to 7.
Updating high watermark of {rest}
    Updating high watermark of __consumer_offsets-13 to 7.
Transition from {rest}
    Transition from LOADING to ACTIVE.
ignored · 3.6
Update last written offset of {rest}
    Update last written offset of __consumer_offsets-13 to 7.
Revert last written offset of {rest}
    Revert last written offset of __consumer_offsets-13 to 7.
Update committed offset of {rest}
    Update committed offset of __consumer_offsets-13 to 7.
ignored · 3.6-
Started unloading metadata for {rest}
    Started unloading metadata for __consumer_offsets-13 with epoch OptionalInt[7].
Ignored unloading metadata for {rest}
    Ignored unloading metadata for __consumer_offsets-13 in epoch OptionalInt[7] since metadata was never loaded.
Ignoring loading metadata from {rest}
    Ignoring loading metadata from __consumer_offsets-13 since current epoch 8 is larger than or equals to 7.
Ignoring load completion from {rest}
    Ignoring load completion from __consumer_offsets-13 because context is in CLOSED state.
Ignored loading metadata from {rest}
    Ignored loading metadata from __consumer_offsets-13 since current epoch 8 is larger than or equals to 7.
Ignored load completion from {rest}
    Ignored load completion from __consumer_offsets-13 because context is in CLOSED state.
The coordinator {rest}
    The coordinator __consumer_offsets-13 is already loading metadata.
Failed to enqueue write event {rest}
    Failed to enqueue write event classic-group-join-g1 for timer join-g1 because the runtime is closed. Ignoring it.
Coordinator runtime is already shutting down.
    Coordinator runtime is already shutting down.
Closing coordinator runtime.
    Closing coordinator runtime.
Coordinator runtime closed.
    Coordinator runtime closed.
"""  # noqa: E501 (a log line is one line)
)
