"""What one row of the pattern tables says."""

from __future__ import annotations

from dataclasses import dataclass, field

from schemas.coordinator_events import EVENTS
from transforms.loglines.template import Matcher, compile_template

IGNORED = "ignored"
"""Event of a known line that says nothing which a record, a request or another line does not say better."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """One log line of a coordinator.

    Attributes:
        event: event that the line tells, out of `schemas.coordinator_events`, or `IGNORED`.
        versions: Kafka versions that print it, first and last; the last version of the table's dialect may be
            left open ('3.7-').
        template: Kafka's text with fields, see `transforms.loglines.template`.
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


def table(event_rows: str) -> tuple[Pattern, ...]:
    """Read a pattern table, written down as blocks of lines.

    A block begins with `event · versions`; then lines come in pairs, a template and below it, indented, a sample.
    Several pairs under one heading are variations of one line. Order matters: the first that fits is taken.
    """
    patterns: list[Pattern] = []
    event = versions = template = ""
    for line in event_rows.splitlines():
        if not line.strip():
            continue
        if line.startswith("    "):
            patterns.append(Pattern(event, versions, template, line[4:]))
        elif " · " in line:
            event, versions = line.split(" · ")
        else:
            template = line
    return tuple(patterns)
