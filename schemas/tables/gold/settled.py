"""Columns of all rows that a replay gives."""

from __future__ import annotations

SETTLED = ("is_settled", "settled_at")
