"""Share of the evidence that graphmem and other memory libraries find, without a language model."""

from __future__ import annotations

import json
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench import locomo
from bench.conversations import (
    CATEGORIES,
    Question,
    beam_questions,
    locomo_questions,
    read_conversations,
)
from bench.figures import Cell, Report, Table
from bench.peers import PEERS
from bench.server import connected, fresh_server
from graphmem.cli.conversation_files import Conversation
from graphmem.client import connect
from graphmem.errors import ConfigurationError
from graphmem.io_modes import BLOCKING
from graphmem.models.local import LocalEmbedder, open_local
from graphmem.models.vector_cache import MemoryCache
from graphmem.ports import Role, run_now

if TYPE_CHECKING:
    from bench.locomo import Answered
    from bench.progress import Steps
    from graphmem.model.terms import Encoding
    from graphmem.ports import Embedder
    from graphmem.settings import Settings

OURS = {
    "graphmem": locomo.SHIPPED,
    "graphmem, vector search alone": locomo.VECTOR,
    "graphmem, BM25 alone": locomo.WORDS,
}
RUNNER = Path(__file__).with_name("peers.py")
SAMPLES = {"conv-26": 0, "conv-30": 1, "conv-41": 2, "conv-42": 3, "conv-43": 4}
SAMPLES |= {"conv-44": 5, "conv-47": 6, "conv-48": 7, "conv-49": 8, "conv-50": 9}
"""Number of each LoCoMo conversation in the file of all ten, which audits refer to."""
DOUBTED = "audited golds out"


@dataclass(frozen=True, slots=True)
class DataSet:
    """Conversations and questions about them."""

    name: str
    conversations: Sequence[Conversation]
    questions: Sequence[Question]


@dataclass(frozen=True, slots=True)
class Run:
    """Results of one system on one data set."""

    system: str
    answered: Sequence[Answered]
    ingest_s: float | None
    """Seconds to store all turns, embeddings included; None if another run of the same system
    did."""
    embedding_s: float | None
    """Seconds of these that its embeddings took."""


def measure(steps: Steps, *, peers: Mapping[str, str], audit: Path | None) -> Report:
    """Return the evidence found by graphmem and by `peers`.

    Args:
        steps: Progress output.
        peers: Python with the library installed, by name of the library.
        audit: JSON list of the LoCoMo questions whose evidence an audit doubts, or None.

    Raises:
        ConfigurationError: A data set is missing, or a peer cannot be run.
    """
    doubted = read_audit(audit)
    sets = list(read_sets(locomo.data_folder()))
    tables: list[Table] = []
    details: dict[str, list[dict[str, Cell]]] = {}
    setting: dict[str, Cell] = {}
    with fresh_server(steps.say) as settings:
        for data in sets:
            runs = _ours(settings, data, steps, setting)
            for peer, python in peers.items():
                steps.say(f"{peer} on {data.name}")
                runs.append(_peer(data, peer, python, steps, setting))
            tables += tabulate(data, runs, doubted)
            details[data.name] = question_rows(data, runs, doubted)
    return Report(
        name="retrieval",
        tables=tables,
        notes=[
            "R@k: mean share of a question's evidence among the first k turns, in percent.",
            "ms: median time of a question, its embedding included. Ingest: seconds to store all "
            "turns; embedding: seconds of these for vectors, which peers get from a cache.",
            "All systems have the same turns and the same encoder, and no language model.",
        ],
        setting=setting,
        details=details,
    )


def parse_peers(given: Sequence[str]) -> dict[str, str]:
    """Return the Python of each peer from texts of the form NAME=PYTHON.

    Raises:
        ConfigurationError: A text has another form, or the name is unknown.
    """
    peers = {}
    for text in given:
        name, _, python = text.partition("=")
        if name not in PEERS or not python:
            raise ConfigurationError(
                f"--peer {text} is not NAME=PYTHON with a known name.",
                hint=f"Known names: {', '.join(PEERS)}.",
            )
        peers[name] = python
    return peers


def read_sets(folder: Path) -> Iterator[DataSet]:
    """Yield LoCoMo and BEAM."""
    path = folder / "locomo" / "locomo.json"
    questions = list(locomo_questions(json.loads(path.read_text("utf-8"))))
    yield DataSet("LoCoMo", read_conversations(path), questions)
    chats, questions = [], []
    for file in sorted((folder / "beam").glob("*/chat.json")):
        [chat] = read_conversations(file)
        probing = json.loads((file.parent / "probing_questions.json").read_text("utf-8"))
        questions += [one for one in beam_questions(chat.name, probing) if one.evidence]
        chats.append(chat)
    yield DataSet("BEAM", chats, questions)


def read_audit(path: Path | None) -> frozenset[str]:
    """Return the ids of the questions that an audit of LoCoMo doubts.

    The file is a JSON list of objects with `question_id`, such as "locomo_0_qa5": question 5 of
    conversation 0 of all ten, from 0.

    Raises:
        ConfigurationError: The file has another form.
    """
    if path is None:
        return frozenset()
    names = {str(number): name for name, number in SAMPLES.items()}
    try:
        ids = [one["question_id"].split("_") for one in json.loads(path.read_text("utf-8"))]
        return frozenset(f"{names[number]}/{qa}" for _, number, qa in ids)
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise ConfigurationError(
            f"{path} is not a list of doubted questions: {error!r}.",
            hint='Each entry needs a "question_id" such as "locomo_0_qa5".',
        ) from error


def tabulate(data: DataSet, runs: Sequence[Run], doubted: frozenset[str]) -> list[Table]:
    """Return the tables of one data set: all questions, each category, and without doubted ones."""
    overall: list[dict[str, Cell]] = []
    parts: list[dict[str, Cell]] = []
    for run in runs:
        overall.append(
            {
                "system": run.system,
                **locomo.score_row(run.answered),
                "ms": round(statistics.median(one.ms for one in run.answered), 1),
                "ingest s": run.ingest_s,
                "embedding s": run.embedding_s,
            }
        )
        kept = [one for one in run.answered if one.question.id not in doubted]
        if len(kept) < len(run.answered):
            parts.append(_part(run.system, DOUBTED, kept))
        kinds = dict.fromkeys(one.question.category for one in run.answered)
        for kind in sorted(kinds, key=[*CATEGORIES.values(), *kinds].index):
            part = [one for one in run.answered if one.question.category == kind]
            parts.append(_part(run.system, kind, part))
    return [Table(data.name, overall), Table(f"{data.name}, parts", parts)]


def _part(system: str, title: str, answered: Sequence[Answered]) -> dict[str, Cell]:
    count = len(answered)
    return {"system": system, "part": title, "questions": count, **locomo.score_row(answered)}


def question_rows(
    data: DataSet, runs: Sequence[Run], doubted: frozenset[str]
) -> list[dict[str, Cell]]:
    """Return a row per question with the ranks, from 1, of its evidence in each system."""
    return [
        {
            "id": question.id,
            "category": question.category,
            "evidence": len(question.evidence),
            "doubted": question.id in doubted,
            **{run.system: " ".join(map(str, run.answered[n].ranks)) for run in runs},
        }
        for n, question in enumerate(data.questions)
    ]


def _ours(settings: Settings, data: DataSet, steps: Steps, setting: dict[str, Cell]) -> list[Run]:
    embedder = Timed.of(settings)
    with connected(settings, embedder, steps.say) as (memory, bare):
        setting["neo4j"] = bare.server_version()
        setting["encoder"] = embedder.name
        started = time.perf_counter()
        turns: dict[str, str] = {}
        for conversation in steps.over(data.conversations, f"ingest {data.name}"):
            turns |= locomo.ingest(memory, conversation)
        ingest_s = round(time.perf_counter() - started, 1)
        embedding_s = round(embedder.seconds, 1)
        evaluation = locomo.Evaluation(memory, data.questions, turns)
        runs = []
        for name, system in OURS.items():
            answered = locomo.answer(evaluation, locomo.SYSTEMS[system], steps, name)
            runs.append(Run(name, answered, ingest_s, embedding_s))
        return runs


class Timed(LocalEmbedder):
    """The local embedder, with the time that its encodings took."""

    seconds = 0.0

    @classmethod
    def of(cls, settings: Settings) -> Timed:
        """Return the embedder that graphmem uses by default."""
        engine = open_local(settings, BLOCKING, lambda _: None)
        return cls(engine, BLOCKING, batch=settings.embedder_batch, cache=MemoryCache())

    async def encode(self, texts: Sequence[str], role: Role) -> Encoding:
        """Return vectors and token states; see `LocalEmbedder.encode`."""
        started = time.perf_counter()
        made = await super().encode(texts, role)
        self.seconds += time.perf_counter() - started
        return made


def _peer(data: DataSet, peer: str, python: str, steps: Steps, setting: dict[str, Cell]) -> Run:
    """Run another library in its own environment, with vectors from a service on this machine."""
    asked = [{"conversation": one.conversation, "text": one.text} for one in data.questions]
    task: dict[str, Any] = {
        "limit": max(locomo.CUTS),
        "conversations": {one.name: [*_turns(one)] for one in data.conversations},
        "questions": asked,
    }
    # An empty server, so that nothing of graphmem or of another library is in its indexes.
    with fresh_server(steps.say) as settings, embedding_service(Timed.of(settings)) as url:
        address = connect.address(settings, steps.say)
        task["neo4j"] = {"uri": address.uri, "user": address.user, "password": address.password}
        found = run_peer(peer, python, task | {"embeddings": url})
    setting[peer] = found["version"]
    answered = [
        replace(locomo.placed(question, [[i] for i in ids]), ms=ms)
        for question, ids, ms in zip(data.questions, found["found"], found["ms"], strict=True)
    ]
    return Run(peer, answered, round(found["ingest_s"], 1), round(found["embedding_s"], 1))


def _turns(conversation: Conversation) -> Iterator[dict[str, str]]:
    for message in conversation.messages:
        if message.content.strip():
            yield {
                "id": str(message.id),
                "session": str(message.session),
                "role": message.role,
                "name": message.name or message.role,
                "text": f"{message.name}: {message.content}" if message.name else message.content,
                "at": message.at.isoformat() if message.at else "",
            }


def run_peer(peer: str, python: str, task: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a library finds: version, found (ids per question), ms, ingest_s, embedding_s.

    Raises:
        ConfigurationError: It cannot be run.
    """
    with tempfile.TemporaryDirectory(prefix="graphmem-peer-") as folder:
        given, made = Path(folder) / "task.json", Path(folder) / "found.json"
        given.write_text(json.dumps(task), encoding="utf-8")
        try:
            done = subprocess.run(  # noqa: S603
                [python, str(RUNNER), peer, str(given), str(made)],
                stderr=subprocess.PIPE,
                text=True,
                check=False,
            )
        except OSError as error:
            raise ConfigurationError(
                f"{python} cannot be started: {error.strerror}.",
                hint=f"Name the Python of an environment with {peer}: --peer {peer}=PATH",
            ) from error
        if done.returncode:
            raise ConfigurationError(
                f"{peer} failed: {done.stderr.strip().splitlines()[-1:] or ['no message']}.",
                hint=f"Install it in the environment of {python}, and see bench/peers.py.",
            )
        found: dict[str, Any] = json.loads(made.read_text("utf-8"))
        return found


@contextmanager
def embedding_service(embedder: Embedder) -> Iterator[str]:
    """Yield the address of an embedding service as OpenAI has it, on this machine.

    It embeds documents, and after a request to /role/query questions, until one to /role/document.
    """
    roles = {"/role/query": Role.QUERY, "/role/document": Role.DOCUMENT}
    current = [Role.DOCUMENT]

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            reply: dict[str, Any] = {}
            if self.path in roles:
                current[0] = roles[self.path]
            else:
                texts = json.loads(body)["input"]
                texts = [texts] if isinstance(texts, str) else texts
                rows = run_now(embedder.embed(texts, current[0])).tolist()
                reply["data"] = [
                    {"object": "embedding", "index": n, "embedding": row}
                    for n, row in enumerate(rows)
                ]
                reply |= {"object": "list", "model": embedder.name}
                reply["usage"] = {"prompt_tokens": 0, "total_tokens": 0}
            text = json.dumps(reply).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
