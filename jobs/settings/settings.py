"""Settings of all jobs: a TOML file, overridden by the environment, overridden by the command line.

Keys are the same everywhere: `root` in section `[lake]` of the file, `REBALANCE__LAKE__ROOT` in the environment,
`--lake.root=…` on the command line. Relative paths in a file are relative to the file's folder, others to the
working directory. An unknown key or a wrong type is refused, not ignored: a misspelt threshold must not pass.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)
from pydantic_settings import (
    SettingsError as SourceFormatError,
)

from jobs.settings.kafka_options import KafkaOptions
from jobs.settings.sources import ENV_PREFIX, SettingsSource, is_local, local_path
from transforms.errors import SettingsError
from transforms.loglines.pattern_layout import AUTO, compile_layout

OPEN = "offsets.kafka."
"""Keys that begin so are options of Kafka, and not known by name."""


def _no_bool(value: Any) -> Any:
    """Refuse `true` where a number is wanted: pydantic would read it as 1."""
    if isinstance(value, bool):
        raise ValueError("must be a number")
    return value


Number = Annotated[int, BeforeValidator(_no_bool)]


class Section(BaseModel):
    """A part of the settings."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class LakeSettings(Section):
    """Where the tables are."""

    root: str = Field(min_length=1, description="folder or URI; tables lie at <root>/<layer>/<table>")
    database: str = Field("", description="database to register the tables in; empty = none")


class OffsetsSettings(Section):
    """Where the records of __consumer_offsets come from."""

    kind: Literal["segments", "records", "kafka", "none"] = Field(
        "none", description="segments, records, kafka or none"
    )
    path: str = Field("", description="folder with __consumer_offsets-N folders, or exported rows")
    bootstrap_servers: str = Field("", description="brokers of the live topic, host:port with commas between them")
    kafka: KafkaOptions = Field({}, description="any option of Kafka's consumer, such as security.protocol")

    def client_options(self) -> dict[str, str]:
        """Return the options of Kafka's client, secrets among them: for the client alone."""
        options = {name: value.get_secret_value() for name, value in self.kafka.items()}
        return {"bootstrap.servers": self.bootstrap_servers, **options}


class LogsSettings(Section):
    """Where the broker's logs come from."""

    path: str = Field("", description="folder or glob, read recursively; empty = none")
    time_zone: str = Field("UTC", description="time zone that the broker's log is written in")
    broker: str = Field("{dir}", description="name of the broker; {dir} = name of the folder of the log file")
    layout: str = Field("auto", description="log4j's pattern of the lines; auto = Kafka's own, JSON and wrapped lines")

    @field_validator("layout")
    @classmethod
    def _can_be_read(cls, value: str) -> str:
        if value != AUTO:
            compile_layout(value)
        return value

    @field_validator("time_zone")
    @classmethod
    def _is_known(cls, value: str) -> str:
        try:
            ZoneInfo(value)
        except (KeyError, ValueError, OSError) as error:
            raise ValueError("must be a time zone such as UTC or Europe/Berlin") from error
        return value


class StormSettings(Section):
    """From when on rebalances are a storm."""

    window_ms: Number = Field(600_000, ge=1, description="length of the window, in milliseconds")
    min_rebalances: Number = Field(5, ge=2, description="rebalances in one window that make a storm")


class BurstSettings(Section):
    """From when on fencing errors are a burst."""

    gap_ms: Number = Field(30_000, ge=0, description="longest pause inside a burst, in milliseconds")
    min_errors: Number = Field(5, ge=1, description="errors that make a burst")


class SparkSettings(Section):
    """How Spark is started by `python -m`; spark-submit has its own options for both."""

    properties: str = Field("", description="spark-defaults file")
    log4j2: str = Field("", description="log4j2 file")


class Settings(BaseSettings):
    """Settings of all jobs, immutable once read."""

    model_config = SettingsConfigDict(
        extra="forbid", frozen=True, env_prefix=ENV_PREFIX, env_nested_delimiter="__", env_ignore_empty=False
    )

    cluster: str = Field(min_length=1, description="name of the Kafka cluster")
    lake: LakeSettings
    offsets: OffsetsSettings = OffsetsSettings()
    logs: LogsSettings = LogsSettings()
    storms: StormSettings = StormSettings()
    bursts: BurstSettings = BurstSettings()
    spark: SparkSettings = SparkSettings()


def keys() -> Iterator[tuple[str, str]]:
    """Yield each setting's dotted key with its description."""
    for name, field in Settings.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, Section):
            for inner, inner_field in kind.model_fields.items():
                yield f"{name}.{inner}", inner_field.description or ""
        else:
            yield name, field.description or ""


def load(file: Path | None, overrides: Mapping[str, str]) -> Settings:
    """Read the settings.

    Args:
        file: TOML file, or None for environment and command line alone.
        overrides: values of the command line, by dotted key.

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
        return Loaded(**_nested(overrides))
    except ValidationError as error:
        raise SettingsError("; ".join(_sentence(item) for item in error.errors())) from None
    except SourceFormatError as error:
        raise SettingsError(str(error)) from None
    except (ValueError, OSError) as error:  # tomllib and tomli each have their own error below ValueError
        raise SettingsError(f"settings file {file}: {error}") from None


def require_paths(settings: Settings, sections: tuple[str, ...]) -> None:
    """Refuse local paths that do not exist, in the sections that a job is going to read.

    Raises:
        SettingsError: a path is not set although its section needs one, or is not there.
    """
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


def _nested(flat: Mapping[str, str]) -> dict[str, Any]:
    nested: dict[str, Any] = {}
    for key, value in flat.items():
        *sections, name = key.split(".")
        part = nested
        for section in sections:
            part = part.setdefault(section, {})
        part[name] = value
    return nested


def _sentence(item: Any) -> str:
    """Say one finding of pydantic in the words of a settings file."""
    key = ".".join(str(part) for part in item["loc"])
    if item["type"] == "extra_forbidden":
        section = key.rpartition(".")[0]
        siblings = [name for name, _ in keys() if name.rpartition(".")[0] == section]
        return f"setting {key} does not exist (known: {', '.join(siblings)})"
    if item["type"] == "missing":
        first = next(name for name, _ in keys() if name == key or name.startswith(f"{key}."))
        return f"setting {first} is missing"
    message = item["msg"].removeprefix("Value error, ")
    if key == OPEN.rstrip("."):
        return f"{OPEN}{message}"  # without the input: there may be secrets in it
    return f"setting {key} = {item['input']!r}: {message[:1].lower()}{message[1:]}"
