"""Evidence: what a prompt states has a source, and goes and comes back with it."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from graphmem import Handle, Message
from graphmem.errors import NotFoundError
from tests.client.test_forgetting import holding
from tests.plugins.clients import on_tenant
from tests.plugins.episodes import FEW, SWIMS, tell
from tests.plugins.graph import Look, fresh_tenant

MAY = datetime(2026, 5, 4, 9, tzinfo=UTC)
MARK = "Xylander"
KEPT = "Quintavalle"
AGENT = "who is the agent of Alice?"
FACTS = {
    "what is the code of the north gate?": "The code of the north gate is 84-KESTREL-1907.",
    "which serial number has the pump?": "The pump has the serial number zR7qX9-LL42-0b3c.",
    "what does the boiler part cost?": "The boiler part costs 1,873.46 euros.",
}


def cited(block: str) -> list[str]:
    """Return the ids that a block cites."""
    return re.findall(r"^\[(\w+)\]", block, re.MULTILINE)


def test_every_line_of_a_prompt_resolves_to_a_source(plain: Handle) -> None:
    tell(plain, SWIMS)
    plain.consolidate(policy=FEW)
    plain.remember("The cold lake is closed in winter.", claims=[("lake", "closed_in", "winter")])
    plain.observe("Alice", "swims_in", "the cold lake", cardinality="ONE")
    block = plain.context("who swims across the cold lake?", limit=50, tokens=2_000)
    ids = cited(block.text)
    assert len(ids) == len(block.text.splitlines()) - 3  # The fence and its notice.
    assert {item_id.partition("_")[0] for item_id in ids} == {"m", "b", "t"}
    for item_id in ids:
        card = plain.expand(item_id)
        assert card.item.id == block.shown[item_id]
        if not item_id.startswith("t_"):
            assert plain.history(item_id)
    with pytest.raises(NotFoundError):
        plain.expand("m_" + "0" * 32)


@pytest.mark.parametrize("kind", ["episode", "memory", "belief"])
def test_deleting_a_source_reaches_everything_derived_and_spares_its_siblings(
    plain: Handle, look: Look, tenant: str, tmp_path: Path, kind: str
) -> None:
    known = {}
    for name in (MARK, KEPT):
        with plain.session(f"talk of {name}") as session:
            session.add_messages([Message(role="user", content=f"My agent is {name}.", at=MAY)])
            told = session.remember(
                f"The agent of Alice is called {name}.", claims=[("Alice", "agent", name)], at=MAY
            )
            seen = session.observe("Alice", f"trusts_{name}", name, at=MAY)
        known[name] = {
            "episode": session.episode_id,
            "memory": str(told.memory_id),
            "belief": seen.belief_id,
        }
    assert {"Memory.content", "Turn.text", "Belief.object"} <= set(holding(look, tenant, MARK))
    mine = known[MARK]
    plain.forget(kind, mine[kind], dry_run=False)
    with pytest.raises(NotFoundError):
        (plain.expand if kind == "episode" else plain.history)(mine[kind])
    if kind == "episode":
        left = holding(look, tenant, MARK)
        assert left == []
        assert MARK not in plain.context(AGENT).text
        assert MARK not in str(plain.recall(AGENT, include_hidden=True))
        plain.admin.export_to(tmp_path / "all.jsonl")
        assert MARK not in (tmp_path / "all.jsonl").read_text("utf-8")
    assert KEPT in plain.context(AGENT).text
    for sibling in known[KEPT].values():
        assert plain.expand(sibling).item.id == sibling
    assert plain.admin.verify().wrong == ()


def test_derived_data_is_dropped_and_comes_back(plain: Handle, look: Look, tenant: str) -> None:
    for text in FACTS.values():
        plain.remember(text, at=MAY)
        plain.remember(text, at=MAY + timedelta(days=3))
    look._driver.execute_query(
        "MATCH (m:Memory {tenant: $tenant}) SET m.trace = null, m.tenant_key = null, "
        "m.scope_key = null, m.facet_keys = null, m.facets = null",
        tenant=tenant,
    )
    dropped = [plain.recall(question).bites for question in FACTS]
    assert plain.admin.verify().wrong != ()
    plain.admin.rebuild()
    assert plain.admin.verify().wrong == ()
    for (question, text), before in zip(FACTS.items(), dropped, strict=True):
        found = plain.recall(question).bites
        assert found[0].text == text
        assert text in plain.context(question).text
        assert found != before
    # All of it is in the export, too, which has no derived data.
    other = on_tenant(plain, fresh_tenant())
    assert other.recall("what is the code of the north gate?").bites == ()
