"""Which options of a session are other ones while queries are about few rows."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any, cast

import pytest
from pyspark import SparkConf
from pyspark.sql import SparkSession

from jobs.frame.job import Job
from jobs.frame.report import Report
from jobs.lake.lake import Lake
from jobs.session.brief_queries import queries
from jobs.settings.settings import Settings
from schemas.tables.bronze import LOG_LINES
from tests.support.lines_of_logs import AT, lines
from transforms.wanted_rows import Wanted

_COMPILED, _ADAPTIVE, _FACTORY = (
    "spark.sql.codegen.wholeStage",
    "spark.sql.adaptive.enabled",
    "spark.sql.codegen.factoryMode",
)
_BY_DEFAULT = {_COMPILED: "true", _ADAPTIVE: "true"}


class _Options(dict[str, str]):
    set = dict.__setitem__
    unset = dict.__delitem__


class _Session:
    """As much of a session as has options; the JVM's own would bring those of the tests along."""

    def __init__(self, **submitted: str) -> None:
        self.submitted = SparkConf(loadDefaults=False)
        self.submitted.setAll(list(submitted.items()))
        self.conf = _Options(_BY_DEFAULT | submitted)
        self.sparkContext = self

    def getConf(self) -> SparkConf:
        return self.submitted


def _options(session: _Session, are_brief: bool) -> dict[str, str]:
    with queries(cast("SparkSession", session), are_brief=are_brief):
        return {key: session.conf[key] for key in (_COMPILED, _ADAPTIVE, _FACTORY) if key in session.conf}


@pytest.mark.parametrize(
    ("master", "planned_again"), [("local[2]", "false"), ("local", "false"), ("spark://host:7077", "true")]
)
def test_queries_about_few_rows_are_interpreted_and_on_this_machine_planned_once(master: str, planned_again: str):
    session = _Session(**{"spark.master": master})
    before = dict(session.conf)
    expected = {_COMPILED: "false", _FACTORY: "NO_CODEGEN", _ADAPTIVE: planned_again}
    assert _options(session, are_brief=True) == expected
    assert session.conf == before


def test_queries_about_many_rows_are_as_spark_has_them():
    assert _options(_Session(**{"spark.master": "local[2]"}), are_brief=False) == _BY_DEFAULT


def test_what_the_user_has_set_stays():
    own: dict[str, Any] = {"spark.master": "local[2]", _ADAPTIVE: "true", _COMPILED: "true"}
    assert _options(_Session(**own), are_brief=True) == {**_BY_DEFAULT, _FACTORY: "NO_CODEGEN"}


def test_options_are_back_after_a_failure():
    session = _Session(**{"spark.master": "local[2]"})
    before = dict(session.conf)
    with pytest.raises(ValueError, match="boom"), queries(cast("SparkSession", session), are_brief=True):
        raise ValueError("boom")
    assert session.conf == before


def test_queries_are_compiled_from_then_on_that_it_is_asked_for():
    session = _Session(**{"spark.master": "local[2]"})
    before = dict(session.conf)
    with queries(cast("SparkSession", session), are_brief=True) as compile_them:
        compile_them()
        assert session.conf == before
        compile_them()
    assert session.conf == before


@pytest.mark.spark
def test_little_is_compiled_once_spark_looks_through_much(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What belongs to few new rows is mostly found without Spark; where it is not, in all that there is."""
    lake = Lake(spark, str(tmp_path), "", "c")
    job = Job(Settings.model_validate({"cluster": "c", "lake": {"root": str(tmp_path)}}), lake, Report(), Namespace())
    lake.append(LOG_LINES, lines(spark, range(3)), AT)
    usual = spark.conf.get(_COMPILED)
    monkeypatch.setattr("jobs.frame.job.MOST_INTERPRETED", 2)
    with job.brief(True):
        assert lake.read(LOG_LINES).count() == 3
        assert spark.conf.get(_COMPILED) == "false", "without a query"
    monkeypatch.setattr("jobs.lake.small_tables.FEW_ROWS", -1)
    for most, compiled in ((3, "false"), (2, usual)):
        monkeypatch.setattr("jobs.frame.job.MOST_INTERPRETED", most)
        another = Job(job.settings, Lake(spark, str(tmp_path), "", "c"), Report(), Namespace())
        with another.brief(True):
            assert another.lake.some(LOG_LINES, Wanted()).count() == 3
            assert spark.conf.get(_COMPILED) == "false", "found in its files"
            assert another.lake.read(LOG_LINES).count() == 3
            assert spark.conf.get(_COMPILED) == compiled
            assert another.lake.is_brief
        assert spark.conf.get(_COMPILED) == usual
