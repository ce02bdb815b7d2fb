"""Law 1: whatever is done, no event that was there changes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from graphmem import Handle
from graphmem.errors import GraphmemError
from graphmem.model import Origin
from tests.isolation.calls import WRITES
from tests.isolation.victims import known_besides
from tests.plugins.episodes import FEW, SWIMS, tell
from tests.plugins.everything import write_everything
from tests.plugins.graph import Look
from tests.plugins.texts import WINDOW, restated, unlike

REMOVES = {
    *("usage.roll_up", "forget", "admin.erase_tenant", "admin.reopen"),
    *("admin.erase_person", "admin.reopen_person"),
}
"""Searches of the log, whole: see tests/client/test_rolling_up.py. What is erased, or reopened:
see tests/client/test_forgetting.py."""


class Watched:
    """A handle, or what it leads to, after each of whose calls the events are compared."""

    def __init__(self, of: Any, compare: Callable[[str], None], name: str = "") -> None:
        self._of, self._compare, self._name = of, compare, name

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._of, name)
        return found if isinstance(found, str) else Watched(found, self._compare, name)

    def __call__(self, *given: Any, **named: Any) -> Any:
        done = self._of(*(one._of if isinstance(one, Watched) else one for one in given), **named)
        self._compare(self._name)
        return Watched(done, self._compare) if self._name in {"session", "scope"} else done

    def __enter__(self) -> Watched:
        return Watched(self._of.__enter__(), self._compare)

    def __exit__(self, *error: object) -> None:
        self._of.__exit__(*error)
        self._compare("exit")


def gained(before: dict[str, Any], after: dict[str, Any]) -> list[list[str]]:
    """The edges that an event has more than before; none may be lost."""
    assert all(edge in after["edges"] for edge in before["edges"])
    return [edge for edge in after["edges"] if edge not in before["edges"]]


def write_besides(memory: Handle, folder: Path) -> None:
    """Write what differs by what was there, or is seldom written."""
    for missing in ("to come", "and back"):
        memory.beliefs.retract(missing, missing_ok=True, origin=Origin(event_id=f"r {missing}"))
    memory.beliefs.retract("r and back")
    for late in ("to come", "and back"):
        memory.observe("alice", "works_on", "Atlas", event_id=late)
    for text in (WINDOW, restated(5)):
        memory.remember(text)
    foreign = {"id": "1", "memory": unlike(43), "created_at": "2025-05-05T00:00:00Z"}
    memory.admin.import_foreign([foreign | {"user_id": "al"}], "mem0")
    belief = memory.believe(unlike(34))
    memory.beliefs.revise(belief, unlike(35))
    memory.believe(unlike(34))
    memory.beliefs.merge([memory.believe(unlike(n)) for n in (36, 37)], unlike(38))
    memory.believe("I drink coffee after four", confidence=0.95)
    tell(memory, [*SWIMS, "I never drink coffee after four."])
    memory.consolidate(policy=FEW)
    session = memory.session("said")
    session.add_messages([{"role": "user", "content": "I like tea."}])
    session.extract(extractor="rules")
    session.add_messages([{"role": "user", "content": "I work at Acme."}])
    for one in session.extract(extractor="rules", review=True).proposals:
        memory.proposals.dismiss([one.event_id])
    memory.memories.restore(memory.memories.list().memories[0].id)
    memory.episodes.graduate(folder / "MEMORY.md")
    with memory.session("s9") as asks:
        asks.expand(asks.recall(unlike(1)).bites[0].id)
    memory.usage.rate()


def test_no_write_changes_an_event(plain: Handle, look: Look, tenant: str, tmp_path: Path) -> None:
    before = look.events(tenant)

    def compare(name: str) -> None:
        nonlocal before
        after = look.events(tenant)
        if name == "forget":
            before = {k: before[k] for k in before if k in after}
        # What was retracted beforehand is linked to its retraction when it comes.
        links = [gained(before[k], after[k]) for k in before if k in after]
        assert {k: {**after[k], "edges": before[k]["edges"]} for k in before} == before, name
        kinds = {kind for link in links for kind, _, _ in link}
        assert kinds <= {"RETRACTS", "WITHIN", "RATED"}, name
        before = after

    memory: Any = Watched(plain, compare)
    known = write_everything(memory)
    write_everything(memory.scope("alice"), mark="a")
    for _ in range(2):
        write_besides(memory, tmp_path)
    known |= known_besides(plain, tenant, known)
    for name, call in WRITES.items():
        if name not in REMOVES:
            with suppress(GraphmemError):
                call(memory, known)
            compare(name)
    assert plain.admin.verify().wrong == ()
    assert " ".join(sorted({event["type"] for event in before.values()})) == (
        "ACCEPT ACCESS ADD ARCHIVE BELIEVE COMPRESS DEPRECATE DISMISS EVIDENCE FLAG GRADUATE "
        "IMPORT MERGE PIN POLICY PROPOSE REINFORCE_EXACT REINFORCE_NEAR REJECT RESOLVE RESTORE "
        "RETRACT REVISE SAME_AS SEARCH SESSION_END SESSION_START SPLIT SUPERSEDE UNPIN UNREJECT"
    )
    rows = look.rows(
        "MATCH (e:Event {tenant: $tenant}) RETURN e.recorded_at AS at, e.id AS id, "
        "  e.scope AS scope, e.occurred_at AS occurred_at, e.request_hash AS asked, "
        "  duration.between(e.recorded_at, datetime.realtime()).seconds AS age, "
        "  e.recorded_at.nanosecond % 1000 AS below_microseconds",
        tenant=tenant,
    )
    # Events carry the clock of the server.
    for row in rows:
        assert None not in row.values()
        assert 0 <= row["age"] < 300
        assert row["below_microseconds"] == 0
