"""Prompts for a language model, and data in them that cannot end a line or a block."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Generic, TypeVar

from pydantic import BaseModel

from graphmem.rules import identity
from graphmem.rules.quoting import quote

M = TypeVar("M", bound=BaseModel)


_PLAIN = re.compile(r"[\w.:-]{1,64}", re.ASCII)
"""Keys and dates: text that cannot end a line, a quotation or a block."""


@dataclass(frozen=True, slots=True)
class Prompt(Generic[M]):
    """A prompt for a language model, with the form of its reply."""

    name: str
    """Name of the prompt's file."""
    system: str = field(repr=False)
    user: str = field(repr=False)
    reply: type[M]
    """Pydantic model that the answer must match."""


@cache
def prompt_text(name: str) -> str:
    """Return the text of `prompts/<name>.md`."""
    return files("graphmem").joinpath(f"prompts/{name}.md").read_text("utf-8").strip()


def prompt_digest(name: str) -> str:
    """Return the sha256 of a prompt's text as hex digits; it changes with the prompt."""
    return identity.digest(prompt_text(name))


def prompt_block(name: str, lines: Iterable[Sequence[str]]) -> str:
    """Return lines of data between `<name>` and `</name>`.

    The last part of each line is a JSON string, so that it cannot end the line or the block. Other
    parts become JSON strings unless they are plain.
    """
    written = [_line(line) for line in lines] or ["(none)"]
    return "\n".join((f"<{name}>", *written, f"</{name}>"))


def _line(parts: Sequence[str]) -> str:
    *before, last = parts
    plain = [part if _PLAIN.fullmatch(part) else quote(part) for part in before]
    return " ".join((*plain, quote(last)))
