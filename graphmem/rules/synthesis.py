"""One general statement from a cluster of episodes: the question, and what an answer must keep."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Annotated, NamedTuple, Self

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
from graphmem.rules.prompting import Prompt, block, text

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


def prompt(passages: Iterable[PromptPassage], candidates: Iterable[PromptBelief]) -> Prompt[SynthesisReply]:
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
