"""Which groups a run replays: those that there is new evidence of, and those that were left unfinished.

A group is unfinished if some of its evidence lay beyond the horizon, or too close to it, when it was last replayed. As
long as there is nothing new of it, all that comes out is as it was, but settled once the horizon has passed it, and it
can be left behind. It is due nevertheless where requests were left open, as records that had not been read may tell of
them, whatever group these are of.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from schemas.tables.gold import REPLAY_SNAPSHOTS
from schemas.tables.silver import COORDINATOR_EVENTS, OFFSET_COMMITS, TOPIC_NAMES
from transforms.coordinator.evidence.tolerances import LOOK_AHEAD_MS
from transforms.gold.quiet_requests import IS_QUIET
from transforms.gold.timelines import homes
from transforms.gold.timelines.evidence import GROUP, IS_OF_COORDINATOR, KINDS, LINE, MODERN, RECORD, REQUEST, ms
from transforms.loads import loaded_after
from transforms.question import Question, of_table
from transforms.sql import truth

RENAMED = "renamed"
"""Name of the groups with rows in which names can stand now in place of ids, as `of_names` gives them."""

HOLDS_RECORDS = (KINDS[RECORD][0], KINDS[MODERN][0], OFFSET_COMMITS)
"""Tables of records, which lie in the partitions of groups."""


def news(is_first: bool, are_renamed: bool) -> str:
    """Return the statement for the groups of a run: cluster, group_id, oldest DOUBLE (epoch ms), tells, is_due BOOLEAN.

    `oldest` is the oldest moment of what is new of them; null = nothing is older than known. What is new of those that
    tell of nothing is that their members live, and commit. Those that are not due may be left behind. Of silver it
    reads the rows that are new.

    Args:
        is_first: nothing was replayed before.
        are_renamed: there are RENAMED.
    """
    touched = [*map(_of_groups, KINDS), _of_places()]
    touched += [] if is_first else _of_coordinators()
    touched += [f"SELECT cluster, group_id, oldest, true AS tells FROM {{{RENAMED}}}"] if are_renamed else []
    due = "\nUNION ALL\n".join(touched)
    left = "" if is_first else f"UNION ALL {_unfinished()}"
    return f"""
        SELECT cluster, group_id, min(oldest) AS oldest, bool_or(tells) AS tells, bool_or(is_due) AS is_due FROM (
            SELECT cluster, group_id, oldest, tells, true AS is_due FROM ({due}) {left}
        ) GROUP BY cluster, group_id"""


def _of_groups(kind: str) -> str:
    """The groups that new rows name."""
    spec, moment, _ = KINDS[kind]
    tells = f"NOT {IS_QUIET}" if kind == REQUEST else truth(True)
    return f"""
        SELECT cluster, group_id, {ms(moment)} AS oldest, {tells} AS tells FROM {of_table(spec)}
        WHERE group_id IS NOT NULL"""


def _of_places() -> str:
    """The groups that were not seen in a partition before."""
    nothing = "CAST(NULL AS DOUBLE) AS oldest, false AS tells"
    return f"""
        SELECT cluster, group_id, {nothing} FROM ({homes.seen(HOLDS_RECORDS)})
        LEFT ANTI JOIN ({homes.known()}) known USING (cluster, group_id, partition)"""


def _of_coordinators() -> list[str]:
    """The known groups that new lines about coordinators or brokers concern."""
    lines = f"""(
        SELECT cluster, topic_partition_of_group AS partition, min(unix_micros({KINDS[LINE][1]}) / 1000.0D) AS oldest
        FROM {of_table(COORDINATOR_EVENTS)} WHERE {IS_OF_COORDINATOR}
        GROUP BY cluster, topic_partition_of_group
    )"""
    of_cluster = f"(SELECT cluster, oldest FROM {lines} WHERE partition IS NULL)"
    told = "cluster, group_id, oldest, true AS tells"
    return [
        f"SELECT {told} FROM ({homes.known()}) JOIN {lines} lines USING (cluster, partition)",
        f"SELECT {told} FROM ({homes.known()}) JOIN {of_cluster} lines USING (cluster)",
    ]


def _unfinished() -> str:
    """The groups whose youngest snapshot does not hold all of their evidence."""
    at, seen_until = (ms(f"last.{name}") for name in ("at", "seen_until"))
    # Where nothing is known of what was left open, as of a release before, nothing was told as over either.
    return f"""
        SELECT cluster, group_id, CAST(NULL AS DOUBLE) AS oldest, false AS tells,
            coalesce(last.awaits_records, true) AS is_due
        FROM (
            SELECT cluster, group_id, max_by(struct(at, seen_until, awaits_records), at) AS last
            FROM {of_table(REPLAY_SNAPSHOTS)} GROUP BY cluster, group_id
        ) WHERE {is_unfinished(at, seen_until)}"""


def is_unfinished(at: str, seen_until: str) -> str:
    """Return the SQL condition of a snapshot that does not hold all of its group's evidence, as of then.

    Args:
        at: where it stands (epoch ms), in SQL.
        seen_until: its group's newest evidence, likewise.
    """
    return f"{seen_until} + {LOOK_AHEAD_MS} >= {at}"


def topic_names(load: str | None) -> Question:
    """Ask for the names of topics by their ids, and which of them are new.

    Args:
        load: `loaded_at` of the newest that were known, ISO 8601 in UTC; None = none were.
    """
    return Question(
        f"SELECT topic_id, topic, {loaded_after(load).lateness} AS is_new FROM {of_table(TOPIC_NAMES)}",
        (TOPIC_NAMES,),
        T.StructType().add("topic_id", "string").add("topic", "string").add("is_new", "boolean"),
    )


def of_names(
    named: DataFrame, assignments: DataFrame, reconciliations: DataFrame, orphaned: DataFrame, generations: DataFrame
) -> DataFrame:
    """Return the groups with rows that name a topic by its id, as no name was known then; and the oldest of these rows.

    Epochs of these groups whose assignor could not be told are among them: it may be for want of the name.

    Args:
        named: topic_id of the names that are new; few.
        assignments: `gold.assignments`.
        reconciliations: `gold.reconciliations`.
        orphaned: `gold.orphaned_partitions`.
        generations: `gold.generations`.
    """
    without_number = F.regexp_replace("partition", "-[0-9]+$", "")
    waiting = reconciliations.select(*GROUP, "from_at", F.explode("partitions").alias("partition"))
    held = assignments.select(*GROUP, F.expr(ms("valid_from")).alias("oldest"), F.col("topic").alias("topic_id"))
    left_over = orphaned.select(*GROUP, F.expr(ms("from_at")).alias("oldest"), F.col("topic").alias("topic_id"))
    sought = waiting.select(*GROUP, F.expr(ms("from_at")).alias("oldest"), without_number.alias("topic_id"))
    rows = held.unionByName(left_over).unionByName(sought)
    found = _oldest(rows.join(F.broadcast(named.select("topic_id")), "topic_id", "left_semi"))
    is_untold = (F.col("group_type") == "consumer") & F.col("completing_at").isNotNull() & F.col("assignor").isNull()
    untold = generations.where(is_untold).select(*GROUP, F.expr(ms("preparing_at")).alias("oldest"))
    return _oldest(found.unionByName(untold.join(found.select(*GROUP), [*GROUP], "left_semi")))


def _oldest(groups: DataFrame) -> DataFrame:
    return groups.groupBy(*GROUP).agg(F.min("oldest").alias("oldest"))
