"""Other memory libraries on the turns of bench/retrieval.py and the facts of bench/facts.py.

Usage: PYTHON bench/peers.py NAME TASK.json [FOUND.json], with the Python of an environment that has
the library; it need not have graphmem. No library calls a language model here. Without FOUND.json,
it answers requests for facts, one a line of standard input; see `serve`.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Coroutine, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol, TextIO

DIMENSION = 384
WIDER = 10
"""Factor of the limit for a library that filters by conversation only after its search."""
NO_KEY = "unused"
"""Key of services that are configured, because a library requires one, and never called."""


class Embeddings:
    """Client of the embedding service, with the time that it took."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.seconds = 0.0

    def use(self, role: str) -> None:
        """Embed questions ("query") or turns ("document") from now on."""
        self._post(f"/role/{role}", {})

    def __call__(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one vector per text."""
        started = time.perf_counter()
        data = self._post("/v1/embeddings", {"input": list(texts)})["data"]
        self.seconds += time.perf_counter() - started
        return [one["embedding"] for one in data]

    def _post(self, path: str, body: Mapping[str, Any]) -> Any:
        request = urllib.request.Request(  # noqa: S310
            self.url + path, json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request) as reply:  # noqa: S310
            return json.load(reply)


class Peer(Protocol):
    """One library."""

    async def add(self, conversation: str, turns: Sequence[Mapping[str, str]]) -> None:
        """Store the turns of a conversation."""
        ...

    async def search(self, conversation: str, question: str, limit: int) -> Sequence[str]:
        """Return the ids of the best turns, best first."""
        ...


def answers(peer: Peer, embeddings: Embeddings, task: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a library finds for each question, and the times."""
    return asyncio.run(_answers(peer, embeddings, task))


async def _answers(peer: Peer, embeddings: Embeddings, task: Mapping[str, Any]) -> dict[str, Any]:
    embeddings.use("document")
    started = time.perf_counter()
    for name, turns in task["conversations"].items():
        await peer.add(name, turns)
    made: dict[str, Any] = {"ingest_s": time.perf_counter() - started}
    made |= {"embedding_s": embeddings.seconds, "found": [], "ms": []}
    embeddings.use("query")
    for asked in task["questions"]:
        started = time.perf_counter()
        ids = await peer.search(asked["conversation"], asked["text"], task["limit"])
        made["ms"].append(1_000 * (time.perf_counter() - started))
        made["found"].append(list(dict.fromkeys(ids))[: task["limit"]])
    return made


class Timer(Protocol):
    """Embeddings, with the time that they took."""

    seconds: float


class FactStore(Protocol):
    """One library, as a store of facts. A fact has subject, predicate, object and text."""

    async def write(self, fact: Mapping[str, str]) -> None:
        """Store one fact."""
        ...

    async def write_all(self, facts: Sequence[Mapping[str, str]]) -> None:
        """Store many facts in the fastest way that the library has."""
        ...

    async def find(self, question: str, limit: int) -> Sequence[str]:
        """Return the texts of the best facts, best first."""
        ...


def serve(store: FactStore, embeddings: Embeddings, requests: TextIO, replies: TextIO) -> None:
    """Answer each request with the time of its work, and of the embeddings in it, ms.

    A request is a line of JSON: {"write": facts}, one by one, {"write_all": facts}, or {"find":
    questions, "limit": 10}. A reply has `ms` and `embedding_ms`, a number for each call, and
    `found`, the texts for each question.
    """
    with asyncio.Runner() as loop:
        for line in requests:
            request = json.loads(line)
            embeddings.use("query" if "find" in request else "document")
            made = loop.run(served(store, embeddings, request))
            print(json.dumps(made), file=replies, flush=True)


async def served(
    store: FactStore, embeddings: Timer, request: Mapping[str, Any]
) -> dict[str, list[Any]]:
    """Return the reply to a request; see `serve`."""
    calls: list[Callable[[], Coroutine[Any, Any, Sequence[str] | None]]] = []
    calls += [partial(store.write, fact) for fact in request.get("write", ())]
    calls += [partial(store.find, text, request["limit"]) for text in request.get("find", ())]
    if facts := request.get("write_all"):
        calls.append(partial(store.write_all, facts))
    made: dict[str, list[Any]] = {"ms": [], "embedding_ms": [], "found": []}
    for call in calls:
        embedded, started = embeddings.seconds, time.perf_counter()
        made["found"].append(await call())
        made["ms"].append(1_000 * (time.perf_counter() - started))
        made["embedding_ms"].append(1_000 * (embeddings.seconds - embedded))
    return made


class LangGraph:
    """InMemoryStore: cosine of every item of a namespace."""

    def __init__(self, embeddings: Embeddings, _task: Mapping[str, Any]) -> None:
        memory = importlib.import_module("langgraph.store.memory")
        index = {"dims": DIMENSION, "embed": embeddings, "fields": ["text"]}
        self._store = memory.InMemoryStore(index=index)

    async def add(self, conversation: str, turns: Sequence[Mapping[str, str]]) -> None:
        """Store the turns in one namespace."""
        # One at a time: a batch with two equal texts fails.
        for one in turns:
            self._store.put((conversation,), one["id"], {"text": one["text"]})

    async def search(self, conversation: str, question: str, limit: int) -> Sequence[str]:
        """Return the keys of the nearest turns."""
        return [one.key for one in self._store.search((conversation,), query=question, limit=limit)]


class Mem0:
    """Memory with infer=False: turns as they are, in a local Qdrant."""

    def __init__(self, embeddings: Embeddings, _task: Mapping[str, Any]) -> None:
        folder = tempfile.mkdtemp(prefix="graphmem-mem0-")
        os.environ |= {"MEM0_DIR": folder, "MEM0_TELEMETRY": "False"}
        mem0 = importlib.import_module("mem0")
        unused = {"provider": "openai", "config": {"api_key": NO_KEY}}
        store = {"path": f"{folder}/qdrant", "embedding_model_dims": DIMENSION}
        config = {"llm": unused, "embedder": unused, "history_db_path": f"{folder}/history.db"}
        config |= {"vector_store": {"provider": "qdrant", "config": store}}
        self._memory = mem0.Memory.from_config(config)
        self._memory.embedding_model = _Mem0Embedder(embeddings)

    async def add(self, conversation: str, turns: Sequence[Mapping[str, str]]) -> None:
        """Add each turn as a message."""
        for one in turns:
            message = {"role": "user", "content": one["text"]}
            self._memory.add(
                [message], user_id=conversation, infer=False, metadata={"source": one["id"]}
            )

    async def search(self, conversation: str, question: str, limit: int) -> Sequence[str]:
        """Return the sources of the memories found."""
        found = self._memory.search(
            question, filters={"user_id": conversation}, top_k=limit, threshold=0.0
        )
        return [one["metadata"]["source"] for one in found["results"]]


class _Mem0Embedder:
    """mem0's interface of an embedding model."""

    def __init__(self, embeddings: Embeddings) -> None:
        self._embeddings = embeddings

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:  # noqa: ARG002
        """Return the vector of a text."""
        return self._embeddings([text])[0]

    def embed_batch(
        self,
        texts: Sequence[str],
        memory_action: str | None = None,  # noqa: ARG002
    ) -> list[list[float]]:
        """Return the vectors of texts."""
        return self._embeddings(texts)


class Graphiti:
    """Each turn as the fact of an edge, written directly, because episodes need a language model.

    Search is its hybrid of BM25 and cosine over edges, by reciprocal rank fusion.
    """

    def __init__(self, embeddings: Embeddings, task: Mapping[str, Any]) -> None:
        os.environ |= {"EMBEDDING_DIM": str(DIMENSION), "GRAPHITI_TELEMETRY_ENABLED": "false"}
        core = importlib.import_module("graphiti_core")
        nodes = importlib.import_module("graphiti_core.nodes")
        edges = importlib.import_module("graphiti_core.edges")
        self._bulk = importlib.import_module("graphiti_core.utils.bulk_utils")
        recipes = importlib.import_module("graphiti_core.search.search_config_recipes")
        llm = importlib.import_module("graphiti_core.llm_client")
        openai = importlib.import_module("graphiti_core.llm_client.openai_client")
        reranker = importlib.import_module("graphiti_core.cross_encoder.openai_reranker_client")
        client = importlib.import_module("graphiti_core.embedder.client")
        config = llm.LLMConfig(api_key=NO_KEY)

        class Embedder(client.EmbedderClient):  # type: ignore[misc, name-defined]
            async def create(self, input_data: Any) -> list[float]:
                return embeddings([input_data] if isinstance(input_data, str) else input_data)[0]

            async def create_batch(self, input_data_list: list[str]) -> list[list[float]]:
                return embeddings(input_data_list)

        self._embedder = Embedder()
        self._node, self._edge = nodes.EntityNode, edges.EntityEdge
        self._recipe = recipes.EDGE_HYBRID_SEARCH_RRF
        self._graphiti = core.Graphiti(
            *(task["neo4j"][name] for name in ("uri", "user", "password")),
            llm_client=openai.OpenAIClient(config=config),
            embedder=self._embedder,
            cross_encoder=reranker.OpenAIRerankerClient(config=config),
        )
        self._ready = False
        self._ids: dict[str, str] = {}

    async def add(self, conversation: str, turns: Sequence[Mapping[str, str]]) -> None:
        """Write the turns as edges from their speaker to the conversation."""
        if not self._ready:
            await self._graphiti.build_indices_and_constraints()
            self._ready = True
        names = dict.fromkeys((*(one["name"] for one in turns), conversation))
        nodes = {name: self._node(name=name, group_id=conversation) for name in names}
        vectors = await self._embedder.create_batch([one["text"] for one in turns])
        edges = [
            self._edge(
                group_id=conversation,
                source_node_uuid=nodes[one["name"]].uuid,
                target_node_uuid=nodes[conversation].uuid,
                created_at=datetime.fromisoformat(one["at"]),
                name="STATES",
                fact=one["text"],
                fact_embedding=vector,
            )
            for one, vector in zip(turns, vectors, strict=True)
        ]
        self._ids |= {edge.uuid: one["id"] for edge, one in zip(edges, turns, strict=True)}
        await self._bulk.add_nodes_and_edges_bulk(
            self._graphiti.driver, [], [], [*nodes.values()], edges, self._embedder
        )

    async def search(self, conversation: str, question: str, limit: int) -> Sequence[str]:
        """Return the turns of the edges found."""
        config = self._recipe.model_copy(update={"limit": limit})
        found = await self._graphiti.search_(question, config=config, group_ids=[conversation])
        return [self._ids[edge.uuid] for edge in found.edges]


class GraphitiFacts(Graphiti):
    """Each fact as an edge, without Graphiti's own check for duplicates, which needs a model.

    The nodes at its ends, ten people and as many things, are written before.
    """

    GROUP = "facts"

    def __init__(self, embeddings: Embeddings, task: Mapping[str, Any]) -> None:
        super().__init__(embeddings, task)
        self._nodes: dict[str, Any] = {}

    async def write(self, fact: Mapping[str, str]) -> None:
        """Embed and save one edge; nothing is looked for."""
        [edge] = await self._edges([fact])
        await edge.generate_embedding(self._embedder)
        await edge.save(self._graphiti.driver)

    async def write_all(self, facts: Sequence[Mapping[str, str]]) -> None:
        """Write the edges in one transaction; nothing is looked for."""
        edges = await self._edges(facts)
        vectors = await self._embedder.create_batch([edge.fact for edge in edges])
        for edge, vector in zip(edges, vectors, strict=True):
            edge.fact_embedding = vector
        await self._bulk.add_nodes_and_edges_bulk(
            self._graphiti.driver, [], [], [], edges, self._embedder
        )

    async def find(self, question: str, limit: int) -> Sequence[str]:
        """Return the facts of the edges found."""
        config = self._recipe.model_copy(update={"limit": limit})
        found = await self._graphiti.search_(question, config=config, group_ids=[self.GROUP])
        return [edge.fact for edge in found.edges]

    async def _edges(self, facts: Sequence[Mapping[str, str]]) -> list[Any]:
        if not self._ready:
            await self._graphiti.build_indices_and_constraints()
            self._ready = True
        ends = {name for fact in facts for name in self._ends(fact)} - self._nodes.keys()
        for name in sorted(ends):
            self._nodes[name] = self._node(name=name, group_id=self.GROUP)
            await self._nodes[name].generate_name_embedding(self._embedder)
            await self._nodes[name].save(self._graphiti.driver)
        return [self._edge_of(fact) for fact in facts]

    def _edge_of(self, fact: Mapping[str, str]) -> Any:
        source, target = (self._nodes[name].uuid for name in self._ends(fact))
        return self._edge(
            group_id=self.GROUP,
            source_node_uuid=source,
            target_node_uuid=target,
            created_at=datetime.now(UTC),
            name=fact["predicate"],
            fact=fact["text"],
        )

    @staticmethod
    def _ends(fact: Mapping[str, str]) -> tuple[str, str]:
        return fact["subject"].split()[0], fact["object"].split()[0]


class AgentMemory:
    """neo4j-agent-memory: messages of one session per conversation, without extraction."""

    def __init__(self, embeddings: Embeddings, task: Mapping[str, Any]) -> None:
        library = importlib.import_module("neo4j_agent_memory")
        address = task["neo4j"]
        neo4j = {
            "uri": address["uri"],
            "username": address["user"],
            "password": address["password"],
        }
        settings = library.MemorySettings(
            neo4j=neo4j, llm=None, extraction={"extractor_type": "none"}
        )
        self._client = library.MemoryClient(settings, embedder=_AgentMemoryEmbedder(embeddings))
        self._open = False

    async def add(self, conversation: str, turns: Sequence[Mapping[str, str]]) -> None:
        """Add the turns as messages."""
        if not self._open:
            await self._client.connect()
            self._open = True
        roles = {"user", "assistant", "system", "tool"}
        messages = [
            {
                "role": one["role"] if one["role"] in roles else "user",
                "content": one["text"],
                "metadata": {"source": one["id"], "conversation": conversation},
            }
            for one in turns
        ]
        await self._client.short_term.add_messages_batch(conversation, messages)

    async def search(self, conversation: str, question: str, limit: int) -> Sequence[str]:
        """Return the sources of the messages found."""
        # It searches the messages of all sessions, whatever session is named, and filters twice as
        # many as it is asked for. With the limit itself, few of a conversation would remain.
        found = await self._client.short_term.search_messages(
            question,
            limit=limit * WIDER,
            threshold=0.0,
            metadata_filters={"conversation": conversation},
        )
        return [one.metadata["source"] for one in found]


class AgentMemoryFacts(AgentMemory):
    """Facts of the long-term memory."""

    async def write(self, fact: Mapping[str, str]) -> None:
        """Add a fact; the library first looks for an equal one among the three nearest."""
        if not self._open:
            await self._client.connect()
            self._open = True
        await self._client.long_term.add_fact(fact["subject"], fact["predicate"], fact["object"])

    async def write_all(self, facts: Sequence[Mapping[str, str]]) -> None:
        """Add the facts one by one: the library has no call for many."""
        for fact in facts:
            await self.write(fact)

    async def find(self, question: str, limit: int) -> Sequence[str]:
        """Return the facts nearest to a question."""
        found = await self._client.long_term.search_facts(question, limit=limit, threshold=0.0)
        return [f"{one.subject} {one.predicate} {one.object}" for one in found]


class _AgentMemoryEmbedder:
    """neo4j-agent-memory's interface of an embedding model."""

    dimensions = DIMENSION

    def __init__(self, embeddings: Embeddings) -> None:
        self._embeddings = embeddings

    async def embed(self, text: str) -> list[float]:
        """Return the vector of a text."""
        return self._embeddings([text])[0]

    async def embed_batch(self, texts: list[str]) -> list[list[float]]:
        """Return the vectors of texts."""
        return self._embeddings(texts)


PEERS: dict[str, Callable[[Embeddings, Mapping[str, Any]], Peer]] = {
    "langgraph": LangGraph,
    "mem0ai": Mem0,
    "graphiti-core": Graphiti,
    "neo4j-agent-memory": AgentMemory,
}
STORES: dict[str, Callable[[Embeddings, Mapping[str, Any]], FactStore]] = {
    "graphiti-core": GraphitiFacts,
    "neo4j-agent-memory": AgentMemoryFacts,
}


def main(name: str, task: Path, found: Path | None = None) -> None:
    """Run one library: write what it finds, or without a file answer requests for facts."""
    given = json.loads(task.read_text("utf-8"))
    embeddings = Embeddings(given.get("embeddings", ""))
    try:
        number = version(name)
        if found is None:
            replies, sys.stdout = sys.stdout, sys.stderr
            store = STORES[name](embeddings, given)
            print(number, file=replies, flush=True)
            serve(store, embeddings, sys.stdin, replies)
            return
        peer = PEERS[name](embeddings, given)
    except ImportError as error:
        sys.exit(f"{name} is not installed in this environment: {error}")
    made = answers(peer, embeddings, given) | {"version": number}
    found.write_text(json.dumps(made), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1], *map(Path, sys.argv[2:]))
