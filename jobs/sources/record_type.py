"""Shape of what the sources of `__consumer_offsets` give: good records and rejected ones in one DataFrame."""

from __future__ import annotations

from pyspark.sql.types import StructField, StructType

from schemas.columns import COLUMNS
from schemas.spark import spark_type

RECORD_COLUMNS = (
    "topic_partition",
    "record_offset",
    "recorded_at",
    "key",
    "value",
    "producer_id",
    "producer_epoch",
    "is_transactional",
    "control_type",
    "source",
    "reason_code",
    "detail",
    "raw",
    "position",
)
"""A row with `reason_code` is one that could not be read; it has `source`, `detail`, `raw` and `position`."""

RECORD_TYPE = StructType([StructField(name, spark_type(COLUMNS[name].data_type)) for name in RECORD_COLUMNS])
