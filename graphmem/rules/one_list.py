"""One result for each statement: a result covers those with nothing else in them.

A turn, the memory made from it and the summary of its conversation often have the same sentences.
The result with all sentences of another one covers it and takes the better place. Sentences are
compared in the form of `folding.fold`, so what differs is listed. A turn covers the summary of its
conversation if that is an extract of the turns. A belief covers the memories and the turns that it
rests on if they have one sentence with no more words than its own. A turn covers the belief that
rules read in it alone, if its slot has no other value; nothing else covers a belief.

Turns in which one speaker restates one fact in other words are one result, too; see `repeats`.

Likely values that are assumed to coexist, because their predicate has no declaration, are in the
order of their last affirmation, the newest first, whatever the question shares with them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import TypeAlias, TypeGuard

from graphmem import folding
from graphmem.english import mentions, passages, repeats, summaries
from graphmem.model import (
    AnyBite,
    BeliefBite,
    EpisodeBite,
    Instant,
    MemoryBite,
    OtherValue,
    Status,
    Turn,
    TurnBite,
)
from graphmem.rules import claims, trust

_EDGE = re.compile(r"^\W+|\W+$")
_PREFERRED = ("episode", "turn", "memory", "belief")
"""Kinds of results that hold the same sentences, the one to show last."""


_READ_BY_RULES = trust.rank("tool")
"""Least trust of a belief that covers a person's sentence: rules read it, and no model."""


_LIKELY = 0.5
"""Least belief of a value that precedes an older one, as in fragments/top_many.cypher."""

_Slot: TypeAlias = tuple[str, str, str]
"""Scope, subject and predicate."""


@dataclass(frozen=True, slots=True)
class _Held:
    """A result and what it states."""

    bite: AnyBite
    sentences: frozenset[str]
    """Its sentences in folded form; empty for a hidden memory."""
    sources: frozenset[str]
    """Ids of the turns and beliefs that a belief quotes or a memory claims."""
    at: Instant | None

    @classmethod
    def of(cls, bite: AnyBite) -> _Held:
        if isinstance(bite, BeliefBite):
            turns = frozenset(one.turn_id for one in bite.reasons if one.turn_id)
            alone = bite.lost or bite.ambiguous
            return cls(bite, _keys(bite.text), frozenset() if alone else turns, bite.last_at)
        if isinstance(bite, MemoryBite):
            memory = bite.memory
            keys = _keys(bite.text) if memory.status is Status.CURRENT else frozenset()
            return cls(bite, keys, frozenset(memory.claim_ids), memory.last_seen_at)
        at = bite.turn.occurred_at if isinstance(bite, TurnBite) else bite.episode.occurred_at
        return cls(bite, _keys(bite.text), frozenset(), at)

    def covers(self, other: _Held) -> bool:
        """Return whether this result contains all that the other one does, and vouches as well."""
        if self._quotes(other) or (_is_read(other.bite) and self.id in other.sources):
            return True
        if trust.rank(self.bite.trust) < trust.rank(other.bite.trust):
            return False
        is_part = bool(other.sentences) and other.sentences <= self.sentences
        # An extract is covered by its turns, whose words it has.
        if not is_part or isinstance(other.bite, BeliefBite) or _is_extract(self.bite):
            return False
        return other.sentences < self.sentences or self._order() >= other._order()

    def _quotes(self, other: _Held) -> bool:
        """Return whether this is a belief that has all of the one sentence that it rests on."""
        if not isinstance(self.bite, BeliefBite) or len(other.sentences) != 1:
            return False
        if _is_read(self.bite):
            return False
        if trust.rank(self.bite.trust) < min(_READ_BY_RULES, trust.rank(other.bite.trust)):
            return False
        of = other.bite
        if of.id not in self.sources and (self.id not in other.sources or of.kind != "memory"):
            return False
        return _words(of.text) <= _words(self.bite.text)

    @property
    def keys(self) -> frozenset[str]:
        """Return what it has in common with a result that it covers."""
        return self.sentences | self.sources | {self.bite.id}

    @property
    def id(self) -> str:
        """Return the id of the result."""
        return self.bite.id

    def _order(self) -> tuple[int, int, float]:
        at = 0.0 if self.at is None else self.at.timestamp()
        return trust.rank(self.bite.trust), _PREFERRED.index(self.bite.kind), at


def _is_read(bite: AnyBite) -> bool:
    """Return whether a belief has nothing but a fact that rules read in one turn.

    A person's own words state it better.
    """
    if not isinstance(bite, BeliefBite) or bite.others or len(bite.reasons) != 1:
        return False
    return bite.reasons[0].source_type == "RULE"


def _keys(text: str) -> frozenset[str]:
    parts = (_EDGE.sub("", folding.fold(one)) for one in passages.SENTENCE_END.split(text))
    return frozenset(part for part in parts if part)


def _words(text: str) -> set[str]:
    """Return the words of content and the values of a text."""
    return {one.stem or one.key for one in mentions.read_tokens(text) if one.stem or one.kind}


def _is_extract(bite: AnyBite) -> bool:
    """Return whether a summary consists of sentences of turns that are searched themselves."""
    return isinstance(bite, EpisodeBite) and bite.episode.summarised_by == summaries.RULES


def _fold_extracts(
    bites: Sequence[AnyBite], shown: dict[int, _Held], others: dict[int, list[str]], compared: int
) -> None:
    """Let the best turn of each conversation cover its extract."""
    group = {one: n for n, held in shown.items() for one in (held.id, *others[n])}
    spoken = dict[str, int]()
    for place, bite in reversed([*enumerate(bites)]):
        if isinstance(bite, TurnBite) and bite.id in group:
            spoken[bite.turn.episode_id] = place
    for n, extract in [*shown.items()]:
        turn = spoken.get(extract.id) if _is_extract(extract.bite) else None
        if turn is not None and (turn < n or turn < compared):
            others[group[bites[turn].id]] += (shown.pop(n).id, *others.pop(n, ()))


def distinct(bites: Sequence[AnyBite], most: int) -> int:
    """Return how many of the results have the first `most` different texts."""
    seen = set[str]()
    for place, bite in enumerate(bites):
        seen.add(bite.text)
        if len(seen) > most:
            return place
    return len(bites)


def collapse(bites: Sequence[AnyBite], question: str, compared: int) -> tuple[AnyBite, ...]:
    """Return the bites without those that another one covers; it names them.

    A turn with the same question is left out.

    Args:
        compared: number of results that may take the place of a better one; a later result is only
            left out, so that the first results do not depend on how many are asked for.
    """
    asked = _keys(question) if question.rstrip().endswith(passages.ASKING) else frozenset()
    shown = dict[int, _Held]()
    others = defaultdict[int, list[str]](list)
    by_key = defaultdict[str, set[int]](set)
    for place, bite in enumerate(bites):
        new, at = _Held.of(bite), place
        if asked and isinstance(bite, TurnBite) and new.sentences == asked:
            continue
        near = sorted({n for key in new.keys for n in by_key[key] if n in shown})
        holder = next((n for n in near if shown[n].covers(new)), None)
        if holder is not None:
            others[holder].append(new.id)
            continue
        if place < compared and (held := [n for n in near if new.covers(shown[n])]):
            at = held[0]
            others[at] = [one for n in held for one in (shown.pop(n).id, *others.pop(n, ()))]
        shown[at] = new
        for key in new.keys:
            by_key[key].add(at)
    _fold_extracts(bites, shown, others, compared)
    return tuple(
        one.bite.model_copy(update={"covers": tuple(others[n])}) if others[n] else one.bite
        for n, one in sorted(shown.items(), key=itemgetter(0))
    )


def join_repeats(
    bites: Sequence[AnyBite], found: Sequence[AnyBite], compared: int
) -> tuple[AnyBite, ...]:
    """Return the bites, which have their marks, without turns that restate another one's turns.

    The newest of equal statements is shown, at the best of their places, unless one states more.
    An outdated result covers only outdated ones.

    Args:
        found: the same before some covered others, with the texts of these.
    """
    turns = {bite.id: bite.turn for bite in found if isinstance(bite, TurnBite)}
    near = repeats.near_pairs({one: turn.text for one, turn in turns.items()})
    near = {pair for pair in near if _restates(*map(turns.__getitem__, pair))}
    if not near:
        return tuple(bites)
    shown = {n: _Group.of(bite, turns) for n, bite in enumerate(bites)}
    for place, new in [*shown.items()]:
        if not isinstance(new.bite, TurnBite):
            continue
        better = [(n, one) for n, one in shown.items() if n < place]
        holder = next((n for n, one in better if one.represents(new, near)), None)
        if holder is not None:
            shown[holder].add(shown.pop(place))
            continue
        places = [n for n, one in better if place < compared and new.represents(one, near)]
        if places:
            for n in places:
                new.add(shown.pop(n))
            shown[places[0]] = shown.pop(place)
    holders = {one: group.bite.id for group in shown.values() for one in group.ids}
    return tuple(group.named(holders) for _, group in sorted(shown.items(), key=itemgetter(0)))


def newest_first(bites: Sequence[AnyBite], question: str) -> tuple[AnyBite, ...]:
    """Return the bites with the values that are assumed to coexist in each slot newest first.

    They share their places. A value that the question names keeps its own.
    """
    asked, places = _words(question), defaultdict[_Slot, list[int]](list)
    for place, bite in enumerate(bites):
        if _coexists(bite) and not _names(asked, bite):
            places[_slot(bite)].append(place)
    ordered = list(bites)
    for shared in places.values():
        newest = sorted((bites[place] for place in shared), key=_affirmed, reverse=True)
        for place, bite in zip(shared, newest, strict=True):
            ordered[place] = bite
    return tuple(ordered)


def name_older(bites: Sequence[AnyBite], found: Sequence[AnyBite]) -> tuple[AnyBite, ...]:
    """Return the bites, of which the newest of each such slot names older values not listed.

    Args:
        found: the same and those that are not listed.
    """
    listed = {bite.id for bite in bites}
    hidden = defaultdict[_Slot, list[OtherValue]](list)
    for bite in sorted(found, key=_affirmed, reverse=True):
        if _coexists(bite) and bite.id not in listed:
            hidden[_slot(bite)].append(_as_other(bite))
    named = list[AnyBite]()
    for bite in bites:
        if _coexists(bite):
            older = filter(bite.came_after, hidden.pop(_slot(bite), ()))
            named.append(bite.model_copy(update={"others": tuple(older)}))
        else:
            named.append(bite)
    return tuple(named)


def _coexists(bite: AnyBite) -> TypeGuard[BeliefBite]:
    if not isinstance(bite, BeliefBite) or not bite.assumed_many or bite.lost:
        return False
    return bite.belief.belief >= _LIKELY


def _slot(bite: BeliefBite) -> _Slot:
    belief = bite.belief
    return (
        belief.scope,
        claims.name_key(str(belief.subject)),
        claims.predicate_key(str(belief.predicate)),
    )


def _names(words: Collection[str], bite: BeliefBite) -> bool:
    """Return whether these words contain the value of a belief."""
    value = _words(str(bite.belief.object))
    return bool(value) and value <= set(words)


def _affirmed(bite: AnyBite) -> tuple[float, str]:
    at = bite.last_at if isinstance(bite, BeliefBite) else None
    return (0.0 if at is None else at.timestamp()), bite.id


def _as_other(bite: BeliefBite) -> OtherValue:
    belief = bite.belief
    return OtherValue(
        belief_id=belief.id,
        object=str(belief.object),
        belief=belief.belief,
        status=belief.status,
        last_at=bite.last_at or belief.created_at,
    )


def _restates(one: Turn, other: Turn) -> bool:
    """Return whether a turn states all of another one of its speaker, later or with more."""
    if one.id == other.id or (one.role, one.name) != (other.role, other.name):
        return False
    mine, theirs = repeats.read(one.text), repeats.read(other.text)
    if not mine.restates(theirs):
        return False
    is_later = (one.occurred_at, one.id) > (other.occurred_at, other.id)
    return is_later or not theirs.restates(mine)


@dataclass(slots=True)
class _Group:
    """A result, and the turns that it represents."""

    bite: AnyBite
    turns: list[str]
    ids: list[str]
    """Ids of all results that it covers."""

    @classmethod
    def of(cls, bite: AnyBite, known: Mapping[str, Turn]) -> _Group:
        alone = isinstance(bite, BeliefBite) and (bite.lost or bite.ambiguous)
        turns = [] if alone else [one for one in (bite.id, *bite.covers) if one in known]
        return cls(bite, turns, list(bite.covers))

    def represents(self, other: _Group, near: Collection[tuple[str, str]]) -> bool:
        """Return whether this result states what another one states, and vouches as well."""
        if not isinstance(other.bite, TurnBite):
            return False
        if self.bite.outdated_by is not None and other.bite.outdated_by is None:
            return False
        least = trust.rank(other.bite.trust)
        if isinstance(self.bite, BeliefBite):
            least = min(_READ_BY_RULES, least)
        return bool(other.turns and trust.rank(self.bite.trust) >= least) and all(
            any((one, turn) in near for one in self.turns) for turn in other.turns
        )

    def add(self, other: _Group) -> None:
        """Cover another result."""
        self.turns += other.turns
        self.ids += (other.bite.id, *other.ids)

    def named(self, holders: Mapping[str, str]) -> AnyBite:
        """Return the result, which names what it covers and the result that outdates it."""
        newer = self.bite.outdated_by
        newer = None if newer is None else holders.get(newer, newer)
        return self.bite.model_copy(update={"covers": tuple(self.ids), "outdated_by": newer})
