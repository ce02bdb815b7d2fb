"""The graph of provenance: what it shows, its limit, and what it leaves out."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from graphmem import Handle
from graphmem.explorer import graph
from tests.explorer.conftest import Browser, Checked, browser
from tests.plugins.everything import write_everything
from tests.plugins.graph import fresh_tenant
from tests.plugins.service import Api

MAY = datetime(2026, 5, 3, 9, tzinfo=UTC)


def _rows(page: str) -> list[list[str]]:
    """Return the cells of the table of relationships."""
    table = page[page.index('aria-label="Relationships"') :]
    rows = re.findall(r"<tr><td>(.*?)</td></tr>", table, re.S)
    return [
        [" ".join(re.sub(r"<[^>]+>", " ", cell).split()) for cell in row.split("</td><td>")]
        for row in rows
    ]


def _drawn(page: str) -> int:
    return page.count('<g class="node ')


def _opened(visitor: Browser, page: str, name: str) -> str:
    """Follow the link in the table that opens a node."""
    [link] = set(re.findall(rf'href="([^"]+)" aria-label="Open {name}', page))
    return visitor.get(link.replace("&amp;", "&"))


def test_a_belief_with_its_sources_and_versions(api: Api, tenant: str, plain: Handle) -> None:
    with plain.session("spring") as session:
        said: list[Any] = [{"role": "user", "content": "I live in Porto.", "at": MAY}]
        [turn] = session.add_messages(said).turn_ids
        quoted: dict[str, Any] = {"turn_id": turn, "episode_id": session.episode_id}
    plain.predicates.declare("lives_in", cardinality="ONE")
    belief = plain.observe("Ada", "lives_in", "Porto", at=MAY, **quoted).belief_id
    plain.observe("Ada", "lives_in", "Porto", kind="refuting", confidence=0.3, at=MAY)
    plain.observe("Ada", "lives_in", "Porto", confidence=0.2, at=MAY, event_id="gone")
    plain.beliefs.retract("gone")
    plain.remember("Ada lives in Porto.", claims=[("Ada", "lives_in", "Porto")], at=MAY)
    plain.observe("Ada", "lives_in", "Faro", at=MAY + timedelta(days=40))
    visitor = browser(api, tenant)
    link = next(it for it in Checked(visitor.get("/item", id=belief)).links if "/graph" in it)
    page = visitor.get(link)
    rows = _rows(page)
    verbs = [verb for _, verb, other in rows if "Ada lives in Porto" in other]
    assert (verbs.count("refutes"), verbs.count("supports")) == (1, 3)
    taken = [one for one, verb, _ in rows if "taken back" in one and verb == "supports"]
    assert len(taken) == 1
    assert any(verb == "claims" and "memory Ada lives in Porto." in one for one, verb, _ in rows)
    assert any(verb == "quotes" and "I live in Porto." in other for _, verb, other in rows)
    assert any(one.startswith("turn I live") and verb == "is from" for one, verb, _ in rows)
    assert all("outdated" in other for _, verb, other in rows if verb in {"supports", "refutes"})
    # The picture has a mark and a word for each status, and no line that others imply.
    assert re.search(r'class="node outdated focus">.*?○ outdated</text>', page, re.S)
    assert page.count('class="edge') == len(rows) - 1
    memory = _opened(visitor, page, "memory Ada lives in Porto")
    assert any("add" in one and verb == "states" for one, verb, _ in _rows(memory))
    [closed] = re.findall(r'href="([^"]+)" aria-label="Close', memory)
    assert closed == link


def test_the_graph_has_at_most_200_nodes_and_names_what_it_leaves_out(
    api: Api, tenant: str, plain: Handle, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain.predicates.declare("likes", cardinality="MANY")
    said = {"subject": "Ada", "predicate": "likes", "object": "tea"}
    times = [MAY + timedelta(minutes=n) for n in range(3_000)]
    belief = plain.observe_many({**said, "at": at} for at in times)[0].belief_id
    plain.observe_many({**said, "kind": "refuting", "at": at} for at in times[:9])
    visitor = browser(api, tenant)
    visitor.get("/graph", id=belief)
    start = time.monotonic()
    page = visitor.get("/graph", id=belief)
    assert time.monotonic() - start < 5
    assert _drawn(page) == 17
    shown = Checked(page).shown
    assert "2,992 events supporting it" in shown
    assert "1 event refuting it" in shown
    for _ in range(2):
        [more] = re.findall(r'href="([^"]+)" aria-label="Show more events supporting', page)
        page = visitor.get(more.replace("&amp;", "&"))
    assert "2,976 events supporting it" in Checked(page).shown
    assert _drawn(page) == 1 + 24 + 9
    monkeypatch.setattr(graph, "EACH", 150)
    page = visitor.get("/graph", id=belief, open=belief)
    assert _drawn(page) == graph.MAX_NODES == 200
    assert "at most 200" in Checked(page).shown
    left = re.findall(r"([\d,]+) events? (\w+) it", Checked(page).shown)
    assert left == [("2,810", "supporting")]
    assert "Show more" not in page
    monkeypatch.setattr(graph, "COUNTED", 1_000)
    left = re.findall(r"more than ([\d,]+) events", visitor.get("/graph", id=belief))
    assert left == ["850"]


def test_every_item_and_event_has_a_graph(api: Api, tenant: str, plain: Handle) -> None:
    known = write_everything(plain)
    visitor = browser(api, tenant)
    turn = plain.episodes.turns(known["episode"]).turns[0].id
    for one in (known["memory"], known["belief"], known["episode"], known["event"], turn):
        page = visitor.get("/graph", id=one)
        assert _drawn(page)
        for link in [it for it in Checked(page).links if it.startswith("/graph")][:5]:
            visitor.get("/graph", **dict(parse_qsl(urlsplit(link).query)))
    plain.supersede(str(plain.remember("The kettle is red.").memory_id), "The kettle is blue.")
    [new] = [one.id for one in plain.memories.list().memories if "blue" in one.content]
    page = visitor.get("/graph", id=new)
    assert [verb for _, verb, other in _rows(page) if "kettle is red" in other] == ["replaces"]
    visitor.get("/graph", 404, id="b_none")
    visitor.get("/graph", 404)
    browser(api, fresh_tenant(), "*").get("/graph", 404, id=known["memory"])
    hidden = plain.scope("user:ann").observe("Ann", "lives_in", "Porto").belief_id
    browser(api, tenant, "team:a").get("/graph", 404, id=hidden)
