"""Which broker coordinated a group when, by its log, and what one answers that does not, or not yet.

A broker that is loading the group's partition knows nothing of the group. Most APIs say so (14), two never do, for the
sake of old clients: a Heartbeat is let pass, and the old coordinator sends a SyncGroup back to JoinGroup.
Sources: GroupCoordinator.validateGroupStatus and GroupMetadataManager.loadGroupsAndOffsets (Scala),
GroupCoordinatorService.heartbeat and CoordinatorRuntime.scheduleLoadOperation (Java).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from math import inf
from operator import itemgetter

from msgspec import Struct, field
from msgspec.structs import replace

from schemas.rows import CoordinatorEventRow
from transforms.coordinator.evidence.tolerances import HEARS_WITHIN_MS, LINE_MS
from transforms.coordinator.kafka.answers import Error

LOADING = Error.COORDINATOR_LOAD_IN_PROGRESS

_HIGHEST = max(Error)
"""Sorts behind every change of its moment."""

LOAD_EVENTS: dict[str, dict[str, Error]] = {
    "coordinator_elected": {},
    "load_scheduled": {"java": LOADING},
    "load_finished": {"java": Error.NONE, "scala": Error.NONE},
    "load_failed": {"java": Error.NOT_COORDINATOR, "scala": Error.NONE},
    "coordinator_kept": {"java": Error.NONE},
    "coordinator_resigned": {"java": Error.NOT_COORDINATOR, "scala": Error.NOT_COORDINATOR},
    "unload_scheduled": {"java": Error.NOT_COORDINATOR, "scala": Error.NOT_COORDINATOR},
    "unload_finished": {"java": Error.NOT_COORDINATOR, "scala": Error.NOT_COORDINATOR},
}
"""Events of a partition's coordinator: by dialect, what the broker answers from then on for the partition's groups.

NONE = it asks the group. Where a dialect is missing nothing changes: the old coordinator loads one partition after the
other, and is not the coordinator until the turn has come to this one; a partition that it cannot load it owns all the
same. The new one that has a partition loaded already keeps it as it is. Up to 2.7, whose lines tell no epochs, a
partition is being loaded as soon as that is scheduled. Source: GroupMetadataManager.scheduleLoadGroupAndOffsets.
"""

BROKER_LIFE = frozenset({"coordinator_started", "coordinator_stopped"})
"""Events after which a broker coordinates nothing until it has loaded it."""

COORDINATOR_EVENTS = frozenset(LOAD_EVENTS) | BROKER_LIFE
"""Events that change what a broker answers for the partition's groups."""

ENDS_A_REIGN = frozenset({"coordinator_resigned", "unload_scheduled"}) | BROKER_LIFE
"""Events by which a broker ends its own time."""

_BEGINS_AN_EPOCH = frozenset({"coordinator_elected", "load_scheduled"})
_ENDS_AN_EPOCH = frozenset({"unload_finished"}) | BROKER_LIFE
"""Not when it resigns: what it had begun to load it finishes first."""

_KEPT = "coordinator_kept"

_HAD_IT_BEFORE = frozenset({"coordinator_resigned", "unload_scheduled", "unload_finished", "coordinator_stopped"})
"""A broker whose log begins with one of these had the partition before."""

WHILE_LOADING: dict[tuple[str, str], Error] = {
    ("Heartbeat", "java"): Error.NONE,
    ("Heartbeat", "scala"): Error.NONE,
    ("SyncGroup", "scala"): Error.REBALANCE_IN_PROGRESS,
}
"""Answers, by API and dialect, that do not tell that the partition is being loaded."""


_MEMORY_MS = 60_000.0
"""How long a change is remembered: a request that waits is judged when it comes, so nothing asks further back."""


class Ownership(Struct, array_like=True):
    """What each broker answers for a group's partition.

    Attributes:
        partition: that one; until the group shows where it lives, the first that lines tell of; None = none has yet.
        elsewhere: by any other partition in which the group lived, or may live, the same of that.
        changes: by broker, moments and answers from then on, in order; what held long ago has moment -inf.
        dialects: by broker, the dialect that its lines were last in.
        asks_since: by broker, since when it asks the group, and nothing later is known of it; infinite = it does not.
        epochs: by broker that was elected and has not given the partition up, the epoch that it was elected in.
        elected_at: by such a broker, where its lines tell no epoch, the moment of it.
        outdated: by broker, the last stretch of time in which it took itself for the coordinator in an epoch that was
            over, as another was in a later one.
    """

    partition: int | None = None
    elsewhere: dict[int, Ownership] = field(default_factory=dict)
    changes: dict[str, list[tuple[float, Error]]] = field(default_factory=dict)
    dialects: dict[str, str] = field(default_factory=dict)
    asks_since: dict[str, float] = field(default_factory=dict)
    epochs: dict[str, int] = field(default_factory=dict)
    elected_at: dict[str, float] = field(default_factory=dict)
    outdated: dict[str, tuple[float, float]] = field(default_factory=dict)

    def notice(self, row: CoordinatorEventRow, dialect: str) -> None:
        """Take a line about the coordinator of a partition, or about a broker (`COORDINATOR_EVENTS`); in order of time.

        Args:
            row: the line.
            dialect: the broker's dialect, where the line does not tell its own.
        """
        partition = row.topic_partition_of_group
        if self.partition is None:
            self.partition = partition
        if partition in (None, self.partition):
            self._notice(row, dialect)
        if partition is None:
            for each in self.elsewhere.values():
                each._notice(row, dialect)
        elif partition != self.partition:
            self.elsewhere.setdefault(partition, Ownership(partition))._notice(row, dialect)

    def move_to(self, partition: int) -> bool:
        """Take that the group lives in a partition; return whether what was taken for its own was another's."""
        if self.partition in (None, partition):
            self.partition = partition
            return False
        there = self.elsewhere.pop(partition, Ownership(partition))
        elsewhere = {**self.elsewhere, self.partition: replace(self, elsewhere={})}
        for name in self.__struct_fields__:
            setattr(self, name, getattr(there, name))
        self.elsewhere = elsewhere
        return True

    def is_of(self, line: CoordinatorEventRow) -> bool:
        """Whether a line about a coordinator, or about a broker, concerns the partition that the group lives in."""
        return line.topic_partition_of_group in (None, self.partition)

    def _notice(self, row: CoordinatorEventRow, dialect: str) -> None:
        """Take a line about the partition's coordinator, or about a broker.

        A broker whose log begins with giving the partition up had it before, any other had not.
        """
        if self._is_overtaken(row):
            return
        self.dialects[row.broker] = row.dialect or dialect
        self._notice_epoch(row)
        before = Error.NONE if row.event in _HAD_IT_BEFORE else Error.NOT_COORDINATOR
        changes = self.changes.setdefault(row.broker, [(-inf, before)])
        if row.event == _KEPT and changes[-1][1] is not Error.NONE:
            changes[:] = [(-inf, Error.NONE)]  # it had loaded it before its log begins
        has_it = changes[-1][1] is Error.NONE
        changes.extend(_changes(row, row.dialect or dialect, has_it))
        changes.sort(key=itemgetter(0))
        self._forget(changes, (row.logged_at or 0.0) - _MEMORY_MS)
        since, answer = changes[-1]
        self.asks_since[row.broker] = since if answer is Error.NONE else inf

    def _is_overtaken(self, row: CoordinatorEventRow) -> bool:
        """Whether a broker is through with giving up what it was elected for once more by then."""
        epoch = _epoch_of(row)
        return row.event == "unload_finished" and epoch is not None and epoch < self.epochs.get(row.broker, epoch)

    def _notice_epoch(self, row: CoordinatorEventRow) -> None:
        """Take in which epoch a broker coordinates the group, or that it does no more.

        A broker that starts reads the cluster's metadata from where it left off, and is elected once more in what it
        reads, until it comes to what happened while it was away. One that stood still goes on in its epoch until it
        hears that another was elected. Source: BrokerMetadataPublisher (KRaft).
        """
        broker, at = row.broker, row.logged_at or 0.0
        if row.event in _ENDS_AN_EPOCH:
            self.epochs.pop(broker, None)
            self.elected_at.pop(broker, None)
            self._is_up_to_date(broker, at)
        epoch = _epoch_of(row)
        if epoch is None:
            self._notice_moment(row, at)
            return
        if row.event in _BEGINS_AN_EPOCH:
            if any(epoch < each for other, each in self.epochs.items() if other != broker):
                self.outdated[broker] = (at, inf)
            else:
                self.epochs[broker] = epoch
                self._is_up_to_date(broker, at)
        elif row.event == "load_finished" and not self.is_outdated(broker, at):
            self._is_succeeded(self.epochs, epoch, at)

    def _notice_moment(self, row: CoordinatorEventRow, at: float) -> None:
        """Take the moment in which a broker was elected for its epoch, where lines do not tell that (up to 2.7).

        There is no metadata to read again: the controller tells a broker what it is at the time.
        """
        broker = row.broker
        if row.event in _BEGINS_AN_EPOCH:
            self.elected_at[broker] = at
            self._is_up_to_date(broker, at)
        elif row.event == "load_finished" and broker in self.elected_at and not self.is_outdated(broker, at):
            self._is_succeeded(self.elected_at, self.elected_at[broker], at)

    def _is_succeeded(self, elected: Mapping[str, float], by: float, at: float) -> None:
        """Take that whoever was elected before another one is behind, since that one has the partition."""
        for broker, number in elected.items():
            if number < by and not self.is_outdated(broker, at):
                self.outdated[broker] = (at, inf)

    def _is_up_to_date(self, broker: str, at: float) -> None:
        if self.is_outdated(broker, at):
            self.outdated[broker] = (self.outdated[broker][0], at)

    def is_outdated(self, broker: str, at: float) -> bool:
        """Whether a broker took itself for the coordinator at a moment when another was, elected after it."""
        since, until = self.outdated.get(broker, (inf, inf))
        return since <= at < until

    def tells_of_the_past(self, line: CoordinatorEventRow) -> bool:
        """Whether a line is of a broker that took itself for the coordinator, and was not."""
        if not self.outdated and not self.elsewhere:
            return False  # mostly
        there = self if self.is_of(line) else self.elsewhere.get(line.topic_partition_of_group or 0)
        return there is not None and there.is_outdated(line.broker, line.logged_at or 0.0)

    def stood_still(self, broker: str, at: float) -> bool:
        """Whether that was so at a moment, and for longer than it takes a broker that is well to hear of it."""
        if not self.is_outdated(broker, at):
            return False
        since, until = self.outdated[broker]
        return until - since > HEARS_WITHIN_MS

    def _forget(self, changes: list[tuple[float, Error]], before: float) -> None:
        last = bisect_right(changes, (before, _HIGHEST)) - 1
        if last > 0:
            changes[: last + 1] = [(-inf, changes[last][1])]

    def asks_for_sure_since(self, broker: str | None) -> float:
        """Return after which moment the broker asks the group all the time, as far as lines tell."""
        return self.asks_since.get(broker or "", -inf) + LINE_MS

    def is_settled(self, broker: str, since: float, until: float) -> bool:
        """Whether the broker asks the group all the time from one moment to the other, as far as lines tell."""
        if since > self.asks_for_sure_since(broker):
            return True
        changes = self.changes[broker]
        following = bisect_right(changes, (since - LINE_MS, _HIGHEST))
        is_asked = changes[following - 1][1] is Error.NONE
        return is_asked and (following == len(changes) or changes[following][0] > until + LINE_MS)

    def begins_to_ask(self, broker: str, since: float, until: float) -> float | None:
        """Return when a broker that does not ask the group at a moment does, up to another; None if it does not.

        A line is of any moment of its millisecond.
        """
        if since >= self.asks_since.get(broker, -inf) + LINE_MS:
            return None
        changes = self.changes[broker]
        following = bisect_right(changes, (since - LINE_MS, _HIGHEST))
        if changes[following - 1][1] is Error.NONE:
            return None
        return next((at for at, answer in changes[following:] if answer is Error.NONE and at <= until), None)

    def is_out(self, broker: str, at: float) -> bool:
        """Whether a broker certainly did not coordinate the group at a moment."""
        if self.is_settled(broker, at, at):
            return False
        answers = self.answers(broker, "", at, at)
        return bool(answers) and None not in answers

    def answers(self, broker: str, api: str, since: float, until: float) -> list[Error | None]:
        """Return what a broker can have answered that took a request up and answered it at these moments.

        None stands for the group's own answer. Empty where no line tells of the broker.
        """
        changes = self.changes.get(broker)
        if not changes:
            return []
        first = bisect_right(changes, (since - LINE_MS, _HIGHEST))
        last = bisect_right(changes, (until + LINE_MS, _HIGHEST))
        met = dict.fromkeys(answer for _, answer in changes[first - 1 : last])
        return [self._as_told(broker, api, answer) for answer in met]

    def _as_told(self, broker: str, api: str, answer: Error) -> Error | None:
        if answer is LOADING:
            return WHILE_LOADING.get((api, self.dialects[broker]), LOADING)
        return None if answer is Error.NONE else answer


def may_have_asked(answers: Sequence[Error | None], observed: int) -> bool:
    """Whether an answer that is no refusal may be the group's own: it was asked for a time, or lines are missing.

    Args:
        answers: what the broker can have answered, by `Ownership.answers`.
        observed: what it did answer.
    """
    return None in answers or (Error.NOT_COORDINATOR in answers and observed not in answers)


def _changes(row: CoordinatorEventRow, dialect: str, has_it: bool) -> Iterator[tuple[float, Error]]:
    """Yield what a broker answers from when on; one that has the partition loaded is asked to load it for nothing."""
    at = float(row.logged_at or 0.0)
    if row.event == "load_scheduled" and dialect == "java" and has_it:
        return
    if row.event == "load_scheduled" and dialect == "scala" and _epoch_of(row) is None:
        yield at, LOADING
    if row.event == "load_finished" and dialect == "scala":
        duration = _milliseconds(row, "duration_ms") - _milliseconds(row, "scheduler_ms")
        yield at - duration, LOADING
    answer = Error.NOT_COORDINATOR if row.event in BROKER_LIFE else LOAD_EVENTS[row.event].get(dialect)
    if answer is not None:
        yield at, answer


def _epoch_of(row: CoordinatorEventRow) -> int | None:
    """Return the epoch that a line tells; None = it tells none."""
    return _number(row, "epoch")


def _milliseconds(row: CoordinatorEventRow, name: str) -> int:
    return _number(row, name) or 0


def _number(row: CoordinatorEventRow, name: str) -> int | None:
    text = (row.attributes or {}).get(name, "")
    return int(text) if text.isdigit() else None
