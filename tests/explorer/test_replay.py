"""The replay of a recall: where each candidate was lost, and the way of the others."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from graphmem import Handle
from graphmem.client.recall_verbs import Replay
from graphmem.explorer.replay import Ways
from graphmem.model import Context, Recollection
from graphmem.rules import cutoff, ranking, watching
from tests.explorer.conftest import Checked, browser
from tests.plugins.bites import turn_bite
from tests.plugins.service import Api

MAY = datetime(2026, 3, 9, tzinfo=UTC)
ASKED = "Where does Ada live?"


@pytest.fixture
def page(api: Api, tenant: str, plain: Handle) -> str:
    """The replay of a question, one candidate of which is lost at each step."""
    plain.predicates.declare("lives_in", cardinality="ONE")
    plain.observe("Ada", "lives_in", "Porto", at=MAY)
    plain.observe("Ada", "lives_in", "Faro", at=MAY + timedelta(days=30))
    said: list[Any] = [{"role": "user", "content": "Where Ada does live is a big house."}] * 2
    plain.session("s").add_messages(
        [*said, {"role": "assistant", "content": "Ada does live. Noted!"}]
    )
    plain.reject(str(plain.remember("Ada does live where it is loud.").memory_id), reason="no")
    old = str(plain.remember("Ada does live in Beja, where it is hot.").memory_id)
    plain.supersede(old, "Ada does live in Guarda, where it is cold.")
    plain.remember(ASKED)
    plain.remember("Where does Ada live there? " * 150)
    plain.remember_many(f"Ada did live in place number {n}." for n in range(40))
    # A new server plans the queries of a recall for longer than a page may take.
    plain.recall(ASKED, limit=200, include_hidden=True)
    return browser(api, tenant).get("/replay", q=ASKED)


def _end(page: str, title: str) -> str:
    """Return what a page shows of the candidates that end at a step."""
    found = Checked(page).shown
    assert title in found, found
    return re.split(r"(?:Cut|Collapsed|Lost in|Never|No room)", found.split(title, 1)[1])[0]


def test_every_candidate_has_one_end_with_its_reason(page: str, plain: Handle) -> None:
    block = plain.context(ASKED)
    rows = re.findall(r'<tr>\n    <td>.*?href="/item\?id=([^"]+)"', page, re.S)
    assert rows[: len(block.ids)] == [*block.ids]
    assert len(set(rows)) == len(rows)
    assert "Ada does live" in _end(page, "In the block")
    assert "does not fit into 800 tokens" in _end(page, "No room in the block")
    assert "The list ends after 20" in _end(page, "Cut: after the limit")
    same = _end(page, "Collapsed: another result states the same")
    assert re.search(r"house\.\s+the same is stated by: Where Ada does live", same)
    assert "only the best 30 different texts are read" in _end(page, "Lost in fusion")
    hidden = _end(page, "Never a candidate: hidden from ordinary reads")
    assert "a person rejected it" in hidden
    assert "only what is current is searched" in hidden
    assert "Ada does live in Guarda" in hidden.split("Ada does live in Beja")[1]
    outvoted = _end(page, "Collapsed: outvoted, replaced or rejected")
    assert re.search(r"Ada lives in Porto\s+another value leads its slot", outvoted)


def test_the_numbers_are_those_of_the_recall(page: str, plain: Handle) -> None:
    steps = re.findall(r"<li><strong>(\d+)</strong> ([\w ]+) <span", page)
    counts = {name: int(count) for count, name in steps}
    ends = [int(n) for n in re.findall(r'<span class="dim">(\d+)</span></', page)]
    every = plain.recall(ASKED, limit=200, include_hidden=True).bites
    assert counts["block"] == len(plain.context(ASKED).ids) == ends[0]
    assert counts["limit"] == 20
    assert sum(ends) == len(every)
    by_id = {bite.id: bite for bite in plain.recall(ASKED, limit=20).bites}
    first = next(iter(plain.context(ASKED).ids))
    row = re.search(rf'id={first}">.*?</tr>', page, re.S)
    assert row is not None
    numbers = [int(n) for n in re.findall(r'"number">(\d+)</td>', row[0])]
    assert numbers[:2] == [by_id[first].vector_rank, by_id[first].bm25_rank]
    assert numbers[-1] == 1
    assert f"{by_id[first].score:.3f}" in row[0]


@pytest.mark.parametrize(
    ("ending", "words", "reason"),
    [
        (cutoff.Ending((), 3, None), "The tide is high.", "probability of 0.9%"),
        (cutoff.Ending((), 3, 0.25), "The tide is high.", "the best result is an answer to 25%"),
        (cutoff.Ending((), 3, None), "Thanks!", "it states nothing"),
    ],
)
def test_what_is_noise_has_its_probability(ending: cutoff.Ending, words: str, reason: str) -> None:
    steps, bite = watching.Steps(), turn_bite(1, words)
    order = ranking.Ranking({"beliefs": 1}, mu=0.0, trace_weight=0.0, pool=1, limit=1)
    steps.ranked(order, ranking.Candidates.of([]), None, [])
    fit = cutoff.Fit(late=1.0, similarity=2.0, candidates=0.0, constant=-6.0)
    others = [turn_bite(n, f"The {n}th tide is high.") for n in range(2, 7)]
    for step in ("read", "listed"):
        steps.listed(step, [*others, bite])
    steps.ended([*others, bite], ending, cutoff.Likeness({bite.id: 0.3}, 1, fit))
    block = Context(text="", ids=(), tokens=0, left_out=0)
    ways = Ways(Replay(steps, Recollection(bites=()), block), Recollection(bites=()))
    [why] = [one.why for one in ways.ends()[0].ways if one.id == bite.id]
    assert reason in why


def test_a_replay_is_reached_from_the_search_and_asks_for_a_question(
    api: Api, tenant: str, plain: Handle
) -> None:
    plain.remember("Ada lives in Faro.")
    visitor = browser(api, tenant)
    [link] = [one for one in Checked(visitor.get("/search", q=ASKED)).links if "/replay" in one]
    assert "Ada lives in Faro" in visitor.get(link)
    assert "Ask a question above" in visitor.get("/replay")
    early = visitor.get("/replay", q=ASKED, valid="2020-01-01")
    assert "This is the past" in early
    assert "In the block" not in early
