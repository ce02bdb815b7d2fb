"""Word tables that tell which differences between two texts change what they say.

English only. A word that is in no table always counts, so another language, a name or a value
is compared letter by letter and an unknown word can only make two texts differ.
"""

from __future__ import annotations

from enum import StrEnum


class FactKind(StrEnum):
    """What sort of fact a word carries."""

    NUMBER = "number"
    DATE = "date"
    """A day, a stretch of days or a time of day."""
    NAME = "name"
    NEGATION = "negation"
    VALUE = "value"
    """Any other word that carries meaning."""


def _row(text: str) -> list[str]:
    return text.split()


MONTHS = _row(
    "january february march april may june july august september october november december"
)
WEEKDAYS = _row("monday tuesday wednesday thursday friday saturday sunday")

SHORT_DATES = {
    **{month[:3]: month for month in MONTHS},
    **{day[:3]: day for day in WEEKDAYS},
    "sept": "september",
    "tues": "tuesday",
    "thur": "thursday",
    "thurs": "thursday",
}
"""Abbreviation of a month or weekday to its full name."""
AMBIGUOUS_SHORT_DATES = frozenset({"mar", "sat", "sun", "wed"})
"""Words of their own when written small."""
AMBIGUOUS_DATES = frozenset({"may", "march"})

DATE_WORDS = frozenset(MONTHS + WEEKDAYS) | frozenset(
    _row(
        "today tonight tomorrow yesterday day week fortnight weekend month year decade century "
        "morning afternoon evening night noon midnight spring summer autumn winter"
    )
)
DATE_QUALIFIERS = frozenset({"next", "last", "this", "previous", "every"})
"""Parts of a date when one follows: next week, last Friday."""

ONES = {
    word: value
    for value, word in enumerate(
        _row(
            "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
            "fifteen sixteen seventeen eighteen nineteen"
        )
    )
}
TENS = {
    word: 10 * value
    for value, word in enumerate(
        _row("twenty thirty forty fifty sixty seventy eighty ninety"), start=2
    )
}
SCALES = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12}
"""Powers of ten."""
ORDINALS = {
    word: value
    for value, word in enumerate(
        _row("first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"),
        start=1,
    )
}
AMOUNTS = frozenset(
    _row(
        "once twice thrice half quarter double triple dozen single percent dollar euro pound yen "
        "rupee"
    )
)
"""Further words of quantity; none is turned into digits."""
SIGNS = {"%": "percent", "$": "dollar", "€": "euro", "£": "pound", "¥": "yen", "₹": "rupee"}
SIGN_WORDS = {"dollars": "dollar", "euros": "euro", "pounds": "pound", "rupees": "rupee"}

NEGATIONS = frozenset(
    _row(
        "not no never none nobody nothing nowhere neither nor without except unless hardly barely "
        "scarcely rarely seldom lack lacks lacking stop stops stopped quit quits ceased former "
        "formerly longer instead cancelled canceled"
    )
)
"""Words that turn a statement round. A word missing here still counts, as a value."""

ARTICLES = frozenset({"a", "an", "the"})
QUANTIFIED = frozenset({"few", "little", "lot", "couple", "bit"})
"""After these an article means something: few people, a few people."""
DETERMINERS = ARTICLES | frozenset(
    _row("my your his her its our their this that these those one each no some any")
)
LINKS = frozenset({"and", "but", "that"})
FILLERS = frozenset(
    _row(
        "just really actually basically literally simply honestly very also please "
        "um uh er erm hmm btw fyi"
    )
)
OPENERS = frozenset(
    _row("well so yes yeah yep right alright ok okay oh hey hi hello sure anyway now look listen")
)
"""Dropped only where they begin a sentence and a comma follows."""
DATE_PREPOSITIONS = frozenset({"on", "in", "at"})
"""Dropped only before a date."""

SAME_WORD = {
    **dict.fromkeys(("am", "is", "are"), "be"),
    "were": "was",
    "has": "have",
    "does": "do",
}
"""Agreement with the subject. Tense stays: `is` and `was` tell different facts."""
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
"""What stands after an apostrophe."""
NOT_STEMS = {
    **{stem: stem for stem in _row("do does did is are was were could would should")},
    **{stem: stem for stem in _row("have has had must need might")},
    "ca": "can",
    "wo": "will",
    "sha": "shall",
}
"""What stands before n't, and the word it shortens."""
SUBJECTS = frozenset(_row("i you he she it we they that this there here who what where how"))
"""After these 's is always `is` or `has`, never a possessive."""
AFTER_IS = DETERMINERS - {"one"} | DATE_PREPOSITIONS | frozenset({"not", "from", "with", "very"})
"""Before these 's after a noun is `is`: Bob's in Porto."""

COMMON = (
    ARTICLES | DETERMINERS | LINKS | FILLERS | OPENERS | SUBJECTS | DATE_PREPOSITIONS | NEGATIONS
) | frozenset(
    _row(
        "from to with for of by as if when while because after before since until although though "
        "be was have do will would can could should may might must had did let us me him them all "
        "both most many some any there now then however please"
    )
)
"""Words that are no name although they begin a sentence with a capital."""
