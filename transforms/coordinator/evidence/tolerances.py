"""How exact the evidence is in time, and what the replay makes of that: every tolerance, and how they relate.

None of the evidence carries the moment at which the coordinator did a thing; each kind shows it a little off. Measured
on brokers 2.1 to 4.2: the time of a request's log line is late by up to 5 ms, a line has whole milliseconds, a record
or line can look up to 5 ms older than the request that caused it (45 ms in a broker's first seconds). All are ms.

The order of the numbers decides what comes before what, so it is part of them:

    a line's half millisecond < race window ≤ timers' lags < hold = a waiting answer < records' delay < most holds
    < slack of removals < look-ahead < a clock's step < reordering = one deletion < settling
"""

from __future__ import annotations

# --- where evidence stands in the order -----------------------------------------------------------------------------

LINE_DELAY_MS = 0.5
"""A line's whole millisecond began up to one before it was written; its middle is the best guess."""

RECORD_DELAY_MS = 10.0
"""How late a record is applied, so that what caused it has been handled by then: longer than it can look too old."""

CLOCK_STEP_MS = 500.0
"""How far behind a clock may be that of the writer of a record before it in the log: records that seem to be older by
no more than this stand in the order of the log. What seems to be older by more is of a topic that was made anew.
Together with the records' delay it is less than the reordering: so all that moves a record is read with it."""

NEXT_ON_CONNECTION_MS = 0.001
"""The least time between two requests of one connection; a broker answers one before it reads the next."""

# --- two things that may have happened in either order --------------------------------------------------------------

RACE_WINDOW_MS = 1.0
"""Two things this close together may have happened in either order: no more than the log's own millisecond."""

LINE_MS = 1.0
"""A line about a partition's coordinator tells of something up to this much around it."""

# --- what is waited for ---------------------------------------------------------------------------------------------

MEMBER_TIMER_LAG_MS = 1.0
"""How late a timer that removes a member runs out, so that a heartbeat of the same moment comes first."""

JOIN_TIMER_LAG_MS = 3.0
"""How late the join timer runs out, so that what shows the end of the join phase comes first."""

TIMER_LATE_MS = 5.0
"""How much later than its deadline a broker's timer may run out: until then the state before still answers."""

HOLD_MS = 5.0
"""How long an effect that stands before its cause is put off, each time."""

MOST_HOLDS = 10
"""How often it is put off; then it is taken as it is."""

NO_MORE_HOLDS = 1_000_000
"""More than anything is put off."""

HOLDS_OF_A_REQUEST = 2
"""How often a request is put off: the estimate of when it was handled is off by no more than 5 ms or so."""

STORE_MS = 5.0
"""An answer that was held back longer waited for something: for the leader, or for the log."""

SLOW_APPEND_MS = 1_000.0
"""How long a request to a group of epochs is put off, at the most, until what it can have written has been seen."""

# --- one thing that several witnesses tell of -----------------------------------------------------------------------

SAME_MOMENT_MS = 5.0
"""Two records, a record and a line, a line and the answers it goes with: this close together they tell of one thing."""

REASON_SLACK_MS = RACE_WINDOW_MS + LINE_DELAY_MS
"""How far the line about what a rejoin changed can seem to lie outside the time in which the rejoin was handled."""

EXPIRY_SLACK_MS = 50.0
"""At the end of a join phase, members whose session ends this soon ended by it, and not for not rejoining."""

REMOVAL_SLACK_MS = 100.0
"""How far the line about a removal lies from the deadline that the replay has for it, at the most."""

ONE_DELETION_MS = 1000.0
"""Witnesses of one deletion (request, line, tombstone) are no further apart than this."""

REORDER_MS = 1_000.0
"""How far the estimates on one connection can be out of order, at the most; evidence waits for so long for its turn."""

CONNECTION_MEMORY_MS = 60_000.0
"""A connection that was silent for this long is forgotten: no estimate is off by so much."""

LATE_LINE_MS = 500.0
"""How late a line of the request log may be: a broker that stalls after it has answered writes it long after. Looked
for where groups of epochs are asked, whose records have times of their own."""

PAST_MS = REORDER_MS + SLOW_APPEND_MS + LATE_LINE_MS
"""How far back it is known what a group of epochs was."""

# --- what the fold waits for ----------------------------------------------------------------------------------------

LOOK_AHEAD_MS = 250.0
"""Evidence is taken when all that is this much younger has been seen: longer than anything above that looks ahead."""

HEARS_WITHIN_MS = LOOK_AHEAD_MS / 2
"""A broker that is well hears as soon that another was elected: so the line about it has been seen by then."""

SETTLING_MS = 5_000.0
"""What is over for this long is settled: evidence that stands in order does not come back to it."""
