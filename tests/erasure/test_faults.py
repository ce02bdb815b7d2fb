"""What fails half-way while something is forgotten, and what others write meanwhile."""

from __future__ import annotations

import re
import signal
import threading
import time
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from typing import Any

import neo4j
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphmem import Handle
from graphmem.erasure import job, targets
from graphmem.erasure.guard import ErasureGuard
from graphmem.errors import ErasedError, GraphUnavailableError
from graphmem.model import Origin
from graphmem.settings import Settings
from tests.client.test_forgetting import MARK, holding
from tests.plugins import children
from tests.plugins.clients import on, on_tenant
from tests.plugins.examples import examples
from tests.plugins.faults import Dying, Holding, Retrying
from tests.plugins.graph import Look, fresh_tenant
from tests.plugins.histories import clocked
from tests.plugins.texts import unlike
from tests.plugins.waiting import until_erased

MAY = datetime(2025, 5, 5, tzinfo=UTC)
NOON = datetime(2026, 2, 1, tzinfo=UTC)
DAY = timedelta(days=1)
FACETS = re.compile(r"\('facet_keys', \[[^]]*\]\)")


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every transaction does little, so that there are many of them."""
    monkeypatch.setattr(targets, "PAGE", 2)
    monkeypatch.setattr(job, "ITEMS", 1)


def told(memory: Handle) -> Handle:
    """What stays, and beside it an episode that MARK stands in all over."""
    then = clocked(memory, NOON)
    then.observe("alice", "works_on", "Atlas", event_id="o1", at=MAY)
    then.remember(unlike(1), event_id="e1", at=MAY)
    with then.session("secret") as session:
        session.add_messages(
            [
                {"role": "user", "content": f"{MARK} {unlike(n)}", "id": str(n), "at": MAY}
                for n in range(3)
            ]
        )
        session.remember(f"{MARK} {unlike(4)}", event_id="e2", at=MAY)
        session.remember(unlike(1), event_id="e3", at=MAY + DAY)
        for n, what in enumerate((MARK, "Atlas", f"{MARK} 2")):
            session.observe("alice", "works_on", what, event_id=f"s{n}", at=MAY + n * DAY)
    return memory


def episode_of(memory: Handle) -> str:
    return str(memory.session("secret").episode_id)


def kept(look: Look, memory: Handle) -> dict[str, list[Any]]:
    """The graph without what two tenants never share: the digests of facets, and who is locked."""
    found = look.graph(memory._state.context.tenant)
    nodes = [FACETS.sub("", one) for one in found["node"] if one != "(['Tenant'], [])"]
    return {**found, "node": nodes}


@pytest.fixture
def never(plain: Handle) -> Handle:
    """A tenant that was told the rest alone."""
    memory = on_tenant(plain, fresh_tenant())
    then = clocked(memory, NOON)
    then.observe("alice", "works_on", "Atlas", event_id="o1", at=MAY)
    then.remember(unlike(1), event_id="e1", at=MAY)
    return memory


@pytest.mark.usefixtures("small")
def test_wherever_it_dies_it_is_gone_on_with(plain: Handle, never: Handle, look: Look) -> None:
    wanted = kept(look, never)
    nth, died = 1, True
    while died:
        for late in (False, True):
            memory = told(on_tenant(plain, fresh_tenant()))
            dying = Dying(memory._state.context.services.graph, nth, late=late)
            died = False
            try:
                on(memory, graph=dying).forget("episode", episode_of(memory), dry_run=False)
            except GraphUnavailableError:
                died = True
            assert memory.forget("episode", episode_of(memory), dry_run=False).left == 0
            assert kept(look, memory) == wanted
            assert memory.admin.verify().wrong == ()
        nth += 3
    assert nth > 9


def test_a_transaction_that_is_run_twice_erases_once(
    plain: Handle, never: Handle, look: Look
) -> None:
    memory = told(plain)
    retrying = Retrying(memory._state.context.services.graph)
    done = on(memory, graph=retrying).forget("episode", episode_of(memory), dry_run=False)
    assert done.clean
    assert kept(look, memory) == kept(look, never)


FORGET = """
import sys
from graphmem import GraphMem
from graphmem.erasure import job, targets
from graphmem.testing import HashEmbedder
targets.PAGE, job.ITEMS = 1, 1
memory = GraphMem.open(embedder=HashEmbedder())
print("ready", flush=True)
seen = 0
def tell(kind, count):
    global seen
    seen += kind == "node"
    if seen == 4:
        print("half", flush=True)
        sys.stdin.readline()
memory.forget("episode", sys.argv[1], dry_run=False, on_progress=tell)
"""


@pytest.mark.system
def test_a_killed_process_is_followed_by_one_that_finishes(
    plain: Handle, never: Handle, look: Look, tenant: str, migrated: Settings
) -> None:
    memory = told(plain)
    episode = episode_of(memory)
    with children.running(FORGET, episode, settings=migrated, tenant=tenant) as child:
        assert child.stdout is not None
        assert [child.stdout.readline() for _ in range(2)] == ["ready\n", "half\n"]
        child.send_signal(signal.SIGKILL)
    assert holding(look, tenant, MARK) != []

    assert memory.forget("episode", episode, dry_run=False).clean

    assert holding(look, tenant, MARK) == []
    assert kept(look, memory) == kept(look, never)


@pytest.mark.parametrize("trusting", [False, True])
def test_a_write_that_is_under_way_is_refused_or_goes(
    plain: Handle,
    look: Look,
    tenant: str,
    trusting: bool,  # noqa: FBT001
) -> None:
    """It is refused by the tombstone; or it was seen a moment ago that there is none."""
    belief = plain.observe("alice", "works_on", MARK).belief_id
    done: list[Any] = []
    eraser = threading.Thread(
        target=lambda: done.append(plain.forget("belief", belief, dry_run=False))
    )

    def happens() -> None:
        eraser.start()
        until_erased(look, tenant)

    guarded = plain._state.context.services.graph
    assert isinstance(guarded, ErasureGuard)
    guarded = ErasureGuard(guarded._inner, time.monotonic)
    if trusting:
        guarded._looked[tenant] = time.monotonic() + 60
    late = on(plain, graph=Holding(guarded, "belief/append", happens))
    with nullcontext() if trusting else pytest.raises(ErasedError):
        late.observe("alice", "works_on", MARK, note=MARK)
    eraser.join(300)
    assert done[0].clean
    assert holding(look, tenant, MARK) == []


def test_a_write_that_has_looked_already_is_waited_for(
    plain: Handle, look: Look, tenant: str, driver: neo4j.Driver
) -> None:
    """It commits after the tombstone and goes all the same."""
    belief = plain.observe("alice", "works_on", MARK).belief_id
    done: list[Any] = []
    eraser = threading.Thread(
        target=lambda: done.append(plain.forget("belief", belief, dry_run=False))
    )
    with driver.session() as session, session.begin_transaction() as tx:
        tx.run(
            "CREATE (e:Event {tenant: $tenant, id: 'late', scope: 'global', type: 'EVIDENCE', "
            "polarity: 1, occurred_at: datetime(), recorded_at: datetime(), payload: $payload}) "
            "WITH e MATCH (b:Belief {tenant: $tenant, id: $belief}) CREATE (e)-[:SUPPORTS]->(b)",
            tenant=tenant,
            belief=belief,
            payload=f'{{"note": "{MARK}"}}',
        ).consume()
        eraser.start()
        eraser.join(1)
        assert eraser.is_alive()
        tx.commit()
    eraser.join(300)
    assert done[0].clean
    assert holding(look, tenant, MARK) == holding(look, tenant, "late") == []


PIECES = st.lists(
    st.tuples(
        st.sampled_from(["one", "two", None]),
        st.sampled_from(["Atlas", "Borea", "Castor"]),
        st.sampled_from(["supporting", "refuting", "believe", "retract"]),
        st.integers(0, 9),
    ),
    min_size=1,
    max_size=8,
)


Piece = tuple[str | None, str, str, int]


def say(then: Handle, pieces: list[Piece], *, whole: bool) -> None:
    """Say the pieces, or those alone that the episode `two` has no part in."""
    there: set[str] = set()  # Evidence, which alone can be taken back.
    for n, (episode, what, kind, day) in enumerate(pieces):
        origin: dict[str, Any] = {"event_id": f"o{n}", "at": MAY + day * DAY}
        if kind == "retract":
            if (target := f"o{day}") in there:
                then.beliefs.retract(target, origin=Origin(event_id=f"o{n}"), at=origin["at"])
            continue
        if episode == "two" and not whole:
            continue
        within: dict[str, Any] = {} if episode is None else {"episode_id": episode}
        if kind == "believe":
            then.believe(f"It is {what}", **origin, **within)
        else:
            there.add(f"o{n}")
            then.observe("alice", "works_on", what, kind=kind, **origin, **within)  # type: ignore[arg-type]


@settings(max_examples=examples(8, 60, 300))
@given(pieces=PIECES)
def test_the_same_as_if_the_episode_had_never_been(
    plain: Handle, look: Look, pieces: list[Piece]
) -> None:
    graphs = []
    for whole in (True, False):
        memory = on_tenant(plain, fresh_tenant())
        then = clocked(memory, NOON)
        then.episodes.add(episode_id="one", content=unlike(1), at=MAY)
        if whole:
            then.episodes.add(episode_id="two", content=unlike(2), at=MAY)
        say(then, pieces, whole=whole)
        if whole:
            assert memory.forget("episode", "two", dry_run=False).clean
        graphs.append(kept(look, memory))
        assert memory.admin.verify().wrong == ()
    assert graphs[0] == graphs[1]
