"""context, by either client: a block for a prompt of what is remembered, and what it keeps out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from graphmem import AsOf, Context, Handle, Message, Outcome, Recollection
from graphmem.conversation import blocks
from graphmem.errors import InvalidInputError
from graphmem.ports import Role
from graphmem.testing import FrozenClock, HashEmbedder
from tests.plugins.clients import Door
from tests.plugins.graph import Look
from tests.plugins.texts import unlike

if TYPE_CHECKING:
    from graphmem.ports import Matrix

MAY = datetime(2025, 5, 5, tzinfo=UTC)
QUESTION = "Where does Alice deploy from?"


def lines(made: Context) -> list[str]:
    """What stands between the fences."""
    first, head, *between, last = made.text.split("\n")
    assert (first, last) == (blocks.OPEN, blocks.CLOSE)
    assert head.startswith(blocks.HEAD)
    return between


def texts(made: Context) -> list[str]:
    decoder = json.JSONDecoder()
    return [decoder.raw_decode(line[line.index(': "') + 2 :])[0] for line in lines(made)]


def ids(found: Recollection) -> tuple[str, ...]:
    return tuple(bite.id for bite in found.bites)


def test_what_fits_is_a_block_with_ids_to_cite(memory: Handle) -> None:
    done = memory.remember("Alice deploys from Borealis", at=MAY)
    memory.remember("Bob pays in euros", at=MAY)

    made = memory.context(QUESTION)

    assert lines(made)[0] == (
        f'[{str(done.memory_id)[:6]}] 5 May 2025: "Alice deploys from Borealis"'
    )
    assert made.ids == ids(memory.recall(QUESTION))
    assert tuple(made.shown.values()) == made.ids
    assert [line.partition("]")[0][1:] for line in lines(made)] == list(made.shown)
    assert memory.memories.get(made.ids[0]).content == texts(made)[0]
    assert 0 < made.tokens <= 800
    assert (made.left_out, made.reason, made.provisional) == (0, "", False)


def test_it_holds_memories_beliefs_and_turns(memory: Handle) -> None:
    memory.remember("Alice pays from Borealis")
    memory.observe("Alice", "deploys_from", "Borealis", at=MAY)
    told = {"role": "user", "content": "Alice deploys on Friday", "name": "Zoë"}
    memory.session("s").add_messages([told])
    kinds = [line[1:3] for line in lines(memory.context(QUESTION))]
    assert sorted(kinds) == ["b_", "m_", "t_"]
    [said] = lines(memory.context(QUESTION, kinds=("turn",)))
    assert ", Zoë: " in said
    only = memory.context(QUESTION, limit=1)
    assert only.ids == ids(memory.recall(QUESTION, limit=1))
    flat = memory.context(QUESTION, policy="flat")
    assert flat.ids == ids(memory.recall(QUESTION, policy="flat"))


def test_a_demoted_belief_says_that_its_revision_is_due(memory: Handle) -> None:
    belief = memory.believe("The pool should have 4 threads", confidence=0.6)
    assert "revised" not in memory.context("threads of the pool").text
    for _ in range(3):
        memory.add_evidence(belief, "refuting", 0.85)
    [line] = lines(memory.context("threads of the pool"))
    assert "to be revised: contradicted 3 times" in line
    newer = memory.beliefs.revise(belief, "The pool should have 8 threads").newer_ids
    made = memory.context("threads of the pool")
    assert made.ids == newer
    assert "revised" not in made.text


def test_a_value_that_has_lost_is_named_beside_the_one_that_leads(memory: Handle) -> None:
    memory.predicates.declare("works_on", cardinality="ONE", at=MAY)
    memory.observe("alice", "works_on", "Borealis", at=MAY)
    memory.remember("Alice is on Borealis", claims=[("alice", "works_on", "Borealis")], at=MAY)
    memory.observe("alice", "works_on", "Atlas", confidence=0.9, at=MAY + timedelta(days=4))
    made = memory.context("what does alice work on")
    belief, said = sorted(lines(made))
    assert belief.endswith(
        '] 9 May 2025: "alice works on Atlas" (outdated: "Borealis", 5 May 2025)'
    )
    assert '] outdated, 5 May 2025: "Alice is on Borealis"' in said

    hidden = memory.context("what does alice work on", include_hidden=True, kinds=("belief",))
    [lost] = [line for line in lines(hidden) if '"alice works on Borealis"' in line]
    assert "] outdated, now [b_" in lost


def test_what_was_superseded_is_marked_and_only_there_when_asked_for(memory: Handle) -> None:
    old = str(memory.remember("Alice deploys from Borealis").memory_id)
    newer = memory.supersede(old, "Alice deploys from Atlas").newer_id
    assert memory.context(QUESTION).ids == (newer,)
    made = memory.context(QUESTION, include_hidden=True)
    assert set(made.ids) == {old, newer}
    assert f"[{old[:6]}] outdated, now [{newer[:6]}], " in made.text


def test_it_answers_for_another_time(memory: Handle) -> None:
    old = str(memory.remember("Alice deploys from Borealis", at=MAY).memory_id)
    memory.supersede(old, "Alice deploys from Atlas", at=MAY + timedelta(days=9))
    made = memory.context(QUESTION, as_of=AsOf(valid=MAY + timedelta(days=1)))
    assert (made.ids, texts(made)) == ((old,), ["Alice deploys from Borealis"])


def test_the_tokens_are_counted_as_the_caller_counts(memory: Handle) -> None:
    memory.remember_many([f"Alice deploys {unlike(n)}" for n in range(30)])
    made = memory.context(QUESTION, tokens=150, limit=30, count_tokens=lambda t: len(t.split()))
    assert made.tokens == len(made.text.split()) <= 150
    assert len(made.ids) > len(memory.context(QUESTION, tokens=150, limit=30).ids)

    def broken(text: str) -> int:
        raise ZeroDivisionError(text)

    with pytest.raises(ZeroDivisionError):
        memory.context(QUESTION, count_tokens=broken)
    for wrong in (lambda _: -1, lambda _: 1.5, lambda _: None, "cl100k"):
        with pytest.raises(InvalidInputError, match="count_tokens"):
            memory.context(QUESTION, count_tokens=wrong)  # type: ignore[arg-type]


def test_a_long_turn_is_cut_and_can_be_expanded(memory: Handle) -> None:
    said = "Alice deploys from Borealis, " + "and so on, " * 9_000
    memory.session("s").add_messages([{"role": "user", "content": said}])
    made = memory.context(QUESTION)
    [cut] = texts(made)
    assert cut.endswith("…")
    assert said.startswith(cut[:-1])
    item = memory.expand(made.ids[0]).item
    assert getattr(item, "text", None) == said


class Asked(HashEmbedder):
    """Notes what is asked."""

    def __init__(self) -> None:
        super().__init__()
        self.questions: list[str] = []

    async def embed(self, texts: Sequence[str], role: Role) -> Matrix:
        if role is Role.QUERY:
            self.questions += texts
        return await super().embed(texts, role)


def test_a_conversation_is_asked_by_what_a_person_said_last(door: Door, memory: Handle) -> None:
    asked = Asked()
    memory.remember("Alice deploys from Borealis")
    memory = door.on(memory, embedder=asked)
    made = memory.context(
        [
            Message(role="user", content="Tell me of Alice"),
            {"role": "user", "content": QUESTION},
            {"role": "assistant", "content": "Let me look."},
        ]
    )
    assert asked.questions == [f"{QUESTION}\nTell me of Alice"]
    assert texts(made) == ["Alice deploys from Borealis"]


def test_a_read_writes_nothing_and_embeds_once(
    door: Door, memory: Handle, look: Look, tenant: str
) -> None:
    memory.remember(unlike(1))
    before, nodes = look.events(tenant), look.count(tenant)
    asked = Asked()
    with door.on(memory, embedder=asked).session("s") as session:
        nodes = look.count(tenant)
        session.context("a question")
        # The search log is written later, when the session ends.
        assert (look.events(tenant), look.count(tenant)) == (before, nodes)
    assert asked.questions == ["a question"]


def test_what_a_context_showed_is_no_news_in_its_session(memory: Handle) -> None:
    shown = "Alice deploys from Borealis on 3 > 2 days"
    memory.remember(shown)
    memory.remember(f"{unlike(1)} " * 60)
    with memory.session("s1") as session:
        made = session.context(QUESTION, tokens=150)
        assert (texts(made), made.left_out) == ([shown], 1)
        line = lines(made)[0]
        for text in (made.text, line, shown, f"  {shown}\n", line.split(': "')[1][:-1]):
            done = session.remember(text)
            assert (done.outcome, done.hygiene_reasons) == (
                Outcome.REJECTED_HYGIENE,
                ("memory_echo",),
            ), text
        # What was found and did not fit was not supplied: heard again, it counts.
        assert session.remember(f"{unlike(1)} " * 60).outcome is Outcome.EXACT_DUPE
    assert memory.context(QUESTION).ids
    assert memory.remember(shown).outcome is Outcome.EXACT_DUPE


def test_an_empty_context_says_why(door: Door, memory: Handle) -> None:
    nothing = memory.context(QUESTION)
    assert nothing == Context(
        text="", ids=(), tokens=0, left_out=0, reason="nothing is stored in scope 'global'"
    )
    memory.memories.deprecate(str(memory.remember("Alice deploys from Borealis").memory_id))
    assert memory.context(QUESTION).reason == "1 hidden: deprecated"
    later = door.on(memory, clock=FrozenClock(MAY))
    assert later.context(QUESTION).text == ""


def test_nobody_is_shown_what_another_keeps(memory: Handle) -> None:
    memory.scope("alice").remember("Alice deploys from Borealis")
    assert memory.scope("bob").context(QUESTION, include_hidden=True).ids == ()
    assert len(memory.scope("alice").context(QUESTION).ids) == 1


@pytest.mark.parametrize(
    ("about", "said"),
    [
        ("", "about"),
        (" \n", "about.*: is blank"),
        ("x" * 100_001, "about"),
        ([], "must have a message of a person"),
        ([{"role": "assistant", "content": "hello"}], "must have a message of a person"),
        ([{"role": "user", "content": "  "}], "must have a message of a person"),
        ([{"role": "user"}], "Message 0"),
        ({"role": "user", "content": "hello"}, "Message 0"),
        (["hello"], "Message 0"),
        (b"hello", "Message 0"),
        (None, "`messages` must be a list"),
        (5, "`messages` must be a list"),
    ],
)
def test_what_is_no_question_is_refused(memory: Handle, about: Any, said: str) -> None:
    with pytest.raises(InvalidInputError, match=said) as caught:
        memory.context(about)
    if "person" in said:
        assert "role `user`" in str(caught.value.hint)
