"""Erase a person: the beliefs about a subject and all its aliases, in all scopes of a tenant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from graphmem.erasure import ErasureReport, RemainingNode, job, removal, rules, targets, wording
from graphmem.erasure.targets import ErasureSet, WordedNode
from graphmem.errors import NotFoundError
from graphmem.graph import catalog
from graphmem.ports import RequestContext, Tx
from graphmem.rules import claims

NAMES = catalog.query("erase/names_of", dict)
ITEMS = catalog.query("erase/items_of_person", dict)
EPISODIC = frozenset(("Turn", "Episode", "Archive"))
"""Labels of the texts of an episode, which is erased with any of them."""


async def erase_person(context: RequestContext, request: job.ErasureRequest) -> ErasureReport:
    """Erase a person in all scopes of the tenant, or report what would be erased.

    The names are erased last, so that an interrupted run can find the rest again.
    """
    key = rules.key(context.tenant, rules.PERSON, claims.name_key(request.id))
    done = await _person(context, request, key)
    return await job.certified(context, request, done, key)


async def _person(context: RequestContext, request: job.ErasureRequest, key: str) -> ErasureReport:
    found = await _person_set(context, request)
    if not found.roots and not found.alias_nodes and not found.mentions:
        if not await job.is_refused(context, key):
            raise NotFoundError(f"Nothing is known about {request.id!r}.")
        return job.report_of(request, Counter(), repeated=True, left=0)
    keys = [rules.key(context.tenant, rules.PERSON, one) for one in found.names]
    keys += [
        rules.key(context.tenant, label, item_id, found.scopes.get(item_id))
        for label, ids in found.roots.by_label.items()
        for item_id in ids
    ]
    closed = await job.close(context, *keys) if request.apply else None
    done = (await job.erase_set(context, request, found.roots, closed)).report
    aliases = Counter(Event=len(found.alias_events), Name=len(found.alias_nodes))
    counts = Counter(done.counts) + aliases
    if request.apply:
        await removal.aliases(context, found.alias_nodes, found.alias_events)
        left = await _person_set(context, request, found.names)
        rest = len(left.roots.stated) + len(left.roots.episodes) + len(left.alias_nodes)
        done = done.model_copy(update={"left": (done.left or 0) + rest})
        found = replace(found, mentions=left.mentions, possible=left.possible)
    return done.model_copy(
        update={
            "counts": dict(sorted(counts.items())),
            "names": tuple(found.names),
            "elsewhere": found.mentions[: targets.SHOWN],
            "mentions": len(found.mentions),
            "possible": found.possible[: targets.SHOWN],
            "possible_mentions": len(found.possible),
        }
    )


@dataclass(frozen=True, slots=True)
class _PersonSet:
    """All that is known about a person."""

    names: Sequence[str]
    """Names with all aliases, folded."""
    roots: ErasureSet
    """Nodes to erase."""
    scopes: Mapping[str, str]
    """Scopes of the episodes, by id."""
    mentions: tuple[RemainingNode, ...]
    """Other nodes that name the person."""
    possible: tuple[RemainingNode, ...]
    """Other nodes that may name the person."""
    alias_nodes: Sequence[str]
    """Ids of Name nodes."""
    alias_events: Sequence[str]
    """Ids of the events that declare or remove the aliases."""


async def _person_set(
    context: RequestContext, request: job.ErasureRequest, names: Sequence[str] = ()
) -> _PersonSet:
    """Return what is known about a person.

    Args:
        names: names to search for once the aliases are erased; by default those in the graph.
    """

    async def work(tx: Tx) -> tuple[list[dict[str, Any]], Sequence[str], dict[str, Any]]:
        keys = names or [claims.name_key(request.id)]
        rows = [row for key in keys for row in await tx.fetch(NAMES, key=key, known=None)]
        known = names or rows[0]["names"]
        [items] = await tx.fetch(ITEMS, names=known)
        return rows, known, items

    rows, known, items = await context.read(work)
    found = await targets.worded(context, wording.names(known), request.on_progress)
    roots = ErasureSet(memories=tuple(items["memories"]), beliefs=tuple(items["beliefs"]))
    if request.mentions:
        roots = _with_mentions(roots, found)
    events = {one for row in rows for one in row["events"]}
    # These go too, so they do not count as mentions.
    going = {*events, *roots.stated}
    if not request.apply:
        going |= await targets.all_events(context, roots)
    left = [one for one in found if one.id not in going and one.episodes.isdisjoint(roots.episodes)]
    scopes = {episode: one.scope for one in found for episode in one.episodes}
    return _PersonSet(
        known,
        roots,
        scopes,
        tuple(one.remaining for one in left if one.certain),
        tuple(one.remaining for one in left if not one.certain),
        sorted({one for row in rows for one in row["nodes"]}),
        sorted(events),
    )


def _with_mentions(roots: ErasureSet, found: Sequence[WordedNode]) -> ErasureSet:
    """Return the set with the memories, beliefs and episodes that name the person."""
    named = [one for one in found if one.certain]
    memories = (one.id for one in named if one.label == "Memory")
    beliefs = (one.id for one in named if one.label == "Belief")
    episodes = (one for node in named if node.label in EPISODIC for one in sorted(node.episodes))
    return ErasureSet(
        memories=tuple(dict.fromkeys((*roots.memories, *memories))),
        beliefs=tuple(dict.fromkeys((*roots.beliefs, *beliefs))),
        episodes=tuple(dict.fromkeys(episodes)),
    )
