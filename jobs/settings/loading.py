"""Reads the settings: a TOML file, overridden by the environment, overridden by the command line.

Keys are the same everywhere: `root` in section `[lake]` of the file, `REBALANCE__LAKE__ROOT` in the environment,
`--lake.root=…` on the command line. Relative paths in a file are relative to the file's folder, others to the
working directory. An unknown key or a wrong type is refused, not ignored: a misspelt threshold must not pass.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, TomlConfigSettingsSource
from pydantic_settings import SettingsError as SourceFormatError

from jobs.settings.settings import ENV_PREFIX, OPEN, Settings, keys
from jobs.settings.sources import SettingsSource, is_local, local_path
from transforms.errors import SettingsError
from transforms.privacy import SHORTEST_SALT


def load(file: Path | None, given: Mapping[str, Any]) -> Settings:
    """Read the settings.

    Args:
        file: TOML file, or None for environment and command line alone.
        given: what the command line gives, as `jobs.settings.command_line.parse` reads it.

    Raises:
        SettingsError: unreadable file, unknown key, wrong type, or a required key is missing.
    """
    _refuse_unknown_variables()
    if file is not None and not file.is_file():
        raise SettingsError(f"settings file {file} does not exist")

    class Loaded(Settings):
        @classmethod
        def settings_customise_sources(
            cls,
            settings_cls: type[BaseSettings],
            init_settings: PydanticBaseSettingsSource,
            env_settings: PydanticBaseSettingsSource,
            dotenv_settings: PydanticBaseSettingsSource,
            file_secret_settings: PydanticBaseSettingsSource,
        ) -> tuple[PydanticBaseSettingsSource, ...]:
            here = Path.cwd()
            layers = [SettingsSource(init_settings, here, True), SettingsSource(env_settings, here, False)]
            if file is not None:
                in_file = TomlConfigSettingsSource(settings_cls, file)
                layers.append(SettingsSource(in_file, file.resolve().parent, True))
            return tuple(layers)

    try:
        return Loaded(**given)
    except ValidationError as error:
        raise SettingsError("; ".join(_sentence(item) for item in error.errors())) from None
    except SourceFormatError as error:
        raise SettingsError(str(error)) from None
    except (ValueError, OSError) as error:  # tomllib and tomli each have their own error below ValueError
        raise SettingsError(f"settings file {file}: {error}") from None


def require_paths(settings: Settings, sections: tuple[str, ...]) -> None:
    """Refuse settings without a source, and local paths that do not exist, in the sections that a job is to read.

    Raises:
        SettingsError: there is no source, or a path is not set although its section needs one, or is not there.
    """
    if sections and settings.offsets.kind == "none" and not settings.logs.path:
        raise SettingsError(
            'there is no source: set offsets.kind to "segments", "records" or "kafka", or logs.path to where brokers\' '
            "and clients' logs are, or both"
        )
    if settings.privacy.hash_clients and len(settings.privacy.salt.get_secret_value()) < SHORTEST_SALT:
        raise SettingsError(
            f"privacy.hash_clients needs a secret of {SHORTEST_SALT} characters or more in the environment variable "
            f"{_variable('privacy.salt')}"
        )
    wanted = ["spark.properties", "spark.log4j2"]
    if "offsets" in sections and settings.offsets.kind != "none":
        needed = "bootstrap_servers" if settings.offsets.kind == "kafka" else "path"
        if not getattr(settings.offsets, needed):
            raise SettingsError(f'offsets.{needed} must be set with offsets.kind = "{settings.offsets.kind}"')
        if needed == "path":
            wanted.append("offsets.path")
    if "logs" in sections:
        wanted.append("logs.path")
    for key in wanted:
        section, name = key.split(".")
        path = getattr(getattr(settings, section), name)
        if path and is_local(path) and not _is_there(local_path(path)):
            raise SettingsError(f"{key} = {path}: no such file or folder")


def require_places(settings: Settings) -> None:
    """Refuse places for the files of findings where none can be written, or where nobody would look for them.

    Raises:
        SettingsError: there is such a one.
    """
    _require_place("findings.json_lines", settings.findings.json_lines)
    _require_place("findings.prometheus", settings.findings.prometheus, ".prom")


def _require_place(key: str, path: str, ending: str = "") -> None:
    if not path:
        return
    if not is_local(path):
        raise SettingsError(f"{key} = {path}: must be on a disk of the machine that the driver runs on")
    place = Path(local_path(path))
    if not place.name.endswith(ending):
        raise SettingsError(f"{key} = {path}: must end in {ending}, as node_exporter reads no other files")
    if place.is_dir():
        raise SettingsError(f"{key} = {path}: is a folder and no file")
    if not (place.parent.is_dir() and os.access(place.parent, os.W_OK)):
        raise SettingsError(f"{key} = {path}: folder {place.parent} does not exist or cannot be written in")


def _is_there(path: str) -> bool:
    return Path(path).exists() or any(True for _ in glob.iglob(path, recursive=True))  # noqa: PTH207 (absolute patterns)


def _refuse_unknown_variables() -> None:
    """Hold the environment to the same strictness as the file; pydantic-settings looks up known names only."""
    known = {_variable(key) for key, _ in keys()}
    for name in os.environ:
        if (
            name.upper().startswith(ENV_PREFIX)
            and not name.upper().startswith(_variable(OPEN))
            and (name.upper() not in known)
        ):
            raise SettingsError(f"environment variable {name}: no such setting")


def _variable(key: str) -> str:
    return (ENV_PREFIX + key.replace(".", "__")).upper()


def _sentence(item: Any) -> str:
    """Say one finding of pydantic in the words of a settings file."""
    key = ".".join(str(part) for part in item["loc"])
    if item["type"] == "extra_forbidden":
        section = key.rpartition(".")[0]
        siblings = [name for name, _ in keys() if name.rpartition(".")[0] == section]
        known = f" (known: {', '.join(siblings)})" if siblings else ""
        return f"setting {key} does not exist{known}"
    if item["type"] == "missing":
        first = next((name for name, _ in keys() if name == key or name.startswith(f"{key}.")), key)
        return f"setting {first} is missing"
    message = item["msg"].removeprefix("Value error, ")
    if key == OPEN.rstrip("."):
        return f"{OPEN}{message}"  # without the input: there may be secrets in it
    return f"setting {key} = {item['input']!r}: {message[:1].lower()}{message[1:]}"
