"""What Kafka answered to each request in each situation of a modern group, as the oracle's driver printed it.

== <request>
  <situation>,<situation> -> <error>(<answer>) rec[<records>] => <group afterwards>
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from dataclasses import dataclass

from tests.oracle_modern.histories import ModernRecord
from tests.oracle_modern.kept import ORACLE
from transforms.coordinator.modern.administering import Description
from transforms.coordinator.modern.elsewhere import GroupType

DESCRIBES = {
    "ConsumerGroupDescribe": GroupType.CONSUMER,
    "ShareGroupDescribe": GroupType.SHARE,
    "StreamsGroupDescribe": GroupType.STREAMS,
    "DescribeGroups v6": GroupType.CLASSIC,
}
"""Requests that describe a group of one type, and that type."""

_LINE = re.compile(
    r"  (?P<situations>\S.*?) -> (?P<error>[A-Z_/,]+)(?:\((?P<answer>.*?)\))?"
    r'(?: (?P<rest>(?:state|persister).*?))?(?:  "(?P<message>.*?)")?(?: rec\[(?P<records>.*?)\])?'
    r"(?: reb=\d+)?(?: => (?P<after>.*))?"
)


@dataclass(frozen=True)
class Cell:
    """One request in one situation.

    Attributes:
        records: the tokens of its records, in order; empty where none were written.
        after: the group afterwards; None where it stayed as it was.
    """

    section: str
    request: str
    situation: str
    error: str
    answer: str
    records: tuple[str, ...]
    after: str | None

    @property
    def told(self) -> str:
        """What a heartbeat was told; "" where it was refused, or the request was another."""
        return self.answer if self.answer.startswith("epoch") else ""

    def __str__(self) -> str:
        return f"{self.request} | {self.situation}"


def cells(name: str) -> Iterator[Cell]:
    """Yield the cells of one text."""
    section = request = ""
    with gzip.open(ORACLE / f"{name}_4.2.0.txt.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            line = line.rstrip("\n")
            if line.startswith("########"):
                section = line.strip("# ")
            elif line.startswith("== "):
                request = line[3:]
            elif line.startswith("  "):
                if " -> EX " in line:
                    line = line[: line.index(" -> EX ")] + " -> EX"
                found = _LINE.fullmatch(line)
                assert found is not None, line
                for situation in found["situations"].split(","):
                    yield Cell(
                        section,
                        request,
                        situation,
                        found["error"],
                        found["answer"] or found["rest"] or "",
                        tuple(_tokens(found["records"] or "")),
                        found["after"],
                    )


def assert_described(cell: Cell, description: Description | None, group_type: GroupType) -> None:
    """Compare what a describe is told; a group of the type that it asks for may be another coordinator's own.

    Args:
        cell: what Kafka said.
        description: what the machine says; None = that is another coordinator's to say.
        group_type: what the group id is.
    """
    if description is None:
        assert (cell.error, group_type) == ("NONE", DESCRIBES[cell.request])
        return
    said = f"state={description.state}"
    if cell.request == "ConsumerGroupDescribe":
        said += f" epoch={description.epoch} assignmentEpoch={description.assignment_epoch}"
        said += f" members={len(description.member_ids)} assignor={description.assignor}"
    assert (description.error.name, said) == (cell.error, cell.answer)


def token(record: ModernRecord) -> str:
    """Return a record as texts that tell no values have it."""
    return f"{record.type_id}=X" if record.value is None else str(record.type_id)


def _tokens(records: str) -> Iterator[str]:
    """Split records at the blanks that are in no brackets."""
    depth, token = 0, ""
    for sign in records:
        depth += (sign in "({[") - (sign in ")}]")
        if sign == " " and not depth:
            yield token
            token = ""
        else:
            token += sign
    if token:
        yield token
