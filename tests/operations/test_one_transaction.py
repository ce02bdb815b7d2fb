"""Writes of one item with a model that runs in this process: embed first, then one transaction."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from graphmem import Handle
from graphmem.ports import Tx
from tests.plugins.clients import Door
from tests.plugins.faults import Embedding, Through
from tests.plugins.graph import Look
from tests.plugins.texts import unlike

WRITES: dict[str, Callable[[Handle], Callable[[], Any]]] = {
    "remember": lambda m: partial(m.remember, unlike(1)),
    "observe": lambda m: partial(m.observe, "bob", "works_on", "Atlas"),
    "believe": lambda m: partial(m.believe, "It is wet."),
    "add_messages": lambda m: partial(_talk(m).add_messages, [_message(1)]),
}


def _message(number: int) -> dict[str, Any]:
    return {"role": "user", "content": unlike(number)}


def _talk(memory: Handle) -> Any:
    """Return a session whose episode is open."""
    session = memory.session("s")
    session.add_messages([_message(2)])
    return session


class Here(Embedding):
    """An embedder whose model runs in this process."""

    runs_here = True

    def __init__(self) -> None:
        super().__init__(lambda: None)


class Counting(Through):
    """A graph that notes its transactions."""

    def __init__(self, inner: Any) -> None:
        super().__init__(inner)
        self.seen: list[str] = []

    async def read(self, work: Callable[[Tx], Any]) -> Any:
        self.seen.append("read")
        return await self.inner.read(work)

    async def write(self, work: Callable[[Tx], Any]) -> Any:
        self.seen.append("write")
        return await self.inner.write(work)


@pytest.mark.parametrize("name", WRITES)
@pytest.mark.parametrize("here", [True, False])
def test_a_write_of_one_reads_before_only_to_save_a_request(
    door: Door, name: str, *, here: bool
) -> None:
    model = Here()
    model.runs_here = here
    with door.opened(embedder=model) as memory:
        graph = Counting(memory._state.context.services.graph)
        write = WRITES[name](door.on(memory, graph=graph))
        graph.seen.clear()
        write()
        assert graph.seen == (["write"] if here else ["read", "write"])
        assert len(model.asked) == 1 + (name == "add_messages")


def test_a_statement_is_embedded_as_its_template_words_it(door: Door, look: Look) -> None:
    model = Here()
    with door.opened(embedder=model) as memory:
        memory.predicates.declare("works_on", template="{subject} is on team {object}")
        memory.observe("bob", "works_on", "Atlas")
        assert model.asked[-2:] == ["bob works on Atlas", "bob is on team Atlas"]
        [belief] = look.beliefs(memory._state.context.tenant).values()
        assert belief["statement"] == "bob is on team Atlas"
        assert belief.get("unembedded") is None
