"""Summaries, entities and importance of conversations, by rules that read English words.

All three come from the turns alone, so they can be computed again at any time with the same result.
"""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from graphmem import folding
from graphmem.english import mentions, passages, quantities
from graphmem.english.mentions import Token, words_of
from graphmem.model import roles

RULES = "rules 1"
"""Name and version of these rules, recorded with what they computed."""
MAX_SUMMARY_CHARS = 600
"""Maximum length of a summary. Measured: 300 find fewer conversations, and 1,000 no more."""
MAX_ENTITIES = 12
MAX_STATEMENTS = 2_000
"""Number of sentences of a conversation that are compared; the first ones count."""
MIN_IMPORTANCE, MAX_IMPORTANCE = 0.1, 0.9
_HALF = 8.0
"""Points of a conversation of medium importance, (MIN + MAX) / 2."""
_MAX_NAMES = 10
"""Number of names that count: pasted code and lists have hundreds."""
_FACTUAL = 1.0
"""Additional weight of a sentence in a summary for each mark of a fact: measured."""

_CORRECTION = re.compile(
    r"\b(?:no longer|any ?more|actually|instead|correction|i meant|rather than|turns out|used to"
    r"|not .{1,30}\bbut|(?:is|are|it['’]s) now|switched|changed (?:my|the|to|from)"
    r"|moved (?:to|from)|updated|renamed|replaced|postponed|rescheduled|cancell?ed)\b",
    re.I,
)
_DECISION = re.compile(
    r"\b(?:decided|decision|chose|chosen|picked|settled on|going with|go with|opted|agreed"
    r"|made up my mind|let['’]?s (?:use|go with)|signed|accepted|approved|quit|bought|adopted"
    r"|enrolled|applied)\b",
    re.I,
)
_COMMITMENT = re.compile(
    r"\b(?:(?:i|we)(?:['’]ll| will| plan to| need to| have to| must| intend to| promise)"
    r"|(?:i['’]m|i am|we['’]re|we are) (?:going to|planning)|due (?:on|by|in)|deadline"
    r"|by (?:\w+day|tomorrow|next|the end)|scheduled|appointment|remind me)\b",
    re.I,
)
_STATE = re.compile(
    r"\b(?:(?:i|we)(?:['’]m| am|['’]re| are| was| were| have|['’]ve| had| got| live| work| study"
    r"| own| love| like| hate| prefer| enjoy| started| joined| moved| went| met| made| took| found"
    r"| lost| won| finished| visited| use| play| run| teach)"
    r"|my \w+(?: \w+)? (?:is|are|was|were|has|had|likes|loves|works|lives))\b",
    re.I,
)
_WHEN = re.compile(
    r"\b(?:yesterday|tomorrow|ago|(?:last|next|this) (?:week|weekend|month|year|summer|winter"
    r"|spring|fall|autumn|night|\w+day))\b",
    re.I,
)
_DATED = frozenset({"date", "weekday", "year", "clock"})
CAPITALISED = re.compile(r"(?<=[a-z,;:'’\"]\s)[A-Z][\w’'-]*(?:\s[A-Z][\w’'-]*)*")
"""Capitalised words inside a sentence."""
_NO_NAMES = frozenset(
    words_of("i i'm i’m i'll i’ll i've i’ve i'd i’d ok god lol omg yes no well also wow thanks")
) | frozenset((*quantities.SHORT_DATES, *quantities.MONTHS, *quantities.WEEKDAYS))


@dataclass(frozen=True, slots=True)
class SpokenText:
    """One turn of a conversation."""

    role: str
    name: str | None
    text: str


@dataclass(frozen=True, slots=True)
class EpisodeSummary:
    """Content of a conversation, and its importance."""

    summary: str
    """Sentences of its turns, in their order; empty if it has no words."""
    entities: tuple[str, ...]
    """Speakers, then names in the order of frequency."""
    importance: float


@dataclass(frozen=True, slots=True)
class _Statement:
    place: int
    speaker: str | None
    text: str
    stems: frozenset[str]
    names: tuple[str, ...]
    dated: bool
    factual: bool
    """Whether it states something about its speaker that has a name, a value or a date."""
    corrects: bool
    decides: bool
    commits: bool
    informative: bool

    @property
    def marks(self) -> int:
        """Number of marks of a fact."""
        return sum((self.dated, bool(self.names), self.corrects, self.decides, self.factual))


def summarise(turns: Sequence[SpokenText]) -> EpisodeSummary:
    """Return the summary, entities and importance of a conversation.

    Only the turns of people count; if there are none, all turns do. Importance grows with the
    number of dated sentences, names, corrections, decisions, commitments and facts, and stays
    between `MIN_IMPORTANCE` and `MAX_IMPORTANCE`.
    """
    people = [turn for turn in turns if roles.is_human(turn.role)] or list(turns)
    stated = list(_statements(people))
    speakers = list(dict.fromkeys(turn.name for turn in people if turn.name))
    names = _names(stated, speakers)
    return EpisodeSummary(
        summary=_whole(people) or _summary(stated) or _opening(people),
        entities=(*speakers, *names)[:MAX_ENTITIES],
        importance=_importance(stated, len(names)),
    )


def _statements(turns: Iterable[SpokenText]) -> Iterable[_Statement]:
    """Yield the declarative sentences of turns, each once."""
    place = 0
    seen: set[str] = set()
    for turn in turns:
        for part in mentions.split_sentences(turn.text):
            if len(part.split()) < passages.MIN_WORDS or part.endswith((":", *passages.ASKING)):
                continue
            if (key := folding.fold(part)) in seen:
                continue
            if place == MAX_STATEMENTS:
                return
            seen.add(key)
            yield _statement(place, turn.name, part)
            place += 1


def _statement(place: int, speaker: str | None, text: str) -> _Statement:
    tokens = mentions.read_tokens(text)
    names = tuple(name for name in CAPITALISED.findall(text) if folding.fold(name) not in _NO_NAMES)
    dated = _WHEN.search(text) is not None or any(token.kind in _DATED for token in tokens)
    return _Statement(
        place=place,
        speaker=speaker,
        text=text,
        stems=mentions.stems_of(tokens),
        names=names,
        dated=dated,
        factual=_is_factual(text, tokens, has_detail=dated or bool(names)),
        corrects=_CORRECTION.search(text) is not None,
        decides=_DECISION.search(text) is not None,
        commits=_COMMITMENT.search(text) is not None,
        informative=bool(passages.informative_sentences(text)),
    )


def _is_factual(text: str, tokens: Iterable[Token], *, has_detail: bool) -> bool:
    detailed = has_detail or any(token.kind for token in tokens)
    return detailed and _STATE.search(text) is not None


def _names(stated: Iterable[_Statement], speakers: Iterable[str]) -> list[str]:
    """Return the names that people mention, most frequent first, then in order of appearance."""
    known = {word for speaker in speakers for word in folding.fold(speaker).split()}
    counts = Counter(
        name for one in stated for name in one.names if folding.fold(name) not in known
    )
    return [name for name, _ in counts.most_common(MAX_ENTITIES)]


def _importance(stated: Sequence[_Statement], names: int) -> float:
    points = min(names, _MAX_NAMES) + sum(
        2.0 * (one.dated + one.corrects + one.decides) + one.commits + 0.5 * one.factual
        for one in stated
    )
    share = points**2 / (points**2 + _HALF**2)
    return round(MIN_IMPORTANCE + (MAX_IMPORTANCE - MIN_IMPORTANCE) * share, 3)


def _whole(turns: Iterable[SpokenText]) -> str:
    """Return every sentence that states something, each once; empty if they do not fit."""
    parts: list[str] = []
    seen: set[str] = set()
    room, speaker = MAX_SUMMARY_CHARS, None
    for turn in turns:
        for part in mentions.split_sentences(turn.text):
            key = folding.fold(part)
            if key in seen or part.endswith((":", *passages.ASKING)):
                continue
            if not passages.states_something(part):
                continue
            seen.add(key)
            text = part if turn.name == speaker else passages.prefix_speaker(turn.name, part)
            room -= len(text) + 1
            if room < 0:
                return ""
            parts.append(text)
            speaker = turn.name
    return " ".join(parts)


def _summary(stated: Sequence[_Statement]) -> str:
    """Return the sentences that together cover most of what is talked about, in their order.

    The next sentence is the one whose new words weigh most per character. A word weighs the
    logarithm of its frequency; sentences with marks of a fact weigh more.
    """
    stated = [one for one in stated if one.informative] or stated
    counts = Counter(stem for one in stated for stem in one.stems)
    weights = {stem: math.log1p(count) for stem, count in counts.items()}
    covered: set[str] = set()

    def gain(one: _Statement) -> float:
        new = math.fsum(weights[stem] for stem in one.stems - covered)
        return new * (1 + _FACTUAL * one.marks) / len(one.text)

    # Gains only fall, so a gain that is still the largest after a recount is the largest of all.
    heap = [(-gain(one), n) for n, one in enumerate(stated)]
    heapq.heapify(heap)
    chosen: list[_Statement] = []
    room = MAX_SUMMARY_CHARS
    while heap:
        before, n = heapq.heappop(heap)
        one = stated[n]
        if len(passages.prefix_speaker(one.speaker, one.text)) + 1 > room:
            continue
        now = -gain(one)
        if now > before:
            heapq.heappush(heap, (now, n))
        elif now < 0:
            chosen.append(one)
            covered |= one.stems
            room -= len(passages.prefix_speaker(one.speaker, one.text)) + 1
    return _joined(sorted(chosen, key=lambda one: one.place))


def _joined(chosen: Iterable[_Statement]) -> str:
    parts: list[str] = []
    speaker = None
    for one in chosen:
        text = (
            one.text if one.speaker == speaker else passages.prefix_speaker(one.speaker, one.text)
        )
        parts.append(text)
        speaker = one.speaker
    return " ".join(parts)


def _opening(turns: Iterable[SpokenText]) -> str:
    """Return the first words of a conversation without a sentence that fits."""
    for turn in turns:
        text = " ".join(passages.prefix_speaker(turn.name, turn.text).split())
        if turn.text.strip():
            return text if len(text) <= MAX_SUMMARY_CHARS else f"{text[: MAX_SUMMARY_CHARS - 1]}…"
    return ""
