"""What members hold, generation by generation: where each partition has a row of its own, all of a member as one piece.

A storm's assignments are most of what it is judged by; as pieces they are a quarter as many.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter

from msgspec import Struct

from schemas.rows import AssignmentRow


class Holding(Struct, kw_only=True, gc=False):
    """What one member held in one generation from one moment to another, as rows of `gold.assignments` say it.

    `partitions` are topic-partition, in no order.
    """

    life: int
    generation: int
    member_id: str
    hold: str = "owned"
    group_type: str = "classic"
    role: str | None = None
    group_instance_id: str | None = None
    client_id: str | None = None
    client_host: str | None = None
    valid_from: float | None = None
    valid_to: float | None = None
    partitions: list[str]


PARTITIONS = "partitions"

IN_COMMON = tuple(name for name in Holding.__struct_fields__ if name != PARTITIONS)
"""What the rows of one holding have in common."""

_in_common = attrgetter(*IN_COMMON)


def holdings_of(rows: Iterable[AssignmentRow]) -> list[Holding]:
    """Gather assignments into holdings."""
    found: dict[tuple[object, ...], Holding] = {}
    for row in rows:
        key = _in_common(row)
        if key not in found:
            found[key] = Holding(**dict(zip(IN_COMMON, key, strict=True)), partitions=[])
        found[key].partitions.append(f"{row.topic}-{row.partition}")
    return list(found.values())
