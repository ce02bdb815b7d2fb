"""How beliefs came about: chains, histories and origins, at any pair of times."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphmem import Handle, Message
from graphmem.errors import InvalidInputError, NotFoundError, RefusedError
from graphmem.model import (
    AsOf,
    BeliefCard,
    ChainLink,
    EvidenceKind,
    EvidenceReceipt,
    Origin,
    RetractionReceipt,
    Status,
)
from graphmem.rules.read_options import FOREVER
from tests.oracles import lineage
from tests.oracles.lineage import Effect
from tests.oracles.retraction import Retract, retracted
from tests.plugins.clients import on_tenant
from tests.plugins.examples import examples
from tests.plugins.graph import Look, fresh_tenant
from tests.plugins.origins import with_origin
from tests.plugins.texts import unlike

MAY = datetime(2025, 5, 5, tzinfo=UTC)
HOUR = timedelta(hours=1)
EXAMPLES = examples(10, 100, 1_000)
STATEMENTS = [unlike(n, about=f"topic{n}") for n in range(4)]
ACTS = ("believe", "evidence", "evidence", "revise", "revise", "split", "merge", "retract")

Step = tuple[str, int, list[int], int]
steps = st.tuples(
    st.sampled_from(ACTS),
    st.integers(0, 5),
    st.permutations(range(len(STATEMENTS))),
    st.integers(0, 3),
)
"""What, to which belief or event of those that are there, with which statements, when."""
histories = st.lists(steps, min_size=1, max_size=14)


@dataclass
class Told:
    """The events of a tenant, and what is seen of them at a pair of times."""

    events: dict[str, dict[str, Any]]
    about: dict[str, list[str]] = field(default_factory=dict)
    """Of each belief, the ids of the events with an edge to it."""
    valid: datetime = FOREVER
    known: datetime = FOREVER

    def at(self, as_of: AsOf) -> Told:
        """Return the same at another pair of times."""
        return Told(self.events, self.about, as_of.valid or FOREVER, as_of.known or FOREVER)

    def sees(self, event: dict[str, Any]) -> bool:
        return bool(event["at"] <= self.valid and event["recorded_at"] <= self.known)

    def seen(self, belief: str) -> list[dict[str, Any]]:
        return [e for e in map(self.events.__getitem__, self.about[belief]) if self.sees(e)]

    def existing(self) -> set[str]:
        return {belief for belief in self.about if self.seen(belief)}

    def effects(self, belief: str) -> list[Effect]:
        return [
            Effect(
                occurred_at=e["at"],
                event_id=e["id"],
                status=Status.SUPERSEDED if belief in e["older"] else Status.CURRENT,
                is_statement=e["type"] == "BELIEVE",
            )
            for e in self.seen(belief)
            if e["polarity"] is None
        ]

    def links(self, belief: str) -> set[tuple[str, str, bool]]:
        """Return event, newer belief and whether in force, of what superseded a belief."""
        effects = self.effects(belief)
        return {
            (effect.event_id, newer, lineage.in_force(effect, effects))
            for effect in effects
            if effect.status is Status.SUPERSEDED
            for newer in self.events[effect.event_id]["newer"]
        }

    def heads(self, belief: str) -> tuple[str, ...]:
        if lineage.status_of(self.effects(belief)) is not Status.SUPERSEDED:
            return ()
        found, seen, ahead = set[str](), set[str](), [belief]
        while ahead:
            here = ahead.pop()
            if here not in seen:
                seen.add(here)
                further = [newer for _, newer, in_force in self.links(here) if in_force]
                ahead += further
                found |= set() if further else {here}
        return tuple(sorted(found))

    def linked(self, belief: str) -> set[str]:
        """Return the beliefs that are linked to one, either way, at any remove."""
        pairs = {(old, newer) for old in self.about for _, newer, _ in self.links(old)}
        found, ahead = set[str](), {belief}
        while ahead:
            found |= ahead
            ahead = {b for a, b in pairs if a in ahead} | {a for a, b in pairs if b in ahead}
            ahead -= found
        return found

    def retracted(self) -> frozenset[str]:
        words = (
            Retract(e["id"], e["target_id"], e["at"], e["recorded_at"])
            for e in self.events.values()
            if e["type"] == "RETRACT"
        )
        return retracted(words, self.known)

    def words(self, ids: Iterable[str]) -> set[str]:
        """Return the retractions that concern events, at any remove."""
        found, ahead = set[str](), set(ids)
        while ahead:
            ahead = {
                e["id"]
                for e in self.events.values()
                if e["target_id"] in ahead and e["recorded_at"] <= self.known
            } - found
            found |= ahead
        return found


def told(look: Look, tenant: str) -> Told:
    rows = look.rows(
        "MATCH (e:Event {tenant: $tenant}) WHERE e.id IS NOT NULL "
        "RETURN e.id AS id, e.type AS type, e.occurred_at AS at, e.recorded_at AS recorded_at, "
        "  e.polarity AS polarity, e.target_id AS target_id, e.payload AS payload, "
        "  [(e)-[:SUPPORTS|REFUTES|CONCERNS]->(b:Belief) | b.id] AS beliefs",
        tenant=tenant,
    )
    found = Told({})
    for row in rows:
        payload = json.loads(row["payload"] or "{}")
        found.events[row["id"]] = row | {
            "at": row["at"].to_native(),
            "recorded_at": row["recorded_at"].to_native(),
            "newer": payload.get("newer_ids", ()),
            "older": payload.get("older_ids", ()),
        }
        for belief in row["beliefs"]:
            found.about.setdefault(belief, []).append(row["id"])
    return found


def write(memory: Handle, history: list[Step]) -> None:
    """Do the steps that are not refused."""
    evidence = ["never"]
    for n, step in enumerate(history):
        # Ids that do not sort as they were made, so that ties are broken by the id alone.
        by = {"event_id": f"e{n * 7 % 10}-{n}", "at": MAY + step[3] * HOUR}
        with suppress(RefusedError, InvalidInputError):
            done = act(memory, step, evidence, by)
            if isinstance(done, EvidenceReceipt | RetractionReceipt):
                evidence.append(done.event_id)


def act(memory: Handle, step: Step, evidence: list[str], by: dict[str, Any]) -> object:
    """Do one step; the first can only be to believe something."""
    name, which, wording, _ = step
    first, second, *_ = (STATEMENTS[place] for place in wording)
    ids = sorted(b.id for b in memory.beliefs.list(include_superseded=True).beliefs)
    if name == "believe" or not ids:
        return memory.believe(first, **by)
    one, other = ids[which % len(ids)], ids[(which + 1) % len(ids)]
    acts: dict[str, Callable[[], object]] = {
        "evidence": lambda: memory.add_evidence(one, "supporting", 0.8, **by),
        "revise": lambda: memory.beliefs.revise(one, first, **with_origin(by)),
        "split": lambda: memory.beliefs.split(one, [first, second], **with_origin(by)),
        "merge": lambda: memory.beliefs.merge([one, other], first, **with_origin(by)),
        "retract": lambda: memory.beliefs.retract(
            evidence[which % len(evidence)],
            origin=Origin(event_id=by["event_id"]),
            at=by["at"],
            missing_ok=True,
        ),
    }
    return acts[name]()


@settings(max_examples=EXAMPLES)
@given(history=histories, data=st.data())
def test_what_is_read_at_any_pair_of_times_follows_from_the_events_seen(
    plain: Handle, look: Look, history: list[Step], data: st.DataObject
) -> None:
    memory = on_tenant(plain, fresh_tenant())
    write(memory, history)
    whole = told(look, memory._state.context.tenant)
    recorded = sorted({e["recorded_at"] for e in whole.events.values()})
    knowns = st.sampled_from([None, recorded[0] - timedelta(microseconds=1), *recorded])
    for _ in range(3):
        hour = data.draw(st.none() | st.integers(-1, 3))
        as_of = AsOf(valid=None if hour is None else MAY + hour * HOUR, known=data.draw(knowns))
        then = whole.at(as_of)
        for belief in whole.about:
            if belief in then.existing():
                chains_agree(memory, then, belief, as_of)
                histories_agree(memory, then, belief, as_of)
            else:
                nothing_is_known(memory, belief, as_of)


def chains_agree(memory: Handle, then: Told, belief: str, as_of: AsOf) -> None:
    chain = memory.beliefs.chain(belief, as_of=as_of)
    assert {card.id for card in chain.beliefs} == then.linked(belief)
    for card in chain.beliefs:
        effects = then.effects(card.id)
        assert card.status == lineage.status_of(effects)
        assert card.head_ids == then.heads(card.id)
        assert card.created_at == min(e["at"] for e in then.seen(card.id))
        assert memory.beliefs.get(card.id, as_of=as_of).status == card.status
    links = {(link.event_id, link.newer_id, link.in_force, link.older_id) for link in chain.links}
    assert links == {(*link, card.id) for card in chain.beliefs for link in then.links(card.id)}
    replaced = {link.older_id for link in chain.links if link.in_force}
    assert set(chain.head_ids) == {card.id for card in chain.beliefs} - replaced
    origin = memory.beliefs.provenance(belief, as_of=as_of)
    assert origin.belief in chain.beliefs
    assert set(origin.superseded_by) == {x for x in chain.links if x.older_id == belief}
    assert set(origin.supersedes) == {x for x in chain.links if x.newer_id == belief}


def histories_agree(memory: Handle, then: Told, belief: str, as_of: AsOf) -> None:
    seen, gone = then.seen(belief), then.retracted()
    evidence = {e["id"] for e in seen if e["polarity"] is not None}
    lines = memory.beliefs.history(belief, as_of=as_of)
    assert {e.id for e in lines} == {e["id"] for e in seen} | then.words(evidence)
    assert {e.id for e in lines if e.retracted} == evidence & gone
    assert {e.id for e in lines if e.kind is EvidenceKind.SUPPORTING} == evidence
    order = [(e.occurred_at, e.recorded_at, e.id) for e in lines]
    assert order == sorted(order)
    assert memory.beliefs.history(belief, limit=2, as_of=as_of) == lines[-2:]
    origin = memory.beliefs.provenance(belief, as_of=as_of)
    stated = {e["id"] for e in seen if e["type"] == "BELIEVE"}
    assert {e.id for e in origin.events} == stated | (evidence - gone)
    assert origin.total == len(origin.events)
    assert memory.beliefs.provenance(belief, limit=1, as_of=as_of).events == origin.events[-1:]


def nothing_is_known(memory: Handle, belief: str, as_of: AsOf) -> None:
    for read in (memory.beliefs.chain, memory.beliefs.history, memory.beliefs.provenance):
        with pytest.raises(NotFoundError):
            read(belief, as_of=as_of)


def test_a_belief_comes_from_what_was_said_where(memory: Handle) -> None:
    with memory.session("monday") as session:
        added = session.add_messages([Message(role="user", content="I moved to Porto", at=MAY)])
        said = session.remember(
            "Alice moved to Porto", claims=[("alice", "lives_in", "Porto")], at=MAY
        )
        [belief] = said.belief_ids
        seen = session.observe(
            "alice", "lives_in", "Porto", turn_id=added.turn_ids[0], at=MAY + HOUR
        )
    wrong = memory.observe("alice", "lives_in", "Porto", at=MAY + 2 * HOUR, kind="refuting")
    memory.beliefs.retract(wrong.event_id)

    found = memory.beliefs.provenance(belief)
    assert (found.belief.id, found.belief.statement) == (belief, "alice lives in Porto")
    assert [e.id for e in found.events] == [said.event_id, seen.event_id]
    assert [e.memory_id for e in found.events] == [said.memory_id, None]
    assert [e.turn_id for e in found.events] == [None, added.turn_ids[0]]
    assert [e.kind for e in found.events] == [EvidenceKind.SUPPORTING, EvidenceKind.SUPPORTING]
    assert [t.text for t in found.turns] == ["I moved to Porto"]
    assert [(s.id, s.session_id) for s in found.episodes] == [(session.episode_id, "monday")]
    assert [m.id for m in found.memories] == [said.memory_id]
    assert found.memories[0].claim_ids == (belief,)
    assert (found.supersedes, found.superseded_by, found.total) == ((), (), 2)
    assert memory.beliefs.provenance(belief, as_of=AsOf(valid=MAY)).total == 1

    lines = memory.beliefs.history(belief)
    assert [(e.type, e.retracted) for e in lines] == [
        ("ADD", False),
        ("EVIDENCE", False),
        ("EVIDENCE", True),
        ("RETRACT", False),
    ]
    assert (lines[2].kind, lines[3].target_id) == (EvidenceKind.REFUTING, wrong.event_id)


def test_a_chain_shows_what_stood_in_the_place_of_what(memory: Handle) -> None:
    four = memory.believe("The pool should have 4 threads", at=MAY).belief_id
    eight = memory.beliefs.revise(four, "The pool should have 8 threads", at=MAY + HOUR)
    [new] = eight.newer_ids
    for belief in (four, new):
        chain = memory.beliefs.chain(belief)
        assert [(c.id, c.status, c.head_ids) for c in chain.beliefs] == [
            (four, "superseded", (new,)),
            (new, "current", ()),
        ]
        [link] = chain.links
        assert link == ChainLink(
            newer_id=new,
            older_id=four,
            event_id=eight.event_id,
            occurred_at=MAY + HOUR,
            recorded_at=link.recorded_at,
            in_force=True,
        )
        assert chain.head_ids == (new,)
        assert not chain.provisional
    before = memory.beliefs.chain(four, as_of=AsOf(valid=MAY))
    assert isinstance(before.beliefs[0], BeliefCard)
    assert [(c.id, c.status) for c in before.beliefs] == [(four, "current")]
    # Stated again, it is current again.
    memory.believe("The pool should have 4 threads", at=MAY + 2 * HOUR)
    assert [c.status for c in memory.beliefs.chain(new).beliefs] == ["current", "current"]
    assert [link.in_force for link in memory.beliefs.chain(new).links] == [False]


def test_what_will_be_known_is_not_told(memory: Handle) -> None:
    belief = memory.believe("The pool should have 4 threads")
    later = AsOf(known=datetime.now(UTC) + timedelta(days=1))
    for read in (
        memory.beliefs.chain,
        memory.beliefs.history,
        memory.beliefs.provenance,
        memory.beliefs.flip_set,
        memory.beliefs.timeline,
        memory.why,
    ):
        with pytest.raises(InvalidInputError, match="must not be in the future"):
            read(belief, as_of=later)
    now = AsOf(known=datetime.now(UTC))
    assert memory.beliefs.chain(belief, as_of=now).provisional
    assert memory.beliefs.provenance(belief, as_of=now).provisional
