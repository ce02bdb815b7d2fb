"""Read what is linked to items and events, and whether these items are in force."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple, TypeAlias

from graphmem.graph import catalog
from graphmem.model import Belief
from graphmem.ports import RequestContext
from graphmem.rules import read_options
from graphmem.rules.read_options import ReadOptions

AROUND = catalog.query("lineage/around", dict)
STANDINGS = catalog.query("belief/standings", dict)
STATES = catalog.query("belief/states", read_options.parse_belief)

NodeKind: TypeAlias = Literal["episode", "turn", "event", "memory", "belief"]


class Node(NamedTuple):
    """An item or an event."""

    id: str
    kind: NodeKind
    name: str
    """Its text, at most 300 characters; of an event, who wrote it."""
    at: datetime
    event_type: str | None
    """Type of an event."""
    polarity: int | None
    """1 or -1 for evidence."""
    taken_back: bool


class Group(NamedTuple):
    """The neighbours of a node by one type of relationship, one direction and one kind."""

    type: str
    outgoing: bool
    """Whether the relationships start at the node."""
    kind: NodeKind
    total: int
    """Number of these neighbours; one more than the bound if they are more."""
    nodes: tuple[Node, ...]
    """The newest."""


class Standing(NamedTuple):
    """Whether a memory or a belief is in force."""

    status: str
    lost: bool
    """Whether it is not current, or another value leads its slot."""
    ambiguous: bool
    belief: Belief | None
    """The belief; None for a memory."""


async def around(
    context: RequestContext, opened: Mapping[str, int], types: Sequence[str], *, counted: int
) -> list[tuple[Node, list[Group]]]:
    """Return nodes with their neighbours; unknown ids are left out.

    Args:
        opened: maximum number of neighbours of each group, by id.
        types: types of relationships to follow.
        counted: bound of the number of neighbours that are counted in each group.
    """
    asked = [{"id": one, "top": top} for one, top in opened.items()]
    params = context.read_params(AROUND, ReadOptions(), context.services.clock.now())
    which = {"opened": asked, "types": list(types), "counted": counted + 1}
    rows = await context.fetch(AROUND, **params, **which)
    return [(Node(**row["card"]), [_group(one) for one in row["groups"]]) for row in rows]


def _group(found: Mapping[str, Any]) -> Group:
    nodes = tuple(Node(**card) for card in found["cards"])
    return Group(**{name: found[name] for name in Group._fields[:4]}, nodes=nodes)


async def standings(context: RequestContext, nodes: Iterable[Node]) -> dict[str, Standing]:
    """Return the standings of the memories and beliefs among nodes, by id."""
    ids = {kind: [one.id for one in nodes if one.kind == kind] for kind in ("memory", "belief")}
    now = context.services.clock.now()
    asked = context.read_params(STANDINGS, ReadOptions(), now)
    rows = await context.fetch(STANDINGS, **asked, memories=ids["memory"], beliefs=ids["belief"])
    page = {"ids": ids["belief"], "statuses": [], "before_at": None, "before_id": None}
    asked = context.read_params(STATES, ReadOptions(), now)
    found = await context.fetch(STATES, **asked, **page, limit=len(ids["belief"]))
    beliefs = {one.id: one for one in found}
    return {
        row["id"]: Standing(row["status"], row["lost"], row["ambiguous"], beliefs.get(row["id"]))
        for row in rows
    }
