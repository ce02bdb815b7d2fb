"""Methods of a handle that extract evidence and consolidate beliefs."""

from __future__ import annotations

from typing import Literal

from graphmem.client.namespace import AsyncNamespace, Namespace, blocking
from graphmem.client.state import HandleState
from graphmem.consolidation import (
    ConsolidationPolicy,
    ConsolidationReport,
    ConsolidationStatus,
    job,
)
from graphmem.errors import ConfigurationError, InvalidInputError
from graphmem.extraction import ExtractionReport, readers, sentences
from graphmem.extraction import job as extraction_job
from graphmem.extraction.readers import Extractor, PendingLogEntry, ProposalReader
from graphmem.model import Name
from graphmem.operations import declarations
from graphmem.operations.evidence import writing
from graphmem.ports import OnProgress, silent
from graphmem.rules import identity
from graphmem.usage.access_log import AccessEntry, SearchEntry

RULES: Literal["rules"] = "rules"


class AsyncJobs(AsyncNamespace):
    """Methods that extract evidence and consolidate beliefs, awaited."""

    async def extract(
        self,
        *,
        session_id: Name | None = None,
        extractor: Extractor | Literal["rules"] | None = None,
        dry_run: bool = False,
        review: bool = False,
        on_progress: OnProgress = silent,
    ) -> ExtractionReport:
        """Extract evidence from a session. It quotes the words of people.

        The extractor reads the turns that it has not read before, eight at a time. Each proposal
        is checked: its turn must be in this session, its quote in that turn, and its subject and
        object there or in the two turns before or after. Words of an assistant, a tool or memory
        itself are not evidence, and hygiene applies. The report lists failed proposals with the
        reason. The others become EVIDENCE in the session's episode, at the time in the words
        ("since May"), else at the time of the turn.

        Safe to interrupt, to repeat and to run in several processes: the evidence of a window and
        the reply it rests on are one transaction, and a turn counts once for a belief.

        Args:
            session_id: name of the session; inside a session its own by default.
            extractor: "rules" for a few simple sentence forms, or a callable that takes turns and
                returns proposals; the language model of the settings by default.
            dry_run: report what would be written; nothing is written.
            review: store proposals instead of evidence; `proposals.accept` turns them into it.
            on_progress: progress callback; receives `turn` and the number of turns processed.

        Raises:
            InvalidInputError: no session is named, or the extractor is invalid.
            NotFoundError: the session has no turns.
            ConfigurationError: no language model is set and no other extractor is given.
        """
        own = self._state.session
        name = own.session_id if session_id is None and own else session_id
        if name is None:
            raise InvalidInputError("`session_id` is missing.", hint="Pass it, or use a session.")
        to = self._state.context
        how = extraction_job.ExtractionOptions(
            reader=_reader(self._state, extractor),
            apply=not dry_run,
            review=review,
            # Without a log, only the session records the texts that it supplied.
            rules=self._state.rules if self._state.logs else self._state.all_rules(),
            names=await declarations.canonical(to),
            waiting=_waiting(self._state, name),
            on_progress=on_progress,
        )
        done = await extraction_job.extract(to, identity.episode_id(to.scope, name), how)
        if how.apply and not how.review:
            await writing.embed_statements(to)
        return done

    async def consolidate(
        self,
        *,
        dry_run: bool = False,
        extractive: bool = False,
        if_due: bool = False,
        retry: bool = False,
        policy: ConsolidationPolicy | None = None,
        on_progress: OnProgress = silent,
    ) -> ConsolidationReport:
        """Consolidate passages of several episodes into beliefs of the handle's own scope.

        Passages are turns of people, and episodes without turns, that no belief rests on yet. A
        passage near a belief supports it; with a negation or another number in the same words, it
        refutes it. Similar passages of at least three episodes become a belief. The language model
        of the settings words it; without one, the central passage does. The evidence has the
        source `consolidation` and quotes its passages. A contradiction that passes the belief's
        gate flags the belief. Inferred beliefs with a low score are archived; nothing is deleted.

        Safe to interrupt, to repeat and to run in several workers: the events of each belief or
        cluster are one transaction with an id derived from the passages, and the next run resumes
        an interrupted one.

        Args:
            dry_run: report what would be done; nothing is written.
            extractive: use no language model, even if one is set.
            if_due: run only if 20 episodes are new, or if one is and the last run was 4 hours ago;
                after a model was unavailable, wait for a minute, then for twice as long each
                time, up to an hour.
            retry: try clusters again that were given up after several invalid replies.
            policy: thresholds and limits; those of the settings by default.
            on_progress: progress callback; receives `passage`, `belief` or `cluster` and the number
                processed.

        Raises:
            LeaseLostError: this worker was too slow, and another one has taken over the run.
            ConfigurationError: the provider of the language model is unknown.
        """
        to = self._state.context
        how = job.ConsolidationOptions(
            policy=policy or to.services.settings.consolidation,
            llm=None if extractive else to.services.llm,
            apply=not dry_run,
            if_due=if_due,
            rules=self._state.rules,
            retry=retry,
            on_progress=on_progress,
        )
        return await job.consolidate(to, how)

    async def consolidation_status(
        self, *, policy: ConsolidationPolicy | None = None
    ) -> ConsolidationStatus:
        """Return what waits for consolidation in the handle's own scope, and why.

        Args:
            policy: thresholds and limits; those of the settings by default.
        """
        to = self._state.context
        used = policy or to.services.settings.consolidation
        return await job.status(to, used, modelled=to.services.llm is not None)


class Jobs(Namespace):
    """Methods that extract evidence and consolidate beliefs; blocking twin of `AsyncJobs`."""

    extract = blocking(AsyncJobs.extract)
    consolidate = blocking(AsyncJobs.consolidate)
    consolidation_status = blocking(AsyncJobs.consolidation_status)


def _reader(state: HandleState, extractor: Extractor | Literal["rules"] | None) -> ProposalReader:
    if isinstance(extractor, str) and extractor == RULES:
        return readers.RuleReader()
    if callable(extractor):
        return readers.CallReader(extractor)
    if extractor is not None:
        raise InvalidInputError(
            'extractor must be "rules" or a callable.', hint="Omit it to use the language model."
        )
    if state.context.services.llm is None:
        raise ConfigurationError(
            "No language model is set.",
            hint='Set GRAPHMEM_MODEL, or pass extractor="rules" (--rules).',
        )
    return readers.ModelReader(state.context.services.llm)


async def extract_facts(state: HandleState, session_id: str) -> None:
    """Extract by rules the facts of a session; see `AsyncSession.__aexit__`."""
    to = state.context
    turns = await readers.turns(to, identity.episode_id(to.scope, session_id))
    if not sentences.has_facts(turns):
        return
    how = extraction_job.ExtractionOptions(
        reader=readers.RuleReader(),
        apply=True,
        review=False,
        rules=state.rules if state.logs else state.all_rules(),
        names=await declarations.canonical(to),
        waiting=_waiting(state, session_id),
        on_progress=silent,
    )
    made = await extraction_job.extract_facts(to, session_id, turns, how)
    if made:
        await writing.embed_statements(to, made)


def _waiting(state: HandleState, session_id: str) -> list[PendingLogEntry]:
    """Return the searches and accesses of a session that are not written to the log yet."""
    tenant_scope = state.context.tenant_scope
    return [
        PendingLogEntry(entry.at, entry.query, tuple(hit.id for hit in entry.found))
        if isinstance(entry, SearchEntry)
        else PendingLogEntry(entry.at, None, (entry.item_id,))
        for entry in state.accesses.waiting()
        if isinstance(entry, SearchEntry | AccessEntry)
        and (entry.tenant, entry.scope, entry.actor)
        == (tenant_scope.tenant, tenant_scope.scope, session_id)
    ]
