"""The comparison with other libraries, on data made up here."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from bench import peers, retrieval
from bench.conversations import Question
from bench.figures import Cell, Report
from bench.locomo import placed
from bench.progress import Steps
from bench.retrieval import DataSet, Run
from graphmem.cli.conversation_files import Conversation
from graphmem.errors import ConfigurationError
from graphmem.model import Message
from graphmem.models.embedding import HashEmbedder
from graphmem.ports import Role, run_now

if TYPE_CHECKING:
    from graphmem.ports import Matrix

QUESTIONS = (
    Question("c", "Where is the cat?", "single-hop", frozenset({"c/1"}), id="c/qa0"),
    Question("c", "When did it rain?", "temporal", frozenset({"c/2", "c/3"}), id="c/qa4"),
)
DATA = DataSet("LoCoMo", (), QUESTIONS)


def _run(system: str, *found: Sequence[str]) -> Run:
    ranked = [[[i] for i in ids] for ids in found]
    answered = [placed(q, ids) for q, ids in zip(QUESTIONS, ranked, strict=True)]
    return Run(system, answered, 1.0, 0.5)


def test_each_system_has_a_row_per_category_and_one_without_doubted_questions() -> None:
    runs = [_run("a", ["c/1"], ["c/9", "c/2"]), _run("b", ["c/9"], ["c/2", "c/3"])]
    overall, parts = retrieval.tabulate(DATA, runs, frozenset({"c/qa0"}))
    assert [(row["system"], row["R@1"], row["R@5"]) for row in overall.rows] == [
        ("a", 50.0, 75.0),
        ("b", 25.0, 50.0),
    ]
    assert [(row["part"], row["questions"], row["R@5"]) for row in parts.rows[:3]] == [
        (retrieval.DOUBTED, 1, 50.0),
        ("temporal", 1, 50.0),
        ("single-hop", 1, 100.0),
    ]


def test_without_an_audit_no_row_leaves_questions_out() -> None:
    _, parts = retrieval.tabulate(DATA, [_run("a", [], [])], retrieval.read_audit(None))
    assert retrieval.DOUBTED not in [row["part"] for row in parts.rows]


def test_the_json_names_each_question_and_the_ranks_of_its_evidence() -> None:
    runs = [_run("a", ["c/1"], ["c/3", "c/9", "c/2"])]
    details = {"LoCoMo": retrieval.question_rows(DATA, runs, frozenset({"c/qa4"}))}
    written = json.loads(Report("retrieval", [], details=details).as_json())
    assert [(q["id"], q["doubted"], q["a"]) for q in written["LoCoMo"]] == [
        ("c/qa0", False, "1"),
        ("c/qa4", True, "1 3"),
    ]


def test_an_audit_names_questions_by_conversation_and_number(tmp_path: Path) -> None:
    file = tmp_path / "audit.json"
    file.write_text('[{"question_id": "locomo_0_qa5"}, {"question_id": "locomo_9_qa12"}]')
    assert retrieval.read_audit(file) == {"conv-26/qa5", "conv-50/qa12"}


@pytest.mark.parametrize("text", ["{", "[1]", "[{}]", '[{"question_id": "x"}]'])
def test_another_kind_of_file_is_refused(text: str, tmp_path: Path) -> None:
    file = tmp_path / "audit.json"
    file.write_text(text)
    with pytest.raises(ConfigurationError, match="doubted questions"):
        retrieval.read_audit(file)


@pytest.mark.parametrize("given", ["langgraph", "langgraph=", "chalk=python"])
def test_a_peer_needs_a_known_name_and_a_python(given: str) -> None:
    with pytest.raises(ConfigurationError, match="NAME=PYTHON"):
        retrieval.parse_peers([given])
    assert retrieval.parse_peers(["langgraph=p"]) == {"langgraph": "p"}


def test_a_peer_that_cannot_run_is_named() -> None:
    with pytest.raises(ConfigurationError, match="cannot be started"):
        retrieval.run_peer("langgraph", "/nowhere/python", {})
    with pytest.raises(ConfigurationError, match="neo4j-agent-memory failed") as refused:
        retrieval.run_peer("neo4j-agent-memory", sys.executable, {})
    assert "Install it" in (refused.value.hint or "")


def test_the_service_embeds_questions_and_documents_as_the_embedder_does() -> None:
    class Roles(HashEmbedder):
        async def embed(self, texts: Sequence[str], role: Role) -> Matrix:
            return await super().embed([f"{role} {text}" for text in texts], role)

    with retrieval.embedding_service(Roles()) as url:
        client = peers.Embeddings(url)
        for name, role in (("document", Role.DOCUMENT), ("query", Role.QUERY)):
            client.use(name)
            wanted = run_now(Roles().embed(["a cat", "rain"], role)).tolist()
            assert client(["a cat", "rain"]) == wanted
    assert client.seconds > 0


class _Words:
    """A peer that ranks turns by the number of words that they share with a question."""

    def __init__(self) -> None:
        self.turns: dict[str, Sequence[Mapping[str, str]]] = {}

    async def add(self, conversation: str, turns: Sequence[Mapping[str, str]]) -> None:
        self.turns[conversation] = turns

    async def search(self, conversation: str, question: str, limit: int) -> Sequence[str]:
        words = set(question.split())
        ranked = sorted(self.turns[conversation], key=lambda t: -len(words & {*t["text"].split()}))
        return [one["id"] for one in (*ranked[:1], *ranked)][: limit + 1]


def test_a_peer_answers_each_question_from_its_conversation() -> None:
    turns = {
        "c": [{"id": "c/1", "text": "the cat sleeps"}, {"id": "c/2", "text": "rain fell"}],
        "d": [{"id": "d/1", "text": "the cat eats"}],
    }
    asked = [{"conversation": "c", "text": "rain"}, {"conversation": "d", "text": "cat"}]
    task = {"limit": 2, "conversations": turns, "questions": asked}
    with retrieval.embedding_service(HashEmbedder()) as url:
        made = peers.answers(_Words(), peers.Embeddings(url), task)
    assert made["found"] == [["c/2", "c/1"], ["d/1"]]
    assert len(made["ms"]) == 2
    assert made["ingest_s"] >= 0


class _Messages:
    """Messages that are filtered by conversation after a search of all of them."""

    def __init__(self) -> None:
        self.wanted = 0

    async def search_messages(
        self, _question: str, *, limit: int, **_filters: object
    ) -> Sequence[object]:
        self.wanted = limit
        return []


def test_a_library_that_filters_after_its_search_is_asked_for_more_than_needed() -> None:
    peer = peers.AgentMemory.__new__(peers.AgentMemory)
    store = _Messages()
    peer._client = SimpleNamespace(short_term=store)
    run_now(peer.search("c", "Where is the cat?", 20))
    assert store.wanted == 20 * peers.WIDER == 200


COUNTS_NODES = """
import json, sys
from pathlib import Path

from neo4j import GraphDatabase

task = json.loads(Path(sys.argv[2]).read_text())
at = task["neo4j"]
with GraphDatabase.driver(at["uri"], auth=(at["user"], at["password"])) as driver:
    [[nodes]] = driver.execute_query("MATCH (n) RETURN count(n)").records
    driver.execute_query("CREATE (:Left)")
ids = [turn["id"] for turns in task["conversations"].values() for turn in turns]
made = {"version": str(nodes), "found": [ids for _ in task["questions"]]}
made |= {"ms": [1.0 for _ in task["questions"]], "ingest_s": 1.0, "embedding_s": 0.0}
Path(sys.argv[3]).write_text(json.dumps(made))
"""


@pytest.mark.system
@pytest.mark.server
def test_each_run_of_a_library_gets_an_empty_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner = tmp_path / "runner.py"
    runner.write_text(COUNTS_NODES)
    monkeypatch.setattr(retrieval, "RUNNER", runner)
    turn = Message(role="user", content="the cat sleeps", id="c/1", session="c/s")
    data = DataSet("LoCoMo", [Conversation(name="c", messages=(turn,))], QUESTIONS)
    setting: dict[str, Cell] = {}
    for _ in range(2):
        run = retrieval._peer(
            data, "langgraph", sys.executable, Steps(Console(quiet=True)), setting
        )
        assert setting == {"langgraph": "0"}
    assert [one.ranks for one in run.answered] == [[1], []]
