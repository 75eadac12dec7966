"""Moments on a command line."""

from __future__ import annotations

import argparse
from datetime import datetime, timezone


def parse_moment(text: str) -> datetime:
    """Read a moment: ISO 8601 (UTC unless it says otherwise), or epoch milliseconds."""
    if text.isdigit():
        return datetime.fromtimestamp(int(text) / 1000, timezone.utc)
    try:
        at = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text} is no time such as 2026-11-20T10:58:30") from error
    return at if at.tzinfo else at.replace(tzinfo=timezone.utc)
