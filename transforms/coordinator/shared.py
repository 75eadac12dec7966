"""What the replays of all protocols share of one group: its brokers, its lives, its place."""

from __future__ import annotations

from msgspec import Struct, field

from transforms.coordinator.evidence.brokers import Brokers
from transforms.coordinator.evidence.ownership import Ownership
from transforms.coordinator.rows.coordinators import Place, Reigns
from transforms.coordinator.timeline.lives import Lives


class Shared(Struct, array_like=True):
    """The part of a group's state that does not hang on the protocol it speaks.

    Attributes:
        partition_count: partitions of `__consumer_offsets`, where that is set; None = as the brokers print it.
        brokers: what is known of the brokers; `ownership` of who coordinates the group's partition.
        reigns: who coordinated it, for the table of coordinators.
        lives: the group's lives, with all of its timeline that is open.
    """

    cluster: str
    group_id: str
    partition_count: int | None = None
    brokers: Brokers = field(default_factory=Brokers)
    ownership: Ownership = field(default_factory=Ownership)
    reigns: Reigns = field(default_factory=Reigns)
    lives: Lives = field(default_factory=Lives)

    @property
    def place(self) -> Place:
        """The group's place among the partitions of `__consumer_offsets`."""
        return Place(self.cluster, self.group_id, self.partition_count)
