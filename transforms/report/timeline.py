"""A group's life as a chart: its states and generations, what set off its rebalances, its members, who owned what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec.structs import asdict

from transforms.findings.rebalances import lasted_ms
from transforms.report.charts import Band, Bar, Chart, Mark, Panel, bar, owner_colour, panel
from transforms.report.epochs import nobodys, ways
from transforms.report.names import generation_anchor
from transforms.report.rows import GroupRows, Row, owner_names, rebalanced_at, step_word
from transforms.report.words import client, count, duration, moment, span, words

MOST_LANES = 120
"""Lanes of one panel that can still be told apart by scrolling."""


_STANDING_BY = ("standby", "warmup")
"""Roles in which a task is kept up to date and not worked on: it is drawn as an outline."""


def timeline(rows: GroupRows) -> Chart | None:
    """Return the chart of a group; None where no moment of its life is known."""
    colours = _owner_colours(rows)
    panels = [
        _states(rows),
        _triggers(rows),
        _members(rows, colours),
        ways(rows, _left_out(rows, "reconciliations", "stretches of time")),
        _ownership(rows, colours),
    ]
    panels = [each for each in panels if each["bars"] or each["marks"]]
    moments = [each["begin"] for one in panels for each in one["bars"]]
    moments += [each["at"] for one in panels for each in one["marks"]]
    if not moments:
        return None
    ends = [each["end"] for one in panels for each in one["bars"]]
    is_over = all(end is not None for end in ends)
    last = max([*moments, *(end for end in ends if end is not None)])
    return {
        "since": min(moments),
        "last": last,
        "is_over": is_over,
        "panels": panels,
        "bands": _bands(rows),
        "owners": [[name, colour] for name, colour in colours.items()][:24],
        "states": list(dict.fromkeys(row["to_state"] for row in rows.of("transitions"))),
    }


def _states(rows: GroupRows) -> Panel:
    steps = sorted(rows.of("transitions"), key=lambda row: (row["life"], row["seq"]))
    known = [row for row in steps if row["at"] is not None]
    bars = [*_generation_bars(rows)]
    for place, row in enumerate(known):
        end = known[place + 1]["at"] if place + 1 < len(known) else None
        # Two witnesses of one step can be a few ms apart: never draw backwards.
        end = None if end is None else max(end, row["at"])
        took = [] if end is None else [f"for {duration(end - row['at'])}"]
        how = f"{words(row['event'])}, {'inferred' if row['is_inferred'] else 'seen in ' + words(row['source'])}"
        tip = [row["to_state"], f"since {moment(row['at'])}", *took, how, f"{step_word(row)} {row['generation']}"]
        bars.append(bar(1, row["at"], end, f"state-{row['to_state']}", row["to_state"], tip))
    return panel("states", [rows.step(), "state"], bars, note=_left_out(rows, "transitions", "state changes"))


def _generation_bars(rows: GroupRows) -> list[Bar]:
    """Return a field for each generation, from its rebalance to the next one, or to the end of its life."""
    known = [(at, row) for row in rows.generations() if (at := rebalanced_at(row)) is not None]
    bars = []
    for place, (at, row) in enumerate(known):
        following = known[place + 1] if place + 1 < len(known) else None
        is_last_of_life = following is None or following[1]["life"] != row["life"]
        end = row["ended_at"] if is_last_of_life or following is None else following[0]
        colour = "abandoned" if row["outcome"] == "abandoned" else f"generation-{row['generation'] % 2}"
        end = None if end is None else max(end, at)
        bars.append(bar(0, at, end, colour, str(row["generation"]), generation_tip(row)))
    return bars


def generation_tip(row: Row) -> list[str]:
    """Return what there is to say of a generation, a line each."""
    tip = [f"{step_word(row)} {row['generation']}: {words(row['trigger'])}", moment(rebalanced_at(row))]
    if row["trigger_client_id"]:
        tip.append(f"by {client(row['trigger_client_id'], row['trigger_client_host'])}")
    if row["reason"]:
        tip.append(f"“{row['reason']}”")
    outcome = words(row["outcome"]) if row["outcome"] else "outcome not known"
    tip.append(f"{outcome} after {duration(row['rebalance_ms'])}" if row["rebalance_ms"] is not None else outcome)
    if row["member_count"] is not None:
        tip.append(count(row["member_count"], "member"))
    if row["partitions_moved"] is not None:
        tip.append(f"{row['partitions_moved']} of {count(row['partitions_total'], 'partition')} moved")
    return tip


def _triggers(rows: GroupRows) -> Panel:
    rebalances = [row for row in _whole(rows) if rebalanced_at(row) is not None]
    counted = Counter(row["trigger"] for row in rebalances)
    lanes = [name for name, _ in sorted(counted.items(), key=lambda item: (-item[1], item[0]))]
    marks = [
        Mark(
            lane=lanes.index(row["trigger"]),
            at=at,
            colour="rebalance",
            tip=generation_tip(row),
            link=generation_anchor(row["life"], row["generation"]),
        )
        for row in rebalances
        if (at := rebalanced_at(row)) is not None
    ]
    names = [f"{words(name)} ×{counted[name]}" for name in lanes]
    return panel(
        "rebalances, by what set them off",
        names,
        marks=marks,
        note=_left_out(rows, "generations", rows.step(is_many=True)),
    )


def _whole(rows: GroupRows) -> list[Row]:
    """Return a row for each rebalance, in order of the generations: of several bumps, what they come to."""
    whole = [{**asdict(row), "rebalance_ms": lasted_ms(row)} for row in rows.rebalances()]
    return sorted(whole, key=lambda row: (row["life"], row["generation"]))


def _members(rows: GroupRows, colours: dict[str, str]) -> Panel:
    """Return a lane for each member under the name that it comes back with, a bar for each of its stays."""
    known = sorted(_dated(rows), key=lambda row: row["joined_at"])
    names = owner_names(known)
    lanes = list(dict.fromkeys(names))
    bars = []
    for row, name in zip(known, names, strict=True):
        ended = [] if row["ended_at"] is None else [f"until {moment(row['ended_at'])}: {words(row['end_cause'])}"]
        tip = [name, row["member_id"], f"joined {moment(row['joined_at'])}", *ended, _generations_of(row)]
        label = words(row["end_cause"]) if row["end_cause"] else ""
        end = None if row["ended_at"] is None else max(row["ended_at"], row["joined_at"])
        bars.append(bar(lanes.index(name), row["joined_at"], end, colours.get(name, "owner-0-0"), label, tip))
    return _cut("members, and how they went", lanes, bars, _left_out(rows, "member_sessions", "memberships"))


def _dated(rows: GroupRows) -> Iterator[Row]:
    """Yield the stays that are dated; those that a conversion took along began with the life that it began."""
    begins: dict[int, float] = {}
    for row in rows.of("transitions"):
        if row["life"] > 1 and row["at"] is not None:
            begins[row["life"]] = min(row["at"], begins.get(row["life"], row["at"]))
    for row in rows.of("member_sessions"):
        at = row["joined_at"] or begins.get(row["life"])
        if at is not None:
            yield {**row, "joined_at": at}


def _generations_of(row: Row) -> str:
    if row["first_generation"] is None:
        return f"in no {step_word(row)}"
    if row["first_generation"] == row["last_generation"]:
        return f"in {step_word(row)} {row['first_generation']}"
    return f"{step_word(row, is_many=True)} {row['first_generation']} to {row['last_generation']}"


def _ownership(rows: GroupRows, colours: dict[str, str]) -> Panel:
    known = [row for row in rows.of("assignments") if row["valid_from"] is not None]
    lanes = sorted({(row["topic"], row["partition"]) for row in (*known, *rows.of("orphaned_partitions"))})
    places = {lane: place for place, lane in enumerate(lanes)}
    bars = nobodys(rows, places)
    for row, name in zip(known, owner_names(known), strict=True):
        place = places[row["topic"], row["partition"]]
        tip = [
            f"{row['topic']}-{row['partition']}: {name}",
            span(row["valid_from"], row["valid_to"]) if row["valid_to"] else f"since {moment(row['valid_from'])}",
            f"{step_word(row)} {row['generation']}",
            client(row["client_id"], row["client_host"]),
        ]
        colour, label = colours.get(name, "owner-0-0"), name
        if row.get("hold") == "revoking":
            tip.append("being revoked, and not yet given back")
            colour = "revoking"
        if row.get("role"):
            tip.append(f"as {row['role']} task")
        if row.get("role") in _STANDING_BY:
            colour, label = f"{colour}-standby", ""
        bars.append(bar(place, row["valid_from"], row["valid_to"], colour, label, tip))
    names = [f"{topic}-{partition}" for topic, partition in lanes]
    return _cut("who owned which partition", names, bars, _left_out(rows, "assignments"))


def _owner_colours(rows: GroupRows) -> dict[str, str]:
    """Return a colour for each owner, the same in all panels; those that come first have the plainest ones."""
    sessions = sorted(rows.of("member_sessions"), key=lambda row: row["joined_at"] or 0)
    assigned = sorted(rows.of("assignments"), key=lambda row: row["valid_from"] or 0)
    names = dict.fromkeys([*owner_names(sessions), *owner_names(assigned)])
    return {name: owner_colour(place) for place, name in enumerate(names)}


def _bands(rows: GroupRows) -> list[Band]:
    storms = [
        Band(
            begin=row["started_at"],
            end=None if row["is_open"] else row["ended_at"],
            label=f"storm: {row['rebalance_count']} rebalances",
            colour="storm",
        )
        for row in rows.of("rebalance_storms")
    ]
    bursts = [
        Band(
            begin=row["started_at"], end=row["ended_at"], label=f"{row['error_count']} × {row['error']}", colour="burst"
        )
        for row in rows.of("illegal_generation_bursts")
    ]
    return storms + bursts


def _cut(name: str, lanes: Sequence[str], bars: Sequence[Bar], note: str) -> Panel:
    """Return a panel of no more lanes than can be looked at, and say how many there are."""
    if len(lanes) > MOST_LANES:
        note = f"{note} The first {MOST_LANES} of {len(lanes):,} lanes are drawn.".strip()
        bars = [each for each in bars if each["lane"] < MOST_LANES]
    return panel(name, lanes[:MOST_LANES], bars, note=note)


def _left_out(rows: GroupRows, table: str, noun: str = "") -> str:
    shown, there = len(rows.of(table)), rows.in_all(table)
    return f"The newest {shown:,} of {there:,} {noun or table} are drawn." if there > shown else ""
