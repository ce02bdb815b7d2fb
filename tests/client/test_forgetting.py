"""Erasure: what goes, what stays, what is refused, and that nothing is left."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from graphmem import Handle, Outcome, Status
from graphmem.erasure import certificates
from graphmem.errors import (
    ErasedError,
    ForeignScopeError,
    InvalidInputError,
    NotFoundError,
    RefusedError,
)
from graphmem.items import PutItem
from graphmem.model import Origin
from tests.plugins.clients import Door, on_tenant
from tests.plugins.episodes import FEW, SWIMS, tell
from tests.plugins.everything import write_everything
from tests.plugins.graph import NODES, Look, fresh_tenant
from tests.plugins.texts import WINDOW, restated, unlike

MAY = datetime(2025, 5, 5, tzinfo=UTC)
DAY = timedelta(days=1)
MARK = "Xanthippe"
"""A word that stands in everything that is forgotten, and nowhere else."""
LIMIT = "The limit of the upload queue in the payments service is {} and is checked every night"


def holding(look: Look, tenant: str, text: str) -> list[str]:
    """Every property of a node or an edge of the tenant that holds a text, as label.property."""
    rows = look.rows(
        NODES + "UNWIND keys(n) AS k WITH n, k "
        "WHERE CASE WHEN n[k] IS :: LIST<ANY> THEN any(x IN n[k] WHERE toStringOrNull(x) "
        "  CONTAINS $text) ELSE toStringOrNull(n[k]) CONTAINS $text END "
        "RETURN labels(n)[0] + '.' + k AS found "
        "UNION ALL " + NODES + "MATCH (n)-[r]->() UNWIND keys(r) AS k "
        "WITH r, k WHERE toStringOrNull(r[k]) CONTAINS $text RETURN type(r) + '.' + k AS found",
        tenant=tenant,
        text=text,
    )
    return sorted({row["found"] for row in rows})


def test_a_memory_goes_with_all_that_tells_of_it(memory: Handle, look: Look, tenant: str) -> None:
    text = f"{MARK} opens the payments service every Friday at noon"
    done = memory.remember(
        text, event_id="first", tags=["t"], claims=[("service", "owned_by", MARK)]
    )
    known = str(done.memory_id)
    memory.remember(text, event_id="again")
    assert memory.remember(text.upper()).outcome is Outcome.NEAR_DUPE
    with memory.session("s") as session:
        session.expand(session.recall(text).bites[0].id)
    memory.usage.rate()
    memory.memories.deprecate(known, reason=f"{MARK} said so")
    other = memory.remember(unlike(1))
    before = memory.memories.get(str(other.memory_id))
    assert {"Memory.content", "Event.payload", "Belief.object"} <= set(holding(look, tenant, MARK))

    plan = memory.forget("memory", known)
    assert not plan.applied
    assert plan.left is None
    assert memory.memories.get(known).content == text
    found = memory.forget("memory", known, dry_run=False)

    assert found.applied
    assert found.counts == plan.counts
    assert found.counts["Memory"] == found.counts["Belief"] == found.counts["Rating"] / 2 == 1
    assert found.clean
    assert found.elsewhere == ()
    assert holding(look, tenant, known) == []
    assert holding(look, tenant, MARK) == []
    assert {bite.id for bite in memory.recall(text, include_hidden=True).bites} == {other.memory_id}
    with pytest.raises(NotFoundError):
        memory.memories.get(known)
    assert memory.memories.get(str(other.memory_id)) == before
    assert memory.admin.verify().wrong == ()


def test_an_export_of_before_brings_nothing_back(
    memory: Handle, look: Look, tenant: str, tmp_path: Path
) -> None:
    text = f"{MARK} opens the payments service every Friday at noon"
    known = str(memory.remember(text, claims=[("service", "owned_by", MARK)]).memory_id)
    memory.admin.export_to(tmp_path / "before.jsonl")
    memory.forget("memory", known, dry_run=False)
    erased = memory.admin.import_from(tmp_path / "before.jsonl").erased
    assert erased == {"Belief": 1, "Event": 1, "Memory": 1}
    assert holding(look, tenant, MARK) == []
    memory.admin.export_to(tmp_path / "after.jsonl")
    assert MARK not in (tmp_path / "after.jsonl").read_text("utf-8")
    assert memory.admin.import_from(tmp_path / "after.jsonl").written == 0


def test_what_stays_names_a_memory_no_more(memory: Handle, look: Look, tenant: str) -> None:
    known = str(memory.remember(LIMIT.format(100)).memory_id)
    update = memory.remember(LIMIT.format(200), event_id="update")
    assert update.possible_update_of == known

    assert memory.forget("memory", known).unmentioned == 1
    assert memory.forget("memory", known, dry_run=False).unmentioned == 1

    assert holding(look, tenant, known) == []
    assert memory.memories.get(str(update.memory_id)).content == LIMIT.format(200)
    assert memory.remember(LIMIT.format(200), event_id="update").possible_update_of == "erased"


def test_a_chain_closes_over_what_is_forgotten(memory: Handle) -> None:
    first = str(memory.remember(unlike(1), at=MAY).memory_id)
    second = memory.supersede(first, unlike(2), at=MAY + DAY, reason="two").newer_id
    third = memory.supersede(second, unlike(3), at=MAY + 2 * DAY, reason="three").newer_id

    assert memory.forget("memory", second, dry_run=False).clean

    chain = memory.memories.chain(first)
    assert [one.id for one in chain.memories] == [first, third]
    assert chain.head_ids == (third,)
    assert memory.memories.get(first).status is Status.SUPERSEDED
    # Without its head the chain reads as if that had never been.
    assert memory.forget("memory", third, dry_run=False).clean
    assert memory.memories.get(first).status is Status.CURRENT
    assert memory.admin.verify().wrong == ()


REDELIVERED: dict[str, Callable[[Handle, str], Any]] = {
    "observe": lambda m, _: m.observe("alice", "works_on", MARK),
    "observe_many": lambda m, _: m.observe_many(
        [{"subject": "alice", "predicate": "works_on", "object": MARK}]
    ),
    "same event": lambda m, _: m.observe("bob", "works_on", "Atlas", event_id="o1"),
    "evidence": lambda m, b: m.add_evidence(b, "supporting", 0.7),
}


def test_a_belief_goes_and_is_refused(memory: Handle, look: Look, tenant: str) -> None:
    belief = memory.observe("alice", "works_on", MARK, event_id="o1", note=f"{MARK}!").belief_id
    memory.observe("alice", "works_on", "Atlas", at=MAY)
    memory.add_evidence(belief, "refuting", 0.8)
    memory.beliefs.retract("o1", origin=Origin(event_id="r1", note=f"not {MARK}"))
    kept = memory.current("alice", "works_on").candidates

    plan = memory.forget("belief", belief)
    done = memory.forget("belief", belief, dry_run=False)

    assert done.counts == plan.counts
    assert done.counts == {"Belief": 1, "Event": 3}
    assert done.clean
    assert holding(look, tenant, MARK) == holding(look, tenant, belief) == []
    assert [c.object for c in memory.current("alice", "works_on").candidates] == ["Atlas"]
    assert {c.object for c in kept} == {"Atlas", MARK}
    events = look.events(tenant)
    for name, send in REDELIVERED.items():
        with pytest.raises((ErasedError, NotFoundError)) as refused:
            send(memory, belief)
        assert isinstance(refused.value, ErasedError) or name == "evidence"
    assert look.events(tenant) == events
    assert holding(look, tenant, MARK) == []


def test_a_memory_that_claims_a_forgotten_belief_stays(memory: Handle) -> None:
    done = memory.remember(WINDOW, claims=[("window", "opens", "noon")])
    [belief] = done.belief_ids

    found = memory.forget("belief", belief, dry_run=False)

    assert found.clean
    assert found.counts == {"Belief": 1}
    assert found.unmentioned == 1
    assert memory.memories.get(str(done.memory_id)).content == WINDOW
    assert memory.admin.verify().wrong == ()


def test_a_text_that_was_forgotten_is_refused_and_its_batch_goes_on(memory: Handle) -> None:
    known = str(memory.remember(unlike(1), event_id="e1").memory_id)
    memory.forget("memory", known, dry_run=False)

    done = memory.remember_many([unlike(2), unlike(1), unlike(3)])

    assert [one.outcome for one in done] == [
        Outcome.INSERTED_NEW,
        Outcome.REJECTED_HYGIENE,
        Outcome.INSERTED_NEW,
    ]
    assert done[1].hygiene_reasons == ("erased",)
    assert done[1].memory_id is None
    again = memory.remember(unlike(4), event_id="e1")
    assert again.hygiene_reasons == ("erased",)
    # In another scope it is another memory.
    assert memory.scope("alice").remember(unlike(1)).outcome is Outcome.INSERTED_NEW


def test_forgetting_twice_is_told(memory: Handle) -> None:
    known = str(memory.remember(unlike(1)).memory_id)
    memory.forget("memory", known, dry_run=False)
    for apply in (False, True):
        again = memory.forget("memory", known, dry_run=not apply)
        assert again.repeated
        assert again.counts == {}
        assert again.left == 0


def test_what_is_not_there_or_not_ones_own_is_not_forgotten(memory: Handle, tenant: str) -> None:
    shared = str(memory.remember(unlike(1)).memory_id)
    alice = memory.scope("alice")
    with pytest.raises(ForeignScopeError):
        alice.forget("memory", shared, dry_run=False)
    for what, name in (("memory", "m_none"), ("belief", shared), ("episode", shared)):
        with pytest.raises(NotFoundError):
            memory.forget(what, name, dry_run=False)
    nobody = on_tenant(memory, fresh_tenant())
    with pytest.raises(NotFoundError):
        nobody.forget("memory", shared, dry_run=False)
    with pytest.raises(ForeignScopeError):
        memory.forget("scope", "nobody", dry_run=False)
    with pytest.raises(NotFoundError):
        memory.scope("nobody").forget("scope", "nobody", dry_run=False)
    with pytest.raises(NotFoundError):
        nobody.admin.erase_tenant(dry_run=False)
    for kind, given in (("event", "e"), ("memory", ""), ("", "m"), ("tenant", tenant)):
        with pytest.raises(InvalidInputError):
            memory.forget(kind, given)
    assert memory.memories.get(shared).content == unlike(1)


def test_an_episode_goes_with_what_only_it_said(
    memory: Handle, look: Look, tenant: str, tmp_path: Path
) -> None:
    memory.observe("alice", "works_on", "Atlas", at=MAY)
    kept = memory.remember(unlike(1), at=MAY)
    with memory.session("secret") as session:
        session.add_messages([{"role": "user", "content": f"I live in {MARK}.", "id": "1"}])
        session.remember(f"{MARK} is where {unlike(2)}")
        session.remember(unlike(1))
        session.observe("alice", "works_on", "Atlas")
        session.observe("alice", "works_on", MARK)
        session.believe(f"{MARK} is warm")
        session.extract(extractor="rules")
    episode = session.episode_id
    told = memory.episodes.add(episode_id="dear", summary=f"{MARK} is dear", importance=0.9, at=MAY)
    file = tmp_path / "MEMORY.md"
    file.write_text("mine\n", encoding="utf-8")
    memory.episodes.graduate(file)
    assert MARK in file.read_text("utf-8")

    plan = memory.forget("episode", episode)
    done = memory.forget("episode", episode, dry_run=False)
    dear = memory.forget("episode", told, dry_run=False, digests=[file])

    assert done.counts == plan.counts
    assert (done.counts["Turn"], done.counts["Memory"], done.counts["Episode"]) == (1, 1, 1)
    assert done.counts["Belief"] == 3
    assert done.clean
    assert dear.clean
    assert dear.digest_lines == 1
    assert MARK not in file.read_text("utf-8")
    assert file.read_text("utf-8").startswith("mine\n")
    assert holding(look, tenant, MARK) == holding(look, tenant, episode) == []
    [left] = memory.current("alice", "works_on").candidates
    assert (left.object, left.events) == ("Atlas", 1)
    assert memory.memories.get(str(kept.memory_id)).reinforce_count == 0
    assert memory.admin.verify().wrong == ()
    for late in (session, memory.session("secret")):
        with pytest.raises(ErasedError):
            late.add_messages([{"role": "user", "content": "again", "id": "2"}])
    assert holding(look, tenant, episode) == []


@pytest.mark.parametrize("form", ["words", "ids"])
def test_a_turn_goes_alone_and_does_not_come_back(
    memory: Handle, look: Look, tenant: str, tmp_path: Path, form: str
) -> None:
    said = ["I live in Porto.", f"I live in {MARK}.", "I live in Ghent.", "Yes.", "I like tea."]
    history = [{"role": "user", "content": one} for one in said]
    if form == "ids":
        history = [one | {"id": f"m{n}"} for n, one in enumerate(history)]
    with memory.session("s") as session:
        ids = session.add_messages(history).turn_ids
        session.remember(f"{MARK} is where {unlike(2)}", turn_id=ids[1])
        session.remember(unlike(1), turn_id=ids[0])
        session.observe("ann", "lives_in", MARK, turn_id=ids[1])
        session.recall("where do I live?")
        memory.usage.log_access("turn", ids[1])
        session.extract(extractor="rules")
    memory.admin.seal()
    assert MARK in (memory.episodes.get(session.episode_id).summary or "")
    memory.admin.export_to(tmp_path / "before.jsonl")
    copy = str(memory.remember(said[1]).memory_id)

    plan = memory.forget("turn", ids[1][:10])
    assert [one.text for one in plan.texts if one.label == "Turn"] == [said[1]]
    assert [one.id for one in plan.elsewhere] == [copy]
    done = memory.forget("turn", ids[1][:10], dry_run=False)
    assert (done.counts, done.left) == (plan.counts, 0)
    assert (done.counts["Turn"], done.counts["Memory"]) == (1, 1)
    assert [one.id for one in done.elsewhere] == [copy]
    assert memory.forget("memory", copy, dry_run=False).clean

    assert holding(look, tenant, MARK) == holding(look, tenant, ids[1]) == []
    kept = [one for n, one in enumerate(said) if n != 1]
    assert [one.text for one in memory.episodes.turns(session.episode_id).turns] == kept
    assert "Ghent" in (memory.episodes.get(session.episode_id).summary or "")
    [left] = memory.memories.list().memories
    assert left.content == unlike(1)
    assert memory.forget("turn", ids[1], dry_run=False).repeated
    assert memory.admin.verify().wrong == ()
    assert memory.admin.import_from(tmp_path / "before.jsonl").erased["Turn"] == 1
    assert holding(look, tenant, MARK) == holding(look, tenant, ids[1]) == []

    again = memory.session("s").add_messages([*history, {"role": "user", "content": "Yes."}])
    assert (again.turn_ids[: len(ids)], again.added) == (ids, 1)
    assert [one.text for one in memory.episodes.turns(session.episode_id).turns] == [*kept, "Yes."]
    with pytest.raises(ErasedError):
        memory.observe("ann", "lives_in", "Oslo", turn_id=ids[1])


@pytest.mark.parametrize("at", [0, 1, 2])
def test_the_place_of_an_erased_turn_is_kept(memory: Handle, at: int) -> None:
    history = [{"role": "user", "content": one} for one in ("Higher.", "Yes.", "Yes.")]
    session = memory.session("s")
    ids = session.add_messages(history).turn_ids
    assert memory.forget("turn", ids[at], dry_run=False).clean
    assert session.add_messages(history).added == 0
    # The same words of another time are another message.
    more = session.add_messages([*history, {"role": "user", "content": "Lower."}, history[at]])
    assert (more.turn_ids[:3], more.added) == (ids, 2)
    left = [one["content"] for n, one in enumerate(history) if n != at]
    texts = [one.text for one in memory.episodes.turns(session.episode_id).turns]
    assert texts == [*left, "Lower.", history[at]["content"]]


def test_what_was_consolidated_from_an_episode_goes_and_may_come_anew(
    memory: Handle, look: Look, tenant: str
) -> None:
    tell(memory, SWIMS)
    memory.consolidate(policy=FEW, extractive=True)
    [belief] = memory.beliefs.list().beliefs
    quoted = memory.why(belief.id)
    assert quoted is not None
    episode = look.rows(
        "MATCH (p:Episode {tenant: $tenant}) WHERE p.id IS NOT NULL RETURN p.id AS id LIMIT 1",
        tenant=tenant,
    )[0]["id"]

    done = memory.forget("episode", episode, dry_run=False)

    assert done.clean
    assert memory.beliefs.list().beliefs == ()
    assert look.rows("MATCH (r:Reply {tenant: $tenant}) RETURN r.id", tenant=tenant) == []
    assert memory.admin.verify().wrong == ()
    tell(memory, SWIMS[:1], first=9)
    memory.consolidate(policy=FEW, extractive=True)
    assert len(memory.beliefs.list().beliefs) == 1


def test_a_belief_that_was_forgotten_is_not_consolidated_again(memory: Handle) -> None:
    tell(memory, SWIMS)
    memory.consolidate(policy=FEW, extractive=True)
    [belief] = memory.beliefs.list().beliefs

    assert memory.forget("belief", belief.id, dry_run=False).clean
    tell(memory, SWIMS)
    memory.consolidate(policy=FEW, extractive=True)

    assert belief.id not in {one.id for one in memory.beliefs.list().beliefs}
    assert memory.admin.verify().wrong == ()


def test_a_fact_that_was_forgotten_is_not_extracted_again(
    memory: Handle, look: Look, tenant: str
) -> None:
    session = memory.session("s")
    session.add_messages([{"role": "user", "content": "I moved to Lisbon.", "id": "1"}])
    [found] = session.extract(extractor="rules", review=True).proposals
    memory.proposals.accept([found.event_id])
    [belief] = memory.beliefs.list().beliefs

    assert memory.forget("belief", belief.id, dry_run=False).clean
    assert holding(look, tenant, belief.id) == []
    assert memory.proposals.list(status=None).proposals == ()
    again = memory.session("other")
    again.add_messages([{"role": "user", "content": "I moved to Lisbon.", "id": "1"}])
    again.extract(extractor="rules")

    assert memory.beliefs.list().beliefs == ()
    assert holding(look, tenant, belief.id) == []


def test_a_scope_goes_whole_and_is_closed(memory: Handle, look: Look, tenant: str) -> None:
    alice = memory.scope("alice")
    shared = str(memory.remember(WINDOW, at=MAY).memory_id)
    before = memory.memories.get(shared)
    write_everything(alice, mark="a")
    alice.remember(restated(5))
    kept = look.count(tenant)

    plan = alice.forget("scope", "alice")
    done = alice.forget("scope", "alice", dry_run=False)

    assert kept != look.count(tenant)
    assert done.counts == plan.counts
    assert done.clean
    rows = look.rows(NODES + "WITH n WHERE n.scope = 'alice' RETURN labels(n)", tenant=tenant)
    assert rows == []
    # Of an episode, its archive and a belief; of a proposal, a turn and a reply.
    assert holding(look, tenant, unlike(6)) == holding(look, tenant, "Lisbon") == []
    assert memory.memories.get(shared) == before
    assert memory.admin.verify().wrong == ()
    for write in (
        lambda: alice.observe("alice", "works_on", "Atlas"),
        lambda: alice.remember(unlike(1)),
        lambda: alice.episodes.add(episode_id="new", content=unlike(2)),
        lambda: alice.session("s").add_messages([{"role": "user", "content": "x"}]),
    ):
        with pytest.raises(ErasedError):
            write()
    assert memory.remember(unlike(1)).outcome is Outcome.INSERTED_NEW


def test_a_forgotten_scope_is_reopened(memory: Handle, look: Look, tenant: str) -> None:
    alice = memory.scope("alice")
    message = {"role": "user", "content": "I live in Porto.", "id": "1"}

    def write(n: int) -> None:
        alice.remember(unlike(n), event_id=f"r{n}")
        alice.observe("alice", "lives_in", "Porto", event_id=f"o{n}", at=MAY)
        with alice.session(f"s{n}") as session:
            session.add_messages([message])

    write(1)
    with pytest.raises(NotFoundError):
        memory.admin.reopen("alice")
    alice.forget("scope", "alice", dry_run=False)

    done = memory.admin.reopen("alice", origin=Origin(note="signed up again", actor="support"))

    event = look.events(tenant)[done.event_id]
    assert (event["type"], event["scope"], event["actor"]) == ("REOPEN", "alice", "support")
    assert done.forgotten_at < event["recorded_at"].to_native()
    assert not alice.memories.list().memories
    assert not alice.beliefs.list().beliefs
    with pytest.raises(NotFoundError):
        memory.admin.reopen("alice")
    # Ids that were delivered before are refused; the same texts may be stated under new ids.
    refused = alice.remember(unlike(1), event_id="r1")
    assert (refused.outcome, refused.hygiene_reasons) == (Outcome.REJECTED_HYGIENE, ("erased",))
    with pytest.raises(ErasedError):
        alice.observe("alice", "lives_in", "Porto", event_id="o1", at=MAY)
    with pytest.raises(ErasedError):
        alice.session("s1").add_messages([message])
    assert look.count(tenant) == {"Event": 1}
    write(2)
    assert alice.remember(unlike(1)).outcome is Outcome.INSERTED_NEW
    assert [m.content for m in alice.memories.list().memories] == [unlike(1), unlike(2)]
    assert memory.admin.verify().wrong == ()
    alice.forget("scope", "alice", dry_run=False)
    assert done.event_id not in look.events(tenant)
    memory.admin.reopen("alice")


def test_a_session_of_an_erased_name_says_what_to_do(memory: Handle) -> None:
    ann = memory.scope("user:ann")
    with ann.session("chat") as session:
        session.add_messages([{"role": "user", "content": "Hello."}])
    ann.forget("scope", "user:ann", dry_run=False)
    memory.admin.reopen("user:ann")
    again = ann.session("chat")
    for call in (
        lambda: again.add_messages([{"role": "user", "content": "I am back."}]),
        lambda: again.observe("ann", "likes", "tea"),
        lambda: again.remember("Ann drinks tea at dawn."),
    ):
        with pytest.raises(ErasedError, match="session_id: the conversation 'chat'") as refused:
            call()
        assert "another name for the session" in refused.value.hint
    with ann.session("chat-2") as session:
        assert session.add_messages([{"role": "user", "content": "I am back."}]).added == 1


def test_a_scope_is_not_reopened_before_its_erasure_is_recorded(
    memory: Handle, look: Look, tenant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An import knows the files from before an erasure by its record."""
    alice = memory.scope("alice")

    async def died(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    # The record of the first erasure does not count for the second.
    for old in (tmp_path / "1.jsonl", tmp_path / "2.jsonl"):
        alice.items.batch([PutItem(namespace=("notes",), key="door", value={"code": MARK})])
        memory.admin.export_to(old)

        with monkeypatch.context() as patch:
            patch.setattr(certificates, "certify", died)
            with pytest.raises(KeyboardInterrupt):
                alice.forget("scope", "alice", dry_run=False)
        with pytest.raises(RefusedError, match="has not finished"):
            memory.admin.reopen("alice")

        assert alice.forget("scope", "alice", dry_run=False).clean
        memory.admin.reopen("alice")
        memory.admin.import_from(old)
        assert holding(look, tenant, MARK) == []


def test_a_tenant_goes_whole_and_is_closed(memory: Handle, look: Look, tenant: str) -> None:
    write_everything(memory)
    write_everything(memory.scope("alice"), mark="a")
    other = on_tenant(memory, fresh_tenant())
    theirs = other.remember(unlike(1))

    steps: list[str] = []
    before = look.count(tenant)
    plan = memory.admin.erase_tenant()
    assert look.count(tenant) == before
    # The scope of the handle does not matter.
    done = memory.scope("alice").admin.erase_tenant(
        dry_run=False, on_progress=lambda step, _: steps.append(step)
    )
    assert (done.what, done.id, done.counts, done.clean) == ("tenant", tenant, plan.counts, True)
    assert "node" in steps

    again = memory.admin.erase_tenant(dry_run=False)
    assert again.repeated
    rows = look.rows(NODES + "RETURN labels(n) AS l, properties(n) AS p", tenant=tenant)
    assert rows == []
    with pytest.raises(ErasedError):
        memory.remember(unlike(1))
    with pytest.raises(ErasedError):
        memory.scope("bob").observe("alice", "works_on", "Atlas")
    assert other.memories.get(str(theirs.memory_id)).content == unlike(1)


def test_what_waits_to_be_logged_of_a_forgotten_scope_holds_nobody_up(
    door: Door, memory: Handle, look: Look, tenant: str
) -> None:
    gone = memory.scope("gone")
    known = str(gone.remember(unlike(1)).memory_id)
    kept = str(memory.remember(unlike(2)).memory_id)
    with door.open() as client:
        late = client.tenant(tenant)
        late.scope("gone").expand(known)
        late.expand(kept)
        gone.forget("scope", "gone", dry_run=False)
        late.usage.flush()
    rows = look.rows(
        "MATCH (e:Event {tenant: $tenant, type: 'ACCESS'})-[:ACCESSED]->(n) "
        "RETURN n.id AS id, e.scope AS scope",
        tenant=tenant,
    )
    assert rows == [{"id": kept, "scope": "global"}]
