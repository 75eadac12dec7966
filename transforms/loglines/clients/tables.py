"""All templates of the lines of Java consumers, without the prefix that they carry since 1.0."""

from __future__ import annotations

from transforms.loglines.clients.joining import JOINING
from transforms.loglines.clients.membership import MEMBERSHIP
from transforms.loglines.clients.modern import MODERN
from transforms.loglines.clients.partitions import PARTITIONS
from transforms.loglines.clients.streams import STREAMS
from transforms.loglines.facts import ClientEvent
from transforms.loglines.templates.matching import Index, Template

TEMPLATES: tuple[Template[ClientEvent], ...] = (*JOINING, *MEMBERSHIP, *PARTITIONS, *MODERN, *STREAMS)
"""All templates; the first that fits is taken."""

LINES = Index(TEMPLATES)
