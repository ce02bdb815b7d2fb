"""Questions that nobody should ask, or that few ask for, by either client."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from graphmem import Handle, RecallPolicy, Recollection
from graphmem.errors import InvalidInputError
from graphmem.model import POLICIES, Score
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


def refused(memory: Handle, query: Any = "Alice", /, **asked: Any) -> InvalidInputError:
    """Ask what must be refused; what is said of it must be short, and say what to do."""
    with pytest.raises(InvalidInputError) as caught:
        memory.recall(query, **asked)
    error = caught.value
    assert error.code == "invalid_input"
    assert len(str(error)) < 400
    return error


def texts(found: Recollection) -> list[str]:
    return [bite.text for bite in found.bites]


@pytest.fixture
def knowing(memory: Handle) -> Handle:
    """A memory, a belief and a turn."""
    memory.remember("Alice pays in Borealis")
    memory.observe("alice", "deploys_from", "Borealis")
    with memory.session("s") as session:
        session.add_messages([{"role": "user", "content": "Alice deploys on Friday", "name": "Bo"}])
    return memory


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("", "query"),
        (" \t\n\u2003", "query"),
        ("x" * (LONGEST + 1), "100,000"),
        (None, "query"),
        (5, "query"),
        (b"Alice", "query"),
        (["Alice"], "query"),
    ],
    ids=["empty", "blank", "too long", "None", "number", "bytes", "list"],
)
def test_a_question_is_a_text_with_something_in_it(offline: Handle, query: Any, said: str) -> None:
    assert said in str(refused(offline, query))


@pytest.mark.parametrize(
    "query",
    [
        "Alice " + "x" * (LONGEST - 6),
        ("Alice " * LONGEST)[:LONGEST],
        "in may " * (LONGEST // 7) + "Alice",
        "2024-01-01 Alice " * (LONGEST // 17),
        "Alice" + "?" * (LONGEST - 5),
    ],
    ids=["one word", "one word often", "months", "dates", "marks"],
)
def test_the_longest_question_is_answered(knowing: Handle, query: str) -> None:
    assert len(query) <= LONGEST
    kinds = {bite.kind for bite in knowing.recall(query).bites}
    assert kinds == {"memory", "belief", "turn"}


@pytest.mark.parametrize(
    "query",
    [
        "the of and",
        "?",
        "…—!?。、",
        OPERATORS,
        "AND",
        "\u200b",
        "🦊🦊",
        "a\x00b",
        "²",
        "_",
        "\u0301",
    ],
    ids=ascii,
)
def test_what_says_nothing_is_answered_by_what_is_near(knowing: Handle, query: str) -> None:
    """All of it by meaning alone: no word of it stands anywhere."""
    found = knowing.recall(query).bites
    assert {bite.kind for bite in found} == {"memory", "belief", "turn"}
    assert {bite.bm25 for bite in found} == {None}


def test_operators_are_words_between_words(knowing: Handle) -> None:
    for query in ("NOT Alice", "Borealis AND NOT Alice", "-Alice", 'content:"nothing" OR Alice'):
        best = knowing.recall(query).bites[0]
        assert best.bm25 is not None
        assert "alice" in best.text.lower()


@pytest.mark.parametrize("script", SAID)
def test_what_is_written_in_any_script_is_found_by_its_words(memory: Handle, script: str) -> None:
    for content, _ in SAID.values():
        memory.remember(content)
    content, query = SAID[script]
    for words in (query, content):
        best = [bite.text for bite in memory.recall(words).bites if bite.bm25_rank == 1]
        assert best == [content]


def test_emoji_alone_are_found_by_meaning(memory: Handle) -> None:
    memory.remember_many(["🦊🌲🎣🏔️ was our trip", "Alice deploys from Borealis"])
    assert len(memory.recall("🦊").bites) == 2


@pytest.mark.parametrize("limit", [0, -1, 10**6, 1_001, True, "5", 2.0, [1]], ids=repr)
def test_a_limit_is_from_one_to_a_thousand(offline: Handle, limit: Any) -> None:
    error = refused(offline, limit=limit)
    assert "limit" in str(error)
    assert "1000" in f"{error} {error.hint}".replace(",", "")


@pytest.mark.parametrize("limit", [1, 2, 1_000])
def test_no_more_than_the_limit_is_given(knowing: Handle, limit: int) -> None:
    assert len(knowing.recall("Alice", limit=limit).bites) == min(limit, 3)


@pytest.mark.parametrize(
    "policy", ["best", "", "DEFAULT", " flat", None, 1, Score.BLENDED, RecallPolicy]
)
def test_what_is_no_policy_is_told_which_there_are(offline: Handle, policy: Any) -> None:
    error = refused(offline, policy=policy)
    assert "policy" in str(error)
    for name in POLICIES:
        assert name in error.hint
    assert "RecallPolicy" in error.hint


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


@pytest.mark.parametrize(
    "value", [(), [], "turn", ["turns"], ["turn", None], 2, b"turn", {"turn": 1}], ids=repr
)
def test_where_to_look_is_some_of_the_kinds(offline: Handle, value: Any) -> None:
    assert "kinds" in str(refused(offline, kinds=value))


@pytest.mark.parametrize("value", [None, [], "maybe", 2, b"x", {"a": 1}], ids=repr)
def test_whether_to_look_at_what_is_hidden_is_yes_or_no(offline: Handle, value: Any) -> None:
    assert "include_hidden" in str(refused(offline, include_hidden=value))


@pytest.mark.parametrize("field", ["memory", "k", "tag", "statuses", "Turns"])
def test_what_recall_knows_nothing_of_is_named(offline: Handle, field: str) -> None:
    given: dict[str, Any] = {field: True}
    with pytest.raises(TypeError, match=field):
        offline.recall("Alice", **given)


@pytest.mark.parametrize("value", ["yes", "true", 1], ids=repr)
def test_what_looks_like_yes_is_no_yes(offline: Handle, value: Any) -> None:
    assert "include_hidden" in str(refused(offline, include_hidden=value))
