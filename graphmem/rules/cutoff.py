"""Where a list of results ends: how probable an answer is, and where only noise follows.

The probability that a result answers the question is logistic in its similarity, in its late
interaction with the question, and in the number of candidates. The fit is on half of LoCoMo and of
generated everyday conversations, each asked its own questions and those of others. A request
("suggest a cake") is not cut, because what it needs may share no words with it.
"""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from graphmem.english import passages
from graphmem.english.mentions import split_sentences
from graphmem.model import AnyBite, TurnBite, roles

if TYPE_CHECKING:
    from graphmem.rules.late_interaction import MaxSim
    from graphmem.rules.ranking import Candidates

MAX_IMPROBABLE = 3
"""Maximum number of results if probably none answers the question."""
IMPROBABLE = 0.5
"""Probability of the best result below which probably none answers the question. The fit counts a
lost answer as much as six false results."""
_IMPROBABLE_LIST = 0.05
"""The same for a question for several values, each of which matches only a part of it."""
_ASKING_SHARE = 0.8
"""Share of its score with which a turn that only asks is placed."""
_FIRST = 3
"""Number of first results that are listed even if a person states nothing in them."""
_CERTAIN = 0.8
"""Probability of the best result from which the noise at the end of the list is left out."""
_NOISE = 0.01
"""Probability of a result below which it is noise, unless its score is near the best."""
_MIN_SHARE = 0.5
"""Minimum share of the best score of a result that is never noise."""
_MOST = 200
"""Number of candidates from which more of them make no difference."""

_QUESTION = re.compile(
    r"^\W*(?:(?:in|on|at|to|from|for|with|by|of) )?(?:what|which|who|whom|whose|when|where|why|how"
    r"|is|are|am|was|were|do|does|did|has|have|had)\b",
    re.I,
)
_REQUEST = re.compile(
    r"\b(?:should|could|can|would|shall|might|may|need to|have to|suggest|recommend|likely)\b", re.I
)
_SEVERAL = re.compile(
    r"\b(?:what|which|who) are\b"
    r"|\b(?:what|which) (?:\w+ )?(?!(?:does|has|his|was|this|always)\b)\w+[a-rtv-z]s\b"
    r"|\bnames of\b|\ball (?:my|our|the|of)\b",
    re.I,
)
"""Words of questions for several values: which pets, what are the names of."""
_ASKED = re.compile(r"\b(?:ask(?:ed|ing|s)?|questions?|repl(?:y|ied|ies)|react(?:ed|ion)?)\b", re.I)
_REMIND = re.compile(r"\b(?:can|could|would) you (?:please )?(?:tell|remind|say|repeat)\b", re.I)


class Fit(NamedTuple):
    """Coefficients of the logarithmic odds that a result answers the question."""

    late: float
    similarity: float
    candidates: float
    """Coefficient of the logarithm of their number: a larger memory contains more answers."""
    constant: float

    def probability(self, late: float, similarity: float, candidates: int) -> float:
        """Return how probable it is that a result answers the question."""
        number = math.log(min(max(candidates, 1), _MOST))
        odds = self.constant + self.late * late + self.similarity * similarity
        return 1.0 / (1.0 + math.exp(-odds - self.candidates * number))

    def is_noise(self, result: tuple[float, float], candidates: int) -> bool:
        """Return whether a result hardly answers the question.

        Args:
            result: its late interaction and similarity.
        """
        return self.probability(*result, candidates) < _NOISE


FITS = {"e5-small-v2-q8": Fit(late=21.5, similarity=12.0, candidates=0.8, constant=-16.5)}
"""Fit by model; docs/explanation/recall.md has the figures."""


class Likeness(NamedTuple):
    """Likeness of the results to the question, as far as the results do not contain it."""

    late: dict[str, float]
    """Late interaction by id."""
    candidates: int
    fit: Fit | None
    """Coefficients of the embedding model; None without any."""

    @classmethod
    def of(
        cls, candidates: Candidates, late: MaxSim | None, nodes: Mapping[str, str], model: str
    ) -> Likeness:
        """Return the likeness of the results.

        Args:
            late: late interaction of each candidate; None without token states.
            nodes: element id of the candidate that found each result, by its id.
        """
        known = sum(score is not None for score in candidates.vector)
        if late is None:
            return cls({}, known, None)
        by_node = dict(zip(candidates.nodes, late.own.tolist(), strict=True))
        scores = {one: by_node[node] for one, node in nodes.items()}
        found = {one: score for one, score in scores.items() if not math.isnan(score)}
        return cls(found, known, FITS.get(model.rpartition("/")[2]) if found else None)


class Ending(NamedTuple):
    """The results to show, and what ends the list."""

    bites: tuple[AnyBite, ...]
    left_out: int
    improbable: float | None
    """Probability of the best result if probably none answers the question; else None."""


def end(bites: Sequence[AnyBite], question: str, likeness: Likeness) -> Ending:
    """Return the first results, up to where only noise follows; the best one is among them."""
    late, candidates, fit = likeness
    every = len(bites)
    bites = [one for n, one in enumerate(bites) if not is_spared(one, n)] or [*bites[:1]]
    if not bites or fit is None or not asks_fact(question):
        return Ending(tuple(bites), every - len(bites), None)
    points = [(late.get(bite.id, 0.0), bite.similarity or 0.0) for bite in bites]
    # A question does not answer another one.
    answers = [one for one, bite in zip(points, bites, strict=True) if not _only_asks(bite)]
    likest, nearest = map(max, zip(*(answers or points), strict=True))
    best = fit.probability(likest, nearest, candidates)
    least = _IMPROBABLE_LIST if _SEVERAL.search(question) else IMPROBABLE
    if best < least:
        kept = min(MAX_IMPROBABLE, len(bites))
        return Ending(tuple(bites[:kept]), every - kept, best)
    kept = len(bites)
    if best >= _CERTAIN:
        near = _MIN_SHARE * max(bite.score for bite in bites)
        noise = [fit.is_noise(one, candidates) for one in points]
        # The result with the highest score is near itself and ends the loop.
        while bites[kept - 1].score < near and noise[kept - 1]:
            kept -= 1
    return Ending(tuple(bites[:kept]), every - kept, None)


def stating_first(bites: Sequence[AnyBite], question: str) -> tuple[AnyBite, ...]:
    """Return the results with turns that only ask or react after answers that are nearly as good.

    "How do I sort a list?" shares more words with "How do I get to work?" than its answer does. A
    question about what was asked changes nothing.
    """
    if _ASKED.search(question):
        return tuple(bites)
    shown, waiting = list[AnyBite](), deque[AnyBite]()
    for bite in bites:
        if _begins_asking(bite) or _is_idle(bite):
            waiting.append(bite)
            continue
        while waiting and _ASKING_SHARE * waiting[0].score > bite.score:
            shown.append(waiting.popleft())
        shown.append(bite)
    return (*shown, *waiting)


def asks_fact(question: str) -> bool:
    """Return whether a text asks for something that was stated, and requests nothing else."""
    if _REMIND.search(question):
        return True
    is_question = question.rstrip().endswith(passages.ASKING) or _QUESTION.match(question)
    return bool(is_question) and _REQUEST.search(question) is None


def reason(ending: Ending) -> str:
    """Return in words that probably nothing answers the question; empty if something does."""
    if ending.improbable is None:
        return ""
    more = f"; a limit shows {ending.left_out:,} more" if ending.left_out else ""
    return f"probably nothing: the best result is an answer to {ending.improbable:.0%}{more}"


def is_spared(bite: AnyBite, place: int) -> bool:
    """Return whether a turn is not worth a line: a model's "Noted.", and more below the first."""
    if not isinstance(bite, TurnBite):
        return False
    if place < _FIRST:
        return _is_idle(bite) and not roles.is_human(bite.turn.role)
    return _is_idle(bite) or passages.is_slight(bite.text)


def _is_idle(bite: AnyBite) -> bool:
    """Return whether a turn is only a greeting, a reaction or a question without own content."""
    return isinstance(bite, TurnBite) and not passages.states_something(bite.text)


def _begins_asking(bite: AnyBite) -> bool:
    """Return whether a turn is a question that states nothing first: "I have 9, how do I …?"."""
    return _only_asks(bite) and all(map(_QUESTION.match, split_sentences(bite.text)))


def _only_asks(bite: AnyBite) -> bool:
    return isinstance(bite, TurnBite) and all(
        sentence.endswith(passages.ASKING) for sentence in split_sentences(bite.text)
    )
