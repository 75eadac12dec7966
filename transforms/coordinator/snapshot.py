"""A group as text, so that a later run can go on where an earlier one stopped."""

from __future__ import annotations

import base64
import json
from dataclasses import asdict
from typing import Any

from transforms.coordinator.group import Group, Member, Timer, Timers
from transforms.coordinator.states import GroupState

VERSION = 1
"""Version of the text; one that is not known is refused, and the group replayed from its first evidence."""


def dump(group: Group) -> str:
    """Return a group as JSON."""
    fields = asdict(group)
    fields["timers"] = [[*key, asdict(timer)] for key, timer in group.timers.items()]
    return json.dumps({"version": VERSION, "group": fields}, default=_encoded, separators=(",", ":"))


def load(text: str) -> Group:
    """Return the group that `dump` wrote.

    Raises:
        ValueError: the text is of a version that this code does not know.
    """
    stored = json.loads(text)
    if stored.get("version") != VERSION:
        raise ValueError(f"snapshot of version {stored.get('version')}, not {VERSION}")
    fields: dict[str, Any] = stored["group"]
    fields["state"] = GroupState(fields["state"])
    fields["previous_state"] = GroupState(fields["previous_state"])
    fields["members"] = {key: _member(member) for key, member in fields["members"].items()}
    fields["timers"] = Timers({(kind, of): Timer(**timer) for kind, of, timer in fields["timers"]})
    return Group(**fields)


def _encoded(value: object) -> str:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    raise TypeError(f"no JSON for {type(value).__name__}")


def _member(fields: dict[str, Any]) -> Member:
    fields["protocols"] = tuple((name, base64.b64decode(metadata)) for name, metadata in fields["protocols"])
    fields["assignment"] = base64.b64decode(fields["assignment"])
    return Member(**fields)
