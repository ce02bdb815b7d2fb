"""Facts in a text, as a sequence of comparable words: numbers, dates, names, negations, values.

Punctuation, case, articles, fillers and contractions are removed; everything else is kept. The
patterns read the text once without backtracking, so the time is linear in its length.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple, TypeVar

from graphmem.english import quantities
from graphmem.english.quantities import PATTERN as QUANTITY
from graphmem.english.quantities import CanonicalWord, FactKind, canonical_words, parse_number_words

T = TypeVar("T")

MAX_CACHED_CHARS = 500
"""Maximum length of a text whose words are kept, characters."""
_WORD_CHARACTER = r"[^\s!-/:-@\[-`{-~]"
_SCAN = re.compile(
    QUANTITY + r"|(?P<grade>(?<![^\s(\"'])[A-Za-z]{1,2}-(?![^\s.,;:!?)\"']))"
    rf"|(?P<word>{_WORD_CHARACTER}+(?:[._@/\\']{_WORD_CHARACTER}+)*(?:[+#]+(?!{_WORD_CHARACTER}))?)"
    r"|(?P<symbol>[+<=>~?]|[%$€£¥₹]|!(?=[=\w])|(?<!\w)[:;]-?[()](?!\w))"
)
_PLAIN = {"‘": "'", "’": "'", "ʼ": "'", "＇": "'", "−": "-", "＋": "+", "％": "%", "？": "?"}
_NOT = re.compile(r"(?P<stem>[a-z]+)n'?t")
_A_YEAR = re.compile(r"(?:1[89]|20)\d\d")
_TIME = re.compile(r"@(?P<hour>\d\d):(?P<minute>\d\d)\S*?(?P<unknown>\?)?")
_DAY = re.compile(r"(?P<year>\d{4}|----)(?:-(?P<month>\d\d)-(?P<day>\d\d))?")
_NAMED_DATES = frozenset(quantities.MONTHS + quantities.WEEKDAYS)
_PAUSES = frozenset(",;:.!")
_CLOSING = " \n,;:.!\"')"
_STOP = re.compile(r"[.!?:\n]")
_PROGRESSIVE_MIN_CHARS, _PLURAL_MIN_CHARS = 5, 4
_DETERMINER_REACH = 3
_RATE_REACH = 2
_MAX_NUMBER_WORDS = 20
_LAST_LATIN = 0x24F
_UNITS = (
    (re.compile(r"(?<=\d)['’](?![^\W\d])"), "′"),
    (re.compile(r"(?<=\d)[\"”](?!\w)"), "″"),
)
"""Quotation marks after a digit that are units, 5' and 5", unless the text has an opening one."""
_OPENING = re.compile(r"(?<!\w)['\"‘“]\w")
_IN_IDENTIFIERS = "._@/\\+#"


@dataclass(frozen=True, slots=True)
class FactToken:
    """One significant word of a text."""

    key: str
    """Canonical spelling; words with equal keys mean the same."""
    kind: FactKind
    bases: frozenset[str]
    """Base forms of which it may be an inflection; empty if it has none."""
    progressive: bool = False
    """Whether it represents `is …ing`."""
    fixed: bool = False
    """Whether a determiner is near, so that a plural is a different fact: the dog, the dogs."""
    capitals: bool | None = None
    """Whether it is written in capitals; None if its case means nothing: the text has one case."""


class _Piece(NamedTuple):
    """One scanned span of text, before the words around it are known."""

    key: str
    surface: str
    kind: FactKind | None
    initial: bool
    """Whether it begins a sentence."""
    joined: bool
    """Whether only a space or hyphen separates it from the piece before."""


def cached_if_short(read: Callable[[str], T]) -> Callable[[str], T]:
    """Return a function that keeps its results for short texts, each of which is read repeatedly.

    The results for long texts are too large to keep.
    """
    kept = lru_cache(maxsize=2_000)(read)
    return lambda text: kept(text) if len(text) <= MAX_CACHED_CHARS else read(text)


@cached_if_short
def fact_tokens(text: str) -> tuple[FactToken, ...]:
    """Return the significant words of the text, in order."""
    text = _normalise(text)
    pieces = _parse_numbers(list(_pieces(text)))
    has_case = text != text.lower()
    result: list[FactToken] = []
    for n in range(len(pieces)):
        word = _word(pieces, n, result, has_case=has_case)
        if word is None:
            continue
        if word.progressive and (place := _verb_place(result)) is not None:
            del result[place]  # the `is` of `is working`
        result.append(word)
    return tuple(_order_times(result))


def _capitals(surface: str, kind: FactKind) -> bool | None:
    if kind not in (FactKind.NAME, FactKind.VALUE):
        return None
    if surface.isupper() and len(surface) > 1:
        return True
    return False if surface.islower() else None


def differ_in_case(a: Iterable[FactToken], b: Iterable[FactToken]) -> bool:
    """Return whether a word is in capitals in one text and small in the other: IT, it."""
    spelt_a, spelt_b = _spelt(a), _spelt(b)
    return any((key, not capitals) in spelt_b for key, capitals in spelt_a - spelt_b) or any(
        (key, not capitals) in spelt_a for key, capitals in spelt_b - spelt_a
    )


def _spelt(text: Iterable[FactToken]) -> set[tuple[str, bool]]:
    return {(word.key, word.capitals) for word in text if word.capitals is not None}


def _order_times(words: Sequence[FactToken]) -> Iterator[FactToken]:
    """Yield the words; a time of day beside a day comes after it: Monday at 3 PM, 3 PM on Monday.

    A longer run of dates keeps its order, because it may be a list.
    """
    for is_date, run in groupby(words, key=lambda word: word.kind is FactKind.DATE):
        dates = list(run)
        named = [word for word in dates if word.key not in quantities.DATE_QUALIFIERS]
        clocks = [word for word in dates if word.key.startswith("@")]
        if is_date and len(named) == 2 and len(clocks) == 1:
            dates.sort(key=lambda word: word.key.startswith("@"))
        yield from dates


def _verb_place(words: Sequence[FactToken]) -> int | None:
    """Return the place of the `be` that ends the words, except for negations; None if none does."""
    place = len(words) - 1
    while place > 0 and words[place].kind is FactKind.NEGATION:
        place -= 1
    return place if place >= 0 and words[place].key == "be" else None


@dataclass(frozen=True, slots=True, eq=False)
class Forms:
    """The forms of the words of a text, with which the words of others are compared."""

    exact: frozenset[str]
    every: frozenset[str]
    """Base forms of all words."""
    progressive: frozenset[str]
    """Those of words that represent `is …ing`."""
    loose: frozenset[str]
    """Those that a word without a determiner may share."""

    @classmethod
    def of(cls, text: Sequence[FactToken]) -> Forms:
        """Return the forms of a text."""
        every = _all_bases(text)
        progressive = _all_bases(word for word in text if word.progressive)
        fixed = any(word.fixed for word in text)
        loose = _all_bases(w for w in text if not w.fixed) | progressive if fixed else every
        return cls(frozenset(word.key for word in text), every, progressive, loose)

    def keys_of(self, other: Iterable[FactToken]) -> list[str]:
        """Return the key of each word of another text; inflections become their common base."""
        return [self.key_of(word) if word.bases else word.key for word in other]

    def key_of(self, word: FactToken) -> str:
        """Return the key of a word of another text; an inflection becomes the common base."""
        if word.key in self.exact:
            return word.key
        pool = self.every if word.progressive else self.progressive if word.fixed else self.loose
        return min(word.bases & pool, default=word.key)


def comparable_keys(text: Sequence[FactToken], other: Sequence[FactToken]) -> list[str]:
    """Return the key of each word; inflections of a word in `other` become their common base."""
    return Forms.of(other).keys_of(text)


def _all_bases(text: Iterable[FactToken]) -> frozenset[str]:
    return frozenset().union(*(word.bases for word in text))


def is_negated(text: Sequence[FactToken]) -> bool:
    """Return whether a text contains a negating word."""
    return any(word.kind is FactKind.NEGATION for word in text)


def has_other_date(stated: Iterable[FactToken], claimed: Iterable[FactToken]) -> bool:
    """Return whether a text names another weekday, calendar date or time of day than a claim.

    "4 May" agrees with "in May" and "4 May 2026", and a weekday with any calendar date. "Every
    morning" and "last week" name no date.
    """
    given, wanted = _dates(stated), _dates(claimed)
    return any(
        kind in given and not any(_are_compatible(one, other) for other in given[kind])
        for kind, dates in wanted.items()
        for one in dates
    )


def is_named_date(key: str) -> bool:
    """Return whether the key of a date names a weekday, a month, a day, a year or a time of day."""
    return key in _NAMED_DATES or key[0] in "@-" or key[0].isdigit()


def _dates(text: Iterable[FactToken]) -> dict[str, list[tuple[str, ...]]]:
    """Return the parts of the dates that a text names, by kind; an empty part is not named."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for word in text:
        if word.kind is not FactKind.DATE:
            continue
        if word.key in quantities.WEEKDAYS:
            found.setdefault("weekday", []).append((word.key,))
        elif match := _TIME.fullmatch(word.key):
            hour = int(match["hour"]) % 12
            half = "" if match["unknown"] else str(int(match["hour"]) // 12)
            found.setdefault("time", []).append((str(hour), match["minute"], half))
        elif word.key in quantities.MONTHS:
            found.setdefault("day", []).append(
                ("", f"{quantities.MONTHS.index(word.key) + 1:02}", "")
            )
        elif match := _DAY.fullmatch(word.key):
            days = found.setdefault("day", [])
            year, month, day = match["year"].strip("-"), match["month"] or "", match["day"] or ""
            if not month and days and days[-1][0] == days[-1][2] == "":
                month = days.pop()[1]  # "May 2026"
            days.append((year, month, day))
    return found


def _are_compatible(one: Sequence[str], other: Sequence[str]) -> bool:
    return all(a == b or not a or not b for a, b in zip(one, other, strict=True))


def _normalise(text: str) -> str:
    """Return the text in NFC with ASCII quotes, dashes and digits, and other symbols separated."""
    text = unicodedata.normalize("NFC", text)
    if text.isupper():
        text = text.lower()
    if _OPENING.search(text) is None:
        for pattern, mark in _UNITS:
            text = pattern.sub(mark, text)
    table = {ord(c): _plain_character(c) for c in set(text) if not c.isascii()}
    lines = (" ".join(line.split()) for line in text.translate(table).splitlines())
    return "\n".join(lines).rstrip(_CLOSING)


def _plain_character(character: str) -> str:
    category = unicodedata.category(character)
    if character in _PLAIN:
        return _PLAIN[character]
    if category == "Pd":
        return "-"
    if category == "Nd":
        return str(unicodedata.decimal(character))
    if category == "Cf" or character == "\ufe0f":
        return ""
    if character in quantities.MARKS:
        return f" {character} "
    if category[0] in "PZ" or category == "Cc":
        return " "
    return (
        f" {character} " if category[0] == "S" and character not in quantities.SIGNS else character
    )


def _pieces(text: str) -> Iterator[_Piece]:
    end = 0
    for match in _SCAN.finditer(text):
        gap = text[end : match.start()]
        initial = end == 0 or _STOP.search(gap) is not None
        end = match.end()
        # "No, dogs may come" is not "No dogs may come".
        mark = "," if text[end : end + 1] in _PAUSES else ""
        for n, (key, surface, kind) in enumerate(_canonical_words(match)):
            first = initial and n == 0
            pauses = key in quantities.NEGATIONS or (first and key in quantities.OPENERS)
            joined = n > 0 or gap in {" ", "-"}
            yield _Piece(key + mark if pauses else key, surface, kind, first, joined)


def _canonical_words(match: re.Match[str]) -> list[CanonicalWord]:
    """Return the canonical words of one match."""
    surface = match.group()
    if match["word"]:
        first, *rest = _expand(surface.lower())
        return [
            CanonicalWord(first, surface, None),
            *(CanonicalWord(part, part, None) for part in rest),
        ]
    if match["grade"]:
        return [CanonicalWord(surface.lower(), surface, FactKind.NAME)]
    if match["symbol"] == "!":
        return [CanonicalWord("not", surface, FactKind.NEGATION)]
    if match["symbol"] in quantities.SIGNS:
        return [CanonicalWord(quantities.SIGNS[surface], surface, FactKind.NUMBER)]
    if match["symbol"]:
        return [CanonicalWord(surface, surface, FactKind.VALUE)]
    return canonical_words(match)


def _expand(word: str) -> tuple[str, ...]:
    """Return the words of a contraction; `'s` and `'d` are kept as they are."""
    if word in quantities.EXPANSIONS:
        return quantities.EXPANSIONS[word]
    shortened = _NOT.fullmatch(word)
    if shortened and shortened["stem"] in quantities.NOT_STEMS:
        return quantities.NOT_STEMS[shortened["stem"]], "not"
    stem, apostrophe, suffix = word.rpartition("'")
    if apostrophe and suffix in {"s", "d"}:
        return stem, f"'{suffix}"
    if apostrophe and suffix in quantities.SUFFIXES:
        return stem, quantities.SUFFIXES[suffix]
    return (word,)


def _parse_numbers(pieces: list[_Piece]) -> list[_Piece]:
    """Return the pieces with number words converted to digits."""
    result = []
    n = 0
    while n < len(pieces):
        number, used = "", 0
        if pieces[n].key in quantities.NUMBER_STARTS:
            end = n + 1
            while end < min(len(pieces), n + _MAX_NUMBER_WORDS) and pieces[end].joined:
                end += 1
            number, used = parse_number_words([piece.key for piece in pieces[n:end]])
        if used:
            result.append(pieces[n]._replace(key=number, kind=FactKind.NUMBER))
        elif pieces[n].key in quantities.ORDINALS:
            number = f"#{quantities.ORDINALS[pieces[n].key]}"
            result.append(pieces[n]._replace(key=number, kind=FactKind.NUMBER))
        else:
            result.append(pieces[n])
        n += used or 1
    return result


def _word(
    pieces: Sequence[_Piece], n: int, words: Sequence[FactToken], *, has_case: bool
) -> FactToken | None:
    """Return the word of piece `n` after `words`, or None if it carries no meaning of its own."""
    piece = pieces[n]
    before = words[-1] if words else None
    after = pieces[n + 1] if n + 1 < len(pieces) else None
    if piece.kind is not None:
        is_year = n > 0 and pieces[n - 1].key == "in" and _A_YEAR.fullmatch(piece.key)
        kind = FactKind.DATE if is_year else piece.kind
        capitals = _capitals(piece.surface, kind) if has_case else None
        return FactToken(piece.key, kind, frozenset(), capitals=capitals)
    key = _canonical(piece, before, after)
    if key in quantities.RATE_ARTICLES and _is_rate(words, after):
        key = "per"
    if _is_silent(key, piece, before, after) or _leads_to_date(key, pieces[n + 1 : n + 3]):
        return None
    kind = _kind(key, piece, after)
    reach = {near.key for near in pieces[max(0, n - _DETERMINER_REACH) : n]}
    progressive = _is_progressive(key) and _verb_place(words) is not None
    return FactToken(
        key,
        kind,
        _bases(key, progressive=progressive) if kind is FactKind.VALUE else frozenset(),
        progressive=progressive,
        fixed=not quantities.DETERMINERS.isdisjoint(reach),
        capitals=_capitals(piece.surface, kind) if has_case else None,
    )


def _canonical(piece: _Piece, before: FactToken | None, after: _Piece | None) -> str:
    key = quantities.SAME_WORD.get(piece.key, piece.key)
    key = quantities.SIGN_WORDS.get(key, key)
    if key == "'s":
        is_verb = (before is not None and before.key in quantities.SUBJECTS) or (
            after is not None and after.key in quantities.AFTER_IS
        )
        return "be" if is_verb else key
    if key in quantities.AMBIGUOUS_SHORT_DATES and not piece.surface[0].isupper():
        return key
    return quantities.SHORT_DATES.get(key, key)


def _is_silent(key: str, piece: _Piece, before: FactToken | None, after: _Piece | None) -> bool:
    """Return whether the word can be omitted without changing the meaning."""
    if key in quantities.ARTICLES:
        is_letter = key == "a" and piece.surface == "A" and not piece.initial
        return not is_letter and (after is None or after.key not in quantities.QUANTIFIED)
    if key in quantities.FILLERS or key in quantities.LINKS:
        # "not just tea" is not "not tea", nor "not that bad" "not bad".
        return before is None or before.kind is not FactKind.NEGATION
    if key == "do":
        # "Do you smoke" is not "you smoke"; "I do smoke" is "I smoke".
        return before is not None and not piece.initial
    return key.endswith(",") and key[:-1] in quantities.OPENERS


def _is_rate(words: Sequence[FactToken], after: _Piece | None) -> bool:
    """Return whether an article between these is like the `a` of `twice a day`."""
    near = words[-_RATE_REACH:]
    return (
        after is not None
        and after.key in quantities.RATE_UNITS
        and any(word.kind is FactKind.NUMBER for word in near)
    )


def _leads_to_date(key: str, after: Sequence[_Piece]) -> bool:
    """Return whether the word is like the `on` of `on Monday` or `on the 5th of May`."""
    if key not in quantities.DATE_PREPOSITIONS or not after:
        return False
    return _is_date(after[-1] if after[0].key == "the" else after[0], key)


def _is_date(piece: _Piece, preposition: str) -> bool:
    if preposition == "in" and _A_YEAR.fullmatch(piece.key):
        return True
    return piece.kind is FactKind.DATE or _canonical(piece, None, None) in quantities.DATE_WORDS


def _kind(key: str, piece: _Piece, after: _Piece | None) -> FactKind:
    if key in quantities.CEASING:
        # "Stopped smoking" denies, "stops at gate 4" does not.
        ends = after is not None and after.key.endswith("ing")
        return FactKind.NEGATION if ends else FactKind.VALUE
    if key.rstrip(",") in quantities.NEGATIONS:
        return FactKind.NEGATION
    if key in quantities.AMOUNTS:
        return FactKind.NUMBER
    if key in quantities.DATE_WORDS:
        is_word = key in quantities.AMBIGUOUS_DATES and piece.surface[0].islower()
        return FactKind.VALUE if is_word else FactKind.DATE
    if key in quantities.DATE_QUALIFIERS and after is not None and _is_date(after, ""):
        return FactKind.DATE
    return FactKind.NAME if _is_name(key, piece.surface) else FactKind.VALUE


def _is_name(key: str, surface: str) -> bool:
    if surface.isascii() and surface.isalpha() and surface.islower():
        return False  # most words
    return key not in quantities.COMMON and (
        surface[0].isupper()
        or any(c.isupper() or c.isdigit() or c in _IN_IDENTIFIERS for c in surface[1:])
        or any(ord(c) > _LAST_LATIN and c.isalpha() for c in surface)
    )


def _is_progressive(key: str) -> bool:
    return key.endswith("ing") and len(key) > _PROGRESSIVE_MIN_CHARS and key != "going"


def _bases(key: str, *, progressive: bool) -> frozenset[str]:
    """Return the words of which this one may be a plural, a third person or an -ing form.

    `plans` gives plan, `running` run, runn and runne: never both plan and plane from one base.
    """
    if progressive:
        stem = key[:-3]
        doubled = len(stem) > 2 and stem[-1] == stem[-2]
        return frozenset({stem, stem + "e", stem[:-1]} if doubled else {stem, stem + "e"})
    bases = {key}
    if len(key) >= _PLURAL_MIN_CHARS and key.endswith("s") and key[-2] not in "sui'":
        bases.add(key[:-1])
        if key.endswith("ies"):
            bases.add(key[:-3] + "y")
        elif key[:-2].endswith(("s", "x", "z", "ch", "sh", "o")) and key.endswith("es"):
            bases.add(key[:-2])
    return frozenset(bases)
