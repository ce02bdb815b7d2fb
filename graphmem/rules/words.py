"""Plain words to a walled Lucene query; nothing of what a user types is Lucene syntax."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from graphmem.model import Status, Wall
from graphmem.rules import identity

_WORD = re.compile(r"\w+")
MOST_WORDS = 256
"""Lucene refuses a query of more than 1,024 clauses; each word may stand in two fields."""


def memory_query(text: str, wall: Wall, statuses: Sequence[Status]) -> str:
    """Return the full-text query for memories; empty when the text has no word."""
    return _walled(text, wall, ("content",), statuses)


def turn_query(text: str, wall: Wall) -> str:
    """Return the full-text query for turns: what was said, and who said it."""
    return _walled(text, wall, ("text", "name"), ())


def _walled(text: str, wall: Wall, fields: Iterable[str], statuses: Sequence[Status]) -> str:
    # \w+ leaves no operator, quote or bracket; lower case leaves no AND, OR, NOT or TO.
    words = list(dict.fromkeys(_WORD.findall(text.lower())))[:MOST_WORDS]
    if not words:
        return ""
    scopes = " ".join(identity.scope_key(wall.tenant, scope) for scope in wall.scopes)
    parts = [f"+tenant_key:{identity.tenant_key(wall.tenant)}^0", f"+scope_key:({scopes})^0"]
    if statuses:
        parts.append(f"+status:({' '.join(statuses)})^0")
    parts.append("+(" + " ".join(f"{field}:({' '.join(words)})" for field in fields) + ")")
    return " ".join(parts)
