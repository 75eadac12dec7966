"""How the JVM is started hangs on how much there is to read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark import SparkConf

from jobs.jvm.files import LocalFiles
from jobs.lake.notes import Notes, notes_folder
from jobs.session.local_start import prepare
from jobs.session.packages import DELTA
from jobs.settings.settings import Settings, SparkSettings
from jobs.sources.extent import Sizes, note_read, sizes_of, unread

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
    settings = Settings.model_validate(given)
    sizes = sizes_of(settings, sections)
    assert (None if sizes is None else unread(settings, sizes)) == size


def test_what_a_run_has_read_is_not_to_be_read_again(sources: Path) -> None:
    root = sources / "a lake"
    given: dict[str, Any] = {
        "cluster": "c/1",
        "lake": {"root": str(root)},
        "offsets": {"kind": "segments", "path": str(sources / "segments")},
        "logs": {"path": str(sources / "logs")},
    }
    settings, notes = Settings.model_validate(given), Notes(LocalFiles(root), notes_folder("c/1"))
    whole = sizes_of(settings, ("offsets", "logs"))
    only_logs = sizes_of(settings, ("logs",))
    assert whole and only_logs
    note_read(only_logs, notes)
    assert unread(settings, whole) == 5 + 7
    note_read(whole, notes)
    assert unread(settings, whole) == 0
    assert unread(Settings.model_validate({**given, "cluster": "another"}), whole) == unread_at_first(whole)
    (log := sources / "logs" / "b1" / "server.log").write_bytes(b"x" * (11 + 30))
    (sources / "logs" / "b2" / "server.log").write_bytes(b"x" * 3)
    grown = sizes_of(settings, ("offsets", "logs"))
    assert grown and log.stat().st_size == grown["logs"][str(log)]
    assert unread(settings, grown) == 30 + 3


def unread_at_first(sizes: Sizes) -> int:
    return sum(size for of_section in sizes.values() for size in of_section.values())


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
