"""Turns that state a fact and turns that do not: what the rules read, and which quotes stand."""

from __future__ import annotations

import pytest

from graphmem.extraction import Proposal
from graphmem.extraction.proposals import CheckContext, CheckedProposal, check_proposal
from graphmem.extraction.sentences import parse_window
from graphmem.model import EvidenceKind
from tests.extraction.stated import ALSO, DENIED, PHRASES, STATED, UNSTATED, Saying, sayings
from tests.plugins.sayings import read_together, turn

PARTS = ("tuning", "kept")
PAST = "used to"


def by_rules(saying: Saying) -> list[str]:
    found, _ = parse_window(read_together([turn(saying.text)]))
    return [
        ("" if one.kind is EvidenceKind.SUPPORTING else "not ")
        + f"{one.subject} {one.predicate} {one.object}"
        for one in found
    ]


def stands(saying: Saying, kind: EvidenceKind) -> bool:
    proposal = Proposal(
        turn_id="t0",
        quote=saying.quote,
        subject=saying.subject,
        predicate=saying.predicate,
        object=saying.object,
        kind=kind,
    )
    window = read_together([turn(saying.text)])
    return isinstance(check_proposal(proposal, window, CheckContext("global", ())), CheckedProposal)


def is_right(fact: str, saying: Saying) -> bool:
    """Return whether a fact that the rules read from a turn that states none is true of it."""
    return (
        fact in ALSO
        or (saying.refuting and fact == saying.fact)
        or (PAST in saying.text and fact == f"not {saying.fact}")
    )


@pytest.mark.parametrize("part", PARTS)
def test_there_are_hundreds_of_turns_of_each_kind(part: str) -> None:
    assert len(sayings(STATED, part)) >= 200
    assert len(sayings(DENIED + UNSTATED, part)) >= 200


@pytest.mark.parametrize("part", PARTS)
def test_the_rules_read_what_is_stated_and_nothing_else(part: str) -> None:
    right = wrong = read = 0
    stated = sayings(STATED, part)
    for saying in stated:
        found = by_rules(saying)
        read += saying.fact in found
        wrong += sum(fact != saying.fact and fact not in ALSO for fact in found)
    right += read
    for saying in sayings(DENIED + UNSTATED + PHRASES, part):
        for fact in by_rules(saying):
            right, wrong = (right + 1, wrong) if is_right(fact, saying) else (right, wrong + 1)
    assert right / (right + wrong) >= 0.97
    assert read / len(stated) >= 0.7


@pytest.mark.parametrize("part", PARTS)
def test_a_quote_that_states_its_fact_stands(part: str) -> None:
    stated = sayings(STATED, part)
    kinds = (EvidenceKind.SUPPORTING, EvidenceKind.REFUTING)
    refused = sum(not stands(saying, kinds[saying.refuting]) for saying in stated)
    assert refused / len(stated) <= 0.03


@pytest.mark.parametrize("part", PARTS)
def test_no_quote_stands_that_was_cut_from_what_its_clause_says(part: str) -> None:
    unstated = sayings(DENIED + UNSTATED, part)
    assert sum(stands(saying, EvidenceKind.SUPPORTING) for saying in unstated) == 0


def test_a_denial_stands_as_one() -> None:
    said = Saying("I don't live in Lisbon.", "live in Lisbon", "user", "lives_in", "Lisbon", True)
    assert stands(said, EvidenceKind.REFUTING)


@pytest.mark.parametrize(
    ("text", "quote", "predicate", "object_"),
    [
        ("I do not like tea.", "like tea", "dislikes", "tea"),
        ("I'd love a dog.", "love a dog", "wants", "dog"),
        ("I used to live in Ghent.", "live in Ghent", "formerly_lived_in", "Ghent"),
        ("In my dream, I live in Oslo.", "I live in Oslo", "dreams_of_living_in", "Oslo"),
        ("Paul thinks I live in Rome.", "I live in Rome", "is_thought_to_live_in", "Rome"),
        ("If I win, I move to Nice.", "I move to Nice", "would_move_to", "Nice"),
    ],
)
def test_a_proposal_may_say_itself_what_its_quote_leaves_out(
    text: str, quote: str, predicate: str, object_: str
) -> None:
    said = Saying(text, quote, "user", predicate, object_, refuting=False)
    assert stands(said, EvidenceKind.SUPPORTING)
    plain = said._replace(predicate="sees")
    assert not stands(plain, EvidenceKind.SUPPORTING)


def test_a_denied_dislike_is_no_dislike() -> None:
    said = Saying("I do not hate tea.", "hate tea", "user", "hates", "tea", refuting=False)
    assert not stands(said, EvidenceKind.SUPPORTING)


def test_one_place_that_states_it_is_enough() -> None:
    text = "Do I live in Rome? I live in Rome."
    said = Saying(text, "I live in Rome", "user", "lives_in", "Rome", refuting=False)
    assert stands(said, EvidenceKind.SUPPORTING)
