"""The replay's own record of how well it predicted the broker."""

from __future__ import annotations

from collections import Counter

from tests.support.truth import Truth
from tests.truth.timelines import Differences, Row, Tables

CLASSIC_APIS = (
    "JoinGroup",
    "SyncGroup",
    "Heartbeat",
    "LeaveGroup",
    "OffsetCommit",
    "TxnOffsetCommit",
    "DeleteGroups",
)
COMMITS = ("OffsetCommit", "TxnOffsetCommit")
PARTITION_ERRORS = (3, 12, 29)
"""Errors of single partitions of a commit: the broker's, not the group's, so the audit may leave them aside."""

CALM_SHARE = 1.0
CHAOTIC_SHARE = 0.999
RACE_SHARE = 0.005
UNPREDICTED_SHARE = 0.001

MODERN_GROUPS = frozenset({"modern-848", "share-pay", "streams-wc"})
"""Groups of the captures that no classic state machine can replay, as the captures' own description lists them."""


def _place(row: Row) -> tuple:
    return row["source_file"], row["line_number"], row["seq"]


def _is_race(row: Row) -> bool:
    return row["why"] is not None and row["why"].startswith("race")


def _words(row: Row) -> str:
    return (
        f"{row['group_id']} {row['api']} of {row['member_id']!r} at {row['at']} (line {row['line_number']}) in "
        f"{row['state_before']}: predicted {row['predicted_error']}/{row['predicted_generation']}, observed "
        f"{row['observed_error']}/{row['observed_generation']}, why {row['why']!r}"
    )


def audit_agrees(truth: Truth, tables: Tables) -> Differences:
    """Enough is predicted and predicted right, few rows are races, and every failure says why."""
    found = Differences()
    rows = tables["replay_audit"]
    predicted = [row for row in rows if row["agrees"] is not None]
    agreeing = sum(row["agrees"] for row in predicted)
    races = sum(_is_race(row) for row in rows)
    share = agreeing / len(predicted) if predicted else 0.0
    least = CALM_SHARE if truth.name.startswith("kafka") else CHAOTIC_SHARE
    found.expect(share >= least, f"{agreeing} of {len(predicted)} predictions agree: {share:.4f}, asked for {least}")
    found.expect(races <= RACE_SHARE * len(rows), f"{races} of {len(rows)} rows are races")
    silent = len(rows) - len(predicted)
    found.expect(silent <= UNPREDICTED_SHARE * len(rows), f"{silent} of {len(rows)} requests are not predicted")
    for row in rows:
        found.expect(bool(row["agrees"]) or bool(row["why"]), f"no reason given: {_words(row)}")
    return found


def audit_is_consistent(truth: Truth, tables: Tables) -> Differences:
    """`agrees` is what the four columns beside it say."""
    found = Differences()
    for row in tables["replay_audit"]:
        if row["agrees"] is None:
            continue
        is_equal = row["predicted_error"] == row["observed_error"]
        if row["api"] == "JoinGroup" and row["observed_error"] == 0 and is_equal:
            is_equal = row["predicted_generation"] == row["observed_generation"]
        found.expect(row["agrees"] == is_equal, f"agrees is {row['agrees']}: {_words(row)}")
    return found


def audit_is_complete(truth: Truth, tables: Tables) -> Differences:
    """Every request to a classic group has exactly one row, with the broker's answer in it, and nothing else has."""
    found = Differences()
    requests = {
        _place(row): row
        for row in tables["group_requests"]
        if row["api"] in CLASSIC_APIS and row["group_id"] not in MODERN_GROUPS
    }
    counts = Counter(_place(row) for row in tables["replay_audit"])
    for place, row in requests.items():
        found.expect(
            counts[place] == 1, f"{row['group_id']} {row['api']} at {place}: {counts[place]} rows in the audit"
        )
    for row in tables["replay_audit"]:
        request = requests.get(_place(row))
        if request is None:
            is_known = row["api"] not in CLASSIC_APIS or row["group_id"] in MODERN_GROUPS
            found.expect(is_known, f"no such request: {_words(row)}")
            continue
        answer = (request["group_id"], request["api"], request["error_code"])
        is_apart = request["api"] in COMMITS and request["error_code"] in PARTITION_ERRORS
        is_of_group = row["observed_error"] in (0, *(request["partition_errors"] or ()))
        is_right = (is_apart and is_of_group) or (row["group_id"], row["api"], row["observed_error"]) == answer
        found.expect(is_right, f"was answered {answer}: {_words(row)}")
        if row["api"] == "JoinGroup" and row["observed_error"] == 0:
            answered = request["answered_generation"]
            found.expect(row["observed_generation"] == answered, f"was answered generation {answered}: {_words(row)}")
    return found


def disagreements(tables: Tables) -> list[str]:
    """The rows that do not agree, in words: what to look at when the audit fails."""
    return [_words(row) for row in tables["replay_audit"] if not row["agrees"]]
