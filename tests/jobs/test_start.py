"""How the JVM is started hangs on how much there is to read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark import SparkConf

from jobs.session.local_start import prepare
from jobs.session.packages import DELTA
from jobs.settings.settings import Settings, SparkSettings
from jobs.sources.extent import bytes_to_read

OPTIONS = "spark.driver.extraJavaOptions"


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    for name, size in (("segments/__consumer_offsets-0/1.log", 5), ("segments/__consumer_offsets-1/1.log", 7)):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_bytes(b"x" * size)
    for name, size in (("b1/server.log", 11), ("b2/server.log", 13), ("b2/kafka-gc.txt", 100)):
        (tmp_path / "logs" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "logs" / name).write_bytes(b"x" * size)
    return tmp_path


@pytest.mark.parametrize(
    ("kind", "logs", "sections", "size"),
    [
        ("segments", "{here}/logs", ("offsets", "logs"), 5 + 7 + 11 + 13 + 100),
        ("segments", "", ("offsets", "logs"), 5 + 7),
        ("segments", "{here}/logs", ("logs",), 11 + 13 + 100),
        ("none", "{here}/logs/*/server.log", ("offsets", "logs"), 11 + 13),
        ("none", "{here}/logs/b[12]", ("offsets", "logs"), 11 + 13 + 100),
        ("none", "file:{here}/logs/b1/server.log", ("offsets", "logs"), 11),
        ("none", "s3a://bucket/logs", ("offsets", "logs"), None),
        ("kafka", "{here}/logs", ("offsets", "logs"), None),
        ("kafka", "{here}/logs", ("logs",), 11 + 13 + 100),
        ("segments", "{here}/logs", (), 17),
    ],
)
def test_what_a_job_reads_is_measured_where_it_lies(
    sources: Path, kind: str, logs: str, sections: tuple[str, ...], size: int | None
) -> None:
    (sources / "lake").mkdir()
    (sources / "lake" / "part.parquet").write_bytes(b"x" * 17)
    given: dict[str, Any] = {
        "cluster": "c",
        "lake": {"root": str(sources / "lake")},
        "offsets": {"kind": kind, "path": str(sources / "segments"), "bootstrap_servers": "b:9092"},
        "logs": {"path": logs.format(here=sources)},
    }
    assert bytes_to_read(Settings.model_validate(given), sections) == size


def test_a_job_with_little_to_read_is_not_compiled_twice() -> None:
    assert "TieredStopAtLevel=1" in options(is_little=True)
    assert "TieredStopAtLevel=1" not in options(is_little=False)


def test_what_the_user_has_set_stays(tmp_path: Path) -> None:
    properties = tmp_path / "spark.conf"
    properties.write_text(f"{OPTIONS} -Dmine=1\n")
    assert options(is_little=True, properties=str(properties)).startswith("-Dmine=1")
    assert "Tiered" not in options(is_little=True, properties=str(properties))


def options(is_little: bool, properties: str = "") -> str:
    """The options that a JVM of one's own is started with."""
    conf = SparkConf(loadDefaults=False)
    prepare(conf, SparkSettings(properties=properties), [DELTA], is_little)
    return conf.get(OPTIONS, "") or ""
