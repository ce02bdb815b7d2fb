"""JSON schemas of the tools' arguments and results."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

Schema = dict[str, Any]

_UNLISTED = frozenset(
    {"title", "format", "also", "maxLength", "minLength", "pattern", "maxItems", "minItems"}
)
"""Schema keywords that are validated but not listed: they do not help a model to choose values, and
a client that checks formats itself would refuse a date without a time."""
_ARGUMENTS_ONLY = frozenset({"additionalProperties", "default"})
_TWO_TIMES: Schema = {
    "anyOf": [
        {"type": "string"},
        {
            "type": "object",
            "properties": {
                "valid": {"type": "string", "description": "As true then"},
                "known": {"type": "string", "description": "As recorded by then"},
            },
        },
    ]
}


def input_schema(record: type[BaseModel], *, two_times: bool) -> Schema:
    """Return the schema of arguments as listed; unknown arguments are refused.

    Args:
        record: record of the arguments.
        two_times: list a known time for `as_of` too, which is always accepted.
    """
    schema = _short(record.model_json_schema(), _UNLISTED)
    if two_times and "as_of" in schema["properties"]:
        as_of = schema["properties"]["as_of"]
        schema["properties"]["as_of"] = _TWO_TIMES | {"description": as_of["description"]}
    return schema


def complete_schema(record: type[BaseModel]) -> Schema:
    """Return the schema of arguments with every limit."""
    return _short(record.model_json_schema(), frozenset({"title"}))


def output_schema(record: type[BaseModel]) -> Schema:
    """Return the schema of a result, without defaults and nulls."""
    return _short(record.model_json_schema(by_alias=False), _UNLISTED | _ARGUMENTS_ONLY)


def _short(schema: Schema, unlisted: frozenset[str]) -> Schema:
    text = json.dumps(schema)
    whole: Mapping[str, Schema] = schema.pop("$defs", {})
    # Class docstrings are for programmers; tools and arguments have their own descriptions.
    parts = {n: {k: v for k, v in of.items() if k != "description"} for n, of in whole.items()}
    often = {name for name in parts if text.count(f'"{_path(name)}"') > 1}
    schema.pop("description", None)
    once = {name: part for name, part in parts.items() if name not in often}
    short = _plain(schema, once, unlisted)
    if often:
        short["$defs"] = {name: _plain(parts[name], once, unlisted) for name in sorted(often)}
    return short


def _path(name: str) -> str:
    return f"#/$defs/{name}"


def _plain(schema: Schema, once: Mapping[str, Schema], unlisted: frozenset[str]) -> Schema:
    """Return a schema with references resolved and null alternatives removed."""
    own = {k: v for k, v in schema.items() if k not in unlisted}
    for name, part in once.items():
        if own.get("$ref") == _path(name):
            del own["$ref"]
            return _plain(part | own, once, unlisted)
    if "anyOf" in own:
        [schema] = [part for part in own.pop("anyOf") if part.get("type") != "null"]
        return _plain(schema | own, once, unlisted)
    if own.get("default", ...) in (None, [], "", "current"):
        del own["default"]
    if "properties" in own:
        own["properties"] = {k: _plain(v, once, unlisted) for k, v in own["properties"].items()}
    if "items" in own:
        own["items"] = _plain(own["items"], once, unlisted)
    return own
