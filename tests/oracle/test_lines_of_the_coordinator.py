"""Kafka's own classes tell what a coordinator can log: there is a template for each line of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.oracle.log_calls import GAP, can_read_classes, fits, formats
from tests.support.kafka_broker import class_path
from transforms.loglines.broker.dialects import LOGGERS
from transforms.loglines.broker.tables import LINES, TEMPLATES

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not can_read_classes(), reason="no JDK on the path")]

VALUES = ("__consumer_offsets-13", "5", "g1")

NONE = (("3.0.2", "java"), ("4.0.0", "scala"), ("4.2.0", "scala"))
"""Releases without a coordinator that speaks so."""

RELEASES = (
    "4.2.0",
    "3.9.1",
    *(pytest.param(each, marks=pytest.mark.long) for each in ("4.0.0", "3.7.2", "3.6.2", "3.0.2")),
)
"""The newest of both coordinators, and some in which they were new or otherwise."""

WITH_LOGGERS_OF_THEIR_OWN = frozenset({"EventBasedCoordinatorTimer"})

NOT_LOGGED = (
    "Cannot transition from", "Coordinator loader is already", "Coordinator must be active", "HighWatermarkUpdate",
    "Load coordinator from", "New committed offset", "New offset", "Transitioning to", "[{} topic=", "all partitions",
    "consumer={}", "not provided", "{}-regex",
)  # fmt: skip
"""Beginnings of what is thrown, or is a name or a part of a line: it stands where what is logged stands, too."""


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("dialect", TEMPLATES)
def test_every_line_that_the_classes_of_a_coordinator_can_log_has_a_template(release: str, dialect: str) -> None:
    names = [name for name, speaks in LOGGERS.items() if speaks == dialect]
    told = formats(Path(class_path(release)).parent, names, WITH_LOGGERS_OF_THEIR_OWN)
    logged = {each for each in told if not any(fits(each, f"{begin}{{}}") for begin in NOT_LOGGED)}
    assert {each for each in logged if each and not is_known(dialect, each)} == set()
    assert len(logged) > 50 or (release, dialect) in NONE, "what was read of the classes?"


def is_known(dialect: str, text: str) -> bool:
    """Whether a sample is of a format, or what comes of it with some values is read."""
    if any(fits(sample, text) for template in TEMPLATES[dialect] for sample in template.samples):
        return True
    return any(LINES[dialect].read(text.strip().replace(GAP, value)) is not None for value in VALUES)
