"""The recall benchmark: the loaded graph, exact search, readers, memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, LiteralString

import neo4j
import numpy as np
import pytest
from rich.console import Console

from bench import recall, store, synthetic
from bench.figures import Report
from bench.footprint import footprint
from bench.progress import Steps
from bench.readers import Answers, ask_at_once
from bench.store import EVENTS, TENANTS, Store
from bench.synthetic import BLOCK
from graphmem.client import connect
from graphmem.errors import ConfigurationError, GraphUnavailableError
from graphmem.integrity import RebuildReport
from graphmem.ports import Role, run_now
from graphmem.rules import identity
from tests.plugins.clients import on_tenant

SIZE = 500
STEPS = Steps(Console(quiet=True))


def _by_tenant(size: int, tenant: int) -> dict[int, bool]:
    """A tenant's numbers, and whether each is superseded: every tenth that has one after it."""
    numbers = [*range(tenant, size, TENANTS)]
    return {n: i % 10 == 0 and i + 1 < len(numbers) for i, n in enumerate(numbers)}


@pytest.mark.parametrize("size", [500, 519, BLOCK + 40])
def test_every_tenth_memory_of_a_tenant_is_superseded_by_its_next(size: int) -> None:
    for tenant in (0, 7, TENANTS - 1):
        for number, superseded in _by_tenant(size, tenant).items():
            assert Store(size).is_superseded(number) is superseded


@pytest.mark.parametrize("size", [500, 1_003])
def test_each_tenant_asks_about_current_memories_of_its_own(size: int) -> None:
    one = Store(size)
    targets = one.targets(2_000, seed=2)
    assert all(n % TENANTS == i % TENANTS and n < size for i, n in enumerate(targets))
    assert not any(map(one.is_superseded, targets))
    current = {n for n in range(size) if not one.is_superseded(n)}
    assert len({*targets}) > 0.8 * len(current)
    assert targets == one.targets(2_000, seed=2) != one.targets(2_000, seed=3)


def test_exact_search_finds_the_nearest_current_memories_of_the_tenant() -> None:
    one = Store(BLOCK + 2_000)
    whole = synthetic.memories(one.size, seed=one.seed)
    asked = synthetic.questions(one.memories.picked(one.targets(45, seed=2)), seed=3)
    found = one.nearest(asked, 30, STEPS)
    for i, question in enumerate(asked.vectors):
        own = [n for n, gone in _by_tenant(one.size, i % TENANTS).items() if not gone]
        order = np.argsort(-(whole.vectors[own] @ question))[:30]
        assert found[i] == [identity.memory_id("global", whole.texts[own[j]]) for j in order]


def test_fewer_memories_than_asked_for_are_all_found() -> None:
    one = Store(SIZE)
    asked = synthetic.questions(one.memories.picked([0]), seed=3)
    [found] = one.nearest(asked, 200, STEPS)
    assert len(found) == sum(not gone for gone in _by_tenant(SIZE, 0).values()) == 22


def test_readers_ask_each_question_once_and_all_at_once() -> None:
    together = threading.Barrier(8)
    asked: list[int] = []

    def ask(number: int) -> None:
        together.wait(timeout=20)  # no thread passes it alone
        asked.append(number)

    answers = Answers()
    ask_at_once(ask, [[reader, reader + 100] for reader in range(8)], answers)
    ask_at_once(ask, [[reader + 200] for reader in range(8)], answers)
    assert Counter(asked) == Counter([*range(8), *range(100, 108), *range(200, 208)])
    assert len(answers.took) == 24
    assert answers.per_second == pytest.approx(24 / answers.seconds)
    assert answers.errors == []


def test_what_fails_is_counted_apart_and_does_not_stop_a_reader() -> None:
    def ask(number: int) -> None:
        if number % 3 == 0:
            raise GraphUnavailableError
        if number % 3 == 1:
            raise neo4j.exceptions.ServiceUnavailable

    answers = Answers()
    ask_at_once(ask, [range(6), range(3)], answers)
    assert Counter(answers.errors) == {"GraphUnavailableError": 3, "ServiceUnavailable": 3}
    assert len(answers.took) == 3


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux reports it")
def test_what_a_process_takes_is_read_from_the_system() -> None:
    before = footprint()
    held = np.ones(25_000_000)  # 200 MB
    now = footprint(os.getpid())
    del held
    after = footprint()
    assert before.resident is not None
    assert now.resident is not None
    assert after.resident is not None
    assert after.peak is not None
    assert 150 < now.resident - before.resident < 250
    assert after.peak + 10 > now.resident > after.resident + 100


def test_a_process_that_is_gone_takes_nothing_known() -> None:
    done = subprocess.Popen([sys.executable, "-c", ""])
    done.wait()
    assert footprint(done.pid).resident is None
    assert footprint(done.pid).peak is None


@pytest.mark.parametrize("note", [None, '{"store": {"size": 499}, "seconds": 1.0}'])
def test_a_graph_that_is_not_all_there_is_refused(tmp_path: Path, note: str | None) -> None:
    home = tmp_path / str(SIZE)
    home.mkdir()
    if note is not None:
        (home / store.NOTE).write_text(note)
    with pytest.raises(ConfigurationError, match="not loaded to the end") as caught:
        recall.measure([SIZE], STEPS, keep=tmp_path)
    assert "Delete" in caught.value.hint


COUNT = "MATCH (n:$($label) {tenant: 'tenant-3'}) RETURN count(n)"
GONE = (
    "MATCH (a:Memory {tenant: 'tenant-3'})-[:SUPERSEDES {in_force: true}]->(b:Memory) "
    "WHERE b.status = 'superseded' AND a.status = 'current' RETURN collect(b.content)"
)
KEYS = "MATCH (m:Memory {tenant: $tenant}) RETURN keys(m) LIMIT 1"


@dataclass(frozen=True)
class Measured:
    """A report, and what was found in the graph that it left behind."""

    report: Report
    nodes: dict[str, int]
    superseded: set[str]
    verified: RebuildReport
    loaded: set[str]
    remembered: set[str]


def _one(driver: neo4j.Driver, query: LiteralString, **params: object) -> Any:
    [record] = driver.execute_query(query, params).records
    return record[0]


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Measured:
    """Measure 500 memories with a few questions, then open the kept graph again."""
    keep = tmp_path_factory.mktemp("kept")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recall, "QUESTIONS", 20)
        patch.setattr(recall, "WARM_UP", 20)
        patch.setattr(recall, "COMPARED", 20)
        patch.setattr(recall, "SHARE", 1)
        patch.setattr(recall, "ROUNDS", 2)
        report = recall.measure([SIZE], STEPS, keep=keep)
        patch.delattr(store, "_load")  # what is kept is not loaded again
        embedder = synthetic.LookupEmbedder(tokens=True)
        with store.loaded(Store(SIZE, tokens=True), keep, embedder, STEPS) as (settings, memory, _):
            on_tenant(memory, "other").remember("a text remembered by graphmem")
            at = connect.address(settings, connect.silent)
            with neo4j.GraphDatabase.driver(at.uri, auth=(at.user, at.password)) as driver:
                return Measured(
                    report=report,
                    nodes={
                        label: _one(driver, COUNT, label=label) for label in ("Memory", "Event")
                    },
                    superseded={*_one(driver, GONE)},
                    verified=on_tenant(memory, "tenant-3").admin.verify(),
                    loaded={*_one(driver, KEYS, tenant="tenant-3")},
                    remembered={*_one(driver, KEYS, tenant="other")},
                )


@pytest.mark.system
@pytest.mark.server
def test_the_graph_is_as_graphmem_would_have_left_it(measured: Measured) -> None:
    gone = [number for number, is_gone in _by_tenant(SIZE, 3).items() if is_gone]
    assert measured.nodes == {"Memory": 25, "Event": 25 * EVENTS + len(gone)}
    assert measured.superseded == {*Store(SIZE).memories.picked(gone).texts}
    assert measured.verified.wrong == ()
    assert measured.loaded == measured.remembered


@pytest.mark.system
@pytest.mark.server
def test_every_figure_is_there_and_judged(measured: Measured) -> None:
    tables = json.loads(measured.report.as_json())["tables"]
    times, [marks], [crowd], missed, [memory] = tables.values()
    assert [row["ranking"] for row in times] == ["late interaction", "without"]
    for row in times:
        assert row["ratio p50"] == row["graphmem p50"] / row["bare p50"]
        assert row["met"] is (row["ratio p50"] <= recall.TARGETS[row["ranking"]])
        assert 0 < row["graphmem p50"] <= row["graphmem p95"]
        assert row["paired"] > 0
    assert 0 < marks["unmarked p50"] <= marks["unmarked p95"]
    assert 0 < marks["marked p50"] <= marks["marked p95"]
    assert (crowd["readers"], crowd["errors"], crowd["met"]) == (32, 0, True)
    assert 0 < crowd["graphmem p50"] <= crowd["graphmem p99"]
    assert crowd["graphmem /s"] > 1
    # All of a tenant's 22 current memories: nothing is left to miss.
    assert [(row["nearest"], row["results"], row["recall min"], row["met"]) for row in missed] == [
        (10, 10, 1.0, True),
        (10, 200, 1.0, True),
        (200, 200, 1.0, True),
    ]
    assert 500 < memory["token states, bytes a text"] < 1_000
    assert memory["on disk MB"] > 1
    assert memory["loaded in s"] > 1
    if sys.platform == "linux":
        assert memory["server peak"] >= memory["server MB"] > 200
        assert memory["client peak"] >= memory["client MB"] > 50
    assert measured.report.setting["server at 500"] == "heap 1g, cache 512m"


@pytest.mark.parametrize(
    ("name", "ours", "met"),
    [
        (recall.LATE, 22.0, True),
        (recall.LATE, 22.1, False),
        (recall.CHEAP, 16.0, True),
        (recall.CHEAP, 16.1, False),
    ],
)
def test_times_are_judged_by_the_ratio_of_their_medians(
    name: str, ours: float, *, met: bool
) -> None:
    took = {name: [ours] * 20 + [99.0], recall.BARE: [10.0] * 20 + [11.0]}
    row = recall.times_row(SIZE, name, took)
    assert (row["met"], row["ratio p95"]) == (met, row["ratio p50"])
    assert row["paired"] == pytest.approx(ours / 10)


def test_marks_cost_the_median_difference_of_the_same_questions() -> None:
    row = recall.marks_row(SIZE, {"marked": [5.0, 9.0, 3.0], "unmarked": [4.0, 1.0, 1.0]})
    assert row["difference, median"] == 2
    assert (row["marked p50"], row["unmarked p95"]) == (5, 4)


def test_a_text_has_three_tokens_a_word_wherever_it_is_computed() -> None:
    tokens = synthetic.tokens_of("one two one")
    assert (len(tokens.ids), tokens.states.shape) == (9, (9, 128))
    assert tokens.ids[:3].tolist() == tokens.ids[6:].tolist() != tokens.ids[3:6].tolist()
    np.testing.assert_allclose(np.linalg.norm(tokens.states, axis=1), 1, rtol=1e-5)
    embedder = synthetic.LookupEmbedder(tokens=True)
    made = run_now(embedder.encode(["one two one"], Role.DOCUMENT))
    np.testing.assert_array_equal(made.tokens[0].states, tokens.states)
    assert embedder.has_tokens
    assert not synthetic.LookupEmbedder().has_tokens


def test_any_error_of_a_reader_is_a_miss() -> None:
    fine, failed = Answers([1.0, 3.0], [], 0.5), Answers([2.0], ["A", "B", "A"], 2.0)
    row = recall.crowd_row(SIZE, fine, Answers([2.0], [], 2.0))
    assert (row["errors"], row["met"]) == (0, True)
    assert (row["graphmem /s"], row["bare /s"], row["ratio"]) == (4.0, 0.5, 8.0)
    for ours, theirs in ((fine, failed), (failed, fine), (Answers([], failed.errors, 1.0), fine)):
        row = recall.crowd_row(SIZE, ours, theirs)
        assert (row["errors"], row["met"]) == ("2 A, 1 B", False)
    assert recall.crowd_row(SIZE, fine, Answers([], ["A"], 1.0))["ratio"] is None


@pytest.mark.parametrize(
    ("asked", "shares", "met"),
    [
        ((10, 10), [1.0, 0.99], True),
        ((10, 10), [1.0, 0.97], False),
        ((10, 200), [1.0, 0.97], False),
        ((200, 200), [1.0, 0.91], True),
        ((200, 200), [0.94, 0.95], False),
    ],
)
def test_what_the_index_misses_is_judged_by_its_mean(
    asked: tuple[int, int], shares: list[float], *, met: bool
) -> None:
    row = recall.found_row(SIZE, asked, shares)
    assert (row["met"], row["recall min"]) == (met, min(shares))
