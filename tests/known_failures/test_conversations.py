"""Messages and their words: reports of users of other memories, each as a test of graphmem."""

from __future__ import annotations

import asyncio
import gc
import multiprocessing
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from graphmem import AsyncGraphMem, GraphMem, Handle
from graphmem.settings import Settings
from graphmem.testing import HashEmbedder
from tests.plugins.graph import fresh_tenant
from tests.plugins.texts import unlike

MARCH = datetime(2026, 3, 2, 9, tzinfo=UTC)
HALF = "\ud83d"
"""Half of a surrogate pair, as a client that cuts an emoji sends it."""


def said(*texts: str) -> list[dict[str, str]]:
    """Return messages, of the user and of the assistant in turn."""
    roles = ("user", "assistant")
    return [{"role": roles[n % 2], "content": text} for n, text in enumerate(texts)]


def stored(memory: Handle, session_id: str) -> list[str]:
    """Return the texts of a conversation, without those of the system."""
    session = memory.session(session_id)
    turns = session.episodes.turns(session.episode_id).turns
    return [turn.text for turn in turns if turn.role != "system"]


@pytest.mark.parametrize("window", [2, 4, 100])
def test_a_history_is_stored_once_however_it_is_sent(plain: Handle, window: int) -> None:
    """nesquena/hermes-webui#7587, getsentry/sentry#119041: histories were stored again.

    A client that sends the whole history, or its last messages, below a prompt of the system with
    the time had every message stored at each call.
    """
    talk = said(*(f"Line {n} is about {unlike(n)}" for n in range(12)))
    for n in range(2, len(talk) + 1, 2):
        system = {"role": "system", "content": f"It is 09:{n:02}."}
        plain.session("s").add_messages([system, *talk[:n][-window:]])
    assert stored(plain, "s") == [one["content"] for one in talk]


def test_a_short_answer_that_is_repeated_is_a_message_of_its_own(plain: Handle) -> None:
    """microsoft/agent-framework#4716, nesquena/hermes-webui#6310: equal messages were dropped.

    A second message with the text of an earlier one was taken for its copy.
    """
    session = plain.session("s")
    for text in ("higher", "higher", "lower"):
        assert session.add_messages(said(text)).added == 1
    assert stored(plain, "s") == ["higher", "higher", "lower"]


@pytest.mark.parametrize("place", range(3))
def test_a_broken_character_loses_no_message(plain: Handle, place: int) -> None:
    """anthropics/claude-code#69927, awslabs/graphrag-toolkit#39: half an emoji stopped a batch.

    One text that is not Unicode made the request fail, for ever if it stood in the history.
    """
    talk = said("I keep bees.", "How many hives?", "Four of them.")
    talk[place]["content"] += HALF
    plain.session("s").add_messages(talk)
    assert stored(plain, "s") == [one["content"].replace(HALF, "\ufffd") for one in talk]


DENIED = {
    "I don't live in Lisbon.": "live in Lisbon",
    "Do I live in Lisbon?": "I live in Lisbon",
    "I used to live in Lisbon.": "live in Lisbon",
    "If I get the job, I live in Lisbon.": "I live in Lisbon",
    "Paul thinks that I live in Lisbon.": "I live in Lisbon",
}


@pytest.mark.parametrize("text", DENIED)
def test_a_quote_without_its_clause_is_no_evidence(plain: Handle, text: str) -> None:
    """mnemosyne-oss/mnemosyne#507, remnic#2173: facts were stored that the text denies.

    The extractor kept the part of a sentence without its "not", "if" or question mark.
    """

    def cut(turns: Any) -> list[dict[str, Any]]:
        fact = {"subject": "user", "predicate": "lives_in", "object": "Lisbon", "confidence": 0.9}
        return [{**fact, "turn_id": turn.id, "quote": quotes[turn.text]} for turn in turns]

    quotes = {**DENIED, "I live in Lisbon.": "live in Lisbon"}
    plain.session("s").add_messages(said(text))
    assert plain.session("s").extract(extractor=cut).proposals == ()
    assert plain.current("user", "lives_in").leader is None
    # The control: the same quote of a sentence that states it.
    plain.session("t").add_messages(said("I live in Lisbon."))
    assert len(plain.session("t").extract(extractor=cut).proposals) == 1


@pytest.mark.parametrize(
    "text",
    [
        "Translate to German:\nI live in Rome.",
        "In my dream, I live in Hawaii.",
        "In her letter: I live in Paris.",
        "I live in Porto. Sorry, I meant Braga.",
    ],
)
def test_pasted_dreamt_and_corrected_words_are_no_facts(plain: Handle, text: str) -> None:
    """NousResearch/hermes-agent#22907, Wegent#193: patterns made facts of any text.

    Texts to translate, fiction, reports and what was corrected became facts about the user.
    """
    plain.session("s").add_messages(said(text))
    plain.session("s").extract(extractor="rules")
    homes = {one.object for one in plain.current("user", "lives_in").candidates}
    assert homes <= {"Braga"}
    # The control: a sentence of the user.
    plain.session("t").add_messages(said("I live in Faro."))
    assert len(plain.session("t").extract(extractor="rules").proposals) == 1


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Server web-01 runs Debian 12.", "Server web-02 runs Debian 12."),
        ("Ticket OPS-101 is about the login page.", "Ticket OPS-102 is about the login page."),
        ("Room B12 has a whiteboard.", "Room B14 has a whiteboard."),
    ],
)
def test_a_prompt_calls_no_other_thing_outdated(plain: Handle, first: str, second: str) -> None:
    """getzep/graphiti#1241, Graphify#878: facts about two numbered things were merged.

    Names that differ by a number were taken for one thing, and the older fact for outdated.
    """
    plain.remember(first, at=MARCH.replace(month=1))
    plain.remember(second, at=MARCH)
    shown = plain.context(first, min_score=-1).text
    assert first in shown
    assert second in shown
    assert "outdated" not in shown


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Encryption key: AES-256 in KMS.", True),
        ("Refresh token: 30-day lifetime.", True),
        ("reset_token: 8f3a91c2b6d04e7f9a1b5c3d7e2f4a6b", False),
    ],
)
def test_only_credentials_are_refused_as_such(plain: Handle, text: str, *, kept: bool) -> None:
    """mem0ai/mem0#6818, agent-os#1517: a filter of credentials refused ordinary sentences.

    Sentences that name a key or a token were lost; tokens of other forms were stored.
    """
    assert (plain.remember(text).memory_id is not None) == kept


def test_the_runtime_of_a_model_is_told_not_to_report(tmp_path: Path) -> None:
    """OHF-Voice/wyoming-piper#64, home-assistant/addons#4791, microsoft/onnxruntime#27379: it did.

    Importing the runtime made a device id and reported to its maker.
    """
    code = (
        "import os; from contextlib import suppress; from pathlib import Path\n"
        "from graphmem.models.local import Encoder\n"
        "assert 'ORT_DISABLE_TELEMETRY' not in os.environ\n"
        "with suppress(Exception): Encoder(Path('missing'), 1)\n"
        "print(os.environ['ORT_DISABLE_TELEMETRY'])"
    )
    kept = {n: v for n, v in os.environ.items() if n != "ORT_DISABLE_TELEMETRY"}
    environ = kept | {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / ".cache")}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environ, check=True, capture_output=True, text=True
    )
    assert done.stdout == "1\n"
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def _read(memory: Handle, text: str, answers: Any) -> None:
    answers.put([bite.text for bite in memory.recall(text).bites[:1]])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_reads_its_own_answers(migrated: Settings) -> None:
    """neo4j/neo4j-python-driver#236, benoitc/gunicorn#1953: processes shared their connections.

    A client that was opened before a fork read parts of another process's answers.
    """
    forked = multiprocessing.get_context("fork")
    with GraphMem.open(settings=migrated, embedder=HashEmbedder()) as client:
        handles = [client.tenant(fresh_tenant()) for _ in range(2)]
        for n, handle in enumerate(handles):
            handle.remember(unlike(n))
        answers = forked.Queue()
        children = [
            forked.Process(target=_read, args=(handle, unlike(n), answers))
            for n, handle in enumerate(handles)
        ]
        for child in children:
            child.start()
        own = [bite.text for bite in handles[0].recall(unlike(0)).bites[:1]]
        found = [answers.get(timeout=60) for _ in children]
        for child in children:
            child.join(60)
    assert own == [unlike(0)]
    assert sorted(found) == sorted([[unlike(0)], [unlike(1)]])


# The first loop was closed with open connections.
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_client_works_in_the_next_event_loop(migrated: Settings) -> None:
    """neo4j/neo4j-python-driver#1095, HKUDS/LightRAG#1731: a second loop raised RuntimeError.

    A client that was opened in one `asyncio.run` failed in the next one.
    """

    async def first() -> AsyncGraphMem:
        return await AsyncGraphMem.open(settings=migrated, embedder=HashEmbedder())

    async def second() -> int:
        memory = client.tenant(tenant)
        await memory.remember(unlike(1))
        return len((await memory.recall(unlike(1))).bites)

    tenant = fresh_tenant()
    client = asyncio.run(first())
    assert asyncio.run(second()) == 1
    asyncio.run(client.close())
    gc.collect()  # warns of the first loop's connections here, not in another test
