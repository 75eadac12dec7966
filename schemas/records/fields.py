"""The words that wire layouts are declared in: scalars, arrays, structs, and the versions a field belongs to.

They follow Kafka's own message definitions (`*.json` of the group coordinator), where a field has `versions`,
`nullableVersions`, `tag` and `default`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Scalar(Enum):
    """Kafka's primitive types, by the names of its message definitions."""

    INT8 = "int8"
    INT16 = "int16"
    UINT16 = "uint16"
    INT32 = "int32"
    INT64 = "int64"
    STRING = "string"
    BYTES = "bytes"
    UUID = "uuid"


@dataclass(frozen=True, slots=True)
class ArrayOf:
    """A counted list of elements of one type."""

    element: Scalar | StructOf


@dataclass(frozen=True, slots=True, eq=False)
class StructOf:
    """Fields in wire order; in a flexible version a tagged section follows them.

    Compared by identity: readers are cached by it, and hashing a whole layout for each record is slow.
    """

    fields: tuple[Field, ...]


Kind = Scalar | ArrayOf | StructOf


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a struct.

    Attributes:
        name: Kafka's name of the field.
        kind: its type.
        since: first version that holds it.
        until: last version that holds it; None = every later one.
        nullable: null is a legal value.
        tag: number of the field in the tagged section; None = an ordinary field.
        default: value of an absent field; a tagged field that holds it is not written (KIP-482).
    """

    name: str
    kind: Kind
    since: int = 0
    until: int | None = None
    nullable: bool = False
    tag: int | None = None
    default: object = None

    def is_in(self, version: int) -> bool:
        """Say whether a version of the struct holds this field."""
        return self.since <= version and (self.until is None or version <= self.until)


@dataclass(frozen=True, slots=True)
class EarlierValue:
    """A layout that older releases wrote under the version number of today's.

    Attributes:
        layout: the fields behind the version.
        begins: bytes that every such value begins with, behind its version.
        ends: bytes that every such value ends with.
    """

    layout: StructOf
    begins: bytes = b""
    ends: bytes = b""

    @property
    def is_marked(self) -> bool:
        """Whether such a value is known by its bytes, and not only by not being one of today's."""
        return bool(self.begins or self.ends)


@dataclass(frozen=True, slots=True)
class RecordType:
    """One type of record in `__consumer_offsets` (CoordinatorRecordType).

    Attributes:
        type_id: number that a key begins with.
        name: Kafka's name of the type.
        key: layout of the key behind its number; keys are never flexible.
        value: layout of the value behind its version.
        last_version: highest known version of the value; the lowest is 0.
        first_flexible: first flexible version of the value; None = there is none.
        earlier_values: layouts that older releases wrote under the highest known version number, newest first.
    """

    type_id: int
    name: str
    key: StructOf
    value: StructOf
    last_version: int = 0
    first_flexible: int | None = 0
    earlier_values: tuple[EarlierValue, ...] = ()


def struct(*fields: Field) -> StructOf:
    """Build a struct layout from its fields, in wire order."""
    return StructOf(fields)


def strings(name: str) -> Field:
    """Build a field that holds an array of strings."""
    return Field(name, ArrayOf(Scalar.STRING))


def int32s(name: str) -> Field:
    """Build a field that holds an array of int32."""
    return Field(name, ArrayOf(Scalar.INT32))


def structs(name: str, *fields: Field) -> Field:
    """Build a field that holds an array of structs."""
    return Field(name, ArrayOf(struct(*fields)))


GROUP_KEY = struct(Field("groupId", Scalar.STRING))
MEMBER_KEY = struct(Field("groupId", Scalar.STRING), Field("memberId", Scalar.STRING))
"""Keys that most record types share."""

TOPIC_PARTITIONS = (Field("topicId", Scalar.UUID), int32s("partitions"))
"""Partitions of a topic by its id, as KIP-848 groups and share groups write them."""
