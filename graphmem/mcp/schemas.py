"""Arguments of the tools, and the JSON schemas of arguments and results."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

from graphmem.context.blocks import MIN_TOKENS
from graphmem.mcp import inputs
from graphmem.mcp.inputs import LastMoment, Moment, ReadTime, ZonedMoment, also, id_of
from graphmem.model import KINDS, Kind, Name, Part, Record, Statement, Tags, Text, Triple, Trust
from graphmem.model.memory import RefusedClaim
from graphmem.model.terms import RepairedName, RepairedText

MAX_CONTEXT_TOKENS = 8_000
MAX_MESSAGES = 200
MAX_CLAIMS = 16
MAX_PARTS = 16
"""Maximum number of beliefs that one is split into or merged from."""

_Question = Annotated[RepairedText, Field(min_length=1, max_length=100_000, pattern=r"\S")]
_Limit = Annotated[int, Field(ge=1, le=100)]
"""At most 100, so that an answer fits into a model's context."""
_Strength = Annotated[float, Field(ge=0.5, le=0.9, allow_inf_nan=False)]
"""Below 0.5 evidence has the opposite effect; above 0.9 an agent is too confident."""
_Prior = Annotated[
    float, Field(ge=0.1, le=0.9, allow_inf_nan=False, description="Confidence before any evidence")
]
_Direction = Literal["supporting", "refuting"]
_SourceType = Annotated[
    Literal["EXPLICIT", "TOOL", "EXTRACTOR"],
    Field(description="A person stated it, a tool reported it, or you infer it"),
]
_AsOf = Annotated[
    ReadTime | None,
    Field(description="Past date the question is about, e.g. 2025-06-01; server's zone"),
]
_At = Annotated[
    Moment | None,
    Field(description="Date since when it holds, e.g. 2025-06-01; server's zone; default now"),
]
_TurnId = Annotated[
    Annotated[Name, id_of("turn")] | None,
    Field(description="[id] of the message that it quotes"),
]
_Reason = Annotated[
    Annotated[Text, Field(max_length=10_000)] | None, Field(description="Reason; stored")
]
_MemoryId = Annotated[
    Name, also("memory_id in a result, or [id] of a memory", "item_id"), id_of("memory")
]
_BeliefId = Annotated[
    Name, also("belief_id in a result, or [id] of a belief", "item_id"), id_of("belief")
]
_EventId = Annotated[Name, Field(description="event_id in a result"), id_of()]
_ID_NAMES = ("memory_id", "belief_id", "turn_id", "episode_id")
_AnyId = Annotated[Name, also("item_id, memory_id or belief_id in a result, or [id]", *_ID_NAMES)]
_Cardinality = Annotated[
    Literal["ONE", "MANY"] | None,
    Field(
        description="Needed for a new predicate. ONE: one value at a time (lives_in); MANY: "
        "several at once (likes)"
    ),
]
_Subject = Annotated[Part, Field(description="Person or thing, e.g. alice")]
_Predicate = Annotated[Part, Field(description="Relation, e.g. works_on")]


class SessionArguments(Record):
    """Arguments of a tool that belongs to a conversation."""

    session_id: Annotated[Name | None, Field(description="Constant name of this conversation")] = (
        None
    )


_MinTrust = Annotated[Trust | None, Field(description="Leave out items of lower trust")]


class ContextArguments(SessionArguments):
    """Arguments of `context`."""

    about: Annotated[_Question, Field(description="The user's question, in full")]
    tokens: Annotated[int, Field(ge=MIN_TOKENS, le=MAX_CONTEXT_TOKENS)] = 800
    used: Annotated[
        tuple[Annotated[Name, id_of("memory", "belief", "turn", "episode")], ...],
        Field(description="Ids that your last answer used", max_length=50),
    ] = ()
    tags: Annotated[Tags, Field(description="Only memories with all of these tags")] = ()
    min_trust: _MinTrust = None
    as_of: _AsOf = None


class RecallArguments(SessionArguments):
    """Arguments of `recall`."""

    query: Annotated[_Question, Field(description="The question, or keywords")]
    limit: _Limit | None = None
    kinds: Annotated[tuple[Kind, ...], Field(description="Only these kinds")] = KINDS
    include_hidden: Annotated[bool, Field(description="Also superseded and deprecated items")] = (
        False
    )
    tags: Annotated[Tags, Field(description="Only memories with all of these tags")] = ()
    since: Annotated[Moment | None, Field(description="Only items created from this date")] = None
    until: Annotated[LastMoment | None, Field(description="Only items created until then")] = None
    min_trust: _MinTrust = None
    as_of: _AsOf = None


class ExpandArguments(SessionArguments):
    """Arguments of `expand`."""

    item_id: Annotated[_AnyId, id_of("memory", "belief", "turn", "episode")]


class MessageArgument(Record):
    """One message."""

    role: Annotated[RepairedName, Field(description="user, assistant, tool or system")]
    content: Annotated[RepairedText, Field(max_length=1_000_000)]
    name: RepairedName | None = None
    at: ZonedMoment | None = None
    id: RepairedName | None = None


class AddMessagesArguments(SessionArguments):
    """Arguments of `add_messages`."""

    messages: Annotated[
        tuple[MessageArgument, ...],
        Field(min_length=1, max_length=MAX_MESSAGES),
    ]


def _or_refused(given: Any, read: ValidatorFunctionWrapHandler) -> Triple | RefusedClaim:
    """Return a claim, or why it cannot be stored: the sentence is stored without it."""
    try:
        found: Triple = read(given)
    except ValidationError as error:
        invalid = error.errors(include_input=False, include_url=False)
    else:
        return found
    reason = inputs.problems(invalid, complete_schema(Triple))
    return RefusedClaim(place=0, reasons=(reason,))


Claim = Annotated[Triple, WrapValidator(_or_refused)]


class RememberArguments(SessionArguments):
    """Arguments of `remember`."""

    content: Annotated[Text, Field(description="The sentence; it must be clear on its own")]
    tags: Annotated[Tags, Field(description="Labels to filter by later")] = ()
    at: _At = None
    claims: Annotated[
        tuple[Claim, ...], Field(description="Facts it states; it is evidence for each")
    ] = ()
    confidence: Annotated[_Strength | None, Field(description="Of the claims; 0.8 by default")] = (
        None
    )
    source_type: _SourceType | None = None
    on_update: Annotated[
        Literal["insert", "supersede", "propose"],
        Field(
            description="If it is a new version of a memory: insert both, supersede that memory, "
            "or propose it to a person"
        ),
    ] = "insert"


class SupersedeArguments(SessionArguments):
    """Arguments of `supersede`."""

    item_id: Annotated[_AnyId, id_of("memory", "belief")]
    content: Annotated[Text, Field(description="The new sentence; it must be clear on its own")]
    at: _At = None
    reason: _Reason = None


class HistoryArguments(Record):
    """Arguments of `memory_history`."""

    memory_id: _MemoryId
    limit: _Limit = 20
    as_of: _AsOf = None


class DeprecateArguments(Record):
    """Arguments of `memory_deprecate`."""

    memory_id: _MemoryId
    reason: _Reason = None


class ObserveArguments(SessionArguments):
    """Arguments of `observe`."""

    subject: _Subject
    predicate: _Predicate
    object: Annotated[Part, Field(description="Value, e.g. Atlas")]
    cardinality: _Cardinality = None
    kind: _Direction = "supporting"
    confidence: Annotated[_Strength, Field(description="How certain the source is")] = 0.8
    source_type: _SourceType = "EXPLICIT"
    at: _At = None
    turn_id: _TurnId = None
    note: _Reason = None


class CurrentArguments(Record):
    """Arguments of `current`."""

    subject: _Subject
    predicate: _Predicate
    limit: _Limit = 10
    as_of: _AsOf = None


class RetractArguments(SessionArguments):
    """Arguments of `belief_retract`."""

    event_id: _EventId
    note: _Reason = None


class ForgetArguments(SessionArguments):
    """Arguments of `forget`."""

    item_id: Annotated[_AnyId, id_of("memory", "belief", "episode", "turn")]
    confirm: Annotated[
        Name | None, Field(description="`confirm` of the plan, if the user agreed")
    ] = None


class BelieveArguments(SessionArguments):
    """Arguments of `believe`."""

    statement: Statement
    confidence: _Prior = 0.5
    note: _Reason = None


class AddEvidenceArguments(SessionArguments):
    """Arguments of `add_evidence`."""

    belief_id: _BeliefId
    kind: _Direction
    strength: Annotated[_Strength, Field(description="0.5: no effect, 0.9: strongest")]
    at: _At = None
    turn_id: _TurnId = None
    note: _Reason = None


class EvidenceForArguments(Record):
    """Arguments of `evidence_for`."""

    belief_id: _BeliefId
    cursor: Annotated[str | None, Field(description="`next_cursor` of the previous page")] = None
    limit: _Limit = 20
    as_of: _AsOf = None


class ReviseArguments(SessionArguments):
    """Arguments of `belief_revise`."""

    belief_id: _BeliefId
    statement: Statement
    confidence: _Prior = 0.5
    reason: _Reason = None


class SplitArguments(SessionArguments):
    """Arguments of `belief_split`."""

    belief_id: _BeliefId
    statements: Annotated[
        tuple[Statement, ...],
        Field(min_length=2, max_length=MAX_PARTS, description="Each states one thing"),
    ]
    reason: _Reason = None


class MergeArguments(SessionArguments):
    """Arguments of `belief_merge`."""

    beliefs: Annotated[
        tuple[Annotated[Name, id_of("belief")], ...],
        also("belief_id of each in a result, or [id]", "belief_ids"),
        Field(min_length=2, max_length=MAX_PARTS),
    ]
    statement: Statement
    confidence: _Prior = 0.5
    reason: _Reason = None


class WhyArguments(Record):
    """Arguments of `why`."""

    item_id: Annotated[_AnyId, id_of("memory", "belief")]
    limit: _Limit = 20
    as_of: _AsOf = None


class PredicatesArguments(Record):
    """Arguments of `predicate_list`."""


class SlotsArguments(Record):
    """Arguments of `belief_slots`."""

    subject: Annotated[Part | None, Field(description="Only of this person or thing")] = None
    cursor: Annotated[str | None, Field(description="`next_cursor` of the previous page")] = None
    limit: _Limit = 20
    as_of: _AsOf = None


class LogSearchArguments(SessionArguments):
    """Arguments of `usage_log_search`."""

    query: _Question
    tool: Annotated[Name, Field(description="Name of the tool that searched, e.g. grep")]
    results: Annotated[
        tuple[Name, ...],
        Field(
            description="Best first: paths of files, symbol:NAME, document:NAME, or ids",
            min_length=1,
            max_length=100,
        ),
    ]


class LogAccessArguments(SessionArguments):
    """Arguments of `usage_log_access`."""

    kind: Literal["file", "symbol", "document"]
    ref: Annotated[Name, Field(description="Its path, qualified name or address")]


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
