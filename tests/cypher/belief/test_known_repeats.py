"""A read of what was known then is the read that was made then, whatever was written since."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphmem import Handle
from graphmem.errors import NotFoundError, SupersededBeliefError
from graphmem.model import AsOf, Cardinality, Origin, Slot
from tests.plugins.clients import on_tenant
from tests.plugins.examples import examples
from tests.plugins.graph import Look, fresh_tenant
from tests.plugins.histories import clocked
from tests.plugins.origins import with_origin
from tests.rules.strategies_histories import BASE, END

pytestmark = pytest.mark.timeout(3_600)

VALUES = ("atlas", "borealis", "cygnus")
SCOPES = ("global", "own")
VALIDS = (BASE + timedelta(days=3), END)


@dataclass(frozen=True)
class Step:
    """One write; what it is about is counted among what is there."""

    act: str
    scope: str
    value: str
    day: int
    which: int


EXAMPLES = examples(8, 100, 500)
ACTS = ("observe", "doubt", "believe", "testify", "revise", "merge", "retract", "declare")
steps = st.builds(
    Step,
    act=st.sampled_from(("observe", *ACTS)),
    scope=st.sampled_from(SCOPES),
    value=st.sampled_from(VALUES),
    day=st.integers(0, 6),
    which=st.integers(0, 5),
)


class Run:
    """A tenant that is written to, and what its readers were shown after each write."""

    def __init__(self, plain: Handle, look: Look) -> None:
        self.tenant = fresh_tenant()
        memory = clocked(on_tenant(plain, self.tenant))
        self.handles = {scope: memory.scope(scope) for scope in SCOPES}
        self._look = look
        self._evidence: dict[str, list[str]] = {scope: [] for scope in SCOPES}

    def write(self, number: int, step: Step) -> None:
        """Do one step, unless there is nothing that it could be done to."""
        handle, at = self.handles[step.scope], BASE + timedelta(days=step.day)
        # Ids that do not sort as they were made.
        source: dict[str, Any] = {"event_id": f"e{number * 7 % 10}-{number}", "at": at}
        own = [b for b in handle.beliefs.list(limit=1_000).beliefs if b.scope == step.scope]
        own.sort(key=lambda b: b.id)
        chosen = [own[(step.which + n) % len(own)].id for n in range(2)] if own else []
        try:
            self._act(step, handle, chosen, source)
        except SupersededBeliefError:
            return

    def _act(self, step: Step, handle: Handle, chosen: list[str], source: dict[str, Any]) -> None:
        triple: dict[str, Any] = {"subject": "alice", "predicate": "works_on", "object": step.value}
        told = self._evidence[step.scope]
        match step.act:
            case "observe" | "doubt":
                kind = "supporting" if step.act == "observe" else "refuting"
                told.append(handle.observe(**triple, kind=kind, **source).event_id)  # type: ignore[arg-type]
            case "believe":
                handle.believe(**triple, confidence=step.which / 5, **source)
            case "declare":
                cardinality = Cardinality.ONE if step.which % 2 else Cardinality.MANY
                handle.predicates.declare(
                    "works_on", cardinality=cardinality, **with_origin(source)
                )
            case "testify" if chosen:
                told.append(handle.add_evidence(chosen[0], "refuting", 0.8, **source).event_id)
            case "retract" if told:
                taken = told[step.which % len(told)]
                done = handle.beliefs.retract(
                    taken, origin=Origin(event_id=source["event_id"]), at=source["at"]
                )
                told.append(done.event_id)
            case "revise" if chosen:
                newer = triple | {"object": f"{step.value} {source['event_id']}"}
                handle.beliefs.revise(chosen[0], **with_origin(newer), **with_origin(source))
            case "merge" if len(set(chosen)) > 1:
                handle.beliefs.merge(
                    chosen, f"all of it, as of {source['event_id']}", **with_origin(source)
                )

    def last_recorded(self) -> datetime | None:
        """Return when the newest event was recorded."""
        [row] = self._look.rows(
            "MATCH (e:Event {tenant: $tenant}) WHERE e.id IS NOT NULL "
            "RETURN max(e.recorded_at) AS at",
            tenant=self.tenant,
        )
        return row["at"].to_native() if row["at"] else None

    def reads(self, known: datetime | None = None) -> list[Any]:
        """Return everything that the handles show, of now or of then."""
        found: list[Any] = []
        for handle in self.handles.values():
            for valid in VALIDS:
                as_of = AsOf(valid=valid, known=known)
                found.append(_settled(handle.current("alice", "works_on", as_of=as_of)))
                for superseded in (False, True):
                    page = handle.beliefs.list(
                        as_of=as_of, include_superseded=superseded, limit=1_000
                    )
                    found.append(page.beliefs)
                # The order of what is there now is not that of then.
                present = handle.beliefs.list(include_superseded=True, limit=1_000).beliefs
                for belief_id in sorted(belief.id for belief in present):
                    found += _of_one(handle, belief_id, as_of)
        return found


def _of_one(handle: Handle, belief_id: str, as_of: AsOf) -> list[Any]:
    try:
        return [
            handle.beliefs.get(belief_id, as_of=as_of),
            handle.evidence_for(belief_id, as_of=as_of),
        ]
    except NotFoundError:
        return []


def _settled(slot: Slot) -> Slot:
    """Return a slot as it is told, whether that may still change or not."""
    return slot.model_copy(update={"provisional": False})


@settings(max_examples=EXAMPLES)
@given(history=st.lists(steps, min_size=1, max_size=10))
def test_what_was_known_is_what_was_read(plain: Handle, look: Look, history: list[Step]) -> None:
    run = Run(plain, look)
    told: dict[datetime, list[Any]] = {}
    for number, step in enumerate(history):
        run.write(number, step)
        known = run.last_recorded()
        if known is not None and known not in told:
            told[known] = run.reads()
    for known, then in told.items():
        assert run.reads(known) == then
