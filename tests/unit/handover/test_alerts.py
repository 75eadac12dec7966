"""The example of alert rules asks for nothing that is not handed over."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from schemas.words import FINDING_KINDS, SEVERITIES
from transforms.findings.handover.metrics import METRICS, PREFIX

ALERTS = Path(__file__).resolve().parents[3] / "conf" / "prometheus-alerts.yml"
BY_NAME = {metric.name: metric for metric in METRICS}
RULES: list[dict[str, Any]] = [
    rule for group in YAML(typ="safe").load(ALERTS.read_text(encoding="utf-8"))["groups"] for rule in group["rules"]
]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: str(rule["alert"]))
def test_a_rule_names_only_metrics_and_labels_that_there_are(rule: dict[str, Any]) -> None:
    names = re.findall(rf"\b{PREFIX}\w+", rule["expr"])
    assert names
    assert set(names) <= set(BY_NAME)
    labels = {"cluster", *BY_NAME[names[0]].labels}
    texts = [*rule["annotations"].values(), *rule["labels"].values()]
    asked = {label for text in texts for label in re.findall(r"\$labels\.(\w+)", text)}
    asked |= set(re.findall(r'(\w+)=~?"', rule["expr"]))
    assert asked <= labels


def test_rules_compare_with_words_that_there_are() -> None:
    words = {word for rule in RULES for words in re.findall(r'=~?"([^"]*)"', rule["expr"]) for word in words.split("|")}
    assert words
    assert words <= {*SEVERITIES, *FINDING_KINDS}


def test_the_documentation_has_every_metric_with_its_labels_and_meaning() -> None:
    text = (ALERTS.parents[1] / "docs" / "hand-over.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith(f"| `{PREFIX}")]
    assert rows == [
        f"| `{metric.name}` | {', '.join(f'`{label}`' for label in metric.labels)} | {metric.meaning} |"
        for metric in METRICS
    ]


def test_a_command_that_is_given_can_be_pasted_whatever_the_group_is_called() -> None:
    texts = [text for rule in RULES for text in rule["annotations"].values() if "describe-group" in text]
    assert texts
    for text in texts:
        assert "--settings my.toml" in text
        assert "--group '{{ reReplaceAll \"'\" `'\\''` $labels.group }}'" in text
