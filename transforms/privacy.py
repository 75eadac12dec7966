"""Hashes in the place of names of machines and processes: client ids, hosts, instance ids, and member ids.

The same name has the same hash wherever it stands, so that the replay goes on as it did. A member id that a broker made
up is its client's or instance's name, "-" and a UUID; the name alone is hashed, in the same way as in the columns of
its own: so who is whose stays known. Without the salt a hash tells nothing, with it anybody can try a name.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from schemas.privacy import names_clients
from transforms.findings.clients import stem

SHORTEST_SALT = 16
"""Characters; shorter ones can be guessed."""

_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_MADE_UP = re.compile(rf"(.*)-({_UUID})", re.DOTALL)
_MODERN_ID = re.compile(r"[A-Za-z0-9_+/-]{22}")
_LABEL = r"(?:group instance id |[iI]nstanceId=|clientId=|clientHost=|processId=)(?:Some\(|Optional\[|')?"
_WORD = r"[^\s,;:()\[\]{}'\"=]+"
_IN_TEXT = re.compile(
    rf"(?P<label>{_LABEL})(?P<labelled>[^\s,;()\[\]{{}}'\"=]+)"
    rf"|(?P<owner>{_WORD})-(?P<uuid>{_UUID})"
    r"|(?P<assigned>[^\s,{}=]+)(?==MemberAssignment\()"
    r"|(?P<host>/\d{1,3}(?:\.\d{1,3}){3})(?![\d.])"
)
_NOBODY = frozenset({"None", "null", "Optional.empty", "Some", "Optional"})
_KEPT = 100_000
_BYTES = 8
_PLACES = re.compile(r"hosts?$|^connection$")
_TEXTS = frozenset({"reason", "client_reason", "detail", "text", "exception", "metadata", "members", "assignment"})
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


class Pseudonyms:
    """Hashes of names, with one salt.

    Args:
        salt: secret that nobody else has.
    """

    def __init__(self, salt: str) -> None:
        self._key = hashlib.blake2b(salt.encode("utf-8")).digest()
        self.name = lru_cache(_KEPT)(self._name)
        self.host = lru_cache(_KEPT)(self._host)
        self.member_id = lru_cache(_KEPT)(self._member_id)

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel without what has been hashed so far."""
        return _with_key, (self._key,)

    @property
    def mark(self) -> str:
        """What tells one salt from another, and does not tell the salt."""
        return self._hash("which salt it is")

    def row(self, row: Mapping[Any, Any]) -> dict[Any, Any]:
        """Return a row of a silver table, or part of one, with its names hashed; nested values are mappings."""
        return {name: self.value(_snake(str(name)), value) for name, value in row.items()}

    def value(self, name: str, value: Any) -> Any:
        """Return what stands under a name, be it a column, a field, an attribute, or a key of JSON, hashed.

        Args:
            name: in snake case.
            value: of it.
        """
        if isinstance(value, str):
            return self._text_of(name, value)
        if isinstance(value, Mapping):
            return self.row(value)
        if isinstance(value, list | tuple):
            return [self.value(name, each) for each in value]
        return value

    def _text_of(self, name: str, value: str) -> str:
        if name == "body" or value.startswith(('["', "{")) and name.endswith(("_ids", "body")):
            return self._json(name, value)
        if names_clients(name):
            if "member" in name or "leader" in name:
                return self.member_id(value)
            return self.host(value) if _PLACES.search(name) else self.name(value)
        return self.text(value) if name in _TEXTS else value

    def _json(self, name: str, text: str) -> str:
        try:
            value = json.loads(text)
        except ValueError:
            return self.text(text)
        return json.dumps(self.value(name, value), ensure_ascii=False, separators=(",", ":"))

    def text(self, text: str) -> str:
        """Return text with the member ids and the addresses in it hashed, as far as they can be told from it."""
        return _IN_TEXT.sub(self._found, text)

    def _found(self, found: re.Match[str]) -> str:
        if found["host"]:
            return self.host(found["host"])
        if found["assigned"]:
            return self.member_id(found["assigned"])
        if found["uuid"]:
            return f"{self.name(found['owner'])}-{found['uuid']}"
        who = found["labelled"]
        hide = self.host if found["label"].startswith("clientHost") else self.name
        return found["label"] + (who if who in _NOBODY else hide(who))

    def _member_id(self, member_id: str) -> str:
        made_up = _MADE_UP.fullmatch(member_id)
        if made_up:
            return f"{self.name(made_up[1])}-{made_up[2]}"
        if _MODERN_ID.fullmatch(member_id):
            return member_id  # a UUID of a modern group's member: random, and nobody's name
        return self.name(member_id)

    def _name(self, name: str) -> str:
        """Return the hash of a name; one that is empty stays so, as it says that there is none.

        It is that of the name's stem and that of the name: findings know clients that stand in for each other by it.
        """
        return f"h{self._hash(stem(name))}-0{self._hash(name)}" if name else name

    def _host(self, host: str) -> str:
        """Return the hash of an address: nothing tells that two of them are of one network."""
        return f"h{self._hash(host)}" if host else host

    def _hash(self, text: str) -> str:
        data = text.encode("utf-8", "surrogatepass")
        return hashlib.blake2b(data, key=self._key, digest_size=_BYTES).hexdigest()


@lru_cache(1000)
def _snake(name: str) -> str:
    """Return a key of JSON as columns are named."""
    return _CAMEL.sub("_", name).lower()


def _with_key(key: bytes) -> Pseudonyms:
    made = Pseudonyms("")
    made._key = key
    return made
