"""Record observations, hypotheses and testimony."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from graphmem.errors import EventConflictError
from graphmem.model import BeliefEvidence, EvidenceReceipt, Hypothesis, Observation
from graphmem.operations.evidence import checkpoints, writing
from graphmem.ports import RequestContext
from graphmem.rules import claims, drafts
from graphmem.rules.claims import EvidenceDraft

if TYPE_CHECKING:
    from graphmem.rules.verdicts import Vector

BATCH = 500
"""Events in one transaction."""
EVEN = 0.5
"""A strength that says nothing either way."""


async def observe(to: RequestContext, seen: Observation) -> EvidenceReceipt:
    """Record one observation; the first about a triple makes its belief.

    Raises:
        InvalidInputError: it lies in the future, or its source type has no weight.
        EventConflictError: the id was used for something else.
        NotFoundError: the episode or turn does not exist.
    """
    drafts.weighed(seen.source_type, to.world.settings.source_weights)
    draft = claims.observed(seen, to.wall.scope, to.world.clock.now())
    [draft], vectors = await writing.worded(to, [draft], embed=True)
    return await _alone(to, draft, vectors)


async def observe_many(
    to: RequestContext,
    observations: Sequence[Observation],
    on_batch: Callable[[Sequence[EvidenceReceipt]], None] | None = None,
) -> list[EvidenceReceipt]:
    """Record observations in their order, every 500 in one transaction; then embed what is new.

    Raises:
        InvalidInputError, EventConflictError, NotFoundError: see `observe`; batches before that
            of the fault are kept, nothing of its own is.
    """
    now = to.world.clock.now()
    for seen in observations:
        drafts.weighed(seen.source_type, to.world.settings.source_weights)
    ready = [claims.observed(seen, to.wall.scope, now) for seen in observations]
    _no_conflict(ready)
    result: list[EvidenceReceipt] = []
    known: set[str] = set()
    long: list[checkpoints.SlotKey] = []
    for start in range(0, len(ready), BATCH):
        batch, _ = await writing.worded(to, ready[start : start + BATCH], embed=False)
        done = await writing.append(to, list({d.event_id: d for d in batch}.values()), {})
        part = list(_in_order(batch, done.recorded, known))
        long += done.long
        result += part
        if on_batch is not None:
            on_batch(part)
    await writing.embed_statements(to)
    await checkpoints.look_after(to, long)
    return result


async def believe(to: RequestContext, hypothesis: Hypothesis) -> EvidenceReceipt:
    """Record a hypothesis with its initial confidence and return its belief's id.

    A superseded belief that is stated again becomes current.

    Raises:
        InvalidInputError, EventConflictError, NotFoundError: see `observe`.
    """
    draft = claims.hypothesised(hypothesis, to.wall.scope, to.world.clock.now())
    [draft], vectors = await writing.worded(to, [draft], embed=True)
    return await _alone(to, draft, vectors, stated=True)


async def testify(to: RequestContext, belief_id: str, said: BeliefEvidence) -> EvidenceReceipt:
    """Record evidence with a strength about a belief that is there.

    Raises:
        NotFoundError: nothing visible has this id; or the episode or turn does not exist.
        ForeignScopeError: the belief belongs to another scope.
        InvalidInputError, EventConflictError: see `observe`.
    """
    draft = claims.testified(said, await writing.own_claim(to, belief_id), to.world.clock.now())
    done = await _alone(to, draft, {})
    counted = draft.fields["strength"]
    return done.model_copy(
        update={
            "strength": counted,
            "clamped": counted != said.strength,
            "counts_against": counted < EVEN,
        }
    )


async def _alone(
    to: RequestContext, draft: EvidenceDraft, vectors: Mapping[str, Vector], *, stated: bool = False
) -> EvidenceReceipt:
    written = await writing.append(to, [draft], vectors, stated=stated)
    # Another writer may have worded it meanwhile.
    if written.unembedded:
        await writing.embed_statements(to, written.unembedded)
    await checkpoints.look_after(to, written.long)
    return written.recorded[draft.event_id]


def _no_conflict(ready: Sequence[EvidenceDraft]) -> None:
    seen: dict[str, str] = {}
    for draft in ready:
        if seen.setdefault(draft.event_id, draft.request_hash) != draft.request_hash:
            raise EventConflictError(
                f"The id {draft.event_id!r} stands twice, for different evidence."
            )


def _in_order(
    batch: Sequence[EvidenceDraft], done: Mapping[str, EvidenceReceipt], known: set[str]
) -> Iterator[EvidenceReceipt]:
    for draft in batch:
        again = draft.event_id in known
        known.add(draft.event_id)
        recorded = done[draft.event_id]
        yield recorded.model_copy(update={"repeated": True}) if again else recorded
