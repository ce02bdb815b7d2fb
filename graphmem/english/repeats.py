"""Sentences that restate one fact in other words, in English.

A sentence is read into a form: its significant words in order, with phrases of one meaning made
equal ("my home is in Porto", "I live in Porto"). Two sentences restate one fact only if they have
a common form, so every value, name, negation, person and thing is the same. What only announces
a statement ("as you know") and what follows in a clause of its own ("…, so the trip takes an hour")
are not compared. A phrase that is missing here is one more result, and never a lost one.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from graphmem import folding
from graphmem.english import quantities
from graphmem.english.facts import FactToken, cached_if_short, fact_tokens
from graphmem.english.mentions import ATTRIBUTES, split_sentences, stem, words_of
from graphmem.english.quantities import FactKind
from graphmem.english.verbs import verb_place

MAX_CHARS = 300
"""Maximum characters of a text that is compared; a longer one states more than a fact."""
MAX_SENTENCES = 3
MAX_RESTATED = 2
"""Maximum number of sentences of a text that another one restates."""
_MIN_WORDS = 3
"""Minimum words of a clause that is compared without the one it belongs to."""

_AGAIN = r"(?: before| already| earlier| last time)?"
_I_HAVE = r"i(?:['’]ve| have)?(?: already)?"
_SAID = (
    rf"(?:as|like) (?:{_I_HAVE} )?(?:sa(?:y|id)|mentioned|told you|wrote|noted|discussed){_AGAIN}"
    r"|(?:as|like) you(?: already)? know|as (?:always|usual)"
)
_TELLING = (
    r"(?:please )?(?:remember|note|(?:do not|don['’]t) forget)|you (?:already )?know"
    rf"|{_I_HAVE} (?:sa(?:y|id)|mentioned|told you){_AGAIN}"
)
_OPENING = (
    r"so|and|well|yes|yeah|ok|okay|oh|also|again|reminder|anyway|hi|hello|hey|by the way|btw|fyi"
    r"|once (?:more|again)|for the record|to repeat|to be clear|to recap|in case you forgot"
    r"|(?:just )?(?:so (?:that )?you know|to remind you|a reminder)"
)
_LEAD = re.compile(
    rf"(?:(?:{_SAID}|{_TELLING}|{_OPENING})\s*[,:;–—-]+\s*"
    rf"|(?:{_SAID}) (?=(?:i|we|my|our|the)\b)"
    rf"|(?:{_TELLING}) (?:that |(?=(?:i|we|my|our|the)\b)))+",
    re.I,
)
"""Words before a statement that only announce it."""
_TAIL = re.compile(
    rf"(?:,?(?<!\s)\s++(?:by the way|btw|remember|again|{_SAID})){{1,4}}[.!]*$", re.I
)
_JOINT = re.compile(
    r"(?:,|\s[–—-])\s(?:so|because)\s"
    r"|\s(?:so|because|and)\s(?=(?:i|we|he|she|they|my|our|his|her|the)\b)",
    re.I,
)
"""Before a clause with a subject of its own, after which the one before it holds by itself."""
_UNSURE = re.compile(
    r"[?\"“”„«»]|\b(?:if|would|might|could|should|maybe|perhaps|probably|unless|whether|wish|hope"
    r"|imagine|pretend|suppose|dream(?:ed|t)?|not true|wrong|used to|until|till)\b",
    re.I,
)
"""Words of sentences that are compared only as a whole, word by word."""

_DATE = "="
"""Before the key of a date in a form."""
_WHEN = rf"(?:every|each|once|twice|{_DATE}\S+)"
_PHRASES: tuple[tuple[str, str], ...] = (
    # Agreement with the subject, and the same person.
    (r"^user (?=\S)", "i "),
    (r"^(\S+) (i 's \S+) (?=\S+ )(?!be )", r"\2 \1 "),
    (r"\bour ", ""),
    (r"\b(?:still|already) ", ""),
    (r"\b(?:own|have got)\b", "have"),
    (r"\bgo (\w+?)(\w)\2ing\b", r"\1\2"),
    # Something that happens at a time.
    (r"\bevery #2\b", "every other"),
    (r"\b(?:on )?((?:mon|tues|wednes|thurs|fri|satur|sun)day)s\b", r"=every =\1"),
    (r"^(=every =\S+day) (.+)$", r"\2 \1"),
    (r"\b(?:take|takes) place\b|\b(?:happen|happens|occur|occurs)\b|\bbe held\b", "be"),
    (rf"\b(?:start|starts|begin|begins) (?={_DATE}@)", "be "),
    (rf"^we (?:hold|have) (.+?) (?={_WHEN})", r"\1 be "),
    (rf"^there be (.+?) (?={_WHEN})", r"\1 be "),
    (r"^be when ", ""),
    (rf"^they (\w+?)e? (\S+(?: \S+)?) (?={_WHEN})", r"\2 be \1ed "),
    (r"\bdeadline (?:for|of) (.+?) be\b", r"\1 's deadline be"),
    (r"^(\S+) deadline be\b", r"\1 's deadline be"),
    (r"^(\S+(?: \S+)?) be due ", r"\1 's deadline be "),
    # Homes and work.
    (r"\b(?:reside|resides|dwell|dwells|living|lives)\b", "live"),
    (r"\bi 's home be (?:in|at) ", "i live in "),
    (r"^(.+) be i 's home$", r"i live in \1"),
    (r"^(.+) be where (.+) (live|works?)$", r"\2 \3 in \1"),
    (r"^(.+) be where (.+) be$", r"\2 be in \1"),
    (r"\bwork for\b|\bbe employed (?:at|by)\b", "work at"),
    (r"\bi 's (?:employer|job|company) be (?:at )?", "i work at "),
    # Names, birthdays, numbers, prices, allergies.
    (r"^(.+?) be (?:called|named) ", r"\1 's name be "),
    (r"^i have (\S+) (?:called|named) ", r"i 's \1 's name be "),
    (r"\bi was born ", "i 's birthday be "),
    (r"\b(?:have|suffer from) allergy to ", "be allergic to "),
    (r"\bhave (\S+) allergy$", r"be allergic to \1s"),
    (r"\b(?:you )?(?:can )?(?:reach|call) i (?:at|on) ", "i 's number be "),
    (r"\bi 's (?:phone|telephone|mobile) number be ", "i 's number be "),
    (r"\bprice of (.+?) be ", r"\1 be "),
    (r"^(?:we|i|you) pay (.+?) (?:in|as) (rent|tax|fees)$", r"\2 be \1"),
    (r"^(?:we|i|you) pay (\d.+?) for (.+)$", r"\2 be \1"),
    (r"^(.+?) (?:costs?|sells? for) (?=\d)", r"\1 be "),
    (r"\b(?:drink|have) (i 's (?:tea|coffee))\b", r"take \1"),
    (r"\bfavorite\b", "favourite"),
    (r"\bcolor\b", "colour"),
    (r"\b(?:kilometres?|kilometers?)\b", "km"),
    (r"^(?:we|i) keep (.+?) (?=(?:in|on|under|behind|at) )", r"\1 be "),
    (r"\b(?:lies|sits|stands|hangs) (?=(?:in|on|under|behind|at) )", "be "),
)
"""Words of one meaning. Each phrase keeps everything that could be a value."""
_REWRITES = tuple((re.compile(found), given) for found, given in _PHRASES)
_OF = re.compile(r"^(?P<noun>\S+(?: \S+)?) of (?P<thing>[^,]+?) be (?P<value>.+)$")
_HAS = re.compile(r"^(?P<thing>.+?) have (?P<noun>[a-z]+) (?P<value>.+)$")
_INVERTED = re.compile(r"^(?>(?P<value>[^']+?) be )(?P<thing>.+?) 's (?P<noun>(?:\S+ )?\S+)$")
_INVERTED_OF = re.compile(r"^(?P<value>.+?) be (?P<noun>\S+(?: \S+)?) of (?P<thing>.+)$")
_FIRST_PERSON = {"me": "i", "my": "i 's", "mine": "i 's"}

_BEGINNING = 4
_END = re.compile(r"(?<=[.!])\s|\n")
_WORD = re.compile(r"\w{3,}|\d+")
_FREQUENT = frozenset(words_of("the and but you for was has not that this with it's i'm"))

_BASES = frozenset(words_of("live work stay use drive study learn play teach rent own meet"))
"""Verbs whose form with -ing is read for certain."""

_RATES = frozenset({"every", "each", "other"})

_ONE_SIDED = (
    quantities.NEGATIONS
    | quantities.BOUNDS
    | frozenset(words_of("in at on to by for from with than as near behind between into out when"))
    | frozenset(words_of("where who what how there"))
)
"""Words of sentences of which the sides cannot change places: the cat is on the mat."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The statements of a text."""

    sentences: tuple[str, ...]
    """The form of each sentence as a whole; empty for a text that is not compared."""
    stated: frozenset[str]
    """The forms of all sentences and clauses that it states."""

    def restates(self, other: Reading) -> bool:
        """Return whether this text states every sentence of another one."""
        return bool(other.sentences) and self.stated.issuperset(other.sentences)


@cached_if_short
def read(text: str) -> Reading:
    """Return the statements of a text."""
    if len(text) > MAX_CHARS:
        return Reading((), frozenset())
    parts = list(split_sentences(text))
    if not 0 < len(parts) <= MAX_SENTENCES:
        return Reading((), frozenset())
    whole = tuple(filter(None, map(form, parts)))
    if len(whole) < len(parts):
        return Reading((), frozenset())
    clauses = (form(clause) for part in parts for clause in _clauses(part))
    return Reading(whole, frozenset((*whole, *filter(None, clauses))))


def near_pairs(texts: Mapping[str, str]) -> set[tuple[str, str]]:
    """Return the pairs of which the first text may restate the second, by their words.

    It is cheap, and few pairs of texts are near; `read` decides.
    """
    by_word: dict[str, list[str]] = {}
    short: dict[str, frozenset[str]] = {}
    for name, text in texts.items():
        if len(text) > MAX_CHARS or "?" in text:
            continue
        first, *rest = _END.split(text)
        words = _beginnings(first)
        if len(rest) < MAX_RESTATED:
            short[name] = words
        for word in words.union(*map(_beginnings, rest)):
            by_word.setdefault(word, []).append(name)
    pairs = set[tuple[str, str]]()
    for name, words in short.items():
        shared = Counter(itertools.chain.from_iterable(by_word[word] for word in words))
        pairs |= {
            (one, name) for one, n in shared.items() if one != name and 2 * n >= len(words) - 1
        }
    return pairs


def _beginnings(sentence: str) -> frozenset[str]:
    return (
        frozenset([word[:_BEGINNING] for word in _WORD.findall(folding.fold(sentence))]) - _FREQUENT
    )


def form(sentence: str) -> str:
    """Return the significant words of a sentence in order; empty without any.

    Sentences with equal forms state the same. A question and a condition have one that no statement
    has.
    """
    if _UNSURE.search(sentence):
        return f"? {sentence}"
    words = fact_tokens(_plain(sentence))
    text = " ".join(_keys(_dates_last(words)))
    for found, given in _REWRITES:
        text = found.sub(given, text)
    return _equated(_attributes(text))


def _plain(sentence: str) -> str:
    """Return a sentence without what announces it."""
    stated = _TAIL.sub("", _LEAD.sub("", sentence, count=1) or sentence)
    return stated or sentence


def _clauses(sentence: str) -> Iterator[str]:
    """Yield the clauses of a sentence that hold by themselves."""
    if _UNSURE.search(sentence):
        return
    parts = _JOINT.split(sentence)
    if len(parts) == 1:
        return
    for part in parts:
        words = fact_tokens(_plain(part))
        if len(words) >= _MIN_WORDS and verb_place(words) is not None:
            yield part


def _keys(words: Sequence[FactToken]) -> Iterator[str]:
    place = verb_place(words)
    for n, word in enumerate(words):
        key = _FIRST_PERSON.get(word.key, word.key)
        if word.kind is FactKind.DATE:
            key = f"{_DATE}{key}"
        elif word.progressive:
            # The stem of living is live, and liv nothing.
            key = next((base for base in sorted(word.bases) if base.endswith("e")), key)
            key = min((one for one in word.bases if one in _BASES), default=key)
        elif n == place and n:
            key = min(word.bases, key=len, default=key)  # she lives, I live
        if word.capitals and word.kind is FactKind.VALUE:
            key = f"^{key}"  # IT is not it.
        yield key


def _attributes(text: str) -> str:
    """Return a form with one order of words for an attribute: the port of X is 1, X has port 1."""
    for pattern in (_OF, _INVERTED_OF, _INVERTED, _HAS):
        match = pattern.match(text)
        if match and (pattern is not _HAS or stem(match["noun"]) in ATTRIBUTES):
            return f"{match['thing']} 's {match['noun']} be {match['value']}"
    return text


def _dates_last(words: Sequence[FactToken]) -> Sequence[FactToken]:
    """Return the words with the date that they begin with after the others."""
    n = 0
    while n < len(words) and (words[n].kind is FactKind.DATE or words[n].key in _RATES):
        n += 1
    return (*words[n:], *words[:n])


def _equated(text: str) -> str:
    """Return a form with the sides of "A is B" in one order, which states the same as "B is A"."""
    sides = text.split(" be ")
    if len(sides) != 2 or not _ONE_SIDED.isdisjoint(text.split()):
        return text
    return " be ".join(sorted(sides))
