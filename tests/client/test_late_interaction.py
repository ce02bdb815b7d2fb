"""Recall compares questions and texts token by token, by the token states that writes store."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import neo4j
import pytest

from graphmem import Handle, MemoryBite, NewMemory, RecallPolicy, TurnBite
from graphmem.model import AnyBite, Kind
from graphmem.ports import Role, run_now
from graphmem.rules import scoring
from graphmem.rules.late_interaction import max_sim, pack
from tests.oracles import blending
from tests.plugins.clients import on, on_tenant
from tests.plugins.graph import Look, fresh_tenant
from tests.plugins.tokens import TokenHashEmbedder

MAY = datetime(2025, 5, 5, tzinfo=UTC)
EMBEDDER = TokenHashEmbedder()
QUESTION = "Which harbour did the grey heron visit?"
MEMORIES = ("The grey heron likes the old harbour.", "Tickets cost nine euros.")
TURNS = (
    "Which bird was it?",
    "A heron, a grey one.",
    "It fished in the harbour of Faro all day.",
    "The weather was fine.",
)
BELIEF = "The heron nests in Faro"
SEARCHED: tuple[Kind, ...] = ("memory", "belief", "turn")


@pytest.fixture
def filled(plain: Handle) -> Handle:
    """Texts of every kind, stored with token states."""
    memory = on(plain, embedder=EMBEDDER)
    memory.remember_many([NewMemory(content=text, at=MAY) for text in MEMORIES])
    memory.session("s").add_messages(
        [
            {"role": "user", "name": "Ada", "content": text, "at": MAY + timedelta(minutes=n)}
            for n, text in enumerate(TURNS)
        ]
    )
    memory.believe(BELIEF, at=MAY)
    memory.episodes.add(episode_id="e", summary="A walk by the sea.")
    return memory


def packed(text: str) -> bytes:
    [tokens] = run_now(EMBEDDER.encode([text], Role.DOCUMENT)).tokens
    return pack(tokens)


def stored(look: Look, tenant: str) -> dict[str, Any]:
    rows = look.rows(
        "MATCH (n:Memory|Belief|Turn|Episode {tenant: $tenant}) "
        "RETURN coalesce(n.content, n.statement, n.text, n.summary) AS text, n.token_states AS s",
        tenant=tenant,
    )
    return {row["text"]: row["s"] for row in rows if row["text"]}


def expected(texts: list[str]) -> dict[str, bytes]:
    return {text: packed(f"Ada: {text}" if text in TURNS else text) for text in texts}


def test_every_write_stores_the_tokens_of_its_text(filled: Handle, look: Look, tenant: str) -> None:
    texts = [*MEMORIES, *TURNS, BELIEF, "A walk by the sea."]
    assert stored(look, tenant) == expected(texts)
    memory = filled.memories.list().memories[0]
    filled.supersede(memory.id, "The white heron likes the new harbour.")
    filled.observe("Ada", "lives in", "Faro")
    found = stored(look, tenant)
    assert None not in found.values()
    assert found["The white heron likes the new harbour."] == packed(
        "The white heron likes the new harbour."
    )


def text_of(bite: AnyBite) -> str:
    if isinstance(bite, MemoryBite):
        return bite.memory.content
    return f"Ada: {bite.turn.text}" if isinstance(bite, TurnBite) else BELIEF


def before(bite: AnyBite) -> str | None:
    position = bite.turn.position if isinstance(bite, TurnBite) else 0
    return f"Ada: {TURNS[position - 1]}" if position else None


@pytest.mark.parametrize("narrowed", [{}, {"as_of": MAY + timedelta(days=1)}])
def test_the_parts_are_those_of_the_oracle(filled: Handle, narrowed: dict[str, Any]) -> None:
    policy = RecallPolicy()
    every = filled.recall(QUESTION, limit=100, kinds=SEARCHED, **narrowed).bites
    assert len(every) == len(MEMORIES) + len(TURNS) + 1
    [question] = run_now(EMBEDDER.encode([QUESTION], Role.QUERY)).tokens
    previous = [before(bite) for bite in every]
    found = max_sim(
        question,
        [packed(text_of(bite)) for bite in every],
        [None if text is None else packed(text) for text in previous],
    )
    by = scoring.score_params(policy, tokens=True)
    for name, scores in (("late", found.own), ("late_context", found.context)):
        points = dict(zip((bite.id for bite in every), scores.tolist(), strict=True))
        [scaled] = blending.scaled([blending.Listed(points)])
        for bite in every:
            assert getattr(bite.parts, name) == pytest.approx(by[name] * scaled[bite.id], abs=1e-6)
            assert bite.parts.relevance == pytest.approx(
                bite.parts.factor
                * (
                    sum(getattr(bite.parts, part) for part in ("meaning", "words"))
                    + bite.parts.late
                    + bite.parts.late_context
                    + bite.parts.around
                    + bite.parts.session
                    + bite.parts.named
                    + bite.parts.dated
                )
            )


def test_a_turn_is_found_by_the_words_of_the_turn_before_it(filled: Handle) -> None:
    [best] = [
        bite
        for bite in filled.recall("heron harbour").bites
        if isinstance(bite, TurnBite) and bite.turn.text == TURNS[2]
    ]
    assert best.parts.late_context / RecallPolicy().late_context_weight > (
        best.parts.late / RecallPolicy().late_weight
    )


def test_the_cheap_ranking_reads_no_tokens(filled: Handle) -> None:
    policy = RecallPolicy(late_interaction=False)
    every = filled.recall(QUESTION, policy=policy).bites
    assert every
    assert all(bite.parts.late == bite.parts.late_context == 0 for bite in every)


def test_a_text_without_tokens_is_found_by_the_other_lists(
    filled: Handle, driver: neo4j.Driver, tenant: str
) -> None:
    driver.execute_query(
        "MATCH (m:Memory {tenant: $tenant}) WHERE m.content STARTS WITH 'The' "
        "REMOVE m.token_states",
        tenant=tenant,
    )
    found = {text_of(bite): bite.parts for bite in filled.recall(QUESTION).bites}
    assert found[MEMORIES[0]].late == 0 < found[MEMORIES[0]].words
    assert found[MEMORIES[1]].late > 0


LONG = "The grey heron visited the old harbour. " * 2_500


def test_the_longest_texts_and_questions_are_compared(plain: Handle) -> None:
    memory = on(plain, embedder=EMBEDDER)
    memory.session("s").add_messages(
        [{"role": "user", "content": text} for text in (LONG, *TURNS, LONG + TURNS[3])]
    )
    for question in (LONG, QUESTION):
        found = memory.recall(question).bites
        assert {bite.text for bite in found} >= {LONG + TURNS[3], TURNS[1]}
        assert all(bite.parts.late > 0 for bite in found if bite.text.startswith(LONG))


def test_texts_and_questions_without_words_have_no_tokens(plain: Handle) -> None:
    memory = on(plain, embedder=EMBEDDER)
    odd = ("?! ?! ?!", "🎈🎈🎈")
    memory.session("s").add_messages([{"role": "user", "content": text} for text in (*odd, *TURNS)])
    for question in ("?!", "🎈"):
        found = memory.recall(question, limit=10).bites
        assert len(found) == len(odd) + len(TURNS)
        assert {(bite.parts.late, bite.parts.late_context) for bite in found} == {(0, 0)}
    late = {bite.text: bite.parts.late for bite in memory.recall(QUESTION, limit=10).bites}
    assert [late[text] for text in odd] == [0, 0]
    assert late[TURNS[1]] > 0


@pytest.mark.parametrize("script", ["猫が好きです", "Алиса живёт здесь", "تعيش أليس هنا"])
def test_other_scripts_are_compared(plain: Handle, script: str) -> None:
    memory = on(plain, embedder=EMBEDDER)
    memory.remember_many([script, *MEMORIES])
    best = memory.recall(script).bites[0]
    assert (best.text, best.parts.late > 0) == (script, True)


def test_tokens_travel_with_an_export(
    filled: Handle, plain: Handle, look: Look, tenant: str, tmp_path: Path
) -> None:
    filled.admin.export_to(tmp_path / "all.jsonl")
    other = fresh_tenant()
    on_tenant(plain, other).admin.import_from(tmp_path / "all.jsonl")
    assert stored(look, other) == stored(look, tenant)


def test_a_belief_with_another_statement_gets_other_tokens(
    filled: Handle, look: Look, tenant: str
) -> None:
    filled.observe("Ada", "lives in", "Faro", at=MAY)
    filled.predicates.declare("lives in", template="{subject} has a home in {object}", at=MAY)
    filled.observe("Ada", "lives in", "Faro", at=MAY - timedelta(days=1))
    found = stored(look, tenant)
    assert found["Ada has a home in Faro"] == packed("Ada has a home in Faro")
