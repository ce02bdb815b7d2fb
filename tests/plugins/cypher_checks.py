"""What every Cypher file is held to, read from its text and from the server's plan."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from graphmem.catalog import Procedure
from graphmem.ports import Mode
from tests.plugins.cypher_text import (
    PATTERNED,
    Clause,
    Items,
    Part,
    clauses,
    expressions,
    paths,
    read,
    split,
)

APPEND_EVENT = "fragments/append_event"
EVENT_EDGES = frozenset({"REINFORCES", "CONCERNS", "OCCURRED_IN", "QUOTES", "RETRACTS", "ACCESSED"})
LONGEST_BODY = 60
QUERY_TYPES = {Mode.READ: {"r"}, Mode.WRITE: {"rw", "w"}, Mode.SCHEMA: {"s"}}


def wrong_name(name: str) -> list[str]:
    """Return what is wrong with a file's name."""
    fits = re.fullmatch(r"[a-z][a-z0-9_]*/[a-z][a-z0-9_]*", name)
    return [] if fits else [f"{name}: want folder/lower_snake."]


def wrong_shape(name: str, summary: str, body: str) -> list[str]:
    """Return what is wrong with the summary and the length of a file; recall is one long query."""
    found = [] if summary else ["no summary."]
    lines = sum(bool(line.strip()) for line in body.splitlines())
    if lines > LONGEST_BODY and not name.startswith("recall/"):
        found.append(f"{lines} lines, at most {LONGEST_BODY}.")
    return found


def wrong_plan(
    procedure: Procedure, query_type: str, keys: Sequence[str], operators: Sequence[str]
) -> list[str]:
    """Return where a header differs from what the server's EXPLAIN says."""
    found = []
    if query_type not in QUERY_TYPES[procedure.mode]:
        found.append(f"mode is {procedure.mode}, the server says {query_type}.")
    columns = [entry.name for entry in procedure.columns]
    if list(keys) != columns:
        found.append(f"columns are {columns}, the server says {list(keys)}.")
    if (procedure.rows == "none") != (not columns):
        found.append(f"rows is {procedure.rows}, columns are {columns}.")
    # "NodeUniqueIndexSeek(Locking)@neo4j" is a NodeUniqueIndexSeek.
    plain = {re.split(r"[(@]", operator)[0] for operator in operators}
    found += [f"{name} is not in the plan." for name in sorted(set(procedure.plan) - plain)]
    # Any scan, of labels, indexes or relationships, reads what other tenants own.
    costly = {name for name in plain if name.endswith("Scan") or name == "CartesianProduct"}
    found += [f"{name} is in the plan." for name in sorted(costly - set(procedure.allow))]
    return found


def wrong_births(name: str, body: str) -> list[str]:
    """Return where a body, fragments not included, makes a node an Event."""
    found = []
    for clause in _every(read(body)):
        if clause.word in {"CREATE", "MERGE"}:
            labels = {x for path in paths(clause.items) for p in path for x in p.labels}
            if "Event" in labels and name != APPEND_EVENT:
                found.append(f"{clause.word} makes an Event.")
            if "$" in labels:
                found.append(f"{clause.word} takes a label from a value.")
        if clause.word == "SET" and any(
            str(part[1]).upper() in {":", "IS"} for part in split(clause.items, ",") if part[1:]
        ):
            found.append("SET gives a label.")
    return found


def wrong_changes(text: str) -> list[str]:
    """Return where an expanded text changes what may be an Event.

    What is changed must be known not to be one: a variable with another label, or an edge that
    belongs to no event.
    """
    whole = list(_every(read(text)))
    labels = _labels(whole)
    found = []
    for clause in whole:
        for target in clause.targets():
            kinds = labels.get(target) or {"unknown"}
            if kinds & {"Event", "unknown", "$"}:
                found.append(f"{clause.word} changes {target}: {', '.join(sorted(kinds))}.")
    return found


def _labels(whole: Sequence[Clause]) -> dict[str, set[str]]:
    """Return what each variable of a text may be; a name counts as one all through."""
    labels: dict[str, set[str]] = {}
    for clause in whole:
        for part in (p for path in _paths(clause) for p in path if p.name and p.labels):
            edge = part.kind == "edge" and part.labels & EVENT_EDGES
            labels.setdefault(part.name, set()).update({"Event"} if edge else part.labels)
    for clause in whole:
        for sources, name in clause.names() if clause.word not in PATTERNED else ():
            if sources != (name,):
                for source in sources:
                    labels.setdefault(name, set()).update(labels.get(source, {"unknown"}))
    return labels


def wrong_walls(text: str) -> list[str]:
    """Return every pattern of an expanded text that could see or make another tenant's nodes.

    A path is inside the wall when one of its nodes carries `tenant: $tenant`, is filtered by
    `x.tenant = $tenant`, or is bound already: edges never cross tenants. A node that is made
    carries its tenant itself.
    """
    found: list[str] = []
    _walk(read(text), frozenset(), found)
    return found


def _walk(items: Items, bound: frozenset[str], found: list[str]) -> frozenset[str]:
    """Check one block; return the names it gives to the block around it.

    What a block is given stays bound to its end, through every WITH.
    """
    given: frozenset[str] = frozenset()
    for branch in _branches(clauses(items)):
        here = bound
        for at, clause in enumerate(branch):
            walled = frozenset(name for later in branch[at:] for name in later.walled())
            here = _step(clause, here, walled, found)
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


def _step(
    clause: Clause, bound: frozenset[str], walled: frozenset[str], found: list[str]
) -> frozenset[str]:
    """Check one clause; return the names bound after it."""
    given = frozenset(name for _, name in clause.names())
    for block in expressions(clause):
        _walk(block, bound | given if clause.word == "FOREACH" else bound, found)
    match clause.word:
        case "" | "MATCH" | "MERGE" | "CREATE":
            return _bind(clause, bound, walled, found)
        case "CALL" if clause.block:
            seen = bound if clause.imports is None else bound & clause.imports
            return bound | _walk(clause.block.items, seen, found)
        case "YIELD":
            # A procedure that looks into an index knows no wall.
            nodes = {name for sources, name in clause.names() if "node" in sources}
            found += [f"YIELD gives {name} without a tenant." for name in sorted(nodes - walled)]
            return bound | given
        case "UNWIND" | "LET":
            return bound | given
        case "WITH" | "RETURN":
            return bound | given if clause.keeps_all else given
        case "SET" if ".tenant" in clause.items:
            found.append("SET changes a tenant.")
    return bound


def _bind(
    clause: Clause, bound: frozenset[str], walled: frozenset[str], found: list[str]
) -> frozenset[str]:
    """Check the paths of a pattern, in order; return the names bound after them."""
    for path in _paths(clause):
        nodes = [part for part in path if part.kind == "node"]
        makes = clause.word in {"CREATE", "MERGE"}
        known = bound if makes else bound | walled
        safe = [node.has_tenant or node.name in known for node in nodes]
        if not (all(safe) if makes else any(safe)):
            shown = "".join(f"({n.name}:{'|'.join(sorted(n.labels))})" for n in nodes)
            found.append(f"{clause.word or 'pattern'} {shown} has no tenant.")
        bound |= {part.name for part in path if part.name}
    return bound


def _paths(clause: Clause) -> list[list[Part]]:
    if clause.word and clause.word not in PATTERNED:
        return []
    return [path for path in paths(clause.items) if path]


def every_part(text: str) -> list[Part]:
    """Return every node and edge of every pattern of a text."""
    return [part for clause in _every(read(text)) for path in _paths(clause) for part in path]


def _every(items: Items) -> Iterator[Clause]:
    """Yield every clause of a text, however deep."""
    for clause in clauses(items):
        yield clause
        if clause.block:
            yield from _every(clause.block.items)
        for block in expressions(clause):
            yield from _every(block)
