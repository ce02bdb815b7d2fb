"""Checks of every Cypher file, on its text and on the server's plan."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from graphmem.graph.catalog import Procedure
from graphmem.ports import Mode
from tests.plugins.cypher_text import (
    KEYWORDS,
    PATTERNED,
    Clause,
    Group,
    Items,
    Part,
    clauses,
    expressions,
    is_name,
    paths,
    read,
    split,
)

APPEND_EVENT = "fragments/append_event"
EVENT_EDGES = frozenset({"REINFORCES", "CONCERNS", "OCCURRED_IN", "QUOTES", "RETRACTS", "ACCESSED"})
LONGEST_BODY = 64
QUERY_TYPES = {Mode.READ: {"r"}, Mode.WRITE: {"rw", "w"}, Mode.SCHEMA: {"s"}}


def wrong_name(name: str) -> list[str]:
    """Return the problems with a file's name."""
    fits = re.fullmatch(r"[a-z][a-z0-9_]*/[a-z][a-z0-9_]*", name)
    return [] if fits else [f"{name}: want folder/lower_snake."]


def wrong_shape(name: str, summary: str, body: str) -> list[str]:
    """Return the problems with a file's summary and length; recall files may be longer."""
    problems = [] if summary else ["no summary."]
    lines = sum(bool(line.strip()) for line in body.splitlines())
    if lines > LONGEST_BODY and not name.startswith("recall/"):
        problems.append(f"{lines} lines, at most {LONGEST_BODY}.")
    return problems


def wrong_plan(
    procedure: Procedure, query_type: str, keys: Sequence[str], operators: Sequence[str]
) -> list[str]:
    """Return the differences between a header and the server's EXPLAIN."""
    problems = []
    if query_type not in QUERY_TYPES[procedure.mode]:
        problems.append(f"mode is {procedure.mode}, the server reports {query_type}.")
    columns = [entry.name for entry in procedure.columns]
    if list(keys) != columns:
        problems.append(f"columns are {columns}, the server reports {list(keys)}.")
    if (procedure.rows == "none") != (not columns):
        problems.append(f"rows is {procedure.rows}, columns are {columns}.")
    # "NodeUniqueIndexSeek(Locking)@neo4j" is a NodeUniqueIndexSeek.
    plain = {re.split(r"[(@]", operator)[0] for operator in operators}
    problems += [f"{name} is not in the plan." for name in sorted(set(procedure.plan) - plain)]
    # Scans of labels, indexes or relationships read other tenants' data.
    costly = {name for name in plain if name.endswith("Scan") or name == "CartesianProduct"}
    problems += [f"{name} is in the plan." for name in sorted(costly - set(procedure.allow))]
    return problems


def wrong_births(name: str, body: str) -> list[str]:
    """Return the places where a body, without its fragments, makes a node an Event."""
    problems = []
    for clause in every(read(body)):
        if clause.word in {"CREATE", "MERGE"}:
            nodes = [p for path in paths(clause.items) for p in path if p.kind == "node"]
            labels = {x for node in nodes for x in node.labels}
            if "Event" in labels and name != APPEND_EVENT:
                problems.append(f"{clause.word} makes an Event.")
            if "$" in labels:
                problems.append(f"{clause.word} takes a label from a value.")
        if clause.word == "SET" and any(
            str(part[1]).upper() in {":", "IS"} for part in split(clause.items, ",") if part[1:]
        ):
            problems.append("SET gives a label.")
    return problems


def wrong_changes(text: str) -> list[str]:
    """Return the places where an expanded text changes a node that may be an Event.

    A changed node must be known to be something else: a variable with another label, or a
    relationship that does not belong to an event.
    """
    whole = list(every(read(text)))
    labels = _labels(whole)
    problems = []
    for clause in whole:
        for target in clause.targets():
            kinds = labels.get(target) or {"unknown"}
            if kinds & {"Event", "unknown", "$"}:
                problems.append(f"{clause.word} changes {target}: {', '.join(sorted(kinds))}.")
    return problems


def wrong_assignments(text: str) -> list[str]:
    """Return the places where a text assigns properties whose names it does not list.

    A map from outside may contain any name, including `tenant`. So a map may only be assigned as a
    projection, `x += map {.a, .b}`, and property names must not be computed.
    """
    return _wrong_assignments(read(text))


def assigned_whole(text: str) -> Iterator[list[str]]:
    """Replace each assignment and each map of a pattern by a whole map in turn.

    Yields the resulting problems.
    """
    for items in _with_whole_map(read(text)):
        yield _wrong_assignments(items)


def _wrong_assignments(items: Items) -> list[str]:
    problems = []
    for clause in every(items):
        if clause.word == "SET":
            parts = [part for part in split(clause.items, ",") if part]
            problems += [
                f"SET takes any names for {part[0]}." for part in parts if not _named(part)
            ]
        if clause.word in {"CREATE", "MERGE"}:
            inside = [given for group in _elements(clause.items) for given in group.items]
            maps = [i for i in inside if isinstance(i, str) and i.startswith("$") and len(i) > 1]
            problems += [f"{clause.word} takes any names from {given}." for given in maps]
    return problems


def _named(part: Items) -> bool:
    """Return whether an assignment names its properties, or assigns a label."""
    match part:
        case (str(name), str(second), *_) if is_name(name) and second.startswith("."):
            return is_name(second[1:])
        case (str(name), ":" | "IS" | "is", *_):
            return is_name(name)
        case (str(), "+", "=", Group(opening="{") as given):
            return _lists_names(given)
        case (str(), "+", "=", str(), Group(opening="{") as given):
            return _lists_names(given)
    return False


def _lists_names(given: Group) -> bool:
    """Return whether each entry of a map or projection has a name other than a key of the node."""
    for entry in split(given.items, ","):
        match entry:
            case (str(name),) if name.startswith(".") and is_name(name[1:]):
                property_name = name[1:]
            case (str(property_name), ":", *_):
                pass
            case _:
                return False
        if property_name in {"tenant", "id"}:
            return False
    return True


def _elements(items: Items) -> Iterator[Group]:
    """Yield the brackets of nodes and relationships of a pattern."""
    for item in items:
        if isinstance(item, Group) and item.opening in "([":
            yield item
            yield from _elements(item.items)


def _with_whole_map(items: Items, *, makes: bool = False) -> Iterator[Items]:
    """Replace a map of CREATE or MERGE by a parameter, or insert one before a SET assignment."""
    for at, item in enumerate(items):
        if isinstance(item, Group):
            if makes and item.opening == "{":
                yield (*items[:at], "$given", *items[at + 1 :])
            for inside in _with_whole_map(item.items, makes=makes and item.opening in "(["):
                yield (*items[:at], Group(item.opening, inside), *items[at + 1 :])
        elif item.upper() == "SET":
            yield (*items[: at + 2], "+", "=", "$given", ",", *items[at + 1 :])
            makes = False
        elif item.upper() in KEYWORDS and str(items[at - 1] if at else "").upper() != "ON":
            makes = item.upper() in {"CREATE", "MERGE"}


def _labels(whole: Sequence[Clause]) -> dict[str, set[str]]:
    """Return the possible labels of each variable; a name is one variable throughout the text."""
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
    """Yield every clause of a text, at any depth."""
    for clause in clauses(items):
        yield clause
        if clause.block:
            yield from every(clause.block.items)
        for block in expressions(clause):
            yield from every(block)
