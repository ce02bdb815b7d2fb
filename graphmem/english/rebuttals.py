"""Recognition of a person's reply that rejects what an assistant stated, in English.

The reply denies the statement in its own words ("It was not serviced at all"), gives another value
("No, it's from Brandt", "My lease ends in May, not June") or calls it wrong. Only the turn right
after the assistant's is read. Agreement, questions, answers to a question and other things reject
nothing; every doubt counts against a rejection.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, product

from graphmem import folding
from graphmem.english import changes, frames, passages, quantities
from graphmem.english.changes import Change
from graphmem.english.facts import fact_tokens, is_negated
from graphmem.english.mentions import Sentence, clauses_of, content_of, read_tokens, sentences

_MAX_REPLIES, _MAX_CLAIMS = 4, 12
"""First sentences of a reply that are read, and first statements of an assistant."""
_MAX_UNMARKED = 200
"""First characters of a reply among which a longer one has a word of denial."""
_MAX_KEPT_CHARS = 2_000
"""Maximum length of two turns of which the result is kept."""
_MARKER = re.compile(
    r"\b(?:no|not|never|nope|wrong|incorrect|false|mistaken|actually)\b|n['’]t\b", re.I
)
_PERSONS = (
    (re.compile(r"\byou['’]re\b|\byou are\b", re.I), "I am"),
    (re.compile(r"\byou were\b", re.I), "I was"),
    (re.compile(r"\byou['’]ve\b", re.I), "I have"),
    (re.compile(r"\byour\b", re.I), "my"),
    (re.compile(r"\byours\b", re.I), "mine"),
    (re.compile(r"\byou\b", re.I), "I"),
)
_LEAD = re.compile(r"^\W*(?:(?:oh|well|um|sorry|hmm|but|no|nope|actually|and)\b[,.! ]*)+", re.I)
_ABOUT_USER = re.compile(r"\b(?:you|your|yours|you['’](?:re|ve))\b", re.I)
_OPENING = re.compile(
    r"^\W*(?:(?:oh|well|um|sorry|hmm|but)\b[,.! ]*)*"
    r"(?:no|nope|wrong|incorrect|not quite|not exactly|actually)\b[,.!:;–—-]*\s*(?:actually,? )?",
    re.I,
)
_WRONG = re.compile(
    r"^\W*(?:(?:oh|well|um|sorry|hmm|but|no|nope)\b[,.! ]*)*"
    r"(?:(?:that|this|it)(?:['’]s| is| was)(?: just| simply| completely| all)?"
    r"(?: wrong| incorrect| false| not (?:true|right|correct)|n['’]t (?:true|right|correct))"
    r"|(?:that|this|it) (?:isn|wasn)['’]t (?:true|right|correct)"
    r"|you(?:['’]re| are) (?:wrong|mistaken)|you (?:got|have) (?:that|it) wrong)"
    r"(?: about (?:that|it))?\s*(?:[,.!;:–—]|$)",
    re.I,
)
_DENIAL = re.compile(
    r"^(?P<before>.*?)(?:\b(?:is|are|was|were|has|have|had|do|does|did|am|will|can)(?:n['’]t| not)"
    r"|\b(?:I['’]m|['’]m|it['’]s|they['’]re|we['’]re|he['’]s|she['’]s|my \w+['’]s) not|\bnever)\b"
    r"(?P<after>[^,;:.!?–—]*)",
    re.I,
)
_ADJUNCT = re.compile(
    r"\b(?:at all|yet|any ?more|ever|actually|either|by the way|so far|in years|in ages"
    r"|(?:for|since|until|in|over) (?:\w+ )?(?:\w+ )?(?:days?|weeks?|months?|years?|ages|long|while"
    r"|spring|summer|autumn|fall|winter|\d{4}))\b.*",
    re.I,
)
_PRONOUN = re.compile(
    r"^\W*(?:(?:no|but|well|actually|and|oh|sorry)\b[,. ]*)*"
    r"(?:it|that|this|they|he|she|i|we|those|these)?\W*(?:has|have|had|really|definitely)?\W*$",
    re.I,
)
_SHORT = re.compile(
    r"^(?:(?:it|that|this|he|she|they)(?:['’]s|['’]re| is| are| was| were)"
    r"|(?:the|my) [\w ]{1,25}? (?:is|was))?\s*"
    r"(?P<link>(?:called|named|from|in|at|on|by|with|to|for|until)\b)?\s*(?P<value>(?:[^,;:!?]|(?<=\d):(?=\d)){1,40}?)(?P<rest>[,;.!].*)?$",
    re.I,
)
_NOT_OLD = re.compile(r",? (?:and )?not (?P<old>[^,;:.!?]{1,40})[.!]?$", re.I)
_LINKED_NAME = re.compile(
    r"\b(?P<link>called|named|from|in|at|on|by|with|to|for|is|are|was)\s+(?:the )?"
    r"(?P<name>[A-Z][\w-]+)"
)
_TIMES = frozenset({"date", "weekday", "clock", "year"})


@dataclass(frozen=True, slots=True)
class _Clause:
    """A statement of an assistant, or a clause of a reply."""

    text: str
    content: frozenset[str]
    """Stems of its words of content, and keys of its values."""
    own: str
    """Its text in the first person, without an opening."""
    reading: frames.Reading

    @classmethod
    def of(cls, sentence: Sentence, own: str) -> _Clause:
        reading = frames.read([*sentences(own)])
        return cls(sentence.text, _content(sentence.text), own, reading)


def rejects(reply: str, stated: str) -> bool:
    """Return whether a person's reply rejects what the assistant's turn before it states."""
    known = len(reply) + len(stated) <= _MAX_KEPT_CHARS
    return (_kept if known else _rejects)(reply, stated)


def _rejects(reply: str, stated: str) -> bool:
    if len(reply) > _MAX_UNMARKED and not _MARKER.search(reply[:_MAX_UNMARKED]):
        return False
    claims = list(islice(filter(_is_plain, sentences(stated)), _MAX_CLAIMS))
    if not claims:
        return False
    replies = list(islice(sentences(reply), _MAX_REPLIES))
    if not stated.rstrip().endswith(passages.ASKING):
        about_user = any(_ABOUT_USER.search(one.text) for one in claims)
        if (about_user and _WRONG.match(reply)) or _gives_other_value(reply, claims):
            return True
        if frames.patches(frames.read(replies), frames.read(claims)):
            return True
    clauses = [clause for one in filter(_is_plain, replies) for clause in clauses_of(one)]
    answers = [_Clause.of(one, _OPENING.sub("", one.text)) for one in clauses]
    known = [_Clause.of(one, _in_first_person(one.text)) for one in claims] if answers else []
    pairs = product(answers, known)
    return any(_denies(one, claim) or _replaces(one, claim) for one, claim in pairs)


_kept = lru_cache(maxsize=2_000)(_rejects)
"""The same; each recall of a turn reads the same reply again."""


def _is_plain(sentence: Sentence) -> bool:
    return sentence.is_statement and not sentence.text.endswith(passages.ASKING)


def _in_first_person(text: str) -> str:
    """Return what an assistant states about its user as the user would."""
    for pattern, word in _PERSONS:
        text = pattern.sub(word, text)
    return text


def _denies(clause: _Clause, claim: _Clause) -> bool:
    """Return whether a clause denies a statement in its words."""
    match = _DENIAL.match(_LEAD.sub("", clause.text))
    if match is None or is_negated(fact_tokens(claim.text)):
        return False
    before, after = _content(match["before"]), _content(_ADJUNCT.sub("", match["after"]))
    if not after or not after <= claim.content:
        return False
    alone = _PRONOUN.match(match["before"]) is not None
    return before <= claim.content and (bool(before) or alone)


def _replaces(clause: _Clause, claim: _Clause) -> bool:
    """Return whether a clause states a statement with another value."""
    if found := _NOT_OLD.search(clause.own):
        old, rest = _content(found["old"]), _content(clause.own[: found.start()])
        known = claim.content
        return bool(old) and old <= known and bool(rest & known - old) and not rest <= known
    if changes.between(claim.own, clause.own) is Change.CERTAIN:
        return True
    return frames.renews(clause.reading, claim.reading, reply=True)


def _gives_other_value(reply: str, claims: list[Sentence]) -> bool:
    """Return whether a reply is "No" with another value of the kind that was stated."""
    opening = _OPENING.match(reply)
    if opening is None:
        return False
    first = next(iter(sentences(reply[opening.end() :])), None)
    match = _SHORT.match(first.text.rstrip(".!")) if first and _is_plain(first) else None
    if first is None or match is None:
        return False
    value = match["value"].strip()
    kinds = {t.kind for t in read_tokens(value) if t.kind in _TIMES}
    kinds |= {"month"} if _months(value) else set()
    for claim in claims:
        if _content(value) <= _content(claim.text):
            continue
        known = {one.kind for one in claim.mentions} | ({"month"} if _months(claim.text) else set())
        if kinds & known or (kinds and known & _TIMES and _is_short(value)):
            return True
        if not kinds and _is_other_name(match["link"], value, claim.text):
            return True
        if not kinds and _is_other_number(value, claim):
            return True
    return False


def _is_short(value: str) -> bool:
    return len(value.split()) <= 4


def _is_other_name(link: str | None, value: str, text: str) -> bool:
    name = re.match(r"(?:the )?([A-Z][\w-]+)", value)
    if name is None or len(value.split()) > 4:
        return False
    links = {(folding.fold(m["link"]), m["name"]) for m in _LINKED_NAME.finditer(text)}
    wanted = {folding.fold(link)} if link else {"is", "are", "was", "called", "named"}
    return any(one in wanted and other != name[1] for one, other in links)


def _is_other_number(value: str, claim: Sentence) -> bool:
    numbers = [one for one in read_tokens(value) if one.kind == "number"]
    if len(numbers) != 1 or not _is_short(value):
        return False
    units = _content(value) - {numbers[0].key}
    stated = [one for one in read_tokens(claim.text) if one.kind == "number"]
    return len(stated) == 1 and stated[0].key != numbers[0].key and units <= claim.stems


def _months(text: str) -> set[str]:
    return {one.key for one in read_tokens(text) if one.key in quantities.MONTHS}


def _content(text: str) -> frozenset[str]:
    """Return the words of content and the values of a text; a month counts as a value."""
    return content_of(text) | _months(text)
