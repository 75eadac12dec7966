"""What is said when the JVM that this process started has ended before the job has."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from subprocess import Popen, TimeoutExpired

from pyspark import SparkContext

from transforms.errors import LakeError, RebalanceError, SettingsError

_OUT_OF_MEMORY = 3
"""Exit code of a JVM that ends by itself (`-XX:+ExitOnOutOfMemoryError`)."""

_ENDING_S = 1.0
"""Its connections break a moment before it has ended."""


@contextmanager
def told_if_the_jvm_ended() -> Iterator[None]:
    """Say so where that is why something failed: each call then fails in a way of its own.

    Raises:
        SettingsError: the JVM has ended for want of memory, as it will again.
        LakeError: it was ended from outside.
    """
    try:
        yield
    except RebalanceError:
        raise
    except Exception as error:
        code = _exit_code()
        if code is None:
            raise
        if code == _OUT_OF_MEMORY:
            raise SettingsError(
                "Spark's JVM ran out of memory: give it more with spark.driver.memory in the file that "
                "spark.properties names. Nothing is lost: the next run goes on"
            ) from error
        raise LakeError(
            f"Spark's JVM was ended from outside (exit code {code}). Nothing is lost: the next run goes on"
        ) from error


def _exit_code() -> int | None:
    """Return how the JVM ended; None if it has not, or was started by somebody else."""
    process: Popen[bytes] | None = getattr(SparkContext._gateway, "proc", None)
    if process is None:
        return None
    try:
        return process.wait(_ENDING_S)
    except TimeoutExpired:
        return None
