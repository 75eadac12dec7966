"""Real Kafka brokers of the releases that need ZooKeeper: the brokers and one ZooKeeper, a JVM each.

with ZooKeeperBrokers("2.8.2") as broker:
    ...  # clients connect to broker.bootstrap_servers

Of several brokers the one that registers first is the controller; if it goes, another one is.
"""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Mapping

from tests.support.kafka_broker import JVM, POLL_S, START_S, STOP_S, Brokers, class_path
from tests.support.maven import jars

SERVER = "org.apache.zookeeper.server.ZooKeeperServerMain"
ZOOKEEPER_JVM = "-Dzookeeper.admin.enableServer=false"
"""No web server on a port that may be taken."""

ZOOKEEPER = "3.5.9"
"""Before all others on the class path: clients before 3.5.8 find no server on Java 14 or later (ZOOKEEPER-3779)."""

TICK_MS = 500
SESSION_MS = 3_000
"""How long one of several brokers may be silent until it counts as dead; ZooKeeper grants two ticks at the least."""

TOOLS = "3.9.1"

FIRST_WITH_SCALA_2_13 = (2, 6)
"""From this release on Kafka recommends its build with Scala 2.13 for download; before, that with 2.12."""

CONSOLE_LOGGING = """\
log4j.rootLogger=WARN, console
log4j.appender.console=org.apache.log4j.ConsoleAppender
log4j.appender.console.layout=org.apache.log4j.PatternLayout
log4j.appender.console.layout.conversionPattern=[%d] %p %m (%c)%n
"""


class ZooKeeperBrokers(Brokers):
    """Brokers and their ZooKeeper; all end with the `with` block."""

    started = "] started (kafka.server.KafkaServer)"

    def __init__(
        self, version: str, nodes: int = 1, settings: Mapping[str, str] | None = None, scala: str | None = None
    ) -> None:
        """Choose what to start.

        Args:
            version: release of Kafka, 1.0 to 3.9.
            nodes: number of brokers; replication factors follow it.
            settings: broker settings beside and above `kafka_broker.SETTINGS`.
            scala: Scala version of the build; by default the one that is recommended for the release.
        """
        super().__init__(version, nodes, settings)
        release = tuple(int(part) for part in version.split(".")[:2])
        self.scala = scala or ("2.13" if release >= FIRST_WITH_SCALA_2_13 else "2.12")
        self._zookeeper: subprocess.Popen[bytes] | None = None

    def close(self) -> None:
        """Stop the brokers, then their ZooKeeper, and remove all files."""
        for node in list(self._processes):
            self.stop(node)
        if self._zookeeper is not None:
            self._zookeeper.terminate()
            self._zookeeper.wait(STOP_S)
            self._zookeeper = None
        super().close()

    @property
    def tools(self) -> str:
        """Class path of Kafka's tools: of a later release, as the old ones fail on assignments without a byte."""
        return class_path(TOOLS)

    @property
    def class_path(self) -> str:
        artifacts = [f"org.apache.zookeeper:{name}:{ZOOKEEPER}" for name in ("zookeeper", "zookeeper-jute")]
        return f"{jars(f'zookeeper-{ZOOKEEPER}', *artifacts, is_transitive=False)}/*:{super().class_path}"

    def _own_settings(self, node: int) -> dict[str, str]:
        # A lone broker is to outlive whatever keeps its machine busy.
        session = {"zookeeper.session.timeout.ms": str(SESSION_MS)} if len(self.nodes) > 1 else {}
        return session | {
            "broker.id": str(node),
            "zookeeper.connect": f"127.0.0.1:{self._controller_port}",
            "listeners": f"PLAINTEXT://127.0.0.1:{self._ports[node]}",
            "log.dirs": str(self.log_dir(node)),
            "offsets.topic.replication.factor": str(len(self.nodes)),
            "transaction.state.log.replication.factor": str(len(self.nodes)),
        }

    def _prepare(self) -> None:
        """Start ZooKeeper, and wait until somebody can connect to it."""
        logging = self._folder / "zookeeper.log4j.properties"
        logging.write_text(CONSOLE_LOGGING, encoding="utf-8")
        options = [f"-Dlog4j.configuration={logging.as_uri()}", ZOOKEEPER_JVM]
        command = ["java", *JVM, *options, "-cp", self.class_path, SERVER]
        command += [str(self._controller_port), str(self._folder / "zookeeper"), str(TICK_MS)]
        with (self._folder / "zookeeper.txt").open("wb") as console:
            self._zookeeper = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=console, stderr=subprocess.STDOUT
            )
        until = time.monotonic() + START_S
        while time.monotonic() < until and self._zookeeper.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", self._controller_port), timeout=1).close()
            except OSError:
                time.sleep(POLL_S)
            else:
                return
        raise RuntimeError(f"ZooKeeper does not start: {(self._folder / 'zookeeper.txt').read_text()}")
