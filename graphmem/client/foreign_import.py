"""Import of data of other memory systems."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from graphmem.client.state import HandleState
from graphmem.errors import (
    GraphmemError,
    InvalidInputError,
    PersonOnlyError,
    UnavailableError,
)
from graphmem.model import (
    Cardinality,
    EventSource,
    EventType,
    NewEpisode,
    NewMemory,
    Observation,
    Policy,
    Predicate,
    TenantScope,
)
from graphmem.operations import declarations, episode, lineage
from graphmem.operations.evidence import recording
from graphmem.ports import OnProgress
from graphmem.rules import claims, drafts, predicates
from graphmem.transfer import ForeignImportReport
from graphmem.transfer.foreign import ImportAction, ImportPlan, ImportStep
from graphmem.validation import valid

BATCH = 200
"""Maximum number of steps of one kind per transaction."""


async def run(state: HandleState, plan: ImportPlan, on_progress: OnProgress) -> ForeignImportReport:
    """Write the steps of a plan in their order and return the report."""
    imported = _ImportRun(state, on_progress)
    coexisting = defaultdict[str | None, list[str]](list)
    for scope, predicate in plan.coexisting:
        coexisting[scope].append(predicate)
    for scope, names in coexisting.items():
        await imported.declare_many(scope, sorted(names))
    for steps in _batches(plan.steps):
        await imported.write(steps)
    return ForeignImportReport(
        done=dict(imported.done),
        refused=(*plan.rejected, *imported.refused),
        unplaced=dict(sorted(plan.unmapped.items())),
        renamed=plan.renamed,
        coexisting=tuple(
            sorted(f"{scope or state.context.scope} {name}" for scope, name in plan.coexisting)
        ),
    )


class _ImportRun:
    """Writes the steps of an import and collects the results."""

    def __init__(self, state: HandleState, on_progress: OnProgress) -> None:
        self._given = replace(state, session=None)
        self._own = self._given.with_trust("imported")
        self._on_part = on_progress
        self.done: Counter[str] = Counter()
        self.refused: list[str] = []
        self._memories: dict[str, str] = {}
        """Id of the current memory, by foreign record."""

    async def declare_many(self, scope: str | None, names: Sequence[str]) -> None:
        """Declare that predicates have several values at a time in a scope, unless they have."""
        state = _within(self._given, scope)
        listed = await declarations.predicates(state.context)
        # The nearest declaration decides.
        listed.sort(key=lambda one: one.scope != state.context.scope)
        declared = {claims.predicate_key(one.name): one for one in reversed(listed)}
        for name in names:
            await self._declare_many(state, name, declared.get(name))

    async def _declare_many(
        self, state: HandleState, predicate: str, known: Predicate | None
    ) -> None:
        policy = known.policy if known else Policy(cardinality=predicates.assumed(predicate))
        if policy.cardinality is Cardinality.MANY:
            return
        try:
            await declarations.declare(
                state.context,
                known.name if known else predicate,
                policy.model_copy(update={"cardinality": Cardinality.MANY}),
                template=known.template if known else None,
                valid_from=None,
                given=EventSource(source="graphiti"),
            )
        except PersonOnlyError as error:
            self.refused.append(f"predicate {predicate}: {error.message}")

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
        state, step = _within(self._own, steps[0].scope), steps[0]
        match step.action:
            case ImportAction.REMEMBER:
                await self._remember(state, steps)
                return
            case ImportAction.OBSERVE:
                observations = [
                    valid(Observation, event_id=s.id, at=s.at, **s.given) for s in steps
                ]
                await recording.observe_many(state.context, observations)
            case ImportAction.EPISODE:
                new = valid(NewEpisode, episode_id=step.id, at=step.at, **step.given)
                await episode.open_episode(state.context, new)
            case ImportAction.RETRACT:
                source = valid(EventSource, event_id=step.id, at=step.at, source="graphiti")
                await recording.retract(state.context, step.given["target"], source)
            case ImportAction.SUPERSEDE | ImportAction.DEPRECATE:
                await self._correct(state, step)
        self.done[step.action] += len(steps)

    async def _remember(self, state: HandleState, steps: list[ImportStep]) -> None:
        texts = [valid(NewMemory, event_id=s.id, at=s.at, **s.given) for s in steps]
        outcomes = await state.commit(texts, imported=True)
        for step, outcome in zip(steps, outcomes, strict=True):
            if outcome.rejection is not None:
                self.refused.append(f"{step.origin}: a person rejected the text.")
            elif outcome.memory_id is None:
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
            by = valid(EventSource, at=step.at, event_id=step.id, **origin)
            await lineage.mark(state.context, known, EventType.DEPRECATE, by)
            return
        newer = valid(NewMemory, at=step.at, event_id=step.id, **given)
        rules = state.all_rules()
        done, outcome = await lineage.supersede(state.context, known, newer, None, rules)
        state.call_hooks([] if outcome is None else [outcome])
        self._memories[step.origin] = done.newer_id


def _within(state: HandleState, scope: str | None) -> HandleState:
    """Return a state that writes to a scope; None: to its own."""
    if scope is None:
        return state
    own = valid(TenantScope, tenant=state.context.tenant, scope=scope)
    tenant_scope = own.model_copy(update={"scopes": drafts.default_read_scopes(own.scope)})
    return replace(state, context=replace(state.context, tenant_scope=tenant_scope))


def _batches(steps: list[ImportStep]) -> Iterator[list[ImportStep]]:
    """Yield consecutive steps of one kind and scope, in batches if the kind allows it."""
    for _, run in groupby(steps, key=lambda step: (step.action, step.scope)):
        batch = list(run)
        size = BATCH if batch[0].action in (ImportAction.REMEMBER, ImportAction.OBSERVE) else 1
        for start in range(0, len(batch), size):
            yield batch[start : start + size]
