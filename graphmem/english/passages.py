"""Passages of a conversation, and the sentences of them that carry information."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from graphmem import folding
from graphmem.english.mentions import words_of

MAX_STATEMENT_CHARS = 300
"""Maximum length of an extracted statement, in characters."""


MIN_WORDS = 4
"""Minimum words of an informative sentence; shorter ones are mostly greetings or reactions."""


SENTENCE_END = re.compile(r"(?<=[.!?。！？؟…])\s+|\n+")


ASKING = ("?", "？", "؟")


_WORD = re.compile(r"\w+")


_LISTENER = frozenset({"you", "your", "yours", "yourself", "yourselves", "ya", "thanks", "thank"})
"""Words that address the listener. English, like the other rules that work without a model."""

_INNER_NAME = re.compile(r"(?<=[\w,;:'’\"]\s)(?!I\b)[A-Z]|\d")
"""A capital inside a sentence, or a digit."""
_OWN = frozenset({"my", "our", "ours", "mine", "i", "we", "me", "us"})
_GREETINGS = frozenset(words_of("hi hello hey bye thanks thank you wow yay congratulations"))
_REACTIONS = _LISTENER | frozenset(
    words_of(
        "ok okay yes yeah yep no nope sure right great good nice cool perfect wonderful lovely "
        "awesome amazing fine well so very much that this it is was s for all the a lot hi hello "
        "hey bye goodbye morning evening night again later haha lol wow oh ah hm hmm indeed "
        "exactly really funny interesting noted got understood alright please welcome are glad "
        "happy to help and too anytime sounds will do see today now day have"
    )
)
"""Words of which a sentence without others states nothing."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A turn of a person, or an episode without turns, that no belief is based on."""

    id: str
    label: str
    """Label of the node: Turn or Episode."""
    episode_id: str
    name: str | None
    text: str
    """Text as written in the conversation."""
    at: datetime

    @property
    def turn_id(self) -> str | None:
        """Id of the turn; None if the passage is an episode."""
        return self.id if self.label == "Turn" else None

    @property
    def spoken(self) -> str:
        """Text with its speaker's name, as it was embedded."""
        return prefix_speaker(self.name, self.text)


def prefix_speaker(name: str | None, text: str) -> str:
    """Return a text prefixed with its speaker's name."""
    return f"{name}: {text}" if name else text


def informative_sentences(text: str) -> str:
    """Return the sentences that are informative about the speaker or the world.

    Questions, sentences of fewer than four words, and sentences that address the listener are left
    out: praise and thanks are what conversations repeat most.
    """
    sentences = (sentence.strip() for sentence in SENTENCE_END.split(text))
    return " ".join(sentence for sentence in sentences if _is_informative(sentence))


def _is_informative(sentence: str) -> bool:
    words = _WORD.findall(folding.fold(sentence))
    return len(words) >= MIN_WORDS and not sentence.endswith(ASKING) and _LISTENER.isdisjoint(words)


def states_something(text: str) -> bool:
    """Return whether a text may state a fact: it is not only questions, greetings and reactions.

    A question with a name, a number or a word of its speaker may state something, too.
    """
    return any(_asserts(one) or _asks_of_own(one) for one in SENTENCE_END.split(text))


def stating_part(text: str) -> str:
    """Return a text from its first to its last sentence that may state a fact; else the whole.

    Greetings, also with a name, reactions and questions without own content at its ends are left
    out.
    """
    ends = [(one.start(), one.end()) for one in SENTENCE_END.finditer(text)]
    starts, stops = [0, *(end for _, end in ends)], [*(start for start, _ in ends), len(text)]
    spans = zip(starts, stops, strict=True)
    kept = [(a, b) for a, b in spans if states_something(text[a:b]) and not _greets(text[a:b])]
    return text[kept[0][0] : kept[-1][1]] if kept else text


def _greets(sentence: str) -> bool:
    """Return whether a sentence has a word of greeting and at most one other, as a name."""
    words = _WORD.findall(folding.fold(sentence))
    greeting = [word in _GREETINGS for word in words]
    return any(greeting) and greeting.count(False) <= 1


def is_slight(text: str) -> bool:
    """Return whether a text is shorter than a statement, without a name or a number."""
    return len(_WORD.findall(text)) < MIN_WORDS and _INNER_NAME.search(text) is None


def _asserts(sentence: str) -> bool:
    if sentence.rstrip().endswith(ASKING):
        return False
    return not _REACTIONS.issuperset(_WORD.findall(folding.fold(sentence)))


def _asks_of_own(sentence: str) -> bool:
    """Return whether a question has a name, a number or a word of its speaker."""
    if not sentence.rstrip().endswith(ASKING):
        return False
    words = _WORD.findall(folding.fold(sentence))
    named = _INNER_NAME.search(sentence) is not None
    return named or any(word in _OWN or not word.isascii() or word.isnumeric() for word in words)


def extractive_statement(passage: Passage) -> str:
    """Return the statement of an extractive belief: the speaker, and the sentences that fit.

    Empty if no sentence is informative. A first sentence that is too long is cut.
    """
    sentences = SENTENCE_END.split(informative_sentences(passage.text))
    if not sentences[0]:
        return ""
    text = sentences[0]
    for sentence in sentences[1:]:
        if len(text) + 1 + len(sentence) > MAX_STATEMENT_CHARS:
            break
        text = f"{text} {sentence}"
    if len(text) > MAX_STATEMENT_CHARS:
        text = text[: MAX_STATEMENT_CHARS - 1].rsplit(" ", 1)[0] + "…"
    return prefix_speaker(passage.name, text)
