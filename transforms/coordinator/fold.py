"""The replay as a fold: a group's state and its next evidence, in order, give the state after it and settled rows.

    state = begin(cluster, group_id)
    state, settled = advance(state, in_order(state.connections, records, events, requests))
    raw = dump(state)                                       # … and the next day
    state, settled = advance(load(raw), in_order(…))
    unsettled = open_rows(state)

However the evidence is cut, the rows of all calls and the last `open_rows` are together those of one call. Of two rows
with one key, which a member that was taken to be gone can have, the later stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from transforms.coordinator.driver import Driver
from transforms.coordinator.evidence.items import Item
from transforms.coordinator.rows.tables import Rows, Sink
from transforms.coordinator.state import ReplayState, begin, dump, load
from transforms.coordinator.walk import GroupWalk

__all__ = ["advance", "begin", "dump", "finish", "load", "open_rows"]


def advance(
    state: ReplayState,
    evidence: Iterable[Item],
    partitions: Iterable[int] = (),
    keeps_audit: bool = True,
    topic_names: Mapping[str, str] | None = None,
) -> tuple[ReplayState, Rows]:
    """Take a group's next evidence.

    Args:
        state: what is known of the group; it is used up: go on with the one that is returned.
        evidence: pieces of evidence in their order, none of which stands before those of an earlier call.
        partitions: partitions of `__consumer_offsets` that hold records of the group of whatever kind.
        keeps_audit: give a row for every audited request, and not only for those that give reason to doubt.
        topic_names: names of topics by their ids, as far as they are known.

    Returns:
        The state after it, and the rows that are settled by it.
    """
    sink = Sink(keeps_audit=keeps_audit, topic_names=topic_names or {})
    state.shared.reigns.observed.update(partitions)
    _driver(state, sink).see(evidence)
    return state, sink.rows


def open_rows(
    state: ReplayState,
    evidence: Iterable[Item] = (),
    keeps_audit: bool = True,
    topic_names: Mapping[str, str] | None = None,
) -> Rows:
    """Return the rows of what is not settled, as far as it has come; the state stays as it is.

    Args:
        state: what is known of the group.
        evidence: more that was seen, and is not to be in the state yet: more may come that stands before it.
        keeps_audit: as for `advance`.
        topic_names: likewise.
    """
    return finish(load(dump(state)), evidence, keeps_audit, topic_names)


def finish(
    state: ReplayState,
    evidence: Iterable[Item] = (),
    keeps_audit: bool = True,
    topic_names: Mapping[str, str] | None = None,
) -> Rows:
    """Return the same as `open_rows`; the state is used up."""
    sink = Sink(is_final=False, keeps_audit=keeps_audit, topic_names=topic_names or {})
    driver = _driver(state, sink)
    driver.see(evidence)
    driver.finish()
    return sink.rows


def _driver(state: ReplayState, sink: Sink) -> Driver:
    return Driver(state.waiting, state.shared.lives, GroupWalk(state, sink))
