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

from graphmem.english import mentions, quantities
from graphmem.english.facts import fact_tokens, is_named_date, is_negated
from graphmem.english.mentions import STOP_WORDS, read_tokens, stem, words_of
from graphmem.english.passages import (
    MAX_STATEMENT_CHARS,
    SENTENCE_END,
    informative_sentences,
    prefix_speaker,
)
from graphmem.english.quantities import FactKind

MIN_CONTENT = 2
"""Minimum number of words of content of a clause."""
ROOT_CHARS = 6
"""Characters by which words of content are compared: allergy and allergic."""
MIN_COVERED = 3 / 5
"""Minimum share of a statement's words of content in a clause that supports it."""
MAX_UNSUPPORTED = 1 / 3
"""Maximum share of the words of content of a statement of the speaker that no other clause has: the
verb in "I take the tram to work"."""

_ASIDE = re.compile(r"\[[^\[\]]{0,300}\]|```.*?(?:```|\Z)", re.DOTALL)
"""Notes in brackets, such as the caption of an image, and code: no statements of the speaker."""
_SEGMENT = re.compile(
    # A match begins where white space begins, so a long run of it is read once.
    r"(?<!\s)\s+(?:[-–—]+\s+|(?=(?:and|but|so|because|which|where|who|when|(?<!\sa )while)\s))"
    r"|--+|[;:]\s+|,\s+",
    re.I,
)
_VOCATIVE = re.compile(r"^[A-Z][\w'’]*,\s+(?=\S)|,\s+[A-Z][\w'’]*(?=[.!…]*$)")
"""The name of the person addressed, apart from what is stated."""
_GREETED = re.compile(
    r"(?:^|[.!?]\s)(?:(?:hey|hi|hello|thanks|thank you|yeah|yes|dear|congrats|wow|oh"
    r"|same here)\W+)?"
    r"([A-Z][\w'’]*)[,!]|\b(?:[Hh]ey|[Hh]i|[Hh]ello|[Tt]hanks|[Hh]ere),? ([A-Z][\w'’]*)"
    r"|,\s+([A-Z][\w'’]*)[.!?]"
)
"""Names of persons addressed."""
_POINTING = re.compile(
    r"\b(?:it|them|him|these|those)\b(?![’'])|\b(?:this|that|there|here)\W*$", re.I
)
"""A word that refers to an earlier sentence."""
_LEAD = re.compile(
    r"(?:(?:and|but|so|plus|yeah|yep|yes|well|oh|also|ok|okay|wow|anyway|lately|honestly|as always"
    r"|as usual|again)\b[,\s]*)+",
    re.I,
)
_DEPENDENT = re.compile(
    r"(?:if|when|whenever|while|because|since|until|unless|although|though|hey|hi|hello|dear|woah"
    r"|whoa|aww?|congrats|sorry|look|it|it[’']s|this|these|those|that|that[’']s|they|they[’']re|he"
    r"|she|here|here[’']s|them|one|not much|nothing much|not a lot)\b",
    re.I,
)
"""First words of a sentence that states nothing by itself, or of which the subject is unknown."""
_SELF = re.compile(r"\b(?:i|my|mine|me|we|our|ours|us|myself)\b", re.I)
_OWNER = re.compile(r"\b(?:i|my|mine|we|our|ours)\b", re.I)
_SPEAKER = re.compile(r"\b(?:i|we)\b", re.I)
_SUBJECT = re.compile(r"(?:i|we)\b", re.I)
"""Start of a part of a sentence that is a statement of its own."""
_PASSING = re.compile(
    rf"{mentions.EVENT.pattern}|\b(?:recently|just|tomorrow|next (?:week\w*|month|year|\w+day)"
    r"|this (?:week|month|year)|last|the other day|first|again)\b",
    re.I,
)
"""Words of single events, which other episodes cannot repeat."""
_REQUEST = re.compile(
    r"(?:give|show|tell|send|remind|book|make|write|help|explain|keep|call|find|add|put"
    r"|list|draft|shorten|translate|check|set|let|remember|note|read|suggest|recommend|summari[sz]e"
    r"|rewrite|compare|describe|create|plan|order|careful|imagine|consider|don['’]?t)\b",
    re.I,
)
"""First word of a request."""
_PLEASE = re.compile(r"\bplease\b", re.I)
_CHANGING = re.compile(
    r"\b(?:switched|swapped|changed|moved|replaced|sold|quit|stopped|gave up|given up|used to"
    r"|no longer|any ?more|instead of|(?:have|has|['’]ve|['’]s) (?:had it|gone) )\b",
    re.I,
)
"""Words of a change, which repeats neither what was nor what will be."""
_PAST = re.compile(
    r"\b(?:i|we)(?: (?:just|still|also|already|even|finally|only|\w+ly))? (?:agreed|\w*[^\We]ed"
    r"|had|was|were|ran|went|ate|bought|paid|spent|sold|saw|won|lost|drank|slept|took|walked|drove"
    r"|wrote|met|gave|caught|swam|did|said|got|made|came|found|told|thought|knew|felt|left|kept"
    r"|brought|sent|heard|began|became|fell|held|stood|sat|spoke|woke|broke|chose|flew|forgot"
    r"|threw|wore)\b",
    re.I,
)
"""Past acts of the speaker."""
_UNREAL = re.compile(
    r"\b(?:if|would|might|could|should|can|let[’']?s|hope|hoping|want|wanna|trying to|will|gonna"
    r"|going to|such an?|yet)\b|\b(?:i|we)[’']ll\b|\?$",
    re.I,
)
"""Words of clauses that state no fact: wants, plans, conditions and exclamations."""
_IRREGULAR = {
    form: stem(base)
    for base, *forms in (
        line.split()
        for line in (
            "eat ate eaten",
            "run ran",
            "write wrote written",
            "drink drank drunk",
            "sing sang sung",
            "take took taken",
            "swim swam swum",
            "speak spoke spoken",
            "teach taught",
            "sleep slept",
            "drive drove driven",
            "ride rode ridden",
            "buy bought",
            "sell sold",
            "build built",
            "grow grew grown",
            "draw drew drawn",
            "fly flew flown",
            "wear wore worn",
            "meet met",
            "pay paid",
            "spend spent",
            "lose lost",
            "win won",
            "wake woke woken",
            "choose chose chosen",
            "leave left",
            "send sent",
            "sew sewn",
            "throw threw thrown",
            "catch caught",
            "fight fought",
            "child children",
            "wife wives",
        )
    )
    for form in forms
}
"""Stems of irregular forms."""

_FEELING = frozenset(
    map(
        stem,
        words_of(
            "amazing awesome nice lovely beautiful wonderful incredible fantastic fun cool special "
            "inspiring inspired inspires inspiration rewarding joy joyful happy happiness glad "
            "loved loving thankful grateful gratitude appreciate proud support passionate passion "
            "supported supportive encouragement encouraging difference impact motivate motivated "
            "positive positivity important importance remind reminder life world moment kind "
            "kindness meaning feel felt feelings memories journey experience hope dream goal hard "
            "tough challenge challenging true truly together share shared sharing enjoy excited "
            "exciting thrilled comfort peace heart luck lucky creative creativity express focus "
            "forward pushing push keep keeping definitely totally super absolutely"
        ),
    )
)
"""Stems of words of praise and feeling, which conversations repeat whatever they are about."""
_TALK = _FEELING | frozenset(
    map(
        stem,
        words_of(
            "love loves people everyone someone others words means believe remember think thought "
            "know see hearing sound looks better best big huge little small real understand "
            "correctly properly possible ensure explain example verify struggling unsure bring "
            "bringing brought give given start started come coming back day today week weekend "
            "month year time recently lately yesterday tomorrow tonight last next soon always "
            "never ever still already pretty quite wow hey yeah yep congrats sorry thanks having "
            "around such again new ask asking trouble issue problem expect decide stuff note "
            "another anyway actually gonna gotta doing done agree getting we'll i'll you'll "
            "they'll we're we've they're who's what's she's he's everything anything something "
            "nothing away off rest whole part lots bunch couple"
        ),
    )
)
"""These, and stems of times and of other words that say nothing of what a clause is about."""


def _root_of(word: str) -> str:
    return stem(word)[:ROOT_CHARS]


_DAYS = frozenset(_root_of(word) for day in quantities.WEEKDAYS for word in (day, f"{day}s"))
_STOP_ROOTS = frozenset(map(_root_of, STOP_WORDS))


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
    dated: frozenset[str] = frozenset()
    """Its numbers and dates."""
    about: str | None = None
    """Stem of the word of content that it opens with; None if the speaker is its subject."""
    changes: bool = False
    """Whether it is about a change."""
    lived: bool = False
    """Whether it states what happened: "The tram to work was late again"."""


@lru_cache(maxsize=4_096)
def clauses(text: str, name: str | None) -> tuple[Clause, ...]:
    """Return the sentences of a speaker's text and their clauses, each once, in order.

    Clauses with fewer than two words of content are left out, and so are questions, sentences that
    address the listener, code and notes in brackets.
    """
    greeted = (one for match in _GREETED.finditer(text) for one in match.groups(""))
    speaker = _name_stems(" ".join((name or "", *greeted)))
    stated = informative_sentences(_ASIDE.sub("\n", text))
    texts: dict[str, bool] = {}
    for sentence in SENTENCE_END.split(stated):
        for n, part in enumerate(_parts(sentence)):
            texts.setdefault(part, not n)
    found = (_clause(part, speaker, is_whole=is_whole) for part, is_whole in texts.items())
    return tuple(one for one in found if len(one.stems) >= MIN_CONTENT)


def asserted(text: str) -> str:
    """Return the informative sentences of a text that are not requests; all of it if none is."""
    sentences = SENTENCE_END.split(informative_sentences(text))
    kept = [one for one in sentences if not _asks(one)]
    return " ".join(kept) or text


def statement_clause(statement: str, name: str | None) -> Clause:
    """Return a belief's statement as a clause, without the name of its speaker."""
    text = statement.removeprefix(prefix_speaker(name, "")) or statement
    return _clause(text, _name_stems(name), is_whole=True)


def coverage(passage: Clause, statement: Clause) -> float:
    """Return the share of a statement's words of content in a clause; 0 if it cannot support it.

    A clause supports a statement only if it repeats its numbers, dates and names, is negated
    exactly if the statement is, and has the same subject or opens with what the statement is about.
    About the speaker it also needs a word for the speaker, or states what happened. A
    change supports neither state.
    """
    if (
        not statement.stems
        or passage.negated != statement.negated
        or passage.changes
        or (statement.own and not passage.own and not passage.lived)
        or not (
            (passage.about is None and statement.about is None) or passage.about in statement.stems
        )
        or not statement.values <= passage.values | passage.stems
    ):
        return 0.0
    return len(passage.stems & statement.stems) / len(statement.stems)


def supports(passage: Clause, statement: Clause) -> bool:
    """Return whether a clause has enough of a statement's words to support it if it is similar.

    Of a statement of two words one is enough, unless it is a number or a date.
    """
    shared = passage.stems & statement.stems
    if len(statement.stems) <= MIN_CONTENT and shared <= statement.dated:
        return False
    least = 1 / 2 if len(statement.stems) <= MIN_CONTENT else MIN_COVERED
    return coverage(passage, statement) >= least


def shares_half(passage: Clause, statement: Clause) -> bool:
    """Return whether a clause has half of a statement's words of content."""
    return 2 * len(passage.stems & statement.stems) >= max(1, len(statement.stems))


def _root(token: mentions.Token) -> str:
    return _IRREGULAR.get(token.key, token.stem)[:ROOT_CHARS]


def _name_stems(name: str | None) -> frozenset[str]:
    return frozenset(map(_root_of, (name or "").split()))


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
        bare = _VOCATIVE.sub("", bare)
        if bare:
            yield bare


def _clause(text: str, speaker: frozenset[str], *, is_whole: bool) -> Clause:
    tokens = read_tokens(text)
    facts = fact_tokens(text)
    first = _root_of(tokens[0].key) if tokens else ""
    words = {
        _root(token)
        for token in tokens
        if token.stem and not token.kind and token.stem not in _TALK and len(token.key) > 1
    }
    numbers = {fact.key for fact in facts if fact.kind is FactKind.NUMBER}
    days = {fact.key for fact in facts if fact.kind is FactKind.DATE and is_named_date(fact.key)}
    names = {
        _root_of(fact.key) for fact in facts if fact.kind is FactKind.NAME and fact.key[0].isalnum()
    }
    names -= speaker | {first} | _STOP_ROOTS
    stems = frozenset((words | numbers | names) - speaker)
    own = _SELF.search(text) is not None
    feelings = len({token.stem for token in tokens if token.stem in _FEELING})
    befalls = own and _OWNER.search(text) is None
    content = (_root(token) for token in tokens if token.stem and not token.kind)
    return Clause(
        text=text,
        stems=stems,
        values=frozenset(numbers | days | names),
        negated=is_negated(facts),
        own=own,
        states=bool(
            len(text) <= MAX_STATEMENT_CHARS
            and text[-1] not in ":…"
            and not befalls
            and (_SUBJECT.match(text) if not is_whole else own or len(stems) > MIN_CONTENT)
            and not _DEPENDENT.match(text)
            and _PASSING.search(text) is None
            and _UNREAL.search(text) is None
            and _CHANGING.search(text) is None
            and not _asks(text)
            and _PAST.search(text) is None
            and _POINTING.search(text) is None
            and feelings < len(stems)
        ),
        dated=frozenset(numbers | days | (stems & _DAYS)),
        about=None if _SPEAKER.search(text) else next(content, first),
        changes=_CHANGING.search(text) is not None,
        lived=_PASSING.search(text) is not None or mentions.PAST.search(text) is not None,
    )


def _asks(text: str) -> bool:
    return _PLEASE.search(text) is not None or _REQUEST.match(text) is not None
