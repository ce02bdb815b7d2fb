"""Ranking of the candidates of a recall, without belief.

Each list (vector search, BM25, late interaction, recency, accesses) gives points to candidates.
The points of the candidates of one kind are ranked, scaled and weighted; the sum of these parts
and of those of neighbours, names and dates is the relevance. Twin: oracles/blending.py,
oracles/fusion.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from graphmem.rules.late_interaction import MaxSim

    Floats = npt.NDArray[np.float64]
    Flags = npt.NDArray[np.bool_]

LISTS = {
    "vector": "meaning",
    "words": "words",
    "late": "late",
    "late_context": "late_context",
    "recency": "recency",
    "access": "access",
}
"""Names of the lists, and of the parts of the score that they give."""
FLOORED = frozenset({"vector", "late", "late_context"})
"""Lists whose last candidates are weak if the list is full; BM25 lists contain only matches."""

MAX_REPEATED = 8
"""Maximum number of turns with one text that are read."""


class Candidates(NamedTuple):
    """Columns of the candidates, in the order of recall/current and recall/filtered."""

    nodes: Sequence[str]
    """Element ids."""
    ids: Sequence[str]
    kinds: Sequence[str]
    vector: Sequence[float | None]
    """Neo4j's score in the vector list, in [0, 1]; None if it is not in that list."""
    words: Sequence[float | None]
    """Neo4j's score in the BM25 list; None if it is not in that list."""
    traces: Sequence[float]
    episode_ids: Sequence[str | None]
    """Episodes of turns; None for other kinds."""
    positions: Sequence[int | None]
    named: Sequence[bool | None]
    """Whether the question names the speaker or the subject."""
    dated: Sequence[bool]
    """Whether the question names the time when it occurred."""
    machine: Sequence[bool | None]
    """Whether it is a turn of an assistant or a tool."""
    days: Sequence[float | None]
    """Time since it was last stated; None without such an event, or if it does not count."""
    looks: Sequence[int | None]
    """Number of accesses; None if they do not count."""
    states: Sequence[bytes | None]
    before: Sequence[bytes | None]
    """Token states of the previous turn."""

    @classmethod
    def of(cls, rows: Sequence[Sequence[Any]]) -> Candidates:
        """Return the candidates of a row of recall/current or recall/filtered."""
        return cls(*(zip(*rows, strict=True) if rows else [()] * len(cls._fields)))


@dataclass(frozen=True, slots=True)
class Ranked:
    """One of the best candidates."""

    place: int
    """Place among the candidates."""
    parts: Mapping[str, float]
    """Parts of the score by name; see `ScoreBreakdown`."""
    score: float
    """Score that orders the candidates: the relevance, which is the factor times the sum of the
    other parts; for ESPER's blend with the neutral belief, unless it is a belief."""
    vector_rank: int | None
    bm25_rank: int | None


@dataclass(frozen=True, slots=True)
class Ranking:
    """Constants of the ranking of one recall."""

    by: Mapping[str, Any]
    """Parameters of the scoring; see `scoring.score_params`."""
    mu: float
    """Mean cosine of a query and unrelated texts."""
    trace_weight: float
    """Weight of the trace in the similarity of memories."""
    pool: int
    """Number of candidates per list."""
    limit: int
    """Maximum number of different texts to read that are not beliefs."""

    def best(self, candidates: Candidates, late: MaxSim | None) -> list[Ranked]:
        """Return the candidates to read in full: the best others and the best beliefs.

        Each group is ordered by score, equal scores by id.

        Args:
            late: late interaction of each candidate; None without token states.
        """
        count = len(candidates.ids)
        if not count:
            return []
        by, points = self.by, self._points(candidates, late)
        kinds = np.array(candidates.kinds)
        groups = [np.flatnonzero(kinds == kind) for kind in dict.fromkeys(candidates.kinds)]
        scored = {name: self._part(name, one, groups) for name, one in points.items()}
        parts = {part: np.zeros(count) for part in LISTS.values()}
        parts |= {LISTS[name]: one.part for name, one in scored.items()}
        among: Sequence[int] = range(count)
        if by["min_similarity"] is not None:
            # The similarity to an item that only BM25 found is unknown.
            among = np.flatnonzero(self._similarity(candidates) >= by["min_similarity"]).tolist()
        parts |= self._neighbours(candidates, among, parts)
        parts["named"] = by["named"] * _flags(candidates.named)
        parts["dated"] = by["dated"] * _flags(candidates.dated)
        sums = sum(parts.values(), np.zeros(count))
        parts["factor"] = np.where(_flags(candidates.machine), by["machine"], 1.0)
        relevance, is_belief = parts["factor"] * sums, kinds == "belief"
        unproven = by["blend"] * relevance + (1 - by["blend"]) * by["unproven"]
        score = np.where(is_belief | (not by["adds"]), relevance, unproven).tolist()
        order = sorted(among, key=lambda i: (-score[i], candidates.ids[i]))
        chosen = [
            *self._distinct((i for i in order if not is_belief[i]), candidates),
            *[i for i in order if is_belief[i]][: by["beliefs"]],
        ]
        columns = zip(*(part[chosen].tolist() for part in parts.values()), strict=True)
        return [
            Ranked(
                place=i,
                parts=dict(zip(parts, row, strict=True)),
                score=score[i],
                vector_rank=scored["vector"].rank(i),
                bm25_rank=scored["words"].rank(i),
            )
            for i, row in zip(chosen, columns, strict=True)
        ]

    def _distinct(self, order: Iterable[int], candidates: Candidates) -> Iterator[int]:
        """Yield the candidates with the best texts, and the best repeats of each.

        Turns of equal texts have the same points in both lists. A question that is asked every day
        would otherwise displace its answer.
        """
        times = Counter[tuple[object, ...]]()
        for i in order:
            is_turn = candidates.kinds[i] == "turn"
            text = (candidates.vector[i], candidates.words[i]) if is_turn else (i,)
            times[text] += 1
            if len(times) > self.limit:
                return
            if times[text] <= MAX_REPEATED:
                yield i

    def _similarity(self, candidates: Candidates) -> Floats:
        """Return the calibrated similarities; NaN for a candidate that only BM25 found."""
        similarity: Floats = (2.0 * _floats(candidates.vector) - 1.0 - self.mu) / (1.0 - self.mu)
        return similarity

    def _points(self, candidates: Candidates, late: MaxSim | None) -> dict[str, Floats]:
        """Return the points of each candidate by list; NaN if it is not in that list."""
        by = self.by
        if by["distance"]:
            scores = _floats(candidates.vector)
            distance = np.sqrt(np.where(scores > 1.0, 0.0, 4.0 - 4.0 * scores))
            vector = 1.0 / (1.0 + distance)
        else:
            similarity = self._similarity(candidates)
            repeated = 1.0 + self.trace_weight * np.log1p(_floats(candidates.traces))
            vector = np.where(similarity > 0.0, similarity * repeated, similarity)
        points = {"vector": vector, "words": _floats(candidates.words)}
        if late is not None:
            points["late"] = late.own.astype(np.float64)
            points["late_context"] = late.context.astype(np.float64)
        if by["recency"] > 0:
            points["recency"] = np.exp(-_floats(candidates.days) / by["recency_days"])
        if by["access"] > 0:
            looks = _floats(candidates.looks)
            points["access"] = np.where(looks > 0.0, np.log1p(looks), np.nan)
        return points

    def _part(self, name: str, points: Floats, groups: Sequence[npt.NDArray[np.intp]]) -> _Part:
        """Return the weighted points of a list, with equal ranks for equal points.

        Each kind has its own list; blended lists are scaled by the best of all kinds.
        """
        by, weight = self.by, self.by[name]
        part, ranks = np.zeros(len(points)), np.zeros(len(points), dtype=np.intp)
        top = 1.0 if name == "recency" else np.nanmax(points, initial=-np.inf)
        for places in groups:
            listed = places[~np.isnan(points[places])]
            if not len(listed):
                continue
            own = points[listed]
            ranks[listed] = rank = 1 + np.searchsorted(np.sort(-own), -own)
            # A full list ends with weak candidates, so its last points are the floor. A list that
            # is not full contains every match.
            full = by["score"] == "blended" and name in FLOORED and len(own) >= self.pool
            floor = max(own.min(), 0.0) if full else 0.0
            if by["score"] == "fused":
                part[listed] = weight / (by["k"] + rank)
            elif by["score"] == "blended":
                above = own > floor
                part[listed[above]] = weight * ((own[above] - floor) / (top - floor))
            else:
                part[listed] = weight * np.maximum(own, 0.0)
        return _Part(part, ranks)

    def _neighbours(
        self, candidates: Candidates, among: Sequence[int], parts: Mapping[str, Floats]
    ) -> dict[str, Floats]:
        """Return what turns receive from the candidates next to them and in the same episode.

        Neighbouring turns provide context, and the answer is often in the session of the best
        match, in other words.
        """
        by, around, session = self.by, np.zeros(len(candidates.ids)), np.zeros(len(candidates.ids))
        near = [(n, by["around"] ** abs(n)) for n in range(-by["reach"], by["reach"] + 1) if n]
        own = (parts["meaning"] + parts["words"] + parts["late"] + parts["late_context"]).tolist()
        turns = {
            i: (episode, position)
            for i in among
            if (episode := candidates.episode_ids[i]) is not None
            and (position := candidates.positions[i]) is not None
        }
        at = {place: own[i] for i, place in turns.items()}
        greatest: dict[str, float] = {}
        for (episode, _), points in at.items():
            greatest[episode] = max(points, greatest.get(episode, points))
        for i, (episode, position) in turns.items():
            around[i] = sum([share * at.get((episode, position + n), 0.0) for n, share in near])
            session[i] = by["session"] * (greatest[episode] - own[i])
        return {"around": around, "session": session}


@dataclass(frozen=True, slots=True)
class _Part:
    """Weighted points of one list."""

    part: Floats
    ranks: npt.NDArray[np.intp]
    """Rank of each candidate in its list from 1, 0 for one that is not in it."""

    def rank(self, place: int) -> int | None:
        """Return the rank of a candidate; None if it is not in the list."""
        return int(self.ranks[place]) or None


def _floats(column: Sequence[float | None]) -> Floats:
    """Return a column as numbers; NaN for None."""
    return np.array(column, dtype=np.float64)


def _flags(column: Sequence[bool | None]) -> Flags:
    """Return a column as flags; false for None."""
    return np.array(column, dtype=np.bool_)
