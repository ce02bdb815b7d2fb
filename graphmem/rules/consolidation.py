"""Passages, their clusters, and the prompt that words a belief."""

from __future__ import annotations

import heapq
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Annotated, Generic, NamedTuple, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    FailFast,
    Field,
    model_validator,
)

from graphmem.model.belief import Part, Statement
from graphmem.model.terms import Text
from graphmem.rules import identity
from graphmem.rules.context import quoted

if TYPE_CHECKING:
    from pydantic import BaseModel


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


@dataclass(frozen=True, slots=True)
class Cluster:
    """A centre and what lies near it; indexes of passages."""

    centre: int
    members: tuple[int, ...]
    """The centre first, then the others, nearest first."""


def stars(
    near: Sequence[Mapping[int, float]], episodes: Sequence[int], least: int
) -> list[Cluster]:
    """Return disjoint stars of at least `least` episodes, the largest first.

    Greedy: the centre with most episodes around it that are still free, then the one most of
    whose neighbours are, then by the sum of their similarities, then the smaller index; its free
    neighbours are taken with it. What is taken away by one star and left by another does not
    depend on what became of the stars before, so a run that was interrupted after some of them
    goes on with the same others. Nearly linear in the number of edges.

    Args:
        near: of each passage, its neighbours and how similar they are; either side may name the
            other.
        episodes: of each passage, which episode it is of.
        least: episodes of a star, its centre's included.
    """
    around = _both_ways(near)
    taken = [False] * len(around)

    def worth(i: int) -> tuple[int, int, float, int]:
        free = [j for j in around[i] if not taken[j]]
        counted = len({episodes[i], *(episodes[j] for j in free)})
        return -counted, -len(free), -sum(sorted(around[i][j] for j in free)), i

    heap = [worth(i) for i in range(len(around)) if around[i] or least == 1]
    heapq.heapify(heap)
    found: list[Cluster] = []
    while heap:
        best = heapq.heappop(heap)
        i = best[3]
        if taken[i]:
            continue
        now = worth(i)
        if now != best:
            # Neighbours were taken meanwhile: it goes back to its new place.
            heapq.heappush(heap, now)
            continue
        if -now[0] < least:
            break
        free = [j for j in around[i] if not taken[j]]
        members = (i, *sorted(free, key=lambda j: (-around[i][j], j)))
        for j in members:
            taken[j] = True
        found.append(Cluster(i, members))
    return found


def _both_ways(near: Sequence[Mapping[int, float]]) -> list[dict[int, float]]:
    around: list[dict[int, float]] = [{} for _ in near]
    for i, neighbours in enumerate(near):
        for j, similarity in neighbours.items():
            if i != j:
                around[i][j] = max(similarity, around[i].get(j, similarity))
                around[j][i] = around[i][j] = max(around[i][j], around[j].get(i, similarity))
    return around


M = TypeVar("M", bound="BaseModel")

_PLAIN = re.compile(r"[\w.:-]{1,64}", re.ASCII)
"""A key or a date: nothing that could end a line, a quotation or a block."""


@dataclass(frozen=True, slots=True)
class Prompt(Generic[M]):
    """One question to a language model."""

    name: str
    """Of its file."""
    system: str = field(repr=False)
    user: str = field(repr=False)
    reply: type[M]
    """The pydantic model that the answer must fit."""


@cache
def text(name: str) -> str:
    """Return the text of `prompts/<name>.md`.

    Raises:
        FileNotFoundError: there is no such file.
    """
    return files("graphmem").joinpath(f"rules/prompts/{name}.md").read_text("utf-8").strip()


def digest(name: str) -> str:
    """Return the sha256 of a prompt's text, hex: it changes when the prompt does."""
    return identity.digest(text(name))


def block(name: str, lines: Iterable[Sequence[str]]) -> str:
    """Return lines of data between `<name>` and `</name>`.

    The last part of each line is a JSON string, so it can neither end the line nor the block;
    so is any other part that is not plain.
    """
    written = [_line(line) for line in lines] or ["(none)"]
    return "\n".join((f"<{name}>", *written, f"</{name}>"))


def _line(parts: Sequence[str]) -> str:
    *before, last = parts
    plain = [part if _PLAIN.fullmatch(part) else quoted(part) for part in before]
    return " ".join((*plain, quoted(last)))


NAME = "synthesise"
"""Of the prompt's file."""


def _stripped(given: object) -> object:
    return given.strip() if isinstance(given, str) else given


def _once(keys: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(keys))


_Statement = Annotated[Statement, BeforeValidator(_stripped)]
_Part = Annotated[Part, BeforeValidator(_stripped)]
_Keys = Annotated[tuple[Text, ...], FailFast(), AfterValidator(_once)]


class SynthesisReply(BaseModel):
    """What a model may answer. Keys that nobody asked for are passed over."""

    model_config = ConfigDict(frozen=True)

    statement: _Statement | None
    """None when the episodes show nothing in common."""
    subject: _Part | None = None
    predicate: _Part | None = None
    object: _Part | None = None
    """The statement as one fact: all three or none."""
    confidence: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
    episodes: _Keys
    """Keys of the episodes that show it."""
    supports: _Keys = ()
    """Keys of beliefs that say the same."""
    contradicts: _Keys = ()
    """Keys of beliefs that cannot be true with it."""

    @model_validator(mode="after")
    def _whole(self) -> Self:
        given = sum(part is not None for part in (self.subject, self.predicate, self.object))
        if given not in (0, 3):
            raise ValueError("subject, predicate and object must be given together or all be null")
        return self


class PromptPassage(NamedTuple):
    """An episode as a model is shown it."""

    key: str
    """Short, for example `e1`; stands for the id."""
    date: str
    """ISO 8601."""
    text: str
    """What was said, each turn after its speaker or role."""


class PromptBelief(NamedTuple):
    """A belief as a model is shown it."""

    key: str
    """Short, for example `b1`."""
    statement: str


def prompt(
    passages: Iterable[PromptPassage], candidates: Iterable[PromptBelief]
) -> Prompt[SynthesisReply]:
    """Return the question for one cluster, with the beliefs that are near it."""
    shown = (block("episodes", passages), block("beliefs", candidates), "Answer:")
    return Prompt(NAME, text(NAME), "\n".join(shown), SynthesisReply)


def checked(
    reply: SynthesisReply, passage_keys: Collection[str], candidate_keys: Collection[str]
) -> list[str]:
    """Return why a reply must be refused, in words; nothing when it may be used.

    Args:
        reply: what the model answered.
        passage_keys: of the episodes it was shown.
        candidate_keys: of the beliefs it was shown.
    """
    reasons = [
        f"{name} has keys that it was not given: {_listed(unknown)}"
        for name, given, known in (
            ("episodes", reply.episodes, passage_keys),
            ("supports", reply.supports, candidate_keys),
            ("contradicts", reply.contradicts, candidate_keys),
        )
        if (unknown := [key for key in given if key not in known])
    ]
    if reply.statement is None:
        if reply.subject is not None or reply.supports or reply.contradicts:
            reasons.append("it says something of a statement that is null")
        return reasons
    if not reply.episodes:
        reasons.append("the statement rests on no episode")
    if both := [key for key in reply.supports if key in reply.contradicts]:
        reasons.append(f"the same belief is supported and contradicted: {_listed(both)}")
    return reasons


def _listed(keys: Sequence[str]) -> str:
    """Name a few keys: a model may have made up any number of any length."""
    few = ", ".join(repr(key[:20]) for key in keys[:3])
    return few if len(keys) <= 3 else f"{few} and {len(keys) - 3} more"
