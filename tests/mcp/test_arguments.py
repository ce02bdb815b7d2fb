"""Arguments as models write them, and errors from which a model can correct a call."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from pydantic import ValidationError

from graphmem.errors import InvalidInputError
from graphmem.mcp.arguments import CHANGES, change_of, parameters
from graphmem.mcp.tools import TOOLS
from graphmem.signatures import Kind
from tests.mcp.conftest import Opened, data, refused
from tests.plugins.loopback import chain
from tests.plugins.loops import run_apart as run

LIVES = {"subject": "alice", "predicate": "lives_in"}


def read(tool: str, /, **given: Any) -> Any:
    """Return the arguments of a call as the tool reads them."""
    return TOOLS[tool].read(given)[0]


def problem(tool: str, /, **given: Any) -> InvalidInputError:
    """Return the error of a call that the tool refuses."""
    with pytest.raises(InvalidInputError) as caught:
        TOOLS[tool].read(given)
    return caught.value


TAKEN = [(tool, name) for tool in TOOLS for name in TOOLS[tool].takes.split()]


@pytest.mark.parametrize(("tool", "name"), TAKEN)
def test_an_argument_is_a_parameter_and_each_change_changes_it(tool: str, name: str) -> None:
    one, change = parameters(tool).get(name), change_of(tool, name)
    if one is None:
        assert change.keys() >= {"type"}
        return
    kind = one.kind or Kind("own")
    assert "type" not in change or kind.name in ("own", "time")
    found = {
        "text": change.get("text") != one.clause,
        "default": change.get("default", ...) != one.default or one.default is None,
        "required": change.get("required") != one.required,
        "choices": "choices" not in change or is_narrower(change["choices"], kind.choices),
        "limits": are_narrower(change.get("limits", {}), kind.limits),
        "size": are_narrower(change.get("size", {}), kind.size),
    }
    assert {key for key in change if not found.get(key, True)} == set()


def is_narrower(choices: tuple[str, ...], declared: tuple[str, ...]) -> bool:
    """Return whether choices are some of those declared, or of any text."""
    return not declared or set(choices) < set(declared)


def are_narrower(limits: Mapping[str, Any], declared: Mapping[str, Any]) -> bool:
    """Return whether each limit allows less than the declared one."""
    lower = {"ge", "min_length"}
    own = {key: value if key in lower else -value for key, value in limits.items()}
    given = {
        key: declared[key] if key in lower else -declared[key] for key in own if key in declared
    }
    return all(own[key] > given[key] for key in given)


def test_every_change_is_of_an_argument() -> None:
    names = {name for _, name in TAKEN} | {f"{tool}.{name}" for tool, name in TAKEN}
    assert CHANGES.keys() <= names
    common = {key for key in CHANGES if "." not in key}
    assert {key for key in CHANGES if CHANGES[key] == CHANGES.get(key.rpartition(".")[2])} == common


def test_a_single_value_stands_for_a_list() -> None:
    assert read("recall", query="tea", tags="work").tags == ("work",)
    assert read("remember", content="Tea.", tags="work").tags == ("work",)
    fact = {"subject": "alice", "predicate": "lives_in", "object": "Porto"}
    [claim] = read("remember", content="Tea.", claims=fact).claims
    assert claim.object == "Porto"
    message = {"role": "user", "content": "Tea, please."}
    assert len(read("add_messages", messages=message).messages) == 1


def test_an_id_keeps_the_name_that_it_has_in_results() -> None:
    for name in ("item_id", "memory_id", "belief_id", "turn_id", "episode_id"):
        assert read("expand", **{name: "x_1"}).item_id == "x_1"
        assert read("forget", **{name: "x_1"}).item_id == "x_1"
    assert read("supersede", memory_id="m_1", content="Tea.").item_id == "m_1"
    assert read("add_evidence", item_id="b_1", kind="refuting", strength=0.8).belief_id == "b_1"
    assert read("why", item_id="[b_1]").item_id == "b_1"
    assert read("why", item_id="", memory_id="b").item_id == "b"
    assert "memory_id: is not an argument" in problem("why", item_id="a", memory_id="b").message


@pytest.mark.parametrize(
    ("tool", "given", "message"),
    [
        ("recall", {}, "query: is missing; it must be text from 1 to 100,000 characters"),
        ("recall", {"query": "tea", "limit": 0}, "limit: must be a whole number from 1 to 100."),
        ("recall", {"query": "tea", "limit": "x"}, "limit: must be a whole number from 1 to 100."),
        ("recall", {"query": " "}, "query: must not be blank."),
        ("recall", {"query": "tea", "include_hidden": "maybe"}, "must be true or false."),
        ("recall", {"query": "tea", "kinds": ["turns"]}, "kinds.0: must be"),
        ("recall", {"query": "tea", "tag": "x"}, "tag: is not an argument. Did you mean tags?"),
        ("recall", {"query": "tea", "tags": 5}, "tags: must be a list of at most 64 items, each"),
        (
            "observe",
            LIVES | {"object": "Porto", "kind": "against"},
            'kind: must be "supporting" or "refuting".',
        ),
        (
            "observe",
            LIVES | {"object": "Porto", "confidence": 1},
            "confidence: must be a number from 0.5 to 0.9.",
        ),
        ("observe", {"predicate": "is", "object": "x"}, "(Person or thing, e.g. alice)."),
        ("add_messages", {"messages": [{"role": "user"}]}, "messages.0.content: is missing"),
    ],
)
def test_an_error_names_the_argument_and_what_is_allowed(
    tool: str, given: dict[str, Any], message: str
) -> None:
    error = problem(tool, **given)
    assert message in error.message
    assert f"Example: {json.dumps(TOOLS[tool].example)}" in error.hint
    assert TOOLS[tool].read(TOOLS[tool].example)


def test_many_problems_are_counted() -> None:
    messages = [{"role": "user"}] * 20
    error = problem("add_messages", messages=messages)
    assert error.message.endswith("And 15 more.")


def test_values_are_not_repeated_in_errors() -> None:
    error = problem("recall", query="tea", limit="opensesame", as_of="opensesame")
    assert "opensesame" not in str(error)
    assert not [one for one in chain(error) if isinstance(one, ValidationError)]


def test_a_new_predicate_needs_its_cardinality_once(opened: Opened) -> None:
    async def session() -> None:
        async with opened(profile="core") as client:
            otter = {"subject": "acme", "predicate": "mascot", "object": "otter"}
            error = await refused(client, "observe", **otter)
            assert error["code"] == "invalid_input"
            assert error["message"].startswith("cardinality: is missing")
            assert '"ONE" if there is one value at a time' in error["message"]
            assert '"MANY" if there are several at once' in error["message"]
            assert '"cardinality": "MANY"' in error["hint"]
            claim = {"content": "The mascot is an otter.", "claims": otter}
            kept = await data(client, "remember", **claim | {"at": "2024-12-01"})
            assert (kept["outcome"], kept["belief_ids"]) == ("INSERTED_NEW", [])
            assert "Call observe with cardinality" in kept["refused_claims"][0]
            await data(client, "observe", **otter, cardinality="ONE", at="2025-01-01")
            heron = otter | {"object": "heron", "predicate": "Mascot"}
            await data(client, "observe", **heron, at="2025-02-01")
            await data(client, "remember", **claim | {"at": "2025-03-01"})
            found = await data(client, "current", subject="acme", predicate="mascot")
            shown = found["leader"], found["cardinality"], found["cardinality_origin"]
            assert shown == ("otter", "ONE", "declared")
            error = await refused(client, "observe", **heron, cardinality="MANY")
            assert error["code"] == "cardinality_conflict"

    run(session())


def test_said_twice_then_changed_needs_no_declaration(opened: Opened) -> None:
    async def session() -> None:
        async with opened(profile="core") as client:
            alice = {"subject": "alice", "predicate": "deploys_from"}
            for at, place in (
                ("2025-01-05", "Borealis"),
                ("2025-02-05", "Borealis"),
                ("2025-04-01", "Atlas"),
            ):
                await data(client, "observe", **alice, object=place, at=at, session_id=at)
            now = await data(client, "current", **alice)
            assert (now["leader"], now["cardinality_origin"]) == ("Atlas", "built_in")
            then = await data(client, "current", **alice, as_of="2025-02-20")
            assert then["leader"] == "Borealis"

    run(session())


def test_a_miss_names_the_nearest_predicates(opened: Opened) -> None:
    async def session() -> None:
        async with opened(profile="core") as client:
            await data(client, "observe", **LIVES, object="Porto")
            named = await data(client, "current", subject="alice", predicate="Lives in")
            assert (named["leader"], named["nearest"]) == ("Porto", [])
            missed = await data(client, "current", subject="alice", predicate="living_in")
            assert (missed.get("leader"), missed["nearest"]) == (None, ["lives_in"])

    run(session())


def test_an_unknown_id_is_explained(opened: Opened) -> None:
    async def session() -> None:
        async with opened() as client:
            for tool, given in (("why", {"item_id": "x"}), ("forget", {"item_id": "x"})):
                error = await refused(client, tool, **given)
                assert (error["code"], "exactly as a result" in error["hint"]) == (
                    "not_found",
                    True,
                )

    run(session())
