"""Summarise conversations, by rules or by a language model whose reply is checked."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from graphmem import folding, stored
from graphmem.english import mentions, passages
from graphmem.english import summaries as english
from graphmem.english.summaries import EpisodeSummary, SpokenText
from graphmem.errors import (
    ModelReplyError,
    ModelUnansweredError,
    ModelUnavailableError,
    NotFoundError,
)
from graphmem.graph import catalog
from graphmem.integrity import Mismatch
from graphmem.model import SummarisedEpisode, SummaryReport, TenantScope
from graphmem.model.terms import Name, Text, embedding_fields
from graphmem.ports import Llm, OnProgress, RequestContext, TokenUsage, silent
from graphmem.rules import hygiene, identity, prompts
from graphmem.rules.prompts import Prompt, prompt_block, prompt_text

NAME = "summarise"
"""Name of the prompt's file."""
_MAX_SHOWN = 40
"""Turns shown to a model from the start of a conversation, and as many from its end."""
_MAX_CHARS = 500
"""Characters shown of each turn."""
PAGE = 100
"""Conversations per read."""
MAX_ATTEMPTS = 5
"""Invalid replies about the same turns after which a model is not asked again."""

STATES = catalog.query("episode/conversations", dict)
SUMMARISE = catalog.query("episode/summarise", lambda row: row["id"])
SUMMARISED = catalog.query("cache/episodes", dict)
REPLIES = catalog.query("consolidate/attempted", dict)


@dataclass(frozen=True, slots=True)
class SummaryOptions:
    """Options of a run."""

    llm: Llm | None = None
    """None for the rules."""
    apply: bool = True
    on_progress: OnProgress = silent


@dataclass(frozen=True, slots=True)
class _Found:
    """A summary, and the reply that it comes from."""

    of: EpisodeSummary
    method: str
    reply: Mapping[str, Any] | None = None
    problem: str | None = None


@dataclass(slots=True)
class _Run:
    context: RequestContext
    options: SummaryOptions
    bill: TokenUsage = field(default_factory=TokenUsage)
    unavailable: str | None = None
    """Why the model could not be reached; it is not asked again."""

    @property
    def method(self) -> str:
        """Name of the method that is wanted."""
        return english.RULES if self.options.llm is None else named(self.options.llm)


class SummaryReply(BaseModel):
    """Reply of a model. Unknown keys are ignored."""

    model_config = ConfigDict(frozen=True)

    summary: Annotated[
        Text, Field(min_length=1, max_length=english.MAX_SUMMARY_CHARS, pattern=r"\S")
    ]
    entities: Annotated[tuple[Name, ...], Field(max_length=english.MAX_ENTITIES)] = ()
    importance: Annotated[
        float, Field(ge=english.MIN_IMPORTANCE, le=english.MAX_IMPORTANCE, allow_inf_nan=False)
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
    names = (word for name in english.CAPITALISED.findall(reply.summary) for word in name.split())
    if lost := [one for one in names if folding.fold(one).removesuffix("'s") not in words]:
        return f"a name of the summary does not occur in the conversation: {lost[0][:40]!r}"
    return None


def named(llm: Llm) -> str:
    """Return the model name and prompt digest, on which replies depend besides the turns."""
    return f"{llm.name} {prompts.prompt_digest(NAME)[:12]}"


async def summarise(
    context: RequestContext, options: SummaryOptions, episode_id: str | None = None
) -> SummaryReport:
    """Summarise one conversation, or all of the scope whose turns changed.

    With a model, also those that it has not summarised. A summary, entities or an importance that a
    caller gave are kept.
    """
    run = _Run(context, options)
    done: list[SummarisedEpisode] = []
    async for row in _waiting(run, episode_id):
        one = await _one(run, row)
        if one is not None:
            done.append(one)
            options.on_progress("episode", 1)
    return SummaryReport(
        applied=options.apply and bool(done), episodes=tuple(done), **asdict(run.bill)
    )


async def refresh(context: RequestContext, episode_ids: Sequence[str]) -> None:
    """Summarise by rules the given conversations whose turns changed."""
    rows = await context.fetch(STATES, ids=list(episode_ids), method=None, after="", limit=PAGE)
    await write_by_rules(context, [row for row in rows if row["turns"] != (row["covered"] or 0)])


async def write_by_rules(
    context: RequestContext, rows: Iterable[Mapping[str, Any]]
) -> list[SummarisedEpisode | None]:
    """Summarise by rules the conversations of rows of `changed`."""
    run = _Run(context, SummaryOptions())
    return [await _one(run, row) for row in rows]


def changed(context: RequestContext) -> AsyncIterator[dict[str, Any]]:
    """Return the conversations of the scope whose turns changed, to iterate over."""
    return _waiting(_Run(context, SummaryOptions()), None)


async def _waiting(run: _Run, episode_id: str | None) -> AsyncIterator[dict[str, Any]]:
    method = None if run.options.llm is None else run.method
    if episode_id is not None:
        rows = await run.context.fetch(
            STATES, ids=[episode_id], method=method, after="", limit=PAGE
        )
        if not rows:
            raise NotFoundError(f"No episode {episode_id!r} in this scope.")
        yield rows[0]
        return
    after = ""
    while rows := await run.context.fetch(STATES, ids=None, method=method, after=after, limit=PAGE):
        after = rows[-1]["id"]
        for row in rows:
            yield row


async def _one(run: _Run, row: Mapping[str, Any]) -> SummarisedEpisode | None:
    """Summarise one conversation; None if it has no turns, or turns were added meanwhile."""
    context = run.context
    turns = await _turns(context, row["id"])
    if not turns:
        if run.options.apply:
            await _write(context, row, None, 0)
        return None
    found = await _found(run, row["id"], turns)
    if run.options.apply and not await _write(context, row, found, len(turns)):
        return None
    stated = {name: row[name] for name in row["stated"]}
    of = replace(found.of, **{name: _frozen(value) for name, value in stated.items()})
    return SummarisedEpisode(
        episode_id=row["id"],
        occurred_at=row["occurred_at"],
        turns=len(turns),
        **asdict(of),
        method=found.method,
        problem=found.problem,
    )


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


async def _turns(context: RequestContext, episode_id: str) -> list[SpokenText]:
    pages = stored.turn_pages(context, episode_id)
    return [SpokenText(t.role, t.name, t.text) async for page in pages for t in page]


async def _found(run: _Run, episode_id: str, turns: Sequence[SpokenText]) -> _Found:
    llm = run.options.llm
    by_rules = _Found(english.summarise(turns), english.RULES)
    if llm is None:
        return by_rules
    if run.unavailable is not None:
        return replace(by_rules, problem=run.unavailable)
    reply_id = _reply_id(run.context, run.method, episode_id, len(turns))
    kept = await run.context.fetch(REPLIES, ids=[reply_id])
    if kept and (of := decided(kept[0])):
        return _Found(of, run.method)
    if kept and kept[0]["attempts"] >= MAX_ATTEMPTS:
        return replace(by_rules, problem=f"the reply was invalid {MAX_ATTEMPTS} times")
    return await _asked(run, llm, reply_id, turns, by_rules)


def _reply_id(context: RequestContext, method: str, episode_id: str, turns: int) -> str:
    return "s_" + identity.digest(context.scope, method, episode_id, str(turns))[:32]


def decided(row: Mapping[str, Any]) -> EpisodeSummary | None:
    """Return the summary that a stored reply decided; None if it decided none."""
    of = json.loads(row["decided"]).get("summary") if row["decided"] else None
    return (
        None
        if of is None
        else EpisodeSummary(of["summary"], tuple(of["entities"]), of["importance"])
    )


async def _asked(
    run: _Run, llm: Llm, reply_id: str, turns: Sequence[SpokenText], by_rules: _Found
) -> _Found:
    bill = TokenUsage()
    raw, problem, of = None, None, None
    try:
        answer = await llm.answer(summary_prompt(turns))
    except ModelUnansweredError as error:
        return replace(by_rules, problem=str(error))
    except ModelUnavailableError as error:
        run.unavailable = str(error)
        return replace(by_rules, problem=run.unavailable)
    except ModelReplyError as error:
        raw, problem = error.raw or None, f"{error.code}: {error}"
    else:
        bill.add(answer)
        run.bill.join(bill)
        raw, problem = answer.raw, reply_problem(answer.value, turns)
        of = EpisodeSummary(
            answer.value.summary, answer.value.entities, round(answer.value.importance, 3)
        )
    if reason := hygiene.reply_secret(raw):
        raw, problem = None, f"it must not be stored: {reason}"
    reply = {
        "id": reply_id,
        "done": problem is None,
        "synthesiser": run.method,
        "decided": None if problem or of is None else _decision(of),
        "raw": raw,
        "problem": problem,
        **asdict(bill),
    }
    if problem or of is None:
        return replace(by_rules, reply=reply, problem=problem)
    return _Found(of, run.method, reply)


def _decision(of: EpisodeSummary) -> str:
    nothing: dict[str, Any] = {"beliefs": [], "evidence": [], "marks": []}
    return json.dumps(nothing | {"summary": asdict(of)}, ensure_ascii=False)


async def _write(
    context: RequestContext, row: Mapping[str, Any], found: _Found | None, turns: int
) -> bool:
    embedding = None
    if found is not None and "summary" not in row["stated"] and found.of.summary:
        [embedding] = await context.services.embed_documents([found.of.summary])
    of = found.of if found else EpisodeSummary("", (), 0.5)
    episode = {
        "id": row["id"],
        "scope_key": identity.scope_key(context.tenant, context.scope),
        "turns": turns,
        "method": found and found.method,
        "summary": of.summary or None,
        "entities": list(of.entities),
        "importance": of.importance,
        **embedding_fields(embedding),
    }
    return bool(await context.fetch(SUMMARISE, episode=episode, reply=found and found.reply))


async def check(context: RequestContext, *, repair: bool, on_page: OnProgress) -> list[Mismatch]:
    """Return every stored summary of the tenant that differs from its turns or its stored reply.

    Args:
        repair: also store the right summaries; no model is called.
    """
    wrong: list[Mismatch] = []
    after = ""
    while rows := await context.fetch(SUMMARISED, after=after, limit=PAGE):
        after = rows[-1]["id"]
        for row in rows:
            to = replace(
                context,
                tenant_scope=TenantScope(
                    tenant=context.tenant, scope=row["scope"], scopes=(row["scope"],)
                ),
            )
            right = await _right(to, row)
            difference = {
                name: value
                for name, value in asdict(right.of).items()
                if name not in row["stated"] and value != _frozen(row[name])
            }
            if difference:
                wrong.append(
                    Mismatch(
                        kind="episode",
                        id=row["id"],
                        cached=str({name: row[name] for name in difference}),
                        found=str(difference),
                    )
                )
                if repair:
                    await _write(to, row, right, row["turns"])
        on_page("episode", len(rows))
    return wrong


async def _right(context: RequestContext, row: Mapping[str, Any]) -> _Found:
    """Return the summary that the turns have by the method that was used, without a model."""
    if row["method"] != english.RULES:
        reply_id = _reply_id(context, row["method"], row["id"], row["turns"])
        kept = await context.fetch(REPLIES, ids=[reply_id])
        if kept and (of := decided(kept[0])):
            return _Found(of, row["method"])
    return _Found(english.summarise(await _turns(context, row["id"])), english.RULES)
