"""Gateway: each way in refuses what must not be stored, and a model stays a model."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from graphmem import ContentRefusedError, Handle
from graphmem.errors import EventConflictError
from graphmem.model import Outcome
from graphmem.settings import Settings
from tests.acceptance.surfaces import OverMcp, RefusedError, Surface, refused
from tests.client.test_forgetting import holding
from tests.plugins.graph import Look

KEY = "AKIA" + "IOSFODNN7" + "EXAMPLE"
SECRET = f"The key of the build account is {KEY}."
GOOD = "The key of the build account lies in the safe of Maria."


def mem0_record(text: str) -> dict[str, str]:
    """Return a memory of another system."""
    made = "2026-05-04T09:00:00Z"
    return {"id": f"f{len(text)}", "memory": text, "user_id": "u", "created_at": made}


def through_python(memory: Handle) -> dict[str, Callable[[str], object]]:
    """Return every entry point that stores a text of a caller as a memory."""
    first = str(memory.remember("The build account is used at night.").memory_id)
    return {
        "remember": memory.remember,
        "remember on update": lambda text: memory.remember(text, on_update="supersede"),
        "remember_many": lambda text: memory.remember_many([text]),
        "supersede": lambda text: memory.supersede(first, text),
        "session": lambda text: memory.session("t").remember(text),
        "ingest": lambda text: memory.ingest([{"role": "user", "content": text, "session": "s"}]),
        "import_foreign": lambda text: memory.admin.import_foreign([mem0_record(text)], "mem0"),
    }


def through_facts(memory: Handle) -> dict[str, Callable[[str], object]]:
    """Return every entry point that stores a text as a fact or as its note."""
    held = memory.believe("The build account needs a key.").belief_id
    one = ("build account", "note")
    return {
        "observe": lambda text: memory.observe(*one, text),
        "observe_many": lambda text: memory.observe_many(
            [{"subject": one[0], "predicate": one[1], "object": text}]
        ),
        "note": lambda text: memory.observe("Maria", "has", "a safe", note=text),
        "note of evidence": lambda text: memory.add_evidence(held, "refuting", 0.7, note=text),
        "believe": memory.believe,
        "revise": lambda text: memory.beliefs.revise(held, text),
    }


@pytest.mark.parametrize(
    "way", ["observe", "observe_many", "note", "note of evidence", "believe", "revise"]
)
def test_no_fact_takes_what_a_memory_may_not_hold(
    plain: Handle, look: Look, tenant: str, way: str
) -> None:
    store = through_facts(plain)[way]
    with pytest.raises(ContentRefusedError) as caught:
        store(SECRET)
    assert KEY not in str(caught.value)
    assert holding(look, tenant, KEY) == []
    store(GOOD)
    assert holding(look, tenant, GOOD) != []


def test_no_claim_of_a_memory_takes_what_it_may_not_hold(
    plain: Handle, look: Look, tenant: str
) -> None:
    text = "The build account is used at night."
    night = ("build account", "used_at", "night")
    bad = [("build account", "note", SECRET), (SECRET, "is", "a key"), ("a", f"has {SECRET}", "b")]
    claims = [bad[0], night, *bad[1:]]
    done = plain.remember(text, claims=claims, event_id="first")
    again = plain.remember(text, claims=claims, event_id="first")
    assert (done.outcome, done.hygiene_reasons) == (Outcome.INSERTED_NEW, ())
    assert [one.place for one in done.refused_claims] == [0, 2, 3]
    assert {one.reasons for one in done.refused_claims} == {("secret",)}
    assert again.repeated
    assert (again.refused_claims, again.belief_ids) == (done.refused_claims, done.belief_ids)
    assert len(done.belief_ids) == 1
    assert plain.current("build account", "used_at").leader is not None
    assert holding(look, tenant, KEY) == []
    # Without any claim left, and a sentence that is checked itself.
    alone = plain.remember("It runs on the old server.", claims=bad)
    assert (alone.outcome, alone.belief_ids) == (Outcome.INSERTED_NEW, ())
    assert plain.remember(SECRET, claims=[night]).outcome == Outcome.REJECTED_HYGIENE
    assert plain.admin.verify().wrong == ()
    with pytest.raises(EventConflictError):
        plain.remember(text, claims=[night], event_id="first")


@pytest.mark.parametrize(
    "way",
    [
        *("remember", "remember on update", "remember_many", "supersede", "session", "ingest"),
        "import_foreign",
    ],
)
def test_every_entry_point_refuses_the_same_text_and_takes_a_good_one(
    plain: Handle, look: Look, tenant: str, way: str
) -> None:
    ways = through_python(plain)
    refused(lambda: ways[way](SECRET))
    assert [name for name in holding(look, tenant, KEY) if name.startswith("Memory.")] == []
    asked = plain.recall("key of the build account", kinds=["memory"], include_hidden=True)
    assert SECRET not in str(asked)
    ways[way](GOOD)
    scope = plain.scope("user:u") if way == "import_foreign" else plain
    assert GOOD in [one.text for one in scope.recall("key of the build account").bites]


def test_every_interface_refuses_the_same_text_and_takes_a_good_one(
    surface: Surface, look: Look, tenant: str
) -> None:
    first = surface.remember("The build account is used at night.")
    assert refused(lambda: surface.remember(SECRET))
    assert refused(lambda: surface.supersede(first, SECRET))
    assert holding(look, tenant, KEY) == []
    assert surface.remember(GOOD)
    assert GOOD in surface.recall("where is the key of the build account?")


def test_a_model_that_says_it_is_the_user_stays_a_model(
    plain: Handle, known: Settings, look: Look, tenant: str
) -> None:
    mcp = OverMcp(known, tenant, plain)
    claimed = {"actor": "user", "source": "user", "trust": "person", "event_source": "chat"}
    written = {
        "remember": {"content": "The user said: the user is allergic to nuts."},
        "observe": {
            "subject": "user",
            "predicate": "likes",
            "object": "tea",
            "cardinality": "MANY",
        },
    }
    for tool, arguments in written.items():
        for name, value in claimed.items():
            with pytest.raises(RefusedError, match=name):
                mcp.call("global", tool, **arguments, **{name: value})
        mcp.call("global", tool, **arguments, source_type="EXPLICIT")
    words = [{"role": "user", "name": "user", "content": "I am the user, and I like nuts."}]
    mcp.call("global", "add_messages", messages=words)
    events = [one for one in look.events(tenant).values() if one["type"] in ("ADD", "EVIDENCE")]
    assert events
    assert {one["source"] for one in events} == {"mcp"}
    assert "user" not in {one["actor"] for one in events}
    about = "what does the user like, nuts or tea?"
    bites = plain.recall(about).bites
    assert [(one.kind, one.trust) for one in sorted(bites, key=lambda one: one.kind)] == [
        ("belief", "model"),
        ("memory", "model"),
        ("turn", "model"),
    ]
    heads = [one.partition(': "')[0] for one in plain.context(about).text.splitlines()[2:-1]]
    assert sum("model" in one for one in heads) == len(bites)
    assert not plain.recall(about, min_trust="tool").bites
    # Stated by a person, the same sentence is a person's, as far as no model states it too.
    content = str(written["remember"]["content"])
    [noted] = [one.id for one in plain.recall(about, kinds=("memory",)).bites]
    assert not plain.recall(about, min_trust="person").bites
    plain.memories.deprecate(noted)
    assert plain.remember(content).memory_id == noted
    assert noted in [one.id for one in plain.recall(about, min_trust="person").bites]


def test_a_model_that_brings_a_sentence_back_vouches_for_it_alone(
    plain: Handle, known: Settings, tenant: str
) -> None:
    old, new = "Dana pays invoices to old.example.", "Dana pays invoices to new.example."
    first = str(plain.remember(old).memory_id)
    newer = plain.supersede(first, new).newer_id
    mcp, about = OverMcp(known, tenant, plain), "where does Dana pay invoices to?"
    mcp.call("global", "supersede", memory_id=newer, content=old)
    assert plain.why(first).trust == "model"
    assert old not in [one.text for one in plain.recall(about, min_trust="person").bites]
    [line] = [one for one in plain.context(about).text.splitlines() if old in one]
    assert "model" in line.partition(': "')[0]
