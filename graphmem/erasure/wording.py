"""Find names and texts in any spelling in the data that remains after an erasure."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import groupby, product
from typing import Any

from graphmem import folding

_UNSPACED = (
    *((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x1950, 0x19DF), (0x1A20, 0x1AAF)),
    *((0x1B00, 0x1B7F), (0x3005, 0x3007), (0x3041, 0x309F), (0x3105, 0x312F), (0x3400, 0x4DBF)),
    *((0x4E00, 0x9FFF), (0xA980, 0xA9FF), (0xAA60, 0xAA7F), (0xF900, 0xFAFF), (0x20000, 0x3FFFF)),
)
"""First and last code points of scripts without spaces between words, such as Thai and Chinese."""
_KATAKANA = ((0x30A0, 0x30FF), (0x31F0, 0x31FF))
_HANGUL = ((0x1100, 0x11FF), (0x3130, 0x318F), (0xA960, 0xA97F), (0xAC00, 0xD7FF))
_GAP = re.compile(
    "(?<=[{0}]) (?=[{0}])".format("".join(f"{chr(a)}-{chr(b)}" for a, b in _UNSPACED))
)
_INVISIBLE = str.maketrans(dict.fromkeys("\u180e\u200b\u200c\u200d\u2060\ufeff", " "))
"""Characters of no width, which may also replace a space."""
_ASCII = r"\t-\r -\[\]-~"
_SIMPLE = (
    rf"{_ASCII}\u00a0\u00c0-\u00de\u00e0-\u00ff"
    r"\u2013\u2014\u2018\u2019\u201c-\u201e\u2026\u20ac"
)
"""Characters of which folding changes a letter only in its case, and which JSON never escapes."""
_RUN = re.compile(r"[0-9a-z\u00e0-\u00f6\u00f8-\u00ff]+")
_CLOSING = " .!"
_LETTER = re.compile(r"[^\W\d_]")
_INITIALS = re.compile(r"[^\W\d_]|(?:[^\W\d_]\.-?)+")
"""A word of initials: letters with periods, or a letter alone."""
_FEW_PARTS = 2
"""Parts of a name of which one, as an initial without a period, may be another word."""
_MIN_PART = 3
"""Minimum number of characters of a part of a name, or of a name with an ending, that counts."""
_MAX_ENDING = 3
_PARTICLES = frozenset(
    (
        *("and", "bin", "das", "dei", "del", "den", "der", "des", "dos", "ibn", "the", "und"),
        *("van", "von"),
    )
)
"""Parts of names that also are words; they do not count alone."""

_IN_WORDS = frozenset(("Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl"))


@dataclass(frozen=True, slots=True)
class TextSearch:
    """Folded names or texts to find as whole words."""

    needles: tuple[str, ...]
    parts: tuple[str, ...] = ()
    """Parts of the names and initials, which may be those of another person."""
    endings: bool = False
    """Whether a needle with an ending, such as a plural, may be the name."""
    prefilter: str = field(init=False, default="")
    """Regular expression, of the server and of Python, of every text in which one may be found."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "prefilter", _prefilter((*self.needles, *self.parts)))

    def finds(self, texts: Iterable[str | None]) -> bool:
        """Return whether one of the texts contains a needle."""
        return any(
            _is_whole(form, at, needle)
            for form in _forms(texts)
            for needle in self.needles
            for at in _places(form, needle)
        )

    def doubts(self, texts: Iterable[str | None]) -> bool:
        """Return whether one of the texts contains a part of a name, initials or an ending."""
        return any(self._doubts(form) for form in _forms(texts))

    def _doubts(self, form: str) -> bool:
        if any(_is_whole(form, at, part) for part in self.parts for at in _places(form, part)):
            return True
        return self.endings and any(
            _has_ending(form, at, needle) for needle in self.needles for at in _places(form, needle)
        )


def names(keys: Iterable[str]) -> TextSearch:
    """Return the search for the names of a person, given as keys."""
    # A capital I may be that of a Turkish ı, which is another letter than i.
    forms = [
        one
        for key in keys
        for form in (key, folding.fold(key.upper()))
        for one in _with_initials(form)
    ]
    needles = _distinct(form for form, certain in forms if certain)
    doubtful = (form for form, certain in forms if not certain)
    parts = _distinct((*doubtful, *(part for one in needles for part in _parts(one))))
    return TextSearch(needles, tuple(one for one in parts if one not in needles), endings=True)


def sentences(texts: Iterable[str]) -> TextSearch:
    """Return the search for whole texts, without regard to a final period."""
    folded = (folding.fold(one) for one in texts)
    return TextSearch(_distinct(one.rstrip(_CLOSING) or one for one in folded))


def strings(value: str | None) -> Iterator[str]:
    """Yield every text and name of a field of a JSON document; itself if it is not JSON."""
    if value is not None:
        with suppress(ValueError):
            yield from _strings(json.loads(value))
            return
        yield value


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from value
        value = value.values()
    if not isinstance(value, str | int | float | None):
        for part in value:
            yield from _strings(part)


def _distinct(found: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_joined(one) for one in found if one))


def _joined(form: str) -> str:
    """Return a folded text without spaces inside scripts that have none."""
    return form if form.isascii() else _GAP.sub("", form)


def _forms(texts: Iterable[str | None]) -> Iterator[str]:
    for text in texts:
        if text:
            yield _joined(folding.fold(text))
            if (spaced := text.translate(_INVISIBLE)) != text:
                yield _joined(folding.fold(spaced))


def _with_initials(name: str) -> Iterator[tuple[str, bool]]:
    """Yield a folded name, and with its initials written with and without periods and spaces.

    With each, whether it certainly is the name: without a period, "a brown" may be an article.
    """
    yield name, True
    words = name.split()
    letters = [_LETTER.findall(one) if _is_initials(one) else [] for one in words]
    runs = [
        (found, [one for letters_, word in some for one in (letters_ or [word])])
        for found, some in groupby(zip(letters, words, strict=True), key=lambda one: bool(one[0]))
    ]
    if len(runs) == 1 or not any(letters):
        return
    few = sum(len(parts) for _, parts in runs) == _FEW_PARTS
    for period, space in product((".", ""), (" ", "")):
        form = " ".join(
            space.join(f"{one}{period}" for one in parts) if found else " ".join(parts)
            for found, parts in runs
        )
        yield form, bool(period) or not few


def _is_initials(word: str) -> bool:
    # A word of one letter is a whole name in Chinese, for example.
    return _INITIALS.fullmatch(word) is not None and _script(word[0]) == "spaced"


def _parts(name: str) -> Iterator[str]:
    """Yield the parts of a folded name that may be used for it, and its initials."""
    words = name.split()
    if len(words) < 2:
        return
    yield from (one for one in words if len(one) >= _MIN_PART and one not in _PARTICLES)
    for space in ("", " ") if all(one[0].isalpha() for one in words) else ():
        yield space.join(f"{one[0]}." for one in words)


def _places(form: str, needle: str) -> Iterator[int]:
    at = form.find(needle)
    while at >= 0:
        yield at
        at = form.find(needle, at + 1)


def _is_whole(form: str, at: int, needle: str) -> bool:
    end = at + len(needle)
    if at and _is_one_word(form[at - 1], form[at]):
        return False
    # Korean particles follow a name without a space.
    return _script(form[end - 1]) == "hangul" or not _is_one_word(
        form[end - 1], form[end : end + 1]
    )


def _has_ending(form: str, at: int, needle: str) -> bool:
    if len(needle) < _MIN_PART or (at and _is_one_word(form[at - 1], form[at])):
        return False
    end = last = at + len(needle)
    while last < len(form) and _is_one_word(form[last - 1], form[last]):
        last += 1
    return 0 < last - end <= _MAX_ENDING


def _is_one_word(left: str, right: str) -> bool:
    """Return whether two neighbouring characters belong to one word."""
    script = _script(left)
    return script is not None and script == _script(right)


def _script(character: str) -> str | None:
    """Return a name for the script of a letter, a mark or a digit; None for other characters.

    Words of scripts without spaces have no visible boundary, so their characters count as others.
    """
    if not character or unicodedata.category(character) not in _IN_WORDS:
        return None
    code = ord(character)
    if _is_in(code, _UNSPACED):
        return None
    if _is_in(code, _KATAKANA):
        return "katakana"
    return "hangul" if _is_in(code, _HANGUL) else "spaced"


def _is_in(code: int, ranges: Sequence[tuple[int, int]]) -> bool:
    return any(first <= code <= last for first, last in ranges)


def _prefilter(found: Iterable[str]) -> str:
    """Return the regular expression of every text in which one of the folded texts may be found.

    It spares reading texts that certainly contain none. A text of simple characters contains the
    words of a folded text letter by letter.
    """
    words: dict[str, None] = {}
    for one in found:
        runs = _RUN.findall(one)
        if "." in one and len(one) > 1 and runs and max(map(len, runs)) == 1:
            words[r"[\s\u00a0]*".join(map(re.escape, one.replace(" ", "")))] = None
        elif runs:
            words[max(runs, key=len)] = None
        elif one.isascii():
            return "(?s).*"
    # Most texts are ASCII, which the server checks four times as fast.
    ways = [f"[{_ASCII}]*+[{_SIMPLE}]*+[^{_SIMPLE}].*"]
    ways += [f".*(?iu:{'|'.join(words)}).*"] if words else []
    return f"(?s)(?:{'|'.join(ways)})"
