"""The place of the verb in an English sentence, found by the words around it."""

from __future__ import annotations

from collections.abc import Sequence

from graphmem.english.facts import FactToken
from graphmem.english.mentions import STATES, words_of
from graphmem.english.quantities import ARTICLES, DETERMINERS, FactKind

CONTRACTED = frozenset({"'s", "'d"})
ADDED = frozenset(
    {"now", "currently", "already", "again", "back", "still", "any", "more", "anymore"}
)
"""Words that an update may add: the limit is now 200."""
AUXILIARIES = frozenset(
    words_of("be been was have had will would do did can could must should may might")
)
_NO_VERBS = CONTRACTED | ADDED
_AFTER_NOUNS = AUXILIARIES | {"of", "'s"}
_BEFORE_NOUNS = DETERMINERS - ARTICLES
_PRONOUNS = frozenset(words_of("i you he she it we they"))


def verb_place(words: Sequence[FactToken]) -> int | None:
    """Return the position of the verb; None if none is found."""
    likely: int | None = None
    for n, word in enumerate(words):
        if word.key in AUXILIARIES or word.progressive:
            return n
        if word.kind is not FactKind.VALUE or not n:
            continue
        if word.key in STATES:
            return n
        before = next((w.key for w in reversed(words[:n]) if w.key not in ADDED), "")
        if before in _PRONOUNS and word.key not in _NO_VERBS:
            return n
        if likely is None and looks_finite(words, n):
            likely = n
    return likely


def looks_finite(words: Sequence[FactToken], n: int) -> bool:
    """Return whether a word may be a verb by its ending: runs, reached; not the keys of."""
    key = words[n].key
    if n + 1 == len(words) or words[n + 1].key in _AFTER_NOUNS:
        return False
    before = words[n - 1]
    if before.key in _BEFORE_NOUNS or (n == 1 and words[0].kind is FactKind.NUMBER):
        return False  # our trains leave, 12 volunteers signed up
    return key.isalpha() and (key.endswith("ed") or (key[-1] == "s" and key[-2:-1] not in "su"))
