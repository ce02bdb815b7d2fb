"""Whether the speaker of a turn states the words of a quote, judged by the clause around them.

English only. The words of a quote may be copied faithfully and still mean the opposite: the clause
around them decides. A clause ends at a semicolon, a dash, a line or "but", and before "and", "so"
or a comma that another subject follows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from graphmem import folding
from graphmem.extraction import DismissalReason
from graphmem.extraction import clause_words as words
from graphmem.extraction.clause_words import Marker
from graphmem.extraction.quotes import TextSpan

_ASCII_QUOTES = str.maketrans({mark: to for mark, to in folding.QUOTES.items() if mark != "`"})
"""Quotation marks as ASCII; a backtick is none here, because it encloses code."""
_MAX_CONTEXT = 600
"""Characters of a sentence before and after a quote that are read."""

_MIN_QUOTED_WORDS = 3


class _Frame(NamedTuple):
    """Parts of a turn, whatever is quoted from it."""

    text: str
    """The text with ASCII quotation marks; positions are those of the turn."""
    sentences: tuple[TextSpan, ...]
    pasted: tuple[TextSpan, ...]
    fiction_from: int
    """Start of the part that is fiction or a text to work on."""
    worked_on: int
    """End of the part that is a text to work on."""


@lru_cache(maxsize=64)
def _frame(text: str) -> _Frame:
    plain = text.translate(_ASCII_QUOTES)
    ends = [
        TextSpan(0, 0),
        *(TextSpan(*match.span()) for match in words.SENTENCE_END.finditer(plain)),
    ]
    starts = [end.end for end in ends]
    stops = [end.start for end in ends[1:]] + [len(plain)]
    pasted = [
        TextSpan(*match.span()) for match in words.PASTED.finditer(plain) if _is_foreign(match)
    ]
    for match in words.LEAD_IN.finditer(plain):
        end = match.end()
        if _introduces_text(match[0], plain[end : end + 40]):
            # After a colon at the end of its line all that follows is the text.
            next_two = plain[end : end + 2]
            ends_line = "\n" in next_two or not next_two.strip(" \t")
            stop = -1 if ends_line else plain.find("\n", end)
            pasted.append(TextSpan(match.start(), len(plain) if stop < 0 else stop))
    opening = words.WHOLE_TURN.search(plain)
    before = [match.end() for match in words.TASK_BEFORE.finditer(plain)]
    return _Frame(
        plain,
        tuple(TextSpan(*span) for span in zip(starts, stops, strict=True)),
        tuple(pasted),
        opening.start() if opening else len(plain),
        max(before, default=0),
    )


def _is_foreign(match: re.Match[str]) -> bool:
    return not match["inner"] or len(match["inner"].split()) >= _MIN_QUOTED_WORDS


def _introduces_text(lead: str, following: str) -> bool:
    """Return whether words before a colon announce words that are not the speaker's own."""
    if words.LEAD.fullmatch(lead):
        return False
    if words.OF_A_TEXT.search(lead) or words.HEADER.match(lead):
        return True
    return (
        words.SPEECH.match(following) is not None
        and words.NAMED_LINE.fullmatch(lead) is not None
        and words.OF_THE_SPEAKER.search(lead) is None
    )


def sentence_spans(text: str) -> tuple[TextSpan, ...]:
    """Return the spans of the sentences of a text in NFC."""
    return _frame(text).sentences


def is_framed(text: str) -> bool:
    """Return whether any part of a text is quoted, pasted, fiction or a text to work on."""
    frame = _frame(text)
    return bool(frame.pasted or frame.worked_on or frame.fiction_from < len(text))


class _Place(NamedTuple):
    """A quoted thing in its sentence."""

    frame: _Frame
    span: TextSpan
    sentence: str
    start: int
    end: int
    """Start and end in `sentence`."""
    clause: TextSpan
    """Its clause, in `sentence`."""
    following: str
    """The next sentence."""

    @property
    def before(self) -> str:
        """Words before it in its clause."""
        return self.sentence[self.clause.start : self.start]

    @property
    def after(self) -> str:
        """Words after it in its clause."""
        return self.sentence[self.end : self.clause.end]


def _place(text: str, span: TextSpan) -> _Place:
    frame = _frame(text)
    n = max(n for n, one in enumerate(frame.sentences) if one.start <= span.start or not n)
    first = max(frame.sentences[n].start, span.start - _MAX_CONTEXT)
    last = next(
        (m for m in range(n, len(frame.sentences)) if frame.sentences[m].end >= span.end), n
    )
    stop = min(max(frame.sentences[last].end, span.end), span.end + _MAX_CONTEXT)
    before = _flat(frame.text[first : span.start])
    thing = " ".join(frame.text[span.start : span.end].split())
    sentence = before + thing + _flat(frame.text[span.end : stop])
    start, end = len(before), len(before) + len(thing)
    breaks = [TextSpan(*match.span()) for match in words.BREAK.finditer(sentence)]
    left = max((one.end for one in breaks if one.end <= start), default=0)
    right = min((one.start for one in breaks if one.start >= end), default=len(sentence))
    following = frame.sentences[last + 1] if last + 1 < len(frame.sentences) else TextSpan(0, 0)
    rest = frame.text[following.start : min(following.end, following.start + _MAX_CONTEXT)]
    return _Place(frame, span, sentence, start, end, TextSpan(left, right), rest)


def _flat(text: str) -> str:
    """Return a text with single spaces, and new lines only before a subject."""
    lines = "\n".join(" ".join(line.split()) for line in f"|{text}|".split("\n"))
    return words.WRAPPED.sub(" ", lines)[1:-1]


def doubts(text: str, span: TextSpan, own: str, *, refuting: bool) -> Iterator[DismissalReason]:
    """Yield the reasons for which the speaker of a text does not state the words at a span.

    Args:
        text: text of the turn, in NFC.
        own: words of the proposal; what they express does not count.
    """
    place = _place(text, span)
    own = own.translate(_ASCII_QUOTES).replace("_", " ")
    if _is_pasted(place):
        yield DismissalReason.PASTED
    for marker in words.MARKERS:
        if refuting and marker.reason is DismissalReason.PAST:
            continue
        if _is_shown(marker, place, own) and not _is_expressed(marker, own):
            yield marker.reason
    inside = words.TAKEN_BACK_INSIDE.search(place.sentence, place.end)
    if inside or words.TAKEN_BACK.match(place.following):
        yield DismissalReason.TAKEN_BACK
    if not refuting and _is_negated(place) and not _says_not(own, place):
        yield DismissalReason.NEGATED


def _is_pasted(place: _Place) -> bool:
    frame, (start, end) = place.frame, place.span
    return start < frame.worked_on or any(
        one.start <= start and end <= one.end and (one.start, one.end) != (start, end)
        for one in frame.pasted
    )


def _is_shown(marker: Marker, place: _Place, own: str) -> bool:
    """Return whether the words of a marker are where they concern the quoted thing."""
    sentence, clause = place.sentence, place.clause
    if marker.reason is DismissalReason.QUESTION and _is_question(place):
        return True
    if marker.reason is DismissalReason.FICTION and _is_fiction(place):
        return True
    if marker.reason is DismissalReason.PAST and _is_past(place, own):
        return True
    if marker.governs:
        reset = max((m.end() for m in words.RESET.finditer(sentence, 0, place.start)), default=0)
        if marker.governs.search(sentence[reset : place.end]):
            return True
    if marker.inside and marker.inside.search(sentence[clause.start : place.end]):
        return True
    return marker.follows is not None and bool(marker.follows.search(_rest(place)))


def _rest(place: _Place) -> str:
    """Return the words after the quoted thing as far as they may still be about it."""
    rest = place.sentence[place.end :]
    end = words.REST_END.search(rest)
    return rest[: end.start()] if end else rest


def _is_expressed(marker: Marker, own: str) -> bool:
    """Return whether a proposal expresses itself what a marker shows."""
    patterns = (marker.governs, marker.inside, marker.expressed)
    return any(pattern.search(own) for pattern in patterns if pattern)


def _is_question(place: _Place) -> bool:
    sentence, clause = place.sentence, place.clause
    lead = words.LEAD.match(sentence, clause.start)
    if words.INVERTED.match(sentence, lead.end() if lead else clause.start):
        return True
    if not sentence.rstrip(" \t\n\"')*_").endswith("?"):
        return False
    tail = sentence[place.end :]
    return words.TAG.search(tail) is not None or not words.INDEPENDENT.search(tail)


def _is_fiction(place: _Place) -> bool:
    return bool(
        place.span.end > place.frame.fiction_from
        or words.IRONIC_OPENING.match(place.sentence)
        or words.IRONY.search(place.sentence + " " + place.following)
    )


def _is_past(place: _Place, own: str) -> bool:
    """Return whether a verb that a proposal has in the present is in the past: likes, liked."""
    verbs = {verb for word in own.split() if word.endswith("s") for verb in (word[:-1], word[:-2])}
    clause = place.sentence[place.clause.start : place.clause.end]
    return any(folding.fold(match[1]) in verbs for match in words.PAST_TENSE.finditer(clause))


def _is_negated(place: _Place) -> bool:
    """Return whether every clause that a quoted thing is part of is negated."""
    quoted = place.sentence[place.start : place.end]
    cuts = [place.start + cut for match in words.BREAK.finditer(quoted) for cut in match.span()]
    bounds = [place.clause.start, *cuts, place.end]
    clauses = [place.sentence[a:b] for a, b in zip(bounds[::2], bounds[1::2], strict=True)]
    after = place.after
    end = words.AFTER_END.search(after)
    return all(map(_has_negation, clauses)) or bool(
        words.NOT_AFTER.search(after[: end.start()] if end else after)
    )


def _has_negation(clause: str) -> bool:
    clause = words.NO_NEGATION.sub(" ", clause)
    return bool(words.NOT.search(clause) or words.NOT_BEFORE.search(clause))


def _says_not(own: str, place: _Place) -> bool:
    """Return whether a proposal is negative itself, and not the denial of a negative verb."""
    verb = words.SAYS_NOT_BY_VERB.search(own)
    return bool(words.SAYS_NOT.search(own)) or (
        verb is not None and folding.fold(verb[0])[:4] not in folding.fold(place.sentence)
    )


def has_other_subject(text: str, quote: TextSpan, predicate: str) -> bool:
    """Return whether a quote leaves out a subject of its clause that is not the speaker.

    Also true for a command, which has no subject.
    """
    place = _place(text, quote)
    before, quoted = place.before, place.sentence[place.start : place.end]
    whole = place.sentence[place.clause.start : place.end]
    if pronouns := words.PRONOUN.findall(whole):
        first = words.PRONOUN.findall(quoted)
        subject = first[0] if first else pronouns[-1]
        return folding.fold(subject) not in ("i", "we")
    if words.RELATIVE.search(place.sentence[: place.clause.start]):
        return True
    verb, *_ = predicate.split("_")
    if verb.endswith("s") and re.search(rf"\b{re.escape(verb)}\b", whole, re.I):
        return words.FIRST.search(before) is None or words.OTHER_NOUN.match(before) is not None
    if (helped := words.HELPED.search(before)) and words.PARTICIPLE.match(quoted):
        return words.OTHER_NOUN.match(before[: helped.start()]) is not None
    lead = words.LEAD.match(whole)
    if words.COMMAND.match(whole, lead.end() if lead else 0):
        return True
    return bool(words.OTHER_NOUN.match(before) and not words.COPULA.match(quoted))
