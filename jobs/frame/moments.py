"""Moments on a command line."""

from __future__ import annotations

import argparse
from datetime import datetime, timedelta, timezone

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def parse_moment(text: str) -> datetime:
    """Read a moment: ISO 8601 (UTC unless it says otherwise), or epoch milliseconds.

    Raises:
        ArgumentTypeError: the text is neither, or beyond the years that there are.
    """
    try:
        if text.isdigit():
            return _EPOCH + timedelta(milliseconds=int(text))
        at = datetime.fromisoformat(text.replace("Z", "+00:00"))
        return at.astimezone(timezone.utc) if at.tzinfo else at.replace(tzinfo=timezone.utc)
    except (ValueError, OverflowError) as error:
        raise argparse.ArgumentTypeError(
            f"{text} is no time such as 2026-11-20T10:58:30, nor epoch milliseconds"
        ) from error
