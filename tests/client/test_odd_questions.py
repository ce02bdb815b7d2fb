"""Questions that nobody should ask, or that few ask for, by either client."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from graphmem import Handle, RecallPolicy
from graphmem.model import POLICIES
from tests.plugins.graph import Look

LONGEST = 100_000
OPERATORS = 'AND OR NOT TO && || ! ( ) { } [ ] ^ " ~ * ? : \\ / + - = < >'
SAID = {
    "Chinese": ("我们每周五部署支付服务", "部署"),
    "Japanese": ("デプロイは金曜日です", "金曜日"),
    "Arabic": ("ننشر الخدمة يوم الجمعة", "الجمعة"),
    "Hindi": ("हम शुक्रवार को तैनात करते हैं", "शुक्रवार"),
    "Thai": ("เราปล่อยระบบทุกวันศุกร์", "เราปล่อยระบบทุกวันศุกร์"),
    "Hebrew": ("אנחנו פורסים ביום שישי", "שישי"),
    "Greek": ("Η ανάπτυξη γίνεται Παρασκευή", "Παρασκευή"),
    "Russian": ("Развёртывание проходит в пятницу", "пятницу"),
    "Korean": ("배포는 금요일에 합니다", "금요일에"),
    "combining marks": ("Zoe\u0308 pays on Friday", "Zoe\u0308"),
}


@pytest.fixture
def knowing(memory: Handle) -> Handle:
    """A memory, a belief and a turn."""
    memory.remember("Alice pays in Borealis")
    memory.observe("alice", "deploys_from", "Borealis")
    with memory.session("s") as session:
        session.add_messages([{"role": "user", "content": "Alice deploys on Friday", "name": "Bo"}])
    return memory


def test_the_longest_question_is_answered(knowing: Handle) -> None:
    for query in (
        "Alice " + "x" * (LONGEST - 6),
        ("Alice " * LONGEST)[:LONGEST],
        "in may " * (LONGEST // 7) + "Alice",
        "2024-01-01 Alice " * (LONGEST // 17),
        "Alice" + "?" * (LONGEST - 5),
    ):
        assert len(query) <= LONGEST
        kinds = {bite.kind for bite in knowing.recall(query).bites}
        assert kinds == {"memory", "belief", "turn"}, query[:20]


def test_what_says_nothing_is_answered_by_what_is_near(knowing: Handle) -> None:
    """All of it by meaning alone: no word of it stands anywhere."""
    empty = ("the of and", "?", "…—!?。、", OPERATORS, "AND", "\u200b", "🦊🦊", "a\x00b", "²", "_")
    for query in (*empty, "\u0301"):
        found = knowing.recall(query).bites
        assert {bite.kind for bite in found} == {"memory", "belief", "turn"}, query
        assert {bite.bm25 for bite in found} == {None}, query


def test_operators_are_words_between_words(knowing: Handle) -> None:
    for query in ("NOT Alice", "Borealis AND NOT Alice", "-Alice", 'content:"nothing" OR Alice'):
        best = knowing.recall(query).bites[0]
        assert best.bm25 is not None
        assert "alice" in best.text.lower()


def test_what_is_written_in_any_script_is_found_by_its_words(memory: Handle) -> None:
    memory.remember_many([content for content, _ in SAID.values()])
    for content, query in SAID.values():
        for words in (query, content):
            best = [bite.text for bite in memory.recall(words).bites if bite.bm25_rank == 1]
            assert best == [content]


def test_emoji_alone_are_found_by_meaning(memory: Handle) -> None:
    memory.remember_many(["🦊🌲🎣🏔️ was our trip", "Alice deploys from Borealis"])
    assert len(memory.recall("🦊").bites) == 2


@pytest.mark.parametrize("limit", [1, 2, 1_000])
def test_no_more_than_the_limit_is_given(knowing: Handle, limit: int) -> None:
    assert len(knowing.recall("Alice", limit=limit).bites) == min(limit, 3)


@pytest.mark.parametrize(
    "fields",
    [
        {"pool": 0},
        {"pool": 1_001},
        {"k": 0},
        {"vector_weight": -0.1},
        {"vector_weight": float("nan")},
        {"words_weight": float("inf")},
        {"recency_weight": float("nan")},
        {"recency_days": 0.0},
        {"recency_days": float("nan")},
        {"access_weight": float("inf")},
        {"around": 1.0},
        {"around": float("nan")},
        {"reach": -1},
        {"reach": 6},
        {"named": float("inf")},
        {"dated": float("nan")},
        {"machine": 1.1},
        {"min_similarity": 2.0},
        {"min_similarity": float("nan")},
        {"beliefs": 0},
        {"blend": -0.1},
        {"trace": {"tau_days": 0}},
        {"trace": {"spacing": float("nan")}},
        {"trace": {"weight": float("inf")}},
        {"max_results": 0},
        {"score": "best"},
        {"colour": "red"},
    ],
    ids=repr,
)
def test_a_policy_of_ones_own_fits(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        RecallPolicy(**fields)


@pytest.mark.parametrize("policy", [*POLICIES, RecallPolicy(min_similarity=-1)], ids=str)
def test_where_nothing_is_there_is_nothing_and_that_is_said(
    memory: Handle, look: Look, tenant: str, policy: Any
) -> None:
    found = memory.recall("Alice", include_hidden=True, policy=policy)
    assert (found.bites, found.hidden) == ((), {})
    assert found.reason == "nothing is stored in scope 'global'"
    assert look.count(tenant) == {}
