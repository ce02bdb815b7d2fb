"""Audit a belief: what was believed in March, why, and what was known then.

python audit_belief.py
"""

from datetime import UTC, datetime

from graphmem import AsOf, BeliefReasons, GraphMem

MARCH = datetime(2025, 3, 31, tzinfo=UTC)

with GraphMem.open() as client:
    memory = client.tenant("examples").scope("team:ops")
    for day, region, speaker in (
        (datetime(2025, 1, 7, tzinfo=UTC), "Frankfurt", "Ana"),
        (datetime(2025, 2, 3, tzinfo=UTC), "Frankfurt", "Ben"),
        (datetime(2025, 5, 6, tzinfo=UTC), "Dublin", "Ana"),
    ):
        memory.observe(
            "shop", "deploys_from", region, confidence=0.9, source_type="EXPLICIT", at=day,
            actor=speaker, note=f"{speaker} in the meeting",
        )  # fmt: skip

    now = memory.current("shop", "deploys_from")
    then = memory.current("shop", "deploys_from", as_of=AsOf(valid=MARCH))
    assert now.leader
    assert then.leader
    print(f"Now: {now.leader.object}. In March: {then.leader.object}.")

    reasons = memory.why(then.leader.belief_id, as_of=AsOf(valid=MARCH))
    assert isinstance(reasons, BeliefReasons)
    for piece in reasons.pieces:
        print(f"{piece.occurred_at:%d %b} {piece.actor}: {piece.confidence}, {piece.note}")

    # Recorded today: in March the memory did not know any of it.
    known = memory.current("shop", "deploys_from", as_of=AsOf(valid=MARCH, known=MARCH))
    print("Known in March:", known.leader and known.leader.object)
