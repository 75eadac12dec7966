"""With `privacy.hash_clients` the lake tells of hashes, from the jobs' own run on; and of one salt only."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jobs import run_pipeline
from jobs.settings.command_line import Parser, parse
from jobs.settings.loading import load, require_paths
from transforms.errors import SettingsError
from transforms.privacy import Pseudonyms

SALT = "correct horse battery staple"
VARIABLE = "REBALANCE__PRIVACY__SALT"
CAPTURE = "kafka-4.2.0"
OF_THE_RUN = ("loaded_at", "settled_at")


def settings(*given: str) -> Any:
    return load(None, parse(Parser(), ["--cluster=c", "--lake.root=/x", "--logs.path=/", *given])[1])


def test_the_salt_comes_from_the_environment_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=f"privacy.salt is a secret.*{VARIABLE}") as caught:
        settings(f"--privacy.salt={SALT}")
    assert SALT not in str(caught.value)
    file = tmp_path / "my.toml"
    file.write_text(f'cluster = "c"\n[lake]\nroot = "/x"\n[privacy]\nsalt = "{SALT}"\n')
    with pytest.raises(SettingsError, match="privacy.salt is a secret"):
        load(file, {})
    monkeypatch.setenv(VARIABLE, SALT)
    known = settings("--privacy.hash_clients=true")
    assert known.privacy.pseudonyms() is not None
    assert SALT not in repr(known)
    assert settings().privacy.pseudonyms() is None, "a salt alone hashes nothing"


@pytest.mark.parametrize("salt", ["", "too short"])
def test_a_salt_that_can_be_guessed_is_refused(monkeypatch: pytest.MonkeyPatch, salt: str) -> None:
    monkeypatch.setenv(VARIABLE, salt)
    with pytest.raises(SettingsError, match=f"16 characters or more in the environment variable {VARIABLE}"):
        require_paths(settings("--privacy.hash_clients=true"), ("logs",))


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.long
def test_a_run_hashes_names_and_finds_what_it_found(
    spark: Any,
    lake_rows: Callable[[str], Any],
    capture_dir: Callable[[str], Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from tests.support.lakes import arguments, comparable, rows_of

    named = lake_rows(CAPTURE)
    monkeypatch.setenv(VARIABLE, SALT)
    root = tmp_path / "lake"
    given = [*arguments(root, capture_dir(CAPTURE)), "--privacy.hash_clients=true"]
    assert run_pipeline.main(given) == 0
    hashed, hashes = rows_of(root), Pseudonyms(SALT)
    for table in ("group_metadata", "coordinator_events", "group_requests", "generation_members", "assignments"):
        expected = [hashes.row(row) for row in named[table]]
        assert comparable(hashed[table], OF_THE_RUN) == comparable(expected, OF_THE_RUN), table
    for table, columns in (
        ("rebalance_storms", ("group_id", "started_at", "rebalance_count", "pattern", "main_client_id")),
        ("illegal_generation_bursts", ("group_id", "started_at", "error", "error_count", "client_ids")),
    ):
        expected = [{name: hashes.row(row)[name] for name in columns} for row in named[table]]
        assert comparable({name: row[name] for name in columns} for row in hashed[table]) == comparable(expected), table
    assert not [file for file in root.rglob("*") if file.is_file() and SALT.encode() in file.read_bytes()]

    capsys.readouterr()
    monkeypatch.setenv(VARIABLE, "another salt altogether")
    assert run_pipeline.main(given) == 2
    assert "hashed with another salt" in capsys.readouterr().err
    assert run_pipeline.main(given[:-1]) == 2, "nor are names and hashes mixed"
