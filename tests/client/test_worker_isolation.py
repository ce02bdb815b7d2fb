"""Every unit of background work fails alone: bad units are skipped, and all others are served."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path
from typing import Any

import neo4j
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphmem import GraphMem
from graphmem.client import worker
from graphmem.erasure import guard
from graphmem.erasure import rules as erasure_rules
from graphmem.errors import GraphQueryError, GraphUnavailableError, ModelUnavailableError
from graphmem.jobs import schedule
from graphmem.ports import Prompt, Query, Tx
from graphmem.rules import identity
from graphmem.testing import FrozenClock, ScriptedLlm
from tests.plugins.clients import Door
from tests.plugins.examples import examples
from tests.plugins.faults import Through
from tests.plugins.graph import Look, fresh_tenant

POISON = "The colour of silence is seven."
LONG = "How was the garden? " * 30
PAST = datetime(2026, 1, 5, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _always_due(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every job due again at once; units that failed wait as always."""
    for job in schedule.INTERVAL_S:
        monkeypatch.setitem(schedule.INTERVAL_S, job, 0.0)


def answer(prompt: Prompt[Any]) -> Any:
    """Answer everything but the poison."""
    if prompt.name == "probe":
        return {"ok": True}
    return (
        ModelUnavailableError("no answer in time") if POISON in prompt.user else {"proposals": []}
    )


@pytest.fixture(autouse=True)
def always_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Extract sessions at once."""
    monkeypatch.setattr(worker, "QUIET_S", 0.0)


def waitless() -> FrozenClock:
    """Return a clock that does not wait between attempts."""
    return FrozenClock(datetime.now(UTC))


def bury(driver: neo4j.Driver, tenant: str, scope: str | None = None) -> None:
    """Leave what a killed erasure of a tenant or scope leaves: its tombstone, and all the data."""
    rules = erasure_rules
    key = rules.tenant_key(tenant) if scope is None else rules.scope_key(tenant, scope)
    driver.execute_query(
        "CREATE (:Tombstone {tenant: $tenant, key: $key, erased_at: datetime()})",
        {"tenant": identity.tenant_key(tenant), "key": key},
    )
    time.sleep(guard.TRUST_S)  # An erasure waits as long, until every writer looks again.


def tell(client: GraphMem, tenant: str, scope: str, session: str, text: str) -> None:
    handle = client.tenant(tenant).scope(scope)
    handle.session(session).add_messages([{"role": "user", "content": text}])


def prompted(llm: ScriptedLlm, text: str) -> int:
    return sum(text in prompt.user for prompt in llm.prompts)


def test_a_half_done_erasure_of_a_tenant_stops_no_other_tenant(
    door: Door, driver: neo4j.Driver
) -> None:
    gone, good = sorted((fresh_tenant(), fresh_tenant()))
    with door.open() as client:
        for name in (gone, good):
            client.tenant(name).remember("The night train goes to Porto.")
        bury(driver, gone)
        report = client.run_jobs(tenants=[gone, good], jobs=["rate", "seal"])
    assert [(run.tenant, run.job, run.error) for run in report.runs] == [
        (gone, "rate", "erased"),
        (good, "rate", None),
        (good, "seal", None),
    ]


def test_a_text_without_an_answer_stops_no_session_and_waits(
    door: Door, driver: neo4j.Driver, tenant: str
) -> None:
    llm = ScriptedLlm(answer)
    with door.open(llm=llm) as client:
        tell(client, tenant, "user:a", "first", POISON)
        tell(client, tenant, "user:a", "second", "I live in Porto.")
        tell(client, tenant, "user:b", "third", "I live in Braga.")
        served = door.on(client, clock=waitless())
        [run] = served.run_jobs(tenants=[tenant], jobs=["extract"]).runs
        assert (run.error, run.waiting) == (None, 0)
        [failed] = run.failed
        assert (failed.scope, failed.unit, failed.code) == ("user:a", "first", "model_unanswered")
        assert (failed.failures, failed.retry_s) == (1, schedule.MIN_WAIT_S)
        assert [prompted(llm, city) for city in ("Porto", "Braga")] == [1, 1]
        asked = len(llm.prompts)
        [run] = served.run_jobs(tenants=[tenant], jobs=["extract"]).runs
        assert (run.failed, run.waiting, len(llm.prompts)) == ((), 1, asked)
        [shown] = client.tenant(tenant).admin.stats().failing
        assert (shown.scope, shown.unit, shown.failures) == ("user:a", "first", 1)
        # Nor does it wait for years when the server's clock was set back.
        driver.execute_query(
            "MATCH (u:JobUnit {tenant: $tenant}) SET u.served_at = u.served_at + "
            "duration('P9D'), u.due_at = u.due_at + duration('P9D')",
            tenant=tenant,
        )
        [run] = served.run_jobs(tenants=[tenant], jobs=["extract"]).runs
        assert (run.waiting, [one.failures for one in run.failed]) == (0, [2])


def test_a_unit_that_recovers_is_no_longer_listed(
    door: Door, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schedule, "MIN_WAIT_S", 0.0)
    down = [True]
    llm = ScriptedLlm(lambda prompt: answer(prompt) if down[0] else {"proposals": []})
    with door.open(llm=llm) as client:
        tell(client, tenant, "user:a", "first", POISON)
        served = door.on(client, clock=waitless())
        for failures in (1, 2):
            [run] = served.run_jobs(tenants=[tenant], jobs=["extract"]).runs
            assert [one.failures for one in run.failed] == [failures]
        down[0] = False
        [run] = served.run_jobs(tenants=[tenant], jobs=["extract"]).runs
        assert run.failed == ()
        assert client.tenant(tenant).admin.stats().failing == ()


def test_a_model_that_is_down_is_asked_twice_and_the_job_waits(door: Door, tenant: str) -> None:
    llm = ScriptedLlm(lambda _: ModelUnavailableError("down"))
    with door.open(llm=llm) as client:
        for n in range(5):
            tell(client, tenant, "user:a", f"s{n}", "I live in Porto.")
        [run] = door.on(client, clock=waitless()).run_jobs(tenants=[tenant], jobs=["extract"]).runs
    assert (run.error, run.failed) == ("model_unavailable", ())
    assert [prompt.name for prompt in llm.prompts][1:] == ["probe"]


def test_more_sessions_than_a_page_are_served_in_one_run(
    door: Door, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "SESSIONS", 2)
    llm = ScriptedLlm(answer)
    with door.open(llm=llm) as client:
        for n in range(5):
            tell(client, tenant, "user:a", f"s{n}", POISON if n < 3 else f"I moved to town {n}.")
        [run] = door.on(client, clock=waitless()).run_jobs(tenants=[tenant], jobs=["extract"]).runs
    assert len(run.failed) == 3
    assert [prompted(llm, f"town {n}") for n in (3, 4)] == [1, 1]


def test_a_scope_with_a_long_name_has_a_digest(door: Door, tenant: str, tmp_path: Path) -> None:
    long = "user:a" + "é" * 150
    with door.open() as client:
        for scope in (long, long[:-1] + "x", "user:zoe"):
            client.tenant(tenant).scope(scope).episodes.add(
                session_id="s", summary=f"We chose {len(scope)}.", importance=0.9, at=PAST
            )
        [run] = client.run_jobs(tenants=[tenant], jobs=["graduate"], digests=tmp_path).runs
    assert (run.done, run.error, run.failed) == (3, None, ())
    assert len(list((tmp_path / tenant).iterdir())) == 3


def test_a_digest_that_cannot_be_written_stops_no_other_scope(
    door: Door, tenant: str, tmp_path: Path
) -> None:
    with door.open() as client:
        for scope in ("user:a", "user:b"):
            client.tenant(tenant).scope(scope).episodes.add(
                session_id="s", summary="We chose Porto.", importance=0.9, at=PAST
            )
        (tmp_path / tenant / "user%3Aa" / worker.DIGEST).mkdir(parents=True)
        [run] = client.run_jobs(tenants=[tenant], jobs=["graduate"], digests=tmp_path).runs
    assert [(one.scope, one.unit, one.code) for one in run.failed] == [
        ("user:a", None, "digest_file")
    ]
    assert (run.done, run.error) == (1, None)


def test_a_given_event_id_does_not_stop_a_job(door: Door, tenant: str) -> None:
    with door.open() as client:
        for scope in ("user:a", "user:b"):
            handle = client.tenant(tenant).scope(scope)
            for n in range(3):
                handle.episodes.add(session_id=f"old{n}", content=LONG, importance=0.3, at=PAST)
        old = identity.episode_id("user:a", "old1")
        event_id = "compress_episode_" + identity.digest(old, "")[:32]
        client.tenant(tenant).scope("user:a").remember(
            "The night train to Porto is late.", event_id=event_id
        )
        [run] = client.run_jobs(tenants=[tenant], jobs=["compress"]).runs
    assert (run.done, run.failed, run.error) == (6, (), None)


def test_the_least_recently_served_scope_is_first(
    door: Door, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []

    async def work(part: worker._Part) -> int:
        order.append(part.units.scope)
        if len(order) in (2, 5):
            raise KeyboardInterrupt
        return 1

    monkeypatch.setitem(worker.JOBS, "compress", worker._Job(work, "done"))
    monkeypatch.setattr(schedule, "MIN_WAIT_S", 0.0)
    with door.open() as client:
        for scope in ("a", "b", "c"):
            client.tenant(tenant).scope(scope).remember("The night train goes to Porto.")
        for _ in range(2):
            with pytest.raises(KeyboardInterrupt):
                client.run_jobs(tenants=[tenant], jobs=["compress"])
    # A run that ends early does not keep the last scopes waiting for ever.
    assert order == ["a", "b", "b", "c", "a"]


def test_the_least_recently_served_tenant_is_first(door: Door) -> None:
    names = sorted(fresh_tenant() for _ in range(3))
    with door.open() as client:
        for name in names:
            client.tenant(name).remember("The night train goes to Porto.")
        for name in (names[1], names[0]):
            client.run_jobs(tenants=[name], jobs=["rate"])
        services = client.tenant(names[0])._state.context.services
        found = [one for one in door.run(schedule.tenants(services)) if one in names]
    assert found == [names[2], names[1], names[0]]


def test_erasing_a_session_or_scope_removes_what_is_known_of_its_failures(
    door: Door, look: Look, tenant: str
) -> None:
    units = (
        "MATCH (u:JobUnit {tenant: $tenant}) "
        "RETURN u.scope AS scope, u.unit AS unit ORDER BY scope, unit"
    )
    with door.open(llm=ScriptedLlm(answer)) as client:
        for scope in ("user:a", "user:b"):
            tell(client, tenant, scope, "private name", POISON)
        door.on(client, clock=waitless()).run_jobs(tenants=[tenant], jobs=["extract"])
        assert len(look.rows(units, tenant=tenant)) == 4
        handle = client.tenant(tenant).scope("user:a")
        handle.forget("episode", identity.episode_id("user:a", "private name"), dry_run=False)
        assert {"scope": "user:a", "unit": "private name"} not in look.rows(units, tenant=tenant)
        client.tenant(tenant).scope("user:b").forget("scope", "user:b", dry_run=False)
        assert look.rows(units, tenant=tenant) == [{"scope": "user:a", "unit": ""}]


class Faulty(Through):
    """A graph in which the queries of some scopes end in an error."""

    def __init__(self, inner: Any, faults: dict[tuple[str, str], type[Exception]]) -> None:
        super().__init__(inner)
        self.faults = faults

    async def read(self, work: Callable[[Tx], Coroutine[Any, Any, Any]]) -> Any:
        return await self.inner.read(lambda tx: work(_FaultyTx(tx, self.faults)))

    async def write(self, work: Callable[[Tx], Coroutine[Any, Any, Any]]) -> Any:
        return await self.inner.write(lambda tx: work(_FaultyTx(tx, self.faults)))


class _FaultyTx(Tx):
    def __init__(self, inner: Tx, faults: dict[tuple[str, str], type[Exception]]) -> None:
        self.inner = inner
        self.faults = faults

    async def fetch(self, query: Query[Any], /, **params: Any) -> list[Any]:
        fault = self.faults.get((params.get("tenant", ""), params.get("scope", "")))
        if fault is not None and query.name != "upkeep/record_units":
            raise fault("generated")
        return await self.inner.fetch(query, **params)


FAULTS = ("none", "none", "poison", "erased scope", "unwritable", "timeout", "conflict")
SCOPES = ("user:a", "user:b", "user:c")
ROUNDS = 3


@dataclass
class World:
    """Tenants whose scopes get a new session in each round, and generated faults."""

    client: GraphMem
    driver: neo4j.Driver
    folder: Path
    rng: random.Random
    tenants: list[str] = field(default_factory=lambda: [fresh_tenant() for _ in range(3)])
    dead: set[str] = field(default_factory=set)
    """Tenants with the tombstone of a killed erasure."""
    slow: dict[tuple[str, str], type[Exception]] = field(default_factory=dict)
    """Scopes whose queries time out or conflict."""
    sick: set[tuple[str, str]] = field(default_factory=set)
    """Scopes that cannot be served any more."""

    def round(self, n: int) -> set[str]:
        """Add sessions and faults; return the towns that a model must read about in this round."""
        towns: dict[tuple[str, str], str] = {}
        for tenant, scope in product(self.tenants, SCOPES):
            if tenant not in self.dead and (tenant, scope) not in self.sick:
                towns[tenant, scope] = f"Town {n} {scope} {tenant}"
                tell(self.client, tenant, scope, f"s{n}", f"I moved to {towns[tenant, scope]}.")
                self._fault(self.rng.choice(FAULTS), tenant, scope, n)
        if self.rng.random() < 0.4 and len(self.dead) < 2:
            tenant = self.rng.choice([one for one in self.tenants if one not in self.dead])
            bury(self.driver, tenant)
            self.dead.add(tenant)
        return {
            town
            for place, town in towns.items()
            if place not in self.sick and place[0] not in self.dead
        }

    def _fault(self, fault: str, tenant: str, scope: str, n: int) -> None:
        if fault == "poison":
            tell(self.client, tenant, scope, f"bad{n}", f"{POISON} {n}")
        elif fault == "unwritable":
            digest = self.folder / tenant / worker._folder_name(scope) / worker.DIGEST
            digest.mkdir(parents=True, exist_ok=True)
        elif fault != "none":
            self.sick.add((tenant, scope))
            if fault == "erased scope":
                bury(self.driver, tenant, scope)
            else:
                faults = {"timeout": GraphUnavailableError, "conflict": GraphQueryError}
                self.slow[tenant, scope] = faults[fault]


@settings(max_examples=examples(1, 10, 60))
@given(seed=st.integers(0, 2**32))
def test_every_healthy_unit_is_served_in_every_round(
    door: Door, driver: neo4j.Driver, tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    llm = ScriptedLlm(answer)
    with door.open(llm=llm) as client:
        world = World(client, driver, tmp_path_factory.mktemp("digests"), random.Random(seed))
        inner = getattr(client, "_inner", client)._state.context.services.graph
        served = door.on(client, graph=Faulty(inner, world.slow), clock=waitless())
        for n in range(ROUNDS):
            expected = world.round(n)
            report = served.run_jobs(
                tenants=world.tenants,
                jobs=["extract", "graduate", "compress", "seal"],
                digests=world.folder,
            )
            assert {town for town in expected if not prompted(llm, town)} == set()
            errors = {(run.tenant, run.error) for run in report.runs}
            assert errors == {
                (tenant, "erased" if tenant in world.dead else None) for tenant in world.tenants
            }


def test_the_waits_of_a_unit_double(tmp_path: Path) -> None:
    units = schedule.ScopeUnits("a")
    units.take({"unit": "s", "served_at": PAST, "failures": 4, "waiting": False})
    units.failed("s", "unexpected", "why")
    [failed] = units.failed_units("t", "extract")
    assert (failed.failures, failed.retry_s) == (5, timedelta(minutes=16).total_seconds())
