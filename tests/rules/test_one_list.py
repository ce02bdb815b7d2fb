"""One list: each statement once, whichever of its results is found, and nothing lost."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.model import AnyBite, BeliefBite, OtherValue, Reason, Status, Trust, TurnBite
from graphmem.rules.one_list import collapse, distinct, name_older, newest_first
from tests.plugins.bites import MAY, belief_bite, episode_bite, memory_bite, turn_bite

ASKED = "Where does Anna live?"
SAID = "Anna lives in Ghent."
LONG = "Anna lives in Ghent. She has a dog."


def listed(*bites: AnyBite, question: str = ASKED) -> list[str]:
    return [bite.id for bite in collapse(bites, question, 30)]


def test_a_statement_found_three_times_is_one_result() -> None:
    turn, memory = turn_bite(1, SAID), memory_bite(1, "anna lives in Ghent")
    summary = episode_bite(1, SAID)
    [one] = collapse((summary, turn, memory), ASKED, 30)
    assert (one.id, set(one.covers)) == (memory.id, {turn.id, summary.id})


def test_the_text_that_says_more_takes_the_better_place() -> None:
    memory, other, turn = memory_bite(1, SAID), memory_bite(2, "Ben is here"), turn_bite(1, LONG)
    [first, second] = collapse((memory, other, turn), ASKED, 30)
    assert (first.id, first.covers, second.id) == (turn.id, (memory.id,), other.id)


def test_what_differs_stays() -> None:
    for text in ("Anna lives in Gent.", "Anna lived in Ghent.", "Does Anna live in Ghent?"):
        assert len(listed(memory_bite(1, SAID), turn_bite(1, text))) == 2


def test_what_says_something_else_too_stays() -> None:
    both = memory_bite(1, "Anna lives in Ghent. Ben is here."), turn_bite(1, LONG)
    assert len(listed(*both)) == 2


def test_repeats_of_a_text_count_once() -> None:
    turns = turn_bite(1, SAID), turn_bite(2, SAID), turn_bite(3, LONG)
    bites = (*turns, memory_bite(1, SAID))
    assert [distinct(bites, most) for most in (1, 2, 9)] == [2, 4, 4]


def test_a_repeat_is_shown_with_its_newest_time() -> None:
    old, new = turn_bite(1, SAID), turn_bite(2, SAID, at=MAY + timedelta(days=9))
    assert listed(old, new) == [new.id]
    assert listed(new, old) == [new.id]


def test_a_model_never_stands_for_a_person() -> None:
    said, echoed = turn_bite(1, SAID), turn_bite(2, LONG, role="assistant")
    assert listed(echoed, said) == [echoed.id, said.id]
    same = turn_bite(3, SAID, role="assistant")
    assert listed(same, said) == [said.id]


def test_a_belief_stands_for_the_sentence_that_it_quotes() -> None:
    turn, long = turn_bite(1, "I live in Ghent."), turn_bite(2, "I live in Ghent. I like it.")
    quoted = [
        Reason(event_id=f"e{n}", type="EVIDENCE", at=MAY, trust="person", turn_id=one.id)
        for n, one in enumerate((turn, long))
    ]
    belief = belief_bite(1, "anna lives in Ghent", reasons=tuple(quoted))
    assert listed(turn, belief, long) == [belief.id, long.id]
    assert listed(turn, belief.model_copy(update={"trust": "tool"})) == [belief.id]
    assert len(listed(turn, belief.model_copy(update={"trust": "model"}))) == 2
    lost = belief.model_copy(update={"ambiguous": True})
    assert listed(turn, lost) == [turn.id, lost.id]
    more = turn_bite(1, "I live in Ghent because of the canals.")
    assert len(listed(more, belief)) == 2
    memory = memory_bite(1, "Ghent is where Anna lives now", claim_ids=(belief.id,))
    inferred = belief.model_copy(update={"reasons": (), "trust": "model"})
    assert len(listed(turn_bite(3, inferred.text), inferred)) == 2
    assert listed(memory, belief) == [belief.id]


def test_a_hidden_memory_stands_alone() -> None:
    hidden = memory_bite(1, SAID, status=Status.SUPERSEDED)
    assert len(listed(turn_bite(1, SAID), hidden)) == 2


@pytest.mark.parametrize("first", ["turn", "extract"])
def test_an_extract_stands_behind_its_turns(first: str) -> None:
    turn = turn_bite(1, "Ghent it is", episode_id="ep_1")
    extract = episode_bite(1, "Ghent it is. The dog came too.")
    found = (turn, extract) if first == "turn" else (extract, turn)
    [one] = collapse(found, ASKED, 30)
    assert (one.id, one.covers) == (turn.id, (extract.id,))
    # Beyond the compared results only what is better may remove one.
    assert len(collapse(found, ASKED, 1)) == (1 if first == "turn" else 2)
    own = episode_bite(1, "Ghent it is. The dog came too.", vouched="person")
    assert listed(own, turn) == [turn.id]
    elsewhere = turn_bite(2, "Ghent it is", episode_id="ep_2")
    assert len(listed(elsewhere, extract)) == 2
    assert len(listed(turn, episode_bite(1, extract.text, compressed=True))) == 1
    assert len(listed(turn, episode_bite(1, extract.text, by="a model"))) == 2


@pytest.mark.parametrize("first", ["turn", "belief"])
def test_a_turn_stands_for_the_fact_that_rules_read_in_it(first: str) -> None:
    turn = turn_bite(1, "I love opera, and hate the intermissions.")
    read = Reason(
        event_id="e", type="EVIDENCE", at=MAY, trust="tool", turn_id=turn.id, source_type="RULE"
    )
    belief = belief_bite(1, "user likes opera", reasons=(read,), trust="tool")
    found = (turn, belief) if first == "turn" else (belief, turn)
    [one] = collapse(found, ASKED, 30)
    assert (one.id, one.covers) == (turn.id, (belief.id,))
    other = OtherValue(belief_id="b", object="jazz", belief=0.2, status="accumulating", last_at=MAY)
    contested = belief.model_copy(update={"others": (other,)})
    assert len(listed(turn, contested)) == 2
    by_model = read.model_copy(update={"source_type": "EXTRACTOR"})
    assert len(listed(turn, belief.model_copy(update={"reasons": (by_model,)}))) == 2


def test_a_question_is_no_answer_to_itself() -> None:
    assert listed(turn_bite(1, "where does anna live?"), question=ASKED) == []
    assert len(listed(turn_bite(1, "Where is Anna?"), question=ASKED)) == 1
    # A statement that is searched for by its words is found.
    assert len(listed(turn_bite(1, SAID), question=SAID)) == 1


SENTENCES = st.sampled_from(["Anna is here.", "Ben left.", "It rains.", "Is it so?"])
TEXTS = st.lists(SENTENCES, min_size=1, max_size=3).map(" ".join)


@st.composite
def results(draw: st.DrawFn) -> tuple[AnyBite, ...]:
    made: list[AnyBite] = []
    for n in range(draw(st.integers(0, 12))):
        text, kind = draw(TEXTS), draw(st.sampled_from("mtae"))
        if kind == "m":
            made.append(memory_bite(n, text))
        elif kind == "e":
            vouched: Trust = draw(st.sampled_from(["person", "model"]))
            made.append(episode_bite(n, text, vouched=vouched))
        else:
            made.append(
                turn_bite(
                    n,
                    text,
                    role="user" if kind == "t" else "assistant",
                    episode_id=f"ep_{draw(st.integers(0, 3))}",
                    at=MAY + timedelta(hours=draw(st.integers(0, 3))),
                )
            )
    return tuple(made)


@given(results(), st.integers(1, 6))
def test_every_result_is_listed_or_covered_and_the_first_do_not_depend_on_the_rest(
    found: tuple[AnyBite, ...], compared: int
) -> None:
    shown = collapse(found, ASKED, compared)
    named = [one for bite in shown for one in (bite.id, *bite.covers)]
    assert sorted(named) == sorted(bite.id for bite in found)
    for more in range(compared, len(found)):
        first = [bite.id for bite in collapse(found[:more], ASKED, compared)]
        assert [bite.id for bite in shown][: len(first)] == first


def value(n: int, text: str, days: float, *, subject: str = "ben", **fields: object) -> BeliefBite:
    """A value of an undeclared predicate: a car."""
    known = {"assumed_many": True, "last_at": MAY + timedelta(days=days), **fields}
    bite = belief_bite(n, f"{subject} drives {text}", **known)  # type: ignore[arg-type]
    triple = {"subject": subject, "predicate": "drives", "object": text}
    return bite.model_copy(update={"belief": bite.belief.model_copy(update=triple)})


def test_values_of_an_undeclared_predicate_are_listed_newest_first() -> None:
    saab, volvo, fiat = value(1, "Saab", 1), value(2, "Volvo", 9), value(3, "Fiat", 5)
    turn, other = turn_bite(4, "Ben is here."), value(5, "Opel", 20, subject="Anna")
    ordered = newest_first((saab, turn, volvo, other, fiat), "What does Ben drive?")
    assert ordered == (volvo, turn, fiat, other, saab)
    declared = [one.model_copy(update={"assumed_many": False}) for one in (saab, volvo)]
    assert newest_first(declared, "What does Ben drive?") == tuple(declared)


def test_an_unlikely_value_does_not_precede_an_older_one() -> None:
    saab, rumour = value(1, "Saab", 1), value(2, "Volvo", 9)
    doubted = rumour.belief.model_copy(update={"belief": 0.3})
    found = (saab, rumour.model_copy(update={"belief": doubted}))
    assert newest_first(found, "What does Ben drive?") == found


def test_a_value_that_the_question_names_keeps_its_place() -> None:
    saab, volvo = value(1, "Saab", 1), value(2, "Volvo", 9)
    assert newest_first((saab, volvo), "Does Ben drive a Saab?") == (saab, volvo)


def test_older_values_that_are_not_listed_are_named() -> None:
    saab, volvo, fiat = value(1, "Saab", 1), value(2, "Volvo", 9), value(3, "Fiat", 5)
    [named, turn] = name_older((volvo, turn_bite(4, "x")), (volvo, saab, fiat, value(6, "Kia", 12)))
    assert isinstance(named, BeliefBite)
    assert isinstance(turn, TurnBite)
    assert [one.object for one in named.others] == ["Fiat", "Saab"]
    assert name_older((volvo, saab, fiat), (volvo, saab, fiat)) == (volvo, saab, fiat)


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 9)), max_size=8), st.integers(0, 8)
)
def test_every_value_is_listed_or_named(spec: list[tuple[str, int]], limit: int) -> None:
    """Nothing is lost by the order, and what the newest of a slot names is older and not listed."""
    bites = [value(n, f"car {n}", days, subject=who) for n, (who, days) in enumerate(spec)]
    every = newest_first(bites, "What is driven?")
    assert sorted(one.id for one in every) == sorted(one.id for one in bites)
    shown = name_older(every[:limit], every)
    beliefs = [one for one in shown if isinstance(one, BeliefBite)]
    for who in "abc":
        listed = [one for one in beliefs if one.belief.subject == who]
        times = [one.last_at for one in listed if one.last_at is not None]
        assert times == sorted(times, reverse=True)
        named = [other for one in listed for other in one.others]
        known = {one.id for one in listed} | {other.belief_id for other in named}
        wanted = {one.id for one in bites if one.belief.subject == who} if listed else set()
        assert known == wanted
        assert len(known) == len(listed) + len(named)
