"""What is explained recombines to what is believed, and each part is what the rules make of it."""

from __future__ import annotations

import math
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.errors import NotFoundError
from graphmem.model import (
    AsOf,
    BeliefReasons,
    Cardinality,
    Combine,
    Competition,
    EvidenceDetail,
    EvidenceKind,
    Policy,
)
from graphmem.rules.formulas import Evidence
from graphmem.rules.read_options import position_cursor
from tests.oracles import projection
from tests.oracles import sequential as sequential_oracle
from tests.oracles.projection import clipped, days, episode_of
from tests.oracles.sequential import evidence_strength
from tests.plugins.examples import few
from tests.plugins.histories import Archive, Item, Written, accounts
from tests.rules.strategies_histories import (
    END,
    TOLERANCE,
    Overwriting,
    both_policies,
    long_history,
)

pytestmark = pytest.mark.timeout(1_800)

ROUNDED = {"belief", "positive", "negative", "contested", "vitality"}
"""Sums in another order, which are held against the rules; and what `why` does not look at."""


@few
@given(
    items=accounts(),
    by=both_policies,
    limit=st.integers(1, 3),
    data=st.data(),
)
def test_an_explanation_recombines_to_the_projection(
    archive: Archive,
    items: list[Item],
    by: Policy,
    limit: int,
    data: st.DataObject,
) -> None:
    written = archive.write(items)
    for as_of in (data.draw(written.moments()), data.draw(written.moments())):
        existed = written.existed(as_of)
        for belief_id in written.ids.values():
            if belief_id not in existed:
                with pytest.raises(NotFoundError):
                    written.handle.why(belief_id, as_of=as_of, policy=by)
                continue
            found = written.handle.why(belief_id, as_of=as_of, policy=by)
            assert isinstance(found, BeliefReasons)
            assert misled(written, found, as_of, by) == []
            read = written.handle.beliefs.get(belief_id, as_of=as_of, policy=by)
            elsewhere = {*ROUNDED, "trust"}
            assert found.belief.model_dump(exclude=elsewhere) == read.model_dump(exclude=elsewhere)
            assert found.trust == read.trust
            pieces: list[EvidenceDetail] = []
            while len(pieces) < found.total:
                cursor = position_cursor(len(pieces))
                page = written.handle.why(
                    belief_id, as_of=as_of, policy=by, cursor=cursor, limit=limit
                )
                assert isinstance(page, BeliefReasons)
                assert page.belief == found.belief
                assert 0 < len(page.pieces) <= limit
                pieces += page.pieces
            assert tuple(pieces) == found.pieces


@few
@given(items=accounts(), by=both_policies, data=st.data())
def test_a_timeline_is_what_was_read_at_each_instant(
    archive: Archive,
    items: list[Item],
    by: Policy,
    data: st.DataObject,
) -> None:
    written = archive.write(items)
    known = data.draw(written.moments()).known
    for claim, belief_id in written.ids.items():
        asked = AsOf(valid=END, known=known)
        if belief_id not in written.existed(asked):
            continue
        found = written.handle.beliefs.timeline(belief_id, as_of=asked, policy=by)
        [one] = found.series
        assert (one.object, found.instants) == (claim, tuple(p.at for p in one.points))
        for point in one.points:
            then = written.handle.beliefs.get(
                belief_id, as_of=AsOf(valid=point.at, known=known), policy=by
            )
            assert point.belief == pytest.approx(then.belief, rel=0, abs=TOLERANCE)
            assert (point.status, point.confidence) == (
                then.verdict.status,
                then.verdict.confidence,
            )
    slots_held_what_their_timeline_says(written, by)


def slots_held_what_their_timeline_says(written: Written, by: Policy) -> None:
    asked = AsOf(valid=END)
    found = written.handle.beliefs.timeline("alice", "works_on", as_of=asked, policy=by)
    told: dict[datetime, dict[str, float]] = {at: {} for at in found.instants}
    for series in found.series:
        for point in series.points:
            told[point.at][series.belief_id] = point.belief
    for at, values in told.items():
        slot = written.handle.current("alice", "works_on", as_of=AsOf(valid=at), policy=by)
        expected = {c.belief_id: c.belief for c in slot.candidates}
        assert values == pytest.approx(expected, rel=0, abs=TOLERANCE)
    if found.instants:
        seen = {e.at for e in written.evidence}
        assert seen <= set(found.instants)
        last = written.handle.current("alice", "works_on", as_of=asked, policy=by)
        leading = [c.belief_id for c in last.candidates]
        assert [s.belief_id for s in found.series][: len(leading)] == leading


@pytest.mark.system
def test_ten_thousand_events_of_few_beliefs(archive: Archive) -> None:
    written = archive.write_long(long_history(10_000, claims=4))
    for cardinality in Cardinality:
        by = Policy(cardinality=cardinality, tau_days=30.0, decay_per_day=0.02)
        for belief_id in written.ids.values():
            found = written.handle.why(belief_id, policy=by, limit=1)
            assert isinstance(found, BeliefReasons)
            pieces = found.pieces
            while len(pieces) < found.total:
                page = written.handle.why(
                    belief_id, policy=by, cursor=position_cursor(len(pieces)), limit=1_000
                )
                assert isinstance(page, BeliefReasons)
                pieces += page.pieces
            whole = found.model_copy(update={"pieces": pieces})
            assert misled(written, whole, AsOf(valid=END), by) == []


def misled(written: Written, found: BeliefReasons, as_of: AsOf, by: Policy) -> list[str]:
    """Return in what an explanation differs from the rules, or does not add up."""
    valid = as_of.valid or END
    own = projection.visible(written.of(found.belief.id, as_of.known), valid)
    told = [] if [p.event_id for p in found.pieces] == [e.id for e in own] else ["other pieces"]
    told += [
        f"{p.event_id}: {x}"
        for p, e in zip(found.pieces, own, strict=True)
        for x in _said(p, e, valid, by)
    ]
    told += _echoes(found, own) + _joined(found, by) + _tested(found, own)
    told += _taken_back(written, found, as_of)
    if by.cardinality is Cardinality.ONE:
        told += _competed(written, found, as_of, by)
    elif found.competition is not None:
        told.append("coexists and competes")
    return told


def _unlike(name: str, found: float, expected: float) -> list[str]:
    slack = TOLERANCE * max(1.0, abs(expected))
    close = math.isclose(found, expected, rel_tol=0, abs_tol=slack)
    return [] if close else [f"{name} {found}, not {expected}"]


def _said(piece: EvidenceDetail, e: Evidence, valid: datetime, by: Policy) -> list[str]:
    faded = clipped(e.confidence * math.exp(-by.decay_per_day * days(valid - e.at)))
    return [
        *_unlike("faded", piece.faded, faded),
        # The logarithm near 1 - 1e-9 magnifies the last digit of the confidence by 1e9.
        *(
            _unlike("says", piece.log_weight, -e.weight * math.log1p(-faded))
            if faded < 0.999
            else []
        ),
        *_unlike("score", piece.score, e.weight * clipped(e.confidence)),
        *_unlike("weight", piece.weight, e.weight),
        *_unlike("strength", piece.strength, evidence_strength(e)),
        *_unlike("llr", piece.llr, sequential_oracle.llr(e)),
    ]


def _echoes(found: BeliefReasons, own: list[Evidence]) -> list[str]:
    """Of an episode and a kind one piece counts, and no other says more."""
    episodes = {e.id: (episode_of(e), e.polarity) for e in own}
    pieces = {p.event_id: p for p in found.pieces}
    told = []
    for piece in found.pieces:
        kept = pieces[piece.echo_of or piece.event_id]
        if not kept.counts or episodes[kept.event_id] != episodes[piece.event_id]:
            told.append(f"{piece.event_id} echoes {kept.event_id}")
        if piece.log_weight > kept.log_weight:
            told.append(f"{piece.event_id} says more than {kept.event_id}")
    if len({episodes[p.event_id] for p in found.pieces if p.counts}) != sum(
        p.counts for p in found.pieces
    ):
        told.append("two of an episode count")
    return told


def _joined(found: BeliefReasons, by: Policy) -> list[str]:
    """What counts adds up to L+ and L-, and these to the belief."""
    sums = {
        kind: 0.0 - math.fsum(p.log_weight for p in found.pieces if p.counts and p.kind is kind)
        for kind in EvidenceKind
    }
    up, down = sums[EvidenceKind.SUPPORTING], sums[EvidenceKind.REFUTING]
    told = _unlike("L+", found.log_positive, up) + _unlike("L-", found.log_negative, down)
    told += _unlike("P+", found.belief.positive, -math.expm1(up))
    told += _unlike("P-", found.belief.negative, -math.expm1(down))
    if by.cardinality is Cardinality.MANY:
        belief = found.belief.initial_confidence
        if found.pieces and by.combine is Combine.NET:
            belief = clipped(found.belief.positive - found.belief.negative)
        elif found.pieces:
            belief = clipped((1 + math.tanh((down - up) / 2)) / 2)
        told += _unlike("belief", found.belief.belief, belief)
    return told


def _tested(found: BeliefReasons, own: list[Evidence]) -> list[str]:
    verdict = sequential_oracle.test(own, found.belief.initial_confidence)
    told = []
    for piece, step in zip(found.pieces, verdict.steps, strict=True):
        told += _unlike("log ratio", piece.log_ratio, step.log_ratio)
        told += _unlike("confidence", piece.verdict_confidence, step.confidence)
        if piece.status is not step.status:
            told.append(f"{piece.event_id}: {piece.status}")
    return told + _unlike("ratio", found.belief.verdict.log_ratio, verdict.log_ratio)


def _taken_back(written: Written, found: BeliefReasons, as_of: AsOf) -> list[str]:
    """What the belief's evidence lacks is listed, each with the newest word about it."""
    valid = as_of.valid or END
    stays = {p.event_id for p in found.pieces}
    known = {
        e.id
        for e in projection.visible(written.evidence, valid)
        if e.claim == found.belief.id
        and (as_of.known is None or written.recorded[e.id] <= as_of.known)
    }
    told = [] if {w.event_id for w in found.retracted} == known - stays else ["others withdrawn"]
    words = {r.id: r for r in written.retracts}
    for one in found.retracted:
        # The newest word alone, without any other, leads to the event by an odd number of steps.
        steps, target = 0, one.retraction_id
        while target in words and steps <= len(words):
            steps, target = steps + 1, words[target].target
        if target != one.event_id or steps % 2 == 0:
            told.append(f"{one.event_id} taken back by {one.retraction_id}")
        if one.retracted_at != written.recorded[one.retraction_id]:
            told.append(f"{one.event_id} taken back at {one.retracted_at}")
    return told


def _competed(written: Written, found: BeliefReasons, as_of: AsOf, by: Policy) -> list[str]:
    valid, terms = as_of.valid or END, Overwriting.of(by)._asdict()
    seen = projection.visible(written.seen(as_of.known), valid)
    fold = projection.one if len(seen) < 1_000 else projection.one_closed
    scores = {c.claim: c for c in fold(seen, valid, **terms)}
    one, expected = found.competition, scores.get(found.belief.id)
    if one is None or expected is None:
        return [] if (one is None) is (expected is None) else ["competes without evidence"]
    told = _unlike("score", one.score, expected.score) + _unlike(
        "faded", one.belief, expected.belief
    )
    told += _unlike("belief", found.belief.belief, one.belief)
    told += _unlike("product", one.affirmed * one.refuted * one.suppressed, one.score)
    told += _unlike("fading", one.score * one.fading, one.belief)
    if (one.affirmed_at, one.affirmed_id) != (expected.last_at, expected.last_id):
        told.append(f"affirmed by {one.affirmed_id}")
    return told + _since(one, found, seen, by)


def _since(one: Competition, found: BeliefReasons, seen: list[Evidence], by: Policy) -> list[str]:
    """What speaks since the last affirmation is counted, and weighs what it is said to weigh."""
    if one.affirmed_at is None:
        return [] if one.affirmed == one.score == 0 else ["never affirmed and has a score"]
    tau_days = math.inf if by.tau_days is None else by.tau_days
    against = [
        p
        for p in found.pieces
        if p.kind is EvidenceKind.REFUTING and p.occurred_at >= one.affirmed_at
    ]
    others = [
        e for e in seen if e.polarity > 0 and e.claim != found.belief.id and e.at > one.affirmed_at
    ]
    weighs = math.fsum(
        e.weight * clipped(e.confidence) * math.exp(-days(e.at - one.affirmed_at) / tau_days)
        for e in others
    )
    told = _unlike("refuted", one.refuted, math.prod(1 - p.score for p in against))
    told += _unlike("pressure", one.pressure, weighs)
    if (one.refutations, one.affirmations_of_others) != (len(against), len(others)):
        told.append(f"{one.refutations} refutations, {one.affirmations_of_others} others")
    if {r.belief_id for r in one.other_candidates} != {e.claim for e in others}:
        told.append(f"rivals {one.other_candidates}")
    return told
