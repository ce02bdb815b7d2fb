"""How LoCoMo and BEAM questions are read and score_row, on data made up here."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from bench import locomo
from bench.conversations import CATEGORIES, Question, beam_questions, locomo_questions
from bench.locomo import Answered
from graphmem.errors import ConfigurationError


def _sample(*qa: dict[str, Any]) -> dict[str, Any]:
    turns = [{"dia_id": f"D1:{n}", "speaker": "A", "text": "x"} for n in range(1, 5)]
    conversation = {"session_1": turns, "session_1_date_time": "1:00 pm on 8 May, 2023"}
    return {"sample_id": "c1", "conversation": conversation, "qa": list(qa)}


@pytest.mark.parametrize(
    ("evidence", "found"),
    [
        (["D1:1"], {"c1/D1:1"}),
        (["D1:1; D1:3"], {"c1/D1:1", "c1/D1:3"}),
        (["D1:02", "D9:9"], {"c1/D1:2"}),
    ],
)
def test_evidence_is_read_as_it_was_meant(evidence: list[str], found: set[str]) -> None:
    asked = {"question": "q", "category": 4, "evidence": evidence}
    [question] = locomo_questions([_sample(asked)])
    assert question == Question("c1", "q", "single-hop", frozenset(found))


@pytest.mark.parametrize(
    "changed", [{"category": 5}, {"evidence": []}, {"evidence": ["D"]}, {"evidence": ["D8:1"]}]
)
def test_what_has_no_evidence_or_tests_refusal_is_left_out(changed: dict[str, Any]) -> None:
    asked = {"question": "q", "category": 1, "evidence": ["D1:1"], **changed}
    assert list(locomo_questions([_sample(asked)])) == []


def test_beam_evidence_may_be_nested() -> None:
    probing: dict[str, list[dict[str, Any]]] = {
        "abstention": [{"question": "a"}],
        "knowledge_update": [
            {"question": "b", "source_chat_ids": {"original_info": [1], "updated_info": [2, 3]}}
        ],
        "event_ordering": [{"question": "c", "source_chat_ids": [4]}],
    }
    older, newer = frozenset({"beam-1/1"}), frozenset({"beam-1/2", "beam-1/3"})
    assert beam_questions("beam-1", probing) == [
        Question("beam-1", "a", "abstention", frozenset()),
        Question("beam-1", "b", "knowledge_update", older | newer, (older, newer)),
        Question("beam-1", "c", "event_ordering", frozenset({"beam-1/4"})),
    ]


def test_two_sides_are_held_apart() -> None:
    def answered(kind: str, *sides: float) -> Answered:
        return Answered(Question("c", "q", kind, frozenset("ab")), [], sides)

    found = locomo.two_sides(
        [
            answered("knowledge_update", 3, 1),
            answered("knowledge_update", 3, 3),
            answered("knowledge_update", math.inf, math.inf),
            answered("contradiction_resolution", 10, 1),
            answered("contradiction_resolution", 11, 1),
        ]
    )
    assert found == {"updated above original": 33.3, "both in ten": 50.0}
    assert locomo.two_sides([]) == {"updated above original": None, "both in ten": None}


def test_an_update_is_seen_by_its_place_or_by_a_mark() -> None:
    older, newer = frozenset({"a", "b"}), frozenset({"c"})
    question = Question("c", "q", "knowledge_update", older | newer, (older, newer))

    def updated(first: float, later: float, **outdated: str) -> object:
        answered = Answered(question, [], (first, later), shown=10, outdated=outdated)
        return locomo.version_shares([answered])["updated"]

    assert updated(2, 1) == 100.0
    assert updated(1, 2) == updated(1, 1) == updated(math.inf, math.inf) == 0.0
    assert updated(1, 2, b="c") == 100.0
    assert updated(1, 2, b="d") == updated(1, 2, c="d") == 0.0
    assert updated(1, 2, b="d", c="d") == 100.0


def test_marks_are_a_share_of_the_results() -> None:
    plain = Question("c", "q", "temporal", frozenset("a"))
    answered = [Answered(plain, [], shown=10, outdated={"a": "b"}), Answered(plain, [], shown=30)]
    assert locomo.version_shares(answered) == {"results": 40, "marked": 2.5, "updated": None}
    assert locomo.version_shares([]) == {"results": 0, "marked": None, "updated": None}


def test_scores_that_tell_answers_from_none() -> None:
    known = Question("c", "q", "temporal", frozenset("a"))
    none = Question("c", "q", "abstention", frozenset())
    answered = [Answered(known, [], top=top) for top in (3.0, 2.0)]
    answered += [Answered(none, [], top=top) for top in (2.0, 1.0)]
    assert locomo.auc(answered) == 0.875
    assert locomo.auc(answered[:2]) is None


def test_the_default_is_judged_by_every_category() -> None:
    overall: dict[str, Any] = {"R@1": 44.0, "R@10": 82.0, "R@20": 90.0}
    parts: list[dict[str, Any]] = [
        {"system": locomo.SHIPPED, "category": c, "R@10": 90.0} for c in CATEGORIES.values()
    ]
    assert locomo.target_result(overall, parts)["met"]
    for name, low in (("R@1", 43.9), ("R@10", 81.9), ("R@20", 67.0)):
        assert not locomo.target_result(overall | {name: low}, parts)["met"]
    parts[2] |= {"R@10": 26.0}
    assert not locomo.target_result(overall, parts)["met"]


def test_recall_is_the_mean_share_of_evidence() -> None:
    two = Question("c", "q", "multi-hop", frozenset({"a", "b"}))
    one = Question("c", "q", "temporal", frozenset({"a"}))
    scores = locomo.score_row([Answered(two, [1, 7]), Answered(one, [2]), Answered(one, [])])
    assert scores == {"R@1": 16.7, "R@5": 50.0, "R@10": 66.7, "R@20": 66.7, "MRR": 0.5}


def test_missing_data_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GRAPHMEM_DATA", str(tmp_path))
    with pytest.raises(ConfigurationError, match=r"locomo\.json") as caught:
        locomo.data_folder()
    assert "GRAPHMEM_DATA" in caught.value.hint
