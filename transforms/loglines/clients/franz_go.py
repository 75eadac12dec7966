r"""Lines of franz-go, behind the level that `kgo.BasicLogger` prints; seen of 1.15, 1.18 and 1.22.

They name the group. What stands before the level is the application's own choice, so no client id is taken from it.
"""

from __future__ import annotations

from transforms.loglines.clients.fields import VOCABULARIES

FRANZ_GO = VOCABULARIES["franz-go"].table(
    r"""
joining · 1.15-
joining group; group: {group_id}
    joining group; group: feed-builder
member_id_required · 1.15-
join returned MemberIDRequired, rejoining with response's MemberID; group: {group_id}, member_id: {member_id}
    join returned MemberIDRequired, rejoining with response's MemberID; group: feed-builder, member_id: feed-builder-0-4b6b426c-e834-427e-90a6-59a3c8014147
join_failed · 1.15-
join returned {brief}, rejoining without a member id; group: {group_id}
    join returned UnknownMemberID, rejoining without a member id; group: franz-busy
join group failed; group: {group_id}, err: {reason}
    join group failed; group: audit-sink, err: INCONSISTENT_GROUP_PROTOCOL: The group member's supported protocols are incompatible with those of existing members or first group member tried to join with empty protocol type or empty protocol list.
joined · 1.15-
joined, balancing group; group: {group_id}, member_id: {member_id}, instance_id: {group_instance_id}, generation: {generation}, {rest}
    joined, balancing group; group: feed-builder, member_id: feed-builder-0-4b6b426c-e834-427e-90a6-59a3c8014147, instance_id: <nil>, generation: 1, balance_protocol: cooperative-sticky, leader: true
joined; group: {group_id}, member_id: {member_id}, instance_id: {group_instance_id}, generation: {generation}, {rest}
    joined; group: toll-ledger-a, member_id: toll-0-94f21812-e188-41b4-8aef-eebcfd320b73, instance_id: toll-0, generation: 2, leader: false
assignment_finished · 1.15-
balanced; plan: {rest}
    balanced; plan: feed-builder-0-4b6b426c-e834-427e-90a6-59a3c8014147{docs[0 1 2]}, feed-builder-1-8f25a4d1-0f88-447a-9e10-d062b66ac23e{}
synced · 1.15-
synced; group: {group_id}, assigned: {numbers}
    synced; group: feed-builder, assigned: docs[0 1]
assigned · 1.15-
new group session begun; group: {group_id}, added: {numbers}, lost: {rest}
    new group session begun; group: feed-builder, added: docs[5], lost: 
revoked · 1.15-
eager consumer revoking prior assigned partitions; group: {group_id}, revoking: {numbers}
    eager consumer revoking prior assigned partitions; group: weigh-writer-a, revoking: weigh[0 1 2 3]
revoked · 1.22-
calling onRevoke at the end of a session; group: {group_id}, lost: {numbers}, stage: {rest}
    calling onRevoke at the end of a session; group: feed-builder, lost: docs[2], stage: 0
revoked · 1.15-1.18
cooperative consumer calling onRevoke; group: {group_id}, lost: {numbers}, stage: {rest}
    cooperative consumer calling onRevoke; group: franz115-auto, lost: map[t:[2 3]], stage: 0
ignored · 1.15-
heartbeat errored; group: {any}, err: context canceled
    heartbeat errored; group: feed-builder, err: context canceled
heartbeat_failed · 1.15-
heartbeat errored; group: {group_id}, err: {reason}
    heartbeat errored; group: feed-builder, err: REBALANCE_IN_PROGRESS: The group is rebalancing, so a rejoin is needed.
heartbeat errored again while waiting for user revoke to finish; group: {group_id}, err: {reason}
    heartbeat errored again while waiting for user revoke to finish; group: franz-busy, err: UNKNOWN_MEMBER_ID: The coordinator is not aware of this member.
rebalance_failed · 1.22-
group manage loop errored; group: {group_id}, err: {reason}, consecutive_errors: {rest}
    group manage loop errored; group: franz-busy, err: UNKNOWN_MEMBER_ID: The coordinator is not aware of this member., consecutive_errors: 1, backoff: 224.803302ms
rebalance_failed · 1.15-1.18
join and sync loop errored; group: {group_id}, err: {reason}, consecutive_errors: {rest}
    join and sync loop errored; group: franz115-auto, err: UNKNOWN_MEMBER_ID: The coordinator is not aware of this member., consecutive_errors: 1, backoff: 224.286482ms
rejoin_requested · 1.15-
forced rejoin quitting heartbeat loop; why: {reason}
    forced rejoin quitting heartbeat loop; why: after revoking what we lost from a rebalance, is848: false
    forced rejoin quitting heartbeat loop; why: cooperative rejoin after revoking what we lost from a rebalance
commit_failed · 1.15-
unable to commit offset for topic partition; group: {group_id}, {one_of_topic}, commit_from: {any}, error_code: {error_code}
    unable to commit offset for topic partition; group: dispatch-a, topic: cams, partition: 0, commit_from: 3, commit_to: 3, commit_epoch: 0, error_code: 16
in default commit: unable to commit offsets for topic partition; group: {group_id}, {one_of_topic}, error: {reason}
    in default commit: unable to commit offsets for topic partition; group: toll-ledger-a, topic: tolls, partition: 0, error: FENCED_INSTANCE_ID: The broker rejected this static consumer since another consumer with the same group.instance.id has registered with a different member.id.
commit_failed · 1.22-
offset commit returned a fatal group member error, triggering rejoin; group: {group_id}, err: {reason}
    offset commit returned a fatal group member error, triggering rejoin; group: g1, err: UNKNOWN_MEMBER_ID: The coordinator is not aware of this member.
leaving · 1.15-
leaving group; group: {group_id}, member_id: {member_id}
    leaving group; group: feed-builder, member_id: feed-builder-0-4b6b426c-e834-427e-90a6-59a3c8014147

ignored · 1.15-
beginning {rest}
    beginning to manage the group lifecycle; group: feed-builder
    beginning autocommit loop; group: feed-builder
    beginning heartbeat loop; group: feed-builder
syncing; group: {rest}
    syncing; group: feed-builder, protocol_type: consumer, protocol: cooperative-sticky
cooperative consumer calling onRevoke at the end of a session {rest}
    cooperative consumer calling onRevoke at the end of a session even though no partitions were lost; group: franz118-manual
injecting fake fetch with an error; err: {rest}
    injecting fake fetch with an error; err: unable to join group session: UNKNOWN_MEMBER_ID: The coordinator is not aware of this member., why: notification of group management loop error
fetch offsets failed due to context cancelation; group: {rest}
    fetch offsets failed due to context cancelation; group: weigh-writer-a
ignored · 1.22-
consumer calling onRevoke at the end of a session; {rest}
    consumer calling onRevoke at the end of a session; consumer did not change any client-side subscription; group: feed-builder
tried to leave group but {rest}
    tried to leave group but we have no member ID yet, returning early; group: toll-ledger-a
"""  # noqa: E501, W291 (a log line is one line, as it ends)
)
