"""Clusters of passages, the prompt to synthesise a belief, and how a passage relates to one."""

from __future__ import annotations

import heapq
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Annotated, NamedTuple, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    FailFast,
    Field,
    model_validator,
)

from graphmem import folding
from graphmem.english import clauses
from graphmem.english.clauses import Clause
from graphmem.english.facts import FactToken, fact_tokens, has_other_date, is_named_date, is_negated
from graphmem.english.passages import _WORD, Passage
from graphmem.english.quantities import FactKind
from graphmem.extraction import windows
from graphmem.model import EvidenceKind
from graphmem.model.belief import Part, Statement
from graphmem.model.terms import Text
from graphmem.rules.claims import triple_sentence
from graphmem.rules.prompts import Prompt, prompt_block, prompt_text

NAME = "synthesise"
"""Name of the prompt's file."""

_PERIODS = frozenset(
    {"day", "week", "fortnight", "weekend", "month", "year", "decade", "every"}
) | {*("morning", "afternoon", "evening", "night")}
"""Keys of dates that a model may conclude, because they name no time: "every day"."""
_AMOUNT = re.compile(
    r"\b(?:(?:twent|thirt|fort|fift|sixt|sevent|eight|ninet)ies|dozens|hundreds|thousands|millions)\b",
    re.I,
)
"""Numbers in words that are not exact."""
_AVOIDING = re.compile(
    r"\b(?:avoid|refus|abstain|stay(?:s|ing)? away|vegan|vegetarian|teetotal|allergic|intoleran)",
    re.I,
)
"""Words that deny something without a negation."""

SHARED = 0.6
"""Share of words, without negations, numbers and dates, that a contradiction needs in common."""
NEARLY = 0.8
"""The same share for a changed number or date: two runs of 5 and of 10 km agree in less. Texts
that agree this much but each have a word of their own differ in topic: tea and coffee."""


def star_clusters(
    neighbours: Sequence[Mapping[int, float]], episodes: Sequence[int], min_episodes: int
) -> list[tuple[int, ...]]:
    """Return disjoint stars of at least `min_episodes` episodes, the largest first.

    A star consists of the indexes of passages: its centre, then its neighbours, nearest first.

    The selection is greedy. The next centre has the most episodes among its free neighbours, then
    the most free neighbours, then the largest sum of similarities, then the smallest index. Its
    free neighbours are taken with it. A star does not depend on how earlier stars were processed,
    so an interrupted run resumes with the same ones. Nearly linear in the number of edges.

    Args:
        neighbours: neighbours of each passage, with similarities; either side may list the other.
        episodes: index of the episode of each passage.
        min_episodes: minimum number of episodes in a star, including the centre's.
    """
    adjacent = _symmetric_neighbours(neighbours)
    taken = [False] * len(adjacent)

    def worth(i: int) -> tuple[int, int, float, int]:
        free = [j for j in adjacent[i] if not taken[j]]
        counted = len({episodes[i], *(episodes[j] for j in free)})
        return -counted, -len(free), -sum(sorted(adjacent[i][j] for j in free)), i

    heap = [worth(i) for i in range(len(adjacent)) if adjacent[i] or min_episodes == 1]
    heapq.heapify(heap)
    stars: list[tuple[int, ...]] = []
    while heap:
        top = heapq.heappop(heap)
        i = top[3]
        if taken[i]:
            continue
        now = worth(i)
        if now != top:
            # Some neighbours were taken in the meantime: insert it again at its new rank.
            heapq.heappush(heap, now)
            continue
        if -now[0] < min_episodes:
            break
        free = [j for j in adjacent[i] if not taken[j]]
        stars.append((i, *sorted(free, key=lambda j: (-adjacent[i][j], j))))
        for j in stars[-1]:
            taken[j] = True
    return stars


def _symmetric_neighbours(neighbours: Sequence[Mapping[int, float]]) -> list[dict[int, float]]:
    adjacent: list[dict[int, float]] = [{} for _ in neighbours]
    for i, similar in enumerate(neighbours):
        for j, similarity in similar.items():
            if i != j:
                adjacent[i][j] = max(similarity, adjacent[i].get(j, similarity))
                adjacent[j][i] = adjacent[i][j] = max(
                    adjacent[i][j], adjacent[j].get(i, similarity)
                )
    return adjacent


def _strip(value: object) -> object:
    return value.strip() if isinstance(value, str) else value


def _unique(keys: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(keys))


_Statement = Annotated[Statement, BeforeValidator(_strip)]
_Part = Annotated[Part, BeforeValidator(_strip)]
_Keys = Annotated[tuple[Text, ...], FailFast(), AfterValidator(_unique)]


class SynthesisReply(BaseModel):
    """Reply of a model. Unknown keys are ignored."""

    model_config = ConfigDict(frozen=True)

    statement: _Statement | None
    """Synthesised statement; None if the episodes have nothing in common."""
    subject: _Part | None = None
    predicate: _Part | None = None
    object: _Part | None = None
    """Parts of the statement as one fact: all three or none."""
    confidence: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
    episodes: _Keys
    """Keys of the episodes that support the statement."""
    supports: _Keys = ()
    """Keys of beliefs with the same meaning."""
    contradicts: _Keys = ()
    """Keys of beliefs that the statement contradicts."""

    @model_validator(mode="after")
    def _whole(self) -> Self:
        count = sum(part is not None for part in (self.subject, self.predicate, self.object))
        if count not in (0, 3):
            raise ValueError("subject, predicate and object must be given together or all be null")
        return self


class PromptPassage(NamedTuple):
    """An episode as shown to the model."""

    key: str
    """Short key, for example `e1`, in place of the id."""
    date: str
    """Date in ISO 8601."""
    text: str
    """Turns of the episode, each prefixed with its speaker or role."""


class PromptBelief(NamedTuple):
    """A belief as shown to the model."""

    key: str
    """Short key, for example `b1`."""
    statement: str


def synthesis_prompt(
    passages: Iterable[PromptPassage], candidates: Iterable[PromptBelief]
) -> Prompt[SynthesisReply]:
    """Return the prompt for one cluster, with the beliefs that are near it."""
    blocks = (prompt_block("episodes", passages), prompt_block("beliefs", candidates), "Answer:")
    return Prompt(NAME, prompt_text(NAME), "\n".join(blocks), SynthesisReply)


def reply_problems(
    reply: SynthesisReply, passage_keys: Collection[str], candidate_keys: Collection[str]
) -> list[str]:
    """Return the reasons why a reply must be rejected; empty if it is valid."""
    reasons = [
        f"{name} has keys that were not offered: {_format_keys(unknown)}"
        for name, given, known in (
            ("episodes", reply.episodes, passage_keys),
            ("supports", reply.supports, candidate_keys),
            ("contradicts", reply.contradicts, candidate_keys),
        )
        if (unknown := [key for key in given if key not in known])
    ]
    if reply.statement is None:
        if reply.subject is not None or reply.supports or reply.contradicts:
            reasons.append("a null statement has a triple, supports or contradicts")
        return reasons
    if not reply.episodes:
        reasons.append("the statement cites no episode")
    if both := [key for key in reply.supports if key in reply.contradicts]:
        reasons.append(f"the same belief is both supported and contradicted: {_format_keys(both)}")
    return reasons


def invented_value(statement: str, texts: Sequence[str]) -> str | None:
    """Return the first name, number or named date of a statement that no text has.

    None if there is none. How often something happens is what a model concludes: "every day".
    """
    within = windows.grounding_context(texts, "user")
    for word in windows.foreign_values(statement, within):
        if word.kind is not FactKind.DATE or word.key not in _PERIODS:
            return word.key
    known = {folding.fold(amount) for text in texts for amount in _AMOUNT.findall(text)}
    amounts = _AMOUNT.findall(statement)
    return next((one for one in amounts if folding.fold(one) not in known), None)


def changed_negation(statement: str, texts: Sequence[str]) -> str | None:
    """Return why a statement is negated unlike its texts; None if it is not.

    A text counts by its clauses with most words of the statement. Of a negated statement, as many
    must be negated, or deny in another way ("avoids meat"), as not; of another one, no more.
    """
    claimed = clauses.statement_clause(statement, None)
    nearest = [_nearest_clauses(one, claimed) for one in texts]
    avoids = _AVOIDING.search(statement) is not None
    if is_negated(_cached_tokens(statement)):
        denying = sum(
            all(one.negated for one in found)
            or (not avoids and any(_AVOIDING.search(one.text) for one in found))
            for found in nearest
        )
        if 2 * denying >= len(nearest):
            return None
        return "it is negated, and most of what it rests on is not"
    denying = sum(all(one.negated for one in found) for found in nearest)
    if avoids or 2 * denying <= len(nearest):
        return None
    return "it is not negated, and most of what it rests on is"


def _nearest_clauses(text: str, claimed: Clause) -> list[Clause]:
    """Return the clauses of a text with most words of content of a statement; one at least."""
    found = clauses.clauses(text, None) or (clauses.statement_clause(text, None),)
    most = max(len(one.stems & claimed.stems) for one in found)
    return [one for one in found if len(one.stems & claimed.stems) == most]


def states_triple(statement: str, subject: str, predicate: str, object_: str) -> bool:
    """Return whether a statement names the subject and the object, and is negated like the fact."""
    within = windows.grounding_context([statement], "user")
    fact = triple_sentence(None, subject, predicate, object_)
    return (
        windows.is_grounded(subject, within)
        and windows.is_grounded(object_, within)
        and is_negated(_cached_tokens(fact)) == is_negated(_cached_tokens(statement))
    )


def _format_keys(keys: Sequence[str]) -> str:
    """Return up to three keys as text: a model may produce any number of any length."""
    few = ", ".join(repr(key[:20]) for key in keys[:3])
    return few if len(keys) <= 3 else f"{few} and {len(keys) - 3} more"


def relation(passage: Passage, statement: str) -> EvidenceKind | None:
    """Return how a passage near a statement relates to it; None if this cannot be determined.

    A statement by a named speaker about themselves is not evidence about others, so the statement
    must name the speaker. A passage supports nothing if each has words of content of its own, as
    with another value, or if it has a request: an equal one makes different turns similar.
    """
    if not speaks_of(passage, statement):
        return None
    kind = compare_texts(passage.spoken, statement)
    if kind is not EvidenceKind.SUPPORTING:
        return kind
    stated, claimed = (
        clauses.statement_clause(one, passage.name).stems for one in (passage.text, statement)
    )
    differs = bool(stated - claimed) and bool(claimed - stated)
    return None if differs or clauses.asserted(passage.text) != passage.text else kind


def compare_texts(stated: str, claimed: str) -> EvidenceKind | None:
    """Return how a text relates to a claim near it; None if this cannot be determined."""
    return _compare_tokens(_cached_tokens(stated), _cached_tokens(claimed))


def speaks_of(passage: Passage, statement: str) -> bool:
    """Return whether a passage may be evidence about a statement: if it names the speaker."""
    return not passage.name or _mentions_speaker(passage.name, statement)


@lru_cache(maxsize=4_096)
def _cached_tokens(text: str) -> tuple[FactToken, ...]:
    # Cached: each passage is compared with several statements, and each statement with many.
    return tuple(fact_tokens(text))


def _compare_tokens(
    stated: Sequence[FactToken], claimed: Sequence[FactToken]
) -> EvidenceKind | None:
    agree = _agreement(stated, claimed)
    # "No longer" is two negating words but one negation.
    if is_negated(stated) != is_negated(claimed):
        return EvidenceKind.REFUTING if agree >= SHARED else None
    counts, claims = _number_counts(stated), _number_counts(claimed)
    if (counts and claims and counts != claims) or has_other_date(stated, claimed):
        # "I have two cats", "I have three cats"; in different wording the topic may differ.
        return EvidenceKind.REFUTING if agree >= NEARLY else None
    return (
        None
        if agree >= NEARLY and _has_replaced_words(stated, claimed)
        else EvidenceKind.SUPPORTING
    )


def _agreement(stated: Sequence[FactToken], claimed: Sequence[FactToken]) -> float:
    """Return the Dice coefficient of the words of two texts: twice the common ones over all."""
    left, right = _word_counts(stated), _word_counts(claimed)
    total = left.total() + right.total()
    return 2 * (left & right).total() / total if total else 0.0


def _has_replaced_words(stated: Sequence[FactToken], claimed: Sequence[FactToken]) -> bool:
    """Return whether each text has a word that the other lacks: tea for coffee, Anna for Marek."""
    left, right = _word_counts(stated), _word_counts(claimed)
    return bool(left - right) and bool(right - left)


def _word_counts(text: Sequence[FactToken]) -> Counter[str]:
    return Counter(
        min(word.bases, default=word.key)
        for word in text
        if word.kind not in (FactKind.NEGATION, FactKind.NUMBER)
        and not (word.kind is FactKind.DATE and is_named_date(word.key))
    )


def first_person(statement: str, speaker: str | None) -> str:
    """Return a statement that opens with its speaker with "I" in the name's place."""
    words = statement.split(" ")
    for name in filter(None, (speaker, "the user", "user")):
        count = len(name.split(" "))
        if len(words) > count and folding.fold(" ".join(words[:count])) == folding.fold(name):
            return " ".join(("I", *words[count:]))
    return statement


def _mentions_speaker(speaker: str, statement: str) -> bool:
    words = set(_WORD.findall(folding.fold(statement)))
    return any(part in words for part in _WORD.findall(folding.fold(speaker)))


def _number_counts(text: Sequence[FactToken]) -> Counter[str]:
    return Counter(word.key for word in text if word.kind is FactKind.NUMBER)
