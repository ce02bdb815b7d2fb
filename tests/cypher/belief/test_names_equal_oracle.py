"""A slot is read under every name of its subject, its values by what their objects stand for."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem import Handle
from graphmem.errors import InvalidInputError, NameChainError, NotFoundError
from graphmem.model import AsOf, BeliefReasons, Cardinality, Origin, Policy, Slot
from graphmem.rules import claims
from graphmem.rules.formulas import Evidence
from tests.oracles.names import Naming, canonical, ways
from tests.plugins.belief_oracle import wrong_slot
from tests.plugins.clients import on_tenant
from tests.plugins.examples import few
from tests.plugins.graph import Look, fresh_tenant
from tests.plugins.histories import PREDICATE, Written, clocked, deliver, written
from tests.rules.strategies_histories import BASE, CLAIMS, EPISODES, histories, instants, policies

pytestmark = pytest.mark.timeout(3_600)

SUBJECTS = ("Ann", "anna", "Bob")
NAMES = (*SUBJECTS, *CLAIMS[:3])

Said = list[tuple[str, str | None, datetime]]
said_of_names = st.lists(
    st.tuples(st.sampled_from(NAMES), st.none() | st.sampled_from(NAMES), instants), max_size=6
)


@dataclass(frozen=True)
class Story:
    """What was said of slots and of names, as the store has it."""

    handle: Handle
    slots: dict[str, Written]
    """By folded subject."""
    namings: list[Naming]

    def joined(self, subject: str, as_of: AsOf, slot: Slot) -> Written:
        """Return the evidence of a subject by all its names, as of the values that a slot shows."""
        parts = [self.slots[k] for k in ways(subject, self.namings, as_of.known) if k in self.slots]
        value: dict[str, str] = {}
        for part in parts:
            for claim, belief_id in part.ids.items():
                value[belief_id] = canonical(claim, self.namings, as_of.known)
        shown = {value[c.belief_id]: c.belief_id for c in slot.candidates}
        assert len(shown) == len(slot.candidates)
        return Written(
            handle=self.handle,
            prefix="",
            ids={},
            evidence=tuple(
                replace(e, claim=shown.get(value[e.claim], e.claim))
                for part in parts
                for e in part.evidence
            ),
            thoughts=(),
            retracts=(),
            recorded={name: at for part in parts for name, at in part.recorded.items()},
        )


def told(plain: Handle, look: Look, evidence: list[Evidence], said: Said) -> Story:
    """Write evidence, in turn of the one and the other subject, and what is said of names."""
    handle = clocked(on_tenant(plain, fresh_tenant()))
    for name in EPISODES:
        if name:
            handle.episodes.add(episode_id=name)
    slots = {}
    for place, subject in enumerate(SUBJECTS):
        own = evidence[place :: len(SUBJECTS)]
        deliver(handle, own, prefix=f"{place}-", subject=subject)
        found = written(handle, own, look, prefix=f"{place}-")
        ids = {c: claims.triple_claim("global", subject, PREDICATE, c).id for c in found.ids}
        named = {found.ids[c]: ids[c] for c in ids}
        own_evidence = tuple(replace(e, claim=named[e.claim]) for e in found.evidence)
        slots[subject.casefold()] = replace(found, ids=ids, evidence=own_evidence)
    return Story(handle, slots, named_by(handle, look, said))


def named_by(handle: Handle, look: Look, said: Said) -> list[Naming]:
    """Say what may be said of names, and return it as the store has it."""
    for number, (name, other, at) in enumerate(said):
        with suppress(NameChainError, NotFoundError, InvalidInputError):
            if other is None:
                handle.aliases.remove(name, at=at, origin=Origin(event_id=f"n{number}"))
            else:
                handle.aliases.add(name, other, at=at, origin=Origin(event_id=f"n{number}"))
    rows = look.rows(
        "MATCH (e:Event {tenant: $tenant, type: 'SAME_AS'})-[:CONCERNS]->(n:Name) "
        "RETURN e.id AS id, n.key AS key, e.same_as AS same_as, e.occurred_at AS at, "
        "e.recorded_at AS recorded_at",
        tenant=handle._state.context.tenant,
    )
    times = ("at", "recorded_at")
    return [Naming(**{**row, **{t: row[t].to_native() for t in times}}) for row in rows]


@few
@given(
    evidence=histories(max_size=14),
    said=said_of_names,
    policy=policies,
    cardinality=st.sampled_from(Cardinality),
    valid=st.none() | instants,
    data=st.data(),
)
def test_a_slot_is_what_is_said_under_all_names(
    plain: Handle,
    look: Look,
    evidence: list[Evidence],
    said: Said,
    policy: Policy,
    cardinality: Cardinality,
    valid: datetime | None,
    data: st.DataObject,
) -> None:
    story = told(plain, look, evidence, said)
    by = policy.model_copy(update={"cardinality": cardinality})
    knowns = [at for slot in story.slots.values() for at in slot.recorded.values()]
    knowns += [one.recorded_at for one in story.namings]
    as_of = AsOf(valid=valid, known=data.draw(st.none() | st.sampled_from(knowns or [BASE])))
    for subject in SUBJECTS:
        slot = story.handle.current(subject, PREDICATE, as_of=as_of, policy=by)
        key = subject.casefold()
        assert set(slot.names) == set(ways(key, story.namings, as_of.known)) - {key}
        assert wrong_slot(story.joined(key, as_of, slot), slot, as_of) == []
        # Every other way to the slot's values leads to the same numbers.
        scores = {c.belief_id: c.belief for c in slot.candidates}
        pages = story.handle.beliefs.slots(subject, top=100, as_of=as_of, policy=by).slots
        assert [one.candidates for one in pages] in ([], [slot.candidates])
        series = story.handle.beliefs.timeline(subject, PREDICATE, as_of=as_of, policy=by).series
        assert {s.belief_id: s.points[-1].belief for s in series} == pytest.approx(scores)
        if cardinality is Cardinality.ONE:
            for belief_id, score in scores.items():
                one = story.handle.beliefs.get(belief_id, as_of=as_of, policy=by)
                assert one.belief == pytest.approx(score)
                why = story.handle.why(belief_id, as_of=as_of, policy=by)
                assert isinstance(why, BeliefReasons)
                assert why.belief.belief == pytest.approx(score)
