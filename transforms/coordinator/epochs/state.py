"""What is known of a group of epochs beside its machine: a plain value that can be put down and taken up again."""

from __future__ import annotations

from msgspec import Struct, field

from schemas.rows import GenerationRow
from transforms.coordinator.epochs.protocol import Part


class Hold(Struct, array_like=True, gc=False):
    """A partition that a member has.

    Attributes:
        how: as `schemas.words.HOLDS` has it.
        epoch: the member's epoch since when it has it so.
        since: from when.
    """

    part: Part
    how: str
    epoch: int
    since: float


class Wait(Struct, array_like=True, gc=False):
    """A member that is to give partitions up, waits for some, or is away.

    Attributes:
        seq: its number in the life of the group.
        state: as `schemas.words.WAITING_STATES` has it.
        parts: what it is to give up, waits for, or keeps.
        holders: members that had what it waits for.
    """

    seq: int
    state: str
    epoch: int
    since: float
    parts: tuple[Part, ...]
    holders: set[str] = field(default_factory=set)


class Orphan(Struct, array_like=True, gc=False):
    """A partition that the target gives to a member, and nobody has although the group is Stable.

    Attributes:
        member_id: whom the target gives it to.
        epoch: the group's epoch.
        since: from when.
    """

    part: Part
    member_id: str
    epoch: int
    since: float


class ShareState(Struct, array_like=True, gc=False):
    """What has become of the share state of a partition.

    Attributes:
        state: as `schemas.words.SHARE_STATES` has it.
        since: from when.
    """

    topic: str
    partition: int
    state: str
    since: float


class OpenEpoch(Struct, array_like=True):
    """The group's present epoch.

    Attributes:
        bump_count: see `schemas.columns`; None = a rebalance that it began is under way.
        is_logged: a line tells of it.
        replaced: by id of the heir, the member that it replaced inside the epoch, as a row would show that one.
        told: by member, when it got to the epoch.
        changed: by member, when it changed what it wants or is, last.
    """

    epoch: int
    bump_count: int | None = 0
    missing_before: int = 0
    preparing_at: float | None = None
    completing_at: float | None = None
    stable_at: float | None = None
    emptied_at: float | None = None
    trigger: str = "unknown"
    member_id: str | None = None
    client_id: str | None = None
    client_host: str | None = None
    reason: str | None = None
    client_reason: str | None = None
    is_inferred: bool = False
    is_logged: bool = False
    protocol: str | None = None
    assignor: str | None = None
    partitions_total: int | None = None
    partitions_moved: int | None = None
    replaced: dict[str, str] = field(default_factory=dict)
    told: dict[str, float] = field(default_factory=dict)
    changed: dict[str, float] = field(default_factory=dict)

    def forget(self, member_id: str) -> None:
        """Forget a member that went, of which all has been told."""
        self.replaced.pop(member_id, None)
        self.told.pop(member_id, None)
        self.changed.pop(member_id, None)


Topics = tuple[str, ...] | None


class EpochState(Struct, array_like=True):
    """A group as its records make it, over time; its machine stands beside it.

    Attributes:
        life: its life; 0 = it is not there.
        stands: state of the group after the last operation.
        open: its present epoch.
        began: row of the epoch that began the rebalance under way, if that was superseded.
        bumps: bumps of the rebalance under way; 0 = none is.
        last_epoch: number of the epoch before the present one; 0 = none is known.
        joined_at: by member, when it came.
        stays: by member id, for those that went, how many stays it had.
        holds: by member, what it has.
        waits: by member, what it is about.
        wait_count: waits of this life so far.
        has_target: targets were computed before, in this life.
        gone_targets: what members were to have that went since targets were computed last, and have no heir to it.
        stable_members: who was in the last epoch that became Stable, with topics; None = there was none, or not known.
        is_from_start: all of the life's epochs were seen.
        are_targets_known: what the members were to have was seen whole; None = not yet, False = an epoch is missing.
        orphans: what targets give to members, and nobody has.
        share_states: of a share group, what has become of the share state of its partitions.
    """

    life: int = 0
    stands: str | None = None
    open: OpenEpoch | None = None
    began: GenerationRow | None = None
    bumps: int = 0
    last_epoch: int = 0
    joined_at: dict[str, float] = field(default_factory=dict)
    stays: dict[str, int] = field(default_factory=dict)
    holds: dict[str, list[Hold]] = field(default_factory=dict)
    waits: dict[str, Wait] = field(default_factory=dict)
    wait_count: int = 0
    has_target: bool = False
    gone_targets: list[tuple[tuple[str | None, ...], tuple[Part, ...]]] = field(default_factory=list)
    stable_members: dict[str, Topics] | None = None
    is_from_start: bool = False
    are_targets_known: bool | None = None
    orphans: list[Orphan] = field(default_factory=list)
    share_states: list[ShareState] = field(default_factory=list)
