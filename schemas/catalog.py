"""All tables of the lake, in the order in which data flows through them."""

from __future__ import annotations

from schemas.table import TableSpec
from schemas.tables import bronze, gold, silver

TABLES: tuple[TableSpec, ...] = (*bronze.TABLES, *silver.TABLES, *gold.TABLES)
BY_NAME: dict[str, TableSpec] = {spec.name: spec for spec in TABLES}
