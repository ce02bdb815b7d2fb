"""Texts that make a pattern backtrack, generated from the pattern itself.

Each text has a prefix that leads to a repeat of the pattern, many repetitions, and a suffix that
the rest of the pattern does not match. A pattern is linear if its time grows linearly on all of
them.
"""

from __future__ import annotations

import ast
import functools
import gc
import importlib
import inspect
import pkgutil
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import graphmem
from tests.plugins.examples import examples

sre: Any = importlib.import_module("re._constants")
parser: Any = importlib.import_module("re._parser")

ALPHABET = " \t\naAzZ09.,;:!?'\"`~_-/\\#@*+=<>()[]{}&|$%^éÉ中…’\xa0\x00"
"""Characters that represent the members of a class; each is also repeated alone."""
SUFFIXES = ("\x00", "", "a", "!", ",x", " \n")[: examples(2, 6, 6)]
"""Suffixes after the repetitions: nothing, and characters that most patterns do not match."""
LONG = 100
"""Maximum repeat count that is treated as a constant."""
SHOWN = 40
SIZES = (16, 20, 24, 64, 256, 1_024, 4_096, 8_192, 32_768)
"""The first ones detect exponential time before it hangs."""
ENOUGH_S = 0.04
"""Processor time in seconds; at the last size, anything not linear takes several times as long."""
RATIO = 8
"""Maximum ratio of the times for four times the text."""
VARIANTS = 4


@dataclass(frozen=True)
class Used:
    """A pattern of a module, and the method that applies it."""

    place: str
    pattern: re.Pattern[str]
    method: str

    def apply(self, text: str) -> None:
        """Apply the pattern to a text as the module does."""
        matches = getattr(self.pattern, self.method)(text)
        if self.method == "finditer":
            for _ in matches:
                pass


@dataclass(frozen=True)
class Attack:
    """A text of any length: prefix, repetitions, suffix."""

    prefix: str
    pump: str
    suffix: str

    def text(self, size: int) -> str:
        """Return the text with about `size` characters."""
        return self.prefix + self.pump * (size // len(self.pump) + 1) + self.suffix

    def __str__(self) -> str:
        return f"{self.prefix[:SHOWN]!r} + {self.pump[:SHOWN]!r} * n + {self.suffix!r}"


def modules() -> list[ModuleType]:
    """Return every module of the package."""
    found = pkgutil.walk_packages(graphmem.__path__, "graphmem.")
    return [
        importlib.import_module(module.name)
        for module in found
        if module.name != "graphmem.__main__"
    ]


def used(known: Iterable[ModuleType]) -> Iterator[Used]:
    """Yield every compiled pattern of some modules, with the methods that apply it.

    A pattern that only `match` or `fullmatch` applies is not searched at every place of a text.
    """
    for module in known:
        patterns = {name: [*_patterns(value)] for name, value in vars(module).items()}
        if not any(patterns.values()):
            continue
        methods = _methods(ast.parse(inspect.getsource(module)))
        for name, found in patterns.items():
            for pattern in found:
                if isinstance(pattern.pattern, bytes):
                    continue
                for method in methods.get(name, {"finditer"}):
                    yield Used(f"{module.__name__}.{name}", pattern, method)


def _patterns(value: object) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _patterns(item)
    elif isinstance(value, tuple | list | frozenset | set):
        for item in value:
            yield from _patterns(item)


def _methods(tree: ast.AST) -> dict[str, set[str]]:
    """Return the methods that are applied to names; names used in another way are left out."""
    found: dict[str, set[str]] = {}
    applied = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            method = node.attr if node.attr in {"match", "fullmatch"} else "finditer"
            found.setdefault(node.value.id, set()).add(method)
            applied.add(node.value)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node not in applied:
            found.pop(node.id, None)
    return found


def attacks(pattern: re.Pattern[str]) -> list[Attack]:
    """Return hostile texts for a pattern, without duplicates."""
    tree = parser.parse(pattern.pattern, pattern.flags)
    found = {(before, pump) for before, pump in _repeats(list(tree), [""])}
    whole = [one for one in _samples(list(tree)) if one]
    found |= {("", one) for one in (*ALPHABET, *whole)}
    return [Attack(before, pump, end) for before, pump in sorted(found) for end in SUFFIXES]


def _repeats(nodes: list[Any], before: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the prefix and body of each repeat, and the variants with a repeated prefix."""
    for place, (kind, value) in enumerate(nodes):
        for inner in _within(kind, value):
            yield from _repeats(list(inner), before)
        if kind in _REPEATS and value[1] > LONG:
            after = _samples(nodes[place + 1 : place + 2])
            for pump in _samples(list(value[2])):
                for lead in before:
                    for one in {pump, pump + (after[0] if after else "")} - {""}:
                        yield lead, one
                        yield "", lead + one
        before = _cut(lead + one for lead in before for one in _samples([(kind, value)]))


_REPEATS = {sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT}


def _within(kind: Any, value: Any) -> list[Any]:
    if kind in _REPEATS:
        return [value[2]]
    if kind is sre.SUBPATTERN:
        return [value[-1]]
    if kind is sre.ATOMIC_GROUP:
        return [value]
    if kind is sre.BRANCH:
        return list(value[1])
    if kind in {sre.ASSERT, sre.ASSERT_NOT}:
        return [value[1]]
    return [one for one in value[1:] if one] if kind is sre.GROUPREF_EXISTS else []


def _samples(nodes: list[Any]) -> list[str]:
    """Return some texts that a sequence of nodes matches."""
    found = [""]
    for kind, value in nodes:
        found = _cut(one + more for more in _of(kind, value) for one in found)
    return found


def _of(kind: Any, value: Any) -> list[str]:
    if kind is sre.LITERAL:
        return [chr(value)]
    if kind in {sre.NOT_LITERAL, sre.IN, sre.ANY}:
        members = [one for one in ALPHABET if _is_in(one, kind, value)]
        return members[:VARIANTS] or [_first(value)]
    if kind in _REPEATS:
        body = _samples(list(value[2]))
        fewest = [one * value[0] for one in body]
        return [*fewest, *body] if value[0] == 0 else fewest
    if kind is sre.ASSERT:
        return _samples(list(value[1])) if value[0] > 0 else [""]
    if kind in {sre.AT, sre.ASSERT_NOT}:
        return [""]
    if kind is sre.GROUPREF:
        return ["-"]
    return [one for inner in _within(kind, value) for one in _samples(list(inner))] or [""]


def _is_in(character: str, kind: Any, value: Any) -> bool:
    if kind is sre.ANY:
        return character != "\n"
    if kind is sre.NOT_LITERAL:
        return bool(ord(character) != value)
    negated = value[0][0] is sre.NEGATE
    return negated is not any(_takes(one, character) for one in value)


def _takes(member: tuple[Any, Any], character: str) -> bool:
    kind, value = member
    if kind is sre.LITERAL:
        return bool(ord(character) == value)
    if kind is sre.RANGE:
        return bool(value[0] <= ord(character) <= value[1])
    return kind is sre.CATEGORY and _CATEGORIES[value](character)


_CATEGORIES: dict[Any, Callable[[str], bool]] = {
    sre.CATEGORY_SPACE: str.isspace,
    sre.CATEGORY_NOT_SPACE: lambda c: not c.isspace(),
    sre.CATEGORY_WORD: lambda c: c.isalnum() or c == "_",
    sre.CATEGORY_NOT_WORD: lambda c: not c.isalnum() and c != "_",
    sre.CATEGORY_DIGIT: str.isdecimal,
    sre.CATEGORY_NOT_DIGIT: lambda c: not c.isdecimal(),
}


def _first(members: Any) -> str:
    kind, value = members[0]
    return chr(value[0] if kind is sre.RANGE else value)


def _cut(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(texts))[:VARIANTS]


def is_linear(work: Callable[[str], object], attack: Attack, sizes: Iterable[int] = SIZES) -> bool:
    """Return whether the time for a text four times as long grows at most about fourfold.

    Uses the processor time of this thread, so that the machine's load has little effect.
    """
    for size in sizes:
        if _seconds(work, attack.text(size)) > ENOUGH_S:
            return any(_ratio(work, attack, size) < RATIO for _ in range(3))
    return True


def _ratio(work: Callable[[str], object], attack: Attack, size: int) -> float:
    short, long = attack.text(size // 4), attack.text(size)
    return _unknown(work, long) / max(min(_unknown(work, short) for _ in range(3)), 1e-6)


def _unknown(work: Callable[[str], object], text: str) -> float:
    """Return the seconds for a text that no cache of results knows."""
    for one in gc.get_objects():
        if isinstance(one, functools._lru_cache_wrapper) and one.cache_parameters()["maxsize"]:
            one.cache_clear()
    return _seconds(work, text)


def _seconds(work: Callable[[str], object], text: str) -> float:
    start = time.thread_time()
    work(text)
    return time.thread_time() - start
