"""Find the clauses that passages have in common, and state a cluster in one of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from graphmem.consolidation import rules
from graphmem.english import changes, clauses
from graphmem.english.changes import Change
from graphmem.english.clauses import Clause
from graphmem.english.passages import Passage, prefix_speaker
from graphmem.model import EvidenceKind
from graphmem.ports import Role
from graphmem.rules import scoring

if TYPE_CHECKING:
    import numpy.typing as npt

    from graphmem.consolidation import ConsolidationPolicy
    from graphmem.consolidation.sources import NearBelief
    from graphmem.ports import RequestContext

_Candidate: TypeAlias = tuple[int, Clause, tuple[tuple[int, Clause], ...]]
"""The place of a passage, a clause of it, and the clauses that may support it with their places."""


class ClauseSimilarities:
    """Similarities of clauses, each of which is embedded once."""

    def __init__(self, context: RequestContext) -> None:
        self._context = context
        self._vectors: dict[str, npt.NDArray[np.float32]] = {}

    async def embed(self, texts: Iterable[str]) -> None:
        """Embed the texts that are new."""
        new = sorted({*texts} - self._vectors.keys())
        if new:
            matrix = await self._context.services.embedder.embed(new, Role.DOCUMENT)
            self._vectors.update(zip(new, matrix, strict=True))

    def between(self, one: str, other: str) -> float:
        """Return the calibrated cosine of two embedded texts."""
        cosine = float(self._vectors[one] @ self._vectors[other])
        return scoring.calibrate(cosine, self._context.model.mu_document)

    def nearest(self, some: Sequence[str], others: Sequence[str]) -> float:
        """Return the greatest similarity of an embedded text to another one."""
        left = np.stack([self._vectors[one] for one in some])
        right = np.stack([self._vectors[one] for one in others])
        return scoring.calibrate(float((left @ right.T).max()), self._context.model.mu_document)


def clauses_of(passage: Passage) -> tuple[Clause, ...]:
    """Return the clauses of a passage."""
    return clauses.clauses(passage.text, passage.name)


def clause_texts(passage: Passage) -> tuple[str, ...]:
    """Return the clauses of a passage as texts; the passage itself if it has none."""
    return tuple(one.text for one in clauses_of(passage)) or (passage.text,)


def may_support(passage: Clause, statement: Clause) -> bool:
    """Return whether a clause supports a statement if it is similar enough.

    Without some of its words it may be about another thing: tea in place of coffee.
    """
    if not clauses.supports(passage, statement):
        return False
    return clauses.coverage(passage, statement) == 1 or (
        rules.compare_texts(passage.text, statement.text) is EvidenceKind.SUPPORTING
        and changes.between(passage.text, statement.text) is Change.NONE
    )


def least_similarity(passage: Clause, statement: Clause, policy: ConsolidationPolicy) -> float:
    """Return the minimum similarity at which a clause supports a statement."""
    if clauses.coverage(passage, statement) == 1:
        return policy.clause_similarity
    shared = len(passage.stems & statement.stems)
    return policy.word_similarity if shared == 1 else policy.wording_similarity


async def relate(
    similarities: ClauseSimilarities,
    passages: Sequence[Passage],
    near: Sequence[dict[int, float]],
    policy: ConsolidationPolicy,
    *,
    modelled: bool,
) -> list[dict[int, float]]:
    """Return the neighbours of each passage that state a clause which enough episodes state.

    For a model, which knows other words for one thing, also those with a similar clause.

    Args:
        near: neighbours of each passage with their similarities.
        modelled: whether a model states what passages have in common.
    """
    around = [set(others) for others in near]
    for i, others in enumerate(near):
        for j in others:
            around[j].add(i)
    candidates = [
        (i, statement, tuple(_supporting(passages, i, statement, sorted(around[i]))))
        for i, passage in enumerate(passages)
        for statement in clauses_of(passage)
        if statement.states
    ]
    possible = await _embedded(similarities, passages, candidates, policy)
    related = (
        await _by_clause(similarities, passages, near, policy) if modelled else [{} for _ in near]
    )
    for i, statement, support in possible:
        found = list(_similar(similarities, statement, support, policy))
        if _is_enough(passages, i, statement, [one[:2] for one in found], policy):
            for j, _, similarity in found:
                related[i][j] = max(similarity, related[i].get(j, 0.0))
    return related


async def _by_clause(
    similarities: ClauseSimilarities,
    passages: Sequence[Passage],
    near: Sequence[Mapping[int, float]],
    policy: ConsolidationPolicy,
) -> list[dict[int, float]]:
    """Return the neighbours of each passage with a clause that is similar to one of its own.

    Turns with one fact in common are less similar as a whole the more else they contain.
    """
    paired = {one for i, others in enumerate(near) if others for one in (i, *others)}
    texts = {i: clause_texts(passages[i]) for i in paired}
    await similarities.embed(text for found in texts.values() for text in found)
    return [
        {
            j: best
            for j in others
            if (best := similarities.nearest(texts[i], texts[j])) >= policy.clause_similarity
        }
        for i, others in enumerate(near)
    ]


@dataclass(frozen=True, slots=True)
class SharedStatement:
    """A clause that passages of several episodes state."""

    text: str
    """The clause with its speaker's name."""
    support: Mapping[Passage, float]
    """Passages that state it, with the similarity of their clause; its own first, with 1."""


async def shared_statement(
    similarities: ClauseSimilarities, cluster: Sequence[Passage], policy: ConsolidationPolicy
) -> SharedStatement | None:
    """Return the clause of a cluster that most episodes state; None if too few do.

    Most of its words of content must occur in the clauses that support it. Among equals the one
    with the greatest share of such words is chosen, then the one with the most words, then the most
    similar one, then the first.
    """
    everyone = range(len(cluster))
    candidates = [
        (i, statement, tuple(_supporting(cluster, i, statement, everyone)))
        for i, passage in enumerate(cluster)
        for statement in clauses_of(passage)
        if statement.states
    ]
    possible = await _embedded(similarities, cluster, candidates, policy)
    best: tuple[tuple[int, float, int, float, int], SharedStatement] | None = None
    for number, (i, statement, support) in enumerate(possible):
        found = list(_similar(similarities, statement, support, policy))
        if not _is_enough(cluster, i, statement, [one[:2] for one in found], policy):
            continue
        by_place = {i: 1.0}
        for j, _, similarity in found:
            by_place[j] = max(similarity, by_place.get(j, 0.0))
        episodes = len({cluster[j].episode_id for j in by_place})
        covered = frozenset().union(*(one.stems for _, one, _ in found))
        share = len(statement.stems & covered) / len(statement.stems)
        rank = episodes, share, len(statement.stems), sum(by_place.values()), -number
        if best is None or rank > best[0]:
            text = prefix_speaker(cluster[i].name, statement.text)
            best = rank, SharedStatement(text, {cluster[j]: s for j, s in by_place.items()})
    return best[1] if best else None


async def _embedded(
    similarities: ClauseSimilarities,
    passages: Sequence[Passage],
    candidates: Iterable[_Candidate],
    policy: ConsolidationPolicy,
) -> list[_Candidate]:
    """Embed the candidates that enough episodes may support, and return them."""
    possible = [one for one in candidates if _is_enough(passages, *one, policy)]
    await similarities.embed(
        text
        for _, statement, support in possible
        for text in (statement.text, *(clause.text for _, clause in support))
    )
    return possible


def _supporting(
    passages: Sequence[Passage], own: int, statement: Clause, places: Iterable[int]
) -> Iterator[tuple[int, Clause]]:
    """Yield the clauses of other episodes' passages that support a statement if similar enough."""
    for place in places:
        if passages[place].episode_id != passages[own].episode_id:
            for clause in clauses_of(passages[place]):
                if may_support(clause, statement):
                    yield place, clause


def _similar(
    similarities: ClauseSimilarities,
    statement: Clause,
    support: Iterable[tuple[int, Clause]],
    policy: ConsolidationPolicy,
) -> Iterator[tuple[int, Clause, float]]:
    for place, clause in support:
        similarity = similarities.between(clause.text, statement.text)
        if similarity >= least_similarity(clause, statement, policy):
            yield place, clause, similarity


def _is_enough(
    passages: Sequence[Passage],
    own: int,
    statement: Clause,
    support: Sequence[tuple[int, Clause]],
    policy: ConsolidationPolicy,
) -> bool:
    """Return whether enough episodes support a statement, and their clauses have its words."""
    episodes = {passages[own].episode_id, *(passages[place].episode_id for place, _ in support)}
    if len(episodes) < policy.min_belief_episodes:
        return False
    covered = frozenset().union(*(clause.stems for _, clause in support))
    # The verb may vary in a statement about the speaker, and nothing in one about a thing.
    most = clauses.MAX_UNSUPPORTED * len(statement.stems) if statement.about is None else 0
    return len(statement.stems - covered) <= most


class ClauseMatch(NamedTuple):
    """The evidence that one clause of a passage gives about a belief."""

    kind: EvidenceKind
    similarity: float


async def clause_matches(
    similarities: ClauseSimilarities,
    pairs: Sequence[tuple[Passage, NearBelief]],
    policy: ConsolidationPolicy,
) -> list[ClauseMatch | None]:
    """Return for each passage and belief what the passage's clauses say about the belief.

    The belief's statement is compared, or the clauses of its quote that are similar to the
    statement: a model may have worded it in quite another way.
    """
    compared = [tuple(_compared(passage, belief)) for passage, belief in pairs]
    await similarities.embed(text for found in compared for one in found for text in one.texts)
    return [
        max(
            (
                ClauseMatch(one.kind, similarity)
                for one in found
                if similarities.between(one.source.text, one.statement)
                >= (policy.grounding_similarity if belief.quote else 0.0)
                and (similarity := similarities.between(one.clause.text, one.source.text))
                >= (
                    policy.refute_similarity
                    if one.kind is EvidenceKind.REFUTING
                    else least_similarity(one.clause, one.source, policy)
                )
            ),
            key=lambda match: match.similarity,
            default=None,
        )
        for (_, belief), found in zip(pairs, compared, strict=True)
    ]


class _Comparison(NamedTuple):
    clause: Clause
    source: Clause
    """The statement, or a clause of the quote."""
    statement: str
    kind: EvidenceKind

    @property
    def texts(self) -> tuple[str, ...]:
        return self.clause.text, self.source.text, self.statement


def _compared(passage: Passage, belief: NearBelief) -> Iterator[_Comparison]:
    if not rules.speaks_of(passage, belief.wording):
        return
    statement = clauses.statement_clause(belief.claim.statement, passage.name)
    sources = (statement,) if belief.quote is None else clauses.clauses(belief.quote, passage.name)
    for clause in clauses_of(passage):
        for source in sources:
            if may_support(clause, source):
                yield _Comparison(clause, source, statement.text, EvidenceKind.SUPPORTING)
            elif clauses.shares_half(clause, source):
                kind = rules.compare_texts(clause.text, source.text)
                if kind is EvidenceKind.REFUTING:
                    yield _Comparison(clause, source, statement.text, kind)
