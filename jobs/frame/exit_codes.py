"""What a job tells its scheduler: the exit codes, and which error leads to which of them.

Errors that the user can do something about are one sentence on standard error. Everything else is a bug and keeps
its traceback.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from enum import IntEnum

from jobs.frame.log_lines import is_json, told
from transforms.errors import LakeError, QualityError, RebalanceError, SettingsError, SourceError

log = logging.getLogger(__name__)


class ExitCode(IntEnum):
    """How a job ended."""

    DONE = 0
    BUG = 1
    BAD_SETTINGS = 2
    QUALITY_GATE_FAILED = 3
    UNREACHABLE = 4
    INTERRUPTED = 130


_CODES: dict[type[RebalanceError], ExitCode] = {
    SettingsError: ExitCode.BAD_SETTINGS,
    QualityError: ExitCode.QUALITY_GATE_FAILED,
    SourceError: ExitCode.UNREACHABLE,
    LakeError: ExitCode.UNREACHABLE,
}


def exit_code_of(error: BaseException) -> ExitCode:
    """Return the exit code of an error; whatever is not foreseen is a bug."""
    if isinstance(error, KeyboardInterrupt):
        return ExitCode.INTERRUPTED
    return next((code for kind, code in _CODES.items() if isinstance(error, kind)), ExitCode.BUG)


def guarded(body: Callable[[], int]) -> int:
    """Run a job's body and turn whatever it raises into a message and an exit code."""
    try:
        return body()
    except (Exception, KeyboardInterrupt) as error:
        code = exit_code_of(error)
        if code is ExitCode.BUG:
            log.exception("this is a bug in Rebalance Analytics")
        elif is_json():
            told(_one_line(str(error)) or "interrupted", logging.ERROR, exit_code=int(code))
        elif code is ExitCode.INTERRUPTED:
            sys.stderr.write("interrupted\n")
        else:
            sys.stderr.write(f"error: {_one_line(str(error))}\n")
        return int(code)


def _one_line(text: str) -> str:
    return " ".join(text.split())
