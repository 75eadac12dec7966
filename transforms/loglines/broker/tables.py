"""All templates of coordinator lines, by dialect."""

from __future__ import annotations

from transforms.loglines.broker.java_classic import CLASSIC, OFFSETS
from transforms.loglines.broker.java_modern import MODERN
from transforms.loglines.broker.java_runtime import RUNTIME, SERVICE, SHARD
from transforms.loglines.broker.scala import COORDINATOR, GROUP
from transforms.loglines.broker.scala_manager import MANAGER
from transforms.loglines.facts import CoordinatorEvent
from transforms.loglines.templates.matching import Index, Template

TEMPLATES: dict[str, tuple[Template[CoordinatorEvent], ...]] = {
    "scala": (*COORDINATOR, *GROUP, *MANAGER),
    "java": (*CLASSIC, *OFFSETS, *MODERN, *SHARD, *RUNTIME, *SERVICE),
}
"""Dialect to its templates; the first that fits is taken."""

LINES: dict[str, Index[CoordinatorEvent]] = {dialect: Index(templates) for dialect, templates in TEMPLATES.items()}
