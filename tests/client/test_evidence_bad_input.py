"""Evidence and beliefs that break a contract: a stable code, words that help, nothing written."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from graphmem import Handle
from graphmem.errors import GraphmemError, InvalidInputError
from graphmem.model import Observation, Origin
from graphmem.rules.read_options import key_cursor, position_cursor
from tests.plugins.clients import on_tenant
from tests.plugins.graph import Look
from tests.plugins.origins import with_origin

NAN, INFINITE = float("nan"), float("inf")
ATLAS = ("alice", "works_on", "Atlas")
HUNDRED_KB = "opensesame" * 10_240
NO_UNITS = [-0.001, 1.001, NAN, INFINITE, -INFINITE, 1e308, "much", None, [], {"a": 1}]
NO_STRENGTHS = [NAN, INFINITE, -INFINITE, "strong", None, [], {"a": 1}]
NO_KINDS = ["suporting", "SUPPORTING", "", " supporting", 1, -1, True, None, "for"]
NO_PARTS = ["", " \t\n", HUNDRED_KB, "x" * 1_001, 5, None, b"x", ["a"], "half \ud800"]
NO_IDS = [5, b"b_1", ["b_1"], "\ud800", NAN, {"event_id": "b_1"}]
NO_NAMES = ["", "x" * 201, 5, b"x", ["a"], "half \ud800"]
FUTURE = datetime(9999, 12, 31, tzinfo=UTC)
WRONG_INSTANTS = [
    datetime(2025, 1, 1),  # noqa: DTZ001
    datetime.max,  # noqa: DTZ901
    datetime.min.replace(tzinfo=timezone(timedelta(hours=14))),
    "tomorrow",
    5,
    True,
    [],
]
NO_INSTANTS = [*WRONG_INSTANTS, FUTURE]
NO_COUNTS = [0, -1, True, 1_001, 1.0, "10", None, NAN]
NO_LISTS = ["supporting", b"x", 5, None, {"kind": "supporting", "strength": 0.9}]

Call = Callable[[Handle, Any], Any]


def shown(value: Any) -> str:
    return repr(value)[:24]


def there(memory: Handle) -> str:
    """The one belief that is there, the same however often it is asked for."""
    return memory.believe("The pool should have 4 threads", event_id="there").belief_id


def refused(memory: Handle, call: Call, value: Any, named: str = "") -> InvalidInputError:
    """Make a call that must be refused; what a log shows of it must be short and say nothing."""
    with pytest.raises(InvalidInputError) as caught:
        call(memory, value)
    error = caught.value
    assert error.code == "invalid_input"
    assert named in error.message
    assert len(str(error)) < 400
    assert "opensesame" not in "".join(traceback.format_exception_only(error)) + str(error)
    return error


def only_there(look: Look, tenant: str) -> bool:
    """Whether nothing but the one belief is there."""
    return look.count(tenant) == {"Belief": 1, "Event": 1}


# Each of these takes one value and is refused for it by name, with nothing written.
FIELDS: dict[str, tuple[str, list[Any], Call]] = {
    "observe confidence": ("confidence", NO_UNITS, lambda m, x: m.observe(*ATLAS, confidence=x)),
    "believe confidence": (
        "confidence",
        NO_UNITS,
        lambda m, x: m.believe("It rains", confidence=x),
    ),
    "revise confidence": (
        "confidence",
        NO_UNITS,
        lambda m, x: m.beliefs.revise("b_1", "It rains", confidence=x),
    ),
    "strength": ("strength", NO_STRENGTHS, lambda m, x: m.add_evidence("b_1", "supporting", x)),
    "supposed strength": (
        "strength",
        NO_STRENGTHS,
        lambda m, x: m.beliefs.what_if("b_1", [{"kind": "supporting", "strength": x}]),
    ),
    "observe kind": ("kind", NO_KINDS, lambda m, x: m.observe(*ATLAS, kind=x)),
    "evidence kind": ("kind", NO_KINDS, lambda m, x: m.add_evidence("b_1", x, 0.7)),
    "supposed kind": (
        "kind",
        NO_KINDS,
        lambda m, x: m.beliefs.what_if("b_1", [{"kind": x, "strength": 0.7}]),
    ),
    "subject": ("subject", NO_PARTS, lambda m, x: m.observe(x, "works_on", "Atlas")),
    "predicate": ("predicate", NO_PARTS, lambda m, x: m.observe("alice", x, "Atlas")),
    "object": ("object", NO_PARTS, lambda m, x: m.observe("alice", "works_on", x)),
    "asked subject": ("subject", NO_PARTS, lambda m, x: m.current(x, "works_on")),
    "asked predicate": ("predicate", NO_PARTS, lambda m, x: m.current("alice", x)),
    "declared name": ("name", NO_PARTS, lambda m, x: m.predicates.declare(x)),
    "statement": ("", ["", " ", "x" * 8_001, 5, None, b"x", "\ud800"], lambda m, x: m.believe(x)),
    "new statement": (
        "",
        ["", " ", "x" * 8_001, 5, None, b"x", "\ud800"],
        lambda m, x: m.beliefs.revise("b_1", x),
    ),
    "a part's statement": (
        "",
        ["", " ", HUNDRED_KB, 5, None, b"x"],
        lambda m, x: m.beliefs.split("b_1", ["It rains", x]),
    ),
    "a merged statement": (
        "",
        ["", " ", HUNDRED_KB, 5, None],
        lambda m, x: m.beliefs.merge(["b_1", "b_2"], x),
    ),
    "reason": (
        "reason",
        [5, b"x", "\ud800", HUNDRED_KB, ["a"]],
        lambda m, x: m.beliefs.revise("b_1", "It rains", reason=x),
    ),
    "note": (
        "note",
        [5, b"x", "\ud800", HUNDRED_KB, ["a"]],
        lambda m, x: m.observe(*ATLAS, note=x),
    ),
    "artifact": (
        "artifact_ref",
        [5, b"x", "\ud800", "x" * 2_001],
        lambda m, x: m.observe(*ATLAS, artifact_ref=x),
    ),
    "source type": ("source_type", NO_NAMES, lambda m, x: m.observe(*ATLAS, source_type=x)),
    "source": ("source", [*NO_NAMES, None], lambda m, x: m.observe(*ATLAS, source=x)),
    "episode": (
        "episode",
        NO_NAMES,
        lambda m, x: m.add_evidence("b_1", "supporting", 0.7, episode_id=x),
    ),
    "turn": ("turn", NO_NAMES, lambda m, x: m.believe("It rains", turn_id=x)),
    "event id": ("id", NO_NAMES, lambda m, x: m.observe(*ATLAS, event_id=x)),
    "id of testimony": (
        "id",
        NO_NAMES,
        lambda m, x: m.add_evidence("b_1", "supporting", 0.7, event_id=x),
    ),
    "id of a retraction": (
        "id",
        NO_NAMES,
        lambda m, x: m.beliefs.retract("e", **with_origin({"event_id": x})),
    ),
    "id of a revision": (
        "id",
        NO_NAMES,
        lambda m, x: m.beliefs.revise("b_1", "It rains", **with_origin({"event_id": x})),
    ),
    "observed at": ("", NO_INSTANTS, lambda m, x: m.observe(*ATLAS, at=x)),
    "observed at, in a batch": (
        "",
        NO_INSTANTS,
        lambda m, x: m.observe_many(
            [{"subject": "a", "predicate": "b", "object": "c"}] * 600
            + [{"subject": "a", "predicate": "b", "object": "c", "at": x}]
        ),
    ),
    "believed at": ("", NO_INSTANTS, lambda m, x: m.believe("It rains", at=x)),
    "told at": ("", WRONG_INSTANTS, lambda m, x: m.add_evidence("b_1", "refuting", 0.7, at=x)),
    "retracted at": ("", NO_INSTANTS, lambda m, x: m.beliefs.retract("e", at=x)),
    "revised at": ("", NO_INSTANTS, lambda m, x: m.beliefs.revise("b_1", "It rains", at=x)),
    "split at": (
        "",
        NO_INSTANTS,
        lambda m, x: m.beliefs.split("b_1", ["It rains", "It is wet"], at=x),
    ),
    "declared at": ("", NO_INSTANTS, lambda m, x: m.predicates.declare("works_on", at=x)),
    "limit of current": ("limit", NO_COUNTS, lambda m, x: m.current("a", "b", limit=x)),
    "limit of beliefs": ("limit", NO_COUNTS, lambda m, x: m.beliefs.list(limit=x)),
    "limit of a trail": ("limit", NO_COUNTS, lambda m, x: m.evidence_for("b_1", limit=x)),
    "cursor of a trail": (
        "cursor",
        [5, b"x", "x", "bm8=", position_cursor(-1), position_cursor(10**30), key_cursor("1.5")],
        lambda m, x: m.evidence_for("b_1", cursor=x),
    ),
    "cursor": ("cursor", [5, b"x", "x", "bm8=", ["a"]], lambda m, x: m.beliefs.list(cursor=x)),
    "as_of": (
        "as_of",
        [5, "some day", "2025-01-01T00:00", {"valid": 5}, 0, ""],
        lambda m, x: m.evidence_for("b_1", as_of=x),
    ),
    "as_of of a slot": ("as_of", [5, "some day", 0], lambda m, x: m.current("a", "b", as_of=x)),
    "policy": (
        "policy",
        [5, "ONE", {"cardinality": "TWO"}, {"kappa": -1}],
        lambda m, x: m.current("a", "b", policy=x),
    ),
    "cardinality": (
        "cardinality",
        [1, "one", "TWO", ["ONE"]],
        lambda m, x: m.observe("a", "b", "c", cardinality=x),
    ),
    "valid_from": (
        "valid_from",
        [5, "some day", datetime(2025, 5, 5)],  # noqa: DTZ001
        lambda m, x: m.predicates.declare("b", valid_from=x),
    ),
    "observations": ("`observations` must be a list", NO_LISTS, lambda m, x: m.observe_many(x)),
    "supposed": ("`evidence` must be a list", NO_LISTS, lambda m, x: m.beliefs.what_if("b_1", x)),
    "without": (
        "without: must be a list",
        ["e1", b"x", 5, None],
        lambda m, x: m.beliefs.what_if("b_1", without=x),
    ),
    "parts": (
        "statements: must be a list",
        ["a, b", 5, None],
        lambda m, x: m.beliefs.split("b_1", x),
    ),
    "merged": (
        "beliefs: must be a list",
        ["b_1", 5, None],
        lambda m, x: m.beliefs.merge(x, "It rains"),
    ),
}


@pytest.mark.parametrize("name", FIELDS)
def test_what_does_not_fit_is_refused_by_name_before_the_graph_is_asked(
    offline: Handle, name: str
) -> None:
    named, values, call = FIELDS[name]
    for value in values:
        refused(offline, call, value, named)


def test_a_refusal_says_what_would_fit(offline: Handle) -> None:
    said = {
        name: str(refused(offline, FIELDS[name][2], value))
        for name, value in (
            ("observe kind", "suporting"),
            ("observe confidence", 1.5),
            ("observe confidence", NAN),
            ("subject", ""),
            ("predicate", "  "),
            ("object", HUNDRED_KB),
            ("observed at", datetime(2025, 1, 1)),  # noqa: DTZ001
            ("believed at", FUTURE),
        )
    }
    assert "'supporting' or 'refuting'" in said["observe kind"]
    assert "finite number" in said["observe confidence"]
    assert said["subject"] == "subject: is empty."
    assert said["predicate"] == "predicate: is blank."
    assert said["object"] == "object: has more than 1,000 characters."
    assert "time zone" in said["observed at"]
    assert "must not be in the future" in said["believed at"]
    assert "record the past" in said["believed at"]
    with pytest.raises(InvalidInputError, match="less than or equal to 1"):
        offline.observe(*ATLAS, confidence=1.5)


def test_evidence_from_the_future_is_refused_and_not_written(
    memory: Handle, look: Look, tenant: str
) -> None:
    belief = there(memory)
    refused(memory, lambda m, at: m.add_evidence(belief, "refuting", 0.7, at=at), FUTURE)
    assert only_there(look, tenant)


@pytest.mark.parametrize("value", NO_IDS, ids=shown)
def test_a_belief_is_named_by_an_id(offline: Handle, value: Any) -> None:
    calls: tuple[Callable[[Handle, str], object], ...] = (
        lambda m, x: m.beliefs.get(x),
        lambda m, x: m.evidence_for(x),
        lambda m, x: m.beliefs.what_if(x),
        lambda m, x: m.add_evidence(x, "supporting", 0.7),
        lambda m, x: m.beliefs.revise(x, "It rains"),
        lambda m, x: m.beliefs.split(x, ["It rains", "It is wet"]),
        lambda m, x: m.beliefs.merge(["b_1", x], "It rains"),
    )
    for call in calls:
        refused(offline, call, value, "id")


@pytest.mark.parametrize(
    "given",
    [
        {"subject": "alice"},
        {"subject": "alice", "predicate": "works_on"},
        {"object": "Atlas"},
        {},
        {"statement": "It rains", "predicate": "is"},
    ],
    ids=shown,
)
def test_a_hypothesis_is_whole(offline: Handle, given: dict[str, Any]) -> None:
    calls: list[Call] = [
        lambda m, x: m.believe(**x),
        lambda m, x: m.beliefs.revise("b_1", **x),
    ]
    if given:
        calls.append(lambda m, x: m.beliefs.merge(["b_1", "b_2"], **{"statement": "So", **x}))
    for call in calls:
        said = refused(offline, call, given).message
        assert "together or not at all" in said or "a statement, a triple or both" in said


@pytest.mark.parametrize("confidence", [0, 0.0, -0.0, 1, 1.0, 5e-324, 0.9999999999999999])
def test_the_ends_of_the_scale_are_part_of_it(memory: Handle, confidence: float) -> None:
    done = memory.observe(*ATLAS, confidence=confidence)
    for policy in ("MANY", "ONE"):
        memory.predicates.declare("works_on", cardinality=policy)
        [found] = memory.current("alice", "works_on").candidates
        assert 0 <= found.belief < 1
    assert memory.evidence_for(done).lines[0].evidence_confidence == confidence


@pytest.mark.parametrize("size", [1, 2, 600])
@pytest.mark.parametrize("wrong", [{"confidence": 2}, {"subject": ""}, {"kind": "x"}], ids=shown)
def test_one_wrong_observation_is_named_by_its_place_and_none_is_written(
    offline: Handle, size: int, wrong: dict[str, Any]
) -> None:
    right = {"subject": "a", "predicate": "b", "object": "c"}
    batch: list[Any] = [right] * (size - 1) + [right | wrong]
    error = refused(offline, lambda m, x: m.observe_many(x), batch)
    assert error.message.startswith(f"observations[{size - 1}]: {next(iter(wrong))}: ")
    for odd in (5, "a b c", None, ["a", "b", "c"]):
        error = refused(offline, lambda m, x: m.observe_many(x), [right, odd])
        assert error.message == "observations[1] must be a mapping of fields."
    with pytest.raises(InvalidInputError, match=r"^evidence\[1\] must be a mapping"):
        offline.beliefs.what_if("b_1", [{"kind": "supporting", "strength": 0.7}, 5])  # type: ignore[list-item]


def test_a_future_observation_in_a_batch_of_records_writes_nothing(offline: Handle) -> None:
    batch = [
        Observation(subject="a", predicate="b", object=f"o{n}", at=datetime.now(UTC))
        for n in range(600)
    ]
    late = batch[-1].model_copy(update={"at": datetime.now(UTC) + timedelta(days=1)})
    with pytest.raises(InvalidInputError, match="must not be in the future"):
        offline.observe_many([*batch, late])


SYNTAX = [
    "'; MATCH (n) DETACH DELETE n; //",
    '"}) DETACH DELETE n //',
    "$tenant `x` {subject} ${id}",
    '+ - & | ! ( ) { } [ ] ^ " ~ * ? : \\ /',
    "\u202enoitcejni",
    "тенант 漢字 🙂",
    "|+-",
]


@pytest.mark.parametrize("text", SYNTAX)
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
    belief = there(memory)
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
