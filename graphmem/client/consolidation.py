"""The part of a handle that lets episodes become beliefs."""

from __future__ import annotations

from graphmem.client.observing import Instrumented
from graphmem.client.state import HandleState, blocking, valid, yes_or_no
from graphmem.model import ConsolidationPolicy, ConsolidationReport, Record
from graphmem.operations import consolidation
from graphmem.ports import OnPart, silent


class _By(Record):
    policy: ConsolidationPolicy


class AsyncConsolidation(Instrumented):
    """Consolidation of one scope, awaited."""

    async def consolidate(
        self,
        *,
        dry_run: bool = False,
        extractive: bool = False,
        if_due: bool = False,
        policy: ConsolidationPolicy | None = None,
        on_part: OnPart = silent,
    ) -> ConsolidationReport:
        """Let what was said in several episodes become beliefs of the handle's own scope.

        Looked at are turns of people, and episodes without turns, on which no belief rests yet.
        One that lies near a belief speaks for it or, with a negation or another number in the same
        words, against it; those near one another, of three episodes at least, become a belief:
        worded by the language model that the settings name, else in the words of the one in their
        midst. All of it is evidence of source `consolidation`, quoting the words it rests on. A
        contradiction that passes the belief's gate flags it, what is hardly believed and was only
        inferred is archived, and nothing is deleted.

        Safe to interrupt, to repeat and to run by any number of workers: each belief's or
        cluster's events are one transaction, under an id made of the passages, and an interrupted
        run is gone on with by the next.

        Args:
            dry_run: tell what would be done; nothing is written.
            extractive: use no language model although one is set.
            if_due: only when 20 episodes are new, or one is and the last run was 4 hours ago.
            policy: other numbers than those.
            on_part: told `passage`, `belief` or `cluster` and how many of them were seen to.

        Raises:
            InvalidInputError: an argument does not fit.
            LeaseLostError: this worker was so slow that another one has gone on with the run.
            ConfigurationError: nobody knows whose the language model is.
        """
        wanted = valid(_By, policy=ConsolidationPolicy() if policy is None else policy).policy
        to = self._state.binding
        llm = None if yes_or_no("extractive", extractive) else to.world.llm
        how = consolidation.ConsolidationOptions(
            policy=wanted,
            llm=llm,
            apply=not yes_or_no("dry_run", dry_run),
            if_due=yes_or_no("if_due", if_due),
            on_part=on_part,
        )
        return await consolidation.consolidate(to, how)


class Consolidation:
    """Consolidation of one scope, blocking: the twin of `AsyncConsolidation`."""

    _state: HandleState

    consolidate = blocking(AsyncConsolidation.consolidate)
