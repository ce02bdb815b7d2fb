"""`graphmem server browse` and `graphmem admin browser`: the right query, never a password."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import click
import pytest

from graphmem import Handle
from graphmem.cli import browse
from graphmem.explorer import item_address
from graphmem.graph import catalog
from graphmem.local_server.styling import style_command, style_sheet
from graphmem.settings import Settings

Run = Callable[..., Any]
LINKED = "https://memory.example"


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every link that would have been opened."""
    found: list[str] = []
    monkeypatch.setattr(click, "launch", found.append)
    return found


@pytest.fixture
def asked(plain: Handle) -> dict[str, list[str]]:
    """What to ask for each kind of picture."""
    with plain.session("monday") as session:
        kept = session.remember("Ada lives in Porto.").memory_id
        episode = session.episode_id
    belief = plain.observe("Ada", "lives_in", "Porto").belief_id
    return {
        "memories": [],
        "memory": [str(kept)],
        "belief": [belief],
        "episode": [episode],
        "slot": ["ADA", "lives_in "],
        "chain": [belief],
        "recall": ["where", "does", "Ada", "live"],
    }


def test_an_item_is_opened_in_the_explorer(
    run: Run, launched: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    address = "http://127.0.0.1:8766/item?id=b_1%26x"
    assert run("browse", "b_1&x", "--print").out == f"{address}\n"
    assert run("browse", "b_1&x", "--json").data == {"url": address}
    assert launched == []
    run("browse", "b_1&x", "--url", "http://127.0.0.1:9/")
    assert launched == ["http://127.0.0.1:9/item?id=b_1%26x"]
    monkeypatch.setenv("GRAPHMEM_EXPLORER", "https://memory.example/")
    assert run("browse", "m_1", "--print").out == f"{item_address('m_1', LINKED)}\n"


def test_ids_are_links_on_a_terminal_only(
    run: Run, plain: Handle, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = plain.remember("Ada lives in Porto.")
    short, link = str(kept.memory_id)[:6], f"{LINKED}/item?id={kept.memory_id}"
    written = f"\x1b]8;id=[0-9]+;{re.escape(link)}\x1b\\\\(\x1b\\[[0-9;]*m)?{short}"
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b]8" not in run("memory", "list").out
    monkeypatch.setenv("GRAPHMEM_EXPLORER", LINKED)
    assert re.search(written, run("memory", "list").out)
    observed = run("belief", "observe", "Ada", "lives_in", "Porto").out
    assert re.search(rf"{LINKED}/item\?id=0[0-9a-f-]{{35}}\x1b", observed)
    assert "\x1b]8" not in run("memory", "list", "--json").out
    monkeypatch.delenv("FORCE_COLOR")
    assert "\x1b" not in run("memory", "list").out


@pytest.mark.parametrize("kind", browse.VIEWS)
def test_a_link_carries_the_query_and_opens(
    run: Run, launched: list[str], asked: dict[str, list[str]], kind: str, migrated: Settings
) -> None:
    assert migrated.password is not None
    ran = run("server", "browse", kind, *asked[kind], "--json")
    assert ran.code == 0
    assert launched == []
    assert ran.data["user"] == "neo4j"
    link = parse_qs(urlsplit(ran.data["url"]).query)
    assert link["cmd"] == ["edit"]
    assert link["arg"] == [ran.data["query"]]
    # Neo4j's server takes 20,000 characters; proxies and terminals less.
    assert len(ran.data["url"]) < 6_500

    shown = run("server", "browse", kind, *asked[kind])
    assert shown.out == f"{ran.data['url']}\n"
    assert "Log in as neo4j" in shown.err
    assert launched == [ran.data["url"]]
    assert run("server", "browse", kind, *asked[kind], "--print").out == shown.out
    assert run("server", "browse", kind, *asked[kind], "--query").out == f"{ran.data['query']}\n"
    assert len(launched) == 1
    assert migrated.password.get_secret_value() not in f"{ran.out}{shown.out}{shown.err}"


def test_a_page_further_on(run: Run, asked: dict[str, list[str]]) -> None:
    text = run(
        "server", "browse", "belief", *asked["belief"], "--limit", "3", "--skip", "9", "--query"
    )
    assert "LET skip = 9, page_size = 3" in text.out


@pytest.mark.parametrize("kind", ["memory", "belief", "episode", "chain"])
def test_nothing_has_this_id(run: Run, launched: list[str], kind: str) -> None:
    ran = run("server", "browse", kind, "nothing")
    assert ran.code == 1
    assert "not_found" in ran.err
    assert launched == []


def test_nothing_is_known(run: Run) -> None:
    assert "No beliefs in this slot" in run("server", "browse", "slot", "x", "y").err
    assert "No results for this query" in run("server", "browse", "recall", "anything").err


@pytest.mark.parametrize(
    "words", [["belief"], ["belief", "a", "b"], ["slot", "a"], ["recall"], ["memories", "a"], ["x"]]
)
def test_words_that_do_not_fit_are_usage(run: Run, words: list[str]) -> None:
    assert run("server", "browse", *words).code == 2


def test_a_search_for_a_picture_is_no_use_of_the_memory(
    run: Run, asked: dict[str, list[str]], look: Any, tenant: str
) -> None:
    before = look.count(tenant)
    run("server", "browse", "recall", *asked["recall"], "--print")
    assert look.count(tenant) == before


def test_where_browser_is_can_be_said(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHMEM_BROWSER", "https://browse.example.org/here/")
    monkeypatch.setenv("GRAPHMEM_DATABASE", "neo4j")
    link = run("server", "browse", "--print").out
    assert link.startswith("https://browse.example.org/here/?dbms=bolt%3A%2F%2Fneo4j%40127.0.0.1")
    assert "&db=neo4j&" in link


def test_files_for_browser(tmp_path: Path, run: Run) -> None:
    for _ in range(2):
        made = run("admin", "browser", "--output", str(tmp_path / "for"), "--json").data
    style = Path(made["style"]).read_text("utf-8")
    assert style == style_sheet()
    names = [name for name in catalog.names() if name.startswith("browser/")]
    with zipfile.ZipFile(made["queries"]) as packed:
        inside = {name: packed.read(name).decode() for name in packed.namelist()}
    beside = {
        f"graphmem/{path.name}": path.read_text("utf-8") for path in Path(made["folder"]).iterdir()
    }
    assert inside == beside
    assert set(inside) == {f"graphmem/{name.removeprefix('browser/')}.cypher" for name in names}
    for text in inside.values():
        lines = text.splitlines()
        assert lines[0].startswith("// graphmem: ")
        assert all(line.startswith("// ") and line.endswith(".") for line in lines[1:3])
        [params] = [line for line in lines if line.startswith("// :param ")]
        for name in re.findall(r":param (\w+) => ", params):
            assert any(line.startswith(f"// ${name}: ") for line in lines)
            assert f"${name}" in text.partition("CYPHER 25")[2]


def test_the_style_sheet_speaks_of_what_is_in_the_graph() -> None:
    from graphmem.nodes.declared import NODE_CLASSES, properties, relationships

    style = style_sheet()
    edges = {relation.kind for relation in relationships()}
    rules = re.findall(r'node\.(\w+) \{[^}]*caption: "\{(\w+)\}"', style)
    assert {label for label, _ in rules} >= {"Memory", "Belief", "Episode", "Turn", "Event"}
    for label, prop in rules:
        assert prop in properties(NODE_CLASSES[label]), f"{label}.{prop}"
    assert set(re.findall(r"relationship\.(\w+)", style)) <= edges
    name, _, command = style_command().partition(" ")
    sent = json.loads(command)
    assert name == "style"
    assert ";" not in command
    assert {label: sent[f"node.{label}"]["caption"] for label, _ in rules} == {
        label: f"{{{prop}}}" for label, prop in rules
    }
    assert set(sent) == set(re.findall(r"^([\w.]+) {$", style, re.MULTILINE))
