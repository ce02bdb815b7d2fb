"""Tokens of a text, as a model counts them."""

from __future__ import annotations

from collections.abc import Callable

from graphmem.adapters.models.service import imported


def counter(model: str) -> Callable[[str], int]:
    """Return what counts the tokens of a text for a model, by the tokenizer litellm knows for it.

    Of a model it does not know, those of OpenAI's cl100k.
    """
    litellm = imported()
    return lambda text: int(litellm.token_counter(model=model, text=text))
