"""Count openings: reasons, cited ids, repeated words, and reports of an agent."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from bench import chats
from graphmem import Handle, Session
from graphmem.errors import AmbiguousIdError, InvalidInputError, NotFoundError
from graphmem.rules import identity
from graphmem.testing import FrozenClock
from tests.plugins.clients import Door, on_tenant
from tests.plugins.examples import sample
from tests.plugins.graph import Look, fresh_tenant

HOME = "I live in Lisbon."
ASKED: list[dict[str, Any]] = [{"role": "user", "content": "Where do I live?"}]
QUESTION = "Where do I live?"


def opened(look: Look, tenant: str) -> list[str]:
    """Return the ids of opened items, in order."""
    rows = look.rows(
        "MATCH (e:Event {tenant: $tenant, type: 'ACCESS'})-[:ACCESSED]->(n) "
        "RETURN n.id AS id ORDER BY e.occurred_at, e.id",
        tenant=tenant,
    )
    return [row["id"] for row in rows]


@pytest.mark.parametrize(
    "use",
    [
        lambda s, item: s.why(item),
        lambda s, item: s.expand(item),
        lambda s, item: s.usage.log_access("memory", item),
        lambda s, item: s.add_messages(
            [*ASKED, {"role": "assistant", "content": f"See [{item}], or [m_0000]."}]
        ),
        lambda s, _: s.add_messages([*ASKED, {"role": "assistant", "content": "In Lisbon."}]),
    ],
)
def test_an_item_that_was_used_is_rated(
    memory: Handle, look: Look, tenant: str, use: Callable[[Session, str], Any]
) -> None:
    kept = str(memory.remember(HOME).memory_id)
    memory.remember("I like green tea.")
    with memory.session("s") as session:
        session.recall(QUESTION, min_score=-1)
        use(session, kept)
    assert memory.usage.rate().searches == 1
    assert memory.usage.ratings()[0].id == kept
    assert opened(look, tenant) == [kept]


def test_reasons_of_a_belief_open_it(memory: Handle, look: Look, tenant: str) -> None:
    belief = memory.believe("The pool needs 8 threads").belief_id
    with memory.session("s") as session:
        session.why(belief)
        session.evidence_for(belief)
        with pytest.raises(NotFoundError):
            session.why("b_ffff")
    assert opened(look, tenant) == [belief]


def test_what_a_person_says_opens_nothing(memory: Handle, look: Look, tenant: str) -> None:
    kept = str(memory.remember(HOME).memory_id)
    with memory.session("s") as session:
        session.recall(QUESTION, min_score=-1)
        session.add_messages([{"role": "user", "content": f"I live in Lisbon, see [{kept}]."}])
        session.add_messages([{"role": "assistant", "content": "I do not know that."}])
        # The reply before ended the question.
        session.add_messages([{"role": "assistant", "content": "In Lisbon."}])
    assert opened(look, tenant) == []


def test_only_a_visible_item_of_the_kind_can_be_reported(
    memory: Handle, look: Look, tenant: str
) -> None:
    kept = str(memory.remember(HOME).memory_id)
    hidden = str(memory.scope("alice").remember("Alice keeps a secret.").memory_id)
    foreign = on_tenant(memory, fresh_tenant())
    theirs = str(foreign.remember("Theirs.").memory_id)
    with memory.session("s") as session:
        for kind, ref in [
            ("memory", hidden),
            ("memory", theirs),
            ("memory", "m_ffff"),
            ("belief", kept),
            ("memory", "nonsense"),
        ]:
            with pytest.raises(NotFoundError):
                session.usage.log_access(kind, ref)
        with pytest.raises(InvalidInputError):
            session.usage.log_access("scope", kept)
        session.usage.log_access("memory", kept[:8])
        # A file may have any name, also one like an id.
        session.usage.log_access("file", kept[:8])
    memory.usage.flush()
    assert opened(look, tenant)[0] == kept
    assert opened(look, tenant)[1].startswith("ar_")


def test_an_ambiguous_id_is_refused(plain: Handle) -> None:
    by_start: dict[str, str] = {}
    for n in range(100_000):
        text = f"Text number {n} for a shared beginning."
        start = identity.memory_id("global", text)[:6]
        if start in by_start:
            break
        by_start[start] = text
    plain.remember_many([by_start[start], text])
    with plain.session("s") as session, pytest.raises(AmbiguousIdError):
        session.usage.log_access("memory", start)


def test_openings_repeated_or_in_the_future_do_not_count_twice(plain: Handle, door: Door) -> None:
    clock = FrozenClock()
    memory = door.on(plain, clock=clock)
    first, second = (str(memory.remember(text).memory_id) for text in (HOME, "I like tea."))
    elos = []
    for repeats in (1, 5):
        with memory.session(f"s{repeats}") as session:
            session.recall(QUESTION, min_score=-1)
            for _ in range(repeats):
                session.usage.log_access("memory", first)
        memory.usage.rate()
        elos.append({one.id: one.rating.elo for one in memory.usage.ratings()})
    gained = [elos[0][first] - 1200, elos[1][first] - elos[0][first]]
    assert gained[1] <= gained[0]
    # An opening logged before the search of its session does not count for it.
    with memory.session("late") as session:
        clock.advance(timedelta(days=1))
        session.usage.log_access("memory", second)
        clock.advance(timedelta(days=-1))
        session.recall(QUESTION, min_score=-1)
    before = elos[1]
    memory.usage.rate()
    assert memory.usage.ratings()[0].id == first
    assert before[first] > before[second]


@pytest.mark.parametrize("way", sample(chats.WAYS, 3))
def test_half_of_what_a_chat_uses_is_opened(
    plain: Handle, door: Door, look: Look, tenant: str, way: int
) -> None:
    clock = FrozenClock(chats.STARTED)
    chat = chats.by_respond(door.on(plain, clock=clock), 10, clock, (way,))
    used, found = set(chat.used), set(opened(look, tenant))
    assert len(used) >= 4
    assert len(used & found) >= chats.WANTED * len(used)
    assert len(found - used) <= len(found) / 2
    rated, items = chat.rated(plain)
    assert rated >= chats.WANTED * items
