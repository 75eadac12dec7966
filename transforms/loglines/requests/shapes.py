"""The shapes of logged requests: structs that JSON is decoded into, built from the tables of `apis`.

There are two ways into them. `decode` is the fast one, for lines as brokers print them; it gives up wherever it is not
sure. `Shape.read` is the careful one: it takes what JSON can say beyond that, and tells what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from msgspec import MsgspecError, Struct, defstruct
from msgspec.json import Decoder

from transforms.loglines.requests.apis import (
    APIS,
    ERROR,
    GROUP,
    Api,
    Each,
    Field,
    Int32,
    Json,
    Milliseconds,
    Value,
)

Request = TypeVar("Request")
Answer = TypeVar("Answer")


class Header(Struct, rename="camel"):
    """What a request is, and who sent it."""

    request_api_key: int
    request_api_version: Int32 | None
    correlation_id: Int32 | None
    client_id: str | None = None


class Software(Struct, rename="camel"):
    """What the client said it is (KIP-511)."""

    software_name: str
    software_version: str


class Logged(Struct, Generic[Request, Answer], rename="camel"):
    """A request and its answer, each in the struct of its API, and what the broker noted of them."""

    request_header: Header
    request: Request
    response: Answer
    connection: str | None
    total_time_ms: Milliseconds
    request_queue_time_ms: Milliseconds
    remote_time_ms: Milliseconds
    client_information: Software | None = None


@dataclass(frozen=True, slots=True)
class Shape:
    """A JSON object.

    Attributes:
        struct: what it becomes; its fields have the names of the JSON, None where they are absent.
        values: name of each field to its kind.
    """

    struct: type[Struct]
    values: Mapping[str, Value]

    def read(self, source: Json) -> Any:
        """Return the struct of an object; a ValueError, TypeError or AttributeError means that it is none."""
        return self.struct(**{name: value.convert(source.get(name)) for name, value in self.values.items()})

    def read_all(self, sources: Iterable[Json] | None) -> list[Any] | None:
        """Return the structs of a list of objects, None for an absent list."""
        return None if sources is None else [self.read(source) for source in sources]


def _shape(name: str, values: dict[str, Value]) -> Shape:
    fields = [(each, value.type | None, None) for each, value in values.items()]
    return Shape(defstruct(name, fields, module=__name__), values)


def _list_of(shape: Shape) -> Value:
    return Value(list[shape.struct], shape.read_all)  # type: ignore[name-defined]


def _value(field: Field | Each) -> Value:
    if isinstance(field, Field):
        return field.value
    listed = _list_of(_shape(field.name, {inner.name: inner.value for inner in field.fields}))
    if not field.inside:
        return listed
    around = _shape(field.inside, {field.name: listed})
    return Value(around.struct, lambda source: None if source is None else around.read(source))


def _values(fields: Iterable[Field | Each]) -> dict[str, Value]:
    """Return the kinds of the values that stand in an object, by their names."""
    return {_outer_name(field): _value(field) for field in fields}


def _outer_name(field: Field | Each) -> str:
    return field.inside or field.name if isinstance(field, Each) else field.name


def _answer(api: Api) -> dict[str, Value]:
    values = _values(api.response) | {ERROR.name: ERROR.value}
    below = {field.name: field.value for field in ((ERROR, GROUP) if api.is_of_many else (ERROR,))}
    for name in reversed(api.errors):
        below = {name: _list_of(_shape(name, below))}
    return values | below if api.errors else values


REQUESTS: dict[int, Shape] = {key: _shape(api.name, _values((GROUP, *api.request))) for key, api in APIS.items()}
"""Key of the API to the shape of its requests."""

ANSWERS: dict[int, Shape] = {key: _shape(f"{api.name}Answer", _answer(api)) for key, api in APIS.items()}
"""Key of the API to the shape of its answers."""


def _decoder(key: int) -> Callable[[str], Logged[Any, Any]]:
    kind: Any = Logged
    return Decoder(kind[REQUESTS[key].struct, ANSWERS[key].struct]).decode


_DECODE = {key: _decoder(key) for key in APIS}


def decode(line: str, begin: int, key: int) -> Logged[Any, Any] | None:
    """Decode the JSON that begins at `begin`, of the API with `key`; None for what is better read carefully."""
    try:
        logged = _DECODE[key](line[begin : line.rfind("}") + 1])
    except (MsgspecError, UnicodeError, RecursionError):
        return None
    return logged if logged.request_header.request_api_key == key and line[begin] == "{" else None
