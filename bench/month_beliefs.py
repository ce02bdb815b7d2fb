"""Beliefs of a month, judged by what is known of the talk, and a model that is made to err.

The judge knows which sentences state which fact, because the talk is made. It shares no rule with
consolidation.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from bench.month_talk import ENOUGH, Recurring, Talk

if TYPE_CHECKING:
    from graphmem.ports import Prompt

_LINE = re.compile(r'^([ebt]\d+) (?:\S+ )?(".*")$', re.MULTILINE)
_LOVED = re.compile(
    r'^(t\d+) [^"]*".*?\b(I love (?:the |a |an |my )?(\w[\w ]{2,30}\w))[.!,]', re.MULTILINE
)
_VALUE = re.compile(r"\b[A-Z][\w’'-]*|\d[\d.:,]*\d|\d")
_NEGATIONS = frozenset({"not", "no", "never", "without", "nothing", "none", "longer", "away"})
_NUMBERS = (
    *("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"),
    *("twelve", "twenty", "thirty"),
)
_OPENINGS = frozenset({"I", "The", "My", "We", "In", "On", "At", "By", "It", "A", "An", "They"})
FAULTS = (
    "{} with Bob.",
    "{} three times.",
    "{} since May.",
    "It is not so that {}.",
    "{} near Kyoto.",
)
"""Additions of the scripted model to its first statement of every second fact."""


class Verdict(StrEnum):
    """Judgement of a belief."""

    RIGHT = "right"
    """All turns that it quotes state one fact, which holds, and so does its statement."""
    OUTDATED = "outdated"
    """The same, but the fact was replaced."""
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Made:
    """A belief that consolidation made."""

    scope: str
    statement: str
    depth: int
    quotes: tuple[str, ...]
    """Texts of the turns that support it."""
    speakers: frozenset[str]
    parts: tuple[str, ...] = ()
    """Statements of the beliefs that it generalises."""


def judge(talk: Talk, made: Made) -> Verdict:
    """Return the verdict on a belief about what is stated in a talk with known facts."""
    if made.parts:
        known = {one.statement for one in talk.facts if one.scope == made.scope}
        return Verdict.RIGHT if known.issuperset(made.parts) else Verdict.WRONG
    stated = made.statement.split(": ", 1)[-1].rstrip(".").casefold()
    for fact in talk.facts:
        if fact.scope != made.scope or not fact.turns.issuperset(made.quotes):
            continue
        wordings = (fact.statement, *fact.sentences)
        if made.quotes and any(stated in one.casefold() for one in wordings):
            return Verdict.RIGHT if fact.holds else Verdict.OUTDATED
    return Verdict.WRONG


def invented(made: Made) -> tuple[str, ...]:
    """Return the names, numbers and negations of a statement that no quote of it has."""
    sources = " ".join((*made.quotes, *made.parts, *made.speakers)).casefold()
    words = {word.strip(".,:") for word in re.findall(r"[\w’'.:,-]+", sources)}
    found = [
        word
        for word in _VALUE.findall(made.statement)
        if word not in _OPENINGS and re.sub("['’]?s$", "", word.casefold()) not in sources
    ]
    stated = re.findall(r"\w+", made.statement.casefold())
    found += [word for word in stated if word in _NUMBERS and word not in words]
    negative = {"n't", "n’t"}
    if _NEGATIONS.intersection(stated) and not (
        _NEGATIONS & words or any(one in sources for one in negative)
    ):
        found.append("a negation")
    return tuple(dict.fromkeys(found))


@dataclass(slots=True)
class ToldModel:
    """A scripted model that knows the facts of a talk, and errs at first about every second one."""

    facts: Sequence[Recurring]
    asked: Counter[str] = field(default_factory=Counter)
    """Number of requests by the name of their prompt."""
    erred: list[str] = field(default_factory=list)
    """Statements that it invented something in."""

    def __call__(self, prompt: Prompt[Any]) -> dict[str, Any]:
        """Return the reply to a prompt."""
        self.asked[prompt.name] += 1
        if prompt.name == "extract":
            return {"proposals": _loved(prompt.user)}
        shown = [(key, str(json.loads(text))) for key, text in _LINE.findall(prompt.user)]
        if prompt.name == "summarise":
            return _summary(text for _, text in shown)
        return self._synthesis([one for one in shown if one[0].startswith("e")])

    def _synthesis(self, shown: Sequence[tuple[str, str]]) -> dict[str, Any]:
        if not self.facts:
            return _reply(shown[0][1], [key for key, _ in shown])
        by_statement = {one.statement for one in self.facts}
        if by_statement.issuperset(text for _, text in shown):
            return _joined(shown)
        best: tuple[Recurring | None, list[str]] = None, []
        for fact in self.facts:
            keys = [key for key, text in shown if text.split(": ", 1)[-1] in fact.turns]
            if len(keys) > len(best[1]):
                best = fact, keys
        found, keys = best
        if found is None or len(keys) < ENOUGH:
            return {"statement": None, "confidence": 0.5, "episodes": []}
        return _reply(self._worded(found), keys)

    def _worded(self, fact: Recurring) -> str:
        place = self.facts.index(fact)
        fault = FAULTS[place % len(FAULTS)].format(fact.statement.rstrip("."))
        if place % 2 or fault in self.erred:
            return fact.statement
        self.erred.append(fault)
        return fault


def _reply(statement: str, keys: Sequence[str]) -> dict[str, Any]:
    return {"statement": statement, "confidence": 0.85, "episodes": list(keys)}


def _joined(shown: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Return what several facts about one person say together."""
    name, _, first = shown[0][1].rstrip(".").partition(" ")
    others = [text.rstrip(".").removeprefix(f"{name} ") for _, text in shown[1:ENOUGH]]
    return _reply(f"{name} {', '.join((first, *others))}.", [key for key, _ in shown[:ENOUGH]])


def _summary(texts: Iterable[str]) -> dict[str, Any]:
    said = [text.split(": ", 1)[-1] for text in texts if not text.startswith("assistant: ")]
    text = " ".join(said)[:400]
    decided = len(re.findall(r"\b(?:decided|agreed|promised|moved|signed|gave notice)\b", text))
    return {"summary": text, "entities": [], "importance": min(0.9, 0.2 + 0.2 * decided)}


def _loved(text: str) -> list[dict[str, Any]]:
    return [
        {
            "turn": key,
            "quote": quote,
            "subject": "user",
            "predicate": "loves",
            "object": loved,
            "confidence": 0.8,
            "cardinality": "MANY",
        }
        for key, quote, loved in _LOVED.findall(text)
    ]
