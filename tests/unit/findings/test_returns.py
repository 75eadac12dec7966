"""Who came back: each stay is the return of the latest that was over by then, held against looking through all."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from transforms.findings.clients import Client
from transforms.findings.returns import tie_returns
from transforms.findings.stay import Stay

SESSION_MS = 10

_ends = st.sampled_from(["left", "session_expired", "poll_timeout", "group_ended", None])
_clients = st.builds(Client, st.sampled_from(["a-1", "a-2", "b-1"]), st.sampled_from(["/h1", "/h2"]))
_moments = st.integers(0, 60).map(float)


@st.composite
def _stays(draw: st.DrawFn) -> list[Stay]:
    """Stays in the order in which they began, whatever their client was: evidence can be odd."""
    stays = []
    for number in range(draw(st.integers(0, 14))):
        joined, lasted = draw(st.none() | _moments), draw(st.none() | st.integers(0, 30).map(float))
        end = draw(_ends) if lasted is not None else None
        ended = None if lasted is None else (joined or 0.0) + lasted
        stays.append(Stay(f"m{number}", draw(_clients), joined, ended, end))
    return sorted(stays, key=lambda stay: float("-inf") if stay.joined_at is None else stay.joined_at)


@given(_stays())
def test_returns_are_tied_as_looking_through_all_stays_ties_them(stays: list[Stay]) -> None:
    tie_returns(stays, SESSION_MS)
    place = {id(stay): number for number, stay in enumerate(stays)}
    tied = {place[id(stay)]: place[id(stay.before)] for stay in stays if stay.before is not None}
    assert tied == _by_looking_through(stays)
    for stay in stays:
        assert stay.before is None or stay.before.after is stay
        assert stay.origin == (stay.client if stay.before is None else stay.before.origin)


def _by_looking_through(stays: list[Stay]) -> dict[int, int]:
    """By the place of a stay: that of the one which it returns to."""
    found: dict[int, int] = {}

    def tie(number: int, candidates: list[int]) -> None:
        at = stays[number].joined_at
        gone = [
            (stays[each].ended_at, -each)
            for each in candidates
            if each not in found.values() and at is not None and _is_gone(stays[each], at)
        ]
        if gone:
            found[number] = -max(gone)[1]  # of those that ended at once, the first

    def alike(number: int, other: int, kind: int) -> bool:
        return stays[number].client.kinds[kind] == stays[other].client.kinds[kind]

    everybody = range(len(stays))
    for number in everybody:
        tie(number, [each for each in everybody if stays[each].client.key == stays[number].client.key])
    first: dict[object, int] = {}
    for number in everybody:
        if stays[number].joined_at is not None:
            first.setdefault(stays[number].client.key, number)
    for number in first.values():
        for kind in range(2):
            if number not in found:
                tie(number, [each for each in everybody if alike(number, each, kind)])
    return found


def _is_gone(stay: Stay, at: float) -> bool:
    if stay.ended_at is None or stay.end_cause in (None, "group_ended"):
        return False
    silent_ms = SESSION_MS if stay.end_cause == "session_expired" else 0
    return (stay.joined_at is None or stay.joined_at < at) and stay.ended_at - silent_ms <= at
