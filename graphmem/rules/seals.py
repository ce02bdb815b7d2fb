"""Seals: salted digests of events in a chain, by which a change of a recorded event is found."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
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
START = ""
"""Digest before the first seal."""
_UNCOVERED = frozenset({"id", "tenant", "imported_path"})
"""Properties that the digest does not cover as such: the id is covered, an import changes the
others."""


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
        event_id: its id.
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
            if link["type"] in LINKS and link["label"] != "Event"
        ),
    }
    # Another writer may have stored a type that graphmem does not, for example a date.
    text = json.dumps(whole, sort_keys=True, separators=(",", ":"), allow_nan=False, default=repr)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def salts(count: int) -> list[str]:
    """Return random salts, 32 hex digits each.

    A salt is erased with its event. The digest remains, and its content cannot be found by trial.
    """
    return [secrets.token_hex(16) for _ in range(count)]


def leaf(salt: str, digest: str) -> str:
    """Return the salted digest of an event."""
    return identity.digest("sealed event", salt, digest)


def seal_id(number: int) -> str:
    """Return the id of a seal; ids sort by number."""
    return f"{number:012}"


def seal_digest(before: str, seal_id: str, until: datetime, leaves: Sequence[str]) -> str:
    """Return the digest of a seal and of all seals before it.

    Args:
        before: digest of the seal before it; `START` for the first.
        seal_id: id of the seal.
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
    before: tuple[str, str] | None, until: datetime, events: Mapping[str, str], salt: Sequence[str]
) -> Seal:
    """Return the next seal.

    Args:
        before: id and digest of the seal before it; None for the first.
        until: recording time up to which every event is sealed.
        events: digests of the events, by id and in order.
        salt: at least as many salts.
    """
    last, digest = before or (seal_id(0), START)
    number = seal_id(int(last) + 1)
    used = list(salt[: len(events)])
    leaves = [leaf(one, content) for one, content in zip(used, events.values(), strict=True)]
    return Seal(
        number, until, list(events), used, leaves, seal_digest(digest, number, until, leaves)
    )


Problem = Literal["changed", "missing", "added", "broken"]


class Finding(NamedTuple):
    """A difference between a seal and what it covers."""

    kind: Literal["event", "seal"]
    id: str
    problem: Problem
    seal: str
    """Id of the seal."""


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
    """Number of the last seal."""
    until: datetime | None = None
    """End of the last seal."""
    sealed: int = 0
    """Number of events that are as they were sealed."""
    erased: int = 0
    """Number of events that were erased, or redacted and sealed again."""

    def take(self, seal: Seal, events: Mapping[str, str]) -> list[Finding]:
        """Return what is wrong with the next seal and its events.

        Args:
            seal: the next seal.
            events: digests of the events that are related to it, by id.
        """
        found: list[Finding] = []
        self.number += 1
        computed = seal_digest(self.head, seal.id, seal.sealed_until, seal.leaves)
        sizes = {len(seal.ids), len(seal.salts), len(seal.leaves)}
        if seal.id != seal_id(self.number) or seal.digest != computed or len(sizes) > 1:
            found.append(Finding("seal", seal.id, "broken", seal.id))
        for event_id, salt, sealed in zip(seal.ids, seal.salts, seal.leaves, strict=False):
            if not salt and not event_id:
                self.erased += 1
            elif event_id not in events:
                found.append(Finding("event", event_id, "missing", seal.id))
            elif leaf(salt, events[event_id]) != sealed:
                found.append(Finding("event", event_id, "changed", seal.id))
            else:
                self.sealed += 1
        added = sorted(events.keys() - {*seal.ids})
        found += (Finding("event", event_id, "added", seal.id) for event_id in added)
        # A gap is reported once, and so is a digest: the next seal is checked against the stored.
        self.number = int(seal.id) if seal.id.isdecimal() else self.number
        self.head, self.until = seal.digest, seal.sealed_until
        if seal.digest == self.asked:
            self.asked_in = seal.id
        return found
