"""A chat of short sessions over ten weeks, and ten questions about it. All of it is invented."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import NamedTuple

LENGTH = timedelta(days=75)
"""Time from the first session to the questions."""


class Ask(NamedTuple):
    """A question, words of the right line, and words that no unmarked line may have."""

    question: str
    right: str
    outdated: str | None = None


ASKS = (
    Ask("Which anaesthetic must the dentist not give me?", "lidocaine"),
    Ask("Where is my spare key?", "Mrs Okafor"),
    Ask("Which bakery did you recommend for sourdough?", "Brot und Stein"),
    Ask("What is the name of my daughter's school?", "Linden Primary"),
    Ask("Where do I live?", "Tampere", "live in Turku"),
    Ask("Which day is the choir rehearsal?", "Thursday", "rehearsal is on Monday"),
    Ask("How much is the rent?", "910", "rent is 840"),
    Ask("Which tyres fit my bicycle?", "28 inch"),
    Ask("What did my grandmother leave me?", "barometer"),
    Ask("Who is the godfather of Ilse?", "Matti"),
)

_CHATTER = (
    ("Hello again.", "Hello! What can I do for you?"),
    ("How do I get candle wax out of a tablecloth?", "Put paper on it and iron it warm."),
    ("Thanks, that helped.", "You are welcome."),
    ("What rhymes with orange?", "Hardly anything, sporange perhaps."),
    ("Ha, of course.", "It is a famous one."),
    ("Can you explain what a soffit is?", "It is the underside of an eave or of an arch."),
    ("The bus was late once more.", "Sounds tiring."),
    ("It rained on the laundry.", "Then it had a second rinse."),
    ("How long do lentils take?", "About twenty minutes, red ones ten."),
    ("Good to know.", "Enjoy your meal."),
    ("Why is the sky red at dusk?", "Blue light is scattered away on the long path."),
    ("I finished the crossword at last.", "Well done, was there a hard one?"),
)
_SAID = {
    0: ("I live in Turku.", "A fine town by the river."),
    1: ("I must never get lidocaine, it makes me faint.", "I will keep that in mind."),
    2: ("The choir rehearsal is on Monday.", "Which voice do you sing?"),
    4: ("My rent is 840 euros.", "Is that with heating?"),
    5: ("Where do I get good sourdough?", "Try Brot und Stein near the market, they bake at five."),
    7: ("My spare key is with Mrs Okafor on the second floor.", "A good neighbour to have."),
    9: ("My daughter Ilse goes to Linden Primary.", "How does she like it?"),
    11: ("My bicycle takes 28 inch tyres.", "Then the usual winter ones fit."),
    13: ("The choir rehearsal has been moved to Thursday.", "Noted."),
    15: ("My grandmother left me a brass barometer.", "Does it still work?"),
    17: ("Matti is the godfather of Ilse.", "She is in good hands."),
    20: ("I moved to Tampere last week.", "How is the new flat?"),
    23: ("My rent is now 910 euros.", "A lot more."),
}
"""Important messages, by session."""


def sessions() -> Iterator[tuple[timedelta, str, list[dict[str, object]]]]:
    """Yield the time since the first session, the name and the messages of each session."""
    for n in (n for n in range(32) if n in _SAID or n % 4 == 2):
        lines = [_CHATTER[(3 * n + k) % len(_CHATTER)] for k in range(2)]
        if n in _SAID:
            lines.insert(1, _SAID[n])
        messages: list[dict[str, object]] = []
        for asked, answered in lines:
            messages += [
                {"role": "user", "content": asked},
                {"role": "assistant", "content": answered},
            ]
        yield timedelta(days=2 * n), f"talk {n}", messages


_LINE = re.compile(r'^\[\S+\]\s*(?P<head>[^"]*)"(?P<text>.*)"', re.M)
_MARKED = re.compile(r"outdated|superseded|no longer|replaced|disputed|to be revised", re.I)


def is_answered(ask: Ask, block: str) -> bool:
    """Return whether a block has the right statement, and nothing outdated without a mark."""
    lines = [m["text"] for m in _LINE.finditer(block) if not _MARKED.search(m["head"])]
    wrong = ask.outdated is not None and any(ask.outdated in text for text in lines)
    return not wrong and any(ask.right in text for text in lines)
