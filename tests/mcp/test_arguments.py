"""Arguments as models write them, and errors from which a model can correct a call."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from pydantic import ValidationError

from graphmem.errors import InvalidInputError
from graphmem.mcp.tools import TOOLS
from graphmem.model import AsOf
from tests.mcp.conftest import Opened, data, refused
from tests.plugins.loopback import chain
from tests.plugins.loops import run_apart as run

FEBRUARY, JUNE = datetime(2025, 2, 1, tzinfo=UTC), datetime(2025, 6, 1, tzinfo=UTC)
LIVES = {"subject": "alice", "predicate": "lives_in"}


def read(tool: str, **given: Any) -> Any:
    """Return the arguments of a call as the tool reads them."""
    return TOOLS[tool].read(given)


def problem(tool: str, **given: Any) -> InvalidInputError:
    """Return the error of a call that the tool refuses."""
    with pytest.raises(InvalidInputError) as caught:
        TOOLS[tool].read(given)
    return caught.value


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("2025-06-01", JUNE),
        (" 2025-06-01 ", JUNE),
        ("2025-06-01T10:00", JUNE + timedelta(hours=10)),
        ("2025-06-01 10:00:30", JUNE + timedelta(hours=10, seconds=30)),
        ("2025-06-01T10:00Z", JUNE + timedelta(hours=10)),
        ("2025-06-01T10:00+02:00", JUNE + timedelta(hours=8)),
    ],
)
def test_a_date_is_a_text_in_utc_unless_it_has_a_zone(text: str, at: datetime) -> None:
    assert read("current", **LIVES, as_of=text).as_of == AsOf(valid=at)
    assert read("observe", **LIVES, object="Porto", at=text).at == at
    assert read("recall", query="tea", since=text).since == at


def test_known_time_is_given_beside_the_valid_time() -> None:
    both = {"valid": "2025-02-01", "known": "2025-06-01T02:00+02:00"}
    assert read("current", **LIVES, as_of=both).as_of == AsOf(valid=FEBRUARY, known=JUNE)
    zone = timezone(timedelta(hours=2))
    assert read("why", item_id="b_1", as_of={"known": "2025-06-01"}).as_of == AsOf(
        known=JUNE.astimezone(zone)
    )


@pytest.mark.parametrize("bad", ["soon", "2025-06", "June 2025", "2025-13-01", "", 1_700_000_000])
def test_an_invalid_date_is_explained_by_examples(bad: object) -> None:
    for tool, name, given in (
        ("current", "as_of", LIVES),
        ("observe", "at", LIVES | {"object": "Porto"}),
        ("recall", "until", {"query": "tea"}),
    ):
        error = problem(tool, **given, **{name: bad})
        assert error.message.startswith(f"{name}")
        assert '"2025-06-01" or "2025-06-01T10:00+02:00"' in error.message
        assert "UTC" in error.message


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
    assert read("supersede", item_id="m_1", content="Tea.").memory_id == "m_1"
    assert read("add_evidence", item_id="b_1", kind="refuting", strength=0.8).belief_id == "b_1"
    assert read("why", item_id="[b_1]").item_id == "b_1"
    assert "memory_id: is not an argument" in problem("why", item_id="a", memory_id="b").message


@pytest.mark.parametrize(
    ("tool", "given", "message"),
    [
        ("recall", {}, "query: is missing; it must be text from 1 to 100,000 characters"),
        ("recall", {"query": "tea", "limit": 0}, "limit: must be a whole number from 1 to 100."),
        ("recall", {"query": "tea", "limit": "x"}, "limit: must be a whole number from 1 to 100."),
        ("recall", {"query": " "}, "query: must not be blank."),
        ("recall", {"query": "tea", "turns": "maybe"}, "turns: must be true or false."),
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
        (
            "remember",
            {"content": "Tea.", "claims": ["tea"]},
            "claims.0: must be an object with subject, predicate, object.",
        ),
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
            assert "cardinality" in (await refused(client, "remember", **claim))["message"]
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
            assert (named["leader"], "nearest" in named) == ("Porto", False)
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
