"""Import an export into a tenant: check the whole file, then write it in batches, each once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence, Set
from pathlib import Path
from typing import Any

from graphmem import stored
from graphmem.errors import ExportFileError, ImportConflictError, ModelMismatchError
from graphmem.graph import catalog
from graphmem.integrity import sealing, seals
from graphmem.items import rules
from graphmem.ports import OnProgress, RequestContext, Tx
from graphmem.rules import identity, rejections
from graphmem.rules.scoring import generation_properties
from graphmem.transfer import ImportReport, KeptRejection, exporting
from graphmem.transfer import format as file_format
from graphmem.transfer.checking import FileSeals
from graphmem.transfer.erased import ErasedRecords
from graphmem.transfer.kinds import NodeKind
from graphmem.transfer.lines import Header, Node, Related

BATCH = 500
"""Nodes per transaction."""
MAX_LINKS = 5_000
"""Maximum number of relationships per transaction, unless a single node has more."""

THERE = catalog.query("transfer/existing", lambda row: (row["id"], row["properties"]))
POSITIONS = catalog.query("transfer/taken_positions", lambda row: row["id"])
DROP_CHECKPOINTS = catalog.query("transfer/drop_checkpoints", catalog.ignored)
WRITE = catalog.query("transfer/write", lambda row: row["written"])
APPEND = catalog.query("transfer/append", lambda row: row["written"])
PLACE_ITEMS = catalog.query("transfer/place_items", catalog.ignored)
MEET = catalog.query("transfer/merge_nodes", catalog.ignored)
WRITE_BESIDE = catalog.query("transfer/write_auxiliary", lambda row: row["written"])
WRITE_SEALS = catalog.query("transfer/write_seals", lambda row: row["written"])
SPREAD = catalog.query("reject/spread", catalog.ignored)
NOT_LIFTED = catalog.query("transfer/not_lifted", lambda row: KeptRejection(**row))
REMOVE = catalog.query("transfer/remove", catalog.ignored)
RETRACT = catalog.query("transfer/retract", catalog.ignored)
LINK = catalog.query("transfer/link", dict)

Batch = Sequence[Node]
"""Nodes of one kind."""


async def take(context: RequestContext, path: Path, on_progress: OnProgress) -> ImportReport:
    """Write the records of a file that the tenant does not have yet.

    The whole file is checked before anything is written. Existing nodes are kept. What was erased
    from the tenant is left out, with everything that was erased as derived from it. Each batch is
    one transaction.

    Args:
        on_progress: progress callback; gets `check` and the number of lines, then labels and the
            number of nodes.

    Raises:
        ExportFileError: the file is not a complete, unchanged export of a supported version.
        ModelMismatchError: the embeddings are from another model.
        ImportConflictError: a record contradicts stored data; names its line.
        ErasedError: a record refers to erased data, and may be derived from it; names its line.
    """
    head, erased = await _checked(context, path, on_progress)
    done, batch = Counter[str](), list[Node]()
    path_here = rejections.import_path(head.tenant)
    not_lifted = dict[str, KeptRejection]()
    met: list[tuple[str, str]] = []

    async def write() -> None:
        part = await _write(context, batch, path_here, on_progress)
        done.update(part.done)
        not_lifted.update((f"{one.scope} {one.event_id}", one) for one in part.not_lifted)
        met.extend(part.met)

    async for found in exporting.records(context.services.exports, path):
        node = None if isinstance(found, Header) else erased.rest(found)
        if node is None:
            continue
        if batch and not fits(batch, node):
            await write()
            batch = []
        batch.append(node)
    if batch:
        await write()
    met += await erased.recompute_dates()
    await sealing.defer_changed(context, met)
    await sealing.defer_late(context, on_progress)
    await sealing.seal_waiting(context)
    return ImportReport(
        tenant=head.tenant,
        known=head.known,
        erased=dict(sorted(erased.counts.items())),
        not_lifted=tuple(not_lifted.values()),
        **{name: done[name] for name in ("written", "links", "there", "kept", "seals_left")},
    )


def fits(batch: Batch, node: Node) -> bool:
    """Return whether a node can be written with a batch."""
    return (
        batch[0].kind == node.kind
        and len(batch) < BATCH
        and sum(len(one.links) for one in batch) + len(node.links) <= MAX_LINKS
    )


async def _checked(
    context: RequestContext, path: Path, on_progress: OnProgress
) -> tuple[Header, ErasedRecords]:
    """Return the header of a complete file with only valid records, and those that were erased."""
    if await context.services.exports.size(path) is None:
        raise ExportFileError(f"File {path} does not exist.", hint="Check the name.")
    head: Header | None = None
    erased: ErasedRecords | None = None
    sealed = FileSeals(seals.SealCheck())
    async for found in exporting.records(context.services.exports, path):
        if isinstance(found, Header):
            head = found
            _same_model(context, found)
            erased = ErasedRecords(context, found.known)
            continue
        for wrong in sealed.take(found):
            raise ExportFileError(
                f"Line {found.line}: {wrong.kind} {wrong.id!r} is {wrong.problem}, by its seal.",
                hint="Nothing was imported. `admin verify-export` lists every such event.",
            )
        if erased is not None:
            await erased.take(found)
        if found.line % BATCH == 0:
            on_progress("check", BATCH)
    if head is None or erased is None:
        raise ExportFileError(f"{path} has no header.")
    await erased.end()
    return head, erased


async def copy(
    context: RequestContext, batch: Batch, replaced: Sequence[str], on_progress: OnProgress
) -> None:
    """Write nodes of a tenant that moves as its own, in one transaction.

    Args:
        replaced: keys of the nodes to remove before, which differ from those of the batch.
    """

    async def work(tx: Tx) -> None:
        await stored.lock(tx)
        await remove(tx, batch[0].kind, replaced)
        await _Copy(tx, context, batch).take()

    await context.write(work)
    on_progress(batch[0].kind.label, len(batch))


async def remove(tx: Tx, kind: NodeKind, keys: Sequence[str]) -> None:
    """Remove the nodes of one kind with these keys."""
    if keys and kind.label == "Event":
        await tx.fetch(DROP_CHECKPOINTS, beliefs=[], retracted=keys)
    if keys:
        await tx.fetch(REMOVE, kind=kind.label, part=kind.part, keys=keys)


def _same_model(context: RequestContext, head: Header) -> None:
    own = context.model
    if (head.model, head.dimension) != (own.name, own.dimension):
        raise ModelMismatchError(
            f"The export has embeddings of {head.model} ({head.dimension} dimensions), but "
            f"this graph has those of {own.name} ({own.dimension}).",
            hint="Import it into a graph that uses the same model.",
        )


async def _write(
    context: RequestContext, batch: Batch, path: str, on_progress: OnProgress
) -> _Batch:
    async def work(tx: Tx) -> _Batch:
        await stored.lock(tx)
        part = _Batch(tx, context, batch, path)
        await part.take()
        return part

    done = await context.write(work)
    on_progress(batch[0].kind.label, len(batch))
    return done


class _Batch:
    """Writes some nodes of one kind in one transaction."""

    def __init__(self, tx: Tx, context: RequestContext, batch: Batch, path: str) -> None:
        self.tx = tx
        self.path = path
        """Path of the file's own rulings: see `rejections.import_path`."""
        self.tenant = context.tenant
        self.generation = context.model.generation
        self.batch = batch
        self.kind = batch[0].kind
        self.done = Counter[str]()
        """Numbers of written and skipped records, by field of `ImportReport`."""
        self.not_lifted: list[KeptRejection] = []
        self.fresh: list[str] = []
        """Keys of the created nodes."""
        self.met: list[tuple[str, str]] = []
        """Labels and ids of existing nodes that the file may have changed."""

    async def take(self) -> None:
        """Write the missing nodes and their relationships."""
        if self.kind.auxiliary:
            await self._write_properties()
        elif self.kind.label == "Seal":
            await self._seals()
        else:
            await self._nodes()
        await self._links()
        if self.fresh and self.kind.label == "Event":
            await self.tx.fetch(RETRACT, ids=self.fresh)

    def _missing(self, keys: Set[str]) -> ImportConflictError:
        """Return the error for the first relationship to a missing node."""
        line, place, key = next(
            (node.line, place, link.key)
            for node in self.batch
            for place, link in enumerate(node.links)
            if {node.key, link.key} & keys
        )
        return ImportConflictError(f"Line {line}: links.{place}.key: {key!r} does not exist.")

    async def _write_properties(self) -> None:
        rows = [_auxiliary_row(self.tenant, node, self.path) for node in self.batch]
        [written] = await self.tx.fetch(
            WRITE_BESIDE, kind=self.kind.label, part=self.kind.part, nodes=rows
        )
        if self.kind.label == "Rejection":
            ids = [row["key"] for row in rows]
            await self.tx.fetch(SPREAD, ids=ids)
            self.not_lifted = await self.tx.fetch(NOT_LIFTED, ids=ids, path=self.path)
        self.done["written"] = written
        self.done["there"] = len(self.batch) - written

    async def _nodes(self) -> None:
        label = self.kind.label
        ids = [node.key for node in self.batch]
        found = dict(await self.tx.fetch(THERE, kind=label, ids=ids))
        fresh: list[Node] = []
        existing: list[Node] = []
        for node in self.batch:
            if node.key not in found:
                fresh.append(node)
                continue
            own = generation_properties(found[node.key], self.generation)
            if (
                differs := file_format.node_difference(label, own, node.given["properties"])
            ) is None:
                self.done["there"] += 1
            elif differs:
                raise ImportConflictError(
                    f"Line {node.line}: {label} {node.key!r} exists with another {differs}."
                )
            else:
                self.done["kept"] += 1
                existing.append(node)
        if label in ("Memory", "Belief") and existing:
            rows = [{"key": node.key, "has": node.properties} for node in existing]
            await self.tx.fetch(MEET, nodes=rows)
            self.met += ((label, node.key) for node in existing)
        self.fresh = [node.key for node in fresh]
        if fresh:
            await self._refuse_taken(fresh)
            self.done["written"] = await (
                self._append(fresh) if label == "Event" else self._make(fresh)
            )

    async def _seals(self) -> None:
        """Write the seals that continue those of the tenant, and leave out the others.

        A tenant with another chain keeps it: its next seal covers the events.
        """
        label = self.kind.label
        found = dict(await self.tx.fetch(THERE, kind=label, ids=[one.key for one in self.batch]))
        heads = await self.tx.fetch(sealing.HEAD)
        last, digest = (heads[0]["id"], heads[0]["digest"]) if heads else ("", seals.START)
        fresh: list[Node] = []
        for node in self.batch:
            has = node.properties
            if node.key in found:
                same = found[node.key]["digest"] == has["digest"]
                self.done["there" if same else "seals_left"] += 1
            elif has["digest"] == seals.seal_digest(
                digest, node.key, has["sealed_until"], has["leaves"]
            ) and node.key == seals.seal_id(int(last or 0) + 1):
                last, digest = node.key, has["digest"]
                fresh.append(node)
            else:
                self.done["seals_left"] += 1
        self.batch = fresh
        await self._write_seals(fresh)

    async def _write_seals(self, fresh: Batch) -> None:
        if fresh:
            rows = [{"key": node.key, "has": node.properties} for node in fresh]
            [self.done["written"]] = await self.tx.fetch(WRITE_SEALS, nodes=rows)

    async def _refuse_taken(self, fresh: Batch) -> None:
        """Refuse a turn or session end whose position is taken."""
        turns = self.kind.label == "Turn"
        rows: dict[tuple[Any, ...], dict[str, Any]] = {}
        for node in fresh:
            if "position" not in node.properties:
                continue
            # A turn's position is unique in its episode, a session's in the whole log.
            names = ("episode_id", "position") if turns else ("position",)
            row = {name: node.properties[name] for name in names}
            if tuple(row.values()) in rows:
                raise _taken(node, "the file")
            rows[tuple(row.values())] = {"id": node.key, **row}
        if not rows:
            return
        given = list(rows.values())
        there = await self.tx.fetch(
            POSITIONS, ends=[] if turns else given, turns=given if turns else []
        )
        for node in fresh:
            if node.key in there:
                raise _taken(node, "the graph")

    async def _make(self, fresh: Batch) -> int:
        label = self.kind.label
        rows = [_row(self.tenant, node) for node in fresh]
        written: int
        [written] = await self.tx.fetch(WRITE, kind=label, nodes=rows)
        if label == "Item":
            placed = [_placed(node) for node in fresh]
            await self.tx.fetch(PLACE_ITEMS, items=placed)
        return written

    async def _append(self, fresh: Batch) -> int:
        events = [{**node.properties, "id": node.key} for node in fresh]
        for event in events if self.path else ():
            if "value_digests" in event:
                event["imported_path"] = self.path + event.get("imported_path", "")
        beliefs = {
            link.key
            for node in fresh
            for link in node.links
            if link.type in ("SUPPORTS", "REFUTES")
        }
        retracted = [event["target_id"] for event in events if event["type"] == "RETRACT"]
        if beliefs or retracted:
            await self.tx.fetch(DROP_CHECKPOINTS, beliefs=sorted(beliefs), retracted=retracted)
        written: int
        [written] = await self.tx.fetch(APPEND, events=events)
        return written

    async def _links(self) -> None:
        links = [_link(node, link) for node in self.batch for link in node.links]
        if not links:
            return
        [made] = await self.tx.fetch(LINK, links=links)
        if made["missing"]:
            raise self._missing({*made["missing"]})
        self.done["links"] = made["written"]


class _Copy(_Batch):
    """Writes nodes of a tenant that moves; its rulings and its chain of seals stay its own."""

    def __init__(self, tx: Tx, context: RequestContext, batch: Batch) -> None:
        super().__init__(tx, context, batch, path="")

    async def _seals(self) -> None:
        there = dict(await self.tx.fetch(THERE, kind="Seal", ids=[one.key for one in self.batch]))
        await self._write_seals([one for one in self.batch if one.key not in there])


def _taken(node: Node, where: str) -> ImportConflictError:
    other = "turn of the episode" if node.kind.label == "Turn" else "session of the search log"
    return ImportConflictError(
        f"Line {node.line}: properties.position: another {other} in {where} has it."
    )


def _auxiliary_row(tenant: str, node: Node, path: str) -> dict[str, Any]:
    """Return a node as a row of `transfer/write_auxiliary`."""
    row = {"key": node.key, "has": node.properties}
    if node.kind.label == "Rejection":
        row |= {"value_key": rejections.value_key(tenant, node.properties["digest"]), "path": path}
    return row


def _row(tenant: str, node: Node) -> dict[str, Any]:
    """Return a node as a row of `transfer/write`, with its derived properties."""
    has, label = node.properties, node.kind.label
    row: dict[str, Any] = {"key": node.key, "has": has} | {
        name: has.get(name) for name in ("embedding", "token_states")
    }
    # A compressed turn has no keys, so that full-text search does not find it.
    if label in ("Memory", "Belief", "Turn", "Episode") and not has.get("compressed"):
        row["tenant_key"] = identity.tenant_key(tenant)
        row["scope_key"] = identity.scope_key(tenant, has["scope"])
    if label == "Memory":
        row["facet_keys"] = identity.facet_keys(tenant, has.get("tags", ()), has.get("sources", ()))
        row["value_key"] = rejections.text_key(tenant, has["content"])
    elif label == "Belief":
        row["slot_id"] = file_format.slot_id(has, node.key)
        row |= rejections.belief_keys(tenant, {"subject_key": None, **has})
    elif label == "Item":
        row["facets"] = rules.value_tokens(rules.decode_value(has["value"]))
    return row


def _placed(node: Node) -> dict[str, Any]:
    """Return an item as a row of `transfer/place_items`."""
    space = node.namespace
    return {
        "key": node.key,
        "scope": node.properties["scope"],
        "namespace": rules.namespace_row(node.properties["scope"], space["parts"], 0),
        "creation_order": space["creation_order"],
        "texts": node.texts,
    }


def _link(node: Node, link: Related) -> dict[str, Any]:
    ends = [(node.kind.label, node.key), (link.label, link.key)]
    if not link.leaves:
        ends.reverse()
    [(start_label, start), (end_label, end)] = ends
    return {
        "type": link.type,
        "start_label": start_label,
        "start": start,
        "end_label": end_label,
        "end": end,
        "has": link.properties,
    }
