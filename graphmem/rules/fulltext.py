"""Lucene queries from plain text, restricted to a tenant; user text is never query syntax."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from graphmem.model import TenantScope
from graphmem.rules import identity

_WORD = re.compile(r"\w")
JOINERS = frozenset("\u200c\u200d")
"""Characters that occur within words of Persian and of Indian scripts."""
_OPERATORS = frozenset({"AND", "OR", "NOT", "TO"})
"""Lucene operators; in lower case they are words."""
MAX_TOKENS = 256
"""Maximum number of tokens of a query of at most two fields. Lucene rejects a query of more than
1,024 clauses; a token is one in each field, and each visible scope is a clause, too."""
_MAX_TOKEN_CHARS = 255
"""Length beyond which the analyser splits a word into several tokens."""


def memory_query(
    text: str, tenant_scope: TenantScope, statuses: Sequence[str], facets: Sequence[str] = ()
) -> str:
    """Return the full-text query for memories; empty if the text has no word.

    One of the statuses and all facets, tokens of tags and sources, must match.
    """
    return _filtered_query(text, tenant_scope, {"content": 1}, statuses, facets)


def facet_query(tenant_scope: TenantScope, statuses: Sequence[str], facets: Sequence[str]) -> str:
    """Return the full-text query for every memory with all these tokens, regardless of its words.

    All results have the score 0. Empty without tokens.
    """
    return " ".join(_filters(tenant_scope, statuses, facets)) if facets else ""


def belief_query(text: str, tenant_scope: TenantScope, statuses: Sequence[str]) -> str:
    """Return the full-text query for beliefs; empty if the text has no word."""
    return _filtered_query(text, tenant_scope, {"statement": 1}, statuses)


def turn_query(text: str, tenant_scope: TenantScope) -> str:
    """Return the full-text query for turns, by text and, with little weight, by speaker.

    A name alone finds a turn. The weight of a speaker named in a question is set by the policy of
    the recall, and must not affect the neighbouring turns.
    """
    return _filtered_query(text, tenant_scope, {"text": 1, "name": 0.1}, ())


def episode_query(text: str, tenant_scope: TenantScope) -> str:
    """Return the full-text query for episodes, by summary or text and, with less weight, by name.

    A compressed episode is found by what remains of it.
    """
    fields = {"summary": 1, "gist": 1, "content": 1, "entities": 0.3}
    return _filtered_query(text, tenant_scope, fields, ())


def _filtered_query(
    text: str,
    tenant_scope: TenantScope,
    fields: Mapping[str, float],
    statuses: Sequence[str],
    facets: Sequence[str] = (),
) -> str:
    budget = MAX_TOKENS * 2 // max(2, len(fields))
    words = list(_limit_tokens(budget, _words(text)))
    if not words:
        return ""
    scored = " ".join(f"{field}:({' '.join(words)})^{boost}" for field, boost in fields.items())
    return " ".join((*_filters(tenant_scope, statuses, facets), f"+({scored})"))


def _filters(
    tenant_scope: TenantScope, statuses: Sequence[str], facets: Sequence[str]
) -> Iterator[str]:
    """Yield the required clauses, which do not add to the score."""
    yield f"+tenant_key:{identity.tenant_key(tenant_scope.tenant)}^0"
    scopes = " ".join(
        identity.scope_key(tenant_scope.tenant, scope) for scope in tenant_scope.scopes
    )
    yield f"+scope_key:({scopes})^0"
    if statuses:
        yield f"+status:({' '.join(statuses)})^0"
    for key in facets:
        yield f"+facet_keys:{key}^0"


def _words(text: str) -> Iterable[str]:
    """Return the distinct words of a text, ignoring case, without operators, quotes or brackets.

    The analyser folds their case, because a capital I is a different letter in Turkish. It knows no
    other folding, so words that differ in more than case are both searched.
    """
    # \w lacks the marks for vowels in Indian scripts, without which none of their words is found.
    spaced = "".join(c if _is_within_word(c) else " " for c in text)
    words: dict[str, str] = {}
    for word in spaced.split():
        if _WORD.search(word):
            words.setdefault(word.lower(), word.lower() if word in _OPERATORS else word)
    return words.values()


def _is_within_word(char: str) -> bool:
    return char.isalnum() or char == "_" or char in JOINERS or unicodedata.category(char)[0] == "M"


def _limit_tokens(budget: int, words: Iterable[str]) -> Iterator[str]:
    """Yield words until the analyser would make more than `budget` tokens of them."""
    for word in words:
        # Outside ASCII each character may be a token of its own: Chinese is written without spaces.
        cost = 1 + len(word) // _MAX_TOKEN_CHARS if word.isascii() else len(word)
        if cost > budget:
            if budget:
                yield word[:budget]
            return
        yield word
        budget -= cost


def facet_row(tenant: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the cached facets of a memory, a row of cache/facets, for cache/refresh_facets."""
    return {
        "id": row["id"],
        "sources": row["event_sources"],
        "facet_keys": identity.facet_keys(tenant, row["tags"], row["event_sources"]),
    }


def has_stale_facets(tenant: str, row: Mapping[str, Any]) -> bool:
    """Return whether the cached facets of a memory, a row of cache/facets, are out of date."""
    right = facet_row(tenant, row)
    return any(row[name] != right[name] for name in ("sources", "facet_keys"))
