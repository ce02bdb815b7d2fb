"""Read how a belief came about: its chain, its history, and where it comes from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from graphmem import catalog
from graphmem.errors import NotFoundError
from graphmem.model import (
    AsOf,
    BeliefCard,
    BeliefChain,
    BeliefEvent,
    ChainLink,
    EpisodeRef,
    Memory,
    Provenance,
    Turn,
)
from graphmem.ports import RequestContext
from graphmem.rules import lineage, moments, records
from graphmem.rules.conflicts import consistent

CHAIN = catalog.query("belief/chain", dict)
HISTORY = catalog.query("belief/history", dict)
PROVENANCE = catalog.query("belief/provenance", dict)


@consistent
async def chain(to: RequestContext, belief_id: str, as_of: AsOf) -> BeliefChain:
    """Return every belief that took the place of this one or was replaced by it, at any remove.

    Raises:
        NotFoundError: nothing visible has this id, or nothing was known of it at `as_of`.
        InvalidInputError: `as_of.known` lies in the future.
    """
    params = _lineage_params(to, belief_id, as_of)
    [found] = await to.world.graph.read(lambda tx: tx.fetch(CHAIN, **params))
    provisional = moments.is_provisional(as_of, found["now"])
    rows = found["beliefs"]
    if belief_id not in {row["card"]["id"] for row in rows}:
        raise _missing(belief_id)
    links = _links({**link, "older_id": row["card"]["id"]} for row in rows for link in row["links"])
    cards = [BeliefCard(**card) for card in lineage.ended((row["card"] for row in rows), links)]
    replaced = {link.older_id for link in links if link.in_force}
    return BeliefChain(
        beliefs=tuple(cards),
        links=links,
        head_ids=tuple(card.id for card in cards if card.id not in replaced),
        provisional=provisional,
    )


@consistent
async def history(to: RequestContext, belief_id: str, as_of: AsOf, *, limit: int) -> list[BeliefEvent]:
    """Return the newest events about a belief, oldest of them first.

    Raises:
        NotFoundError: nothing visible has this id, or nothing was known of it at `as_of`.
        InvalidInputError: `as_of.known` lies in the future.
    """
    params = _lineage_params(to, belief_id, as_of)
    [found] = await to.world.graph.read(lambda tx: tx.fetch(HISTORY, **params, limit=limit))
    moments.refuse_future(as_of, found["now"])
    if not found["events"]:
        raise _missing(belief_id)
    return [records.belief_event(event) for event in found["events"]]


@consistent
async def provenance(to: RequestContext, belief_id: str, as_of: AsOf, *, limit: int) -> Provenance:
    """Return what a belief rests on, what it replaced and what stands in its place.

    Raises:
        NotFoundError: nothing visible has this id, or nothing was known of it at `as_of`.
        InvalidInputError: `as_of.known` lies in the future.
    """
    params = _lineage_params(to, belief_id, as_of)
    [found] = await to.world.graph.read(lambda tx: tx.fetch(PROVENANCE, **params, limit=limit))
    provisional = moments.is_provisional(as_of, found["now"])
    if found["card"] is None:
        raise _missing(belief_id)
    links = _links(found["links"])
    return Provenance(
        belief=BeliefCard(**found["card"]),
        events=tuple(records.belief_event(event) for event in found["events"]),
        total=found["total"],
        turns=tuple(Turn(**turn) for turn in found["turns"]),
        episodes=tuple(EpisodeRef(**episode) for episode in found["episodes"]),
        memories=tuple(Memory(**card, provisional=provisional) for card in found["memories"]),
        supersedes=tuple(link for link in links if link.newer_id == belief_id),
        superseded_by=tuple(link for link in links if link.older_id == belief_id),
        provisional=provisional,
    )


def _lineage_params(to: RequestContext, belief_id: str, as_of: AsOf) -> dict[str, Any]:
    return {
        "tenant": to.wall.tenant,
        "scopes": list(to.wall.scopes),
        "id": belief_id,
        **moments.time_bounds(as_of),
    }


def _missing(belief_id: str) -> NotFoundError:
    return NotFoundError(f"No belief {belief_id!r}.")


def _links(found: Iterable[Mapping[str, Any]]) -> tuple[ChainLink, ...]:
    links = (ChainLink(**link) for link in found)
    return tuple(sorted(links, key=lambda link: (link.occurred_at, link.event_id, link.newer_id)))
