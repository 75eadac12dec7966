"""The commands, and how each is submitted to a cluster."""

from __future__ import annotations

from docs.generator.markdown import code, table
from jobs.frame.commands import commands as known
from jobs.frame.commands import summary

_OWN = {"jobs.describe_group": " --group checkout", "jobs.what_if": " --group checkout --static"}
"""Arguments that a job cannot do without."""


def commands() -> str:
    """Return the commands with what each does."""
    rows = ((code(name), code(_path(module)), summary(module)) for name, module in known().items())
    return table(("`rebalance-analytics …`", "`spark-submit …`", "does"), rows)


def submits() -> str:
    """Return a line for each job, the same but for its file and its own arguments."""
    lines = [f'submit {_path(module):<27} --settings "$SETTINGS"{_OWN.get(module, "")}' for module in known().values()]
    return "```sh\n" + "\n".join(lines) + "\n```"


def _path(module: str) -> str:
    return module.replace(".", "/") + ".py"
