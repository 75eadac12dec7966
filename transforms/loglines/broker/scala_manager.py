"""Lines of the Scala coordinator's GroupMetadataManager (0.11 to 3.9): loading, storing and expiring."""

from __future__ import annotations

from transforms.loglines.broker.fields import table

MANAGER = table(
    """
load_scheduled · 3.0-3.9
Scheduling loading of offsets and group metadata from __consumer_offsets-{topic_partition_of_group} for epoch {epoch}
    Scheduling loading of offsets and group metadata from __consumer_offsets-13 for epoch 7
load_scheduled · 0.11-2.8
Scheduling loading of offsets and group metadata from __consumer_offsets-{topic_partition_of_group}
    Scheduling loading of offsets and group metadata from __consumer_offsets-13
load_finished · 3.0-3.9
Finished loading offsets and group metadata from __consumer_offsets-{topic_partition_of_group} in {duration_ms} milliseconds for epoch {epoch}, of which {scheduler_ms} milliseconds was spent in the scheduler.
    Finished loading offsets and group metadata from __consumer_offsets-13 in 21 milliseconds for epoch 7, of which 4 milliseconds was spent in the scheduler.
load_finished · 2.6-2.8
Finished loading offsets and group metadata from __consumer_offsets-{topic_partition_of_group} in {duration_ms} milliseconds, of which {scheduler_ms} milliseconds was spent in the scheduler.
    Finished loading offsets and group metadata from __consumer_offsets-13 in 21 milliseconds, of which 4 milliseconds was spent in the scheduler.
load_finished · 0.11-2.5
Finished loading offsets and group metadata from __consumer_offsets-{topic_partition_of_group} in {duration_ms} milliseconds.
    Finished loading offsets and group metadata from __consumer_offsets-13 in 21 milliseconds.
load_failed · 0.11-3.9
Error loading offsets from __consumer_offsets-{topic_partition_of_group}
    Error loading offsets from __consumer_offsets-13
load_failed · 0.11-3.9
Attempted to load offsets and group metadata from __consumer_offsets-{topic_partition_of_group}, but {detail}
    Attempted to load offsets and group metadata from __consumer_offsets-13, but found no log
unload_scheduled · 0.11-3.9
Scheduling unloading of offsets and group metadata from __consumer_offsets-{topic_partition_of_group}
    Scheduling unloading of offsets and group metadata from __consumer_offsets-13
unload_finished · 3.0-3.9
Finished unloading __consumer_offsets-{topic_partition_of_group} for coordinator epoch {epoch}. Removed {offsets_removed} cached offsets and {groups_removed} cached groups.
    Finished unloading __consumer_offsets-13 for coordinator epoch OptionalInt[7]. Removed 12 cached offsets and 3 cached groups.
unload_finished · 0.11-2.8
Finished unloading __consumer_offsets-{topic_partition_of_group}. Removed {offsets_removed} cached offsets and {groups_removed} cached groups.
    Finished unloading __consumer_offsets-13. Removed 12 cached offsets and 3 cached groups.
coordinator_notice · 3.0-3.9
Not loading offsets and group metadata for __consumer_offsets-{topic_partition_of_group} in epoch {epoch} since current epoch is {rest}
    Not loading offsets and group metadata for __consumer_offsets-13 in epoch 6 since current epoch is Some(7)
coordinator_notice · 3.0-3.9
Not removing offsets and group metadata for __consumer_offsets-{topic_partition_of_group} in epoch {epoch} since current epoch is {rest}
    Not removing offsets and group metadata for __consumer_offsets-13 in epoch OptionalInt[6] since current epoch is Some(7)
coordinator_notice · 2.1-3.9
Loaded offsets and group metadata from __consumer_offsets-{topic_partition_of_group} with buffer larger {rest}
    Loaded offsets and group metadata from __consumer_offsets-13 with buffer larger (9 bytes) than configured offsets.load.buffer.size (8 bytes)
coordinator_error · 3.5-3.9
Unknown message key with version {version} while loading offsets and group metadata from __consumer_offsets-{topic_partition_of_group}. {rest}
    Unknown message key with version 3 while loading offsets and group metadata from __consumer_offsets-13. Ignoring it. It could be a left over from an aborted upgrade.

group_expired · 0.11-3.9
Group {group_id} transitioned to Dead in generation {generation}
    Group g1 transitioned to Dead in generation 5
offsets_expired · 0.11-3.9
Removed {offsets_removed} expired offsets in {duration_ms} milliseconds.
    Removed 6 expired offsets in 2 milliseconds.

store_failed · 0.11-3.9
Appending metadata message for group {group_id} generation {generation} failed due to {detail}
    Appending metadata message for group g1 generation 5 failed due to org.apache.kafka.common.errors.NotEnoughReplicasException, returning UNKNOWN error code to the client
    Appending metadata message for group g1 generation 5 failed due to unexpected error: CORRUPT_MESSAGE
store_failed · 0.11-3.9
Metadata from group {group_id} with generation {generation} failed when appending to log due to {detail}
    Metadata from group g1 with generation 5 failed when appending to log due to org.apache.kafka.common.errors.NotEnoughReplicasException
store_failed · 0.11-3.9
Failed to append {records} tombstones to {topic}-{topic_partition_of_group} for expired/deleted offsets and/or metadata for group {group_id}.
    Failed to append 3 tombstones to __consumer_offsets-13 for expired/deleted offsets and/or metadata for group g1.
offset_append_failed · 0.11-3.9
Offset commit {offsets} from group {group_id}, consumer {member_id} with generation {generation} failed when appending to log due to {detail}
    Offset commit Map(orders-0 -> [OffsetMetadata[7,]]) from group g1, consumer c1-7d1e with generation 5 failed when appending to log due to org.apache.kafka.common.errors.RecordTooLargeException
mixed_commits · 0.11-3.9
group: {group_id} with leader: {member_id} has received offset commits from consumers as well as transactional producers. {rest}
    group: g1 with leader: c1-7d1e has received offset commits from consumers as well as transactional producers. Mixing both types of offset commits will generally result in surprises and should be avoided.
group_moved · 0.11-3.9
BrokerId {broker_id} is no longer a coordinator for the group {group_id}. Proceeding cleanup for other alive groups
    BrokerId 1 is no longer a coordinator for the group g1. Proceeding cleanup for other alive groups
group_moved · 0.11-3.9
Group {group_id} has moved away from {broker_id} after transaction marker was written but before the cache was updated. {rest}
    Group g1 has moved away from 1 after transaction marker was written but before the cache was updated. The cache on the new group owner will be updated instead.

coordinator_error · 0.11-3.9
Group metadata/offset entry key should not be null
    Group metadata/offset entry key should not be null

ignored · 0.11-3.9
Marked {rest}
    Marked 3 offsets in __consumer_offsets-13 for deletion.
Initialized offsets {rest}
    Initialized offsets Map() for group g1
Removing expired/deleted offset and metadata for {rest}
    Removing expired/deleted offset and metadata for g1, orders-0: [OffsetMetadata[7,NO_METADATA],CommitTime 1,ExpirationTime None]
Getting offsets of {rest}
    Getting offsets of all partitions for group g1.
Successfully appended {rest}
    Successfully appended 3 tombstones to __consumer_offsets-13 for expired/deleted offsets and/or metadata for group g1
Group {group_id} removed from the metadata cache and marked for deletion in {rest}
    Group g1 removed from the metadata cache and marked for deletion in __consumer_offsets-13.
TxnOffsetCommit for {rest}
    TxnOffsetCommit for producer 5 and group g1 with offsets Map() is pending
Offset load from {rest}
    Offset load from __consumer_offsets-13 already in progress.
Already loading offsets and group metadata from {rest}
    Already loading offsets and group metadata from __consumer_offsets-13
Started loading offsets and group metadata from {rest}
    Started loading offsets and group metadata from __consumer_offsets-13 for epoch 7
Started unloading offsets and group metadata for {rest}
    Started unloading offsets and group metadata for __consumer_offsets-13 for coordinator epoch OptionalInt[7]
Loaded group metadata {rest}
    Loaded group metadata GroupMetadata(groupId=g1, generation=5) with offsets Map() and pending offsets Map()
Attempt to load group {rest}
    Attempt to load group g1 from log with generation 4 failed because there is already a cached group with generation 5
"""  # noqa: E501 (a log line is one line)
)
