"""Read turns with a language model, with rules, or with a user's callable."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple, Protocol, TypeAlias

from graphmem import stored
from graphmem.errors import InvalidInputError, NotFoundError
from graphmem.extraction import DismissedProposal, Proposal, sentences, windows
from graphmem.extraction.quotes import SuppliedText
from graphmem.extraction.windows import REACH, TurnContext, TurnWindow, Vocabulary
from graphmem.graph import catalog
from graphmem.model import Cardinality, Episode, Turn
from graphmem.ports import Llm, RequestContext, TokenUsage
from graphmem.rules import prompts
from graphmem.rules.claims import predicate_key
from graphmem.rules.predicates import SINGLE_VALUED

Extractor: TypeAlias = Callable[[Sequence[Turn]], Iterable[Proposal | Mapping[str, Any]]]
"""Takes the turns of people, in order, and returns the proposals made from them. Its `name`
attribute, or the function's name, identifies the turns that it has already read."""

_LONGEST_NAME = 200

PAGE = 2_000
"""Turns per read."""
MAX_PREDICATES, MAX_NAMES = 500, 60
"""Limits of the vocabulary: the most used predicates and names."""
EARLY = timedelta(days=1)
"""Time before a session's first turn in which texts supplied to it may be logged."""

GET = catalog.query("episode/get", lambda row: Episode(**row["episode"]))
SCAN = catalog.query("extract/scan", dict)
SUPPLIED = catalog.query("extract/recalled_texts", dict)
VOCABULARY = catalog.query("extract/vocabulary", dict)


class ReaderResult(NamedTuple):
    """Result of reading a window."""

    proposals: Sequence[Proposal]
    refused: Sequence[DismissedProposal] = ()
    """Entries that are not valid proposals."""
    raw: str | None = None
    """Unparsed reply of a model; None if no model was called."""


class ProposalReader(Protocol):
    """Makes proposals from turns."""

    @property
    def name(self) -> str:
        """Name of everything besides the turns that proposals depend on."""
        ...

    async def read(self, window: TurnWindow, known: Vocabulary, bill: TokenUsage) -> ReaderResult:
        """Return the proposals from a window's turns, and add the cost to `bill`."""
        ...


class ModelReader:
    """Reads with a language model."""

    def __init__(self, llm: Llm) -> None:
        self._llm = llm
        self.name = f"{llm.name} {prompts.prompt_digest(windows.NAME)[:12]}"

    async def read(self, window: TurnWindow, known: Vocabulary, bill: TokenUsage) -> ReaderResult:
        """Ask the model about the window.

        Raises:
            ModelUnavailableError: the model cannot be reached.
            ModelReplyError: the reply violates the contract.
        """
        answer = await self._llm.answer(windows.extraction_prompt(window, known))
        bill.add(answer)
        proposals, refused = windows.parse_reply(answer.value, window)
        return ReaderResult(proposals, refused, answer.raw)


class RuleReader:
    """Reads by sentence patterns, without a model."""

    name = sentences.NAME

    async def read(self, window: TurnWindow, known: Vocabulary, bill: TokenUsage) -> ReaderResult:  # noqa: ARG002
        """Match the sentence patterns."""
        return ReaderResult(*sentences.parse_window(window))


class CallReader:
    """Reads with a user's callable."""

    def __init__(self, extractor: Extractor) -> None:
        self._extractor = extractor
        self.name = _named(extractor)[:_LONGEST_NAME]

    async def read(self, window: TurnWindow, known: Vocabulary, bill: TokenUsage) -> ReaderResult:  # noqa: ARG002
        """Call the extractor; its exceptions propagate to the caller.

        Raises:
            InvalidInputError: the extractor does not return a list.
        """
        given = self._extractor(window.people)
        if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
            raise InvalidInputError(
                f"The extractor {self.name!r} must return a list.",
                hint="Return a list, even for a single proposal.",
            )
        made = [one if isinstance(one, Proposal) else _proposed(one) for one in given]
        return ReaderResult(
            [one for one in made if isinstance(one, Proposal)],
            [one for one in made if isinstance(one, DismissedProposal)],
        )


def _proposed(given: object) -> Proposal | DismissedProposal:
    return windows.parse_proposal(given if isinstance(given, Mapping) else {})


def _named(extractor: Extractor) -> str:
    if isinstance(own := getattr(extractor, "name", None), str) and own.strip():
        return own
    of = extractor if hasattr(extractor, "__qualname__") else type(extractor)
    return f"{of.__module__}.{of.__qualname__}"


class PendingLogEntry(NamedTuple):
    """A search, or an access to one item, that is not in the log yet."""

    at: datetime
    query: str | None
    ids: tuple[str, ...]


async def session(context: RequestContext, episode_id: str) -> Episode:
    """Return the episode of a session."""
    found = await context.fetch(GET, scopes=[context.scope], ids=[episode_id])
    if not found:
        raise NotFoundError("No such session in this scope.", hint="Add its messages first.")
    return found[0]


async def places(context: RequestContext, episode_id: str, extractor: str) -> list[TurnContext]:
    """Return all turns of a session in order, marked as read or unread by an extractor."""
    rows: list[dict[str, Any]] = []
    while True:
        first = {"from": rows[-1]["position"] + 1 if rows else 0}
        asked = {"episode_id": episode_id, "extractor": extractor, "limit": PAGE}
        page = await context.fetch(SCAN, **asked, **first)
        rows += page
        if len(page) < PAGE:
            break
    return windows.turn_contexts(
        (r["id"], r["position"], r["read"], r["occurred_at"]) for r in rows
    )


async def window(
    context: RequestContext, episode_id: str, span: Sequence[TurnContext]
) -> TurnWindow:
    """Return a range of turns with their texts and the surrounding turns."""
    first = max(0, span[0].position - REACH)
    turns = await context.fetch(
        stored.TURNS,
        scopes=[context.scope],
        episode_id=episode_id,
        limit=span[-1].position + REACH + 1 - first,
        **{"from": first},
    )
    return windows.build_window(span, turns)


async def turns(context: RequestContext, episode_id: str) -> list[Turn]:
    """Return all turns of a session in order."""
    return [turn async for page in stored.turn_pages(context, episode_id) for turn in page]


async def supplied(
    context: RequestContext,
    session_id: str | None,
    began: datetime,
    waiting: Sequence[PendingLogEntry],
) -> list[SuppliedText]:
    """Return every text that the memory supplied to a session since it began."""
    rows = await context.fetch(
        SUPPLIED,
        session_id=session_id,
        since=began - EARLY,
        waiting=[
            {
                "at": one.at,
                "payload": None if one.query is None else json.dumps({"query": one.query}),
                "ids": list(one.ids),
            }
            for one in waiting
        ],
    )
    return [supply for row in rows for supply in _supplies(row)]


def _supplies(row: Mapping[str, Any]) -> list[SuppliedText]:
    query = json.loads(row["payload"])["query"] if row["payload"] else ""
    at = datetime.fromisoformat(row["at"])
    return [SuppliedText(row["id"], text, at, query) for text in dict.fromkeys(row["texts"])]


async def vocabulary(context: RequestContext, names: Mapping[str, str]) -> Vocabulary:
    """Return the predicates and names of the tenant that the handle may read.

    Args:
        names: canonical names by folded alias; aliases are not offered.
    """
    [found] = await context.fetch(VOCABULARY, predicates=MAX_PREDICATES, names=MAX_NAMES)
    predicates = [(one["name"], _read_as(one)) for one in found["predicates"]]
    offered = dict.fromkeys(windows.canonical_name(name, names) for name in found["names"])
    return Vocabulary(predicates, tuple(offered))


def _read_as(predicate: Mapping[str, Any]) -> str | None:
    """Return the cardinality that is declared or built in; None if there is neither."""
    if predicate["cardinality"] is None and predicate_key(predicate["name"]) in SINGLE_VALUED:
        return Cardinality.ONE
    declared: str | None = predicate["cardinality"]
    return declared
