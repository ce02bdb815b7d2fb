"""Random histories of evidence by two writers, held against a model read by the numpy oracles."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import hypothesis
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)

from graphmem import Handle
from graphmem.errors import (
    EventConflictError,
    ForeignScopeError,
    NotFoundError,
    RefusedError,
    SelfSupersessionError,
    SupersededBeliefError,
)
from graphmem.model import (
    AsOf,
    Cardinality,
    Combine,
    EvidenceKind,
    Origin,
    Policy,
    PolicyOrigin,
    Slot,
)
from graphmem.rules import claims, formulas, identity
from graphmem.rules.claims import Claim
from graphmem.rules.formulas import Evidence
from tests.oracles import flips, projection
from tests.oracles import sequential as sequential_oracle
from tests.plugins.belief_model import SEES, Kept, Model, Moment, told
from tests.plugins.clients import on_tenant
from tests.plugins.examples import examples
from tests.plugins.graph import Look, fresh_tenant, has_cycle
from tests.plugins.histories import clocked
from tests.plugins.texts import unlike

MAY = datetime(2025, 5, 5, tzinfo=UTC)
NOW = MAY + timedelta(days=9)
EPISODES = ("monday", "friday")
SLOTS = (("alice", "works on"), ("alice", "likes"), ("alice", "Lives-in"))

instants = st.integers(0, 4).map(lambda n: MAY + timedelta(hours=n))
scopes = st.sampled_from(sorted(SEES))
kinds = st.sampled_from(["supporting", "supporting", "refuting"])
confidences = st.sampled_from([0.0, 0.5, 0.7, 0.9, 1.0])
strengths = st.sampled_from([-3, 0.3, 0.5, 0.85, 0.9, 1])
statements = st.sampled_from(["It rains", "It pours", "It is wet", " It  rains"])
twice = st.sampled_from([False, False, True])
triples = st.tuples(
    st.sampled_from(["alice", "ALICE"]),
    st.sampled_from(["works_on", "Works-On", "Likes", "lives_in"]),
    st.sampled_from(["Atlas", "Borealis", "ATLAS"]),
)
observations = st.fixed_dictionaries(
    {
        "kind": kinds,
        "confidence": confidences,
        "source_type": st.sampled_from(["TOOL", "RULE", "EXTRACTOR"]),
        "episode_id": st.sampled_from([None, *EPISODES]),
    }
)
assertions = st.fixed_dictionaries(
    {"confidence": confidences, "source_type": st.sampled_from(["TOOL", "EXTRACTOR"])}
)
policies = st.fixed_dictionaries(
    {"cardinality": st.sampled_from(["ONE", "ONE", "MANY"])},
    optional={
        "kappa": st.sampled_from([0, 0.5]),
        "tau_days": st.just(0.05),
        "decay_per_day": st.just(0.1),
        "margin": st.sampled_from([0, 0.3]),
        "combine": st.sampled_from(["net", "log_odds"]),
    },
)
templates = st.sampled_from([None, "{subject} toils on {object}", "{object}, {subject}"])
hypotheses = st.one_of(
    st.tuples(st.none(), triples),
    st.tuples(statements, st.none()),
    st.tuples(statements, st.none()),
    st.tuples(st.just("So it is"), triples),
)
"""A statement, a triple, or both."""


class Writers(RuleBasedStateMachine):
    """Two writers, one in `global`, one in a scope of her own, at instants in any order."""

    beliefs = Bundle("beliefs")
    events = Bundle("events")

    def __init__(self, memory: Handle, look: Look) -> None:
        super().__init__()
        self.tenant = fresh_tenant()
        self.look = look
        shared = clocked(on_tenant(memory, self.tenant), NOW)
        self.handles = {name: shared.scope(name) for name in SEES}
        for name in EPISODES:
            shared.episodes.add(episode_id=name, at=MAY)
        self.model = Model()
        self.sent = 0

    def next_id(self, scope: str, ahead: int = 0) -> str:
        if not ahead:
            self.sent += 1
        # Ids that do not sort as they were made, so that ties are broken by the id alone.
        given = f"e{(self.sent + ahead) * 7 % 10}-{self.sent + ahead}"
        return identity.given_event_id(scope, "person", given)

    # What is written.

    @rule(
        name=st.sampled_from(["works_on", "Works On", "likes", "lives-in"]),
        given=policies,
        template=templates,
        at=instants,
        start=st.sampled_from([None, None, MAY + timedelta(hours=2)]),
        again=twice,
    )
    def declare(
        self,
        name: str,
        given: dict[str, Any],
        template: str | None,
        at: datetime,
        start: datetime | None,
        *,
        again: bool,
    ) -> None:
        event_id = self.next_id("global")
        self.model.declare(event_id, name, at, Policy(**given), template, start)
        for _ in range(1 + again):
            done = self.handles["global"].predicates.declare(
                name,
                template=template,
                at=at,
                origin=Origin(event_id=event_id),
                valid_from=start,
                **given,
            )
        newest = max(self.model.declared[claims.predicate_key(name)], key=lambda d: d[:2])
        found = (done.occurred_at, done.event_id, done.policy, done.template, done.name)
        assert (*found, done.valid_from) == newest

    @rule(target=beliefs, scope=scopes, parts=triples, said=observations, at=instants, again=twice)
    def observe(
        self,
        scope: str,
        parts: tuple[str, str, str],
        said: dict[str, Any],
        at: datetime,
        *,
        again: bool,
    ) -> Any:
        event_id = self.next_id(scope)
        claim = self.model.claim(scope, parts)
        self.model.observe(event_id, claim, at, said)
        for repeated in (False, True)[: 1 + again]:
            done = self.handles[scope].observe(*parts, at=at, event_id=event_id, **said)
            assert (done.belief_id, done.event_id, done.repeated) == (claim.id, event_id, repeated)
        return claim.id

    @rule(
        target=beliefs,
        scope=scopes,
        told=st.lists(st.tuples(triples, observations, instants), min_size=1, max_size=4),
        again=twice,
    )
    def observe_many(
        self, scope: str, told: list[tuple[Any, dict[str, Any], datetime]], *, again: bool
    ) -> Any:
        made = []
        for parts, said, at in told:
            event_id = self.next_id(scope)
            self.model.observe(event_id, self.model.claim(scope, parts), at, said)
            names = dict(zip(("subject", "predicate", "object"), parts, strict=True))
            made.append({**names, **said, "at": at, "event_id": event_id})
        made += made[: 1 + again]
        done = self.handles[scope].observe_many(made)
        assert [r.event_id for r in done] == [one["event_id"] for one in made]
        assert [r.repeated for r in done] == [False] * len(told) + [True] * (len(made) - len(told))
        return multiple(*{r.belief_id for r in done})

    @rule(
        target=beliefs,
        scope=scopes,
        text=st.sampled_from([unlike(n) for n in range(3)]),
        asserted=st.lists(triples, min_size=1, max_size=3),
        said=assertions,
        at=instants,
        again=twice,
    )
    def remember(
        self,
        scope: str,
        text: str,
        asserted: list[tuple[str, str, str]],
        said: dict[str, Any],
        at: datetime,
        *,
        again: bool,
    ) -> Any:
        """Remember a text that asserts something."""
        event_id = self.next_id(scope)
        made: dict[str, Claim] = {}
        for parts in asserted:
            claim = self.model.claim(scope, parts)
            made.setdefault(claim.id, claim)
        self.model.remember(event_id, scope, text, made.values(), at, said)
        for _ in range(1 + again):
            done = self.handles[scope].remember(
                text, claims=asserted, at=at, event_id=event_id, **said
            )
            assert (done.belief_ids, done.event_id) == (tuple(sorted(made)), event_id)
        return multiple(*made)

    @rule(
        target=beliefs,
        scope=scopes,
        thought=hypotheses,
        confidence=confidences,
        at=instants,
        again=twice,
    )
    def believe(
        self,
        scope: str,
        thought: tuple[str | None, Any],
        confidence: float,
        at: datetime,
        *,
        again: bool,
    ) -> Any:
        event_id = self.next_id(scope)
        claim = self.claim_of(scope, thought)
        self.model.believe(event_id, claim, at, confidence)
        for repeated in (False, True)[: 1 + again]:
            done = self.handles[scope].believe(
                thought[0], **named(thought[1]), confidence=confidence, at=at, event_id=event_id
            )
            assert (done.belief_id, done.repeated) == (claim.id, repeated)
        return claim.id

    @rule(belief=beliefs, confidence=confidences, at=instants)
    def believe_again(self, belief: str, confidence: float, at: datetime) -> None:
        """State what is there once more, which brings it back when it was superseded before."""
        claim = self.model.kept[belief].claim
        if claim.subject is None:
            thought: tuple[str | None, Any] = (claim.statement, None)
        else:
            thought = (None, (claim.subject, claim.predicate, claim.object))
        done = self.believe(
            scope=claim.scope, thought=thought, confidence=confidence, at=at, again=False
        )
        assert done == belief

    @rule(scope=scopes, belief=beliefs, kind=kinds, strength=strengths, at=instants, again=twice)
    def testify(
        self, scope: str, belief: str, kind: str, strength: float, at: datetime, *, again: bool
    ) -> None:
        event_id = self.next_id(scope)

        def act() -> Any:
            into = self.handles[scope]
            return into.add_evidence(belief, EvidenceKind(kind), strength, at=at, event_id=event_id)

        wrong = self.is_closed(scope, [belief])
        if wrong:
            return refused(act, wrong)
        self.model.testify(event_id, self.model.kept[belief], at, kind, strength)
        for repeated in (False, True)[: 1 + again]:
            done = act()
            assert (done.clamped, done.repeated) == (not 0.1 <= strength <= 0.9, repeated)
            assert done.counts_against is (strength < 0.5)
        return None

    @rule(
        scope=scopes,
        back=st.integers(1, 6),
        ahead=st.sampled_from([0, 0, 0, 2, 3]),
        at=instants,
        again=twice,
    )
    def retract(self, scope: str, back: int, ahead: int, at: datetime, *, again: bool) -> None:
        """Take back one of the last events, or one that may come yet."""
        known = [e for e in self.model.events if not e.startswith("believe_")]
        if not known and not ahead:
            return None
        target = self.next_id(scope, ahead) if ahead else known[-min(back, len(known))]
        event_id = self.next_id(scope)

        def act() -> Any:
            return self.handles[scope].beliefs.retract(
                target, missing_ok=True, at=at, origin=Origin(event_id=event_id)
            )

        found = self.model.events.get(target)
        if found is not None and found.scope in SEES[scope]:
            if found.scope != scope:
                return refused(act, ForeignScopeError)
            if found.kind not in ("EVIDENCE", "POLICY", "RETRACT", "ADD", "REINFORCE_EXACT"):
                return refused(act, RefusedError)
        self.model.retract(event_id, scope, target, at)
        for repeated in (False, True)[: 1 + again]:
            done = act()
            assert (done.found, done.repeated) == (
                found is not None and found.scope == scope,
                repeated,
            )
        return None

    @rule(
        target=beliefs,
        scope=scopes,
        older=beliefs,
        thought=hypotheses,
        confidence=confidences,
        at=instants,
        again=twice,
    )
    def revise(
        self,
        scope: str,
        older: str,
        thought: tuple[str | None, Any],
        confidence: float,
        at: datetime,
        *,
        again: bool,
    ) -> Any:
        event_id = self.next_id(scope)

        def act() -> Any:
            return self.handles[scope].beliefs.revise(
                older,
                thought[0],
                **named(thought[1]),
                confidence=confidence,
                at=at,
                origin=Origin(event_id=event_id),
            )

        newer = [(self.claim_of(scope, thought), confidence)]
        return self.replaced(act, event_id, "REVISE", scope, at, [older], newer, again=again)

    @rule(
        target=beliefs,
        scope=scopes,
        older=beliefs,
        into=st.lists(statements, min_size=2, max_size=3).filter(
            lambda into: len({claims.statement_claim("", s).id for s in into}) > 1
        ),
        at=instants,
        again=twice,
    )
    def split(self, scope: str, older: str, into: list[str], at: datetime, *, again: bool) -> Any:
        event_id = self.next_id(scope)

        def act() -> Any:
            return self.handles[scope].beliefs.split(
                older, into, at=at, origin=Origin(event_id=event_id)
            )

        made: dict[str, Claim] = {}
        for statement in into:
            claim = claims.statement_claim(scope, statement)
            made.setdefault(claim.id, claim)
        newer = [(claim, 0.5) for claim in made.values()]
        return self.replaced(act, event_id, "SPLIT", scope, at, [older], newer, again=again)

    @rule(
        target=beliefs,
        scope=scopes,
        one=beliefs,
        two=beliefs,
        into=statements,
        at=instants,
        again=twice,
    )
    def merge(self, scope: str, one: str, two: str, into: str, at: datetime, *, again: bool) -> Any:
        if one == two:
            return multiple()
        event_id = self.next_id(scope)

        def act() -> Any:
            return self.handles[scope].beliefs.merge(
                [one, two], into, at=at, origin=Origin(event_id=event_id)
            )

        newer = [(claims.statement_claim(scope, into), 0.5)]
        return self.replaced(act, event_id, "MERGE", scope, at, [one, two], newer, again=again)

    def replaced(
        self,
        act: Callable[[], Any],
        event_id: str,
        kind: str,
        scope: str,
        at: datetime,
        older: Sequence[str],
        newer: Sequence[tuple[Claim, float]],
        *,
        again: bool,
    ) -> Any:
        """Put beliefs in the place of others, unless that must be refused."""
        wrong: type[Exception] | None = None
        if {claim.id for claim, _ in newer} & set(older):
            wrong = SelfSupersessionError
        wrong = wrong or self.is_closed(scope, older, superseded=SupersededBeliefError)
        if wrong:
            refused(act, wrong)
            return multiple()
        kept = [self.model.kept[belief] for belief in older]
        self.model.replace(event_id, kind, at, kept, newer)
        for repeated in (False, True)[: 1 + again]:
            done = act()
            assert done.newer_ids == tuple(claim.id for claim, _ in newer)
            assert (done.older_ids, done.repeated) == (tuple(older), repeated)
        return multiple(*done.newer_ids)

    def claim_of(self, scope: str, thought: tuple[str | None, Any]) -> Claim:
        statement, parts = thought
        if parts is None:
            return claims.statement_claim(scope, str(statement))
        return self.model.claim(scope, parts, statement)

    def is_closed(
        self, scope: str, beliefs: Sequence[str], superseded: type[Exception] | None = None
    ) -> type[Exception] | None:
        """Return how a handle is refused to act on beliefs, by the first that is closed to it."""
        for belief in beliefs:
            kept = self.model.kept[belief]
            if kept.claim.scope not in SEES[scope]:
                return NotFoundError
            if kept.claim.scope != scope:
                return ForeignScopeError
            if superseded and kept.status() == "superseded":
                return superseded
        return None

    # What is read.

    @invariant()
    def every_reader_is_shown_what_the_model_has(self) -> None:
        self.compared(Moment(NOW))

    @rule(valid=instants)
    def look_back(self, valid: datetime) -> None:
        self.compared(Moment(valid), AsOf(valid=valid))

    def compared(self, when: Moment, as_of: AsOf | None = None) -> None:
        """Hold all that both readers are shown at a pair of times to the model."""
        for scope, handle in self.handles.items():
            for subject, predicate in SLOTS:
                slot = handle.current(subject.upper(), f" {predicate}", as_of=as_of)
                like_slot(slot, self.model.slot(scope, subject, predicate, when))
            listed = handle.beliefs.slots(limit=100, top=100, as_of=as_of).slots
            for slot, wanted in zip(listed, self.model.slots(scope, when), strict=True):
                like_slot(slot, wanted)
            for superseded in (False, True):
                page = handle.beliefs.list(limit=1_000, include_superseded=superseded, as_of=as_of)
                expected = self.model.cards(scope, when, superseded=superseded)
                assert [b.id for b in page.beliefs] == [card["id"] for card in expected]
                for found, card in zip(page.beliefs, expected, strict=True):
                    alike(found.model_dump(exclude={"recorded_at"}), card)

    @rule(
        scope=scopes,
        belief=beliefs,
        valid=st.none() | instants,
        pooled=st.booleans(),
        supposed=st.lists(
            st.tuples(kinds, strengths, st.none() | instants, st.sampled_from([None, *EPISODES])),
            max_size=3,
        ),
        left_out=st.integers(0, 2),
    )
    def ask_why(
        self,
        scope: str,
        belief: str,
        valid: datetime | None,
        supposed: list[tuple[str, float, datetime | None, str | None]],
        left_out: int,
        *,
        pooled: bool,
    ) -> None:
        handle, kept = self.handles[scope], self.model.kept[belief]
        when = Moment(valid or NOW)
        as_of = AsOf(valid=valid)
        if kept.claim.scope not in SEES[scope]:
            for ask in (handle.evidence_for, handle.beliefs.what_if, handle.beliefs.get):
                refused(partial(ask, belief), NotFoundError)
            return
        if kept.since(when) is None:
            refused(lambda: handle.beliefs.get(belief, as_of=as_of), NotFoundError)
            return
        card = handle.beliefs.get(belief, as_of=as_of)
        alike(card.model_dump(exclude={"recorded_at"}), self.model.card(kept, when))
        heard = self.model.visible(kept, when)
        trail = handle.evidence_for(belief, pooled=pooled, as_of=as_of, limit=1_000)
        like_trail(trail, kept, heard, when, pooled=pooled)
        wanted, found = (
            flips.flip_set(heard),
            handle.beliefs.flip_set(belief, as_of=as_of).event_ids,
        )
        assert (found is None) is (wanted is None)
        assert len(found or ()) == len(wanted or ())

        left = [e.id for e in heard[:left_out]]
        extra = [
            {"kind": kind, "strength": strength, "at": at, "episode_id": episode}
            for kind, strength, at, episode in supposed
        ]
        would = handle.beliefs.what_if(belief, extra, without=left, pooled=pooled, as_of=as_of)
        pieces = [e for e in heard if e.id not in left] + [
            told(f"supposed {n}", belief, at or when.valid, kind, strength, episode)
            for n, (kind, strength, at, episode) in enumerate(supposed)
        ]
        like_trail(would, kept, pieces, when, pooled=pooled)

    @invariant()
    def the_edges_are_those_of_the_model_and_make_no_cycle(self) -> None:
        edges = self.look.edges(self.tenant)
        found = {(e.newer, e.older, e.event_id, e.in_force) for e in edges}
        assert found == self.model.links()
        assert not has_cycle(edges)

    @rule(event=st.integers(1, 9))
    def send_another_thing_under_an_id_that_is_taken(self, event: int) -> None:
        known = [one.id for one in self.model.events.values() if one.scope == "global"]
        # An id that graphmem derives is not taken by who gives it.
        if known := [one for one in known if not identity.is_made(one)]:
            taken = known[-min(event, len(known))]
            refused(
                lambda: self.handles["global"].observe("x", "y", "z", event_id=taken),
                EventConflictError,
            )

    def teardown(self) -> None:
        self.every_event_is_there_once()
        assert self.handles["alice"].admin.verify().wrong == ()
        self.what_was_known_is_read_again()

    def every_event_is_there_once(self) -> None:
        found = self.look.events(self.tenant)
        assert {e["id"]: e["scope"] for e in found.values()} == {
            e.id: e.scope for e in self.model.events.values()
        }
        assert {e["id"]: e["type"] for e in found.values()} == {
            e.id: e.kind for e in self.model.events.values()
        }

    def what_was_known_is_read_again(self) -> None:
        """As of when the first half of the events was known, in their own time and later."""
        found = self.look.events(self.tenant)
        recorded = {name: e["recorded_at"].to_native() for name, e in found.items()}
        inorder = sorted(recorded.values())
        for known in inorder[len(inorder) // 2 :][:1] + inorder[-1:]:
            for valid in (NOW, MAY + timedelta(hours=2)):
                when = Moment(valid, known, recorded)
                self.compared(when, AsOf(valid=valid, known=known))


def named(parts: Any) -> dict[str, Any]:
    """Return a triple as a call takes it."""
    if parts is None:
        return {}
    return dict(zip(("subject", "predicate", "object"), parts, strict=True))


def refused(act: Callable[[], Any], how: type[Exception]) -> None:
    with pytest.raises(how) as caught:
        act()
    assert caught.type is how


def alike(found: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    """Numbers may differ in the ninth digit, nothing else may."""
    assert found.keys() >= expected.keys()
    for name, value in expected.items():
        here = found[name]
        if isinstance(value, Mapping):
            alike(here, value)
        elif isinstance(value, float):
            assert math.isclose(here, value, rel_tol=0, abs_tol=1e-9), (name, here, value)
        else:
            assert here == value, (name, here, value)


def like_slot(slot: Slot, expected: Mapping[str, Any]) -> None:
    """Compare value by value; what is all but equal may stand in either order."""
    assert (slot.scope, slot.policy) == (expected["scope"], expected["policy"])
    wanted = {row["belief_id"]: row for row in expected["candidates"]}
    assert slot.total == len(slot.candidates) == len(wanted)
    for candidate in slot.candidates:
        row = dict(wanted[candidate.belief_id])
        row.pop("ambiguous")
        alike(candidate.model_dump(), row)
    states = [projection.State(c.belief_id, c.score, c.last_at, c.last_id) for c in slot.candidates]
    if slot.policy.cardinality is Cardinality.ONE:
        again = projection.ranked(states, slot.valid, margin=slot.policy.margin)
        assert [(c.belief_id, c.ambiguous) for c in slot.candidates] == [
            (c.claim, c.ambiguous) for c in again
        ]
    else:
        assert slot.policy.combine in Combine
        undeclared = slot.policy_origin is PolicyOrigin.DEFAULT
        assert states == projection.many_order(states, undeclared=undeclared)
        assert not slot.ambiguous


def like_trail(
    trail: Any, kept: Kept, pieces: Sequence[Evidence], when: Moment, *, pooled: bool
) -> None:
    initial = kept.initial(when)
    verdict = sequential_oracle.test(pieces, initial, pooled=pooled)
    assert (trail.belief_id, trail.initial_confidence) == (kept.claim.id, initial)
    assert [line.event_id for line in trail.lines] == [step.id for step in verdict.steps]
    for line, step in zip(trail.lines, verdict.steps, strict=True):
        assert line.occurred_at == step.at
        assert line.status == step.status
        for name in ("llr", "log_ratio", "confidence"):
            assert math.isclose(getattr(line, name), getattr(step, name), abs_tol=1e-9), name
        assert line.supposed is step.id.startswith("supposed")
    alike(
        trail.verdict.model_dump(),
        {
            "status": str(verdict.status),
            "log_ratio": verdict.log_ratio,
            "confidence": verdict.confidence,
            "evidence": len(verdict.steps),
        },
    )
    alike(trail.needed.model_dump(), formulas.evidence_needed(verdict).model_dump())


@pytest.mark.timeout(7_200)
def test_any_history_of_evidence_reads_as_the_model_says(plain: Handle, look: Look) -> None:
    class Here(Writers):
        def __init__(self) -> None:
            super().__init__(plain, look)

    run_state_machine_as_test(
        Here,
        settings=hypothesis.settings(max_examples=examples(3, 60, 400), stateful_step_count=15),
    )
