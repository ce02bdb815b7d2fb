"""Take an export into a tenant: checked whole, then written batch by batch, each once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from graphmem import catalog
from graphmem.errors import ExportFileError, ImportConflictError, ModelMismatchError
from graphmem.model import Imported
from graphmem.operations.transferring import walking
from graphmem.ports import Binding, OnPart, Tx
from graphmem.rules import identity, transfer
from graphmem.rules.generations import unnumbered

BATCH = 500
"""Nodes of one transaction."""
MOST_LINKS = 5_000
"""Relationships of one transaction, if more than one node has them."""

LOCK = catalog.query("commit/lock", catalog.ignored)
THERE = catalog.query("transfer/there", lambda row: (row["id"], row["properties"]))
POSITIONS = catalog.query("transfer/positions", lambda row: row["id"])
DROP_CHECKPOINTS = catalog.query("transfer/drop_checkpoints", catalog.ignored)
WRITE = catalog.query("transfer/write", lambda row: row["written"])
APPEND = catalog.query("transfer/append", lambda row: row["written"])
PLACE_ITEMS = catalog.query("transfer/place_items", catalog.ignored)
MEET = catalog.query("transfer/meet", catalog.ignored)
WRITE_BESIDE = catalog.query("transfer/write_beside", lambda row: row["written"])
RETRACT = catalog.query("transfer/retract", catalog.ignored)
LINK = catalog.query("transfer/link", dict)

Record = Mapping[str, Any]
Batch = Sequence[tuple[int, Record]]
"""Records with the numbers of their lines, all of one kind."""


@dataclass(slots=True)
class _Done:
    """What became of records."""

    written: int = 0
    links: int = 0
    there: int = 0
    kept: int = 0

    def add(self, other: _Done) -> None:
        self.written += other.written
        self.links += other.links
        self.there += other.there
        self.kept += other.kept


async def take(to: Binding, path: Path, on_part: OnPart) -> Imported:
    """Write what a file holds and the tenant does not.

    Nothing is written before the whole file was found to be as it was exported. What is there
    already stays; a batch is written whole or not at all.

    Args:
        to: into whose graph; records keep their scopes.
        path: of the file.
        on_part: told `check` and how many lines were checked, then labels and nodes looked at.

    Raises:
        ExportFileError: the file is no export, not whole, changed, or of a newer graphmem.
        ModelMismatchError: its embeddings are those of another model.
        ImportConflictError: a record contradicts what is there; names its line.
    """
    head = await _checked(to, path, on_part)
    done, batch = _Done(), list[tuple[int, Record]]()
    async for number, record in walking.records(to.world.exports, path):
        if "kind" not in record:
            continue
        if batch and not _fits(batch, record):
            done.add(await _write(to, batch, on_part))
            batch = []
        batch.append((number, record))
    if batch:
        done.add(await _write(to, batch, on_part))
    return Imported(
        tenant=head["tenant"],
        known=datetime.fromisoformat(head["known"]),
        written=done.written,
        links=done.links,
        there=done.there,
        kept=done.kept,
    )


def _fits(batch: Batch, record: Record) -> bool:
    kind = batch[0][1]
    return (
        (kind["kind"], kind.get("part")) == (record["kind"], record.get("part"))
        and len(batch) < BATCH
        and sum(len(one["links"]) for _, one in batch) + len(record["links"]) <= MOST_LINKS
    )


async def _checked(to: Binding, path: Path, on_part: OnPart) -> Record:
    """Return the header of a file that is whole."""
    if await to.world.exports.size(path) is None:
        raise ExportFileError(f"There is no file {path}.", hint="Check the name.")
    head: Record = {}
    async for number, record in walking.records(to.world.exports, path):
        if number == 1:
            head = record
            _same_model(to, record["model"])
        if number % BATCH == 0:
            on_part("check", BATCH)
    return head


def _same_model(to: Binding, model: Mapping[str, Any]) -> None:
    own = to.model
    if (model["name"], model["dimension"]) != (own.name, own.dimension):
        raise ModelMismatchError(
            f"The export has embeddings of {model['name']} ({model['dimension']} dimensions), and "
            f"this graph those of {own.name} ({own.dimension}).",
            hint="Import it into a graph that was begun with the same model.",
        )


async def _write(to: Binding, batch: Batch, on_part: OnPart) -> _Done:
    async def work(tx: Tx) -> _Done:
        await tx.fetch(LOCK, tenant=to.wall.tenant)
        return await _Batch(tx, to, batch).taken()

    done = await to.world.graph.write(work)
    on_part(batch[0][1]["kind"], len(batch))
    return done


class _Batch:
    """Some records of one kind, on their way into the graph in one transaction."""

    def __init__(self, tx: Tx, to: Binding, batch: Batch) -> None:
        self.tx = tx
        self.tenant = to.wall.tenant
        self.generation = to.model.generation
        self.batch = batch
        self.kind: str = batch[0][1]["kind"]
        self.done = _Done()
        self.fresh: list[str] = []
        """Keys of nodes that were made."""

    async def taken(self) -> _Done:
        """Write what is not there, and what it is related to."""
        kinds = {(kind.label, kind.part): kind for kind in transfer.KINDS}
        first = self.batch[0][1]
        kind = kinds.get((self.kind, first.get("part", "")))
        if kind is None:
            raise ExportFileError(f"Line {self.batch[0][0]} is of a kind that nobody knows.")
        if kind.beside:
            await self._beside(kind.part)
        else:
            await self._nodes()
        await self._links()
        if self.fresh and self.kind == "Event":
            await self.tx.fetch(RETRACT, tenant=self.tenant, ids=self.fresh)
        return self.done

    async def _beside(self, part: str) -> None:
        rows = [_row(self.tenant, record) for _, record in self.batch]
        [written] = await self.tx.fetch(
            WRITE_BESIDE, tenant=self.tenant, kind=self.kind, part=part, nodes=rows
        )
        self.done.written = written
        self.done.there = len(rows) - written

    async def _nodes(self) -> None:
        ids = [record["key"] for _, record in self.batch]
        found = dict(await self.tx.fetch(THERE, tenant=self.tenant, kind=self.kind, ids=ids))
        fresh: list[Record] = []
        met: list[Record] = []
        for number, record in self.batch:
            if record["key"] not in found:
                fresh.append(record)
                continue
            own = unnumbered(found[record["key"]], self.generation)
            if (differs := transfer.compared(self.kind, own, record["properties"])) is None:
                self.done.there += 1
            elif differs:
                raise ImportConflictError(
                    f"Line {number}: {self.kind} {record['key']!r} is there with another {differs}."
                )
            else:
                self.done.kept += 1
                met.append(record)
        if self.kind in ("Memory", "Belief") and met:
            rows = [_row(self.tenant, record) for record in met]
            await self.tx.fetch(MEET, tenant=self.tenant, nodes=rows)
        self.fresh = [record["key"] for record in fresh]
        if fresh:
            self.done.written = await (
                self._append(fresh) if self.kind == "Event" else self._make(fresh)
            )

    async def _make(self, fresh: Sequence[Record]) -> int:
        rows = [_row(self.tenant, record) for record in fresh]
        written: int
        [written] = await self.tx.fetch(WRITE, tenant=self.tenant, kind=self.kind, nodes=rows)
        if self.kind == "Item":
            items = [_item(record) for record in fresh]
            await self.tx.fetch(PLACE_ITEMS, tenant=self.tenant, items=items)
        return written

    async def _append(self, fresh: Sequence[Record]) -> int:
        events = [transfer.properties_of(record["properties"]) for record in fresh]
        ends = [
            {"id": event["id"], "position": event["position"]}
            for event in events
            if "position" in event
        ]
        if ends and (taken := await self.tx.fetch(POSITIONS, tenant=self.tenant, ends=ends)):
            number = next(n for n, record in self.batch if record["key"] == taken[0])
            raise ImportConflictError(
                f"Line {number}: the search log of this tenant has another session where the "
                f"export has {taken[0]!r}."
            )
        spoken = {
            link["properties"]["slot_id"]
            for record in fresh
            for link in record["links"]
            if "slot_id" in link["properties"]
        }
        retracted = [event["target_id"] for event in events if event["type"] == "RETRACT"]
        if spoken or retracted:
            await self.tx.fetch(
                DROP_CHECKPOINTS, tenant=self.tenant, slot_ids=sorted(spoken), retracted=retracted
            )
        written: int
        [written] = await self.tx.fetch(APPEND, tenant=self.tenant, events=events)
        return written

    async def _links(self) -> None:
        links = [
            _link(self.tenant, record, link) for _, record in self.batch for link in record["links"]
        ]
        if not links:
            return
        [made] = await self.tx.fetch(LINK, tenant=self.tenant, links=links)
        if made["missing"]:
            raise ImportConflictError(
                f"A {self.kind} of lines {self.batch[0][0]} to {self.batch[-1][0]} is related to "
                f"{made['missing'][0]!r}, which is not there."
            )
        self.done.links = made["written"]


def _row(tenant: str, record: Record) -> dict[str, Any]:
    """Return a record as `transfer/write` takes it, with what is made anew."""
    properties = transfer.properties_of(record["properties"])
    kind = record["kind"]
    if kind in ("Memory", "Belief", "Turn"):
        properties["tenant_key"] = identity.tenant_key(tenant)
        properties["scope_key"] = identity.scope_key(tenant, properties["scope"])
    if kind == "Memory":
        tags, sources = (properties.get(name) or [] for name in ("tags", "sources"))
        properties["facet_keys"] = identity.facet_keys(tenant, tags, sources)
    return {
        "key": record["key"],
        "properties": properties,
        "embedding": transfer.embedding_of(record["properties"]),
    }


def _item(record: Record) -> dict[str, Any]:
    return {
        "key": record["key"],
        "namespace": transfer.properties_of(record["namespace"]),
        "texts": [
            {
                "properties": transfer.properties_of(text),
                "embedding": transfer.embedding_of(text),
            }
            for text in record["texts"]
        ],
    }


def _link(tenant: str, record: Record, link: Record) -> dict[str, Any]:
    ends = [(record["kind"], record["key"]), (link["label"], link["key"])]
    if not link["leaves"]:
        ends.reverse()
    [(start_label, start), (end_label, end)] = ends
    properties = transfer.properties_of(link["properties"])
    return {
        "type": link["type"],
        "start_label": start_label,
        "start": start,
        "end_label": end_label,
        "end": end,
        "properties": properties,
        "wall": tenant if "slot_id" in properties else None,
    }
