"""Tables of templates as they are written down: blocks of lines, which stand as Kafka prints them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

_INDENT = "    "
_BETWEEN = " · "


class Block(NamedTuple):
    """A template as it is written down.

    Attributes:
        heading: parts of the heading that it stands below.
        text: the template.
        samples: lines that it fits, as Kafka prints them; at least one.
    """

    heading: tuple[str, ...]
    text: str
    samples: tuple[str, ...]


def blocks(table: str) -> Iterator[Block]:
    r"""Yield the templates of a table.

    A heading is parts with ` · ` between them; below it comes a template, and below that, indented, a sample. Several
    samples may follow one template, and several templates one heading: they are variations of one line. `\n` and `\t`
    stand for themselves.

    Raises:
        ValueError: a heading without a template, a template without a heading or a sample, a sample without a template.
    """
    for heading, lines in _sections(table):
        begins = [number for number, line in enumerate(lines) if not line.startswith(_INDENT)]
        if not heading or begins[:1] != [0]:
            raise ValueError(f"no heading, or no template, before {lines[:1]} of {heading}")
        for begin, end in pairwise((*begins, len(lines))):
            text, *samples = map(_text, lines[begin:end])
            if not samples:
                raise ValueError(f"a template without a sample: {text}")
            yield Block(heading, text, tuple(samples))


def _sections(table: str) -> list[tuple[tuple[str, ...], list[str]]]:
    """Return the headings of a table, each with the lines below it."""
    found: list[tuple[tuple[str, ...], list[str]]] = []
    for line in table.splitlines():
        if _BETWEEN in line and not line.startswith(_INDENT):
            found.append((tuple(line.split(_BETWEEN)), []))
        elif line.strip():
            if not found:
                found.append(((), []))
            found[-1][1].append(line)
    return found


def _text(line: str) -> str:
    return line.removeprefix(_INDENT).replace("\\n", "\n").replace("\\t", "\t")
