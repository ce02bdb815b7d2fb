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
    for clause in every(read(body)):
        if clause.word in {"CREATE", "MERGE"}:
            nodes = [p for path in paths(clause.items) for p in path if p.kind == "node"]
            labels = {x for node in nodes for x in node.labels}
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
    whole = list(every(read(text)))
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
        for part in (p for path in patterns(clause) for p in path if p.name and p.labels):
            edge = part.kind == "edge" and part.labels & EVENT_EDGES
            labels.setdefault(part.name, set()).update({"Event"} if edge else part.labels)
    for clause in whole:
        for sources, name in clause.names() if clause.word not in PATTERNED else ():
            if sources != (name,):
                for source in sources:
                    labels.setdefault(name, set()).update(labels.get(source, {"unknown"}))
    return labels


def patterns(clause: Clause) -> list[list[Part]]:
    """Return the paths of a clause that has a pattern."""
    if clause.word and clause.word not in PATTERNED:
        return []
    return [path for path in paths(clause.items) if path]


def every_part(text: str) -> list[Part]:
    """Return every node and edge of every pattern of a text."""
    return [part for clause in every(read(text)) for path in patterns(clause) for part in path]


def every(items: Items) -> Iterator[Clause]:
    """Yield every clause of a text, however deep."""
    for clause in clauses(items):
        yield clause
        if clause.block:
            yield from every(clause.block.items)
        for block in expressions(clause):
            yield from every(block)
