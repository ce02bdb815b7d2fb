"""Blocks of ordinary conversations: what a line costs besides its text, by real tokenizers."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from pathlib import Path

import pytest
import tiktoken
from tokenizers import Tokenizer

from graphmem import Handle
from graphmem.testing import FrozenClock
from tests.plugins.clients import Door

NOW = datetime(2026, 9, 14, 9, tzinfo=UTC)
MAX_OVERHEAD = 14
"""Greatest mean number of tokens of a line, besides those of its text."""
MIN_SHARE = 0.6
"""Least share of the characters of a block that are the texts."""
LINE = re.compile(r'^\[\S+\] .*?: (?:\[Memory flash: )?"(.*)"')
ORDINARY = re.compile(r'^\[t_\w+\] [^"]*: "')

TALKS: tuple[tuple[tuple[str, str], ...], ...] = (
    (
        ("user", "The bakery on the corner closes for good at the end of this month."),
        ("assistant", "That is a pity. Where will you buy your bread from then on?"),
        ("user", "There is a mill shop in Varde that sells rye bread on Saturdays."),
        ("user", "My brother Emil works there, so I get the loaf from the day before for half."),
    ),
    (
        ("user", "We have moved the choir rehearsal from Tuesday to Thursday at half past seven."),
        ("assistant", "Noted. Does the room stay the same for the rehearsal on Thursday?"),
        ("user", "No, the rehearsal is in the gym of the school now, because of the organ."),
        ("user", "The concert with the choir is on the second Sunday of Advent, in the chapel."),
    ),
    (
        ("user", "Our server room needs a new air conditioner, the old one drips on the racks."),
        ("assistant", "How large is the server room, and how many racks does it hold?"),
        ("user", "The server room has 24 square metres and six racks, two of them half empty."),
        ("user", "The offer of Nordkulde for the air conditioner was 11,400 euros with the pipes."),
    ),
    (
        ("user", "I am training for the half marathon in Aarhus, the one along the harbour."),
        ("assistant", "Good luck! How many kilometres do you run in an ordinary week?"),
        ("user", "About thirty-five kilometres a week, with one long run on Sunday morning."),
        ("user", "My left knee hurts after the long run, so the doctor wants to see me on Monday."),
    ),
)
ASKED = (
    "Where do I buy bread when the bakery closes?",
    "When and where is the choir rehearsal?",
    "What did the air conditioner for the server room cost?",
    "How is my training for the half marathon going?",
)


def tokenizers() -> dict[str, Callable[[str], int]]:
    """Return tokenizers whose vocabulary litellm brings along."""
    spec = find_spec("litellm")
    assert spec is not None
    assert spec.origin is not None
    folder = Path(spec.origin).parent / "litellm_core_utils" / "tokenizers"
    os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
    openai = tiktoken.get_encoding("cl100k_base")
    anthropic = Tokenizer.from_file(str(folder / "anthropic_tokenizer.json"))
    return {
        "cl100k": lambda text: len(openai.encode(text, disallowed_special=())),
        "claude 2": lambda text: len(anthropic.encode(text, add_special_tokens=False).ids),
    }


@pytest.fixture
def talked(door: Door, memory: Handle) -> Handle:
    """Four conversations of this year."""
    memory = door.on(memory, clock=FrozenClock(NOW))
    for number, talk in enumerate(TALKS):
        at = NOW - timedelta(days=40 * (number + 1))
        said = [
            {"role": role, "content": text, "at": at + timedelta(minutes=n)}
            for n, (role, text) in enumerate(talk)
        ]
        memory.session(f"s{number}").add_messages(said)
    return memory


def test_a_line_is_mostly_its_text(talked: Handle) -> None:
    blocks = [talked.context(asked, tokens=400, kinds=("turn",)).text for asked in ASKED]
    lines = [line for block in blocks for line in block.splitlines()[2:-1]]
    texts = [found[1] for line in lines if (found := LINE.match(line))]
    assert len(lines) == len(texts) >= 12
    characters = sum(len(text) for text in texts) / sum(map(len, blocks))
    assert characters >= MIN_SHARE, f"{characters:.1%}"
    for name, count in tokenizers().items():
        costs = [count(line) - count(text) for line, text in zip(lines, texts, strict=True)]
        ordinary = [c for line, c in zip(lines, costs, strict=True) if ORDINARY.match(line)]
        mean = sum(ordinary) / len(ordinary)
        assert mean <= MAX_OVERHEAD, f"{name}: {mean:.1f}"
        tokens = sum(map(count, texts)) / sum(map(count, blocks))
        assert tokens >= 0.45, f"{name}: {tokens:.1%}"
