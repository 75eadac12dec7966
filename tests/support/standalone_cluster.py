"""A standalone Spark cluster of processes of their own on loopback: a master and two workers."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyspark

HOME = Path(pyspark.__file__).parent
_HOST = "127.0.0.1"
_WAIT_S = 60
_MASTER, _WORKER = "org.apache.spark.deploy.master.Master", "org.apache.spark.deploy.worker.Worker"


def environment(scratch: Path) -> dict[str, str]:
    """Return the environment of a machine of the cluster: Spark and Python, and nothing of ours."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHONPATH", "SPARK_"))}
    return inherited | {
        "SPARK_HOME": str(HOME),
        "SPARK_LOCAL_IP": _HOST,
        "SPARK_LOCAL_DIRS": str(scratch / "local"),
        "SPARK_DAEMON_MEMORY": "256m",
        "PYSPARK_PYTHON": sys.executable,
    }


@contextmanager
def cluster(scratch: Path, workers: int = 2) -> Iterator[str]:
    """Start a cluster, and yield its master's URL once all workers are there; it is gone afterwards.

    Args:
        scratch: folder for its logs and the workers' folders.
        workers: how many, of one core each.
    """
    port, page = _free_port(), _free_port()
    with ExitStack() as processes:
        options = ["--host", _HOST, "--port", str(port), "--webui-port", str(page)]
        processes.enter_context(_process(scratch, "master", _MASTER, *options))
        url = f"spark://{_HOST}:{port}"
        _wait(lambda: _listens(port), "the master to listen")
        for number in range(workers):
            folder = scratch / f"worker-{number}"
            options = [
                "--host",
                _HOST,
                "--webui-port",
                "0",
                "--cores",
                "1",
                "--memory",
                "1g",
                "--work-dir",
                str(folder),
            ]
            processes.enter_context(_process(scratch, folder.name, _WORKER, *options, url))
        _wait(lambda: _alive(page) == workers, f"{workers} workers to come")
        yield url


@contextmanager
def _process(scratch: Path, name: str, main: str, *arguments: str) -> Iterator[None]:
    scratch.mkdir(parents=True, exist_ok=True)
    with (scratch / f"{name}.log").open("wb") as log:
        command = [str(HOME / "bin" / "spark-class"), main, *arguments]
        running = subprocess.Popen(command, env=environment(scratch), stdout=log, stderr=log)
        try:
            yield
        finally:
            running.terminate()
            try:
                running.wait(20)
            except subprocess.TimeoutExpired:
                running.kill()
                running.wait()


def _wait(is_so: Callable[[], bool], what: str) -> None:

    until = time.monotonic() + _WAIT_S
    while not is_so():
        if time.monotonic() > until:
            raise TimeoutError(f"waited {_WAIT_S} s for {what}")
        time.sleep(0.2)


def _alive(page: int) -> int:
    """Return how many workers the master counts, by its own page."""
    try:
        with urllib.request.urlopen(f"http://{_HOST}:{page}/json/", timeout=5) as answer:
            return int(json.load(answer)["aliveworkers"])
    except OSError:
        return 0


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((_HOST, port)) == 0


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((_HOST, 0))
        return int(probe.getsockname()[1])
