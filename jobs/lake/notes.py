"""What the jobs note for one cluster, beside its tables: small JSON documents at `<lake.root>/_notes/<cluster>/`.

A note is never more than a shortcut: without it, everything is read or computed once more. They are files and no
properties of the tables, because a change of a table's properties makes all writes under way to it fail, those of other
clusters too.
"""

from __future__ import annotations

import json
from typing import Any, TypeVar
from urllib.parse import quote

import msgspec

from jobs.jvm.files import Files
from jobs.lake.storage_errors import storage_errors

T = TypeVar("T")


def folder_of(cluster: str) -> str:
    """Return the name of folders that are a cluster's own."""
    return quote(cluster, safe="")


def notes_folder(cluster: str) -> str:
    """Return where the notes of a cluster lie, below the lake's root."""
    return f"_notes/{folder_of(cluster)}"


def understood(note: Any, kind: type[T]) -> T | None:
    """Return what was noted as a value of a type; None if it is none, as that of another release may be."""
    try:
        return msgspec.convert(note, kind)
    except msgspec.ValidationError:
        return None


class Notes:
    """The notes of one cluster.

    Args:
        files: files of the lake.
        folder: where they lie in it.
    """

    def __init__(self, files: Files, folder: str) -> None:
        self._files = files
        self._folder = folder

    def get(self, name: str) -> Any:
        """Return a note; None if there is none, or none that can be read."""
        try:
            with storage_errors(self._path(name)):
                text = self._files.read(self._path(name))
            return None if text is None else json.loads(text)
        except ValueError:
            return None

    def of_kind(self, name: str, kind: type[T]) -> T | None:
        """Return a note as a value of a type; None also if it is none, as that of another release may be."""
        return understood(self.get(name), kind)

    def put(self, name: str, note: Any) -> None:
        """Write a note in the place of the one before."""
        with storage_errors(self._path(name)):
            self._files.write(self._path(name), json.dumps(note, sort_keys=True))

    def drop(self, name: str) -> None:
        """Take a note back."""
        with storage_errors(self._path(name)):
            self._files.delete(self._path(name))

    def _path(self, name: str) -> str:
        return f"{self._folder}/{name}.json"
