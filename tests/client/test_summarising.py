"""Conversations get a summary, entities and an importance, which a caller's own never lose to."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import neo4j
import pytest

from graphmem import Handle
from graphmem.english import summaries
from graphmem.errors import ModelUnavailableError, NotFoundError
from graphmem.model import Episode
from graphmem.testing import FrozenClock, ScriptedLlm
from tests.plugins.clients import Door

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)
OLD = NOW - timedelta(days=31)
MESSAGES = [
    {"role": "user", "name": "Ann", "content": "I moved to Porto last week.", "at": OLD},
    {"role": "assistant", "content": "How is the new flat in Porto?", "at": OLD},
    {"role": "user", "name": "Ann", "content": "I decided to stay at Nordlys.", "at": OLD},
]
MORE = {"role": "user", "name": "Ann", "content": "We will visit Carla on Friday.", "at": NOW}
REPLY = {"summary": "Ann moved to Porto.", "entities": ["Ann", "Porto"], "importance": 0.8}


def talk(memory: Handle, *messages: dict[str, Any], name: str = "s") -> Episode:
    with memory.session(name) as session:
        session.add_messages(messages or MESSAGES)
        episode_id = session.episode_id
    return memory.episodes.get(episode_id)


def test_the_end_of_a_session_summarises_it(memory: Handle) -> None:
    found = talk(memory)
    assert found.summary == "Ann: I moved to Porto last week. I decided to stay at Nordlys."
    assert found.entities == ("Ann", "Porto", "Nordlys")
    assert found.summarised_by == summaries.RULES
    assert 0.1 < found.importance < 0.9


def test_more_turns_change_the_summary(memory: Handle) -> None:
    before = talk(memory)
    after = talk(memory, MORE)
    assert "Carla" in (after.summary or "")
    assert "Porto" in (after.summary or "")
    assert after.importance > before.importance


def test_ingest_summarises_each_session(memory: Handle) -> None:
    memory.ingest([one | {"session": "a"} for one in MESSAGES] + [MORE | {"session": "b"}])
    found = {one.session_id: one for one in memory.episodes.list().episodes}
    assert found["a"].entities == ("Ann", "Porto", "Nordlys")
    assert found["b"].summary == "Ann: We will visit Carla on Friday."


def test_ingest_stores_turns_and_the_facts_in_them(memory: Handle) -> None:
    chatter = ("Can you summarise incoterm DAP for me?", "Thanks, that's all for today.")
    texts = (*chatter, "I live in Porto.", "I like trams.")
    done = memory.ingest([{"role": "user", "content": text} for text in texts])
    assert (done.messages, done.turns_added) == (4, 4)
    assert memory.memories.list().memories == ()
    facts = memory.beliefs.list().beliefs
    assert sorted(str(one.object) for one in facts) == ["Porto", "trams"]
    again = memory.ingest([{"role": "user", "content": text} for text in texts])
    assert (again.messages, again.turns_added) == (4, 0)
    assert [one.id for one in memory.beliefs.list().beliefs] == [one.id for one in facts]


@pytest.mark.parametrize("first", [True, False])
def test_what_a_caller_gives_stays(memory: Handle, *, first: bool) -> None:
    given: dict[str, Any] = {"session_id": "s", "importance": 0.9, "summary": "Ann's move."}
    if first:
        memory.episodes.add(**given)
    talk(memory)
    if not first:
        memory.episodes.add(**given)
    found = talk(memory, MORE)
    assert (found.importance, found.summary) == (0.9, "Ann's move.")
    assert "Carla" in found.entities
    assert memory.admin.verify().wrong == ()


def test_adding_to_a_session_changes_only_what_is_given(memory: Handle) -> None:
    before = talk(memory)
    assert memory.episodes.add(session_id="s", importance=0.9) == before.id
    assert memory.episodes.get(before.id) == before.model_copy(update={"importance": 0.9})
    [change] = memory.history(before.id)
    reason = f"changed importance; importance {before.importance} before, now 0.9"
    assert (change.type, change.payload) == ("UPDATE", {"reason": reason})
    memory.episodes.add(session_id="s", importance=0.9)
    assert len(memory.history(before.id)) == 1
    memory.episodes.add(session_id="s", entities=["Ann", "Bo"], at=OLD)
    found = memory.episodes.get(before.id)
    assert (found.importance, found.entities, found.occurred_at) == (0.9, ("Ann", "Bo"), OLD)
    assert found.summary == before.summary


def test_an_interrupted_summary_is_made_up_for(memory: Handle) -> None:
    session = memory.session("s")
    session.add_messages(MESSAGES)
    assert memory.episodes.get(session.episode_id).summary is None
    preview = memory.episodes.summarise(dry_run=True)
    assert [one.turns for one in preview.episodes] == [3]
    assert memory.episodes.get(session.episode_id).summary is None
    assert memory.episodes.summarise().applied
    assert memory.episodes.get(session.episode_id).summary == preview.episodes[0].summary
    assert memory.episodes.summarise().episodes == ()


def test_an_unknown_conversation_is_refused(memory: Handle) -> None:
    with pytest.raises(NotFoundError):
        memory.episodes.summarise("ep_unknown")


def test_rebuild_restores_a_damaged_summary(
    memory: Handle, tenant: str, driver: neo4j.Driver
) -> None:
    right = talk(memory)
    driver.execute_query(
        "MATCH (p:Episode {tenant: $tenant}) WHERE p.id IS NOT NULL "
        "SET p.summary = 'other', p.importance = 0.2",
        tenant=tenant,
    )
    [wrong] = memory.admin.verify().wrong
    assert (wrong.kind, wrong.id) == ("episode", right.id)
    assert memory.admin.rebuild().wrong == (wrong,)
    assert memory.episodes.get(right.id) == right
    assert memory.admin.verify().wrong == ()


class TestByModel:
    """A model's summary is a proposal, which is checked and stored."""

    def summarised(self, door: Door, memory: Handle, *replies: Any) -> tuple[Handle, ScriptedLlm]:
        llm = ScriptedLlm(replies)
        return door.on(memory, llm=llm), llm

    def test_it_replaces_that_of_the_rules(self, door: Door, memory: Handle) -> None:
        handle, llm = self.summarised(door, memory, REPLY)
        before = talk(handle)
        report = handle.episodes.summarise()
        assert (report.calls, report.tokens_in) == (1, 100)
        found = handle.episodes.get(before.id)
        assert (found.summary, found.importance) == ("Ann moved to Porto.", 0.8)
        assert (found.summarised_by or "").startswith("scripted ")
        assert handle.episodes.summarise().episodes == ()
        assert len(llm.prompts) == 1
        assert handle.admin.verify().wrong == ()

    def test_a_rebuild_uses_the_stored_reply(
        self, door: Door, memory: Handle, tenant: str, driver: neo4j.Driver
    ) -> None:
        handle, llm = self.summarised(door, memory, REPLY)
        right = talk(handle)
        handle.episodes.summarise()
        driver.execute_query(
            "MATCH (p:Episode {tenant: $tenant}) WHERE p.id IS NOT NULL SET p.summary = 'other'",
            tenant=tenant,
        )
        handle.admin.rebuild()
        assert handle.episodes.get(right.id).summary == "Ann moved to Porto."
        assert len(llm.prompts) == 1

    @pytest.mark.parametrize(
        "reply", [REPLY | {"entities": ["Lisbon"]}, "no JSON", ModelUnavailableError("down")]
    )
    def test_an_invalid_or_missing_reply_leaves_the_rules(
        self, door: Door, memory: Handle, reply: Any
    ) -> None:
        handle, _ = self.summarised(door, memory, reply, REPLY)
        before = talk(handle)
        [one] = handle.episodes.summarise().episodes
        assert one.problem
        assert handle.episodes.get(before.id) == before
        # The next run asks again.
        assert handle.episodes.summarise().episodes[0].problem is None

    def test_a_model_is_not_asked_for_ever(self, door: Door, memory: Handle) -> None:
        handle, llm = self.summarised(door, memory, *["no JSON"] * 9)
        talk(handle)
        for _ in range(7):
            handle.episodes.summarise()
        assert len(llm.prompts) == 5


class TestUpkeepOfConversations:
    """Importance, age and accesses decide about conversations as about documents."""

    @pytest.fixture
    def then(self, door: Door, memory: Handle) -> Handle:
        return door.on(memory, clock=FrozenClock(NOW))

    def chat(self, handle: Handle, *texts: str, at: datetime = OLD) -> str:
        messages = [{"role": "user", "content": text, "at": at, "session": "s"} for text in texts]
        handle.ingest(messages)
        return handle.episodes.list().episodes[0].id

    def plain(self, handle: Handle) -> str:
        asked = (f"Was the walk with the {n} dogs very long?" for n in "bcdefgh")
        return self.chat(handle, "The walk with the dogs was very long.", *asked)

    def found(self, handle: Handle) -> set[str]:
        return {bite.id for bite in handle.recall("walk dogs long", kinds=("belief", "turn")).bites}

    def test_an_important_one_graduates(self, then: Handle, tmp_path: Any) -> None:
        names = ("Ann Berg", "Bo Lee", "Cy Fox", "Di Moe", "Eva Roy", "Flo Ray")
        self.chat(then, *(f"We decided on Friday that {name} moves to Porto." for name in names))
        done = then.episodes.graduate(tmp_path / "MEMORY.md")
        assert len(done.episodes) == 1
        assert "We decided on Friday" in (tmp_path / "MEMORY.md").read_text("utf-8")

    def test_an_unimportant_one_is_compressed_and_restored(self, then: Handle) -> None:
        episode_id = self.plain(then)
        turns = then.episodes.turns(episode_id).turns
        before = self.found(then)
        assert len(before) > 1
        stated, *asked = turns
        [one] = then.episodes.compress().episodes
        assert one.episode_id == episode_id
        assert (one.turns, one.characters) == (7, sum(len(t.text) for t in asked))
        assert then.episodes.get(episode_id).compressed
        # A statement is found as before.
        assert self.found(then) == {stated.id}
        assert then.episodes.turns(episode_id).turns == turns
        assert then.episodes.compress().episodes == ()
        assert then.episodes.restore(episode_id).changed
        assert not then.episodes.get(episode_id).compressed
        assert self.found(then) == before
        assert then.episodes.compress().episodes == ()

    def test_repeated_messages_of_a_compressed_one_are_recognised(self, then: Handle) -> None:
        episode_id = self.plain(then)
        then.episodes.compress()
        self.plain(then)
        assert then.episodes.get(episode_id).turns == 8
        assert then.admin.verify().wrong == ()

    def test_one_that_states_something_in_every_turn_is_left(self, then: Handle) -> None:
        episode_id = self.chat(then, "I am vegan.", "The walk was very long.")
        assert then.episodes.compress().episodes == ()
        assert not then.episodes.get(episode_id).compressed
        assert then.history(episode_id) == []

    def test_one_that_continues_is_compressed_later(self, then: Handle, door: Door) -> None:
        self.plain(then)
        self.chat(then, "Was the walk of today just as long as ever?", at=NOW)
        assert then.episodes.compress().episodes == ()
        later = door.on(then, clock=FrozenClock(NOW + timedelta(days=31)))
        assert len(later.episodes.compress().episodes) == 1


def test_a_conversation_that_was_shown_is_not_compressed(door: Door, memory: Handle) -> None:
    asked = [{"role": "user", "content": "Was the walk with the dogs very long?", "at": OLD}]
    talk(memory, *asked, name="shown")
    talk(memory, *asked, name="other")
    with memory.session("later") as session:
        session.recall("walk dogs long", limit=1, kinds=["turn"])
    memory.usage.flush()
    then = door.on(memory, clock=FrozenClock(NOW))
    assert len(then.episodes.compress(dry_run=True).episodes) == 1
    assert len(then.episodes.compress().episodes) == 1
