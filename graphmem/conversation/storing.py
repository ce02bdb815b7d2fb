"""Store the messages of a conversation verbatim as turns of its episode, each once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeAlias

from graphmem.conversation import plans
from graphmem.conversation.plans import SentMessage, StoredConversation, StoredTurn, TurnPlan
from graphmem.english import passages
from graphmem.errors import NotFoundError
from graphmem.graph import catalog
from graphmem.model import Message, TurnsReceipt, roles, zones
from graphmem.model.terms import embedding_fields
from graphmem.ports import Query, RequestContext, Tx
from graphmem.rules import drafts, identity, trust

if TYPE_CHECKING:
    from graphmem.model.terms import Embedding

FIND_EXISTING = catalog.query("episode/find_existing", dict)
LOCK = catalog.query("episode/lock", dict)
ADD_TURNS = catalog.query("episode/add_turns", lambda row: row["added"])

Attempts: TypeAlias = dict[tuple[Message, ...], Sequence[str]]
"""Turn ids of messages whose write began, in a call that failed, to recognise its retry by."""


@dataclass(frozen=True, slots=True)
class NewMessages:
    """Messages to append to a conversation."""

    episode_id: str
    messages: Sequence[Message]
    keyed: Sequence[bool] | None = None
    """Whether the id or time of each identifies it; None: of all."""
    repeats: bool = True
    """Whether one or two messages that repeat the last ones are new."""
    after: str | None = None
    """Id of the turn that the messages answer; None if they are a list of their own."""
    attempts: Attempts = field(default_factory=dict)
    """Failed calls for this episode; receives this one if it fails."""


async def add_messages(context: RequestContext, new: NewMessages) -> TurnsReceipt:
    """Append a conversation's messages to its episode, each once, in their order.

    See `plans.plan_turns`. All are written in one transaction. Blank texts are stored without
    an embedding.
    """
    now = context.services.clock.now()
    for message in new.messages:
        drafts.event_time(message.at, now)
    if not new.messages:
        return TurnsReceipt(episode_id=new.episode_id, turn_ids=(), added=0)
    plan = await _Addition(context, new, now).run()
    return TurnsReceipt(episode_id=new.episode_id, turn_ids=tuple(plan.ids), added=len(plan.new))


class _Addition:
    """Adds messages: plans, embeds what is new, and writes it if the plan still holds."""

    def __init__(self, context: RequestContext, new: NewMessages, now: datetime) -> None:
        self._context, self._new, self._now = context, new, now
        keyed = [True] * len(new.messages) if new.keyed is None else new.keyed
        self._sent = plans.sent_messages(new.episode_id, new.messages, keyed, context.trust)
        self._earlier = new.attempts.get(tuple(new.messages), ())
        self._embeddings: dict[int, Embedding] = {}
        self._begun: TurnPlan | None = None
        """The plan whose write began."""

    async def run(self) -> TurnPlan:
        """Return the plan that was carried out."""
        messages = self._new.messages
        try:
            if self._context.services.embeds_first(len(messages)):
                await self._embed([i for i, one in enumerate(messages) if one.content.strip()])
                plan = await self._context.write(self._write)
            else:
                plan = await self._context.read(lambda tx: self._plan(tx, FIND_EXISTING))
            while plan.new and plan is not self._begun:
                # Repeats only if another writer changed the conversation in between.
                await self._embed(self._lacking(plan))
                plan = await self._context.write(self._write)
        except BaseException:
            if self._begun:
                self._new.attempts[tuple(self._new.messages)] = self._begun.ids
            raise
        return plan

    async def _plan(self, tx: Tx, query: Query[dict[str, Any]]) -> TurnPlan:
        new, tried = self._new, self._begun.ids if self._begun else self._earlier
        stored = await _stored(tx, query, new, self._sent, tried)
        if tried and {turn.id for turn in stored.turns}.issuperset(tried):
            # The ids contain the positions that were free, so the attempt wrote these turns.
            return self._begun or TurnPlan(list(tried), [], stored.next)
        if new.after:
            return plans.plan_reply(new.episode_id, self._sent, new.after, stored)
        return plans.plan_turns(new.episode_id, self._sent, stored, repeats=new.repeats)

    def _lacking(self, plan: TurnPlan) -> list[int]:
        messages = self._new.messages
        return [i for i in plan.new if i not in self._embeddings and messages[i].content.strip()]

    async def _embed(self, lacking: Sequence[int]) -> None:
        if lacking:
            messages = [self._new.messages[i] for i in lacking]
            texts = [passages.prefix_speaker(one.name, one.content) for one in messages]
            made = await self._context.services.embed_documents(texts)
            self._embeddings.update(zip(lacking, made, strict=True))

    async def _write(self, tx: Tx) -> TurnPlan:
        plan = await self._plan(tx, LOCK)
        if plan.new and plan is not self._begun and not self._lacking(plan):
            rows = [
                {
                    "id": plan.ids[i],
                    "position": position,
                    **_row(self._context, self._new.messages[i], self._now),
                    **embedding_fields(self._embeddings.get(i)),
                }
                for position, i in enumerate(plan.new, plan.next)
            ]
            self._begun = plan
            episode_id = self._new.episode_id
            if await tx.fetch(ADD_TURNS, episode_id=episode_id, turns=rows) != [len(rows)]:
                raise NotFoundError(f"No episode {episode_id!r}.")
        return plan


async def _stored(
    tx: Tx,
    query: Query[dict[str, Any]],
    new: NewMessages,
    sent: Sequence[SentMessage],
    tried: Sequence[str],
) -> StoredConversation:
    ids = [*(one for message in sent for one in message.ids), *tried]
    [found] = await tx.fetch(
        query,
        episode_id=new.episode_id,
        ids=[*ids, new.after] if new.after else ids,
        texts=list({message.content for message in new.messages}),
        human_roles=sorted(roles.HUMAN_ROLES),
        system_roles=sorted(roles.SYSTEM_ROLES),
    )
    turns = [
        StoredTurn(t["id"], t["position"], (t["role"], t["name"], t["text"]))
        for t in found["turns"]
    ]
    stored = StoredConversation(
        sorted(turns, key=lambda turn: turn.position),
        sorted(found["systems"]),
        found["asked"],
        found["next"],
    )
    return plans.with_erased(new.episode_id, sent, stored, found["erased"])


def _row(context: RequestContext, message: Message, now: datetime) -> dict[str, Any]:
    at = message.at or now
    return {
        "scope": context.scope,
        "scope_key": identity.scope_key(context.tenant, context.scope),
        "role": message.role,
        "trust": trust.turn_rank(message.role, context.trust),
        "name": message.name,
        "text": message.content,
        "occurred_at": at,
        "time_zone": zones.of_sender(at, message.time_zone, context.services.settings.time_zone),
    }
