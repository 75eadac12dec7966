"""Real Kafka brokers on loopback, each in a JVM of its own, without a container.

    with Brokers("4.2.0", nodes=2) as brokers:
        ...  # clients connect to brokers.bootstrap_servers
        brokers.kill(2)
        brokers.start(2)

KRaft mode: node 1 is controller and broker, every other node a broker only, so that it can be killed. Releases from 3.3
on; for those before see `zookeeper_broker`. Their jars come from Maven Central once.
"""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from tests.support.kafka_logging import is_log4j2, logging_option
from tests.support.maven import jars, run_java

START_S = 60
STOP_S = 30
POLL_S = 0.05
TAIL_LINES = 40
CLUSTER_ID = "rebalance-analytics-00"
JVM = ("-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Duser.timezone=UTC")

SETTINGS = {
    "group.min.session.timeout.ms": "1000",
    "group.initial.rebalance.delay.ms": "300",
    "transaction.state.log.num.partitions": "4",
    "transaction.state.log.min.isr": "1",
    "num.partitions": "3",
    "broker.heartbeat.interval.ms": "500",
    "broker.session.timeout.ms": "3000",
}
"""Beside the defaults: short times make a short test, and a dead broker is noticed within seconds."""


class Brokers:
    """Brokers of one cluster; `with` starts them and ends them.

    Attributes:
        nodes: the node ids, from 1.
        started: what a broker logs when it serves.
        scala: version of Scala that the broker was built with.
    """

    started = "Kafka Server started"
    scala = "2.13"

    def __init__(self, version: str, nodes: int = 1, settings: Mapping[str, str] | None = None) -> None:
        """Choose what to start.

        Args:
            version: release of Kafka.
            nodes: number of brokers; replication factors follow it.
            settings: broker settings beside and above `SETTINGS`.
        """
        self.nodes = range(1, nodes + 1)
        self._version = version
        self._settings = {**SETTINGS, **(settings or {})}
        self._controller_port, *ports = _free_ports(nodes + 1)
        self._ports = dict(zip(self.nodes, ports, strict=True))
        self._folder = Path(tempfile.mkdtemp(prefix="kafka-"))
        self._processes: dict[int, subprocess.Popen[bytes]] = {}

    @property
    def bootstrap_servers(self) -> list[str]:
        """Where clients find the brokers, `host:port` each."""
        return [f"127.0.0.1:{port}" for port in self._ports.values()]

    def log_dir(self, node: int = 1) -> Path:
        """Folder of a broker's partitions, `__consumer_offsets-N` among them."""
        return self._folder / str(node) / "data"

    def server_log_dir(self, node: int = 1) -> Path:
        """Folder of a broker's `server.log` and `kafka-request.log`."""
        return self._folder / str(node) / "logs"

    def __enter__(self) -> Brokers:
        try:
            for node in self.nodes:
                self.server_log_dir(node).mkdir(parents=True)
                settings = {**self._own_settings(node), **self._settings}
                text = "".join(f"{key}={value}\n" for key, value in settings.items())
                self._properties(node).write_text(text, encoding="utf-8")
            self._prepare()
            for node, log_size in [(node, self._launch(node)) for node in self.nodes]:
                self._wait(node, log_size)
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self, node: int) -> None:
        """Start a broker that was stopped or killed, and wait until it serves."""
        self._wait(node, self._launch(node))

    def stop(self, node: int) -> None:
        """Shut a broker down in good order; one that cannot, without a controller, is killed in the end."""
        process = self._processes.pop(node)
        process.terminate()
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def kill(self, node: int) -> None:
        """End a broker as a power cut would."""
        process = self._processes.pop(node)
        process.kill()
        process.wait()

    def freeze(self, node: int) -> None:
        """Let a broker stand still, as a machine does that swaps or is moved."""
        self._processes[node].send_signal(signal.SIGSTOP)

    def thaw(self, node: int) -> None:
        """Let it go on."""
        self._processes[node].send_signal(signal.SIGCONT)

    def close(self) -> None:
        """Stop what still runs, the controller last, and remove all files."""
        for node in sorted(self._processes, reverse=True):
            self.stop(node)
        shutil.rmtree(self._folder, ignore_errors=True)

    def run(self, tool: str, *arguments: str) -> str:
        """Run one of Kafka's own tools, by the name of its class; return what it wrote."""
        return run_java(["-cp", self.tools, tool, *arguments])

    def dump_offsets(self, segments: Iterable[Path]) -> str:
        """Return what Kafka's own `DumpLogSegments --offsets-decoder` says of segment files."""
        files = ",".join(map(str, segments))
        return self.run("kafka.tools.DumpLogSegments", "--offsets-decoder", "--files", files)

    @property
    def tools(self) -> str:
        """Class path of Kafka's tools: those of the brokers' own release."""
        return self.class_path

    @property
    def class_path(self) -> str:
        """The release's jars, with its clients."""
        return class_path(self._version, self.scala)

    def _properties(self, node: int) -> Path:
        return self._folder / str(node) / "server.properties"

    def _prepare(self) -> None:
        """Do what a cluster needs before its brokers can start."""
        for node in self.nodes:
            self.run("kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c", str(self._properties(node)))

    def _own_settings(self, node: int) -> dict[str, str]:
        """Return the settings of a node that nobody chooses."""
        is_controller = node == 1
        controller = f"127.0.0.1:{self._controller_port}"
        listener = f"PLAINTEXT://127.0.0.1:{self._ports[node]}"
        return {
            "process.roles": "broker,controller" if is_controller else "broker",
            "node.id": str(node),
            "controller.quorum.voters": f"1@{controller}",
            "controller.listener.names": "CONTROLLER",
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "listeners": f"{listener},CONTROLLER://{controller}" if is_controller else listener,
            "log.dirs": str(self.log_dir(node)),
            "offsets.topic.replication.factor": str(len(self.nodes)),
            "transaction.state.log.replication.factor": str(len(self.nodes)),
        }

    def _launch(self, node: int) -> int:
        """Start the process of a node; return the size that its log had before."""
        log = self.server_log_dir(node) / "server.log"
        log_size = log.stat().st_size if log.exists() else 0
        logging = logging_option(self._version, self.server_log_dir(node))
        command = ["java", *JVM, logging, "-cp", self.class_path, "kafka.Kafka", str(self._properties(node))]
        with self._console(node).open("ab") as console:
            self._processes[node] = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=console, stderr=subprocess.STDOUT
            )
        return log_size

    def _wait(self, node: int, log_size: int) -> None:
        """Wait until a node has written, behind what was in its log, that it serves."""
        process, log = self._processes[node], self.server_log_dir(node) / "server.log"
        until = time.monotonic() + START_S
        while time.monotonic() < until and process.poll() is None:
            if log.exists():
                with log.open("rb") as lines:
                    lines.seek(log_size)
                    if self.started.encode() in lines.read():
                        return
            time.sleep(POLL_S)
        ended = "does not start" if process.poll() is None else f"ended with {process.returncode}"
        raise RuntimeError(f"broker {node} of Kafka {self._version} {ended}:\n{self._tail(node)}")

    def _console(self, node: int) -> Path:
        return self._folder / str(node) / "console.txt"

    def _tail(self, node: int) -> str:
        texts = []
        for file in (self._console(node), self.server_log_dir(node) / "server.log"):
            if file.exists():
                texts += file.read_text(encoding="utf-8", errors="replace").splitlines()[-TAIL_LINES:]
        return "\n".join(texts)


def class_path(version: str, scala: str = "2.13") -> str:
    """Return the class path of a release of Kafka, built with a version of Scala."""
    binding = "org.apache.logging.log4j:log4j-slf4j-impl:2.25.3"
    if not is_log4j2(version):
        binding = "org.slf4j:slf4j-reload4j:1.7.36"
    return f"{jars(f'kafka-{scala}-{version}', f'org.apache.kafka:kafka_{scala}:{version}', binding)}/*"


def _free_ports(count: int) -> list[int]:
    """Ports that are free now, all different."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports
