"""What is done to the settings of one source (file, environment, command line) before the sources are joined."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from pydantic.fields import FieldInfo
from pydantic_settings import PydanticBaseSettingsSource

from jobs.settings import kafka_options
from jobs.settings.settings import ENV_PREFIX
from transforms.errors import SettingsError

PATHS = (
    "lake.root",
    "offsets.path",
    "logs.path",
    "report.path",
    "findings.json_lines",
    "findings.prometheus",
    "spark.properties",
    "spark.log4j2",
)
"""Settings that are paths, and so are relative to where they were written."""


class SettingsSource(PydanticBaseSettingsSource):
    """A source whose relative paths are made absolute against a folder, and whose options of Kafka are gathered.

    Args:
        inner: the source itself.
        base: the folder.
        is_open: others can read it; secrets must not be in it.
    """

    def __init__(self, inner: PydanticBaseSettingsSource, base: Path, is_open: bool) -> None:
        super().__init__(inner.settings_cls)
        self._inner = inner
        self._base = base
        self._is_open = is_open

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        """Not used: the inner source finds its own values."""
        return self._inner.get_field_value(field, field_name)

    def __call__(self) -> dict[str, Any]:
        """Return the inner source's values."""
        values = self._inner()
        if isinstance(values.get("offsets"), dict):
            values["offsets"] = kafka_options.gathered(values["offsets"])
            self._refuse_secrets(values["offsets"])
        if self._is_open and isinstance(values.get("privacy"), dict) and values["privacy"].get("salt"):
            raise _not_here("privacy.salt")
        for key in PATHS:
            section, name = key.split(".")
            part = values.get(section)
            if not isinstance(part, dict):
                continue
            path = part.get(name)
            if isinstance(path, str) and path and is_local(path):
                part[name] = os.path.normpath(self._base / Path(local_path(path)).expanduser())
        return values

    def _refuse_secrets(self, offsets: dict[str, Any]) -> None:
        """A file is copied and committed, and a command line is seen by everyone on the machine."""
        for name in kafka_options.secrets(offsets) if self._is_open else ():
            raise _not_here(f"offsets.{kafka_options.PREFIX}{name}")


def _not_here(key: str) -> SettingsError:
    variable = (ENV_PREFIX + key.replace(".", "__")).upper()
    return SettingsError(f"{key} is a secret: set it by the environment variable {variable} alone")


def is_local(path: str) -> bool:
    """Tell a path of this machine from a URI of another file system."""
    return path.startswith("file:") or ":/" not in path


def local_path(path: str) -> str:
    """Return a local path without its `file:` scheme."""
    return re.sub(r"^file:(?:/*(?=/))?", "", path)
