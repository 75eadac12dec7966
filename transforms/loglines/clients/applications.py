r"""What clients tell nobody but their application, in the lines by which applications log it: exceptions and errors.

The application's own words are any; the library's stand in them or in the stack trace below. None of them names the
group, few the client.
"""

from __future__ import annotations

from transforms.loglines.clients.fields import VOCABULARIES
from transforms.loglines.facts import ClientEvent
from transforms.loglines.templates.matching import Template

_JAVA = VOCABULARIES["java"].table(
    r"""
commit_failed · 2.8-
{any}[Producer clientId={client_id}, transactionalId={any}] Transiting to {any} due to org.apache.kafka.clients.consumer.CommitFailedException: {reason}
    [Producer clientId=fraud-score-z-tx, transactionalId=fraud-score-z-tx] Transiting to abortable error state due to org.apache.kafka.clients.consumer.CommitFailedException: Transaction offset Commit failed due to consumer group metadata mismatch: Specified group generation id is not valid.
{any}org.apache.kafka.clients.consumer.CommitFailedException: {reason}{rest}
    commit of [a-1, a-0] failed\norg.apache.kafka.clients.consumer.CommitFailedException: Offset commit cannot be completed since the consumer is not part of an active group for auto partition assignment; it is likely that the consumer was kicked out of the group.\n\tat org.apache.kafka.clients.consumer.internals.ConsumerCoordinator.sendOffsetCommitRequest(ConsumerCoordinator.java:1322) ~[kafka-clients-4.2.0.jar:?]
    ERROR 28979 --- [      app-0-C-1] o.s.k.l.KafkaMessageListenerContainer    : Consumer exception\n\njava.lang.IllegalStateException: This error handler cannot process 'org.apache.kafka.clients.consumer.CommitFailedException's; no record information is available\n\tat org.springframework.kafka.listener.DefaultErrorHandler.handleOtherException(DefaultErrorHandler.java:157) ~[spring-kafka-2.8.11.jar:2.8.11]\nCaused by: org.apache.kafka.clients.consumer.CommitFailedException: Offset commit cannot be completed since the consumer is not part of an active group for auto partition assignment; it is likely that the consumer was kicked out of the group.\n\tat org.apache.kafka.clients.consumer.internals.ConsumerCoordinator.sendOffsetCommitRequest(ConsumerCoordinator.java:1180) ~[kafka-clients-3.1.2.jar:na]
    transaction of batch failed, aborting\norg.apache.kafka.clients.consumer.CommitFailedException: Transaction offset Commit failed due to consumer group metadata mismatch: Specified group generation id is not valid.
{any}org.apache.kafka.common.errors.RebalanceInProgressException: Offset commit {reason}{rest}
    commit of [a-1, a-0] failed\norg.apache.kafka.common.errors.RebalanceInProgressException: Offset commit cannot be completed since the consumer is undergoing a rebalance for auto partition assignment. You can try completing the rebalance by calling poll() and then retry the operation.
join_failed · 2.8-
{any}org.apache.kafka.common.errors.InconsistentGroupProtocolException: {reason}{rest}
    fatal, the consumer ends\norg.apache.kafka.common.errors.InconsistentGroupProtocolException: The group member's supported protocols are incompatible with those of existing members or first group member tried to join with empty protocol type or empty protocol list.
fenced · 2.8-
{any}org.apache.kafka.common.errors.FencedInstanceIdException: Get fenced exception for group.instance.id {group_instance_id}, current member.id is {member_line}{rest}
    fatal, the consumer ends\norg.apache.kafka.common.errors.FencedInstanceIdException: Get fenced exception for group.instance.id ledger-0, current member.id is ledger-0-38a93ee2-e2c3-44ca-8bac-2d6096892062
{any}org.apache.kafka.common.errors.FencedInstanceIdException: {reason}{rest}
    fatal, the consumer ends\norg.apache.kafka.common.errors.FencedInstanceIdException: The broker rejected this static consumer since another consumer with the same group.instance.id has registered with a different member.id.
    ERROR 3770 --- [      app-0-C-1] o.s.k.l.KafkaMessageListenerContainer    : 'group.instance.id' has been fenced\n\norg.apache.kafka.common.errors.FencedInstanceIdException: The broker rejected this static consumer since another consumer with the same group.instance.id has registered with a different member.id.
"""  # noqa: E501 (a log line is one line)
)

_LIBRDKAFKA = VOCABULARIES["librdkafka"].table(
    r"""
poll_timeout · 1.9-
{any}KafkaError{code=_MAX_POLL_EXCEEDED,val={any},str="{brief}"}{rest}
    pdf-render-p0: consumer error: KafkaError{code=_MAX_POLL_EXCEEDED,val=-147,str="Application maximum poll interval (6000ms) exceeded by 172ms"}
fenced · 1.9-
{any}KafkaError{code=_FATAL,val={any},str="Fatal error: Broker: Static consumer fenced {brief}"}{rest}
    rd-fenced-a: consumer error: KafkaError{code=_FATAL,val=-150,str="Fatal error: Broker: Static consumer fenced by other consumer with same group.instance.id: Fatal consumer error: Broker: Static consumer fenced by other consumer with same group.instance.id"}
commit_failed · 1.9-
{any}KafkaError{code={any},val={any},str="Commit failed: {brief}"}{rest}
    price-feed-z: commit in batch failed\nTraceback (most recent call last):\n  File "/app/incident_client.py", line 35, in commit\ncimpl.KafkaException: KafkaError{code=UNKNOWN_MEMBER_ID,val=25,str="Commit failed: Broker: Unknown member"}
    KafkaError{code=_ASSIGNMENT_LOST,val=-142,str="Commit failed: Local: Group partition assignment lost"}
commit_failed · 2.16-
{any}KafkaError{code={any},val={any},str="Failed to commit offsets to transaction {brief}"}{rest}
    cimpl.KafkaException: KafkaError{code=ILLEGAL_GENERATION,val=22,str="Failed to commit offsets to transaction on broker 127.0.0.1:21392/1: a((null))[2](Broker: Specified group generation id is not valid), a((null))[3](Broker: Specified group generation id is not valid) (after 1ms)"}
"""  # noqa: E501 (a log line is one line)
)

_KAFKA_PYTHON = VOCABULARIES["kafka-python"].table(
    r"""
fenced · 3.0-
{any}\nkafka.errors.FencedInstanceIdError: {any}Got fenced exception for group_instance_id {group_instance_id}
    kp-fenced-a: poll failed\nTraceback (most recent call last):\nkafka.errors.FencedInstanceIdError: [Error 82] FencedInstanceIdError: Got fenced exception for group_instance_id kp-0
commit_failed · 2.2-
{any}\nkafka.errors.CommitFailedError: {reason}{rest}
    kp-busy-b: commit in batch failed\nTraceback (most recent call last):\nkafka.errors.CommitFailedError: CommitFailedError: [Error 25] UnknownMemberIdError
    kp-busy-b: commit in batch failed\nTraceback (most recent call last):\nkafka.errors.CommitFailedError: CommitFailedError: Offset commit cannot be completed since the consumer is not part of an active group for auto partition assignment; it is likely that the consumer was kicked out of the group.
{any}\nkafka.errors.RebalanceInProgressError: {any}Offset commit {reason}{rest}
    kp-busy-b: commit in batch failed\nTraceback (most recent call last):\nkafka.errors.RebalanceInProgressError: [Error 27] RebalanceInProgressError: Offset commit cannot be completed since the consumer is undergoing a rebalance for auto partition assignment. You can try completing the rebalance by calling poll() and then retry the operation.
"""  # noqa: E501 (a log line is one line)
)

_AIOKAFKA = VOCABULARIES["aiokafka"].table(
    r"""
commit_failed · 0.10-
{any}\naiokafka.errors.CommitFailedError: {reason}{rest}
    aio-busy-b: commit in batch failed\nTraceback (most recent call last):\naiokafka.errors.UnknownMemberIdError: [Error 25] UnknownMemberIdError: dispatch-a\n\nThe above exception was the direct cause of the following exception:\n\nTraceback (most recent call last):\naiokafka.errors.CommitFailedError: CommitFailedError: ('Commit cannot be completed since the group has already
"""  # noqa: E501 (a log line is one line)
)

_FRANZ_GO = VOCABULARIES["franz-go"].table(
    r"""
rebalance_failed · 1.15-
{any}unable to join group session: {reason}
    franz-busy-b ERROR fetch error topic= partition=0 err=unable to join group session: UNKNOWN_MEMBER_ID: The coordinator is not aware of this member.
commit_failed · 1.15-
{any}ommit{any}{named_error}
    franz-stale-z ERROR worker: commit of batch failed generation=1 err=ILLEGAL_GENERATION: Specified group generation id is not valid.
    franz118-f1 ERROR commit failed err=FENCED_INSTANCE_ID: The broker rejected this static consumer since another consumer with the same group.instance.id has registered with a different member.id.
"""  # noqa: E501 (a log line is one line)
)

_SARAMA = VOCABULARIES["sarama"].table(
    r"""
commit_failed · 1.38-
{any}kafka: error while consuming {one_behind_slash}: kafka server: {reason}
    pdf-stamp-p0 Error from consumer group: kafka: error while consuming images/2: kafka server: The provided member is not known in the current generation
{any}ommit{any}kafka server: {reason}
    sarama-stale-z worker: commit of batch failed: kafka server: The provided generation id is not the current generation
fenced · 1.38-
{any}kafka server: The broker rejected this static consumer {reason}
    sarama-fenced-a Error from Consume: kafka server: The broker rejected this static consumer since another consumer with the same group.instance.id has registered with a different member.id
"""  # noqa: E501 (a log line is one line)
)

APPLICATIONS: tuple[Template[ClientEvent], ...] = (
    *_JAVA,
    *_LIBRDKAFKA,
    *_KAFKA_PYTHON,
    *_AIOKAFKA,
    *_FRANZ_GO,
    *_SARAMA,
)
"""All templates; the first that fits is taken."""

MARKERS = (
    "CommitFailedE",
    "RebalanceInProgressE",
    "InconsistentGroupProtocolE",
    "FencedInstanceIdE",
    "KafkaError{code=",
    "kafka server: ",
    "unable to join group session: ",
    "err=ILLEGAL_GENERATION",
    "err=UNKNOWN_MEMBER_ID",
    "err=FENCED_INSTANCE_ID",
)
"""An application's line that holds none of these tells nothing of a group."""
