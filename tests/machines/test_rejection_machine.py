"""Random histories with every operation: what a person rejected is never shown as current.

The model knows which spellings are one value and what was ruled about it; it knows nothing of
normal forms, keys and tombstones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

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

from graphmem import Handle, Status
from graphmem.errors import NotFoundError, RefusedError
from graphmem.model import Belief, EvidenceKind
from graphmem.operations.evidence import writing
from graphmem.ports import run_now
from graphmem.rules import claims
from tests.plugins.clients import on_tenant
from tests.plugins.episodes import FEW
from tests.plugins.everything import AT_ONCE
from tests.plugins.examples import examples
from tests.plugins.graph import fresh_tenant
from tests.plugins.texts import unlike

pytestmark = pytest.mark.timeout(36_000)

CITIES = [
    ["Lisbon", "LISBON", "Lіsbоn", "Lis\u200bbon."],
    ["Porto", "Ｐｏｒｔｏ", "Рorto"],
    ["Oslo", "OSLO", "Οslo"],
]
TEXTS = [[text, text.upper(), text.replace("a", "а") + "!"] for text in map(unlike, range(3))]
VALUES = {
    **{(spelt, "city"): n for n, city in enumerate(CITIES) for spelt in city},
    **{(spelt, "text"): n for n, text in enumerate(TEXTS) for spelt in text},
}
"""Numbers of the values, by spelling and kind."""
SUBJECTS = ["alice", "ALICE", "аlice"]
PREDICATES = ["lives_in", "Lives in"]
SCOPES = ["global", "user:alice"]

cities = st.sampled_from([spelt for city in CITIES for spelt in city])
texts = st.sampled_from([spelt for text in TEXTS for spelt in text])
subjects, predicates = st.sampled_from(SUBJECTS), st.sampled_from(PREDICATES)
scopes = st.sampled_from(SCOPES)
places = st.integers(0, 9)


def stated(belief: Belief) -> tuple[str, str]:
    """Return the kind and the spelling of the value that a belief states."""
    if belief.object is None:
        return "text", belief.statement
    # Extraction knows the speaker by another name.
    return ("city" if belief.subject in SUBJECTS else "another"), belief.object


class Laundering(RuleBasedStateMachine):
    """A person rejects values; everything else tries to bring them back."""

    def __init__(self, memory: Handle, folder: Path) -> None:
        super().__init__()
        self.memory = memory
        self.folder = folder
        self.rulings: dict[tuple[str, str, int], tuple[int, bool]] = {}
        """Number and kind of the newest ruling, by scope, kind of value and value."""
        self.ruled = 0
        self.files: list[Path] = []
        self.events: list[tuple[str, str]] = []
        """Scope and id of evidence and retractions."""

    @initialize()
    def begin(self) -> None:
        self.tenant = on_tenant(self.memory, fresh_tenant())

    def on(self, scope: str) -> Handle:
        return self.tenant.scope(scope)

    def is_rejected(self, scope: str, kind: str, value: int) -> bool:
        found = [
            self.rulings[place, kind, value]
            for place in {scope, "global"}
            if (place, kind, value) in self.rulings
        ]
        return bool(found) and max(found)[1]

    def rule_about(self, scope: str, kind: str, value: int, *, rejects: bool) -> None:
        self.ruled += 1
        self.rulings[scope, kind, value] = self.ruled, rejects

    def item(self, scope: str, place: int, *, belief: bool) -> tuple[str, str, int] | None:
        """Return the id, the kind and the value of some memory or belief of a scope."""
        found = [one for one in self.stored(scope) if one[0].startswith("b_") == belief]
        return found[place % len(found)][:3] if found else None

    def stored(self, scope: str) -> Iterator[tuple[str, str, int, str]]:
        """Yield the id, kind, value and status of the memories and beliefs of a scope."""
        handle = self.tenant.scope(scope, read_scopes=[scope])
        for memory in handle.memories.list(statuses=list(Status), limit=1_000).memories:
            yield memory.id, "text", VALUES.get((memory.content, "text"), -1), memory.status
        every: dict[str, Any] = {
            "include_superseded": True,
            "include_archived": True,
            "include_rejected": True,
        }
        for one in handle.beliefs.list(limit=1_000, **every).beliefs:
            kind, spelt = stated(one)
            yield one.id, kind, VALUES.get((spelt, kind), -1), one.status

    @rule(scope=scopes, spelt=cities, subject=subjects, predicate=predicates, rejects=st.booleans())
    def rule_value(
        self, scope: str, spelt: str, subject: str, predicate: str, *, rejects: bool
    ) -> None:
        handle = self.on(scope)
        # Nothing may reject the value.
        with suppress(RefusedError, NotFoundError):
            (handle.reject if rejects else handle.unreject)(
                (subject, predicate, spelt), reason="because"
            )
            self.rule_about(scope, "city", VALUES[spelt, "city"], rejects=rejects)

    @rule(scope=scopes, place=places, belief=st.booleans(), rejects=st.booleans())
    def rule_item(self, scope: str, place: int, *, belief: bool, rejects: bool) -> None:
        found = self.item(scope, place, belief=belief)
        if found is None or found[2] < 0:
            return
        handle = self.on(scope)
        (handle.reject if rejects else handle.unreject)(found[0], reason="because")
        self.rule_about(scope, *found[1:], rejects=rejects)

    @rule(
        scope=scopes,
        spelt=cities,
        subject=subjects,
        predicate=predicates,
        way=st.sampled_from(["observe", "many", "believe", "refute", "claim"]),
    )
    def state(self, scope: str, spelt: str, subject: str, predicate: str, way: str) -> None:
        handle, value = self.on(scope), (subject, predicate, spelt)
        triple: dict[str, Any] = dict(zip(("subject", "predicate", "object"), value, strict=True))
        with suppress(RefusedError):
            if way == "many":
                done = handle.observe_many([triple] * 3)[0]
            elif way == "believe":
                done = handle.believe(**triple, confidence=0.9)
            elif way == "claim":
                handle.remember(f"{unlike(9)} {spelt}", claims=[value])
                return
            else:
                polarity = -1 if way == "refute" else 1
                done = handle.observe(*value, kind=EvidenceKind.of(polarity), confidence=0.9)
            rejected = self.is_rejected(scope, "city", VALUES[spelt, "city"])
            assert (done.rejection is not None) == rejected
            self.events.append((scope, done.event_id))

    @rule(scope=scopes, spelt=texts, way=st.sampled_from(["remember", "many", "believe", "turn"]))
    def say(self, scope: str, spelt: str, way: str) -> None:
        handle = self.on(scope)
        rejected = self.is_rejected(scope, "text", VALUES[spelt, "text"])
        with suppress(RefusedError):
            if way == "believe":
                assert (handle.believe(spelt).rejection is not None) == rejected
            elif way == "turn":
                with handle.session("s") as session:
                    session.add_messages([{"role": "user", "content": f"I live in Oslo. {spelt}"}])
                    session.extract(extractor="rules")
            else:
                [done] = handle.remember_many([spelt], on_update="supersede")
                assert (done.outcome == "REJECTED") == rejected or done.hygiene_reasons

    @rule(
        scope=scopes,
        place=places,
        spelt=texts,
        act=st.sampled_from(["supersede", "deprecate", "restore", "forget"]),
    )
    def change_memory(self, scope: str, place: int, spelt: str, act: str) -> None:
        found = self.item(scope, place, belief=False)
        handle = self.on(scope)
        if found is None:
            return
        with suppress(RefusedError):
            if act == "supersede":
                handle.supersede(found[0], spelt, fork=place % 2 == 0)
            elif act == "forget":
                handle.forget("memory", found[0], dry_run=False)
            else:
                getattr(handle.memories, act)(found[0])

    @rule(
        scope=scopes,
        place=places,
        spelt=cities,
        text=texts,
        act=st.sampled_from(
            [
                *("revise", "revise_text", "split", "merge", "archive", "restore", "clear_flag"),
                *("add_evidence", "forget", "expand"),
            ]
        ),
    )
    def change_belief(self, scope: str, place: int, spelt: str, text: str, act: str) -> None:
        found = self.item(scope, place, belief=True)
        other = self.item(scope, place + 1, belief=True)
        if found is None or other is None or found == other:
            return
        handle = self.on(scope)
        triple: dict[str, Any] = {"subject": "alice", "predicate": "lives_in"}
        acts: dict[str, Callable[[], Any]] = {
            "revise": lambda: handle.beliefs.revise(found[0], **triple, object=spelt),
            "revise_text": lambda: handle.beliefs.revise(found[0], text),
            "split": lambda: handle.beliefs.split(found[0], [text, unlike(8)]),
            "merge": lambda: handle.beliefs.merge([found[0], other[0]], text),
            "add_evidence": lambda: handle.add_evidence(found[0], "supporting", 0.9),
            "forget": lambda: handle.forget("belief", found[0], dry_run=False),
            "expand": lambda: handle.expand(found[0]),
        }
        with suppress(RefusedError):
            acts.get(act, lambda: getattr(handle.beliefs, act)(found[0]))()

    @rule(place=places)
    def retract(self, place: int) -> None:
        if self.events:
            scope, event_id = self.events[place % len(self.events)]
            # It may be erased.
            with suppress(RefusedError, NotFoundError):
                done = self.on(scope).beliefs.retract(event_id)
                self.events.append((scope, done.event_id))

    @rule(spelt=st.sampled_from(["Lisboa", "Ali"]), add=st.booleans())
    def alias(self, spelt: str, *, add: bool) -> None:
        with suppress(RefusedError, NotFoundError):
            if add:
                self.tenant.aliases.add(spelt, "Lisbon" if spelt == "Lisboa" else "alice")
            else:
                self.tenant.aliases.remove(spelt)

    @rule(cardinality=st.sampled_from(["ONE", "MANY"]))
    def declare(self, cardinality: Any) -> None:
        self.tenant.predicates.declare("lives_in", cardinality=cardinality)

    @rule(
        scope=scopes,
        job=st.sampled_from(
            ["rebuild", "backfill", "prune", "roll_up", "rate", "compress", "consolidate", "keep"]
        ),
    )
    def work(self, scope: str, job: str) -> None:
        handle = self.on(scope)
        jobs: dict[str, Callable[[], Any]] = {
            "rebuild": lambda: handle.admin.rebuild(),
            "backfill": lambda: handle.admin.backfill(),
            "prune": lambda: handle.usage.prune(dry_run=False, policy=AT_ONCE),
            "roll_up": lambda: handle.usage.roll_up(days=0, dry_run=False),
            "rate": lambda: handle.usage.rate(),
            "compress": lambda: handle.episodes.compress(),
            "consolidate": lambda: handle.consolidate(policy=FEW, extractive=True),
            "keep": lambda: self.keep(handle, scope),
        }
        done = jobs[job]()
        if job == "rebuild":
            assert done.wrong == ()

    def keep(self, handle: Handle, scope: str) -> None:
        for subject in SUBJECTS:
            key = claims.name_key(subject)
            slot = writing.SlotKey(claims.slot_id(scope, key, "lives_in"), scope, key, "lives_in")
            run_now(writing.keep(handle._state.context, slot, newest=1, min_events=1, longest_s=0))

    @rule()
    def export(self) -> None:
        file = self.folder / f"{fresh_tenant()}.jsonl"
        self.tenant.admin.export_to(file)
        self.files.append(file)

    @rule(place=places)
    def import_again(self, place: int) -> None:
        if self.files:
            with suppress(RefusedError):
                self.tenant.admin.import_from(self.files[place % len(self.files)])

    @rule()
    def move(self) -> None:
        """Continue in another tenant, with what an export carries."""
        self.export()
        self.tenant = on_tenant(self.memory, fresh_tenant())
        self.tenant.admin.import_from(self.files[-1])
        self.files.clear()
        self.events.clear()

    @invariant()
    def nothing_rejected_is_current(self) -> None:
        if not hasattr(self, "tenant"):
            return
        for scope in SCOPES:
            for item, kind, value, status in self.stored(scope):
                if value >= 0:
                    rejected = self.is_rejected(scope, kind, value)
                    assert (status == "rejected") == rejected, (item, kind, value, status)
            self.check_reads(scope)

    def check_reads(self, scope: str) -> None:
        handle = self.tenant.scope(scope, read_scopes=[scope])
        slots = [handle.current(subject, "lives_in") for subject in SUBJECTS]
        for slot in (*slots, *handle.beliefs.slots(top=10).slots):
            for candidate in slot.candidates if slot.subject in SUBJECTS else ():
                self.check(scope, "city", candidate.object)
        question = f"Where does alice live? {' '.join(text[0] for text in TEXTS)}"
        for bite in handle.recall(question, limit=50).bites:
            if bite.kind == "memory":
                self.check(scope, "text", bite.memory.content)
            elif bite.kind == "belief":
                self.check(scope, *stated(bite.belief))

    def check(self, scope: str, kind: str, spelt: str) -> None:
        value = VALUES.get((spelt, kind))
        assert value is None or not self.is_rejected(scope, kind, value), (scope, kind, spelt)


@pytest.mark.system
def test_no_history_shows_a_rejected_value_as_current(
    plain: Handle, tmp_path_factory: pytest.TempPathFactory
) -> None:
    class Here(Laundering):
        def __init__(self) -> None:
            super().__init__(plain, tmp_path_factory.mktemp("files"))

    run_state_machine_as_test(
        Here,
        settings=hypothesis.settings(
            max_examples=examples(2, 60, 2_000),
            stateful_step_count=examples(15, 25, 30),
            deadline=None,
            suppress_health_check=list(hypothesis.HealthCheck),
        ),
    )
