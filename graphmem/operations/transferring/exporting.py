"""Go through the lines of an export, each checked against all before it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from graphmem import catalog
from graphmem.errors import ExportFileError, ReadConflictError
from graphmem.model import ExportReport
from graphmem.ports import Exports, OnPart, RequestContext, Tx
from graphmem.rules import read_options, transfer
from graphmem.rules.transfer import KINDS, DigestChain, ExportCounts, NodeKind
from graphmem.rules.transfer_records import PLACES, End, Header, Node, Reader


async def lines(
    exports: Exports, path: Path, reader: Reader
) -> AsyncIterator[tuple[int, Header | Node | End]]:
    """Yield what each whole line says and the offset at which the line ends.

    A last line without an end is passed over: it was cut off.

    Raises:
        ExportFileError: a line is not as it was written, or nothing that an export writes; names
            the line.
    """
    start = 0
    while found := await exports.lines(path, start):
        for line in found:
            if not line.endswith(b"\n"):
                return
            start += len(line)
            yield start, reader.read(line)


async def records(exports: Exports, path: Path) -> AsyncIterator[Header | Node]:
    """Yield the header of a whole file, then its nodes.

    Raises:
        ExportFileError: the file cannot be read, a line cannot be taken, or the end is missing;
            what was yielded before is to be forgotten.
    """
    reader = Reader()
    async for _, found in lines(exports, path, reader):
        if not isinstance(found, End):
            yield found
    if not reader.ended:
        raise ExportFileError(
            f"The export is not whole: it ends after line {reader.chain.number}.",
            hint="Nothing was taken from it. Fetch it again; an export that was interrupted goes "
            "on when it is started again.",
        )


PAGE = 500
STEP_S = 0.05
"""Between two looks at the transactions under way."""

OPEN = catalog.query("schema/open_transactions", dict)
READ = catalog.query("transfer/read", dict)
READ_BESIDE = catalog.query("transfer/read_beside", dict)


@dataclass(slots=True)
class _PartialFile:
    """How far a file on its way has come."""

    path: Path
    known: datetime = read_options.BEGINNING
    """What is recorded later is not in it."""
    chain: DigestChain = field(default_factory=DigestChain)
    counts: ExportCounts = field(default_factory=ExportCounts)
    size: int = 0
    place: tuple[int, str] = (0, "")
    """Of the last record: its kind in `KINDS`, and its key."""
    ended: bool = False
    later: int = 0
    """Nodes that were passed over, being recorded later."""


async def export(to: RequestContext, path: Path, on_part: OnPart) -> ExportReport:
    """Write everything that the tenant owns and that was recorded until now.

    Args:
        to: whose; every scope.
        path: of a file that is not there yet; it is written as `path`.part until it is whole.
        on_part: told after each page a label and how many nodes were written.

    Raises:
        ExportFileError: the file is there, cannot be written, or what an interrupted export left
            does not fit.
    """
    exports = to.world.exports
    if await exports.size(path) is not None:
        raise ExportFileError(f"{path} is there already.", hint="Name another file, or remove it.")
    draft = await _resumed(to, path.with_name(path.name + ".part"))
    resumed = sum(draft.counts.records.values())
    if draft.size == 0:
        draft.known = await _settled(to)
        await _add(to, draft, [_header(to, draft)])
    if not draft.ended:
        first, after = draft.place
        await _write(to, draft, first, after, on_part)
        for place in range(first + 1, len(KINDS)):
            await _write(to, draft, place, "", on_part)
        await _add(to, draft, [draft.counts.end()])
    await exports.finish(draft.path, path)
    return ExportReport(
        records=draft.counts.records,
        links=draft.counts.links,
        known=draft.known,
        resumed=resumed,
        later=draft.later,
    )


def _header(to: RequestContext, draft: _PartialFile) -> dict[str, Any]:
    return transfer.header(to.wall.tenant, to.model.name, to.model.dimension, draft.known)


async def _resumed(to: RequestContext, path: Path) -> _PartialFile:
    """Return what an interrupted export left, cut after its last whole line."""
    size = await to.world.exports.size(path)
    if size is None:
        return _PartialFile(path)
    reader = Reader()
    draft = _PartialFile(path, chain=reader.chain, counts=reader.counts)
    try:
        async for end, found in lines(to.world.exports, path, reader):
            draft.size = end
            _recall(to, draft, found)
    except ExportFileError as error:
        raise ExportFileError(
            f"{path}, left by an interrupted export, cannot be gone on with. {error.message}",
            hint="Remove it and export again.",
        ) from None
    if size > draft.size:
        await to.world.exports.cut(path, draft.size)
    return draft


def _recall(to: RequestContext, draft: _PartialFile, found: Header | Node | End) -> None:
    if isinstance(found, Header):
        draft.known = found.known
        if found.given != _header(to, draft):
            raise ExportFileError(f"It is of tenant {found.tenant!r}, or of another model.")
    elif isinstance(found, Node):
        draft.place = PLACES[found.kind.label, found.kind.part], found.key
    else:
        draft.ended = True


async def _settled(to: RequestContext) -> datetime:
    """Return an instant of the server's clock until which every write is to be read.

    A transaction that is under way may have recorded something already, so those that are open
    now are waited for, though no longer than one may take.
    """
    found = await _open(to)
    known: datetime = found["now"]
    waits, left = set(found["open"]), read_options.LONGEST.total_seconds()
    while left > 0 and waits & set((await _open(to))["open"]):
        await to.world.clock.sleep(STEP_S)
        left -= STEP_S
    return known


async def _open(to: RequestContext) -> dict[str, Any]:
    [found] = await to.world.graph.read(lambda tx: tx.fetch(OPEN))
    return found


async def _write(
    to: RequestContext, draft: _PartialFile, place: int, after: str, on_part: OnPart
) -> None:
    """Write all nodes of one kind whose keys follow `after`."""
    kind = KINDS[place]
    while (page := await _page(to, kind, after, draft.known))["looked"]:
        after = page["after"]
        draft.later += page["looked"] - len(page["records"])
        generation = to.model.generation
        records = [transfer.record_of(kind, found, generation) for found in page["records"]]
        await _add(to, draft, records)
        on_part(kind.label, len(records))


async def _page(to: RequestContext, kind: NodeKind, after: str, known: datetime) -> dict[str, Any]:
    part = {"part": kind.part} if kind.beside else {}

    async def work(tx: Tx) -> dict[str, Any]:
        [page] = await tx.fetch(
            READ_BESIDE if kind.beside else READ,
            tenant=to.wall.tenant,
            known=known,
            kind=kind.label,
            after=after,
            limit=PAGE,
            **part,
        )
        if not all(_whole(kind, found) for found in page["records"]):
            raise ReadConflictError
        return page

    return await to.world.graph.read(work)


def _whole(kind: NodeKind, found: Mapping[str, Any]) -> bool:
    """Return whether nothing of a record was deleted while it was read."""
    properties = found["properties"]
    is_there = bool(properties) if kind.beside else properties.get("id") == found["key"]
    return is_there and all(link["label"] and link["key"] for link in found["links"])


async def _add(
    to: RequestContext, draft: _PartialFile, records: Sequence[Mapping[str, Any]]
) -> None:
    data = b"".join(draft.chain.written(record) for record in records)
    await to.world.exports.append(draft.path, draft.size, data)
    draft.size += len(data)
    for record in records:
        if "kind" in record:
            draft.counts.add(record)
