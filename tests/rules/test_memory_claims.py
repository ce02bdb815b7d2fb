"""Claims of memories: each once, in one order, worded by its predicate's template."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from graphmem.model import NewMemory, TenantScope, Triple
from graphmem.rules import claims, drafts

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
WALL = TenantScope(tenant="acme", scope="user:alice", scopes=("user:alice", "global"))

parts = st.sampled_from(["Alice", "alice ", "ÉMILE", "lives_in", "Porto"])
triples = st.builds(Triple, subject=parts, predicate=parts, object=parts)
new_memories = st.lists(
    st.builds(NewMemory, content=st.just("x y"), claims=st.lists(triples, max_size=6).map(tuple)),
    max_size=4,
)


def claim_id(triple: Triple) -> str:
    return claims.triple_claim(WALL.scope, triple.subject, triple.predicate, triple.object).id


@given(new_memories)
def test_each_claim_of_a_text_stands_once_and_all_in_one_order(given_: list[NewMemory]) -> None:
    committed = [(drafts.draft(memory, WALL, NOW, ()), f"m{n}") for n, memory in enumerate(given_)]
    rows = claims.claim_rows(committed, WALL, {})
    ids = [row["claim"]["id"] for row in rows]
    assert ids == sorted(ids)
    for draft, memory_id in committed:
        own = [row["claim"]["id"] for row in rows if row["memory_id"] == memory_id]
        assert own == list(claims.claimed_ids(draft.memory, WALL.scope))
        assert own == sorted({claim_id(triple) for triple in draft.memory.claims})
        assert all(
            row["event"] == {"id": draft.event_id, "occurred_at": draft.occurred_at}
            for row in rows
            if row["memory_id"] == memory_id
        )


@given(new_memories)
def test_the_predicates_are_those_of_the_claims(given_: list[NewMemory]) -> None:
    used = {claims.name_key(triple.predicate) for memory in given_ for triple in memory.claims}
    assert claims.predicate_keys(given_) == sorted(used)


def test_a_claim_is_worded_by_the_template_of_its_predicate() -> None:
    statements = (
        Triple(subject="Alice", predicate="Lives_In", object="Porto"),
        Triple(subject="Alice", predicate="works_on", object="Atlas"),
    )
    draft = drafts.draft(NewMemory(content="x y", claims=statements), WALL, NOW, ())
    rows = claims.claim_rows([(draft, "m")], WALL, {"lives_in": "{subject} dwells in {object}"})
    worded = {row["claim"]["statement"] for row in rows}
    assert worded == {"Alice dwells in Porto", "Alice works on Atlas"}
    assert {row["claim"]["scope"] for row in rows} == {WALL.scope}
