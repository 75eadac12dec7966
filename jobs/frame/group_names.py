"""Names of groups on a command line."""

from __future__ import annotations

import argparse

from jobs.frame.report import printable


def parse_group(text: str) -> str:
    """Read a group's name.

    Raises:
        ArgumentTypeError: the bytes are no text: no group has such a name, and Spark could not be asked for it.
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise argparse.ArgumentTypeError(f"{printable(text)} is not UTF-8, which every group's name is") from error
    return text
