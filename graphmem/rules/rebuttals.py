"""Recognition of a person's reply that rejects what an assistant stated, in English.

The reply denies the statement in its own words ("It was not serviced at all"), gives another value
("No, it's from Brandt", "My lease ends in May, not June") or calls it wrong. Only the turn right
after the assistant's is read. Agreement, questions, answers to a question and other things reject
nothing; every doubt counts against a rejection.
"""

from __future__ import annotations

import re
from itertools import islice, product

from graphmem.rules import changes, folding, frames, passages, quantities
from graphmem.rules.changes import Change
from graphmem.rules.facts import fact_tokens, is_negated
from graphmem.rules.mentions import Sentence, clauses_of, read_tokens, sentences, stems_of

_MAX_REPLIES, _MAX_CLAIMS = 4, 12
"""First sentences of a reply that are read, and first statements of an assistant."""
_MAX_UNMARKED = 200
"""First characters of a reply among which a longer one has a word of denial."""
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


def rejects(reply: str, stated: str) -> bool:
    """Return whether a person's reply rejects what the assistant's turn before it states.

    Args:
        reply: the person's turn.
        stated: the assistant's turn.
    """
    if len(reply) > _MAX_UNMARKED and not _MARKER.search(reply[:_MAX_UNMARKED]):
        return False
    claims = list(islice(filter(_is_plain, sentences(stated)), _MAX_CLAIMS))
    if not claims:
        return False
    if not stated.rstrip().endswith(passages.ASKING):
        about_user = any(_ABOUT_USER.search(one.text) for one in claims)
        if (about_user and _WRONG.match(reply)) or _gives_other_value(reply, claims):
            return True
        if frames.patches(
            frames.read([*islice(sentences(reply), _MAX_REPLIES)]), frames.read(claims)
        ):
            return True
    replies = filter(_is_plain, islice(sentences(reply), _MAX_REPLIES))
    clauses = [clause for one in replies for clause in clauses_of(one)]
    pairs = list(product(clauses, claims))
    return any(_denies(one.text, claim) or _replaces(one, claim) for one, claim in pairs)


def _is_plain(sentence: Sentence) -> bool:
    return sentence.is_statement and not sentence.text.endswith(passages.ASKING)


def _denies(clause: str, claim: Sentence) -> bool:
    """Return whether a clause denies a statement in its words."""
    match = _DENIAL.match(_LEAD.sub("", clause))
    if match is None or is_negated(fact_tokens(claim.text)):
        return False
    before, after = _stems(match["before"]), _stems(_ADJUNCT.sub("", match["after"]))
    told = claim.stems | _values(claim.text)
    if not after or not after <= told:
        return False
    return before <= told and (bool(before) or _PRONOUN.match(match["before"]) is not None)


def _replaces(clause: Sentence, claim: Sentence) -> bool:
    """Return whether a clause states a statement with another value."""
    text = claim.text
    for pattern, word in _PERSONS:
        text = pattern.sub(word, text)
    own = _OPENING.sub("", clause.text)
    if found := _NOT_OLD.search(own):
        old, rest = _stems(found["old"]), _stems(own[: found.start()])
        told = claim.stems | _values(claim.text)
        return bool(old) and old <= told and bool(rest & told - old) and not rest <= told
    if changes.between(text, own) is Change.CERTAIN:
        return True
    before, after = (frames.read([*sentences(one)]) for one in (text, own))
    return frames.renews(after, before, reply=True)


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
        told = claim.stems | _values(claim.text)
        if _stems(value) <= told:
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
    units = _stems(value) - {numbers[0].key}
    stated = [one for one in read_tokens(claim.text) if one.kind == "number"]
    return len(stated) == 1 and stated[0].key != numbers[0].key and units <= claim.stems


def _months(text: str) -> set[str]:
    return {one.key for one in read_tokens(text) if one.key in quantities.MONTHS}


def _stems(text: str) -> frozenset[str]:
    return frozenset(stems_of(read_tokens(text))) | _values(text)


def _values(text: str) -> frozenset[str]:
    tokens = read_tokens(text)
    return frozenset(one.key for one in tokens if one.kind or one.key in quantities.MONTHS)
