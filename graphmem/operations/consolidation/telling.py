"""What a run did, or would do, in records."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator

from graphmem.model import BeliefChange, BeliefChangeKind, EventType, EvidenceKind, Quote
from graphmem.operations.consolidation.deciding import BeliefWrite, PassageEvidence

_MARKS = {
    EventType.FLAG: BeliefChangeKind.FLAG,
    EventType.RESTORE: BeliefChangeKind.RESTORE,
    EventType.ARCHIVE: BeliefChangeKind.ARCHIVE,
}


def changes(unit: BeliefWrite, there: Collection[str]) -> Iterator[BeliefChange]:
    """Yield what a unit does, belief by belief.

    Args:
        unit: what was decided.
        there: beliefs that it did not make.
    """
    told: dict[tuple[str, EvidenceKind], list[PassageEvidence]] = defaultdict(list)
    for one in unit.said:
        told[one.claim.id, one.kind].append(one)
    for (belief_id, kind), said in told.items():
        step = BeliefChangeKind.SUPPORT if kind is EvidenceKind.SUPPORTING else BeliefChangeKind.CONTRADICT
        yield BeliefChange(
            step=step if belief_id in there else BeliefChangeKind.CREATE,
            belief_id=belief_id,
            statement=said[0].claim.statement,
            quotes=tuple(
                _quote(one) for one in sorted(said, key=lambda s: (s.passage.at, s.passage.id))
            ),
        )
    for mark in unit.marks:
        yield BeliefChange(
            step=_MARKS[mark.type],
            belief_id=mark.belief_id,
            statement=mark.statement,
            reason=mark.reason,
        )


def _quote(one: PassageEvidence) -> Quote:
    return Quote(
        episode_id=one.passage.episode_id,
        turn_id=one.passage.turn_id,
        text=one.passage.spoken,
        occurred_at=one.passage.at,
        confidence=one.confidence,
    )
