"""What is asked of a language model: texts from files, and data that cannot pass for them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Generic, TypeVar

from graphmem.rules import identity
from graphmem.rules.context import quoted

if TYPE_CHECKING:
    from pydantic import BaseModel

M = TypeVar("M", bound="BaseModel")

_PLAIN = re.compile(r"[\w.:-]{1,64}", re.ASCII)
"""A key or a date: nothing that could end a line, a quotation or a block."""


@dataclass(frozen=True, slots=True)
class Prompt(Generic[M]):
    """One question to a language model."""

    name: str
    """Of its file."""
    system: str = field(repr=False)
    user: str = field(repr=False)
    reply: type[M]
    """The pydantic model that the answer must fit."""


@cache
def text(name: str) -> str:
    """Return the text of `prompts/<name>.md`.

    Raises:
        FileNotFoundError: there is no such file.
    """
    return files("graphmem").joinpath(f"rules/prompts/{name}.md").read_text("utf-8").strip()


def digest(name: str) -> str:
    """Return the sha256 of a prompt's text, hex: it changes when the prompt does."""
    return identity.digest(text(name))


def block(name: str, lines: Iterable[Sequence[str]]) -> str:
    """Return lines of data between `<name>` and `</name>`.

    The last part of each line is a JSON string, so it can neither end the line nor the block;
    so is any other part that is not plain.
    """
    written = [_line(line) for line in lines] or ["(none)"]
    return "\n".join((f"<{name}>", *written, f"</{name}>"))


def _line(parts: Sequence[str]) -> str:
    *before, last = parts
    plain = [part if _PLAIN.fullmatch(part) else quoted(part) for part in before]
    return " ".join((*plain, quoted(last)))
