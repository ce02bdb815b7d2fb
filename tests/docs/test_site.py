"""The site builds without a warning, loads nothing from other hosts, and its search finds pages."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from lunr import builder, query, stop_word_filter  # type: ignore[import-untyped]

ROOT = Path(__file__).parents[2]
QUESTIONS = {
    "how do I install it": "start",
    "belief": "explanation/beliefs",
    "how are beliefs computed": "explanation/beliefs",
    "use a local model with ollama": "how-to/local-models",
    "set the OpenAI API key": "how-to/models",
    "change the embedding model": "how-to/reembedding",
    "delete all data of a user GDPR": "how-to/erasure-requests",
    "correct a wrong fact": "how-to/corrections",
    "backup and restore": "how-to/backup",
    "upgrade to a new version": "how-to/upgrade",
    "Claude Code memory": "tutorials/coding-agent",
    "multiple users FastAPI": "tutorials/users-fastapi",
    "chatbot that remembers the user": "tutorials/chat-agent",
    "what did it believe in the past": "tutorials/why-in-march",
    "LangGraph store": "how-to/langgraph",
    "docker compose deployment": "how-to/deployment",
    "Neo4j Aura": "how-to/clusters",
    "Prometheus metrics": "how-to/monitoring",
    "how much memory does the server need": "how-to/sizing",
    "migration_pending": "reference/errors",
    "GRAPHMEM_MODEL_URL": "how-to/models",
    "list of all settings": "reference/settings",
    "rank search results": "explanation/recall",
    "import a chat export file": "how-to/message-formats",
    "uninstall": "how-to/uninstall",
    "benchmark against mem0": "evidence/retrieval",
}
"""Questions of a newcomer, and the page that answers each."""


Search = Callable[[str], list[str]]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the built site."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-q", "-d", str(folder)]
    environ = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True)
    assert (built.returncode, built.stderr) == (0, "")
    return folder


def searching(content: dict[str, Any]) -> Search:
    """Return the search of a site: the steps that the theme takes in a browser, with lunr."""
    separator = re.compile(content["config"]["separator"])
    assert content["config"]["pipeline"] == ["stopWordFilter"]

    def tokens(text: str) -> list[str]:
        words = separator.split(unescape(re.sub("<[^>]*>", " ", text)).lower())
        return [word for word in words if word]

    made = builder.Builder()
    made.ref("location")
    made.b(0)
    made.pipeline.add(stop_word_filter.stop_word_filter)
    for name in ("title", "text"):
        made.field(name, boost=content["config"]["fields"][name]["boost"])
    for entry in content["docs"]:
        fields = {name: tokens(entry[name]) for name in ("title", "text")}
        made.add({"location": entry["location"], **fields}, {"boost": entry.get("boost", 1)})
    index = made.build()

    def found(question: str) -> list[str]:
        """Return the pages that match a question, best first."""
        words = tokens(question)
        asked = query.Query(["title", "text"])
        for word in words:
            asked.term(f"{word}*", use_pipeline=False)
        scores: dict[str, float] = {}
        for one in index.query(asked):
            page, _, section = one["ref"].partition("#")
            matched = one["match_data"].metadata
            hits = [any(term.startswith(word) for term in matched) for word in words]
            counted = [
                hit
                for word, hit in zip(words, hits, strict=True)
                if hit or stop_word_filter.stop_word_filter(word)
            ]
            weight = (not section) + sum(counted) / len(counted)
            scores[page] = max(scores.get(page, 0.0), one["score"] * (1 + weight**2))
        return sorted(scores, key=lambda page: -scores[page])

    return found


def test_no_page_loads_anything_from_another_host(site: Path) -> None:
    loads = re.compile(r"""<(?:script|link|img|iframe)\b[^>]*(?:src|href)=["']?(?:https?:)?//""")
    pages = list(site.rglob("*.html"))
    assert len(pages) > 50
    assert [page.name for page in pages if loads.search(page.read_text("utf-8"))] == []


def test_a_newcomer_finds_each_page_among_the_first_three(site: Path) -> None:
    search = searching(json.loads((site / "search" / "search_index.json").read_text("utf-8")))
    first = {question: search(question)[:3] for question in QUESTIONS}
    assert {q: pages for q, pages in first.items() if f"{QUESTIONS[q]}.html" not in pages} == {}
