"""A cluster's worth of groups as brokers would have written of them: segment files, server logs and request logs.

A few groups are played by seed (`tests.support.incidents`): consumers of one service, of which one or the other is
closed and started again every few seconds. All other groups are namesakes of these: the same bytes and lines under
another name of the same length, in the partition of `__consumer_offsets` that their own name leads to. What is written
is cut into spans of time, as rotated logs are, so that in each file the groups stand side by side.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from aiokafka.record.default_records import DefaultRecordBatchBuilder

from schemas.records.classic_groups import OFFSET_COMMIT
from tests.support.incidents.paper import PARTITION_COUNT, Paper
from tests.support.incidents.service import SECOND, Group, a_group, a_setup
from tests.support.record_writer import key_bytes, value_bytes
from transforms.coordinator.kafka.java_hashing import offsets_partition

STORIES = 20
"""Groups that are played; the others are namesakes."""

MEMBERS = 5
SPAN_MS = 5 * SECOND
"""What a log file spans."""

BEGIN = 1_790_000_000_000.0
"""First moment of all groups; nothing may lie in the future."""

COMMIT_MS = 30 * SECOND
"""So often members commit."""

_EVERY_MS, _DOWN_MS = 10 * SECOND, 5 * SECOND
"""One member is closed so often, and down for so long: two generations each time."""

CLOSINGS_OF_A_RUN = 5
"""So often a member is closed until all of a group rest, if they do."""

_FIRST = 10
"""Number of the first service that is played: the names of all clients are of one length."""

_COMMITTED, _COMMIT_VERSION = 4, 3
"""Partitions that a group commits, and the version of the records."""

_PARTITION = b"partition=@@"
_BATCH_BYTES = 1 << 20
_RECORDS_OF_A_BATCH = 10


@dataclass
class Written:
    """What brokers wrote of a group in a span of time.

    Attributes:
        lines: by the name of the log.
        records: of `__consumer_offsets`: moment, key and value.
    """

    lines: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    records: list[tuple[int, bytes, bytes]] = field(default_factory=list)

    @property
    def pieces(self) -> int:
        """How many lines and records there are."""
        return len(self.records) + sum(map(len, self.lines.values()))


class RawPaper(Paper):
    """The evidence of one group as it lies on brokers' disks: nothing of it is read."""

    def __init__(self, group_id: str) -> None:
        super().__init__(group_id)
        self.written: dict[int, Written] = defaultdict(Written)

    def _read(self, text: str, at: float, file: str, broker: str | None) -> None:
        if broker is not None:
            said = text.replace(f"partition={self.partition}", _PARTITION.decode(), 1)
            self._at(at).lines[Path(file).name].append(said)

    def _take(self, at: float, key: bytes, value: bytes) -> None:
        self._at(at).records.append((int(at), key, value))

    def _at(self, at: float) -> Written:
        return self.written[int(at - BEGIN) // SPAN_MS]


def story(
    number: int,
    generations: int,
    seed: int,
    rest_ms: float = 0.0,
    members: int = MEMBERS,
    closings: int = CLOSINGS_OF_A_RUN,
) -> dict[int, Written]:
    """Play a group of about as many generations; return what was written of it, by span.

    Args:
        number: of the group that is played.
        generations: how many.
        seed: of the play.
        rest_ms: for so long all members are away after some generations, as those of a job are that runs by a
            schedule; 0 = never.
        members: how many the group has.
        closings: so often a member is closed until all of a group rest, if they do.
    """
    random = Random(f"{seed}/{number}")
    group, paper = _founded(number, random, members)
    keep_busy(group, random, generations, rest_ms, closings)
    return paper.written


def calm_story(number: int, seed: int, until: float) -> dict[int, Written]:
    """Play a group up to a moment whose members say that they live, and commit; return what was written of it, by span.

    Nobody comes or goes after one of them was closed and started again soon after the beginning.
    """
    group, paper = _founded(number, Random(f"{seed}/{number}"), MEMBERS)
    group.at(BEGIN + _EVERY_MS, group.members[0].close)
    group.at(BEGIN + _EVERY_MS + _DOWN_MS, group.members[0].start)
    group.world.run(until)
    return paper.written


def _founded(number: int, random: Random, members: int) -> tuple[Group, RawPaper]:
    setup = a_setup(random, session_ms=10 * SECOND, commit_ms=COMMIT_MS)
    group, _ = a_group("load", _FIRST + number, random, members, setup, BEGIN)
    group.world.group_id, paper = name(number, 0), RawPaper(name(number, 0))
    group.world.paper = paper
    return group, paper


def keep_busy(
    group: Group, random: Random, generations: int, rest_ms: float = 0.0, closings: int = CLOSINGS_OF_A_RUN
) -> None:
    """Play a group to its end in which one member after the other is closed and started again, as `story` does."""
    at = BEGIN + 2 * _EVERY_MS
    for count in range(1, generations // 2 + 1):
        member = random.choice(group.members)
        group.at(at, member.close)
        group.at(at + _DOWN_MS, member.start)
        at += _EVERY_MS * random.uniform(0.9, 1.1)
        if rest_ms and count % closings == 0:
            at = _rested(group, at, rest_ms)
    group.world.run(at)


def _rested(group: Group, at: float, rest_ms: float) -> float:
    """Close all members, start them again after a while, and return when the group is at work once more."""
    for member in group.members:
        group.at(at, member.close)
        group.at(at + rest_ms, member.start)
    return at + rest_ms + 2 * _EVERY_MS


def name(number: int, namesake: int) -> str:
    """Return a group's name; all are of one length."""
    return f"load-{number:02d}-{namesake:06d}"


def _renamed(raw: bytes, of: int, namesake: int) -> bytes:
    """Return bytes of a story as those of a namesake, whose clients have names of their own, too."""
    client = b"svc-%d-" % (_FIRST + of)
    return raw.replace(name(of, 0).encode(), name(of, namesake).encode()).replace(client, b"%06d-" % namesake)


def parted(
    stories: list[dict[int, Written]], share: float, among: Iterable[int] | None = None
) -> tuple[list[int], list[int]]:
    """Return the spans in which something is written, and apart the last of them, which hold about so much of it.

    Args:
        stories: what is written.
        share: how much of it.
        among: spans; None = all.
    """
    spans = sorted(set().union(*stories) if among is None else among)
    pieces = [sum(each[span].pieces for each in stories if span in each) for span in spans]
    count, rest = 0, share * sum(pieces)
    while rest > 0:
        count += 1
        rest -= pieces[-count]
    return spans[:-count], spans[-count:]


def write(
    root: Path, stories: list[dict[int, Written]], groups: Sequence[int], spans: Iterable[int], is_rotated: bool = True
) -> int:
    """Write what there is of some groups in some spans, below a folder; return how many lines and records these are.

    Each span has log files of its own; if logs are not rotated, what there is goes on.
    """
    logs = root / "logs" / "1"
    logs.mkdir(parents=True, exist_ok=True)
    return sum(_write_span(root, logs, stories, groups, span, f".{span:05d}" if is_rotated else "") for span in spans)


def write_commits(root: Path, groups: Sequence[int], at: float) -> int:
    """Append what some groups commit at about one moment (epoch ms), and nothing else; return how many records it is.

    They commit some partitions each, as consumers do who have nothing to tell but that they go on.
    """
    partitions = defaultdict[int, list[tuple[int, bytes, bytes]]](list)
    for number in groups:
        group_id = name(number % STORIES, number // STORIES)
        moment = int(at) + number % SECOND
        value = {"offset": int(at - BEGIN), "leaderEpoch": 0, "metadata": "", "commitTimestamp": moment}
        partitions[offsets_partition(group_id, PARTITION_COUNT)] += [
            (
                moment,
                key_bytes(OFFSET_COMMIT, {"group": group_id, "topic": "orders", "partition": partition}),
                value_bytes(OFFSET_COMMIT, value, _COMMIT_VERSION),
            )
            for partition in range(_COMMITTED)
        ]
    for partition, records in partitions.items():
        _append(root / "segments" / f"__consumer_offsets-{partition}", sorted(records, key=lambda record: record[0]))
    return sum(map(len, partitions.values()))


def _write_span(
    root: Path, logs: Path, stories: list[dict[int, Written]], groups: Sequence[int], span: int, ending: str
) -> int:
    pieces, partitions = 0, defaultdict[int, list[tuple[int, bytes, bytes]]](list)
    texts = [{log: ("\n".join(lines) + "\n").encode() for log, lines in each[span].lines.items()} for each in stories]
    files = {log: (logs / f"{log}{ending}").open("ab") for log in ("server.log", "kafka-request.log")}
    for number in groups:
        of, namesake = number % len(stories), number // len(stories)
        partition = offsets_partition(name(of, namesake), PARTITION_COUNT)
        for log, text in texts[of].items():
            files[log].write(_renamed(text, of, namesake).replace(_PARTITION, b"partition=%d" % partition))
        partitions[partition] += [
            (at, _renamed(key, of, namesake), _renamed(value, of, namesake))
            for at, key, value in stories[of][span].records
        ]
        pieces += stories[of][span].pieces
    for file in files.values():
        file.close()
    for partition, records in partitions.items():
        _append(root / "segments" / f"__consumer_offsets-{partition}", sorted(records, key=lambda record: record[0]))
    return pieces


def _append(folder: Path, records: list[tuple[int, bytes, bytes]]) -> None:
    """Append records to the segment of a partition, some to a batch."""
    folder.mkdir(parents=True, exist_ok=True)
    counted, segment = folder / "count", folder / f"{0:020d}.log"
    offset = int(counted.read_text()) if counted.exists() else 0
    counted.write_text(str(offset + len(records)))
    with segment.open("ab", buffering=1 << 20) as out:
        for start in range(0, len(records), _RECORDS_OF_A_BATCH):
            builder = DefaultRecordBatchBuilder(2, 0, 0, -1, -1, -1, _BATCH_BYTES)
            for index, (at, key, value) in enumerate(records[start : start + _RECORDS_OF_A_BATCH]):
                builder.append(index, at, key, value, [])
            out.write(struct.pack(">q", offset + start) + bytes(builder.build())[8:])
