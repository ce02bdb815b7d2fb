"""Generated histories with known facts: each fact is repeated over several episodes, amid noise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

REPETITIONS = (1, 8)
"""Range of the number of episodes that state a fact: [first, second)."""
TURNS = 5
"""Number of turns of a session."""
NOISE = 1.0
"""Number of turns without a fact for each turn that states one."""
START = datetime(2026, 1, 5, 9, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of fact: its possible values and the sentences that express it."""

    values: tuple[str, ...]
    ways: tuple[str, ...]
    """Paraphrases of one another; the last is held out for the repeat."""
    against: str
    """Sentence that contradicts the fact: it is no longer true, or the number differs."""
    other: tuple[str, ...] = ()
    """New values of a fact that is a number; empty for other facts."""


KINDS = (
    Kind(
        ("black coffee", "green tea", "hot cocoa", "carrot juice"),
        (
            "I drink {} every morning before work.",
            "Every morning before work I drink {}.",
            "This morning I drank {} before work, as I always do.",
            "Before work I had {} again this morning.",
            "I drink {} before work, like every morning.",
        ),
        "I no longer drink {} in the morning before work.",
    ),
    Kind(
        ("cello", "banjo", "drums", "harmonica"),
        (
            "I practise the {} after dinner.",
            "After dinner I practise the {}.",
            "I was practising the {} after dinner again.",
            "My evenings go to practising the {} after dinner.",
            "After dinner I practised the {} once more.",
        ),
        "I never practise the {} after dinner now.",
    ),
    Kind(
        ("peanuts", "shellfish", "strawberries", "gluten"),
        (
            "I am allergic to {}.",
            "My doctor says I am allergic to {}.",
            "I have to be careful because I am allergic to {}.",
            "Being allergic to {}, I always read the label.",
            "As I am allergic to {}, I always check the menu.",
        ),
        "It turned out that I am not allergic to {}.",
    ),
    Kind(
        ("Anna", "Marek", "Yusuf", "Chloe"),
        (
            "My sister {} lives in Lisbon near the harbour.",
            "My sister {} lives near the harbour in Lisbon.",
            "I visited my sister {}, who lives in Lisbon near the harbour.",
            "I called my sister {}, who lives near the harbour in Lisbon.",
            "A letter came from my sister {}, who lives in Lisbon near the harbour.",
        ),
        "My sister {} no longer lives in Lisbon near the harbour.",
    ),
    Kind(
        ("bus", "tram", "ferry", "bicycle"),
        (
            "I go to the office by {}.",
            "I take the {} to the office.",
            "I went to the office by {} again.",
            "The {} takes me to the office every day.",
            "To get to the office I go by {}.",
        ),
        "I don't go to the office by {} any more.",
    ),
    Kind(
        ("chess", "pottery", "Spanish", "salsa"),
        (
            "My {} class is on Thursday evening.",
            "On Thursday evening I have my {} class.",
            "I went to my {} class on Thursday evening.",
            "Thursday evening is when my {} class takes place.",
            "I was at my {} class on Thursday evening, as usual.",
        ),
        "My {} class is not on Thursday evening any more.",
    ),
    Kind(
        ("two", "three", "four", "five"),
        (
            "I have {} cats at home.",
            "At home I have {} cats.",
            "I have {} cats waiting at home.",
            "There are {} cats in my home.",
            "I live at home with {} cats.",
        ),
        "I have {} cats at home.",
        ("six", "seven", "eight", "nine"),
    ),
    Kind(
        ("6", "7", "8", "9"),
        (
            "The standup of my team starts at {} every weekday.",
            "Every weekday the standup of my team starts at {}.",
            "The standup of my team started at {} like every weekday.",
            "Our team's standup starts at {} each weekday.",
            "Each weekday my team's standup starts at {}.",
        ),
        "The standup of my team starts at {} every weekday.",
        ("10", "11", "12", "13"),
    ),
    Kind(
        ("stamps", "vinyl records", "old maps", "teapots"),
        (
            "I collect {} from flea markets.",
            "At flea markets I look for {} for my collection.",
            "I collect {}, mostly from flea markets.",
            "My collection of {} comes from flea markets.",
            "I found {} for my collection at the flea market.",
        ),
        "I don't collect {} from flea markets any more.",
    ),
    Kind(
        ("tomatoes", "roses", "pumpkins", "basil"),
        (
            "I grow {} on my balcony.",
            "On my balcony I grow {}.",
            "I grow {} on the balcony of my flat.",
            "The {} that I grow on my balcony are doing well.",
            "I watered the {} that I grow on my balcony.",
        ),
        "I no longer grow {} on my balcony.",
    ),
)
# Any two noise sentences share few of these parts, so noise never repeats a statement.
_NOISE = (
    "The neighbour|A colleague|My cousin|The plumber|The baker|Grandfather|A tourist|The librarian|"
    "Our landlord|The dentist|A student|The mayor",
    "lost|repaired|painted|sold|photographed|borrowed|found|wrapped|described|weighed|hid|auctioned|"
    "measured|dropped|cleaned|ordered",
    "an umbrella|a canoe|the garage door|a parrot|some plums|an atlas|a chandelier|two tickets|"
    "the fence|a violin case|an engine|a birthday cake|some fireworks|a tent|the curtains|a statue|"
    "a microscope|the ladder|a wedding dress|an aquarium|a sledge|some honey|a telescope|a kite",
    "at the station|during the parade|under the bridge|in Iceland|behind the cinema|on the ferry|"
    "before the storm|in the museum|at the funeral|near the volcano|in the lift|during the exam|"
    "at the airport|beside the canal|in the desert|during the strike",
    "and it took all afternoon|which made everybody laugh|so the trip was cancelled|"
    "and nobody knew why|until the rain set in|while the kettle boiled|and the lights went out|"
    "because of a bet|for very little money|without telling anyone",
)


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact, and the number of episodes that state it."""

    kind: Kind
    value: int
    episodes: int

    def wording(self, way: int) -> str:
        """Return the sentence that expresses the fact with one of its paraphrases."""
        return self.kind.ways[way].format(self.kind.values[self.value])

    @property
    def repeat(self) -> str:
        """The fact in a paraphrase that no session contains."""
        return self.wording(len(self.kind.ways) - 1)

    @property
    def reversal(self) -> str:
        """The sentence that contradicts the fact."""
        values = self.kind.other or self.kind.values
        return self.kind.against.format(values[self.value])


@dataclass(frozen=True, slots=True)
class History:
    """The sessions of a history, and the fact that each text states."""

    facts: tuple[Fact, ...]
    sessions: tuple[tuple[str, ...], ...]
    fact_by_text: dict[str, int]
    """Index of the fact that a text states; texts without a fact are missing."""

    def messages(self, first: int = 0) -> Iterator[tuple[str, list[dict[str, Any]]]]:
        """Yield each session's name and turns, a day apart."""
        for number, texts in enumerate(self.sessions, first):
            at = START + timedelta(days=number)
            turns = [
                {"role": "user", "content": text, "at": at + timedelta(minutes=place)}
                for place, text in enumerate(texts)
            ]
            yield f"s{number:04d}", turns


def generate(*, seed: int, per_kind: int = 2) -> History:
    """Return a history with `per_kind` facts of each kind; the same seed gives the same history."""
    rng = np.random.default_rng(seed)
    facts = [
        Fact(kind, int(value), int(rng.integers(*REPETITIONS)))
        for kind in KINDS
        for value in rng.choice(len(kind.values), size=per_kind, replace=False)
    ]
    statements = [
        (n, fact.wording(way)) for n, fact in enumerate(facts) for way in _ways(rng, fact)
    ]
    count = -(-round(len(statements) * (1 + NOISE)) // TURNS)
    count = max(count, *(fact.episodes for fact in facts))
    sessions: list[list[str]] = [[] for _ in range(count)]
    for n, fact in enumerate(facts):
        texts = [text for of, text in statements if of == n]
        places = rng.choice(count, size=fact.episodes, replace=False)
        for place, text in zip(places, texts, strict=True):
            sessions[place].append(text)
    for session in sessions:
        while len(session) < TURNS:
            session.append(noise(rng))
        rng.shuffle(session)
    fact_by_text = {text: n for n, text in statements}
    for n, fact in enumerate(facts):
        fact_by_text |= {fact.repeat: n, fact.reversal: n}
    return History(tuple(facts), tuple(tuple(session) for session in sessions), fact_by_text)


def noise(rng: np.random.Generator) -> str:
    """Return a sentence that states none of the facts."""
    parts = (choices.split("|") for choices in _NOISE)
    return " ".join(part[int(rng.integers(len(part)))] for part in parts) + "."


def _ways(rng: np.random.Generator, fact: Fact) -> list[int]:
    """Return the paraphrase for each statement of a fact; the last paraphrase is held out."""
    return [int(way) for way in rng.integers(0, len(fact.kind.ways) - 1, fact.episodes)]
