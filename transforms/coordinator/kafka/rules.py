"""The rules of the coordinator that not all releases have, as one table: since when, and until when.

Each was read in GroupCoordinator, GroupMetadata and MemberMetadata of the releases on both sides of it. A release that
is not known is taken to be the latest. Those of the newer protocols stand in `modern_rules`.
"""

from __future__ import annotations

import re

from msgspec import Struct

Release = tuple[int, ...]

FIRST: Release = (0,)
LATEST: Release = (1_000,)
BEYOND: Release = (1_001,)
LATEST_READ: Release = (4, 2)
"""The latest release whose coordinator was read; later ones are taken to be like it."""

SCALA_2_12 = "2.12"


class Rule:
    """A line of the table.

    Args:
        since: the first release with the rule.
        until: the first one without it again.
        taken_back: an earlier branch that has it too: the first of its releases with the rule, and the next branch.
    """

    def __init__(
        self,
        since: Release = FIRST,
        until: Release | None = None,
        taken_back: tuple[Release, Release] | None = None,
    ) -> None:
        self._spans = [(since, until or BEYOND), *([taken_back] if taken_back else [])]
        self._name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        """Take the rule's name."""
        self._name = name

    def __get__(self, rules: OfRelease, owner: type) -> bool:
        """Whether the release has the rule; looked up once, for it is asked at every request."""
        has = any(since <= rules.release < until for since, until in self._spans)
        rules.__dict__[self._name] = has
        return has


class OfRelease(Struct, frozen=True, dict=True, array_like=True):
    """What hangs on a release.

    Attributes:
        release: Kafka's version, as far as numbers go.
    """

    release: Release = LATEST

    @property
    def is_beyond_read(self) -> bool:
        """Whether the release is told, and later than all whose coordinator was read."""
        return self.release != LATEST and self.release[: len(LATEST_READ)] > LATEST_READ


class Rules(OfRelease, frozen=True, dict=True, array_like=True):
    """The rules that hold at a broker.

    Attributes:
        scala: version of Scala that the broker was built with, such as "2.12"; None = the one that Kafka recommends
            for the release.
    """

    scala: str | None = None

    heartbeats_await_sync = Rule(until=(2, 6, 1))
    """A Heartbeat in CompletingRebalance is refused as in a rebalance."""

    heartbeats_await_sync_of_all = Rule(until=(2, 3))
    """… whatever its generation."""

    commits_await_sync = Rule(until=(2, 4))
    """A commit in CompletingRebalance is refused as in a rebalance, whoever it is of."""

    trusts_transactions = Rule(until=(2, 5))
    """A commit in a transaction is let in, whoever it is of."""

    tools_are_nameless = Rule((3, 0), (3, 3))
    """A commit without a generation is let into an Empty group only if it names no member either."""

    expires_pending_sync = Rule((2, 8, 1))
    """Members that never sync are removed (KAFKA-12890)."""

    stumbles_over_replaced = Rule((2, 8, 1), (3, 0))
    """… but if a static member got a new id before it had synced, the coordinator fails as it looks for the old one,
    and those that never sync stay."""

    knows_instances_strictly = Rule((3, 0))
    """An instance id that nobody has is refused wherever one is given; before, in a JoinGroup alone."""

    counts_joiners = Rule((2, 6))
    """A full join phase is one in which group.max.size members wait; before, the group itself has to be full, only
    joiners without an id are refused, and members beyond the size are put out as they rejoin."""

    turns_away_pending = Rule((3, 0))
    """A join that is refused for the size takes back the id that was given out for it."""

    turns_away_instances = Rule((2, 3), (2, 8))
    """A join that is refused for the size drops its instance id, though somebody has it."""

    replaces_at_once = Rule((2, 3), (2, 6))
    """A static member that comes back in Stable takes its place without a rebalance and without a record, whatever
    protocols it brings."""

    replaces_while_completing = Rule((2, 3), (2, 5))
    """… and so does one that comes back in CompletingRebalance."""

    takes_new_timeouts = Rule((3, 3))
    """A member that joins again brings its session and rebalance timeouts anew."""

    stumbles_over_old_leaders = Rule((2, 5), (3, 3))
    """A leader that knows of no static members cannot be told of those that the group has: the coordinator fails in the
    midst of ending the join phase, and whoever was not answered yet waits on."""

    spares_new_members = Rule((2, 4, 1), (2, 5))
    """A member's session does not begin with the end of its first join phase, but with the first sign of life after it
    (until KAFKA-9752)."""

    recommends_scala_2_12 = Rule(until=(2, 6))
    """Kafka recommends the build with Scala 2.12, whose maps have another order."""

    @property
    def is_of_scala_2_12(self) -> bool:
        """Whether the broker was built with Scala 2.12; one with ZooKeeper prints with which."""
        return self.recommends_scala_2_12 if self.scala is None else self.scala == SCALA_2_12


_VERSION = re.compile(r"(?P<release>\d+(?:\.\d+)*)(?:-(?P<build>[a-z]+))?")

_CONFLUENT = frozenset({"ccs", "ce"})
_OF_CONFLUENT = {4: (1, 0), 5: (2, 0), 6: (2, 6), 7: (3, 0), 8: (4, 0)}
"""Major version of Confluent Platform, whose minor versions follow Kafka's: the release that its first one is.

Source: Confluent Platform, Supported Versions and Interoperability.
"""


def release_of(version: str | None) -> Release | None:
    """Return the release of Kafka that a broker prints as its version, such as "2.6.1"; None where that is not told.

    Who builds Kafka anew adds words behind it ("3.5.0.redhat-00001"), or counts in another way ("7.5.0-ccs").
    """
    told = _VERSION.match(version or "")
    if told is None:
        return None
    numbers = tuple(map(int, told["release"].split(".")))
    first = _OF_CONFLUENT.get(numbers[0]) if told["build"] in _CONFLUENT else None
    if first is None or len(numbers) == 1:
        return numbers
    major, minor = first
    return (major, minor + numbers[1], *numbers[2:])


def read_as(version: str | None) -> str | None:
    """Return the release as which a version is read that is newer than all that are known; None for any other."""
    release = release_of(version)
    if release is None or release[: len(LATEST_READ)] <= LATEST_READ:
        return None
    return ".".join(map(str, LATEST_READ))
