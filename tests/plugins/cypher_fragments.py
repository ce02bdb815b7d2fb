"""Fragments of Cypher, and whether what they declare is in scope where they are included."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from graphmem.graph import catalog
from graphmem.graph.catalog import QUOTED

_INCLUDE = re.compile(r"^([ \t]*)// include: (fragments/\w+)\.cypher[ \t]*$", re.MULTILINE)
_NOTE = re.compile(r"\([^()]*\)")
"""Meaning of a variable behind its name in the header of a fragment."""
DEEPEST = 4
"""Maximum depth of fragments that include fragments."""
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


@dataclass(frozen=True, slots=True)
class Fragment:
    """A file under cypher/fragments, which procedures include."""

    name: str
    needs: frozenset[str]
    """Variables that must be in scope before it."""
    leaves: frozenset[str]
    """Variables that are in scope after it."""
    body: str


def fragment(name: str) -> Fragment:
    """Return a fragment, such as `fragments/policy`."""
    source = (catalog.folder("cypher") / f"{name}.cypher").read_text("utf-8")
    head, _, body = source.partition("\n\n")
    fields = {"needs": "", "leaves": "", "twin": ""}
    section = ""
    for line in head.splitlines():
        field = re.match(r"^// (\w+):(?: (.*))?$", line)
        if field:
            section = field[1]
            assert section in fields, f"{name}: unknown header field {section!r}"
            assert not fields[section], f"{name}: repeated header field {section!r}"
        if section:
            fields[section] += " " + (field[2] or "" if field else line.removeprefix("//"))
    needs, leaves = (
        frozenset(_NOTE.sub("", fields[one]).replace(",", " ").split())
        for one in ("needs", "leaves")
    )
    return Fragment(name, needs, leaves, body.rstrip())


def misfits(body: str) -> list[str]:
    """Return what fragments declare that does not hold where a body includes them."""
    found = []
    for mark in marks(_marked(body)):
        one = fragment(mark.fragment)
        declared, field = (one.needs, "needs") if mark.begins else (one.leaves, "leaves")
        if absent := sorted(declared - mark.scope):
            found.append(f"{one.name}: `{field}` declares {', '.join(absent)}")
    return found


def _marked(body: str, depth: int = 0) -> str:
    """Return a body with its fragments, each between marks."""
    assert depth <= DEEPEST, "fragments are nested too deep"

    def included(match: re.Match[str]) -> str:
        text = _marked(fragment(match[2]).body, depth + 1)
        return f"{BEGIN} {match[2]}\n{text}\n{END} {match[2]}"

    return _INCLUDE.sub(included, body)


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
