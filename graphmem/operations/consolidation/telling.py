"""What a run did, or would do, in records."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator

from graphmem.model import Change, EventType, Kind, Quote, Step
from graphmem.operations.consolidation.deciding import Said, Unit

_MARKS = {
    EventType.FLAG: Step.FLAG,
    EventType.RESTORE: Step.RESTORE,
    EventType.ARCHIVE: Step.ARCHIVE,
}


def changes(unit: Unit, there: Collection[str]) -> Iterator[Change]:
    """Yield what a unit does, belief by belief.

    Args:
        unit: what was decided.
        there: beliefs that it did not make.
    """
    told: dict[tuple[str, Kind], list[Said]] = defaultdict(list)
    for one in unit.said:
        told[one.claim.id, one.kind].append(one)
    for (belief_id, kind), said in told.items():
        step = Step.SUPPORT if kind is Kind.SUPPORTING else Step.CONTRADICT
        yield Change(
            step=step if belief_id in there else Step.CREATE,
            belief_id=belief_id,
            statement=said[0].claim.statement,
            quotes=tuple(
                _quote(one) for one in sorted(said, key=lambda s: (s.passage.at, s.passage.id))
            ),
        )
    for mark in unit.marks:
        yield Change(
            step=_MARKS[mark.type],
            belief_id=mark.belief_id,
            statement=mark.statement,
            reason=mark.reason,
        )


def _quote(one: Said) -> Quote:
    return Quote(
        episode_id=one.passage.episode_id,
        turn_id=one.passage.turn_id,
        text=one.passage.spoken,
        occurred_at=one.passage.at,
        confidence=one.confidence,
    )
