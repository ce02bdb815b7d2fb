"""Arguments of the tools: those of the client's methods, changed by one table."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import GenericAlias
from typing import Annotated, Any, Literal, TypedDict

from pydantic import Field, Strict, ValidationError, ValidatorFunctionWrapHandler, WrapValidator
from pydantic import create_model as record_type

from graphmem import signatures
from graphmem.mcp import inputs, schemas
from graphmem.mcp.inputs import LastMoment, Moment, ReadTime, ZonedMoment, id_of
from graphmem.model import Message, Name, Record, Triple
from graphmem.model.memory import RefusedClaim
from graphmem.signatures import Kind, Parameter

MAX_CLAIMS = 16
NAMESPACES = {
    "memory": "memories",
    "belief": "beliefs",
    "predicate": "predicates",
    "usage": "usage",
}
"""Namespaces of the client, by the noun that their tools begin with."""

_FIELDS: dict[str, Any] = {
    name: (Message.model_fields[name].annotation, Message.model_fields[name])
    for name in ("role", "content", "name", "id")
}
_FIELDS["at"] = (ZonedMoment | None, None)
_Message = record_type("message", __base__=Record, **_FIELDS)
_STRENGTH = {"ge": 0.5, "le": 0.9}
"""Below 0.5 evidence has the opposite effect; above 0.9 an agent is too confident."""
_PAIR = {"min_length": 2, "max_length": 16}
_ID = "{0}_id in a result, or [id] of a {0}"

_TYPES = {
    "text": Annotated[str, Strict()],
    "whole": int,
    "number": Annotated[float, Field(allow_inf_nan=False)],
    "flag": bool,
    "time": Moment,
    "record": ReadTime,
}


class Change(TypedDict, total=False):
    """How an argument differs from the parameter of the client's method."""

    text: str
    """Description; by default the first clause of the parameter's text."""
    also: tuple[str, ...]
    """Further names, which are not listed."""
    ids: tuple[str, ...]
    """Kinds of item that an id may be of; by default the one that its name states."""
    default: Any
    """Value of the tool if it is omitted."""
    required: bool
    choices: tuple[str, ...]
    limits: Mapping[str, Any]
    """Narrower limits of a value."""
    size: Mapping[str, Any]
    """Narrower limits of the number of values."""
    type: Any
    """Type of an argument that is the tool's own, or that the signature does not describe."""


def _or_refused(given: Any, read: ValidatorFunctionWrapHandler) -> Triple | RefusedClaim:
    """Return a claim, or why it cannot be stored: the sentence is stored without it."""
    try:
        found: Triple = read(given)
    except ValidationError as error:
        invalid = error.errors(include_input=False, include_url=False)
    else:
        return found
    reason = inputs.problems(invalid, schemas.complete_schema(Triple))
    return RefusedClaim(place=0, reasons=(reason,))


Claim = Annotated[Triple, WrapValidator(_or_refused)]

CHANGES: Mapping[str, Change] = {
    "session_id": {"type": Name, "text": "Constant name of this conversation"},
    "as_of": {"text": "Past date the question is about, e.g. 2025-06-01; server's zone"},
    "at": {"text": "Date since when it holds, e.g. 2025-06-01; server's zone; default now"},
    # At most 100, so that an answer fits into a model's context.
    "limit": {"text": "", "default": 20, "limits": {"le": 100}},
    "recall.limit": {"default": None},
    "current.limit": {"default": 10},
    "memory_id": {"text": _ID.format("memory"), "also": ("item_id",)},
    "belief_id": {"text": _ID.format("belief"), "also": ("item_id",)},
    "event_id": {"text": "event_id in a result"},
    "turn_id": {"text": "[id] of the message that it quotes"},
    "item_id": {
        "text": "item_id, memory_id or belief_id in a result, or [id]",
        "also": ("memory_id", "belief_id", "turn_id", "episode_id"),
        "ids": ("memory", "belief", "turn", "episode"),
    },
    "supersede.item_id": {"type": Name, "ids": ("memory", "belief"), "required": True},
    "why.item_id": {"ids": ("memory", "belief")},
    "forget.confirm": {"type": Name, "text": "`confirm` of the plan, if the user agreed"},
    "context.about": {"text": "The user's question, in full"},
    "context.tokens": {"text": "", "limits": {"le": 8_000}},
    "context.used": {
        "type": tuple[Annotated[Name, id_of("memory", "belief", "turn", "episode")], ...],
        "text": "Ids that your last answer used",
        "size": {"max_length": 50},
        "default": (),
    },
    "min_trust": {"text": "Leave out items of lower trust"},
    "until": {"type": LastMoment},
    "add_messages.messages": {
        "type": tuple[_Message, ...],
        "text": "Each with its role: user, assistant, tool or system",
        "size": {"min_length": 1, "max_length": 200},
    },
    "content": {"text": "The sentence; it must be clear on its own"},
    "supersede.content": {"text": "The new sentence; it must be clear on its own"},
    "remember.tags": {"text": "Labels to filter by later"},
    "remember.claims": {
        "type": tuple[Claim, ...],
        "text": "Facts it states; it is evidence for each",
    },
    "remember.confidence": {"text": "Of the claims", "limits": _STRENGTH},
    "on_update": {
        "text": "If it is a new version of a memory: insert both, supersede that memory, or "
        "propose it to a person"
    },
    "source_type": {
        "text": "A person stated it, a tool reported it, or you infer it",
        "choices": ("EXPLICIT", "TOOL", "EXTRACTOR"),
    },
    "subject": {"text": "Person or thing, e.g. alice"},
    "predicate": {"text": "Relation, e.g. works_on"},
    "object": {"text": "Value, e.g. Atlas"},
    "cardinality": {
        "text": "Needed for a new predicate. ONE: one value at a time (lives_in); MANY: several "
        "at once (likes)"
    },
    "kind": {"text": ""},
    "observe.confidence": {"text": "How certain the source is", "limits": _STRENGTH},
    "confidence": {"text": "Confidence before any evidence", "limits": {"ge": 0.1, "le": 0.9}},
    "strength": {"text": "0.5: no effect, 0.9: strongest", "limits": _STRENGTH},
    "reason": {"text": "Reason; stored"},
    "note": {"text": "Reason; stored"},
    "believe.statement": {"required": True},
    "belief_revise.statement": {"required": True},
    "statements": {"text": "Each states one thing", "size": _PAIR},
    "beliefs": {
        "text": "belief_id of each in a result, or [id]",
        "also": ("belief_ids",),
        "ids": ("belief",),
        "size": _PAIR,
    },
    "results": {
        "text": "Best first: paths of files, symbol:NAME, document:NAME, or ids",
        "required": True,
        "size": {"min_length": 1, "max_length": 100},
    },
    "usage_log_access.kind": {"choices": ("file", "symbol", "document")},
}
"""Changes of an argument in all tools, or in one as `tool.argument`; only here do arguments differ
from the parameters of the client's methods."""


def path_of(tool: str) -> str:
    """Return the path of the client's method that a tool is named after."""
    noun, _, name = tool.partition("_")
    return f"{NAMESPACES[noun]}.{name}" if noun in NAMESPACES else tool


@cache
def parameters(tool: str) -> Mapping[str, Parameter]:
    """Return the parameters of a tool's method by name, with the fields of an `Origin`."""
    found = {one.name: one for one in signatures.method(path_of(tool)).parameters}
    origin = found.get("origin")
    if origin is not None and origin.kind is not None:
        found = {one.name: one for one in signatures.fields(*origin.kind.choices)} | found
    return found


def change_of(tool: str, name: str) -> Change:
    """Return the changes of an argument of a tool."""
    return {**CHANGES.get(name, {}), **CHANGES.get(f"{tool}.{name}", {})}


def arguments_of(tool: str, names: str) -> type[Record]:
    """Return the record of the arguments of a tool.

    What may be omitted is None then, and the client's own default applies, unless the tool has
    another one.

    Args:
        tool: name of the tool.
        names: names of its arguments.
    """
    fields: dict[str, Any] = {}
    for name in names.split():
        one, change = parameters(tool).get(name), change_of(tool, name)
        kind, default = _type(name, one.kind if one else None, change), change.get("default")
        schema: dict[str, Any] = {"also": list(change["also"])} if "also" in change else {}
        if change.get("required", one is not None and one.required):
            default = ...
        elif default is None:
            kind |= None
            schema["default"] = one.default if one else None
        text = change.get("text", one.clause if one else "") or None
        fields[name] = (kind, Field(default, description=text, json_schema_extra=schema))
    return record_type(f"{tool}_arguments", __base__=Record, **fields)


def _type(name: str, kind: Kind | None, change: Change) -> Any:
    limits, size = change.get("limits", {}), change.get("size", {})
    found: Any = change.get("type")
    if found is None and kind is not None:
        limits, size = {**kind.limits, **limits}, {**kind.size, **size}
        choices = change.get("choices", kind.choices)
        found = Literal[choices] if choices and kind.name != "record" else _TYPES[kind.name]
    if name.endswith("_id") or "ids" in change:
        limits = {"min_length": 1, **limits}
    found = Annotated[found, Field(**limits)]
    if "ids" in change or (name.endswith("_id") and name != "session_id"):
        found = Annotated[found, id_of(*change.get("ids", (name.removesuffix("_id"),)))]
    if kind is not None and kind.many and "type" not in change:
        found = GenericAlias(tuple, (found, ...))
    return Annotated[found, Field(**size)]
