"""Event ids of callers: each scope and each class of writers has its own."""

from __future__ import annotations

import pytest

from graphmem import GraphMem, Handle
from graphmem.errors import EventConflictError
from graphmem.model import Message, Origin

TEA, TRAM = "Maria drinks green tea.", "The tram to Aveiro is red."
MILK = "Maria buys oat milk."


def test_an_id_in_one_scope_neither_blocks_nor_shows_itself_in_another(memory: Handle) -> None:
    bob, mallory = memory.scope("user:bob"), memory.scope("user:mallory")
    kept = bob.remember("Bob rows on Sundays.", event_id="mine")
    for other in (memory, mallory):
        other.observe("bob", "rows_on", "Mondays", event_id="mine")
    assert not kept.repeated
    assert bob.remember("Bob rows on Sundays.", event_id="mine").repeated
    with pytest.raises(EventConflictError):
        bob.remember(TRAM, event_id="mine")


def test_an_id_as_results_show_it_is_the_id_that_was_given(memory: Handle) -> None:
    bob = memory.scope("user:bob")
    seen = bob.observe("bob", "rows_on", "Sundays", event_id="mine")
    assert bob.observe("bob", "rows_on", "Sundays", event_id=seen.event_id).repeated
    assert bob.beliefs.retract("mine", origin=Origin(event_id="back")).found
    assert bob.current("bob", "rows_on").candidates == ()
    early = bob.beliefs.retract("later", missing_ok=True)
    assert not early.found
    bob.observe("bob", "rows_on", "Tuesdays", event_id="later")
    assert bob.current("bob", "rows_on").candidates == ()
    assert bob.beliefs.retract(early.event_id).found
    assert bob.current("bob", "rows_on").leader is not None


def test_an_agent_takes_no_ids_of_a_person(client: GraphMem, tenant: str) -> None:
    person, agent = client.tenant(tenant), client.tenant(tenant, trust="model")
    agent.remember(TRAM, event_id="one")
    assert person.remember(TEA, event_id="one").event_id == "one"
    message = Message(role="user", content=TEA, id="m1", session="s")
    poisoned = message.model_copy(update={"content": TRAM})
    agent.session("s").add_messages([poisoned])
    added = person.session("s").add_messages([message])
    assert added.added == 1
    assert person.session("s").add_messages([message]).added == 0
    assert agent.session("s").add_messages([poisoned]).added == 0
    # The same words under the person's id are still the agent's.
    earlier = Message(role="user", content=MILK, id="m2", session="s")
    assert agent.session("s").add_messages([earlier]).added == 1
    assert person.session("s").add_messages([earlier]).added == 1
    found = person.episodes.turns(added.episode_id).turns
    shown = [(turn.text, person.expand(turn.id).trust) for turn in found]
    assert shown == [(TRAM, "model"), (TEA, "person"), (MILK, "model"), (MILK, "person")]
