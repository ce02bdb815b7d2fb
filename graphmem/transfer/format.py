"""Format of an export: node kinds, their order, lines with digests, and JSON texts in them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, NotRequired

from pydantic import ConfigDict, Field, with_config
from typing_extensions import TypedDict

from graphmem.errors import ExportFileError
from graphmem.integrity.seals import json_value
from graphmem.model import Cardinality, EventType, EvidenceKind, Name, Outcome, Text
from graphmem.model.memory import COMMITTED
from graphmem.nodes.values import Count, Flag, Id, Key, Number, Scope, parse_object
from graphmem.rules import claims
from graphmem.rules.scoring import generation_properties
from graphmem.transfer.kinds import NodeKind, adapter, closed, immutable, links, node_shape

FORMAT, VERSION = "graphmem export", 2

_open = with_config(ConfigDict(extra="allow", hide_input_in_errors=True))

_TRIPLE = ("subject", "predicate", "object")
PRUNING_SOURCE = "attention"
"""Source of events written by pruning."""


@dataclass(slots=True)
class DigestChain:
    """Writer and reader of lines, each bound by digest to all lines before it."""

    check: str = ""
    number: int = 0
    """Number of the last line, from 1."""

    def write(self, record: Mapping[str, Any]) -> bytes:
        """Return a record as the next line, including the line ending."""
        body = json.dumps(record, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        text = body.encode("utf-8")
        self._step(text)
        return text[:-1] + self._seal() + b"\n"

    def read(self, line: bytes) -> dict[str, Any]:
        """Return the record of the next line."""
        start = line.rfind(b',"check":"')
        body = line[:start] + b"}"
        before = self.number
        self._step(body)
        if start < 0 or line != body[:-1] + self._seal() + b"\n":
            self.number = before
            raise ExportFileError(
                f"Line {before + 1} was changed, or a line before it is missing.",
                hint="Nothing was imported. Copy the file again, or export again.",
            )
        try:
            # JSON that ends with a closing brace is a mapping.
            record: dict[str, Any] = json.loads(body)
        except (ValueError, RecursionError):
            raise ExportFileError(
                f"Line {self.number} is not JSON, or is nested too deeply.",
                hint="Nothing was imported. Copy the file again, or export again.",
            ) from None
        return record

    def _step(self, body: bytes) -> None:
        self.check = hashlib.sha256(self.check.encode() + body).hexdigest()
        self.number += 1

    def _seal(self) -> bytes:
        return f',"check":"{self.check}"}}'.encode()


@dataclass(slots=True)
class ExportCounts:
    """Numbers of records and links in a file."""

    records: dict[str, int] = field(default_factory=dict)
    """Number of records by label."""
    links: int = 0

    def add(self, record: Mapping[str, Any]) -> None:
        """Count one record."""
        self.records[record["kind"]] = self.records.get(record["kind"], 0) + 1
        self.links += len(record["links"])

    def end(self) -> dict[str, Any]:
        """Return the last line of a file, with the counts."""
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


def check_header(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the first line of a file if this version can read the file."""
    if record.get("format") != FORMAT:
        raise ExportFileError("Line 1 is not the header of a graphmem export.")
    if record.get("version") != VERSION:
        version = ascii(record.get("version"))[:20]
        raise ExportFileError(
            f"The file has format version {version}; this graphmem reads version {VERSION}.",
            hint="Export again with this graphmem, or import with the version that wrote the file.",
        )
    return record


def node_record(kind: NodeKind, node: Mapping[str, Any], generation: int) -> dict[str, Any]:
    """Return a node, a map of `transfer/read`, as the record of a line."""
    record = {
        "kind": kind.label,
        **({"part": kind.part} if kind.part else {}),
        "key": node["key"],
        "properties": _exported_properties(
            kind.label, generation_properties(node["properties"], generation)
        ),
        "links": sorted(
            _exported_links(kind.label, node["links"]),
            key=lambda link: (link["type"], link["label"], link["key"], link["leaves"]),
        ),
    }
    if node["texts"] is not None:
        record["texts"] = [
            _exported_properties("ItemText", generation_properties(text, generation))
            for text in node["texts"]
        ]
        record["namespace"] = _exported_properties("Namespace", node["namespace"])
    return record


def _exported_links(label: str, given: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    for link in given:
        ends = (label, link["label"]) if link["leaves"] else (link["label"], label)
        # Other programs may have added relationships.
        if (known := links().get((ends[0], link["type"], ends[1]))) is not None:
            yield {**link, "properties": _select_properties(known.shape, link["properties"])}


def _exported_properties(label: str, properties: Mapping[str, Any]) -> dict[str, Any]:
    return _select_properties(node_shape(label), properties)


def _select_properties(declared: Any, properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the exported properties as JSON values."""
    names = declared.__annotations__
    return {name: json_value(value) for name, value in sorted(properties.items()) if name in names}


def node_difference(
    label: str, stored: Mapping[str, Any], properties: Mapping[str, Any]
) -> str | None:
    """Return how the properties of an existing node differ from those of a record.

    Returns:
        The name of a differing immutable property; "" if only mutable properties differ; None if
        the two are equal.
    """
    own = _exported_properties(label, stored)
    wrong = next((name for name in immutable(label) if own.get(name) != properties.get(name)), None)
    # An import extends the path.
    apart = {"imported_path": None}
    return "" if wrong is None and own | apart != {**properties, **apart} else wrong


@_open
class _AnyPayload(TypedDict):
    """Optional fields of every payload."""

    note: NotRequired[Text | None]
    reason: NotRequired[Text | None]


@_open
class _Committed(_AnyPayload):
    outcome: NotRequired[Outcome]
    memory_id: NotRequired[Id]
    matched_memory_id: NotRequired[Id]
    possible_update_of: NotRequired[Id]
    superseded_ids: NotRequired[list[Id]]
    proposal_id: NotRequired[Id]
    query_score: NotRequired[Number]
    thresholds: NotRequired[dict[str, Number]]
    belief_ids: NotRequired[list[Id]]


@_open
class _Superseded(_AnyPayload):
    newer_id: Id
    older_id: Id
    event_id: Id


@closed
class ClaimFields(TypedDict):
    """The fields of a `Claim`."""

    id: Id
    scope: Scope
    slot_id: Id
    statement: Text
    subject: NotRequired[Text | None]
    predicate: NotRequired[Text | None]
    object: NotRequired[Text | None]
    subject_key: NotRequired[Key | None]
    predicate_key: NotRequired[Key | None]
    object_key: NotRequired[Text | None]
    worded: NotRequired[Flag]
    depth: NotRequired[Count]


@_open
class _ProposedPayload(_AnyPayload):
    claim: ClaimFields
    turn_id: Name
    quote: Text
    when: NotRequired[Text | None]
    cardinality: NotRequired[Cardinality]


@_open
class _Searched(_AnyPayload):
    tool: Text
    query: Text


@_open
class _Begun(_AnyPayload):
    session_id: Text


@_open
class _Ended(_Begun):
    logged: NotRequired[Count]
    abandoned: NotRequired[Flag]


@_open
class _RolledUp(_AnyPayload):
    searches: Count
    results: Count
    games: NotRequired[Count]


@_open
class _Pruned(TypedDict):
    elo: Number
    reason: Text
    sha256: Text


@_open
class _Retractable(TypedDict):
    event_id: Text


_PAYLOADS: Mapping[EventType, Any] = {
    **dict.fromkeys(COMMITTED, _Committed),
    EventType.SUPERSEDE: _Superseded,
    EventType.PROPOSE_UPDATE: _Superseded,
    EventType.PROPOSE_RETRACT: _Retractable,
    EventType.PROPOSE: _ProposedPayload,
    EventType.SEARCH: _Searched,
    EventType.SESSION_START: _Begun,
    EventType.SESSION_END: _Ended,
    EventType.ROLL_UP: _RolledUp,
}


@_open
class _Summary(TypedDict):
    summary: Text
    entities: list[Text]
    importance: Number


@_open
class _Decided(TypedDict):
    beliefs: list[ClaimFields]
    evidence: list[tuple[Id, Id, Id, EvidenceKind, Number]]
    marks: list[tuple[Id, Id, Annotated[Text, Field(max_length=200)]]]
    summary: NotRequired[_Summary]


def parse_payload(event: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the payload of an event with valid properties; None if it has none."""
    kind: EventType = event["type"]
    pruned = (
        kind in (EventType.ARCHIVE, EventType.COMPRESS) and event.get("source") == PRUNING_SOURCE
    )
    shape = _Pruned if pruned else _PAYLOADS.get(kind)
    if (text := event.get("payload")) is None:
        if shape is not None:
            raise ValueError(f"is required in an event of the type {kind}")
        return None
    payload: dict[str, Any] = adapter(shape or _AnyPayload).validate_python(parse_object(text))
    if kind is EventType.PROPOSE:
        check_claim(payload["claim"])
    if kind in COMMITTED and "request_hash" in event and "outcome" not in payload:
        raise ValueError("must contain the outcome")
    return payload


def parse_decision(text: str) -> dict[str, Any]:
    """Return the decision about passages or turns."""
    decision: dict[str, Any] = adapter(_Decided).validate_python(parse_object(text))
    for claim in decision["beliefs"]:
        check_claim(claim)
    return decision


def check_claim(claim: Mapping[str, Any]) -> None:
    """Check that a claim is a complete triple or a statement alone, and has the matching slot."""
    if claim["slot_id"] != slot_id(claim, claim["id"]):
        raise ValueError("claim.slot_id: must match its subject and predicate")


def slot_id(belief: Mapping[str, Any], belief_id: str) -> str:
    """Return the slot id that follows from the content of a belief."""
    parts = [belief.get(f"{part}{end}") for part in _TRIPLE for end in ("", "_key")]
    if all(part is None for part in parts):
        return belief_id
    if any(part is None for part in parts):
        raise ValueError("must have subject, predicate and object with their keys, or none of them")
    return claims.slot_id_of_keys(belief["scope"], belief["subject_key"], belief["predicate_key"])
