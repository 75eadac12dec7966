"""Licences of what is installed beside the product, from the metadata of the packages themselves."""

from __future__ import annotations

import importlib.metadata
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from docs.generator.markdown import page, table
from jobs.session.packages import DELTA, KAFKA

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found, unused-ignore]

_PYPROJECT = Path(__file__).resolve().parents[2] / "pyproject.toml"
_LONGEST_NAME = 60
_JARS = (
    ("delta-spark, delta-storage", "Apache-2.0", DELTA),
    ("antlr4-runtime", "BSD-3-Clause", DELTA),
    ("spark-sql-kafka-0-10, kafka-clients", "Apache-2.0", KAFKA),
)
"""Jars that are fetched when Spark starts: their licence stands in their POM, which is not at hand here."""


def licences() -> str:
    """Return the page."""
    runtime, needed_by = _closure()
    rows = ((name, _licence(name), ", ".join(sorted(needed_by[name]))) for name in sorted(runtime))
    return page(
        "Licences of the dependencies",
        "`pyproject.toml` and the packages' own metadata",
        "The product itself is under Apache-2.0 (`LICENSE`). What it needs at run time, down to the last dependency "
        "(on Linux, with Python 3.11 or newer); their versions and hashes stand in `requirements.lock`. Tools that "
        "only development needs are not shipped, and not listed.",
        "## Python packages\n" + table(("package", "licence", "needed by"), rows),
        "## Jars\nSpark's own jars come with PySpark, which lists their licences itself. Fetched besides:\n\n"
        + table(("jar", "licence", "fetched for"), ((name, licence, package.name) for name, licence, package in _JARS)),
    )


def _closure() -> tuple[set[str], dict[str, set[str]]]:
    """Return all packages that the product needs, and for each of them by whom."""
    project = tomllib.loads(_PYPROJECT.read_text(encoding="utf-8"))["project"]
    needed_by: dict[str, set[str]] = {}
    waiting = [(text, "this product") for text in project["dependencies"]]
    while waiting:
        text, by = waiting.pop()
        requirement = Requirement(text)
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
            continue
        name = canonicalize_name(requirement.name)
        is_new = name not in needed_by
        needed_by.setdefault(name, set()).add(by)
        if is_new:
            waiting += [(each, name) for each in importlib.metadata.requires(name) or ()]
            waiting += [(each, name) for extra in requirement.extras for each in _of_extra(name, extra)]
    return set(needed_by), needed_by


def _of_extra(name: str, extra: str) -> Iterator[str]:
    for text in importlib.metadata.requires(name) or ():
        marker = Requirement(text).marker
        if marker is not None and marker.evaluate({"extra": extra}) and not marker.evaluate({"extra": ""}):
            yield text.partition(";")[0]


def _licence(name: str) -> str:
    """Return a package's licence: its SPDX expression, else a short name, else its classifiers."""
    metadata = importlib.metadata.metadata(name)
    (expression, text) = ("".join(metadata.get_all(each) or ()).strip() for each in ("License-Expression", "License"))
    classified = [
        each.rpartition(" :: ")[2] for each in metadata.get_all("Classifier") or () if each.startswith("License :: ")
    ]
    if expression:
        return expression
    if text and len(text) <= _LONGEST_NAME and "\n" not in text:
        return text
    named = re.sub(r"\s+", " ", text.splitlines()[0]) if text else ""
    return ", ".join(classified) or named or "not said by the package"
