"""Lines of Java's members of consumer, share and streams groups, against all log calls of those classes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from transforms.loglines.parse import parse_entry

LOGGED_AT = 1729827181123
RELEASES = Path(__file__).resolve().parents[3] / "data" / "loglines" / "templates_client_epochs.txt"
SHARE, STREAMS = "[ShareConsumer clientId=app-1, groupId=g1] ", "[Consumer clientId=app-1, groupId=g1] "

_TOLD_OTHERWISE = re.compile(
    r"OffsetFetch|pause flag|Found no committed|won't include|outbound buffer|Failing all unsent|Leaving newly assigned"
    r"|Interrupting reconciliation|completed callback|No action taken|Invoking task|unstable offsets|handling response"
    r"|when it got a fatal error|completed with an error"
)
"""What says nothing of a membership, or repeats what another line says better."""


def calls() -> Iterator[tuple[str, str, str]]:
    """Yield class, level and text of each log call, with something in its places."""
    of_class = ""
    for line in RELEASES.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            of_class = line.removeprefix("## ")
        elif not line.startswith("#"):
            _, level, text = line.split(" ", 2)
            api = "ShareGroupHeartbeatRequest" if of_class.startswith("Share") else "ConsumerGroupHeartbeatRequest"
            text = re.sub(r"^\{\} in", f"{api} failed because member c1 is unknown. in", text)
            text = re.sub(r"^\{\} (failed|regex)", rf"{api} \1", text)
            text = re.sub(r"(because of|OffsetCommit failed with) \{\}", r"\1 UNKNOWN_MEMBER_ID", text)
            yield of_class, level, text.replace("{}", "5").replace("\\n", "\n").replace("\\t", "\t")


CALLS = list(calls())


def read(message: str, prefix: str = STREAMS, of_class: str = "StreamsMembershipManager", level: str = "INFO") -> Any:
    logger = f"org.apache.kafka.clients.consumer.internals.{of_class}"
    rows = list(parse_entry(f"[2024-10-25 03:33:01,123] {level} {prefix}{message} ({logger})", LOGGED_AT))
    return rows[0] if rows else None


def test_the_list_is_whole() -> None:
    assert len(CALLS) > 150


@pytest.mark.parametrize(("of_class", "level", "message"), CALLS, ids=lambda value: value[:40])
def test_every_line_of_every_release_is_known(of_class: str, level: str, message: str) -> None:
    row = read(message, SHARE if of_class.startswith("Share") else STREAMS, of_class, level)
    assert (row is None) == (_TOLD_OTHERWISE.search(message) is not None)
    assert row is None or row.event != "unrecognised"


def test_a_member_of_a_streams_group_is_told_tasks() -> None:
    two = "[TaskId{subtopologyId=0, partitionId=1}, TaskId{subtopologyId=1, partitionId=1}]"
    block = (
        "Assigned tasks with local epoch 0 and group is ready\n\tMember:                        m-1\n"
        f"\tAssigned active tasks:         {two}\n"
        "\tOwned active tasks:            [TaskId{subtopologyId=0, partitionId=0}]\n"
    )
    row = read(block)
    assert (row.event, row.member_id, row.generation, row.partitions) == ("reconciling", "m-1", None, ["0-1", "1-1"])
    row = read("Assigning active tasks {}, standby tasks {}, and warm-up tasks {} to the member.")
    assert (row.event, row.partitions) == ("assigned", [])


@pytest.mark.parametrize(("prefix", "kind"), [(SHARE, "Share"), (STREAMS, "Streams")])
def test_refused_heartbeats_name_their_api_error_member_and_epoch(prefix: str, kind: str) -> None:
    told = f"{kind}GroupHeartbeatRequest failed for member m-1 because epoch 5 is fenced. in 0ms: boom"
    row = read(told, prefix, f"{kind}HeartbeatRequestManager")
    assert (row.api, row.error, row.member_id, row.generation) == (
        f"{kind}GroupHeartbeat",
        "FENCED_MEMBER_EPOCH",
        "m-1",
        5,
    )
    row = read(f"{kind}GroupHeartbeatRequest failed because member m-1 is unknown. in 0ms: boom", prefix)
    assert (row.event, row.api, row.error) == ("heartbeat_failed", f"{kind}GroupHeartbeat", "UNKNOWN_MEMBER_ID")
