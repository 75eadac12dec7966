r"""Lines of Java consumers about assignments and commits, 0.11 to 4.2.

Classes ConsumerCoordinator and, since 3.7, ConsumerRebalanceListenerInvoker.
"""

from __future__ import annotations

from transforms.loglines.clients.fields import table

PARTITIONS = table(
    r"""
assignment_received · 2.6-
Notifying assignor about the new Assignment(partitions=[{partitions}]{rest}
    Notifying assignor about the new Assignment(partitions=[orders-0, orders-1])
    Notifying assignor about the new Assignment(partitions=[orders-0], userDataSize=8)
assignment_updated · 2.6-
Updating assignment with\n\tAssigned partitions: {partitions}\n{rest}
    Updating assignment with\n\tAssigned partitions:                       [orders-0, orders-1]\n\tCurrent owned partitions:                  [orders-0]\n\tAdded partitions (assigned - owned):       [orders-1]\n\tRevoked partitions (owned - assigned):     []\n
assignment_updated · 2.4-2.5
Updating assignment with\nnow assigned partitions: {partitions}\n{rest}
    Updating assignment with\nnow assigned partitions: orders-0, orders-1\ncompare with previously owned partitions: orders-0\nnewly added partitions: orders-1\nrevoked partitions: \n
assigned · 2.4- · STABLE
Adding newly assigned partitions:{partitions}
    Adding newly assigned partitions: orders-0, orders-1
    Adding newly assigned partitions: [orders-0, orders-1]
assigned · 2.2-2.3 · STABLE
Setting newly assigned partitions:{partitions}
    Setting newly assigned partitions: orders-0, orders-1
assigned · 0.11 · STABLE
Setting newly assigned partitions {partitions} for group {group_id}
    Setting newly assigned partitions [orders-0, orders-1] for group g1
assigned · 1.0-2.1 · STABLE
Setting newly assigned partitions {partitions}
    Setting newly assigned partitions [orders-0, orders-1]
revoked · 2.4-
Revoke previously assigned partitions{partitions}
    Revoke previously assigned partitions orders-0, orders-1
    Revoke previously assigned partitions [orders-0, orders-1]
revoked · 0.11
Revoking previously assigned partitions {partitions} for group {group_id}
    Revoking previously assigned partitions [orders-0, orders-1] for group g1
revoked · 1.0-2.3
Revoking previously assigned partitions {partitions}
    Revoking previously assigned partitions [orders-0, orders-1]
lost · 2.4-
Lost previously assigned partitions{partitions}
    Lost previously assigned partitions orders-0, orders-1
    Lost previously assigned partitions [orders-0, orders-1]
callback_failed · 2.4-
User provided listener {any} failed on invocation of {reason} for partitions {partitions}
    User provided listener com.example.Listener failed on invocation of onPartitionsRevoked for partitions [orders-0]
callback_failed · 0.11
User provided listener {any} for group {group_id} failed on {reason}
    User provided listener com.example.Listener for group g1 failed on partition assignment
callback_failed · 1.0-2.3
User provided listener {any} failed on {reason}
    User provided listener com.example.Listener failed on partition revocation
topics_unassigned · 0.11
The following subscribed topics are not assigned to any members in the group {group_id} : {reason}
    The following subscribed topics are not assigned to any members in the group g1 : [orders]
topics_unassigned · 1.0-
The following subscribed topics are not assigned to any members: {reason}
    The following subscribed topics are not assigned to any members: [orders]
topics_unsubscribed · 0.11
The following not-subscribed topics are assigned to group {group_id}, and their metadata will be fetched from the brokers : {reason}
    The following not-subscribed topics are assigned to group g1, and their metadata will be fetched from the brokers : [orders]
topics_unsubscribed · 1.0-
The following not-subscribed topics are assigned, and their metadata will be fetched from the brokers: {reason}
    The following not-subscribed topics are assigned, and their metadata will be fetched from the brokers: [orders]
assignor_violation · 2.4-
With the COOPERATIVE protocol, owned partitions cannot be reassigned to other members; however the assignor has reassigned partitions {reason} which are still owned by some members
    With the COOPERATIVE protocol, owned partitions cannot be reassigned to other members; however the assignor has reassigned partitions [orders-0] which are still owned by some members

commit_failed · 2.3-
Failing OffsetCommit request since {reason}
    Failing OffsetCommit request since the consumer is not part of an active group
commit_failed · 2.6-
OffsetCommit failed with {generation}: {reason}
    OffsetCommit failed with Generation{generationId=5, memberId='c1-7d1e', protocol='range'}: Specified group generation id is not valid.
commit_failed · 1.0-
Offset commit failed on partition {partitions} at offset {any}: {reason}
    Offset commit failed on partition orders-0 at offset 17: The coordinator is not aware of this member.
Offset commit with offsets {any} failed
    Offset commit with offsets {orders-0=OffsetAndMetadata{offset=17, leaderEpoch=null, metadata=''}} failed
Synchronous auto-commit of offsets {any} failed: {reason}
    Synchronous auto-commit of offsets {orders-0=OffsetAndMetadata{offset=17, leaderEpoch=null, metadata=''}} failed: boom
Asynchronous auto-commit of offsets {any} failed: {reason}
    Asynchronous auto-commit of offsets {orders-0=OffsetAndMetadata{offset=17, leaderEpoch=null, metadata=''}} failed: boom
Asynchronous auto-commit of offsets failed: {reason}
    Asynchronous auto-commit of offsets failed: joinPrepare timeout. Will continue to join group
Not authorized to commit to {reason}
    Not authorized to commit to topics [orders]
    Not authorized to commit to topics [orders] for group g1
commit_failed · 0.11
Auto-commit of offsets {any} failed for group {group_id}: {reason}
    Auto-commit of offsets {orders-0=OffsetAndMetadata{offset=17, metadata=''}} failed for group g1: boom
Offset commit with offsets {any} failed for group {group_id}
    Offset commit with offsets {orders-0=OffsetAndMetadata{offset=17, metadata=''}} failed for group g1
Not authorized to commit offsets for group {group_id}
    Not authorized to commit offsets for group g1
Group {group_id} failed to commit partition {partitions} at offset {any}: {reason}
    Group g1 failed to commit partition orders-0 at offset 17: boom

ignored · 2.3-
Setting offset for partition {rest}
    Setting offset for partition orders-0 to the committed offset FetchPosition{offset=17}
Found no committed offset for partition {rest}
    Found no committed offset for partition orders-0
Ignoring the returned {rest}
    Ignoring the returned OffsetAndMetadata{offset=17} since its partition orders-0 is no longer assigned
The following partitions still have unstable offsets {rest}
    The following partitions still have unstable offsets which are not cleared on the broker side: [orders-0], this could be either transactional offsets waiting for completion, or normal offsets waiting for replication after appending to local log
The pause flag in partitions {rest}
    The pause flag in partitions [orders-0] will be removed due to revocation.
"""  # noqa: E501 (a log line is one line)
)
