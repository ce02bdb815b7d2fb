"""What a card hands to whoever asked for it."""

from __future__ import annotations

from graphmem.model import Belief, Card, Memory, Turn
from graphmem.rules import identity


def card_hashes(card: Card) -> set[str]:
    """Return the content hashes of the texts on a card: said again by their reader, an echo."""
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
