"""Lines of an export: each bound to those before it, each value of its declared type."""

from __future__ import annotations

import base64
import json
from copy import deepcopy
from typing import Any

import numpy as np
import pytest

from graphmem.errors import ExportFileError
from graphmem.items import rules
from graphmem.rules import identity
from graphmem.transfer.format import DigestChain
from graphmem.transfer.lines import Header, Node, Reader

DAY = {"instant": "2025-05-05T00:00:00+00:00"}
VECTOR = {"vector": base64.b64encode(np.ones(2, dtype="<f4").tobytes()).decode()}
HEAD = {
    "format": "graphmem export",
    "version": 2,
    "tenant": "t",
    "model": {"name": "hash", "dimension": 2},
    "known": "2025-05-05T00:00:00+00:00",
}
CLAIM = {"id": "b_1", "scope": "global", "slot_id": "b_1", "statement": "It rains."}
RECORDS: dict[str, dict[str, Any]] = {
    "Turn": {
        "scope": "global",
        "episode_id": "e",
        "position": 0,
        "role": "user",
        "text": "hello",
        "embedding": VECTOR,
        "occurred_at": DAY,
        "time_zone": "UTC",
        "recorded_at": DAY,
        "trust": 4,
    },
    "Item": {
        "scope": "global",
        "key": "k",
        "value": '{"a":1}',
        "created_at": DAY,
        "updated_at": DAY,
        "creation_order": [1, 1],
    },
    "Predicate": {
        "scope": "global",
        "key": "likes",
        "name": "likes",
        "trust": 4,
        "cardinality": "ONE",
        "kappa": 3.0,
        "tau_days": {"float": "inf"},
        "decay_per_day": 0.0,
        "margin": 0.1,
        "combine": "log_odds",
        "event_id": "p",
        "occurred_at": DAY,
        "recorded_at": DAY,
    },
    "Memory": {
        "scope": "global",
        "content": "It rains.",
        "content_hash": "h",
        "tags": [],
        "status": "current",
        "created_at": DAY,
        "recorded_at": DAY,
    },
    "Event": {
        "scope": "global",
        "type": "ADD",
        "occurred_at": DAY,
        "recorded_at": DAY,
        "payload": '{"outcome": "INSERTED_NEW"}',
    },
}


def record(kind: str, **changed: Any) -> dict[str, Any]:
    """Return a line of a kind with some of its properties changed; None takes one away."""
    properties = {
        name: value
        for name, value in (deepcopy(RECORDS[kind]) | changed).items()
        if value is not None
    }
    found = {"kind": kind, "key": "k", "properties": properties, "links": []}
    if kind == "Item":
        found["key"] = rules.item_id("global", ["n"], "k")
        found |= {"namespace": {"parts": ["n"], "creation_order": [1, 1]}, "texts": []}
    if kind == "Predicate":
        found["key"] = identity.declared_id(kind, properties["scope"], properties["key"])
    return found


def read(*records: dict[str, Any]) -> list[Any]:
    """Return what a reader makes of a header and some lines."""
    written, reader = DigestChain(), Reader()
    lines = [written.write(one).removesuffix(b"\n") + b"\n" for one in (HEAD, *records)]
    return [reader.read(line) for line in lines]


@pytest.mark.parametrize("kind", RECORDS)
def test_a_record_as_an_export_writes_it_is_taken(kind: str) -> None:
    head, node = read(record(kind))
    assert isinstance(head, Header)
    assert isinstance(node, Node)
    assert (node.line, node.kind.label) == (2, kind)


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [
        *(("Memory", name, "x") for name in ("tenant", "tenant_key", "scope_key", "id", "odd")),
        ("Memory", "tags", None),
        ("Memory", "tags", "abc"),
        ("Memory", "tags", [1]),
        ("Memory", "content", 5),
        ("Memory", "scope", ""),
        ("Memory", "scope", "x" * 201),
        ("Memory", "content_hash", "x" * 501),
        ("Memory", "created_at", "2025-05-05T00:00:00+00:00"),
        ("Memory", "created_at", {"instant": "2025-05-05T00:00:00"}),
        ("Memory", "created_at", {"instant": "0001-01-01T00:00:00+23:59"}),
        ("Memory", "recorded_at", {"instant": "0001-01-01T00:00:00+00:00"}),
        ("Memory", "recorded_at", {"instant": "9999-12-31T00:00:00+00:00"}),
        ("Memory", "trace", "1"),
        ("Memory", "trace", 1e10),
        ("Memory", "trace_burst", True),
        ("Memory", "trace_burst", 2**53 + 1),
        ("Turn", "position", -1),
        ("Turn", "episode_id", "x" * 201),
        ("Turn", "embedding", {"vector": ""}),
        ("Turn", "embedding", {"vector": base64.b64encode(b"\0\0\x80\x3f" * 3).decode()}),
        ("Turn", "embedding", {"vector": base64.b64encode(bytes(8)).decode()}),
        ("Turn", "embedding", {"vector": base64.b64encode(b"\0\0\xc0\x7f" * 2).decode()}),
        ("Turn", "embedding", {"vector": base64.b64encode(b"\0\0\0\x7f" * 2).decode()}),
        ("Predicate", "tau_days", 0),
        ("Predicate", "tau_days", {"float": "nan"}),
        ("Predicate", "tau_days", None),
        ("Predicate", "margin", 1.5),
        ("Predicate", "kappa", 1_001.0),
        ("Item", "value", "[]"),
        ("Item", "value", '{"a":' + "[" * 101 + "]" * 101 + "}"),
        ("Item", "key", "another"),
        ("Event", "payload", None),
        ("Event", "payload", "[]"),
        ("Event", "payload", '{"outcome": "GREAT"}'),
        ("Event", "polarity", 1),
        ("Event", "polarity", 2),
        ("Event", "actor", "x" * 201),
        ("Event", "payload", '{"outcome":"INSERTED_NEW","a":' + "[" * 101 + "]" * 101 + "}"),
        ("Event", "type", "MURDER"),
    ],
)
def test_a_value_that_no_export_writes_is_refused_by_line_and_field(
    kind: str, name: str, value: Any
) -> None:
    with pytest.raises(ExportFileError, match=r"^Line 2: [a-z_.0-9]+: "):
        read(record(kind, **{name: value}))


def test_an_id_that_nothing_can_cite_is_refused() -> None:
    with pytest.raises(ExportFileError, match=r"^Line 2: key: "):
        read({**record("Turn"), "key": "x" * 201})
    assert read({**record("Memory"), "key": "x" * 201})


def test_a_predicate_has_the_id_of_its_scope_and_name() -> None:
    with pytest.raises(ExportFileError, match=r"^Line 2: key: must be the id of the scope"):
        read({**record("Predicate"), "key": identity.declared_id("Predicate", "user:ann", "likes")})


@pytest.mark.parametrize("key", [{"instant": DAY}, 1, None, ["k"]])
def test_a_key_that_is_no_text_is_refused_before_relationships_are_compared(key: Any) -> None:
    older = {"type": "SUPERSEDES", "label": "Memory", "leaves": True, "key": "a", "properties": {}}
    with pytest.raises(ExportFileError, match=r"^Line 2: key: "):
        read({**record("Memory"), "key": key, "links": [older]})


def test_what_an_event_tells_is_checked_with_its_type() -> None:
    proposed = {"claim": CLAIM, "turn_id": "t", "quote": "It rains."}
    given = {"type": "PROPOSE", "polarity": 1, "episode_id": "e", "actor": "x", "confidence": 0.5}
    given |= {"source_type": "RULE"}
    assert read(record("Event", **given, payload=json.dumps(proposed)))
    for claim in ({**CLAIM, "slot_id": "b_2"}, {**CLAIM, "subject": "it"}):
        payload = json.dumps(proposed | {"claim": claim})
        with pytest.raises(ExportFileError, match=r"^Line 2: properties\.payload: "):
            read(record("Event", **given, payload=payload))
    with pytest.raises(ExportFileError, match=r"^Line 2: properties\.payload: is required"):
        read(record("Event", type="ARCHIVE", source="attention", payload=None))


def test_a_relationship_leads_to_what_is_before_it() -> None:
    to = {"type": "SUPERSEDES", "label": "Memory", "leaves": True}
    edge = {"event_id": "e", "occurred_at": DAY, "recorded_at": DAY}
    older = {**to, "key": "a", "properties": edge}
    assert read({**record("Memory"), "links": [older]})
    for wrong, where in (
        ({**older, "key": "k"}, "key"),
        ({**older, "label": "Tenant"}, "must be a relationship"),
        ({**older, "properties": {**edge, "tenant": "x"}}, "properties.tenant"),
        ({**older, "leaves": 1}, "leaves"),
    ):
        with pytest.raises(ExportFileError, match=rf"^Line 2: links\.0.*{where}"):
            read({**record("Memory"), "links": [wrong]})


def test_records_come_in_the_order_of_their_keys_and_are_counted() -> None:
    first, second = ({**record("Memory"), "key": key} for key in "ab")
    end = {"end": True, "records": {"Memory": 2}, "links": 0}
    assert len(read(first, second, end)) == 4
    for records in ((second, first), (first, first), (first, end), (first, second, end, end)):
        with pytest.raises(ExportFileError, match=r"^Line [345]: "):
            read(*records)


@pytest.mark.parametrize("version", [1, 3, "2", None])
def test_another_version_is_refused_by_its_number(version: Any) -> None:
    line = DigestChain().write({**HEAD, "version": version})
    with pytest.raises(ExportFileError, match="this graphmem reads version 2"):
        Reader().read(line)


def test_a_line_is_bound_to_all_before_it() -> None:
    written = DigestChain()
    lines = [written.write({"n": n}) for n in range(3)]
    read = DigestChain()
    assert [read.read(line) for line in lines] == [{"n": n} for n in range(3)]
    for others in (
        [lines[0], lines[2]],
        [lines[1]],
        [lines[0], lines[0]],
        [lines[0], lines[1].replace(b"1", b"7", 1)],
        [lines[0], DigestChain().write({"n": 1})],
    ):
        chain, last = DigestChain(), others.pop()
        for line in others:
            chain.read(line)
        with pytest.raises(ExportFileError, match=r"was changed, or a line before it"):
            chain.read(last)


@pytest.mark.parametrize("body", [b"{" + b'"a":[' * 2_000 + b"}", b"{nonsense}"])
def test_what_is_no_json_is_refused_though_its_digest_is_right(body: bytes) -> None:
    chain = DigestChain()
    chain._step(body)
    with pytest.raises(ExportFileError, match=r"^Line 1 is not JSON"):
        DigestChain().read(body[:-1] + chain._seal() + b"\n")
