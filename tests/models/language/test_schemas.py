"""Reply schemas contain nothing that strict services reject."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from graphmem.consolidation.rules import SynthesisReply
from graphmem.models.language import response_format, strict


class Mood(StrEnum):
    """A choice."""

    GLAD = "glad"
    SAD = "sad"


class Part(BaseModel):
    """A record within a record."""

    title: Annotated[str, Field(min_length=1, pattern="x")] = "x"
    mood: Mood = Mood.GLAD


class Whole(BaseModel):
    """Everything that a reply may be made of."""

    parts: Annotated[list[Part], Field(max_length=3)]
    other: Part | None = None
    kind: Literal["a"] = "a"
    minimum: Annotated[int, Field(ge=0, description="at least")] = 0


def keywords(schema: Any) -> Iterator[str]:
    """Yield every keyword of a schema, names of properties left out."""
    if isinstance(schema, list):
        for item in schema:
            yield from keywords(item)
    if isinstance(schema, dict):
        for key, value in schema.items():
            yield key
            named = key in ("properties", "$defs")
            yield from keywords(list(value.values()) if named else value)


@pytest.mark.parametrize("reply", [Whole, SynthesisReply])
def test_a_strict_schema_has_no_bounds_and_no_defaults(reply: type[BaseModel]) -> None:
    found = set(keywords(strict(reply.model_json_schema())))
    assert found <= {
        "$defs", "$ref", "additionalProperties", "anyOf", "const", "description", "enum", "items",
        "properties", "required", "type",
    }  # fmt: skip


def test_every_property_is_required_at_every_depth() -> None:
    schema = strict(Whole.model_json_schema())
    assert schema["required"] == ["parts", "other", "kind", "minimum"]
    assert schema["additionalProperties"] is False
    part = schema["$defs"]["Part"]
    assert part["required"] == ["title", "mood"]
    assert part["additionalProperties"] is False
    assert part["properties"]["title"] == {"type": "string"}
    assert schema["$defs"]["Mood"]["enum"] == ["glad", "sad"]
    assert schema["properties"]["parts"] == {"type": "array", "items": {"$ref": "#/$defs/Part"}}
    assert schema["properties"]["other"] == {"anyOf": [{"$ref": "#/$defs/Part"}, {"type": "null"}]}
    assert schema["properties"]["kind"] == {"const": "a", "type": "string"}
    assert schema["properties"]["minimum"] == {"description": "at least", "type": "integer"}


def test_the_weaker_forms_have_the_schema_elsewhere_or_not_at_all() -> None:
    described = response_format("described_object", Whole)
    assert described == {"type": "json_object", "schema": strict(Whole.model_json_schema())}
    assert response_format("json_object", Whole) == {"type": "json_object"}
