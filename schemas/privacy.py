"""Columns that tell whose machine or process something was, or can.

`privacy.hash_clients` puts hashes in their place; the data dictionary and the tests of that setting read this list.
"""

from __future__ import annotations

NAMED = (
    "client_id",
    "client_host",
    "host",
    "connection",
    "member_id",
    "answered_member_id",
    "answered_leader",
    "leader_member_id",
    "trigger_member_id",
    "trigger_client_id",
    "trigger_client_host",
    "replaces_member_id",
    "previous_member_id",
    "joined_member_ids",
    "departed_member_ids",
    "member_ids",
    "client_ids",
    "main_client_id",
    "main_client_host",
    "group_instance_id",
)
"""Columns that hold a client id, a host, a member id (which begins with a client id) or an instance id."""

HOLDING = (
    "members",
    "answered_members",
    "assignments",
    "leaving_members",
    "attributes",
    "body",
    "reason",
    "client_reason",
    "metadata",
)
"""Columns that can hold such a name among other things."""

RAW = ("value", "key", "text", "raw", "detail")
"""Columns that hold what was read as it was, and with it all names."""

PERSONAL = frozenset((*NAMED, *HOLDING, *RAW))
"""All of them."""
