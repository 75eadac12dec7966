"""Who stands behind a member: its client, and which clients stand in for each other.

A client is known by its `group.instance.id`; without one by `client.id` and host. It may come back on another host, or
as another of its kind ("etl-7f9c-x2b1" after "etl-7f9c-k8d4"): a container that is scheduled anew, or a deploy that
puts another in its place.
"""

from __future__ import annotations

import re

import msgspec

_SEPARATORS = re.compile(r"[-_.:@/#]")

_POD = re.compile(r"(?:-[bcdf-hj-np-tv-xz2456789]{6,10})?-[bcdf-hj-np-tv-xz2456789]{5}\Z")
"""What Kubernetes puts behind the name of a Deployment or a ReplicaSet: without vowels, 0, 1 and 3, so that no word is
made by chance (k8s.io/apimachinery/pkg/util/rand)."""


def stem(client_id: str) -> str:
    """Return what clients that stand in for each other have in common: the id without pods and numbers at its end."""
    words = _SEPARATORS.split(_POD.sub("", client_id))
    while len(words) > 1 and any(letter.isdigit() for letter in words[-1]):
        words.pop()
    return " ".join(words)


Key = tuple[str | None, ...]
"""What tells two clients, or two kinds of them, apart."""


def key_of(client_id: str | None, client_host: str | None, group_instance_id: str | None = None) -> Key:
    """Return what tells a client from others."""
    return (group_instance_id,) if group_instance_id else (client_id, client_host)


class Client(msgspec.Struct, frozen=True):
    """Who stands behind a member."""

    client_id: str | None
    client_host: str | None
    group_instance_id: str | None = None

    @property
    def key(self) -> Key:
        """What tells two clients apart."""
        return key_of(self.client_id, self.client_host, self.group_instance_id)

    @property
    def own(self) -> Key:
        """What stands for the client itself, beside `kinds`."""
        return ("", *self.key)

    @property
    def kinds(self) -> tuple[tuple[str, str], ...]:
        """What clients have in common that stand in for each other: the client id, or what it begins with."""
        if self.group_instance_id or not self.client_id:
            return ()
        return ("same", self.client_id), ("alike", stem(self.client_id))
