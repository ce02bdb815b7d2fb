"""Variables in scope at the fragments of a Cypher text, to check what their headers declare."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`"
"""A string, or a name in backquotes."""
BEGIN, END = "//<", "//>"
"""Comments that enclose a fragment, each followed by its name."""
_TOKEN = re.compile(rf"//[<>] \S+|{QUOTED}|//.*|\$\w+|\.\w+|[A-Za-z_]\w*|[0-9][\w.]*|[^\s\w]")
_NAME = re.compile(r"[A-Za-z_]\w*")
_CLAUSES = frozenset(
    {
        *("CALL", "CREATE", "DELETE", "DETACH", "FILTER", "FOREACH", "LET", "LIMIT", "MATCH"),
        *("MERGE", "ON", "OPTIONAL", "ORDER", "REMOVE", "RETURN", "SEARCH", "SET", "SKIP", "UNION"),
        *("UNWIND", "USING", "WHERE", "WITH", "YIELD"),
    }
)
_PATTERNS = frozenset({"MATCH", "CREATE", "MERGE"})
_EXPRESSIONS = frozenset({"COLLECT", "EXISTS", "COUNT"})
_OPENING, _CLOSING = "([{", ")]}"


@dataclass(frozen=True, slots=True)
class Mark:
    """The begin or the end of a fragment."""

    fragment: str
    begins: bool
    scope: frozenset[str]
    """Variables in scope there."""


def marks(text: str) -> list[Mark]:
    """Return the marks of a text, in order; `BEGIN` and `END` comments enclose each fragment."""
    words = [word for word in _TOKEN.findall(text) if word[:2] != "//" or word[2:3] in "<>"]
    reader = _Reader(iter(words), [])
    reader.block(frozenset())
    return reader.marks


@dataclass(slots=True)
class _Reader:
    """Reads subqueries one word at a time."""

    words: Iterator[str]
    marks: list[Mark]

    def block(self, imports: frozenset[str]) -> frozenset[str]:
        """Read to the end of a subquery; return the variables in scope there.

        Args:
            imports: variables of the enclosing query that it can read.
        """
        scope, clause, depth = imports, [""], 0
        for word in self.words:
            if word == "}" and not depth:
                break
            if word[:3] in (BEGIN, END):
                scope, clause = _after(clause, scope, imports), [""]
                self.marks.append(Mark(word[4:], word[:3] == BEGIN, scope))
            elif word == "{" and (read := _imports(clause, scope)) is not None:
                found = self.block(read)
                if clause[0] == "CALL":
                    scope, clause = scope | (found - read), [""]
            elif not depth and _starts(word, clause):
                scope, clause = _after(clause, scope, imports), [word]
            else:
                depth += (word in _OPENING) - (word in _CLOSING)
                clause.append(word)
        return _after(clause, scope, imports)


def _starts(word: str, clause: Sequence[str]) -> bool:
    """Return whether a word outside of brackets starts a clause."""
    return word in _CLAUSES and clause[-1] not in {"STARTS", "ENDS"}


def _imports(clause: Sequence[str], scope: frozenset[str]) -> frozenset[str] | None:
    """Return the variables that a subquery after these words reads; None if none starts there."""
    if clause[-1] in _EXPRESSIONS:
        return scope
    if clause[0] == "CALL" and clause[-1] == ")" and clause[1] == "(":
        return frozenset(_names(clause))
    return None


def _names(words: Sequence[str]) -> list[str]:
    return [word for word in words[1:] if _NAME.fullmatch(word)]


def _after(clause: Sequence[str], scope: frozenset[str], imports: frozenset[str]) -> frozenset[str]:
    """Return the variables in scope after a clause."""
    word = clause[0]
    if word == "UNION":
        return imports
    if word in {"WITH", "RETURN"}:
        items = list(_items(clause))
        kept = scope if ["*"] in items else imports
        return kept | {item[-1] for item in items if _NAME.fullmatch(item[-1])}
    if word == "LET":
        return scope | {item[0] for item in _items(clause)}
    if word == "YIELD":
        return scope | {item[-1] for item in _items(clause)}
    if word in _PATTERNS:
        return scope | set(_bound(clause))
    return scope | {name for at, name in enumerate(clause) if clause[at - 1] == "AS"}


def _items(clause: Sequence[str]) -> Iterator[list[str]]:
    """Yield the items of a list of items; brackets and their contents become one word each."""
    item: list[str] = []
    depth = 0
    for word in clause[1:]:
        depth += word in _OPENING
        if word == "," and not depth:
            yield item
            item = []
        elif not depth and word != "DISTINCT":
            item.append(word)
        elif word in _CLOSING:
            depth -= 1
            item.append(word)
    if item:
        yield item


def _bound(clause: Sequence[str]) -> Iterator[str]:
    """Yield the variables that a pattern binds: of nodes, relationships and paths."""
    for before, word, after in zip(clause, clause[1:], [*clause[2:], ""], strict=False):
        opens = before in {"(", "["} or after == "="
        if opens and _NAME.fullmatch(word) and word not in _CLAUSES:
            yield word
