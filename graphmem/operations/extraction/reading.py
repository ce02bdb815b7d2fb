"""Who reads turns: a language model, the rules, or a callable of the user's."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple, Protocol, TypeAlias

from graphmem import catalog
from graphmem.errors import InvalidInputError, NotFoundError
from graphmem.model import DismissedProposal, Episode, Proposal, Turn
from graphmem.ports import Llm, RequestContext, TokenUsage
from graphmem.rules import consolidation
from graphmem.rules.conflicts import consistent
from graphmem.rules.extraction import sentences, windows
from graphmem.rules.extraction.quoting import SuppliedText
from graphmem.rules.extraction.windows import REACH, TurnContext, TurnWindow, Vocabulary

Extractor: TypeAlias = Callable[[Sequence[Turn]], Iterable[Proposal | Mapping[str, Any]]]
"""Takes turns that people said, in order, and returns what they are proposed to say. Its `name`, or
that of the function, tells what it has read before."""

_LONGEST_NAME = 200


class ReaderResult(NamedTuple):
    """What was made of a window."""

    proposals: Sequence[Proposal]
    refused: Sequence[DismissedProposal] = ()
    """What was no proposal at all."""
    raw: str | None = None
    """A model's own words."""


class ProposalReader(Protocol):
    """Makes proposals of turns."""

    @property
    def name(self) -> str:
        """What proposals depend on beside the turns."""
        ...

    async def read(self, window: TurnWindow, known: Vocabulary, bill: TokenUsage) -> ReaderResult:
        """Return what a window's turns are proposed to say; what that cost is put on the bill."""
        ...


class ModelReader:
    """A language model."""

    def __init__(self, llm: Llm) -> None:
        self._llm = llm
        self.name = f"{llm.name} {consolidation.digest(windows.NAME)[:12]}"

    async def read(self, window: TurnWindow, known: Vocabulary, bill: TokenUsage) -> ReaderResult:
        """Ask about the window.

        Raises:
            ModelUnavailableError: it cannot be reached.
            ModelReplyError: it did not answer as it was asked to.
        """
        answer = await self._llm.answer(windows.prompt(window, known))
        bill.add(answer)
        proposals, refused = windows.proposals(answer.value, window)
        return ReaderResult(proposals, refused, answer.raw)


class RuleReader:
    """The forms of sentences that need no model."""

    name = sentences.NAME

    async def read(self, window: TurnWindow, known: Vocabulary, bill: TokenUsage) -> ReaderResult:  # noqa: ARG002
        """Look for the forms."""
        return ReaderResult(*sentences.read(window))


class CallReader:
    """A callable of the user's."""

    def __init__(self, extractor: Extractor) -> None:
        self._extractor = extractor
        self.name = _named(extractor)[:_LONGEST_NAME]

    async def read(self, window: TurnWindow, known: Vocabulary, bill: TokenUsage) -> ReaderResult:  # noqa: ARG002
        """Call it. What it raises goes on to the caller.

        Raises:
            InvalidInputError: it returns no list.
        """
        given = self._extractor(window.people)
        if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
            raise InvalidInputError(
                f"The extractor {self.name!r} returned no list.", hint="Return a list, even of one."
            )
        made = [one if isinstance(one, Proposal) else _proposed(one) for one in given]
        return ReaderResult(
            [one for one in made if isinstance(one, Proposal)],
            [one for one in made if isinstance(one, DismissedProposal)],
        )


def _proposed(given: object) -> Proposal | DismissedProposal:
    return windows.proposed(given if isinstance(given, Mapping) else {})


def _named(extractor: Extractor) -> str:
    if isinstance(own := getattr(extractor, "name", None), str) and own.strip():
        return own
    of = extractor if hasattr(extractor, "__qualname__") else type(extractor)
    return f"{of.__module__}.{of.__qualname__}"


PAGE = 2_000
"""Turns of one read."""
MOST_PREDICATES, MOST_NAMES = 500, 60
"""Looked at, the most used."""
EARLY = timedelta(days=1)
"""What a session was supplied with may be logged before its first turn is added."""

GET = catalog.query("episode/get", lambda row: Episode(**row["episode"]))
TURNS = catalog.query("episode/turns", lambda row: Turn(**row["turn"]))
SCAN = catalog.query("extract/scan", dict)
SUPPLIED = catalog.query("extract/supplied", dict)
VOCABULARY = catalog.query("extract/vocabulary", dict)


class PendingLogEntry(NamedTuple):
    """A search, or a look at one item, that is not in the log yet."""

    at: datetime
    query: str | None
    ids: tuple[str, ...]
    """Of what it found."""


@consistent
async def session(to: RequestContext, episode_id: str) -> Episode:
    """Return the episode of a session.

    Raises:
        NotFoundError: nothing was said in it.
    """
    found = await to.world.graph.read(
        lambda tx: tx.fetch(GET, tenant=to.wall.tenant, scopes=[to.wall.scope], ids=[episode_id])
    )
    if not found:
        raise NotFoundError("No such session in this scope.", hint="Add its messages first.")
    return found[0]


@consistent
async def places(to: RequestContext, episode_id: str, extractor: str) -> list[TurnContext]:
    """Return every turn of a session in order, and which of them an extractor has read."""
    rows: list[dict[str, Any]] = []
    while True:
        page = await _page(to, episode_id, extractor, rows[-1]["position"] + 1 if rows else 0)
        rows += page
        if len(page) < PAGE:
            break
    return windows.placed((r["id"], r["position"], r["read"], r["occurred_at"]) for r in rows)


async def _page(
    to: RequestContext, episode_id: str, extractor: str, first: int
) -> list[dict[str, Any]]:
    return await to.world.graph.read(
        lambda tx: tx.fetch(
            SCAN,
            tenant=to.wall.tenant,
            scope=to.wall.scope,
            episode_id=episode_id,
            extractor=extractor,
            limit=PAGE,
            **{"from": first},
        )
    )


@consistent
async def window(to: RequestContext, episode_id: str, stretch: Sequence[TurnContext]) -> TurnWindow:
    """Return a stretch of turns with their words, and those about them."""
    first = max(0, stretch[0].position - REACH)
    turns = await to.world.graph.read(
        lambda tx: tx.fetch(
            TURNS,
            tenant=to.wall.tenant,
            scopes=[to.wall.scope],
            episode_id=episode_id,
            limit=stretch[-1].position + REACH + 1 - first,
            **{"from": first},
        )
    )
    return windows.window(stretch, turns)


@consistent
async def supplied(
    to: RequestContext, episode: Episode, waiting: Sequence[PendingLogEntry]
) -> list[SuppliedText]:
    """Return every text that memory is known to have given in a session."""
    rows = await to.world.graph.read(
        lambda tx: tx.fetch(
            SUPPLIED,
            tenant=to.wall.tenant,
            scope=to.wall.scope,
            session_id=episode.session_id,
            since=episode.recorded_at - EARLY,
            waiting=[
                {
                    "at": one.at,
                    "payload": None if one.query is None else json.dumps({"query": one.query}),
                    "ids": list(one.ids),
                }
                for one in waiting
            ],
        )
    )
    return [supply for row in rows for supply in _supplies(row)]


def _supplies(row: Mapping[str, Any]) -> list[SuppliedText]:
    query = json.loads(row["payload"])["query"] if row["payload"] else ""
    at = datetime.fromisoformat(row["at"])
    return [SuppliedText(row["id"], text, at, query) for text in dict.fromkeys(row["texts"])]


@consistent
async def vocabulary(to: RequestContext, names: Mapping[str, str]) -> Vocabulary:
    """Return what the tenant calls things, as far as the handle sees it.

    Args:
        to: where.
        names: canonical names by the folded ones that stand for them, and are not offered.
    """
    [found] = await to.world.graph.read(
        lambda tx: tx.fetch(
            VOCABULARY,
            tenant=to.wall.tenant,
            scopes=list(to.wall.scopes),
            predicates=MOST_PREDICATES,
            names=MOST_NAMES,
        )
    )
    predicates = [(one["name"], one["cardinality"]) for one in found["predicates"]]
    offered = dict.fromkeys(windows.canonical(name, names) for name in found["names"])
    return Vocabulary(predicates, tuple(offered))
