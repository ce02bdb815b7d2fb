"""Values in sentences, with the words around them: numbers, amounts, dates and times, in English.

A value has a frame of words: what it counts, the words around it, names, and whether a word near it
shows that it changed. `versions` compares the frames of two values. The patterns read a sentence
once without backtracking.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from graphmem import folding
from graphmem.english import quantities
from graphmem.english.quantities import FactKind

MAX_CHARS = 2_000
"""Maximum characters of a text that are read: half from its start, half from its end."""
MAX_SENTENCES = 20
MAX_SENTENCE_CHARS = 600
MAX_MENTIONS = 8
"""Maximum number of values of a sentence."""

_AROUND = 18
"""Words before and after a value that belong to its frame."""
_CHANGE_BEFORE, _CHANGE_AFTER = 8, 4
"""Words before and after a value among which a word of change belongs to it."""
_UNIT_WORDS = 3
"""Maximum words after a number that it counts."""

# The lookahead skips most positions: few can begin a number or a date.
_TOKEN = re.compile(
    rf"(?=[\d$€£¥₹+-]|(?i:[jfmasond]))(?:{quantities.PATTERN})|(?P<word>[^\W\d_]+(?:['’][^\W\d_]+)?)"
)
_END = re.compile(r"(?<=[.!?…])\s+|\n+|;\s")
_ASIDE = re.compile(r"```.*?(?:```|\Z)|\[[^\[\]]{0,300}\]", re.DOTALL)
"""Code, and notes in brackets, such as the caption of an image."""
_PHRASE_END = re.compile(r"[,;:()!?\"“”]|\.(?:\s|\Z)")

_MIN_STEM, _MAX_STEM = 3, 8

PLANNED = re.compile(
    r"\b(?:is|are|be|will|due|deadline|scheduled|planned|booked|set|starts?|ends?|begins?|opens?"
    r"|closes?|leaves?|departs?|arrives?|expires?|takes place)\b|['’]s\b",
    re.I,
)
"""Words of sentences whose date can change."""
PAST = re.compile(
    r"\b(?:(?:was|were)(?! (?:set|scheduled|planned|booked|moved))|ran|went|ate|bought|paid|spent"
    r"|sold|saw|won(?!.t)|lost|drank|slept|took|walked|drove|wrote|read|met|gave|caught|played|visited"
    r"|watched|cooked|earned|cycled|swam|did|said)\b",
    re.I,
)
"""Words of events, which can happen again."""
EVENT = re.compile(
    r"\b(?:yesterday|today|tonight|ago|last (?:night|weekend|week|month|year|\w+day)"
    r"|this (?:morning|afternoon|evening|weekend))\b",
    re.I,
)
"""Words that place an event in time: another one of the kind is not a version of it."""
HAPPENED = (PAST, EVENT)
"""Words of what happened, which can happen again."""

_JOINT = re.compile(
    r"(?:,|,?\s(?:and|but|so|because))\s(?=(?:i|we|he|she|it|they|that"
    r"|this|there|my|our|nobody|everybody|everyone|people)\b)",
    re.I,
)
"""Before another clause with a subject of its own."""
_NUMBER_WORDS = frozenset({*quantities.ONES, *quantities.TENS}) - {"zero"}
_WEEKDAYS = frozenset(quantities.WEEKDAYS)
_CURRENCIES = frozenset({*quantities.SIGNS.values(), *quantities.SIGN_WORDS})
_YEAR = re.compile(r"(?:19|20)\d\d")

_MAX_RUN = 6
"""Maximum words of a number that is written in words."""

_AIMS = frozenset({"achieve", "reach", "hit"})

_ASKING: Mapping[str, re.Pattern[str]] = {
    "percent": re.compile(r"percent|accuracy|\brate\b|coverage|share|score|proportion|how much"),
    "money": re.compile(
        r"how much|cost|price|budget|\bpay|paid|salary|\bfees?\b|\brent\b|spen[dt]|worth|amount"
    ),
    "date": re.compile(r"\bwhen\b|\bdate|deadline|\b(?:what|which) days?\b|schedule|\bdue\b"),
    "weekday": re.compile(r"\bwhen\b|\bdate|deadline|\b(?:what|which) days?\b|schedule|\bdue\b"),
    "clock": re.compile(r"\bwhen\b|\bwhat time|\btime\b|schedule|\bhours?\b"),
}
"""Words of a question for a value of each kind; for a count, it has the thing that is counted."""
_HOW_MANY = re.compile(r"\b(?:how many|number of)\b|\bhow long\b")
_COUNTED_WORDS = 5
_BESIDES_COUNTS = frozenset({"percent"})
"""Kinds that a question for a count may ask for, too."""
_ASKS_NO_VALUE = re.compile(
    r"^\W*(?:have|has|had|did|do|does|is|are|was|were|can|could|would|should|will|why"
    r"|how (?!many|much|long|often|old|far|tall|high|large|big)\w+)\b"
    r"|\b(?:ever|between|passed|originally|initially|previous(?:ly)?|used to|at first"
    r"|(?:happened|came) first|across|evolved?|developed|over time|history|compared?"
    r"|in total|altogether|how (?:many|much) (?:more|less|fewer|later|did)|from \S+ to"
    r"|mention(?:ed)?|sa(?:y|id)|before (?:we|i))\b"
)
"""Words of questions for yes or no, a text, the past or several values: none replaces another."""


def words_of(text: str) -> list[str]:
    """Return the words of a table."""
    return text.split()


_ENDINGS = words_of(
    "ments ement ation ions ings ment ness ing ion ies ied ers ors ed es ly er or al s y e"
)


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """Return a rough stem: one ending removed, at most eight letters; `weekly` gives week."""
    word = folding.fold(word).removesuffix("'s").replace("'", "")
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _MIN_STEM:
            word = word[: -len(ending)]
            break
    if len(word) > _MIN_STEM and word[-1] == word[-2]:
        word = word[:-1]
    return word.removesuffix("i")[:_MAX_STEM]


STOP_WORDS = quantities.COMMON | frozenset(
    words_of(
        "been being am are is were has does did its it's i'm i've i'd i'll me mine your yours us "
        "into about over up down out off via per than too own via which while during im ive don't "
        "doesn't didn't can't won't isn't let's that's there's get got getting make making made "
        "want need try trying use using used help like some more most kind kinda sort bit much "
        "many lot thing things way sure good great best well able going go"
    )
)
"""Words that belong to no frame."""
_CHANGE_WORDS = frozenset(
    words_of(
        "new now reached increased decreased extended adjusted changed moved rescheduled "
        "updated improved instead grown grew raised rose fell postponed pushed switched "
        "dropped currently revised expanded bumped lowered shifted recently total actually "
        "corrected renamed replaced delayed upgraded downgraded reduced became latest anymore back"
    )
)
CHANGES = frozenset(map(stem, _CHANGE_WORDS))
"""Stems of words that show that a value replaced another one."""
STATES = frozenset(words_of("live lives living based work works working study studies moved"))
"""Verbs with one object at a time."""
ROLES = frozenset(map(stem, words_of("leads heads chairs")))
"""Stems of verbs with one subject at a time."""
ATTRIBUTES = frozenset(
    map(
        stem,
        words_of(
            "favourite favorite name nickname status colour color job title address phone number "
            "password email size type mode default limit deadline version owner manager boss lead "
            "leader capital language database framework region host port branch plan priority "
            "target goal currency timezone venue location school employer company diet budget "
            "price cost age height weight hometown profession occupation username theme model "
            "provider partner doctor dentist landlord teacher coach assignee reviewer quota"
        ),
    )
)
"""Stems of nouns with one value at a time."""
_UNREAL = frozenset(
    words_of("if would might could should unless used here's here’s heres there's there’s")
)
"""Words of sentences that state nothing of the present, or only point at something."""


class Mention(NamedTuple):
    """A value in a sentence, with the words around it."""

    kind: str
    key: str
    units: tuple[str, ...]
    """Stems of the words that it counts."""
    label: str
    """Stem of the word just before it: port 8080."""
    before: frozenset[str]
    near: frozenset[str]
    """Stems of the words of content around it."""
    names: frozenset[str]
    labels: frozenset[tuple[str, str]]
    """Numbered things around it: (sprint, 2) of "the second sprint"."""
    changed: bool
    """Whether a word of change is near."""
    event: bool
    """Whether words near it place a single event in time."""


class Token(NamedTuple):
    """A word or a value of a sentence."""

    text: str
    stem: str
    """Empty for a word that belongs to no frame."""
    kind: str
    """Kind of a value; empty for a word."""
    key: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence as words and values."""

    text: str
    stems: frozenset[str]
    """Stems of its words of content."""
    mentions: tuple[Mention, ...]
    is_statement: bool
    """Whether it states something of the present: no question and no condition."""


def sentences(text: str) -> Iterator[Sentence]:
    """Yield the sentences of a text; code, notes in brackets and what is too long are left out."""
    for part in sentence_texts(text):
        tokens = read_tokens(part)
        mentions = tuple(itertools.islice(_mentions(part, tokens), MAX_MENTIONS))
        yield Sentence(part, stems_of(tokens), mentions, _is_statement(part, tokens))


def sentence_texts(text: str) -> Iterator[str]:
    """Yield the texts of the sentences that `sentences` yields."""
    if len(text) > MAX_CHARS:
        text = f"{text[: MAX_CHARS // 2]}\n{text[-MAX_CHARS // 2 :]}"
    return itertools.islice(split_sentences(text), MAX_SENTENCES)


def is_statement(text: str) -> bool:
    """Return whether a sentence states something of the present: no question and no condition."""
    return _is_statement(text, read_tokens(text))


def split_sentences(text: str) -> Iterator[str]:
    """Yield the parts of a text that end like sentences, without code and notes in brackets."""
    for part in _END.split(_ASIDE.sub("\n", text)):
        if sentence := part.strip():
            yield sentence[:MAX_SENTENCE_CHARS]


def clauses_of(sentence: Sentence) -> Iterator[Sentence]:
    """Yield a sentence and, if it joins several, each of its main clauses.

    "I weigh 88 kilos now, and I have seen one toe" has two.
    """
    yield sentence
    parts = _JOINT.split(sentence.text)
    if len(parts) > 1:
        for part in parts:
            tokens = read_tokens(part)
            yield Sentence(part, stems_of(tokens), (), _is_statement(part, tokens))


def read_tokens(text: str) -> list[Token]:
    """Return the words and values of a sentence, in order."""
    tokens: list[Token] = []
    matches = list(_TOKEN.finditer(text))
    n = 0
    while n < len(matches):
        token, used = _token(text, matches, n)
        tokens.append(token)
        n += used
    return tokens


def content_of(text: str) -> frozenset[str]:
    """Return the stems of the words of content of a text, and the keys of its values."""
    tokens = read_tokens(text)
    return stems_of(tokens) | {token.key for token in tokens if token.kind}


def is_past(text: str) -> bool:
    """Return whether a text states what happened, which can happen again."""
    return any(sign.search(text) for sign in HAPPENED)


def _token(text: str, matches: Sequence[re.Match[str]], n: int) -> tuple[Token, int]:
    """Return the token at match `n`, and how many matches it takes."""
    match = matches[n]
    start, end = match.span()
    if not match["word"]:
        return _value(text, match), 1
    word = folding.fold(match.group())
    if word in _NUMBER_WORDS:
        run = [folding.fold(m.group()) for m in matches[n : n + _MAX_RUN]]
        key, used = quantities.parse_number_words(run)
        if key != "1":
            return Token(match.group(), "", "number", key, start, matches[n + used - 1].end()), used
    if word in quantities.ORDINALS:
        number = str(quantities.ORDINALS[word])
        return Token(word, f"#{number}", "ordinal", number, start, end), 1
    if word.removesuffix("s") in _WEEKDAYS:
        return Token(word, "", "weekday", word.removesuffix("s"), start, end), 1
    return Token(match.group(), "" if word in STOP_WORDS else stem(word), "", word, start, end), 1


def _value(text: str, match: re.Match[str]) -> Token:
    key, _, fact = quantities.canonical_words(match)[0]
    start, end = match.span()
    kind = "number"
    if fact is FactKind.DATE:
        kind = "clock" if key.startswith("@") else "date"
    elif key.startswith("#"):
        return Token(match.group(), key, "ordinal", key[1:], start, end)
    elif match["sign"]:
        kind = "money"
    elif text[end : end + 2].lstrip().startswith("%"):
        kind = "percent"
    elif _YEAR.fullmatch(match.group()):
        kind = "year"
    return Token(match.group(), "", kind, key, start, end)


def stems_of(tokens: Iterable[Token]) -> frozenset[str]:
    """Return the stems of the words of content."""
    return frozenset(token.stem for token in tokens if token.stem)


def _is_statement(text: str, tokens: Sequence[Token]) -> bool:
    if not tokens or text.endswith("?") or tokens[0].key in {"here", "there"}:
        return False
    return _UNREAL.isdisjoint(token.key for token in tokens)


def _mentions(text: str, tokens: Sequence[Token]) -> Iterator[Mention]:
    for n, token in enumerate(tokens):
        if not token.kind or token.kind == "ordinal" or _is_left_behind(tokens, n):
            continue
        if not n or not (
            tokens[n - 1].stem in _NUMBERED or _are_joined(text, tokens[n - 1], token)
        ):
            mention = _mention(text, tokens, n)
            if _AGO.isdisjoint(mention.units):
                yield mention


_AGO = frozenset(map(stem, ("ago", "later", "earlier")))


def _is_left_behind(tokens: Sequence[Token], n: int) -> bool:
    """Return whether a value is what changed, or an aim: "from 8 to 12", "to reach 100%"."""
    before = [token.key for token in tokens[max(0, n - 2) : n]]
    if before[-1:] == ["from"]:
        return any(token.key == "to" for token in tokens[n + 1 : n + 4])
    return before[:1] == ["to"] and not _AIMS.isdisjoint(before)


def _mention(text: str, tokens: Sequence[Token], n: int) -> Mention:
    token = tokens[n]
    units = tuple(_units(text, tokens, n)) if token.kind == "number" else ()
    kind = token.kind
    following = tokens[n + 1].key if n + 1 < len(tokens) else ""
    if kind == "number" and following == "percent":
        kind, units = "percent", ()
    elif kind == "number" and following in _CURRENCIES:
        kind, units = "money", ()
    before, near = tokens[max(0, n - _AROUND) : n], tokens[max(0, n - _AROUND) : n + 1 + _AROUND]
    close = tokens[max(0, n - _CHANGE_BEFORE) : n + 1 + _CHANGE_AFTER]
    has_label = bool(before) and _are_adjacent(text, before[-1], token)
    return Mention(
        kind=kind,
        key=token.key,
        units=units,
        label=before[-1].stem if has_label else "",
        before=stems_of(before),
        near=stems_of(near),
        names=names_of(near, tokens[0]),
        labels=frozenset(_labels(text, near)),
        changed=any(one.stem in CHANGES or one.key in _CHANGE_WORDS for one in close),
        event=EVENT.search(text[close[0].start : close[-1].end]) is not None,
    )


def _units(text: str, tokens: Sequence[Token], n: int) -> Iterator[str]:
    for token, after in zip(tokens[n:], tokens[n + 1 : n + 1 + _UNIT_WORDS], strict=False):
        if not after.stem or not _are_adjacent(text, token, after):
            return
        yield after.stem


def _are_adjacent(text: str, token: Token, after: Token) -> bool:
    return _PHRASE_END.search(text[token.end : after.start]) is None


def names_of(tokens: Iterable[Token], first: Token) -> frozenset[str]:
    """Return the stems of the names among tokens of a sentence that begins with `first`."""
    return frozenset(
        token.stem for token in tokens if token.stem and token.text[0].isupper() and token != first
    )


def _are_joined(text: str, token: Token, after: Token) -> bool:
    """Return whether a number is a part of an identifier: AB123, web-01."""
    gap = text[token.end : after.end].removesuffix(after.text.lstrip("+-"))
    return not token.kind and gap in {"", "-", "_", "/", "."}


def _labels(text: str, tokens: Sequence[Token]) -> Iterator[tuple[str, str]]:
    """Yield the numbered things: (sprint, 2) for "the second sprint" and "sprint 2", (ab, 123)."""
    for token, after in itertools.pairwise(tokens):
        if token.kind == "ordinal" and after.stem:
            yield after.stem, token.key
        elif after.kind == "number" and (
            token.stem in _NUMBERED or _are_joined(text, token, after)
        ):
            yield token.stem, after.key


_NUMBERED = frozenset(
    map(
        stem,
        words_of(
            "sprint phase step chapter part week day level stage round season episode unit task "
            "question item page section milestone floor number problem exercise lesson module"
        ),
    )
)
"""Stems of things that bear numbers; such a number is not a value."""


@dataclass(frozen=True, slots=True)
class Question:
    """Words of a question, and the values that it asks for."""

    stems: frozenset[str]
    """Stems of its words of content."""
    kinds: frozenset[str]
    """Kinds of values that it asks for, other than counts."""
    counted: frozenset[str]
    """Stems of the things that it counts."""

    @classmethod
    def of(cls, text: str) -> Question:
        """Return the question of a text."""
        text = folding.fold(text[:MAX_CHARS])
        stems = stems_of(read_tokens(text))
        if _ASKS_NO_VALUE.search(text):
            return cls(stems, frozenset(), frozenset())
        kinds = {kind for kind, words in _ASKING.items() if words.search(text)}
        asked = _HOW_MANY.search(text)
        if asked is None:
            return cls(stems, frozenset(kinds), frozenset() if kinds else stems)
        counted = stems_of(read_tokens(text[asked.end() :])[:_COUNTED_WORDS])
        return cls(stems, frozenset(kinds & _BESIDES_COUNTS), counted)
