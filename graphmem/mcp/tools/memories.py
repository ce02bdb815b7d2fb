"""Tools that store messages and memories, and correct memories."""

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
    Field(description="A person stated it, a tool reported it, or you infer it"),
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

    content: Annotated[Text, Field(description="One self-contained sentence")]
    tags: Tags = ()
    at: At = None
    claims: Annotated[
        tuple[Triple, ...],
        Field(max_length=MOST_CLAIMS, description="Facts it states; it is evidence for each"),
    ] = ()
    confidence: Annotated[Strength | None, Field(description="Of the claims; 0.8 by default")] = (
        None
    )
    source_type: SourceType | None = None


class HistoryArguments(Record):
    """Arguments of `history`."""

    id: Annotated[Name, Field(description="Id of a memory")]
    limit: Rows = 20
    as_of: When = None


class DeprecateArguments(Record):
    """Arguments of `deprecate`."""

    id: Annotated[Name, Field(description="Id of a memory")]
    reason: NotedWhy = None


async def _add_messages(call: ToolCall[AddMessagesArguments]) -> TurnsReceipt:
    return await call.on.add_messages(
        [message.model_dump(exclude_none=True) for message in call.asked.messages]
    )


async def _remember(call: ToolCall[RememberArguments]) -> results.RememberResult:
    asked = call.asked
    given = call.origin("at", "confidence", "source_type")
    done = await call.on.remember(asked.content, tags=asked.tags, claims=asked.claims, **given)
    return converting.remembered(done)


async def _history(call: ToolCall[HistoryArguments]) -> results.HistoryResult:
    asked = call.asked
    events = await call.on.memories.history(asked.id, limit=asked.limit, as_of=asked.as_of)
    return results.HistoryResult(events=tuple(map(converting.happened, events)))


async def _deprecate(call: ToolCall[DeprecateArguments]) -> results.DeprecateResult:
    asked = call.asked
    event_id = await call.on.memories.deprecate(asked.id, reason=asked.reason, **call.origin())
    return results.DeprecateResult(memory_id=asked.id, event_id=event_id)


TOOLS = (
    Tool(
        "add_messages",
        "Store messages",
        "Store messages of this conversation verbatim, in order. Repeated messages add nothing. "
        "Cite the returned turn ids as the source of evidence.",
        AddMessagesArguments,
        TurnsReceipt,
        _add_messages,
        idempotent=True,
    ),
    Tool(
        "remember",
        "Remember",
        "Store one sentence worth knowing later: a preference, a decision, a lesson. A repeat "
        "strengthens the existing memory. outcome REJECTED_HYGIENE: not stored, for the reason in "
        "refused_for. possible_update_of: deprecate that memory if it no longer holds.",
        RememberArguments,
        results.RememberResult,
        _remember,
    ),
    Tool(
        "history",
        "History of a memory",
        "Return the events of a memory, oldest first.",
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
