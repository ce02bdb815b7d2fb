"""JSON schemas as short as they can be and still say what fits; the records check the rest."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

Schema = dict[str, Any]

_UNSAID = frozenset({"title", "maxLength", "minLength", "pattern", "maxItems", "minItems"})
"""Checked, and said when they do not fit; a model is not helped by reading them before."""
_OF_ARGUMENTS = frozenset({"additionalProperties", "format"})
"""What whoever reads a result need not know."""


def asked(record: type[BaseModel]) -> Schema:
    """Return the schema of arguments; what it does not name is refused."""
    return _short(record, _UNSAID)


def given(record: type[BaseModel]) -> Schema:
    """Return the schema of a result, from which defaults and nulls are left out."""
    return _short(record, _UNSAID | _OF_ARGUMENTS)


def _short(record: type[BaseModel], unsaid: frozenset[str]) -> Schema:
    schema = record.model_json_schema()
    text = json.dumps(schema)
    whole: Mapping[str, Schema] = schema.pop("$defs", {})
    # Docstrings of classes are for programmers; a tool and its arguments have words of their own.
    parts = {n: {k: v for k, v in of.items() if k != "description"} for n, of in whole.items()}
    often = {name for name in parts if text.count(f'"{_path(name)}"') > 1}
    schema.pop("description", None)
    once = {name: part for name, part in parts.items() if name not in often}
    short = _plain(schema, once, unsaid)
    if often:
        short["$defs"] = {name: _plain(parts[name], once, unsaid) for name in sorted(often)}
    return short


def _path(name: str) -> str:
    return f"#/$defs/{name}"


def _plain(schema: Schema, once: Mapping[str, Schema], unsaid: frozenset[str]) -> Schema:
    """Return a schema with what it refers to put in place and its null alternatives left out."""
    own = {k: v for k, v in schema.items() if k not in unsaid}
    for name, part in once.items():
        if own.get("$ref") == _path(name):
            del own["$ref"]
            return _plain(part | own, once, unsaid)
    if "anyOf" in own:
        [some] = [one for one in own.pop("anyOf") if one.get("type") != "null"]
        return _plain(some | own, once, unsaid)
    if own.get("default", ...) in (None, [], "", "current"):
        del own["default"]
    if "properties" in own:
        own["properties"] = {k: _plain(v, once, unsaid) for k, v in own["properties"].items()}
    if "items" in own:
        own["items"] = _plain(own["items"], once, unsaid)
    return own
