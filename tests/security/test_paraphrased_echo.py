"""A rewording by a model of a text that memory supplied never counts as a statement of a person."""

from __future__ import annotations

import re
from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from graphmem import Handle, MemoryBite, Session
from graphmem.testing import ScriptedLlm
from tests.plugins.clients import by, on, on_tenant
from tests.plugins.episodes import FEW
from tests.plugins.examples import examples
from tests.plugins.graph import fresh_tenant
from tests.plugins.texts import unlike

SAID = "Maria drinks green tea at breakfast."
ASKED = "What does Maria drink?"
FACT = ("Maria", "drinks", "green tea")
COUNTED = re.compile(r"in (\d+) conversations")
QUOTED = ("„{}“", "«{}»", "「{}」", "'{}'", "> {}", "“{}”, she added.")
PERSONS = {
    "Maria drinks": ("I drink", "you drink", "the user drinks", "she drinks", "Maria DRANK"),
    "at breakfast": ("at my breakfast", "for breakfast", "in the morning", "at breakfast"),
}
LEADS = ("", "As I recall, ", "Memory has: ", "Note: ", "It is true that ")


@st.composite
def rewritten(draw: st.DrawFn) -> str:
    """Return the person's sentence as a model might write it again."""
    text = SAID
    for words, others in PERSONS.items():
        text = text.replace(words, draw(st.sampled_from([words, *others])))
    words_ = text.rstrip(".").split()
    how = draw(st.sampled_from(["same", "turned", "shuffled", "split", "doubled", "case"]))
    at = draw(st.integers(1, len(words_) - 1))
    if how == "turned":
        words_ = [*words_[at:], *words_[:at]]
    elif how == "shuffled":
        words_ = draw(st.permutations(words_))
    elif how == "split":
        words_ = [*words_[:at], "it.", "And", *words_[at:]]
    elif how == "doubled":
        words_ = [*words_, "and", *words_]
    text = " ".join(words_)
    text = text.upper() if how == "case" else text
    return draw(st.sampled_from(LEADS)) + draw(st.sampled_from(["{}.", "{}", *QUOTED])).format(text)


def remember(agent: Session, text: str) -> None:
    agent.remember(text)


def claim(agent: Session, text: str) -> None:
    agent.remember(text, claims=[FACT])


def believe(agent: Session, text: str) -> None:
    agent.believe(text)


def observe(agent: Session, text: str) -> None:
    agent.observe(*FACT, note=text)


def reworded(agent: Session, text: str) -> None:
    agent.observe(FACT[0].upper(), "Drinks", f"“{FACT[2]}”", note=text)


def converse(agent: Session, text: str) -> None:
    for role in ("assistant", "tool", "user"):
        agent.add_messages([{"role": role, "name": "Maria", "content": text}])
    agent.extract(extractor="rules")


def ingest(agent: Session, text: str) -> None:
    agent.ingest([{"role": "user", "name": "Maria", "content": text, "session": "other"}])


WAYS: tuple[Callable[[Session, str], None], ...] = (
    remember,
    claim,
    believe,
    observe,
    reworded,
    converse,
    ingest,
)
writes = st.lists(st.tuples(st.sampled_from(WAYS), rewritten()), min_size=1, max_size=5)


def stated(memory: Handle) -> list[int]:
    """Return the numbers of conversations that lines without a reservation name."""
    lines = memory.context(ASKED).text.splitlines()
    return [int(n) for line in lines if "model" not in line for n in COUNTED.findall(line)]


@settings(max_examples=examples(4, 60, 600))
@given(written=writes, with_fact=st.booleans())
def test_no_paraphrase_of_a_model_counts_as_a_persons_statement(
    plain: Handle, *, written: list[tuple[Callable[[Session, str], None], str]], with_fact: bool
) -> None:
    memory = on_tenant(plain, fresh_tenant())
    with memory.session("of Maria") as own:
        first = str(own.remember(SAID).memory_id)
        own.remember(unlike(1))
        if with_fact:
            own.observe(*FACT)
    for n, (way, text) in enumerate(written):
        with by(memory, "model").session(f"agent {n}") as agent:
            assert first in agent.context(ASKED).ids
            way(agent, text)
    reply = {"statement": SAID, "confidence": 0.9, "episodes": ["e1", "e2", "e3"]}
    on(memory, llm=ScriptedLlm(lambda _: reply)).consolidate(policy=FEW)

    for bite in memory.recall("Maria green tea", min_trust="person", limit=50).bites:
        if isinstance(bite, MemoryBite):
            assert bite.id == first or "tea" not in bite.text.lower(), bite.text
            assert bite.stated == 1, bite
        else:
            assert with_fact or "tea" not in bite.text.lower(), bite.text
    assert all(count == 1 for count in stated(memory)), memory.context(ASKED).text
    for belief in memory.beliefs.list().beliefs:
        assert belief.trust == "model" or (with_fact and belief.subject == "Maria"), belief
    found = memory.current(FACT[0], FACT[1]).leader
    if found is not None:
        assert found.trust == "model" or with_fact
