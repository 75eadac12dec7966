"""A quicker start of the JVM on this machine: Delta's jars are not sought twice, and classes not read anew each time.

The first start lets Spark fetch Delta, and notes where the jars are. The second one has them on the class path, and
lets the JVM write down the classes that it loaded when it ends (class-data sharing, JEP 350), which takes some seconds
after the job is through. All later ones map that archive into memory, and are some seconds faster. The archive is good
for the very same Java, class path and flags, and has a name that changes with them.

None of this is needed: a JVM that cannot use an archive goes on without it, and so does this module without the cache.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

from jobs.session.packages import Package

_CACHE = "rebalance-analytics"
_BEING_WRITTEN_S = 600
_UNUSED_S = 30 * 24 * 3600

_SILENT = "-XX:+IgnoreUnrecognizedVMOptions -Xshare:auto -Xlog:cds=off,cds+dynamic=off,class+path=off"


def cache_folder() -> Path:
    """Return the folder that holds what can be made again."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / _CACHE


def known_jars(package: Package) -> list[str]:
    """Return where the jars of a package are, if an earlier start noted it and they still are there; else none."""
    try:
        noted = json.loads(_note(package).read_text(encoding="utf-8"))
        is_there = all(Path(path).stat().st_size == size for path, size in noted.items())
    except (OSError, ValueError, AttributeError):
        return []
    return list(noted) if is_there else []


def note_jars(package: Package, jars: Sequence[str]) -> None:
    """Note where the jars of a package are."""
    try:
        sizes = {path: Path(path).stat().st_size for path in sorted(jars)}
        _note(package).parent.mkdir(parents=True, exist_ok=True)
        scratch = _note(package).with_suffix(f".{os.getpid()}")
        scratch.write_text(json.dumps(sizes), encoding="utf-8")
        scratch.replace(_note(package))
    except OSError:
        return  # the next start fetches them as this one did


def jvm_options(jars: Sequence[str], other_options: str) -> str:
    """Return the JVM's options for sharing class data: those to use the archive, or to make it.

    Args:
        jars: what is on the class path before Spark's own jars.
        other_options: all other options of the JVM.

    Returns:
        Options; none where class data cannot be shared.
    """
    try:
        archive = _archive(jars, other_options)
        if archive is None:
            return ""
        if _is_whole(archive):
            os.utime(archive)
            return f"{_SILENT} -XX:SharedArchiveFile={archive}"
        if archive.exists() and time.time() - archive.stat().st_mtime < _BEING_WRITTEN_S:
            return ""
        _make_room(archive.parent)
        return f"{_SILENT} -XX:ArchiveClassesAtExit={archive}"
    except OSError:
        return ""


def forget(jars: Sequence[str], other_options: str) -> None:
    """Remove the archive that these options lead to."""
    archive = _archive(jars, other_options)
    if archive is not None:
        archive.unlink(missing_ok=True)


def _archive(jars: Sequence[str], other_options: str) -> Path | None:
    """Return where the archive for this Java, class path and flags lies; None if they do not allow for one."""
    java, spark = _java(), _spark_home()
    if java is None or spark is None or any(sign in str(cache_folder()) for sign in " ,\"'"):
        return None
    configuration = Path(os.environ.get("SPARK_CONF_DIR") or spark / "conf")
    if configuration.is_dir() and any(configuration.iterdir()):
        return None  # it is on the class path, where Java allows for jars only
    release = java.parents[1] / "release"
    seen = [
        str(java),
        release.read_text(encoding="utf-8") if release.is_file() else java.stat().st_mtime_ns,
        [(path, Path(path).stat().st_mtime_ns) for path in jars],
        sorted((file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in (spark / "jars").iterdir()),
        other_options,
    ]
    name = hashlib.blake2b(repr(seen).encode("utf-8"), digest_size=12).hexdigest()
    return cache_folder() / "class-data" / f"{name}.jsa"


def _is_whole(archive: Path) -> bool:
    """Tell whether an archive was written to its end: its head is what Java writes last."""
    try:
        with archive.open("rb") as opened:
            return opened.read(4).strip(b"\0") != b""
    except FileNotFoundError:
        return False


def _make_room(folder: Path) -> None:
    """Make the folder of archives, and remove those that nobody has used for long."""
    folder.mkdir(parents=True, exist_ok=True)
    for archive in folder.glob("*.jsa"):
        if time.time() - archive.stat().st_mtime > _UNUSED_S:
            archive.unlink(missing_ok=True)


def _java() -> Path | None:
    home = os.environ.get("JAVA_HOME")
    found = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    return Path(found).resolve() if found and Path(found).is_file() else None


def _spark_home() -> Path | None:
    if os.environ.get("SPARK_HOME"):
        return Path(os.environ["SPARK_HOME"])
    spec = importlib.util.find_spec("pyspark")
    return Path(spec.origin).parent if spec and spec.origin else None


def _note(package: Package) -> Path:
    return cache_folder() / "jars" / f"{str(package).replace(':', '_')}.json"
