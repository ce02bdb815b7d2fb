"""The OpenAPI document of the application, and the types of results in it."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any, get_args, get_type_hints

from fastapi import FastAPI
from pydantic import BaseModel, TypeAdapter

from graphmem.client.handle import AsyncSession
from graphmem.rules.plain import derived
from graphmem.serve.operations import OPERATIONS, Operation
from graphmem.serve.problems import MEDIA_TYPE

_REFERENCE = "#/components/schemas/{model}"


def openapi(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI document, in which every operation needs a key."""
    document = app.openapi()
    components = document["components"]
    components["securitySchemes"] = {
        "key": {"type": "http", "scheme": "bearer", "description": "A key: gm_…"}
    }
    document["security"] = [{"key": []}]
    for path in document["paths"].values():
        for operation in path.values():
            found = operation["responses"]["default"]["content"]
            for kind in found.keys() - {MEDIA_TYPE}:  # FastAPI keeps the document
                found[MEDIA_TYPE] = found.pop(kind)
    answered = [one for one in OPERATIONS if not one.is_long or one.plans is not None]
    for record in set(_records(tuple(result_of(one) for one in answered))):
        schema = components["schemas"][record.__name__]
        for name in derived(record):
            schema["properties"][name] = _schema_of(getattr(record, name))
            schema["required"] = sorted({*schema.get("required", ()), name})
    return document


def result_of(operation: Operation) -> Any:
    """Return the type of an operation's result."""
    owner: type = AsyncSession
    namespace, _, name = operation.method.rpartition(".")
    if namespace:
        found = inspect.getattr_static(owner, namespace)
        owner = get_type_hints(found.fget)["return"]
    return get_type_hints(inspect.unwrap(getattr(owner, name)))["return"]


def _records(kinds: tuple[Any, ...]) -> Iterator[type[BaseModel]]:
    """Yield the records in these types, at any depth."""
    waiting, known = list(kinds), set[Any]()
    while waiting:
        kind = waiting.pop()
        if kind in known:
            continue
        known.add(kind)
        waiting += get_args(kind)
        if inspect.isclass(kind) and issubclass(kind, BaseModel):
            waiting += [field.annotation for field in kind.model_fields.values()]
            yield kind


def _schema_of(value: property) -> dict[str, Any]:
    """Return the schema of a value that a record derives from its fields."""
    assert value.fget is not None  # noqa: S101 - for type checkers
    kind = TypeAdapter(get_type_hints(value.fget)["return"])
    schema = kind.json_schema(mode="serialization", ref_template=_REFERENCE)
    schema.pop("$defs", None)  # the records and choices of other fields
    return {**schema, "description": _line(value.fget.__doc__), "readOnly": True}


def _line(text: str | None) -> str:
    return " ".join((text or "").split())
