"""What is read of the tables for those who look for storms, bursts and slow revokers: what lies near the news."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame

from jobs.frame.job import Job
from jobs.frame.keeping import Keep
from schemas.table import TableSpec
from schemas.tables.gold import GENERATION_MEMBERS, GENERATIONS, MEMBER_SESSIONS
from schemas.tables.silver import CLIENT_EVENTS, COORDINATOR_EVENTS, GROUP_REQUESTS
from transforms.given_rows import rows_held
from transforms.gold.broker_refusals import ERRORS, may_tell
from transforms.gold.client_refusals import lines_of_files
from transforms.gold.findings.around_bursts import SETTINGS
from transforms.gold.findings.kernel import ASKED, GROUP
from transforms.gold.findings.named_generations import late_or_named, named_numbers
from transforms.gold.findings.scope import Scope
from transforms.gold.illegal_generation_bursts import IS_REFUSED
from transforms.gold.illegal_generation_bursts import READ as READ_FOR_BURSTS
from transforms.gold.rebalance_storms import READ as READ_FOR_STORMS
from transforms.question import Question
from transforms.sql import among
from transforms.wanted_rows import Wanted

_NAMED_LATE = (GENERATIONS, GENERATION_MEMBERS)
_OF_LINES = among("event", (*SETTINGS, *ERRORS))
"""Condition of brokers' lines that findings are made of."""


@dataclass(frozen=True)
class Near:
    """The rows of a run's groups.

    Attributes:
        rows: by table, those near the news.
        named: by table, those of generations however old they are, as refused requests name them.
        of_cluster: by table, what lines are laid beside that need not name their group, and brokers' lines.
        refused: the refused ones among the requests; None = nobody has looked for them.
    """

    rows: Mapping[TableSpec, DataFrame]
    named: Mapping[TableSpec, DataFrame]
    of_cluster: Mapping[TableSpec, DataFrame]
    refused: DataFrame | None


def near_news(job: Job, scope: Scope | None, keep: Keep) -> Near:
    """Return what is read for the groups of a run; for all of them, all there is."""
    read = {*READ_FOR_STORMS, *READ_FOR_BURSTS}
    if not job.lake.contents.has_rows(CLIENT_EVENTS):
        read.remove(CLIENT_EVENTS)
    if scope is None:
        rows = {spec: job.lake.in_place(spec, Wanted(), keep) for spec in read}
        return Near(
            rows, {}, {**rows, COORDINATOR_EVENTS: job.lake.some(COORDINATOR_EVENTS, Wanted(where=_OF_LINES))}, None
        )
    has_clients = CLIENT_EVENTS in read
    found = job.lake.in_place if scope.listed is None else job.lake.some  # of many groups it is most of a table
    near = {spec: found(spec, _near(scope, spec), keep) for spec in read - {CLIENT_EVENTS, COORDINATOR_EVENTS}}
    if has_clients:
        clients, sessions = map(job.lake.read, (CLIENT_EVENTS, MEMBER_SESSIONS))
        near[CLIENT_EVENTS] = lines_of_files(clients, sessions, scope.groups.select(*GROUP))
    refused = None if has_clients else _refused(job, near[GROUP_REQUESTS], keep)
    named = of_all_time(job, scope) if refused is None else _named(job, scope, refused, keep)
    return Near(near, named, _of_cluster(job, scope, has_clients), refused)


def _near(scope: Scope, spec: TableSpec) -> Wanted:
    """Return which rows of a table findings of the run may need, and what of them."""
    near = scope.near(spec)
    return replace(near, columns=ASKED) if spec is GROUP_REQUESTS else near


def of_all_time(job: Job, scope: Scope) -> dict[TableSpec, DataFrame]:
    """Return all generations of the groups: a request that is refused may be of one that is long past."""
    return {spec: scope.of_groups(job.lake.read(spec)) for spec in _NAMED_LATE}


def _of_cluster(job: Job, scope: Scope, has_clients: bool) -> dict[TableSpec, DataFrame]:
    """Return what lines are laid beside that need not name their group, and brokers' lines.

    Whoever is fenced by a broker's line is looked for in all stays; where no line fences anybody, nobody is.
    """
    late = scope.late(COORDINATOR_EVENTS, {"event": SETTINGS})
    lines = job.lake.some(COORDINATOR_EVENTS, replace(late, where=_OF_LINES))
    needs_homes = has_clients or may_tell(lines)
    return {COORDINATOR_EVENTS: lines, **({MEMBER_SESSIONS: job.lake.read(MEMBER_SESSIONS)} if needs_homes else {})}


def _refused(job: Job, requests: DataFrame, keep: Keep) -> DataFrame:
    """Return the refused requests among those that findings of a run may need; they are few, as a rule."""
    asked = Question(f"SELECT * FROM {{near}} WHERE {IS_REFUSED}", (), requests.schema, {"near": requests})
    return job.lake.answer(asked, None, keep)


def _named(job: Job, scope: Scope, refused: DataFrame, keep: Keep) -> dict[TableSpec, DataFrame]:
    """Return what there is of generations that are late, or that refused requests name.

    Of who is not let in brokers' lines tell as of generation 0. What clients say that they were refused is of
    generations, too, and nobody knows of which: where there are any, all are needed (`of_all_time`).
    """
    held = None if scope.listed is None else rows_held(refused)
    if held is None:
        return {spec: job.lake.answer(late_or_named(spec, scope, refused), None, keep) for spec in _NAMED_LATE}
    numbers = named_numbers(held)
    return {spec: job.lake.some(spec, scope.late_or_in(spec, "generation", numbers), keep) for spec in _NAMED_LATE}
