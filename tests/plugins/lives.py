"""Histories of beliefs: evidence from several sources, accesses and flags, and their visibility."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import count, groupby

from hypothesis import strategies as st

from graphmem import Handle
from graphmem.model import AsOf, EventSource, EventType, Origin, Status, Vitality
from graphmem.operations.evidence import recording, writing
from graphmem.ports import RequestContext, run_now
from graphmem.rules import claims, vitality
from graphmem.usage import access_log
from tests.oracles import lineage, projection
from tests.oracles import vitality as vitality_oracle
from tests.oracles.lineage import Effect
from tests.oracles.vitality import Life, Mark, Piece
from tests.plugins.graph import Look
from tests.plugins.histories import (
    PREDICATE,
    SUBJECT,
    Item,
    Undo,
    Written,
    _draft,
    accounts,
    clocked,
    stored_prefix,
    written,
)
from tests.rules.strategies_histories import BASE, END, EPISODES, instants

IMPORTANCE = {"monday": 0.9, "friday": 0.25}
"""Importance of the episodes that evidence occurs in."""
ELSEWHERE = "elsewhere"
"""A scope that no reader of these histories sees."""
FLAGS = (EventType.FLAG, EventType.RESOLVE)
STATUS = {EventType.ARCHIVE: Status.ARCHIVED, EventType.RESTORE: Status.CURRENT}


@dataclass(frozen=True, slots=True)
class Glance:
    """An access to a claim."""

    id: str
    claim: str
    at: datetime
    unseen: bool
    """Whether it is in a scope that the reader does not see."""


@dataclass(frozen=True, slots=True)
class Return:
    """A search that returned a claim."""

    id: str
    claim: str
    at: datetime
    session: str | None
    """Session of the search; None outside a session."""


@dataclass(frozen=True, slots=True)
class Sign:
    """A mark: FLAG, RESOLVE, ARCHIVE or RESTORE."""

    id: str
    claim: str
    at: datetime
    type: EventType


@dataclass(frozen=True, slots=True)
class Story:
    """Events to be written: evidence and its sources, accesses and marks."""

    items: tuple[Item, ...]
    inferred: frozenset[str]
    """Ids of the events written by consolidation."""
    glances: tuple[Glance, ...]
    signs: tuple[Sign, ...]
    returns: tuple[Return, ...] = ()


@st.composite
def stories(draw: st.DrawFn) -> Story:
    """Draw evidence, its sources, accesses and marks, in the order of their delivery."""
    items = draw(accounts(names=("atlas", "borealis")))
    ids = [item.id for item in items if not isinstance(item, Undo)]
    named = sorted({item.claim for item in items if not isinstance(item, Undo)})
    inferred = draw(st.sampled_from([set(), set(ids)]) | st.sets(st.sampled_from(ids or ["none"])))
    # Many of them at timestamps of the evidence.
    when = instants | st.sampled_from([item.at for item in items] or [END])
    if not named:
        return Story(tuple(items), frozenset(inferred), (), ())
    about, kinds = st.sampled_from(named), st.sampled_from([*FLAGS, *STATUS])
    looks = draw(st.permutations(range(draw(st.integers(0, 6)))))
    marks = draw(st.permutations(range(draw(st.integers(0, 6)))))
    glances = [Glance(f"a{n}", draw(about), draw(when), draw(st.booleans())) for n in looks]
    signs = [Sign(f"f{n}", draw(about), draw(when), draw(kinds)) for n in marks]
    session = st.sampled_from(["morning", "evening", None])
    returns = [
        Return(f"s{n}", draw(about), draw(when), draw(session))
        for n in range(draw(st.integers(0, 5)))
    ]
    return Story(tuple(items), frozenset(inferred), tuple(glances), tuple(signs), tuple(returns))


@dataclass(frozen=True)
class Lived:
    """A story as stored, in a scope without other data."""

    story: Story
    written: Written
    recorded: dict[str, datetime]
    """When each event was recorded."""

    def seen(self, belief_id: str, as_of: AsOf) -> Life | None:
        """Return the visible history of a belief; None if the belief does not exist."""
        since = [at for claim, at in self._since(as_of) if claim == belief_id]
        if not since:
            return None
        valid, prefix = as_of.valid or END, self.written.prefix
        glances = [g for g in self.story.glances if self._sees(g, as_of) and not g.unseen]
        signs = [s for s in self.story.signs if self._sees(s, as_of)]
        thoughts = [t for t in self.written.thoughts if self._sees(t, as_of)]
        own = projection.visible(self.written.of(belief_id, as_of.known), valid)
        ids = self.written.ids
        return Life(
            created_at=min(since),
            initial=self.written.initial(belief_id, as_of),
            pieces=[
                Piece(e, self._source(e.id), None if e.episode is None else IMPORTANCE[e.episode])
                for e in own
            ],
            accesses=[g.at for g in glances if ids[g.claim] == belief_id],
            returns=[
                [
                    r.at
                    for r in self.story.returns
                    if r.session == session and ids[r.claim] == belief_id and self._sees(r, as_of)
                ]
                for session in ("morning", "evening")
            ],
            marks=[
                Mark(prefix + s.id, s.type, s.at)
                for s in signs
                if ids[s.claim] == belief_id and s.type in FLAGS
            ],
            stated_by=[self._source(t.id) for t in thoughts if t.claim == belief_id],
        )

    def status(self, belief_id: str, as_of: AsOf) -> Status:
        """Return the status by the oracle from statements, archivings and restorations."""
        ids, prefix = self.written.ids, self.written.prefix
        thoughts = [t for t in self.written.thoughts if self._sees(t, as_of)]
        signs = [s for s in self.story.signs if self._sees(s, as_of) and s.type in STATUS]
        stated = [
            Effect(t.at, t.id, Status.CURRENT, is_statement=True)
            for t in thoughts
            if t.claim == belief_id
        ]
        marked = [
            Effect(s.at, prefix + s.id, STATUS[s.type]) for s in signs if ids[s.claim] == belief_id
        ]
        return lineage.status_of([*stated, *marked])

    def moments(self) -> st.SearchStrategy[AsOf]:
        """Draw pairs of times: between any two events, and before and after."""
        # Reads refuse a known time in the future, which is all that an empty story has.
        known = st.sampled_from([None, *sorted(self.recorded.values())])
        return st.builds(AsOf, valid=st.none() | instants, known=known)

    def expected(self, belief_id: str, as_of: AsOf) -> Vitality | None:
        """Return the vitality by the oracle."""
        life = self.seen(belief_id, as_of)
        return None if life is None else vitality_oracle.vitality(life, as_of.valid or END)

    def _since(self, as_of: AsOf) -> Iterator[tuple[str, datetime]]:
        yield from self.written.existed(as_of).items()
        for sign in self.story.signs:
            if self._sees(sign, as_of):
                yield self.written.ids[sign.claim], sign.at

    def _sees(self, event: object, as_of: AsOf) -> bool:
        at, event_id = event.at, event.id  # type: ignore[attr-defined]
        recorded = self.recorded[event_id.removeprefix(self.written.prefix)]
        return at <= (as_of.valid or END) and (as_of.known is None or recorded <= as_of.known)

    def _source(self, event_id: str) -> str:
        inferred = event_id.removeprefix(self.written.prefix) in self.story.inferred
        return vitality.STANDARD_VITALITY.consolidation if inferred else "manual"


class Shelf:
    """A tenant with many stories, each in its own scope."""

    def __init__(self, memory: Handle, look: Look) -> None:
        self._memory, self._look = clocked(memory), look
        self._numbers = count()
        for name in filter(None, EPISODES):
            self._memory.episodes.add(episode_id=name, importance=IMPORTANCE[name])

    def write(self, story: Story, *, backwards: bool = False) -> Lived:
        """Write a story: evidence first, then accesses and marks."""
        turn = -1 if backwards else 1
        prefix = f"l{next(self._numbers)}-"
        handle = self._memory.scope(prefix)
        context, scope = handle._state.context, prefix
        prefix = stored_prefix(handle, prefix)
        for undone, run in groupby(story.items[::turn], key=lambda item: isinstance(item, Undo)):
            items = list(run)
            if undone:
                for undo in items:
                    assert isinstance(undo, Undo)
                    key = prefix + undo.id
                    handle.beliefs.retract(
                        prefix + undo.target,
                        missing_ok=True,
                        origin=Origin(event_id=key),
                        at=undo.at,
                    )
                continue
            drafts = [_sourced(item, scope, prefix, item.id in story.inferred) for item in items]
            run_now(writing.append(context, drafts, embed=False))
        for glance in story.glances[::turn]:
            run_now(
                access_log.write(context.services, [_access(glance, context.tenant, scope, prefix)])
            )
        self._search(context, story.returns[::turn], prefix)
        for sign in story.signs[::turn]:
            source = EventSource(event_id=prefix + sign.id, at=sign.at)
            belief_id = claims.triple_claim(scope, SUBJECT, PREDICATE, sign.claim).id
            run_now(recording.mark(context, sign.type, belief_id, source))
        return self._lived(story, handle, prefix)

    def _search(self, context: RequestContext, returns: Sequence[Return], prefix: str) -> None:
        scope = context.scope
        starts = {
            name: access_log.SessionStart(
                context.tenant, f"{prefix}{name}", scope, BASE, session_id=name, agent=None
            )
            for name in sorted({one.session for one in returns if one.session})
        }
        searches = [
            access_log.SearchEntry(
                tenant=context.tenant,
                event_id=f"{prefix}{one.id}",
                scope=scope,
                at=one.at,
                actor=None,
                tool="recall",
                query="who",
                found=(
                    access_log.SearchHit(
                        "Belief", claims.triple_claim(scope, SUBJECT, PREDICATE, one.claim).id
                    ),
                ),
                within=one.session and f"{prefix}{one.session}",
            )
            for one in returns
        ]
        run_now(access_log.write(context.services, [*starts.values(), *searches]))

    def _lived(self, story: Story, handle: Handle, prefix: str) -> Lived:
        rows = self._look.rows(
            "MATCH (e:Event {tenant: $tenant}) WHERE e.id STARTS WITH $prefix "
            "RETURN e.id AS id, e.recorded_at AS recorded_at",
            tenant=handle._state.context.tenant,
            prefix=prefix,
        )
        recorded = {row["id"].removeprefix(prefix): row["recorded_at"].to_native() for row in rows}
        return Lived(story, written(handle, list(story.items), self._look, prefix=prefix), recorded)


def _sourced(item: Item, scope: str, prefix: str, inferred: bool) -> claims.EvidenceDraft:  # noqa: FBT001
    draft = _draft(item, claims.triple_claim(scope, SUBJECT, PREDICATE, item.claim), prefix)  # type: ignore[arg-type, union-attr]
    if not inferred:
        return draft
    source = {"source": vitality.STANDARD_VITALITY.consolidation}
    return replace(draft, given=draft.given.model_copy(update=source))


def _access(glance: Glance, tenant: str, scope: str, prefix: str) -> access_log.AccessEntry:
    return access_log.AccessEntry(
        tenant=tenant,
        event_id=f"{prefix}{glance.id}",
        scope=ELSEWHERE if glance.unseen else scope,
        label="Belief",
        item_id=claims.triple_claim(scope, SUBJECT, PREDICATE, glance.claim).id,
        at=glance.at,
        actor=None,
    )


def wrong_life(found: Vitality | None, expected: Vitality | None) -> list[str]:
    """Return the differences between the vitality read and the expected one."""
    if found is None or expected is None:
        return [] if found is expected else [f"{found}, not {expected}"]
    problems = []
    for name in Vitality.model_fields:
        a, b = getattr(found, name), getattr(expected, name)
        same = abs(a - b) < 1e-9 if isinstance(b, float) else a == b
        if not same:
            problems.append(f"{name} {a}, not {b}")
    return problems
