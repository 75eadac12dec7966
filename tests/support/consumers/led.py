"""Kafka's own consumers of the consumer protocol, led from a test, in processes that can be paused and killed.

    with Led("4.2.0", broker.bootstrap_servers[0], folder) as first:
        first.start("a", "orders-app", "orders")
        first.ask("describe", "orders-app")

A process can have any number of consumers, and describes groups as the broker does.
"""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

from tests.support.kafka_broker import class_path
from tests.support.kafka_logging import logging_option

PROGRAM = Path(__file__).with_name("Consumers.java")
JVM = ("-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Duser.timezone=UTC")
NO_INSTANCE = "-"
LONG_MS = 300_000


class Led:
    """One process of consumers; `with` starts it and kills it.

    Attributes:
        log: the file of what the consumers log.
    """

    def __init__(self, version: str, server: str, folder: Path) -> None:
        """Say which release's clients are meant, the broker they go to, and the folder of their log, which is made."""
        folder.mkdir(parents=True, exist_ok=True)
        self._errors = folder / "console.txt"
        self.log = folder / "server.log"
        self._command = ["java", *JVM, logging_option(version, folder), "-cp", class_path(version)]
        self._command += [str(PROGRAM), server]

    def __enter__(self) -> Led:
        with self._errors.open("wb") as errors:
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True
            )
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def kill(self) -> None:
        """End the process, so that its members fall silent for ever."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.communicate()

    def ask(self, *words: object) -> Any:
        """Give one command, see `Consumers.java`; return its answer."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write("\t".join(map(str, words)) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, self._errors.read_text(encoding="utf-8")
        return json.loads(answer)

    def start(self, client: str, group: str, topic: str, instance: str = NO_INSTANCE, poll_ms: int = LONG_MS) -> None:
        """Start a consumer, which joins at once."""
        self.ask("start", client, group, topic, instance, poll_ms)

    def member(self, client: str) -> tuple[str, int]:
        """Return the member id and epoch of a consumer."""
        member_id, epoch = self.ask("member", client)
        return member_id, epoch

    def pause(self) -> None:
        """Stop all threads of the process, as a long stop of its machine would."""
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let a paused process go on."""
        self._process.send_signal(signal.SIGCONT)
