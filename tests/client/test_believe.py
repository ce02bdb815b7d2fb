"""Hypotheses, the evidence for and against them, and where their test stands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from graphmem import Handle
from graphmem.errors import EventConflictError, NotFoundError
from graphmem.model import AsOf, Belief, EvidenceReceipt, HypotheticalEvidence, VerdictStatus
from graphmem.model.policies import SprtParameters
from graphmem.rules import claims
from graphmem.rules.read_options import position_cursor
from tests.plugins.clients import Door, on
from tests.plugins.graph import Look

MAY = datetime(2025, 5, 5, 9, tzinfo=UTC)
HOUR = timedelta(hours=1)
FOUR = "The worker pool should have 4 threads"
ACCUMULATING, PROMOTED, DEMOTED = VerdictStatus
ODDS_OF_85 = 1.7346010553881064


def refuted(memory: Handle, times: int, *, confidence: float = 0.6) -> EvidenceReceipt:
    """Believe FOUR and refute it at 0.85, once an hour."""
    belief = memory.believe(FOUR, confidence=confidence, at=MAY)
    for n in range(times):
        memory.add_evidence(
            belief,
            "refuting",
            0.85,
            at=MAY + (n + 1) * HOUR,
            note=f"queue grew {n}",
            event_id=f"r{n}",
        )
    return belief


def test_a_hypothesis_has_its_confidence_until_there_is_evidence(
    memory: Handle, look: Look, tenant: str
) -> None:
    done = memory.believe(
        FOUR, confidence=0.6, at=MAY, actor="alice", note="a guess", event_id="h1"
    )

    assert done == EvidenceReceipt(
        event_id="h1", belief_id=claims.statement_claim("global", FOUR).id, strength=None
    )
    event = look.events(tenant)["h1"]
    assert (event["type"], event["confidence"], event["actor"]) == ("BELIEVE", 0.6, "alice")
    assert event["edges"] == [["CONCERNS", "Belief", done.belief_id]]
    kept = memory.beliefs.get(done)
    assert (kept.statement, kept.subject, kept.predicate, kept.object) == (FOUR, None, None, None)
    assert (kept.initial_confidence, kept.belief) == (0.6, 0.6)
    assert (kept.supporting_episodes, kept.refuting_episodes, kept.contested) == (0, 0, False)
    assert (kept.verdict.status, kept.verdict.log_ratio) == (ACCUMULATING, 0)
    assert (kept.verdict.confidence, kept.verdict.evidence) == (0.6, 0)
    trail = memory.evidence_for(done)
    assert (trail.lines, trail.belief_id, trail.initial_confidence) == ((), done.belief_id, 0.6)
    assert look.count(tenant) == {"Belief": 1, "Event": 1}


def test_the_walk_through_of_the_sequential_test(memory: Handle) -> None:
    belief = refuted(memory, 3)

    trail = memory.evidence_for(belief)

    assert [round(line.log_ratio, 4) for line in trail.lines] == [-1.7346, -3.4692, -5.2038]
    assert [line.status for line in trail.lines] == [ACCUMULATING, DEMOTED, DEMOTED]
    assert [round(line.confidence, 9) for line in trail.lines] == [0.6, 0.4, 0.4]
    assert [line.llr for line in trail.lines] == pytest.approx([-ODDS_OF_85] * 3, abs=1e-12)
    assert [line.event_id for line in trail.lines] == ["r0", "r1", "r2"]
    assert [line.note for line in trail.lines] == [f"queue grew {n}" for n in range(3)]
    assert [line.occurred_at for line in trail.lines] == [MAY + n * HOUR for n in (1, 2, 3)]
    assert {line.kind for line in trail.lines} == {"refuting"}
    assert trail.verdict.revise_due
    assert trail.verdict.evidence == 3
    assert trail.needed.demote == trail.needed.demote_pieces == 0
    assert trail.needed.promote == pytest.approx(2.890371757896165 + 3 * ODDS_OF_85, abs=1e-9)
    assert trail.needed.promote_pieces == 4
    kept = memory.beliefs.get(belief)
    assert kept.verdict == trail.verdict
    # Demoted, it keeps its wording until somebody revises it.
    assert (kept.statement, kept.status) == (FOUR, "current")


def test_the_trail_by_pages_and_as_of_any_time(memory: Handle) -> None:
    belief = refuted(memory, 3)
    middle = memory.evidence_for(belief, cursor=position_cursor(1), limit=1)
    assert [line.event_id for line in middle.lines] == ["r1"]
    assert (middle.lines[0].status, middle.verdict.evidence) == (DEMOTED, 3)
    then = AsOf(valid=MAY + HOUR)
    assert memory.evidence_for(belief, as_of=then).verdict.status is ACCUMULATING
    assert memory.beliefs.get(belief, as_of=then).verdict.evidence == 1
    assert memory.evidence_for(belief, cursor=position_cursor(3)).lines == ()


def test_a_statement_is_the_same_whatever_its_space_but_not_its_case(memory: Handle) -> None:
    first = memory.believe("Zoë  pays\tin euros ")
    assert memory.believe("Zoe\u0308 pays in euros").belief_id == first.belief_id
    assert memory.believe("zoë pays in euros").belief_id != first.belief_id


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_the_earliest_hypothesis_says_what_was_believed_at_first(
    memory: Handle, order: Sequence[int]
) -> None:
    told = [(0.9, MAY), (0.2, MAY - HOUR), (0.7, MAY + HOUR)]
    for place in order:
        confidence, at = told[place]
        done = memory.believe(FOUR, confidence=confidence, at=at)
    kept = memory.beliefs.get(done)
    assert (kept.initial_confidence, kept.created_at) == (0.2, MAY - HOUR)
    assert memory.beliefs.get(done, as_of=AsOf(valid=MAY - HOUR)).belief == 0.2
    with pytest.raises(NotFoundError):
        memory.beliefs.get(done, as_of=AsOf(valid=MAY - 2 * HOUR))


def test_a_triple_may_have_words_of_its_own(memory: Handle, look: Look, tenant: str) -> None:
    memory.predicates.declare("works_on", template="{subject} toils on {object}")
    bare = memory.believe(subject="bob", predicate="works_on", object="Atlas", confidence=0.3)
    worded = memory.believe(
        "Alice gives her days to Atlas", subject="alice", predicate="works_on", object="Atlas"
    )
    assert worded.belief_id == claims.triple_claim("global", "alice", "works_on", "Atlas").id
    assert memory.beliefs.get(bare).statement == "bob toils on Atlas"
    assert memory.beliefs.get(worded).statement == "Alice gives her days to Atlas"
    assert memory.beliefs.get(worded).object == "Atlas"
    # Other words for the same triple are the same belief; an id holds for its own words.
    memory.believe("So it is", subject="ALICE", predicate="works_on", object="atlas", event_id="h")
    with pytest.raises(EventConflictError):
        memory.believe(
            "So be it", subject="ALICE", predicate="works_on", object="atlas", event_id="h"
        )
    assert look.count(tenant) == {"Belief": 2, "Event": 4, "Predicate": 1}


def test_a_belief_about_a_triple_has_both_readings(memory: Handle) -> None:
    """One evidence, two readings: what is observed counts in the test and the other way round."""
    parts = {"subject": "alice", "predicate": "works_on", "object": "Atlas"}
    belief = memory.believe(**parts, confidence=0.5, at=MAY)
    memory.observe(**parts, confidence=0.8, source_type="RULE", at=MAY + HOUR, event_id="o")  # type: ignore[arg-type]
    memory.add_evidence(belief, "supporting", 0.85, at=MAY + 2 * HOUR, event_id="t")

    observed, testified = memory.evidence_for(belief).lines
    assert (observed.event_id, observed.weight) == ("o", 0.8)
    assert observed.strength == pytest.approx(0.5 + 0.8 * 0.8 / 2)
    assert (testified.event_id, testified.strength) == ("t", 0.85)
    assert (testified.source_type, testified.weight) == ("EXPLICIT", 1.0)
    assert testified.evidence_confidence == pytest.approx(0.7)
    kept = memory.beliefs.get(belief)
    assert kept.positive == pytest.approx(1 - 0.2**0.8 * 0.3)
    assert kept.belief == pytest.approx(1 / (1 + 0.2**0.8 * 0.3))
    assert kept.verdict.log_ratio == pytest.approx(1.5163474893680886 + ODDS_OF_85)


@pytest.mark.parametrize(
    ("kind", "strength", "counted", "against"),
    [
        ("supporting", 0.0, 0.1, True),
        ("supporting", 1.0, 0.9, False),
        ("supporting", 1e308, 0.9, False),
        ("supporting", 0.49, 0.49, True),
        ("supporting", 0.5, 0.5, False),
        ("refuting", 0.3, 0.3, True),
    ],
)
def test_a_strength_is_clamped_and_a_weak_one_counts_the_other_way(
    memory: Handle, kind: Any, strength: float, counted: float, *, against: bool
) -> None:
    belief = memory.believe(FOUR)
    done = memory.add_evidence(belief, kind, strength, event_id="e")
    assert done.strength == counted
    assert done.clamped is (counted != strength)
    assert done.counts_against is against
    assert memory.add_evidence(belief, kind, strength, event_id="e") == done.model_copy(
        update={"repeated": True}
    )
    [line] = memory.evidence_for(belief).lines
    assert line.strength == counted
    assert line.evidence_confidence == pytest.approx(max(0, 2 * counted - 1))
    towards = 1 if kind == "supporting" else -1
    assert line.llr * towards * (-1 if against else 1) >= 0
    assert (line.llr == 0) is (counted == 0.5)


def test_a_line_tells_where_its_evidence_comes_from(memory: Handle) -> None:
    with memory.session("s") as session:
        session.add_messages([{"role": "user", "content": "the queue grew", "id": "1"}])
        [turn] = session.episodes.turns(session.episode_id).turns
        belief = session.believe(FOUR)
        session.add_evidence(
            belief,
            "refuting",
            0.85,
            turn_id=turn.id,
            actor="ci",
            source="hook",
            note="grew",
            at=MAY,
        )
    [line] = memory.evidence_for(belief).lines
    assert (line.kind, line.type, line.occurred_at) == ("refuting", "EVIDENCE", MAY)
    assert (line.episode_id, line.turn_id) == (session.episode_id, turn.id)
    assert (line.actor, line.source, line.note) == ("ci", "hook", "grew")
    assert line.recorded_at is not None
    assert abs(line.recorded_at - datetime.now(UTC)) < timedelta(minutes=5)
    assert not line.supposed


def test_a_belief_is_named_by_its_id_or_by_what_made_it(memory: Handle) -> None:
    done = memory.believe(FOUR)
    kept = memory.beliefs.get(done)
    ways: tuple[EvidenceReceipt | str | Belief, ...] = (done, done.belief_id, kept)
    for n, known in enumerate(ways):
        memory.add_evidence(known, "supporting", 0.6)
        assert memory.beliefs.get(known).verdict.evidence == n + 1
        assert len(memory.evidence_for(known).lines) == n + 1
        assert memory.beliefs.what_if(known).verdict.evidence == n + 1


@pytest.mark.parametrize("pooled", [False, True], ids=["apart", "pooled"])
def test_what_would_be_is_what_comes_to_be(
    memory: Handle, look: Look, tenant: str, *, pooled: bool
) -> None:
    memory.episodes.add(episode_id="ep")
    belief = refuted(memory, 2)
    before = look.events(tenant), look.beliefs(tenant)
    pieces: list[HypotheticalEvidence | dict[str, Any]] = [
        {"kind": "supporting", "strength": 0.9, "at": MAY + 9 * HOUR, "episode_id": "ep"},
        HypotheticalEvidence(kind="supporting", strength=0.8, at=MAY + 8 * HOUR, episode_id="ep"),
        {"kind": "supporting", "strength": 2, "at": (MAY + 7 * HOUR).isoformat()},
        {"kind": "supporting", "strength": 0.9, "at": MAY + 6 * HOUR},
    ]

    would = memory.beliefs.what_if(belief, pieces, without=["r1"], pooled=pooled)

    assert (look.events(tenant), look.beliefs(tenant)) == before
    assert [line.supposed for line in would.lines] == [False] + [True] * (3 if pooled else 4)
    for piece in pieces:
        given = piece if isinstance(piece, dict) else piece.model_dump(mode="json")
        memory.add_evidence(belief, **given)
    memory.beliefs.retract("r1")
    came = memory.evidence_for(belief, pooled=pooled)
    assert came.verdict == would.verdict
    assert came.needed == would.needed
    told = ("occurred_at", "strength", "llr", "log_ratio", "status", "confidence")
    assert [[getattr(line, name) for name in told] for line in came.lines] == [
        [getattr(line, name) for name in told] for line in would.lines
    ]
    assert would.verdict.status is PROMOTED
    assert memory.beliefs.what_if(belief).verdict == memory.evidence_for(belief).verdict


def test_the_bounds_of_the_test_are_settings(door: Door) -> None:
    test = SprtParameters(alpha=0.2, beta=0.2, promote_step=0.3, max_confidence=0.8)
    chosen = door.settings.model_copy(update={"sprt": test})
    with door.opened(chosen) as memory:
        belief = memory.believe(FOUR, confidence=0.6)
        memory.add_evidence(belief, "supporting", 0.85)
        verdict = memory.beliefs.get(belief).verdict
    assert (verdict.status, verdict.confidence) == (PROMOTED, 0.8)


@pytest.mark.parametrize("last", ["words", "testimony"])
def test_testimony_words_nothing(memory: Handle, look: Look, tenant: str, last: str) -> None:
    """Whichever comes first: the earliest of those who named the triple words it."""
    parts: Any = {"subject": "alice", "predicate": "works_on"}
    belief = memory.observe(**parts, object="ATLAS", at=MAY + 2 * HOUR)
    acts: dict[str, Callable[[], object]] = {
        "testimony": lambda: memory.add_evidence(belief, "supporting", 0.7, at=MAY),
        "words": lambda: memory.observe(**parts, object="Atlas", at=MAY + HOUR),
    }
    for name in sorted(acts, key=lambda name: name == last):
        acts[name]()
    kept = memory.beliefs.get(belief)
    assert (kept.object, kept.statement, kept.created_at) == ("Atlas", "alice works on Atlas", MAY)


@pytest.mark.parametrize("last", ["believe", "revise"])
def test_what_is_stated_again_later_is_current_again(
    memory: Handle, look: Look, tenant: str, last: str
) -> None:
    belief = memory.believe(FOUR, at=MAY)
    acts: dict[str, Callable[[], object]] = {
        "believe": lambda: memory.believe(FOUR, at=MAY + 2 * HOUR),
        "revise": lambda: memory.beliefs.revise(
            belief, "The pool should have 8 threads", at=MAY + HOUR
        ),
    }
    for name in sorted(acts, key=lambda name: name == last):
        acts[name]()
    assert memory.beliefs.get(belief).status == "current"
    [edge] = look.edges(tenant)
    assert (edge.older, edge.in_force) == (belief.belief_id, False)


@pytest.mark.parametrize("last", ["believe", "revise"])
def test_what_was_stated_before_stays_superseded(
    memory: Handle, look: Look, tenant: str, last: str
) -> None:
    belief = memory.believe(FOUR, at=MAY)
    acts: dict[str, Callable[[], object]] = {
        "believe": lambda: memory.believe(FOUR, at=MAY + HOUR),
        "revise": lambda: memory.beliefs.revise(belief, "Eight threads", at=MAY + 2 * HOUR),
    }
    for name in sorted(acts, key=lambda name: name == last):
        acts[name]()
    # Evidence alone brings nothing back.
    memory.add_evidence(belief, "supporting", 0.9)
    assert memory.beliefs.get(belief).status == "superseded"
    [edge] = look.edges(tenant)
    assert edge.in_force


def test_a_boundary_that_is_met_exactly_is_crossed(plain: Handle) -> None:
    """With alpha and beta of 0.1 the bounds are ln 9 and -ln 9, one strong piece away."""
    services = plain._state.context.services
    test = SprtParameters(alpha=0.1, beta=0.1)
    settings = services.settings.model_copy(update={"sprt": test})
    memory = on(plain, settings=settings)
    for kind, status in (("supporting", PROMOTED), ("refuting", DEMOTED)):
        belief = memory.believe(f"It is {kind}.", confidence=0.5)
        memory.add_evidence(belief, kind, 0.9)  # type: ignore[arg-type]
        assert memory.evidence_for(belief).verdict.status == status
