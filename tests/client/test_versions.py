"""recall and context, by either client: older versions of a fact are marked and come after it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from graphmem import AsOf, Handle, Message, RecallPolicy, Recollection

MAY = datetime(2025, 5, 5, tzinfo=UTC)
LATER = MAY + timedelta(days=30)
QUESTION = "How many stickers are in the album of trains?"
OLDER = "My album of trains has 120 stickers, how do I sort them?"
NAMES = ("Ines", "Tom", "Priya", "Hugo", "Lena")
NEWER = "I bought two packs, so the album of trains now has 134 stickers, which is great."


def _marks(found: Recollection) -> dict[str, str]:
    return {bite.text: bite.outdated_by for bite in found.bites if bite.outdated_by is not None}


def _add(memory: Handle, *texts: str, name: str | None = None) -> None:
    memory.session("s").add_messages(
        [
            Message(role="user", content=text, name=name, at=MAY + timedelta(days=n))
            for n, text in enumerate(texts)
        ]
    )


def test_the_older_of_two_turns_is_marked(memory: Handle) -> None:
    _add(memory, OLDER, NEWER, "Thanks, that helps.")
    found = memory.recall(QUESTION, kinds=("belief", "turn"))
    by_text = {bite.text: bite for bite in found.bites}
    assert _marks(found) == {OLDER: by_text[NEWER].id}
    assert [bite.text for bite in found.bites].index(NEWER) < [
        bite.text for bite in found.bites
    ].index(OLDER)


def test_marks_change_neither_the_results_nor_their_scores(memory: Handle) -> None:
    _add(memory, OLDER, NEWER, "The album of trains is green.", "I like trains.")
    # BM25 scores depend on the whole index, to which other tenants write between two reads.
    by_vector = RecallPolicy(words_weight=0.0)
    marked = memory.recall(QUESTION, kinds=("belief", "turn"), policy=by_vector)
    unmarked = by_vector.model_copy(update={"mark_outdated": False})
    plain = memory.recall(QUESTION, kinds=("belief", "turn"), policy=unmarked)
    assert _marks(marked) != _marks(plain) == {}
    assert {bite.id: bite.score for bite in marked.bites} == pytest.approx(
        {bite.id: bite.score for bite in plain.bites}
    )
    scores = [bite.score for bite in plain.bites]
    assert scores == sorted(scores, reverse=True)


def test_a_turn_can_outdate_a_memory(memory: Handle) -> None:
    memory.remember("Anna lives in Porto.", at=MAY)
    memory.session("s").add_messages(
        [Message(role="user", name="Anna", content="I live in Braga.", at=LATER)]
    )
    found = memory.recall("Where does Anna live?")
    [turn] = [bite for bite in found.bites if bite.kind == "turn"]
    assert _marks(found) == {"Anna lives in Porto.": turn.id}


def test_a_belief_can_outdate_a_turn(memory: Handle) -> None:
    _add(memory, "I live in Porto.", name="Anna")
    memory.observe("Anna", "lives in", "Braga", at=LATER)
    found = memory.recall("Where does Anna live?")
    [belief] = [bite for bite in found.bites if bite.kind == "belief"]
    assert _marks(found) == {"I live in Porto.": belief.id}


def test_a_memory_can_outdate_a_memory(memory: Handle) -> None:
    memory.remember("The deploy quota is 30 runs.", at=MAY)
    newer = memory.remember("The deploy quota is 45 runs.", at=LATER).memory_id
    found = memory.recall("deploy quota")
    assert _marks(found) == {"The deploy quota is 30 runs.": newer}
    assert found.bites[0].id == newer
    before = memory.recall("deploy quota", as_of=AsOf(valid=LATER - timedelta(days=1)))
    assert [bite.outdated_by for bite in before.bites] == [None]


def test_values_that_coexist_are_not_marked(memory: Handle) -> None:
    for day, drink in enumerate(("tea", "coffee")):
        memory.observe("Anna", "likes", drink, at=MAY + timedelta(days=day))
        memory.remember(f"Anna likes {drink}.", at=MAY + timedelta(days=day))
    found = memory.recall("What does Anna like?")
    assert len(found.bites) == 2
    assert _marks(found) == {}


def test_a_superseded_memory_follows_its_successor(memory: Handle) -> None:
    older = memory.remember("The deploy quota is thirty runs a day.", at=MAY).memory_id
    assert older is not None
    newer = memory.supersede(older, "Deployments are unlimited.", at=LATER).newer_id
    found = memory.recall("deploy quota runs", include_hidden=True)
    assert _marks(found) == {"The deploy quota is thirty runs a day.": newer}
    assert [bite.id for bite in found.bites] == [newer, older]


CHAINS = {
    "Who leads the harbour project?": [f"{name} leads the harbour project." for name in NAMES],
    "How many seats has the canteen?": [f"The canteen has {n} seats." for n in (40, 55, 60, 80)],
    "Where does Ana live?": [f"Ana lives in {city}." for city in ("Porto", "Braga", "Faro")],
}


@pytest.mark.parametrize("question", CHAINS)
@pytest.mark.parametrize("order", [1, -1])
def test_the_list_is_cut_last(memory: Handle, question: str, order: int) -> None:
    """The first results do not depend on how many are wanted, and begin with the current value."""
    chain = list(enumerate(CHAINS[question]))
    ids = {
        n: memory.remember(text, at=MAY + n * timedelta(days=9)).memory_id
        for n, text in chain[::order]
    }
    for other in (texts for asked, texts in CHAINS.items() if asked != question):
        memory.remember(other[0], at=LATER + timedelta(days=90))
    # BM25 scores depend on the whole index, to which other tenants write between two reads.
    by_vector = RecallPolicy(words_weight=0.0)
    everything = memory.recall(question, limit=100, policy=by_vector).bites
    newest = ids[len(chain) - 1]
    assert everything[0].id == newest
    assert [one.outdated_by for one in everything].count(newest) == len(chain) - 1
    for limit in range(1, len(everything) + 1):
        cut = memory.recall(question, limit=limit, policy=by_vector).bites
        assert [(one.id, one.outdated_by) for one in cut] == [
            (one.id, one.outdated_by) for one in everything[:limit]
        ]
    assert memory.recall(question, limit=1).bites[0].id == newest
    assert list(memory.context(question, limit=1).ids) == [newest]


def test_a_value_stated_again_outdates_its_successors(memory: Handle) -> None:
    for n, city in enumerate(("Porto", "Braga", "Porto")):
        memory.remember(f"Ana lives in {city}.", at=MAY + timedelta(days=n))
    first, second = memory.recall("Where does Ana live?").bites
    assert (first.text, first.outdated_by) == ("Ana lives in Porto.", None)
    assert second.outdated_by == first.id


def test_answers_of_a_model_are_not_compared(memory: Handle) -> None:
    memory.session("s").add_messages(
        [
            Message(role="user", content="The deploy quota is 30 runs.", at=MAY),
            Message(role="assistant", content="The deploy quota is 45 runs.", at=LATER),
        ]
    )
    assert _marks(memory.recall("deploy quota")) == {}


def test_a_context_names_the_newer_version(memory: Handle) -> None:
    _add(memory, OLDER, NEWER)
    made = memory.context(QUESTION)
    [newer] = [n for n, line in enumerate(made.text.splitlines()) if "134 stickers" in line]
    [older] = [n for n, line in enumerate(made.text.splitlines()) if "120 stickers" in line]
    assert newer < older
    origin = f"outdated, now [{made.ids[0][:6]}], 5 May 2025: "
    assert origin in made.text.splitlines()[older]
