"""Align a list of messages with the conversation that is stored, as an edit script.

Messages are tokens: equal tokens are the same words of the same speaker. All steps are linear in
the list and the conversation, but for the sort of one subsequence.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

EXCHANGE = 2
"""Number of messages of a list that may repeat the last ones unchanged: a question, or a
question and its answer. A longer list that is stored already is a copy."""
RUN = 3
"""Number of consecutive messages that are a copy at any place; fewer may be a repeat."""

Pair = tuple[int, int]
"""Place in the list, and place in the conversation."""


def align(
    given: Sequence[Hashable],
    stored: Mapping[int, Hashable],
    end: int,
    asked: int,
    *,
    repeats: bool,
) -> dict[int, int]:
    """Return where the messages of a list are stored, by place in the list; others are new.

    The list continues the conversation: its beginning is the end of what is stored. Or it is
    another version of it: parts are left out, replaced or inserted.

    Args:
        given: tokens of the list.
        stored: tokens of the conversation by place; those that the list lacks may be missing.
        end: number of stored messages.
        asked: place of the last message of a person; -1 without one.
        repeats: whether a list of `EXCHANGE` messages that the conversation ends with is new.
    """
    runs = _runs_to_the_end(given, stored, end)
    whole = not repeats or len(given) > EXCHANGE
    overlap = _overlap(runs if whole else runs[:-1])
    continued = {place: end - overlap + place for place in range(overlap)}
    if len(given) <= EXCHANGE:
        return continued
    found = _edited(given, stored, runs, end)
    edited = _without_repeats(found, _moved(found, given, stored), asked)
    if overlap >= len(found.keys() & edited.keys()):
        return continued
    return _continued(edited, given, stored)


def overlap(given: Sequence[Hashable], before: Sequence[Hashable]) -> int:
    """Return how many messages at the start of a list end the list before; never all of them."""
    stored = dict(enumerate(before))
    return _overlap(_runs_to_the_end(given, stored, len(before))[:-1])


def _overlap(runs: Sequence[int]) -> int:
    return max((n for n, run in enumerate(runs, 1) if run == n), default=0)


def _runs_to_the_end(
    given: Sequence[Hashable], stored: Mapping[int, Hashable], end: int
) -> list[int]:
    """Return for each message how many messages up to it are the last ones stored."""
    first = max(end - len(given), 0)
    tail = [stored.get(place, object()) for place in range(end - 1, first - 1, -1)]
    prefixes = _common_prefixes([*tail, object(), *reversed(given)])
    return prefixes[len(tail) + 1 :][::-1]


def _common_prefixes(tokens: Sequence[Hashable]) -> list[int]:
    """Return for each place how many tokens from it on are the first ones (Z algorithm)."""
    found = [0] * len(tokens)
    start = stop = 0
    for i in range(1, len(tokens)):
        n = min(stop - i, found[i - start]) if i < stop else 0
        while i + n < len(tokens) and tokens[n] == tokens[i + n]:
            n += 1
        found[i] = n
        if i + n > stop:
            start, stop = i, i + n
    return found


def _edited(
    given: Sequence[Hashable], stored: Mapping[int, Hashable], runs: Sequence[int], end: int
) -> dict[int, int]:
    """Return a common subsequence: from messages that occur once on both sides (patience diff).

    The first message and the longest copy of the end count too. From each, the neighbours are
    compared in both directions.
    """
    once = _once(stored)
    anchors = {
        place: once[token]
        for token, place in _once(dict(enumerate(given))).items()
        if token in once
    }
    longest = max(range(len(given)), key=runs.__getitem__)
    if runs[longest] >= RUN:
        anchors[longest] = end - 1
    if given[0] == stored.get(0):
        anchors[0] = 0
    copies = _copies(given, stored, anchors)
    chain = [(copy.first, copy.place) for copy in _heaviest(copies, len(given))]
    found: dict[int, int] = {}
    for (i, j), after in pairwise([(-1, -1), *chain, (len(given), end)]):
        found.update(_run(given, stored, (i, j), after, 1) if i >= 0 else ())
        start = max(found, default=-1)
        limit = start, found.get(start, -1)
        found.update(_run(given, stored, after, limit, -1) if after[0] < len(given) else ())
    return found


def _run(
    given: Sequence[Hashable], stored: Mapping[int, Hashable], pair: Pair, limit: Pair, step: int
) -> dict[int, int]:
    """Return equal messages from a pair on, in one direction, up to a limit."""
    found = {}
    (i, j), (last_i, last_j) = pair, limit
    while i != last_i and (last_j - j) * step > 0 and stored.get(j) == given[i]:
        found[i] = j
        i, j = i + step, j + step
    return found


class _Copy(NamedTuple):
    """Messages that follow each other on both sides, around one that occurs once."""

    first: int
    """Place of that message in the list."""
    place: int
    length: int

    @property
    def shift(self) -> int:
        """How far the copy is from its original."""
        return self.place - self.first


def _copies(
    given: Sequence[Hashable], stored: Mapping[int, Hashable], anchors: Mapping[int, int]
) -> list[_Copy]:
    """Return the copies by place in the list; one ends where another begins, so this is linear."""
    copies: list[_Copy] = []
    done = -1
    for i, j in sorted(anchors.items()):
        if i <= done and copies[-1].shift == j - i:
            continue
        after = _run(given, stored, (i, j), (len(given), len(given) + j + 1), 1)
        before = _run(given, stored, (i, j), (-1, -1), -1)
        done = max(after)
        copies.append(_Copy(i, j, len(after) + len(before) - 1))
    return copies


def _heaviest(copies: Sequence[_Copy], size: int) -> list[_Copy]:
    """Return copies that follow each other on both sides and have the most messages.

    Of equals, those with the shift of most other messages.
    """
    shifts: Counter[int] = Counter()
    for copy in copies:
        shifts[copy.shift] += copy.length
    places, totals, lasts = list[int](), list[int](), list[int]()
    before: list[int] = []
    for n, copy in enumerate(copies):
        at = bisect_left(places, copy.place)
        before.append(lasts[at - 1] if at else -1)
        total = (totals[at - 1] if at else 0) + copy.length * size**2 + shifts[copy.shift]
        stop = bisect_left(totals, total, lo=at)
        places[at:stop], totals[at:stop], lasts[at:stop] = [copy.place], [total], [n]
    chain = []
    n = lasts[-1] if lasts else -1
    while n >= 0:
        chain.append(copies[n])
        n = before[n]
    return chain[::-1]


def _once(tokens: Mapping[int, Hashable]) -> dict[Hashable, int]:
    """Return the places of the tokens that occur once."""
    counts = Counter(tokens.values())
    return {token: place for place, token in tokens.items() if counts[token] == 1}


def _without_repeats(
    found: Mapping[int, int], moved: Mapping[int, int], asked: int
) -> dict[int, int]:
    """Return the places of an edited list without possible repeats at its end.

    What follows a new message is a copy only if it has `RUN` messages, or reaches the end of the
    conversation but for its last question. What is left must have two messages from the first one
    of the list on, or three.
    """
    places = sorted({**moved, **found})
    while places:
        start = len(places) - 1
        while start and places[start - 1] == places[start] - 1:
            start -= 1
        first, last = places[start], places[-1]
        copied = sum(place in found for place in places[start:])
        if first == found.get(0) == 0 or copied >= RUN or found.get(last, -1) >= asked - 1:
            break
        del places[start:]
    copied = sum(place in found for place in places)
    least = RUN if places and places[0] else EXCHANGE
    return {place: found.get(place, moved.get(place, -1)) for place in places if copied >= least}


def _moved(
    found: Mapping[int, int], given: Sequence[Hashable], stored: Mapping[int, Hashable]
) -> dict[int, int]:
    """Return the places of messages before the last one found that are stored elsewhere.

    An edited message is stored when it comes, after messages that follow it in the list.
    """
    used = set(found.values())
    free = defaultdict[Hashable, list[int]](list)
    for place, token in sorted(stored.items()):
        if place not in used:
            free[token].append(place)
    gaps = (place for place in range(max(found, default=0)) if place not in found)
    return {place: free[given[place]].pop() for place in gaps if free.get(given[place])}


def _continued(
    found: dict[int, int], given: Sequence[Hashable], stored: Mapping[int, Hashable]
) -> dict[int, int]:
    """Return the places, with those that follow the last one but for messages that moved."""
    used = set(found.values())
    for place in range(max(found, default=len(given)) + 1, len(given)):
        following = found[place - 1] + 1
        while following in used:
            following += 1
        if stored.get(following) != given[place]:
            break
        found[place] = following
        used.add(following)
    return found
