"""All record types of `__consumer_offsets`, by the number that their keys begin with."""

from __future__ import annotations

from schemas.records import classic_groups, consumer_groups, share_groups, streams_groups
from schemas.records.fields import RecordType

RECORD_TYPES: dict[int, RecordType] = {
    record_type.type_id: record_type
    for record_type in sorted(
        (*classic_groups.TYPES, *consumer_groups.TYPES, *share_groups.TYPES, *streams_groups.TYPES),
        key=lambda each: each.type_id,
    )
}
