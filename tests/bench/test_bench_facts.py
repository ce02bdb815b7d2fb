"""The comparison of writes and searches of facts: new texts, same requests, goals at 10,000."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from rich.console import Console

from bench import facts, peers
from bench.facts import AGENT_MEMORY, GRAPHITI, OURS, SEARCH, WRITE, Times
from bench.progress import Steps
from bench.retrieval import embedding_service
from graphmem.errors import ConfigurationError
from graphmem.models.embedding import HashEmbedder


def test_every_fact_has_a_subject_of_its_own_and_a_question() -> None:
    made = facts.facts(0, 20_000)
    assert len({one["subject"] for one in made}) == len(made)
    assert len({facts.question(one) for one in made}) == len(made)
    assert made[17]["text"] == "Hugo 17 restores violins from Lyon"


class _Words:
    """A store that ranks facts by the number of words that they share with a question."""

    def __init__(self, embed: peers.Embeddings) -> None:
        self.texts: list[str] = []
        self._embed = embed

    async def write(self, fact: Mapping[str, str]) -> None:
        self._embed([fact["text"]])
        self.texts.append(fact["text"])

    async def write_all(self, many: Sequence[Mapping[str, str]]) -> None:
        self.texts += [one["text"] for one in many]

    async def find(self, question: str, limit: int) -> Sequence[str]:
        words = set(question.replace("?", "").split())
        return sorted(self.texts, key=lambda text: -len(words & {*text.split()}))[:limit]


def test_a_library_answers_one_request_a_line() -> None:
    [first, *others] = facts.facts(0, 30)
    lines: list[dict[str, object]] = [{"write": [first]}, {"write_all": others}]
    lines.append({"find": [facts.question(first)], "limit": 3})
    replies = io.StringIO()
    with embedding_service(HashEmbedder()) as url:
        embeddings = peers.Embeddings(url)
        requests = io.StringIO("".join(json.dumps(line) + "\n" for line in lines))
        peers.serve(_Words(embeddings), embeddings, requests, replies)
    wrote, filled, found = map(json.loads, replies.getvalue().splitlines())
    assert 0 < wrote["embedding_ms"][0] <= wrote["ms"][0]
    assert (len(filled["ms"]), filled["embedding_ms"]) == (1, [0.0])
    assert len(found["found"][0]) == 3
    times = Times()
    times.add(found, [first["text"]])
    assert times.hits == [True]


def test_a_ratio_has_a_goal_at_ten_thousand() -> None:
    took = {(OURS, WRITE): 2.0, (AGENT_MEMORY, WRITE): 4.0, (OURS, SEARCH): 10.0}
    took[GRAPHITI, SEARCH] = 70.0
    times = {key: Times() for key in took}
    for key, ms in took.items():
        times[key].add({"ms": [ms], "embedding_ms": [1.0], "found": [None]})
    for size, met in ((1_000, [None, None]), (10_000, [True, False])):
        rows = list(facts._ratios(size, times))
        assert [(row["ratio"], row["met"]) for row in rows] == list(
            zip([2.0, 7.0], met, strict=True)
        )


@pytest.mark.parametrize("given", ["langgraph=python", "graphiti-core", "nothing=python"])
def test_only_libraries_with_facts_are_compared(given: str) -> None:
    with pytest.raises(ConfigurationError):
        facts.parse_peers([given])
    assert facts.parse_peers([f"{GRAPHITI}=p"]) == {GRAPHITI: "p"}


def test_a_library_that_cannot_be_run_is_named() -> None:
    for python, problem in (("/nowhere/python", "cannot be started"), (sys.executable, GRAPHITI)):
        with (
            pytest.raises(ConfigurationError, match=problem),
            facts.Peer.running(GRAPHITI, python, {}),
        ):
            pass


ECHO = """
import json, sys
print("1.0", flush=True)
for line in sys.stdin:
    [calls] = [value for name, value in json.loads(line).items() if name != "limit"]
    made = {"ms": [1.0] * len(calls), "embedding_ms": [0.5] * len(calls)}
    print(json.dumps(made | {"found": [["x"]] * len(calls)}), flush=True)
"""


@pytest.mark.system
@pytest.mark.server
def test_every_library_gets_the_same_requests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner = tmp_path / "runner.py"
    runner.write_text(ECHO)
    monkeypatch.setattr(facts, "RUNNER", runner)
    for name, value in (("ROUNDS", 1), ("WARM_UP", 1), ("CALLS", 2), ("BULK", 20)):
        monkeypatch.setattr(facts, name, value)
    monkeypatch.setattr(facts, "BULK_ROUNDS", 1)
    found = facts.measure(
        [40], Steps(Console(quiet=True)), peers={AGENT_MEMORY: sys.executable, GRAPHITI: "python"}
    )
    times, ratios = found.tables
    singles = {(row["call"], row["library"]): row for row in times.rows}
    assert len(singles) == 12
    assert all(singles[facts.MANY, name]["ms"] for name in (facts.INSERTED, facts.SEARCHED))
    assert singles[facts.WRITE, facts.INSERTED]["ms"]
    assert [singles[SEARCH, one]["found %"] for one in (OURS, GRAPHITI)] == [100, 0]
    assert [row["met"] for row in ratios.rows] == [None] * 4
    assert found.setting[GRAPHITI] == "1.0"
