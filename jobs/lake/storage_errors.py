"""Tells errors of the storage, which a user can do something about, from those of the program."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException

from transforms.errors import LakeError

_UNREACHABLE = (
    "java.io.IOException",
    "java.io.FileNotFoundException",
    "java.net.",
    "org.apache.hadoop.fs.",
    "org.apache.hadoop.security.AccessControlException",
    "java.nio.file.",
)
"""Causes, by the beginning of their class name, that say the storage and not the program is at fault."""


@contextmanager
def storage_errors(what: str) -> Iterator[None]:
    """Turn an error whose cause is the storage into a LakeError; leave all others alone."""
    try:
        yield
    except (PySparkException, Py4JError) as error:
        cause = _storage_cause(error)
        if cause is None:
            raise
        raise LakeError(f"{what} cannot be reached: {cause}") from error


def _storage_cause(error: BaseException) -> str | None:
    """Return the message of the first cause that lies in the storage."""
    throwable = error.java_exception if isinstance(error, Py4JJavaError) else getattr(error, "_origin", None)
    while throwable is not None:
        if throwable.getClass().getName().startswith(_UNREACHABLE):
            return str(throwable.getMessage())
        throwable = throwable.getCause()
    return None
