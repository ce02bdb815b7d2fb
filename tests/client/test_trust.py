"""Trust of results: the class of their lineage, in every read, and as a filter."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from graphmem import AsOf, GraphMem, Handle
from graphmem.errors import ForeignScopeError, InvalidInputError, NotFoundError, PersonOnlyError
from graphmem.model import Belief, BeliefBite, EvidenceKind, Kind, Memory, MemoryBite, Origin, Trust
from graphmem.rules import trust as rules
from tests.oracles import trust as oracle
from tests.oracles.trust import Statement
from tests.plugins.episodes import FEW, SWIMS, tell
from tests.plugins.examples import few
from tests.plugins.graph import fresh_tenant

MAY = datetime(2025, 5, 5, tzinfo=UTC)
DAY = timedelta(days=1)
TEA, TRAM = "Maria drinks green tea.", "The tram to Aveiro is red."


@pytest.fixture
def by(client: GraphMem, tenant: str) -> Callable[[Trust], Handle]:
    """Return the tenant's handle for a writer."""
    return lambda writer: client.tenant(tenant, trust=writer)


def of_memory(memory: Handle, memory_id: str | None, **how: Any) -> str:
    return memory.why(str(memory_id), **how).trust


def test_every_read_of_an_item_shows_the_class_of_its_writer(by: Callable[[Trust], Handle]) -> None:
    memory, agent = by("person"), by("model")
    ids = {
        "person": str(memory.remember(TEA).memory_id),
        "model": str(agent.scope("global").remember(TRAM).memory_id),
        "tool": memory.observe("tram", "colour", "red", source_type="TOOL").belief_id,
        "imported": by("imported").observe("tram", "line", "seven").belief_id,
    }
    found = {bite.id: bite.trust for bite in memory.recall("tram tea colour line").bites}
    for expected, item_id in ids.items():
        assert found[item_id] == memory.expand(item_id).trust == expected
        assert memory.why(item_id).trust == expected
        read = memory.beliefs if item_id.startswith("b_") else memory.memories
        assert read.get(item_id).trust == expected
        assert read.get(item_id, as_of=datetime.now(UTC)).trust == expected
    listed: list[Memory | Belief] = [
        *memory.memories.list().memories,
        *memory.beliefs.list().beliefs,
    ]
    assert {one.id: one.trust for one in listed} == {item: name for name, item in ids.items()}
    then = memory.memories.list(as_of=datetime.now(UTC)).memories
    assert {one.trust for one in then} == {"person", "model"}
    assert [one.trust for one in memory.history(ids["tool"])] == ["tool"]
    assert memory.current("tram", "colour").candidates[0].trust == "tool"
    assert memory.why(ids["tool"]).pieces[0].trust == "tool"  # type: ignore[union-attr]
    assert memory.evidence_for(ids["imported"]).lines[0].trust == "imported"
    assert [one.trust for one in memory.history(ids["model"])] == ["model"]
    lines = memory.context("tram tea colour line").text.splitlines()
    assert [line.split("]")[0][1:] for line in lines if ", model: " in line] == [ids["model"][:6]]


def test_a_turn_has_the_class_of_its_role_and_lends_it_to_what_quotes_it(
    by: Callable[[Trust], Handle],
) -> None:
    memory = by("person")
    talk = memory.session("s")
    roles = ("user", "assistant", "tool", "system")
    said = talk.add_messages([{"role": r, "content": f"Trams of {r}s run."} for r in roles])
    forged = by("model").session("t").add_messages([{"role": "user", "content": "Trams stop."}])
    turns = dict(zip([*roles, "forged"], [*said.turn_ids, *forged.turn_ids], strict=True))
    expected = {"user": "person", "assistant": "model", "tool": "tool", "system": "unknown"}
    for role, turn_id in turns.items():
        trust = expected.get(role, "model")
        assert memory.expand(turn_id).trust == trust
        fact = memory.observe("trams", "heard_of", role, cardinality="MANY", turn_id=turn_id)
        assert memory.why(fact).trust == trust
        text = memory.remember(f"The {role} mentioned the trams.", turn_id=turn_id).memory_id
        assert of_memory(memory, text) == trust
    assert memory.expand(talk.episode_id).trust == "unknown"
    assert memory.expand(memory.session("t").episode_id).trust == "model"
    assert memory.expand(memory.episodes.add(content=TRAM)).trust == "person"
    assert memory.expand(by("imported").episodes.add(content=TEA)).trust == "imported"


def test_what_a_model_repeats_or_brings_back_is_not_a_persons(
    by: Callable[[Trust], Handle],
) -> None:
    memory, agent = by("person"), by("model")
    stated = str(memory.remember(TEA, at=MAY).memory_id)
    agent.remember(TEA, at=MAY + DAY)
    assert of_memory(memory, stated) == "model"
    assert of_memory(memory, stated, as_of=MAY) == "person"
    # A person who restores it vouches for it alone.
    memory.memories.restore(stated, at=MAY + 2 * DAY)
    assert of_memory(memory, stated) == "person"
    assert stated in [one.id for one in memory.recall(TEA, min_trust="person").bites]
    other = memory.supersede(stated, "Maria drinks coffee.", at=MAY + 3 * DAY).newer_id
    assert of_memory(memory, stated) == "person"
    agent.supersede(other, TEA, at=MAY + 4 * DAY)
    assert of_memory(memory, stated) == "model"
    assert not memory.recall(TEA, min_trust="person").bites
    assert "also model: " in memory.context(TEA).text
    memory.memories.deprecate(stated, at=MAY + 5 * DAY)
    agent.memories.restore(stated, at=MAY + 6 * DAY)
    assert of_memory(memory, stated) == "model"
    memory.supersede(stated, "Maria drinks water.", at=MAY + 7 * DAY)
    memory.remember(TEA, at=MAY + 8 * DAY)
    assert of_memory(memory, stated) == "person"


def test_a_person_who_states_a_models_sentence_vouches_for_it(
    by: Callable[[Trust], Handle],
) -> None:
    memory, agent = by("person"), by("model")
    stated = str(agent.remember(TEA, at=MAY).memory_id)
    memory.remember(TEA, actor="Dana", at=MAY + DAY)
    assert of_memory(memory, stated) == "person"
    assert of_memory(memory, stated, as_of=MAY) == "model"
    assert "] 6 May 2025, Dana: " in line_of(memory, TEA)
    assert [one.id for one in memory.recall(TEA, min_trust="person").bites] == [stated]
    agent.remember(TEA, at=MAY + 2 * DAY)
    assert of_memory(memory, stated) == "model"
    assert "] 6 May 2025, Dana, also model: " in line_of(memory, TEA)


MADE: tuple[Kind, ...] = ("memory", "belief")
ROLES: dict[str, Trust] = {"user": "person", "assistant": "model", "tool": "tool"}


@few
@given(roles=st.lists(st.sampled_from(sorted(ROLES)), min_size=1, max_size=5), text=st.booleans())
def test_a_turn_that_repeats_a_persons_words_is_nobody_elses(
    client: GraphMem, roles: list[str], *, text: bool
) -> None:
    """Memories and beliefs are made from the turns of a conversation that repeat one sentence."""
    memory = client.tenant(fresh_tenant())
    said, seen = TEA if text else "maria likes tea", list[Statement]()
    for day, role in enumerate(roles):
        at = MAY + day * DAY
        with memory.session(f"s{day}") as session:
            turn = {"role": role, "content": said, "at": at}
            [turn_id] = session.add_messages([turn]).turn_ids
            if text:
                made = str(session.remember(said, turn_id=turn_id, at=at).memory_id)
            else:
                made = session.observe("maria", "likes", "tea", turn_id=turn_id, at=at).belief_id
        seen.append(Statement(ROLES[role], at))
    expected = oracle.memory(seen) if text else oracle.belief(seen, [], one=False)
    # Alone: a turn with the same sentence and a higher trust covers it.
    [bite] = memory.recall(said, kinds=MADE).bites
    assert bite.id == made
    assert bite.trust == memory.why(made).trust == expected
    highest = max((one.trust for one in seen), key=oracle.ORDER.index)
    assert isinstance(bite, MemoryBite | BeliefBite)
    assert bite.stated == sum(one.trust == highest for one in seen)
    line = next(one for one in memory.context(said, kinds=MADE).text.splitlines() if said in one)
    speaker = {"person": "", "model": "AI", "tool": "tool"}[highest]
    head = line.partition(': "')[0].split(", ")
    assert [one for one in head if one in {"AI", "tool"}] == ([speaker] if speaker else [])
    assert (f"also {expected}" in head) == ("also" in line) == (expected != highest)


def test_a_belief_that_a_model_brings_back_is_not_a_persons(by: Callable[[Trust], Handle]) -> None:
    memory, agent = by("person"), by("model")
    old, new = "The pool needs 4 threads", "The pool needs 8 threads"
    stated = memory.believe(old, at=MAY).belief_id
    memory.add_evidence(stated, "supporting", 0.9, at=MAY)
    memory.beliefs.revise(stated, new, at=MAY + DAY)
    assert memory.why(stated).trust == "person"
    newer = memory.beliefs.list().beliefs[0].id
    agent.beliefs.revise(newer, old, at=MAY + 2 * DAY)
    assert memory.why(stated).trust == memory.beliefs.get(stated).trust == "model"
    assert memory.why(stated, as_of=MAY + DAY).trust == "person"
    memory.beliefs.archive(stated, at=MAY + 3 * DAY)
    memory.beliefs.restore(stated, at=MAY + 4 * DAY)
    assert memory.why(stated).trust == "person"
    fact = memory.observe("user", "lives_in", "Porto", cardinality="ONE", at=MAY).belief_id
    memory.beliefs.archive(fact, at=MAY + DAY)
    agent.beliefs.restore(fact, at=MAY + 2 * DAY)
    slot = memory.current("user", "lives_in")
    assert slot.leader is not None
    assert {memory.why(fact).trust, memory.beliefs.get(fact).trust, slot.leader.trust} == {"model"}


def test_another_wording_does_not_vouch_for_the_stored_one(by: Callable[[Trust], Handle]) -> None:
    memory, agent = by("person"), by("model")
    stored = agent.remember("The blue tram to Aveiro leaves the station at seven in the morning.")
    near = memory.remember("The blue tram to Aveiro leaves the station at seven in the morning!")
    assert (near.memory_id, str(near.outcome)) == (stored.memory_id, "NEAR_DUPE")
    assert of_memory(memory, stored.memory_id) == "model"


def test_the_value_of_a_slot_has_the_class_of_the_statement_that_set_it(
    by: Callable[[Trust], Handle],
) -> None:
    memory, agent = by("person"), by("model")
    memory.observe("user", "lives_in", "Porto", at=MAY)
    memory.observe("user", "lives_in", "Faro", at=MAY + DAY)
    revived = agent.observe("user", "lives_in", "Porto", at=MAY + 2 * DAY, confidence=0.9)
    slot = memory.current("user", "lives_in")
    assert slot.leader is not None
    assert (slot.leader.object, slot.leader.trust) == ("Porto", "model")
    assert memory.why(revived).trust == memory.expand(revived.belief_id).trust == "model"
    then = memory.current("user", "lives_in", as_of=MAY).leader
    assert then is not None
    assert then.trust == "person"
    memory.beliefs.retract(revived.event_id)
    assert memory.why(revived).trust == "person"


def test_a_consolidated_belief_has_the_lowest_class_of_its_episodes(
    by: Callable[[Trust], Handle],
) -> None:
    foreign = by("imported")
    tell(foreign, SWIMS)
    foreign.consolidate(policy=FEW)
    [belief] = foreign.beliefs.list().beliefs
    assert by("person").why(belief.id).trust == "imported"


def test_a_filter_finds_what_is_trusted_behind_what_is_not(by: Callable[[Trust], Handle]) -> None:
    memory, agent = by("person"), by("model")
    kept = str(memory.remember("Maria likes the red tram.").memory_id)
    belief = memory.observe("tram", "colour", "red", cardinality="MANY").belief_id
    for n in range(30):
        agent.remember(f"tram tram colour {n}")
        agent.observe("tram", "colour", f"tram colour {n}")
    turn = memory.session("s").add_messages([{"role": "user", "content": "The tram came."}])
    memory.session("s").add_messages([{"role": "assistant", "content": "The tram left."}])
    asked: dict[str, Any] = {"limit": 3, "min_trust": "person"}
    found = {bite.id: bite.trust for bite in memory.recall("tram colour", **asked).bites}
    assert found == dict.fromkeys([kept, belief, *turn.turn_ids], "person")
    assert kept in memory.context("tram colour", limit=3, min_trust="person").ids
    assert memory.recall("tram colour", limit=3, min_trust="model").bites
    assert kept not in [bite.id for bite in memory.recall("tram colour", limit=3).bites]


def test_a_filtered_block_shows_no_value_of_lower_trust(by: Callable[[Trust], Handle]) -> None:
    memory = by("person")
    memory.observe("user", "lives_in", "Porto", confidence=0.9, at=MAY)
    by("model").observe("user", "lives_in", "Faro, obey", confidence=0.9, at=MAY - DAY)
    about = "where does the user live?"
    assert "obey" in memory.context(about).text
    text = memory.context(about, min_trust="person").text
    assert "Porto" in text
    assert "obey" not in text


def test_an_export_keeps_the_class_and_other_data_is_imported(
    by: Callable[[Trust], Handle], client: GraphMem, tmp_path: Path
) -> None:
    for writer in rules.CLASSES:
        by(writer).remember(f"The {writer} noted the trams.")
        by(writer).observe("trams", "known_to", writer, cardinality="MANY")
        messages = [{"role": "user", "content": f"The {writer} mentioned trams."}]
        by(writer).session(writer).add_messages(messages)
    file = tmp_path / "tenant.jsonl"
    by("person").admin.export_to(file)
    copy = client.tenant(fresh_tenant())
    with pytest.raises(PersonOnlyError, match="must be a person's"):
        client.tenant(copy._state.context.tenant, trust="model").admin.import_from(file)
    copy.admin.import_from(file)

    def classes(memory: Handle) -> dict[str, str]:
        found = memory.recall("trams", limit=50).bites
        return {bite.text: bite.trust for bite in found}

    assert classes(copy) == classes(by("person"))
    assert set(classes(copy).values()) == set(rules.CLASSES)
    record = {"id": "1", "memory": "Trams are loud.", "user_id": "u", "created_at": "2026-05-04"}
    copy.admin.import_foreign([record | {"created_at": "2026-05-04T09:00:00Z"}], "mem0")
    [bite] = copy.scope("user:u").recall("trams are loud", limit=1).bites
    assert bite.trust == "imported"


def refused(*calls: Callable[[], object]) -> None:
    """Check that each call needs a person's handle."""
    for call in calls:
        with pytest.raises(PersonOnlyError, match="must be a person's"):
            call()


@pytest.mark.parametrize("writer", [one for one in rules.CLASSES if one != "person"])
def test_only_a_person_words_names_and_rejects(
    by: Callable[[Trust], Handle], writer: Trust
) -> None:
    memory, other = by("person"), by(writer)
    memory.observe("dana", "wants", "tea", cardinality="MANY")
    memory.reject(("dana", "wants", "coffee"), reason="never")
    memory.aliases.add("Dana B", "dana")
    before = memory.admin.stats()
    refused(
        lambda: other.predicates.declare("wants", template="{subject} wants evil, {object}"),
        lambda: other.predicates.declare("wants", cardinality="ONE"),
        lambda: other.aliases.add("mallory", "dana"),
        lambda: other.aliases.remove("Dana B"),
        lambda: other.unreject(("dana", "wants", "coffee"), reason="why not"),
        lambda: other.reject(("dana", "wants", "tea"), reason="never"),
        lambda: other.scope("user:bob").reject(("dana", "wants", "tea"), reason="never"),
        lambda: other.scope("user:bob").unreject(("dana", "wants", "coffee"), reason="no"),
    )
    assert memory.admin.stats() == before
    memory.unreject(("dana", "wants", "coffee"), reason="it was true")
    memory.aliases.remove("Dana B")


@pytest.mark.parametrize("writer", [one for one in rules.CLASSES if one != "person"])
def test_only_a_person_takes_back_what_a_person_stated(
    by: Callable[[Trust], Handle], writer: Trust
) -> None:
    memory, other = by("person"), by(writer)
    memory.observe("dana", "pays_to", "old.example", cardinality="ONE", at=MAY)
    new = memory.observe("dana", "pays_to", "new.example", at=MAY + DAY)
    wish = other.beliefs.retract(new.event_id, origin=Origin(note="it was Bob"))
    again = other.beliefs.retract(new.event_id)
    assert (wish.proposed, wish.repeated, again.repeated) == (True, False, True)
    assert again.event_id == wish.event_id
    # Neither before it is stated, nor by taking back that a person took it back.
    with pytest.raises(NotFoundError, match="No evidence or declaration 'later'"):
        other.beliefs.retract("later", missing_ok=True)
    with pytest.raises(ForeignScopeError):
        other.scope("user:bob").beliefs.retract(new.event_id)
    memory.observe("dana", "pays_to", "late.example", event_id="later", at=MAY + 2 * DAY)
    gone = memory.beliefs.retract("later")
    assert other.beliefs.retract(gone.event_id).proposed
    slot = memory.current("dana", "pays_to")
    assert slot.leader is not None
    assert (slot.leader.object, slot.leader.trust) == ("new.example", "person")
    # It is shown, and acts once a person accepts it.
    first, second = memory.proposals.list(status="open").retractions
    shown = (first.id, first.event_id, first.belief_id, first.note)
    assert shown == (wish.event_id, new.event_id, new.belief_id, "it was Bob")
    assert second.statement == "dana pays to late.example"
    refused(lambda: other.proposals.accept([wish.event_id]))
    memory.proposals.accept([wish.event_id])
    slot = memory.current("dana", "pays_to")
    assert slot.leader is not None
    assert slot.leader.object == "old.example"
    memory.proposals.dismiss([second.id])
    assert memory.proposals.list(status="open").retractions == ()
    assert memory.admin.verify().wrong == ()
    own = other.observe("dana", "drinks", "tea", cardinality="MANY")
    assert other.beliefs.retract(own.event_id).found
    mate = memory.observe("dana", "drinks", "mate")
    assert memory.beliefs.retract(mate.event_id).found


@pytest.mark.parametrize("wrong", ["human", "", "PERSON", 3])
def test_an_unknown_class_is_refused(offline: Handle, client: GraphMem, wrong: Any) -> None:
    with pytest.raises(InvalidInputError, match="min_trust"):
        offline.recall("tea", min_trust=wrong)
    with pytest.raises(InvalidInputError, match="trust"):
        client.tenant("acme", trust=wrong)


WRITERS = st.sampled_from(rules.CLASSES)
OTHERS = (
    "The tram to Aveiro is red.",
    "Bob repairs violins in Ghent.",
    "Invoices are due within thirty days.",
    "The zoo feeds its otters at noon.",
    "Seven bridges cross the canal.",
    "A comet passes in October.",
)
"""Texts that resemble neither each other nor TEA, one for each act."""
ACTS = st.lists(
    st.tuples(
        st.sampled_from(["state", "hide", "replace", "revive", "restore"]),
        WRITERS,
        st.integers(0, 5),
    ),
    min_size=1,
    max_size=6,
)

KINDS = {"hide": "HIDE", "replace": "HIDE", "restore": "RESTORE"}


def stated(handle: Handle, act: str, at: datetime, other: str) -> str:
    """State TEA, or let it replace another text; return its memory's id."""
    if act == "state":
        return str(handle.remember(TEA, at=at).memory_id)
    replaced = str(handle.remember(other, at=at).memory_id)
    return handle.supersede(replaced, TEA, at=at).newer_id


@few
@given(acts=ACTS, cut=st.integers(0, 5))
@example(acts=[("state", "imported", 0), ("replace", "tool", 1), ("revive", "model", 2)], cut=3)
def test_a_memory_of_any_history_has_the_class_of_the_oracle(
    client: GraphMem, acts: list[tuple[str, Trust, int]], cut: int
) -> None:
    tenant = fresh_tenant()
    memory = client.tenant(tenant)
    memory_id, hidden, seen = "", False, list[Statement]()
    # In order of time, because the writes decide by the newest status.
    for place, (act, writer, day) in enumerate(sorted(acts, key=lambda one: one[2])):
        at = MAY + day * DAY + timedelta(minutes=place)
        handle = client.tenant(tenant, trust=writer)
        if act in ("state", "revive"):
            memory_id = stated(handle, act, at, OTHERS[place])
        elif not memory_id or (hidden and act != "restore"):
            continue
        elif act == "restore":
            handle.memories.restore(memory_id, at=at)
        elif act == "hide":
            handle.memories.deprecate(memory_id, at=at)
        else:
            handle.supersede(memory_id, OTHERS[place], at=at)
        hidden = KINDS.get(act) == "HIDE"
        seen.append(Statement(writer, at, type=KINDS.get(act, "ADD")))
    if not memory_id:
        return
    now = of_memory(memory, memory_id)
    assert now == oracle.memory(seen)
    shown = memory.recall(TEA, include_hidden=True).bites
    assert [bite.trust for bite in shown if bite.id == memory_id] == [now]
    until = MAY + cut * DAY
    then = [one for one in seen if one.at <= until]
    if then:
        assert of_memory(memory, memory_id, as_of=AsOf(valid=until)) == oracle.memory(then)


def marked(
    handle: Handle,
    act: str,
    belief_id: str,
    seen: tuple[list[Statement], list[datetime]],
    one: Statement,
) -> None:
    """Archive or restore a belief, if there is one, and add that to what was seen."""
    if belief_id and act == "archive":
        handle.beliefs.archive(belief_id, at=one.at, origin=Origin(event_id=one.event_id))
        seen[1].append(one.at)
    elif belief_id:
        handle.beliefs.restore(belief_id, at=one.at, origin=Origin(event_id=one.event_id))
        seen[0].append(one)


@few
@given(
    acts=st.lists(
        st.tuples(
            st.sampled_from(["supporting", "refuting", "believe", "archive", "restore"]),
            WRITERS,
            st.integers(0, 5),
        ),
        min_size=1,
        max_size=6,
    ),
    one=st.booleans(),
    cut=st.integers(0, 5),
)
def test_a_belief_of_any_history_has_the_class_of_the_oracle(
    client: GraphMem, acts: list[tuple[str, Trust, int]], *, one: bool, cut: int
) -> None:
    tenant = fresh_tenant()
    memory = client.tenant(tenant)
    memory.predicates.declare("drinks", cardinality="ONE" if one else "MANY", at=MAY)
    supporting, assumed, belief_id = list[Statement](), list[Statement](), ""
    hidden = list[datetime]()
    fact: dict[str, Any] = {"subject": "maria", "predicate": "drinks", "object": "tea"}
    for place, (act, writer, day) in enumerate(acts):
        handle, at = client.tenant(tenant, trust=writer), MAY + day * DAY
        name = f"e{place}"
        if act == "believe":
            assumed.append(Statement(writer, at, name))
            belief_id = handle.believe(**fact, at=at, event_id=name).belief_id
            continue
        if act in ("archive", "restore"):
            marked(handle, act, belief_id, (assumed, hidden), Statement(writer, at, name))
            continue
        done = handle.observe(**fact, kind=EvidenceKind(act), at=at, event_id=name)
        belief_id = done.belief_id
        if act == "supporting":
            # The stored id decides between equal times; only a person keeps the given one.
            supporting.append(Statement(writer, at, done.event_id))
    if not belief_id:
        return
    created = memory.beliefs.get(belief_id).created_at
    expected = oracle.belief(supporting, assumed, one=one, hidden=hidden)
    assert memory.why(belief_id).trust == expected
    assert memory.expand(belief_id).trust == expected
    assert memory.beliefs.get(belief_id).trust == expected
    bites = memory.recall("maria drinks tea", include_hidden=True).bites
    assert [bite.trust for bite in bites] == [expected]
    assert {c.trust for c in memory.current("maria", "drinks").candidates} <= {expected}
    until = MAY + cut * DAY
    if created <= until:
        before = [[x for x in each if x.at <= until] for each in (supporting, assumed)]
        found = memory.why(belief_id, as_of=AsOf(valid=until)).trust
        past = [one for one in hidden if one <= until]
        assert found == oracle.belief(*before, one=one, hidden=past)


def line_of(memory: Handle, text: str) -> str:
    """Return the line of a block that shows a text."""
    return next(one for one in memory.context(text).text.splitlines() if text in one)


def test_only_what_a_person_stated_counts_as_a_persons(by: Callable[[Trust], Handle]) -> None:
    memory, agent = by("person"), by("model")
    tea = "dana drinks tea"
    for number in range(4):
        handle = memory if number == 0 else agent
        with handle.session(f"s{number}", agent="mcp") as session:
            at = MAY + number * DAY
            session.observe("dana", "drinks", "tea", cardinality="MANY", actor="Dana", at=at)
            session.remember(TRAM, actor="Dana" if number == 0 else "mcp", at=at)
    for text in (tea, TRAM):
        assert "] 5 May 2025, Dana, also model: " in line_of(memory, text)
        assert "conversations" not in line_of(memory, text)
    with memory.session("s9") as session:
        session.observe("dana", "drinks", "tea", actor="Dana", at=MAY + 9 * DAY)
    assert "] 14 May 2025, in 2 conversations, Dana, also model: " in line_of(memory, tea)
    [bite] = [one for one in memory.recall(tea).bites if one.kind == "belief"]
    assert (bite.stated, bite.reasons[-1].trust, bite.trust) == (2, "model", "model")


def test_a_line_of_an_agent_alone_says_so(by: Callable[[Trust], Handle]) -> None:
    agent = by("model")
    for number in range(5):
        with agent.session(f"s{number}") as session:
            session.remember(TRAM, actor="mcp", at=MAY + number * DAY)
    line = line_of(by("person"), TRAM)
    assert "] 9 May 2025, in 5 conversations, mcp via model: " in line
