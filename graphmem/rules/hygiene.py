"""Which texts may be stored: rules that refuse one, each with a stable reason."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable
from typing import TypeAlias

from graphmem.rules import credentials

Rule: TypeAlias = Callable[[str], str | None]
"""Takes a text and returns why it must not be stored, as a stable snake_case code, or None."""

FENCE = "<graphmem-memory"
"""How a block of context that memory supplies to a prompt begins."""

_FENCES = (FENCE, FENCE.replace("<", "</"))
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


def reasons(text: str, rules: Iterable[Rule]) -> tuple[str, ...]:
    """Return every reason against storing the text, in the order of the rules, each once.

    A rule that raises is not caught: its author has to know.
    """
    found = (rule(text) for rule in rules)
    return tuple(dict.fromkeys(reason for reason in found if reason is not None))


def default_rules(min_chars: int, max_chars: int) -> tuple[Rule, ...]:
    """Return the rules of a store, in the order in which their reasons are reported.

    A text longer than `max_chars` is refused anyway, so the costly rules leave it alone.

    Args:
        min_chars: least length without surrounding white space, >= 1.
        max_chars: greatest length, >= min_chars.
    """

    def too_short(text: str) -> str | None:
        return "too_short" if 0 < len(text.strip()) < min_chars else None

    def too_long(text: str) -> str | None:
        return "too_long" if len(text) > max_chars else None

    def up_to_length(rule: Rule) -> Rule:
        return lambda text: rule(text) if len(text) <= max_chars else None

    return (
        invalid_unicode,
        empty,
        too_short,
        too_long,
        up_to_length(only_punctuation),
        control_characters,
        memory_echo,
        up_to_length(secret),
    )


def invalid_unicode(text: str) -> str | None:
    """Refuse half of a surrogate pair, which no encoding can carry."""
    return "invalid_unicode" if _SURROGATE.search(text) else None


def empty(text: str) -> str | None:
    """Refuse nothing, or nothing but white space."""
    return None if text.strip() else "empty"


def only_punctuation(text: str) -> str | None:
    """Refuse a text without a letter or digit of any script; emoji are neither."""
    says_something = any(character.isalnum() for character in text)
    return None if says_something or not text.strip() else "only_punctuation"


def control_characters(text: str) -> str | None:
    """Refuse C0, DEL and C1 characters, except tab, line feed and carriage return."""
    return "control_characters" if _CONTROL.search(text) else None


def memory_echo(text: str) -> str | None:
    """Refuse what carries the fence around the context that memory itself supplied."""
    lowered = text.lower()
    return "memory_echo" if any(fence in lowered for fence in _FENCES) else None


def secret(text: str) -> str | None:
    """Refuse a text that carries a credential; the reason never repeats it."""
    return "secret" if credentials.carries_secret(text) else None


def echo_of(supplied_hashes: Container[str], hash_of: Callable[[str], str]) -> Rule:
    """Return a rule that refuses texts which memory supplied.

    Args:
        supplied_hashes: hashes of the supplied texts; looked into at each check, so it may grow.
        hash_of: hash of a text's normal form.
    """
    return lambda text: "memory_echo" if hash_of(text) in supplied_hashes else None
