"""Templates: Kafka's own text with named fields, compiled to a matcher that fills a fact.

A template without versions, or whose samples it does not fit, is refused when its table is loaded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Generic

from transforms.loglines.templates.blocks import Block, blocks
from transforms.loglines.templates.fields import Fact, Kind, Put

IGNORED = "ignored"
"""Meaning of a known line that says nothing which a record, a request or another line does not say better."""

_FIELD = re.compile(r"\{(\w+)\}")
_VERSIONS = re.compile(r"(\d+)\.(\d+)(?:-(?:(\d+)\.(\d+))?)?")


@dataclass(frozen=True, slots=True)
class Vocabulary(Generic[Fact]):
    """What the templates of one kind of line can say and name.

    Attributes:
        meanings: what a heading may begin with.
        kind: gives the kind of a field by its name, or raises KeyError.
        new: makes a fact of a meaning, and of a state where a heading names one, its fields still empty.
        states: states of the one who logs the line that a heading may end with.
    """

    meanings: Collection[str]
    kind: Callable[[str], Kind[Fact]]
    new: Callable[[str, str | None], Fact]
    states: Collection[str] = ()

    def table(self, text: str) -> tuple[Template[Fact], ...]:
        """Read a table of templates, see `blocks`. Order matters: the first that fits is taken.

        A heading is `meaning · versions` or `meaning · versions · state after the line`.
        """
        return tuple(self._read(block) for block in blocks(text))

    def _read(self, block: Block) -> Template[Fact]:
        meaning, versions, *more = block.heading
        state = more[0] if more else None
        if meaning not in self.meanings:
            raise ValueError(f"{meaning} is not in the vocabulary")
        if len(more) > 1 or (state is not None and state not in self.states):
            raise ValueError(f"{more} is not a state")
        return Template(meaning, versions, state, block.text, block.samples, self)


@dataclass(frozen=True, slots=True)
class Template(Generic[Fact]):
    """One line of Kafka's.

    Attributes:
        meaning: what the line tells, a word of its vocabulary, or `IGNORED`.
        versions: Kafka versions that print it, first and last; the last may be left open ('3.7-').
        state: that the one who logs it is in after the line; None = the line does not tell, or has it itself.
        text: Kafka's text with `{fields}` in it.
        samples: such lines as Kafka prints them, without prefix and logger.
        first_word: the literal text up to the first space, by which messages are looked up; empty if a field is
            part of the first word.
    """

    meaning: str
    versions: str
    state: str | None
    text: str
    samples: tuple[str, ...]
    vocabulary: Vocabulary[Fact] = field(repr=False, compare=False)
    first_word: str = field(init=False, repr=False, compare=False)
    _literal: str = field(init=False, repr=False, compare=False)
    _full_match: Callable[[str], re.Match[str] | None] = field(init=False, repr=False, compare=False)
    _puts: tuple[Put[Fact], ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Compile the text; refuse versions that are none, and a sample that the text does not fit."""
        _check(self.versions)
        pieces = _FIELD.split(self.text)
        literals, names = pieces[::2], pieces[1::2]
        kinds = [self.vocabulary.kind(name) for name in names]
        regex = re.escape(literals[0])
        for (expression, _), literal in zip(kinds, literals[1:], strict=True):
            regex += expression + re.escape(literal)
        words = literals[0].split(None, 1)
        is_whole = len(words) > 1 or literals[0][-1:].isspace() or not names
        compiled = {
            "first_word": words[0] if words and is_whole else "",
            "_literal": max(literals, key=len),  # to look for before the regular expression
            "_full_match": re.compile(regex, re.DOTALL).fullmatch,
            "_puts": tuple(put for _, put in kinds),
        }
        for name, value in compiled.items():
            object.__setattr__(self, name, value)
        for sample in self.samples:
            if self.read(sample) is None:
                raise ValueError(f"{self.text} does not fit its sample {sample}")

    def read(self, message: str) -> Fact | None:
        """Return the fact that `message` tells, or None if the template does not fit."""
        if self._literal not in message:
            return None
        found = self._full_match(message)
        if found is None:
            return None
        fact = self.vocabulary.new(self.meaning, self.state)
        try:
            for put, raw in zip(self._puts, found.groups(), strict=True):
                put(fact, raw)
        except ValueError:  # a number that no broker can print
            return None
        return fact


def _check(versions: str) -> None:
    found = _VERSIONS.fullmatch(versions)
    if found is None:
        raise ValueError(f"{versions} are no versions")
    first, last = (found[1], found[2]), (found[3], found[4])
    if last != (None, None) and tuple(map(int, first)) >= tuple(map(int, last)):
        raise ValueError(f"{versions}: the last version must come after the first")


class Index(Generic[Fact]):
    """Templates by the first words of the messages that they can fit."""

    def __init__(self, templates: Collection[Template[Fact]]) -> None:
        self._anywhere = tuple(each for each in templates if not each.first_word)
        self._by_word = {
            word: tuple(each for each in templates if each.first_word == word) + self._anywhere
            for word in {each.first_word for each in templates} - {""}
        }

    def candidates(self, message: str) -> tuple[Template[Fact], ...]:
        """Return the templates worth trying on a message, in the order of their tables."""
        words = message.split(None, 1)
        return self._by_word.get(words[0], self._anywhere) if words else self._anywhere

    def read(self, message: str) -> Fact | None:
        """Return what the first template that fits tells; None = none fits."""
        for template in self.candidates(message):
            fact = template.read(message)
            if fact is not None:
                return fact
        return None
