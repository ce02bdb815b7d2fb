"""Results of searches as texts, and those that a reply was taken from, by its words."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from graphmem.english import mentions

_EMPTY = frozenset(
    mentions.stem(word)
    for word in mentions.words_of(
        "know remember recall noted note okay ok thanks thank sorry sure ask asked "
        "understand understood information record memory currently anything"
    )
)
"""Words of replies that state nothing."""
_MIN_WORDS, _SHARE = 2, 3
"""Words that make an item a source of a reply; one is enough if it is a third of the reply."""
_ID = re.compile(r"(?:m|b|t|ep|ar)_[^./\\]*|0[1-3][0-9a-f]{6}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_ARTIFACT = re.compile(r"(file|symbol|document):(.+)", re.DOTALL)


def result_of(text: str) -> str | tuple[str, str]:
    """Return a result as `log_search` takes it: an id, or the kind and the reference of another.

    Args:
        text: an id, the path of a file, or file:PATH, symbol:NAME or document:NAME.
    """
    if named := _ARTIFACT.fullmatch(text):
        return named[1], named[2]
    return text if _ID.fullmatch(text) else ("file", text)


def words_taken(reply: str, asked: Collection[str], shown: Mapping[str, str]) -> list[str]:
    """Return the ids of the items whose words a reply repeats, the main source first.

    Words of the questions do not count. A word counts for one item: for the one that has the most
    of the reply's words, and of several such items for the best result.

    Args:
        shown: texts of the items that its author was shown, by id, best first.
    """
    left = _words(reply) - _EMPTY
    for question in asked:
        left -= _words(question)
    size = len(left)
    words = {item_id: _words(text) for item_id, text in shown.items()}
    found: list[str] = []
    while left and words:
        item_id = max(words, key=lambda one: len(words[one] & left))
        taken = words.pop(item_id) & left
        if len(taken) < _MIN_WORDS and _SHARE * len(taken) < size:
            break
        left -= taken
        found.append(item_id)
    return found


def _words(text: str) -> frozenset[str]:
    """Return the words of content of a text, and its numbers and dates."""
    return mentions.content_of(text)
