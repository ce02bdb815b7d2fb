"""Tokens are counted by the tokenizer that litellm contains, without a connection."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.conversation import tokens
from graphmem.errors import ConfigurationError


@pytest.mark.parametrize(
    ("text", "count"),
    [("", 0), ("deploys on Friday", 4), ("2026-05-11", 6), ("naïve", 3), ("漢字", 2), ("🚀", 2)],
)
def test_tokens_are_those_of_o200k(text: str, count: int) -> None:
    assert tokens.count_tokens(text) == count


@given(st.text(max_size=300))
def test_any_text_is_counted(text: str) -> None:
    """A byte is at least a part of a token, and the names of special tokens are text."""
    size = len(text.encode("utf-8", "surrogatepass"))
    assert bool(text) <= tokens.count_tokens(f"{text}") <= 2 * size
    assert tokens.count_tokens("<|endoftext|>") > 1


@pytest.mark.parametrize("text", [" ", "a", "\n", "!?", "漢", "\ud800"])
def test_a_million_characters_are_counted_in_linear_time(text: str) -> None:
    assert tokens.count_tokens(text * 1_000_000) == 100 * tokens.count_tokens(text * 10_000)


def test_the_cache_of_another_user_of_tiktoken_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for given_ in (str(tmp_path), None):
        if given_ is None:
            monkeypatch.delenv("TIKTOKEN_CACHE_DIR", raising=False)
        else:
            monkeypatch.setenv("TIKTOKEN_CACHE_DIR", given_)
        tokens._encoding.cache_clear()
        assert tokens.count_tokens("tea") == 1
        assert os.environ.get("TIKTOKEN_CACHE_DIR") == given_
    assert [*tmp_path.iterdir()] == []


def test_a_missing_file_is_not_downloaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "_RANKS", "0" * 40)
    tokens._encoding.cache_clear()
    with pytest.raises(ConfigurationError, match="does not contain the file of the tokenizer"):
        tokens.count_tokens("tea")
    tokens._encoding.cache_clear()


def test_a_client_that_counts_nothing_does_not_load_it() -> None:
    code = "import sys, graphmem; graphmem.Handle; print('tiktoken' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
