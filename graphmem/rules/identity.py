"""Normal forms, content hashes and ids."""

from __future__ import annotations

import hashlib
import re
import secrets
import unicodedata
from collections import defaultdict
from collections.abc import Hashable, Iterable
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import count
from typing import Literal
from uuid import UUID

from graphmem.model import GLOBAL_SCOPE

Facet = Literal["tag", "source"]

MEMORY = "m_"
"""Prefix of the ids of memories."""
_SEPARATOR = "\x1f"
"""Unit separator, which keeps ("ab", "c") and ("a", "bc") distinct."""
_ESCAPES = str.maketrans({"\x1e": "\x1ee", _SEPARATOR: "\x1es"})
"""Escapes of separators in a part; otherwise ("a\x1f", "b") would equal ("a", "\x1fb")."""
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TIMESTAMP_BITS, _RANDOM_BITS = 48, 74
_MADE = re.compile(r"(?:[a-z]+_)+[0-9a-f]{32}|[0-9a-f]{16}\..*", re.DOTALL)
"""Ids that graphmem makes: derived ones, and those of `given_event_id`."""


def digest(*parts: str) -> str:
    """Return the sha256 of the parts, 64 hex digits; parts with invalid Unicode stay distinct."""
    text = _SEPARATOR.join(parts)
    if "\x1e" in text or text.count(_SEPARATOR) != len(parts) - 1:  # few texts need it
        text = _SEPARATOR.join(part.translate(_ESCAPES) for part in parts)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def normalise(content: str) -> str:
    """Return the words from which id and embedding of a memory derive: NFC, spaces collapsed.

    It keeps case, unlike `folding.fold`: the first spelling of a memory is the one that is shown.
    """
    return " ".join(unicodedata.normalize("NFC", content).split())


def content_hash(content: str) -> str:
    """Return the sha256 of the normalised content, in hex."""
    return digest(normalise(content))


def memory_id(scope: str, content: str) -> str:
    """Return the id of the memory with this content in this scope; unique in a tenant."""
    return MEMORY + digest(scope, content_hash(content))[:32]


def episode_id(scope: str, session_id: str) -> str:
    """Return the id of the episode of a session in this scope; unique in a tenant."""
    return "ep_" + digest(scope, session_id)[:32]


def declared_id(label: str, scope: str, key: str) -> str:
    """Return the id of a `Name` or a `Predicate`, given by its key, in this scope."""
    return {"Name": "nm_", "Predicate": "pr_"}[label] + digest(scope, key)[:32]


def turn_id(episode: str, *key: str) -> str:
    """Return the id of the turn with this key in an episode; unique in a tenant."""
    return "t_" + digest(episode, *key)[:32]


@lru_cache(maxsize=1_000)
def tenant_key(tenant: str) -> str:
    """Return one full-text token for a tenant, which an analyser cannot split."""
    return digest("tenant", tenant)[:32]


@lru_cache(maxsize=1_000)
def scope_key(tenant: str, scope: str) -> str:
    """Return one full-text token for a scope of a tenant, which an analyser cannot split."""
    return digest("scope", tenant, scope)[:32]


def facet_key(tenant: str, kind: Facet, name: str) -> str:
    """Return one full-text token for a tag or a source, which an analyser cannot split."""
    return digest("facet", tenant, kind, name)[:32]


def facet_keys(tenant: str, tags: Iterable[str], sources: Iterable[str]) -> list[str]:
    """Return the sorted tokens of a memory's tags and of its events' sources."""
    facets: tuple[tuple[Facet, Iterable[str]], ...] = (("tag", tags), ("source", sources))
    return sorted({facet_key(tenant, kind, name) for kind, names in facets for name in names})


def event_id(now: datetime) -> str:
    """Return a new UUIDv7 (RFC 9562) for `now`; ids sort by their millisecond of creation."""
    milliseconds = ((now - EPOCH) // timedelta(milliseconds=1)) & ((1 << _TIMESTAMP_BITS) - 1)
    random = secrets.randbits(_RANDOM_BITS)
    high = (milliseconds << 16) | 0x7000 | (random >> 62)
    low = (0b10 << 62) | (random & ((1 << 62) - 1))
    return str(UUID(int=(high << 64) | low))


def given_event_id(scope: str, writer: str, given: str) -> str:
    """Return the id under which an event with an id of its caller is stored.

    No id is stored for two scopes or two classes of writers, and none is derived by graphmem: a
    writer neither blocks another one nor learns which ids that one used. A person's id in the scope
    `global` stays as it is.

    Args:
        given: id given by the caller, or returned by this function.
    """
    mark = digest("event", scope, writer)[:16] + "."
    plain = scope == GLOBAL_SCOPE and writer == "person" and not _MADE.fullmatch(given)
    return given if plain or given.startswith(mark) else mark + given


def is_made(event_id: str) -> bool:
    """Return whether an event id has a form that no event has under a caller's own id."""
    return _MADE.fullmatch(event_id) is not None


def ordinals(keys: Iterable[Hashable]) -> list[int]:
    """Return the number of equal keys before each key."""
    counters: dict[Hashable, count[int]] = defaultdict(count)
    return [next(counters[key]) for key in keys]
