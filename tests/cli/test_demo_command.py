"""`graphmem demo`: what it answers with and without belief, and that a second run adds nothing."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from graphmem import AsOf, BeliefBite, Handle, Message
from graphmem.cli import demo, options
from graphmem.models import open_embedder
from graphmem.ports import Role, run_now
from graphmem.settings import Settings
from graphmem.testing import HashEmbedder
from tests.plugins.clients import on
from tests.plugins.graph import Look, fresh_tenant, unfaded

Run = Callable[..., Any]
NOW = datetime(2026, 5, 29, 12, tzinfo=UTC)
"""Day of the first run: the conversation moves back by 7 weeks."""


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> str:
    """A tenant of this test's own to show everything on."""
    tenant = fresh_tenant()
    monkeypatch.setattr(demo, "TENANT", tenant)
    return tenant


def test_a_second_run_adds_nothing(
    run: Run, elsewhere: str, look: Look, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(options, "now", lambda: NOW)
    first = run("demo", "--json")
    assert first.code == 0
    assert first.data["messages"] == {"stored": 159, "added": 159}
    events, nodes = look.given_events(elsewhere), look.count(elsewhere)
    facts = {"walnuts", "Helena", "Joost", "Porto"}
    assert nodes["Belief"] == 2 + len(facts) + len({"Lisbon", "Porto"}) + len({"crowded", "late"})
    assert {"demo-nov24-05", "demo-dec17-03", "demo-feb12-03"} < events.keys()

    # Some weeks later the conversation that is stored keeps its dates.
    monkeypatch.setattr(options, "now", lambda: NOW + timedelta(weeks=5))
    second = run("demo", "--json").data

    assert (look.given_events(elsewhere), look.count(elsewhere)) == (events, nodes)
    assert unfaded(second["compared"]) == unfaded(first.data["compared"])
    assert second["compared"]["question"] == demo.ASKED
    for policy in ("flat", "esper"):
        values = [bite["belief"]["object"] for bite in second["compared"][policy]["bites"]]
        assert sorted(values) == ["Atlas", "Borealis"]
    shown = run("demo").out
    assert "159 messages, 0 of them new." in shown
    flat, esper = (second["compared"][policy]["bites"][0] for policy in ("flat", "esper"))
    beside = [f"{bite['score']:.3f}  {bite['belief']['object']}" for bite in (flat, esper)]
    assert re.search(rf"^ 1 +{beside[0]} +{beside[1]} *$", shown, re.MULTILINE)
    assert f"By similarity alone the answer is {flat['belief']['object']}." in shown
    tenant_scope = f"--tenant {elsewhere} --scope user:alice"
    why, picture, *_, own, found, agent, _python = shown.splitlines()[-7:]
    assert why.endswith(f" graphmem why {flat['belief']['id']} {tenant_scope}")
    assert picture.endswith(f" graphmem server browse slot Alice deploys_from {tenant_scope}")
    # The server of this test is not the managed one, so no step stops it.
    assert own.endswith('graphmem memory remember "I live in Porto."')
    assert found.endswith("graphmem recall where do I live")
    assert agent.endswith("graphmem mcp --print-config claude-code")
    stale_answers_are_superseded_or_marked(first.data, shown)
    a_correction_in_a_chat_changes_the_block(first.data, second, shown)
    the_same_evidence_counts_more_from_three_conversations(first.data, shown)


def test_the_conversation_ends_some_days_ago(
    run: Run, elsewhere: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(options, "now", lambda: datetime.now(UTC))
    run("demo")
    where = ("--tenant", elsewhere, "--scope", "user:alice")
    [newest, *_] = run("episode", "list", "--json", *where).data["episodes"]
    ago = datetime.now(UTC) - datetime.fromisoformat(newest["occurred_at"])
    assert timedelta(days=2) <= ago < timedelta(days=9)
    assert newest["session_id"] == newest["occurred_at"][:10]
    recalled = run("recall", "planning", "meeting", "--json", *where).data["bites"]
    assert recalled[0]["trace"] > 0.5


def stale_answers_are_superseded_or_marked(done: Any, shown: str) -> None:
    assert [one["newer"].split()[0] for one in done["superseded"]] == ["I", "Priya", "I"]
    stale = {one["older"] for one in done["superseded"]}
    for answer in done["answers"]:
        texts = [bite["memory"]["content"] for bite in answer["found"]["bites"]]
        assert not stale & set(texts)
    [cache] = [a for a in done["answers"] if "cache" in a["question"]]
    marked = {b["memory"]["content"]: b["outdated_by"] for b in cache["found"]["bites"]}
    assert marked["The cache keeps entries for 300 seconds."] is not None
    assert "superseded, since another one replaced it" in shown
    assert "Tomás is on call for Tidepool. → Priya is on call for Tidepool." in shown


def a_correction_in_a_chat_changes_the_block(first: Any, second: Any, shown: str) -> None:
    first = first["correction"]
    assert first == second["correction"]
    before, after = (first[part][2:-1] for part in ("before", "after"))
    assert '"I live in Lisbon."' in before[0]
    assert "outdated" not in before[0].partition('"')[0]
    assert "Porto" in after[0]
    [lisbon] = [line for line in after if '"I live in Lisbon."' in line]
    assert "outdated" in lisbon.partition('"')[0]
    assert after.index(lisbon) > 0
    for line in (f"Block for a prompt: {demo.CHAT_ASKED}", f"after she wrote: {demo.CHAT[-1][1]}"):
        assert line in shown
    assert shown.index(before[0]) < shown.index("after she wrote") < shown.index(after[0])


def the_same_evidence_counts_more_from_three_conversations(done: Any, shown: str) -> None:
    three, one = done["counted"]
    assert (three["object"], three["reinforcement_count"]) == (demo.IN_THREE, 3)
    assert (one["object"], one["reinforcement_count"]) == (demo.IN_ONE, 1)
    assert three["belief"] == pytest.approx(1 / (1 + math.prod(1 - c for c in demo.CONFIDENCES)))
    assert one["belief"] == pytest.approx(1 / (1 + 1 - max(demo.CONFIDENCES)))
    assert re.search(r"^late +3 +0\.94 *$", shown, re.MULTILINE)
    assert re.search(r"^crowded +1 +0\.77 *$", shown, re.MULTILINE)


@pytest.mark.parametrize(
    ("today", "last"),
    [
        ("2026-07-17", "2026-07-09"),
        ("2026-07-18", "2026-07-16"),
        ("2026-01-01", "2025-12-25"),
    ],
)
def test_a_message_moves_by_whole_weeks(
    plain: Handle, monkeypatch: pytest.MonkeyPatch, today: str, last: str
) -> None:
    monkeypatch.setattr(options, "now", lambda: datetime.fromisoformat(f"{today}T23:00:00+00:00"))
    goodbye = Message(
        role="user",
        content="From 11 July to 25 July, as since March. It may rain on a Friday.",
        id="jul09-11",
        session="2026-07-09",
        at=datetime(2026, 7, 9, 16, 37, tzinfo=UTC),
    )
    weeks = demo.weeks_later(plain, [goodbye])
    found = demo.moved(goodbye, weeks)
    assert found.session == last
    assert found.at is not None
    assert found.at.strftime("%Y-%m-%d %A") == f"{last} Thursday"
    assert found.id == f"{found.at:%b%d}-11".lower()
    if weeks == 0:
        assert found == goodbye
    if last == "2026-07-16":
        assert found.content == (
            "From 18 July to 1 August, as since March. It may rain on a Friday."
        )


class Nearest(HashEmbedder):
    """Puts a question onto the text that it was told."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text

    async def embed(self, texts: Any, role: Role) -> Any:
        return await super().embed([self.text] if role is Role.QUERY else texts, role)


def recorded(memory: Handle) -> Handle:
    """Keep what the demo needs of its conversation, and its evidence."""
    at = {"jan12-05": (1, 12), "feb04-03": (2, 4), "apr02-03": (4, 2)}
    said = [
        Message(
            role="user",
            content=f"I deploy Tidepool from {value}.",
            id=message_id,
            session=message_id[:5],
            at=datetime(2026, *at[message_id], tzinfo=UTC),
        )
        for message_id, value, _ in demo.SEEN
    ]
    memory.ingest(said)
    demo.observe(memory, said)
    demo.observe(memory, said)
    return memory


@pytest.fixture
def seen(plain: Handle) -> Handle:
    """A memory with the demo's evidence."""
    return recorded(plain.scope("user:alice"))


def best(bites: Any) -> BeliefBite:
    assert isinstance(bites[0], BeliefBite)
    return bites[0]


def told(memory: Handle) -> tuple[demo.PolicyComparison, str]:
    """Return the findings of the demo, and how it shows them."""
    compared = demo.compare(memory)
    return compared, " ".join(str(part) for part in demo._side_by_side(compared))


def test_belief_answers_with_the_newer_value_whatever_lies_nearer(seen: Handle) -> None:
    compared, said = told(on(seen, embedder=Nearest("Alice deploys Tidepool from Borealis")))
    flat, esper = best(compared.flat.bites), best(compared.esper.bites)
    assert (flat.belief.object, esper.belief.object) == ("Borealis", "Atlas")
    # The index rounds the vectors of a large graph.
    assert flat.score == pytest.approx(1.0, abs=0.01)
    assert esper.belief.belief == pytest.approx(0.9)
    assert flat.belief.belief == pytest.approx(0.8 * 2.718281828**-2.7)
    assert flat.lost
    assert "lowered Borealis to 0.05; Atlas has 0.90." in said

    compared, said = told(on(seen, embedder=Nearest("Alice deploys Tidepool from Atlas")))
    assert best(compared.flat.bites).id == best(compared.esper.bites).id
    assert "Belief gives the same answer" in said


def test_the_evidence_stands_in_the_conversation(seen: Handle) -> None:
    slot = seen.current("Alice", "deploys_from", as_of=AsOf(valid=datetime(2026, 3, 1, tzinfo=UTC)))
    assert [c.object for c in slot.candidates] == ["Borealis"]
    belief = seen.recall(demo.ASKED, kinds=("belief",)).bites[0]
    assert isinstance(belief, BeliefBite)
    [reason] = belief.reasons
    assert reason.episode_id == seen.session("apr02").episode_id
    assert reason.at == datetime(2026, 4, 2, tzinfo=UTC)


def test_by_the_offline_embedder_the_older_value_lies_nearer(encoder_settings: Settings) -> None:
    """So that the two answers of the demo differ; tests/docs runs it with this model."""
    embedder = open_embedder(encoder_settings, awaited=False)
    texts = [f"Alice deploys Tidepool from {value}" for value in ("Borealis", "Atlas")]
    [asked] = run_now(embedder.embed([demo.ASKED], Role.QUERY))
    borealis, atlas = run_now(embedder.embed(texts, Role.DOCUMENT)) @ asked
    assert borealis > atlas + 0.002
