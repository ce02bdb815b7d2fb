"""Every command over a tenant of hostile texts: shown as data, with nothing a terminal obeys."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import hypothesis
import pytest

from graphmem import Handle
from graphmem.model import Status
from graphmem.settings import Settings
from tests.fuzz.test_commands import ran
from tests.plugins import hostile
from tests.plugins.children import variables_of
from tests.plugins.clients import on_tenant
from tests.plugins.command_tree import leaves
from tests.plugins.graph import driver_of, fresh_tenant
from tests.plugins.hostile_tenant import MAY, Tenant, filled, is_in

pytestmark = pytest.mark.timeout(3_600)

MOST = hypothesis.settings().max_examples
TEXTS, TENANTS = min(max(60, MOST * 2), 1_000), max(1, MOST // 200)
"""Hostile texts of a tenant, and tenants: 10,000 texts in all in the profile `deep`. One page of a
list holds all of a tenant."""
BAD = "x\x1b]0;owned\x07\x1b[2J\u202e[/etc/hosts] :smile:"
ODD = "x\u202e[/etc/hosts] :smile:"
"""The same without control characters, which hygiene refuses in facts and notes."""
FORGED = "memory m_1"
"""Begins a line of a hostile text, and no line of an output: that would be a view's own."""
COMMANDS = leaves()
LEFT_OUT = {
    "demo": "shows a conversation of its own",
    "server up": "starts a server",
    "admin procedures build": "compiles",
    "admin reembed": "changes the whole graph",
}
"""Run with arguments that they refuse, and no others."""


@dataclass(frozen=True)
class Line:
    """A command line, its exit code, and the fields whose texts it shows."""

    words: list[str]
    code: int = 0
    shows: tuple[str, ...] = ()


class Place(Tenant):
    """The tenant, its name, and a folder of files to be read or written."""

    folder: Path
    name: str = ""

    def each(self, kind: str, *words: str, **how: Any) -> list[Line]:
        """Return a line for each id of a kind, which is put in the place of ID."""
        ids = self.ids[kind]
        return [Line([i if word == "ID" else word for word in words], **how) for i in ids]

    def file(self, name: str, text: str) -> str:
        """Write a file and return its path."""
        path = self.folder / name
        path.write_text(text, "utf-8")
        return str(path)

    @property
    def slots(self) -> list[tuple[str, str]]:
        """Return subjects with their predicates."""
        names = self.ids["slot"]
        return list(zip(names[::2], names[1::2], strict=True))


def reading(at: Place) -> dict[str, list[Line]]:
    """Return lines of the commands that read what is stored."""
    found = [*at.ids["memory"], *at.ids["belief"]]
    all_of = [*found, *at.ids["turn"], *at.ids["session"], *at.ids["episode"]]
    query = ["zq", "lives", "in", "--limit", "1000", "--include-hidden"]
    page = ["--limit", "1000"]
    return {
        "recall": [Line(query, shows=("turn",)), Line([BAD, "--policy", BAD], 2)],
        "context": [Line(query)],
        "why": [Line([one]) for one in found],
        "expand": [Line([one]) for one in all_of],
        "memory get": at.each("memory", "ID"),
        "memory history": at.each("memory", "ID"),
        "memory chain": [*at.each("memory", "ID"), Line([BAD], 1)],
        "memory list": [
            Line([*(f"--status={one}" for one in Status), *page], shows=("memory", "tag"))
        ],
        "memory stale": [Line(page)],
        "belief list": [
            Line(
                ["--include-superseded", "--include-archived", *page], shows=("statement", "object")
            )
        ],
        "belief get": at.each("belief", "ID"),
        "belief slots": [Line(page, shows=("subject", "predicate", "object"))],
        "belief chain": at.each("belief", "ID"),
        "belief current": [Line([*slot]) for slot in at.slots],
        "belief evidence-for": at.each("belief", "ID"),
        "belief what-if": at.each("belief", "ID", "--refuting", "0.8"),
        "belief flip-set": at.each("belief", "ID"),
        "belief history": at.each("belief", "ID"),
        "belief provenance": at.each("belief", "ID"),
        "alias list": [Line([], shows=("alias", "other"))],
        "predicate list": [Line([], shows=("predicate",))],
        "proposal list": [Line(page, shows=("waiting",))],
        "belief timeline": [
            *at.each("belief", "ID"),
            *(Line([*slot]) for slot in at.slots),
            Line([BAD, BAD]),
        ],
        "usage audit": [Line([], shows=("session", "agent"))],
        "usage goals": [Line([])],
        "usage dashboard": [Line(["--limit", "1000"], shows=("session", "query", "tool"))],
        "usage pack": [Line(["--tokens", "20000"])],
        "usage prune-manifest": [Line([], shows=("pruned",))],
        "usage ratings": [Line(page)],
        "episode list": [Line([*page, "--include-archived"])],
        "session list": [Line(page, shows=("session",))],
        "scope list": [Line(page)],
        "tenant list": [Line(page)],
        "episode get": at.each("episode", "ID"),
        "episode turns": at.each("episode", "ID"),
        "admin metrics show": [Line(["--by-tenant", f"t {hostile.UNSEEN[0]}\x1b[2J"])],
    }


def writing(at: Place) -> dict[str, list[Line]]:
    """Return lines of the commands that write; most of them quote what they are given."""
    said = {"role": "user", "content": "I live in Porto.", "name": BAD, "session": BAD}
    talk = "\n".join(map(json.dumps, (said, {**said, "at": BAD}, {**said, BAD: 1}, [BAD])))
    note = ("--note", BAD, "--actor", BAD, "--source", BAD)
    odd = ("--note", ODD, "--actor", BAD, "--source", BAD)
    first, second, *_ = at.ids["belief"]
    memory = at.ids["memory"][0]
    return {
        "ingest": [
            Line([at.file(f"talk {hostile.UNSEEN[0]}.jsonl", talk), "--extract", "--rules"], 1)
        ],
        "memory remember": [Line([f"One more text. {BAD}", "--tag", BAD, "--source", BAD], 1)],
        "memory supersede": [Line([memory, "Another text of it.", "--reason", BAD])],
        "memory deprecate": [Line([memory, "--reason", BAD]), Line([BAD], 1)],
        "memory restore": [Line([memory, "--reason", BAD]), Line([BAD], 1)],
        "memory reject": [
            Line([at.ids["memory"][-1], "--reason", BAD, "--actor", BAD]),
            Line([BAD, "--reason", BAD], 1),
        ],
        "memory unreject": [
            Line([at.ids["memory"][-1], "--reason", BAD]),
            Line([BAD, "--reason", BAD], 1),
        ],
        "episode summarise": [
            Line(["--dry-run"]),
            *(Line([one]) for one in at.ids["session"][:2]),
            Line([BAD], 1),
        ],
        "episode restore": [Line([at.ids["episode"][0]]), Line([BAD], 1)],
        "episode history": [Line([at.ids["episode"][0]]), Line([BAD], 1)],
        "episode pin": [Line([at.ids["episode"][0]]), Line([BAD], 1)],
        "episode unpin": [Line([at.ids["episode"][0]]), Line([BAD], 1)],
        "belief observe": [
            Line([ODD, ODD, ODD, *odd, "--event-id", f"o {BAD}"]),
            Line([BAD, BAD, BAD, *note], 1),
        ],
        "belief believe": [Line([ODD, *odd]), Line([BAD, *note], 1)],
        "belief add-evidence": [
            Line([first, "supporting", "0.7", *odd]),
            Line([first, "supporting", "0.7", *note], 1),
        ],
        "belief extract": [
            Line(["--session-id", "waiting", "--rules"]),
            Line(["--session-id", BAD], 2),
        ],
        "belief import": [Line([at.file("o.jsonl", json.dumps({BAD: 1, "subject": BAD}))], 2)],
        "belief merge": [
            Line([first, second, "--into", ODD, "--reason", ODD]),
            Line([first, second, "--into", BAD, "--reason", BAD], 1),
        ],
        "belief split": [
            Line([at.ids["belief"][-1], f"{BAD} 1", f"{BAD} 2", "--reason", BAD], 1),
            Line([at.ids["belief"][-1], f"{ODD} 1", f"{ODD} 2", "--reason", ODD]),
        ],
        "belief revise": [Line([BAD, BAD], 1)],
        "belief archive": [Line([first, "--reason", BAD, *note])],
        "belief restore": [Line([first, "--reason", BAD, *note])],
        "belief reject": [Line([f"r {BAD}", BAD, BAD, "--reason", BAD])],
        "belief unreject": [Line([f"r {BAD}", BAD, BAD, "--reason", BAD])],
        "belief clear-flag": [Line([first, "--reason", BAD, *note])],
        "belief retract": at.each("event", "ID", *note),
        "alias add": [Line([f"a {BAD}", f"b {BAD}", *note])],
        "alias remove": at.each("alias", "ID"),
        "predicate declare": [Line([BAD, "--template", BAD], 2), Line([BAD, *note])],
        "proposal accept": [Line([BAD, *note], 1)],
        "proposal dismiss": [Line([BAD, *note], 1)],
        "consolidate": [Line(["--dry-run"], shows=("speaker",))],
        "episode add": [Line(["--episode-id", f"e {BAD}", "--summary", BAD])],
        "episode compress": [Line(["--dry-run"])],
        "episode graduate": [Line([str(at.folder / f"{BAD}.md".replace("/", ""))])],
        "usage log-search": [Line([BAD, "--tool", BAD, "--result", BAD])],
        "usage log-access": [Line(["file", BAD])],
        "usage restore-pruned": [Line([BAD], 1)],
        "usage prune": [Line([])],
        "usage rate": [Line([])],
        "usage roll-up": [Line([])],
    }


def serving(at: Place) -> dict[str, list[Line]]:
    """Return lines of the commands about the server, the schema and files."""
    memory, belief = at.ids["memory"][0], at.ids["belief"][0]
    note = ("--note", BAD, "--actor", BAD, "--source", BAD)
    file = str(at.folder / "all.jsonl")
    mem0 = json.dumps({"results": [{"id": BAD, "memory": BAD, BAD: BAD}, BAD]})
    return {
        "admin metrics serve": [Line(["--host", BAD], 2)],
        "worker": [
            Line(["--once", "--tenant", at.name, "--digests", str(at.folder / "digests")]),
            Line(["--once", "--tenant", f"w {BAD}"]),
            Line(["--job", BAD], 2),
        ],
        "mcp": [
            Line(["--list-tools"]),
            Line(["--list-tools", "--tools", "full"]),
            Line(["--tools", BAD], 2),
            *(
                Line(["--print-config", name, "--scope", BAD])
                for name in ("codex", "cursor", "vscode")
            ),
            Line(["--print-config", BAD], 2),
        ],
        "serve keys create": [
            Line([BAD, "--scope", BAD]),
            Line([BAD, "--right", BAD], 2),
        ],
        "serve keys list": [Line([])],
        "serve keys rotate": [Line([BAD], 1), Line([BAD, "--until", BAD], 2)],
        "serve keys audit": [Line([])],
        "serve keys revoke": [Line([BAD], 1)],
        "server status": [Line([])],
        "server doctor": [Line([], 0)],
        "server down": [Line([])],
        "server compact": [Line([], 3)],
        "server backup": [Line([f"{BAD}".replace("/", "")], 3)],
        "server restore": [Line([f"{BAD}".replace("/", "")])],
        "browse": [
            *(Line([one, "--print"]) for one in (memory, belief, BAD)),
            Line([memory, "--print", "--url", BAD]),
        ],
        "server browse": [
            *(
                Line([*of, way])
                for of in (["memory", memory], ["belief", belief])
                for way in BROWSE
            ),
            *(Line(["slot", *slot, way]) for slot in at.slots for way in BROWSE),
            Line(["recall", "zq", "--print"]),
            Line(["memory", BAD, "--print"], 1),
        ],
        "admin settings": [Line([])],
        "admin completion": [Line(["bash"]), Line([BAD], 2)],
        "admin browser": [Line(["--output", str(at.folder / "browser")])],
        "admin cypher list": [Line([])],
        "admin cypher show": [Line(["recall/current"]), Line([BAD], 1)],
        "admin procedures list": [Line([])],
        "admin migrate": [Line(["--check"])],
        "admin verify": [Line([])],
        "admin seal": [Line([])],
        "admin verify-export": [Line([file]), Line([at.file("odd.jsonl", "{}")], 2)],
        "admin rebuild": [Line([])],
        "admin backfill": [Line([])],
        "admin stats": [Line([])],
        "admin erase-person": [Line([at.slots[0][0]]), Line([f"unknown {BAD}"], 1)],
        "admin erasures": [Line([])],
        "admin reopen-person": [Line([BAD], 1), Line([BAD, *note], 1)],
        "admin verify-certificate": [Line([at.file("odd.json", json.dumps({BAD: BAD}))], 2)],
        "admin reopen": [Line([BAD], 1), Line([BAD, *note], 1)],
        "admin erase-tenant": [Line([BAD], 1)],
        "memory forget": [
            *(Line([kind, at.ids[kind][0]]) for kind in ("memory", "belief", "episode")),
            Line(["scope", "global"]),
            Line(["memory", BAD], 1),
        ],
        "admin export": [Line([file]), Line([file], 2)],
        "admin import": [
            Line([at.file("mem0.json", mem0), "--source", "mem0"], 1),
            Line([at.file("bad.jsonl", json.dumps({BAD: BAD}))], 2),
        ],
        "admin move": [Line(["--to", BAD], 2)],
    }


BROWSE = ("--print", "--query")
READING = tuple(reading(Place(ids=defaultdict(list))))


def checked(words: list[str], environ: dict[str, str]) -> tuple[Any, str, str]:
    """Run a command, and look for what a terminal would obey."""
    code, out, err = ran(words, environ)
    assert "Traceback" not in out + err, words
    assert hostile.found_in(out, styled=True) == set(), words
    lines = hostile.without_styles(out).splitlines()
    forged = [one for one in lines if one.lstrip().startswith(FORGED)]
    assert forged == [] or words[:2] == ["usage", "pack"], words
    assert hostile.found_in(hostile.PROGRESS.sub("", err), styled=True) == set(), words
    return code, out, err


@pytest.fixture(scope="module", params=range(TENANTS))
def place(
    migrated: Settings, client: Handle, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Place, Handle, dict[str, str]]]:
    """A tenant of hostile texts, filled once, and the variables that open it."""
    name, folder = fresh_tenant(), tmp_path_factory.mktemp("hostile")
    memory = on_tenant(client, name)
    made = filled(memory, TEXTS)
    at = Place(made.ids, made.texts, made.written)
    at.folder, at.name = folder, name
    _rate(migrated, name, at)
    memory.usage.prune(dry_run=False)
    environ = variables_of(migrated, name) | {
        "GRAPHMEM_EMBEDDER": "hash",
        "GRAPHMEM_HOME": str(folder / "home"),
        "COLUMNS": "1000",
    }
    before = Path.cwd()
    os.chdir(folder)
    yield at, memory, environ
    os.chdir(before)


def _rate(settings: Settings, tenant: str, at: Place) -> None:
    """Let an episode be rated so low that it is pruned."""
    with driver_of(settings) as driver:
        driver.execute_query(
            "MATCH (n:Episode {tenant: $tenant, id: $id}) "
            "MERGE (g:Rating {tenant: $tenant, id: $id, kind: 'Episode'}) "
            "SET g.scope = 'global', g.elo = 500.0, g.games = 20, g.touched_at = $at",
            tenant=tenant,
            id=at.ids["unused"][0],
            at=MAY,
        )


def test_every_command_is_run(place: tuple[Place, Handle, dict[str, str]]) -> None:
    at = place[0]
    given = reading(at) | writing(at) | serving(at)
    assert given.keys() | LEFT_OUT.keys() == COMMANDS.keys()


@pytest.mark.parametrize("command", READING)
def test_what_is_stored_is_shown_as_data(
    place: tuple[Place, Handle, dict[str, str]], command: str
) -> None:
    at, _, environ = place
    for line in reading(at)[command]:
        words = [*command.split(), *line.words]
        code, out, err = checked(words, environ | {"FORCE_COLOR": "1"})
        assert code == line.code, (words, out, err)
        plain = hostile.without_styles(out)
        for name in line.shows:
            missing = [one for one in at.texts[name] if not is_in(one, plain)]
            assert missing == [], (words, name, plain)
    for line in reading(at)[command][:2]:
        code, out, err = checked([*command.split(), *line.words, "--json"], environ)
        assert code == line.code, (line, out, err)
        told = json.dumps(json.loads(out), ensure_ascii=False) if out else ""
        for name in line.shows:
            texts = [json.dumps(one, ensure_ascii=False)[1:-1] for one in at.texts[name]]
            assert [one for one in texts if one not in told] == [], name


@pytest.mark.parametrize(
    "command", [one for one in COMMANDS if one not in READING and one not in LEFT_OUT]
)
def test_what_is_given_is_quoted_as_data(
    place: tuple[Place, Handle, dict[str, str]], command: str
) -> None:
    """After all reading, since these commands write."""
    at, _, environ = place
    for line in (writing(at) | serving(at))[command]:
        words = [*command.split(), *line.words]
        code, out, err = checked(words, environ | {"FORCE_COLOR": "1"})
        assert code == line.code, (words, out, err)
        plain = hostile.without_styles(out)
        assert all(is_in(one, plain) for name in line.shows for one in at.texts[name]), plain


def is_open(command: click.Command) -> bool:
    """Return whether a command takes any number of arguments."""
    return any(one.nargs == -1 for one in command.params)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_line_that_is_refused_is_quoted_as_data(command: str) -> None:
    for words in ([f"--{BAD}"], [BAD] * 9):
        if words[0] != BAD or not is_open(COMMANDS[command]):
            code, _, err = checked([*command.split(), *words], {})
            assert code == 2, err
