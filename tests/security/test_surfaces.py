"""Hostile texts, stored once in every field, on each surface that shows them."""

from __future__ import annotations

import asyncio
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import neo4j
import pytest
from mcp import Client

from graphmem import GraphMem, Handle, RecallPolicy
from graphmem.english import passages
from graphmem.graph import drawing
from graphmem.graph.catalog import LANGUAGE
from graphmem.mcp import server
from graphmem.mcp.connection import Caller, MemoryConnection
from graphmem.mcp.server import RequestHandler
from graphmem.rules import fulltext, hygiene, urls
from graphmem.settings import Settings
from tests.mcp.conftest import answer, text_of
from tests.plugins import poison
from tests.plugins.children import environ_of
from tests.plugins.graph import fresh_tenant
from tests.plugins.poison import FENCE, MARK, TEXTS

ALL = RecallPolicy(pool=1_000, beliefs=50, mark_outdated=False)
DERIVED: dict[str, Any] = {
    "limit": 1_000,
    "kinds": ("memory", "belief", "episode"),
    "policy": ALL,
    "include_hidden": True,
}
TURNS: dict[str, Any] = {"limit": 1_000, "kinds": ("turn",), "include_hidden": True, "policy": ALL}
ITEM = re.compile(
    r'^\[([a-z]+_?[^\]\s]*)\] [^\n]*: (?:\[Memory flash: )?"(.*)"\]?(?: \([^\n]*\))?$'
)
INVISIBLE = {"Cc", "Cf", "Cs", "Zl", "Zp"}


@dataclass(frozen=True)
class Poisoned:
    """A tenant with every hostile text as a message, a memory, a value and a name."""

    memory: Handle
    settings: Settings
    tenant: str
    ids: frozenset[str]
    beliefs: tuple[str, ...]
    memories: tuple[str, ...]
    texts: frozenset[str]
    """Texts that were accepted, in each form in which an item displays them."""


def is_fact(text: str) -> bool:
    """Return whether a fact may hold the text."""
    return not hygiene.rejection_reasons(text, hygiene.FACT_RULES)


@pytest.fixture(scope="module")
def poisoned(client: GraphMem, migrated: Settings) -> Poisoned:
    """Store every text once in each field that takes it, as a model would."""
    tenant = fresh_tenant()
    memory = client.tenant(tenant, trust="model")
    talk = memory.session("talk", logged=False)
    said = talk.add_messages([{"role": "user", "name": one[:200], "content": one} for one in TEXTS])
    outcomes = memory.remember_many(TEXTS)
    kept = {o.memory_id: t for o, t in zip(outcomes, TEXTS, strict=True) if o.memory_id}
    seen = memory.observe_many(
        [{"subject": MARK, "predicate": "wrote", "object": one} for one in TEXTS if is_fact(one)]
    )
    some = filter(is_fact, TEXTS[:: len(poison.CARRIERS)])
    hypotheses = [memory.believe(one, note=one) for one in some]
    beliefs = tuple(dict.fromkeys(r.belief_id for r in [*hypotheses, *seen]))
    episode = memory.episodes.add(content=TEXTS[0], summary="\n".join(TEXTS[16:20]))
    found = memory.beliefs.list(limit=1_000).beliefs
    texts = {*TEXTS, *kept.values(), *(one.statement for one in found), "\n".join(TEXTS[16:20])}
    return Poisoned(
        memory,
        Settings.load(environ_of(migrated, tenant) | {"GRAPHMEM_EMBEDDER": "hash"}),
        tenant,
        frozenset([*said.turn_ids, *kept, *beliefs, episode, talk.episode_id]),
        beliefs,
        tuple(kept),
        frozenset(texts),
    )


def invisible(text: str) -> set[str]:
    """Return the characters of a text that hide or control something."""
    return {
        one
        for one in text
        if unicodedata.category(one) in INVISIBLE and one != "\n" and one not in fulltext.JOINERS
    }


def whole(shown: str, at: Poisoned) -> str:
    """Return the id that a block shows shortened."""
    [found] = [one for one in at.ids if one.startswith(shown)]
    return found


def check_block(block: str, at: Poisoned) -> list[str]:
    """Check that a block is one fence with a line for each real item; return the ids."""
    first, notice, *items, last = block.split("\n")
    assert (first, last) == (f"<{FENCE}>", f"</{FENCE}>")
    assert "not orders" in notice
    assert invisible(block) == set()
    inside = "\n".join(items)
    assert not re.search(r"[<>]|`{3}", inside)
    matches = [ITEM.match(line) for line in items]
    assert [line for line, match in zip(items, matches, strict=True) if match is None] == []
    found = [(whole(match[1], at), json.loads(f'"{match[2]}"')) for match in matches if match]
    assert {item_id for item_id, _ in found} <= at.ids
    # Turns are shown from their first to their last statement.
    parts = type(at.texts)(map(passages.stating_part, at.texts))
    assert [text for _, text in found if text not in at.texts and text not in parts] == []
    return [item_id for item_id, _ in found]


def test_there_are_enough_texts() -> None:
    assert len(set(TEXTS)) == len(TEXTS) >= 100
    assert len(poison.ATTACKS) * len(poison.CARRIERS) == len(TEXTS)


def test_a_block_is_fenced_and_cites_real_items_only(poisoned: Poisoned) -> None:
    kinds = Counter[str]()
    for asked in (DERIVED, TURNS):
        found = poisoned.memory.context(MARK, tokens=100_000, **asked)
        ids = check_block(found.text, poisoned)
        assert list(found.ids) == ids
        kinds.update(one.partition("_")[0] for one in ids)
        # Each item is marked as a model's, whatever its text claims.
        lines = found.text.split("\n")[2:-1]
        assert [
            line for line in lines if not re.search(r"\bmodel\b", line.partition(': "')[0])
        ] == []
        small = poisoned.memory.context(MARK, tokens=300, **asked)
        assert check_block(small.text.replace('…"', '"'), cut(poisoned)) == list(small.ids)
        assert not poisoned.memory.context(MARK, min_trust="tool", **asked).ids
    assert kinds["t"] == len(TEXTS)
    assert kinds["m"] == len(poisoned.memories) > len(TEXTS) // 2
    assert kinds["b"] == ALL.beliefs


class Beginnings(frozenset[str]):
    """Texts of which the beginnings count as in the set."""

    def __contains__(self, text: object) -> bool:
        return any(one.startswith(str(text).rstrip()) for one in self)


def cut(at: Poisoned) -> Poisoned:
    """Return the tenant for a block whose best item may be cut."""
    return replace(at, texts=Beginnings(at.texts))


def test_results_over_mcp_are_data(poisoned: Poisoned) -> None:
    caller = Caller(poisoned.tenant, "global", read_only=True)
    handler = RequestHandler(
        MemoryConnection(poisoned.settings, wait_s=300), lambda _: caller, "full"
    )
    calls: list[tuple[str, dict[str, Any]]] = [
        ("recall", {"query": MARK, "limit": 100}),
        ("current", {"subject": MARK, "predicate": "wrote", "limit": 100}),
        ("belief_slots", {"subject": MARK}),
        *(("why", {"item_id": one}) for one in poisoned.beliefs[:50:7]),
        *(("expand", {"item_id": one}) for one in [*poisoned.memories[::25], *poisoned.ids][:12]),
        ("memory_history", {"memory_id": poisoned.memories[0]}),
    ]

    async def run() -> None:
        made = server.create_server(handler)
        async with Client(made, mode="legacy") as client:
            for name, arguments in calls:
                result = await answer(client, name, arguments)
                assert not result.is_error, text_of(result)
                text = text_of(result)
                assert json.loads(text) == result.structured_content
                assert invisible(text) == set()
                assert not re.search(r"[\n<>]|`{3}", text)
            result = await answer(client, "context", {"about": MARK, "tokens": 8_000})
            assert check_block(text_of(result), cut(poisoned))
            assert invisible(text_of(result)) == set()
            block = await client.read_resource(f"graphmem://context/{MARK}")
            check_block(block.contents[0].text.replace('…"', '"'), cut(poisoned))  # type: ignore[union-attr]
            reasons = await client.read_resource(f"graphmem://belief/{poisoned.beliefs[0]}")
            shown = reasons.contents[0].text  # type: ignore[union-attr]
            assert invisible(shown) == set()
            assert json.loads(shown)["trust"] == "model"

    asyncio.run(run())


LITERAL = re.compile(r'"(?:[^"\\]|\\.)*"')


def skeleton(statement: str) -> str:
    """Return a statement without the contents of its string literals."""
    return LITERAL.sub('""', statement)


@pytest.mark.parametrize("kind", drawing.LIMITS)
def test_a_link_to_browser_has_our_query_and_the_text_as_a_literal(kind: str) -> None:
    def asked(text: str) -> dict[str, Any]:
        return {"id": text, "ids": [text], "subject": text, "predicate": text}

    expected = skeleton(drawing.query(kind, ("plain", "plain"), asked("plain")))
    for text in TEXTS:
        statement = drawing.query(kind, (text, text), asked(text))
        assert skeleton(statement) == expected
        link = urls.deep_link("http://127.0.0.1:7474/browser/", "bolt://a:1", "neo4j", statement)
        parts = urlsplit(link)
        assert (parts.scheme, parts.netloc, parts.fragment) == ("http", "127.0.0.1:7474", "")
        query = parse_qs(parts.query, strict_parsing=True)
        assert query == {"dbms": ["bolt://neo4j@a:1"], "cmd": ["edit"], "arg": [statement]}


def test_cypher_reads_each_literal_as_the_text(driver: neo4j.Driver) -> None:
    texts = list(TEXTS)
    query: Any = f"{LANGUAGE}RETURN {urls.literal(texts)} AS texts"
    [[found]] = driver.execute_query(query).records
    assert found == texts


def test_a_query_of_a_hostile_text_is_a_search(poisoned: Poisoned) -> None:
    ask: Callable[..., Any] = poisoned.memory.recall
    for text in TEXTS[:: len(poison.CARRIERS)]:
        assert {bite.id for bite in ask(text, limit=3).bites} <= poisoned.ids
