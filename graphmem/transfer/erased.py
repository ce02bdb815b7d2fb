"""Leave out of an import what was erased from the tenant after the file was made.

Erasure decides what is derived from erased data and stores a digest of each node that it removes.
An import looks its records up by these digests, so it needs no rules of derivation of its own.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from graphmem.erasure import ErasureTarget, certificates, removal, rules
from graphmem.errors import ErasedError
from graphmem.graph import catalog
from graphmem.integrity import seals
from graphmem.model import EventType
from graphmem.ports import RequestContext
from graphmem.rules import drafts, identity
from graphmem.transfer.lines import Node

THERE = catalog.query("transfer/existing", lambda row: row["id"])
FOUND = catalog.query("erase/find_tombstones", dict)
RECORDS_PAGE = 1_000
BATCH = 500
"""Records looked up at a time."""
MEMORY, BELIEF = "Memory", "Belief"

Name = tuple[str, str]
"""Label and key of a record."""
CopyName = tuple[str, str, str | None]
"""Label, id and scope of a node: see `erasure.rules.copy_key`."""


class ErasedRecords:
    """The records of a file whose nodes were erased from the tenant."""

    def __init__(self, context: RequestContext, known: datetime) -> None:
        self._context = context
        self._known = known
        """Time of the export."""
        self.found: set[Name] = set()
        self.counts = Counter[str]()
        """Number of records left out, by label."""
        self._stated: set[Name] = set()
        """Nodes to which erased records refer."""
        self._to_read: set[str] = set()
        """Scopes of erased episodes and turns, whose rest the next consolidation reads again."""
        self._batch: list[Node] = []
        self._ever: bool | None = None
        """Whether anything of the tenant was ever erased; None until it is read."""
        self._scopes: dict[str | None, bool] = {}
        """Whether a scope was erased after the export, by name."""
        self._ended: frozenset[str] | None = None
        """Keys of the scopes erased after the export; None until they are read."""

    async def take(self, node: Node) -> None:
        """Look up the next record of the file, with others of its kind."""
        if self._batch and (self._batch[0].kind != node.kind or len(self._batch) == BATCH):
            await self.end()
        self._batch.append(node)

    async def end(self) -> None:
        """Look up the records taken so far."""
        batch, self._batch = self._batch, []
        if batch and await self._is_needed():
            await self._look_up(batch)

    async def recompute_dates(self) -> list[tuple[str, str]]:
        """Recompute the dates of memories and beliefs that erased events of the file stated.

        Return their labels and ids.

        An import merges those of the file into them.
        """
        for label, query in ((BELIEF, removal.MEND_BELIEFS), (MEMORY, removal.MEND_MEMORIES)):
            ids = sorted(key for one, key in self._stated - self.found if one == label)
            for some in drafts.batches(ids, BATCH):
                await self._context.fetch(query, ids=list(some))
        return sorted(self._stated - self.found)

    async def _is_needed(self) -> bool:
        if self._ever is None:
            row = await self._tombstones([rules.tenant_key(self._context.tenant)])
            if row["keys"]:
                raise ErasedError("The tenant was erased.", hint="Import into another tenant.")
            self._ever = bool(row["ever"])
        return self._ever

    async def _look_up(self, batch: Sequence[Node]) -> None:
        tenant = self._context.tenant
        for scope in {_scope(node) for node in batch} - self._scopes.keys():
            self._scopes[scope] = scope is not None and await self._is_erased(scope)
        copies = {rules.copy_key(tenant, *one): one for node in batch for one in _names(node)}
        refused = {
            rules.key(tenant, node.kind.label, node.key, _scope(node)): node
            for node in batch
            if node.kind.label in rules.ERASABLE
        }
        row = await self._tombstones([*copies, *refused])
        hits = {copies[key] for key in row["keys"] if key in copies}
        for node in batch:
            if self._is_out(node, hits):
                self._leave_out(node)
        for key in row["keys"]:
            if key in refused and _name(node := refused[key]) not in self.found:
                raise _refusal(node, "is about to be erased: its erasure has not finished")
        await self._check([one for one in batch if self._refers(one)])

    def _leave_out(self, node: Node) -> None:
        label = node.kind.label
        self.found.add(_name(node))
        if label == "Consolidation":
            return
        self.counts[label] += 1
        self._stated |= {(link.label, link.key) for link in node.links}
        if label in ("Episode", "Turn"):
            self._to_read.add(node.properties["scope"])

    def rest(self, node: Node) -> Node | None:
        """Return a record without what was erased; None if all of it was."""
        if _name(node) in self.found:
            return None
        links = [link for link in node.links if (link.label, link.key) not in self.found]
        has = node.properties
        if node.kind.label == "Seal":
            has = {**has, **self._unsealed(has)}
        elif rules.names(has.get("payload"), self._mentioned):
            has = {**has, "payload": rules.without(has["payload"], self._mentioned)}
        if has is node.properties and len(links) == len(node.links):
            return node
        given = {**node.given["properties"]}
        if "payload" in has:
            given["payload"] = has["payload"]
        return replace(node, properties=has, links=links, given={**node.given, "properties": given})

    @property
    def _mentioned(self) -> rules.Gone:
        return frozenset(one for one in self.found if one[0] in (MEMORY, BELIEF))

    def _unsealed(self, seal: Mapping[str, Any]) -> dict[str, Any]:
        out = {seals.entry(*one): one[0] for one in self.found}
        gone = [out.get(one) for one in seal["ids"]]
        return {
            "ids": [
                one if label is None else seals.erased_entry(label)
                for one, label in zip(seal["ids"], gone, strict=True)
            ],
            "salts": [
                one if label is None else "" for one, label in zip(seal["salts"], gone, strict=True)
            ],
        }

    def _is_out(self, node: Node, hits: set[CopyName]) -> bool:
        """Return whether a record is of an erased node or scope, or belongs to an erased node."""
        label = node.kind.label
        if label == "Consolidation" and node.key in self._to_read:
            return True
        if self._scopes[_scope(node)] or not hits.isdisjoint(_own_names(node)):
            return True
        if label == "Reply":
            linked = any((link.label, link.key) in self.found for link in node.links)
            return linked or not hits.isdisjoint(_names(node))
        return (
            label == "Event" and node.properties["type"] in seals.TELEMETRY and self._refers(node)
        )

    def _refers(self, node: Node) -> bool:
        """Return whether a record that remains refers to one that is left out."""
        if node.kind.label == "Seal" or _name(node) in self.found:
            return False
        return any(one in self.found for one in _references(node))

    async def _check(self, unclear: Sequence[Node]) -> None:
        """Refuse records that refer to erased data, unless the erasure left their nodes."""
        for label in dict.fromkeys(node.kind.label for node in unclear):
            some = {node.key: node for node in unclear if node.kind.label == label}
            there = set(await self._context.fetch(THERE, kind=label, ids=list(some)))
            if missing := [node for key, node in some.items() if key not in there]:
                raise _refusal(missing[0], "is not in this tenant, and refers to erased data")

    async def _is_erased(self, scope: str) -> bool:
        key = rules.scope_key(self._context.tenant, scope)
        if (await self._tombstones([key]))["keys"]:
            return True
        if self._ended is None:
            self._ended = frozenset([one async for one in self._ended_scopes()])
        return key in self._ended

    async def _ended_scopes(self) -> AsyncIterator[str]:
        cursor: str | None = None
        while True:
            page = await certificates.page(self._context, cursor, RECORDS_PAGE)
            for one in page.erasures:
                if one.what == ErasureTarget.SCOPE and one.erased_at > self._known:
                    yield one.digest
            if (cursor := page.next_cursor) is None:
                return

    async def _tombstones(self, keys: Sequence[str]) -> dict[str, Any]:
        owner = identity.tenant_key(self._context.tenant)
        [row] = await self._context.fetch(FOUND, tenant=owner, keys=keys)
        return row


def _name(node: Node) -> Name:
    # The key of a rating is that of its item.
    return node.kind.label + node.kind.part, node.key


def _scope(node: Node) -> str | None:
    """Return the scope of a record; None if it belongs to the whole tenant."""
    if node.kind.label == "Consolidation":
        return node.key
    scope: str | None = node.properties.get("scope")
    return scope


def _own_names(node: Node) -> list[CopyName]:
    """Return the nodes with which a record is erased: its own, its episode, the item it rates."""
    scope = _scope(node)
    episode = [("Episode", node.properties.get("episode_id", ""), scope)]
    if node.kind.label == "Turn":
        return [*episode, ("Turn", node.key, None)]
    if node.kind.label == "Archive":
        return episode
    return [(node.kind.part or node.kind.label, node.key, scope)]


def _names(node: Node) -> list[CopyName]:
    """Return the nodes of a record, and the beliefs about which a reply decided."""
    decided = node.properties.get("decided")
    texts = rules.texts(json.loads(decided)) if decided is not None else ()
    return [*_own_names(node), *(("Belief", one, None) for one in dict.fromkeys(texts))]


def _references(node: Node) -> Iterator[Name]:
    """Yield the nodes to which a record refers."""
    yield from ((link.label, link.key) for link in node.links)
    if (target := node.properties.get("target_id")) is not None:
        yield "Event", target
    if node.properties.get("type") is EventType.PROPOSE:
        yield "Belief", json.loads(node.properties["payload"])["claim"]["id"]


def _refusal(node: Node, problem: str) -> ErasedError:
    return ErasedError(
        f"Line {node.line}: {node.kind.label} {node.key!r} {problem}.",
        hint="Nothing was imported. Export again from a tenant in which the same was erased.",
        ids=frozenset((node.key,)),
    )
