"""Whether a Cypher text stays inside its tenant, read from the text alone.

A node is inside the wall when it carries `tenant: $tenant`, when `x.tenant = $tenant` filters it
before anything else is done with it, when it is bound already, or when it hangs by an edge on one
that is: every edge that a file makes joins two nodes inside the wall, so none leads out of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tests.plugins.cypher_checks import patterns
from tests.plugins.cypher_text import Clause, Group, Items, Part, clauses, expressions, read

BY_TENANT = frozenset({"SUPPORTS", "REFUTES"})
"""Edges that carry their tenant, because an index on them begins with it."""

CALLED = frozenset({"db.index.fulltext.queryNodes", "db.create.setNodeVectorProperty"})
"""Procedures of the server that a file may call; others may look anywhere."""

WORDS = "$words"
"""Lucene queries made by rules/words.py, which walls them all."""

_READING = frozenset(
    {"OPTIONAL", "MATCH", "WHERE", "FILTER", "SEARCH", "USING", "YIELD", "WITH", "LET", "UNWIND"}
)
"""Clauses between a pattern and its filter that neither write nor count nor cut off."""


@dataclass
class _Seen:
    """What was found in a text."""

    wrong: list[str] = field(default_factory=list)
    hanging: int = 0


def wrong_walls(text: str) -> list[str]:
    """Return every pattern, search and call that could see or make another tenant's nodes."""
    return _look(read(text)).wrong


def hanging(text: str) -> int:
    """Return how many nodes a text brings in by an edge alone, without a tenant of their own.

    An edge that should carry its tenant, and is not asked for it, counts as one too.
    """
    return _look(read(text)).hanging


def weakened(text: str) -> Iterator[tuple[list[str], int]]:
    """Take each `$tenant` of a text away in turn; yield what is then wrong, and what hangs."""
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
    """Check one block; return the names it gives to the block around it.

    What a block is given stays bound to its end, through every WITH.
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
    """Each side of a UNION is a query of its own: a filter in one guards nothing in another."""
    branch: list[Clause] = []
    for clause in whole:
        if clause.word == "UNION":
            yield branch
            branch = []
        branch.append(clause)
    yield branch


def _filtered(following: Sequence[Clause]) -> frozenset[str]:
    """Return what is held to the tenant before anything is written, counted or cut off.

    The first clause is the one that brings names in, whatever it does.
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
    """Return what is wrong with a clause that has no pattern."""
    match clause.word:
        case "CALL" if not clause.block:
            return _wrong_call(clause)
        case "SEARCH" if str((*clause.items, "", "")[1]).upper() == "IN" and not clause.walled():
            # A filter behind it would leave a small tenant with nothing of what was found.
            return ["SEARCH looks at every tenant."]
        case "YIELD":
            nodes = {name for sources, name in clause.names() if "node" in sources}
            return [f"YIELD gives {name} without a tenant." for name in sorted(nodes - walled)]
        case "SET" if ".tenant" in clause.items:
            return ["SET changes a tenant."]
    return []


def _wrong_call(clause: Clause) -> list[str]:
    name = "".join(item for item in clause.items if isinstance(item, str))
    if name not in CALLED:
        return [f"CALL {name} may look anywhere."]
    [given] = [item for item in clause.items if isinstance(item, Group)]
    if name == "db.index.fulltext.queryNodes" and given.items[2:3] != (WORDS,):
        return ["CALL searches for words that are not walled."]
    return []


def _bind(
    clause: Clause, bound: frozenset[str], walled: frozenset[str], seen: _Seen
) -> frozenset[str]:
    """Check the paths of a pattern, in order; return the names bound after them."""
    makes = clause.word in {"CREATE", "MERGE"}
    for path in patterns(clause):
        known = bound if makes else bound | walled
        nodes = [part for part in path if part.kind == "node"]
        safe = [_stands(node, known) for node in nodes]
        if not (all(safe) if makes else any(safe)):
            shown = "".join(f"({n.name}:{'|'.join(sorted(n.labels))})" for n in nodes)
            seen.wrong.append(f"{clause.word or 'pattern'} {shown} has no tenant.")
        loose = [part for part in path if _walled_edge(part) and not _stands(part, known)]
        seen.wrong += [f"{clause.word} {part.labels} has no tenant." for part in loose if makes]
        seen.hanging += safe.count(False) + len(loose)
        bound |= {part.name for part in path if part.name}
    return bound


def _stands(part: Part, known: frozenset[str]) -> bool:
    return part.has_tenant or part.name in known


def _walled_edge(part: Part) -> bool:
    return part.kind == "edge" and bool(part.labels & BY_TENANT)
