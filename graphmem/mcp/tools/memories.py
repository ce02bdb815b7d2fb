"""Tools that keep what was said and what is worth keeping, and correct it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from graphmem.mcp import converting, results
from graphmem.mcp.calls import At, NotedWhy, Rows, SessionArguments, Strength, Tool, ToolCall, When
from graphmem.model import Instant, Name, Record, Tags, Text, Triple, TurnsReceipt

MOST_MESSAGES = 200
MOST_CLAIMS = 16

SourceType = Annotated[
    Literal["EXPLICIT", "TOOL", "EXTRACTOR"],
    Field(description="A person said it, a tool showed it, or you infer it"),
]


class MessageArgument(Record):
    """One message."""

    role: Annotated[Name, Field(description="user, assistant, tool or system")]
    content: Annotated[Text, Field(max_length=1_000_000)]
    name: Name | None = None
    at: Instant | None = None
    id: Name | None = None


class AddMessagesArguments(SessionArguments):
    """Arguments of `add_messages`."""

    messages: Annotated[tuple[MessageArgument, ...], Field(min_length=1, max_length=MOST_MESSAGES)]


class RememberArguments(SessionArguments):
    """Arguments of `remember`."""

    content: Annotated[Text, Field(description="One sentence that stands on its own")]
    tags: Tags = ()
    at: At = None
    claims: Annotated[
        tuple[Triple, ...],
        Field(max_length=MOST_CLAIMS, description="Facts that it says; it is evidence for each"),
    ] = ()
    confidence: Annotated[Strength | None, Field(description="In the claims; 0.8 by default")] = (
        None
    )
    source_type: SourceType | None = None


class HistoryArguments(Record):
    """Arguments of `history`."""

    id: Annotated[Name, Field(description="Of a memory")]
    limit: Rows = 20
    as_of: When = None


class DeprecateArguments(Record):
    """Arguments of `deprecate`."""

    id: Annotated[Name, Field(description="Of a memory")]
    reason: NotedWhy = None


async def _add_messages(call: ToolCall[AddMessagesArguments]) -> TurnsReceipt:
    return await call.on.add_messages(
        [one.model_dump(exclude_none=True) for one in call.asked.messages]
    )


async def _remember(call: ToolCall[RememberArguments]) -> results.RememberResult:
    asked = call.asked
    given = call.origin("at", "confidence", "source_type")
    done = await call.on.remember(asked.content, tags=asked.tags, claims=asked.claims, **given)
    return converting.remembered(done)


async def _history(call: ToolCall[HistoryArguments]) -> results.HistoryResult:
    asked = call.asked
    events = await call.on.history(asked.id, limit=asked.limit, as_of=asked.as_of)
    return results.HistoryResult(events=tuple(map(converting.happened, events)))


async def _deprecate(call: ToolCall[DeprecateArguments]) -> results.DeprecateResult:
    asked = call.asked
    event_id = await call.on.deprecate(asked.id, reason=asked.reason, **call.origin())
    return results.DeprecateResult(memory_id=asked.id, event_id=event_id)


TOOLS = (
    Tool(
        "add_messages",
        "Keep what was said",
        "Keep messages of this conversation word for word, in order. The same messages again add "
        "nothing. The turn ids it returns can be quoted as evidence.",
        AddMessagesArguments,
        TurnsReceipt,
        _add_messages,
        idempotent=True,
    ),
    Tool(
        "remember",
        "Remember",
        "Keep one sentence worth knowing later: a preference, a decision, a lesson. A repeat "
        "strengthens the memory that is there. outcome REJECTED_HYGIENE: it was not kept, "
        "refused_for says why. possible_update_of: deprecate that one if it no longer holds.",
        RememberArguments,
        results.RememberResult,
        _remember,
    ),
    Tool(
        "history",
        "History of a memory",
        "What happened to a memory, oldest first.",
        HistoryArguments,
        results.HistoryResult,
        _history,
        reads=True,
    ),
    Tool(
        "deprecate",
        "Hide a memory",
        "Hide a memory that no longer holds. Nothing is deleted: remembering the same sentence "
        "again brings it back.",
        DeprecateArguments,
        results.DeprecateResult,
        _deprecate,
    ),
)
