"""What people said becomes evidence: the checks hold in the graph, a dry run is what a run does."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from graphmem import AsOf, ExtractionReport, Handle, Turn
from graphmem.errors import ConfigurationError, InvalidInputError, NotFoundError
from graphmem.extraction import DismissalReason, Proposal
from graphmem.model import BeliefReasons, Cardinality, PolicyOrigin
from graphmem.testing import ScriptedLlm
from tests.plugins.clients import Door
from tests.plugins.graph import Look
from tests.plugins.offers import (
    CORRECTED,
    JUNE,
    LISBON,
    MARCH,
    MOVED,
    PORTO,
    answered,
    modelled,
    offer,
    say,
)


def told(done: ExtractionReport) -> Any:
    """All that a run says it did, but for whether it did."""
    return done.model_dump(exclude={"applied"})


def test_what_is_said_once_is_evidence_that_quotes_it(
    door: Door, memory: Handle, look: Look, tenant: str
) -> None:
    say(memory, "s1", MOVED)
    handle = modelled(door, memory, LISBON)
    done = handle.extract(session_id="s1")

    [one] = done.proposals
    assert (one.subject, one.predicate, one.object) == ("user", "lives_in", "Lisbon")
    assert (one.quote, one.occurred_at, one.new) == ("I moved to Lisbon", MARCH, True)
    assert (done.turns, done.passed, done.calls, done.new_beliefs) == (1, 0, 1, (one.belief_id,))
    assert done.new_predicates == ("lives_in",)

    event = look.events(tenant)[one.event_id]
    assert (event["type"], event["source_type"], event["source"]) == (
        "EVIDENCE",
        "EXTRACTOR",
        "extraction",
    )
    assert json.loads(event["payload"])["quote"] == "I moved to Lisbon"
    assert ["QUOTES", "Turn", one.turn_id] in event["edges"]
    assert ["OCCURRED_IN", "Episode", done.episode_id] in event["edges"]

    # From the belief to the words.
    reasons = memory.why(one.belief_id)
    assert isinstance(reasons, BeliefReasons)
    [piece] = reasons.pieces
    assert (piece.event_id, piece.turn_id) == (one.event_id, one.turn_id)
    assert [turn.text for turn in memory.beliefs.provenance(one.belief_id).turns] == [MOVED]
    assert memory.recall("where does the user live, Lisbon").bites[0].id == one.belief_id


def test_a_session_extracts_what_was_said_in_it(door: Door, memory: Handle) -> None:
    with modelled(door, memory, LISBON).session("s1") as session:
        session.add_messages([{"role": "user", "content": MOVED}])
        assert [one.object for one in session.extract().proposals] == ["Lisbon"]
    assert memory.current("user", "lives_in").candidates[0].object == "Lisbon"


def test_said_again_in_another_session_it_counts_again(door: Door, memory: Handle) -> None:
    for n in range(3):
        say(memory, f"s{n}", MOVED, at=MARCH + timedelta(days=n))
        modelled(door, memory, LISBON).extract(session_id=f"s{n}")
    [value] = memory.current("user", "lives_in").candidates
    assert value.events == 3
    assert memory.beliefs.get(value.belief_id).supporting_episodes == 3


def test_a_later_value_takes_over_by_event_time(door: Door, memory: Handle) -> None:
    memory.predicates.declare("lives_in", cardinality="ONE", at=MARCH - timedelta(days=1))
    # The correction is read first: only event times count.
    say(memory, "june", CORRECTED, at=JUNE)
    say(memory, "march", MOVED, at=MARCH)
    [one] = modelled(door, memory, PORTO).extract(session_id="june").proposals
    modelled(door, memory, LISBON).extract(session_id="march")
    assert (one.occurred_at, one.dated) == (datetime(2024, 5, 1, tzinfo=UTC), True)

    def leader(at: datetime | None) -> str | None:
        found = memory.current("user", "lives_in", as_of=AsOf(valid=at)).leader
        return found.object if found else None

    assert leader(None) == "Porto"
    assert leader(datetime(2024, 5, 2, tzinfo=UTC)) == "Porto"
    assert leader(datetime(2024, 4, 30, tzinfo=UTC)) == "Lisbon"
    assert leader(MARCH - timedelta(hours=1)) is None


def test_of_messages_added_together_the_later_one_holds(door: Door, memory: Handle) -> None:
    memory.predicates.declare("lives_in", cardinality="ONE", at=MARCH)
    messages = [{"role": "user", "content": text} for text in (MOVED, "I moved to Porto.")]
    memory.session("s").add_messages(messages)
    both = answered(
        offer("t1", "I moved to Lisbon", "Lisbon"), offer("t2", "I moved to Porto", "Porto")
    )
    modelled(door, memory, both).extract(session_id="s")
    assert memory.current("user", "lives_in").leader.object == "Porto"  # type: ignore[union-attr]


def test_a_dry_run_writes_nothing_and_is_what_the_run_does(
    door: Door, memory: Handle, look: Look, tenant: str
) -> None:
    say(memory, "s1", *(f"I moved to City{n}." for n in range(20)))

    def reading(prompt: Any) -> Any:
        shown = re.findall(r'^(t\d) .*"I moved to (City\d+)\."$', prompt.user, re.MULTILINE)
        return answered(*(offer(key, f"I moved to {city}", city) for key, city in shown))

    before = look.graph(tenant)
    dry = door.on(memory, llm=ScriptedLlm(reading)).extract(session_id="s1", dry_run=True)
    assert look.graph(tenant) == before
    assert not dry.applied
    done = door.on(memory, llm=ScriptedLlm(reading)).extract(session_id="s1")
    assert told(dry) == told(done)
    assert len(done.proposals) == 20
    written = {k: v for k, v in look.events(tenant).items() if v["type"] == "EVIDENCE"}
    assert written.keys() == {one.event_id for one in done.proposals}


def test_a_second_run_reads_and_writes_nothing(
    door: Door, memory: Handle, look: Look, tenant: str
) -> None:
    say(memory, "s1", MOVED)
    modelled(door, memory, LISBON).extract(session_id="s1")
    before = look.graph(tenant)
    again = modelled(door, memory).extract(session_id="s1")
    assert look.graph(tenant) == before
    assert (again.turns, again.passed, again.proposals, again.calls) == (0, 1, (), 0)
    # What is said since is read alone.
    say(memory, "s1", "I moved to Porto.", at=JUNE)
    done = modelled(door, memory, answered(offer("t1", "I moved to Porto", "Porto"))).extract(
        session_id="s1"
    )
    assert (done.turns, done.passed, done.proposals[0].object) == (1, 1, "Porto")


def test_another_extractor_reads_again_and_the_words_count_once(
    door: Door, memory: Handle, look: Look, tenant: str
) -> None:
    say(memory, "s1", MOVED)
    first = memory.extract(session_id="s1", extractor="rules")
    assert first.proposals[0].source_type == "RULE"
    before = look.events(tenant)
    done = modelled(door, memory, LISBON).extract(session_id="s1")
    assert [one.code for one in done.refused] == [DismissalReason.KNOWN]
    assert look.events(tenant) == before


def test_what_was_taken_back_stays_taken_back(door: Door, memory: Handle) -> None:
    say(memory, "s1", MOVED)
    [one] = memory.extract(session_id="s1", extractor="rules").proposals
    memory.beliefs.retract(one.event_id)
    done = modelled(door, memory, LISBON).extract(session_id="s1")
    assert [refused.code for refused in done.refused] == [DismissalReason.KNOWN]
    assert memory.current("user", "lives_in").leader is None


def test_what_fails_a_check_is_listed_and_not_written(
    door: Door, memory: Handle, look: Look, tenant: str
) -> None:
    say(memory, "s0", "Elsewhere I said so.")
    say(memory, "s1", MOVED, "My password is hunter2secret99.")
    say(memory, "s1", "You live in Madrid.", at=JUNE, role="assistant")
    bad = {
        DismissalReason.FOREIGN_TURN: offer("t9", "I moved to Lisbon", "Lisbon"),
        DismissalReason.QUOTE_NOT_FOUND: offer("t1", "I moved to Madrid", "Madrid"),
        DismissalReason.NOT_A_PERSON: offer("t3", "You live in Madrid", "Madrid"),
        DismissalReason.HYGIENE: offer("t2", "My password is hunter2secret99", "hunter2secret99"),
        DismissalReason.UNGROUNDED_OBJECT: offer("t1", "I moved to Lisbon", "Rome"),
        DismissalReason.UNGROUNDED_SUBJECT: offer("t1", "I moved", "Lisbon", subject="Bob"),
        DismissalReason.TIME_NOT_FOUND: offer(
            "t1", "I moved to Lisbon", "Lisbon", when="since 2019"
        ),
        DismissalReason.MALFORMED: offer("t1", "I moved to Lisbon", "Lisbon", confidence=7),
    }
    before = look.events(tenant)
    done = modelled(door, memory, answered(*bad.values())).extract(session_id="s1")
    assert {one.code for one in done.refused} == bad.keys()
    assert done.proposals == ()
    assert look.events(tenant) == before
    assert "hunter2" not in repr(done)


def test_what_memory_supplied_is_no_evidence_in_any_process(door: Door, memory: Handle) -> None:
    memory.remember("Alice deploys from Atlas on Fridays.", event_id="m")
    session = memory.session("s1")
    session.context("when does Alice deploy?")
    session.usage.flush()
    say(memory, "s1", "Right. Alice deploys from Atlas on Fridays. I moved to Lisbon.", at=JUNE)
    echo = offer("t1", "deploys from Atlas", "Atlas", subject="Alice", predicate="deploys_from")
    both = answered(echo, offer("t1", "I moved to Lisbon", "Lisbon"))
    done = modelled(door, memory, both).extract(session_id="s1")
    assert [one.code for one in done.refused] == [DismissalReason.ECHO]
    assert [one.object for one in done.proposals] == ["Lisbon"]
    # In a session that was given nothing the same words are a person's own.
    say(memory, "s2", "Right. Alice deploys from Atlas on Fridays.", at=JUNE)
    assert modelled(door, memory, answered(echo)).extract(session_id="s2").refused == ()


def test_what_waits_for_the_log_counts_too(door: Door, memory: Handle) -> None:
    memory.remember("Alice deploys from Atlas on Fridays.")
    session = memory.session("s1")
    session.recall("when does Alice deploy?")
    say(memory, "s1", "Alice deploys from Atlas on Fridays.", at=JUNE)
    echo = offer("t1", "deploys from Atlas", "Atlas", subject="Alice")
    for dry_run in (True, False):
        done = modelled(door, memory, answered(echo)).extract(session_id="s1", dry_run=dry_run)
        assert [one.code for one in done.refused] == [DismissalReason.ECHO]


def test_who_asks_with_the_words_says_them(door: Door, memory: Handle) -> None:
    memory.remember(MOVED)
    session = modelled(door, memory, LISBON).session("s1")
    said = {"role": "user", "content": MOVED}
    assert session.context([said]).ids
    session.add_messages([said])
    assert [one.object for one in session.extract().proposals] == ["Lisbon"]


def test_predicates_and_names_in_use_are_offered(door: Door, memory: Handle) -> None:
    memory.predicates.declare("lives_in", cardinality="ONE")
    memory.observe("Bob", "works_at", "Acme")
    say(memory, "s1", MOVED)
    llm = ScriptedLlm([answered(offer("t1", "I moved to Lisbon", "Lisbon", predicate="Lives in"))])
    [one] = door.on(memory, llm=llm).extract(session_id="s1").proposals
    [prompt] = llm.prompts
    for shown in ('lives_in "ONE"', 'works_at "ONE"', '"Bob"', '"Acme"', json.dumps(MOVED)):
        assert shown in prompt.user
    assert one.predicate == "lives_in"


def test_a_proposed_cardinality_applies_until_a_person_declares_another(
    door: Door, memory: Handle
) -> None:
    memory.predicates.declare("likes", cardinality="MANY")
    say(memory, "s1", MOVED, "I like tea.")
    reply = answered(
        offer("t1", "I moved to Lisbon", "Lisbon", cardinality="ONE"),
        offer("t2", "I like tea", "tea", predicate="likes", cardinality="ONE"),
    )
    done = modelled(door, memory, reply).extract(session_id="s1")
    assert [(one.predicate, one.cardinality) for one in done.cardinalities] == [
        ("lives_in", Cardinality.ONE)
    ]
    # The built-in list and a declaration are kept.
    assert [one.name for one in memory.predicates.list()] == ["likes"]
    assert memory.current("user", "likes").policy.cardinality is Cardinality.MANY
    say(memory, "s2", "My extension is 204.", "My extension is 402.")
    reply = answered(
        offer("t1", "My extension is 204", "204", predicate="extension", cardinality="ONE"),
        offer("t2", "My extension is 402", "402", predicate="extension", cardinality="ONE"),
    )
    modelled(door, memory, reply).extract(session_id="s2")
    slot = memory.current("user", "extension")
    assert slot.policy.cardinality is Cardinality.ONE
    assert slot.candidates[0].object == "402"
    [proposed] = [one for one in memory.predicates.list() if one.name == "extension"]
    long_ago = datetime(2020, 1, 1, tzinfo=UTC)
    # A person's declaration decides, though it is older.
    declared = memory.predicates.declare("extension", cardinality="MANY", at=long_ago)
    assert memory.current("user", "extension").policy.cardinality is Cardinality.MANY
    for one in (declared, proposed):
        memory.beliefs.retract(one.event_id)
    assert memory.current("user", "extension").policy_origin is PolicyOrigin.DEFAULT


def test_a_template_words_what_is_extracted(door: Door, memory: Handle) -> None:
    memory.predicates.declare("lives_in", template="{subject} dwells in {object}")
    say(memory, "s1", MOVED)
    [one] = modelled(door, memory, LISBON).extract(session_id="s1").proposals
    assert one.statement == memory.beliefs.get(one.belief_id).statement == "user dwells in Lisbon"


def test_a_statement_is_believed_as_it_is_worded(door: Door, memory: Handle) -> None:
    say(memory, "s1", "On planes I always take the window.")
    free = dict.fromkeys(("subject", "predicate", "object")) | {
        "statement": "The user takes the window on planes."
    }
    reply = answered(offer("t1", "I always take the window", "") | free)
    [one] = modelled(door, memory, reply).extract(session_id="s1").proposals
    assert memory.beliefs.get(one.belief_id).statement == "The user takes the window on planes."


def test_any_callable_can_read(memory: Handle) -> None:
    say(memory, "s1", "Ticket 7: the tram is late.", "Fine.")
    seen: list[str] = []

    def tickets(turns: Any) -> Any:
        for turn in turns:
            assert isinstance(turn, Turn)
            seen.append(turn.text)
            if turn.text.startswith("Ticket"):
                yield Proposal(
                    turn_id=turn.id,
                    quote="the tram is late",
                    subject="tram",
                    predicate="is",
                    object="late",
                    source_type="CLASSIFIER",
                )
            yield {"turn_id": turn.id, "quote": "made up", "statement": "The tram is late."}
            yield {"turn_id": turn.id}
            yield 5

    done = memory.extract(session_id="s1", extractor=tickets)
    assert seen == ["Ticket 7: the tram is late.", "Fine."]
    [one] = done.proposals
    assert (one.source_type, one.statement) == ("CLASSIFIER", "tram is late")
    assert (
        sorted(refused.code for refused in done.refused)
        == ["malformed"] * 4 + ["quote_not_found"] * 2
    )
    assert "tickets" in done.extractor
    assert memory.extract(session_id="s1", extractor=tickets).turns == 0


@pytest.mark.parametrize("given", [5, "nonsense", {"a": 1}])
def test_what_is_no_extractor_is_refused(memory: Handle, given: Any) -> None:
    say(memory, "s1", MOVED)
    with pytest.raises(InvalidInputError):
        memory.extract(session_id="s1", extractor=given)
    with pytest.raises(InvalidInputError):
        memory.extract(session_id="s1", extractor=lambda _: given)


def test_without_a_session_or_a_model_it_says_what_to_do(memory: Handle) -> None:
    with pytest.raises(InvalidInputError, match="session"):
        memory.extract(extractor="rules")
    with pytest.raises(NotFoundError):
        memory.extract(session_id="nowhere", extractor="rules")
    with pytest.raises(ConfigurationError, match="GRAPHMEM_MODEL"):
        memory.extract(session_id="nowhere")


def test_a_scope_reads_its_own_sessions(door: Door, memory: Handle) -> None:
    say(memory.scope("alice"), "s1", MOVED)
    with pytest.raises(NotFoundError):
        memory.extract(session_id="s1", extractor="rules")
    done = memory.scope("alice").extract(session_id="s1", extractor="rules")
    assert memory.scope("alice").beliefs.get(done.proposals[0].belief_id).scope == "alice"
    assert memory.beliefs.list().beliefs == ()


def test_an_unembedded_belief_of_a_run_that_died_is_embedded_by_the_next(
    memory: Handle, look: Look, tenant: str
) -> None:
    say(memory, "s1", MOVED)
    done = memory.extract(session_id="s1", extractor="rules")
    belief = look.beliefs(tenant)[done.proposals[0].belief_id]
    assert "unembedded" not in belief
    assert belief["embedding"]
