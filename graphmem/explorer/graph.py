"""Graph of provenance: the neighbourhood of an item or event, drawn by the server."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

from graphmem.client import recall_verbs
from graphmem.errors import NotFoundError
from graphmem.explorer import status
from graphmem.explorer.reader import Asked, Reader
from graphmem.operations.neighbourhood import Group, Node, NodeKind, Standing
from graphmem.rules.links import address

MAX_NODES = 200
EACH = 8
"""Number of neighbours of each kind that opening an item shows; opening it again shows as many
more."""
SOURCES = 2
"""Number of conversations and of turns that are shown for each event."""
MAX_OPENED = 12
COUNTED = 10_000
"""Bound of the number of neighbours of a kind that are counted: a read takes a bounded time."""
ROW, GAP, WIDTH, HEIGHT = 58, 50, 170, 46
"""Distance of rows and of columns, and size of a node, in units of the picture."""
COLUMNS: tuple[NodeKind, ...] = ("episode", "turn", "event", "memory", "belief")
"""Kinds of nodes from left to right: from the sources to what follows from them."""
VERBS = {
    "SUPPORTS": "supports",
    "REFUTES": "refutes",
    "SUPERSEDES": "replaces",
    "REINFORCES": "states",
    "CLAIMS": "claims",
    "OCCURRED_IN": "is from",
    "QUOTES": "quotes",
    "CONCERNS": "is about",
    "RETRACTS": "takes back",
}
"""Types of relationships, and their names for people."""
PASSIVE = {
    "SUPPORTS": "supporting it",
    "REFUTES": "refuting it",
    "SUPERSEDES": "replacing it",
    "REINFORCES": "stating it",
    "CLAIMS": "claiming it",
    "OCCURRED_IN": "from it",
    "QUOTES": "quoting it",
    "CONCERNS": "about it",
    "RETRACTS": "taking it back",
}
MARKED = {"SUPPORTS": "+", "REFUTES": "−", "SUPERSEDES": "replaces", "RETRACTS": "takes back"}
"""Relationships with a mark in the picture."""
Place: TypeAlias = tuple[str, int]
"""Id of a node and -1, or the column in which lines to it have a place."""
Edge: TypeAlias = tuple[str, str, str]
"""Type of a relationship, and the ids of its start and its end."""


@dataclass(frozen=True)
class LeftOut:
    """Neighbours of a node that the graph does not show."""

    node: Node
    number: int
    what: str
    bounded: bool
    """Whether they are more than the number."""


@dataclass(frozen=True)
class Box:
    """A node in the picture."""

    node: Node
    x: int
    y: int
    standing: status.Standing | None
    opens: str
    """Address of the graph with this node opened; empty if it cannot be opened further."""


@dataclass(frozen=True)
class Line:
    """A relationship in the picture, and in the table."""

    edge: Edge
    start: Node
    end: Node
    path: str
    arrow: str
    x: float
    y: float
    """Place of its mark."""


class Graph:
    """Nodes and relationships, of which there is a maximum."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self.edges: dict[Edge, None] = {}
        self._groups: list[tuple[Node, Group]] = []

    def add(self, found: Sequence[tuple[Node, Sequence[Group]]]) -> None:
        """Add nodes with their neighbours, as long as there is room."""
        for node, groups in found:
            if not self._add(node):
                continue
            for group in groups:
                self._groups.append((node, group))
                for other in group.nodes:
                    if self._add(other):
                        ends = (node.id, other.id) if group.outgoing else (other.id, node.id)
                        self.edges[(group.type, *ends)] = None

    def _add(self, node: Node) -> bool:
        """Return whether a node is in the graph now."""
        if node.id not in self.nodes and len(self.nodes) < MAX_NODES:
            self.nodes[node.id] = node
        return node.id in self.nodes

    def left_out(self) -> Iterator[LeftOut]:
        """Yield what the graph does not show of the neighbours of its nodes."""
        shown = Counter(
            (node_id, kind, outgoing, self.nodes[other].kind)
            for kind, start, end in self.edges
            for node_id, outgoing, other in ((start, True, end), (end, False, start))
        )
        for node, group in self._groups:
            total = min(group.total, COUNTED)
            left = total - shown[(node.id, group.type, group.outgoing, group.kind)]
            if left > 0:
                yield LeftOut(node, left, _named(group, left), group.total > COUNTED)

    def drawn(
        self, links: Mapping[str, str], standings: Mapping[str, Standing]
    ) -> tuple[dict[str, Box], list[Line]]:
        """Return the places of the nodes, a column for each kind, and the lines between them.

        A line that crosses a column has a place there, which the lines to the same node share.

        Args:
            links: address that opens each node, by id.
            standings: standings of memories and beliefs, by id.
        """
        kinds = {node.kind for node in self.nodes.values()}
        columns = [kind for kind in COLUMNS if kind in kinds]
        column: dict[Place, int] = {
            (one, -1): columns.index(node.kind) for one, node in self.nodes.items()
        }
        near: dict[Place, list[Place]] = defaultdict(list)
        ways, implied = dict[Edge, list[Place]](), self.implied()
        for edge in self.edges:
            left, right = sorted(((one, -1) for one in edge[1:]), key=column.__getitem__)
            crossed = range(column[left] + 1, column[right])
            if edge not in implied:
                column |= {(right[0], at): at for at in crossed}
                ways[edge] = [left, *((right[0], at) for at in crossed), right]
            for one, other in pairwise(ways.get(edge, ())):
                near[one].append(other)
                near[other].append(one)
        rows = self._rows(column, near)
        most = max(rows.values()) + 1
        sizes = Counter(column.values())
        y = {one: row * ROW + (most - sizes[column[one]]) * ROW // 2 for one, row in rows.items()}
        boxes = {
            one: Box(
                node,
                column[(one, -1)] * (WIDTH + GAP),
                y[(one, -1)],
                _standing(standings.get(one)),
                links.get(one, ""),
            )
            for one, node in self.nodes.items()
        }
        lines = [
            _line(edge, boxes, [(column[one], y[one]) for one in ways.get(edge, ())])
            for edge in self.edges
        ]
        return boxes, lines

    def _rows(
        self, column: Mapping[Place, int], near: Mapping[Place, Sequence[Place]]
    ) -> dict[Place, int]:
        """Return the row of each place: columns near the first node first, by their neighbours."""
        rows: dict[Place, int] = {}
        first = next(iter(column.values()))
        for at in sorted(set(column.values()), key=lambda one: abs(one - first)):
            own = [one for one in column if column[one] == at]
            own.sort(key=lambda one: _mean(rows[it] for it in near.get(one, ()) if it in rows))
            rows |= {one: row for row, one in enumerate(own)}
        return rows

    def implied(self) -> set[Edge]:
        """Return the relationships of events to conversations that those of their turns imply."""
        quoted = [(start, end) for kind, start, end in self.edges if kind == "QUOTES"]
        of = {start: end for kind, start, end in self.edges if kind == "OCCURRED_IN"}
        return {("OCCURRED_IN", event, of[turn]) for event, turn in quoted if turn in of}


def _named(group: Group, number: int) -> str:
    """Return the name of some neighbours of a group."""
    many = "memories" if group.kind == "memory" else f"{group.kind}s"
    which = f"that it {VERBS[group.type]}" if group.outgoing else PASSIVE[group.type]
    return f"{group.kind if number == 1 else many} {which}"


def _standing(found: Standing | None) -> status.Standing | None:
    if found is None:
        return None
    standing = status.of_status(found.status)
    if standing == "current" and found.belief is not None:
        return status.of_belief(found.belief, ambiguous=found.ambiguous, leads=not found.lost)
    return standing


def _mean(found: Iterable[int]) -> float:
    rows = [*found]
    return sum(rows) / len(rows) if rows else 0.0


def _line(edge: Edge, boxes: Mapping[str, Box], way: Sequence[tuple[int, int]]) -> Line:
    """Return the line of a relationship, with an arrow at its end and a mark before it.

    Args:
        way: column and height of each place that it passes, from left to right; empty if it is
            not drawn.
    """
    start, end = boxes[edge[1]], boxes[edge[2]]
    if not way:
        return Line(edge, start.node, end.node, "", "", 0, 0)
    points = [(column * (WIDTH + GAP), y + HEIGHT / 2) for column, y in way]
    if start.x == end.x:
        x, (y1, y2) = start.x + WIDTH, (one.y + HEIGHT / 2 for one in (start, end))
        path = f"M{x} {y1}C{x + GAP / 2} {y1} {x + GAP / 2} {y2} {x} {y2}"
        return Line(edge, start.node, end.node, path, f"M{x} {y2}l8 -4v8z", x + 28, (y1 + y2) / 2)
    path = f"M{points[0][0] + WIDTH} {points[0][1]}"
    for (x, y1), (after, y2) in pairwise(points):
        bend = x + WIDTH + GAP / 2
        path += f"H{x + WIDTH}C{bend} {y1} {bend} {y2} {after} {y2}"
    rightward = start.x < end.x
    (x, y1), (_, y2) = points[-2:] if rightward else points[:2]
    tip, side = (float(end.x), -8) if rightward else (float(end.x + WIDTH), 8)
    arrow = f"M{tip} {end.y + HEIGHT / 2}l{side} -4v8z"
    return Line(edge, start.node, end.node, path, arrow, x + WIDTH + GAP / 2, (y1 + y2) / 2)


async def page(reader: Reader, asked: Asked) -> tuple[str, dict[str, Any]]:
    """Show the neighbourhood of an item or an event, and those of the items that were opened."""
    reader.need("read")
    focus, seen = asked.text("id"), reader.reads
    given = [focus, *asked.text("open").splitlines()]
    opened, graph = Counter(one for one in given[:MAX_OPENED] if one), Graph()
    tops = {one: EACH * times for one, times in opened.items()}
    found = await recall_verbs.around(seen, tops, [*VERBS], counted=COUNTED)
    if focus not in {node.id for node, _ in found}:
        raise NotFoundError(f"No item {focus!r}.")
    graph.add(found)
    for kind, types in (("event", ["OCCURRED_IN", "QUOTES"]), ("turn", ["OCCURRED_IN"])):
        ends = {
            one: SOURCES
            for one, node in graph.nodes.items()
            if node.kind == kind and one not in opened
        }
        graph.add(await recall_verbs.around(seen, ends, types, counted=COUNTED))
    standings = await recall_verbs.standings(seen, [*graph.nodes.values()])
    room = len(given) < MAX_OPENED and len(graph.nodes) < MAX_NODES
    links = {one: _address(focus, given, one) for one in graph.nodes if room}
    opens = {one: it for one, it in links.items() if one not in opened}
    boxes, lines = graph.drawn(opens, standings)
    return "graph", {
        "focus": boxes[focus],
        "boxes": boxes,
        "lines": lines,
        "implied": graph.implied(),
        "left_out": [(one, links.get(one.node.id, "")) for one in graph.left_out()],
        "opened": [
            (
                boxes[one],
                address("/graph", id=focus, open="\n".join(o for o in given[1:] if o != one)),
            )
            for one in opened
            if one != focus and one in boxes
        ],
        "room": room,
        "full": len(graph.nodes) >= MAX_NODES,
        "size": (max(box.x for box in boxes.values()), max(box.y for box in boxes.values())),
        "columns": [
            (kind, min(box.x for box in boxes.values() if box.node.kind == kind))
            for kind in COLUMNS
            if any(box.node.kind == kind for box in boxes.values())
        ],
        "width": WIDTH,
        "height": HEIGHT,
        "verbs": VERBS,
        "marked": MARKED,
        "most": MAX_NODES,
    }


def _address(focus: str, given: Sequence[str], also: str) -> str:
    return address("/graph", id=focus, open="\n".join((*given[1:], also)))
