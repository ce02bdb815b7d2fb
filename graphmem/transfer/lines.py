"""Read an export line by line, and check each record before it is used.

Every record that passes can be written, and read again: no query and no reader of the graph
receives a value that graphmem itself could not have written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any

from pydantic import Field, ValidationError
from typing_extensions import TypedDict

from graphmem.errors import ExportFileError, InvalidInputError, RefusedError
from graphmem.items import rules
from graphmem.model import EventType, Instant, Name, Text
from graphmem.nodes.values import Flag, Id, Key, parse_object
from graphmem.rules import claims, identity, rejections
from graphmem.transfer import format as file_format
from graphmem.transfer.format import DigestChain, ExportCounts
from graphmem.transfer.kinds import KINDS, NodeKind, adapter, closed, links, node_shape

KIND_ORDER = {(kind.label, kind.part): place for place, kind in enumerate(KINDS)}
_LABELS = {kind.label: place for place, kind in enumerate(KINDS)}
_BY_SCOPE = frozenset({"Consolidation", "Rater"})
"""Labels whose keys are names of scopes, or of the tenant."""
_CITED = frozenset({"Episode", "Turn"})
"""Labels whose ids are also written to other records, with the length limit of a name."""
_POLICY = ("cardinality", "kappa", "tau_days", "decay_per_day", "margin", "combine")
_EVIDENCE = ("confidence", "source_type")
_NEEDED: Mapping[EventType, Sequence[str]] = {
    EventType.POLICY: _POLICY,
    EventType.BELIEVE: ("confidence", "trust"),
    EventType.EVIDENCE: ("polarity", "trust"),
    EventType.PROPOSE: ("polarity", "episode_id", "actor"),
    EventType.RETRACT: ("target_id",),
}
"""Properties required by the type of an event. An event with a polarity is also evidence."""
_POLARITY = {"SUPPORTS": 1, "REFUTES": -1}
_HINT = "Nothing was imported. Export again; an edited file may be invalid."


@closed
class _Model(TypedDict):
    name: Text
    dimension: Annotated[int, Field(strict=True, ge=1, le=4096)]


@closed
class _Header(TypedDict):
    format: Text
    version: int
    tenant: Name
    model: _Model
    known: Instant


@closed
class _Link(TypedDict):
    type: Text
    label: Text
    key: Text
    leaves: Flag
    properties: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Header:
    """The first line of a file."""

    tenant: str
    model: str
    dimension: int
    known: datetime
    given: Mapping[str, Any]
    """The header as parsed from the file."""


@dataclass(frozen=True, slots=True)
class Related:
    """A relationship of a node to an earlier one in the file."""

    type: str
    label: str
    key: str
    leaves: bool
    """Whether it starts at the node and ends at the other one."""
    properties: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Node:
    """One node, with its values converted for the graph."""

    line: int
    kind: NodeKind
    key: str
    properties: Mapping[str, Any]
    links: Sequence[Related]
    texts: Sequence[Mapping[str, Any]]
    """Searchable texts of an item; empty for other kinds."""
    namespace: Mapping[str, Any]
    """Namespace of an item; empty for other kinds."""
    given: Mapping[str, Any]
    """The record as parsed from the file."""


@dataclass(frozen=True, slots=True)
class End:
    """The last line of a file."""

    given: Mapping[str, Any]
    """The record as parsed from the file."""


@dataclass(slots=True)
class Reader:
    """Reader of a file's lines in order."""

    chain: DigestChain = field(default_factory=DigestChain)
    counts: ExportCounts = field(default_factory=ExportCounts)
    header: Header | None = None
    place: tuple[int, str] = (-1, "")
    """Position of the last node: its kind in `KINDS`, and its key."""
    ended: bool = False

    def read(self, line: bytes) -> Header | Node | End:
        """Return the header, node or end in the next line."""
        record = self.chain.read(line)
        try:
            return self._parsed(record)
        except _LineError as error:
            raise ExportFileError(f"Line {self.chain.number}: {error}.", hint=_HINT) from None

    def _parsed(self, record: dict[str, Any]) -> Header | Node | End:
        if self.ended:
            raise _LineError("it follows the end of the export")
        if self.header is None:
            self.header = _parse_header(record)
            return self.header
        if "end" in record:
            if record != self.counts.end():
                raise _LineError("its counts differ from the records in the file")
            self.ended = True
            return End(record)
        node = _parse_node(self.chain.number, record, self.header.dimension)
        place = KIND_ORDER[node.kind.label, node.kind.part], node.key
        if place <= self.place:
            raise _LineError("key: must be greater than that of the line before it")
        self.place = place
        self.counts.add(record)
        return node


def node_of(record: Mapping[str, Any], dimension: int) -> Node:
    """Return the node of a record that was not read from a file."""
    try:
        return _parse_node(0, record, dimension)
    except _LineError as error:
        raise RefusedError(
            f"{record['kind']} {record['key']!r} cannot be copied: {error}.",
            hint="Correct it with the version of graphmem or the program that wrote it.",
        ) from None


class _LineError(Exception):
    """Problem of a line, prefixed with the field."""


def _parse_header(record: dict[str, Any]) -> Header:
    file_format.check_header(record)
    header = _validate("", _Header, record)
    model = header["model"]
    return Header(header["tenant"], model["name"], model["dimension"], header["known"], record)


def _parse_node(line: int, record: Mapping[str, Any], dimension: int) -> Node:
    kind = _parse_kind(record)
    key = _validate("key", _key_type(kind.label), record["key"])
    properties = _validate("properties", node_shape(kind.label), record["properties"], dimension)
    texts: list[dict[str, Any]] = []
    namespace: dict[str, Any] = {}
    if kind.label == "Item":
        namespace = _validate("namespace", node_shape("Namespace"), record["namespace"])
        texts = [
            _validate(f"texts.{n}", node_shape("ItemText"), one, dimension)
            for n, one in enumerate(_validate("texts", list[Any], record["texts"]))
        ]
    node = Node(
        line=line,
        kind=kind,
        key=key,
        properties=properties,
        links=_parse_links(kind, key, record["links"], properties),
        texts=texts,
        namespace=namespace,
        given=record,
    )
    if (check := _CHECKS.get(kind.label)) is not None:
        check(node)
    return node


def _parse_kind(record: Mapping[str, Any]) -> NodeKind:
    label, part = record.get("kind"), record.get("part", "")
    place = (
        KIND_ORDER.get((label, part)) if isinstance(label, str) and isinstance(part, str) else None
    )
    if place is None:
        raise _LineError("kind: must be a kind of node in an export, with its part")
    kind = KINDS[place]
    required = {"kind", "key", "properties", "links"} | ({"part"} if kind.part else set())
    required |= {"namespace", "texts"} if label == "Item" else set()
    if record.keys() != required:
        wrong = min(required ^ record.keys(), key=str)
        raise _LineError(
            f"{_path_part(wrong)}: {'is missing' if wrong in required else 'is not allowed'}"
        )
    return kind


def _key_type(label: str) -> Any:
    if label in _BY_SCOPE | _CITED:
        return Name
    return Id


def _parse_links(
    kind: NodeKind, key: str, given: object, properties: Mapping[str, Any]
) -> list[Related]:
    own = _LABELS[kind.label], key
    found = []
    for n, link in enumerate(_validate("links", list[_Link], given)):
        where = f"links.{n}"
        start, end = kind.label, link["label"]
        if not link["leaves"]:
            start, end = end, start
        known = links().get((start, link["type"], end))
        # If both are events, only the current one is available.
        of = known.of if known and link["leaves"] else None
        if known is None or (of is not None and properties["type"] not in of):
            raise _LineError(f"{where}: must be a relationship of this kind of node")
        if (_LABELS.get(link["label"], -1), link["key"]) >= own:
            raise _LineError(f"{where}.key: must be the key of an earlier node")
        if _POLARITY.get(link["type"], properties.get("polarity")) != properties.get("polarity"):
            raise _LineError(f"{where}.type: must match the event's polarity")
        valid = _validate(f"{where}.properties", known.shape, link["properties"])
        found.append(Related(**link | {"properties": valid}))
    return found


def _check_event(node: Node) -> None:
    event = node.properties
    needed = [*_NEEDED.get(event["type"], ()), *(_EVIDENCE if "polarity" in event else ())]
    for name in needed:
        if name not in event:
            raise _LineError(f"properties.{name}: is required in this type of event")
    _check("properties.payload", file_format.parse_payload, event)


def _check_belief(node: Node) -> None:
    belief = node.properties
    slot_id = _check("properties", lambda value: file_format.slot_id(value, node.key), belief)
    keys = "".join(belief.get(name, "") for name in ("subject_key", "predicate_key"))
    _validate("properties.subject_key", Key, keys or slot_id)
    key = belief.get("predicate_key")
    if key is not None and claims.predicate_key(key) != key:
        raise _LineError("properties.predicate_key: must be normalised: export again")


def _check_named(node: Node) -> None:
    has = node.properties
    if node.key != identity.declared_id(node.kind.label, has["scope"], has["key"]):
        raise _LineError("key: must be the id of the scope and the name")


def _check_rejection(node: Node) -> None:
    has = node.properties
    lists = [has[name] for name in ("rejects", "at", "known_at", "event_ids", "paths")]
    if not has["rejects"] or len({len(one) for one in lists}) > 1:
        raise _LineError("properties.rejects: must have as many entries as the other lists, not 0")
    if node.key != rejections.tombstone_id(has["scope"], has["digest"]):
        raise _LineError("key: must be the id of the rejection's scope and digest")


def _check_reply(node: Node) -> None:
    reply = node.properties
    if "decided" in reply:
        _check("properties.decided", file_format.parse_decision, reply["decided"])
    elif reply["done"]:
        raise _LineError("properties.decided: is required in a reply that is done")


def _check_item(node: Node) -> None:
    parts, item = node.namespace["parts"], node.properties
    # Reject labels that are too long together, and invalid values, as `put` does.
    _check("namespace.parts", lambda labels: rules.namespace_row("", labels, 0), parts)
    value = _check("properties.value", parse_object, item["value"])
    _check("properties.value", rules.encode_value, value)
    if node.key != rules.item_id(item["scope"], parts, item["key"]):
        raise _LineError("key: must be the id of the item's namespace and key")


_CHECKS: Mapping[str, Callable[[Node], None]] = {
    "Belief": _check_belief,
    "Event": _check_event,
    "Item": _check_item,
    "Name": _check_named,
    "Predicate": _check_named,
    "Rejection": _check_rejection,
    "Reply": _check_reply,
}


def _validate(where: str, shape: Any, value: Any, dimension: int | None = None) -> Any:
    validate = adapter(shape).validate_python
    return _check(where, lambda given: validate(given, context={"dimension": dimension}), value)


def _check(where: str, check: Callable[[Any], Any], value: Any) -> Any:
    """Return the result of a check."""
    try:
        return check(value)
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_input=False)[0]
        place = ".".join([where, *map(_path_part, wrong["loc"])]).strip(".")
        problem = wrong["msg"].removeprefix("Value error, ")
    except InvalidInputError as error:
        place, problem = where, error.message.rstrip(".")
    except ValueError as error:
        place, problem = where, str(error)
    raise _LineError(f"{place}: {problem[:1].lower()}{problem[1:]}")


def _path_part(step: object) -> str:
    """Return a part of a field's path for an error; names in a file may be arbitrary."""
    text = str(step)
    if isinstance(step, int):
        return text
    return text[:80] if text.isidentifier() and text.isascii() else ascii(text[:80])
