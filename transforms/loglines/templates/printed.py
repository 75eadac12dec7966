"""Values as Scala and Java print them: options, collections and members."""

from __future__ import annotations

import re

_FIELD_OF_MEMBER = re.compile(r"(\w+)=(?:'(.*?)'|(.*?))(?=, \w+=|\)$)", re.DOTALL)
_GIVEN_BY_KAFKA = re.compile(r"-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
_COLLECTION = re.compile(r"\w*[(\[{](.*)[)\]}]", re.DOTALL)
_VALUE_OF_MAP = re.compile(r"=\[B@[0-9a-f]+")


def option(text: str) -> str | None:
    """Read an optional text: Scala's `Some(x)` and `None`, Java's `Optional[x]`, `x` and `null`."""
    if text in ("None", "null", "Optional.empty"):
        return None
    for opening, closing in (("Some(", ")"), ("Optional[", "]")):
        if text.startswith(opening) and text.endswith(closing):
            return text[len(opening) : -1]
    return text


def collection(text: str) -> list[str]:
    """Read the elements of `Set(a, b)`, `HashSet(a, b)`, `[a, b]` or `(a, b)`, or the keys of `{a=[B@1f, b=[B@2e}`.

    Elements that hold a comma and a space cannot be told from two elements.
    """
    match = _COLLECTION.fullmatch(text)
    inner = _VALUE_OF_MAP.sub("", match.group(1) if match else text)
    return inner.split(", ") if inner else []


def member_ids(text: str) -> list[str]:
    """Read a collection of member ids: a client's name may hold a comma and a space, but ids end in what Kafka adds.

    That is a UUID (JoinGroup); where no element has one, they are taken as they are.
    """
    pieces = collection(text)
    if not any(map(_GIVEN_BY_KAFKA.search, pieces)):
        return pieces
    found, name = [], ""
    for piece in pieces:
        name += piece
        if _GIVEN_BY_KAFKA.search(name):
            found.append(name)
            name = ""
        else:
            name += ", "
    return [*found, name.removesuffix(", ")] if name else found


def member(text: str) -> dict[str, str | None]:
    """Read `MemberMetadata(memberId=.., ..)` (Scala) or `ClassicGroupMember(memberId='..', ..)` (Java).

    Returns:
        The fields by Kafka's names; at least `memberId`, which is the whole text if it is printed otherwise.
    """
    if not text.endswith(")"):
        return {"memberId": text}
    fields = {
        name: option(plain if quoted == "" else quoted)
        for name, quoted, plain in _FIELD_OF_MEMBER.findall(text.partition("(")[2])
    }
    return fields if "memberId" in fields else {"memberId": text}
