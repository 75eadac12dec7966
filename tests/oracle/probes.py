"""What each probe of the oracle's texts asks, as data, relative to the group that the driver had set up.

The driver's group. Members: a leader and a follower, both static (instances "i1" and "i2"), offering one protocol,
"range", of type "consumer". EMPTY: they came and went, the generation is 2. PREPARING: the generation is 1, the
follower has come (its JoinGroup is parked), the leader has not. COMPLETING and STABLE: generation 2, without and with
the leader's assignment. DEAD: as STABLE, then marked dead by hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Who(str, Enum):
    """Whose member id a probe sends."""

    NOBODY = "nobody"
    LEADER = "leader"
    FOLLOWER = "follower"
    BOGUS = "bogus"
    PENDING = "pending"


class Offer(str, Enum):
    """What a JoinGroup offers as protocols."""

    SAME = "same"
    CHANGED = "changed"
    OTHER_NAME = "other name"
    WIDER = "wider"


LEADER_INSTANCE = "i1"
FOLLOWER_INSTANCE = "i2"
NEW_INSTANCE = "i-new"
PROTOCOL = "range"
PROTOCOL_TYPE = "consumer"
CURRENT = "current"
OLD = "old"


@dataclass(frozen=True)
class Probe:
    """One request.

    Attributes:
        api: Kafka's name of the API.
        who: whose member id is sent; PENDING is an id that the coordinator gave out just before.
        instance: instance id sent.
        version: version of the request.
        generation: `CURRENT`, `OLD` (one less) or a number.
        offer: protocols of a JoinGroup.
        protocol_type: protocol type sent in a JoinGroup or SyncGroup; None = not sent.
        protocol: protocol name sent in a SyncGroup; None = not sent.
    """

    api: str
    who: Who = Who.NOBODY
    instance: str | None = None
    version: int = 9
    generation: str | int = CURRENT
    offer: Offer = Offer.SAME
    protocol_type: str | None = None
    protocol: str | None = None


def _join(who: Who = Who.NOBODY, instance: str | None = None, version: int = 9, **more: object) -> Probe:
    return Probe("JoinGroup", who, instance, version, **{"protocol_type": PROTOCOL_TYPE, **more})  # type: ignore[arg-type]


def _sync(who: Who, **more: object) -> Probe:
    return Probe("SyncGroup", who, version=5, **more)  # type: ignore[arg-type]


def _beat(who: Who, **more: object) -> Probe:
    return Probe("Heartbeat", who, version=4, **more)  # type: ignore[arg-type]


def _leave(who: Who, instance: str | None = None) -> Probe:
    return Probe("LeaveGroup", who, instance, version=5)


def _commits() -> dict[str, Probe]:
    generations: dict[str, str | int] = {"-1": -1, "cur": CURRENT, "99": 99}
    members = {"": Who.NOBODY, "cur": Who.LEADER, "bogus": Who.BOGUS}
    apis = {"false": "OffsetCommit", "true": "TxnOffsetCommit"}
    return {
        f"validateOffsetCommit gen={generation_word} member={who_word} txn={txn}": Probe(
            api, who, version=8 if txn == "false" else 3, generation=generation
        )
        for generation_word, generation in generations.items()
        for who_word, who in members.items()
        for txn, api in apis.items()
    }


PROBES: dict[str, Probe] = {
    "Join v3 unknown id dynamic": _join(version=3),
    "Join v4+ unknown id dynamic": _join(),
    "Join unknown id, other protocol name": _join(offer=Offer.OTHER_NAME),
    "Join unknown id, other protocol type": _join(protocol_type="connect"),
    "Join bogus known id": _join(Who.BOGUS),
    "Join leader same metadata": _join(Who.LEADER),
    "Join leader new metadata": _join(Who.LEADER, offer=Offer.CHANGED),
    "Join follower same metadata": _join(Who.FOLLOWER),
    "Join follower new metadata": _join(Who.FOLLOWER, offer=Offer.CHANGED),
    "Join static new instance unknown id": _join(instance=NEW_INSTANCE),
    "Join static LEADER replaced unknown id v<9": _join(instance=LEADER_INSTANCE, version=8),
    "Join static LEADER replaced unknown id v9": _join(instance=LEADER_INSTANCE),
    "Join static FOLLOWER replaced unknown id v9": _join(instance=FOLLOWER_INSTANCE),
    "Join static follower unknown id v9 with only roundrobin added": _join(
        instance=FOLLOWER_INSTANCE, offer=Offer.WIDER
    ),
    "Join static known id right": _join(Who.FOLLOWER, FOLLOWER_INSTANCE),
    "Join static known id wrong member (fenced)": _join(Who.BOGUS, FOLLOWER_INSTANCE),
    "Join unknown instance with known id": _join(Who.FOLLOWER, NEW_INSTANCE),
    "Join second step of a pending member": _join(Who.PENDING),
    "Sync leader cur gen": _sync(Who.LEADER),
    "Sync follower cur gen": _sync(Who.FOLLOWER),
    "Sync old gen": _sync(Who.LEADER, generation=OLD),
    "Sync bogus member": _sync(Who.BOGUS),
    "Sync protocolType mismatch": _sync(Who.LEADER, protocol_type="connect"),
    "Sync protocolName mismatch": _sync(Who.LEADER, protocol="roundrobin"),
    "Sync fenced": _sync(Who.BOGUS, instance=FOLLOWER_INSTANCE),
    "HB cur gen": _beat(Who.LEADER),
    "HB old gen": _beat(Who.LEADER, generation=OLD),
    "HB bogus": _beat(Who.BOGUS),
    "HB fenced": _beat(Who.BOGUS, instance=FOLLOWER_INSTANCE),
    "HB unknown instance": _beat(Who.LEADER, instance=NEW_INSTANCE),
    "Leave leader": _leave(Who.LEADER),
    "Leave follower": _leave(Who.FOLLOWER),
    "Leave bogus": _leave(Who.BOGUS),
    "Leave static by instance only": _leave(Who.NOBODY, FOLLOWER_INSTANCE),
    "Leave static fenced": _leave(Who.BOGUS, FOLLOWER_INSTANCE),
    "Leave unknown instance only": _leave(Who.NOBODY, NEW_INSTANCE),
    "Leave pending member": _leave(Who.PENDING),
    **_commits(),
}
"""Title of a probe, as the oracle's texts print it, and what it asks."""
