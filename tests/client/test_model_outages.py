"""A language model that is unavailable, for however long, loses nothing and uses up no attempt."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import neo4j
import pytest

from graphmem import ConsolidationPolicy, Handle
from graphmem.errors import ModelUnavailableError
from graphmem.jobs import schedule
from graphmem.settings import Settings
from graphmem.testing import FrozenClock, ScriptedLlm
from tests.client.test_consolidating_by_model import PAINTS, answer
from tests.plugins.clients import Door, on_tenant
from tests.plugins.episodes import FEW, MARCH, SWIMS, tell
from tests.plugins.examples import sample
from tests.plugins.faults import Interrupted
from tests.plugins.graph import driver_of, fresh_tenant

MINUTE = timedelta(minutes=1)
LATER = (
    "My neighbour repairs old wooden clocks in her cellar.",
    "In her cellar my neighbour repairs old wooden clocks.",
    "My neighbour still repairs old wooden clocks in her cellar.",
)


SHIFT = """
MATCH (c:Consolidation {tenant: $tenant})
SET c.retry_at = c.retry_at - duration({minutes: $minutes}),
    c.cursor = c.cursor - duration({minutes: $minutes})
"""


AGE = """
MATCH (n:Episode|Turn {tenant: $tenant})
SET n.recorded_at = n.recorded_at - duration('P1D')
"""


class World:
    """A scope with a worker that runs what is due, and a model that is away for some minutes.

    The server's clock cannot be set, so time passes by moving the stored times back.
    """

    def __init__(
        self, door: Door, memory: Handle, driver: neo4j.Driver, away: range, part: str = "model"
    ) -> None:
        self.embedder = Interrupted()
        llm = ScriptedLlm(self._reply)
        self.memory = door.on(memory, llm=llm, embedder=self.embedder)
        self.driver, self.away, self.part, self.minute = driver, away, part, 0
        self.requests: list[int] = []

    def _reply(self, prompt: Any) -> Any:
        self.requests.append(self.minute)
        down = self.part == "model" and self.minute in self.away
        return ModelUnavailableError() if down else answer(prompt.user)

    def consolidate(self) -> None:
        self.embedder.down = self.part == "embedder" and self.minute in self.away
        # The model's failures are in the report; without vectors nothing can be reported.
        with suppress(ModelUnavailableError) if self.embedder.down else nullcontext():
            self.memory.consolidate(policy=FEW, if_due=True)
        self.embedder.down = False

    def run(self, minutes: int, added: Mapping[int, Sequence[str]]) -> None:
        """Let minutes pass, with texts added at some of them, each as an episode of its own."""
        while self.minute < minutes:
            if self.minute in added:
                tell(self.memory, added[self.minute], first=self.minute // 2)
            self.consolidate()
            retry_at = self.memory.consolidation_status(policy=FEW).retry_at
            wait = 240.0 if retry_at is None else (retry_at - datetime.now(UTC)) / MINUTE
            following = min((at for at in added if at > self.minute), default=minutes)
            step = max(1, min(math.ceil(wait), following - self.minute))
            self.minute += step
            tenant = self.memory._state.context.tenant
            self.driver.execute_query(SHIFT, tenant=tenant, minutes=step)
        self.memory.consolidate(policy=FEW)

    def beliefs(self) -> dict[str, tuple[float, int]]:
        return {
            b.statement: (b.belief, b.supporting_episodes)
            for b in self.memory.beliefs.list().beliefs
        }


@pytest.fixture
def driver(migrated: Settings) -> Iterator[neo4j.Driver]:
    with driver_of(migrated) as opened:
        yield opened


@pytest.mark.parametrize("part", ["model", "embedder"])
@pytest.mark.parametrize("length", sample([60, 1, 600], 3))
def test_an_outage_of_any_length_changes_no_belief(
    door: Door, memory: Handle, driver: neo4j.Driver, length: int, part: str
) -> None:
    added = {0: SWIMS, 5: PAINTS, 400: LATER}
    worlds = [
        World(door, on_tenant(memory, fresh_tenant()), driver, away, part)
        for away in (range(0), range(length))
    ]
    for world in worlds:
        world.run(900, added)
    usual, hit = worlds
    assert len(usual.beliefs()) == 3
    assert hit.beliefs() == usual.beliefs()
    status = hit.memory.consolidation_status(policy=FEW)
    assert (status.clusters, status.retry_at, status.unavailable_since) == ((), None, None)
    assert (hit.embedder.missed > 0) is (part == "embedder")
    failed = sorted({minute for minute in hit.requests if minute in hit.away})
    # After 1, 2, 4, ... minutes, at most an hour: not every minute of ten hours.
    assert failed[:7] == [0, 1, 3, 7, 15, 31, 63][: len(failed)]
    assert all(later - earlier <= 61 for earlier, later in pairwise(failed))
    assert len(failed) <= {1: 1, 60: 6, 600: 16}[length]


@pytest.mark.parametrize("model", sample(["scripted", "none"], 2))
def test_an_outage_of_the_embedder_costs_the_worker_nothing(
    door: Door, driver: neo4j.Driver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str
) -> None:
    """Each job fails or waits while it is down, and does its whole work when it is back."""
    monkeypatch.setattr(schedule, "retry_after", lambda _: 0.0)
    for job in schedule.INTERVAL_S:
        monkeypatch.setitem(schedule.INTERVAL_S, job, 0.0)
    llm = ScriptedLlm(_worker_reply)
    known = door.settings.model_copy(update={"consolidation": FEW})
    left: list[Any] = []
    for outages in (0, 3):
        embedder, name = Interrupted(), fresh_tenant()
        clock = FrozenClock(MARCH + timedelta(days=21))
        ports = {"embedder": embedder, "clock": clock} | (
            {"llm": llm} if model == "scripted" else {}
        )
        with door.open(known) as opened:
            client = door.on(opened, **ports)
            handle = client.tenant(name)
            tell(handle, SWIMS)
            tell(handle, DECIDED, first=10)
            tell(handle, ["How was the garden? " * 80], first=20)
            clock.advance(timedelta(days=40))
            folder = tmp_path / name
            embedder.down = True
            for _ in range(outages):
                runs = client.run_jobs(tenants=[name], digests=folder).runs
                errors = {run.job: run.error for run in runs}
                assert errors["consolidate"] == errors["graduate"] == "model_unavailable"
                status = handle.consolidation_status()
                assert (status.fresh, status.last_run_at) == (5, None)
                # Consolidation with a model waits longer and longer; an hour passes.
                driver.execute_query(SHIFT, tenant=name, minutes=60)
            assert embedder.missed >= outages
            embedder.down = False
            for _ in range(2):
                report = client.run_jobs(tenants=[name], digests=folder)
                assert [run.error for run in report.runs] == [None] * len(report.runs)
            status = handle.consolidation_status()
            assert (status.clusters, status.unavailable_since, status.fresh) == ((), None, 0)
            left.append(_left(handle, folder))
    assert left[0] == left[1]
    beliefs, episodes, digest = left[0]
    assert [belief[2] for belief in beliefs] == [3]
    assert all(summary for summary, _, _, _ in episodes)
    assert any(compressed for _, _, compressed, _ in episodes)
    assert digest.count("- 2026-03-") == 1


DECIDED = (
    "I decided to buy the flat in Mill Lane with Ines. The papers are due on 4 May, and Ines "
    "signed them yesterday. We moved the meeting with Tom to 6 June. I will call Marek tomorrow.",
)


def _worker_reply(prompt: Any) -> Any:
    return {"proposals": []} if prompt.name == "extract" else answer(prompt.user)


def _left(handle: Handle, folder: Path) -> Any:
    beliefs = handle.beliefs.list(include_archived=True).beliefs
    episodes = handle.episodes.list().episodes
    digest = "".join(path.read_text("utf-8") for path in folder.rglob("MEMORY.md"))
    return (
        [(one.statement, one.belief, one.supporting_episodes) for one in beliefs],
        [(one.summary, one.importance, one.compressed, one.turns) for one in episodes],
        digest,
    )


def test_the_status_shows_what_waits_and_why(door: Door, memory: Handle) -> None:
    before = memory.consolidation_status()
    assert (before.due, before.clusters) == (False, ())
    assert before.reason == "consolidation starts at 10 episodes; the scope has 0"
    tell(memory, SWIMS)
    away = door.on(memory, llm=ScriptedLlm(lambda _: ModelUnavailableError()))
    done = away.consolidate(policy=FEW)
    assert [(one.code, one.attempts, one.given_up) for one in done.troubles] == [
        ("model_unavailable", 0, False)
    ]
    status = away.consolidation_status(policy=FEW)
    assert not status.due
    assert "the model has been unavailable since" in status.reason
    assert status.unavailable_since is not None
    assert status.retry_at is not None
    assert timedelta(seconds=50) < status.retry_at - status.unavailable_since <= MINUTE
    assert status.open_since is not None
    skipped = away.consolidate(policy=FEW, if_due=True)
    assert skipped.skipped == status.reason
    # Without the model, nothing has to wait for it.
    assert memory.consolidation_status(policy=FEW).due


def test_what_was_given_up_can_be_retried(door: Door, memory: Handle, driver: neo4j.Driver) -> None:
    tell(memory, SWIMS)
    llm = ScriptedLlm(lambda _: "nonsense")
    modelled = door.on(memory, llm=llm)
    policy = ConsolidationPolicy(min_episodes=1, max_attempts=2)
    for attempts in (1, 2):
        modelled.consolidate(policy=policy)
        # A day later its passages are no longer new, and are tried again all the same.
        driver.execute_query(AGE, tenant=memory._state.context.tenant)
        [failed] = modelled.consolidation_status(policy=policy).clusters
        assert (failed.code, failed.attempts) == ("model_reply", attempts)
        assert failed.given_up is (attempts == 2)
        assert len(failed.episode_ids) == 3
    requests = len(llm.prompts)
    assert modelled.consolidate(policy=policy).changes == ()
    assert len(llm.prompts) == requests
    back = door.on(memory, llm=ScriptedLlm(lambda prompt: answer(prompt.user)))
    assert back.consolidate(policy=policy).changes == ()
    assert len(back.consolidate(policy=policy, retry=True, dry_run=True).changes) == 1
    assert len(back.consolidate(policy=policy, retry=True).changes) == 1
    assert back.consolidation_status(policy=policy).clusters == ()
