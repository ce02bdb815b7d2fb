"""Consolidation by a language model: its reply is a proposal, and no reply loses an episode."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import SecretStr

from graphmem import ConsolidationPolicy, Handle, Settings
from graphmem.consolidation import BeliefChangeKind, ConsolidationReport
from graphmem.errors import ModelUnavailableError
from graphmem.models import open_llm
from graphmem.testing import ScriptedLlm
from tests.plugins.chat_service import KEY, ChatService
from tests.plugins.clients import Door
from tests.plugins.episodes import FEW, SWIMS, tell
from tests.plugins.graph import Look

STATEMENT = "I swim across the cold lake before breakfast every day"
GOOD = {"statement": STATEMENT, "confidence": 0.8, "episodes": ["e1", "e2", "e3"]}
LAND = "Nobody who knows me at the lake before breakfast would call me a person of dry land"
"""Near them, and by its facts of none can be told how: a negation among other words."""
WIDE = ConsolidationPolicy(
    min_episodes=1, match_similarity=0.3, refute_similarity=0.3, grounding_similarity=0.3
)
PAINTS = (
    "My sister paints blue horses in Lisbon.",
    "In Lisbon my sister paints blue horses.",
    "My older sister paints blue horses in Lisbon.",
)


def scripted(door: Door, memory: Handle, *replies: Any) -> tuple[Handle, ScriptedLlm]:
    llm = ScriptedLlm(replies)
    return door.on(memory, llm=llm), llm


def problems(done: ConsolidationReport) -> list[tuple[str, int, bool]]:
    return [(one.code, one.attempts, one.given_up) for one in done.troubles]


def test_a_model_words_what_the_episodes_have_in_common(
    door: Door, memory: Handle, look: Look, tenant: str
) -> None:
    tell(memory, SWIMS)
    modelled, llm = scripted(door, memory, GOOD)
    done = modelled.consolidate(policy=FEW)
    [change] = done.changes
    assert (change.step, change.statement) == (BeliefChangeKind.CREATE, STATEMENT)
    assert {quote.text for quote in change.quotes} == set(SWIMS)
    assert (done.synthesiser, done.calls, done.tokens_in, done.tokens_out) == (
        "scripted",
        1,
        100,
        10,
    )
    # The words of all three were shown, as data, and the reply itself is kept.
    [prompt] = llm.prompts
    assert all(json.dumps(text) in prompt.user for text in SWIMS)
    [kept] = look.rows("MATCH (r:Reply {tenant: $tenant}) RETURN r.raw AS raw", tenant=tenant)
    assert json.loads(kept["raw"]) == GOOD
    assert not modelled.consolidate(policy=FEW).calls


def test_a_repeat_of_any_source_sentence_is_recognised_whatever_the_model_called_it(
    door: Door, memory: Handle
) -> None:
    chat = "The tram was late and crowded."
    tell(memory, [f"{chat} {text}" for text in SWIMS])
    wording = {"statement": "A daily habit is swimming in the open water of a cold lake"}
    modelled, _ = scripted(door, memory, GOOD | wording)
    [made] = modelled.consolidate(
        policy=ConsolidationPolicy(min_episodes=1, grounding_similarity=0.01)
    ).changes
    for n, text in enumerate(SWIMS, 20):
        tell(memory, [text], first=n)
        tell(memory, [f"{text} Then the kettle boiled over at the neighbour's."], first=n + 10)
    told = memory.consolidate(policy=ConsolidationPolicy(min_episodes=1, grounding_similarity=0.01))
    [more] = told.changes
    assert (more.step, more.belief_id) == (BeliefChangeKind.SUPPORT, made.belief_id)
    assert len(more.quotes) == 6


def test_a_fact_among_other_talk_reaches_the_model_and_rests_on_its_clauses(
    door: Door, memory: Handle
) -> None:
    told = (
        "The printer broke. Again by tram to the office.",
        "Olga has my ladder. By tram to the office as ever.",
        "My aunt sent cheese. It rained, so by tram to the office.",
    )
    tell(memory, told)
    said = GOOD | {"statement": "The user goes to the office by tram."}
    modelled, llm = scripted(door, memory, said)
    done = modelled.consolidate(policy=ConsolidationPolicy(min_episodes=1))
    [change] = done.changes
    assert {quote.text for quote in change.quotes} == set(told)
    assert len(llm.prompts) == 1


def test_a_model_is_shown_no_more_than_the_beginning_of_a_long_passage(
    door: Door, memory: Handle
) -> None:
    tell(memory, [f"{text} {'It is cold. ' * 500}THE END" for text in SWIMS])
    modelled, llm = scripted(door, memory, GOOD)
    modelled.consolidate(policy=FEW)
    [prompt] = llm.prompts
    assert "I swim across the cold lake" in prompt.user
    assert "THE END" not in prompt.user
    assert len(prompt.user) < 5_000


def test_a_triple_is_a_value_of_its_slot(door: Door, memory: Handle) -> None:
    tell(memory, SWIMS)
    triple = {"subject": "I", "predicate": "swims_in", "object": "the lake"}
    modelled, _ = scripted(door, memory, GOOD | triple)
    modelled.consolidate(policy=FEW)
    assert modelled.current("I", "swims_in").candidates[0].object == "the lake"


def test_a_model_may_support_and_contradict_beliefs_that_are_there(
    door: Door, memory: Handle
) -> None:
    # Near it, and of none can be told by its facts how: a negation among other words.
    said = memory.believe(LAND)
    tell(memory, SWIMS)
    modelled, llm = scripted(door, memory, GOOD | {"contradicts": ["b1"]})
    done = modelled.consolidate(policy=WIDE)
    assert LAND in llm.prompts[0].user
    assert {one.step for one in done.changes} >= {
        BeliefChangeKind.CREATE,
        BeliefChangeKind.CONTRADICT,
    }
    assert memory.beliefs.get(said.belief_id).refuting_episodes == 3


def test_what_says_an_existing_belief_again_makes_no_other(door: Door, memory: Handle) -> None:
    said = memory.believe(LAND)
    tell(memory, SWIMS)
    modelled, _ = scripted(door, memory, GOOD | {"supports": ["b1"]})
    [change] = modelled.consolidate(policy=WIDE).changes
    assert (change.step, change.belief_id) == (BeliefChangeKind.SUPPORT, said.belief_id)
    assert memory.beliefs.get(said.belief_id).supporting_episodes == 3


def test_a_model_may_find_nothing_in_common_and_is_not_asked_again(
    door: Door, memory: Handle
) -> None:
    tell(memory, SWIMS)
    modelled, llm = scripted(door, memory, {"statement": None, "confidence": 0, "episodes": []})
    done = modelled.consolidate(policy=FEW)
    assert (done.changes, done.troubles) == ((), ())
    assert not modelled.consolidate(policy=FEW).calls
    assert len(llm.prompts) == 1


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (GOOD | {"episodes": ["e1", "e2", "e9"]}, "refused"),
        (GOOD | {"episodes": ["e1", "e2"]}, "refused"),
        (GOOD | {"supports": ["b7"]}, "refused"),
        (GOOD | {"statement": "Quantum flux capacitors govern zebra taxation"}, "refused"),
        (GOOD | {"confidence": 7}, "model_reply"),
        ("I would rather talk about the weather.", "model_reply"),
        ('{"statement": "I swim', "model_reply"),
        ("", "model_reply"),
    ],
    ids=[
        "invented",
        "too-few",
        "no-such-belief",
        "unfounded",
        "schema",
        "prose",
        "half",
        "nothing",
    ],
)
def test_a_reply_that_does_not_stand_up_loses_no_episode(
    door: Door, memory: Handle, look: Look, tenant: str, reply: Any, code: str
) -> None:
    tell(memory, SWIMS)
    before = look.count(tenant)
    modelled, _ = scripted(door, memory, reply, GOOD)
    done = modelled.consolidate(policy=FEW)
    assert (done.changes, problems(done)) == ((), [(code, 1, False)])
    assert look.count(tenant) == before
    # The same cluster is tried again by the next run: nothing else has to be said for that.
    [change] = modelled.consolidate(policy=FEW).changes
    assert change.statement == STATEMENT


def test_a_cluster_is_tried_a_bounded_number_of_times(door: Door, memory: Handle) -> None:
    tell(memory, SWIMS)
    llm = ScriptedLlm(lambda _: "nonsense")
    modelled = door.on(memory, llm=llm)
    policy = ConsolidationPolicy(min_episodes=1, max_attempts=2)
    found = [problems(modelled.consolidate(policy=policy)) for _ in range(3)]
    assert found == [
        [("model_reply", 1, False)],
        [("model_reply", 2, True)],
        [("given_up", 2, True)],
    ]
    assert len(llm.prompts) == 2
    # Something said since makes it another cluster.
    tell(memory, ["Again I swim across the cold lake before breakfast."], first=9)
    assert problems(modelled.consolidate(policy=policy)) == [("model_reply", 1, False)]


def test_a_model_that_is_away_ends_the_run_which_is_gone_on_with(
    door: Door, memory: Handle
) -> None:
    tell(memory, SWIMS)
    tell(memory, PAINTS, first=10)
    away = door.on(memory, llm=ScriptedLlm(lambda _: ModelUnavailableError()))
    done = away.consolidate(policy=FEW)
    assert {one.code for one in done.troubles} == {"model_unavailable"}
    back = door.on(memory, llm=ScriptedLlm(lambda prompt: answer(prompt.user)))
    done = back.consolidate(policy=FEW)
    assert done.resumed
    assert len(done.changes) == 2


@pytest.fixture
def service() -> Iterator[ChatService]:
    with ChatService.opened() as opened:
        yield opened


def answer(shown_to_it: str) -> dict[str, Any]:
    """What a model that understands would say: the first passage, resting on all of them."""
    shown = re.findall(r'^(e\d+) \S+ "(.*)"$', shown_to_it, re.MULTILINE)
    return {"statement": shown[0][1], "confidence": 0.8, "episodes": [key for key, _ in shown]}


def test_faults_of_a_service_lose_no_episode(
    door: Door, memory: Handle, look: Look, tenant: str, service: ChatService
) -> None:
    tell(memory, SWIMS)
    tell(memory, PAINTS, first=10)
    settings = Settings(
        model="openai/some-model",
        model_url=service.url,
        model_key=SecretStr(KEY),
        model_max_retries=1,
        model_timeout_s=0.5,
    )
    patient = settings.model_copy(update={"model_timeout_s": 30.0})
    modelled, lasting = (
        door.on(memory, llm=open_llm(one, awaited=door.name == "awaited"))
        for one in (settings, patient)
    )
    service.always = lambda messages: answer(messages[-1]["content"])
    for faults in ([service.status(429, Retry_After="0")] * 12, ["prose"] * 4):
        service.script(faults)
        done = modelled.consolidate(policy=ConsolidationPolicy(min_episodes=1, max_attempts=99))
        assert not done.changes
        assert len(done.troubles) == 2
        assert KEY not in repr(done)
        service.replies.clear()
    done = lasting.consolidate(policy=ConsolidationPolicy(min_episodes=1, max_attempts=99))
    assert len(done.changes) == 2
    assert not done.troubles
    assert {len(one.episode_ids) for one in done.changes} == {3}


OTHERWISE = {
    "statement": "Cold water starts the mornings of this person",
    "confidence": 0.8,
    "episodes": ["e1", "e2", "e3"],
}
"""Wording that a repeat of its sources does not resemble."""
LOOSE = ConsolidationPolicy(min_episodes=1, grounding_similarity=0.001)


@pytest.mark.parametrize("source", range(3))
@pytest.mark.parametrize(
    ("change", "kind"),
    [
        (str, BeliefChangeKind.SUPPORT),
        (lambda text: text.replace("I swim", "I do not swim"), BeliefChangeKind.CONTRADICT),
    ],
)
def test_a_source_is_recognised_whatever_the_model_called_it(
    door: Door, memory: Handle, source: int, change: Any, kind: BeliefChangeKind
) -> None:
    tell(memory, SWIMS)
    modelled, _ = scripted(door, memory, OTHERWISE)
    [made] = modelled.consolidate(policy=LOOSE).changes
    assert made.step is BeliefChangeKind.CREATE
    text = change(SWIMS[source])
    memory.session("again").add_messages([{"role": "user", "content": text}])
    [found] = modelled.consolidate(policy=LOOSE).changes
    assert (found.step, found.belief_id) == (kind, made.belief_id)
    assert [quote.text for quote in found.quotes] == [text]
