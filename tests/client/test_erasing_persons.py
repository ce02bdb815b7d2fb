"""Erasure of a person: all names, all scopes, what only mentions them, and what is refused."""

from __future__ import annotations

import pytest

from graphmem import Handle
from graphmem.errors import ErasedError, NotFoundError
from graphmem.model import Origin
from tests.client.test_forgetting import holding
from tests.plugins.graph import Look

MARK = "Xanthippe"
ALIAS = "Zenobia of Palmyra"


def scoped(memory: Handle, name: str) -> Handle:
    """Return a handle on another scope of the tenant."""
    return memory.scope(name)


def fill(memory: Handle) -> str:
    """Write facts about a person in two scopes, under two names; return a memory that names her."""
    other = scoped(memory, "user:ann")
    memory.aliases.add(ALIAS, MARK)
    memory.observe(MARK, "lives_in", "Porto", note=f"{MARK} wrote it")
    other.observe(ALIAS, "works_at", "the lighthouse")
    other.observe("Carol", "married_to", MARK.upper())
    other.observe("Carol", "lives_in", "Porto")
    memory.remember(f"{MARK} moved to Porto", claims=[(MARK, "lives_in", "Porto")])
    memory.remember(
        "A move and a visit", claims=[(MARK, "lives_in", "Porto"), ("Carol", "visited", "Rome")]
    )
    with other.session("monday") as session:
        session.add_messages([{"role": "user", "name": MARK, "content": "I keep bees", "id": "1"}])
    memory.remember("Xanthippes is another name, and stays")
    return str(other.remember(f"The bees of {MARK.lower()} swarm in May").memory_id)


def test_a_person_goes_under_all_names_in_all_scopes(
    memory: Handle, look: Look, tenant: str
) -> None:
    named = fill(memory)
    plan = memory.admin.erase_person(ALIAS)
    assert (plan.applied, plan.certificate, plan.left) == (False, None, None)
    assert set(plan.names) == {MARK.lower(), ALIAS.lower()}
    assert plan.counts["Belief"] == 3
    assert plan.counts["Memory"] == 1
    assert plan.counts["Name"] == 2
    assert {node.label for node in plan.elsewhere} == {"Memory", "Turn", "Episode"}
    assert plan.mentions == 3

    head = memory.admin.seal().head
    done = memory.admin.erase_person(ALIAS, dry_run=False, actor="dpo", reason="ticket 7")
    assert done.clean
    assert memory.admin.verify(head=head).wrong == ()
    assert done.counts == plan.counts
    assert done.elsewhere == plan.elsewhere
    episode = {"Episode.entities", "Episode.summary"}
    assert set(holding(look, tenant, MARK)) == {"Memory.content", "Turn.name"} | episode
    assert holding(look, tenant, ALIAS) == []
    other = scoped(memory, "user:ann")
    assert other.memories.get(named).content.startswith("The bees")
    assert {slot.subject for slot in other.beliefs.slots().slots} == {"Carol"}
    assert memory.admin.verify().wrong == ()
    again = memory.admin.erase_person(ALIAS, dry_run=False)
    assert again.repeated


def test_mentions_go_when_that_is_asked(memory: Handle, look: Look, tenant: str) -> None:
    fill(memory)
    plan = memory.admin.erase_person(MARK, include_mentions=True)
    done = memory.admin.erase_person(MARK, dry_run=False, include_mentions=True)
    assert done.counts == plan.counts
    assert done.counts["Episode"] == done.counts["Turn"] == 1
    assert (done.clean, done.mentions, done.elsewhere) == (True, 0, ())
    assert holding(look, tenant, MARK.upper()) == []
    # Only the other name, of which hers is the beginning, is left.
    assert holding(look, tenant, MARK) == ["Memory.content"]
    assert memory.recall("Xanthippes").bites[0].id.startswith("m_")


def test_new_facts_are_refused_until_the_person_is_reopened(memory: Handle) -> None:
    memory.observe(MARK, "lives_in", "Porto")
    memory.admin.erase_person(MARK, dry_run=False)
    for refused in (
        lambda: memory.observe(MARK.upper(), "plays", "chess"),
        lambda: scoped(memory, "user:new").observe(MARK, "plays", "chess"),
        lambda: memory.observe_many([{"subject": MARK, "predicate": "p", "object": "q"}]),
        lambda: memory.believe("She plays", subject=MARK, predicate="plays", object="go"),
    ):
        with pytest.raises(ErasedError):
            refused()
    claimed = memory.remember("A game of chess is played", claims=[(MARK, "plays", "chess")])
    assert claimed.hygiene_reasons == ("erased",)
    memory.observe("Carol", "knows", "somebody")

    memory.admin.reopen_person(MARK, origin=Origin(actor="dpo"))
    memory.observe(MARK, "plays", "chess")
    with pytest.raises(ErasedError):
        memory.observe(MARK, "lives_in", "Porto")
    with pytest.raises(NotFoundError):
        memory.admin.reopen_person(MARK)


def test_who_asked_why_and_when_is_recorded_without_content(
    memory: Handle, look: Look, tenant: str
) -> None:
    memory.observe(MARK, "lives_in", "Porto")
    done = memory.admin.erase_person(MARK, dry_run=False, actor="dpo", reason="ticket 7")
    known = memory.remember("The shed has a blue door").memory_id
    memory.forget("memory", str(known), dry_run=False, actor="ann", reason="a mistake")
    first = memory.admin.erasures(limit=1)
    [person] = first.erasures
    [item] = memory.admin.erasures(cursor=first.next_cursor).erasures
    assert (person.what, person.actor, person.reason) == ("person", "dpo", "ticket 7")
    assert (item.what, item.actor, item.reason) == ("memory", "ann", "a mistake")
    assert person.counts == done.counts
    assert done.certificate is not None
    assert (person.id, person.erased_at) == (done.certificate.id, done.certificate.erased_at)
    assert person.erased_at <= item.erased_at
    assert MARK.lower() not in f"{person}{done.certificate.to_json()}".lower()
    assert holding(look, tenant, MARK) == []
    memory.admin.erase_tenant(dry_run=False, actor="root")
    assert [one.what for one in memory.admin.erasures().erasures] == ["person", "memory", "tenant"]


@pytest.mark.parametrize("subject", [".*", r"a\Eb|.*", "nobody", "("])
def test_a_name_is_no_pattern(memory: Handle, subject: str) -> None:
    memory.remember("The shed has a blue door")
    with pytest.raises(NotFoundError):
        memory.admin.erase_person(subject)
    memory.observe(subject, "lives_in", "Porto")
    plan = memory.admin.erase_person(subject, include_mentions=True)
    assert (plan.counts["Belief"], plan.counts.get("Memory", 0)) == (1, 0)
