"""The settings reference: every key with its three spellings, its type, its default and its meaning."""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from docs.generator.markdown import code, codes, page, table
from jobs.settings.settings import ENV_PREFIX, OPEN, GroupStormSettings, Section, Settings
from jobs.settings.sources import PATHS

_TYPES = {SecretStr: "secret", str: "text", int: "whole number", float: "number", bool: "true or false"}


def settings() -> str:
    """Return the page."""
    sections = {
        name: field.annotation
        for name, field in Settings.model_fields.items()
        if isinstance(field.annotation, type) and issubclass(field.annotation, Section)
    }
    plain = {name: field for name, field in Settings.model_fields.items() if name not in sections}
    parts = [
        "A TOML file (`--settings my.toml`), overridden by the environment, overridden by the command line. The key "
        f"`root` in `[lake]` is `{_variable('lake.root')}` in the environment and `--lake.root=…` on the command line. "
        "A key that does not exist, a value of a wrong type and a local path that is not there end the run with exit "
        f"code 2 before Spark starts. Paths ({codes(PATHS)}) in a file are relative to the file, others to the working "
        "directory; URIs are left as they are.",
        "## The file as a whole\n" + _table(plain.items(), ""),
    ]
    for name, section in sections.items():
        assert section is not None
        parts.append(f"## [{name}]\n{_first_line(section)}\n\n" + _table(section.model_fields.items(), f"{name}."))
    own = [(name, field) for name, field in GroupStormSettings.model_fields.items()]
    parts.append(
        f"## [[storms.groups]]\n{_first_line(GroupStormSettings)} Only in a file; what is not given is as in "
        "`[storms]`.\n\n" + table(("key", "type", "meaning"), (_in_list(name, field) for name, field in own))
    )
    parts.append(
        f"## {OPEN}NAME\nAny option of Kafka's consumer, by its own name: `kafka.security.protocol = …` in the "
        f"section, `{_variable(OPEN + 'security.protocol')}`, `--{OPEN}security.protocol=…`. Secrets (passwords, keys, "
        "`sasl.jaas.config`) are taken from the environment alone, and shown nowhere."
    )
    return page("Settings", "`jobs/settings/settings.py`", *parts)


def _table(fields: Any, prefix: str) -> str:
    return table(("key", "environment", "type", "default", "meaning"), _rows(fields, prefix))


def _rows(fields: Any, prefix: str) -> Iterator[tuple[str, ...]]:
    for name, field in fields:
        if f"{prefix}{name}." == OPEN or _is_list(field.annotation):
            continue  # told apart: neither has one variable and one argument
        default = "must be set" if field.is_required() else code(_toml(field.default))
        yield code(name), code(_variable(prefix + name)), _type(field), default, field.description or ""


def _in_list(name: str, field: FieldInfo) -> tuple[str, ...]:
    return code(name), _type(field), field.description or ""


def _type(field: FieldInfo) -> str:
    kind = field.annotation
    while get_origin(kind) is Annotated:
        kind = get_args(kind)[0]
    if get_origin(kind) in (Union, types.UnionType):
        kind = next(each for each in get_args(kind) if each is not type(None))
    if get_origin(kind) is Literal:
        return " or ".join(code(_toml(each)) for each in get_args(kind))
    words = _TYPES.get(kind, str(kind)) if isinstance(kind, type) else str(kind)
    bounds = [
        f"{sign} {getattr(each, name)}"
        for each in field.metadata
        for name, sign in (("ge", "≥"), ("gt", ">"), ("le", "≤"), ("lt", "<"))
        if getattr(each, name, None) is not None
    ]
    return ", ".join([words, *bounds])


def _is_list(kind: Any) -> bool:
    return get_origin(kind) is list


def _toml(value: Any) -> str:
    if isinstance(value, SecretStr):
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)


def _variable(key: str) -> str:
    return (ENV_PREFIX + key.replace(".", "__")).upper()


def _first_line(kind: type) -> str:
    return (kind.__doc__ or "").splitlines()[0]
