"""No proposal with an invented quote, a foreign turn or an echoed memory reaches the graph."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import count
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from graphmem import Handle, Turn
from tests.plugins.examples import examples
from tests.plugins.graph import Look
from tests.plugins.offers import JUNE

MEMORY = "Alice deploys the payments service from Atlas on Fridays."
FENCED = f'<graphmem>\n[m] memory: "{MEMORY}"\n</graphmem>'
PIECES = (
    "I moved to Lisbon",
    "I work at Acme",
    "Bob likes tea",
    "Alice deploys",
    "from Atlas on Fridays",
    MEMORY,
    FENCED,
    "since May",
)
OBJECTS = ("Lisbon", "Acme", "tea", "Atlas", "Fridays", "the Moon", "payments service")
words = st.lists(st.sampled_from(PIECES), min_size=1, max_size=3).map(" ".join)
spoken = st.tuples(st.sampled_from(["user", "user", "assistant", "tool"]), words)
names = count()


@st.composite
def quotes(draw: st.DrawFn, text: str) -> str:
    """Part of a text, of something else, or a text with a word changed."""
    kind = draw(st.sampled_from(["part", "piece", "changed", "any"]))
    tokens = text.split()
    if kind == "part":
        start = draw(st.integers(0, len(tokens) - 1))
        return " ".join(tokens[start : draw(st.integers(start + 1, len(tokens)))])
    if kind == "piece":
        return draw(st.sampled_from(PIECES))
    if kind == "changed":
        tokens[draw(st.integers(0, len(tokens) - 1))] = draw(st.sampled_from(OBJECTS)).upper()
        return " ".join(tokens)
    return draw(st.text(min_size=1, max_size=20))


def is_persons_own(quote: str, text: str) -> bool:
    """Whether a quote stands in what is left of a text when memory's words are taken out."""
    for own in (FENCED, FENCED.lower(), MEMORY, MEMORY.rstrip(".")):
        text = text.replace(own, " ~~~ ")
    return " ".join(quote.split()) in " ".join(text.split())


@settings(max_examples=examples(10, 60, 500))
@given(data=st.data(), said=st.lists(spoken, min_size=1, max_size=5), other=words)
def test_no_attack_reaches_the_graph(
    plain: Handle,
    look: Look,
    tenant: str,
    data: st.DataObject,
    said: Sequence[tuple[str, str]],
    other: str,
) -> None:
    memory = plain.scope(f"s{next(names)}")
    memory.remember(MEMORY)
    session = memory.session("own")
    assert session.context("where from does Alice deploy?").ids
    if data.draw(st.booleans(), label="in the log"):
        memory.usage.flush()
    messages = [{"role": role, "content": text, "at": JUNE} for role, text in said]
    session.add_messages(messages)
    elsewhere = memory.session("elsewhere").add_messages([{"role": "user", "content": other}])
    own = {turn.id: turn for turn in memory.episodes.turns(session.episode_id).turns}

    def attack(_: Sequence[Turn]) -> Any:
        ids = [*own, *elsewhere.turn_ids, "nowhere"]
        for _n in range(6):
            turn_id = data.draw(st.sampled_from(ids))
            text = own[turn_id].text if turn_id in own else other
            yield {
                "turn_id": turn_id,
                "quote": data.draw(quotes(text)),
                "subject": data.draw(st.sampled_from(["user", "Alice", "Bob", "Mallory"])),
                "predicate": "does",
                "object": data.draw(st.sampled_from(OBJECTS)),
                "confidence": data.draw(st.floats()),
            }

    done = memory.extract(session_id="own", extractor=attack)
    events = look.rows(
        "MATCH (e:Event {tenant: $tenant, source: 'extraction'})-[:QUOTES]->(t:Turn) "
        "WHERE e.scope = $scope RETURN e.id AS id, e.payload AS payload, t.id AS turn, "
        "e.confidence AS confidence, e.episode_id AS episode",
        tenant=tenant,
        scope=memory._state.context.scope,
    )
    assert {event["id"] for event in events} == {one.event_id for one in done.proposals}
    for event in events:
        turn = own[event["turn"]]
        assert turn.role == "user"
        assert event["episode"] in (session.episode_id, None)
        assert 0 <= event["confidence"] <= 1
        assert is_persons_own(json.loads(event["payload"])["quote"], turn.text)
    for one in done.proposals:
        assert one.subject != "Mallory"
        assert one.object != "the Moon"
