"""Settings come from three places; whatever is wrong with them is said in one line before anything starts."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from jobs.settings.command_line import Parser, parse
from jobs.settings.loading import load, require_paths
from jobs.settings.settings import keys
from transforms.errors import SettingsError

FILE = """
cluster = "prod"
[lake]
root = "../tables"
[storms]
window_ms = 1000
"""


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.upper().startswith("REBALANCE__"):
            monkeypatch.delenv(name)


def given(*argv: str) -> dict[str, Any]:
    """Read settings from a command line."""
    return parse(Parser(), argv)[1]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "conf" / "my.toml"
    path.parent.mkdir()
    path.write_text(FILE)
    return path


def test_the_command_line_wins_over_the_environment_and_that_over_the_file(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert load(file, given()).storms.window_ms == 1000
    monkeypatch.setenv("REBALANCE__STORMS__WINDOW_MS", "2000")
    assert load(file, given()).storms.window_ms == 2000
    assert load(file, given("--storms.window_ms=3000")).storms.window_ms == 3000
    assert load(file, given("--storms.window_ms=3000")).storms.min_rebalances == 5, "neighbours keep their defaults"


def test_relative_paths_belong_to_where_they_were_written(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert load(file, given()).lake.root == str(tmp_path / "tables")
    assert load(Path("../conf/my.toml"), given()).lake.root == str(tmp_path / "tables")
    assert load(file, given("--lake.root=mine")).lake.root == str(elsewhere / "mine")
    monkeypatch.setenv("REBALANCE__LAKE__ROOT", "theirs")
    assert load(file, given()).lake.root == str(elsewhere / "theirs")


@pytest.mark.parametrize("uri", ["s3a://bucket/lake", "hdfs://name:8020/lake", "wasb:/a/lake"])
def test_uris_are_left_alone(file: Path, uri: str) -> None:
    assert load(file, given(f"--lake.root={uri}")).lake.root == uri


@pytest.mark.parametrize(
    ("uri", "path"),
    [("file:/srv/a lake", "/srv/a lake"), ("file:///srv/lake", "/srv/lake"), ("file:mine/here", "mine/here")],
)
def test_a_uri_of_a_file_of_this_machine_is_its_path(file: Path, uri: str, path: str) -> None:
    of_all = load(file, given(*(f"--{key}={uri}" for key in ("lake.root", "offsets.path", "logs.path", "report.path"))))
    read = (of_all.lake.root, of_all.offsets.path, of_all.logs.path, of_all.report.path)
    assert {*read} == {str(Path.cwd() / path)}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ('[lake]\nroot = "x"\nrott = "y"', "lake.rott does not exist .*lake.root"),
        ('[lakes]\nroot = "x"', "lakes does not exist"),
        ("[storms]\nwindow_ms = 'soon'", "storms.window_ms = 'soon'.*integer"),
        ("[storms]\nwindow_ms = true", "storms.window_ms = True.*number"),
        ("[storms]\nmin_rebalances = 1", "storms.min_rebalances = 1"),
        ("[bursts]\nmin_errors = 2.5", "bursts.min_errors = 2.5.*integer"),
        ("[logs]\ntime_zone = 'Middle/Earth'", "logs.time_zone = 'Middle/Earth'"),
        ("[logs]\nlayout = '%p %m%n'", "logs.layout = '%p %m%n'.*date and time"),
        ("[offsets]\nkind = 'topic'", "offsets.kind = 'topic'.*'segments', 'records', 'kafka' or 'none'"),
        ("[offsets]\nkafka.bootstrap.servers = 'b:9092'", "offsets.kafka.bootstrap.servers.*offsets.bootstrap_servers"),
        ("[offsets]\nkafka.key.deserializer = 'x'", "offsets.kafka.key.deserializer cannot be set"),
        ("[offsets]\nkafka.isolation.level = 'none'", "offsets.kafka.isolation.level.*read_committed"),
        ("cluster = 3", "cluster = 3.*string"),
        ("cluster = [", "my.toml"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(tmp_path: Path, wrong: str, message: str) -> None:
    path = tmp_path / "my.toml"
    path.write_text(wrong if wrong.startswith("cluster") else f'cluster = "c"\n{wrong}')
    with pytest.raises(SettingsError, match=message) as caught:
        load(path, given() if "lake" in wrong else given("--lake.root=/x"))
    assert "\n" not in str(caught.value)


def test_misspelt_variables_are_refused(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REBALANCE__LAKE__ROTT", "/x")
    with pytest.raises(SettingsError, match="REBALANCE__LAKE__ROTT"):
        load(file, given())


def test_required_keys_are_named() -> None:
    with pytest.raises(SettingsError, match="cluster is missing; setting lake.root is missing"):
        load(None, given())
    with pytest.raises(SettingsError, match=r"nowhere.toml does not exist"):
        load(Path("nowhere.toml"), given())


def test_a_path_that_is_read_must_be_there(file: Path, tmp_path: Path) -> None:
    gone = load(file, given("--offsets.kind=segments", f"--offsets.path={tmp_path / 'gone'}", "--logs.path=/no*where"))
    require_paths(gone, ())
    with pytest.raises(SettingsError, match="offsets.path = .*gone: no such file or folder"):
        require_paths(gone, ("offsets",))
    with pytest.raises(SettingsError, match="logs.path"):
        require_paths(gone, ("logs",))
    with pytest.raises(SettingsError, match="offsets.path must be set"):
        require_paths(load(file, given("--offsets.kind=records")), ("offsets",))
    (tmp_path / "b-1.log").touch()
    require_paths(load(file, given(f"--logs.path={tmp_path / 'b-*.log'}")), ("logs",))
    require_paths(load(file, given("--logs.path=s3a://bucket/logs")), ("logs",))


@pytest.mark.parametrize("name", ["demo.toml", "local.toml", "cluster.toml"])
def test_shipped_settings_are_valid(name: str) -> None:
    conf = Path(__file__).resolve().parents[2] / "conf"
    settings = load(conf / name, given())
    require_paths(settings, ())
    assert settings.lake.root


def test_every_key_has_a_meaning() -> None:
    assert all(meaning for _, meaning in keys())


def test_groups_can_have_limits_of_their_own(file: Path) -> None:
    file.write_text(
        FILE
        + '[[storms.groups]]\npattern = "etl-*"\ncritical_ratio = 0.8\n'
        + '[[storms.groups]]\npattern = "*"\nwindow_ms = 5\n'
    )
    thresholds = load(file, given("--storms.min_rebalances=7")).storms.thresholds()
    assert thresholds.of("etl-nightly").critical_ratio == 0.8
    assert thresholds.of("etl-nightly").window_ms == 1000, "what a group does not say is as for all the others"
    assert thresholds.of("etl-nightly").min_rebalances == 7
    assert thresholds.of("shop").window_ms == 5, "the first pattern that fits"
    assert thresholds.usual.window_ms == 1000


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("windo_ms = 5", "groups.0.windo_ms does not exist"),
        ("window_ms = 5", "storms.groups.0.pattern is missing"),
    ],
)
def test_limits_of_groups_are_held_to_the_same_strictness(file: Path, wrong: str, message: str) -> None:
    name = "" if "missing" in message else 'pattern = "etl-*"\n'
    file.write_text(f"{FILE}[[storms.groups]]\n{name}{wrong}\n")
    with pytest.raises(SettingsError, match=message):
        load(file, given())
