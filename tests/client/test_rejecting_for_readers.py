"""A rejection holds for its readers, in every form of a sentence, and no import lifts it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from graphmem import AsOf, Handle, Outcome, Status
from graphmem.model import Belief, Memory, Origin
from tests.plugins.clients import on_tenant
from tests.plugins.graph import Look, fresh_tenant

MAY = datetime(2025, 5, 5, 9, tzinfo=UTC)
HOUR = timedelta(hours=1)
LISBON = ("alice", "lives_in", "Lisbon")
TEXT = "Alice lives in Lisbon"
REASON = "She never lived there"


def values(memory: Handle, as_of: AsOf | None = None) -> list[str]:
    """Return the objects of the slot, best first."""
    return [one.object for one in memory.current("alice", "lives_in", as_of=as_of).candidates]


def shown(memory: Handle) -> set[str]:
    """Return every text that a reader is shown."""
    found = {bite.text for bite in memory.recall("Where does Alice live? Lisbon", limit=50).bites}
    found |= {one.content for one in memory.memories.list(limit=1_000).memories}
    found |= {one.statement for one in memory.beliefs.list(limit=1_000).beliefs}
    found |= {
        f"{slot.subject} {slot.predicate} {one.object}"
        for slot in memory.beliefs.slots(top=10).slots
        for one in slot.candidates
    }
    prompt = memory.context("Where does Alice live? Lisbon").text
    return found | ({prompt} if "Lisbon" in prompt else set())


@pytest.mark.parametrize("first", ["stated", "rejected"])
def test_a_reader_rejects_what_another_scope_states(memory: Handle, first: str) -> None:
    ann, bob = memory.scope("user:ann"), memory.scope("user:bob")

    def state() -> None:
        memory.observe(*LISBON, at=MAY)
        memory.remember(f"{TEXT} by the sea", at=MAY)

    if first == "stated":
        state()
    ann.reject(LISBON, reason=REASON)
    ann.reject(str(ann.remember(f"{TEXT} by the sea").memory_id), reason=REASON)
    if first == "rejected":
        state()
    assert (values(ann), values(bob), values(memory)) == ([], ["Lisbon"], ["Lisbon"])
    assert not [text for text in shown(ann) if "Lisbon" in text]
    assert f"{TEXT} by the sea" in shown(bob) & shown(memory)
    assert ann.observe(*LISBON).rejection is not None
    assert bob.observe(*LISBON).rejection is None
    assert ann.remember(f"{TEXT} by the sea").outcome is Outcome.REJECTED
    assert bob.remember(f"{TEXT} by the sea").outcome is Outcome.EXACT_DUPE
    assert memory.admin.verify().wrong == () == memory.admin.rebuild().wrong
    ann.unreject(LISBON, reason="She does")
    assert values(ann) == ["Lisbon"]


def test_a_reader_rejects_an_item_of_another_scope(memory: Handle) -> None:
    seen, kept = memory.observe(*LISBON), str(memory.remember(f"{TEXT} by the sea").memory_id)
    ann, bob = memory.scope("user:ann"), memory.scope("user:bob")
    for one in (seen.belief_id, kept):
        done = ann.reject(one, reason=REASON)
        assert (done.rejected, done.changed) == (True, True)
        assert (*done.memory_ids, *done.belief_ids) == (one,)
        why = ann.why(one).rejection
        assert why is not None
        assert why.reason == REASON
        assert bob.why(one).rejection is None
        assert ann.history(one)[-1].type == "REJECT"
        for other in (bob, memory):
            assert "REJECT" not in [event.type for event in other.history(one)]
    statuses = {
        who: (who.beliefs.get(seen).status, who.memories.get(kept).status) for who in (ann, bob)
    }
    assert statuses == {ann: ("rejected", Status.REJECTED), bob: ("current", Status.CURRENT)}
    assert [one.id for one in ann.memories.list(statuses=[Status.REJECTED]).memories] == [kept]
    assert ann.recall("by the sea", kinds=("memory",)).hidden == {"rejected": 1}
    assert ann.unreject(kept, reason="It was true").memory_ids == (kept,)
    assert ann.memories.get(kept).status is Status.CURRENT


def test_a_reader_takes_back_what_was_rejected_for_all(memory: Handle) -> None:
    seen, kept = memory.observe(*LISBON), str(memory.remember(f"{TEXT} by the sea").memory_id)
    ann, bob = memory.scope("user:ann"), memory.scope("user:bob")
    for one in (seen.belief_id, kept):
        memory.reject(one, reason=REASON)
        ann.unreject(one, reason="It is so")
    assert (values(ann), values(bob), values(memory)) == (["Lisbon"], [], [])
    assert f"{TEXT} by the sea" in shown(ann)
    for other in (bob, memory):
        assert not [text for text in shown(other) if "Lisbon" in text]
    assert memory.admin.verify().wrong == ()


def test_a_handle_reads_by_the_rulings_of_all_its_scopes(memory: Handle) -> None:
    memory.observe(*LISBON)
    team = memory.scope("team")
    team.reject(LISBON, reason=REASON)
    for scopes, found in ((["global"], ["Lisbon"]), (["global", "team"], [])):
        assert values(memory.scope("user:ann", read_scopes=[*scopes, "user:ann"])) == found


def test_a_private_rejection_counts_from_its_own_time(memory: Handle) -> None:
    seen = memory.observe(*LISBON, at=MAY)
    kept = str(memory.remember(f"{TEXT} by the sea", at=MAY).memory_id)
    ann = memory.scope("user:ann")
    for one in (seen.belief_id, kept):
        ann.reject(one, reason=REASON, at=MAY + 2 * HOUR)
    for at, found, status in (
        (MAY + HOUR, ["Lisbon"], "current"),
        (MAY + 2 * HOUR, [], "rejected"),
    ):
        then = AsOf(valid=at)
        assert values(ann, then) == found
        assert ann.beliefs.get(seen, as_of=then).status == status
        assert ann.memories.get(kept, as_of=then).status == status
        texts = {bite.text for bite in ann.recall("by the sea Lisbon", as_of=then).bites}
        assert (f"{TEXT} by the sea" in texts) is (status == "current")


def test_a_forgotten_scope_leaves_no_ruling(memory: Handle, look: Look, tenant: str) -> None:
    kept = str(memory.remember(f"{TEXT} by the sea").memory_id)
    ann = memory.scope("user:ann")
    memory.reject(kept, reason=REASON)
    ann.unreject(kept, reason="It is so")
    ann.reject(LISBON, reason=REASON)
    memory.observe(*LISBON)
    assert ann.forget("scope", "user:ann", dry_run=False).left == 0
    found = look.rows(
        "MATCH (n {tenant: $tenant}) WHERE NOT n:Tombstone RETURN properties(n) AS has",
        tenant=tenant,
    )
    assert "user:ann" not in repr(found)
    assert memory.memories.get(kept).status is Status.REJECTED
    assert memory.admin.verify().wrong == ()


def as_memory(memory: Handle) -> str:
    return memory.remember(TEXT).memory_id or ""


def as_triple(memory: Handle) -> str:
    return memory.observe(*LISBON).belief_id


def as_statement(memory: Handle) -> str:
    return memory.believe(TEXT).belief_id


def as_worded_triple(memory: Handle) -> str:
    return memory.believe(TEXT, subject="alice", predicate="has_home_in", object="Lisbon").belief_id


FORMS = [as_memory, as_triple, as_statement, as_worded_triple]


@pytest.mark.parametrize(("form", "again"), [*zip(FORMS, FORMS[1:] + FORMS[:1], strict=True)])
@pytest.mark.parametrize("first", ["rejected", "stated"])
def test_a_sentence_is_rejected_in_every_form(
    plain: Handle, form: Callable[[Handle], str], again: Callable[[Handle], str], first: str
) -> None:
    item = form(plain)
    other = again(plain) if first == "stated" else ""
    plain.reject(item, reason=REASON)
    other = again(plain) or other
    assert shown(plain) == set()
    if other:
        assert status(plain, other) == "rejected"
        plain.unreject(other, reason="It is so")
        assert (status(plain, other), status(plain, item)) == ("current", "current")
    assert plain.admin.verify().wrong == ()


def status(memory: Handle, item: str) -> str:
    """Return the status of a memory or a belief."""
    one: Belief | Memory
    one = memory.beliefs.get(item) if item.startswith("b_") else memory.memories.get(item)
    return str(one.status)


def test_a_message_that_states_only_what_is_rejected_is_left_out(memory: Handle) -> None:
    ann, bob = memory.scope("user:ann"), memory.scope("user:bob")
    said = ("Alice LIVES in L\u0456sbon.", f"{TEXT}! {TEXT}", f"{TEXT}. The tram is red.")
    for number, text in enumerate(said):
        with memory.session(f"s{number}") as session:
            session.add_messages([{"role": "user", "content": text}])

    def turns(reader: Handle, **options: Any) -> set[str]:
        found = reader.recall("Where does Alice live? Lisbon", limit=50, **options)
        return {bite.text for bite in found.bites if bite.kind != "belief"}

    before = datetime.now(UTC)
    assert set(said) <= turns(ann, include_hidden=True)
    ann.reject(LISBON, reason=REASON)
    # Of what is stated besides, nothing is lost.
    assert turns(ann) == {said[2]}
    assert turns(bob) > {said[2]}
    assert set(said) <= turns(ann, include_hidden=True)
    assert turns(ann, as_of=AsOf(known=before)) > {said[2]}
    assert said[0] not in ann.context("Where does Alice live? Lisbon").text
    with memory.session("s2") as session:
        memory.forget("episode", session.episode_id, dry_run=False)
    found = ann.recall("Where does Alice live? Lisbon")
    assert (found.bites, "hidden: rejected" in (found.reason or "")) == ((), True)
    ann.unreject(LISBON, reason="She moved")
    assert turns(ann)


def test_a_message_whose_fact_is_rejected_is_left_out(memory: Handle) -> None:
    with memory.session("s") as session:
        session.add_messages([{"role": "user", "content": "I live in Lisbon."}])
    with memory.session("t") as session:
        text = "I work at Acme. My dog is ill."
        session.add_messages([{"role": "user", "content": text}])
    for belief in memory.beliefs.list().beliefs:
        memory.reject(belief.id, reason=REASON)
    found = memory.recall("Where do I live?", min_score=-1)
    assert {bite.text for bite in found.bites} <= {text}
    [bite] = memory.recall("What about my dog and Acme?", min_score=-1, kinds=("turn",)).bites
    assert bite.text == text


def test_a_template_words_the_sentence(plain: Handle) -> None:
    plain.predicates.declare("lives_in", template="{subject} has a home in {object}")
    said = "Alice has a home in Lisbon"
    plain.reject(LISBON, reason=REASON)
    for text in (said, TEXT):
        assert plain.remember(text).outcome is Outcome.REJECTED
        assert plain.believe(text).rejection is not None
    # What was decided about the value is taken back as a whole.
    plain.unreject(plain.believe(said), reason="It is so")
    assert values(plain) == []
    assert plain.observe(*LISBON).rejection is None
    assert plain.remember(TEXT).memory_id
    assert plain.remember(said).memory_id


def test_a_rejected_sentence_is_rejected_as_a_template_words_it(plain: Handle) -> None:
    said = "Alice has a home in Lisbon"
    plain.reject(str(plain.remember(said).memory_id), reason=REASON)
    assert plain.observe(*LISBON).rejection is None
    plain.predicates.declare("works_in", template="{subject} has a home in {object}")
    assert plain.observe("alice", "works_in", "Lisbon").rejection is not None


def test_another_wording_is_another_sentence(plain: Handle) -> None:
    triple: dict[str, Any] = {"subject": "alice", "predicate": "lives_in", "object": "Lisbon"}
    seen = plain.believe("Alice has a flat in Lisbon", **triple, at=MAY).belief_id
    plain.reject(str(plain.remember("Alice has a flat in Lisbon").memory_id), reason=REASON)
    assert status(plain, seen) == "rejected"
    # The earliest statement words a belief: now it is the sentence of its parts.
    plain.observe(*LISBON, at=MAY - HOUR)
    assert (status(plain, seen), values(plain)) == ("current", ["Lisbon"])
    plain.believe("Alice has a flat in Lisbon", **triple, at=MAY - 2 * HOUR)
    assert (status(plain, seen), values(plain)) == ("rejected", [])
    plain.remember("Alice bought furniture", claims=[LISBON], at=MAY - 3 * HOUR)
    assert (status(plain, seen), values(plain)) == ("current", ["Lisbon"])
    assert plain.admin.verify().wrong == ()


@pytest.mark.parametrize("predicate", ["livesIn", "lives.in", "lives in:", "lives\u200bin"])
def test_another_spelling_of_a_predicate_is_the_same(plain: Handle, predicate: str) -> None:
    plain.reject(LISBON, reason=REASON)
    assert plain.observe("alice", predicate, "Lisbon").rejection is not None
    assert plain.current("alice", predicate).candidates == ()
    assert plain.remember("Alice\u200blives\u200bin\u200bLisbon").outcome is Outcome.REJECTED


def exported(memory: Handle, file: Path, *acts: str, at: datetime = MAY) -> Path:
    """Export another tenant that stated the value, with rulings about it."""
    other = on_tenant(memory, fresh_tenant())
    seen, kept = other.observe(*LISBON, at=at), str(other.remember(TEXT + "!", at=at).memory_id)
    for n, act in enumerate(acts, 1):
        for one in (seen.belief_id, kept):
            getattr(other, act)(one, reason="theirs", at=at + n * HOUR)
    other.admin.export_to(file)
    return file


@pytest.mark.parametrize(
    ("acts", "first"), [(["unreject"], "theirs"), (["reject", "unreject"], "ours")]
)
def test_an_import_lifts_no_rejection(
    memory: Handle, look: Look, tenant: str, tmp_path: Path, acts: list[str], first: str
) -> None:
    file = exported(memory, tmp_path / "theirs.jsonl", *acts, at=MAY + 9 * HOUR)
    if first == "theirs":
        assert memory.admin.import_from(file).not_lifted == ()
        assert values(memory) == ["Lisbon"]
    done = memory.reject(LISBON, reason=REASON, at=MAY)
    report = memory.admin.import_from(file)
    assert (values(memory), shown(memory)) == ([], set())
    assert {(one.scope, one.event_id) for one in report.not_lifted} == {("global", done.event_id)}
    assert report.not_lifted[0].item_id is not None
    assert memory.admin.verify().wrong == ()
    look._driver.execute_query(
        "MATCH (r:Rejection {tenant: $tenant}) DETACH DELETE r", tenant=tenant
    )
    assert memory.admin.rebuild().wrong
    assert (values(memory), shown(memory)) == ([], set())
    # The tenant's own person may.
    memory.unreject(LISBON, reason="She does")
    assert values(memory) == ["Lisbon"]
    # What they rejected counts here, too, unless it was taken back since.
    for at, found in ((MAY, ["Lisbon"]), (datetime.now(UTC) - HOUR, [])):
        memory.admin.import_from(exported(memory, tmp_path / f"{at.year}.jsonl", "reject", at=at))
        assert values(memory) == found


def test_another_tenant_takes_back_only_what_it_saw(memory: Handle, tmp_path: Path) -> None:
    theirs = exported(memory, tmp_path / "theirs.jsonl", "reject")
    ours = on_tenant(memory, fresh_tenant())
    ours.admin.import_from(theirs)
    assert values(ours) == []
    third = exported(memory, tmp_path / "third.jsonl", "unreject", at=MAY + 9 * HOUR)
    report = ours.admin.import_from(third)
    assert values(ours) == []
    assert {one.scope for one in report.not_lifted} == {"global"}
    # A tenant that moves takes its decisions along, with what it decided about those of others.
    moved = on_tenant(memory, fresh_tenant())
    ours.admin.export_to(tmp_path / "ours.jsonl")
    moved.admin.import_from(tmp_path / "ours.jsonl")
    assert values(moved) == []
    ours.unreject(LISBON, reason="She does", origin=Origin(actor="ann"))
    assert values(ours) == ["Lisbon"]
    ours.admin.export_to(tmp_path / "later.jsonl")
    after = on_tenant(memory, fresh_tenant())
    after.admin.import_from(tmp_path / "later.jsonl")
    assert values(after) == ["Lisbon"]
    # A rejection that also comes from its own tenant is taken back by this one only.
    assert after.admin.import_from(theirs).not_lifted == ()
    assert values(after) == []
    assert after.admin.verify().wrong == ()
