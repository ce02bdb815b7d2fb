"""Clauses of what people state, as sets of words, so that one can be compared with another.

A turn has several sentences and a sentence several clauses; people repeat a clause rather than a
turn. English, like the other rules that work without a model.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from graphmem.rules import mentions
from graphmem.rules.facts import fact_tokens, is_named_date, is_negated
from graphmem.rules.mentions import STOP_WORDS, read_tokens, stem, words_of
from graphmem.rules.passages import (
    MAX_STATEMENT_CHARS,
    SENTENCE_END,
    informative_sentences,
    prefix_speaker,
)
from graphmem.rules.quantities import FactKind

MIN_CONTENT = 2
"""Minimum number of words of content of a clause."""
MIN_COVERED = 2 / 3
"""Minimum share of a statement's words of content in a clause that supports it."""

_ASIDE = re.compile(r"\[[^\[\]]{0,300}\]|```.*?(?:```|\Z)", re.DOTALL)
"""Notes in brackets, such as the caption of an image, and code: no statements of the speaker."""
_SEGMENT = re.compile(
    # A match begins where white space begins, so a long run of it is read once.
    r"(?<!\s)\s+(?:[-–—]+\s+|(?=(?:and|but|so|because|which|where|who|when|while)\s))"
    r"|--+|[;:]\s+|,\s+",
    re.I,
)
_LEAD = re.compile(
    r"(?:(?:and|but|so|plus|yeah|yep|yes|well|oh|also|ok|okay|wow|anyway|lately)\b[,\s]*)+", re.I
)
_DEPENDENT = re.compile(
    r"(?:if|when|whenever|while|because|since|until|unless|although|though|hey|hi|hello|dear|woah"
    r"|whoa|aww?|congrats|sorry|look|it|it[’']s|this|these|those|that|that[’']s|they|they[’']re|he"
    r"|she|here|here[’']s|them|one)\b",
    re.I,
)
"""First words of a sentence that states nothing by itself, or of which the subject is unknown."""
_SELF = re.compile(r"\b(?:i|my|mine|me|we|our|ours|us|myself)\b", re.I)
_SUBJECT = re.compile(r"(?:i|we)\b", re.I)
"""Start of a part of a sentence that is a statement of its own."""
_PASSING = re.compile(
    rf"{mentions.EVENT.pattern}|\b(?:recently|just|tomorrow|next (?:week\w*|month|year|\w+day)"
    r"|this (?:week|month|year)|last|the other day|first)\b",
    re.I,
)
"""Words of single events, which other episodes cannot repeat."""
_UNREAL = re.compile(
    r"\b(?:if|would|might|could|should|can|let[’']?s|hope|hoping|want|wanna|trying to)\b|\?$", re.I
)
"""Words of clauses that state no fact: wants, conditions and requests."""
_TALK = frozenset(
    map(
        stem,
        words_of(
            "amazing awesome nice lovely beautiful wonderful incredible fantastic fun cool special "
            "inspiring inspired inspires inspiration rewarding joy joyful happy happiness glad "
            "love loved loves loving thankful grateful gratitude appreciate proud support "
            "supported supportive encouragement encouraging difference impact motivate motivated "
            "positive positivity important importance remind reminder life world moment people "
            "everyone someone others kind kindness words means meaning feel felt feelings "
            "memories journey experience hope dream goal hard tough challenge challenging believe "
            "remember think thought know see hearing sound looks better best big huge little small "
            "real true together share shared sharing enjoy excited exciting thrilled comfort peace "
            "heart luck lucky understand correctly properly possible ensure explain example "
            "verify struggling unsure bring bringing brought give given keep keeping start started "
            "come coming back day today week weekend month year time recently lately yesterday "
            "tomorrow tonight last next soon always never ever still already definitely totally "
            "super pretty quite absolutely wow hey yeah yep congrats sorry thanks having around "
            "such again new ask asking trouble issue problem expect decide stuff note another "
            "anyway actually"
        ),
    )
)
"""Stems of words that conversations repeat whatever they are about: praise, feelings and times."""


@dataclass(frozen=True, slots=True)
class Clause:
    """A sentence or a clause of it, as words of content."""

    text: str
    stems: frozenset[str]
    """Stems of its words of content, names and numbers included."""
    values: frozenset[str]
    """Its numbers, dates and names, which another clause must repeat to support it."""
    negated: bool
    own: bool
    """Whether it is about the speaker."""
    states: bool
    """Whether it can be the statement of a belief."""


@lru_cache(maxsize=4_096)
def clauses(text: str, name: str | None) -> tuple[Clause, ...]:
    """Return the sentences of a speaker's text and their clauses, each once, in order.

    Clauses with fewer than two words of content are left out, and so are questions, sentences that
    address the listener, code and notes in brackets.
    """
    speaker = _name_stems(name)
    stated = informative_sentences(_ASIDE.sub("\n", text))
    texts: dict[str, bool] = {}
    for sentence in SENTENCE_END.split(stated):
        for n, part in enumerate(_parts(sentence)):
            texts.setdefault(part, not n)
    found = (_clause(part, speaker, is_whole=is_whole) for part, is_whole in texts.items())
    return tuple(one for one in found if len(one.stems) >= MIN_CONTENT)


def statement_clause(statement: str, name: str | None) -> Clause:
    """Return a belief's statement as a clause, without the name of its speaker."""
    text = statement.removeprefix(prefix_speaker(name, "")) or statement
    return _clause(text, _name_stems(name), is_whole=True)


def coverage(passage: Clause, statement: Clause) -> float:
    """Return the share of a statement's words of content in a clause; 0 if it cannot support it.

    A clause supports a statement only if it repeats its numbers, dates and names, is negated
    exactly if the statement is, and is about the speaker if the statement is.
    """
    if (
        not statement.stems
        or passage.negated != statement.negated
        or passage.own < statement.own
        or not statement.values <= passage.values | passage.stems
    ):
        return 0.0
    return len(passage.stems & statement.stems) / len(statement.stems)


def supports(passage: Clause, statement: Clause) -> bool:
    """Return whether a clause has enough of a statement's words to support it if it is similar.

    A statement of two words of content needs both.
    """
    least = 1.0 if len(statement.stems) <= MIN_CONTENT else MIN_COVERED
    return coverage(passage, statement) >= least


def shares_half(passage: Clause, statement: Clause) -> bool:
    """Return whether a clause has half of a statement's words of content."""
    return 2 * len(passage.stems & statement.stems) >= max(1, len(statement.stems))


def _name_stems(name: str | None) -> frozenset[str]:
    return frozenset(stem(part) for part in (name or "").split())


def _parts(sentence: str) -> Iterator[str]:
    whole = sentence.strip()
    cuts = [0, *(cut for match in _SEGMENT.finditer(whole) for cut in match.span()), len(whole)]
    spans = list(zip(cuts[::2], cuts[1::2], strict=True))
    pairs = itertools.pairwise(spans)
    for start, end in (
        (0, len(whole)),
        *((first[0], last[1]) for first, last in pairs),
        *spans,
    ):
        bare = whole[start:end].strip(" ,;:-–—")
        if lead := _LEAD.match(bare):
            bare = bare[lead.end() :]
        if bare:
            yield bare


def _clause(text: str, speaker: frozenset[str], *, is_whole: bool) -> Clause:
    tokens = read_tokens(text)
    facts = fact_tokens(text)
    first = stem(tokens[0].key) if tokens else ""
    words = {
        token.stem
        for token in tokens
        if token.stem and not token.kind and token.stem not in _TALK and len(token.key) > 1
    }
    numbers = {fact.key for fact in facts if fact.kind is FactKind.NUMBER}
    days = {fact.key for fact in facts if fact.kind is FactKind.DATE and is_named_date(fact.key)}
    names = {
        stem(fact.key) for fact in facts if fact.kind is FactKind.NAME and fact.key[0].isalnum()
    }
    names -= speaker | {first} | {stem(word) for word in STOP_WORDS}
    stems = frozenset((words | numbers | names) - speaker)
    own = _SELF.search(text) is not None
    return Clause(
        text=text,
        stems=stems,
        values=frozenset(numbers | days | names),
        negated=is_negated(facts),
        own=own,
        states=bool(
            len(text) <= MAX_STATEMENT_CHARS
            and text[-1] not in ":…"
            and (_SUBJECT.match(text) if not is_whole else own or len(stems) > MIN_CONTENT)
            and not _DEPENDENT.match(text)
            and _PASSING.search(text) is None
            and _UNREAL.search(text) is None
        ),
    )
