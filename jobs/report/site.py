"""The files of a report: what is there, and what has to be written.

`manifest.json` says what each page was made of. A page is written again only if that has changed, or if the page is not
there any more; the manifest comes last, so that a run that was cut off is made good by the next one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from jobs.jvm.files import Files
from jobs.quality.offline import FOLDER as CHECKS
from jobs.report.pages import assets
from transforms.errors import SettingsError

MANIFEST = "manifest.json"
GROUPS = "groups"


@dataclass
class Manifest:
    """What the pages of a report were made of.

    Attributes:
        cluster: Kafka cluster that it is about; empty where there is no report yet.
        marks: of the tables, as `Contents.mark` gives them, and of the layout.
        pages: by file name, what the page of a group was made of.
    """

    cluster: str = ""
    marks: Mapping[str, str] = field(default_factory=dict)
    pages: dict[str, str] = field(default_factory=dict)


class SiteFiles:
    """The files of one report.

    Args:
        files: files below its folder.
        where: the folder, for messages.
    """

    def __init__(self, files: Files, where: str) -> None:
        self._files = files
        self._where = where

    def manifest(self, cluster: str) -> Manifest:
        """Return what the pages that are there were made of; those that are missing are left out.

        Raises:
            SettingsError: the report in this folder is that of another cluster.
        """
        kept = self._kept()
        if kept.cluster not in ("", cluster):
            raise SettingsError(
                f"{self._where} has the report of cluster {kept.cluster}: set report.path to another folder"
            )
        there = {file.name for file in self._files.list(GROUPS)}
        if not kept.pages.keys() <= there:
            kept.marks = {}
        kept.pages = {name: made_of for name, made_of in kept.pages.items() if name in there}
        return kept

    def write(self, path: str, text: str) -> None:
        """Write a page."""
        self._files.write(path, text)

    def delete_groups(self, names: set[str]) -> None:
        """Delete pages of groups that are not there any more."""
        for name in names:
            self._files.delete(f"{GROUPS}/{name}")

    def write_assets(self) -> None:
        """Write the files that all pages share, those that are not there as they should be."""
        there = {file.name for file in self._files.list("assets")}
        made_of = json.loads(self._files.read("assets/made-of.json") or "{}")
        now = {name: hashlib.blake2b(text.encode(), digest_size=16).hexdigest() for name, text in assets().items()}
        for name, digest in now.items():
            if name not in there or made_of.get(name) != digest:
                self._files.write(f"assets/{name}", assets()[name])
        if made_of != now:
            self._files.write("assets/made-of.json", json.dumps(now, indent=1, sort_keys=True))

    def checks(self) -> str:
        """Return where the results of the quality gate are, seen from the pages; empty if they are not there."""
        names = {file.name for file in self._files.list(CHECKS)}
        return f"{CHECKS}/index.html" if "index.html" in names else ""

    def keep(self, manifest: Manifest) -> None:
        """Keep what the pages were made of, for the next run."""
        kept = {"cluster": manifest.cluster, "marks": manifest.marks, "pages": manifest.pages}
        self._files.write(MANIFEST, json.dumps(kept, indent=1, sort_keys=True))

    def _kept(self) -> Manifest:
        try:
            kept: Any = json.loads(self._files.read(MANIFEST) or "{}")
            return Manifest(kept["cluster"], kept["marks"], kept["pages"]) if kept else Manifest()
        except (ValueError, KeyError, TypeError):
            return Manifest()  # nothing is known then, and everything is written again
