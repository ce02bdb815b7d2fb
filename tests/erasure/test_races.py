"""What others write while something is forgotten, and what they may still write afterwards."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import neo4j
import pytest

from graphmem import Handle, Outcome
from graphmem.client.log_queue import AccessLog
from graphmem.erasure.guard import TRUST_S, ErasureGuard
from graphmem.errors import ErasedError
from graphmem.rules import identity
from tests.client.test_forgetting import LIMIT, MARK, holding
from tests.plugins.clients import on, on_tenant
from tests.plugins.faults import Holding
from tests.plugins.graph import NODES, Look
from tests.plugins.texts import unlike
from tests.plugins.waiting import until_erased

Telling = Callable[[str, int], None]


def at_first(happens: Callable[[], object]) -> Telling:
    """Let something happen when every writer sees the tombstone, before anything is removed."""
    left = [happens]

    def tell(_kind: str, _count: int) -> None:
        if left:
            time.sleep(TRUST_S)
            left.pop()()

    return tell


def searches(look: Look, tenant: str) -> dict[str, int]:
    """The searches that were logged, with the numbers of their results."""
    rows = look.rows(
        "MATCH (e:Event {tenant: $tenant, type: 'SEARCH'}) "
        "RETURN e.payload AS payload, COUNT { (e)-[:RETURNED]->() } AS results",
        tenant=tenant,
    )
    return {json.loads(row["payload"])["query"]: row["results"] for row in rows}


def told(memory: Handle) -> dict[str, str]:
    """Something that MARK stands in, by kind, and a memory that it does not stand in."""
    with memory.session("secret") as session:
        session.add_messages([{"role": "user", "content": f"{MARK} is here", "id": "1"}])
        known = str(session.remember(f"{MARK} opens the payments service at noon").memory_id)
    belief = memory.observe("alice", "works_on", MARK).belief_id
    kept = str(memory.remember(unlike(1)).memory_id)
    [turn] = memory.episodes.turns(session.episode_id).turns
    return {
        "memory": known,
        "belief": belief,
        "episode": session.episode_id,
        "turn": turn.id,
        "kept": kept,
    }


def other_process(memory: Handle) -> Handle:
    """The same handle as another process has it: what it logs waits there."""
    state = memory._state
    assert isinstance(state.context.services.graph, ErasureGuard)
    graph = ErasureGuard(state.context.services.graph._inner, time.monotonic)
    return on(type(memory)(replace(state, accesses=AccessLog())), graph=graph)


@pytest.mark.parametrize(
    ("what", "found"),
    [("memory", "memory"), ("belief", "belief"), ("episode", "turn"), ("episode", "memory")],
)
@pytest.mark.parametrize("early", [True, False])
def test_a_search_that_waits_goes_with_the_last_of_its_results(
    plain: Handle,
    look: Look,
    tenant: str,
    what: str,
    found: str,
    early: bool,  # noqa: FBT001
) -> None:
    """Whether it is written before what it found is removed, or after."""
    known = told(plain)
    late = other_process(plain)
    late.usage.log_search(f"where is {MARK}?", tool="grep", results=[known[found]])
    late.usage.log_search("both", tool="grep", results=[known[found], known["kept"]])
    late.usage.log_search("nothing", tool="grep")
    done = plain.forget(
        what, known[what], dry_run=False, on_progress=at_first(late.usage.flush if early else bool)
    )
    assert late.usage.flush() == (0 if early else 2)
    assert done.clean
    assert searches(look, tenant) == {"both": 1, "nothing": 0}
    assert holding(look, tenant, f"where is {MARK}?") == []
    assert plain.forget(what, known[what]).left == 0


def test_nothing_of_what_is_being_forgotten_is_logged(
    plain: Handle, look: Look, tenant: str
) -> None:
    known = told(plain)
    late = other_process(plain)
    late.usage.log_search(f"where is {MARK}?", tool="grep", results=[known["memory"]])
    late.usage.log_search("both", tool="grep", results=[known["memory"], known["kept"]])
    looking = other_process(plain)
    looking.expand(known["memory"])
    seen: list[dict[str, int]] = []

    def happens() -> None:
        late.usage.flush()
        looking.usage.flush()
        seen.append(searches(look, tenant))

    plain.forget("memory", known["memory"], dry_run=False, on_progress=at_first(happens))
    assert seen == [{"both": 1}]
    rows = look.rows("MATCH (e:Event {tenant: $t, type: 'ACCESS'}) RETURN e", t=tenant)
    assert rows == []


def test_a_search_that_is_logged_while_its_result_goes_goes_with_it(
    plain: Handle, look: Look, tenant: str
) -> None:
    """What goes with an episode has no tombstone: the log is refused by nothing but a lock."""
    with plain.session("secret") as session:
        known = str(session.remember(f"{MARK} opens the payments service at noon").memory_id)
    late = other_process(plain)
    late.usage.log_search(f"where is {MARK}?", tool="grep", results=[known])
    logging = threading.Thread(target=late.usage.flush)
    tried: list[bool] = []

    def happens() -> None:
        if not tried:
            logging.start()
            logging.join(1)
            tried.append(logging.is_alive())

    graph = Holding(plain._state.context.services.graph, "erase/events", happens)
    done = on(plain, graph=graph).forget("episode", session.episode_id, dry_run=False)
    logging.join(300)
    assert tried == [True]
    assert done.clean
    assert searches(look, tenant) == {}
    assert holding(look, tenant, MARK) == []


def test_the_log_of_another_tenant_goes_on(plain: Handle, look: Look, tenant: str) -> None:
    """The same text has the same id there, and stays."""
    other = f"{tenant}-2"
    known = str(plain.remember(unlike(1)).memory_id)
    assert str(on_tenant(plain, other).remember(unlike(1)).memory_id) == known
    late = other_process(plain)
    for name in (tenant, other):
        on_tenant(late, name).usage.log_search("where?", tool="grep", results=[known])
    plain.forget("memory", known, dry_run=False, on_progress=at_first(late.usage.flush))
    assert searches(look, tenant) == {}
    assert searches(look, other) == {"where?": 1}


def test_a_session_of_a_forgotten_scope_is_not_logged(
    plain: Handle, look: Look, tenant: str
) -> None:
    gone = plain.scope("gone")
    known = str(gone.remember(unlike(1)).memory_id)
    with other_process(plain).scope("gone").session("s") as session:
        session.expand(known)
        gone.forget("scope", "gone", dry_run=False)
    assert session.usage.flush() == 0
    rows = look.rows(NODES + "WITH n WHERE n.scope = 'gone' RETURN labels(n)", tenant=tenant)
    assert rows == []


@pytest.mark.parametrize("trusting", [False, True])
def test_a_write_that_only_names_it_keeps_its_text(
    plain: Handle,
    look: Look,
    tenant: str,
    trusting: bool,  # noqa: FBT001
) -> None:
    """It names the memory in its payload alone. It saw no tombstone; or it sees it at its end."""
    known = str(plain.remember(LIMIT.format(100)).memory_id)
    done: list[Any] = []
    eraser = threading.Thread(
        target=lambda: done.append(plain.forget("memory", known, dry_run=False))
    )

    def happens() -> None:
        eraser.start()
        until_erased(look, tenant)

    services = plain._state.context.services
    assert isinstance(services.graph, ErasureGuard)
    guarded = ErasureGuard(services.graph._inner, time.monotonic)
    if trusting:
        guarded._looked[tenant] = time.monotonic() + 60
    late = on(plain, graph=Holding(guarded, "commit/write", happens))
    written = late.remember(LIMIT.format(200), event_id="update")
    eraser.join(300)
    assert written.possible_update_of == known
    assert done[0].clean
    assert done[0].unmentioned == int(trusting)
    assert holding(look, tenant, known) == []
    assert plain.memories.get(str(written.memory_id)).content == LIMIT.format(200)
    assert plain.remember(LIMIT.format(200), event_id="update").possible_update_of == "erased"


@pytest.mark.parametrize("what", ["memory", "episode"])
def test_what_is_named_while_it_goes_is_looked_for_again(
    plain: Handle, look: Look, tenant: str, what: str
) -> None:
    """What goes with an episode has no tombstone: only a second look finds who named it."""
    with plain.session("secret") as session:
        known = str(session.remember(LIMIT.format(100)).memory_id)
    gone = known if what == "memory" else session.episode_id

    def happens() -> None:
        plain.remember(LIMIT.format(200), event_id="update")

    done = plain.forget(what, gone, dry_run=False, on_progress=at_first(happens))
    assert done.clean
    assert holding(look, tenant, known) == []


def test_a_repeated_forget_looks_again(
    plain: Handle, look: Look, tenant: str, driver: neo4j.Driver
) -> None:
    known = str(plain.remember(unlike(1), event_id="first").memory_id)
    plain.remember(unlike(2), event_id="other")
    plain.forget("memory", known, dry_run=False)
    assert plain.forget("memory", known).left == 0
    payload = json.dumps({"possible_update_of": known, "outcome": Outcome.INSERTED_NEW})
    driver.execute_query(
        "MATCH (e:Event {tenant: $tenant, id: 'other'}) SET e.payload = $payload "
        "CREATE (:Rating {tenant: $tenant, scope: 'global', kind: 'Memory', id: $id})",
        tenant=tenant,
        payload=payload,
        id=known,
    )

    plan = plain.forget("memory", known)
    done = plain.forget("memory", known, dry_run=False)

    assert (plan.repeated, plan.left, plan.clean) == (True, 2, False)
    assert (done.repeated, done.left, done.unmentioned) == (True, 0, 1)
    assert holding(look, tenant, known) == []


def test_a_neighbour_closes_nothing(plain: Handle) -> None:
    """Ids of memories and episodes can be computed, and ids of events are chosen."""
    alice, bob = plain.scope("user:alice"), plain.scope("user:bob")
    now, later = unlike(1), unlike(2)
    bob.remember(now)
    known = identity.memory_id("user:bob", now)
    belief = bob.observe("bob", "works_on", "Atlas").belief_id
    chosen = (
        known,
        belief,
        identity.memory_id("user:bob", later),
        identity.episode_id("user:bob", "tuesday"),
        "bobs-own",
    )
    for n, wanted in enumerate(chosen, 10):
        own = alice.remember(unlike(n), event_id=wanted)
        assert alice.forget("memory", str(own.memory_id), dry_run=False).clean

    assert bob.remember(now).outcome is Outcome.EXACT_DUPE
    assert bob.remember(later).outcome is Outcome.INSERTED_NEW
    assert bob.supersede(known, unlike(3)).older_id == known
    assert bob.observe("bob", "works_on", "Atlas").belief_id == belief
    with bob.session("tuesday") as session:
        session.add_messages([{"role": "user", "content": "hello", "id": "1"}])
        assert session.remember(unlike(4), event_id="bobs-own").outcome is Outcome.INSERTED_NEW
    # In her own scope the ids stay hers, and closed, and only as what they were.
    monday = identity.episode_id("user:alice", "monday")
    own = alice.remember(unlike(20), event_id=monday)
    assert alice.forget("memory", str(own.memory_id), dry_run=False).clean
    alice.session("monday").add_messages([{"role": "user", "content": "hello", "id": "1"}])
    assert alice.remember(unlike(30), event_id=known).hygiene_reasons == ("erased",)


def test_an_episode_of_a_chosen_id_closes_nothing(plain: Handle) -> None:
    alice, bob = plain.scope("user:alice"), plain.scope("user:bob")
    known = identity.memory_id("user:bob", unlike(1))
    alice.episodes.add(episode_id=known, content=unlike(2))
    assert alice.forget("episode", known, dry_run=False).clean
    assert bob.remember(unlike(1), event_id="e1").memory_id == known
    with pytest.raises(ErasedError):
        alice.episodes.add(episode_id=known, content=unlike(2))
    assert bob.episodes.add(episode_id=known, content=unlike(2)) == known


def test_what_refers_to_what_was_forgotten_is_refused(plain: Handle) -> None:
    """By the id of an episode, an event or a turn, not only by what it writes itself."""
    plain.observe("alice", "works_on", "Atlas", event_id="o1")
    with plain.session("secret") as session:
        session.add_messages([{"role": "user", "content": unlike(1), "id": "1"}])
    [turn] = plain.episodes.turns(session.episode_id).turns
    refused: list[str] = []

    def happens() -> None:
        for origin in ({"episode_id": session.episode_id}, {"turn_id": turn.id}):
            with pytest.raises(ErasedError):
                plain.observe("alice", "works_on", "Borea", **origin)  # type: ignore[arg-type]
            refused.append(str(origin))

    assert plain.forget(
        "episode", session.episode_id, dry_run=False, on_progress=at_first(happens)
    ).clean
    assert len(refused) == 2


def test_an_event_that_only_quotes_a_turn_goes_with_it(
    plain: Handle, look: Look, tenant: str
) -> None:
    with plain.session("secret") as session:
        session.add_messages([{"role": "user", "content": f"{MARK} is here", "id": "1"}])
    [turn] = plain.episodes.turns(session.episode_id).turns
    plain.observe("alice", "works_on", "Atlas", event_id="kept")
    plain.observe(
        "alice", "works_on", "Atlas", event_id="quoting", turn_id=turn.id, note=f"{MARK} told"
    )
    [edges] = look.rows(
        "MATCH (e:Event {tenant: $tenant, id: 'quoting'}) RETURN COUNT { (e)-[:QUOTES]->() } AS to,"
        " COUNT { (e)-[:OCCURRED_IN]->() } AS episodes",
        tenant=tenant,
    )
    assert edges == {"to": 1, "episodes": 0}

    done = plain.forget("episode", session.episode_id, dry_run=False)

    assert done.clean
    assert done.counts == {"Episode": 1, "Turn": 1, "Event": 1}
    assert holding(look, tenant, MARK) == holding(look, tenant, "quoting") == []
    [left] = plain.current("alice", "works_on").candidates
    assert left.events == 1
    assert plain.admin.verify().wrong == ()
