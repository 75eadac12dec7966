"""Makes a capture: starts a broker, lets chaotic clients loose on it, collects what is left and packs it."""

from __future__ import annotations

import argparse
import asyncio
import re
import tarfile
from contextlib import suppress
from pathlib import Path

from tests.support.chaos import cluster, epochs, shares, streams
from tests.support.chaos.run import run
from tests.support.kafka_broker import Brokers
from tests.support.kafka_capture import write_capture
from tests.support.maven import CACHE, JavaError
from tests.support.zookeeper_broker import ZooKeeperBrokers

FIRST_WITHOUT_ZOOKEEPER = (3, 3)
FIRST_WITH_SHARES_AND_STREAMS = (4, 2)
FIRST_WITH_EPOCHS_AT_ONCE = (4, 0)
FIRST_THAT_DESCRIBES_EPOCHS = (3, 8)
"""In 3.7 the answer is laid out otherwise."""

SETTINGS = {
    "group.max.size": "3",
    "group.initial.rebalance.delay.ms": "3000",
    "offset.metadata.max.bytes": "4096",
    "auto.create.topics.enable": "false",
}
LIBRARIES = "/opt/kafka/libs"
"""Where the broker's jars would be, had it been installed."""

MACHINE = re.compile(r"(Client environment:(?:user\.\w+|host\.name|os\.version|java\.home)=).*(?= \()")
"""What a client of ZooKeeper prints of the machine that it runs on."""


def main() -> None:
    """Read the arguments and make the capture."""
    parser = argparse.ArgumentParser(prog="python -m tests.support.chaos", description=__doc__)
    parser.add_argument("--version", required=True, help="release of Kafka")
    parser.add_argument("--scala", help="Scala version of its build")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--old-leaders", action="store_true", help="let clients lead that know of no static members")
    parser.add_argument("--epochs", action="store_true", help="let members of newer protocols loose, too (3.7)")
    parser.add_argument("--brokers", type=int, default=1, help="of several all but one die and come back")
    parser.add_argument("folder", type=Path, help="the capture's own; its archive goes beside it")
    chosen = parser.parse_args()
    folder = capture(
        chosen.version,
        chosen.seed,
        chosen.seconds,
        chosen.folder,
        chosen.scala,
        chosen.old_leaders,
        chosen.epochs,
        chosen.brokers,
    )
    with tarfile.open(folder.with_name(f"{folder.name}.tar.xz"), "w:xz") as archive:
        archive.add(folder, folder.name, filter=_anonymous)


def capture(
    version: str,
    seed: int,
    seconds: float,
    folder: Path,
    scala: str | None = None,
    has_old_leaders: bool = False,
    has_epochs: bool = False,
    nodes: int = 1,
) -> Path:
    """Make a capture in a folder that is not there yet; return it."""
    folder.mkdir(parents=True)
    release = tuple(int(part) for part in version.split(".")[:2])
    is_old = release < FIRST_WITHOUT_ZOOKEEPER
    settings = SETTINGS | (_settings_of_epochs(release) if has_epochs else {})
    if nodes > 1:
        settings |= cluster.SETTINGS
    brokers = ZooKeeperBrokers(version, nodes, settings, scala) if is_old else Brokers(version, nodes, settings)
    with brokers:
        truth = folder / "truth.jsonl"
        who = {"has_old_leaders": has_old_leaders, "has_epochs": has_epochs}
        who["describes_epochs"] = not has_epochs or release >= FIRST_THAT_DESCRIBES_EPOCHS
        asyncio.run(run(brokers, seed, seconds, truth, **who))
        for node in reversed(brokers.nodes):
            brokers.stop(node)
        with suppress(JavaError):  # up to 3.7 the tool that makes the dump ends at a member that was given nothing
            write_capture(brokers, folder)
        paths = {str(brokers.log_dir(1).parents[1]): "/var/lib/kafka", str(CACHE): LIBRARIES}
    for log in folder.glob("broker_logs/**/*.log"):
        text = log.read_text(encoding="utf-8")
        for path, there in paths.items():
            text = text.replace(path, there)
        log.write_text(MACHINE.sub(r"\1", text), encoding="utf-8")
    return folder


def _settings_of_epochs(release: tuple[int, ...]) -> dict[str, str]:
    """Return the settings of the newer protocols that a release serves."""
    settled = shares.SETTINGS | streams.SETTINGS if release >= FIRST_WITH_SHARES_AND_STREAMS else {}
    early = {} if release >= FIRST_WITH_EPOCHS_AT_ONCE else epochs.EARLY_SETTINGS
    return epochs.SETTINGS | early | settled


def _anonymous(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """Say nothing of who packed it."""
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry


if __name__ == "__main__":
    main()
