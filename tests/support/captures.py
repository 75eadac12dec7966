"""The captures of real brokers that the tests and the demonstration run on.

python -m tests.support.captures NAME FOLDER
"""

from __future__ import annotations

import sys
import tarfile
import tempfile
from pathlib import Path

ARCHIVES = Path(__file__).resolve().parents[1] / "data" / "captures"

CALM = ("kafka-3.9.1", "kafka-4.2.0")
CHAOTIC = ("chaos-3.9.1", "chaos-4.2.0")
FAILOVER = ("failover-3.9.1", "failover-4.2.0")
"""Two brokers, of which the second was killed and came back; chaotic clients, `broker_logs` with a folder for each."""
MODERN = ("modern-4.2.0",)
"""Calm groups of every type: consumer (KIP-848), share and streams groups, conversions; see the truth's `_describe`."""
MODERN_EARLIER = ("modern-4.1.1", "modern-3.9.1")
"""The same calm clients at brokers of earlier releases; in 3.9 the new protocol is a preview, without share groups,
streams groups and regular expressions, and a group with members that subscribe differently may fail to be assigned."""
MODERN_CHAOTIC = ("modern-chaos-4.2.0",)
"""Chaotic clients of every protocol, some at one group id; groups that are converted, both ways."""
EARLY_ACCESS = "modern-chaos-3.7.2"
"""Chaotic clients of the consumer protocol at a release that had it as an early access."""
MODERN_POLICIES = ("modern-policy-disabled-4.2.0", "modern-policy-upgrade-4.2.0", "modern-policy-downgrade-4.2.0")
"""Small: groups that are converted, or not, by the broker's policy."""
MODERN_FAILOVER = ("modern-failover-4.1.1",)
"""Chaotic clients of every protocol at three brokers, which are shut down or killed in turn, and come back."""
FROZEN = "frozen-3.8.1"
"""Chaotic clients at three brokers, one of which is killed, shut down or stopped with SIGSTOP now and then, and comes
back; made by `tests.support.chaos`."""
OLD = ("chaos-2.8.2", "chaos-2.4.1", "chaos-2.1.1")
"""Brokers with ZooKeeper and chaotic clients, made by `tests.support.chaos`; up to 2.7 the request log is text."""
CAPTURES = (*CALM, *CHAOTIC, *FAILOVER)
ALL = (*CAPTURES, *OLD)
"""What the tests without Spark run on."""


def capture(name: str, into: Path, archives: Path = ARCHIVES) -> Path:
    """Unpack one capture, unless that was done before, and return its folder, `<into>/<name>`."""
    folder = into / name
    if folder.is_dir():
        return folder
    into.mkdir(parents=True, exist_ok=True)
    with (
        tarfile.open(archives / f"{name}.tar.xz") as archive,
        tempfile.TemporaryDirectory(dir=into) as scratch,  # half a capture must not look like a whole one
    ):
        if hasattr(tarfile, "data_filter"):
            archive.extractall(scratch, filter="data")
        else:
            archive.extractall(scratch)
        (Path(scratch) / name).rename(folder)
    return folder


if __name__ == "__main__":
    capture(sys.argv[1], Path(sys.argv[2]))
