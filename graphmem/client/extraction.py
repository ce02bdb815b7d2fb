"""The part of a handle that lets what was said become evidence."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Literal

from graphmem.client.given import several
from graphmem.client.observing import Instrumented
from graphmem.client.state import HandleState, blocking, bounded, valid, yes_or_no
from graphmem.errors import ConfigurationError, InvalidInputError
from graphmem.model import (
    EventSource,
    ExtractionReport,
    Name,
    ProposalPage,
    ProposalStatus,
    Record,
    ReviewReport,
)
from graphmem.operations import declarations, evidence, extraction
from graphmem.operations.access_log import AccessEntry, SearchEntry
from graphmem.operations.extraction import Extractor, ProposalReader
from graphmem.operations.extraction.reading import PendingLogEntry
from graphmem.ports import OnPart, silent
from graphmem.rules import identity

RULES: Literal["rules"] = "rules"
MOST_ROWS = 1_000


class _Named(Record):
    session: Name


class _Status(Record):
    status: ProposalStatus | None


class _Ids(Record):
    ids: tuple[Name, ...]


class AsyncExtraction(Instrumented):
    """What was said, as evidence, awaited."""

    async def extract(
        self,
        *,
        session: str | None = None,
        extractor: Extractor | Literal["rules"] | None = None,
        dry_run: bool = False,
        review: bool = False,
        on_part: OnPart = silent,
    ) -> ExtractionReport:
        """Let what people said in a session become evidence that quotes their words.

        Read are the turns that this extractor has not read before, eight at a time. What it
        proposes is checked: the quote must stand in its turn, the turn in this session, subject
        and object in the quote or beside it; what an assistant, a tool or memory itself said is
        no evidence; hygiene applies. What fails is listed with its reason. The rest becomes
        EVIDENCE within the session's episode, at the time that the words give ("since May"), else
        when they were said.

        Safe to interrupt, to repeat and to run in several places: each window's evidence is one
        transaction with the reply it rests on, and a turn speaks once of a belief.

        Args:
            session: its name; inside a session its own.
            extractor: "rules" for a few plain forms of sentences, or a callable that takes turns
                and returns proposals; the language model that the settings name by default.
            dry_run: tell what would be written; nothing is.
            review: put proposals up for `accept` and `reject`; none is evidence yet.
            on_part: told `turn` and how many of them were seen to.

        Raises:
            InvalidInputError: no session is named, or the extractor is none.
            NotFoundError: nothing was said in the session.
            ConfigurationError: no language model is set and no other extractor is given.
        """
        apply, review = not yes_or_no("dry_run", dry_run), yes_or_no("review", review)
        own = self._state.session
        if session is None and own is None:
            raise InvalidInputError("Which session?", hint="Give `session`, or use a session.")
        name = own.session_id if session is None and own else valid(_Named, session=session).session
        to = self._state.binding
        how = extraction.ExtractionOptions(
            reader=self._reader(extractor),
            apply=apply,
            review=review,
            # Without a log only the session itself knows what it was supplied with.
            rules=self._state.rules if self._state.logs else self._state.all_rules(),
            names=await declarations.canonical(to),
            waiting=self._waiting(name),
            on_part=on_part,
        )
        done = await extraction.extract(to, identity.episode_id(to.wall.scope, name), how)
        if how.apply and not how.review:
            await evidence.embed_statements(to)
        return done

    async def proposals(
        self, *, status: str | None = "open", cursor: str | None = None, limit: int = 50
    ) -> ProposalPage:
        """Return a page of the proposals that were put up for review, oldest first.

        Args:
            status: open (by default), accepted or rejected; None: all of them.
            cursor: where the page before ended; ask with the same status.
            limit: 1 to 1,000.

        Raises:
            InvalidInputError: an argument does not fit.
        """
        wanted = valid(_Status, status=status).status
        count = bounded("limit", limit, MOST_ROWS)
        return await extraction.page(self._state.binding, wanted, cursor=cursor, limit=count)

    async def accept(
        self,
        proposal_ids: Iterable[str],
        *,
        at: datetime | None = None,
        source: str = "manual",
        actor: str | None = None,
        artifact_ref: str | None = None,
        note: str | None = None,
    ) -> ReviewReport:
        """Turn proposals into evidence, all of them or none.

        A dismissed proposal can be accepted later. `retract` takes the evidence of an accepted
        proposal back.

        Args:
            proposal_ids: ids of `proposals`.
            at: when it was decided, with a time zone; now by default.
            source: where the decision comes from, for example manual.
            actor: who decided.
            artifact_ref: file name, address or session that it comes from.
            note: why; kept with the event.

        Raises:
            NotFoundError: no visible proposal has one of the ids.
            ForeignScopeError: a proposal belongs to another scope.
            InvalidInputError: an argument is invalid.
        """
        to = self._state.binding
        origin = valid(
            EventSource,
            at=at,
            source=source,
            actor=actor,
            artifact_ref=artifact_ref,
            note=note,
        )
        done = await extraction.accept(to, _ids(proposal_ids), origin)
        if done.belief_ids:
            await evidence.embed_statements(to, done.belief_ids)
        return done

    async def reject(
        self,
        proposal_ids: Iterable[str],
        *,
        at: datetime | None = None,
        source: str = "manual",
        actor: str | None = None,
        artifact_ref: str | None = None,
        note: str | None = None,
    ) -> ReviewReport:
        """Dismiss proposals, all of them or none; no extraction proposes them again.

        Args:
            proposal_ids: ids of `proposals`.
            at: when it was decided, with a time zone; now by default.
            source: where the decision comes from, for example manual.
            actor: who decided.
            artifact_ref: file name, address or session that it comes from.
            note: why; kept with the event.

        Raises:
            RefusedError: a proposal was accepted already.
            NotFoundError, ForeignScopeError, InvalidInputError: see `accept`.
        """
        origin = valid(
            EventSource,
            at=at,
            source=source,
            actor=actor,
            artifact_ref=artifact_ref,
            note=note,
        )
        return await extraction.reject(self._state.binding, _ids(proposal_ids), origin)

    def _reader(self, extractor: Extractor | Literal["rules"] | None) -> ProposalReader:
        if isinstance(extractor, str) and extractor == RULES:
            return extraction.RuleReader()
        if callable(extractor):
            return extraction.CallReader(extractor)
        if extractor is not None:
            raise InvalidInputError(
                "extractor: it is none.", hint='Give "rules", a callable, or nothing for the model.'
            )
        if self._state.binding.world.llm is None:
            raise ConfigurationError(
                "No language model is set.",
                hint='Set GRAPHMEM_MODEL, or give extractor="rules" (--rules).',
            )
        return extraction.ModelReader(self._state.binding.world.llm)

    def _waiting(self, session_id: str) -> list[PendingLogEntry]:
        """Return what a session was shown and the log does not have yet."""
        wall = self._state.binding.wall
        return [
            PendingLogEntry(one.at, one.query, tuple(hit.id for hit in one.found))
            if isinstance(one, SearchEntry)
            else PendingLogEntry(one.at, None, (one.item_id,))
            for one in self._state.accesses.waiting()
            if isinstance(one, SearchEntry | AccessEntry)
            and (one.tenant, one.scope, one.actor) == (wall.tenant, wall.scope, session_id)
        ]


def _ids(given: Iterable[str]) -> tuple[str, ...]:
    return valid(_Ids, ids=tuple(several("proposal_ids", given))).ids


class Extractions:
    """What was said, as evidence, blocking: the twin of `AsyncExtraction`."""

    _state: HandleState

    _reader = AsyncExtraction._reader
    _waiting = AsyncExtraction._waiting

    extract = blocking(AsyncExtraction.extract)
    proposals = blocking(AsyncExtraction.proposals)
    accept = blocking(AsyncExtraction.accept)
    reject = blocking(AsyncExtraction.reject)
