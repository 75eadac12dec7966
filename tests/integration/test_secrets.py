"""A password of Kafka comes from the environment, opens the topic, and is written nowhere."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import kafka_driver
from tests.support.kafka_broker import Brokers
from tests.support.spark_session import LOG4J2, properties

pytestmark = [pytest.mark.spark, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]
PASSWORD = "tr0ub4dor-and-3"
LOGIN = "org.apache.kafka.common.security.plain.PlainLoginModule required username='ops' password='{}'"
WITH_PASSWORD = {
    "listener.security.protocol.map": "PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT",
    "inter.broker.listener.name": "PLAINTEXT",
    "sasl.enabled.mechanisms": "PLAIN",
    "sasl.mechanism.inter.broker.protocol": "PLAIN",
    "listener.name.plaintext.plain.sasl.jaas.config": f"{LOGIN.format(PASSWORD)} user_ops='{PASSWORD}';",
    "offsets.topic.num.partitions": "1",
}
"""A broker whose one listener asks for a password."""


@pytest.fixture(scope="module")
def brokers() -> Iterator[Brokers]:
    with Brokers("4.2.0", settings=WITH_PASSWORD) as running:
        asyncio.run(kafka_driver.commit_once(running.bootstrap_servers, "orders", ("ops", PASSWORD)))
        yield running


def ingest(brokers: Brokers, folder: Path, password: str) -> subprocess.CompletedProcess[str]:
    """Run the job as a scheduler does, with all that Spark has to say."""
    defaults = properties(folder)
    with defaults.open("a", encoding="utf-8") as lines:
        lines.write("\nspark.log.level INFO\nspark.eventLog.enabled true\n")
        lines.write(f"spark.eventLog.dir file://{folder}/events\n")
    (folder / "events").mkdir()
    arguments = [
        "--cluster=test",
        f"--lake.root={folder / 'lake'}",
        "--offsets.kind=kafka",
        f"--offsets.bootstrap_servers={brokers.bootstrap_servers[0]}",
        "--offsets.kafka.security.protocol=SASL_PLAINTEXT",
        "--offsets.kafka.sasl.mechanism=PLAIN",
        f"--spark.properties={defaults}",
        f"--spark.log4j2={LOG4J2}",
    ]
    variables = {"REBALANCE__OFFSETS__KAFKA__SASL__JAAS__CONFIG": f"{LOGIN.format(password)};"}
    command = [sys.executable, "-m", "jobs.ingest_offsets", *arguments]
    return subprocess.run(
        command, env={**os.environ, **variables, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=300
    )


def written(folder: Path, done: subprocess.CompletedProcess[str]) -> bytes:
    files = [file for file in folder.rglob("*") if file.is_file()]
    return done.stdout.encode() + done.stderr.encode() + b"".join(file.read_bytes() for file in files)


def test_a_password_opens_the_topic_and_is_seen_nowhere(brokers: Brokers, tmp_path: Path) -> None:
    done = ingest(brokers, tmp_path, PASSWORD)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "offset_commits +1" in done.stdout
    everything = written(tmp_path, done)
    assert b"SASL_PLAINTEXT" in everything, "what Spark says of its options is among it"
    assert PASSWORD.encode() not in everything


def test_a_wrong_password_is_one_sentence_without_it(brokers: Brokers, tmp_path: Path) -> None:
    done = ingest(brokers, tmp_path, "wr0ng-and-4")
    assert done.returncode == 4
    (said,) = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert "check the user and the password in the environment" in said
    assert b"wr0ng-and-4" not in written(tmp_path, done)
