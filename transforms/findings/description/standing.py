"""Where a group of epochs stands: its epochs, and its members with what they have, are to have and wait for."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

AWAY = -2
"""Epoch of a static member that went and said that it will be back (LEAVE_GROUP_STATIC_MEMBER_EPOCH)."""

GIVES_UP = "UNREVOKED"
"""Begin of the states of a member that is to give something up first; in all others it waits for others."""


class Part(Struct, frozen=True, order=True):
    """A partition, or a streams task; `topic` is then its subtopology and `role` what it is to its member."""

    topic: str
    partition: int
    role: str = ""


class Epochs(Struct, frozen=True):
    """How far a group's epochs have come.

    Attributes:
        group_epoch: the newest epoch.
        assignment_epoch: the newest epoch whose targets were computed; 0 = none was, as brokers have it.
        computed_at: when they were (epoch ms).
        assignor: the server's assignor that computed them.
        before: the epoch before the newest; None = none is known.
        is_reached: all members of the assignment epoch had got to their targets.
    """

    group_epoch: int
    assignment_epoch: int = 0
    computed_at: float | None = None
    assignor: str | None = None
    before: int | None = None
    is_reached: bool = False

    @property
    def told_of(self) -> set[int]:
        """The epochs whose rows of `gold.generation_members` are asked for."""
        return {self.group_epoch, self.assignment_epoch, *(() if self.before is None else (self.before,))}


class Wait(Struct, frozen=True):
    """What a member was about.

    Attributes:
        state: the member's state.
        since: since when (epoch ms).
        parts: what it had still to give up, or still waited for.
        holders: of what it waited for, who had what still.
    """

    state: str
    since: float | None
    parts: tuple[Part, ...]
    holders: Mapping[str, tuple[Part, ...]]

    @property
    def gives_up(self) -> bool:
        """Whether the member is to give something up, and does not wait for others."""
        return self.state.startswith(GIVES_UP)


class Subscription(Struct, frozen=True):
    """What a member is and wants.

    Attributes:
        topics: what it subscribes to, by name or by its regular expression; None = not known, or a topology says it.
        regex: the regular expression; None = none.
        protocol: what it speaks, in a consumer group.
        rack_id: where it is.
        topology_epoch: that of the topology that it runs, in a streams group.
        process_id: process whose thread it is, likewise.
        user_endpoint: where it answers queries, as host:port, likewise; None = nowhere.
        client_tags: its tags, likewise.
    """

    topics: tuple[str, ...] | None = None
    regex: str | None = None
    protocol: str | None = None
    rack_id: str | None = None
    topology_epoch: int | None = None
    process_id: str | None = None
    user_endpoint: str | None = None
    client_tags: Mapping[str, str] | None = None


class Member(Struct, frozen=True):
    """Where a member stood.

    Attributes:
        epoch: its epoch; AWAY = it left for a while; None = not known.
        owned: its current assignment.
        revoking: what was taken away from it and not yet given back.
        target_count: how many partitions or tasks the newest target has for it; None = not known.
        target: which; None = not known.
        wait: what it was about; None = nothing.
        subscription: what it is and wants; None = not known.
    """

    epoch: int | None
    owned: tuple[Part, ...]
    revoking: tuple[Part, ...]
    target_count: int | None
    target: tuple[Part, ...] | None
    wait: Wait | None
    subscription: Subscription | None = None


class Orphan(Struct, frozen=True, order=True):
    """A partition, or a task, that nobody had although the group was Stable.

    Attributes:
        since: since when (epoch ms).
        member_id: who was to have it; in a share group the first by id of several.
        part: which.
    """

    since: float
    member_id: str
    part: Part


class SharePartitions(Struct, frozen=True):
    """What a share group can give out.

    Attributes:
        initialised: partitions that have a share state, which alone are given to members.
        initialising: those whose share state is being made.
        deleting: topics whose share state is being deleted.
    """

    initialised: tuple[Part, ...] = ()
    initialising: tuple[Part, ...] = ()
    deleting: tuple[str, ...] = ()


class Subtopology(Struct, frozen=True):
    """A part of a topology that tasks are made of, with its topics by name, or by regular expression.

    Attributes:
        sources: topics that it reads.
        repartition_sources: topics that it reads, and another subtopology fills.
        repartition_sinks: topics that it fills for others.
        changelogs: topics that keep its state.
    """

    subtopology: str
    sources: tuple[str, ...] = ()
    repartition_sources: tuple[str, ...] = ()
    repartition_sinks: tuple[str, ...] = ()
    changelogs: tuple[str, ...] = ()


class Topology(Struct, frozen=True):
    """What the members of a streams group run.

    Attributes:
        validated_epoch: the newest whose topics were there as they have to be; None = none, or the release tells not.
    """

    epoch: int
    validated_epoch: int | None
    subtopologies: tuple[Subtopology, ...] = ()


class Standing(Struct, frozen=True):
    """Where a group of epochs stood.

    Attributes:
        members: its members by their ids.
        orphans: what nobody had.
        share_partitions: what it can give out; None = it is no share group, or not known.
        topology: what its members run; None = it is no streams group, or not known.
    """

    epochs: Epochs
    members: Mapping[str, Member]
    orphans: tuple[Orphan, ...] = ()
    share_partitions: SharePartitions | None = None
    topology: Topology | None = None
