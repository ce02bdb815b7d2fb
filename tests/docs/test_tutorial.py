"""Every block of docs/tutorials/chat-agent.md runs and prints what the page shows."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.docs.conftest import FENCED, Environ, Follow, python, replied, run
from tests.plugins.chat_service import KEY, ChatService

PAGE = (Path(__file__).parents[2] / "docs" / "tutorials" / "chat-agent.md").read_text("utf-8")
BLOCKS = FENCED.findall(PAGE)
PLACES = [
    n
    for n, (kind, text) in enumerate(BLOCKS)
    if kind == "python" and ".extract(" not in text and "OpenAI" not in text
]


@pytest.mark.parametrize("place", PLACES)
def test_a_block_prints_what_the_page_shows(follow: Follow, place: int) -> None:
    assert follow(python(BLOCKS[place][1])) == BLOCKS[place + 1][1]


def extracted(messages: list[dict[str, str]]) -> dict[str, object]:
    """Return a language model's reply about the two sentences of the page."""
    shown = messages[-1]["content"].split("<messages>")[1]
    lisbon = "I moved to Lisbon" in shown
    fact = {
        "turn": "t1",
        "quote": "I moved to Lisbon" if lisbon else "Porto since May",
        "subject": "user",
        "predicate": "lives_in",
        "object": "Lisbon" if lisbon else "Porto",
        "polarity": "supporting",
        "confidence": 0.9,
        "when": None if lisbon else "since May",
    }
    return {"proposals": [fact]}


@pytest.mark.system
def test_the_loop_of_a_conversation_prints_what_the_page_shows(newcomer: Environ) -> None:
    """Use a language model on loopback; litellm causes warnings, which are not errors here."""
    [place] = [n for n, (_, text) in enumerate(BLOCKS) if ".extract(" in text]
    with ChatService.opened() as service:
        service.always = extracted
        named = {
            "GRAPHMEM_MODEL": "openai/some-model",
            "GRAPHMEM_MODEL_URL": service.url,
            "GRAPHMEM_MODEL_KEY": KEY,
        }
        printed = run([sys.executable, "-c", BLOCKS[place][1]], newcomer | named)
        assert printed == BLOCKS[place + 1][1]
        assert len(service.bodies) == 2


@pytest.mark.system
def test_a_reply_of_a_model_prints_what_the_page_shows(newcomer: Environ) -> None:
    [place] = [n for n, (_, text) in enumerate(BLOCKS) if "OpenAI" in text]
    with ChatService.opened() as service:
        service.always = replied
        named = {"OPENAI_BASE_URL": service.url, "OPENAI_API_KEY": KEY}
        assert run(python(BLOCKS[place][1]), newcomer | named) == BLOCKS[place + 1][1]
        assert [len(body["messages"]) for body in service.bodies] == [1, 2]


def test_every_block_is_followed_by_a_test() -> None:
    assert [kind for kind, _ in BLOCKS] == ["python", "text"] * 4
    assert len(PLACES) == 2
