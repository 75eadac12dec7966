r"""Lines of Sarama's own logger; seen of 1.38, 1.43 and 1.61.

It is silent where a heartbeat or a commit is refused: that comes out of `Errors()` and `Consume()`, which applications
log (`applications`).
"""

from __future__ import annotations

from transforms.loglines.clients.fields import VOCABULARIES

SARAMA = VOCABULARIES["sarama"].table(
    r"""
coordinator_discovered · 1.38-
client/coordinator coordinator for {group_id} is #{rest}
    client/coordinator coordinator for pdf-stamp is #1 (127.0.0.1:21092)
coordinator_lookup_failed · 1.38-
client/coordinator request to broker {any} failed: {reason}
    client/coordinator request to broker 127.0.0.1:22392 failed: dial tcp 127.0.0.1:22392: connect: connection refused
client/coordinator coordinator for {group_id} is {not_available}
    client/coordinator coordinator for sarama138-auto is not available
client/coordinator {no_broker}
    client/coordinator no available broker to send consumer metadata request to
revoked · 1.38-
consumergroup/session/{member_id}/{generation} released
    consumergroup/session/pdf-stamp-p0-53b9fff3-7a9d-4ec3-b8a7-db0378d669f1/1 released
fenced · 1.38-
JoinGroup failed: group instance id {group_instance_id} has been fenced
    JoinGroup failed: group instance id sarama-0 has been fenced

ignored · 1.38-
consumergroup/session/{any} heartbeat loop stopped
    consumergroup/session/pdf-stamp-p1-d6a6179d-6f10-485d-8a2d-af6a5f25de70/1 heartbeat loop stopped
consumergroup/{any} loop check partition number {rest}
    consumergroup/sarama-busy loop check partition number goroutine will exit, topics [a]
    consumergroup/sarama138-auto loop check partition number coroutine will exit, topics [t]
client/coordinator requesting coordinator for {rest}
    client/coordinator requesting coordinator for pdf-stamp from 127.0.0.1:21092
client/coordinator retrying after {rest}
    client/coordinator retrying after 250ms... (3 attempts remaining)
"""
)
