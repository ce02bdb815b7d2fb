"""No command calls it a success to change what is not there."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click
import pytest

from graphmem import Handle
from tests.client.test_short_ids import stored
from tests.plugins.command_tree import leaves
from tests.plugins.graph import Look

Run = Callable[..., Any]
T = TypeVar("T")
NOTHING = {"nothing": "m_" + "0" * 32, "no episode": "ep_" + "0" * 32}
ITEM_KINDS = {"memory", "belief", "turn", "episode"}
KINDS: dict[str, set[str]] = {
    "memory_id": {"memory"},
    "belief_id": {"belief"},
    "beliefs": {"belief"},
    "episode_id": {"episode"},
    "turn_id": {"turn"},
    "belief retract event_id": {"event"},
    "without": {"event"},
    "target": {"memory", "belief"},
    "of": {"belief"},
    "ref": {"memory"},
    "results": {*ITEM_KINDS, "word"},  # A search may find a file of any name.
    "expand item_id": ITEM_KINDS,
    "why item_id": {"memory", "belief"},
    "episode history item_id": {"memory", "belief", "episode"},
    "memory forget item_id": {"memory"},
    "proposal_ids": set(),
    "run_id": set(),
}
"""Kinds of ids that a parameter takes, in all commands or in one."""
OTHERS = {
    "content": "The tram is red.",
    "statement": "The tram is red.",
    "statements": "The tram is red.|The tram is blue.",
    "belief add-evidence kind": "supporting",
    "usage log-access kind": "memory",
    "strength": "0.8",
    "what": "memory",
    "subject": "ann",
    "predicate": "likes",
    "object": "tea",
    "query": "tea",
    "tool": "grep",
}
OPTIONS = {
    "--into": ["--into", "The tram is red."],
    "--reason": ["--reason", "a mistake"],
    "--apply": ["--apply"],
    "--tool": ["--tool", "grep"],
}


def _of(known: Mapping[str, T], path: str, name: str) -> T | None:
    return known.get(f"{path} {name}", known.get(name))


CALLS = [
    (path, command, one)
    for path, command in leaves().items()
    for one in command.params
    # `--event-id` and the id of `episode add` name the new event or episode.
    if _of(KINDS, path, str(one.name)) is not None and path != "episode add"
]


def test_the_commands_that_change_an_item_are_among_them() -> None:
    changing = {
        *("memory supersede", "memory deprecate", "memory restore", "memory reject"),
        *("memory unreject", "memory forget", "belief add-evidence", "belief revise"),
        *("belief split", "belief merge", "belief archive", "belief restore"),
        *("belief clear-flag", "belief reject", "belief unreject", "episode pin"),
        *("episode unpin", "episode restore", "proposal accept", "proposal dismiss"),
        *("belief retract", "usage restore-pruned"),
    }
    assert changing <= {path for path, _, _ in CALLS}


def test_an_id_of_another_kind_or_of_nothing_is_an_error_and_changes_nothing(
    run: Run, plain: Handle, look: Look, tenant: str
) -> None:
    """The client refuses every kind: see test_short_ids. Here, one of another kind, and nothing."""
    ids = stored(plain)
    other = plain.observe("ann", "drinks", "mate").belief_id
    before = look.count(tenant)
    given = {**ids, **NOTHING}
    for path, command, parameter in CALLS:
        allowed = _of(KINDS, path, str(parameter.name)) or set()
        wrong = next(kind for kind in ("memory", "belief", "turn", "event") if kind not in allowed)
        for kind in (wrong, "no episode" if "episode" in allowed else "nothing"):
            call = path.split()
            for one in command.params:
                if one is parameter and isinstance(one, click.Option):
                    call += [one.opts[-1], given[kind]]
                elif one.opts[0] in OPTIONS:
                    call += OPTIONS[one.opts[0]]
                elif one is parameter:
                    call += [given[kind], other] if one.name == "beliefs" else [given[kind]]
                elif isinstance(one, click.Argument) and (one.required or one.name == "statement"):
                    value = _of(OTHERS, path, str(one.name))
                    [right] = [value] if value else _of(KINDS, path, str(one.name)) or {"belief"}
                    call += value.split("|") if value else [ids[right]]
                    call += [other] * (one.name == "beliefs")
            done = run(*call, "--json")
            error = json.loads(done.err)["error"]
            assert (done.code, done.out, error["code"]) == (1, "", "not_found"), call
            assert (given[kind] in error["message"], bool(error["hint"])) == (True, True), call
        assert look.count(tenant) == before, path


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (("alias", "remove", "kate"), "not_found"),
        (("belief", "unreject", "kate", "likes", "tea", "--reason", "x"), "not_found"),
        (("admin", "reopen", "nowhere"), "not_found"),
        (("admin", "reopen-person", "kate"), "not_found"),
        (("admin", "erase-person", "kate", "--apply"), "not_found"),
        (("memory", "forget", "scope", "nowhere", "--apply"), "not_found"),
    ],
)
def test_what_was_never_done_cannot_be_taken_back(
    run: Run, look: Look, tenant: str, call: tuple[str, ...], said: str
) -> None:
    assert run("memory", "remember", "Maria drinks green tea.").code == 0
    before = look.count(tenant)
    done = run(*call, "--json")
    assert (done.code, json.loads(done.err)["error"]["code"]) == (1, said)
    assert look.count(tenant) == before


def test_what_changes_nothing_says_so(run: Run) -> None:
    memory_id = run("memory", "remember", "Maria drinks green tea.", "--json").data["memory_id"]
    done = run("memory", "unreject", memory_id, "--reason", "a mistake")
    assert done.out.startswith("Nothing changed. not rejected; event ")
    assert run("memory", "reject", memory_id, "--reason", "x").out.startswith("rejected; event ")
    again = run("memory", "reject", memory_id, "--reason", "x").out
    assert again.startswith("Nothing changed. rejected; event ")


def test_an_episode_without_turns_says_so(run: Run) -> None:
    episode_id = run("episode", "add", "--content", "A talk.", "--json").data["episode_id"]
    assert run("episode", "turns", episode_id).out == "No turns.\n"
