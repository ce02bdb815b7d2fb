"""Method of a handle that consolidates episodes into beliefs."""

from __future__ import annotations

from graphmem.client.observing import Instrumented
from graphmem.client.state import HandleState, blocking, valid, yes_or_no
from graphmem.model import ConsolidationPolicy, ConsolidationReport, Record
from graphmem.operations import consolidation
from graphmem.ports import OnPart, silent


class _Policy(Record):
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
            if_due: run only if 20 episodes are new, or if one is and the last run was 4 hours ago.
            policy: thresholds and limits; those above by default.
            on_part: progress callback; receives `passage`, `belief` or `cluster` and the number
                processed.

        Raises:
            InvalidInputError: an argument is invalid.
            LeaseLostError: this worker was too slow, and another one has taken over the run.
            ConfigurationError: the provider of the language model is unknown.
        """
        wanted = valid(_Policy, policy=ConsolidationPolicy() if policy is None else policy).policy
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
    """Consolidation of one scope; blocking twin of `AsyncConsolidation`."""

    _state: HandleState

    consolidate = blocking(AsyncConsolidation.consolidate)
