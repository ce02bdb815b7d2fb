"""Synthesis of beliefs: prompts, valid replies and rejected ones."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from graphmem.consolidation.rules import (
    PromptBelief,
    PromptPassage,
    SynthesisReply,
    reply_problems,
    synthesis_prompt,
)
from graphmem.rules import prompts

FULL: dict[str, Any] = {
    "statement": "Ann lives in Porto.",
    "subject": "Ann",
    "predicate": "lives_in",
    "object": "Porto",
    "confidence": 0.8,
    "episodes": ["e1", "e2"],
    "supports": ["b1"],
    "contradicts": ["b2"],
}
NOTHING: dict[str, Any] = {"statement": None, "confidence": 0, "episodes": []}
PASSAGES, CANDIDATES = ("e1", "e2", "e3"), ("b1", "b2", "b3")


def synthesis(**changed: Any) -> SynthesisReply:
    return SynthesisReply.model_validate_json(json.dumps(FULL | changed))


def reasons(**changed: Any) -> list[str]:
    return reply_problems(synthesis(**changed), PASSAGES, CANDIDATES)


def test_a_prompt_holds_the_rules_and_the_data() -> None:
    prompt = synthesis_prompt(
        [PromptPassage("e1", "2024-03-02", "user: I moved to Porto.\nassistant: Nice!")],
        [PromptBelief("b1", "Ann lives in Lisbon.")],
    )
    assert prompt.name == "synthesise"
    assert prompt.reply is SynthesisReply
    assert prompt.system == prompts.prompt_text("synthesise")
    assert prompt.user == (
        "<episodes>\n"
        'e1 2024-03-02 "user: I moved to Porto.\\nassistant: Nice!"\n'
        "</episodes>\n"
        "<beliefs>\n"
        'b1 "Ann lives in Lisbon."\n'
        "</beliefs>\n"
        "Answer:"
    )


def test_the_example_of_the_prompt_is_an_answer_that_is_taken() -> None:
    text = prompts.prompt_text("synthesise")
    [line] = [line for line in text.splitlines() if line.startswith("{")]
    shown = SynthesisReply.model_validate_json(line)
    assert list(json.loads(line)) == list(SynthesisReply.model_fields)
    assert reply_problems(shown, {"e1", "e2", "e3", "e4"}, {"b1", "b2"}) == []
    for key in ("e1", "e2", "e3", "e4", "b1", "b2"):
        assert f"\n{key} " in text


def test_a_full_and_an_empty_answer_are_taken() -> None:
    assert reasons() == []
    assert reply_problems(SynthesisReply.model_validate(NOTHING), PASSAGES, CANDIDATES) == []


def test_what_is_left_out_is_nothing() -> None:
    bare = SynthesisReply.model_validate_json(
        '{"statement": "x", "confidence": 1, "episodes": ["e1"]}'
    )
    assert (bare.subject, bare.predicate, bare.object) == (None, None, None)
    assert (bare.supports, bare.contradicts) == ((), ())


def test_white_space_is_stripped_and_a_key_counts_once() -> None:
    taken = synthesis(statement="  x\n", subject=" Ann ", episodes=["e1", "e2", "e1"])
    assert (taken.statement, taken.subject, taken.episodes) == ("x", "Ann", ("e1", "e2"))


def test_lengths_at_their_bounds_are_taken() -> None:
    assert synthesis(statement="x" * 8_000, subject="x" * 1_000, confidence=1).confidence == 1
    assert synthesis(confidence=0).confidence == 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"statement": ""},
        {"statement": " \n\t"},
        {"statement": "x" * 8_001},
        {"statement": 7},
        {"statement": ["x"]},
        {"subject": None},
        {"subject": None, "object": None},
        {"subject": " "},
        {"object": "x" * 1_001},
        {"predicate": 3},
        {"confidence": -0.01},
        {"confidence": 1.01},
        {"confidence": None},
        {"confidence": "high"},
        {"episodes": None},
        {"episodes": "e1"},
        {"episodes": [1]},
        {"supports": [None]},
        {"contradicts": {"b1": True}},
    ],
    ids=str,
)
def test_an_answer_outside_the_schema_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        synthesis(**wrong)


@pytest.mark.parametrize("missing", ["statement", "confidence", "episodes"])
def test_required_fields_are_required(missing: str) -> None:
    with pytest.raises(ValidationError, match=missing):
        SynthesisReply.model_validate({k: v for k, v in FULL.items() if k != missing})


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_confidence_is_a_number(number: str) -> None:
    with pytest.raises(ValidationError):
        SynthesisReply.model_validate_json(json.dumps(FULL).replace("0.8", number))


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"episodes": ["e1", "e9"]}, "episodes has keys that were not offered: 'e9'"),
        ({"episodes": ["b1"]}, "episodes has keys that were not offered: 'b1'"),
        ({"supports": ["b9"]}, "supports has keys that were not offered: 'b9'"),
        ({"contradicts": ["e1"]}, "contradicts has keys that were not offered: 'e1'"),
        ({"episodes": []}, "cites no episode"),
        ({"supports": ["b1"], "contradicts": ["b2", "b1"]}, "supported and contradicted: 'b1'"),
        ({"statement": None}, "a null statement has"),
        ({"statement": None, "supports": [], "contradicts": []}, "a null statement has"),
    ],
    ids=str,
)
def test_an_answer_that_breaks_a_rule_is_refused(changed: dict[str, Any], reason: str) -> None:
    [found] = reasons(**changed)
    assert reason in found


def test_every_reason_is_given() -> None:
    assert len(reasons(episodes=[], supports=["b1", "b8"], contradicts=["b1", "b9"])) == 4


def test_invented_keys_do_not_fill_a_log() -> None:
    [found] = reasons(episodes=[f"{n}" * 1_000 for n in range(1_000)])
    assert len(found) < 200
    assert "and 997 more" in found


@given(
    given=st.lists(st.sampled_from(["e1", "e2", "e3", "e4", "b1"])),
    supports=st.lists(st.sampled_from(["b1", "b2", "b4", "e1"])),
    contradicts=st.lists(st.sampled_from(["b1", "b2", "b4", "e1"])),
)
def test_what_is_taken_keeps_every_rule(
    given: list[str], supports: list[str], contradicts: list[str]
) -> None:
    taken = not reasons(episodes=given, supports=supports, contradicts=contradicts)
    known = set(given) <= set(PASSAGES) and set(supports + contradicts) <= set(CANDIDATES)
    assert taken == (known and bool(given) and not set(supports) & set(contradicts))
