"""Tools that record evidence and hypotheses, and that return beliefs and their reasons."""

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
from graphmem.rules import read_options

Direction = Literal["supporting", "refuting"]
BeliefId = Annotated[Name, Field(description="Id of a belief")]
FIRST = 10**9


class ObserveArguments(SessionArguments):
    """Arguments of `observe`."""

    subject: Annotated[Part, Field(description="Person or thing, e.g. alice")]
    predicate: Annotated[Part, Field(description="e.g. works_on; always use the same one")]
    object: Annotated[Part, Field(description="The value, e.g. Atlas")]
    kind: Direction = "supporting"
    confidence: Annotated[Strength, Field(description="How certain the source is")] = 0.8
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
    strength: Annotated[Strength, Field(description="0.5: no effect, 0.9: strongest")]
    at: At = None
    turn: Turn = None
    note: NotedWhy = None


class EvidenceForArguments(Record):
    """Arguments of `evidence_for`."""

    belief_id: BeliefId
    start: Annotated[int, Field(ge=0, le=FIRST, description="Number of pieces to skip")] = 0
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

    id: Annotated[Name, Field(description="Id of a belief or a memory")]
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
    # A slot has no verdicts, but a shown belief must include `revise_due`.
    test = await call.on.beliefs.get(leader.belief_id, as_of=asked.as_of) if leader else None
    return converting.values(found, test)


async def _believe(call: ToolCall[BelieveArguments]) -> EvidenceReceipt:
    return await call.on.believe(call.asked.statement, **call.origin("confidence", "note"))


async def _evidence(call: ToolCall[EvidenceArguments]) -> results.SprtResult:
    asked = call.asked
    given = call.origin("at", "turn", "note")
    done = await call.on.add_evidence(asked.belief_id, asked.kind, asked.strength, **given)
    return converting.standing(await call.on.evidence_for(done, limit=1), done.event_id)


async def _evidence_for(call: ToolCall[EvidenceForArguments]) -> results.TrailResult:
    asked = call.asked
    trail = await call.on.evidence_for(
        asked.belief_id,
        cursor=read_options.position_cursor(asked.start),
        limit=asked.limit,
        as_of=asked.as_of,
    )
    return results.TrailResult(
        standing=converting.standing(trail), pieces=tuple(map(converting.line, trail.lines))
    )


async def _revise(call: ToolCall[ReviseArguments]) -> ReplacementReceipt:
    asked = call.asked
    given = call.origin("confidence")
    return await call.on.beliefs.revise(
        asked.belief_id, asked.statement, reason=asked.reason, **given
    )


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
        "Current value",
        "Return what to believe now for a subject and a predicate: the leading value and the "
        "others. ambiguous: too close to decide, so ask the user.",
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
        "Record evidence for or against a belief and return the state of its test. revise_due: it "
        "is refuted, so call revise.",
        EvidenceArguments,
        results.SprtResult,
        _evidence,
    ),
    Tool(
        "evidence_for",
        "Test of a belief",
        "Return the test of a belief, step by step, and the evidence missing for a decision.",
        EvidenceForArguments,
        results.TrailResult,
        _evidence_for,
        reads=True,
    ),
    Tool(
        "revise",
        "Revise a belief",
        "Replace a belief's statement by a new one; the old one stays readable with its evidence.",
        ReviseArguments,
        ReplacementReceipt,
        _revise,
    ),
    Tool(
        "why",
        "Reasons",
        "Return why a belief is believed: every piece of evidence and the arithmetic. For a "
        "memory, return its history.",
        WhyArguments,
        results.WhyResult,
        _why,
        reads=True,
    ),
)
