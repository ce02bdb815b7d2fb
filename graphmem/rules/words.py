"""Plain words to a walled Lucene query; nothing of what a user types is Lucene syntax."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from graphmem.model import TenantScope
from graphmem.rules import identity

_WORD = re.compile(r"\w")
JOINERS = frozenset("\u200c\u200d")
"""Within words of Persian and of Indian scripts."""
_OPERATORS = frozenset({"AND", "OR", "NOT", "TO"})
"""Of Lucene; in lower case they are words."""
MOST_TOKENS = 256
"""Lucene refuses a query of more than 1,024 clauses; each token may stand in two fields, and each
visible scope is a clause too."""
_LONGEST_TOKEN = 255
"""The analyser cuts a longer word into as many pieces as it takes."""


def memory_query(
    text: str, wall: TenantScope, statuses: Sequence[str], facets: Sequence[str] = ()
) -> str:
    """Return the full-text query for memories; empty when the text has no word.

    Args:
        text: what is asked.
        wall: whose, and which scopes are seen.
        statuses: one of these.
        facets: tokens of tags and sources, all of which must be there; see identity.facet_key.
    """
    return _walled(text, wall, {"content": 1}, statuses, facets)


def facet_query(wall: TenantScope, statuses: Sequence[str], facets: Sequence[str]) -> str:
    """Return the full-text query for every memory with all these tokens, whatever its words.

    All that it finds has the score 0. Empty when there is no token.
    """
    return " ".join(_wall(wall, statuses, facets)) if facets else ""


def belief_query(text: str, wall: TenantScope, statuses: Sequence[str]) -> str:
    """Return the full-text query for beliefs; empty when the text has no word."""
    return _walled(text, wall, {"statement": 1}, statuses)


def turn_query(text: str, wall: TenantScope) -> str:
    """Return the full-text query for turns: what was said, and hardly who said it.

    By name alone a turn is found; how much it counts that a question names a speaker is up to the
    policy of a recall, and must not spill over to the turns around.
    """
    return _walled(text, wall, {"text": 1, "name": 0.1}, ())


def _walled(
    text: str,
    wall: TenantScope,
    fields: Mapping[str, float],
    statuses: Sequence[str],
    facets: Sequence[str] = (),
) -> str:
    words = list(_within(MOST_TOKENS, _words(text)))
    if not words:
        return ""
    said = " ".join(f"{field}:({' '.join(words)})^{boost}" for field, boost in fields.items())
    return " ".join((*_wall(wall, statuses, facets), f"+({said})"))


def _wall(wall: TenantScope, statuses: Sequence[str], facets: Sequence[str]) -> Iterator[str]:
    """Yield what a node must have to be looked at; none of it adds to the score."""
    yield f"+tenant_key:{identity.tenant_key(wall.tenant)}^0"
    scopes = " ".join(identity.scope_key(wall.tenant, scope) for scope in wall.scopes)
    yield f"+scope_key:({scopes})^0"
    if statuses:
        yield f"+status:({' '.join(statuses)})^0"
    for key in facets:
        yield f"+facet_keys:{key}^0"


def _words(text: str) -> Iterable[str]:
    """Return the words of a text, each once whatever its case; no operator, quote or bracket.

    Their case is left to the analyser: a capital I is another letter in Turkish than elsewhere.
    """
    # \w lacks the marks that are vowels in Indian scripts, without which no word of them is found.
    spaced = "".join(c if _is_within_word(c) else " " for c in text)
    words: dict[str, str] = {}
    for word in spaced.split():
        if _WORD.search(word):
            words.setdefault(word.lower(), word.lower() if word in _OPERATORS else word)
    return words.values()


def _is_within_word(char: str) -> bool:
    return char.isalnum() or char == "_" or char in JOINERS or unicodedata.category(char)[0] == "M"


def _within(budget: int, words: Iterable[str]) -> Iterator[str]:
    """Yield words while the analyser makes no more than `budget` tokens of them."""
    for word in words:
        # Outside ASCII each character may be a token of its own: Chinese is written without spaces.
        cost = 1 + len(word) // _LONGEST_TOKEN if word.isascii() else len(word)
        if cost > budget:
            if budget:
                yield word[:budget]
            return
        yield word
        budget -= cost


def refreshed(tenant: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is to be cached of a memory, for cache/refresh_facets.

    Args:
        tenant: whose.
        row: of cache/facets.
    """
    return {
        "id": row["id"],
        "sources": row["told"],
        "facet_keys": identity.facet_keys(tenant, row["tags"], row["told"]),
    }


def stale(tenant: str, row: Mapping[str, Any]) -> bool:
    """Return whether what is cached of a memory, a row of cache/facets, is something else."""
    right = refreshed(tenant, row)
    return any(row[name] != right[name] for name in ("sources", "facet_keys"))
