"""What is said when the JVM that this process started has ended before the job has."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark import SparkContext

from transforms.errors import LakeError, RebalanceError


@contextmanager
def told_if_the_jvm_ended() -> Iterator[None]:
    """Say so where that is why something failed: each call then fails in a way of its own.

    Raises:
        LakeError: the JVM has ended.
    """
    try:
        yield
    except RebalanceError:
        raise
    except Exception as error:
        code = _exit_code()
        if code is None:
            raise
        raise LakeError(
            f"Spark's JVM ended with code {code} before the job did; if it ran out of memory, give it more with "
            "spark.driver.memory in the file that spark.properties names. Nothing is lost: run the job again"
        ) from error


def _exit_code() -> int | None:
    """Return how the JVM ended; None if it has not, or was started by somebody else."""
    process = getattr(SparkContext._gateway, "proc", None)
    code: int | None = None if process is None else process.poll()
    return code
