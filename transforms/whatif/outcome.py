"""What a prediction says, as the keys of the job's JSON, and in words."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any

from transforms.whatif.change import Change, is_refused
from transforms.whatif.evidence import Depth, Evidence
from transforms.whatif.figures import Figures, Window, observed
from transforms.whatif.pauses import Pauses, pauses_of
from transforms.whatif.prediction import Prediction, leaves_traces, predict
from transforms.whatif.price import Death

_DEPTHS = {Depth.RECORDS: "records only", Depth.LINES: "broker log", Depth.REQUESTS: "request log"}
_NAMED = 20
"""Deaths that are named one by one; the rest is counted."""


def answer(evidence: Evidence, change: Change, window: Window | None = None) -> Mapping[str, Any]:
    """Answer what a change would have made of a group's history, as plain values.

    Args:
        evidence: the group's.
        change: what would have been otherwise.
        window: what counts; None = all that is known.

    Raises:
        SettingsError: the broker would refuse the change.
    """
    if change.protocol is None:
        return outcome(evidence, change, predict(evidence, change, window))
    whole = window or Window(evidence.begins_at, evidence.ends_at + 1.0)
    return _without_barrier(evidence, whole, pauses_of(evidence, whole))


def _without_barrier(evidence: Evidence, window: Window, found: Pauses) -> Mapping[str, Any]:
    """What is known of a group that speaks the consumer protocol: not its epochs, only who would not have waited."""
    is_known = bool(found.observed or not found.not_known)
    return {
        **_observed(evidence, window, observed(evidence, window)),
        "pauses_observed": found.observed if is_known else None,
        "pauses_avoided": found.avoided if is_known else None,
        "pause_ms_observed": _rounded(found.observed_ms) if is_known else None,
        "pause_ms_avoided": _rounded(found.avoided_ms) if is_known else None,
        "price": {
            "deaths_noticed_later": None,
            "later_by_ms_low": None,
            "later_by_ms_high": None,
            "deaths": [],
            "text": "not known: the session is then a setting of the broker (group.consumer.session.timeout.ms)",
        },
        "notes": _notes_of_pauses(found),
    }


def _observed(evidence: Evidence, window: Window, seen: Figures) -> dict[str, Any]:
    """Return what was observed, with a place beside each figure for what is predicted."""
    return {
        "from": _iso(window.begins_at),
        "to": _iso(window.ends_at),
        "evidence": _DEPTHS[evidence.depth],
        "rebalances_observed": seen.rebalances,
        "rebalances_predicted_low": None,
        "rebalances_predicted_high": None,
        "unstable_ms_observed": _rounded(seen.unstable_ms),
        "unstable_ms_predicted_low": None,
        "unstable_ms_predicted_high": None,
        "partitions_moved_observed": seen.partitions_moved,
        "partitions_moved_predicted": None,
    }


def _notes_of_pauses(found: Pauses) -> list[str]:
    said = [
        "a pause is a rebalance that a member with partitions lived through; it is avoided if the member kept all that "
        "it had, with the partitions shared out as they were: the broker's assignor may share them out otherwise",
        "who comes or goes begins a rebalance in a consumer group as well, for which nobody waits but those who give "
        "partitions up, or get them: how many there would have been is not foretold",
    ]
    if found.partly:
        said.append(f"pauses of those partitions only that the member gave up, beside these: {found.partly}")
    if found.cooperative:
        said.append(
            "rebalances that were cooperative, in which members kept what they had, are not counted: "
            f"{found.cooperative}"
        )
    if found.not_known:
        said.append(
            f"rebalances of which it is not known who had what, or how the assignor goes about it: {found.not_known}"
        )
    return said


def outcome(evidence: Evidence, change: Change, found: Prediction) -> Mapping[str, Any]:
    """Return a prediction as plain values; None = not known."""
    unstable = found.unstable_ms
    return {
        **_observed(evidence, found.window, found.observed),
        "rebalances_predicted_low": round(found.rebalances.low),
        "rebalances_predicted_high": _rounded(found.rebalances.high),
        "unstable_ms_predicted_low": None if unstable is None else round(unstable.low),
        "unstable_ms_predicted_high": None if unstable is None else _rounded(unstable.high),
        "partitions_moved_predicted": found.partitions_moved,
        "price": {
            "deaths_noticed_later": len(found.price),
            "later_by_ms_low": _rounded(min((death.later_by_ms for death in found.price), default=None)),
            "later_by_ms_high": _latest(found.price),
            "deaths": [_death(death) for death in found.price],
            "text": price_text(found.price),
        },
        "notes": notes(evidence, change, found),
    }


def price_text(deaths: list[Death]) -> str:
    """Say what the change costs, in one line."""
    if not deaths:
        return "no death is noticed later"
    named = [f"{_who(death)} {_by(death)}" for death in deaths[:_NAMED]]
    rest = [f"{len(deaths) - _NAMED} more"] if len(deaths) > _NAMED else []
    word = "death is" if len(deaths) == 1 else "deaths are"
    return f"{len(deaths)} {word} noticed later: " + "; ".join([*named, *rest])


def notes(evidence: Evidence, change: Change, found: Prediction) -> list[str]:
    """Say what the reader must know to trust the figures."""
    said = []
    if evidence.depth is not Depth.REQUESTS:
        said.append(
            f"known from {_DEPTHS[evidence.depth]}: when members fell silent, and whether a client that came back had "
            "died or slept, is inferred; a request log shows it"
        )
    if not leaves_traces(evidence, change):
        said.append(
            "what was allowed before and would not be left no trace: there may be more rebalances than predicted"
        )
    if found.partitions_moved is None:
        said.append("the group's assignor is not one of Kafka's: what it would have moved is not known")
    if found.observed.unstable_ms is None:
        said.append("when rebalances began is not known: neither is the unstable time")
    if not evidence.is_told and change.initial_delay_ms is None:
        said.append("the broker's own settings are not in the log: Kafka's defaults are taken")
    if not evidence.is_told and is_refused(change, evidence.settings):
        least, most = evidence.settings.min_session_timeout_ms, evidence.settings.max_session_timeout_ms
        said.append(
            f"by Kafka's defaults the broker refuses such a session: it has to allow it first "
            f"(group.min.session.timeout.ms {least}, group.max.session.timeout.ms {most})"
        )
    return said


def _death(death: Death) -> dict[str, Any]:
    return {
        "client_id": death.client_id,
        "client_host": death.client_host,
        "group_instance_id": death.group_instance_id,
        "at": _iso(death.at),
        "noticed_after_ms_observed": _rounded(death.noticed_after_ms),
        "noticed_after_ms_predicted_low": _rounded(death.low_ms),
        "noticed_after_ms_predicted_high": _rounded(death.high_ms),
    }


def _who(death: Death) -> str:
    return f"{death.client_id or death.group_instance_id or 'not known'} at {death.client_host or 'not known'}"


def _by(death: Death) -> str:
    low = death.later_by_ms / 1000
    if death.high_ms is None:
        return f"by {low:.1f} s at least"
    return f"by {low:.1f} to {(death.high_ms - (death.noticed_after_ms or 0.0)) / 1000:.1f} s"


def _latest(deaths: list[Death]) -> int | None:
    """Return the most by which a death is noticed later; None where one is not noticed to the end, or there is none."""
    most = [death.high_ms - (death.noticed_after_ms or 0.0) for death in deaths if death.high_ms is not None]
    return round(max(most)) if most and len(most) == len(deaths) else None


def _rounded(value: float | None) -> int | None:
    return None if value is None else round(value)


def _iso(at: float) -> str:
    return datetime.fromtimestamp(at / 1000, timezone.utc).isoformat(timespec="milliseconds")
