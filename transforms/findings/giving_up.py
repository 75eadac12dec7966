"""What makes a member of a modern group give partitions up sooner, and what bounds how long the others wait for it."""

from __future__ import annotations

from transforms.findings.client_settings import CONSUMERS, ClientSettings
from transforms.findings.sentences import setting


def how_to_give_up_sooner(group_type: str, limit_ms: int | None, names: ClientSettings = CONSUMERS) -> str:
    """Return what ends the wait sooner, as sentences.

    The bound is named as it is, and no lower one: how long a member took to give partitions up tells nothing of how
    long its batches take on other days, and whoever needs longer than the bound is fenced.

    Args:
        group_type: of the group.
        limit_ms: the rebalance timeout of the member; null = not known.
        names: what the settings of its client are called.
    """
    if group_type == "streams":
        return "A task is given up once what is in hand is done: a smaller max.poll.records ends it sooner."
    poll = names.poll or "the rebalance timeout"
    bound = poll if limit_ms is None else setting(poll, limit_ms, limit_ms)
    batches = f"smaller batches ({names.batch})" if names.batch else "smaller batches"
    return (
        f"Partitions are given up at the next poll, once onPartitionsRevoked has returned: {batches}, and nothing but "
        f"a commit in the callback, end it sooner. {bound} bounds how long the others wait; the price: who is slower "
        "than that is fenced, and does its work since the last commit twice."
    )
