"""Results of a recall, made without a server."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from graphmem.english import summaries
from graphmem.model import (
    Belief,
    BeliefBite,
    Episode,
    EpisodeBite,
    EvidenceKind,
    Memory,
    MemoryBite,
    OtherValue,
    Reason,
    ScoreBreakdown,
    Status,
    Trust,
    Turn,
    TurnBite,
    Verdict,
    VerdictStatus,
)
from graphmem.rules import identity

MAY = datetime(2025, 5, 5, 9, tzinfo=UTC)
FOUND: dict[str, Any] = {
    "score": 1.0,
    "trust": "person",
    "parts": ScoreBreakdown(),
    "similarity": 0.5,
    "vector_rank": 1,
    "bm25": None,
    "bm25_rank": None,
}


def memory_bite(n: int, text: str, **fields: Any) -> MemoryBite:
    known = {
        "id": identity.memory_id("global", f"{n}"),
        "scope": "global",
        "content_hash": identity.content_hash(text),
        "tags": (),
        "status": Status.CURRENT,
        "created_at": MAY,
        "recorded_at": MAY,
        "last_seen_at": MAY,
        "reinforce_count": 0,
    }
    memory = Memory(**{**known, "content": text, **fields})
    return MemoryBite(memory=memory, trace=0.0, final=0.5, **FOUND)


def belief_bite(
    n: int,
    text: str,
    status: VerdictStatus = VerdictStatus.ACCUMULATING,
    others: tuple[OtherValue, ...] = (),
    *,
    contested: bool = False,
    supported: bool = True,
    **fields: Any,
) -> BeliefBite:
    belief = Belief(
        id=f"b_{identity.digest(f'{n}')[:32]}",
        scope="global",
        statement=text,
        subject="alice",
        predicate="works_on",
        object="Atlas",
        status="current",
        created_at=MAY,
        recorded_at=MAY,
        initial_confidence=0.5,
        belief=0.904,
        positive=0.9,
        supporting_episodes=int(supported),
        contested=contested,
        verdict=Verdict(status=status, log_ratio=0.0, confidence=0.5, evidence=1),
    )
    stated = Reason(
        event_id="e",
        type="EVIDENCE",
        at=MAY,
        trust="person",
        kind=EvidenceKind.SUPPORTING,
        source_type="EXPLICIT",
    )
    known = {"last_at": MAY, "reasons": (stated,), "stated": 1} if supported else {"last_at": None}
    return BeliefBite(belief=belief, others=others, **{**known, **FOUND, **fields})


def turn_bite(
    n: int,
    text: str,
    name: str | None = None,
    role: str = "user",
    *,
    episode_id: str = "ep_1",
    at: datetime = MAY,
) -> TurnBite:
    turn = Turn(
        id=f"t_{identity.digest(f'{n}')[:32]}",
        episode_id=episode_id,
        position=n,
        role=role,
        name=name,
        text=text,
        occurred_at=at,
        recorded_at=MAY,
    )
    vouched = "person" if role == "user" else "model"
    return TurnBite(turn=turn, **FOUND | {"trust": vouched})


def episode_bite(
    n: int,
    summary: str,
    *,
    by: str = summaries.RULES,
    compressed: bool = False,
    vouched: Trust = "model",
) -> EpisodeBite:
    episode = Episode(
        id=f"ep_{n}",
        scope="global",
        session_id=None,
        summary=summary,
        content=None,
        compressed=compressed,
        entities=(),
        importance=0.5,
        summarised_by=by,
        occurred_at=MAY,
        recorded_at=MAY,
        turns=3,
    )
    return EpisodeBite(episode=episode, **FOUND | {"trust": vouched})
