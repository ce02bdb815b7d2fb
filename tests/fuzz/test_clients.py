"""Every public method, called with what nobody should give: it answers, or refuses by name."""

from __future__ import annotations

import contextlib
import inspect
import os
from collections.abc import Callable, Iterator
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem import Handle
from graphmem.errors import GraphQueryError, InvalidInputError
from graphmem.settings import Settings
from tests.fuzz import wild
from tests.fuzz.wild import everything_of, refusal
from tests.isolation.calls import WRITES
from tests.plugins.clients import on_tenant
from tests.plugins.examples import few, is_deep
from tests.plugins.graph import Look, fresh_tenant
from tests.plugins.texts import unlike
from tests.plugins.twins import public, with_data

pytestmark = pytest.mark.timeout(3_600)

SENSIBLE: dict[str, Any] = {
    **dict.fromkeys(("content", "query", "statement", "about"), unlike(1)),
    **dict.fromkeys(("subject", "name", "scope"), "alice"),
    **dict.fromkeys(("predicate", "other"), "works_on"),
    **dict.fromkeys(("object", "object_"), "Atlas"),
    **dict.fromkeys(("belief", "belief_id", "item_id", "of", "target"), "b_" + "0" * 32),
    "reason": "wrong",
    **dict.fromkeys(("memory_id",), "m_" + "0" * 32),
    **dict.fromkeys(("episode_id", "event_id", "run_id", "turn_id"), "o1"),
    "beliefs": ["b_1", "b_2"],
    "statements": [unlike(2), unlike(3)],
    "proposal_ids": ["p"],
    "memories": [unlike(1)],
    "messages": [{"role": "user", "content": unlike(1)}],
    "observations": [{"subject": "a", "predicate": "b", "object": "c"}],
    "calls": [],
    "data": [],
    "source": "mem0",
    "what": "memory",
    "path": "no such folder/all.jsonl",
    "kind": "supporting",
    "strength": 0.7,
    "tool": "grep",
    "results": [],
    "ref": "a.md",
    "file": "MEMORY.md",
    "extractor": "rules",
    "dry_run": True,
}
"""What fits; parameters that are not here are left out unless they are drawn."""
UNTOUCHED = {"on_progress", "count_tokens", "model", "root"}
"""Callables, and what would fetch or read files of this machine."""


def parameters(method: str) -> dict[str, bool]:
    """Return what a method can be given, and whether it must be."""
    return {
        name: one.default is one.empty
        for name, one in inspect.signature(public()[method]).parameters.items()
        if name not in UNTOUCHED | {"self"}
    }


IN_SESSIONS = {"add_messages", "respond"}
METHODS = sorted(with_data() - IN_SESSIONS)
PARAMETERS = {method: parameters(method) for method in METHODS}


@st.composite
def calls(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """Draw a method, what fits it, and one or two arguments that are wild."""
    method = draw(st.sampled_from(METHODS))
    own = PARAMETERS[method]
    given = {name: SENSIBLE[name] for name, must in own.items() if must or name == "dry_run"}
    if own:
        names = st.lists(st.sampled_from(sorted(own)), min_size=1, max_size=2, unique=True)
        for name in draw(names):
            given[name] = draw(wild.values)
    return method, given


@pytest.fixture(scope="module")
def apart(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder to work in: files that a call is told to read or write are named from here."""
    before = Path.cwd()
    os.chdir(tmp_path_factory.mktemp("apart"))
    yield Path.cwd()
    os.chdir(before)


def test_every_method_can_be_called() -> None:
    assert all(
        name in SENSIBLE for own in PARAMETERS.values() for name, must in own.items() if must
    )


@few
@given(asked=st.lists(calls(), min_size=5, max_size=5))
def test_a_call_answers_or_is_refused_and_then_wrote_nothing(
    client: Handle,
    migrated: Settings,
    look: Look,
    apart: Path,
    asked: list[tuple[str, dict[str, Any]]],
) -> None:
    tenant = fresh_tenant()
    assert migrated.password is not None
    for method, given_ in asked:
        before = look.graph(tenant) if method in WRITES else None
        error = refusal(partial(attrgetter(method)(on_tenant(client, tenant)), **given_))
        assert not isinstance(error, GraphQueryError), (method, given_)
        assert migrated.password.get_secret_value() not in everything_of(error)
        if before is not None and isinstance(error, InvalidInputError):
            assert look.graph(tenant) == before, (method, given_)


@pytest.mark.parametrize("method", METHODS)
def test_every_parameter_meets_one_of_each_kind(client: Handle, apart: Path, method: str) -> None:
    call = attrgetter(method)(on_tenant(client, fresh_tenant()))
    fits = {of: SENSIBLE[of] for of, must in PARAMETERS[method].items() if must or of == "dry_run"}
    for place, name in enumerate(PARAMETERS[method]):
        for odd in wild.ONE_OF_EACH if is_deep() else wild.ONE_OF_EACH[place % 3 :: 3]:
            error = refusal(partial(call, **fits | {name: odd}))
            assert not isinstance(error, GraphQueryError), (name, odd)
            assert len(str(error)) < wild.LONGEST, (name, odd)


@given(names=st.tuples(wild.values, wild.values, wild.values), see=wild.values)
def test_a_handle_is_made_or_refused(client: Handle, names: tuple[Any, Any, Any], see: Any) -> None:
    tenant, scope, session = names
    ways: list[Callable[[], Any]] = [
        lambda: on_tenant(client, tenant),
        lambda: client.scope(scope, read_scopes=see),
        lambda: client.session(session, agent=see),
    ]
    for way in ways:
        with contextlib.suppress(InvalidInputError):
            way()


@few
@given(messages=wild.values, search=st.tuples(wild.values, wild.values, wild.values))
def test_a_session_takes_messages_or_refuses_them(
    client: Handle, messages: Any, search: tuple[Any, Any, Any]
) -> None:
    session = on_tenant(client, fresh_tenant()).session("s")
    query, tool, results = search
    for way in (
        lambda: session.add_messages(messages),
        lambda: session.respond(messages, lambda _: results),
        lambda: session.usage.log_search(query, tool=tool, results=results),
    ):
        with contextlib.suppress(InvalidInputError):
            way()
