"""Tombstone keys, and redaction of erased ids from remaining payloads."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from graphmem.ports import IdLocation
from graphmem.rules import claims, identity

ERASED = "erased"
"""Replacement for an erased id in the remaining data."""
ERASABLE = ("Memory", "Belief", "Episode", "Turn", "Event")
"""Labels of nodes with tombstones of their own; a turn also goes with its episode."""
PERSON = "Person"
"""Kind of a person, whose id is a folded name. No node has this label."""
CHOSEN = frozenset({"Episode", "Event"})
"""Labels whose ids callers may choose. Their tombstones hold for one scope, so that erasing an id
in one scope does not block it in another. Other ids are digests that include their scope."""
MENTIONED: Mapping[str, str] = {
    "memory_id": "Memory",
    "matched_memory_id": "Memory",
    "possible_update_of": "Memory",
    "newer_id": "Memory",
    "older_id": "Memory",
    "requested_id": "Memory",
    "superseded_ids": "Memory",
    "belief_id": "Belief",
    "belief_ids": "Belief",
    "newer_ids": "Belief",
    "older_ids": "Belief",
}
"""Fields of payloads that contain ids of memories and beliefs. Other fields contain text."""
_DESCRIPTIONS = ("note", "reason", "text")
"""Fields of a payload that describe the item it names."""
_NESTED = (dict, list, tuple)
"""Types of parameters that may contain ids; a tuple is checked faster than a union."""

Maps = dict[tuple[str, ...], Sequence[tuple[Mapping[str, Any], str | None]]]
"""Maps in the parameters of a query, each with the scope of the nearest map around it, by path."""
Gone = frozenset[tuple[str, str]]
"""Labels and ids of erased items, or of items about to be erased."""


class NamedItem(NamedTuple):
    """An item that a query or a payload names."""

    label: str
    id: str
    scopes: frozenset[str] = frozenset()
    """Scopes in which it may be; empty if the id includes the scope."""
    own: bool = False
    """Whether the query writes this item rather than referring to it."""
    named: str = ""
    """Id that was named: of a turn, if this is its episode; of a belief, if this is its subject."""

    def keys(self, tenant: str) -> Iterator[tuple[str, str | None]]:
        """Yield the digests of its tombstones, with the scope of each."""
        if self.label not in CHOSEN:
            yield key(tenant, self.label, self.id), None
        for scope in self.scopes:
            yield key(tenant, self.label, self.id, scope), scope


def key(tenant: str, label: str, item_id: str, scope: str | None = None) -> str:
    """Return the tombstone digest of a memory, belief, episode, event or person.

    Args:
        scope: scope of the item; used only if callers may choose ids of this label.
    """
    return identity.digest("erased", *_parts(tenant, label, item_id, scope))


def copy_key(tenant: str, label: str, item_id: str, scope: str | None = None) -> str:
    """Return the digest of an erased node whose copies an import leaves out.

    Each erased node has one. Unlike `key`, it does not keep the same text from being stated again.
    """
    return identity.digest("erased copy", *_parts(tenant, label, item_id, scope))


def _parts(tenant: str, label: str, item_id: str, scope: str | None) -> tuple[str, ...]:
    where = (scope or "",) if label in CHOSEN else ()
    return (label, tenant, *where, item_id)


def scope_key(tenant: str, scope: str) -> str:
    """Return the tombstone digest of a scope."""
    return identity.digest("erased scope", tenant, scope)


def tenant_key(tenant: str) -> str:
    """Return the tombstone digest of a tenant."""
    return identity.digest("erased tenant", tenant)


def named(
    places: Sequence[IdLocation], params: Mapping[str, Any], written: Collection[str]
) -> Iterator[NamedItem]:
    """Yield the items whose ids a query receives.

    Args:
        places: locations of ids, from the query's header.
        written: its scopes; see `scopes`.
    """
    read_scopes = params.get("scopes", ())
    everywhere = frozenset((*written, *read_scopes))
    maps: Maps = {(): [(params, None)]}
    for place in places:
        for holder, item_id, scope in _at(maps, place.path):
            label: str | None = place.kind
            if place.kind.islower():
                label = holder.get(place.kind, params.get(place.kind))
            # A search result without a label may be any node with the id.
            for one in ERASABLE if label is None else (label,):
                where = frozenset[str]()
                if one in CHOSEN:
                    own = (scope,) if place.own else (scope, *read_scopes)
                    where = everywhere if scope is None else frozenset(own)
                stands_for = holder.get("id", "") if one == PERSON else ""
                yield NamedItem(one, item_id, where, place.own, stands_for)


def _at(maps: Maps, path: tuple[str, ...]) -> Iterator[tuple[Mapping[str, Any], str, str | None]]:
    """Yield the map that contains an id, the id, and the scope of the nearest enclosing map."""
    for holder, scope in _maps_at(maps, path[:-1]):
        for part in _parts_of(holder, path[-1]):
            if isinstance(part, str):
                yield holder, part, scope


def _maps_at(maps: Maps, path: tuple[str, ...]) -> Sequence[tuple[Mapping[str, Any], str | None]]:
    if path not in maps:
        maps[path] = [
            (part, _scope_of(part) or scope)
            for holder, scope in _maps_at(maps, path[:-1])
            for part in _parts_of(holder, path[-1], parse=True)
            if isinstance(part, dict)
        ]
    return maps[path]


def _parts_of(holder: Mapping[str, Any], name: str, *, parse: bool = False) -> Sequence[Any]:
    value = holder.get(name)
    if parse and isinstance(value, str):
        value = json.loads(value)
    return value if isinstance(value, (list, tuple)) else (value,)


def _scope_of(part: Mapping[str, Any]) -> str | None:
    found = part.get("scope") or part.get("properties", {}).get("scope")
    return found if isinstance(found, str) else None


def scopes(value: Any) -> Iterator[str]:
    """Yield every scope that a query writes to, at any depth."""
    if isinstance(value, dict):
        for name, part in value.items():
            if name == "scope" and isinstance(part, str):
                yield part
            elif isinstance(part, _NESTED):
                yield from scopes(part)
    elif isinstance(value, (list, tuple)) and value and isinstance(value[0], dict):
        for part in value:
            yield from scopes(part)


def payloads(value: Any) -> Iterator[tuple[str, str]]:
    """Yield the id and the payload of every event in a query's parameters, at any depth."""
    if isinstance(value, dict):
        if isinstance(value.get("id"), str) and isinstance(value.get("payload"), str):
            yield value["id"], value["payload"]
        for part in value.values():
            if isinstance(part, _NESTED):
                yield from payloads(part)
    elif isinstance(value, (list, tuple)) and value and isinstance(value[0], dict):
        for part in value:
            yield from payloads(part)


def mentions(payload: str | None) -> Gone:
    """Return the memories and beliefs named by a payload, as labels and ids."""
    return frozenset(_mentions(json.loads(payload or "{}")))


def names(payload: str | None, erased: Gone) -> bool:
    """Return whether a payload names an erased item."""
    return not erased.isdisjoint(mentions(payload))


def without(payload: str, erased: Gone) -> str:
    """Return a payload with erased ids replaced and its descriptions removed."""
    found = json.loads(payload)
    kept = {name: value for name, value in found.items() if name not in _DESCRIPTIONS}
    return json.dumps(_replaced(kept, erased), ensure_ascii=False)


def note_copies(event_id: str, payload: str) -> Iterator[str]:
    """Yield the ids of the events that have a copy of the note of a replacement of beliefs."""
    for newer in json.loads(payload).get("newer_ids", ()):
        yield claims.replacing_event_id(event_id, newer)


def decides(decided: str | None, beliefs: frozenset[str]) -> bool:
    """Return whether a reply was used for a decision about one of the beliefs."""
    return decided is not None and not beliefs.isdisjoint(texts(json.loads(decided)))


def texts(value: Any) -> Iterator[str]:
    """Yield every text of a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from texts(part)


def _mentions(value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for name, part in value.items():
            label = MENTIONED.get(name)
            if label is None:
                yield from _mentions(part)
            else:
                yield from ((label, one) for one in texts(part))


def _replaced(value: Any, erased: Gone) -> Any:
    if not isinstance(value, dict):
        return value
    return {
        name: _redacted(part, MENTIONED[name], erased)
        if name in MENTIONED
        else _replaced(part, erased)
        for name, part in value.items()
    }


def _redacted(value: Any, label: str, erased: Gone) -> Any:
    if isinstance(value, list):
        return [_redacted(part, label, erased) for part in value]
    return ERASED if isinstance(value, str) and (label, value) in erased else value
