"""The settings of all jobs: their keys, types, defaults and meanings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from jobs.settings.kafka_options import KafkaOptions
from transforms.findings.storms.limits import StormLimits, Thresholds
from transforms.loglines.entries.log4j_pattern import AUTO, compile_layout
from transforms.privacy import Pseudonyms

ENV_PREFIX = "REBALANCE__"
"""Begins the environment variables that are settings."""

OPEN = "offsets.kafka."
"""Keys that begin so are options of Kafka, and not known by name."""


def _no_bool(value: Any) -> Any:
    """Refuse `true` where a number is wanted: pydantic would read it as 1."""
    if isinstance(value, bool):
        raise ValueError("must be a number")
    return value


Number = Annotated[int, BeforeValidator(_no_bool)]


Share = Annotated[float, BeforeValidator(_no_bool)]


class Section(BaseModel):
    """A part of the settings."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class LakeSettings(Section):
    """Where the tables are."""

    root: str = Field(min_length=1, description="folder or URI; tables lie at <root>/<layer>/<table>")
    database: str = Field("", description="database to register the tables in; empty = none")
    lock_wait_s: Number = Field(0, ge=0, description="seconds to wait for another run of the cluster to end")


class OffsetsSettings(Section):
    """Where the records of __consumer_offsets come from."""

    kind: Literal["segments", "records", "kafka", "none"] = Field(
        "none", description="segments, records, kafka or none"
    )
    path: str = Field("", description="folder with __consumer_offsets-N folders, or exported rows")
    bootstrap_servers: str = Field("", description="brokers of the live topic, host:port with commas between them")
    jump: Number = Field(
        100_000,
        ge=1,
        description="a commit that skips more offsets than this is told of; more than members do between two commits",
    )
    retention_ms: Number = Field(
        604_800_000, ge=1, description="offsets.retention.minutes of the brokers, in milliseconds: when offsets expire"
    )
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
    keep: Literal["relevant", "all"] = Field(
        "relevant",
        description="entries that are kept in bronze.log_lines: relevant = those that may tell of groups; all = all",
    )

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


class ReplaySettings(Section):
    """How long evidence is waited for."""

    lateness_ms: Number = Field(
        60_000,
        ge=0,
        description="how late evidence may come in order, in milliseconds; with less than 1000 all comes late",
    )
    silence_ms: Number = Field(
        3_600_000, ge=0, description="how long a silent source holds the others back, in milliseconds"
    )


class AuditSettings(Section):
    """What is kept of the comparison with the request log."""

    keep: Literal["all", "doubtful"] = Field(
        "all", description="all = a row for each request; doubtful = only for those that give reason to doubt"
    )


class StormLimitSettings(Section):
    """From when on rebalances are a storm, and how bad it is; a storm is as severe as the worst limit it reaches."""

    window_ms: Number = Field(600_000, ge=1, description="length of the window, in milliseconds")
    min_rebalances: Number = Field(5, ge=2, description="rebalances in one window that make a storm")
    warning_ratio: Share = Field(0.1, ge=0, le=1, description="share of a storm without assignment that is a warning")
    warning_gap_ms: Number = Field(30_000, ge=0, description="mean time between rebalances up to which it is a warning")
    critical_ratio: Share = Field(0.5, ge=0, le=1, description="share of a storm without assignment that is critical")
    critical_gap_ms: Number = Field(6_000, ge=0, description="mean time between rebalances up to which it is critical")


class GroupStormSettings(StormLimitSettings):
    """Limits for some groups; those that are not given are as for all the others."""

    pattern: str = Field(min_length=1, description="group ids, as a shell matches file names (etl-*)")


class StormSettings(StormLimitSettings):
    """The limits for all groups."""

    groups: list[GroupStormSettings] = Field([], description="limits for some groups, the first pattern that fits")

    def thresholds(self) -> Thresholds:
        """Return the limits as the findings want them."""
        usual = self.model_dump(exclude={"groups"})
        of_groups: dict[str, StormLimits] = {}
        for group in self.groups:
            own = group.model_dump(exclude={"pattern"}, exclude_unset=True)
            of_groups.setdefault(group.pattern, StormLimits(**usual | own))
        return Thresholds(StormLimits(**usual), of_groups)


class BurstSettings(Section):
    """From when on fencing errors are a burst."""

    gap_ms: Number = Field(30_000, ge=0, description="longest pause inside a burst, in milliseconds")
    min_errors: Number = Field(5, ge=1, description="errors that make a burst; one UNRELEASED_INSTANCE_ID does")


class RetentionSettings(Section):
    """How long rows are kept; `maintain_tables` lets go of older ones."""

    bronze_days: Number = Field(0, ge=0, description="days that raw records and lines are kept; 0 = for ever")
    silver_days: Number = Field(
        0, ge=0, description="days that evidence is kept, and longer where the replay may still need it; 0 = for ever"
    )
    audit_days: Number = Field(
        0, ge=0, description="days that the comparison with the request log is kept, request by request; 0 = for ever"
    )


class CommitSettings(Section):
    """What is expected of the commits of a group."""

    silent_ms: Number = Field(300_000, ge=1, description="how long a partition may be owned without a commit")


class RevocationSettings(Section):
    """How long members of consumer and streams groups may take to give up what was taken from them."""

    slow_ms: Number = Field(30_000, ge=1, description="from so long on a member that does not is a slow revoker")


class QualitySettings(Section):
    """From when on shares, silences and clocks are a matter of quality."""

    min_agreement: Share = Field(
        0.95, ge=0, le=1, description="share of the predicted requests that must have been answered as predicted"
    )
    max_rejected_share: Share = Field(0.01, ge=0, le=1, description="share of what is read that may be rejected")
    max_unrecognised_share: Share = Field(
        0.05, ge=0, le=1, description="share of a coordinator's lines that may be of an unknown kind"
    )
    clock_slack_ms: Number = Field(300_000, ge=0, description="how far clocks may lie apart, in milliseconds")


class FindingsSettings(Section):
    """How findings are handed over; the files lie on the machine that the driver runs on."""

    json_lines: str = Field("", description="file for the findings of a run, one line of JSON each; empty = none")
    prometheus: str = Field("", description="file for node_exporter's textfile collector (*.prom); empty = none")
    days: Number = Field(
        7, ge=0, description="findings that ended longer ago are not handed over any more, in days; 0 = all are"
    )
    named_groups: Number = Field(100, ge=0, description="groups that metrics name at most, the worst ones first")


class PrivacySettings(Section):
    """Whether the lake tells whose machines and processes it is about."""

    hash_clients: bool = Field(
        False, description="hash client ids, hosts, instance ids and what member ids hold of them, before silver"
    )
    salt: SecretStr = Field(
        SecretStr(""), description="secret that the hashes hang on, 16 characters or more; from the environment alone"
    )

    def pseudonyms(self) -> Pseudonyms | None:
        """Return what hashes names; None if they are to stay."""
        return Pseudonyms(self.salt.get_secret_value()) if self.hash_clients else None


class LoggingSettings(Section):
    """What our own log lines look like."""

    format: Literal["text", "json"] = Field(
        "text", description="text = progress for people, and warnings; json = an object a line on standard error"
    )


class ReportSettings(Section):
    """Where the report is written."""

    path: str = Field("", description="folder or URI of the report; empty = <lake.root>/report")

    def folder(self, lake_root: str) -> str:
        """Return the folder of the report on a lake."""
        return self.path or f"{lake_root.rstrip('/')}/report"


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
    replay: ReplaySettings = ReplaySettings()
    audit: AuditSettings = AuditSettings()
    storms: StormSettings = StormSettings()
    bursts: BurstSettings = BurstSettings()
    retention: RetentionSettings = RetentionSettings()
    commits: CommitSettings = CommitSettings()
    revocations: RevocationSettings = RevocationSettings()
    quality: QualitySettings = QualitySettings()
    findings: FindingsSettings = FindingsSettings()
    privacy: PrivacySettings = PrivacySettings()
    logging: LoggingSettings = LoggingSettings()
    report: ReportSettings = ReportSettings()
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
