"""No command calls it a success to change what is not there."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import click
import pytest

from graphmem.cli import cli
from tests.plugins.graph import Look

Run = Callable[..., Any]
UNKNOWN = {
    "memory_id": "m_" + "0" * 32,
    "belief_id": "b_" + "0" * 32,
    "episode_id": "ep_" + "0" * 32,
    "item_id": "t_" + "0" * 32,
    "event_id": "e-unknown",
    "proposal_ids": "prop_" + "0" * 32,
    "run_id": "run-unknown",
    "target": "b_" + "1" * 32,
    "beliefs": f"b_{'2' * 32}|b_{'3' * 32}",
}
OTHERS = {
    "content": "The tram is red.",
    "statement": "The tram is red.",
    "statements": "The tram is red.|The tram is blue.",
    "kind": "supporting",
    "strength": "0.8",
    "what": "memory",
}
OPTIONS = {
    "--into": ["--into", "The tram is red."],
    "--reason": ["--reason", "a mistake"],
    "--apply": ["--apply"],
}


def _commands(group: click.Group, path: str = "") -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from _commands(command, f"{path}{name} ")
        else:
            yield f"{path}{name}", command


def _arguments(command: click.Command) -> list[str] | None:
    """Return a call with unknown ids; None if the command takes no id."""
    names = [one.name for one in command.params if isinstance(one, click.Argument)]
    if UNKNOWN.keys().isdisjoint(map(str, names)):
        return None
    call = [one for name in names for one in {**UNKNOWN, **OTHERS}[str(name)].split("|")]
    for option in {one.opts[0] for one in command.params} & OPTIONS.keys():
        call += OPTIONS[option]
    return call


CALLS = {
    path: call for path, command in _commands(cli) if (call := _arguments(command)) is not None
}


def test_the_commands_that_change_an_item_are_among_them() -> None:
    changing = {
        *("memory supersede", "memory deprecate", "memory restore", "memory reject"),
        *("memory unreject", "memory forget", "belief add-evidence", "belief revise"),
        *("belief split", "belief merge", "belief archive", "belief restore"),
        *("belief clear-flag", "belief reject", "belief unreject", "episode pin"),
        *("episode unpin", "episode restore", "proposal accept", "proposal dismiss"),
        *("belief retract", "usage restore-pruned"),
    }
    assert changing <= CALLS.keys()


@pytest.mark.parametrize("path", CALLS)
def test_an_unknown_id_is_an_error_and_changes_nothing(
    run: Run, look: Look, tenant: str, path: str
) -> None:
    assert run("memory", "remember", "Maria drinks green tea.").code == 0
    before = look.count(tenant)
    done = run(*path.split(), *CALLS[path], "--json")
    assert (done.code, done.out) == (1, "")
    error = json.loads(done.err)["error"]
    assert error["code"] == "not_found"
    assert any(one in error["message"] for one in CALLS[path])
    assert look.count(tenant) == before


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
