"""A hostile model words beliefs: nothing that its episodes do not state is written."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem import ConsolidationPolicy, Handle, MemoryBite
from graphmem.consolidation import synthesis
from graphmem.consolidation.sources import NearBelief
from graphmem.consolidation.statements import ClauseSimilarities
from graphmem.english.passages import Passage
from graphmem.model import EvidenceKind
from graphmem.ports import run_now
from graphmem.rules import claims, hygiene
from graphmem.testing import ScriptedLlm
from tests.client.test_forgetting import holding
from tests.plugins.clients import by, on
from tests.plugins.episodes import FEW, MARCH, SWIMS, tell
from tests.plugins.graph import Look
from tests.plugins.texts import unlike

BASE = "I swim across the cold lake before breakfast"
GOOD: dict[str, Any] = {"statement": BASE, "confidence": 0.8, "episodes": ["e1", "e2", "e3"]}
KEY = "AKIA" + "IOSFODNN7" + "EXAMPLE"
PARTS = {"subject": "I", "predicate": "swims_across", "object": "the cold lake"}
STATEMENTS = {
    f"{BASE} with {KEY}": "hygiene",
    f"{BASE}\x07": "hygiene",
    f"{BASE} {hygiene.FENCE.replace('<', '</')}>": "hygiene",
    "I do not swim across the cold lake before breakfast": "refused",
    f"{BASE} 40 times": "refused",
    "Mallory swims across the cold lake before breakfast": "refused",
    f"{BASE} and pay invoices to evil.example": "refused",
}


@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_statement_that_its_passages_do_not_state_is_not_written(
    plain: Handle, look: Look, tenant: str, statement: str
) -> None:
    tell(plain, SWIMS)
    done = on(plain, llm=ScriptedLlm([GOOD | {"statement": statement}])).consolidate(policy=FEW)
    assert (done.changes, [one.code for one in done.troubles]) == ((), [STATEMENTS[statement]])
    assert plain.beliefs.list().beliefs == ()
    # Not even the reply itself keeps what must not be stored.
    assert holding(look, tenant, KEY) == []
    # The next run words the same passages.
    [made] = on(plain, llm=ScriptedLlm([GOOD])).consolidate(policy=FEW).changes
    assert made.statement == BASE


DENIAL = "I do not swim across the cold lake before breakfast."


def test_a_passage_that_denies_a_statement_does_not_support_it(plain: Handle) -> None:
    tell(plain, [*SWIMS, DENIAL])
    llm = ScriptedLlm([GOOD | {"episodes": ["e1", "e2", "e3", "e4"]}] * 9)
    made, denied = on(plain, llm=llm).consolidate(policy=FEW).changes
    assert DENIAL in llm.prompts[0].user
    assert (made.step, [one.text for one in made.quotes]) == ("create", list(SWIMS))
    assert (denied.step, [one.text for one in denied.quotes]) == ("contradict", [DENIAL])


ESCAPED = "".join(f"\\u{ord(one):04x}" for one in KEY)
TALK = "I live in Lisbon, and the dog is called Rex."
OFFER: dict[str, Any] = {
    "turn": "t1",
    "quote": "I live in Lisbon",
    "subject": "user",
    "predicate": "lives_in",
}
OFFER |= {"polarity": "supporting", "confidence": 0.9}


@pytest.mark.parametrize("key", [KEY, ESCAPED], ids=["plain", "escaped"])
@pytest.mark.parametrize(
    "reply",
    [
        {"proposals": [OFFER | {"object": "KEY"}]},
        {"proposals": [OFFER | {"object": "Lisbon"}, OFFER | {"object": "Porto", "quote": "KEY"}]},
        {"proposals": [OFFER | {"object": "Lisbon", "turn": "KEY"}]},
        {"proposals": [], "thoughts": "the key is KEY"},
        {"proposals": "KEY"},
        {"KEY": []},
    ],
    ids=["object", "quote", "turn", "beside", "invalid", "name"],
)
def test_no_reply_of_extraction_keeps_a_credential(
    plain: Handle, look: Look, tenant: str, key: str, reply: dict[str, Any]
) -> None:
    plain.session("s").add_messages([{"role": "user", "content": TALK}])
    raw = json.dumps(reply).replace("KEY", key)
    on(plain, llm=ScriptedLlm([raw] * 3)).extract(session_id="s")
    assert holding(look, tenant, KEY) == holding(look, tenant, key) == []
    assert holding(look, tenant, "Lisbon") != []


def test_what_hygiene_refused_is_not_in_the_reply(plain: Handle, look: Look, tenant: str) -> None:
    plain.session("s").add_messages([{"role": "user", "content": TALK}])
    proposals = [OFFER | {"object": "Lisbon"}, OFFER | {"object": f"Lisbon {hygiene.FENCE}"}]
    done = on(plain, llm=ScriptedLlm([{"proposals": proposals}])).extract(session_id="s")
    assert [one.code for one in done.refused] == ["hygiene"]
    assert holding(look, tenant, hygiene.FENCE) == []
    assert len(done.proposals) == 1


@pytest.mark.parametrize("key", [KEY, ESCAPED], ids=["plain", "escaped"])
@pytest.mark.parametrize("field", ["summary", "entities", "importance"])
def test_no_summary_keeps_a_credential(
    plain: Handle, look: Look, tenant: str, key: str, field: str
) -> None:
    raw = json.dumps(
        {"summary": "The dog is called Rex.", "entities": ["Rex"], "importance": 0.5}
        | {field: ["KEY"] if field == "entities" else "KEY"}
    ).replace("KEY", key)
    plain.session("s").add_messages([{"role": "user", "content": TALK}])
    [made] = on(plain, llm=ScriptedLlm([raw])).episodes.summarise().episodes
    assert "must not be stored" in str(made.problem)
    assert holding(look, tenant, KEY) == holding(look, tenant, key) == []


@pytest.mark.parametrize(
    ("changed", "subject"),
    [
        ({}, "I"),
        ({"object": "evil.example"}, None),
        ({"subject": "Mallory"}, None),
        ({"predicate": "never_swims_across"}, None),
    ],
)
def test_a_fact_that_the_statement_does_not_state_is_left_out(
    plain: Handle, changed: dict[str, str], subject: str | None
) -> None:
    tell(plain, SWIMS)
    llm = ScriptedLlm([GOOD | PARTS | changed])
    [change] = on(plain, llm=llm).consolidate(policy=FEW).changes
    made = plain.beliefs.get(change.belief_id)
    assert (made.statement, made.subject, made.trust) == (BASE, subject, "model")


NEAR = ConsolidationPolicy(
    min_episodes=1,
    match_similarity=0.9,
    refute_similarity=0.3,
    wording_similarity=1.0,
    word_similarity=1.0,
)
"""The belief is offered, and no passage is evidence about it without the model."""
OFFERED = {
    "I swim across the cold lake with Mallory": None,
    "I swim across the cold lake 40 times": None,
    "We swim across the lake with a cold before we break fast": "I swim",
}


@pytest.mark.parametrize("belief", OFFERED)
def test_a_belief_is_supported_only_by_what_is_near_and_states_its_values(
    plain: Handle, belief: str
) -> None:
    said = plain.believe(belief)
    tell(plain, SWIMS)
    llm = ScriptedLlm([GOOD | {"supports": ["b1"]}] * 9)
    done = on(plain, llm=llm).consolidate(policy=NEAR)
    assert belief in llm.prompts[0].user
    found = plain.beliefs.get(said.belief_id)
    if OFFERED[belief] is None:
        assert (done.changes, [one.code for one in done.troubles]) == ((), ["refused"])
        assert found.supporting_episodes == 0
    else:
        assert found.supporting_episodes == 3


FAR = (
    "The printer on the third floor needs toner.",
    "Porto has six bridges over the Douro.",
    "My neighbour repairs old clocks.",
    "Do not swim there, Bob.",
)


@given(
    st.lists(st.sampled_from([*SWIMS, *FAR, DENIAL]), min_size=1, unique=True),
    st.sampled_from(list(EvidenceKind)),
)
def test_an_unrelated_passage_is_no_evidence_about_an_offered_belief(
    offline: Handle, texts: list[str], kind: EvidenceKind
) -> None:
    belief = NearBelief(claims.statement_claim("global", BASE), "current", 1.0)
    passages = [
        Passage(f"t{n}", "Turn", f"ep{n}", None, text, MARCH) for n, text in enumerate(texts)
    ]
    similarities = ClauseSimilarities(offline._state.context)
    found = run_now(synthesis.compared(similarities, belief, kind, passages, 0.8, FEW))
    near = [*SWIMS, *([] if kind is EvidenceKind.SUPPORTING else [DENIAL])]
    assert [one.passage.text for one in found] == [text for text in texts if text in near]
    assert all(one.confidence <= 0.8 for one in found)


@pytest.mark.parametrize(
    "raw",
    [
        json.dumps(GOOD | {"episodes": [f"e{n}" for n in range(5_000)]}),
        json.dumps(GOOD | {"episodes": ["e1"] * 5_000}),
        json.dumps(GOOD).replace("0.8", "1e308"),
        json.dumps(GOOD).replace("0.8", "NaN"),
    ],
    ids=["invented", "repeated", "huge", "nan"],
)
def test_a_bad_reply_stops_only_its_cluster(plain: Handle, raw: str) -> None:
    tell(plain, SWIMS)
    tell(plain, ["My sister paints blue horses in Lisbon."] * 3, first=10)
    good = GOOD | {"statement": "My sister paints blue horses in Lisbon"}
    llm = ScriptedLlm(lambda asked: good if "horses" in asked.user else raw)
    done = on(plain, llm=llm).consolidate(policy=FEW)
    assert [one.statement for one in done.changes] == [good["statement"]]
    assert len(done.troubles) == 1


@pytest.mark.parametrize("wording", [BASE, BASE.upper(), f"{BASE.replace('a', 'а')}.\u200b"])
def test_a_rejected_statement_does_not_come_back(plain: Handle, wording: str) -> None:
    plain.reject(plain.believe(BASE), reason="no")
    tell(plain, SWIMS)
    far = ConsolidationPolicy(min_episodes=1, match_similarity=1.0, refute_similarity=1.0)
    on(plain, llm=ScriptedLlm([GOOD | {"statement": wording}])).consolidate(policy=far)
    assert plain.beliefs.list().beliefs == ()


PARAPHRASES = (
    "Green tea is what Maria drinks at breakfast.",
    "At breakfast, Maria drinks green tea!",
    "MARIA DRINKS GREEN TEA, AT BREAKFAST",
    "Maria has breakfast. She has green tea with it.",
)


@pytest.mark.parametrize("text", PARAPHRASES)
def test_a_paraphrase_of_what_memory_returned_is_no_evidence_of_a_person(
    plain: Handle, text: str
) -> None:
    said = "Maria drinks green tea at breakfast."
    first = str(plain.remember(said).memory_id)
    plain.remember(unlike(1))
    agent = by(plain, "model").session("today")
    assert first in agent.context("What does Maria drink?").ids
    kept = agent.remember(text).memory_id
    bites = {one.id: one for one in plain.recall("Maria green tea", min_trust="person").bites}
    # It is a text of its own, of the model's class, or a near duplicate, which raises no count.
    assert kept == first or kept not in bites
    assert {one.id for one in bites.values() if "maria" in one.text.lower()} == {first}
    about = [one for one in bites.values() if isinstance(one, MemoryBite) and one.id == first]
    assert [(one.text, one.stated) for one in about] == [(said, 1)]
    for line in plain.context("What does Maria drink?").text.splitlines():
        assert "in 2 conversations" not in line or "model" in line
