"""Hashes in the place of names: none is left, and the replay goes on as if they were the names."""

from __future__ import annotations

import json
import pickle
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.pure_pipeline import Tables, read_silver, replay
from tests.unit.findings import pure
from transforms.findings.clients import stem
from transforms.findings.storms.limits import StormLimits, Thresholds
from transforms.privacy import Pseudonyms

SALT = "correct horse battery staple"
UUID = "7d1e3c1a-0000-4000-8000-0123456789ab"
HASHED = Pseudonyms(SALT)

IN_ORDER_OF_IDS = frozenset({"assignor"})
"""Columns that Kafka's own order of member ids decides: hashes have another one."""


def test_a_name_has_one_hash_and_another_with_another_salt() -> None:
    assert HASHED.name("web-1") == Pseudonyms(SALT).name("web-1")
    assert HASHED.name("web-1") != HASHED.name("web-2")
    assert HASHED.name("web-1") != Pseudonyms("another salt altogether").name("web-1")
    assert HASHED.name("") == "", "that there is no name is no secret"


def test_a_member_id_begins_with_the_hash_of_its_client() -> None:
    assert HASHED.member_id(f"web-1-{UUID}") == f"{HASHED.name('web-1')}-{UUID}"
    assert HASHED.member_id("Zk3Pq0yQQ1-7n3e8F5uYxA") == "Zk3Pq0yQQ1-7n3e8F5uYxA", "a random id is nobody's name"
    assert HASHED.member_id("my-own-id") == HASHED.name("my-own-id")


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        (f"Adding new member web-1-{UUID} with group instance id None", "Adding new member {web-1}-UUID with group "
         "instance id None"),
        (f"removing member web-1-{UUID} with group instance id Some(i-1); client", "removing member {web-1}-UUID with "
         "group instance id Some({i-1}); client"),
        ("M(memberId='x', clientId='web 1', clientHost=/0:0:0:0:0:0:0:1, n=2)", None),
        ("connection from /10.1.2.3 lost", "connection from {/10.1.2.3} lost"),
        ("the leader joined again", "the leader joined again"),
    ],
)  # fmt: skip
def test_names_in_text_are_hashed_where_they_can_be_told(text: str, hidden: str | None) -> None:
    if hidden is None:
        assert "0:0:0" not in HASHED.text(text)
        return
    expected = re.sub(r"\{(/?)([^}]+)\}", _hash_of, hidden).replace("UUID", UUID)
    assert HASHED.text(text) == expected


def _hash_of(found: re.Match[str]) -> str:
    return HASHED.host(f"/{found[2]}") if found[1] else HASHED.name(found[2])


def test_clients_that_stand_in_for_each_other_are_still_known_as_such() -> None:
    first, second, other = (HASHED.name(name) for name in ("web-1", "web-2", "shop-1"))
    assert stem(first) == stem(second) == stem(HASHED.name("web"))
    assert stem(first) != stem(other)
    assert HASHED.host("/10.0.0.1")[:9] != HASHED.host("/10.0.0.2")[:9], "but not that hosts are of one network"


def test_nested_values_and_json_are_gone_through() -> None:
    row = {
        "members": [{"member_id": f"web-1-{UUID}", "client_host": "/10.0.0.1", "session_timeout_ms": 5}],
        "attributes": {"member_ids": json.dumps([f"web-1-{UUID}"]), "epoch": "3"},
        "body": '{"clientId":"web-1","userEndpoint":{"host":"pc-of-eve","port":80},"epoch":7}',
        "partition_errors": {22: 1},
        "group_id": "web-1",
    }
    web = HASHED.name("web-1")
    assert HASHED.row(row) == {
        "members": [{"member_id": f"{web}-{UUID}", "client_host": HASHED.host("/10.0.0.1"), "session_timeout_ms": 5}],
        "attributes": {"member_ids": f'["{web}-{UUID}"]', "epoch": "3"},
        "body": f'{{"clientId":"{web}","userEndpoint":{{"host":"{HASHED.host("pc-of-eve")}","port":80}},"epoch":7}}',
        "partition_errors": {22: 1},
        "group_id": "web-1",
    }


def test_the_salt_does_not_travel() -> None:
    travelled = pickle.dumps(HASHED)
    assert SALT.encode() not in travelled
    assert pickle.loads(travelled).name("web-1") == HASHED.name("web-1")
    assert SALT not in HASHED.mark


@pytest.mark.parametrize("capture", ["kafka-4.2.0", "chaos-2.1.1", "chaos-3.9.1", "modern-4.2.0"])
def test_no_name_of_a_captured_client_is_left(capture_dir: Callable[[str], Path], capture: str) -> None:
    silver = read_silver(capture_dir(capture))
    names = {name for rows in silver.values() for row in rows for name in _names("", row)}
    assert len(names) > 40
    in_order = sorted(map(re.escape, names), key=len, reverse=True)
    any_name = re.compile(rf"(?<![\w.-])(?:{'|'.join(in_order)})(?![\w.])")
    for table, rows in _hidden(silver).items():
        for row in rows if table != "rejected" else ():
            shown = {name: value for name, value in row.items() if name not in ("group_id", "topic")}
            found = any_name.search(json.dumps(shown, default=lambda _: ""))
            assert not found, (table, found, row)


def test_the_replay_of_hashes_gives_the_hashes_of_the_replay(capture_dir: Callable[[str], Path]) -> None:
    silver = read_silver(capture_dir("kafka-4.2.0"))
    of_names, of_hashes = replay(silver), replay(_hidden(silver))
    for table, rows in _hidden(of_names).items():
        assert _comparable(of_hashes[table]) == _comparable(rows), table


def test_what_is_found_among_hashes_is_what_is_found_among_names(capture_dir: Callable[[str], Path]) -> None:
    """All but the advice, in whose sentences names stand."""
    silver = read_silver(capture_dir("kafka-4.2.0"))
    named, hashed = ({**tables, **replay(tables)} for tables in (silver, _hidden(silver)))
    limits = Thresholds(StormLimits(window_ms=60_000))
    for found, of_hashes in (
        (pure.storms(named, limits), pure.storms(hashed, limits)),
        (pure.bursts(named, 5_000, 5), pure.bursts(hashed, 5_000, 5)),
    ):
        assert len(found) == len(of_hashes) > 0
        for row, other in zip(found, of_hashes, strict=True):
            assert {**HASHED.row(row), "advice": ""} == {**other, "advice": ""}


def _hidden(tables: Tables) -> Tables:
    return {table: [HASHED.row(row) for row in rows] for table, rows in tables.items()}


def _names(name: str, value: Any) -> Iterator[str]:
    """Names of clients in a row, by what their columns and keys are called."""
    if isinstance(value, dict):
        for inner, each in value.items():
            yield from _names(inner, json.loads(each) if inner == "body" and each else each)
    elif isinstance(value, list):
        for each in value:
            yield from _names(name, each)
    elif name in ("client_id", "client_host", "group_instance_id", "clientId", "clientHost", "instanceId") and value:
        yield value


def _comparable(rows: list[dict[str, Any]]) -> Counter[str]:
    """Rows in any order, the ids in their lists too."""
    return Counter(
        str(
            sorted(
                (name, str(sorted(value) if name.endswith("_member_ids") and value else value))
                for name, value in row.items()
                if name not in IN_ORDER_OF_IDS
            )
        )
        for row in rows
    )
