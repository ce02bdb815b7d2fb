"""Arguments that break a contract: a stable code, the graph not even read, nothing long shown."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from functools import partial
from operator import attrgetter
from typing import Any

import pytest

from graphmem import Handle, Message, NewMemory, Outcome
from graphmem.errors import GraphmemError, InvalidInputError
from graphmem.model import Observation, Origin
from graphmem.validation import valid
from tests.fuzz.test_clients import METHODS, PARAMETERS, SENSIBLE
from tests.plugins.clients import on_tenant
from tests.plugins.graph import Look
from tests.plugins.texts import unlike
from tests.plugins.twins import public

NAN, INFINITE = float("nan"), float("inf")
MEGABYTE = "opensesame " * 95_326
ATLAS = ("alice", "works_on", "Atlas")
NO_SWITCHES = ["no", "", b"", 0, 1, None, [1]]
NO_IDS = [5, b"m_1", ["m_1"], "\ud800", "x" * 10_000]
NO_NAMES = [5, b"x", "", "x" * 10_000, "half \ud800", ["a"], {"a": 1}]
NO_TEXTS = [5, b"x", ["a"], {"a": 1}, True, "half \ud800"]
NO_PARTS = [*NO_NAMES, " \t\n", MEGABYTE, "x" * 1_001]
NO_NOTES = [5, b"x", "half \ud800", MEGABYTE, ["a"]]
NO_COUNTS = [0, -1, True, False, 10**30, 1.5, "10", NAN]
NO_LISTS = [5, 0.5, object, "Memory"]
NO_UNITS = [-0.001, 1.001, NAN, INFINITE, -INFINITE, 1e308, "much", [], {"a": 1}]
NO_MEASURES = [-1, NAN, INFINITE, "much", [], {"a": 1}]
NO_CURSORS = [5, b"x", "x", "", "bm8=", "é", "\ud800", ["a"], {"a": 1}, "a" * 100_000]
FUTURE = datetime(9999, 12, 31, tzinfo=UTC)
NO_INSTANTS = [
    datetime(2025, 1, 1),  # noqa: DTZ001
    datetime.max,  # noqa: DTZ901
    datetime.min.replace(tzinfo=timezone(timedelta(hours=14))),
    *("yesterday", "0000-01-01T00:00:00Z", "10000-01-01T00:00:00Z", "1700000000"),
    *(5, 1_700_000_000_000, 0.5, True, []),
]
NO_TIMES = [
    *(5, 0.5, True, 0, "", "some day", "2025-05-05T00:00:00", "2025-13-05", [], (FUTURE, FUTURE)),
    *({"valid": datetime(2025, 1, 1)}, {"known": 5}, {"valid": "yesterday"}, {"vaild": FUTURE}),  # noqa: DTZ001
]
WRONG: dict[str, list[Any]] = {
    **dict.fromkeys(("belief_id", "episode_id", "item_id", "memory_id", "of", "turn_id"), NO_IDS),
    **dict.fromkeys(("actor", "event_id", "run_id", "session_id", "source", "tool"), NO_NAMES),
    **dict.fromkeys(("name", "object", "other", "predicate", "subject"), NO_PARTS),
    **dict.fromkeys(("note", "reason"), NO_NOTES),
    **dict.fromkeys(("limit", "points", "tokens", "top"), NO_COUNTS),
    "days": [-1, 10**9, 36_501, "x", NAN],
    "at": [*NO_INSTANTS, FUTURE],
    **dict.fromkeys(("since", "until", "valid_from"), NO_INSTANTS),
    "as_of": NO_TIMES,
    "instants": [[], 7, [datetime(2025, 1, 1)]],  # noqa: DTZ001
    "cursor": NO_CURSORS,
    "confidence": [*NO_UNITS, None],
    "importance": NO_UNITS,
    "strength": [NAN, INFINITE, -INFINITE, "strong", None, [], {"a": 1}],
    "min_score": [2.0, -1.5, NAN, "0.5x"],
    "min_trust": ["human", "", "PERSON", 3],
    "kind": ["suporting", "SUPPORTING", "", " supporting", 1, -1, True, None, "for"],
    "cardinality": [1, "one", "TWO", ["ONE"]],
    "combine": ["mean", 1],
    "kappa": [*NO_MEASURES, 1_001],
    "tau_days": [*NO_MEASURES, 0],
    "decay_per_day": NO_MEASURES,
    "margin": [*NO_MEASURES, 1.1],
    "policy": [5, "ONE", "", "Trace", {"nonsense": 1}, {"kappa": -1}],
    "template": ["", "{subject}", "{object}", "{subject} {object} {x}", "x" * 201, 5],
    "artifact_ref": [5, b"x", "\ud800", "x" * 2_001],
    "source_type": [*NO_NAMES, "GOSSIP"],
    "tags": [*NO_LISTS, [""], ["x" * 10_000], ["half \ud800"], [f"t{n}" for n in range(65)]],
    "statuses": [*NO_LISTS, "current", ["gone"], [5], [None]],
    "status": ["perhaps", 5],
    "tier": ["BEST", 5],
    "kinds": [*NO_LISTS, [], ["turns"], ["turn", None], b"turn", {"turn": 1}],
    "scopes": [*NO_LISTS, "global", [""], [5]],
    "roles": [5, {"x": "y"}, {"customer": "person"}],
    "statement": [*NO_TEXTS, "", " ", "x" * 8_001, MEGABYTE],
    "query": [*NO_TEXTS[:-1], None, "", " \t\n\u2003", "x" * 100_001],
    "about": [b"x", None, 5, "", " \n", "x" * 100_001, [], ["hello"], [{"role": "user"}]],
    "content": NO_TEXTS[:-1],
    "claims": [
        *("alice lives in Porto", [("alice", "lives_in")], [("alice", "lives_in", "a", "now")]),
        *([("alice", "lives_in", " ")], [("alice", "lives_in", 7)], [ATLAS] * 65),
        [("alice", "lives_in", "x" * 1_001)],
    ],
    "entities": [5, "Neo4j", [""], [5], ["half \ud800"]],
    "beliefs": [*NO_LISTS, [], ["b_1"], ["b_1", "b_1"], ["b_1", 5], ["b_1", "\ud800"]],
    "statements": [*NO_LISTS, None, [], ["It rains"], ["It rains", " "], ["It rains", MEGABYTE]],
    "proposal_ids": [*NO_LISTS, "prop", [5], [""]],
    "observations": ["supporting", b"x", 5, None, {"kind": "supporting"}, [5], [None]],
    "memories": [5, None, unlike(1), [5]],
    "messages": [5, None, "hello", [5], ["hello"], [{"role": "user"}], [None]],
    "evidence": [5, "x", [5], [{"kind": "for", "strength": 0.7}], [{"kind": "supporting"}]],
    **{key: [5, 0.5, object, [5]] for key in ("without", "item_ids", "blocked_paths", "digests")},
    "results": [5, object, [("file",)], ["m"] * 1_001],
    "target": [5, "b" * 300, ("a", "b"), ("a", "b", ""), ("a", "b", "c" * 2_000)],
    "what": ["event", "", "tenant", 5, None],
    "head": ["", "x" * 64, "ab", 7],
    "ref": [" ", "x" * 2_001, 5],
    **{key: ["", "a\x00b", None, 5, b"bytes"] for key in ("path", "file")},
    "origin": [5, {"event_id": ""}, {"event_id": "x" * 10_000}, {"tags": "a"}, {"nonsense": 1}],
    "scope": NO_NAMES,
}
"""By the name of a parameter, values that no method takes for it."""
OTHERWISE: dict[tuple[str, str], list[Any]] = {
    ("add_evidence", "at"): NO_INSTANTS,
    ("admin.reopen", "at"): NO_INSTANTS,
    ("proposals.accept", "at"): NO_INSTANTS,
    ("proposals.dismiss", "at"): NO_INSTANTS,
    ("admin.erasures", "cursor"): NO_NAMES,
    ("beliefs.timeline", "points"): [*NO_COUNTS, 2, 1_001],
    ("context", "tokens"): [*NO_COUNTS, None, 149, 100_001],
    ("episodes.add", "episode_id"): NO_NAMES,
    ("memories.stale", "days"): [*NO_COUNTS, None, 36_501],
}
"""Of some methods; the graph is read before some refuse an instant of the future."""
NAMED = {
    "about": "about|messages|Message 0",
    "messages": "messages|Message 0",
    "memories": "memories|content",
}
"""How an error names a parameter that has no validator of its own."""


def refused(call: Callable[[], Any], named: str | None = None) -> InvalidInputError:
    """Make a call that must be refused; what a log shows of it must be short and say nothing."""
    with pytest.raises(InvalidInputError, match=named) as caught:
        call()
    error = caught.value
    assert error.code == "invalid_input"
    assert len(str(error)) < 400
    assert "opensesame" not in "".join(traceback.format_exception_only(error)) + str(error)
    return error


@pytest.mark.parametrize("method", METHODS)
def test_what_does_not_fit_is_refused_by_name_before_the_graph_is_asked(
    offline: Handle, method: str
) -> None:
    fits = {of: SENSIBLE[of] for of, must in PARAMETERS[method].items() if must}
    for name, one in inspect.signature(public()[method]).parameters.items():
        wrong = OTHERWISE.get((method, name), WRONG.get(name, []))
        for value in NO_SWITCHES if one.annotation == "bool" else wrong:
            call = partial(attrgetter(method)(offline), **fits | {name: value})
            refused(call, NAMED.get(name, name))


def test_every_kind_of_argument_is_tried() -> None:
    taken = {name for own in PARAMETERS.values() for name in own}
    assert WRONG.keys() <= taken
    switches = {
        name
        for method in METHODS
        for name, one in inspect.signature(public()[method]).parameters.items()
        if one.annotation == "bool"
    }
    left = {"calls", "data", "extractor", "on_update", "summary"}
    assert taken - WRONG.keys() - switches == left, "tested where they are used"


@pytest.mark.parametrize("value", NO_NAMES, ids=lambda v: repr(v)[:20])
@pytest.mark.parametrize(
    "call",
    [
        lambda m, x: m.tenant(x),
        lambda m, x: m.scope(x),
        lambda m, x: m.scope("a", read_scopes=[x]),
        lambda m, x: m.session(x),
        lambda m, x: m.session("s", agent=x),
        lambda m, x: m.remember(unlike(1), tags=[x]),
    ],
)
def test_a_name_is_a_short_string(
    offline: Handle, call: Callable[[Handle, Any], Any], value: Any
) -> None:
    refused(partial(call, offline, value))


def test_scopes_are_a_list_of_names(offline: Handle) -> None:
    wrong: list[Any] = [[], "b", 5, ["a"] * 300]
    for see in wrong:
        refused(partial(offline.scope, "a", read_scopes=see))


@pytest.mark.parametrize("query", ["\x1f\x1c", "\x00"])
def test_a_question_says_something(offline: Handle, query: str) -> None:
    refused(partial(offline.recall, query))


@pytest.mark.parametrize(
    "content",
    [
        "",
        " \t\n",
        "\x00",
        "a\x00b",
        "\x1b[2J gone",
        "half \udfff",
        MEGABYTE,
        "\x1f",
        "\u200b\u200b",
    ],
    ids=lambda text: repr(text)[:12],
)
def test_a_text_that_cannot_be_kept_is_refused_by_name(offline: Handle, content: str) -> None:
    for done in (
        offline.remember(content),
        *offline.remember_many([content, NewMemory(content=content)]),
    ):
        assert done.outcome is Outcome.REJECTED_HYGIENE
        assert done.hygiene_reasons
        assert "opensesame" not in repr(done)


def test_a_message_from_the_future_is_refused_and_not_written(
    plain: Handle, look: Look, tenant: str
) -> None:
    messages = [Message(role="user", content="hi", at=FUTURE)]
    refused(partial(plain.session("s").add_messages, messages))
    refused(partial(plain.ingest, messages))
    assert "Turn" not in look.count(tenant)


def test_a_list_may_come_from_a_generator(memory: Handle, look: Look, tenant: str) -> None:
    made = str(memory.remember("Alice deploys from Borealis").memory_id)
    memory.usage.log_search("where?", tool="grep", results=(one for one in [made]))
    memory.usage.flush()
    assert look.count(tenant)["Event"] == 2


def test_a_list_of_thousands_of_mistakes_is_told_shortly() -> None:
    with pytest.raises(InvalidInputError) as caught:
        valid(NewMemory, content="tea", tags=[5] * 4_000, **{"y" * 9_000: 1})
    assert len(str(caught.value)) < 2_000
    assert "more" in str(caught.value)


def test_what_nobody_can_show_is_refused(offline: Handle) -> None:
    deep: Any = "current"
    for _ in range(3_000):
        deep = [deep]
    with pytest.raises(InvalidInputError):
        offline.memories.list(statuses=deep)


def test_a_refusal_says_what_would_fit(offline: Handle) -> None:
    naive = datetime(2025, 1, 1)  # noqa: DTZ001
    misspelt: Any = {"kind": "suporting"}
    for call, said in (
        (partial(offline.observe, *ATLAS, **misspelt), "'supporting' or 'refuting'"),
        (partial(offline.observe, *ATLAS, confidence=1.5), "less than or equal to 1"),
        (partial(offline.observe, *ATLAS, confidence=NAN), "finite number"),
        (partial(offline.observe, "", "is", "here"), r"^subject: is empty\.$"),
        (partial(offline.observe, "it", "  ", "here"), r"^predicate: is blank\.$"),
        (partial(offline.observe, "it", "is", MEGABYTE), "^object: has more than 1,000 characters"),
        (partial(offline.observe, *ATLAS, at=naive), "time zone"),
        (partial(offline.believe, "It rains", at=FUTURE), "must not be in the future"),
    ):
        refused(call, said)


def test_evidence_from_the_future_is_refused_and_not_written(
    memory: Handle, look: Look, tenant: str
) -> None:
    belief = memory.believe("The pool should have 4 threads")
    refused(partial(memory.add_evidence, belief, "refuting", 0.7, at=FUTURE), "future")
    assert look.count(tenant) == {"Belief": 1, "Event": 1}


@pytest.mark.parametrize(
    "given",
    [
        {"subject": "alice"},
        {"subject": "alice", "predicate": "works_on"},
        {"object": "Atlas"},
        {},
        {"statement": "It rains", "predicate": "is"},
    ],
    ids=str,
)
def test_a_hypothesis_is_whole(offline: Handle, given: dict[str, Any]) -> None:
    said = "together or not at all|a statement, a triple or both"
    refused(partial(offline.believe, **given), said)
    refused(partial(offline.beliefs.revise, "b_1", **given), said)
    if given:
        whole = {"statement": "So", **given}
        refused(partial(offline.beliefs.merge, ["b_1", "b_2"], **whole), said)


@pytest.mark.parametrize("confidence", [0, -0.0, 1, 5e-324])
def test_the_ends_of_the_scale_are_part_of_it(memory: Handle, confidence: float) -> None:
    done = memory.observe(*ATLAS, confidence=confidence)
    for policy in ("MANY", "ONE"):
        memory.predicates.declare("works_on", cardinality=policy)
        [found] = memory.current("alice", "works_on").candidates
        assert 0 <= found.belief < 1
    assert memory.evidence_for(done).lines[0].evidence_confidence == confidence


@pytest.mark.parametrize("size", [1, 600])
@pytest.mark.parametrize("wrong", [{"confidence": 2}, {"subject": ""}], ids=str)
def test_one_wrong_observation_is_named_by_its_place_and_none_is_written(
    offline: Handle, size: int, wrong: dict[str, Any]
) -> None:
    right = {"subject": "a", "predicate": "b", "object": "c"}
    batch: list[Any] = [right] * (size - 1) + [right | wrong]
    error = refused(partial(offline.observe_many, batch))
    assert error.message.startswith(f"observations[{size - 1}]: {next(iter(wrong))}: ")
    records: list[Any] = [5, "a b c", None, ["a", "b", "c"]]
    for odd in records:
        error = refused(partial(offline.observe_many, [right, odd]))
        assert error.message == "observations[1] must be a mapping of fields."
    supposed: list[Any] = [{"kind": "supporting", "strength": 0.7}, 5]
    refused(partial(offline.beliefs.what_if, "b_1", supposed), r"^evidence\[1\] must be a mapping")


def test_a_future_observation_in_a_batch_of_records_writes_nothing(offline: Handle) -> None:
    batch = [
        Observation(subject="a", predicate="b", object=f"o{n}", at=datetime.now(UTC))
        for n in range(600)
    ]
    late = batch[-1].model_copy(update={"at": datetime.now(UTC) + timedelta(days=1)})
    with pytest.raises(InvalidInputError, match="must not be in the future"):
        offline.observe_many([*batch, late])


SYNTAX = [
    "title:alice AND (body:bob OR *:*)",
    '"unbalanced ( quote',
    "a && b || !c ^9 ~2 [1 TO 5] {x} \\",
    '+ - & | ! ( ) { } [ ] ^ " ~ * ? : \\ /',
    "MATCH (n) DETACH DELETE n; // $tenant `x` 'y'",
    "/regex.*/ AND NOT",
    "tenant_key:* OR scope_key:*",
    "AND OR NOT TO",
    "{{ template }} ${tenant} %s \n\r\t",
]


@pytest.mark.parametrize("text", SYNTAX)
def test_syntax_in_a_text_or_a_question_is_only_text(
    memory: Handle, look: Look, tenant: str, text: str
) -> None:
    there = on_tenant(memory, f"{tenant}-other")
    theirs = there.remember(f"alice bob title body unbalanced regex {unlike(1)}")
    content = f"{text} {unlike(2)}"
    with memory.session(text) as session:
        session.add_messages([{"role": "user", "content": content, "name": text}])
    done = memory.remember(content, tags=[text], source=text, event_id=text)

    assert memory.memories.get(str(done.memory_id)).content == content
    assert memory.memories.list(tags=[text], source=text).memories[0].id == done.memory_id
    for question in (text, content):
        found = memory.recall(question, kinds=["memory", "turn"], include_hidden=True)
        assert sorted(bite.kind for bite in found.bites) == ["memory", "turn"]
    assert there.memories.list().memories[0].id == theirs.memory_id
    assert set(look.count(tenant)) == {"Memory", "Event", "Episode", "Turn"}


SYNTAX_OF_EVIDENCE = [
    "'; MATCH (n) DETACH DELETE n; //",
    '"}) DETACH DELETE n //',
    "$tenant `x` {subject} ${id}",
    '+ - & | ! ( ) { } [ ] ^ " ~ * ? : \\ /',
    "\u202enoitcejni",
    "тенант 漢字 🙂",
    "|+-",
]


@pytest.mark.parametrize("text", SYNTAX_OF_EVIDENCE)
def test_syntax_in_evidence_is_only_text(
    memory: Handle, look: Look, tenant: str, text: str
) -> None:
    victim = on_tenant(memory, f"{tenant}-other")
    theirs = victim.observe(*ATLAS)
    memory.predicates.declare(text, cardinality="ONE", origin=Origin(note=text, source=text))
    memory.episodes.add(episode_id=text)
    done = memory.observe(
        text, text, text, event_id=f"e {text}", source=text, actor=text, note=text, episode_id=text
    )
    [found] = memory.current(text, text).candidates
    kept = memory.beliefs.get(done)
    assert (found.belief_id, found.object, kept.subject) == (
        done.belief_id,
        text.strip(),
        text.strip(),
    )
    [line] = memory.evidence_for(done).lines
    assert (line.source, line.actor, line.note, line.episode_id) == (text,) * 4
    assert line.event_id == f"e {text}"
    told = memory.believe(f"{text} is so")
    memory.beliefs.revise(told, f"{text} is not so", reason=text)
    memory.beliefs.retract(f"e {text}", origin=Origin(event_id=f"r {text}"))
    assert memory.current(text, text).candidates == ()
    assert victim.beliefs.get(theirs).belief == pytest.approx(1 / 1.2)
    assert look.count(f"{tenant}-other") == {"Belief": 1, "Event": 1}


def test_every_refusal_is_an_error_of_ours(memory: Handle) -> None:
    """What a caller has to catch is one family, each with a code of its own."""
    belief = memory.believe("The pool should have 4 threads", event_id="there")
    memory.beliefs.revise(belief, "It rains")
    memory.observe(*ATLAS, event_id="e")
    shared = memory.believe("It is shared")
    codes = set()
    for call in (
        lambda: memory.observe("", "", ""),
        lambda: memory.observe(*ATLAS, event_id="e", confidence=0.1),
        lambda: memory.observe(*ATLAS, episode_id="nowhere"),
        lambda: memory.beliefs.revise(belief, "It pours"),
        lambda: memory.beliefs.revise(shared, "It is shared"),
        lambda: memory.scope("a").beliefs.revise(shared, "It is mine"),
        lambda: memory.beliefs.retract("there"),
    ):
        with pytest.raises(GraphmemError) as caught:
            call()
        assert caught.value.message
        assert caught.value.hint or caught.value.code == "invalid_input"
        codes.add(caught.value.code)
    assert codes == {
        "invalid_input",
        "event_conflict",
        "not_found",
        "superseded_belief",
        "self_supersession",
        "foreign_scope",
        "refused",
    }
