"""What is said of groups that cannot be asked about: their history is one of epochs, or there is none."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from transforms.errors import SettingsError
from transforms.whatif.change import Change

_SESSION_OVER = ("session_expired", "member_removed")
"""Causes of epochs after sessions that were over; records alone do not tell them from leaves."""

_CAME_OR_WENT = ("member_joined", "member_left", "poll_timeout", *_SESSION_OVER)
"""Causes of the epochs that restarts bring about."""

Causes = Mapping[str, int]
"""Epochs by their cause, as `gold.generations.trigger` has it."""


def not_to_be_asked(group_id: str, cluster: str, change: Change, epochs: Mapping[str, Causes]) -> SettingsError:
    """Return why nothing can be foretold of a group of which no generation of the classic protocol is known.

    In a group with epochs no member waits for all others: no coordinator calls them together, so that there is no
    rebalance to live through once more with other timeouts or another assignor of the clients. How its members came,
    went and gave partitions up is known all the same, and told by other jobs; and so is how many of its epochs a change
    can have spared at most.

    Args:
        group_id: the group.
        cluster: its cluster.
        change: what was asked.
        epochs: which epochs are known of it in the time asked about, by type of the group.
    """
    if not epochs:
        return SettingsError(f"nothing is known of group {group_id} in cluster {cluster} at that time")
    count = sum(sum(causes.values()) for causes in epochs.values())
    known = f"{_epochs(count)} of it {'is' if count == 1 else 'are'} known at that time"
    if change.protocol is not None and set(epochs) == {change.protocol}:
        why = f"and it speaks group.protocol={change.protocol} already, so that there is nothing to be spared"
    else:
        why = (
            "but what-if foretells generations of classic groups only: which epochs a group would have had with other "
            "settings does not follow from those that it had"
        )
    bounds = "".join(f"; {each}" for each in _bounds(change, epochs))
    return SettingsError(
        f"group {group_id} in cluster {cluster} is a {' and '.join(sorted(epochs))} group: {known}, {why}{bounds}; "
        "why it rebalanced, who held it up and what helps are told by describe_group and its findings"
    )


def _bounds(change: Change, epochs: Mapping[str, Causes]) -> list[str]:
    """Return what rules sessions and instances in a group of one type of epochs, and how much can be spared at most."""
    if len(epochs) != 1:
        return []
    ((group_type, causes),) = epochs.items()
    said = []
    if change.session_timeout_ms is not None:
        over = _sum(causes, _SESSION_OVER)
        most = over + min(over, causes.get("member_joined", 0))
        said.append(
            f"its sessions last for group.{group_type}.session.timeout.ms of the broker, or {group_type}."
            "session.timeout.ms of the group, whatever its clients set, and longer ones can have spared "
            + (f"at most {_epochs(most)}: those after sessions that were over, and as many joins" if over else "none")
        )
    if change.is_static and group_type == "consumer":
        most = _sum(causes, _CAME_OR_WENT)
        said.append(f"static membership can have spared at most {_epochs(most)}: those of members that came or went")
    elif change.is_static:
        said.append(f"{group_type} groups have no static members")
    return said


def _sum(causes: Causes, names: Collection[str]) -> int:
    return sum(causes.get(name, 0) for name in names)


def _epochs(count: int) -> str:
    return f"{count} {'epoch' if count == 1 else 'epochs'}"
