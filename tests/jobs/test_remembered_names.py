"""Names of Java's classes and methods are asked for once, and mean what they meant."""

from __future__ import annotations

from typing import Any

import pytest
from py4j.protocol import REFLECTION_COMMAND_NAME, Py4JError
from pyspark.sql import functions as F

from jobs.jvm.gateway import packages

pytestmark = pytest.mark.spark


def test_the_jvm_is_asked_once_what_a_name_means(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    client, asked = packages(spark)._gateway_client, list[str]()
    send = client.send_command

    def heard(command: str, *given: Any, **more: Any) -> Any:
        if command.startswith(REFLECTION_COMMAND_NAME):
            asked.append(command.split("\n")[2])
        return send(command, *given, **more)

    monkeypatch.setattr(client, "send_command", heard)
    for number in range(3):
        del asked[:]
        told = spark.range(number, number + 1).select(F.cbrt(F.col("id")).alias("root"), F.lit("x")).collect()
        assert [tuple(row) for row in told] == [(pytest.approx(number ** (1 / 3)), "x")]
        assert packages(spark).java.util.Collections.max(packages(spark).java.util.ArrayList([number])) == number
    assert "cbrt" not in asked and "java.util" not in asked and "max" not in asked


def test_what_a_field_holds_is_looked_up_each_time_and_what_is_not_there_is_said(spark: Any) -> None:
    levels = packages(spark).java.util.logging.Level
    assert levels.INFO.getName() == "INFO" and levels.INFO.intValue() == 800
    assert levels.INFO is not levels.INFO
    for _ in range(2):
        with pytest.raises(Py4JError, match="nothing_of_the_kind"):
            _ = levels.nothing_of_the_kind
