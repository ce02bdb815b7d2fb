"""Graph of provenance: the neighbourhood of an item or event, drawn by the server."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
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
AT = 0.7
"""Place of a mark on its line, from its start to its end."""
MARKED = {"SUPPORTS": "+", "REFUTES": "−", "SUPERSEDES": "replaces", "RETRACTS": "takes back"}
"""Relationships with a mark in the picture."""
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

    def boxes(self, links: Mapping[str, str], standings: Mapping[str, Standing]) -> dict[str, Box]:
        """Return the places of the nodes: a column for each kind, in the order of their neighbours.

        Args:
            links: address that opens each node, by id.
            standings: standings of memories and beliefs, by id.
        """
        focus = next(iter(self.nodes.values()))
        columns = [kind for kind in COLUMNS if any(n.kind == kind for n in self.nodes.values())]
        near = sorted(
            columns, key=lambda kind: abs(columns.index(kind) - columns.index(focus.kind))
        )
        rows: dict[str, int] = {}
        for kind in near:
            own = [one for one in self.nodes if self.nodes[one].kind == kind]
            own.sort(key=lambda one: self._middle(one, rows))
            rows |= {one: row for row, one in enumerate(own)}
        most = max(rows.values())
        last = Counter(node.kind for node in self.nodes.values())
        return {
            one: Box(
                node,
                columns.index(node.kind) * (WIDTH + GAP),
                rows[one] * ROW + (most + 1 - last[node.kind]) * ROW // 2,
                _standing(standings.get(one)),
                links.get(one, ""),
            )
            for one, node in self.nodes.items()
        }

    def _middle(self, node_id: str, rows: Mapping[str, int]) -> float:
        """Return the mean row of those neighbours of a node that have a place."""
        ends = [{start, end} for _, start, end in self.edges if node_id in {start, end}]
        found = [rows[one] for pair in ends for one in pair - {node_id} if one in rows]
        return sum(found) / len(found) if found else 0.0

    def lines(self, boxes: Mapping[str, Box]) -> list[Line]:
        """Return the relationships between the nodes in their places."""
        return [_line(edge, boxes[edge[1]], boxes[edge[2]]) for edge in self.edges]

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


def _line(edge: Edge, start: Box, end: Box) -> Line:
    """Return the line from one node to another, with an arrow at its end."""
    y1, y2 = start.y + HEIGHT / 2, end.y + HEIGHT / 2
    if start.x == end.x:
        x1 = x2 = float(start.x + WIDTH)
        bend = (x1 + GAP / 2, x1 + GAP / 2)
    else:
        rightward = start.x < end.x
        x1 = float(start.x + WIDTH * rightward)
        x2 = float(end.x + WIDTH * (not rightward))
        bend = ((x1 + x2) / 2, (x1 + x2) / 2)
    side = 1 if bend[1] > x2 else -1
    path = f"M{x1} {y1}C{bend[0]} {y1} {bend[1]} {y2} {x2} {y2}"
    arrow = f"M{x2} {y2}l{8 * side} -4v8z"
    x, y = (_at(AT, *ends) for ends in ((x1, *bend, x2), (y1, y1, y2, y2)))
    return Line(edge, start.node, end.node, path, arrow, x, y)


def _at(t: float, a: float, b: float, c: float, d: float) -> float:
    """Return a coordinate of a point of a cubic Bézier curve."""
    s = 1 - t
    return round(s**3 * a + 3 * s * s * t * b + 3 * s * t * t * c + t**3 * d, 1)


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
    boxes = graph.boxes({one: it for one, it in links.items() if one not in opened}, standings)
    return "graph", {
        "focus": boxes[focus],
        "boxes": boxes,
        "lines": graph.lines(boxes),
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
