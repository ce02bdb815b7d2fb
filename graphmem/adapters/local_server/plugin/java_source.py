"""Which procedures the plugin offers, and what a CALL of each takes: read from the headers."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import groupby
from typing import Any

from graphmem import catalog
from graphmem.catalog import HeaderEntry, Procedure
from graphmem.model import Policy, RecallPolicy, Status, TraceRank
from graphmem.ports import Mode
from graphmem.rules import claims, formulas, read_options, scoring, transcripts, usage
from graphmem.settings import Settings

TENANT = "tenant"
"""The argument that comes first, has no default, and is never null or empty."""
TEXTS = frozenset(
    {"scopes", "ids", "event_ids", "memory_ids", "belief_ids", "kinds", "statuses", "kept", "tags"}
    | {"machines", "asked", "without", "predicates"}
)
"""Lists of strings."""
NUMBERS = frozenset({"embedding"})
"""Lists of floats."""


@dataclass(frozen=True, slots=True)
class ArgumentDefault:
    """What an argument is when it is left out or null.

    Attributes:
        value: as Python has it; an instant is one of the names that Reading.java gives it.
        text: the same in words.
    """

    value: Any
    text: str


NOW, BEGINNING, FOREVER = "now()", "BEGINNING", "FOREVER"


@dataclass(frozen=True, slots=True)
class ProcedureArgument:
    """One argument of a CALL.

    Attributes:
        name, kind: as the header declares them; of a list also `texts` or `numbers`.
        text: what it means, and what null stands for.
        required: null is refused.
        assumed: taken in place of null; None when the query itself knows what null means.
        keys: what a map must hold; empty: whatever it likes.
        sized: whether the query reads it from the map of `catalog.in_one_map`.
    """

    name: str
    kind: str
    text: str
    required: bool
    assumed: ArgumentDefault | None
    keys: tuple[str, ...]
    sized: bool


@dataclass(frozen=True, slots=True)
class ProcedureSpec:
    """A procedure of the catalog that can be called, and its arguments in the order of a CALL."""

    procedure: Procedure
    arguments: tuple[ProcedureArgument, ...]

    @property
    def then(self) -> Procedure | None:
        """The procedure that makes the answer of what this one finds; None when there is none."""
        return catalog.procedure(self.procedure.then) if self.procedure.then else None

    @property
    def columns(self) -> tuple[HeaderEntry, ...]:
        """The columns of the answer."""
        return (self.then or self.procedure).columns

    @property
    def name(self) -> str:
        """As it is called."""
        return "graphmem." + self.procedure.name.replace("/", ".")

    @property
    def signature(self) -> str:
        """How it is called; what may be left out stands in brackets."""
        needed = [one.name for one in self.arguments if one.required]
        rest = ", ".join(one.name for one in self.arguments if not one.required)
        return f"{self.name}({', '.join(needed)}{f' [, {rest}]' if rest else ''})"


def offered(settings: Settings) -> tuple[ProcedureSpec, ...]:
    """Return every procedure that reads one tenant's graph, by name.

    Args:
        settings: weights of source types and bounds of the sequential test to assume.
    """
    known = _assumed(settings)
    return tuple(_offer(one, known) for one in _readings())


@cache
def _readings() -> tuple[Procedure, ...]:
    found = (catalog.procedure(name) for name in catalog.names())
    return tuple(p for p in found if p.mode is Mode.READ and _names(p)[:1] == [TENANT])


def _names(procedure: Procedure) -> list[str]:
    return [entry.name for entry in procedure.params]


def _offer(procedure: Procedure, known: Mapping[str, ArgumentDefault]) -> ProcedureSpec:
    params = {entry.name: entry for entry in procedure.params}
    if procedure.then:
        further = catalog.procedure(procedure.then).params
        params |= {e.name: e for e in further if e.name not in {*params, catalog.FOUND}}
    found = [_described_argument(entry, known) for entry in params.values()]
    # A default can only be followed by others.
    return ProcedureSpec(procedure, tuple(sorted(found, key=lambda one: not one.required)))


def _described_argument(
    entry: HeaderEntry, known: Mapping[str, ArgumentDefault]
) -> ProcedureArgument:
    declared = entry.is_nullable
    assumed = None if declared else known.get(entry.name)
    text = entry.text if assumed is None else f"{entry.text}; null: {assumed.text}"
    if entry.kind == "string":
        # A procedure's string has no null as its default.
        text = text.replace("; null: ", "; null or '': ")
    return ProcedureArgument(
        name=entry.name,
        kind=_kind(entry),
        text=text,
        required=not declared and assumed is None,
        assumed=assumed,
        keys=_KEYS.get(entry.name, ()),
        sized=entry.is_sized,
    )


def _kind(entry: HeaderEntry) -> str:
    if entry.kind != "list":
        return entry.kind
    if entry.name in TEXTS:
        return "texts"
    return "numbers" if entry.name in NUMBERS else "list"


_KEYS: Mapping[str, tuple[str, ...]] = {
    "policy": tuple(claims.policy_fields(Policy())),
    "words": ("memory", "belief", "turn"),
    "window": ("known", "since", "until"),
}
"""What a map must hold that nothing completes."""
_FIRST_PAGE = (
    *("after", "after_id", "after_scope", "after_subject", "after_predicate"),
    *("after_kind", "before_id"),
)


def _assumed(settings: Settings) -> dict[str, ArgumentDefault]:
    """Return what arguments are when they are left out, by name.

    A map that is given in part is completed by the one here; it can hold no other keys, unless it
    is one of weights.
    """
    own = "as graphmem has it"
    return {
        "valid": ArgumentDefault(NOW, "now"),
        "known": ArgumentDefault(FOREVER, "everything"),
        "after_at": ArgumentDefault(BEGINNING, "the first page"),
        **{name: ArgumentDefault("", "the first page") for name in _FIRST_PAGE},
        "from": ArgumentDefault(0, "0"),
        "skip": ArgumentDefault(0, "0"),
        "limit": ArgumentDefault(100, "100"),
        "pool": ArgumentDefault(RecallPolicy().pool, str(RecallPolicy().pool)),
        "statuses": ArgumentDefault([str(Status.CURRENT)], "current alone"),
        "machines": ArgumentDefault(
            sorted(transcripts.NOT_PEOPLE), ", ".join(sorted(transcripts.NOT_PEOPLE))
        ),
        "tags": ArgumentDefault([], "any"),
        "extra": ArgumentDefault([], "none"),
        "without": ArgumentDefault([], "none"),
        "pooled": ArgumentDefault(value=False, text="false"),
        "present_policy": ArgumentDefault(value=False, text="false"),
        "default_policy": ArgumentDefault(claims.policy_fields(Policy()), own),
        "weights": ArgumentDefault(dict(settings.source_weights), own),
        "test": ArgumentDefault(read_options.sent(read_options.bounds(settings)), own),
        "vital": ArgumentDefault(formulas.vitality_params(), own),
        "fade": ArgumentDefault(usage.fade(), own),
        "trace": ArgumentDefault(formulas.trace_params(TraceRank()), own),
        "by": ArgumentDefault(scoring.sent(RecallPolicy()), own),
    }


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
        f"    private static final Pattern KEPT = Pattern.compile({_quoted(scoring.KEPT)});\n",
    ]


def _is_about_vectors(offer: ProcedureSpec) -> bool:
    text = offer.procedure.text
    return scoring.in_generation(text, scoring.FIRST + 1) != text


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
