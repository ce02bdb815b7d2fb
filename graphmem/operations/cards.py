"""Read the card of an item of any kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from graphmem.errors import NotFoundError
from graphmem.graph import catalog
from graphmem.model import (
    Belief,
    Card,
    ChainNeighbor,
    Episode,
    EpisodeRef,
    Item,
    Memory,
    Turn,
)
from graphmem.ports import RequestContext, Tx
from graphmem.rules import claims, read_options, trust
from graphmem.rules.read_options import ReadOptions

EVENTS = 20
AROUND = 3
TURNS = 100
CLAIMS = 100

EXPAND = catalog.query("usage/expand", dict)
STATES = catalog.query("belief/states", read_options.parse_belief)
LOST = catalog.query("belief/find_lost", lambda row: row["lost"])


async def expand(context: RequestContext, item_id: str) -> Card:
    """Return the card of a memory, a belief, a turn or an episode, read in one transaction."""
    now = context.services.clock.now()
    wanted = context.read_params(EXPAND, ReadOptions(), now)

    async def work(tx: Tx) -> Card | None:
        rows = await tx.fetch(
            EXPAND, **wanted, id=item_id, limit=EVENTS, around=AROUND, turns=TURNS
        )
        if not rows:
            return None
        row = rows[0] | {"trust": trust.parse(rows[0]["trust"])}
        match row["label"]:
            case "Memory":
                return await _memory(tx, context, now, row)
            case "Belief":
                found = await _beliefs(tx, context, now, [item_id])
                return _card(row | {"trust": found[0].trust}, found[0]) if found else None
            case "Turn":
                return _card(row, Turn(**row["item"]))
            case _:
                return _card(row, Episode(**row["item"]))

    card = await context.read(work)
    if card is None:
        raise NotFoundError(f"No item {item_id!r}.")
    return card


async def _memory(tx: Tx, context: RequestContext, now: datetime, row: Mapping[str, Any]) -> Card:
    memory = Memory(**row["item"], trust=row["trust"])
    if not memory.claim_ids:
        return _card(row, memory)
    params = context.read_params(LOST, ReadOptions(), now)
    [lost] = await tx.fetch(LOST, **params, ids=list(memory.claim_ids))
    claimed = await _beliefs(tx, context, now, memory.claim_ids[:CLAIMS])
    return _card(row, claims.mark_lost_claims(memory, lost), claimed)


async def _beliefs(
    tx: Tx, context: RequestContext, now: datetime, ids: Sequence[str]
) -> list[Belief]:
    params = context.read_params(STATES, ReadOptions(), now)
    which = {"ids": list(ids), "statuses": [], "before_at": None, "before_id": None}
    return await tx.fetch(STATES, **params, **which, limit=len(ids))


def _card(row: Mapping[str, Any], item: Item, claims: Sequence[Belief] = ()) -> Card:
    convert = (
        read_options.parse_belief_event
        if isinstance(item, Belief)
        else read_options.parse_memory_event
    )
    return Card(
        item=item,
        trust=row["trust"],
        events=tuple(convert(event) for event in row["events"]),
        turns=tuple(Turn(**turn) for turn in row["turns"]),
        episodes=tuple(EpisodeRef(**episode) for episode in row["episodes"]),
        supersedes=tuple(_neighbour(link) for link in row["links"] if not link["newer"]),
        superseded_by=tuple(_neighbour(link) for link in row["links"] if link["newer"]),
        claims=tuple(claims),
        accesses=row["accesses"],
        last_access_at=row["last_access_at"],
    )


def _neighbour(link: Mapping[str, Any]) -> ChainNeighbor:
    return ChainNeighbor(**{name: link[name] for name in ChainNeighbor.model_fields})
