"""What of a conversation can become a belief: the sentences of people that tell something."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

LONGEST_STATEMENT = 300
"""Characters that the statement made of a passage has at most."""
LEAST_WORDS = 4
"""A shorter sentence is a greeting or a reaction more often than it tells something."""
_END = re.compile(r"(?<=[.!?。！？؟…])\s+|\n+")
_ASKING = ("?", "？", "؟")
_WORD = re.compile(r"\w+")
_LISTENER = frozenset({"you", "your", "yours", "yourself", "yourselves", "ya", "thanks", "thank"})
"""English, as the rest of the facts that are read without a model."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A turn of a person, or an episode without turns, on which no belief rests."""

    id: str
    label: str
    """Turn or Episode."""
    episode_id: str
    name: str | None
    """Of the speaker."""
    text: str
    """As it was said."""
    at: datetime

    @property
    def turn_id(self) -> str | None:
        """Its id, when it is a turn."""
        return self.id if self.label == "Turn" else None

    @property
    def spoken(self) -> str:
        """The text with its speaker, which is what was embedded."""
        return spoken(self.name, self.text)


def spoken(name: str | None, text: str) -> str:
    """Return a text with its speaker's name before it."""
    return f"{name}: {text}" if name else text


def telling(text: str) -> str:
    """Return the sentences that tell something of the speaker or the world.

    No questions, none of fewer than four words, and none that addresses the listener: praise and
    thanks are what conversations repeat most.
    """
    sentences = (one.strip() for one in _END.split(text))
    return " ".join(one for one in sentences if _tells(one))


def _tells(sentence: str) -> bool:
    words = _WORD.findall(sentence.casefold())
    return (
        len(words) >= LEAST_WORDS and not sentence.endswith(_ASKING) and _LISTENER.isdisjoint(words)
    )


def statement(passage: Passage) -> str:
    """Return what an extractive belief says: the speaker, and as many telling sentences as fit.

    Empty when the passage tells nothing. A first sentence that is too long is cut.
    """
    told = _END.split(telling(passage.text))
    if not told[0]:
        return ""
    kept = told[0]
    for one in told[1:]:
        if len(kept) + 1 + len(one) > LONGEST_STATEMENT:
            break
        kept = f"{kept} {one}"
    if len(kept) > LONGEST_STATEMENT:
        kept = kept[: LONGEST_STATEMENT - 1].rsplit(" ", 1)[0] + "…"
    return spoken(passage.name, kept)


def oldest_first(passages: Sequence[Passage]) -> list[Passage]:
    """Return passages by when they were said, then by id."""
    return sorted(passages, key=lambda one: (one.at, one.id))
