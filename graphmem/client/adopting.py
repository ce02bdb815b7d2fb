"""The part of a handle that takes in what another memory holds."""

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
"""Steps of one kind that are written together."""


class _Asked(Record):
    source: Name


class _Target(Record):
    id: Name


class _Episode(Record):
    id: Name
    content: Text
    summary: Text | None
    at: Instant


class AsyncAdopting(Instrumented):
    """Taking in foreign data, awaited."""

    async def adopt(
        self, data: object, source: str, on_part: OnPart = silent
    ) -> ForeignImportReport:
        """Take in what another memory holds, as if it had been told here at the time.

        Of mem0: each text is remembered in scope `user:<user_id>` (else `agent:`, `run:`, else
        this handle's own), with its categories as tags; by its history, a text that took another's
        place supersedes it, and a deleted one is deprecated. Of Graphiti, in scope
        `group:<group_id>`: episodes; each fact as evidence for a triple from each episode that
        mentions it, at `valid_at`, against it at `invalid_at`, and retracted when it only expired.
        Embeddings are made anew.

        All has the source `mem0` or `graphiti`, `artifact_ref` with the original id, and ids that
        derive from it, so that a second call writes nothing twice. What has no place here is
        counted by field, and what cannot be taken is listed with why.

        Args:
            data: of mem0 the list that `get_all` gives, or {"results": [...], "history": [...]};
                of Graphiti {"nodes": [...], "episodes": [...], "edges": [...]} as
                `model_dump(mode="json")` gives them.
            source: mem0 or graphiti.
            on_part: told what was done, and how many of it.

        Raises:
            InvalidInputError: no such source, or the data is something else altogether.
        """
        if valid(_Asked, source=source).source not in PLANS:
            raise InvalidInputError(
                "source: there is none of this name.", hint=f"Give one of {', '.join(PLANS)}."
            )
        plan = PLANS[source](data)
        taking = _Taking(self._state, on_part)
        for steps in _parts(plan.steps):
            await taking.all(steps)
        return ForeignImportReport(
            done=dict(taking.done),
            refused=(*plan.refused, *taking.refused),
            unplaced=dict(sorted(plan.unplaced.items())),
        )


def _parts(steps: list[ImportStep]) -> Iterator[list[ImportStep]]:
    """Yield neighbours of one kind and scope together, as far as they can be written so."""
    for _, run in groupby(steps, key=lambda step: (step.verb, step.scope)):
        found = list(run)
        most = BATCH if found[0].verb in (ImportAction.REMEMBER, ImportAction.OBSERVE) else 1
        for start in range(0, len(found), most):
            yield found[start : start + most]


class _Taking:
    """Takes steps, and notes what became of them."""

    def __init__(self, state: HandleState, on_part: OnPart) -> None:
        self._own = replace(state, session=None)
        self._on_part = on_part
        self.done: Counter[str] = Counter()
        self.refused: list[str] = []
        self._memories: dict[str, str] = {}
        """What each foreign memory is here by now."""

    async def all(self, steps: list[ImportStep]) -> None:
        """Take steps of one kind and scope; together if that can be done, else one by one."""
        try:
            await self._taken(steps)
        except UnavailableError:
            raise
        except GraphmemError as error:
            if len(steps) == 1:
                self.refused.append(f"{steps[0].origin}: {error.message}")
                return
            for step in steps:
                await self.all([step])
            return
        self._on_part(steps[0].verb, len(steps))

    async def _taken(self, steps: list[ImportStep]) -> None:
        state, step = self._on(steps[0].scope), steps[0]
        match step.verb:
            case ImportAction.REMEMBER:
                await self._remember(state, steps)
                return
            case ImportAction.OBSERVE:
                seen = [valid(Observation, id=s.id, at=s.at, **s.given) for s in steps]
                await evidence.observe_many(state.binding, seen)
            case ImportAction.EPISODE:
                told = valid(_Episode, id=step.id, at=step.at, **step.given)
                await episode.open_episode(state.binding, episode.NewEpisode(**dict(told)))
            case ImportAction.RETRACT:
                source = valid(EventSource, id=step.id, at=step.at, source="graphiti")
                target = valid(_Target, id=step.given["target"]).id
                await evidence.retract(state.binding, target, source)
            case ImportAction.SUPERSEDE | ImportAction.DEPRECATE:
                await self._correct(state, step)
        self.done[step.verb] += len(steps)

    async def _remember(self, state: HandleState, steps: list[ImportStep]) -> None:
        wishes = [valid(NewMemory, id=s.id, at=s.at, **s.given) for s in steps]
        outcomes = await state.commit(wishes)
        for step, outcome in zip(steps, outcomes, strict=True):
            if outcome.memory_id is None:
                reasons = ", ".join(outcome.hygiene_reasons)
                self.refused.append(f"{step.origin}: the text was refused: {reasons}.")
            else:
                self._memories[step.origin] = outcome.memory_id
                self.done[step.verb] += 1

    async def _correct(self, state: HandleState, step: ImportStep) -> None:
        known = self._memories.get(step.origin)
        if known is None:
            raise InvalidInputError("what came before it was refused.")
        given: dict[str, Any] = {**step.given}
        origin = {key: given[key] for key in ("actor", "source", "artifact_ref") if key in given}
        source = valid(EventSource, at=step.at, id=step.id, **origin)
        by = lineage.LineageChange(
            at=source.at,
            id=source.id,
            source=source.source,
            actor=source.actor,
            artifact_ref=source.artifact_ref,
        )
        if step.verb is ImportAction.DEPRECATE:
            await lineage.mark(state.binding, known, EventType.DEPRECATE, by)
            return
        wish = valid(NewMemory, at=step.at, id=step.id, **given)
        done = await lineage.supersede(state.binding, known, wish, by, state.all_rules())
        self._memories[step.origin] = done.newer_id

    def _on(self, scope: str | None) -> HandleState:
        if scope is None:
            return self._own
        to = self._own.binding
        own = valid(TenantScope, tenant=to.wall.tenant, scope=scope)
        wall = own.model_copy(update={"scopes": drafts.visible(own.scope)})
        return replace(self._own, binding=replace(to, wall=wall))


class Adopting:
    """Taking in foreign data, blocking: the twin of `AsyncAdopting`."""

    _state: HandleState

    adopt = blocking(AsyncAdopting.adopt)
