"""Tools that record evidence and hypotheses, and say what to believe and why."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from graphmem.mcp import converting, results
from graphmem.mcp.calls import (
    At,
    NotedWhy,
    Prior,
    Rows,
    SessionArguments,
    Strength,
    Tool,
    ToolCall,
    Turn,
    When,
)
from graphmem.mcp.tools.memories import SourceType
from graphmem.model import EvidenceReceipt, Name, Part, Record, ReplacementReceipt, Statement

Direction = Literal["supporting", "refuting"]
BeliefId = Annotated[Name, Field(description="Of a belief")]
FIRST = 10**9


class ObserveArguments(SessionArguments):
    """Arguments of `observe`."""

    subject: Annotated[Part, Field(description="Whom or what it is about, e.g. alice")]
    predicate: Annotated[Part, Field(description="e.g. works_on; use the same one each time")]
    object: Annotated[Part, Field(description="The value, e.g. Atlas")]
    kind: Direction = "supporting"
    confidence: Annotated[Strength, Field(description="How sure the source is")] = 0.8
    source_type: SourceType = "EXPLICIT"
    at: At = None
    turn: Turn = None
    note: NotedWhy = None


class CurrentArguments(Record):
    """Arguments of `current`."""

    subject: Part
    predicate: Part
    limit: Rows = 10
    as_of: When = None


class BelieveArguments(SessionArguments):
    """Arguments of `believe`."""

    statement: Statement
    confidence: Annotated[Prior, Field(description="Before any evidence")] = 0.5
    note: NotedWhy = None


class EvidenceArguments(SessionArguments):
    """Arguments of `evidence`."""

    belief_id: BeliefId
    kind: Direction
    strength: Annotated[Strength, Field(description="0.5 says nothing, 0.9 is the most")]
    at: At = None
    turn: Turn = None
    note: NotedWhy = None


class EvidenceForArguments(Record):
    """Arguments of `evidence_for`."""

    belief_id: BeliefId
    start: Annotated[int, Field(ge=0, le=FIRST, description="Pieces to pass over")] = 0
    limit: Rows = 20
    as_of: When = None


class ReviseArguments(SessionArguments):
    """Arguments of `revise`."""

    belief_id: BeliefId
    statement: Statement
    confidence: Annotated[Prior, Field(description="Before any evidence")] = 0.5
    reason: NotedWhy = None


class WhyArguments(Record):
    """Arguments of `why`."""

    id: Annotated[Name, Field(description="Of a belief or a memory")]
    limit: Rows = 20
    as_of: When = None


async def _observe(call: ToolCall[ObserveArguments]) -> EvidenceReceipt:
    asked = call.asked
    given = call.origin("kind", "confidence", "source_type", "at", "turn", "note")
    return await call.on.observe(asked.subject, asked.predicate, asked.object, **given)


async def _current(call: ToolCall[CurrentArguments]) -> results.SlotResult:
    asked = call.asked
    found = await call.on.current(
        asked.subject, asked.predicate, limit=asked.limit, as_of=asked.as_of
    )
    leader = found.leader
    # A slot knows no verdicts, and whoever is shown a belief is told when its revision is due.
    test = await call.on.belief(leader.belief_id, as_of=asked.as_of) if leader else None
    return converting.values(found, test)


async def _believe(call: ToolCall[BelieveArguments]) -> EvidenceReceipt:
    return await call.on.believe(call.asked.statement, **call.origin("confidence", "note"))


async def _evidence(call: ToolCall[EvidenceArguments]) -> results.SprtResult:
    asked = call.asked
    given = call.origin("at", "turn", "note")
    done = await call.on.evidence(asked.belief_id, asked.kind, asked.strength, **given)
    return converting.standing(await call.on.evidence_for(done, limit=1), done.event_id)


async def _evidence_for(call: ToolCall[EvidenceForArguments]) -> results.TrailResult:
    asked = call.asked
    trail = await call.on.evidence_for(
        asked.belief_id, start=asked.start, limit=asked.limit, as_of=asked.as_of
    )
    return results.TrailResult(
        standing=converting.standing(trail), pieces=tuple(map(converting.line, trail.lines))
    )


async def _revise(call: ToolCall[ReviseArguments]) -> ReplacementReceipt:
    asked = call.asked
    given = call.origin("confidence")
    return await call.on.revise(asked.belief_id, asked.statement, reason=asked.reason, **given)


async def _why(call: ToolCall[WhyArguments]) -> results.WhyResult:
    asked = call.asked
    found = await call.on.why(asked.id, limit=asked.limit, as_of=asked.as_of)
    return converting.reasons(found)


TOOLS = (
    Tool(
        "observe",
        "Record a fact",
        "Record evidence for or against a fact: subject, predicate, object. Facts that change "
        "are observed again with the new object; nothing is overwritten.",
        ObserveArguments,
        EvidenceReceipt,
        _observe,
    ),
    Tool(
        "current",
        "What to believe",
        "What to believe now of a subject and a predicate: the leading value and the others. "
        "ambiguous: too close to call, so ask.",
        CurrentArguments,
        results.SlotResult,
        _current,
        reads=True,
    ),
    Tool(
        "believe",
        "State a hypothesis",
        "State a hypothesis to be tested by evidence; returns its belief_id.",
        BelieveArguments,
        EvidenceReceipt,
        _believe,
    ),
    Tool(
        "evidence",
        "Weigh evidence",
        "Record evidence for or against a belief and see where its test stands. revise_due: it is "
        "refuted, so call revise.",
        EvidenceArguments,
        results.SprtResult,
        _evidence,
    ),
    Tool(
        "evidence_for",
        "Test of a belief",
        "The test of a belief, piece by piece, and how much more would decide it.",
        EvidenceForArguments,
        results.TrailResult,
        _evidence_for,
        reads=True,
    ),
    Tool(
        "revise",
        "Revise a belief",
        "Put another statement in the place of a belief, which stays readable with its evidence.",
        ReviseArguments,
        ReplacementReceipt,
        _revise,
    ),
    Tool(
        "why",
        "Reasons",
        "Why a belief is believed, with every piece of evidence and the arithmetic; of a memory, "
        "how it came about.",
        WhyArguments,
        results.WhyResult,
        _why,
        reads=True,
    ),
)
