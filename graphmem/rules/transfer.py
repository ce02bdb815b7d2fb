"""What an export holds: which nodes, in which order, and how a line of it is written and checked.

An export is JSON Lines: a header, one node a line with its relationships to nodes that stand
before it, and an end that counts them. Each line carries the digest of itself and all lines before
it, so that one that is changed, moved, missing or cut off is found by its number.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np

from graphmem.errors import ExportFileError
from graphmem.rules.scoring import unnumbered
from graphmem.rules.transfer_kinds import LINKS, NODES

FORMAT, VERSION = "graphmem export", 2


@dataclass(frozen=True, slots=True)
class NodeKind:
    """Nodes of one label, as far as an export tells them apart."""

    label: str
    part: str = ""
    """Of ratings: the label of what is rated."""
    beside: bool = False
    """Kept beside the memory: what is there is not compared, and stays."""


KINDS = (
    *(NodeKind(label) for label in ("Episode", "Archive", "Turn", "Reply", "Artifact", "Item")),
    *(NodeKind(label, beside=True) for label in ("Name", "Predicate")),
    *(NodeKind(label) for label in ("Belief", "Memory", "Event")),
    NodeKind("Consolidation", beside=True),
    *(
        NodeKind("Rating", part, beside=True)
        for part in ("Artifact", "Belief", "Episode", "Memory")
    ),
    NodeKind("Rater", beside=True),
)
"""In the order of a file: relationships lead to what stands before. Ratings come last, and last
how many sessions they are of, so that no game is in a file that would be played again."""
LEFT_OUT: Mapping[str, str] = {
    "Tenant": "the lock of its writers, made by the first of them",
    "NameLock": "no such node outlives its transaction",
    "Checkpoint": "a cache, made anew from the events",
    "Namespace": "stands in the records of its items",
    "ItemText": "stands in the record of its item",
    "EmbeddingModel": "of the graph and not of a tenant; the header names it",
    "Tombstone": "says of this graph what was forgotten; nothing of that is in the file",
    "Migration": "of the graph and not of a tenant",
    "MigrationLock": "of the graph and not of a tenant",
}
"""Labels of which a file has no records, and why."""
MADE_ANEW: Mapping[str, str] = {
    "tenant": "whose it is, the import says",
    "tenant_key": "a digest of the tenant",
    "scope_key": "a digest of the tenant and the scope",
    "facet_keys": "digests of the tenant, the tags and the sources",
    "locked_at": "when a writer came by",
    "asked_at": "when a worker came by",
    "owner": "of a worker's lease",
    "until": "of a worker's lease",
}
"""Properties that a file does not hold, and why. It does not hold keys of nodes among their
properties either, nor what follows from others of them; see `transfer_kinds`."""
FIXED: Mapping[str, tuple[str, ...]] = {
    "Episode": ("scope", "session_id", "request_hash"),
    "Archive": ("scope", "episode_id", "sha256"),
    "Turn": ("scope", "episode_id", "position", "role", "name", "text"),
    "Reply": ("scope",),
    "Artifact": ("scope", "kind", "ref"),
    "Item": ("scope", "key"),
    "Belief": ("scope", "subject_key", "predicate_key", "object_key"),
    "Memory": ("scope", "content_hash"),
}
"""What of a node never changes. Of an event that is everything, but for when it was recorded."""


@dataclass(slots=True)
class DigestChain:
    """Writes lines, or reads them, each bound to all before it."""

    check: str = ""
    number: int = 0
    """Of the last line, from 1."""

    def written(self, record: Mapping[str, Any]) -> bytes:
        """Return a record as the next line, its end included."""
        body = json.dumps(record, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        text = body.encode("utf-8")
        self._step(text)
        return text[:-1] + self._seal() + b"\n"

    def read(self, line: bytes) -> dict[str, Any]:
        """Return the record of the next line.

        Raises:
            ExportFileError: the line is not what was written after the lines before it.
        """
        start = line.rfind(b',"check":"')
        body = line[:start] + b"}"
        before = self.number
        self._step(body)
        if start < 0 or line != body[:-1] + self._seal() + b"\n":
            self.number = before
            raise ExportFileError(
                f"Line {before + 1} is not as it was written, or a line before it is missing.",
                hint="Nothing was taken from the file. Fetch it again, or export once more.",
            )
        try:
            # What ends with a bracket of a map is one, if it is JSON.
            record: dict[str, Any] = json.loads(body)
        except (ValueError, RecursionError):
            raise ExportFileError(
                f"Line {self.number} is not JSON, or is nested too deeply.",
                hint="Nothing was taken from the file. Fetch it again, or export once more.",
            ) from None
        return record

    def _step(self, body: bytes) -> None:
        self.check = hashlib.sha256(self.check.encode() + body).hexdigest()
        self.number += 1

    def _seal(self) -> bytes:
        return f',"check":"{self.check}"}}'.encode()


@dataclass(slots=True)
class ExportCounts:
    """How much a file holds."""

    records: dict[str, int] = field(default_factory=dict)
    """By label."""
    links: int = 0

    def add(self, record: Mapping[str, Any]) -> None:
        """Count one record."""
        self.records[record["kind"]] = self.records.get(record["kind"], 0) + 1
        self.links += len(record["links"])

    def end(self) -> dict[str, Any]:
        """Return the last line of a file."""
        return {"end": True, "records": self.records, "links": self.links}


def header(tenant: str, model: str, dimension: int, known: datetime) -> dict[str, Any]:
    """Return the first line of a file."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "tenant": tenant,
        "model": {"name": model, "dimension": dimension},
        "known": known.isoformat(),
    }


def checked_header(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the first line of a file if it can be read.

    Raises:
        ExportFileError: it is of something else, or of a newer graphmem.
    """
    if record.get("format") != FORMAT:
        raise ExportFileError("Line 1 is not the header of an export of graphmem.")
    if record.get("version") != VERSION:
        given = ascii(record.get("version"))[:20]
        raise ExportFileError(
            f"The file has version {given} of the format; this graphmem reads version {VERSION}.",
            hint="Export once more with this graphmem, or install the one that wrote the file.",
        )
    return record


def record_of(kind: NodeKind, found: Mapping[str, Any], generation: int) -> dict[str, Any]:
    """Return a node that was read, a map of `transfer/read`, as the record of a line.

    Args:
        kind: of the node.
        found: the map.
        generation: of the embeddings that the file is to hold.
    """
    record = {
        "kind": kind.label,
        **({"part": kind.part} if kind.part else {}),
        "key": found["key"],
        "properties": _own(kind.label, unnumbered(found["properties"], generation)),
        "links": sorted(
            _links(kind.label, found["links"]),
            key=lambda link: (link["type"], link["label"], link["key"], link["leaves"]),
        ),
    }
    if found["texts"] is not None:
        record["texts"] = [
            _own("ItemText", unnumbered(text, generation)) for text in found["texts"]
        ]
        record["namespace"] = _own("Namespace", found["namespace"])
    return record


def _links(label: str, links: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    for link in links:
        ends = (label, link["label"]) if link["leaves"] else (link["label"], label)
        # Others than graphmem may have related nodes, too.
        if (known := LINKS.get((ends[0], link["type"], ends[1]))) is not None:
            yield {**link, "properties": _held(known.properties, link["properties"])}


def _own(label: str, properties: Mapping[str, Any]) -> dict[str, Any]:
    return _held(NODES[label], properties)


def _held(declared: Any, properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a file holds of some properties, as JSON."""
    names = declared.__annotations__
    return {name: _plain(value) for name, value in sorted(properties.items()) if name in names}


def _plain(value: Any) -> Any:
    """Return a value as JSON holds it; what JSON lacks is a map of one entry, its type."""
    if isinstance(value, datetime):
        return {"instant": value.isoformat()}
    if isinstance(value, float) and not np.isfinite(value):
        return {"float": repr(value)}
    if isinstance(value, list):
        if value and all(isinstance(one, float) for one in value):
            exact = np.array(value, dtype="<f4")
            if np.array_equal(exact.astype("<f8"), np.array(value, dtype="<f8")):
                return {"vector": base64.b64encode(exact.tobytes()).decode("ascii")}
        return [_plain(one) for one in value]
    return value


def compared(label: str, there: Mapping[str, Any], given: Mapping[str, Any]) -> str | None:
    """Return what is otherwise in a node that is there already, if anything.

    Args:
        label: of both.
        there: properties as the graph has them.
        given: properties of the record.

    Returns:
        None when nothing is; the name of a property that never changes when that is another one;
        "" when the node has only gone on since.
    """
    own = _own(label, there)
    names = FIXED.get(label) or sorted((own.keys() | given.keys()) - {"recorded_at"})
    wrong = next((name for name in names if own.get(name) != given.get(name)), None)
    return "" if wrong is None and own != given else wrong
