"""Prometheus metrics of the graph's content."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from http.client import HTTPConnection
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from graphmem import Handle, Settings
from graphmem.client.exporter import Exporter, open_exporter
from graphmem.errors import (
    ConfigurationError,
    GraphUnavailableError,
    InvalidInputError,
    ModelUnavailableError,
)
from graphmem.model import EventType, Status, Tier
from graphmem.ports import Role
from graphmem.rules import rating
from graphmem.telemetry.graph_metrics import BOUNDS, METRICS, GraphMetrics, StatsSnapshot
from graphmem.testing import HashEmbedder, ScriptedLlm
from graphmem.usage import ConsolidationWork, JobStatus, RatingStep, TenantStats
from tests.client.test_consolidating_by_model import GOOD
from tests.plugins.clients import Door, on, on_tenant
from tests.plugins.episodes import FEW, SWIMS, tell
from tests.plugins.everything import write_everything
from tests.plugins.faults import Through
from tests.plugins.graph import Look, fresh_tenant
from tests.plugins.texts import unlike

DUE = datetime(2026, 3, 1, tzinfo=UTC)
NOTHING = dict.fromkeys(Status, 0)


def step(kind: str, min_elo: float, items: int, total: float) -> RatingStep:
    return RatingStep(
        kind=kind,
        min_elo=min_elo,
        below=min_elo + 100,
        tier=rating.tier(min_elo),
        items=items,
        total=total,
    )


def reading(tenant: str = "acme", ratings: Sequence[RatingStep] = ()) -> TenantStats:
    return TenantStats(
        tenant=tenant,
        memories=NOTHING | {Status.CURRENT: 7, Status.DEPRECATED: 2},
        beliefs=NOTHING | {Status.ARCHIVED: 3},
        events=dict.fromkeys(EventType, 0) | {EventType.SEARCH: 11},
        episodes=4,
        turns=5,
        artifacts=6,
        archives=1,
        ratings=tuple(ratings),
        unrated=8,
        unembedded=9,
        consolidation=ConsolidationWork(
            fresh=12,
            decided=13,
            undecided=14,
            failures=15,
            calls=16,
            tokens_in=17,
            tokens_out=18,
            cost_usd=0.19,
        ),
        jobs=(
            JobStatus(
                job="rate", running=False, finished_at=None, due_at=DUE, failures=2, error="x"
            ),
            JobStatus(
                job="extract", running=True, finished_at=DUE, due_at=DUE, failures=0, error=None
            ),
        ),
    )


def scraped(shown: GraphMetrics) -> dict[tuple[str, ...], float]:
    return {
        (one.name, *sorted(f"{key}={value}" for key, value in one.labels.items())): one.value
        for family in text_string_to_metric_families(shown.text())
        for one in family.samples
    }


def test_a_reading_is_shown_whole() -> None:
    shown = GraphMetrics(by_tenant=False)
    assert scraped(shown) == {}
    shown.show(StatsSnapshot([reading()], 1234.5, 0.25))
    found = scraped(shown)
    assert {key: value for key, value in found.items() if value and "rating" not in key[0]} == {
        ("graphmem_graph_up",): 1,
        ("graphmem_graph_read_timestamp_seconds",): 1234.5,
        ("graphmem_graph_read_duration_seconds",): 0.25,
        ("graphmem_memories", "status=current"): 7,
        ("graphmem_memories", "status=deprecated"): 2,
        ("graphmem_beliefs", "status=archived"): 3,
        ("graphmem_events", "type=SEARCH"): 11,
        ("graphmem_episodes",): 4,
        ("graphmem_turns",): 5,
        ("graphmem_artifacts",): 6,
        ("graphmem_archives",): 1,
        ("graphmem_unrated_sessions",): 8,
        ("graphmem_unembedded_beliefs",): 9,
        ("graphmem_job_failures", "task=rate"): 2,
        ("graphmem_job_due_timestamp_seconds", "task=rate"): DUE.timestamp(),
        ("graphmem_consolidation_fresh_episodes",): 12,
        ("graphmem_consolidation_clusters", "state=decided"): 13,
        ("graphmem_consolidation_clusters", "state=undecided"): 14,
        ("graphmem_consolidation_failures_total",): 15,
        ("graphmem_consolidation_requests_total",): 16,
        ("graphmem_consolidation_tokens_total", "direction=in"): 17,
        ("graphmem_consolidation_tokens_total", "direction=out"): 18,
        ("graphmem_consolidation_cost_usd_total",): 0.19,
    }
    # A count of nothing is 0, not missing, because alerts compare with it.
    assert found["graphmem_events", "type=ADD"] == 0
    assert sum(key[0] == "graphmem_events" for key in found) == len(EventType)


def test_tiers_and_steps_begin_at_their_bounds() -> None:
    steps = [
        step("Memory", 500, 1, 590.0),
        step("Memory", 700, 2, 1500.0),
        step("Memory", 800, 3, 2400.0),
        step("Memory", 1100, 4, 4600.0),
        step("Memory", 1200, 5, 6000.0),
        step("Memory", 1600, 6, 9600.0),
        step("Memory", 2100, 7, 15_000.0),
        step("Belief", 1200, 1, 1200.0),
    ]
    shown = GraphMetrics(by_tenant=False)
    shown.show(StatsSnapshot([reading(ratings=steps)], 0.0, 0.0))
    found = scraped(shown)
    tiers = {tier: found["graphmem_rated_items", "kind=Memory", f"tier={tier}"] for tier in Tier}
    assert tiers == {Tier.VERY_LOW: 3, Tier.LOW: 7, Tier.MEDIUM: 5, Tier.HIGH: 13}
    name = "graphmem_rating_points"
    below = [found[f"{name}_bucket", "kind=Memory", f"le={bound}"] for bound in (*BOUNDS, "+Inf")]
    assert below == [1, 1, 3, 6, 6, 6, 10, 15, 15, 15, 15, 21, 21, 21, 21, 28]
    assert found[f"{name}_gcount", "kind=Memory"] == 28
    assert found[f"{name}_gsum", "kind=Memory"] == 39_690
    assert found[f"{name}_gsum", "kind=Belief"] == 1200
    assert found[f"{name}_gcount", "kind=Episode"] == 0


def test_tenants_are_named_only_when_that_is_asked_for() -> None:
    names = ["acme", 'a"b\\c\nd', "漢字"]
    shown = GraphMetrics(by_tenant=True)
    shown.show(StatsSnapshot([reading(name) for name in names], 0.0, 0.0))
    found = scraped(shown)
    for name in names:
        assert found["graphmem_turns", f"tenant={name}"] == 5
    assert all(
        any(label.startswith("tenant=") for label in key[1:])
        for key in found
        if not key[0].startswith("graphmem_graph_")
    )
    plain = GraphMetrics(by_tenant=False)
    plain.show(StatsSnapshot([reading("secret tenant")], 0.0, 0.0))
    assert "tenant" not in plain.text()


def test_a_graph_that_cannot_be_read_shows_no_old_numbers() -> None:
    shown = GraphMetrics(by_tenant=False)
    shown.show(StatsSnapshot([reading()], 1.0, 1.0))
    shown.show(StatsSnapshot(None, 2.0, 3.0))
    assert scraped(shown) == {
        ("graphmem_graph_up",): 0,
        ("graphmem_graph_read_timestamp_seconds",): 2,
        ("graphmem_graph_read_duration_seconds",): 3,
    }


def test_every_metric_has_a_name_of_its_own() -> None:
    names = [one.name for one in METRICS]
    assert len(set(names)) == len(names)
    assert all(one.about.endswith(".") for one in METRICS)


@pytest.mark.usefixtures("both_clients")
def test_the_statistics_of_a_tenant_are_those_of_all_its_scopes(
    memory: Handle, tenant: str
) -> None:
    memory.remember(unlike(1))
    memory.scope("alice").remember(unlike(2))
    on_tenant(memory, fresh_tenant()).remember(unlike(3))
    found = memory.scope("bob").admin.stats()
    assert (found.tenant, found.memories) == (tenant, NOTHING | {Status.CURRENT: 2})
    assert found == memory.admin.stats()


def read_by(memory: Handle) -> TenantStats:
    return memory.admin.stats()


def test_a_reading_is_what_a_count_of_the_graph_gives(plain: Handle, look: Look) -> None:
    tenant = plain._state.context.tenant
    empty = read_by(plain)
    assert {*empty.memories.values(), *empty.events.values(), empty.turns, empty.unrated} == {0}
    assert set(empty.memories) == set(Status)
    write_everything(plain)
    write_everything(plain.scope("alice"), mark="a")
    write_everything(on_tenant(plain, fresh_tenant()))
    found = read_by(plain)

    def counted(label: str, by: str) -> dict[str, int]:
        rows = look.rows(
            f"MATCH (n:{label} {{tenant: $tenant}}) RETURN n.{by} AS state, count(*) AS n",
            tenant=tenant,
        )
        return {row["state"]: row["n"] for row in rows}

    def some(of: Any) -> dict[str, int]:
        return {state: n for state, n in of.items() if n}

    assert some(found.memories) == counted("Memory", "status")
    assert some(found.beliefs) == counted("Belief", "status")
    assert some(found.events) == counted("Event", "type")
    assert len(some(found.events)) > 15
    assert len(some(found.beliefs)) > 2
    for label in ("Episode", "Turn", "Artifact", "Archive"):
        total = sum(counted(label, "tenant").values())
        assert getattr(found, f"{label.lower()}s") == total > 0, label
    assert sum(one.items for one in found.ratings) == len(plain.usage.ratings()) + len(
        plain.scope("alice", read_scopes=["alice"]).usage.ratings()
    )
    assert sum(one.items for one in found.ratings) > 0
    assert found.unembedded == 0


def test_ratings_are_those_of_the_time_of_the_reading(plain: Handle) -> None:
    write_everything(plain)
    found, rated = read_by(plain), plain.usage.ratings()
    by_kind = {kind: [one.rating.elo for one in rated if one.kind == kind] for kind in ("Memory",)}
    steps = [one for one in found.ratings if one.kind == "Memory"]
    assert sum(one.total for one in steps) == pytest.approx(sum(by_kind["Memory"]), abs=0.01)
    for one in steps:
        inside = [elo for elo in by_kind["Memory"] if one.min_elo <= elo < one.below]
        assert (len(inside), {rating.tier(elo) for elo in inside}) == (one.items, {one.tier})


def test_work_that_waits_is_counted_until_it_is_done(plain: Handle) -> None:
    for n in range(3):
        with plain.session(f"s{n}") as session:
            session.usage.log_access("file", "a.py")
    assert read_by(plain).unrated == 3
    plain.usage.rate()
    assert read_by(plain).unrated == 0


def test_what_consolidating_cost_is_kept_in_the_graph(plain: Handle) -> None:
    tell(plain, SWIMS)
    llm = ScriptedLlm(["no record at all", GraphUnavailableError(), GOOD])
    modelled = on(plain, llm=llm)
    modelled.consolidate(policy=FEW)
    failed = read_by(plain).consolidation
    assert (failed.decided, failed.undecided, failed.failures) == (0, 1, 1)
    # The price of the unreadable answer is unknown.
    assert (failed.calls, failed.tokens_in, failed.cost_usd) == (0, 0, 0.0)
    with pytest.raises(GraphUnavailableError):
        modelled.consolidate(policy=FEW)
    modelled.consolidate(policy=FEW)
    done = read_by(plain).consolidation
    assert (done.decided, done.undecided, done.failures) == (1, 0, 1)
    assert (done.calls, done.tokens_in, done.tokens_out, done.cost_usd) == (1, 100, 10, 0.0)
    assert done.fresh == 0
    plain.episodes.add(content="Something else altogether happened today.")
    assert read_by(plain).consolidation.fresh == 1
    # Extractive consolidation calls no model.
    other = on_tenant(plain, fresh_tenant())
    tell(other, SWIMS)
    other.consolidate(policy=FEW)
    free = read_by(other).consolidation
    assert (free.decided, free.calls, free.tokens_in, free.cost_usd) == (1, 0, 0, 0.0)


class Deaf(HashEmbedder):
    """A model that can be made unavailable."""

    gone = False

    async def embed(self, texts: Sequence[str], role: Role) -> Any:
        if self.gone:
            raise ModelUnavailableError
        return await super().embed(texts, role)


def test_an_answer_after_which_another_model_failed_has_cost_its_price(plain: Handle) -> None:
    tell(plain, SWIMS)
    embedder = Deaf()

    def answers(_: Any) -> Any:
        embedder.gone = True
        return GOOD

    modelled = on(plain, llm=ScriptedLlm(answers), embedder=embedder)
    done = modelled.consolidate(policy=FEW)
    assert [one.code for one in done.troubles] == ["model_unavailable"]
    kept = read_by(plain).consolidation
    assert (done.tokens_in, kept.tokens_in, kept.calls, kept.undecided) == (100, 100, 1, 1)
    # A model that is unavailable uses up no attempt.
    assert ([one.attempts for one in done.troubles], kept.failures) == ([0], 0)
    embedder.gone = False
    again = on(plain, llm=ScriptedLlm([GOOD]))
    assert again.consolidate(policy=FEW).tokens_in == 100
    assert read_by(plain).consolidation.tokens_in == 200


class Failing(Through):
    """A graph whose reads can be made to fail."""

    refuses = True

    async def read(self, work: Any) -> Any:
        if self.refuses:
            raise GraphUnavailableError
        return await super().read(work)


def test_an_exporter_outlives_its_graph(migrated: Settings, tenant: str) -> None:
    with open_exporter(migrated.model_copy(update={"tenant": tenant})) as exporter:
        exporter.read()
        graph: Any = Failing(exporter.services.graph)
        cut = Exporter(replace(exporter.services, graph=graph), exporter.tenants, exporter.metrics)
        up: list[float] = []

        def wait() -> bool:
            found = scraped(exporter.metrics)
            up.append(found["graphmem_graph_up",])
            assert (("graphmem_turns",) in found) == bool(up[-1])
            graph.refuses = len(up) == 2
            return len(up) < 4

        cut.keep_reading(wait)
        assert up == [0, 1, 0, 1]


@pytest.mark.usefixtures("both_clients")
def test_an_exporter_reads_the_tenants_it_is_told(
    door: Door, migrated: Settings, tenant: str
) -> None:
    other = fresh_tenant()
    with door.open() as client:
        client.tenant(tenant).remember("Alice deploys from Borealis.")
    settings = migrated.model_copy(update={"tenant": tenant})
    with open_exporter(settings, by_tenant=[other, tenant, other]) as exporter:
        exporter.read()
        found = scraped(exporter.metrics)
    assert found["graphmem_memories", "status=current", f"tenant={tenant}"] == 1
    assert found["graphmem_memories", "status=current", f"tenant={other}"] == 0
    with open_exporter(settings) as exporter:
        exporter.read()
        assert scraped(exporter.metrics)["graphmem_memories", "status=current"] == 1
        assert exporter.services.embedder.name != HashEmbedder().name or migrated.embedder == "hash"


def test_a_tenant_that_is_no_name_is_refused_before_anything_is_reached() -> None:
    with pytest.raises(InvalidInputError), open_exporter(Settings(), [""]):
        pass


def test_a_port_that_is_taken_is_named() -> None:
    first, second = GraphMetrics(by_tenant=False), GraphMetrics(by_tenant=False)
    port = first.serve("127.0.0.1", 0)
    with pytest.raises(ConfigurationError, match=str(port)):
        second.serve("127.0.0.1", port)


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("127.0.0.1:{port}", 200),
        ("localhost:{port}", 200),
        ("metrics.example", 200),
        ("evil.example:{port}", 421),
        ("evil.example", 421),
        ("localhost", 421),
        ("", 421),
    ],
)
def test_a_scrape_by_another_name_is_refused(name: str, status: int) -> None:
    """A page whose name is made to mean this machine reads nothing of it."""
    shown = GraphMetrics(by_tenant=False)
    shown.show(StatsSnapshot([reading()], 1.0, 1.0))
    port = shown.serve("127.0.0.1", 0, ["metrics.example"])
    asking = HTTPConnection("127.0.0.1", port, timeout=300)
    asking.request("GET", "/metrics", headers={"Host": name.format(port=port)})
    answer = asking.getresponse()
    assert answer.status == status
    assert (b"graphmem_" in answer.read()) == (status == 200)
    asking.close()
