"""Settings on the command line: `--lake.root=…` for each of them, beside a job's own arguments."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, NoReturn

from pydantic_settings import CliSettingsSource
from pydantic_settings import SettingsError as SourceFormatError

from jobs.settings.settings import OPEN, Settings
from transforms.errors import SettingsError

_NO_WORD = "\0"
"""What stands for null: a word that no command line can hold, as `None` may well be somebody's value."""


class Parser(argparse.ArgumentParser):
    """A parser whose errors are settings errors: one line, exit code 2."""

    def error(self, message: str) -> NoReturn:
        """Raise the error instead of ending the process."""
        raise SettingsError(message)


def parse(parser: Parser, argv: Sequence[str] | None = None) -> tuple[argparse.Namespace, dict[str, Any]]:
    """Read a command line.

    Args:
        parser: knows the job's own arguments; the settings are added to it.
        argv: command line without the program; None = that of the process.

    Returns:
        The job's own arguments, and the settings that are given, as nested mappings.

    Raises:
        SettingsError: an argument that is none, or has no value, or has one that cannot be read.
    """
    parser.epilog = f"--{OPEN}NAME=VALUE sets any option of Kafka's consumer; secrets from the environment only"
    source: CliSettingsSource[Any] = CliSettingsSource(
        Settings,
        root_parser=parser,
        cli_parse_args=False,
        cli_parse_none_str=_NO_WORD,
        cli_avoid_json=True,
        cli_hide_none_type=True,
    )
    arguments, rest = parser.parse_known_args(argv)
    try:
        given: dict[str, Any] = source(parsed_args=arguments)()
    except SourceFormatError as error:  # says which argument, and not its value: there may be a secret in it
        raise SettingsError(str(error)) from None
    options = dict(map(_option_of_kafka, rest))
    if options:
        given.setdefault("offsets", {}).setdefault("kafka", {}).update(options)
    return arguments, given


def _option_of_kafka(argument: str) -> tuple[str, str]:
    """Read what the parser does not know by name: an option of Kafka, or nothing of ours."""
    key, is_pair, value = argument.partition("=")
    if not (is_pair and key.startswith(f"--{OPEN}")):
        raise SettingsError(f"unrecognized argument {key}")
    return key.removeprefix(f"--{OPEN}"), value
