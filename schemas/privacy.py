"""Columns that tell whose machine or process something was, or can: known by their names, so that new ones are too.

`privacy.hash_clients` puts hashes in their place; the data dictionary marks them.
"""

from __future__ import annotations

import re
from functools import lru_cache

_NAMED = re.compile(r"(?:.*_)?(?:client_id|client_host|member_id|instance_id|process_id|host)s?")
_NAMED_OTHERWISE = frozenset({"connection", "answered_leader", "instance_option", "user_endpoint"})

HOLDING = frozenset(
    (
        *("members", "answered_members", "assignments", "leaving_members", "attributes", "body"),
        *("reason", "client_reason", "metadata", "advice"),
    )
)
"""Columns that can hold such a name among other things."""

RAW = frozenset({"value", "key", "text", "raw", "detail", "state", "sample"})
"""Columns that can hold what was read as it was, and with it all names, where they hold text or bytes."""

RAW_TABLES = frozenset({"offsets_records", "log_lines", "rejected", "replay_snapshots"})
"""Tables whose raw columns do."""


@lru_cache(1000)
def names_clients(column: str) -> bool:
    """Tell whether a column, a field or a key holds a client id, a host, an instance id, or a member id."""
    return _NAMED.fullmatch(column) is not None or column in _NAMED_OTHERWISE


def is_personal(table: str, column: str) -> bool:
    """Tell whether a column of a table holds names of machines or processes, or can."""
    return names_clients(column) or column in HOLDING or (table in RAW_TABLES and column in RAW)
