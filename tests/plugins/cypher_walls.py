"""Static check that a Cypher text stays inside its tenant.

A node is restricted to the tenant if it has `tenant: $tenant`, if `x.tenant = $tenant` filters it
before any other use, if it is already bound, or if a relationship connects it to such a node. Every
relationship that a file creates joins two nodes of one tenant, so none leads out of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tests.plugins.cypher_checks import patterns
from tests.plugins.cypher_text import Clause, Group, Items, Part, clauses, expressions, read

BY_TENANT = frozenset({"SUPPORTS", "REFUTES"})
"""Relationships that have a tenant property, because an index on them begins with it."""

CALLED = frozenset({"db.index.fulltext.queryNodes", "db.create.setNodeVectorProperty"})
"""Server procedures that a file may call; others may read any tenant."""

WORDS = "$words"
"""Lucene queries made by rules/fulltext.py, which restricts them all to the tenant."""

_READING = frozenset(
    {"OPTIONAL", "MATCH", "WHERE", "FILTER", "SEARCH", "USING", "YIELD", "WITH", "LET", "UNWIND"}
)
"""Clauses between a pattern and its filter that neither write nor count nor limit."""


@dataclass
class _Seen:
    """Results of a check."""

    wrong: list[str] = field(default_factory=list)
    hanging: int = 0


def wrong_walls(text: str) -> list[str]:
    """Return every pattern, search and call that could read or write another tenant's nodes."""
    return _look(read(text)).wrong


def hanging(text: str) -> int:
    """Return the number of nodes that are reached by a relationship only, without a tenant check.

    A relationship that should have a tenant, and is matched without it, also counts.
    """
    return _look(read(text)).hanging


def weakened(text: str) -> Iterator[tuple[list[str], int]]:
    """Remove each `$tenant` of a text in turn; yield the problems and the unchecked nodes."""
    for items in _without_one(read(text)):
        seen = _look(items)
        yield seen.wrong, seen.hanging


def _without_one(items: Items) -> Iterator[Items]:
    for at, item in enumerate(items):
        if item == "$tenant":
            yield (*items[:at], "$other", *items[at + 1 :])
        elif isinstance(item, Group):
            for inside in _without_one(item.items):
                yield (*items[:at], Group(item.opening, inside), *items[at + 1 :])


def _look(items: Items) -> _Seen:
    seen = _Seen()
    _walk(items, frozenset(), seen)
    return seen


def _walk(items: Items, bound: frozenset[str], seen: _Seen) -> frozenset[str]:
    """Check one block; return the names that it passes to the enclosing block.

    Names passed to a block stay bound to its end, through every WITH.
    """
    given: frozenset[str] = frozenset()
    for branch in _branches(clauses(items)):
        here = bound
        for at, clause in enumerate(branch):
            here = _step(clause, here, _filtered(branch[at:]), seen)
            if clause.word == "RETURN":
                given |= here
            here |= bound
    return given


def _branches(whole: Sequence[Clause]) -> Iterator[list[Clause]]:
    """Yield the sides of a UNION; each is a query of its own, with its own filters."""
    branch: list[Clause] = []
    for clause in whole:
        if clause.word == "UNION":
            yield branch
            branch = []
        branch.append(clause)
    yield branch


def _filtered(following: Sequence[Clause]) -> frozenset[str]:
    """Return the names restricted to the tenant before anything is written, counted or limited.

    The first clause introduces the names, whatever it does.
    """
    found: frozenset[str] = frozenset()
    for at, clause in enumerate(following):
        counts = clause.word == "WITH" and any(sources == ("",) for sources, _ in clause.names())
        if at and (clause.word not in _READING or counts):
            break
        found |= clause.walled()
    return found


def _step(
    clause: Clause, bound: frozenset[str], walled: frozenset[str], seen: _Seen
) -> frozenset[str]:
    """Check one clause; return the names bound after it."""
    given = frozenset(name for _, name in clause.names())
    for block in expressions(clause):
        _walk(block, bound | given if clause.word == "FOREACH" else bound, seen)
    seen.wrong += _wrong_clause(clause, walled)
    match clause.word:
        case "" | "MATCH" | "MERGE" | "CREATE":
            return _bind(clause, bound, walled, seen)
        case "CALL" if clause.block:
            inside = bound if clause.imports is None else bound & clause.imports
            return bound | _walk(clause.block.items, inside, seen)
        case "UNWIND" | "LET" | "YIELD":
            return bound | given
        case "WITH" | "RETURN":
            return bound | given if clause.keeps_all else given
    return bound


def _wrong_clause(clause: Clause, walled: frozenset[str]) -> list[str]:
    """Return the problems of a clause without a pattern."""
    match clause.word:
        case "CALL" if not clause.block:
            return _wrong_call(clause)
        case "SEARCH" if str((*clause.items, "", "")[1]).upper() == "IN" and not clause.walled():
            # A filter after the search could discard all results of a small tenant.
            return ["SEARCH reads every tenant."]
        case "YIELD":
            nodes = {name for sources, name in clause.names() if "node" in sources}
            return [f"YIELD gives {name} without a tenant." for name in sorted(nodes - walled)]
        case "SET" if ".tenant" in clause.items:
            return ["SET changes a tenant."]
    return []


def _wrong_call(clause: Clause) -> list[str]:
    name = "".join(item for item in clause.items if isinstance(item, str))
    if name not in CALLED:
        return [f"CALL {name} may read any tenant."]
    [given] = [item for item in clause.items if isinstance(item, Group)]
    if name == "db.index.fulltext.queryNodes" and given.items[2:3] != (WORDS,):
        return ["CALL searches for words without a tenant."]
    return []


def _bind(
    clause: Clause, bound: frozenset[str], walled: frozenset[str], seen: _Seen
) -> frozenset[str]:
    """Check the paths of a pattern, in order; return the names bound after them."""
    makes = clause.word in {"CREATE", "MERGE"}
    for path in patterns(clause):
        known = bound if makes else bound | walled
        nodes = [part for part in path if part.kind == "node"]
        safe = [_is_restricted(node, known) for node in nodes]
        if not (all(safe) if makes else any(safe)):
            shown = "".join(f"({n.name}:{'|'.join(sorted(n.labels))})" for n in nodes)
            seen.wrong.append(f"{clause.word or 'pattern'} {shown} has no tenant.")
        loose = [part for part in path if _walled_edge(part) and not _is_restricted(part, known)]
        seen.wrong += [f"{clause.word} {part.labels} has no tenant." for part in loose if makes]
        seen.hanging += safe.count(False) + len(loose)
        bound |= {part.name for part in path if part.name}
    return bound


def _is_restricted(part: Part, known: frozenset[str]) -> bool:
    return part.has_tenant or part.name in known


def _walled_edge(part: Part) -> bool:
    return part.kind == "edge" and bool(part.labels & BY_TENANT)
