"""The way of a group through its states."""

from __future__ import annotations

from transforms.coordinator.classic.machine.events import Event
from transforms.coordinator.classic.machine.transitions import TRANSITIONS
from transforms.coordinator.kafka.states import GroupState
from transforms.quality.laws.law import CLOCK, KNOWN_FROM, LIFE, Law

STEPS = frozenset(
    (state.value, cell.next_state.value) for (state, _), cell in TRANSITIONS.items() if cell.next_state is not None
)
"""Steps that a classic group can take, out of the table of its state machine."""

_STEPS = ", ".join(f"('{before}', '{after}')" for before, after in sorted(STEPS))

_COMING_BACK = (GroupState.DEAD.value, GroupState.EMPTY.value)
"""A group that one coordinator gave up stands anew at the next one."""

_PATH = f"""
    SELECT {LIFE}, seq, at, from_state, to_state, event, is_inferred, is_known,
        lag(to_state) OVER life AS state_before, lag(seq) OVER life AS seq_before, lag(at) OVER life AS at_before
    FROM {{transitions}} WHERE group_type = 'classic'
    WINDOW life AS (PARTITION BY {LIFE} ORDER BY seq)
"""

LAWS = (
    Law(
        "steps_join_up",
        "transitions",
        "a change of state begins in the state that the one before ended in",
        f"""SELECT * FROM ({_PATH}) WHERE NOT is_known AND state_before IS NOT NULL AND NOT from_state <=> state_before
                AND NOT coalesce((state_before, from_state) = {_COMING_BACK}, false)""",
        needs_whole_evidence=True,
    ),
    Law(
        "steps_numbered",
        "transitions",
        "changes of state are numbered from 1 without a hole within a life",
        f"""SELECT {LIFE}, seq, seq_before FROM ({_PATH}) LEFT JOIN ({KNOWN_FROM}) USING (cluster, group_id)
            WHERE NOT is_known AND seq <> seq_before + 1
                OR seq_before IS NULL AND seq <> 1 AND coalesce(life > known_life, true)""",
        needs_whole_evidence=True,
    ),
    Law(
        "steps_legal",
        "transitions",
        "a classic group takes the steps that Kafka's coordinator can take, unless one was put in or it was loaded",
        f"""SELECT * FROM ({_PATH}) WHERE from_state IS NOT NULL AND NOT is_inferred
                AND NOT (event = '{Event.GROUP_LOADED.value}' AND to_state IN ('Empty', 'Stable'))
                AND (from_state, to_state) NOT IN ({_STEPS})""",
        needs_whole_evidence=True,
    ),
    Law(
        "steps_in_time",
        "transitions",
        "changes of state follow each other in time",
        f"SELECT * FROM ({_PATH}) WHERE NOT is_known AND at < at_before - {CLOCK}",
        needs_whole_evidence=True,
    ),
    Law(
        "rebalances_are_entries",
        "transitions",
        "a group has entered PreparingRebalance at least as often as generations of it began there",
        f"""SELECT {LIFE}, g.begun, coalesce(t.entries, 0) AS entries
            FROM (SELECT {LIFE}, count(preparing_at) AS begun FROM {{generations}}
                WHERE group_type = 'classic' AND NOT is_known GROUP BY {LIFE}) g
            LEFT JOIN (SELECT {LIFE}, count_if(to_state = 'PreparingRebalance') AS entries FROM {{transitions}}
                GROUP BY {LIFE}) t USING ({LIFE})
            WHERE coalesce(t.entries, 0) < g.begun""",
        needs_whole_evidence=True,
    ),
)
