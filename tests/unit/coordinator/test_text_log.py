"""Up to 2.7 the request log is text, which names whom a leader assigned to, and not what."""

from __future__ import annotations

from tests.unit.coordinator.evidence_rows import beat, join, line, member, prepare, record, replayed, sync


def test_who_takes_a_place_before_the_record_is_taken_has_what_the_record_gives_that_place():
    """A record is taken ten ms late; up to 2.4 there is none of a static member's new id."""
    static = {"group_instance_id": "b"}
    a, b = member("a", [0]), {**member("b", [1]), **static}
    lines = [
        line(900, "broker_version", group_id=None, attributes={"version": "2.4.1"}),
        prepare(2_000, 1),
        line(2_100, "stabilized", generation=2),
        line(2_110, "assignment_received", generation=2),
    ]
    told = [{"member_id": name, "assignment": None} for name in ("a", "b")]
    requests = [
        beat(1_500, "a", 1),
        join(2_000, "a", 2, parked_ms=100, answered_leader="a", answered_members=None),
        join(2_100, "b", 2, answered_leader="a", **static),
        sync(2_109, "a", 2, assignments=told),
        join(2_112, "", 2, given="b2", answered_leader="a", **static),
        beat(2_500, "b2", 2, **static),
    ]
    tables = replayed(lines, [record(1_000, 1, 1, a, b), record(2_110, 2, 2, a, b)], requests)
    held = {(r["generation"], r["member_id"]): (r["partition"], r["valid_from"]) for r in tables["assignments"]}
    assert held[2, "b"] == (1, 2_110)
    assert held[2, "b2"] == (1, 2_112)
