"""Tells errors of the storage, which a user can do something about, from those of the program."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from deltalake.exceptions import CommitFailedError, DeltaError, SchemaMismatchError
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from jobs.jvm.gateway import causes
from transforms.errors import LakeError, SettingsError

_UNREACHABLE = (
    "java.io.IOException",
    "java.io.FileNotFoundException",
    "java.net.",
    "org.apache.hadoop.fs.",
    "org.apache.hadoop.security.AccessControlException",
    "java.nio.file.",
)
"""Causes, by the beginning of their class name, that say the storage and not the program is at fault."""

_NO_CLASS = "java.lang.ClassNotFoundException"

_REFUSED = "failed validation check"
"""What delta-rs says of rows that the table must not have: then the program is at fault."""


@contextmanager
def storage_errors(what: str) -> Iterator[None]:
    """Turn an error whose cause is the storage into a LakeError, or a SettingsError if it lacks its classes.

    All others are left alone.
    """
    try:
        yield
    except (PySparkException, Py4JError) as error:
        lacking = next((each for each in causes(error) if each.class_name == _NO_CLASS), None)
        if lacking is not None and "FileSystem" in lacking.message:
            raise SettingsError(
                f"{what} cannot be reached, as Spark has no class for its scheme ({lacking.message}): "
                "name the package of the object store in spark.jars.packages"
            ) from error
        cause = next((each for each in causes(error) if each.class_name.startswith(_UNREACHABLE)), None)
        if cause is None:
            raise
        raise LakeError(f"{what} cannot be reached: {cause.message}") from error
    except (CommitFailedError, SchemaMismatchError):
        raise
    except DeltaError as error:
        if _REFUSED in str(error):
            raise
        said = str(error).splitlines() or [type(error).__name__]  # what follows is where in delta-rs it came up
        raise LakeError(f"{what} cannot be reached: {said[0]}") from error
    except OSError as error:  # of a local disk, which Python itself reads and writes
        raise LakeError(f"{what} cannot be reached: {error}") from error
