"""Prometheus' text format, as node_exporter's textfile collector reads it.

A line is `name{label="value",…} number`; before the first of each name stand its `# HELP` and `# TYPE`. In the value of
a label a backslash, a quote and a line end are escaped; before that, foreign text is made such that it can be shown
(`transforms.foreign_text.distinct`), so that two groups never share a line, for which the whole file would be refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from transforms.findings.handover.metrics import METRICS, Metric
from transforms.foreign_text import distinct

Samples = Mapping[tuple[str, ...], float]
"""Values of one metric, by the values of its labels in their order."""

Families = Mapping[Metric, Samples]

_HELP = re.compile(r"^# HELP (\S+) ", re.MULTILINE)


def exposition(cluster: str, families: Families) -> str:
    """Return the text of some metrics of a cluster, in the order of the table of metrics."""
    return "".join("".join(_lines(cluster, metric, families[metric])) for metric in METRICS if metric in families)


def merged(text: str, cluster: str, families: Families) -> str:
    """Return a file's text with some metrics anew; the others stay, as far as they are of ours.

    Args:
        text: the file as it is; empty if there is none.
        cluster: the cluster of the new ones.
        families: the new ones.
    """
    blocks = _blocks(text)
    blocks |= {metric.name: exposition(cluster, {metric: samples}) for metric, samples in families.items()}
    return "".join(blocks.get(metric.name, "") for metric in METRICS)


def _blocks(text: str) -> dict[str, str]:
    """A text's metrics, each with all its lines."""
    begins = list(_HELP.finditer(text))
    ends = [*(begin.start() for begin in begins), len(text)][1:]
    return {begin[1]: text[begin.start() : end] for begin, end in zip(begins, ends, strict=True)}


def _lines(cluster: str, metric: Metric, samples: Samples) -> Iterator[str]:
    yield f"# HELP {metric.name} {_escaped(metric.meaning)}\n"
    yield f"# TYPE {metric.name} gauge\n"
    for values, number in sorted(samples.items()):
        labels = zip(("cluster", *metric.labels), (cluster, *values), strict=True)
        told = ",".join(f'{name}="{_label(value)}"' for name, value in labels)
        yield f"{metric.name}{{{told}}} {_number(number)}\n"


def _label(value: str) -> str:
    return _escaped(distinct(value)).replace('"', '\\"')


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n")


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(float(value))
