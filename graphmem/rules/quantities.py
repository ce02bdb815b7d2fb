"""Numbers, dates and times, in digits or words, in one canonical spelling each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from graphmem.rules import lexicon
from graphmem.rules.lexicon import FactKind

_MONTH = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    "|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
)
_DAY = r"\d{1,2}"
_NTH = r"(?:st|nd|rd|th)?"
_YEAR = r"(?:,? (?P<{}>\d{{4}})(?!\w|[.,:]\d))?"
_END = r"(?!\w|[.:/,-]\d)"
_NUMBER = r"\d+(?:[.,:]\d+)*"

PATTERN = (
    r"(?P<iso>(?<!\w)(?P<iso_year>\d{4})-(?P<iso_month>\d{2})-(?P<iso_day>\d{2})(?!\d))"
    rf"|(?P<month_first>(?i:(?<!\w)(?P<month_a>{_MONTH})\.? (?P<day_a>{_DAY}){_NTH}{_END}"
    rf"{_YEAR.format('year_a')}))"
    rf"|(?P<day_first>(?i:(?<![\w.])(?P<day_b>{_DAY}){_NTH}(?: of)?[ -](?P<month_b>{_MONTH})"
    rf"(?!\w)\.?{_YEAR.format('year_b')}))"
    r"|(?P<half_day>(?i:(?<![\w.:])(?P<hour>\d{1,2})(?:[:.](?P<minute>\d{2}))? ?"
    r"(?P<half>[ap])\.?m(?!\w)))"
    r"|(?P<clock>(?<![\w.:])(?P<hour_24>\d{1,2}):(?P<minute_24>\d{2})(?::\d{2})?(?![\w:]|\.\d))"
    r"|(?P<sum>(?:(?<![\w)])[+-])?(?P<sign>[$€£¥₹]?)(?P<digits>"
    rf"(?:(?<![\w)])[+-])?{_NUMBER}(?: ?[-*/] ?{_NUMBER})*)"
    r"(?P<suffix>(?i:k|st|nd|rd|th)(?!\w))?"
    r"(?: (?P<scale>(?i:hundred|thousand|million|billion|trillion))(?!\w))?)"
)
"""One alternation of named groups; every repeat is bounded or runs over digits once."""

_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_PLAIN_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_CALENDAR = re.compile(r"\d{1,4}/\d{1,2}/\d{1,4}")
_TENS = frozenset(lexicon.TENS.values())
_SMALL = {word: value for word, value in {**lexicon.ONES, **lexicon.TENS}.items() if value}


class CanonicalWord(NamedTuple):
    """One canonical word that a scanned stretch stands for."""

    key: str
    surface: str
    kind: FactKind | None
    """None for a plain word, whose kind depends on its neighbours."""


def quantity(match: re.Match[str]) -> list[CanonicalWord]:
    """Return the canonical words of a match of PATTERN."""
    return [CanonicalWord(key, match.group(), kind) for key, kind in _read(match)]


def _read(match: re.Match[str]) -> list[tuple[str, FactKind]]:
    if match["iso"]:
        return [(_date(match["iso_year"], match["iso_month"], match["iso_day"]), FactKind.DATE)]
    if match["month_first"]:
        return [(_date(match["year_a"], match["month_a"], match["day_a"]), FactKind.DATE)]
    if match["day_first"]:
        return [(_date(match["year_b"], match["month_b"], match["day_b"]), FactKind.DATE)]
    if match["half_day"]:
        hour = int(match["hour"]) % 12 + 12 * (match["half"] in "pP")
        return [(f"@{hour:02}:{match['minute'] or '00'}", FactKind.DATE)]
    if match["clock"]:
        return [(_clock(match), FactKind.DATE)]
    return _sum(match)


def _date(year: str | None, month: str, day: str) -> str:
    """Return yyyy-mm-dd, with ---- for an unnamed year."""
    if not month.isdigit():
        number = lexicon.MONTHS.index(lexicon.SHORT_DATES[month[:3].lower()]) + 1
        month = f"{number:02}"
    return f"{year or '----'}-{month}-{int(day):02}"


def _clock(match: re.Match[str]) -> str:
    """Return the time of day; before 13:00 nobody says which half of the day is meant."""
    hour = int(match["hour_24"])
    seconds = match.group()[len(match["hour_24"]) + 3 :]
    mark = "" if hour >= 13 or hour == 0 else "?"
    return f"@{hour:02}:{match['minute_24']}{seconds}{mark}"


def _sum(match: re.Match[str]) -> list[tuple[str, FactKind]]:
    digits = match["digits"].replace(" ", "")
    kind = FactKind.DATE if _CALENDAR.fullmatch(digits) else FactKind.NUMBER
    if _THOUSANDS.fullmatch(digits):
        digits = digits.replace(",", "")
    suffix, scale = (match["suffix"] or "").lower(), (match["scale"] or "").lower()
    zeros = lexicon.SCALES.get(scale, 2 if scale else 0) + (3 if suffix == "k" else 0)
    if zeros and _PLAIN_NUMBER.fullmatch(digits):
        digits = _shifted(digits, zeros)
    else:
        digits += f" {suffix} {scale}" if suffix == "k" or scale else ""
    if suffix not in {"", "k"}:
        digits = f"#{digits}"
    before = match.group().partition(match["digits"])[0].removesuffix(match["sign"])
    found = [(before + digits, kind)]
    # "$5" and "5 dollars" come out alike: the number first.
    if match["sign"]:
        found.append((lexicon.SIGNS[match["sign"]], FactKind.NUMBER))
    return found


def _shifted(digits: str, zeros: int) -> str:
    """Return the number times 10^zeros, exactly, however long it is."""
    whole, _, rest = digits.partition(".")
    rest = rest.ljust(zeros, "0")
    whole, rest = (whole + rest[:zeros]).lstrip("0") or "0", rest[zeros:].rstrip("0")
    return f"{whole}.{rest}" if rest else whole


def spelled(run: Sequence[str]) -> tuple[str, int]:
    """Return the number a row of words begins with, and how many words it takes; 0 if none.

    `twenty three` is 23 and `two hundred and five` 205, but `two three` is 2.
    """
    if run[:1] == ["zero"]:
        return "0", 1
    total = current = used = 0
    room, scale = 100, max(lexicon.SCALES.values()) + 1
    for n, word in enumerate(run):
        value = _SMALL.get(word, room)
        if value < room:
            current, room = current + value, 10 if value in _TENS else 0
        elif word == "hundred" and (0 < current < 100 or not used):
            current, room = 100 * max(current, 1), 100
        elif lexicon.SCALES.get(word, scale) < scale and (current or not used):
            scale = lexicon.SCALES[word]
            total, current, room = total + max(current, 1) * 10**scale, 0, 100
        elif word == "and" and used and room == 100 and _SMALL.keys() & {*run[n + 1 : n + 2]}:
            continue
        else:
            break
        used = n + 1
    return str(total + current), used
