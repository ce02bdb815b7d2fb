"""Consolidation: what several episodes say becomes a belief, and nothing is lost on the way."""

from __future__ import annotations

from datetime import timedelta

import pytest

from graphmem import ConsolidationPolicy, Handle
from graphmem.consolidation import BeliefChangeKind, ConsolidationReport
from tests.plugins.episodes import FEW, MARCH, SWIMS, tell
from tests.plugins.graph import Look
from tests.plugins.texts import unlike


def steps(done: ConsolidationReport) -> list[tuple[BeliefChangeKind, str]]:
    return [(one.step, one.statement) for one in done.changes]


def test_three_episodes_that_say_the_same_become_a_belief(memory: Handle) -> None:
    tell(memory, SWIMS)
    tell(memory, [unlike(n) for n in range(5)], first=10)
    done = memory.consolidate(policy=FEW)
    assert done.applied
    assert (done.episodes, done.fresh, done.passages, done.clusters) == (8, 8, 8, 1)
    [change] = done.changes
    assert change.step is BeliefChangeKind.CREATE
    assert change.statement in SWIMS
    assert [quote.text for quote in change.quotes] == list(SWIMS)
    belief = memory.beliefs.get(change.belief_id)
    assert belief.supporting_episodes == 3
    assert belief.vitality is not None
    assert belief.vitality.derived
    assert {e.source for e in memory.beliefs.history(belief.id)} == {"consolidation"}
    assert memory.recall("who swims across the lake?", kinds=["belief"]).bites[0].id == belief.id


def test_the_evidence_quotes_the_words_it_rests_on(memory: Handle, look: Look, tenant: str) -> None:
    tell(memory, SWIMS)
    [change] = memory.consolidate(policy=FEW).changes
    rows = look.rows(
        "MATCH (b:Belief {tenant: $tenant})<-[:SUPPORTS]-(e)-[:QUOTES]->(t)-[:OCCURRED_IN]->(p) "
        "WHERE (e)-[:OCCURRED_IN]->(p) "
        "RETURN t.text AS text, e.occurred_at = t.occurred_at AS same",
        tenant=tenant,
    )
    assert sorted(row["text"] for row in rows) == sorted(SWIMS)
    assert all(row["same"] for row in rows)
    assert sorted(q.turn_id or "" for q in change.quotes) == sorted(
        row["id"]
        for row in look.rows(
            "MATCH (:Reply {tenant: $tenant})-[:RESTS_ON]->(t) RETURN t.id AS id", tenant=tenant
        )
    )


def test_two_episodes_are_too_few_and_the_third_completes_them(memory: Handle) -> None:
    tell(memory, SWIMS[:2])
    # Said twice in one episode is one episode.
    memory.session("s0").add_messages([{"role": "user", "content": SWIMS[0] + " Truly."}])
    assert not memory.consolidate(policy=FEW).changes
    tell(memory, SWIMS[2:], first=2)
    done = memory.consolidate(policy=FEW)
    # A repetition in the first episode is further evidence, not another episode.
    assert [step for step, _ in steps(done)] == [BeliefChangeKind.CREATE, BeliefChangeKind.SUPPORT]
    assert len({one.belief_id for one in done.changes}) == 1
    assert len({one for change in done.changes for one in change.episode_ids}) == 3


def test_one_more_episode_supports_what_is_believed_and_one_contradicts(memory: Handle) -> None:
    tell(memory, SWIMS)
    [made] = memory.consolidate(policy=FEW).changes
    before = memory.beliefs.get(made.belief_id)
    tell(memory, ["Once more I swim across the cold lake before breakfast."], first=20)
    [more] = memory.consolidate(policy=FEW).changes
    assert (more.step, more.belief_id) == (BeliefChangeKind.SUPPORT, made.belief_id)
    supported = memory.beliefs.get(made.belief_id)
    assert supported.supporting_episodes == 4
    assert supported.belief > before.belief
    tell(memory, ["I never swim across the cold lake before breakfast."], first=30)
    against = memory.consolidate(policy=FEW)
    assert (BeliefChangeKind.CONTRADICT, made.statement) in steps(against)
    assert memory.beliefs.get(made.belief_id).refuting_episodes == 1
    assert memory.beliefs.get(made.belief_id).belief < supported.belief


def assert_settled(memory: Handle, look: Look, tenant: str) -> None:
    """One more run finds nothing to do."""
    before = look.graph(tenant)
    again = memory.consolidate(policy=FEW)
    assert (again.changes, again.fresh) == ((), 0)
    assert look.graph(tenant) == before


def test_an_equal_request_or_another_value_supports_nothing(memory: Handle) -> None:
    asked = (
        " Please write a short friendly thank-you note for my aunt in the village near the lake."
    )
    tell(memory, [text + asked for text in SWIMS])
    [made] = memory.consolidate(policy=FEW).changes
    other = ("Olga paints horses at home." + asked, SWIMS[0].replace("lake", "river"))
    tell(memory, other, first=20)
    assert memory.consolidate(policy=FEW).changes == ()
    tell(memory, [SWIMS[0]], first=30)
    [more] = memory.consolidate(policy=FEW).changes
    assert (more.belief_id, len(more.quotes)) == (made.belief_id, 1)


def test_a_second_run_finds_nothing_to_do(memory: Handle, look: Look, tenant: str) -> None:
    tell(memory, SWIMS)
    memory.consolidate(policy=FEW)
    assert_settled(memory, look, tenant)


def test_what_speaks_of_a_new_belief_is_heard_in_the_same_run(
    memory: Handle, look: Look, tenant: str
) -> None:
    against = "I never swim across the cold lake before breakfast."
    tell(memory, (*SWIMS, against))
    told = memory.consolidate(dry_run=True, policy=FEW)
    done = memory.consolidate(policy=FEW)
    assert told.changes == done.changes
    assert [step for step, _ in steps(done)] == [
        BeliefChangeKind.CREATE,
        BeliefChangeKind.CONTRADICT,
    ]
    assert len({one.belief_id for one in done.changes}) == 1
    assert [quote.text for quote in done.changes[1].quotes] == [against]
    assert memory.beliefs.get(done.changes[0].belief_id).refuting_episodes == 1
    assert_settled(memory, look, tenant)


def test_what_a_cluster_leaves_over_is_gathered_again(
    memory: Handle, look: Look, tenant: str
) -> None:
    # All six lie in one cluster, and tea is no evidence for coffee.
    drinks = ("tea", "tea", "tea", "coffee", "coffee", "coffee")
    tell(memory, [f"Every single morning I make a very big cup of {one} at home" for one in drinks])
    done = memory.consolidate(policy=FEW)
    assert (done.clusters, [step for step, _ in steps(done)]) == (
        2,
        [BeliefChangeKind.CREATE, BeliefChangeKind.CREATE],
    )
    made = [{quote.text.split()[-3] for quote in one.quotes} for one in done.changes]
    assert sorted(made, key=str) == [{"coffee"}, {"tea"}]
    assert_settled(memory, look, tenant)


def test_a_dry_run_writes_nothing_and_says_what_the_run_then_does(
    memory: Handle, look: Look, tenant: str
) -> None:
    tell(memory, SWIMS)
    tell(
        memory, ["I never eat meat at lunch."] * 2 + ["I never eat meat at lunch, never."], first=9
    )
    before = look.graph(tenant)
    told = memory.consolidate(dry_run=True, policy=FEW)
    assert look.graph(tenant) == before
    assert not told.applied
    done = memory.consolidate(policy=FEW)
    assert len(done.changes) == 2
    assert told.changes == done.changes


def test_nothing_runs_before_ten_episodes(memory: Handle) -> None:
    tell(memory, SWIMS)
    done = memory.consolidate()
    assert not done.applied
    assert done.skipped == "consolidation starts at 10 episodes; the scope has 3"


def test_a_run_is_due_after_twenty_new_episodes(memory: Handle) -> None:
    policy = ConsolidationPolicy(min_episodes=1, new_episodes=3)
    tell(memory, [unlike(n) for n in range(2)])
    assert memory.consolidate(policy=policy, if_due=True).applied  # None has run before.
    tell(memory, [unlike(n) for n in range(2, 4)], first=2)
    assert "2 episodes are new" in (memory.consolidate(policy=policy, if_due=True).skipped or "")
    tell(memory, [unlike(4)], first=4)
    assert memory.consolidate(policy=policy, if_due=True).applied
    soon = ConsolidationPolicy(min_episodes=1, interval_hours=1e-9)
    assert memory.consolidate(policy=soon, if_due=True).skipped  # Late, but nothing is new.
    tell(memory, [unlike(5)], first=5)
    assert memory.consolidate(policy=soon, if_due=True).applied


@pytest.mark.parametrize(
    "text", ["", " ", "?", "🙂" * 40, "\u202e" + "a b c d e", "日本語です。" * 9, "x" * 9_000]
)
def test_odd_texts_do_no_harm(plain: Handle, text: str) -> None:
    for n in range(3):
        plain.session(f"s{n}").add_messages([{"role": "user", "content": text, "id": str(n)}])
    done = plain.consolidate(policy=FEW)
    assert done.applied
    assert len(done.changes) <= 1


def test_what_the_assistant_said_is_no_evidence(memory: Handle) -> None:
    for n, text in enumerate(SWIMS):
        memory.session(f"s{n}").add_messages([{"role": "assistant", "content": text}])
    done = memory.consolidate(policy=FEW)
    assert (done.passages, done.changes) == (0, ())


def test_two_speakers_do_not_speak_for_one_another(memory: Handle) -> None:
    tell(memory, SWIMS[:2], name="Ada")
    tell(memory, SWIMS[2:], name="Bob", first=5)
    assert not memory.consolidate(policy=FEW).changes
    tell(memory, SWIMS[2:], name="Ada", first=9)
    [change] = memory.consolidate(policy=FEW).changes
    assert change.statement.startswith("Ada: ")
    assert len(change.quotes) == 3


def test_episodes_without_turns_are_passages_themselves(memory: Handle) -> None:
    for n, text in enumerate(SWIMS):
        memory.episodes.add(summary=text, at=MARCH + timedelta(days=n))
    memory.episodes.add(content=unlike(1))
    [change] = memory.consolidate(policy=FEW).changes
    assert change.step is BeliefChangeKind.CREATE
    assert {quote.turn_id for quote in change.quotes} == {None}
    assert memory.beliefs.get(change.belief_id).supporting_episodes == 3


def test_a_scope_is_consolidated_on_its_own(memory: Handle) -> None:
    mine, yours = memory.scope("ada"), memory.scope("bob")
    tell(mine, SWIMS[:2])
    tell(yours, SWIMS[2:], first=7)
    assert not mine.consolidate(policy=FEW).changes
    assert not yours.consolidate(policy=FEW).changes
    assert not memory.consolidate(policy=FEW).changes


def test_what_is_hardly_believed_is_archived_and_comes_back(memory: Handle) -> None:
    tell(memory, SWIMS)
    [made] = memory.consolidate(policy=FEW).changes
    against = [f"I never swim across the cold lake before breakfast. {n}" for n in range(6)]
    tell(memory, against, first=10)
    memory.consolidate(policy=FEW)
    done = memory.consolidate(policy=FEW)
    assert (BeliefChangeKind.ARCHIVE, made.statement) in steps(done)
    assert memory.beliefs.get(made.belief_id).status == "archived"
    assert made.belief_id not in {b.id for b in memory.recall("swim in the cold lake").bites}
    tell(memory, ["Again I swim across the cold lake before breakfast."], first=30)
    back = memory.consolidate(policy=FEW)
    assert {BeliefChangeKind.SUPPORT, BeliefChangeKind.RESTORE} <= {step for step, _ in steps(back)}
    assert memory.beliefs.get(made.belief_id).status == "current"


def test_a_told_belief_is_never_archived(memory: Handle) -> None:
    told = memory.believe("I swim across the cold lake before breakfast", confidence=0.1)
    tell(memory, [f"I never swim across the cold lake before breakfast. {n}" for n in range(4)])
    done = memory.consolidate(policy=FEW)
    assert BeliefChangeKind.CONTRADICT in {step for step, _ in steps(done)}
    memory.consolidate(policy=FEW)
    assert memory.beliefs.get(told.belief_id).status == "current"


def test_a_contradiction_that_passes_the_gate_flags_the_belief(memory: Handle) -> None:
    told = memory.believe("I swim across the cold lake before breakfast", confidence=0.95)
    tell(memory, ["I never swim across the cold lake before breakfast."])
    done = memory.consolidate(policy=FEW)
    assert [step for step, _ in steps(done)] == [BeliefChangeKind.CONTRADICT, BeliefChangeKind.FLAG]
    alive = memory.beliefs.get(told.belief_id).vitality
    assert alive is not None
    assert alive.flagged_at == MARCH
    memory.beliefs.clear_flag(told.belief_id, reason="looked into")
    resolved = memory.beliefs.get(told.belief_id).vitality
    assert resolved is not None
    assert resolved.flagged_at is None
