"""Policies of the settings hold wherever a call gives none of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from graphmem import ConsolidationPolicy, Handle, PrunePolicy, RecallPolicy, UpkeepPolicy
from graphmem.settings import Settings
from graphmem.testing import FrozenClock
from graphmem.upkeep import PruneAction
from tests.plugins.clients import Door
from tests.plugins.episodes import MARCH, SWIMS, tell
from tests.plugins.ratings import Rate
from tests.plugins.texts import unlike

Configured = Callable[..., Settings]
LONG = "Ann moved to Porto in May. " * 40


@pytest.fixture
def configured(migrated: Settings) -> Configured:
    """Return the settings of the test server with the given tables."""
    own = {name: getattr(migrated, name) for name in migrated.model_fields_set}
    return lambda **tables: Settings.load({}, **own, **tables)


def test_consolidation(configured: Configured, door: Door, memory: Handle) -> None:
    with door.opened(configured(consolidation={"min_episodes": 3})) as few:
        for handle in (few, memory):
            tell(handle, SWIMS)
        assert few.consolidation_status().due
        assert not memory.consolidation_status().due
        assert few.consolidate(policy=ConsolidationPolicy(), dry_run=True).skipped
        assert [change.step for change in few.consolidate().changes] == ["create"]
        assert memory.consolidate().changes == ()


def test_consolidation_by_the_worker(configured: Configured, door: Door, tenant: str) -> None:
    with door.open(configured(consolidation={"min_episodes": 3})) as client:
        tell(client.tenant(tenant), SWIMS)
        report = client.run_jobs(tenants=[tenant], jobs=["consolidate"])
        assert [run.done for run in report.runs] == [1]


def test_graduation_and_compression(configured: Configured, door: Door, tmp_path: Path) -> None:
    tables = {"importance": 0.25, "graduate_days": 0, "compress_days": 2}
    with door.opened(configured(upkeep=tables)) as memory:
        then = door.on(memory, clock=FrozenClock(MARCH))
        then.episodes.add(episode_id="some", summary="We chose Porto.", importance=0.3, at=MARCH)
        then.episodes.add(episode_id="none", content=LONG, importance=0.2, at=MARCH)
        digest = tmp_path / "MEMORY.md"
        assert then.episodes.graduate(digest, policy=UpkeepPolicy(), dry_run=True).episodes == ()
        assert [one.episode_id for one in then.episodes.graduate(digest).episodes] == ["some"]
        later = door.on(memory, clock=FrozenClock(MARCH.replace(day=4)))
        assert later.episodes.compress(policy=UpkeepPolicy(), dry_run=True).episodes == ()
        assert [one.episode_id for one in later.episodes.compress().episodes] == ["none"]


def test_pruning(configured: Configured, door: Door, rate: Rate) -> None:
    with door.opened(configured(pruning={"archive_days": 2})) as memory:
        clock = FrozenClock(MARCH)
        then = door.on(memory, clock=clock)
        then.episodes.add(episode_id="text", content=LONG, at=MARCH)
        rate(then, {"text": 500})
        clock.set(MARCH.replace(day=4))
        assert then.usage.prune(policy=PrunePolicy()).items == ()
        assert [item.action for item in then.usage.prune().items] == [PruneAction.ARCHIVE]


def test_the_default_ranking(configured: Configured, door: Door) -> None:
    with door.opened(configured(recall={"max_results": 1})) as memory:
        memory.remember_many([unlike(n) for n in range(3)])
        assert len(memory.recall(unlike(1), min_score=-1).bites) == 1
        assert len(memory.context(unlike(1), min_score=-1).ids) == 1
        assert len(memory.recall(unlike(1), policy="flat", min_score=-1).bites) == 3
        assert len(memory.recall(unlike(1), policy=RecallPolicy(), min_score=-1).bites) == 3
