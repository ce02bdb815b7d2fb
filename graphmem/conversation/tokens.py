"""Number of tokens of a text, as OpenAI's tokenizer o200k counts them."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from graphmem.errors import ConfigurationError

if TYPE_CHECKING:
    import tiktoken

CountTokens: TypeAlias = Callable[[str], int]
"""Counts the tokens of a text."""

TOKENIZER = "o200k_base"
_RANKS = "fb374d419588a4632f3f557e76b4b70aebbca790"
"""Name of its file in a cache of tiktoken, which checks the content."""
_CACHE = "TIKTOKEN_CACHE_DIR"
_MAX_CHARS = 10_000
"""Maximum length of a text that is encoded at once: a long run of spaces takes quadratic time."""


def count_tokens(text: str) -> int:
    """Return the number of tokens of a text; of a long one, the sum of those of its parts."""
    parts = (text[n : n + _MAX_CHARS] for n in range(0, len(text), _MAX_CHARS))
    return sum(len(_encoding().encode_ordinary(part)) for part in parts)


@cache
def _encoding() -> tiktoken.Encoding:
    import tiktoken  # Only what counts pays for it.

    found = find_spec("litellm")
    folders = (found and found.submodule_search_locations) or [""]
    folder = Path(folders[0], "litellm_core_utils", "tokenizers")
    if not (folder / _RANKS).is_file():
        # tiktoken would download it.
        raise ConfigurationError(
            "litellm does not contain the file of the tokenizer o200k.",
            hint="Reinstall it: `pip install --force-reinstall 'litellm>=1.80'`.",
        )
    before = os.environ.get(_CACHE)
    os.environ[_CACHE] = str(folder)
    try:
        return tiktoken.get_encoding(TOKENIZER)
    finally:
        if before is None:
            del os.environ[_CACHE]
        else:
            os.environ[_CACHE] = before
