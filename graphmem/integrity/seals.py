"""Seals: salted digests of events and texts in a chain, by which a later change is found."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np

from graphmem.model import EventType
from graphmem.rules import identity

TELEMETRY = frozenset(
    {
        EventType.SEARCH,
        EventType.ACCESS,
        EventType.SESSION_START,
        EventType.SESSION_END,
        EventType.ROLL_UP,
    }
)
"""Types of events without a seal: the search log may be rolled up."""
SEALED = tuple(kind for kind in EventType if kind not in TELEMETRY)
"""Types of events that are sealed."""
LINKS = frozenset(
    {"REINFORCES", "SUPPORTS", "REFUTES", "CONCERNS", "QUOTES", "NAMES", "OCCURRED_IN"}
)
"""Relationships that a seal covers, from an event to a node that is not an event. Other events are
named by properties."""
STATES = LINKS - {"QUOTES", "OCCURRED_IN"}
"""Relationships from an event to what it states, creates or changes."""


OWN_LINKS = frozenset({"OCCURRED_IN", "CLAIMS"})
"""Relationships of other nodes that a seal covers: of a turn, and, as they may be added later, of a
memory."""
_NODE = "~"
"""Start of the name of an entry that is not an event; alone, of one that was erased."""
START = ""
"""Digest before the first seal."""
_UNCOVERED = frozenset({"id", "tenant", "imported_path"})
"""Properties that the digest does not cover as such: the id is covered, an import changes the
others."""

Problem = Literal["changed", "stale", "missing", "added", "broken"]
"""A stale node is as sealed, but for properties that an event may change."""


def json_value(value: Any) -> Any:
    """Return a value as JSON; a type that JSON lacks becomes a map of one entry named after it."""
    if isinstance(value, datetime):
        return {"instant": value.isoformat()}
    if isinstance(value, float) and not np.isfinite(value):
        return {"float": repr(value)}
    if isinstance(value, bytes):
        return {"bytes": base64.b64encode(value).decode("ascii")}
    if isinstance(value, list):
        if value and all(isinstance(element, float) for element in value):
            exact = np.array(value, dtype="<f4")
            if np.array_equal(exact.astype("<f8"), np.array(value, dtype="<f8")):
                return {"vector": base64.b64encode(exact.tobytes()).decode("ascii")}
        return [json_value(element) for element in value]
    return value


def stored_digest(event: Mapping[str, Any]) -> str:
    """Return the digest of an event as the graph returns it: see fragments/sealed_event.cypher."""
    properties = {name: json_value(value) for name, value in event["properties"].items()}
    return event_digest(event["id"], properties, event["links"])


def event_digest(
    event_id: str, properties: Mapping[str, Any], links: Iterable[Mapping[str, Any]]
) -> str:
    """Return the digest of an event.

    Args:
        properties: its properties as JSON values; an absent one counts as such.
        links: its relationships to other nodes, as maps of type, label and key.
    """
    whole = {
        "id": event_id,
        "properties": {
            # An import turns whole numbers into floats where the format has floats.
            name: float(value) if type(value) is int else value
            for name, value in properties.items()
            if name not in _UNCOVERED
        },
        "links": sorted(
            [link["type"], link["label"], link["key"]]
            for link in links
            if link["type"] in LINKS | OWN_LINKS and link["label"] != "Event"
        ),
    }
    # Another writer may have stored a type that graphmem does not, for example a date.
    text = json.dumps(whole, sort_keys=True, separators=(",", ":"), allow_nan=False, default=repr)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def entry(label: str, key: str) -> str:
    """Return the name of an entry of a seal: the id of an event, or the label and key of a node."""
    if label == "Event" and not key.startswith(_NODE):
        return key
    return f"{_NODE}{label} {key}"


def erased_entry(label: str) -> str:
    """Return what an erasure leaves of the name of an entry."""
    return "" if label == "Event" else _NODE


def salts(count: int) -> list[str]:
    """Return random salts, 32 hex digits each.

    A salt is erased with its event. The digest remains, and its content cannot be found by trial.
    """
    return [secrets.token_hex(16) for _ in range(count)]


def leaf(salt: str, digest: str) -> str:
    """Return the salted digest of an event."""
    return identity.digest("sealed event", salt, digest)


def leaves_of(salt: str, digests: Iterable[str]) -> str:
    """Return the salted digests of an entry, one after the other."""
    return "".join(leaf(salt, one) for one in digests)


def seal_id(number: int) -> str:
    """Return the id of a seal; ids sort by number."""
    return f"{number:012}"


def seal_digest(before: str, seal_id: str, until: datetime, leaves: Sequence[str]) -> str:
    """Return the digest of a seal and of all seals before it.

    Args:
        before: digest of the seal before it; `START` for the first.
        until: recording time up to which every event is sealed.
        leaves: salted digests of its events, in order.
    """
    return identity.digest("seal", before, seal_id, until.isoformat(), *leaves)


class Seal(NamedTuple):
    """A seal as it is stored."""

    id: str
    sealed_until: datetime
    ids: Sequence[str]
    """Ids of its events; an erased or redacted one is ''."""
    salts: Sequence[str]
    """Salts of its events; that of an erased or redacted one is ''."""
    leaves: Sequence[str]
    digest: str


def make(
    before: tuple[str, str] | None,
    until: datetime,
    events: Mapping[str, str],
    salt: Sequence[str],
    nodes: Mapping[str, tuple[str, str]] = MappingProxyType({}),
) -> Seal:
    """Return the next seal.

    Args:
        before: id and digest of the seal before it; None for the first.
        salt: at least as many salts as entries.
    """
    last, digest = before or (seal_id(0), START)
    number = seal_id(int(last) + 1)
    contents = {**{name: (one,) for name, one in events.items()}, **nodes}
    used = list(salt[: len(contents)])
    leaves = [leaves_of(one, content) for one, content in zip(used, contents.values(), strict=True)]
    return Seal(
        number, until, list(contents), used, leaves, seal_digest(digest, number, until, leaves)
    )


class Finding(NamedTuple):
    """A difference between a seal and what it covers."""

    kind: str
    """`event`, `seal`, or the label of a node in lower case."""
    id: str
    problem: Problem
    seal: str


class CoveredNode(NamedTuple):
    """A node that is not an event, as it is now."""

    digests: tuple[str, str]
    """Digests of its content: see `contents.content_digests` in upkeep."""
    newest: bool = True
    """Whether no later seal covers it."""


def _is_node(name: str) -> bool:
    return name.startswith(_NODE) and not name.startswith(f"{_NODE}Event ")


def shown(name: str) -> tuple[str, str]:
    """Return the kind and the key of an entry."""
    if not name.startswith(_NODE):
        return "event", name
    label, _, key = name.removeprefix(_NODE).partition(" ")
    return label.lower(), key


@dataclass(slots=True)
class SealCheck:
    """Check of the seals of a tenant, one after the other."""

    asked: str | None = None
    """Digest that a seal should have; it was kept outside the graph."""
    asked_in: str | None = None
    """Id of the seal that has it; None if none has so far."""
    head: str = START
    """Digest of the last seal."""
    number: int = 0
    until: datetime | None = None
    """End of the last seal."""
    sealed: int = 0
    """Number of events that are as they were sealed."""
    erased: int = 0
    """Number of events that were erased, or redacted and sealed again."""
    contents: int = 0
    """Number of other nodes that are as they were last sealed."""

    def take(
        self,
        seal: Seal,
        events: Mapping[str, str],
        nodes: Mapping[str, CoveredNode] = MappingProxyType({}),
    ) -> list[Finding]:
        """Return what is wrong with the next seal and its entries."""
        found: list[Finding] = []
        self.number += 1
        computed = seal_digest(self.head, seal.id, seal.sealed_until, seal.leaves)
        sizes = {len(seal.ids), len(seal.salts), len(seal.leaves)}
        if seal.id != seal_id(self.number) or seal.digest != computed or len(sizes) > 1:
            found.append(Finding("seal", seal.id, "broken", seal.id))
        for event_id, salt, sealed in zip(seal.ids, seal.salts, seal.leaves, strict=False):
            if not salt and not event_id:
                self.erased += 1
            elif _is_node(event_id):
                found += self._content(seal.id, event_id, (salt, sealed), nodes.get(event_id))
            elif event_id not in events:
                found.append(Finding(*shown(event_id), "missing", seal.id))
            elif leaf(salt, events[event_id]) != sealed:
                found.append(Finding(*shown(event_id), "changed", seal.id))
            else:
                self.sealed += 1
        added = sorted({*events, *nodes} - {*seal.ids})
        found += (Finding(*shown(one), "added", seal.id) for one in added)
        # A gap is reported once, and so is a digest: the next seal is checked against the stored.
        self.number = int(seal.id) if seal.id.isdecimal() else self.number
        self.head, self.until = seal.digest, seal.sealed_until
        if seal.digest == self.asked:
            self.asked_in = seal.id
        return found

    def _content(
        self, seal: str, name: str, sealed: tuple[str, str], node: CoveredNode | None
    ) -> list[Finding]:
        """Return what is wrong with an entry that is not an event."""
        salt, leaves = sealed
        if not salt and name == _NODE:
            return []
        if node is None:
            return [Finding(*shown(name), "missing", seal)]
        # An earlier seal still covers what no write changes.
        if not leaves.startswith(leaf(salt, node.digests[0])):
            return [Finding(*shown(name), "changed", seal)]
        if node.newest and leaves != leaves_of(salt, node.digests):
            return [Finding(*shown(name), "stale", seal)]
        self.contents += node.newest
        return []
