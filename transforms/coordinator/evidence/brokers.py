"""What is known of the brokers so far: their dialect, version and settings, as their logs and requests show them.

Knowledge grows: a broker prints its version and settings when it starts, its lines tell its dialect, requests that it
lets in widen the bounds that were assumed. Each broker is known apart, so that a cluster may be upgraded while it runs.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from schemas.rows import CoordinatorEventRow, GroupMetadataRow, GroupRequestRow, ModernGroupRecordRow
from transforms.coordinator.evidence.ownership import BROKER_LIFE
from transforms.coordinator.kafka.broker_settings import CoordinatorSettings, dialect_of_version
from transforms.coordinator.kafka.modern_rules import ModernRules
from transforms.coordinator.kafka.rules import Release, release_of

BROKER_EVENTS = frozenset({"broker_settings", "broker_version"}) | BROKER_LIFE
"""Events that concern every group of a broker."""

MARKER_GENERATION = 0
"""Only the Java coordinator writes a record of generation 0, when a classic group comes into being."""


_RELEASES_BY_RECORD: Final[tuple[tuple[int, str, bool, Release | None], ...]] = (
    (8, '"targetMemberEpoch"', True, (3, 7)),
    (4, '"topics"', True, (4, 0)),
    (9, '"topics"', True, (4, 0)),
    (11, '"metadataHash"', False, (4, 0)),
    (3, '"metadataHash"', True, None),
    (11, '"metadataHash"', True, None),
    (17, '"lastAssignmentConfigs"', False, (4, 1)),
    (17, '"lastAssignmentConfigs"', True, None),
)
"""Type of a record, words that its value has or has not, and the latest release that writes such; None = the latest."""


_LATEST_THAT_FENCES_JOINS: Final = (4, 1)


class Broker(Struct, array_like=True):
    """One broker.

    Attributes:
        spoken: dialect to number of lines in it.
        version: Kafka's version as printed at its start.
        scala: version of Scala that it was built with, as its class path shows where that is printed.
        is_starting: the class path was printed, with which a start begins, and not yet the version, with which it ends.
        printed: settings as printed at its start, by Kafka's names; None where it printed none.
        learned: settings that its own answers showed, by field of `CoordinatorSettings`.
    """

    spoken: dict[str, int] = field(default_factory=dict)
    version: str | None = None
    scala: str | None = None
    is_starting: bool = False
    printed: dict[str, str] | None = None
    learned: dict[str, int] = field(default_factory=dict)

    def take_build(self, told: dict[str, str]) -> None:
        """Take what a line of its start tells of the build."""
        if "scala" in told:
            self.scala, self.is_starting = told["scala"], True
        if "version" in told:
            if told["version"] != self.version and not self.is_starting:
                self.scala = None  # another build, which does not print its class path
            self.version, self.is_starting = told["version"], False


class Brokers(Struct, array_like=True):
    """The brokers of a cluster, as far as one group's evidence shows them.

    Attributes:
        by_name: the brokers.
        shown_dialect: dialect that a record or the form of a connection's name shows.
        shown_release: the latest release that can have written the group's records of newer protocols, where they show.
        fences_joins: a member that joined again was fenced, as none is since 4.2.
        settings: by broker, what follows from all that; worked out when it is asked for.
    """

    by_name: dict[str, Broker] = field(default_factory=dict)
    shown_dialect: str | None = None
    shown_release: Release | None = None
    fences_joins: bool = False
    settings: dict[str, CoordinatorSettings] = field(default_factory=dict)

    def of(self, name: str | None) -> CoordinatorSettings:
        """Return the settings of a broker; of one that is not known, what most brokers would have."""
        known = self.settings.get(name or "")
        if known is None:
            known = self.settings[name or ""] = self._settings(self.by_name.get(name or ""))
        return known

    def are_printed(self, name: str) -> bool:
        """Whether a broker printed its settings; else they are Kafka's defaults, bent to what it let in."""
        own = self.by_name.get(name)
        return (own is not None and own.printed is not None) or self._printed(own) is not None

    def learn(self, name: str, **found: int) -> CoordinatorSettings:
        """Take settings that a broker's own answer shows; return all of them."""
        self._broker(name).learned.update(found)
        self.settings.clear()
        return self.of(name)

    def learn_room(self, member_count: int) -> None:
        """Take it that a group had so many members: nobody who was thought to allow fewer does."""
        for broker in self.by_name.values():
            if broker.learned.get("max_size", member_count) < member_count:
                broker.learned["max_size"] = member_count
                self.settings.clear()

    # --- what is noticed -----------------------------------------------------------------------------------------

    def notice_line(self, row: CoordinatorEventRow) -> None:
        """Take what a line tells of its broker."""
        broker = self._broker(row.broker)
        if row.event == "coordinator_started":
            broker.spoken = {}  # it may have started with the other coordinator
        if row.dialect is not None:
            count = broker.spoken[row.dialect] = broker.spoken.get(row.dialect, 0) + 1
            if count == 1 or len(broker.spoken) > 1:
                self.settings.clear()
        if row.event == "broker_version":
            broker.take_build(row.attributes or {})
            self.settings.clear()
        elif row.event == "broker_settings":
            broker.printed = CoordinatorSettings.relevant(row.attributes or {})
            broker.learned.clear()
            self.settings.clear()

    def notice_record(self, row: GroupMetadataRow) -> None:
        """Take what a record tells of its writer."""
        if row.generation == MARKER_GENERATION and not row.members:
            self._show("java")

    def notice_modern(self, row: ModernGroupRecordRow) -> None:
        """Take what a record of a newer protocol tells of its writer's release."""
        body = row.body or ""
        for type_id, words, are_there, release in _RELEASES_BY_RECORD:
            if row.record_type == type_id and body and (words in body) == are_there:
                if self.shown_release != release:
                    self.shown_release = release
                    self.settings.clear()
                return

    def learns_that_joins_are_fenced(self, name: str) -> bool:
        """Take it that joins are fenced, unless that is known; return whether it was not."""
        if not ModernRules(self.of(name).rules.release).lets_rejoin or self.is_release_told:
            return False
        self.fences_joins = True
        self.settings.clear()
        return True

    @property
    def is_release_told(self) -> bool:
        """Whether some broker told its version."""
        return any(broker.version is not None for broker in self.by_name.values())

    @property
    def releases(self) -> list[Release]:
        """The releases that brokers told, each once."""
        told = (release_of(broker.version) for broker in self.by_name.values())
        return list(dict.fromkeys(release for release in told if release is not None))

    def notice_request(self, row: GroupRequestRow) -> None:
        """Take what the name of a connection tells: Kafka 4 adds the number of the processor to it."""
        if self.shown_dialect is None and row.connection:
            # local:port-remote:port-processor-index
            self._show("java" if row.connection.count("-") >= 3 else "scala")

    def _show(self, dialect: str) -> None:
        if self.shown_dialect is None:
            self.shown_dialect = dialect
            self.settings.clear()

    def _broker(self, name: str) -> Broker:
        broker = self.by_name.get(name)
        if broker is None:
            broker = self.by_name[name] = Broker()
        return broker

    def _settings(self, broker: Broker | None) -> CoordinatorSettings:
        """What holds at a broker; what is not known of it is taken from the others of its cluster."""
        broker = broker or Broker()
        everywhere: dict[str, int] = {}
        for each in self.by_name.values():
            for dialect, count in each.spoken.items():
                everywhere[dialect] = everywhere.get(dialect, 0) + count
        known = (broker, *self.by_name.values())
        built = next((each for each in known if each.version is not None), broker)
        dialect = (
            dialect_of_version(broker.version)
            or _most_spoken(broker.spoken)
            or _most_spoken(everywhere)
            or dialect_of_version(built.version)
            or self.shown_dialect
            or "java"
        )
        shown = self.shown_release or (_LATEST_THAT_FENCES_JOINS if self.fences_joins else None)
        printed = self._printed(broker) or {}
        settings = _settings_of(dialect, built.version, built.scala, shown, tuple(printed.items()))
        return replace(settings, **broker.learned) if broker.learned else settings

    def _printed(self, broker: Broker | None) -> dict[str, str] | None:
        known = (broker, *self.by_name.values())
        return next((each.printed for each in known if each is not None and each.printed is not None), None)


@lru_cache(maxsize=256)  # every group of a cluster meets the same brokers
def _settings_of(
    dialect: str, version: str | None, scala: str | None, shown: Release | None, printed: tuple[tuple[str, str], ...]
) -> CoordinatorSettings:
    return CoordinatorSettings(dialect=dialect).of_build(version, scala, shown).updated(dict(printed))


def _most_spoken(spoken: dict[str, int]) -> str | None:
    if len(spoken) <= 1:
        return next(iter(spoken), None)
    return max(sorted(spoken), key=spoken.__getitem__)
