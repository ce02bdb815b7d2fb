"""Input that breaks a contract: a stable code, the graph not even read, nothing long shown."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from graphmem import Handle, Message, NewMemory, Outcome
from graphmem.errors import InvalidInputError
from graphmem.rules.read_options import key_cursor, position_cursor
from tests.plugins.clients import on_tenant
from tests.plugins.graph import Look
from tests.plugins.origins import with_origin
from tests.plugins.texts import unlike

MEGABYTE = "opensesame " * 95_326
Call = Callable[[Handle, Any], Any]

LIMITS = [0, -1, True, False, 1_001, 10**30, 1.0, "10", None, float("nan")]
LIMITED: dict[str, Call] = {
    "recall": lambda m, n: m.recall("Alice", limit=n),
    "list": lambda m, n: m.memories.list(limit=n),
    "history": lambda m, n: m.memories.history("m_1", limit=n),
    "turns": lambda m, n: m.episodes.turns("ep_1", limit=n).turns,
    "stale": lambda m, n: m.memories.stale(limit=n),
}
NO_IDS = [None, 5, b"m_1", ["m_1"], "\ud800", float("nan")]
NO_NAMES = [None, 5, b"x", "", "x" * 10_000, "half \ud800", ["a"], {"a": 1}]
NO_INSTANTS = [
    datetime(2025, 1, 1),  # noqa: DTZ001
    datetime.max,  # noqa: DTZ901
    datetime.min.replace(tzinfo=timezone(timedelta(hours=14))),
    datetime.max.replace(tzinfo=timezone(timedelta(hours=-12))),
    datetime(9999, 12, 31, tzinfo=UTC),
    "yesterday",
    "0000-01-01T00:00:00Z",
    "10000-01-01T00:00:00Z",
    5,
    1_700_000_000_000,
    0.5,
    True,
    "1700000000",
    [],
]


def refused(memory: Handle, call: Call, value: Any) -> InvalidInputError:
    """Make a call that must be refused; what a log shows of it must be short and say nothing."""
    with pytest.raises(InvalidInputError) as caught:
        call(memory, value)
    error = caught.value
    assert error.code == "invalid_input"
    assert len(str(error)) < 400
    shown = "".join(traceback.format_exception_only(error)) + str(error)
    assert "opensesame" not in shown
    return error


@pytest.mark.parametrize(
    ("name", "limit"),
    [
        (name, limit)
        for name in LIMITED
        for limit in LIMITS
        # A recall without a limit returns as many results as its cut-off leaves.
        if (name, limit) != ("recall", None)
    ],
    ids=str,
)
def test_a_limit_is_a_whole_number_in_its_range(offline: Handle, name: str, limit: Any) -> None:
    assert "limit" in str(refused(offline, LIMITED[name], limit))


@pytest.mark.parametrize(
    "cursor",
    [5, b"x", "x", "bm8=", position_cursor(-1), position_cursor(10**30), key_cursor("1.5")],
    ids=str,
)
def test_turns_continue_at_a_cursor(offline: Handle, cursor: Any) -> None:
    call: Call = lambda m, x: m.episodes.turns("ep_1", cursor=x)  # noqa: E731
    assert "cursor" in str(refused(offline, call, cursor))


@pytest.mark.parametrize("value", NO_IDS, ids=repr)
@pytest.mark.parametrize(
    "call",
    [
        lambda m, x: m.memories.get(x),
        lambda m, x: m.memories.history(x),
        lambda m, x: m.memories.chain(x),
        lambda m, x: m.supersede(x, unlike(1)),
        lambda m, x: m.memories.deprecate(x),
        lambda m, x: m.memories.restore(x),
        lambda m, x: m.episodes.get(x),
        lambda m, x: m.episodes.turns(x).turns,
        lambda m, x: m.expand(x),
    ],
    ids=[
        *("get", "history", "chain", "supersede", "deprecate", "restore"),
        *("episode", "turns", "expand"),
    ],
)
def test_an_id_is_a_string(offline: Handle, call: Call, value: Any) -> None:
    refused(offline, call, value)


@pytest.mark.parametrize("value", NO_NAMES, ids=lambda v: repr(v)[:20])
@pytest.mark.parametrize(
    "call",
    [
        lambda m, x: m.tenant(x),
        lambda m, x: m.scope(x),
        lambda m, x: m.scope("a", read_scopes=[x]),
        lambda m, x: m.session(x),
        lambda m, x: m.remember(unlike(1), source=x),
        lambda m, x: m.remember(unlike(1), tags=[x]),
        lambda m, x: m.memories.list(tags=[x]),
        lambda m, x: m.episodes.add(entities=[x]),
    ],
    ids=["tenant", "scope", "see", "session", "source", "tag", "tags of list", "entity"],
)
def test_a_name_is_a_short_string(offline: Handle, call: Call, value: Any) -> None:
    refused(offline, call, value)


@pytest.mark.parametrize("value", NO_NAMES[1:], ids=lambda v: repr(v)[:20])
@pytest.mark.parametrize(
    "call",
    [
        lambda m, x: m.remember(unlike(1), event_id=x),
        lambda m, x: m.remember(unlike(1), actor=x),
        lambda m, x: m.memories.deprecate("m_1", **with_origin({"event_id": x})),
        lambda m, x: m.episodes.add(session_id=x),
        lambda m, x: m.memories.list(source=x),
    ],
    ids=["id", "actor", "id of deprecate", "session_id", "source of list"],
)
def test_an_optional_name_is_a_short_string(offline: Handle, call: Call, value: Any) -> None:
    refused(offline, call, value)


@pytest.mark.parametrize("at", NO_INSTANTS, ids=repr)
@pytest.mark.parametrize(
    "call",
    [
        lambda m, t: m.remember(unlike(1), at=t),
        lambda m, t: m.supersede("m_1", unlike(2), at=t),
        lambda m, t: m.memories.deprecate("m_1", at=t),
        lambda m, t: m.memories.restore("m_1", at=t),
        lambda m, t: m.episodes.add(at=t),
    ],
    ids=["remember", "supersede", "deprecate", "restore", "add_episode"],
)
def test_an_instant_has_a_zone_a_place_in_the_calendar_and_has_been(
    offline: Handle, call: Call, at: Any
) -> None:
    refused(offline, call, at)


@pytest.mark.parametrize("field", ["since", "until"])
def test_a_narrowing_instant_has_a_zone(offline: Handle, field: str) -> None:
    narrowing: Any = {field: datetime(2025, 1, 1)}  # noqa: DTZ001
    error = refused(offline, lambda m, n: m.memories.list(**n), narrowing)
    assert field in str(error)
    assert "time zone" in error.hint


@pytest.mark.parametrize("content", [None, 5, b"bytes", ["a"], {"a": 1}, True], ids=repr)
def test_a_text_is_a_string(offline: Handle, content: Any) -> None:
    for call in (
        lambda m, x: m.remember(x),
        lambda m, x: m.remember_many([unlike(1), x]),
        lambda m, x: m.supersede("m_1", x),
        lambda m, x: m.recall(x),
    ):
        refused(offline, call, content)


@pytest.mark.parametrize("query", ["", "  \t\n", "\x1f\x1c", "\x00", "x" * 100_001])
def test_a_question_says_something(offline: Handle, query: str) -> None:
    refused(offline, lambda m, q: m.recall(q), query)


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


@pytest.mark.parametrize(
    "given",
    [
        {"tags": "one,two"},
        {"tags": [f"t{n}" for n in range(65)]},
        {"artifact_ref": "x" * 2_001},
        {"artifact_ref": "\ud800"},
        {"tags": 5},
    ],
    ids=lambda given: repr(given)[:25],
)
def test_an_origin_fits(offline: Handle, given: dict[str, Any]) -> None:
    refused(offline, lambda m, x: m.remember(unlike(1), **x), given)
    refused(offline, lambda m, x: m.supersede("m_1", unlike(2), **with_origin(x)), given)


def test_a_status_change_has_no_tags(offline: Handle) -> None:
    for change in (offline.memories.deprecate, offline.memories.restore):
        with pytest.raises(TypeError, match="tags"):
            change("m_1", tags=["t"])  # type: ignore[call-arg]


@pytest.mark.parametrize(
    "reason", [5, b"x", "half \ud800", "x" * 10_001, ["a"]], ids=lambda v: repr(v)[:25]
)
def test_a_reason_is_a_text(offline: Handle, reason: Any) -> None:
    for call in (
        lambda m, x: m.supersede("m_1", unlike(2), reason=x),
        lambda m, x: m.memories.deprecate("m_1", reason=x),
        lambda m, x: m.memories.restore("m_1", reason=x),
    ):
        refused(offline, call, reason)


@pytest.mark.parametrize(
    "statuses", ["current", ["gone"], [5], 5, [None]], ids=lambda value: repr(value)
)
def test_a_status_is_one_of_three(offline: Handle, statuses: Any) -> None:
    refused(offline, lambda m, x: m.memories.list(statuses=x), statuses)


@pytest.mark.parametrize("cursor", [5, b"x", True, ["a"], {"a": 1}], ids=repr)
def test_a_cursor_is_a_string(offline: Handle, cursor: Any) -> None:
    refused(offline, lambda m, x: m.memories.list(cursor=x), cursor)


@pytest.mark.parametrize(
    "messages", ["hello there", 5, [5], ["hello"], [{"role": "user"}]], ids=lambda v: repr(v)[:25]
)
def test_messages_are_messages(offline: Handle, messages: Any) -> None:
    session = offline.session("s")
    refused(offline, lambda _, x: session.add_messages(x), messages)
    refused(offline, lambda m, x: m.ingest(x), messages)


def test_a_message_from_the_future_is_refused_and_not_written(
    plain: Handle, look: Look, tenant: str
) -> None:
    messages = [Message(role="user", content="hi", at=datetime(9999, 1, 1, tzinfo=UTC))]
    session = plain.session("s")
    refused(plain, lambda _, x: session.add_messages(x), messages)
    refused(plain, lambda m, x: m.ingest(x), messages)
    assert "Turn" not in look.count(tenant)


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
