"""Erase a person: the beliefs about a subject and all its aliases, in all scopes of a tenant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from graphmem import catalog
from graphmem.erasure import job, removal, rules, targets
from graphmem.erasure.records import ErasureReport, RemainingNode
from graphmem.erasure.targets import ErasureSet
from graphmem.errors import NotFoundError
from graphmem.ports import RequestContext, Tx
from graphmem.rules import claims

NAMES = catalog.query("erase/names_of", dict)
ITEMS = catalog.query("erase/items_of_person", dict)
MENTIONS = catalog.query("erase/mentions_of_person", dict)


async def erase_person(context: RequestContext, request: job.ErasureRequest) -> ErasureReport:
    """Erase a person in all scopes of the tenant, or report what would be erased.

    The names are erased last, so that an interrupted run can find the rest again.

    Raises:
        NotFoundError: nothing is known about the person.
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
    done = await job.erase_set(context, request, found.roots, keys)
    aliases = Counter(Event=len(found.alias_events), Name=found.alias_nodes)
    counts = Counter(done.counts) + aliases
    if request.apply:
        await removal.aliases(context, found.names, found.alias_events)
        left = await _person_set(context, request, found.names)
        rest = len(left.roots.stated) + len(left.roots.episodes) + left.alias_nodes
        done = done.model_copy(update={"left": (done.left or 0) + rest})
        found = replace(found, mentions=left.mentions)
    return done.model_copy(
        update={
            "counts": dict(sorted(counts.items())),
            "names": tuple(found.names),
            "elsewhere": found.mentions[: targets.SHOWN],
            "mentions": len(found.mentions),
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
    alias_nodes: int
    """Number of Name nodes."""
    alias_events: Sequence[str]
    """Ids of the events that declare or remove the aliases."""


async def _person_set(
    context: RequestContext, request: job.ErasureRequest, names: Sequence[str] = ()
) -> _PersonSet:
    """Return what is known about a person.

    Args:
        context: request context.
        request: request of the erasure.
        names: names to search for once the aliases are erased; by default those in the graph.
    """

    async def work(tx: Tx) -> _PersonSet:
        keys = names or [claims.name_key(request.id)]
        rows = [row for key in keys for row in await tx.fetch(NAMES, key=key, known=None)]
        known = names or rows[0]["names"]
        nodes = sum(row["nodes"] for row in rows)
        events = {one for row in rows for one in row["events"]}
        [items] = await tx.fetch(ITEMS, names=known)
        pattern = rules.mentions_pattern(known)
        rows = await tx.fetch(MENTIONS, names=known, pattern=pattern)
        roots = ErasureSet(memories=tuple(items["memories"]), beliefs=tuple(items["beliefs"]))
        if request.mentions:
            roots = _with_mentions(roots, rows)
        stated = {*roots.stated, *roots.episodes}
        # These go too, so they do not count as mentions.
        going = {*events, *(() if request.apply else await _going(tx, roots))}
        left = [
            RemainingNode(label=row["label"], id=row["id"])
            for row in rows
            if stated.isdisjoint((row["id"], row["episode"])) and row["id"] not in going
        ]
        scopes = {row["episode"] or row["id"]: row["scope"] for row in rows}
        return _PersonSet(known, roots, scopes, tuple(left), nodes, sorted(events))

    return await context.read(work)


def _with_mentions(roots: ErasureSet, rows: Sequence[Mapping[str, Any]]) -> ErasureSet:
    """Return the set with the memories, beliefs and episodes of rows that name the person."""
    ids: dict[str, dict[str, None]] = {"Memory": {}, "Belief": {}, "Episode": {}}
    for row in rows:
        label = "Episode" if row["episode"] else row["label"]
        if label in ids:
            ids[label][row["episode"] or row["id"]] = None
    return ErasureSet(
        memories=tuple(dict.fromkeys((*roots.memories, *ids["Memory"]))),
        beliefs=tuple(dict.fromkeys((*roots.beliefs, *ids["Belief"]))),
        episodes=tuple(ids["Episode"]),
    )


async def _going(tx: Tx, roots: ErasureSet) -> set[str]:
    """Return the ids of the events that would be erased with the roots."""
    found: set[str] = set()
    after = ""
    while rows := await targets.events(tx, roots, after):
        found.update(row["id"] for row in rows)
        after = rows[-1]["id"]
    return found
