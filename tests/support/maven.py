"""Jars of Maven Central, brought by the Ivy that PySpark ships: the first time from there, then from a cache folder."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import tempfile
from pathlib import Path
from xml.sax.saxutils import quoteattr

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rebalance-analytics"
TIMEOUT_S = 300
"""A Kafka broker is some fifty jars; each takes a fraction of a second."""


def jars(name: str, *coordinates: str, is_transitive: bool = True) -> Path:
    """Return a folder of the cache with these artifacts, and with all that they need to run.

    Args:
        name: the folder's name; it stands for these coordinates and their versions.
        coordinates: `organisation:artifact:version` each.
        is_transitive: whether their own dependencies come along.
    """
    folder = CACHE / name
    if folder.is_dir():
        return folder
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as scratch:  # half a download must not look like a whole one
        module = Path(scratch) / "ivy.xml"
        module.write_text(_module(coordinates, is_transitive), encoding="utf-8")
        run_java(
            ["-jar", str(spark_jar("ivy-*.jar")), "-cache", f"{scratch}/cache", "-ivy", str(module)]
            + ["-confs", "default", "-types", "jar", "bundle"]
            + ["-retrieve", f"{scratch}/jars/[artifact]-[revision].[ext]"]
        )
        try:
            (Path(scratch) / "jars").rename(folder)
        except OSError:
            if not folder.is_dir():  # else another process was faster
                raise
    return folder


def spark_jar(pattern: str) -> Path:
    """Return the jar of PySpark that matches a pattern."""
    spec = importlib.util.find_spec("pyspark")
    assert spec is not None and spec.origin is not None
    return next((Path(spec.origin).parent / "jars").glob(pattern))


class JavaError(RuntimeError):
    """A Java program has ended otherwise than well; what it wrote."""


def run_java(arguments: list[str], stdin: str = "") -> str:
    """Run Java to its end; return what it wrote."""
    done = subprocess.run(
        ["java", *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=TIMEOUT_S,
        check=False,
    )
    if done.returncode:
        raise JavaError(done.stdout + done.stderr)
    return done.stdout


def _module(coordinates: tuple[str, ...], is_transitive: bool) -> str:
    wanted = ""
    for coordinate in coordinates:
        organisation, artifact, version = map(quoteattr, coordinate.split(":"))
        wanted += (
            f"<dependency org={organisation} name={artifact} rev={version}"
            f' conf="default" transitive="{str(is_transitive).lower()}"/>'
        )
    return (
        '<ivy-module version="2.0"><info organisation="tests" module="jars"/>'
        f"<dependencies>{wanted}</dependencies></ivy-module>"
    )
