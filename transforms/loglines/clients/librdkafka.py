r"""Lines of librdkafka's consumers, behind `[thrd:..]: `; seen of 1.9, 2.3 and 2.16.

Without `debug=cgrp` only the first four are printed: heartbeats and commits that are refused reach nobody but the
application (`applications`).
"""

from __future__ import annotations

from transforms.loglines.clients.fields import VOCABULARIES

LIBRDKAFKA = VOCABULARIES["librdkafka"].table(
    r"""
session_timeout · 1.9-
Consumer group session timed out (in join-state {join_state}) {reason}
    Consumer group session timed out (in join-state steady) after 9712 ms without a successful response from the group coordinator (broker 1, last error was Success): revoking assignment and rejoining group
poll_timeout · 1.9-
Application maximum poll interval {reason}: leaving group
    Application maximum poll interval (6000ms) exceeded by 172ms (adjust max.poll.interval.ms for long-running message processing): leaving group
fenced · 1.9-
Fatal error: Broker: Static consumer fenced by other consumer with same group.instance.id: {reason}
    Fatal error: Broker: Static consumer fenced by other consumer with same group.instance.id: Fatal consumer error: Broker: Static consumer fenced by other consumer with same group.instance.id
    Fatal error: Broker: Static consumer fenced by other consumer with same group.instance.id: OffsetCommit failed: Broker: Static consumer fenced by other consumer with same group.instance.id
heartbeat_failed · 2.16-
Fatal error: Broker: The instance ID is still used by another member in the consumer group: {reason}
    Fatal error: Broker: The instance ID is still used by another member in the consumer group: ConsumerGroupHeartbeat fatal error: Broker: The instance ID is still used by another member in the consumer group
commit_failed · 2.16-
Current transaction failed in state {any}: Failed to commit offsets to transaction {reason}
    Current transaction failed in state InTransaction: Failed to commit offsets to transaction on broker 127.0.0.1:21392/1: a((null))[2](Broker: Specified group generation id is not valid), a((null))[3](Broker: Specified group generation id is not valid) (after 1ms) (ILLEGAL_GENERATION)

joining · 1.9-
{any}: Joining group "{group_id}" with {any} subscribed topic(s) and member id "{member_id}"
    127.0.0.1:21092/1: Joining group "orders-enricher" with 1 subscribed topic(s) and member id ""
    127.0.0.1:21092/1: Joining group "orders-enricher" with 1 subscribed topic(s) and member id "orders-enricher-f-f65dd113-4a55-4da1-8025-9f99388a988a"
member_id_required · 1.9-
JoinGroup response: GenerationId -1, Protocol {any}, my MemberId {member_id}, member metadata count {any}: Broker: Group member needs a valid member ID
    JoinGroup response: GenerationId -1, Protocol , LeaderId , my MemberId orders-enricher-f-f65dd113-4a55-4da1-8025-9f99388a988a, member metadata count 0: Broker: Group member needs a valid member ID
joined · 1.9-
JoinGroup response: GenerationId {generation}, Protocol {any}, my MemberId {member_id}, member metadata count {any}: (no error)
    JoinGroup response: GenerationId 1, Protocol range, LeaderId rd-busy-b-92a3abf7-60c6-4890-ad3a-a2a41e812091 (me), my MemberId rd-busy-b-92a3abf7-60c6-4890-ad3a-a2a41e812091, member metadata count 1: (no error)
join_failed · 1.9-
JoinGroup response: GenerationId {any}, Protocol {any}, my MemberId {any}, member metadata count {any}: {reason}
    JoinGroup response: GenerationId -1, Protocol , LeaderId , my MemberId , member metadata count 0: Broker: Not coordinator
synced · 1.9-
SyncGroup response: Success ({rest}
    SyncGroup response: Success (30 bytes of MemberState data)
sync_failed · 1.9-
SyncGroup response: {brief} ({any} bytes of MemberState data)
    SyncGroup response: Broker: Group rebalance in progress (0 bytes of MemberState data)
assigned · 1.9-
Group "{group_id}": delegating assign of {any} partition(s) to application on queue {any}: {reason}
    Group "orders-enricher": delegating assign of 2 partition(s) to application on queue rd_kafka_cgrp_new: new assignment
revoked · 1.9-
Group "{group_id}": delegating revoke of {any} partition(s) to application on queue {any}: {reason}
    Group "rd-busy": delegating revoke of 4 partition(s) to application on queue rd_kafka_cgrp_new: rebalance in progress
lost · 1.9-
Group "{group_id}": current assignment of {any} partition(s) lost: {reason}
    Group "ck23-auto": current assignment of 2 partition(s) lost: max.poll.interval.ms exceeded: revoking assignment and rejoining
heartbeat_failed · 1.9-
Group "{group_id}" heartbeat error response in state {any} (join-state {join_state}, {any} partition(s) assigned): {reason}
    Group "price-feed" heartbeat error response in state up (join-state wait-unassign-call, 0 partition(s) assigned): Broker: Unknown member
{any}: Timed out HeartbeatRequest in flight {reason}
    GroupCoordinator/1: Timed out HeartbeatRequest in flight (after 4003ms, timeout #0)
rejoin_requested · 1.9-
Group "{group_id}": Rejoining group {any}: {reason}
    Group "orders-enricher": Rejoining group without an assignment: Metadata for subscribed topic(s) has changed
Group "{group_id}" (re)joining in join-state {join_state} with {any} assigned partition(s): {reason}
    Group "orders-enricher" (re)joining in join-state wait-metadata with 0 assigned partition(s): Metadata for subscribed topic(s) has changed
generation_reset · 1.9-
Group "{group_id}": updating member id "{any}" -> ""
    Group "orders-enricher": updating member id "orders-enricher-f-f65dd113-4a55-4da1-8025-9f99388a988a" -> ""
state_changed · 1.9-
Group "{group_id}" changed join state {any} -> {join_state} (state {any})
    Group "orders-enricher" changed join state wait-join -> wait-sync (state up)
commit_failed · 1.9-
{any}: OffsetCommit for {any} partition(s) in join-state {join_state}: {any}: returned: Broker: {reason}
    GroupCoordinator/1: OffsetCommit for 2 partition(s) in join-state wait-unassign-call: manual: returned: Broker: Unknown member
leaving · 1.9-
Group "{group_id}": leave (in state {any})
    Group "orders-enricher": leave (in state up)
left · 1.9-
LeaveGroup response received in state {rest}
    LeaveGroup response received in state up
leave_failed · 1.9-
LeaveGroup response error in state {any}: {reason}
    LeaveGroup response error in state up: Broker: Unknown member
coordinator_discovered · 1.9-
{any}: Group "{group_id}" coordinator is {rest}
    127.0.0.1:21092/1: Group "orders-enricher" coordinator is 127.0.0.1:21092 id 1
coordinator_lost · 1.9-
Group "{group_id}" broker {any} is no longer coordinator
    Group "rd-stopped" broker 127.0.0.1:21392/1 is no longer coordinator
coordinator_lookup_failed · 1.9-
{any}: Group "{group_id}" FindCoordinator response error: {reason}
    127.0.0.1:21092/bootstrap: Group "orders-enricher" FindCoordinator response error: _DESTROY_BROKER: Local: Broker handle destroyed without termination

joining · 2.16-
{any}: ConsumerGroupHeartbeat of member id "{member_id}", group id "{group_id}", generation id 0, {rest}
    GroupCoordinator/1: ConsumerGroupHeartbeat of member id "N4v6zuHsTqqPXWsMmBjM4g", group id "rd-app", generation id 0, group instance id "(null)", current assignment "", subscribed topics "orders((null))[-1]", subscribed topic regex "", remote assignor "(null)"
leaving · 2.16-
{any}: ConsumerGroupHeartbeat of member id "{member_id}", group id "{group_id}", generation id -{any}, {rest}
    GroupCoordinator/1: ConsumerGroupHeartbeat of member id "XSnppX+sTGSUEn6bqJcqDA", group id "rd-app", generation id -1, group instance id "(null)", current assignment "NULL", subscribed topics "NULL", subscribed topic regex "NULL", remote assignor "NULL"
reconciling · 2.16-
Reconciliation starts with new target assignment "{with_topic_ids}". {rest}
    Reconciliation starts with new target assignment "orders(PvDmpIcZT1a0v0vPDMCaxg)[2]". Next assignment cleared
assignment_updated · 2.16-
Target assignment acked, new current assignment  "{with_topic_ids}"
    Target assignment acked, new current assignment  "orders(PvDmpIcZT1a0v0vPDMCaxg)[2]"
fenced · 2.16-
Group "{group_id}" initiating rebalance ({any}) in state {any} (join-state {join_state}) with {any} assigned partition(s) (lost): {fenced}
    Group "rd-app" initiating rebalance (COOPERATIVE) in state up (join-state steady) with 2 assigned partition(s) (lost): member fenced - rejoining
"""  # noqa: E501 (a log line is one line)
)
