"""A small parser of Cypher (brackets, clauses, patterns), sufficient for the checks.

It does not parse expressions. Unrecognised text is left as tokens, so that a check that requires a
known form fails instead of passing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

_TOKEN = re.compile(
    r"(?P<skip>\s+|//[^\n]*|/\*.*?\*/)"
    r"|(?P<string>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")"
    r"|`(?P<quoted>[^`]*)`"
    r"|(?P<other>\$\w+|\.\.|\d+(?:\.\d+)?|\.\s*[^\W\d]\w*|\w+|.)",
    re.DOTALL,
)
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_NAME = re.compile(r"[^\W\d]\w*")
KEYWORDS = frozenset(
    {"OPTIONAL", "MATCH", "MERGE", "CREATE", "ON", "WHERE", "FILTER", "SEARCH", "USING"}
    | {"SET", "REMOVE", "DETACH", "NODETACH", "DELETE", "FOREACH", "CALL", "YIELD", "UNWIND"}
    | {"LET", "WITH", "RETURN", "FINISH", "ORDER", "SKIP", "OFFSET", "LIMIT", "UNION"}
)
PATTERNED = frozenset({"MATCH", "MERGE", "CREATE"})


@dataclass(frozen=True)
class Group:
    """Contents of a pair of brackets."""

    opening: str
    items: Items


Item: TypeAlias = str | Group
Items: TypeAlias = tuple[Item, ...]


@dataclass(frozen=True)
class Part:
    """One node or edge of a path."""

    kind: Literal["node", "edge"]
    name: str
    """Variable name; empty if it has none."""
    labels: frozenset[str]
    """Labels or types; `unknown` if the text does not determine them, `$` for a dynamic one."""
    has_tenant: bool
    """Whether it has `tenant: $tenant`, or its own WHERE requires it."""


@dataclass(frozen=True)
class Clause:
    """A keyword and the items after it; the word is empty for items before the first keyword."""

    word: str
    items: Items

    @property
    def block(self) -> Group | None:
        """The body of CALL (…) {…}."""
        braces = [i for i in self.items if isinstance(i, Group) and i.opening == "{"]
        return braces[0] if self.word == "CALL" and braces else None

    @property
    def imports(self) -> frozenset[str] | None:
        """Variables imported by CALL (…) {…}; None for all."""
        scope = self.items[0]
        if isinstance(scope, Group) and scope.opening == "(" and "*" not in scope.items:
            return frozenset(i for i in scope.items if isinstance(i, str) and i != ",")
        return None

    @property
    def keeps_all(self) -> bool:
        """Whether the clause is WITH *."""
        return "*" in self.items[:2]

    def names(self) -> list[tuple[tuple[str, ...], str]]:
        """Return the names that a clause defines, each with the variables that it may refer to.

        An expression that is not a variable or a list of variables is represented by `""`.
        """
        if self.word == "FOREACH":
            inside = [g.items[0] for g in self.items if isinstance(g, Group) and g.items]
            return [(("",), str(name)) for name in inside]
        found = []
        for part in split(self.items, ","):
            part = tuple(i for i in part if i not in ("DISTINCT", "distinct"))
            words = [i.upper() if isinstance(i, str) else "" for i in part]
            at = len(words) - 2
            if at >= 1 and words[at] == "AS":
                found.append((_variables(part[:at]), str(part[-1])))
            elif self.word == "LET" and "=" in part[:2]:
                found.append((_variables(part[2:]), str(part[0])))
            elif len(part) == 1 and is_name(part[0]):
                found.append(((str(part[0]),), str(part[0])))
        return found

    def targets(self) -> list[str]:
        """Return the variables that a writing clause changes; `?` for an expression."""
        if self.word in {"SET", "REMOVE", "DELETE"}:
            parts = [part for part in split(self.items, ",") if part]
            return [_target(self.word, part) for part in parts]
        if self.word == "CALL" and self.items[:2] == ("db", ".create"):
            args = self.items[-1]
            return [_target("CALL", args.items) if isinstance(args, Group) else "?"]
        return []

    def walled(self) -> frozenset[str]:
        """Return the variables that this clause restricts to the tenant."""
        if self.word in {"WHERE", "FILTER"}:
            return _walled(self.items)
        if self.word == "SEARCH":
            inside = [part for g in self.items if isinstance(g, Group) for part in clauses(g.items)]
            return frozenset(name for part in inside for name in part.walled())
        return frozenset()


def read(text: str) -> Items:
    """Return the tokens of a text as a tree of brackets.

    Raises:
        ValueError: The brackets do not match.
    """
    stack: list[tuple[str, list[Item]]] = [("", [])]
    for match in _TOKEN.finditer(text):
        token = _token(match)
        if token in _CLOSING:
            stack.append((token, []))
        elif token in _CLOSING.values():
            opening, items = stack.pop()
            if _CLOSING.get(opening) != token:
                raise ValueError(f"{token} at {match.start()} closes nothing")
            stack[-1][1].append(Group(opening, tuple(items)))
        elif token:
            stack[-1][1].append(token)
    if len(stack) > 1:
        raise ValueError(f"{stack[-1][0]} is never closed")
    return tuple(stack[0][1])


def _token(match: re.Match[str]) -> str:
    if match["skip"] is not None:
        return ""
    if match["string"] is not None:
        return "''"
    return match["quoted"] if match["other"] is None else "".join(match["other"].split())


def is_name(item: Item) -> bool:
    """Return whether an item is a word."""
    return isinstance(item, str) and bool(_NAME.fullmatch(item))


def split(items: Items, at: str) -> list[Items]:
    """Return the runs of items between the tokens `at`."""
    runs: list[list[Item]] = [[]]
    for item in items:
        if isinstance(item, str) and item.upper() == at:
            runs.append([])
        else:
            runs[-1].append(item)
    return [tuple(run) for run in runs]


def clauses(items: Items) -> list[Clause]:
    """Return the clauses of a block, in order."""
    found: list[tuple[str, list[Item]]] = [("", [])]
    before = ""
    for item in items:
        word = item.upper() if isinstance(item, str) else ""
        if word in KEYWORDS and not _is_tail(before, word):
            found.append((word, []))
        else:
            found[-1][1].append(item)
        before = word
    return [Clause(word, tuple(run)) for word, run in found if word or run]


def _is_tail(before: str, word: str) -> bool:
    """Return whether a keyword belongs to the word before it: AS set, STARTS WITH, ON CREATE."""
    return (
        before == "AS"
        or (before in {"STARTS", "ENDS"} and word == "WITH")
        or (before == "ON" and word in {"CREATE", "MATCH"})
    )


def paths(items: Items) -> list[list[Part]]:
    """Return the paths of a pattern, each as its nodes and edges in order."""
    return [list(_parts(run)) for run in split(items, ",")]


def _parts(run: Items) -> Iterator[Part]:
    for item in run:
        if isinstance(item, Group) and item.opening == "(":
            if is_node(item):
                yield _part("node", item.items)
            else:
                yield from _parts(item.items)
        elif isinstance(item, Group) and item.opening == "[":
            yield _part("edge", item.items)


def is_node(group: Group) -> bool:
    """Return whether round brackets contain a node, not a part of a path."""
    if not group.items:
        return True
    first, second = (*group.items, "")[:2]
    if isinstance(first, Group):
        return first.opening == "{"
    return second != "=" and (is_name(first) or first == ":")


def _part(kind: Literal["node", "edge"], items: Items) -> Part:
    head, *conditions = [clause.items for clause in clauses(items)] or [()]
    if clauses(items)[:1] and clauses(items)[0].word:
        head, conditions = (), [head, *conditions]
    name = str(head[0]) if head and is_name(head[0]) and str(head[0]).upper() != "IS" else ""
    maps = [i for i in head if isinstance(i, Group) and i.opening == "{"]
    tenant = any(part == ("tenant", ":", "$tenant") for m in maps for part in split(m.items, ","))
    held = any(name in _walled(condition) for condition in conditions)
    return Part(kind, name, _labels(head[bool(name) :]), tenant or held)


def _labels(items: Items) -> frozenset[str]:
    found = set()
    for item in items:
        if isinstance(item, str) and item in {"!", "%"}:
            found.add("unknown")
        elif isinstance(item, str) and item.startswith("$"):
            found.add("$")
        elif is_name(item) and str(item).upper() != "IS":
            found.add(str(item))
    return frozenset(found)


def expressions(clause: Clause) -> Iterator[Items]:
    """Yield the graph queries inside a clause's expressions.

    Each is a block of clauses; a bare pattern is a block whose first clause has no word.
    """
    if clause.word == "FOREACH":
        yield from (split(g.items, "|")[-1] for g in clause.items if isinstance(g, Group))
        return
    yield from _expressions(clause.items, clause.block, is_pattern=clause.word in {"", *PATTERNED})


def _expressions(items: Items, block: Group | None, *, is_pattern: bool) -> Iterator[Items]:
    for at, item in enumerate(items):
        if not isinstance(item, Group):
            continue
        before = items[at - 1] if at else ""
        if item is block:
            continue
        if item.opening == "{" and str(before).upper() in {"EXISTS", "COUNT", "COLLECT"}:
            yield item.items
        elif item.opening == "[" and not is_pattern and _opens_path(item.items, 0):
            *_, result = halves = split(item.items, "|")
            yield halves[0]
            yield from _expressions(result, block, is_pattern=False)
        elif item.opening == "(" and not is_pattern and _opens_path(items, at):
            yield items[at : _path_end(items, at)]
        else:
            part_of_path = is_pattern and item.opening == "(" and not is_node(item)
            yield from _expressions(item.items, block, is_pattern=part_of_path)


def _opens_path(items: Items, at: int) -> bool:
    first, *after = (*items[at : at + 3], "", "", "")[:3]
    if not isinstance(first, Group) or first.opening != "(" or not is_node(first):
        return False
    arrow = tuple(i.opening if isinstance(i, Group) else i for i in after)
    return arrow in {("-", "["), ("-", "-"), ("<", "-")}


def _path_end(items: Items, at: int) -> int:
    for end in range(at, len(items)):
        item = items[end]
        if not (isinstance(item, Group) or item in {"-", "<", ">"}):
            return end
    return len(items)


def _walled(predicate: Items) -> frozenset[str]:
    """Return the variables that a predicate restricts to the tenant, whatever else it contains."""
    if any(len(split(predicate, word)) > 1 for word in ("OR", "XOR")):
        return frozenset()
    found: set[str] = set()
    for part in split(predicate, "AND"):
        match part:
            case (str(name), ".tenant", "=", "$tenant") | ("$tenant", "=", str(name), ".tenant"):
                found.add(name)
            case (Group(opening="(") as inner,):
                found |= _walled(inner.items)
    return frozenset(found)


def _variables(expression: Sequence[Item]) -> tuple[str, ...]:
    match tuple(expression):
        case (str(name),) if is_name(name):
            return (name,)
        case (Group(opening="[") as inner,):
            return tuple(n for run in split(inner.items, ",") for n in _variables(run)) or ("",)
    return ("",)


def _target(word: str, part: Items) -> str:
    """Return the variable that a part of a writing clause is about."""
    if not part or not is_name(part[0]) or (word == "DELETE" and len(part) > 1):
        return "?"
    return str(part[0])
