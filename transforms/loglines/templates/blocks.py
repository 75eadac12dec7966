"""What one row of the pattern tables says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from schemas.coordinator_events import EVENTS
from transforms.loglines.templates.matching import Matcher, compile_template

IGNORED = "ignored"
"""Event of a known line that says nothing which a record, a request or another line does not say better."""


class HasMatcher(Protocol):
    """A row of a pattern table."""

    @property
    def matcher(self) -> Matcher:
        """What finds its lines."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """One log line of a coordinator.

    Attributes:
        event: event that the line tells, out of `schemas.coordinator_events`, or `IGNORED`.
        versions: Kafka versions that print it, first and last; the last version of the table's dialect may be
            left open ('3.7-').
        template: Kafka's text with fields, see `transforms.loglines.templates.matching`.
        sample: such a line as a broker prints it, without prefix and logger.
    """

    event: str
    versions: str
    template: str
    sample: str
    matcher: Matcher = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Compile the template; refuse an event that is not in the vocabulary."""
        if self.event != IGNORED and self.event not in EVENTS:
            raise ValueError(f"{self.event} is not an event")
        object.__setattr__(self, "matcher", compile_template(self.template))


def blocks(text: str) -> Iterator[tuple[list[str], str, str]]:
    """Yield heading, template and sample of each row of a pattern table, written down as blocks of lines.

    A block begins with `event · versions`; then lines come in pairs, a template and below it, indented, a sample.
    Several samples may follow one template, and several pairs one heading: they are variations of one line.
    """
    heading: list[str] = []
    template = ""
    for line in text.splitlines():
        if not line.strip():
            continue
        if line.startswith("    "):
            yield heading, template, line[4:]
        elif " · " in line:
            heading = line.split(" · ")
        else:
            template = line


def table(text: str) -> tuple[Pattern, ...]:
    """Read a table of coordinator lines, see `blocks`. Order matters: the first that fits is taken."""
    return tuple(Pattern(heading[0], heading[1], template, sample) for heading, template, sample in blocks(text))


Indexed = TypeVar("Indexed", bound=HasMatcher)


def index(patterns: tuple[Indexed, ...]) -> dict[str, tuple[Indexed, ...]]:
    """Return first word to the patterns that a message with it can match; "" for all other words."""
    anywhere = tuple(pattern for pattern in patterns if not pattern.matcher.first_word)
    words = dict.fromkeys(pattern.matcher.first_word for pattern in patterns)
    return {
        word: tuple(p for p in patterns if p.matcher.first_word == word) + anywhere if word else anywhere
        for word in (*words, "")
    }
