"""Lookahead: a read as of a known time shows nothing that was recorded later, in any operation."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphmem import AsOf, Handle, Status
from graphmem.errors import GraphmemError
from graphmem.model import Record
from tests.plugins import twins
from tests.plugins.clients import on_tenant
from tests.plugins.episodes import FEW, SWIMS, tell
from tests.plugins.everything import MAY, write_everything
from tests.plugins.examples import examples
from tests.plugins.graph import Look, fresh_tenant
from tests.plugins.texts import restated, unlike

Ids = dict[str, str]
Read = Callable[[Handle, Ids, AsOf], Any]

ALL: dict[str, Any] = {"include_hidden": True}
READS: dict[str, Read] = {
    "recall": lambda m, _, at: found(m.recall(unlike(1), limit=1_000, as_of=at, **ALL).bites),
    "context": lambda m, _, at: {
        one
        for one in m.context(unlike(1), tokens=100_000, limit=1_000, as_of=at, **ALL).ids
        if not one.startswith("ep_")
    },
    "current": lambda m, _, at: m.current("alice", "works_on", as_of=at),
    "evidence_for": lambda m, ids, at: m.evidence_for(ids["belief"], as_of=at),
    "history": lambda m, ids, at: [m.history(ids[one], as_of=at) for one in ("memory", "belief")],
    "why": lambda m, ids, at: [m.why(ids[one], as_of=at) for one in ("memory", "belief")],
    "memories.get": lambda m, ids, at: m.memories.get(ids["memory"], as_of=at),
    "memories.list": lambda m, _, at: m.memories.list(statuses=list(Status), limit=1_000, as_of=at),
    "memories.chain": lambda m, ids, at: m.memories.chain(ids["memory"], as_of=at),
    "memories.history": lambda m, ids, at: m.memories.history(ids["memory"], as_of=at),
    "beliefs.get": lambda m, ids, at: m.beliefs.get(ids["belief"], as_of=at),
    "beliefs.list": lambda m, _, at: m.beliefs.list(
        include_superseded=True, include_archived=True, limit=1_000, as_of=at
    ),
    "beliefs.chain": lambda m, ids, at: m.beliefs.chain(ids["belief"], as_of=at),
    "beliefs.history": lambda m, ids, at: m.beliefs.history(ids["belief"], as_of=at),
    "beliefs.provenance": lambda m, ids, at: m.beliefs.provenance(ids["belief"], as_of=at),
    "beliefs.flip_set": lambda m, ids, at: m.beliefs.flip_set(ids["belief"], as_of=at),
    "beliefs.what_if": lambda m, ids, at: m.beliefs.what_if(
        ids["belief"], without=[ids["evidence"]], as_of=at
    ),
    "beliefs.slots": lambda m, _, at: m.beliefs.slots(limit=1_000, as_of=at),
    "beliefs.timeline": lambda m, ids, at: m.beliefs.timeline(
        ids["belief"], instants=[MAY, at.valid or MAY], as_of=at
    ),
    # Summaries may be derived later; the next test but one compares what they cover.
    "episodes.list": lambda m, _, at: [
        (one.id, one.scope, one.session_id, one.content, one.turns)
        for one in m.episodes.list(limit=1_000, include_archived=True, as_of=at).episodes
    ],
}


def consolidated(memory: Handle, first: int) -> object:
    """Consolidate new sessions."""
    tell(memory, SWIMS, first=10 * first)
    return memory.consolidate(policy=FEW)


LATER: list[Callable[[Handle, Ids, int], object]] = [
    lambda m, _, _n: m.remember(unlike(1), at=MAY),
    lambda m, _, n: m.remember(unlike(100 + n), claims=[("alice", "works_on", "Atlas")], at=MAY),
    lambda m, ids, n: m.supersede(ids["memory"], unlike(200 + n)),
    lambda m, ids, _: m.memories.deprecate(ids["memory"], at=MAY),
    lambda m, ids, _: m.memories.restore(ids["memory"]),
    lambda m, _, _n: m.remember(restated(1), at=MAY),
    lambda m, _, n: m.observe("alice", "works_on", f"place {n}", at=MAY),
    lambda m, _, _n: m.observe("alice", "works_on", "Atlas", kind="refuting", at=MAY),
    lambda m, ids, _: m.add_evidence(ids["belief"], "refuting", 0.9, at=MAY),
    lambda m, ids, _: m.beliefs.retract(ids["event"]),
    lambda m, ids, _: m.beliefs.archive(ids["belief"]),
    lambda m, ids, _: m.beliefs.restore(ids["belief"]),
    lambda m, ids, n: m.beliefs.revise(ids["other"], unlike(300 + n)),
    lambda m, ids, n: m.beliefs.merge([ids["belief"], ids["other"]], unlike(400 + n)),
    lambda m, _, _n: m.predicates.declare("works_on", cardinality="MANY", at=MAY),
    lambda m, _, n: m.predicates.declare("works_on", kappa=1 + n % 5, cardinality="ONE"),
    lambda m, _, n: m.aliases.add(f"Alice {n}", "alice", at=MAY),
    lambda m, _, _n: m.aliases.remove("Alice Smith"),
    lambda m, _, n: m.session("s1").add_messages([{"role": "user", "content": unlike(500 + n)}]),
    lambda m, _, _n: m.episodes.add(content=unlike(1), at=MAY),
    lambda m, ids, _: m.expand(ids["belief"]),
    lambda m, _, n: m.session(f"look {n}").recall(unlike(1)),
    lambda m, _, _n: [m.usage.flush(), m.usage.rate()],
    lambda m, _, n: consolidated(m, n),
    lambda m, _, _n: (
        m.proposals.list().proposals and m.proposals.accept([m.proposals.list().proposals[0].id])
    ),
    lambda m, _, _n: m.admin.rebuild(),
    lambda m, _, _n: m.episodes.summarise(),
    lambda m, ids, n: m.beliefs.revise(ids["belief"], unlike(600 + n)),
]
"""Writes that touch what the reads return, many of them with a time in the past."""
CHANGING = {"provisional", "next_cursor", "score", "ranks", "components", "scores"}
"""Fields that say whether a read may still change, or depend on the texts of other tenants."""


def plain_of(value: Any) -> Any:
    """Return a result as plain values, without what may differ."""
    if isinstance(value, Record):
        return {
            name: plain_of(getattr(value, name))
            for name in type(value).model_fields
            if name not in CHANGING
        }
    if isinstance(value, dict):
        return {name: plain_of(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain_of(one) for one in value]
    return pytest.approx(value) if isinstance(value, float) else value


def found(bites: Any) -> dict[str, Any]:
    """Return results by id: their order depends on words of other tenants.

    A conversation is found by its summary, which may be derived later from the same turns.
    """
    return {
        one.id: (one.kind, one.text, plain_of(getattr(one, one.kind, None)))
        for one in bites
        if one.kind != "episode"
    }


def now_of(look: Look, tenant: str) -> datetime:
    """Return the time of the newest event."""
    query = (
        "MATCH (e:Event {tenant: $tenant}) WHERE e.id IS NOT NULL RETURN max(e.recorded_at) AS t"
    )
    at: datetime = look.rows(query, tenant=tenant)[0]["t"].to_native()
    return at


class Past:
    """A tenant and what each read returned at some times, to be compared later."""

    def __init__(self, client: Handle, look: Look) -> None:
        self.tenant = fresh_tenant()
        self.memory = on_tenant(client, self.tenant)
        self.ids = write_everything(self.memory)
        self.memory.usage.flush()
        self._look = look
        self.writes = 0
        self.seen: list[tuple[str, AsOf, Any]] = []
        for name in READS:
            self.note(name)

    def note(self, name: str) -> None:
        """Read as of now, by both times, and keep the answer."""
        known = now_of(self._look, self.tenant)
        for valid in (known, MAY + timedelta(days=30)):
            at = AsOf(valid=valid, known=known)
            self.seen.append((name, at, self.read(name, at)))

    def read(self, name: str, at: AsOf) -> Any:
        """Return what a read returns, or its error."""
        try:
            return plain_of(READS[name](self.memory, self.ids, at))
        except GraphmemError as error:
            return error.code

    def write(self, which: int) -> None:
        """Apply a write; one that is refused by the state changes nothing."""
        self.writes += 1
        try:
            LATER[which](self.memory, self.ids, self.writes)
        except GraphmemError:
            return
        finally:
            self.memory.usage.flush()


class Pasts:
    """A tenant that grows from example to example, and a new one before it is too large.

    With more candidates than a pool holds, the texts of other tenants decide which are the last.
    """

    def __init__(self, client: Handle, look: Look) -> None:
        self._client, self._look = client, look
        self._past = Past(client, look)

    def current(self) -> Past:
        """Return the tenant of the next example."""
        if self._past.writes >= 60:
            self._past = Past(self._client, self._look)
        return self._past


@pytest.fixture(scope="module")
def pasts(client: Handle, look: Look) -> Pasts:
    return Pasts(client, look)


def test_every_read_as_of_a_time_is_compared() -> None:
    reads = {n for n, one in twins.public().items() if "as_of" in inspect.signature(one).parameters}
    assert reads == READS.keys()


READS_EACH = examples(8, 8, 25)
"""Reads compared after the writes of an example: 10,000 in all in the slow profile."""


@pytest.mark.timeout(examples(300, 1_200, 7_200))
@settings(max_examples=examples(5, 100, 400))
@given(seed=st.integers(0, 2**32))
def test_no_read_of_a_known_time_shows_what_was_recorded_later(pasts: Pasts, seed: int) -> None:
    """The tenant grows from example to example, so more and more is recorded later."""
    chosen, past = Random(seed), pasts.current()
    writes = chosen.choices(range(len(LATER)), k=3)
    for which in writes:
        past.write(which)
    for name, at, then in chosen.sample(past.seen, READS_EACH):
        assert past.read(name, at) == then, (name, at, writes)
    past.note(chosen.choice(sorted(READS)))


def test_a_summary_of_later_turns_is_not_shown_before_them(plain: Handle, look: Look) -> None:
    session = plain.session("s")
    session.add_messages([{"role": "user", "content": "I moved to Porto in May."}])
    plain.episodes.summarise()
    known = look.rows("RETURN datetime.realtime('Z') AS t")[0]["t"].to_native()
    [then] = plain.episodes.list().episodes
    assert "Porto" in str(then.summary)
    session.add_messages([{"role": "user", "content": "I decided to leave Xylander in June."}])
    plain.episodes.summarise()
    [now] = plain.episodes.list().episodes
    assert "Xylander" in str(now)
    [past] = plain.episodes.list(as_of=AsOf(known=known)).episodes
    assert "Xylander" not in str(past)
    assert (past.summary, past.turns) == (None, 1)


def test_an_importance_derived_later_changes_no_read_of_the_past(plain: Handle, look: Look) -> None:
    session = plain.session("s")
    session.add_messages([{"role": "user", "content": "I moved to Porto in May."}])
    belief = session.observe("user", "lives_in", "Porto", at=MAY).belief_id
    at = AsOf(known=now_of(look, plain._state.context.tenant), valid=MAY + timedelta(days=90))
    then = plain.beliefs.get(belief, as_of=at).vitality
    session.add_messages(
        [{"role": "user", "content": "I decided to leave Xylander and promised to sell by June."}]
    )
    plain.episodes.summarise()
    assert plain.beliefs.get(belief, as_of=at).vitality == then
    now = plain.beliefs.get(belief, as_of=AsOf(valid=at.valid)).vitality
    assert then
    assert now
    assert now.importance != then.importance


def test_the_writes_are_seen_by_reads_of_now(client: Handle, look: Look) -> None:
    """The control: without `known`, the same reads change."""
    own = Past(client, look)
    then = {name: own.read(name, AsOf(valid=datetime.now(UTC))) for name in READS}
    for which in range(len(LATER)):
        own.write(which)
    changed = {n for n in READS if own.read(n, AsOf(valid=datetime.now(UTC))) != then[n]}
    assert changed == READS.keys()
