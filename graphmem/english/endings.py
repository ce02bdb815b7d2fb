"""Recognition of a statement that ends what another one states: sold, quit, cancelled, in English.

"I cancelled my subscription to the Gazette" ends "I have a subscription to the Gazette". What is
ended is named after the verb as one certain thing, never "a" or a number of things. The other
statement is of the same person, in the present, and names all of it and nothing else by name.
"""

from __future__ import annotations

import re

from graphmem.english.facts import cached_if_short, fact_tokens, is_negated
from graphmem.english.mentions import (
    Sentence,
    is_past,
    names_of,
    read_tokens,
    stem,
    stems_of,
    words_of,
)

_VERB = (
    r"(?:cancell?ed|sold|quit|dropped|ended|deleted|uninstalled|unsubscribed from|returned"
    r"|left|resigned (?:from|as)|retired from|withdrew from|g[ai]ven? up|got(?:ten)? rid of"
    r"|threw (?:away|out)|gave away|stopped(?= \w+ing\b)|stopped (?:using|taking|eating|drinking))"
)
_ENDED = re.compile(
    rf"\b(?:i|we|user)(?:['’]ve| have| has| had)?(?: (?:just|now|finally|also|already|recently"
    rf"|actually))* {_VERB} (?P<thing>[^,;.!?()]+)",
    re.I,
)
_WAS_ENDED = re.compile(
    r"^\W*(?P<thing>(?:my|our|the) [^,;.!?()]{1,80}?) (?:is|was|has been|got)"
    r" (?:cancell?ed|sold|dropped|discontinued|deleted|called off)\b",
    re.I,
)
_REST = re.compile(
    r"\s(?:yesterday|today|tonight|this|last|because|so|and|but|after|since|when|for good|now"
    r"|already|it|that|which|who|again|too|to (?!the\b|[A-Z]))\b.*"
)
"""The words after the name of the thing."""
_INDEFINITE = frozenset(
    words_of("a an one two three some any many few several another each every half most")
)
_GENERAL = frozenset(map(stem, words_of("job membership subscription plan account lessons habit")))
"""Stems of words that may be missing in the other statement: "I go to the gym"."""
_LEFT = re.compile(r"\b(?:i|we)(?:['’]ve| have)?(?: \w+)? left\b", re.I)
_BELONGS = re.compile(
    r"\b(?:member|part) of\b|\bbelong to\b|\b(?:am|are) (?:in|on|with) "
    r"|\b(?:sing|play|dance|work|study|train|volunteer|row|serve|swim|teach)s? (?:in|at|for|with) ",
    re.I,
)
"""Words of a statement that "I left the club" ends: "I left the house" ends nothing."""
_OWN = re.compile(
    r"^\W*(?:(?:so|and|well|oh|yes|also|currently)\W+)*(?:i|we|user|the user)\b", re.I
)
_OWNED = re.compile(r"^\W*(?:my|our|the)\b", re.I)
_OWNED_WORDS = 5
"""First words of a clause among which its subject is named: "my old blue Volvo"."""


@cached_if_short
def ended(text: str) -> frozenset[str]:
    """Return the stems of the words that name what a clause ends; empty if nothing certain."""
    match = _ENDED.search(text) or _WAS_ENDED.search(text)
    if match is None:
        return frozenset()
    tokens = read_tokens(_REST.sub("", match["thing"]))
    if not tokens or tokens[0].kind or tokens[0].key in _INDEFINITE:
        return frozenset()
    return stems_of(tokens)


def ends(newer: Sentence, older: Sentence) -> bool:
    """Return whether a clause ends what an older one states."""
    thing = ended(newer.text)
    if not thing or not older.is_statement or not newer.is_statement:
        return False
    if _LEFT.search(newer.text) and not _BELONGS.search(older.text):
        return False
    needed = thing - _GENERAL or thing
    if not needed <= older.stems or ended(older.text) or is_past(older.text):
        return False
    tokens = read_tokens(older.text)
    if not names_of(tokens, tokens[0]) <= newer.stems or is_negated(fact_tokens(older.text)):
        return False
    owned = _OWNED.match(older.text) and needed <= stems_of(tokens[:_OWNED_WORDS])
    return bool(_OWN.match(older.text) or owned)
