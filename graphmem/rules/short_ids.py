"""Short ids: prefixes of derived ids that are unique in their tenant."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import takewhile
from typing import NamedTuple

MIN_DIGITS = 4
"""Least number of digits. Of the short ids that a chat saw, 1 in 65 is no longer unique after 1,000
more items of its kind; such an id is refused, so it never names the wrong item."""
_KINDS = {"m": "memories", "b": "beliefs", "t": "turns", "ep": "episodes"}
_DERIVED = re.compile(r"(?P<kind>m|b|t|ep)_[0-9a-f]{32}")
_SHORT = re.compile(rf"(?P<kind>m|b|t|ep)_[0-9a-f]{{{MIN_DIGITS},31}}")
_SHORT_EVENT = re.compile(r"0[1-3][0-9a-f]{6}(?:-[0-9a-f-]{0,26})?")
"""Beginning of a UUIDv7 of the years 2005 to 2109; its first digits are a time, in milliseconds."""
IDS = re.compile(
    r"(?<![-\w])(?:(?:m|b|t|ep)_[0-9a-f]{4,32}|0[1-3][0-9a-f]{6}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?![-\w])"
)
"""Ids within a text: those of items, also short ones, and those of events."""
_CITED = re.compile(r"\[([^\[\]]{1,400})\]")


class Neighbours(NamedTuple):
    """An id, and the ids before and after it in the order of ids."""

    id: str
    previous: str | None
    next: str | None


def derived(ids: Iterable[str]) -> dict[str, list[str]]:
    """Return those ids that graphmem derived, by their kind; callers choose others."""
    return _grouped(_DERIVED, ids)


def any_short(given: Iterable[str]) -> bool:
    """Return whether any text has the form of a short id; others need no query."""
    return any(_SHORT.fullmatch(one) or _SHORT_EVENT.fullmatch(one) for one in given)


def prefixes(given: Iterable[str]) -> dict[str, list[str]]:
    """Return those texts that have the form of a short id, by the kind of what they name."""
    texts = list(given)
    return _grouped(_SHORT, texts) | {
        "events": [one for one in texts if _SHORT_EVENT.fullmatch(one)]
    }


def _grouped(form: re.Pattern[str], texts: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {kind: [] for kind in _KINDS.values()}
    for text in dict.fromkeys(texts):
        if match := form.fullmatch(text):
            found[_KINDS[match["kind"]]].append(text)
    return found


def shorten(among: Iterable[Neighbours]) -> dict[str, str]:
    """Return the short form of each id: the shortest prefix that neither neighbour has."""
    short = dict[str, str]()
    for one in among:
        shared = max(_shared(one.id, other or "") for other in one[1:])
        short[one.id] = one.id[: max(one.id.index("_") + 1 + MIN_DIGITS, shared + 1)]
    return short


def _shared(first: str, second: str) -> int:
    """Return the number of characters with which both texts begin."""
    pairs = zip(first, second, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def matches(found: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Return the ids by prefix; an id that is itself the prefix is the only one meant."""
    by_prefix = defaultdict[str, list[str]](list)
    for prefix, item_id in found:
        by_prefix[prefix].append(item_id)
    return {one: [one] if one in ids else sorted(ids) for one, ids in by_prefix.items()}


def cited(text: str, shown: Mapping[str, str]) -> list[str]:
    """Return the ids that a text cites in brackets, each once.

    Args:
        text: a reply.
        shown: ids by the form in which a block showed them; whole ids are read too.
    """
    known = {**{item_id: item_id for item_id in shown.values()}, **shown}
    names = [name for match in _CITED.finditer(text) for name in re.split(r"[,;\s]+", match[1])]
    return list(dict.fromkeys(known[name] for name in names if name in known))
