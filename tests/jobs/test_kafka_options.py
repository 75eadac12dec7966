from __future__ import annotations

import json
from pathlib import Path

import pytest

from jobs.ingest_offsets import main
from jobs.settings.command_line import Parser, parse
from jobs.settings.loading import load, require_paths
from transforms.errors import SettingsError

BASE = 'cluster = "c"\n[lake]\nroot = "/x"\n[offsets]\nkind = "kafka"\nbootstrap_servers = "b:9092"\n'
PASSWORD = "tr0ub4dor-and-3"
JAAS = f'org.apache.kafka.common.security.plain.PlainLoginModule required username="me" password="{PASSWORD}";'


def options(folder: Path, toml: str, *argv: str) -> dict[str, str]:
    file = folder / "my.toml"
    file.write_text(BASE + toml)
    return load(file, parse(Parser(), argv)[1]).offsets.client_options()


@pytest.mark.parametrize(
    "toml",
    [
        'kafka.security.protocol = "SSL"\nkafka.max.poll.records = 5\nkafka.check.crcs = true',
        '"kafka.security.protocol" = "SSL"\n"kafka.max.poll.records" = 5\n"kafka.check.crcs" = true',
        '[offsets.kafka]\n"security.protocol" = "SSL"\nmax.poll.records = "5"\n"check.crcs" = "true"',
    ],
)
def test_options_of_kafka_may_be_written_as_one_likes(tmp_path: Path, toml: str) -> None:
    expected = {"security.protocol": "SSL", "max.poll.records": "5", "check.crcs": "true"}
    assert options(tmp_path, toml) == {"bootstrap.servers": "b:9092", **expected}


def test_options_come_from_file_environment_and_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REBALANCE__OFFSETS__KAFKA__SASL__JAAS__CONFIG", JAAS)
    monkeypatch.setenv("REBALANCE__OFFSETS__KAFKA__CLIENT__ID", "from-environment")
    found = options(
        tmp_path,
        '"kafka.client.id" = "from-file"\nkafka.security.protocol = "SSL"',
        "--offsets.kafka.security.protocol=SASL_SSL",
    )
    assert found == {
        "bootstrap.servers": "b:9092",
        "client.id": "from-environment",
        "security.protocol": "SASL_SSL",
        "sasl.jaas.config": JAAS,
    }


@pytest.mark.parametrize("name", ["sasl.jaas.config", "ssl.keystore.password", "ssl.keystore.key"])
def test_secrets_are_taken_from_the_environment_only(tmp_path: Path, name: str) -> None:
    variable = "REBALANCE__OFFSETS__KAFKA__" + name.upper().replace(".", "__")
    for toml, *argv in (
        (f"kafka.{name} = '{JAAS}'",),
        ("", f"--offsets.kafka.{name}={JAAS}"),
        ("", f"--offsets.kafka={json.dumps({name: JAAS})}"),
        ("", f"--offsets={json.dumps({'kafka': {name: JAAS}})}"),
    ):
        with pytest.raises(SettingsError, match=f"offsets.kafka.{name} is a secret.*{variable}") as caught:
            options(tmp_path, toml, *argv)
        assert PASSWORD not in str(caught.value)


def test_settings_never_show_a_value(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REBALANCE__OFFSETS__KAFKA__SASL__JAAS__CONFIG", JAAS)
    file = tmp_path / "my.toml"
    file.write_text(BASE)
    assert PASSWORD not in repr(load(file, {})) + str(load(file, {})) + load(file, {}).model_dump_json()
    with pytest.raises(SettingsError) as caught:
        load(file, {"offsets": {"kafka": {"key.deserializer": "x"}}})
    assert PASSWORD not in str(caught.value)


def test_the_brokers_must_be_named(tmp_path: Path) -> None:
    file = tmp_path / "my.toml"
    file.write_text(BASE.replace('bootstrap_servers = "b:9092"\n', ""))
    with pytest.raises(SettingsError, match=r"offsets.bootstrap_servers must be set"):
        require_paths(load(file, {}), ("offsets",))


@pytest.mark.parametrize("argument", ["--offsets.kafka.client.id", "--lake.rot=x", "surplus"])
def test_the_command_line_takes_no_other_key(argument: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--cluster=c", "--lake.root=/x", argument]) == 2
    assert argument.partition("=")[0] in capsys.readouterr().err
