"""Lucene queries from plain text, restricted to a tenant; user text is never query syntax."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from graphmem.model import TenantScope
from graphmem.rules import identity

_WORD = re.compile(r"\w")
_UNSPACED = re.compile("([\u3040-\u309f\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+)")
"""Chinese characters and Hiragana, which are written without spaces."""
JOINERS = frozenset("\u200c\u200d")
"""Characters that occur within words of Persian and of Indian scripts."""
_OPERATORS = frozenset({"AND", "OR", "NOT", "TO"})
"""Lucene operators; in lower case they are words."""
MAX_TOKENS = 128
"""Maximum number of tokens of a question. Lucene rejects a query of more than 1,024 clauses; a
token is one in each of at most four fields, and each visible scope is a clause, too."""
_MAX_TOKEN_CHARS = 255
"""Length beyond which the analyser splits a word into several tokens."""
MAX_TERMS = 18
"""Maximum number of bits for words in a score, a 32-bit float with 24 significant bits."""
WEAK = 2**MAX_TERMS
"""Score of a match in a field of little weight."""
MATCH = 2 * WEAK
"""Score of a matched word, without its bit; orders by number of matched words."""
_NOTHING = "tenant_key:none"
"""Clause without matches. The analyser removes stop words, and an empty clause would match all."""


def memory_query(
    text: str, tenant_scope: TenantScope, statuses: Sequence[str], facets: Sequence[str] = ()
) -> str:
    """Return the full-text query for memories; empty if the text has no word.

    One of the statuses and all facets, tokens of tags and sources, must match.
    """
    return _filtered_query(text, tenant_scope, ("content",), statuses=statuses, facets=facets)


def facet_query(tenant_scope: TenantScope, statuses: Sequence[str], facets: Sequence[str]) -> str:
    """Return the full-text query for every memory with all these tokens, regardless of its words.

    All results have the score 0. Empty without tokens.
    """
    return " ".join(_filters(tenant_scope, statuses, facets)) if facets else ""


def belief_query(text: str, tenant_scope: TenantScope, statuses: Sequence[str]) -> str:
    """Return the full-text query for beliefs; empty if the text has no word."""
    return _filtered_query(text, tenant_scope, ("statement",), statuses=statuses)


def turn_query(text: str, tenant_scope: TenantScope) -> str:
    """Return the full-text query for turns, by text and, with little weight, by speaker.

    A name alone finds a turn. The weight of a speaker named in a question is set by the policy of
    the recall, and must not affect the neighbouring turns.
    """
    return _filtered_query(text, tenant_scope, ("text",), weak="name")


def episode_query(text: str, tenant_scope: TenantScope) -> str:
    """Return the full-text query for episodes, by summary or text and, with little weight, by name.

    A compressed episode is found by what remains of it.
    """
    return _filtered_query(text, tenant_scope, ("summary", "gist", "content"), weak="entities")


def recall_queries(
    text: str, tenant_scope: TenantScope, statuses: Sequence[str], facets: Sequence[str]
) -> dict[str, str]:
    """Return the full-text query of a recall for each kind."""
    return {
        "memory": memory_query(text, tenant_scope, statuses, facets),
        "belief": belief_query(text, tenant_scope, statuses),
        "turn": turn_query(text, tenant_scope),
        "episode": episode_query(text, tenant_scope),
    }


def _filtered_query(
    text: str,
    tenant_scope: TenantScope,
    fields: Sequence[str],
    *,
    weak: str | None = None,
    statuses: Sequence[str] = (),
    facets: Sequence[str] = (),
) -> str:
    """Return a query whose scores are codes of the matched words instead of BM25.

    Lucene's BM25 counts the texts of all tenants, so its scores and their order depend on words
    of other tenants. Here every clause has a constant score: MATCH and the bit of the word, or
    WEAK. fragments/word_weights.cypher makes BM25 of them.
    """
    terms = _terms(text)
    if not terms:
        return ""
    scored = [_constant(fields, term, MATCH + 2**bit) for bit, term in enumerate(terms)]
    if weak is not None:
        scored.append(_constant((weak,), " ".join(terms), WEAK))
    return " ".join((*_filters(tenant_scope, statuses, facets), f"+({' '.join(scored)})"))


def _constant(fields: Sequence[str], term: str, score: int) -> str:
    """Return a clause with this score for every node that contains a word of the term."""
    found = " ".join((*(f"{field}:({term})" for field in fields), _NOTHING))
    return f"(+({found})^0 +*:*^{score})"


def _terms(text: str) -> list[str]:
    """Return the words of a text; of more than MAX_TERMS, the shortest are one term."""
    words = list(_limit_tokens(MAX_TOKENS, _words(text)))
    if len(words) <= MAX_TERMS:
        return words
    # Without counts, long words are assumed to be rare.
    words.sort(key=len, reverse=True)
    return [*words[: MAX_TERMS - 1], " ".join(words[MAX_TERMS - 1 :])]


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
    """Return the distinct words of a text, ignoring case, without operators or brackets.

    The analyser folds their case, because a capital I is a different letter in Turkish. It knows no
    other folding, so words that differ in more than case are both searched. A run of characters
    without spaces becomes pairs, each a phrase in quotes.
    """
    # \w lacks the marks for vowels in Indian scripts, without which none of their words is found.
    spaced = "".join(c if _is_within_word(c) else " " for c in text)
    words: dict[str, str] = {}
    for word in (part for run in spaced.split() for part in _split_run(run)):
        if _WORD.search(word):
            words.setdefault(word.lower(), word.lower() if word in _OPERATORS else word)
    return words.values()


def _split_run(run: str) -> Iterator[str]:
    """Yield a run of word characters, with pairs in place of characters without spaces."""
    for part in filter(None, _UNSPACED.split(run)):
        if len(part) > 1 and _UNSPACED.match(part):
            yield from (f'"{first}{second}"' for first, second in pairwise(part))
        else:
            yield part


def _is_within_word(char: str) -> bool:
    return char.isalnum() or char == "_" or char in JOINERS or unicodedata.category(char)[0] == "M"


def _limit_tokens(budget: int, words: Iterable[str]) -> Iterator[str]:
    """Yield words until the analyser would make more than `budget` tokens of them."""
    for word in words:
        # Outside ASCII each character may be a token of its own: Chinese is written without spaces.
        cost = 1 + len(word) // _MAX_TOKEN_CHARS if word.isascii() else len(word.strip('"'))
        if cost > budget:
            if budget and not word.startswith('"'):
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
