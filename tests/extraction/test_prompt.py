"""Prompts about turns, and the proposals in replies."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.extraction import DismissalReason, Proposal, windows
from graphmem.extraction.windows import (
    ExtractionReply,
    Vocabulary,
    extraction_prompt,
    parse_proposal,
    parse_reply,
)
from graphmem.model import Cardinality, EvidenceKind
from graphmem.rules import prompts
from tests.plugins.sayings import read_together, turn

TURNS = [
    turn("Are you in Lisbon?", 0, role="assistant"),
    turn("Actually, Porto since May.", 1),
    turn("I like tea.", 2, name="Bob"),
    turn("Good.", 3, role="assistant"),
]
WINDOW = read_together(TURNS, [1, 2])
OFFER: dict[str, Any] = {
    "turn": "t1",
    "quote": "Porto since May",
    "subject": " user ",
    "predicate": "lives_in",
    "object": "Porto",
    "statement": None,
    "polarity": "refuting",
    "confidence": 0.9,
    "when": "since May",
    "cardinality": "ONE",
}


def answer(*offers: dict[str, Any]) -> ExtractionReply:
    return ExtractionReply.model_validate_json(json.dumps({"proposals": offers}))


def test_a_prompt_holds_the_rules_and_the_data() -> None:
    prompt = extraction_prompt(WINDOW, Vocabulary([("lives_in", "ONE"), ("likes", None)], ["Bob"]))
    assert (prompt.name, prompt.reply) == ("extract", ExtractionReply)
    assert prompt.system == prompts.prompt_text("extract")
    assert prompt.user == (
        '<predicates>\nlives_in "ONE"\n"likes"\n</predicates>\n'
        '<names>\n"Bob"\n</names>\n'
        '<earlier>\ne1 2024-06-12T15:30 assistant "Are you in Lisbon?"\n</earlier>\n'
        '<messages>\nt1 2024-06-12T15:31 user "Actually, Porto since May."\n'
        't2 2024-06-12T15:32 Bob "I like tea."\n</messages>\n'
        '<later>\nl1 2024-06-12T15:33 assistant "Good."\n</later>\n'
        "Answer:"
    )


@given(st.text(max_size=80), st.text(max_size=20))
def test_no_words_pass_for_instructions(text: str, name: str) -> None:
    window = read_together([turn(text, 0, name=name)])
    lines = extraction_prompt(window, Vocabulary([(text, None)], [name])).user.split("\n")
    assert len(lines) == 16
    assert (lines[9], lines[11]) == ("<messages>", "</messages>")


def test_only_so_much_of_a_vocabulary_and_of_a_message_is_shown() -> None:
    many = [(f"p{n}", None) for n in range(200)]
    window = read_together([turn("x" * 9_000), turn("y" * 9_000, 1)], [0])
    user = extraction_prompt(window, Vocabulary(many, [])).user
    assert user.count("x") == windows.MAX_CHARS
    assert user.count("y") < windows.MAX_REFERENCE_CHARS + 10
    assert '"p59"' in user
    assert '"p60"' not in user


def test_the_example_of_the_prompt_is_an_answer_that_is_taken() -> None:
    text = prompts.prompt_text("extract")
    [line] = [line for line in text.splitlines() if line.startswith('{"proposals"')]
    reply = ExtractionReply.model_validate_json(line)
    shown = read_together(
        [
            turn("Are you still in Lisbon?", 0, role="assistant"),
            turn(
                "Actually, Porto since May. I don't work on Borealis any more, and would love a "
                "dog.",
                1,
            ),
        ],
        [1],
    )
    found, refused = parse_reply(reply, shown)
    assert refused == []
    assert [(one.object, one.kind) for one in found] == [
        ("Porto", EvidenceKind.SUPPORTING),
        ("Borealis", EvidenceKind.REFUTING),
    ]


def test_an_offer_becomes_a_proposal() -> None:
    [found], refused = parse_reply(answer(OFFER), WINDOW)
    assert refused == []
    assert found == Proposal(
        turn_id="t1",
        quote="Porto since May",
        subject="user",
        predicate="lives_in",
        object="Porto",
        kind=EvidenceKind.REFUTING,
        confidence=0.9,
        when="since May",
        cardinality=Cardinality.ONE,
    )


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"turn": "t9"}, DismissalReason.FOREIGN_TURN),
        ({"turn": "e1"}, DismissalReason.FOREIGN_TURN),
        ({"confidence": 7}, DismissalReason.MALFORMED),
        ({"confidence": -1}, DismissalReason.MALFORMED),
        ({"polarity": "perhaps"}, DismissalReason.MALFORMED),
        ({"cardinality": "SOME"}, DismissalReason.MALFORMED),
        ({"object": None}, DismissalReason.MALFORMED),
        ({"object": "  "}, DismissalReason.MALFORMED),
        ({"quote": ""}, DismissalReason.MALFORMED),
        ({"quote": "x" * 9_999}, DismissalReason.MALFORMED),
    ],
)
def test_an_offer_that_is_none_is_listed(changed: dict[str, Any], code: DismissalReason) -> None:
    found, [refused] = parse_reply(answer(OFFER, OFFER | changed), WINDOW)
    assert (len(found), refused.code, refused.proposal) == (1, code, None)
    assert refused.problem


def test_a_number_that_is_none_is_listed() -> None:
    raw = json.dumps({"proposals": [OFFER]}).replace("0.9", "NaN")
    found, [refused] = parse_reply(ExtractionReply.model_validate_json(raw), WINDOW)
    assert (found, refused.code) == ([], DismissalReason.MALFORMED)


def test_a_triple_is_worded_by_its_parts() -> None:
    [found], _ = parse_reply(answer(OFFER | {"statement": "The user lives in Porto."}), WINDOW)
    assert (found.statement, found.object) == (None, "Porto")
    alone = {"subject": None, "predicate": None, "object": None, "statement": "The user moved."}
    [found], _ = parse_reply(answer(OFFER | alone), WINDOW)
    assert found.statement == "The user moved."


def test_only_so_many_proposals_are_looked_at() -> None:
    found, [refused] = parse_reply(answer(*[OFFER] * 130), WINDOW)
    assert (len(found), refused.code) == (100, DismissalReason.MALFORMED)
    assert "30 more" in refused.problem


@given(
    st.dictionaries(
        st.sampled_from([*Proposal.model_fields, "other"]),
        st.none() | st.text(max_size=5) | st.floats() | st.integers(),
    )
)
def test_any_map_is_a_proposal_or_says_why_not(given: dict[str, Any]) -> None:
    found = parse_proposal(given)
    if not isinstance(found, Proposal):
        assert found.code is DismissalReason.MALFORMED
        assert found.problem
