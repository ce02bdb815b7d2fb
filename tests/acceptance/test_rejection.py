"""Rejection: what a person rejected stays inactive, whatever states, computes or expires it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from graphmem import AsOf, ConsolidationPolicy, GraphMem, Handle, Message, Outcome
from graphmem.errors import RejectedError
from graphmem.settings import Settings
from graphmem.testing import FrozenClock
from tests.acceptance.surfaces import OverMcp, Surface
from tests.plugins.clients import on
from tests.plugins.everything import AT_ONCE
from tests.plugins.graph import Look

MAY = datetime(2026, 5, 4, 9, tzinfo=UTC)
DAY = timedelta(days=1)
WRONG = ("alice", "lives_in", "Lisbon")
SENTENCE = "The spare key of the boathouse lies under the slate."
SPELLINGS = (
    "the SPARE key of the boathouse lies under the slate!",
    "The spare key of the boathouse lies\u200b under the slate.",
    "The spare k\u0435y of the boathouse lies under the slate.",
    "\uff34he spare key of the boathouse lies under the slate",
)
PARAPHRASE = "Look below the slate for the second key to the boathouse."


def values(memory: Handle, as_of: AsOf | None = None) -> list[str]:
    """Return the values of the slot that reads return."""
    return [one.object for one in memory.current("alice", "lives_in", as_of=as_of).candidates]


def test_laundering_leaves_it_inactive(surface: Surface) -> None:
    surface.observe(*WRONG)
    assert surface.current("alice", "lives_in") == ["Lisbon"]
    surface.reject(*WRONG)
    surface.observe("alice", "lives_in", "Porto")
    for _ in range(3):
        surface.observe("alice", "lives_in", "Lisbon")
    assert surface.current("alice", "lives_in") == ["Porto"]
    assert "Lisbon" not in surface.prompt("where does alice live?")


def test_any_number_of_sources_does_not_corroborate_it(plain: Handle) -> None:
    plain.reject(WRONG, reason="never lived there")
    for n, kind in enumerate(("EXPLICIT", "TOOL", "RULE", "CLASSIFIER", "EXTRACTOR")):
        plain.observe(*WRONG, source_type=kind, source=f"source {n}", confidence=1.0)
    plain.remember("Alice lives in Lisbon.", claims=[WRONG])
    assert values(plain) == []
    plain.observe("alice", "lives_in", "Porto", confidence=0.6)
    assert values(plain) == ["Porto"]
    plain.unreject(WRONG, reason="she moved")
    assert "Lisbon" in values(plain)


def test_it_outlives_every_job(client: GraphMem, plain: Handle, tenant: str) -> None:
    done = plain.remember(SENTENCE, at=MAY)
    plain.observe(*WRONG, at=MAY)
    plain.observe("alice", "lives_in", "Porto", at=MAY)
    plain.reject(str(done.memory_id), reason="a joke", at=MAY + DAY)
    plain.reject(WRONG, reason="never lived there", at=MAY + DAY)
    later = on(client, clock=FrozenClock(datetime.now(UTC) + 400 * DAY))
    later.run_jobs(tenants=[tenant])
    plain.usage.prune(policy=AT_ONCE, dry_run=False)
    plain.usage.roll_up(days=0, dry_run=False)
    plain.consolidate(policy=ConsolidationPolicy(min_episodes=1))
    plain.admin.rebuild()
    assert plain.admin.verify().wrong == ()
    for at in (None, AsOf(valid=datetime.now(UTC) + 4_000 * DAY)):
        assert values(plain, at) == ["Porto"]
        assert (
            plain.recall("where is the key of the boathouse?", kinds=("memory",), as_of=at).bites
            == ()
        )
    hidden = plain.recall(
        "where is the key of the boathouse?", include_hidden=True, kinds=("memory",)
    )
    assert [one.text for one in hidden.bites] == [SENTENCE]


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_look_alikes_are_refused_and_a_paraphrase_passes(plain: Handle, spelling: str) -> None:
    plain.reject(str(plain.remember(SENTENCE).memory_id), reason="a joke")
    done = plain.remember(spelling)
    assert (done.outcome, done.memory_id) == (Outcome.REJECTED, None)
    assert plain.recall("where is the spare key?").bites == ()
    with pytest.raises(RejectedError):
        plain.supersede(str(plain.remember("The shed is locked.").memory_id), spelling)
    assert plain.remember(PARAPHRASE).outcome is Outcome.INSERTED_NEW
    assert PARAPHRASE in [one.text for one in plain.recall("where is the second key?").bites]


def test_extracting_it_again_does_not_revive_it(plain: Handle, look: Look, tenant: str) -> None:
    def extracted(session: str) -> int:
        plain.session(session).add_messages(
            [Message(role="user", name="Alice", content="I live in Lisbon.", at=MAY)]
        )
        return len(plain.extract(session_id=session, extractor="rules").proposals)

    assert extracted("first") == 1
    [slot] = plain.beliefs.slots().slots
    known = (slot.subject, slot.predicate)
    assert [one.object for one in plain.current(*known).candidates] == ["Lisbon"]
    plain.reject((*known, "Lisbon"), reason="never lived there")
    assert extracted("second") == 1
    assert plain.current(*known).candidates == ()
    # No second belief is made of it.
    assert len(look.beliefs(tenant)) == 1


def test_no_second_memory_or_belief_is_made_of_it(plain: Handle, look: Look, tenant: str) -> None:
    done = plain.remember(SENTENCE)
    plain.observe(*WRONG)
    plain.reject(str(done.memory_id), reason="a joke")
    plain.reject(WRONG, reason="never lived there")
    before = {one: look.count(tenant)[one] for one in ("Memory", "Belief")}
    for spelling in (SENTENCE, *SPELLINGS):
        plain.remember(spelling)
    plain.observe_many([dict(zip(("subject", "predicate", "object"), WRONG, strict=True))] * 3)
    after = {one: look.count(tenant)[one] for one in ("Memory", "Belief")}
    assert after == before == {"Memory": 1, "Belief": 1}


def test_a_model_neither_rejects_nor_takes_back(
    known: Settings, plain: Handle, tenant: str
) -> None:
    plain.observe(*WRONG)
    plain.reject(WRONG, reason="never lived there")
    mcp = OverMcp(known, tenant, plain)
    mcp.observe(*WRONG)
    assert mcp.current("alice", "lives_in") == []
    assert not [name for name in mcp.tools() if "reject" in name]
