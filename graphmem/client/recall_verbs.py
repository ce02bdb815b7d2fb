"""Methods of a handle that search memory and explain results."""

from __future__ import annotations

from collections.abc import Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias

from pydantic import Discriminator, Field, Tag

from graphmem.client.arguments import (
    AskedId,
    AsOfLike,
    BeliefLike,
    Limit,
    Question,
    RoleMap,
    TagsLike,
    TrustClass,
    belief_id_of,
    moment_of,
    reading_of,
    role_map,
)
from graphmem.client.namespace import AsyncNamespace, Namespace, blocking
from graphmem.client.state import HandleState
from graphmem.conversation import blocks, supplied, wording
from graphmem.conversation.given import AnyMessage, given_messages
from graphmem.conversation.tokens import CountTokens, count_tokens
from graphmem.errors import InvalidInputError, NotFoundError
from graphmem.model import (
    AnyBite,
    AsOf,
    BeliefEvent,
    BeliefReasons,
    Card,
    Context,
    Instant,
    Kind,
    MemoryEvent,
    MemoryReasons,
    Message,
    Name,
    Policy,
    RecallPolicy,
    Recollection,
    Status,
    TenantScope,
    zones,
)
from graphmem.operations import cards, episode, ids, memories, neighbourhood, reasons, recall
from graphmem.operations.evidence import rejecting
from graphmem.ports import RequestContext
from graphmem.rules import identity, read_options, watching
from graphmem.rules.read_options import recall_policy_of
from graphmem.usage.access_log import SearchHit
from graphmem.validation import As, Whole

PolicyName: TypeAlias = Literal["default", "flat", "trace", "esper", "engram", "agent"]
PolicyLike: TypeAlias = Annotated[PolicyName | RecallPolicy, As(Any)]
"""A ranking policy or its name; `recall_policy_of` checks it."""
MinScore: TypeAlias = Annotated[float, Field(ge=-1, le=1)]
KindsLike: TypeAlias = Annotated[
    Sequence[Kind], As(Annotated[tuple[Kind, ...], Field(min_length=1)])
]
Scopes: TypeAlias = Annotated[Sequence[str], As(Annotated[tuple[Name, ...], Field(min_length=1)])]
Tokens: TypeAlias = Annotated[int, Whole(blocks.MIN_TOKENS, blocks.MAX_TOKENS)]
"""Maximum size of a block for a prompt."""

CHOSEN = 20
"""Number of items to choose from for a block."""
BLOCK_TOKENS = 800
"""Maximum size of a block, unless the caller gives another."""
_REPLAYED: Mapping[str, Any] = {"policy": "default", "limit": CHOSEN, "ends": True}

_FIELDS = frozenset(one.name for one in fields(recall.RecallRequest))


def _form(about: object) -> str:
    return "text" if isinstance(about, str) else "messages"


About: TypeAlias = Annotated[
    str | Iterable[AnyMessage],
    As(
        Annotated[
            Annotated[Question, Tag("text")] | Annotated[Any, Tag("messages")],
            Discriminator(_form),
        ]
    ),
]
"""A question, or the messages of a conversation."""


class AsyncRecallVerbs(AsyncNamespace):
    """Methods that search memory and explain results, awaited."""

    async def recall(
        self,
        query: Question,
        *,
        limit: Limit | None = None,
        policy: PolicyLike = "default",
        min_score: MinScore | None = None,
        as_of: AsOfLike | None = None,
        kinds: KindsLike | None = None,
        include_hidden: bool = False,
        tags: TagsLike = (),
        source: Name | None = None,
        since: Instant | None = None,
        until: Instant | None = None,
        min_trust: TrustClass | None = None,
        scopes: Scopes | None = None,
    ) -> Recollection:
        """Return the items that match a question, best first, each once.

        An item that states an older version of another one's fact has `outdated_by` and comes after
        it. The search is written to the search log later, with other entries; see `expand`.

        Args:
            query: a question or some words.
            limit: maximum number of results, 1 to 1,000; by default 10, or fewer if only noise
                follows, at most 3 if probably none answers the question.
            policy: ranking: "default" (that of the settings), "flat" (vector only), "trace"
                (vector and TraceRank), "esper" (vector and belief), "engram" (BM25, vector,
                recency and use, at most three results), "agent" (relevance, recency, use), or a
                policy of your own.
            min_score: similarity that the best item must have, -1 to 1; by default the policy's
                value, or the floor of the embedding model.
            as_of: answer as of this valid and known time: decay, ranking and supersession use the
                state at that time; text and tags are current.
            kinds: what to search: "memory", "belief", "turn" or "episode"; all by default. An
                episode is found by its summary. A belief that lost its ONE slot is replaced by the
                leader.
            include_hidden: include superseded, outvoted, deprecated and archived items.
            tags: return only memories with all of these tags.
            source: return only items with an event from this source.
            since: return only what was created or occurred since this time.
            until: return only what was created or occurred before this time.
            min_trust: least trust of an item: "person", "tool", "model", "imported" or "unknown";
                any by default.
            scopes: read scopes to search; all by default.

        Raises:
            InvalidInputError: an argument is invalid, a scope is not a read scope of the handle,
                or `as_of.known` is in the future.
        """
        given = locals()
        found = await recalled(self._state.context, query, given | {"ends": limit is None})
        if self._state.session is not None:
            self._state.session.supplied.update(supplied.bite_hashes(found))
            forms = {bite.id: bite.id for bite in found.bites}
            self._state.session.shown.add(query, found.bites, forms)
        await self._state.searched("recall", query, hits(found.bites))
        return found

    async def context(
        self,
        about: About,
        *,
        tokens: Tokens = BLOCK_TOKENS,
        count_tokens: CountTokens | None = None,
        limit: Limit | None = None,
        policy: PolicyLike = "default",
        min_score: MinScore | None = None,
        as_of: AsOfLike | None = None,
        kinds: KindsLike | None = None,
        include_hidden: bool = False,
        tags: TagsLike = (),
        source: Name | None = None,
        since: Instant | None = None,
        until: Instant | None = None,
        min_trust: TrustClass | None = None,
        scopes: Scopes | None = None,
        roles: RoleMap | None = None,
    ) -> Context:
        """Return the items that match a question as a block of text for a prompt, with their ids.

        The block has one line for each item, best first: the id in brackets; the day on which it
        was last stated, how often and, unless it is the user's, by whom; doubts about it; and the
        text as a JSON string, so that a text can neither end the block nor begin a line. The text
        of an episode is `[Memory flash: "summary"]`. An older version of a
        fact follows the newer one and names it ("outdated, now [id]"). Items that do not fit into
        the remaining tokens are skipped; the best item is cut. A belief that only consolidation
        inferred comes last if its retrieval strength is below 0.05.
        Within a session, text that was returned here is rejected as an echo if it is submitted
        again.

        Args:
            about: a question, or the messages of a conversation: its newest message of a person is
                the question, together with earlier ones while it is short.
            tokens: maximum size, 150 to 100,000 tokens.
            count_tokens: returns the number of tokens of a text, for example by the tokenizer of
                your model; by default OpenAI's o200k.
            limit: maximum number of items to choose from, 1 to 1,000; by default 20, or fewer, see
                `recall`.
            policy: ranking; see `recall`.
            min_score: similarity that the best item must have, -1 to 1; see `recall`.
            as_of: answer as of this valid and known time; see `recall`.
            kinds: what to search: "memory", "belief", "turn" or "episode"; all by default. An
                episode is found by its summary. A belief that lost its ONE slot is replaced by the
                leader.
            include_hidden: include superseded, outvoted, deprecated and archived items.
            tags: return only memories with all of these tags.
            source: return only items with an event from this source.
            since: return only what was created or occurred since this time.
            until: return only what was created or occurred before this time.
            min_trust: least trust of an item: "person", "tool", "model", "imported" or "unknown";
                any by default.
            scopes: read scopes to search; all by default.
            roles: what other roles of messages mean; see `add_messages`.

        Raises:
            InvalidInputError: an argument is invalid, see `recall`; or no message is of a person.
        """
        given = locals()
        if isinstance(about, str):
            question = about
        else:
            settings = self._state.context.services.settings
            question = _question(given_messages(about, role_map(settings, roles)).messages)
        # The session is not updated here: items that do not fit are not supplied.
        given |= {"limit": limit or CHOSEN, "ends": limit is None}
        found = await recalled(self._state.context, question, given, vitality=True)
        return await supply(self._state, question, found, tokens, token_counter(count_tokens))

    async def why(
        self,
        item_id: BeliefLike,
        *,
        cursor: str | None = None,
        limit: Limit = 100,
        as_of: AsOfLike | None = None,
        policy: Policy | None = None,
    ) -> BeliefReasons | MemoryReasons:
        """Return why a belief has its projection, event by event, or how a memory came about.

        The access is logged; see `expand`.

        Args:
            item_id: id of a belief or a memory, or a receipt or record of a belief.
            cursor: `next_cursor` of the previous page; None for the first page.
            limit: maximum number of pieces of evidence, or events of a memory; 1 to 1,000.
            as_of: valid and known time of the read; now by default.
            policy: policy to read by instead of the declared one.
        """
        known = belief_id_of(item_id)
        read = reading_of(as_of, policy)
        skip = read_options.parse_position_cursor(cursor)
        request = self._state.context
        found: BeliefReasons | MemoryReasons | None = None
        if not known.startswith(identity.MEMORY):
            found = await reasons.belief(request, known, read, skip=skip, limit=limit)
        if found is None:
            at = None if read.as_of == AsOf() else read.as_of
            try:
                found = await memories.reasons(request, known, at, limit=limit)
            except NotFoundError as error:
                raise NotFoundError(f"No belief or memory {known!r}.", hint=error.hint) from None
        label, item = (
            ("Belief", found.belief)
            if isinstance(found, BeliefReasons)
            else ("Memory", found.memory)
        )
        await self._state.accessed(label, known)
        if item.status != Status.REJECTED:
            return found
        rejection = await rejecting.find(request, known, read.as_of)
        return found.model_copy(update={"rejection": rejection})

    async def history(
        self, item_id: BeliefLike, *, limit: Limit = 100, as_of: AsOfLike | None = None
    ) -> Sequence[BeliefEvent] | Sequence[MemoryEvent]:
        """Return the newest events of an item, oldest of them first.

        The payload of a GRADUATE, COMPRESS or ARCHIVE event of an episode has a `reason`.

        Args:
            item_id: id of a belief, a memory or an episode, or a receipt or record of a belief.
            limit: maximum number of events, 1 to 1,000.
            as_of: valid and known time of the read; now by default.
        """
        known, at = belief_id_of(item_id), moment_of(as_of)
        request = self._state.context
        with suppress(NotFoundError):
            return await reasons.history(request, known, at or AsOf(), limit=limit)
        with suppress(NotFoundError):
            return await memories.history(request, known, limit=limit, as_of=at)
        try:
            return await episode.history(request, known, limit=limit, as_of=at)
        except NotFoundError as error:
            raise NotFoundError(
                f"No belief, memory or episode {known!r}.", hint=error.hint
            ) from None

    async def expand(self, item_id: AskedId) -> Card:
        """Return the card of a memory, a belief, a turn or an episode.

        The access is logged. Log entries are written together: when 100 wait, by `flush`, and at
        the end of the session or the client. A failed write is logged, never raised here; the
        newest 10,000 entries are kept. Entries that wait when a process is killed are lost.

        Args:
            item_id: id of the item, of any kind.
        """
        card = await cards.expand(self._state.context, item_id)
        if self._state.session is not None:
            self._state.session.supplied.update(supplied.card_hashes(card))
        await self._state.accessed(type(card.item).__name__, item_id)
        return card


class RecallVerbs(Namespace):
    """Methods that search memory and explain results; blocking twin of `AsyncRecallVerbs`."""

    recall = blocking(AsyncRecallVerbs.recall)
    context = blocking(AsyncRecallVerbs.context)
    why = blocking(AsyncRecallVerbs.why)
    history = blocking(AsyncRecallVerbs.history)
    expand = blocking(AsyncRecallVerbs.expand)


async def event_of(handle: AsyncNamespace, event_id: str) -> tuple[MemoryEvent, list[str]] | None:
    """Return a visible event and the ids of the visible items that it is about; None if none."""
    return await ids.event(handle._state.context, event_id)


async def around(
    handle: AsyncNamespace, opened: Mapping[str, int], types: Sequence[str], *, counted: int
) -> list[tuple[neighbourhood.Node, list[neighbourhood.Group]]]:
    """Return visible items and events with their neighbours; see `neighbourhood.around`."""
    return await neighbourhood.around(handle._state.context, opened, types, counted=counted)


async def standings(
    handle: AsyncNamespace, nodes: Sequence[neighbourhood.Node]
) -> dict[str, neighbourhood.Standing]:
    """Return the standings of the memories and beliefs among nodes, by id."""
    return await neighbourhood.standings(handle._state.context, nodes)


class Replay(NamedTuple):
    """The steps of a `context` from the candidates to the block."""

    steps: watching.Steps
    found: Recollection
    block: Context


async def replayed(handle: AsyncRecallVerbs, question: str, as_of: AsOf | None) -> Replay:
    """Return the block of `context` for a question, and each step on the way to it."""
    steps, given = watching.Steps(), {**_REPLAYED, "as_of": as_of}
    found = await recalled(handle._state.context, question, given, vitality=True, watch=steps)
    block = await supply(handle._state, question, found, BLOCK_TOKENS, token_counter(None))
    return Replay(steps, found, block)


def recalled(
    request: RequestContext,
    question: str,
    given: Mapping[str, Any],
    *,
    vitality: bool = False,
    watch: watching.Watch = watching.UNWATCHED,
) -> Coroutine[Any, Any, Recollection]:
    """Return the search of `recall`, to be awaited; it updates neither the session nor the log.

    Args:
        given: validated arguments of `recall` or `context` by name; what is missing has its default
            and other names are ignored.
        vitality: whether to compute the vitality of the beliefs found.
        watch: observer of the steps.
    """
    ranking = recall_policy_of(given["policy"], request.services.settings.recall)
    # None is the default of each filter, except of the kinds.
    filters = {name: given[name] for name in _FIELDS & given.keys() if given[name] is not None}
    if (floor := given.get("min_score")) is not None:
        ranking = ranking.model_copy(update={"min_score": floor})
    within = _within(request, given.get("scopes"))
    others = tuple(one for one in request.read_scopes if one not in within.read_scopes)
    want = recall.RecallRequest(**filters, vitality=vitality, other_scopes=others)
    return recall.recall(within, question, want, ranking, watch)


async def supply(
    state: HandleState, question: str, found: Recollection, tokens: int, count: CountTokens
) -> Context:
    """Return a recollection as a block for a prompt; log it, and note its texts in the session."""
    services = state.context.services
    shown = zones.in_zone(found, services.settings.time_zone)
    now = zones.local(services.clock.now(), services.settings.time_zone)
    short = await ids.shortened(state.context, wording.named_ids(found))
    style = wording.Style(short, now.year)
    packed = blocks.pack_context(shown, tokens, count, style)
    kept = [bite for bite in found.bites if bite.id in packed.context.ids]
    if state.session is not None:
        state.session.supplied.update(map(identity.content_hash, packed.supplied))
        state.session.shown.add(question, kept, packed.context.shown)
    await state.searched("context", question, hits(kept))
    return packed.context


def hits(bites: Iterable[AnyBite]) -> Iterator[SearchHit]:
    """Yield bites as log entries; texts are hashed only if the log is on."""
    for bite in bites:
        content_hash = identity.content_hash(bite.text)
        yield SearchHit(bite.kind.capitalize(), bite.id, bite.similarity, content_hash)


def _within(request: RequestContext, scopes: tuple[str, ...] | None) -> RequestContext:
    """Return the request context with these read scopes only."""
    if scopes is None:
        return request
    if unseen := [scope for scope in scopes if scope not in request.read_scopes]:
        raise InvalidInputError(
            f"scopes: {unseen[0]!r} must be a read scope of this handle.",
            hint=f"Give some of {', '.join(map(repr, request.read_scopes))}.",
        )
    return replace(
        request, tenant_scope=TenantScope(tenant=request.tenant, scope=request.scope, scopes=scopes)
    )


def token_counter(count: CountTokens | None) -> CountTokens:
    """Return a function that counts tokens and refuses what is not a count."""
    if count is None:
        return count_tokens
    if not callable(count):
        raise InvalidInputError(
            "count_tokens: must be a function of a text.", hint="For example `len`."
        )

    def counted(text: str) -> int:
        size = count(text)
        if type(size) is not int or size < 0:
            raise InvalidInputError("count_tokens: must return a whole number of at least 0.")
        return size

    return counted


def _question(messages: Sequence[Message]) -> str:
    asked = blocks.question(messages)
    if not asked:
        raise InvalidInputError(
            "messages: must have a message of a person with text.",
            hint="Give a conversation with a message of role `user`, or a question as a text.",
        )
    return asked
