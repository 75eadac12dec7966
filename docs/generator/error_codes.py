"""Exit codes, reasons of rejected rows, and Kafka's error codes."""

from __future__ import annotations

from collections.abc import Iterator

from docs.generator.markdown import code, page, table
from jobs.frame.exit_codes import ExitCode, exit_code_of
from schemas.kafka_errors import ERROR_NAMES
from schemas.words import FENCING_ERRORS
from transforms.errors import DecodeError, LineError, RebalanceError

_MEANINGS = {
    ExitCode.DONE: "done",
    ExitCode.BUG: "a bug in the product; the traceback is on standard error",
    ExitCode.INTERRUPTED: "interrupted (Ctrl-C)",
}

OF_SOURCES = {
    "missing_position": "an exported row without a partition or an offset",
    "invalid_base64": "an exported row whose key or value is not base64",
    "records_lost": "retention or compaction took records between two runs, before they were read",
    "offset_reused": "the topic was deleted and made anew: the record has an offset that was read before",
    "not_text": "a log file that holds zero bytes",
    "unreadable_file": "a log file that cannot be opened or decompressed to its end",
}
"""Reasons that sources give, which no decoder has."""


def error_codes() -> str:
    """Return the page."""
    return page(
        "Error codes",
        "`jobs/frame/exit_codes.py`, `transforms/errors.py` and `schemas/kafka_errors.py`",
        "## Exit codes\nAll but 0 and 1 come with one sentence on standard error that says what to do.",
        table(("code", "when"), map(_exit, ExitCode)),
        "## Reasons of rejected rows\n`silver.rejected.reason_code`: what could not be read is kept with its bytes and "
        "one of these.",
        table(("code", "meaning"), _reasons()),
        "## Kafka's errors\n`silver.group_requests.error_code` and `error`, as of Kafka 4.2. Bold ones fence a member: "
        "bursts are made of them.",
        table(("code", "name"), ((str(number), _name(name)) for number, name in ERROR_NAMES.items())),
    )


def _exit(exit_code: ExitCode) -> tuple[str, str]:
    raised = [_first_line(kind) for kind in _below(RebalanceError) if _code_of(kind) is exit_code]
    return str(exit_code.value), _MEANINGS.get(exit_code) or " ".join(raised)


def _code_of(kind: type[RebalanceError]) -> ExitCode:
    return exit_code_of(kind("")) if kind.__base__ is RebalanceError else ExitCode.BUG


def _reasons() -> Iterator[tuple[str, str]]:
    kinds: tuple[type[RebalanceError], ...] = (*_below(LineError), DecodeError, *_below(DecodeError))
    for kind in kinds:
        yield code(kind.code), _first_line(kind)
    for name, meaning in OF_SOURCES.items():
        yield code(name), meaning


def _below(kind: type[RebalanceError]) -> Iterator[type[RebalanceError]]:
    for each in kind.__subclasses__():
        yield each
        yield from _below(each)


def _name(name: str) -> str:
    return f"**{name}**" if name in FENCING_ERRORS else name


def _first_line(kind: type) -> str:
    return (kind.__doc__ or "").splitlines()[0]
