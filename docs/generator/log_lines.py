"""Which lines of which version of Kafka and of the client libraries are known, from the tables of templates."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from docs.generator.markdown import code, codes, page, table
from schemas.client_events import EVENTS as CLIENT_EVENTS
from schemas.coordinator_events import EVENTS as COORDINATOR_EVENTS
from transforms.loglines.broker.dialects import LOGGERS
from transforms.loglines.broker.tables import TEMPLATES as BROKER
from transforms.loglines.clients.aiokafka import AIOKAFKA
from transforms.loglines.clients.franz_go import FRANZ_GO
from transforms.loglines.clients.kafka_python import KAFKA_PYTHON
from transforms.loglines.clients.librdkafka import LIBRDKAFKA
from transforms.loglines.clients.sarama import SARAMA
from transforms.loglines.clients.tables import TEMPLATES as JAVA_CONSUMER
from transforms.loglines.requests.apis import APIS
from transforms.loglines.templates.matching import IGNORED, Template

KAFKA = (
    *("0.11", "1.0", "1.1", "2.0", "2.1", "2.2", "2.3", "2.4", "2.5", "2.6", "2.7", "2.8"),
    *("3.0", "3.1", "3.2", "3.3", "3.4", "3.5", "3.6", "3.7", "3.8", "3.9", "4.0", "4.1", "4.2"),
)
"""Releases of Kafka that the tables of templates were made from."""

_DIALECTS = {
    "scala": "Brokers up to 3.9: the coordinator written in Scala",
    "java": "Brokers from 3.6 (opt-in until 4.0): the coordinator written in Java",
}
_LIBRARIES: dict[str, Sequence[Template[Any]]] = {
    "librdkafka and what wraps it": LIBRDKAFKA,
    "kafka-python": KAFKA_PYTHON,
    "aiokafka": AIOKAFKA,
    "franz-go": FRANZ_GO,
    "Sarama": SARAMA,
}
_VERSIONS = re.compile(r"([\d.]+)(-?)([\d.]*)")


def log_lines() -> str:
    """Return the page."""
    parts = [
        "A line is known by a template: Kafka's own text with named fields, the versions that print it, and a sample "
        "that is checked when the template is loaded. A line of a coordinator that no template fits is kept as the "
        "event `unrecognised`, with its text. A number is how many texts of that release tell the event; · is none.",
    ]
    for dialect, templates in BROKER.items():
        loggers = codes(logger for logger, of in LOGGERS.items() if of == dialect)
        last = KAFKA.index("3.9") + 1 if dialect == "scala" else len(KAFKA)
        first = KAFKA.index("3.6") if dialect == "java" else 0
        parts.append(f"## {_DIALECTS[dialect]}\n{len(templates)} templates, of the loggers {loggers}.")
        parts.append(_matrix(templates, KAFKA[first:last], COORDINATOR_EVENTS))
    parts.append(f"## Java consumers, Connect, Spring Kafka\n{len(JAVA_CONSUMER)} templates.")
    parts.append(_matrix(JAVA_CONSUMER, KAFKA, CLIENT_EVENTS))
    parts.append("## Other client libraries\nVersions are the library's own; `-` without an end: to the last one seen.")
    parts.append(table(("library", "templates", "events"), map(_library, _LIBRARIES.items())))
    parts.append(
        "## Request log\nAll versions of these requests, as JSON (from Kafka 2.8 on) and as text (before): "
        f"{codes(api.name for api in APIS.values())}."
    )
    return page("Log lines by version", "the tables of templates in `transforms/loglines`", *parts)


def _matrix(templates: Sequence[Template[Any]], releases: Sequence[str], meanings: dict[str, str]) -> str:
    events = [event for event in meanings if any(each.meaning == event for each in templates)]
    rows = [
        (code(event), *(_count(each for each in templates if each.meaning == event and _prints(each, release))
                        for release in releases))
        for event in events
    ]  # fmt: skip
    known = [_count(each for each in templates if _prints(each, release)) for release in releases]
    passed_over = [
        _count(each for each in templates if each.meaning == IGNORED and _prints(each, release)) for release in releases
    ]
    rows.append(("known, and passed over", *passed_over))
    rows.append(("**all**", *known))
    return table(("event", *releases), rows)


def _library(item: tuple[str, Sequence[Template[Any]]]) -> tuple[str, ...]:
    name, templates = item
    spans: dict[str, set[str]] = {}
    for each in templates:
        if each.meaning != IGNORED:
            spans.setdefault(each.meaning, set()).add(each.versions)
    events = ", ".join(f"{code(event)} ({', '.join(sorted(spans[event]))})" for event in spans)
    return name, str(len(templates)), events


def _count(templates: Iterable[Template[Any]]) -> str:
    return str(sum(1 for _ in templates) or "·")


def _prints(template: Template[Any], release: str) -> bool:
    """Tell whether a release prints the line of a template."""
    found = _VERSIONS.fullmatch(template.versions)
    assert found is not None, "templates with other versions are refused when they are loaded"
    first, is_span, last = found.groups()
    if _number(release) < _number(first):
        return False
    return _number(release) <= _number(last or first) if last or not is_span else True


def _number(release: str) -> tuple[int, ...]:
    return tuple(map(int, release.split(".")))
