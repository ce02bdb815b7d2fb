"""Histories of evidence, written in bulk to a server, and their visibility to a reader."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import count, groupby
from typing import Any

from hypothesis import strategies as st

from graphmem import Handle
from graphmem.model import AsOf, BeliefEvidence, EvidenceKind, Hypothesis, Observation, Origin
from graphmem.operations.evidence import writing
from graphmem.ports import run_now
from graphmem.rules import claims, identity
from graphmem.rules.claims import Claim, EvidenceDraft
from graphmem.rules.formulas import Evidence, clamp_strength
from graphmem.testing import FrozenClock
from tests.oracles.retraction import Retract, retracted
from tests.plugins.clients import on
from tests.plugins.graph import Look
from tests.rules.strategies_histories import (
    BASE,
    CLAIMS,
    END,
    EPISODES,
    confidences,
    histories,
    instants,
)

SUBJECT, PREDICATE = "alice", "works_on"
"""The slot that all these histories are about."""
SOURCES = {1.0: "EXPLICIT", 0.8: "RULE", 0.6: "CLASSIFIER", 0.5: "EXTRACTOR"}
"""Source types by their weight."""
MICROSECOND = timedelta(microseconds=1)
STEPS = (MICROSECOND, MICROSECOND, timedelta(days=1), timedelta(days=300))
MAX_IN_A_BATCH = 1_000


@dataclass(frozen=True, slots=True)
class Thought:
    """A hypothesis that a claim holds."""

    id: str
    claim: str
    confidence: float
    at: datetime


@dataclass(frozen=True, slots=True)
class Undo:
    """A retraction, before the store reports when it was recorded."""

    id: str
    target: str
    at: datetime


Item = Evidence | Thought | Undo


@st.composite
def accounts(draw: st.DrawFn, names: Sequence[str] = CLAIMS) -> list[Item]:
    """Draw evidence, hypotheses and retractions of a slot, in the order of their delivery.

    Retractions name evidence, one another, or events that never arrive; they come before or after
    it. Some histories use few timestamps, so that most events share theirs with others.
    """
    names = names[: draw(st.integers(1, len(names)))]
    evidence = draw(histories(names))
    # From 0.1 and 0.9, one step of the test reaches its bounds.
    initial = confidences | st.sampled_from([0.1, 0.9])
    thoughts = [
        Thought(f"t{number}", draw(st.sampled_from(names)), draw(initial), draw(instants))
        for number in range(draw(st.integers(0, 3)))
    ]
    numbers = range(draw(st.integers(0, 4)))
    named = [*(e.id for e in evidence), *(f"r{number}" for number in numbers), "never"]
    undos = []
    for number in numbers:
        targets = [name for name in named if name != f"r{number}"]
        undos.append(Undo(f"r{number}", draw(st.sampled_from(targets)), draw(instants)))
    step = draw(st.sampled_from(STEPS))
    items: list[Item] = [*evidence, *thoughts, *undos]
    return draw(st.permutations([replace(item, at=_snapped(item.at, step)) for item in items]))


def _snapped(at: datetime, step: timedelta) -> datetime:
    return at - (at - BASE) % step


@dataclass(frozen=True)
class Written:
    """A history as stored, in a scope without other data."""

    handle: Handle
    """Handle that reads this scope and the global one, which contains only the episodes."""
    prefix: str
    """Prefix of the event ids."""
    ids: dict[str, str]
    """Belief ids by claim."""
    evidence: tuple[Evidence, ...]
    """Evidence with stored ids, belief ids as claims, and strengths as they count."""
    thoughts: tuple[Thought, ...]
    retracts: tuple[Retract, ...]
    recorded: dict[str, datetime]
    """When each event was recorded."""

    def seen(self, known: datetime | None) -> list[Evidence]:
        """Return the known evidence without retracted events, for any valid time."""
        gone = retracted(self.retracts, known)
        return [e for e in self.evidence if e.id not in gone and self._known(e.id, known)]

    def of(self, belief_id: str, known: datetime | None) -> list[Evidence]:
        """Return the known evidence about one claim."""
        return [e for e in self.seen(known) if e.claim == belief_id]

    def initial(self, belief_id: str, as_of: AsOf) -> float:
        """Return the confidence before any evidence, as far as it is known."""
        visible = [t for t in self.thoughts if t.claim == belief_id and self._sees(t, as_of)]
        return min(visible, key=lambda t: (t.at, t.id)).confidence if visible else 0.5

    def existed(self, as_of: AsOf) -> dict[str, datetime]:
        """Return the time of the first event of each existing belief, retracted or not."""
        since: dict[str, datetime] = {}
        events: list[Evidence | Thought] = [*self.evidence, *self.thoughts]
        for event in events:
            if self._sees(event, as_of):
                since[event.claim] = min(event.at, since.get(event.claim, event.at))
        return since

    def moments(self) -> st.SearchStrategy[AsOf]:
        """Draw pairs of times: between any two events of the history, and before and after."""
        first = min(self.recorded.values(), default=BASE)
        knowns = [first - MICROSECOND, *sorted(self.recorded.values())]
        return st.builds(
            AsOf, valid=st.none() | instants, known=st.none() | st.sampled_from(knowns)
        )

    def _known(self, event_id: str, known: datetime | None) -> bool:
        return known is None or self.recorded[event_id] <= known

    def _sees(self, event: Evidence | Thought, as_of: AsOf) -> bool:
        return event.at <= (as_of.valid or END) and self._known(event.id, as_of.known)


class Archive:
    """A tenant with many histories, each in its own scope."""

    def __init__(self, memory: Handle, look: Look) -> None:
        self._memory, self._look = memory, look
        self._numbers = count()
        self.have_episodes(name for name in EPISODES if name)

    def have_episodes(self, names: Iterable[str]) -> None:
        """Create episodes that events may name."""
        for name in names:
            self._memory.episodes.add(episode_id=name)

    def write_long(self, evidence: Sequence[Evidence], episodes: int = 50) -> Written:
        """Write many events; their episodes are folded into a few, which are created."""
        names = {e.episode for e in evidence if e.episode}
        few = {name: f"long{place % episodes}" for place, name in enumerate(sorted(names))}
        self.have_episodes(set(few.values()))
        return self.write(
            [replace(e, episode=few[e.episode]) if e.episode else e for e in evidence]
        )

    def next_prefix(self) -> str:
        """Return an unused prefix of event ids, which is also the name of a scope."""
        return f"h{next(self._numbers)}-"

    def scope(self, name: str) -> Handle:
        """Return a handle on a scope."""
        return self._memory.scope(name)

    def write(self, items: Sequence[Item], *, prefix: str = "") -> Written:
        """Write a history in the order given; items between retractions form one transaction."""
        prefix = prefix or self.next_prefix()
        handle = self.scope(prefix)
        deliver(handle, items, prefix=prefix)
        return written(handle, items, self._look, prefix=prefix)


def deliver(
    handle: Handle, items: Sequence[Item], *, prefix: str = "", subject: str = SUBJECT
) -> None:
    """Write items in the order given, with a prefix on their ids."""
    context = handle._state.context
    prefix = stored_prefix(handle, prefix)
    for undone, run in groupby(items, key=lambda item: isinstance(item, Undo)):
        if undone:
            for undo in (item for item in run if isinstance(item, Undo)):
                handle.beliefs.retract(
                    prefix + undo.target,
                    missing_ok=True,
                    origin=Origin(event_id=prefix + undo.id),
                    at=undo.at,
                )
            continue
        evidence = (item for item in run if not isinstance(item, Undo))
        drafts = [
            _draft(item, _claim(context.scope, item.claim, subject), prefix) for item in evidence
        ]
        for start in range(0, len(drafts), MAX_IN_A_BATCH):
            run_now(writing.append(context, drafts[start : start + MAX_IN_A_BATCH], embed=False))


def stored_prefix(handle: Handle, prefix: str) -> str:
    """Return the prefix under which events of a handle are stored."""
    context = handle._state.context
    return identity.given_event_id(context.scope, context.trust, prefix)


def written(handle: Handle, items: Sequence[Item], look: Look, *, prefix: str = "") -> Written:
    """Return the stored form of items that were delivered to a handle's scope."""
    prefix = stored_prefix(handle, prefix)
    tenant_scope = handle._state.context.tenant_scope
    named = {item.claim for item in items if not isinstance(item, Undo)}
    ids = {name: _claim(tenant_scope.scope, name).id for name in named}
    rows = look.rows(
        "MATCH (e:Event {tenant: $tenant}) WHERE e.id IN $ids "
        "RETURN e.id AS id, e.recorded_at AS recorded_at",
        tenant=tenant_scope.tenant,
        ids=[prefix + item.id for item in items],
    )
    recorded = {row["id"]: row["recorded_at"].to_native() for row in rows}
    return Written(
        handle=handle,
        prefix=prefix,
        ids=ids,
        evidence=tuple(
            replace(_counted(item), id=prefix + item.id, claim=ids[item.claim])
            for item in items
            if isinstance(item, Evidence)
        ),
        thoughts=tuple(
            replace(item, id=prefix + item.id, claim=ids[item.claim])
            for item in items
            if isinstance(item, Thought)
        ),
        retracts=tuple(
            Retract(prefix + item.id, prefix + item.target, item.at, recorded[prefix + item.id])
            for item in items
            if isinstance(item, Undo)
        ),
        recorded=recorded,
    )


def clocked(memory: Handle, at: datetime = END) -> Handle:
    """Return the same handle with a frozen clock."""
    return on(memory, clock=FrozenClock(at))


def _claim(scope: str, claim: str, subject: str = SUBJECT) -> Claim:
    return claims.triple_claim(scope, subject, PREDICATE, claim)


def _counted(e: Evidence) -> Evidence:
    if e.strength is None:
        return e
    strength = clamp_strength(e.strength)
    return replace(e, strength=strength, confidence=max(0.0, 2 * strength - 1))


def _draft(item: Evidence | Thought, claim: Claim, prefix: str) -> EvidenceDraft:
    named: dict[str, Any] = {"event_id": prefix + item.id, "at": item.at}
    triple: dict[str, Any] = {
        "subject": claim.subject,
        "predicate": claim.predicate,
        "object": claim.object,
    }
    if isinstance(item, Thought):
        thought = Hypothesis(confidence=item.confidence, **triple, **named)
        return claims.draft_hypothesis(thought, claim.scope, END)
    named |= {
        "kind": EvidenceKind.SUPPORTING if item.polarity > 0 else EvidenceKind.REFUTING,
        "episode_id": item.episode,
    }
    if item.strength is not None:
        return claims.draft_evidence(BeliefEvidence(strength=item.strength, **named), claim, END)
    source = SOURCES[item.weight]
    seen = Observation(confidence=item.confidence, source_type=source, **triple, **named)
    return claims.draft_observation(seen, claim.scope, END)
