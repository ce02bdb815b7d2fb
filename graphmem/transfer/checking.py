"""Check the events of an export against its seals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from graphmem.errors import ExportFileError
from graphmem.file_access import ExportFiles
from graphmem.integrity import Mismatch, RebuildReport, sealing, seals
from graphmem.integrity.contents import content_digests, contents
from graphmem.integrity.seals import Finding, SealCheck
from graphmem.ports import OnProgress
from graphmem.transfer import exporting
from graphmem.transfer.lines import Header, Node

STEP = 500
"""Lines between two calls of the progress callback."""


@dataclass(slots=True)
class FileSeals:
    """The seals of a file and the events before them, read in the order of the lines."""

    found: SealCheck
    open: dict[str, str] = field(default_factory=dict)
    """Digests of the events without a seal so far, by name."""
    contents: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Digests of the other nodes, by name."""
    newest: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    """Seal, salt and salted digests of the newest entries of these nodes, by name."""
    stated: dict[str, list[str]] = field(default_factory=dict)
    """Names of the nodes that the events without a seal so far state, by name of the event."""

    def take(self, node: Node) -> Iterator[Finding]:
        """Yield what is wrong with the next record, if it is a seal."""
        if node.kind.label == "Event":
            if node.properties["type"] not in seals.TELEMETRY:
                given = node.given
                others = [one.key for one in node.links if one.label == "Event"]
                if any(seals.entry("Event", one) not in self.open for one in others):
                    yield Finding("event", node.key, "changed", "")
                name = seals.entry("Event", node.key)
                self.open[name] = seals.event_digest(node.key, given["properties"], given["links"])
                self.stated[name] = [
                    seals.entry(one.label, one.key)
                    for one in node.links
                    if one.type in seals.STATES and one.label in contents()
                ]
        elif node.kind.label in contents():
            has = {"label": node.kind.label, "key": node.key, **node.given}
            self.contents[seals.entry(node.kind.label, node.key)] = content_digests(has)
        elif node.kind.label == "Seal":
            has = {**node.properties, "id": node.key}
            has.pop("recorded_at")
            linked = [seals.entry(link.label, link.key) for link in node.links]
            digests = {name: self.open.pop(name) for name in linked if name in self.open}
            # Which entry is the newest shows only at the end.
            nodes = {
                name: seals.CoveredNode(self.contents[name], newest=False)
                for name in linked
                if name in self.contents
            }
            for name in digests:
                del self.stated[name]
            seal = seals.Seal(**has)
            self.newest |= {
                name: (seal.id, salt, leaves)
                for name, salt, leaves in zip(seal.ids, seal.salts, seal.leaves, strict=False)
                if name in nodes
            }
            yield from self.found.take(seal, digests, nodes)

    def ended(self) -> Iterator[Finding]:
        """Yield the nodes that differ from their newest seal, and that no later event changed.

        Call it after the whole file was taken.
        """
        touched = {name for names in self.stated.values() for name in names}
        for name, (seal, salt, leaves) in self.newest.items():
            if leaves == seals.leaves_of(salt, self.contents[name]):
                self.found.contents += 1
            elif name not in touched:
                yield Finding(*seals.shown(name), "stale", seal)

    def is_late(self, record: Node) -> bool:
        """Return whether a record is an event that no seal covers, recorded before the last ends.

        Call it after the whole file was taken.
        """
        end = self.found.until
        return (
            end is not None
            and record.kind.label == "Event"
            and seals.entry("Event", record.key) in self.open
            and bool(record.properties["recorded_at"] < end)
        )


async def check(
    exports: ExportFiles, path: Path, head: str | None, on_progress: OnProgress
) -> RebuildReport:
    """Return the events and seals of a file that were changed, added or deleted.

    Args:
        head: digest that a seal of the file must have; None if any will do.
    """
    if await exports.size(path) is None:
        raise ExportFileError(f"File {path} does not exist.", hint="Check the name.")
    file = FileSeals(SealCheck(head))
    wrong: list[Mismatch] = []
    async for record in exporting.records(exports, path):
        if isinstance(record, Header):
            continue
        wrong += map(sealing.mismatch, file.take(record))
        if record.line % STEP == 0:
            on_progress("check", STEP)
    wrong += map(sealing.mismatch, file.ended())
    late = [
        sealing.unsealed_event(record.key)
        # Memory holds no times, so the file is read again for the events that no seal covers.
        async for record in exporting.records(exports, path)
        if isinstance(record, Node) and file.is_late(record)
    ]
    if head is not None and file.found.asked_in is None:
        wrong.append(sealing.unknown_head(head))
    unsealed = len(file.open) - len(late)
    return RebuildReport(
        wrong=(*wrong, *late), seals=sealing.state(file.found, unsealed, late=None)
    )
