"""How a service is told what its reply must look like."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic import BaseModel

_MAPS = ("properties", "$defs")
_KEPT = frozenset({"$ref", "anyOf", "const", "description", "enum", "items", "type", *_MAPS})
"""What every service with strict schemas takes. Most refuse bounds of numbers and lengths, which
are checked here anyway."""


def response_format(form: str, reply: type[BaseModel]) -> dict[str, Any]:
    """Return the `response_format` of a request.

    Args:
        form: `json_schema`; `described_object`, which llama.cpp's servers hold the reply to;
            or `json_object`.
        reply: the model that the reply must fit.
    """
    if form == "json_object":
        return {"type": "json_object"}
    schema = strict(reply.model_json_schema())
    if form == "described_object":
        return {"type": "json_object", "schema": schema}
    described = {"name": reply.__name__, "schema": schema, "strict": True}
    return {"type": "json_schema", "json_schema": described}


def strict(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a JSON schema in which every property is required and no other is allowed."""
    kept = {key: _inner(key, value) for key, value in schema.items() if key in _KEPT}
    if "properties" in kept:
        kept |= {"required": list(kept["properties"]), "additionalProperties": False}
    return kept


def _inner(key: str, value: Any) -> Any:
    if key in _MAPS:
        return {name: strict(schema) for name, schema in value.items()}
    if key == "anyOf":
        return [strict(schema) for schema in value]
    return strict(value) if key == "items" else value
