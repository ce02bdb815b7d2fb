"""Random rulings by readers of several scopes, in every form and spelling, with imports between.

The oracle knows which sentences an item states and who made which ruling where; it knows nothing
of normal forms, keys, tombstones, cached copies and statuses.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import hypothesis
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from graphmem import Handle, Outcome, Status
from graphmem.errors import NotFoundError
from tests.oracles.rulings import Ruling, standing
from tests.plugins.clients import on_tenant
from tests.plugins.examples import examples
from tests.plugins.graph import fresh_tenant

pytestmark = pytest.mark.timeout(36_000)

CITIES = ["Lisbon", "Porto"]
READERS = {
    "global": ["global"],
    "team": ["global", "team"],
    "user:ann": ["global", "team", "user:ann"],
    "user:bob": ["global", "user:bob"],
}
"""Read scopes of the reader that writes to each scope."""
TEMPLATE = "{subject} has a home in {object}"
PREDICATES = [
    "lives_in",
    "Lives in",
    "livesIn",
    "lives.in",
    "lives in:",
    "lives\u200bin",
    "resides_in",
]
TEXTS = ["alice lives in {}", "alice resides in {}", "alice has a home in {}"]

cities = st.sampled_from(CITIES)
scopes = st.sampled_from(sorted(READERS))
numbers = st.integers(0, 99)


class Item(NamedTuple):
    """A memory or a belief."""

    scope: str
    parts: str
    """The sentence of the parts of a triple; empty for others."""
    sentences: frozenset[str]


def triple(predicate: str, city: str) -> tuple[str, frozenset[str]]:
    """Return the sentence of the parts of a triple, and all sentences that it states."""
    if predicate == "resides_in":
        parts = TEXTS[1].format(city)
        return parts, frozenset({parts, TEXTS[2].format(city)})
    parts = TEXTS[0].format(city)
    wording = (
        predicate.lower().replace("_", " ").replace("\u200b", " ").replace("livesin", "lives in")
    )
    return parts, frozenset({parts, f"alice {wording} {city}"})


def spelt(text: str, number: int) -> str:
    """Return one of the spellings of a text."""
    ways = (str, str.upper, lambda t: t.replace(" ", "\u200b"), lambda t: t.replace("i", "і"))
    return ways[number % len(ways)](text)


class Readers(RuleBasedStateMachine):
    """Readers reject, take back and state the same few sentences."""

    def __init__(self, memory: Handle, folder: Path) -> None:
        super().__init__()
        self.memory = memory
        self.folder = folder
        self.rulings: list[Ruling] = []
        self.items: dict[str, Item] = {}

    @initialize()
    def begin(self) -> None:
        self.tenant = on_tenant(self.memory, fresh_tenant())
        self.tenant.predicates.declare("resides_in", template=TEMPLATE, cardinality="MANY")
        self.tenant.predicates.declare("lives_in", cardinality="MANY")

    def on(self, scope: str, tenant: Handle | None = None) -> Handle:
        return (tenant or self.tenant).scope(scope, read_scopes=READERS[scope])

    def rejected(self, scope: str, about: frozenset[str]) -> bool:
        return bool(standing(self.rulings, about, READERS[scope]))

    def value(self, predicate: str, city: str, number: int) -> tuple[str, str, str]:
        return spelt("alice", number), predicate, spelt(city, number // 4)

    @rule(scope=scopes, predicate=st.sampled_from(PREDICATES), city=cities, number=numbers)
    def observe(self, scope: str, predicate: str, city: str, number: int) -> None:
        parts, about = triple(predicate, city)
        rejected = self.rejected(scope, about)
        done = self.on(scope).observe(*self.value(predicate, city, number))
        self.items.setdefault(done.belief_id, Item(scope, parts, about))
        assert (done.rejection is not None) == rejected

    @rule(scope=scopes, city=cities, text=st.sampled_from(TEXTS), worded=st.booleans(), n=numbers)
    def believe(self, scope: str, city: str, text: str, n: int, *, worded: bool) -> None:
        said = text.format(city)
        parts = f"alice dwells in {city}" if worded else ""
        named: dict[str, Any] = (
            {"subject": "alice", "predicate": "dwells_in", "object": city} if worded else {}
        )
        done = self.on(scope).believe(said if worded else spelt(said, n), **named)
        item = Item(scope, parts, frozenset({said, parts} - {""}))
        item = self.items.setdefault(done.belief_id, item)
        assert (done.rejection is not None) == self.rejected(scope, item.sentences)

    @rule(scope=scopes, city=cities, text=st.sampled_from(TEXTS), number=numbers)
    def remember(self, scope: str, city: str, text: str, number: int) -> None:
        said = text.format(city)
        done = self.on(scope).remember(spelt(said, number))
        assert (done.outcome is Outcome.REJECTED) == self.rejected(scope, frozenset({said}))
        if done.outcome is Outcome.INSERTED_NEW:
            self.items[str(done.memory_id)] = Item(scope, "", frozenset({said}))

    @rule(scope=scopes, number=numbers, rejects=st.booleans())
    def decide_about_an_item(self, scope: str, number: int, *, rejects: bool) -> None:
        seen = sorted(one for one, item in self.items.items() if item.scope in READERS[scope])
        if seen:
            target = seen[number % len(seen)]
            self.decide(scope, target, self.items[target].sentences, rejects=rejects)

    @rule(
        scope=scopes,
        predicate=st.sampled_from(PREDICATES),
        city=cities,
        number=numbers,
        rejects=st.booleans(),
    )
    def decide_about_a_value(
        self, scope: str, predicate: str, city: str, number: int, *, rejects: bool
    ) -> None:
        parts, about = triple(predicate, city)
        for item in self.items.values():
            if item.scope in READERS[scope] and item.parts == parts:
                about |= item.sentences
        self.decide(scope, self.value(predicate, city, number), about, rejects=rejects)

    def decide(self, scope: str, target: Any, about: frozenset[str], *, rejects: bool) -> None:
        handle = self.on(scope)
        if rejects:
            handle.reject(target, reason="because")
        else:
            try:
                handle.unreject(target, reason="because")
            except NotFoundError:  # Nothing states or rejects it.
                return
            for found in standing(self.rulings, about, READERS[scope]):
                about |= found.sentences
        self.rulings.append(Ruling(scope, about, rejects))

    @rule(
        city=cities,
        scope=st.sampled_from(["global", "team"]),
        acts=st.lists(st.booleans(), min_size=1, max_size=2),
    )
    def bring(self, city: str, scope: str, acts: list[bool]) -> None:
        """Import another tenant's statement and rulings."""
        other = on_tenant(self.memory, fresh_tenant())
        handle, (parts, about) = self.on(scope, other), triple("lives_in", city)
        seen = handle.observe("alice", "lives_in", city).belief_id
        path = f"{other._state.context.tenant}/"
        for rejects in acts:
            (handle.reject if rejects else handle.unreject)(("alice", "lives_in", city), reason="x")
            self.rulings.append(Ruling(scope, about, rejects, path))
        file = self.folder / f"{fresh_tenant()}.jsonl"
        other.admin.export_to(file)
        before = [self.rejected(one, about) for one in READERS]
        report = self.tenant.admin.import_from(file)
        self.items.setdefault(seen, Item(scope, parts, about))
        local = [r for r in self.rulings if r.path == "" and r.scope in {scope, "global"}]
        if True in acts or not standing(local, about, [scope]):
            return
        assert report.not_lifted
        assert [self.rejected(one, about) for one in READERS] == before

    @rule()
    def move(self) -> None:
        """Continue in another tenant, with what an export carries."""
        file = self.folder / f"{fresh_tenant()}.jsonl"
        name = self.tenant._state.context.tenant
        self.tenant.admin.export_to(file)
        self.tenant = on_tenant(self.memory, fresh_tenant())
        self.tenant.admin.import_from(file)
        self.rulings = [
            Ruling(r.scope, r.sentences, r.rejects, f"{name}/{r.path}") for r in self.rulings
        ]

    @rule()
    def rebuild(self) -> None:
        assert self.tenant.admin.rebuild().wrong == ()

    def shown(self, handle: Handle) -> Iterator[str]:
        found = handle.recall("Where does Alice live? home Lisbon Porto", limit=50).bites
        yield from (bite.id for bite in found)
        yield from (one.id for one in handle.memories.list(limit=100).memories)
        yield from (one.id for one in handle.beliefs.list(limit=100).beliefs)
        for slot in handle.beliefs.slots(top=10).slots:
            yield from (one.belief_id for one in slot.candidates)
        for predicate in ("lives_in", "resides_in"):
            yield from (c.belief_id for c in handle.current("alice", predicate).candidates)

    @invariant()
    def each_reader_sees_what_its_rulings_say(self) -> None:
        if not hasattr(self, "tenant"):
            return
        for scope, seen in READERS.items():
            handle = self.on(scope)
            shown = set(self.shown(handle))
            for one, item in self.items.items():
                if item.scope not in seen:
                    assert one not in shown
                    continue
                known: Any = handle.beliefs if one.startswith("b_") else handle.memories
                rejected = self.rejected(scope, item.sentences)
                assert (known.get(one).status == Status.REJECTED) == rejected, (scope, item)
                assert (one in shown) != rejected, (scope, item)


def test_a_value_is_current_for_those_who_did_not_reject_it(
    plain: Handle, tmp_path_factory: pytest.TempPathFactory
) -> None:
    class Here(Readers):
        def __init__(self) -> None:
            super().__init__(plain, tmp_path_factory.mktemp("files"))

    run_state_machine_as_test(
        Here,
        settings=hypothesis.settings(
            max_examples=examples(2, 40, 1_000),
            stateful_step_count=examples(10, 20, 30),
            deadline=None,
            suppress_health_check=list(hypothesis.HealthCheck),
        ),
    )
