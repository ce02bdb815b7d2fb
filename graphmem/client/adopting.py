"""Method of a handle that imports data of other memory systems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from typing import Any

from graphmem.client.observing import Instrumented
from graphmem.client.state import HandleState, blocking, valid
from graphmem.errors import GraphmemError, InvalidInputError, UnavailableError
from graphmem.model import (
    EventSource,
    EventType,
    ForeignImportReport,
    Instant,
    Name,
    NewMemory,
    Observation,
    Record,
    TenantScope,
    Text,
)
from graphmem.operations import episode, evidence, lineage
from graphmem.ports import OnPart, silent
from graphmem.rules import drafts, foreign
from graphmem.rules.foreign import ImportAction, ImportStep

PLANS = {"mem0": foreign.plan_mem0, "graphiti": foreign.plan_graphiti}
BATCH = 200
"""Maximum number of steps of one kind per transaction."""


class _Source(Record):
    source: Name


class _Target(Record):
    id: Name


class _Episode(Record):
    id: Name
    content: Text
    summary: Text | None
    at: Instant


class AsyncAdopting(Instrumented):
    """Import of foreign data, awaited."""

    async def adopt(
        self, data: object, source: str, on_part: OnPart = silent
    ) -> ForeignImportReport:
        """Import the data of another memory system with its original times.

        From mem0: each text becomes a memory in scope `user:<user_id>` (else `agent:`, `run:`, or
        the handle's own scope); its categories become tags. By the history, a new text supersedes
        the one it replaced, and a deleted text is deprecated. From Graphiti, in scope
        `group:<group_id>`: episodes, and facts. Each episode that mentions a fact gives evidence
        for its triple at `valid_at`, and against it at `invalid_at`; the evidence of a fact that
        only expired is retracted. Embeddings are recomputed.

        Everything has the source `mem0` or `graphiti` and the original id in `artifact_ref`. Ids
        derive from the original id, so a second call writes nothing twice. The report counts
        values without an equivalent by field, and lists refused records with the reason.

        Args:
            data: for mem0 the list that `get_all` returns, or {"results": [...], "history":
                [...]}; for Graphiti {"nodes": [...], "episodes": [...], "edges": [...]} as
                `model_dump(mode="json")` returns them.
            source: mem0 or graphiti.
            on_part: progress callback; receives the kind of step and the number done.

        Raises:
            InvalidInputError: the source is unknown, or the data does not have its format.
        """
        if valid(_Source, source=source).source not in PLANS:
            raise InvalidInputError(
                "source must be the name of a known format.", hint=f"Use {' or '.join(PLANS)}."
            )
        plan = PLANS[source](data)
        run = _ImportRun(self._state, on_part)
        for steps in _batches(plan.steps):
            await run.write(steps)
        return ForeignImportReport(
            done=dict(run.done),
            refused=(*plan.rejected, *run.refused),
            unplaced=dict(sorted(plan.unmapped.items())),
        )


def _batches(steps: list[ImportStep]) -> Iterator[list[ImportStep]]:
    """Yield consecutive steps of one kind and scope, in batches if the kind allows it."""
    for _, run in groupby(steps, key=lambda step: (step.action, step.scope)):
        batch = list(run)
        size = BATCH if batch[0].action in (ImportAction.REMEMBER, ImportAction.OBSERVE) else 1
        for start in range(0, len(batch), size):
            yield batch[start : start + size]


class _ImportRun:
    """Writes the steps of an import and collects the results."""

    def __init__(self, state: HandleState, on_part: OnPart) -> None:
        self._own = replace(state, session=None)
        self._on_part = on_part
        self.done: Counter[str] = Counter()
        self.refused: list[str] = []
        self._memories: dict[str, str] = {}
        """Id of the current memory, by foreign record."""

    async def write(self, steps: list[ImportStep]) -> None:
        """Write steps of one kind and scope together; if that fails, one by one."""
        try:
            await self._write_batch(steps)
        except UnavailableError:
            raise
        except GraphmemError as error:
            if len(steps) == 1:
                self.refused.append(f"{steps[0].origin}: {error.message}")
                return
            for step in steps:
                await self.write([step])
            return
        self._on_part(steps[0].action, len(steps))

    async def _write_batch(self, steps: list[ImportStep]) -> None:
        state, step = self._on(steps[0].scope), steps[0]
        match step.action:
            case ImportAction.REMEMBER:
                await self._remember(state, steps)
                return
            case ImportAction.OBSERVE:
                observations = [valid(Observation, id=s.id, at=s.at, **s.given) for s in steps]
                await evidence.observe_many(state.binding, observations)
            case ImportAction.EPISODE:
                given = valid(_Episode, id=step.id, at=step.at, **step.given)
                await episode.open_episode(state.binding, episode.NewEpisode(**dict(given)))
            case ImportAction.RETRACT:
                source = valid(EventSource, id=step.id, at=step.at, source="graphiti")
                target = valid(_Target, id=step.given["target"]).id
                await evidence.retract(state.binding, target, source)
            case ImportAction.SUPERSEDE | ImportAction.DEPRECATE:
                await self._correct(state, step)
        self.done[step.action] += len(steps)

    async def _remember(self, state: HandleState, steps: list[ImportStep]) -> None:
        texts = [valid(NewMemory, id=s.id, at=s.at, **s.given) for s in steps]
        outcomes = await state.commit(texts)
        for step, outcome in zip(steps, outcomes, strict=True):
            if outcome.memory_id is None:
                reasons = ", ".join(outcome.hygiene_reasons)
                self.refused.append(f"{step.origin}: hygiene refused the text: {reasons}.")
            else:
                self._memories[step.origin] = outcome.memory_id
                self.done[step.action] += 1

    async def _correct(self, state: HandleState, step: ImportStep) -> None:
        known = self._memories.get(step.origin)
        if known is None:
            raise InvalidInputError("the memory that it changes was refused.")
        given: dict[str, Any] = {**step.given}
        if step.action is ImportAction.DEPRECATE:
            origin = {key: given[key] for key in EventSource.model_fields.keys() & given.keys()}
            by = valid(EventSource, at=step.at, id=step.id, **origin)
            await lineage.mark(state.binding, known, EventType.DEPRECATE, by)
            return
        newer = valid(NewMemory, at=step.at, id=step.id, **given)
        done = await lineage.supersede(state.binding, known, newer, None, state.all_rules())
        self._memories[step.origin] = done.newer_id

    def _on(self, scope: str | None) -> HandleState:
        if scope is None:
            return self._own
        to = self._own.binding
        own = valid(TenantScope, tenant=to.wall.tenant, scope=scope)
        wall = own.model_copy(update={"scopes": drafts.default_read_scopes(own.scope)})
        return replace(self._own, binding=replace(to, wall=wall))


class Adopting:
    """Import of foreign data; blocking twin of `AsyncAdopting`."""

    _state: HandleState

    adopt = blocking(AsyncAdopting.adopt)
