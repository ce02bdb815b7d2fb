"""Words for a language model about the origin and the state of recalled items, without numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum

from graphmem.model import (
    BeliefBite,
    EventType,
    EvidenceKind,
    Instant,
    MemoryBite,
    Reason,
    Trust,
    Turn,
    VerdictStatus,
)
from graphmem.rules import formulas, transcripts

MIN_CERTAIN = 0.5
"""Least P+ of a belief that is not called uncertain."""
AGENT_SOURCE = "mcp"
"""Source of events that an agent wrote with a tool."""

_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September"),
    *("October", "November", "December"),
)
_TOOLS = frozenset({"tool", "function"})
_ROLES = {
    **dict.fromkeys(("assistant", "ai", "model"), "the assistant"),
    **dict.fromkeys(_TOOLS, "a tool"),
}
_INFERRED = "inferred"
_BY_TYPE = {
    "TOOL": "reported by a tool",
    "RULE": "derived by a rule",
    "CLASSIFIER": "inferred by a model",
    "EXTRACTOR": "inferred by a model",
}
_CONSOLIDATION = formulas.STANDARD_VITALITY.consolidation

_TRUST: Mapping[Trust, str] = {
    "tool": "as a tool reports",
    "model": "as a model reports",
    "imported": "as another system reports",
    "unknown": "of unknown origin",
}
_NAMED: Mapping[Trust, tuple[str, ...]] = {
    "tool": ("reported by a tool", "returned by a tool", "derived by a rule"),
    "model": ("inferred", "noted by an agent", "said by the assistant"),
    "imported": ("imported",),
}
"""Beginnings of an origin that state a class already."""

Quote = Callable[[str], str]
"""Returns a name as a quoted text that cannot end a line or a fence."""


class _Rank(IntEnum):
    """Order in which one origin is preferred to others."""

    PERSON = 0
    TOOL = 1
    AGENT = 2
    RULE = 3
    MODEL = 4
    OTHER = 5


def day(at: Instant) -> str:
    """Return a date in words, such as 12 June 2025; it does not depend on the locale."""
    return f"{at.day} {_MONTHS[at.month - 1]} {at.year}"


def times(count: int) -> str:
    """Return a number of times in words."""
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def memory_origin(bite: MemoryBite, quote: Quote) -> str:
    """Return who stated a memory, how often, and when last."""
    memory, count = bite.memory, bite.memory.reinforce_count + 1
    reason = next((one for one in bite.reasons if one.speaker), None)
    reason = reason or next(iter(bite.reasons), None)
    who = "noted" if reason is None else _memory_verb(reason, quote)
    return _when(who, count, memory.last_seen_at, bite.reasons)


def turn_origin(turn: Turn, quote: Quote) -> str:
    """Return the speaker and the date of a turn."""
    verb = "returned" if turn.role.lower() in _TOOLS else "said"
    return f"{verb} by {_speaker(turn.name or turn.role, quote)} on {day(turn.occurred_at)}"


def belief_origin(bite: BeliefBite, quote: Quote) -> str:
    """Return what a belief rests on: who stated it, how often, and when last."""
    belief, count = bite.belief, bite.belief.supporting_episodes
    known = [one for one in bite.reasons if one.kind is not EvidenceKind.REFUTING]
    last_at = bite.last_at or belief.created_at
    if not count and not known:
        return "assumed" if belief.refuting_episodes else "assumed, without evidence"
    if belief.subject is None and not any(one.source == _CONSOLIDATION for one in known):
        return _when("assumed and supported", count, last_at, known)
    if not known:
        return _when("supported", count, last_at, known)
    best = min(known, key=_rank)
    verb = _belief_verb(best, quote)
    if count > 1 and _rank(best) < max(map(_rank, known)):
        return f"{_on(verb, best.at)}, supported {_often(count, known)}"
    return _when(verb, count, last_at, known)


def reservation(trust: Trust, origin: str) -> list[str]:
    """Return the trust class in words, unless it is a person's or the origin states it."""
    named = origin.startswith(_NAMED.get(trust, ()))
    return [] if trust == "person" or named else [_TRUST[trust]]


def belief_doubts(bite: BeliefBite) -> list[str]:
    """Return the doubts about a belief, or that a test confirmed it."""
    belief, against = bite.belief, bite.belief.refuting_episodes
    contradicted = f"contradicted {times(against)}" if against else "contradicted"
    flagged = belief.vitality is not None and belief.vitality.flagged_at is not None
    if belief.verdict.status is VerdictStatus.DEMOTED or flagged:
        return [f"to be revised: {contradicted}"]
    if bite.ambiguous:
        return ["disputed: another value is as likely"]
    if against:
        return [f"disputed: {contradicted}"]
    if belief.supporting_episodes and belief.positive < MIN_CERTAIN:
        return ["uncertain"]
    tested = belief.subject is None and belief.verdict.status is VerdictStatus.PROMOTED
    return ["confirmed by its test"] if tested else []


def _memory_verb(reason: Reason, quote: Quote) -> str:
    if reason.speaker:
        return f"stated by {_speaker(reason.speaker, quote)}"
    if reason.type == EventType.IMPORT:
        return "imported"
    return f"noted by {quote(reason.actor)}" if reason.actor else "noted"


def _belief_verb(reason: Reason, quote: Quote) -> str:
    if reason.source == _CONSOLIDATION:
        return _INFERRED
    if reason.speaker:
        return f"stated by {_speaker(reason.speaker, quote)}"
    if reason.source == AGENT_SOURCE:
        return f"noted by {quote(reason.actor)}" if reason.actor else "noted by an agent"
    if reason.source_type in _BY_TYPE:
        return _BY_TYPE[reason.source_type]
    return f"stated by {quote(reason.actor)}" if reason.actor else "stated"


def _rank(reason: Reason) -> _Rank:
    if reason.source == _CONSOLIDATION:
        return _Rank.MODEL
    if reason.speaker:
        return _Rank.PERSON
    if reason.source == AGENT_SOURCE:
        return _Rank.AGENT
    by_type = {"EXPLICIT": _Rank.PERSON, "TOOL": _Rank.TOOL, "RULE": _Rank.RULE}
    model = _Rank.MODEL if reason.source_type in _BY_TYPE else _Rank.OTHER
    return by_type.get(reason.source_type or "", model)


def _speaker(name: str, quote: Quote) -> str:
    if transcripts.is_human(name):
        return "the user"
    return _ROLES.get(name.lower(), quote(name))


def _when(who: str, count: int, last_at: Instant, reasons: Sequence[Reason]) -> str:
    if count <= 1:
        return _on(who, last_at)
    often = _often(count, reasons)
    often = often.replace("in ", "from ", 1) if who == _INFERRED else often
    return f"{who} {often}, last on {day(last_at)}"


def _often(count: int, reasons: Sequence[Reason]) -> str:
    """Return a count of conversations, if each event shown has one; else of times."""
    episodes = {one.episode_id for one in reasons}
    apart = None not in episodes and len(episodes) == min(count, len(reasons))
    return f"in {count} conversations" if apart and reasons else times(count)


def _on(who: str, at: Instant) -> str:
    return f"{who} on {day(at)}"
