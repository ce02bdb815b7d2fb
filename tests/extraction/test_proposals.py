"""Checks of proposals: each rejects its case under its code, and no grounded proposal."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.extraction import DismissalReason, DismissedProposal, Proposal
from graphmem.extraction.proposals import (
    CheckContext,
    CheckedProposal,
    check_proposal,
    check_proposals,
)
from graphmem.extraction.quotes import SuppliedText
from graphmem.model import EvidenceKind, Turn
from graphmem.rules import claims, hygiene
from graphmem.settings import SOURCE_WEIGHTS
from tests.plugins.sayings import SAID, read_together, turn

MOVED = "I moved to Lisbon, and I love it."
TURNS = [
    turn("Where do you live now?", 0, role="assistant"),
    turn(MOVED, 1),
    turn("Lovely. And Bob?", 2, role="assistant"),
    turn("Bob bought four cats in Porto. My password is hunter2secret99", 3),
    turn("Since May.", 4),
    turn("Far away in Madrid", 9),
]
GROUND = CheckContext(
    scope="global",
    session={one.id for one in TURNS} | {"t77"},
    rules=hygiene.default_rules(3, 8_000),
    weights=SOURCE_WEIGHTS,
)
GOOD: dict[str, Any] = {
    "turn_id": "t1",
    "quote": "I moved to Lisbon",
    "subject": "user",
    "predicate": "lives_in",
    "object": "Lisbon",
}
SAYS: dict[str, Any] = {"turn_id": "t1", "quote": MOVED, "statement": "The user loves Lisbon."}


def check(
    ground: CheckContext = GROUND, turns: list[Turn] = TURNS, **given: Any
) -> CheckedProposal | DismissedProposal:
    window = read_together(turns, range(len(turns) - 1))
    return check_proposal(Proposal(**given), window, ground)


def passes(
    ground: CheckContext = GROUND, turns: list[Turn] = TURNS, **given: Any
) -> CheckedProposal:
    found = check(ground, turns, **given)
    assert isinstance(found, CheckedProposal), found
    return found


def refuses(
    ground: CheckContext = GROUND, turns: list[Turn] = TURNS, **given: Any
) -> DismissalReason:
    found = check(ground, turns, **given)
    assert isinstance(found, DismissedProposal), found
    return found.code


def test_what_stands_up_is_ready_to_be_written() -> None:
    found = passes(**GOOD)
    assert found.claim == claims.triple_claim("global", "user", "lives_in", "Lisbon")
    assert (found.quote, found.at, found.dated) == (
        "I moved to Lisbon",
        TURNS[1].occurred_at,
        False,
    )


def test_the_quote_is_kept_as_it_stands() -> None:
    turns = [turn("I moved\n to  Lisbon"), turn("")]
    assert passes(turns=turns, **GOOD | {"turn_id": "t0"}).quote == "I moved\n to  Lisbon"


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"turn_id": "t77"}, DismissalReason.NOT_OFFERED),
        ({"turn_id": "t9"}, DismissalReason.NOT_OFFERED),
        ({"turn_id": "nowhere"}, DismissalReason.FOREIGN_TURN),
        ({"turn_id": "t0", "quote": "Where do you live now"}, DismissalReason.NOT_A_PERSON),
        ({"quote": "I moved to Porto"}, DismissalReason.QUOTE_NOT_FOUND),
        ({"quote": "i moved to lisbon"}, DismissalReason.QUOTE_NOT_FOUND),
        ({"quote": "Bob bought four cats"}, DismissalReason.QUOTE_NOT_FOUND),
        ({"object": "Madrid"}, DismissalReason.UNGROUNDED_OBJECT),
        ({"object": "Paris"}, DismissalReason.UNGROUNDED_OBJECT),
        ({"object": "+"}, DismissalReason.UNGROUNDED_OBJECT),
        ({"subject": "Carol"}, DismissalReason.UNGROUNDED_SUBJECT),
        ({"when": "since May"}, DismissalReason.TIME_NOT_FOUND),
        ({"source_type": "ORACLE"}, DismissalReason.UNWEIGHTED),
        ({"since": SAID + timedelta(days=9)}, DismissalReason.FUTURE),
        (
            {"turn_id": "t3", "quote": "My password is hunter2secret99", "object": "cats"},
            DismissalReason.HYGIENE,
        ),
    ],
    ids=lambda given: given.value if isinstance(given, DismissalReason) else "",
)
def test_what_does_not_stand_up_is_refused(changed: dict[str, Any], code: DismissalReason) -> None:
    assert refuses(**GOOD | changed) is code


def test_what_may_not_be_stored_is_not_shown_again() -> None:
    found = check(**GOOD | {"turn_id": "t3", "quote": "My password is hunter2secret99"})
    assert isinstance(found, DismissedProposal)
    assert found.proposal is None
    assert "hunter2" not in repr(found)
    assert "secret" in found.problem


@pytest.mark.parametrize(
    ("subject", "object_"),
    [
        ("I", "Lisbon"),
        ("The user", "lisbon"),
        ("user's cat", "Lisbon"),
        ("Bob", "Lisbon"),
        ("user", "the cats"),
        ("user", "cat"),
        ("user", "4 cats"),
        ("user", "Porto"),
    ],
)
def test_names_may_stand_beside_the_quote(subject: str, object_: str) -> None:
    passes(**GOOD | {"subject": subject, "object": object_})


def test_a_first_person_is_the_speaker_by_name_or_by_role() -> None:
    assert passes(**GOOD).claim.subject == "user"
    named = [turn(MOVED, 0, name="Caroline"), turn("", 1)]
    for who in ("I", "user", "me", "Caroline", "caroline"):
        found = passes(turns=named, **GOOD | {"turn_id": "t0", "subject": who})
        assert found.claim.subject_key == "caroline"


def test_a_known_name_is_used_for_any_of_its_aliases() -> None:
    ground = CheckContext(
        scope="global",
        session={"t0"},
        names={"lx": "Lisbon", "lisboa": "Lisbon", "user": "Alice"},
        weights=SOURCE_WEIGHTS,
    )
    turns = [turn("I moved to LX", 0), turn("", 1)]
    for object_ in ("LX", "Lisbon", "lisboa"):
        changed = {"turn_id": "t0", "quote": "I moved to LX", "object": object_}
        found = passes(ground, turns, **GOOD | changed)
        assert (found.claim.subject, found.claim.object) == ("Alice", "Lisbon")


def test_a_predicate_is_used_as_it_is_known() -> None:
    known = CheckContext("global", {"t1"}, predicates={"lives_in": "Lives In"})
    assert passes(known, **GOOD | {"predicate": "lives-in"}).claim.predicate == "Lives In"
    assert passes(**GOOD | {"predicate": "Lives in"}).claim.predicate == "lives_in"
    assert passes(**GOOD | {"predicate": "♥"}).claim.predicate == "♥"


@pytest.mark.parametrize(
    ("statement", "passes"),
    [
        ("The user loves Lisbon.", True),
        ("user moved", True),
        ("The user loves Paris.", False),
        ("The user moved 3 times.", False),
        ("Carol loves it", False),
        ("Nothing shared here", False),
    ],
)
def test_a_statement_names_nothing_new_and_shares_a_word(
    statement: str,
    passes: bool,  # noqa: FBT001
) -> None:
    found = check(**SAYS | {"statement": statement})
    assert isinstance(found, CheckedProposal) == passes
    if isinstance(found, DismissedProposal):
        assert found.code is DismissalReason.UNGROUNDED_STATEMENT


def test_since_when_is_read_from_the_turns_own_words() -> None:
    dated = [turn("Actually, Porto since May.", 0), turn("", 1)]
    changed = {"turn_id": "t0", "quote": "Porto since May", "object": "Porto"}
    found = passes(turns=dated, **GOOD | changed | {"when": "since May"})
    assert (found.at, found.dated) == (datetime(2024, 5, 1, tzinfo=UTC), True)
    ahead = [turn("I move to Porto next month", 0), turn("", 1)]
    changed |= {"quote": "I move to Porto", "when": "next month"}
    assert refuses(turns=ahead, **GOOD | changed) is DismissalReason.FUTURE
    # A phrase without a known date leaves the time of the turn.
    vague = [turn("Porto since the war", 0), turn("", 1)]
    changed |= {"quote": "Porto", "when": "since the war"}
    assert passes(turns=vague, **GOOD | changed).dated is False


def test_what_was_supplied_founds_nothing_and_is_no_evidence() -> None:
    known = SuppliedText("m", "You live in Madrid.", SAID - timedelta(minutes=1), "")
    ground = CheckContext("global", {"t1"}, supplied=[known])
    turns = [
        turn("You live in Madrid.", 0, role="assistant"),
        turn("Sure, thanks.", 1),
        turn("", 2),
    ]
    changed = {"quote": "Sure, thanks", "object": "Madrid"}
    assert refuses(ground, turns, **GOOD | changed) is DismissalReason.UNGROUNDED_OBJECT
    echoed = [turn("As you say: You live in Madrid.", 1), turn("", 2)]
    changed = {"quote": "live in Madrid", "object": "Madrid"}
    assert refuses(ground, echoed, **GOOD | changed) is DismissalReason.ECHO


def test_the_same_of_one_turn_counts_once() -> None:
    window = read_together(TURNS)
    again = Proposal(**GOOD | {"quote": "moved to Lisbon", "kind": EvidenceKind.REFUTING})
    other = Proposal(**GOOD | {"turn_id": "t3", "quote": "Bob bought four cats", "object": "Porto"})
    passed, refused = check_proposals([other, Proposal(**GOOD), again], window, GROUND)
    assert [one.proposal.turn_id for one in passed] == ["t1", "t3"]
    assert [one.code for one in refused] == [DismissalReason.REPEATED]


WORDS = st.sampled_from(
    ["I", "moved", "to", "Lisbon", "Porto", "love", "cats", "since", "May", "."]
)


@given(st.lists(WORDS, min_size=1, max_size=8), st.lists(WORDS, min_size=1, max_size=4), WORDS)
def test_nothing_passes_that_does_not_stand_there(
    texts: list[str], quoted: list[str], object_: str
) -> None:
    text, quote = " ".join(texts), " ".join(quoted)
    given = GOOD | {"turn_id": "t0", "quote": quote, "object": object_}
    found = check(turns=[turn(text, 0), turn("", 1)], **given)
    if isinstance(found, CheckedProposal):
        assert quote in text
        assert object_ in texts or object_ in ("I",)
