"""All tables of the lake, in the order in which data flows through them."""

from __future__ import annotations

from schemas.table import TableSpec
from schemas.tables import bronze, gold, quality, silver

TABLES: tuple[TableSpec, ...] = (*bronze.TABLES, *silver.TABLES, *gold.TABLES)
"""Tables of data: what runs are about."""

ALL: tuple[TableSpec, ...] = (*TABLES, *quality.TABLES)
"""And those about the runs."""

BY_NAME: dict[str, TableSpec] = {spec.name: spec for spec in ALL}
