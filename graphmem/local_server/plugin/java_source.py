"""Procedures of the plugin and their arguments, read from the headers, as Java source."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import groupby
from typing import Any

from graphmem.graph import catalog
from graphmem.graph.catalog import HeaderEntry, Procedure
from graphmem.model import Policy, Status, roles
from graphmem.ports import Mode
from graphmem.rules import formulas, predicates, rating, read_options, scoring, vitality
from graphmem.settings import Settings

TENANT = "tenant"
"""Name of the first argument, which has no default and must not be null or empty."""
TEXTS = frozenset(
    {
        "scopes",
        "ids",
        "event_ids",
        "memory_ids",
        "belief_ids",
        "kinds",
        "statuses",
        "cached_statuses",
    }
    | {"tags", "human_roles", "query_words", "without", "predicates"}
)
"""Names of arguments that are lists of strings."""
NUMBERS = frozenset({"embedding"})
"""Names of arguments that are lists of floats."""

NOW, BEGINNING, FOREVER = "now()", "BEGINNING", "FOREVER"

_KEYS: Mapping[str, tuple[str, ...]] = {
    "policy": tuple(predicates.policy_fields(Policy())),
    "words": ("memory", "belief", "turn"),
    "window": ("known", "since", "until"),
}
"""Required keys of maps that have no defaults."""
_FIRST_PAGE = (
    *("after", "after_id", "after_scope", "after_subject", "after_predicate"),
    *("after_kind", "before_id"),
)

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
"""Maps that may have further keys: a deployment can define its own source types."""
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


@dataclass(frozen=True, slots=True)
class ArgumentDefault:
    """Value of an argument that is omitted or null.

    Attributes:
        value: Python value; a timestamp is a name that Reading.java defines.
        text: description of the value.
    """

    value: Any
    text: str


@dataclass(frozen=True, slots=True)
class ProcedureArgument:
    """One argument of a CALL.

    Attributes:
        name, kind: name and kind in the header; the kind of a list may be `texts` or `numbers`.
        text: description, including the meaning of null.
        required: whether null is rejected.
        default: value for null; None if the query itself handles null.
        keys: keys that a map must have; empty if any keys are allowed.
        sized: whether the query reads it from the map of `catalog.in_one_map`.
    """

    name: str
    kind: str
    text: str
    required: bool
    default: ArgumentDefault | None
    keys: tuple[str, ...]
    sized: bool


@dataclass(frozen=True, slots=True)
class ProcedureSpec:
    """A procedure of the plugin with its arguments in the order of a CALL."""

    procedure: Procedure
    arguments: tuple[ProcedureArgument, ...]

    @property
    def then(self) -> Procedure | None:
        """Procedure that turns this one's rows into the result; None if there is none."""
        return catalog.procedure(self.procedure.then) if self.procedure.then else None

    @property
    def columns(self) -> tuple[HeaderEntry, ...]:
        """Columns of the result."""
        return (self.then or self.procedure).columns

    @property
    def name(self) -> str:
        """Name in a CALL."""
        return "graphmem." + self.procedure.name.replace("/", ".")

    @property
    def signature(self) -> str:
        """Signature for documentation; optional arguments are in brackets."""
        required = [argument.name for argument in self.arguments if argument.required]
        rest = ", ".join(argument.name for argument in self.arguments if not argument.required)
        return f"{self.name}({', '.join(required)}{f' [, {rest}]' if rest else ''})"


def procedure_specs(settings: Settings) -> tuple[ProcedureSpec, ...]:
    """Return every procedure that reads one tenant's graph, sorted by name.

    Defaults of arguments are the settings' source weights and bounds of the sequential test.
    """
    defaults = _defaults(settings)
    return tuple(_spec(procedure, defaults) for procedure in _read_procedures())


@cache
def _read_procedures() -> tuple[Procedure, ...]:
    procedures = (catalog.procedure(name) for name in catalog.names())
    return tuple(p for p in procedures if p.mode is Mode.READ and _names(p)[:1] == [TENANT])


def _names(procedure: Procedure) -> list[str]:
    return [entry.name for entry in procedure.params]


def _spec(procedure: Procedure, defaults: Mapping[str, ArgumentDefault]) -> ProcedureSpec:
    params = {entry.name: entry for entry in procedure.params}
    if procedure.then:
        further = catalog.procedure(procedure.then).params
        params |= {e.name: e for e in further if e.name not in {*params, catalog.FOUND}}
    arguments = [_described_argument(entry, defaults) for entry in params.values()]
    # Arguments with a default must come last.
    return ProcedureSpec(procedure, tuple(sorted(arguments, key=lambda a: not a.required)))


def _described_argument(
    entry: HeaderEntry, defaults: Mapping[str, ArgumentDefault]
) -> ProcedureArgument:
    nullable = entry.is_nullable
    default = None if nullable else defaults.get(entry.name)
    text = entry.text if default is None else f"{entry.text}; null: {default.text}"
    if entry.kind == "string":
        # The default of a procedure's string argument cannot be null.
        text = text.replace("; null: ", "; null or '': ")
    return ProcedureArgument(
        name=entry.name,
        kind=_kind(entry),
        text=text,
        required=not nullable and default is None,
        default=default,
        keys=_KEYS.get(entry.name, ()),
        sized=entry.is_sized,
    )


def _kind(entry: HeaderEntry) -> str:
    if entry.kind != "list":
        return entry.kind
    if entry.name in TEXTS:
        return "texts"
    return "numbers" if entry.name in NUMBERS else "list"


def _defaults(settings: Settings) -> dict[str, ArgumentDefault]:
    """Return the defaults of optional arguments by name.

    The default of a map completes a partial one; only a map of weights may have other keys.
    """
    own = "graphmem's default"
    return {
        "valid": ArgumentDefault(NOW, "now"),
        "known": ArgumentDefault(FOREVER, "everything"),
        "after_at": ArgumentDefault(BEGINNING, "the first page"),
        **{name: ArgumentDefault("", "the first page") for name in _FIRST_PAGE},
        "from": ArgumentDefault(0, "0"),
        "skip": ArgumentDefault(0, "0"),
        "limit": ArgumentDefault(100, "100"),
        "pool": ArgumentDefault(settings.recall.pool, str(settings.recall.pool)),
        "statuses": ArgumentDefault([str(Status.CURRENT)], "current only"),
        "human_roles": ArgumentDefault(
            sorted(roles.HUMAN_ROLES), ", ".join(sorted(roles.HUMAN_ROLES))
        ),
        "tags": ArgumentDefault([], "any"),
        "min_trust": ArgumentDefault(0, "any"),
        "extra": ArgumentDefault([], "none"),
        "without": ArgumentDefault([], "none"),
        "claimed": ArgumentDefault(value=False, text="false"),
        "late": ArgumentDefault(value=False, text="false"),
        "pooled": ArgumentDefault(value=False, text="false"),
        "default_policy": ArgumentDefault(predicates.DEFAULT_POLICY, own),
        "weights": ArgumentDefault(dict(settings.source_weights), own),
        "test": ArgumentDefault(read_options.sprt_params(settings.sprt), own),
        "vitality_constants": ArgumentDefault(
            vitality.vitality_params(read_options.vitality_constants(settings)), own
        ),
        "rating_decay": ArgumentDefault(rating.decay_params(rating.from_settings(settings)), own),
        "trace": ArgumentDefault(
            formulas.trace_params(read_options.trace_rank(settings, settings.recall.trace)), own
        ),
        "scoring": ArgumentDefault(scoring.score_params(settings.recall), own),
    }


def sources(specs: Sequence[ProcedureSpec]) -> dict[str, str]:
    """Return the text of every source file by its path, for procedures sorted by name."""
    texts = {BASE: files(__package__).joinpath(BASE).read_text(encoding="utf-8")}
    for folder, own in groupby(specs, key=lambda spec: spec.procedure.name.partition("/")[0]):
        texts[f"{folder.capitalize()}.java"] = _class(folder, list(own))
    return {f"{PACKAGE}/{name}": text for name, text in texts.items()}


def _class(folder: str, specs: Sequence[ProcedureSpec]) -> str:
    imports = "".join(f"import {name};\n" for name in _IMPORTS)
    constants = {
        argument.name: argument.default
        for spec in specs
        for argument in spec.arguments
        if argument.kind == "map" and argument.default is not None
    }
    lines = [
        f"    private static final Map<String, Object> {name.upper()} = {literal(assumed.value)};\n"
        for name, assumed in sorted(constants.items())
    ]
    lines += _generation() if any(map(_is_about_vectors, specs)) else []
    body = "\n".join([*(["".join(lines)] if lines else []), *map(_method, specs)])
    return (
        f"// Made from cypher/{folder}; changes here are lost.\n"
        f"package {PACKAGE};\n\n{imports}\n"
        f"public class {folder.capitalize()} extends Reading {{\n{body}}}\n"
    )


def _method(spec: ProcedureSpec) -> str:
    own = spec.procedure.name.partition("/")[2]
    text, row = _constant(spec.procedure), f"{own.title().replace('_', '')}Row"
    fields = ", ".join(f"{TYPES[column.kind]} {column.name}" for column in spec.columns)
    cypher = catalog.LANGUAGE + catalog.in_one_map(catalog.query(spec.procedure.name, dict))
    arguments = ",\n".join(f"            {_argument(argument)}" for argument in spec.arguments)
    passed = "".join(
        f"        call.{'sized' if a.sized else 'plain'}({_quoted(a.name)}, {_argument_code(a)});\n"
        for a in spec.arguments
        if a.name != TENANT
    )
    read = ", ".join(map(_column_code, spec.columns))
    query = f"inGeneration({text}, GENERATION, KEPT)" if _is_about_vectors(spec) else text
    if spec.then:
        # It is in the same folder, so its text is a constant of the same class.
        query += f", {_quoted(catalog.FOUND)}, {_constant(spec.then)}"
    start = f"{_quoted(spec.name)}, {_quoted(catalog.MAP)}, {_local(TENANT)}"
    return (
        f"    private static final String {text} = {_quoted(cypher)};\n\n"
        f"    public record {row}({fields}) {{}}\n\n"
        f"    @Procedure(name = {_quoted(spec.name)}, mode = Mode.READ)\n"
        f"    @Description({_quoted(spec.procedure.summary)})\n"
        f"    public Stream<{row}> {own}(\n{arguments}) {{\n"
        f"        Call call = new Call({start});\n{passed}"
        f"        return rows(call, {query}, row -> new {row}({read}));\n    }}\n"
    )


def _constant(procedure: Procedure) -> str:
    return f"TEXT_{procedure.name.partition('/')[2].upper()}"


def _generation() -> list[str]:
    """Return the constants with which a class queries the current embedding generation."""
    query = catalog.LANGUAGE + catalog.procedure("schema/generation").text
    names = _quoted(scoring.STORED_NAMES)
    return [
        f"    private static final String GENERATION = {_quoted(query)};\n",
        f"    private static final Pattern KEPT = Pattern.compile({names});\n",
    ]


def _is_about_vectors(spec: ProcedureSpec) -> bool:
    text = spec.procedure.text
    return scoring.number_embeddings(text, scoring.FIRST_GENERATION + 1) != text


def _local(name: str) -> str:
    """Return the Java name of an argument; the suffix avoids Java's reserved words."""
    return f"{name}_"


def _argument(argument: ProcedureArgument) -> str:
    # For a string, the default "null" would be the text "null".
    unset = "" if argument.kind == "string" else "null"
    default = "" if argument.required else f", defaultValue = {_quoted(unset)}"
    name, text = _quoted(argument.name), _quoted(argument.text)
    annotation = f"@Name(value = {name}{default}, description = {text})"
    return f"{annotation} {TYPES[argument.kind]} {_local(argument.name)}"


def _argument_code(argument: ProcedureArgument) -> str:
    name, local = _quoted(argument.name), _local(argument.name)
    if argument.keys:
        local = f"call.withKeys({name}, {local}, {literal(argument.keys)})"
    if argument.required:
        return f"call.required({name}, {local})"
    if argument.default is None:
        return f"emptyToNull({local})" if argument.kind == "string" else local
    if argument.kind == "map":
        is_open = "true" if argument.name in OPEN else "false"
        return f"call.withDefaults({name}, {local}, {argument.name.upper()}, {is_open})"
    return f"orDefault({local}, {_value(argument.default, argument.kind)})"


def _value(assumed: ArgumentDefault, kind: str) -> str:
    timestamp = kind == "datetime" and assumed.value in {NOW, BEGINNING, FOREVER}
    return str(assumed.value) if timestamp else literal(assumed.value)


def _column_code(column: HeaderEntry) -> str:
    value = f"row.get({_quoted(column.name)})"
    reader = _READERS.get(column.kind)
    return f"{reader}({value})" if reader else f"({TYPES[column.kind]}) {value}"


def _quoted(text: str) -> str:
    """Return a Java string literal; a JSON string in ASCII is one."""
    return json.dumps(str(text))


def literal(value: Any) -> str:
    """Return a Java literal of a value."""
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
        raise ValueError("NaN is not supported")
    if math.isinf(value):
        return f"Double.{'POSITIVE' if value > 0 else 'NEGATIVE'}_INFINITY"
    return repr(value)


def _joined(values: Iterable[Any]) -> str:
    return ", ".join(map(literal, values))
