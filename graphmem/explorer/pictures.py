"""Geometry of the pictures: bars of evidence, parts of a score, and values over time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from graphmem.model import BeliefReasons, EvidenceKind, ScoreBreakdown, Timeline

WIDTH, HEIGHT = 640, 180
"""Size of the picture of a timeline, in units of its own."""
BAR = 100
"""Half the width of a bar of evidence, and the width of that of a score."""
LEAST = 0.005
"""Smallest part of a score that is shown: others round to 0."""
PARTS = (
    ("meaning", "meaning"),
    ("words", "words"),
    ("late", "words in context"),
    ("late_context", "words with the turn before"),
    ("recency", "recency"),
    ("access", "use"),
    ("around", "neighbouring turns"),
    ("session", "same session"),
    ("named", "named in the question"),
    ("dated", "time in the question"),
)
"""Parts of a score, and their names for people."""


@dataclass(frozen=True)
class Part:
    """A part of a score as a piece of a bar."""

    name: str
    value: float
    start: float
    width: float
    shade: int


def parts(found: ScoreBreakdown, highest: float) -> list[Part]:
    """Return the pieces of the bar of a score, of which the highest one fills the whole width."""
    shown, start = list[Part](), 0.0
    for shade, (field, name) in enumerate(PARTS):
        value = getattr(found, field) * found.factor
        if value >= LEAST:
            width = value / highest * BAR if highest > 0 else 0.0
            shown.append(Part(name, value, start, width, shade % 5))
            start += width
    return shown


@dataclass(frozen=True)
class Bar:
    """A piece of evidence as a bar from the middle: to the right for, to the left against."""

    value: float
    start: float
    width: float
    counts: bool
    """Whether it counts; an echo of a stronger piece of the same episode does not."""


def bars(found: BeliefReasons) -> list[Bar]:
    """Return the bars of the evidence of a belief, in its order."""
    competes = found.competition is not None
    values = [piece.score if competes else piece.log_weight for piece in found.pieces]
    most = max(values, default=0.0) or 1.0
    shown = list[Bar]()
    for piece, value in zip(found.pieces, values, strict=True):
        width = value / most * BAR
        supports = piece.kind is EvidenceKind.SUPPORTING
        start = float(BAR) if supports else BAR - width
        counts = competes or piece.counts
        shown.append(Bar(value if supports else -value, start, width, counts))
    return shown


@dataclass(frozen=True)
class Course:
    """The course of one value as a line of steps."""

    belief_id: str
    name: str
    path: str
    dash: int
    """Number of the pattern of its line, which distinguishes it without a colour."""
    last: float
    end: float
    """Height at which the line ends."""


@dataclass(frozen=True)
class TimelinePicture:
    """Lines of the values of a slot or of a belief over valid time."""

    courses: tuple[Course, ...]
    ticks: tuple[tuple[float, str], ...]
    marked: float | None
    """Place of the time of the read; None if it is now."""


def timeline(found: Timeline, marked: datetime | None) -> TimelinePicture | None:
    """Return the picture of a timeline; None if it has no two times."""
    if len(found.instants) < 2:
        return None
    first, last = found.instants[0], found.instants[-1]
    whole = (last - first).total_seconds() or 1.0

    def place(at: datetime) -> float:
        return round((at - first).total_seconds() / whole * WIDTH, 1)

    courses = tuple(
        Course(
            one.belief_id,
            one.object or one.statement,
            _path([(place(point.at), point.belief) for point in one.points]),
            number % 5,
            one.points[-1].belief,
            _height(one.points[-1].belief),
        )
        for number, one in enumerate(found.series)
        if one.points
    )
    middle = first + (last - first) / 2
    form = "%H:%M" if (last - first) < timedelta(days=2) else "%Y-%m-%d"
    ticks = tuple((place(at), f"{at:{form}}") for at in (first, middle, last))
    shown = marked is not None and first <= marked < last
    return TimelinePicture(courses, ticks, place(marked) if shown and marked else None)


def _path(points: Sequence[tuple[float, float]]) -> str:
    """Return the path of steps: a value holds until the next point."""

    def steps() -> Iterator[str]:
        start, value = points[0]
        yield f"M{start} {_height(value)}"
        for place, after in points[1:]:
            yield f"H{place}V{_height(after)}"
        yield f"H{WIDTH}"

    return "".join(steps())


def _height(value: float) -> float:
    return round((1 - value) * HEIGHT, 1)
