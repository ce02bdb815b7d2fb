"""The Java of the plugin, made from what is offered: a class a folder, a method a procedure."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from itertools import groupby
from typing import Any

from graphmem import catalog
from graphmem.adapters.local_server.plugin.offered import (
    BEGINNING,
    FOREVER,
    NOW,
    TENANT,
    ArgumentDefault,
    ProcedureArgument,
    ProcedureSpec,
)
from graphmem.catalog import HeaderEntry, Procedure
from graphmem.rules import generations

BASE = "Reading.java"
PACKAGE = "graphmem"
TYPES = {
    "string": "String",
    "integer": "Long",
    "float": "Double",
    "boolean": "Boolean",
    "datetime": "ZonedDateTime",
    "list": "List<Object>",
    "texts": "List<String>",
    "numbers": "List<Double>",
    "map": "Map<String, Object>",
    "node": "Node",
    "relationship": "Relationship",
}
OPEN = frozenset({"weights"})
"""Maps that may hold more than graphmem knows: a deployment has its own types of sources."""
_READERS = {"float": "number", "list": "list", "map": "map"}
_IMPORTS = (
    "java.time.ZonedDateTime",
    "java.util.List",
    "java.util.Map",
    "java.util.regex.Pattern",
    "java.util.stream.Stream",
    "org.neo4j.graphdb.Node",
    "org.neo4j.graphdb.Relationship",
    "org.neo4j.procedure.Description",
    "org.neo4j.procedure.Mode",
    "org.neo4j.procedure.Name",
    "org.neo4j.procedure.Procedure",
)


def sources(offers: Sequence[ProcedureSpec]) -> dict[str, str]:
    """Return every source file of the plugin by its path.

    Args:
        offers: in the order of their names.
    """
    texts = {BASE: files(__package__).joinpath(BASE).read_text(encoding="utf-8")}
    for folder, own in groupby(offers, key=lambda offer: offer.procedure.name.partition("/")[0]):
        texts[f"{folder.capitalize()}.java"] = _class(folder, list(own))
    return {f"{PACKAGE}/{name}": text for name, text in texts.items()}


def _class(folder: str, offers: Sequence[ProcedureSpec]) -> str:
    imports = "".join(f"import {name};\n" for name in _IMPORTS)
    constants = {
        one.name: one.assumed
        for offer in offers
        for one in offer.arguments
        if one.kind == "map" and one.assumed is not None
    }
    lines = [
        f"    private static final Map<String, Object> {name.upper()} = {literal(assumed.value)};\n"
        for name, assumed in sorted(constants.items())
    ]
    lines += _generation() if any(map(_is_about_vectors, offers)) else []
    body = "\n".join([*(["".join(lines)] if lines else []), *map(_method, offers)])
    return (
        f"// Made from cypher/{folder}; changes here are lost.\n"
        f"package {PACKAGE};\n\n{imports}\n"
        f"public class {folder.capitalize()} extends Reading {{\n{body}}}\n"
    )


def _method(offer: ProcedureSpec) -> str:
    own = offer.procedure.name.partition("/")[2]
    text, row = _constant(offer.procedure), f"{own.title().replace('_', '')}Row"
    fields = ", ".join(f"{TYPES[column.kind]} {column.name}" for column in offer.columns)
    cypher = catalog.LANGUAGE + catalog.in_one_map(catalog.query(offer.procedure.name, dict))
    arguments = ",\n".join(f"            {_argument(one)}" for one in offer.arguments)
    given = "".join(
        f"        call.{'sized' if one.sized else 'plain'}({_quoted(one.name)}, {_given(one)});\n"
        for one in offer.arguments
        if one.name != TENANT
    )
    read = ", ".join(map(_read, offer.columns))
    ran = f"about({text}, GENERATION, KEPT)" if _is_about_vectors(offer) else text
    if offer.then:
        # It is of the same folder, so its text is a constant of the same class.
        ran += f", {_quoted(catalog.FOUND)}, {_constant(offer.then)}"
    start = f"{_quoted(offer.name)}, {_quoted(catalog.MAP)}, {_local(TENANT)}"
    return (
        f"    private static final String {text} = {_quoted(cypher)};\n\n"
        f"    public record {row}({fields}) {{}}\n\n"
        f"    @Procedure(name = {_quoted(offer.name)}, mode = Mode.READ)\n"
        f"    @Description({_quoted(offer.procedure.summary)})\n"
        f"    public Stream<{row}> {own}(\n{arguments}) {{\n"
        f"        Call call = new Call({start});\n{given}"
        f"        return rows(call, {ran}, row -> new {row}({read}));\n    }}\n"
    )


def _constant(procedure: Procedure) -> str:
    return f"TEXT_{procedure.name.partition('/')[2].upper()}"


def _generation() -> list[str]:
    """Return what a class needs to ask of the embeddings that the graph has by then."""
    asked = catalog.LANGUAGE + catalog.procedure("schema/generation").text
    return [
        f"    private static final String GENERATION = {_quoted(asked)};\n",
        f"    private static final Pattern KEPT = Pattern.compile({_quoted(generations.KEPT)});\n",
    ]


def _is_about_vectors(offer: ProcedureSpec) -> bool:
    text = offer.procedure.text
    return generations.in_generation(text, generations.FIRST + 1) != text


def _local(name: str) -> str:
    """Return the name of an argument in Java, which takes `from` and not every other word."""
    return f"{name}_"


def _argument(one: ProcedureArgument) -> str:
    # Of a string "null" would be the word.
    unset = "" if one.kind == "string" else "null"
    default = "" if one.required else f", defaultValue = {_quoted(unset)}"
    annotation = f"@Name(value = {_quoted(one.name)}{default}, description = {_quoted(one.text)})"
    return f"{annotation} {TYPES[one.kind]} {_local(one.name)}"


def _given(one: ProcedureArgument) -> str:
    name, local = _quoted(one.name), _local(one.name)
    if one.keys:
        local = f"call.whole({name}, {local}, {literal(one.keys)})"
    if one.required:
        return f"call.must({name}, {local})"
    if one.assumed is None:
        return f"told({local})" if one.kind == "string" else local
    if one.kind == "map":
        is_open = "true" if one.name in OPEN else "false"
        return f"call.completed({name}, {local}, {one.name.upper()}, {is_open})"
    return f"or({local}, {_value(one.assumed, one.kind)})"


def _value(assumed: ArgumentDefault, kind: str) -> str:
    instant = kind == "datetime" and assumed.value in {NOW, BEGINNING, FOREVER}
    return str(assumed.value) if instant else literal(assumed.value)


def _read(column: HeaderEntry) -> str:
    value = f"row.get({_quoted(column.name)})"
    reader = _READERS.get(column.kind)
    return f"{reader}({value})" if reader else f"({TYPES[column.kind]}) {value}"


def _quoted(text: str) -> str:
    """Return a string literal: JSON's, in ASCII, is one of Java's too."""
    return json.dumps(str(text))


def literal(value: Any) -> str:
    """Return a value as Java writes it."""
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    if isinstance(value, int):
        return f"{value}L"
    if isinstance(value, float):
        return _double(value)
    if isinstance(value, Mapping):
        pairs = [item for pair in value.items() for item in pair]
        return f"mapOf({_joined(pairs)})"
    return f"List.of({_joined(value)})"


def _double(value: float) -> str:
    if math.isnan(value):
        raise ValueError("no number")
    if math.isinf(value):
        return f"Double.{'POSITIVE' if value > 0 else 'NEGATIVE'}_INFINITY"
    return repr(value)


def _joined(values: Iterable[Any]) -> str:
    return ", ".join(map(literal, values))
