"""Read the lines of an export, each checked against those before it, and write exports."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from graphmem.errors import ExportFileError, ReadConflictError
from graphmem.file_access import ExportFiles
from graphmem.graph import catalog
from graphmem.integrity import sealing
from graphmem.ports import OnProgress, RequestContext, Tx
from graphmem.rules import read_options
from graphmem.transfer import ExportReport
from graphmem.transfer import format as file_format
from graphmem.transfer.format import DigestChain, ExportCounts
from graphmem.transfer.kinds import KINDS, NodeKind
from graphmem.transfer.lines import KIND_ORDER, End, Header, Node, Reader

PAGE, SEALS_PAGE = 500, 20
"""Nodes read at a time; a seal has as many entries as a page of other nodes."""

READ = catalog.query("transfer/read", dict)
READ_BESIDE = catalog.query("transfer/read_auxiliary", dict)


async def lines(
    exports: ExportFiles, path: Path, reader: Reader
) -> AsyncIterator[tuple[int, Header | Node | End]]:
    """Yield the record of each complete line and the offset at which the line ends.

    A truncated last line is skipped.
    """
    start = 0
    while found := await exports.lines(path, start):
        for line in found:
            if not line.endswith(b"\n"):
                return
            start += len(line)
            yield start, reader.read(line)


async def records(exports: ExportFiles, path: Path) -> AsyncIterator[Header | Node]:
    """Yield the header of a whole file, then its nodes.

    Raises:
        ExportFileError: the file cannot be read, a line is invalid, or the end is missing; discard
            the records yielded before.
    """
    reader = Reader()
    async for _, found in lines(exports, path, reader):
        if not isinstance(found, End):
            yield found
    if not reader.ended:
        raise ExportFileError(
            f"The export is incomplete: it ends after line {reader.chain.number}.",
            hint="Nothing was imported. Fetch the file again; an interrupted export resumes when "
            "it is run again.",
        )


@dataclass(slots=True)
class _PartialFile:
    """State of a partially written export file."""

    path: Path
    known: datetime = read_options.BEGINNING
    """Known time of the export; later records are left out."""
    chain: DigestChain = field(default_factory=DigestChain)
    counts: ExportCounts = field(default_factory=ExportCounts)
    size: int = 0
    place: tuple[int, str] = (0, "")
    """Index in `KINDS` and key of the last record written."""
    ended: bool = False
    later: int = 0
    """Number of nodes left out because they were recorded later."""


async def export(context: RequestContext, path: Path, on_progress: OnProgress) -> ExportReport:
    """Write everything that the tenant owns and that was recorded until now.

    Args:
        path: file to create; an incomplete export is written to `path`.part.
    """
    exports = context.services.exports
    if await exports.size(path) is not None:
        raise ExportFileError(f"{path} already exists.", hint="Name another file, or remove it.")
    draft = await _resumed(context, path.with_name(path.name + ".part"))
    resumed = sum(draft.counts.records.values())
    if draft.size == 0:
        draft.known = await sealing.settled(context)
        await _add(context, draft, [_header(context, draft)])
    if not draft.ended:
        first, after = draft.place
        await _write(context, draft, first, after, on_progress)
        for place in range(first + 1, len(KINDS)):
            await _write(context, draft, place, "", on_progress)
        await _add(context, draft, [draft.counts.end()])
    await exports.finish(draft.path, path)
    return ExportReport(
        records=draft.counts.records,
        links=draft.counts.links,
        known=draft.known,
        resumed=resumed,
        later=draft.later,
    )


def _header(context: RequestContext, draft: _PartialFile) -> dict[str, Any]:
    return file_format.header(
        context.tenant, context.model.name, context.model.dimension, draft.known
    )


async def _resumed(context: RequestContext, path: Path) -> _PartialFile:
    """Return the state of an interrupted export, truncated after its last complete line."""
    size = await context.services.exports.size(path)
    if size is None:
        return _PartialFile(path)
    reader = Reader()
    draft = _PartialFile(path, chain=reader.chain, counts=reader.counts)
    try:
        async for end, found in lines(context.services.exports, path, reader):
            draft.size = end
            _recall(context, draft, found)
    except ExportFileError as error:
        raise ExportFileError(
            f"The interrupted export {path} cannot be resumed. {error.message}",
            hint="Remove it and export again.",
        ) from None
    if size > draft.size:
        await context.services.exports.cut(path, draft.size)
    return draft


def _recall(context: RequestContext, draft: _PartialFile, found: Header | Node | End) -> None:
    if isinstance(found, Header):
        draft.known = found.known
        if found.given != _header(context, draft):
            raise ExportFileError(f"It belongs to tenant {found.tenant!r} or to another model.")
    elif isinstance(found, Node):
        draft.place = KIND_ORDER[found.kind.label, found.kind.part], found.key
    else:
        draft.ended = True


async def _write(
    context: RequestContext, draft: _PartialFile, place: int, after: str, on_progress: OnProgress
) -> None:
    """Write all nodes of one kind with keys after `after`."""
    kind = KINDS[place]
    while (page := await read_page(context, kind, after, draft.known)).looked:
        after = page.after
        draft.later += page.looked - len(page.records)
        await _add(context, draft, page.records)
        on_progress(kind.label, len(page.records))


class Page(NamedTuple):
    """A page of the nodes of one kind, by key."""

    looked: int
    """Number of nodes read; 0 after the last page."""
    after: str
    """Key of the last one."""
    records: list[dict[str, Any]]
    """Records of those that were recorded in time."""


async def read_page(context: RequestContext, kind: NodeKind, after: str, known: datetime) -> Page:
    """Return the nodes of one kind with keys after `after`.

    Args:
        known: known time; nodes recorded later are left out.
    """
    part = {"part": kind.part} if kind.auxiliary else {}

    async def work(tx: Tx) -> dict[str, Any]:
        [page] = await tx.fetch(
            READ_BESIDE if kind.auxiliary else READ,
            known=known,
            kind=kind.label,
            after=after,
            limit=SEALS_PAGE if kind.label == "Seal" else PAGE,
            **part,
        )
        if not all(_whole(kind, found) for found in page["records"]):
            raise ReadConflictError
        return page

    found = await context.read(work)
    generation = context.model.generation
    records = [file_format.node_record(kind, one, generation) for one in found["records"]]
    return Page(found["looked"], found["after"], records)


def _whole(kind: NodeKind, found: Mapping[str, Any]) -> bool:
    """Return whether no part of a record was deleted while it was read."""
    properties = found["properties"]
    is_there = bool(properties) if kind.auxiliary else properties.get("id") == found["key"]
    return is_there and all(link["label"] and link["key"] for link in found["links"])


async def _add(
    context: RequestContext, draft: _PartialFile, records: Sequence[Mapping[str, Any]]
) -> None:
    data = b"".join(draft.chain.write(record) for record in records)
    await context.services.exports.append(draft.path, draft.size, data)
    draft.size += len(data)
    for record in records:
        if "kind" in record:
            draft.counts.add(record)
