"""Word tables that determine which differences between two texts change their meaning.

English only. A word that is in no table always counts: text in another language, names and values
are compared letter by letter. An unknown word can only make two texts differ.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

AMBIGUOUS_SHORT_DATES = frozenset({"mar", "sat", "sun", "wed"})
"""Abbreviations that are common words in lower case."""
AMBIGUOUS_DATES = frozenset({"may", "march"})

DATE_QUALIFIERS = frozenset({"next", "last", "this", "previous", "every"})
"""Words that are part of a date if one follows: next week, last Friday."""

SCALES = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12}
"""Powers of ten."""

SIGNS = {"%": "percent", "$": "dollar", "€": "euro", "£": "pound", "¥": "yen", "₹": "rupee"}
MARKS = frozenset("′″‴‰‱§")
"""Symbols that Unicode takes for punctuation, and that change a number."""
SIGN_WORDS = {"dollars": "dollar", "euros": "euro", "pounds": "pound", "rupees": "rupee"}

ARTICLES = frozenset({"a", "an", "the"})
RATE_ARTICLES = frozenset({"a", "an"})

QUANTIFIED = frozenset({"few", "little", "lot", "couple", "bit"})
"""Words that an article changes: few people, a few people."""

LINKS = frozenset({"and", "but", "that"})

DATE_PREPOSITIONS = frozenset({"on", "in", "at"})
"""Words dropped only before a date."""

SAME_WORD = {**dict.fromkeys(("am", "is", "are"), "be"), "were": "was", "has": "have", "does": "do"}
"""Agreement with the subject. The tense is kept: `is` and `was` state different facts."""
EXPANSIONS = {
    "cannot": ("can", "not"),
    "gonna": ("going", "to"),
    "wanna": ("want", "to"),
    "im": ("i", "be"),
    "ive": ("i", "have"),
    "thats": ("that", "be"),
    "theyre": ("they", "be"),
    "let's": ("let", "us"),
}
SUFFIXES = {"m": "be", "re": "be", "ve": "have", "ll": "will"}
"""Words by their ending after an apostrophe."""

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


class FactKind(StrEnum):
    """Kind of fact that a word carries."""

    NUMBER = "number"
    DATE = "date"
    """A day, a range of days or a time of day."""
    NAME = "name"
    NEGATION = "negation"
    VALUE = "value"
    """Any other word that carries meaning."""


def _split(text: str) -> list[str]:
    return text.split()


MONTHS = _split(
    "january february march april may june july august september october november december"
)
WEEKDAYS = _split("monday tuesday wednesday thursday friday saturday sunday")

SHORT_DATES = {
    **{month[:3]: month for month in MONTHS},
    **{day[:3]: day for day in WEEKDAYS},
    "sept": "september",
    "tues": "tuesday",
    "thur": "thursday",
    "thurs": "thursday",
}
"""Abbreviation of a month or weekday to its full name."""

DATE_WORDS = frozenset(MONTHS + WEEKDAYS) | frozenset(
    _split(
        "today tonight tomorrow yesterday day week fortnight weekend month year decade century "
        "morning afternoon evening night noon midnight spring summer autumn winter"
    )
)

ONES = {
    word: value
    for value, word in enumerate(
        _split(
            "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
            "fifteen sixteen seventeen eighteen nineteen"
        )
    )
}
TENS = {
    word: 10 * value
    for value, word in enumerate(
        _split("twenty thirty forty fifty sixty seventy eighty ninety"), start=2
    )
}
ORDINALS = {
    word: value
    for value, word in enumerate(
        _split("first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"),
        start=1,
    )
}
AMOUNTS = frozenset(
    _split(
        "once twice thrice half quarter double triple dozen single percent dollar euro pound yen "
        "rupee"
    )
)
"""Other words of quantity; they are not converted to digits."""

CEASING = frozenset(_split("stop stops stopped quit quits ceased"))
"""Verbs that negate the one that follows."""
NEGATIONS = CEASING | frozenset(
    _split(
        "not no never none nobody nothing nowhere neither nor without except unless hardly barely "
        "scarcely rarely seldom lack lacks lacking former "
        "formerly longer instead cancelled canceled"
    )
)
"""Words that negate a statement. A word missing here still counts, as a value."""

RATE_UNITS = frozenset(_split("second minute hour day night week month quarter year"))
"""Units before which an article after a number means `per`: 100 requests a minute."""
BOUNDS = frozenset(
    _split("more less fewer most least over under above below before after exactly about nearly")
)
"""Words that bound a number or a date; one in place of another is a value in place of another."""
DETERMINERS = ARTICLES | frozenset(
    _split("my your his her its our their this that these those one each no some any")
)
FILLERS = frozenset(
    _split(
        "just really actually basically literally simply honestly very also please "
        "um uh er erm hmm btw fyi"
    )
)
OPENERS = frozenset(
    _split("well so yes yeah yep right alright ok okay oh hey hi hello sure anyway now look listen")
)
"""Words dropped only at the start of a sentence and before a comma."""

NOT_STEMS = {
    **{stem: stem for stem in _split("do does did is are was were could would should")},
    **{stem: stem for stem in _split("have has had must need might")},
    "ca": "can",
    "wo": "will",
    "sha": "shall",
}
"""Full verbs by their form before n't."""
SUBJECTS = frozenset(_split("i you he she it we they that this there here who what where how"))
"""Words after which 's is always `is` or `has`, never a possessive."""
AFTER_IS = DETERMINERS - {"one"} | DATE_PREPOSITIONS | frozenset({"not", "from", "with", "very"})
"""Words before which 's after a noun is `is`: Bob's in Porto."""

COMMON = (
    ARTICLES | DETERMINERS | LINKS | FILLERS | OPENERS | SUBJECTS | DATE_PREPOSITIONS | NEGATIONS
) | frozenset(
    _split(
        "from to with for of by as if when while because after before since until although though "
        "be was have do will would can could should may might must had did let us me him them all "
        "both most many some any there now then however please"
    )
)
"""Words that are not names although a sentence may start with them in capitals."""


_TENS = frozenset(TENS.values())
_SMALL = {word: value for word, value in {**ONES, **TENS}.items() if value}
NUMBER_STARTS = _SMALL.keys() | SCALES.keys() | {"zero", "hundred"}
"""Words with which a number may start."""


class CanonicalWord(NamedTuple):
    """One canonical word of a scanned span."""

    key: str
    surface: str
    kind: FactKind | None
    """None for a plain word, whose kind depends on its neighbours."""


def canonical_words(match: re.Match[str]) -> list[CanonicalWord]:
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
        number = MONTHS.index(SHORT_DATES[month[:3].lower()]) + 1
        month = f"{number:02}"
    return f"{year or '----'}-{month}-{int(day):02}"


def _clock(match: re.Match[str]) -> str:
    """Return the time of day; before 13:00 a mark shows that the half of the day is unknown."""
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
    zeros = SCALES.get(scale, 2 if scale else 0) + (3 if suffix == "k" else 0)
    if zeros and _PLAIN_NUMBER.fullmatch(digits):
        digits = _shift_decimal(digits, zeros)
    else:
        digits += f" {suffix} {scale}" if suffix == "k" or scale else ""
    if suffix not in {"", "k"}:
        digits = f"#{digits}"
    before = match.group().partition(match["digits"])[0].removesuffix(match["sign"])
    result = [(before + digits, kind)]
    # "$5" and "5 dollars" give the same words: the number first.
    if match["sign"]:
        result.append((SIGNS[match["sign"]], FactKind.NUMBER))
    return result


def _shift_decimal(digits: str, zeros: int) -> str:
    """Return the exact product of a number and 10^zeros, for any length."""
    whole, _, rest = digits.partition(".")
    rest = rest.ljust(zeros, "0")
    whole, rest = (whole + rest[:zeros]).lstrip("0") or "0", rest[zeros:].rstrip("0")
    return f"{whole}.{rest}" if rest else whole


def parse_number_words(run: Sequence[str]) -> tuple[str, int]:
    """Return the number at the start of a list of words, and how many words it takes; 0 if none.

    `twenty three` is 23 and `two hundred and five` 205, but `two three` is 2.
    """
    if run[:1] == ["zero"]:
        return "0", 1
    total = current = used = 0
    room, scale = 100, max(SCALES.values()) + 1
    for n, word in enumerate(run):
        value = _SMALL.get(word, room)
        if value < room:
            current, room = current + value, 10 if value in _TENS else 0
        elif word == "hundred" and (0 < current < 100 or not used):
            current, room = 100 * max(current, 1), 100
        elif SCALES.get(word, scale) < scale and (current or not used):
            scale = SCALES[word]
            total, current, room = total + max(current, 1) * 10**scale, 0, 100
        elif word == "and" and used and room == 100 and _SMALL.keys() & {*run[n + 1 : n + 2]}:
            continue
        else:
            break
        used = n + 1
    return str(total + current), used
