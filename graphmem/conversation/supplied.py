"""Texts shown to an agent: a reply that uses one opens it, one that repeats it is an echo."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from graphmem.english import openings
from graphmem.model import AnyBite, Belief, Card, Memory, MemoryBite, Recollection, Turn
from graphmem.rules import identity, short_ids

MAX_ASKED, MAX_SHOWN = 20, 200
"""Maximum questions and results that a reply is compared with; the latest are kept."""


@dataclass(slots=True)
class ShownItems:
    """Results that a session was shown, to find those that a reply was taken from."""

    forms: dict[str, str] = field(default_factory=dict)
    """Ids by the form in which they were shown."""
    labels: dict[str, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    """Questions since the last reply."""
    texts: dict[str, str] = field(default_factory=dict)
    """Texts of their results by id."""

    def add(self, question: str, bites: Iterable[AnyBite], forms: Mapping[str, str]) -> None:
        """Note the results of a search.

        Args:
            forms: ids by the form in which they are shown.
        """
        self.forms |= forms
        self.asked = [*self.asked[1 - MAX_ASKED :], question]
        for bite in bites:
            self.labels[bite.id] = bite.kind.capitalize()
            self.texts.setdefault(bite.id, bite.text)
        for item_id in list(self.texts)[:-MAX_SHOWN]:
            del self.texts[item_id]

    def used_by(self, reply: str) -> list[tuple[str, str]]:
        """Return label and id of what a reply cites; if it cites nothing, of what it repeats.

        The next reply is not compared with the same results.
        """
        used = short_ids.cited(reply, self.forms) or openings.words_taken(
            reply, self.asked, self.texts
        )
        self.asked, self.texts = [], {}
        return [(self.labels[one], one) for one in used if one in self.labels]


def bite_hashes(recollection: Recollection) -> set[str]:
    """Return the content hashes of recalled texts."""
    return {
        bite.memory.content_hash
        if isinstance(bite, MemoryBite)
        else identity.content_hash(bite.text)
        for bite in recollection.bites
    }


def card_hashes(card: Card) -> set[str]:
    """Return the content hashes of the texts on a card, for echo detection."""
    item, texts = card.item, [turn.text for turn in card.turns]
    texts += [other.text for other in (*card.supersedes, *card.superseded_by)]
    texts += [belief.statement for belief in card.claims]
    if isinstance(item, Memory):
        texts.append(item.content)
    elif isinstance(item, Belief):
        texts.append(item.statement)
    elif isinstance(item, Turn):
        texts.append(item.text)
    else:
        texts += [text for text in (item.summary, item.content) if text]
    return {identity.content_hash(text) for text in texts}
