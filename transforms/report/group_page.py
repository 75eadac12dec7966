"""The page of one group: what it is now, what was found, its timeline, and the rows of all of it."""

from __future__ import annotations

from dataclasses import dataclass

from transforms.findings.rebalances import lasted_ms
from transforms.report.charts import Chart
from transforms.report.epochs import nobodys_now, nobodys_table, share_states_table, ways_table
from transforms.report.findings import Finding, findings_of, request_cells
from transforms.report.names import generation_anchor, page_name
from transforms.report.rows import GroupRows, Row, rebalanced_at, step_word
from transforms.report.tables import Table, TableRow, table
from transforms.report.timeline import timeline
from transforms.report.words import client, count, duration, moment, number, share, span, words


@dataclass(frozen=True)
class GroupPage:
    """What the page of a group shows.

    Attributes:
        group_id: the group.
        file: file name of the page.
        state: its state where the data ends.
        since: since when it is in it.
        facts: what it is, as (name, value).
        figures: the numbers that matter, as (figure, of what).
        findings: storms, bursts and slow revokers, the worst first.
        chart: its timeline; None where no moment of its life is known.
        tables: the rows behind all of that, those that have any.
    """

    group_id: str
    file: str
    state: str
    since: str
    facts: tuple[tuple[str, str], ...]
    figures: tuple[tuple[str, str], ...]
    findings: tuple[Finding, ...]
    chart: Chart | None
    tables: tuple[Table, ...]


def group_page(rows: GroupRows) -> GroupPage:
    """Return what the page of a group shows."""
    last = max(rows.of("transitions"), key=lambda row: (row["life"], row["seq"]), default=None)
    tables = (
        _generations(rows),
        _members(rows),
        nobodys_table(rows),
        ways_table(rows),
        share_states_table(rows),
        _requests(rows),
        _rewinds(rows),
        _gaps(rows),
        _audit(rows),
        _homes(rows),
    )
    return GroupPage(
        group_id=rows.group_id,
        file=page_name(rows.cluster, rows.group_id),
        state=last["to_state"] if last else "not known",
        since=moment(last["at"]) if last else "not known",
        facts=_facts(rows),
        figures=_figures(rows),
        findings=tuple(findings_of(rows)),
        chart=timeline(rows),
        tables=tuple(each for each in tables if each.rows),
    )


def _facts(rows: GroupRows) -> tuple[tuple[str, str], ...]:
    generations = rows.generations()
    newest = generations[-1] if generations else None
    seen = sorted({kind for row in generations for kind in row["evidence"] or ()})
    protocol = newest["protocol"] if newest else None
    facts = [
        ("cluster", rows.cluster),
        *((("type", newest["group_type"]),) if newest and newest.get("group_type") else ()),
        ("protocol", f"{newest['protocol_type'] or 'no type'}, {protocol or 'no assignor'}" if newest else "not known"),
        (step_word(newest or {}), f"{newest['generation']} of life {newest['life']}" if newest else "none is known"),
        ("members then", number(newest["member_count"]) if newest else "not known"),
        *((("nobody has", now),) if (now := nobodys_now(rows)) else ()),
        ("evidence", ", ".join(words(kind) for kind in seen) or "commits only"),
    ]
    return tuple(facts)


def _figures(rows: GroupRows) -> tuple[tuple[str, str], ...]:
    generations = rows.generations()
    took = [length for each in rows.rebalances() if (length := lasted_ms(each)) is not None]
    moved = [row["partitions_moved"] for row in generations if row["partitions_moved"] is not None]
    refused = rows.in_all("refused_requests")
    shown = len(generations) < rows.in_all("generations")
    part = f" of the newest {rows.step(is_many=True)}" if shown else ""
    return (
        (number(rows.in_all("generations")), rows.step(is_many=True)),
        (duration(sum(took)) if took else "not known", f"in rebalances{part}"),
        (number(sum(moved)) if moved else "not known", f"partitions moved{part}"),
        (number(refused) if rows.of("audit_counts") else "not known", "requests refused"),
    )


def _generations(rows: GroupRows) -> Table:
    columns = (
        rows.step(),
        "began",
        "trigger",
        "client",
        "reason as logged",
        "took",
        "members #",
        "moved #",
        "outcome",
        "seen in",
    )
    newest_first = list(reversed(rows.generations()))
    found = [_generation(row) for row in newest_first]
    return table(
        f"{rows.step(is_many=True).capitalize()}, the newest first", columns, found, rows.in_all("generations")
    )


def _generation(row: Row) -> TableRow:
    by = client(row["trigger_client_id"], row["trigger_client_host"]) if row["trigger_client_id"] else ""
    reason = row["reason"] or ""
    if row["client_reason"]:
        reason = f"{reason} (the client: {row['client_reason']})".strip()
    evidence = ", ".join(words(kind) for kind in row["evidence"] or ())
    outcome = words(row["outcome"]) if row["outcome"] else "not known"
    name = f"{row['generation']}" if row["life"] == 1 else f"{row['generation']} (life {row['life']})"
    missing = f", {row['missing_before']} missing before" if row["missing_before"] else ""
    return TableRow(
        cells=(
            name + missing,
            moment(rebalanced_at(row)),
            words(row["trigger"]),
            by,
            reason,
            duration(row["rebalance_ms"]),
            number(row["member_count"]),
            number(row["partitions_moved"]),
            outcome,
            evidence + (", inferred in part" if row["is_inferred"] else ""),
        ),
        anchor=generation_anchor(row["life"], row["generation"]),
    )


def _members(rows: GroupRows) -> Table:
    ordered = sorted(rows.of("member_sessions"), key=lambda row: row["joined_at"] or 0, reverse=True)
    found = [
        TableRow(
            (
                row["member_id"],
                row["group_instance_id"] or "",
                client(row["client_id"], row["client_host"]),
                moment(row["joined_at"]),
                moment(row["ended_at"]) if row["end_cause"] else "still in",
                words(row["end_cause"]) if row["end_cause"] else "",
                duration(row["ended_at"] - row["joined_at"]) if row["ended_at"] and row["joined_at"] else "",
            )
        )
        for row in ordered
    ]
    columns = ("member", "instance", "client", "joined", "ended", "how", "stayed")
    return table("Memberships, the newest first", columns, found, rows.in_all("member_sessions"))


def _requests(rows: GroupRows) -> Table:
    columns = ("answered", "request", "member", "state", "answer", "line of the log")
    found = [TableRow(request_cells(row)) for row in sorted(rows.of("refused_requests"), key=lambda row: row["at"])]
    return table("Refused requests", columns, found, rows.in_all("refused_requests"))


def _rewinds(rows: GroupRows) -> Table:
    found = [
        TableRow(
            (
                moment(row["at"]),
                f"{row['topic']}-{row['partition']}",
                words(row["kind"]),
                number(row["from_offset"]),
                number(row["to_offset"]) if row["to_offset"] is not None else "gone",
                words(row["origin"]),
                row["client_id"] or "",
                "at a rebalance" if row["is_at_rebalance"] else "",
            )
        )
        for row in sorted(rows.of("offset_rewinds"), key=lambda row: row["at"] or 0)
    ]
    columns = ("at", "partition", "what", "from offset #", "to offset #", "by", "client", "when")
    return table("Committed offsets that went back, far ahead, or away", columns, found, rows.in_all("offset_rewinds"))


def _gaps(rows: GroupRows) -> Table:
    found = [
        TableRow(
            (
                f"{row['topic']}-{row['partition']}",
                f"{row['generation']}",
                words(row["kind"]),
                row["client_id"] or row["member_id"],
                moment(row["last_commit_at"]),
                moment(row["first_commit_at"]),
                duration(row["owned_ms"]),
            )
        )
        for row in sorted(rows.of("commit_gaps"), key=lambda row: (row["topic"], row["partition"], row["generation"]))
    ]
    columns = (
        "partition",
        "generation #",
        "what",
        "owner",
        "last commit before",
        "first commit since",
        "without one for",
    )
    return table("Partitions that miss commits", columns, found, rows.in_all("commit_gaps"))


def _audit(rows: GroupRows) -> Table:
    sums: dict[str, list[int]] = {}
    names = ("request_count", "agree_count", "differ_count", "unpredicted_count", "race_count", "answer_used_count")
    for row in rows.of("audit_counts"):
        so_far = sums.setdefault(row["api"], [0] * len(names))
        sums[row["api"]] = [a + row[name] for a, name in zip(so_far, names, strict=True)]
    found = [TableRow((api, *(number(each) for each in counts))) for api, counts in sorted(sums.items())]
    columns = ("request", "in all #", "as predicted #", "otherwise #", "not predicted #", "races #", "answer used #")
    return table("How the replay did: the broker's answers beside its predictions", columns, found)


def _homes(rows: GroupRows) -> Table:
    found = [
        TableRow(
            (
                row["broker"] or "not known",
                number(row["observed_partition"]),
                number(row["computed_partition"]),
                number(row["epoch"]),
                span(row["from_at"], row["to_at"]) if row["to_at"] else f"since {moment(row['from_at'])}",
            )
        )
        for row in sorted(rows.of("coordinators"), key=lambda row: row["from_at"] or 0)
    ]
    columns = ("broker", "partition of __consumer_offsets #", "computed from the name #", "epoch #", "when")
    return table("Coordinators", columns, found, rows.in_all("coordinators"))


def agreement(agreed: int, differed: int) -> str:
    """Return the share of the answers that were predicted rightly."""
    return share(agreed, agreed + differed) if agreed + differed else "nothing to compare with"


def headline(page: GroupPage) -> str:
    """Return what a group's page begins with, in one sentence."""
    storms = sum(each.kind == "storm" for each in page.findings)
    slow = sum(each.kind == "revoker" for each in page.findings)
    bursts = len(page.findings) - storms - slow
    if not page.findings:
        return "No storm and no burst of fencing errors."
    parts = [count(storms, "storm")] * bool(storms) + [
        count(bursts, "burst of fencing errors", "bursts of fencing errors")
    ] * bool(bursts)
    parts += [count(slow, "slow revoker")] * bool(slow)
    return " and ".join(parts) + "."
