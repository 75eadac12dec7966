"""What the hand-written pages show can be used as it stands: commands, settings, files, examples, figures."""

from __future__ import annotations

import ast
import io
import re
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from docs.generator.pages import FOLDER
from jobs.frame.commands import commands
from jobs.settings.settings import keys
from tests.support.kafka_logging import LAYOUT

ROOT = FOLDER.parent
PAGES = [*sorted(FOLDER.glob("*.md")), ROOT / "README.md"]
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)


def blocks(page: Path, language: str) -> list[str]:
    """Examples in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


@each_page
def test_commands_are_commands_and_settings_are_settings(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    named = set(re.findall(r"rebalance-analytics ([a-z][a-z-]+)\b(?! *:)", text))
    named |= set(re.findall(r'\brun\("([a-z-]+)"', text))
    assert named <= set(commands()), page.name
    sections = {key.partition(".")[0] for key, _ in keys() if "." in key}
    given = {key for key in re.findall(r"--([a-z]+\.[a-z_0-9]+)=", text) if key.partition(".")[0] in sections}
    assert given <= {key for key, _ in keys()}, page.name


@each_page
def test_files_that_are_named_are_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for name in re.findall(r"`((?:jobs|transforms|schemas|tests|conf|docs|notebooks)/[\w./-]+)`", text):
        assert (ROOT / name).exists(), f"{page.name} names {name}"


@each_page
def test_examples_in_python_and_toml_can_be_read(page: Path) -> None:
    tomllib = pytest.importorskip("tomllib")
    for example in blocks(page, "python"):
        ast.parse(example)
    for example in blocks(page, "toml"):
        tomllib.loads(example)


def test_the_airflow_example_tries_again_what_the_exit_codes_say_is_worth_it() -> None:
    (example,) = (each for each in blocks(FOLDER / "operations.md", "python") if "airflow" in each)
    values = {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in ast.parse(example).body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    from jobs.frame.exit_codes import ExitCode

    assert values["UNREACHABLE"] == ExitCode.UNREACHABLE
    assert example.index("raise AirflowException(") < example.index("raise AirflowFailException(")


def test_brokers_are_told_to_log_as_the_captured_ones_did() -> None:
    page = FOLDER / "getting-logs.md"
    (old,) = blocks(page, "properties")
    assert f"requestAppender.layout.ConversionPattern={LAYOUT}" in old
    (new,) = blocks(page, "yaml")
    settings = YAML(typ="safe").load(io.StringIO(new))["Configuration"]
    (appender,) = settings["Appenders"]["RollingFile"]
    assert appender["PatternLayout"]["pattern"] == LAYOUT
    loggers = {each["name"]: each for each in settings["Loggers"]["Logger"]}
    assert loggers["kafka.request.logger"]["level"] == "DEBUG"
    assert loggers["kafka.request.logger"]["AppenderRef"]["ref"] == appender["name"]


def test_sizing_has_the_figures_of_the_benchmarks() -> None:
    figures = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    text = (FOLDER / "sizing.md").read_text(encoding="utf-8")
    rates = re.findall(r"^\| [^|]+ \| (?:\+ )?([\d.,]+ (?:k|M|s|MiB))\b", text, re.MULTILINE)
    assert len(rates) >= 6
    assert [rate for rate in rates if rate not in figures] == []
