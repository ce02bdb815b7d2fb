"""Methods of a handle that extract evidence from sessions and review proposals."""

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
    """Extraction of evidence and its review, awaited."""

    async def extract(
        self,
        *,
        session: str | None = None,
        extractor: Extractor | Literal["rules"] | None = None,
        dry_run: bool = False,
        review: bool = False,
        on_part: OnPart = silent,
    ) -> ExtractionReport:
        """Extract evidence from the turns of people in a session; it quotes their words.

        The extractor reads the turns that it has not read before, eight at a time. Each proposal
        is checked: its turn must be in this session, its quote in that turn, and its subject and
        object there or in the two turns before or after. Words of an assistant, a tool or memory
        itself are not evidence, and hygiene applies. The report lists failed proposals with the
        reason. The others become EVIDENCE in the session's episode, at the time in the words
        ("since May"), else at the time of the turn.

        Safe to interrupt, to repeat and to run in several processes: the evidence of a window and
        the reply it rests on are one transaction, and a turn counts once for a belief.

        Args:
            session: name of the session; inside a session its own by default.
            extractor: "rules" for a few simple sentence forms, or a callable that takes turns and
                returns proposals; the language model of the settings by default.
            dry_run: report what would be written; nothing is written.
            review: store proposals for `accept` and `reject` instead of evidence.
            on_part: progress callback; receives `turn` and the number of turns processed.

        Raises:
            InvalidInputError: no session is named, or the extractor is invalid.
            NotFoundError: the session has no turns.
            ConfigurationError: no language model is set and no other extractor is given.
        """
        apply, review = not yes_or_no("dry_run", dry_run), yes_or_no("review", review)
        own = self._state.session
        if session is None and own is None:
            raise InvalidInputError("session is missing.", hint="Pass `session`, or use a session.")
        name = own.session_id if session is None and own else valid(_Named, session=session).session
        to = self._state.binding
        how = extraction.ExtractionOptions(
            reader=self._reader(extractor),
            apply=apply,
            review=review,
            # Without a log, only the session records the texts that it supplied.
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
        """Return a page of the proposals stored for review, oldest first.

        Args:
            status: open, accepted or rejected; None for all.
            cursor: `next_cursor` of the previous page; `status` must be the same.
            limit: maximum number of proposals, 1 to 1,000.

        Raises:
            InvalidInputError: an argument is invalid.
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
            RefusedError: a proposal is already accepted.
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
                'extractor must be "rules" or a callable.',
                hint="Omit it to use the language model.",
            )
        if self._state.binding.world.llm is None:
            raise ConfigurationError(
                "No language model is set.",
                hint='Set GRAPHMEM_MODEL, or pass extractor="rules" (--rules).',
            )
        return extraction.ModelReader(self._state.binding.world.llm)

    def _waiting(self, session_id: str) -> list[PendingLogEntry]:
        """Return the searches and accesses of a session that are not written to the log yet."""
        wall = self._state.binding.wall
        return [
            PendingLogEntry(entry.at, entry.query, tuple(hit.id for hit in entry.found))
            if isinstance(entry, SearchEntry)
            else PendingLogEntry(entry.at, None, (entry.item_id,))
            for entry in self._state.accesses.waiting()
            if isinstance(entry, SearchEntry | AccessEntry)
            and (entry.tenant, entry.scope, entry.actor) == (wall.tenant, wall.scope, session_id)
        ]


def _ids(given: Iterable[str]) -> tuple[str, ...]:
    return valid(_Ids, ids=tuple(several("proposal_ids", given))).ids


class Extractions:
    """Extraction of evidence and its review; blocking twin of `AsyncExtraction`."""

    _state: HandleState

    _reader = AsyncExtraction._reader
    _waiting = AsyncExtraction._waiting

    extract = blocking(AsyncExtraction.extract)
    proposals = blocking(AsyncExtraction.proposals)
    accept = blocking(AsyncExtraction.accept)
    reject = blocking(AsyncExtraction.reject)
