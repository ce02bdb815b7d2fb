"""The prompt that asks a model to summarise a conversation, and the check of its reply."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from graphmem import folding
from graphmem.english import mentions, passages, summaries
from graphmem.english.summaries import SpokenText
from graphmem.model.terms import Name, Text
from graphmem.rules import hygiene
from graphmem.rules.prompts import Prompt, prompt_block, prompt_text

NAME = "summarise"
"""Name of the prompt's file."""
_MAX_SHOWN = 40
"""Turns shown to a model from the start of a conversation, and as many from its end."""
_MAX_CHARS = 500
"""Characters shown of each turn."""


class SummaryReply(BaseModel):
    """Reply of a model. Unknown keys are ignored."""

    model_config = ConfigDict(frozen=True)

    summary: Annotated[
        Text, Field(min_length=1, max_length=summaries.MAX_SUMMARY_CHARS, pattern=r"\S")
    ]
    entities: Annotated[tuple[Name, ...], Field(max_length=summaries.MAX_ENTITIES)] = ()
    importance: Annotated[
        float, Field(ge=summaries.MIN_IMPORTANCE, le=summaries.MAX_IMPORTANCE, allow_inf_nan=False)
    ]


def summary_prompt(turns: Sequence[SpokenText]) -> Prompt[SummaryReply]:
    """Return the prompt for one conversation; the middle of a long one is left out."""
    shown = turns if len(turns) <= 2 * _MAX_SHOWN else [*turns[:_MAX_SHOWN], *turns[-_MAX_SHOWN:]]
    lines = (
        (f"t{n}", passages.prefix_speaker(turn.name or turn.role, turn.text[:_MAX_CHARS]))
        for n, turn in enumerate(shown, 1)
    )
    user = "\n".join((prompt_block("turns", lines), "Answer:"))
    return Prompt(NAME, prompt_text(NAME), user, SummaryReply)


def reply_problem(reply: SummaryReply, turns: Sequence[SpokenText]) -> str | None:
    """Return why a reply must be dismissed; None if it is valid.

    Its entities, and the names and values of its summary, must occur in the conversation.
    """
    if hygiene.FENCE.removeprefix("<") in reply.summary:
        return "the summary has the markers of a context block"
    words = folding.fold(" ".join(passages.prefix_speaker(turn.name, turn.text) for turn in turns))
    tokens = mentions.read_tokens(folding.fold(reply.summary))
    known = {(token.kind, token.key) for token in mentions.read_tokens(words) if token.kind}
    if lost := [one for one in reply.entities if folding.fold(one) not in words]:
        return f"an entity does not occur in the conversation: {lost[0][:40]!r}"
    values = [token for token in tokens if token.kind and (token.kind, token.key) not in known]
    if values:
        return f"a value of the summary does not occur in the conversation: {values[0].text!r}"
    names = (word for name in summaries.CAPITALISED.findall(reply.summary) for word in name.split())
    if lost := [one for one in names if folding.fold(one).removesuffix("'s") not in words]:
        return f"a name of the summary does not occur in the conversation: {lost[0][:40]!r}"
    return None
