"""What is said of groups that cannot be asked about: their history is one of epochs, or there is none."""

from __future__ import annotations

from collections.abc import Mapping

from transforms.errors import SettingsError
from transforms.whatif.change import Change


def not_to_be_asked(group_id: str, cluster: str, change: Change, epochs: Mapping[str, int]) -> SettingsError:
    """Return why nothing can be foretold of a group of which no generation of the classic protocol is known.

    In a group with epochs no member waits for all others: no coordinator calls them together, so that there is no
    rebalance to live through once more with other timeouts or another assignor of the clients. How its members came,
    went and gave partitions up is known all the same, and told by other jobs.

    Args:
        group_id: the group.
        cluster: its cluster.
        change: what was asked.
        epochs: how many epochs are known of it in the time asked about, by type of the group.
    """
    if not epochs:
        return SettingsError(f"nothing is known of group {group_id} in cluster {cluster} at that time")
    count = sum(epochs.values())
    known = f"{count} {'epoch' if count == 1 else 'epochs'} of it {'is' if count == 1 else 'are'} known at that time"
    if change.protocol is not None and set(epochs) == {change.protocol}:
        why = f"and it speaks group.protocol={change.protocol} already, so that there is nothing to be spared"
    else:
        why = (
            "but what-if foretells generations of classic groups only: which epochs a group would have had with other "
            "settings does not follow from those that it had"
        )
    return SettingsError(
        f"group {group_id} in cluster {cluster} is a {' and '.join(sorted(epochs))} group: {known}, {why}; why it "
        "rebalanced, who held it up and what helps are told by describe_group and its findings"
    )
