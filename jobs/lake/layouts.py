"""Sees to it that a table is there, in today's layout, before a run writes it: created, or brought up to date."""

from __future__ import annotations

import logging

from jobs.lake.contents import Content, Contents
from jobs.lake.tables import Tables
from schemas.table import Layer, TableSpec

log = logging.getLogger(__name__)


class Layouts:
    """The layouts of the tables of one cluster.

    Args:
        tables: the tables.
        contents: what is known of them.
    """

    def __init__(self, tables: Tables, contents: Contents) -> None:
        self._tables = tables
        self._contents = contents
        self._fitting: set[TableSpec] = set()

    def made(self, spec: TableSpec) -> Content:
        """Create a table that does not exist, and bring one of an earlier release into today's layout.

        Returns:
            What is known of the table.
        """
        content = self._contents.of(spec)
        if content is None:
            self._tables.create(spec)
            content = self._contents.created(spec)
        elif spec not in self._fitting and not self._tables.is_fitting(spec):
            content = self._fitted(spec)
        self._fitting.add(spec)
        return content

    def _fitted(self, spec: TableSpec) -> Content:
        """Bring a table of an earlier release into today's layout.

        What is derived is derived anew: gold always, and silver where the table is of release 0.1.0, which never let go
        of anything in bronze either. Else rows stay, and have nothing in the new columns.
        """
        if spec.layer is Layer.GOLD or (spec.layer is Layer.SILVER and not self._contents.was_kept(spec)):
            aside = self._tables.make_anew(spec)
            log.warning("%s is of an earlier release: it is derived anew, and was moved to %s", spec.full_name, aside)
            return self._contents.created(spec)
        self._tables.add_columns(spec)
        content = self._contents.of(spec)
        assert content is not None, "it has just been changed"
        return content
