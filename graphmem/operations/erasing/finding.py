"""What goes with what is forgotten; found from what is there, so an interrupted run goes on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from graphmem import catalog
from graphmem.model import ErasureTarget
from graphmem.ports import RequestContext, Tx
from graphmem.rules.erasure import Gone

PAGE = 500
"""Events of one transaction."""

MEMORIES_OF = catalog.query("erase/memories_of", lambda row: row["id"])
BELIEFS_OF = catalog.query("erase/beliefs_of", lambda row: row["id"])
OF_SCOPE = catalog.query("erase/of_scope", dict)
EVENTS = catalog.query("erase/events", dict)
EVENTS_OF_SCOPE = catalog.query("erase/events_of_scope", dict)
HELD = catalog.query("erase/held", dict)
CENSUS = catalog.query("erase/census", lambda row: row["counts"])


@dataclass(frozen=True, slots=True)
class ErasureSet:
    """Ids of what goes, by label."""

    memories: tuple[str, ...] = ()
    beliefs: tuple[str, ...] = ()
    episodes: tuple[str, ...] = ()

    @property
    def stated(self) -> list[str]:
        """The memories and beliefs."""
        return [*self.memories, *self.beliefs]

    @property
    def mentioned(self) -> Gone:
        """What payloads may name of it, as labels and ids."""
        memories = {("Memory", one) for one in self.memories}
        return frozenset(memories | {("Belief", one) for one in self.beliefs})

    def __bool__(self) -> bool:
        return bool(self.memories or self.beliefs or self.episodes)


def alone(what: ErasureTarget, item_id: str) -> ErasureSet:
    """Return one thing as what goes."""
    match what:
        case ErasureTarget.MEMORY:
            return ErasureSet(memories=(item_id,))
        case ErasureTarget.BELIEF:
            return ErasureSet(beliefs=(item_id,))
        case _:
            return ErasureSet(episodes=(item_id,))


async def whole(to: RequestContext, roots: ErasureSet) -> ErasureSet:
    """Return what goes with some things: what only they give its words."""

    async def work(tx: Tx) -> ErasureSet:
        tenant, episodes = to.wall.tenant, list(roots.episodes)
        found = await tx.fetch(MEMORIES_OF, tenant=tenant, episodes=episodes) if episodes else []
        memories = tuple(dict.fromkeys((*roots.memories, *found)))
        said = await tx.fetch(BELIEFS_OF, tenant=tenant, episodes=episodes, memories=list(memories))
        beliefs = tuple(dict.fromkeys((*roots.beliefs, *said)))
        return replace(roots, memories=memories, beliefs=beliefs)

    return await to.world.graph.read(work)


async def some_of_scope(to: RequestContext, scope: str, limit: int) -> ErasureSet:
    """Return some memories, beliefs and episodes of a scope; none when it has none."""
    [row] = await to.world.graph.read(
        lambda tx: tx.fetch(OF_SCOPE, tenant=to.wall.tenant, scope=scope, limit=limit)
    )
    return ErasureSet(tuple(row["memories"]), tuple(row["beliefs"]), tuple(row["episodes"]))


async def events(tx: Tx, to: RequestContext, doomed: ErasureSet, after: str = "") -> list[dict[str, Any]]:
    """Return a page of the events that go with something, and what else they speak of.

    One more than a page tells that it is not the last.
    """
    return await tx.fetch(
        EVENTS,
        tenant=to.wall.tenant,
        memories=list(doomed.memories),
        beliefs=list(doomed.beliefs),
        episodes=list(doomed.episodes),
        after=after,
        limit=PAGE + 1,
    )


async def events_of_scope(tx: Tx, to: RequestContext, scope: str | None) -> list[dict[str, Any]]:
    """Return some events of a scope, or of the tenant, and what of other scopes they speak of."""
    return await tx.fetch(EVENTS_OF_SCOPE, tenant=to.wall.tenant, scope=scope, after="", limit=PAGE)


async def all_events(to: RequestContext, doomed: ErasureSet) -> frozenset[str]:
    """Return the ids of all events that go with something."""
    found: set[str] = set()
    after = ""
    while rows := await to.world.graph.read(
        lambda tx, after=after: events(tx, to, doomed, after)  # type: ignore[misc]
    ):
        found.update(row["id"] for row in rows)
        after = rows[-1]["id"]
    return frozenset(found)


async def held(to: RequestContext, doomed: ErasureSet) -> Counter[str]:
    """Return how many nodes beside events go, by label."""
    [row] = await to.world.graph.read(
        lambda tx: tx.fetch(
            HELD,
            tenant=to.wall.tenant,
            memories=list(doomed.memories),
            beliefs=list(doomed.beliefs),
            episodes=list(doomed.episodes),
        )
    )
    parts = {
        "Turn": row["turns"],
        "Archive": row["archives"],
        "Reply": row["replies"],
        "Rating": row["ratings"],
    }
    return +Counter(row["items"] | parts)


async def census(to: RequestContext, scope: str | None) -> Counter[str]:
    """Return how many nodes of each label a scope, or the tenant, has."""
    [counts] = await to.world.graph.read(
        lambda tx: tx.fetch(CENSUS, tenant=to.wall.tenant, scope=scope)
    )
    return +Counter[str](counts)


def pages(ids: Sequence[str], size: int = PAGE) -> list[list[str]]:
    """Return ids in lists of some."""
    return [list(ids[start : start + size]) for start in range(0, len(ids), size)]
