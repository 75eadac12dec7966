"""Which requests say no more than that a member lives, and commits: most of what the clients of a calm group send.

Nothing that is found changes by them but what is wrong with offsets, and what is judged by commits as well.
"""

from __future__ import annotations

from schemas.words import COMES_AND_GOES
from transforms.findings.evidence import EPOCH_HEARTBEATS
from transforms.sql import among

COMES_OR_GOES = f"({among('api', COMES_AND_GOES)} OR ({among('api', EPOCH_HEARTBEATS)} AND generation <= 0))"
"""Condition of requests by which members come and go, in SQL as Spark and DuckDB both have it."""

IS_QUIET = f"coalesce(error = 'NONE' AND NOT {COMES_OR_GOES}, false)"
"""Condition of granted requests by which nobody does."""
