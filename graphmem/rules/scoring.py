"""Scores of a recall: calibration of similarities, and weights."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graphmem import folding
from graphmem.errors import InvalidInputError
from graphmem.model.recall import RecallPolicy, Score
from graphmem.model.terms import EmbeddingModel

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


ROUNDING = 1e-6
"""Tolerance greater than the rounding error of cosines in 32-bit floats."""

RELEVANCE_FLOORS = {"e5-small-v2-q8": 0.352}
"""Calibrated similarity that the best of 200 texts reaches for almost every question with an
answer, and for few others, by model; docs/explanation/recall.md has the figures. Unknown for other
models."""
_FULL = 200

FIRST_GENERATION = 1
STORED_NAMES = (
    r"(?<![\w.$])[a-z]\.(?:embedding|token_states)\b|'(?:embedding|token_states)(?=')"
    r"|\b[a-z_]+_embedding(?=_vector\b)"
)
"""Names stored in the graph, but not query parameters: `row.embedding` and `$embedding` do not
match. Java and Python interpret it alike."""
_STORED_NAMES = re.compile(STORED_NAMES)
_PROPERTY = re.compile(r"(embedding|token_states)(_\d+)?")

NEUTRAL_BELIEF = 0.5
"""Belief assumed in ESPER's blend for results that are not beliefs."""
_WORD = re.compile(r"\w+")

_OF_MODEL = re.compile(r"\b(?:did|have|had) you\b|\bsummar|\boverview\b|\brecap\b", re.I)


@dataclass(frozen=True, slots=True)
class Calibration:
    """A model's mean cosines over unrelated texts, one per pair of roles."""

    mu_document: float
    """Mean cosine of two documents."""
    mu_query: float
    """Mean cosine of a query and a document."""


def calibrate(cosine: float, mu: float) -> float:
    """Return (cosine - mu) / (1 - mu): 0 at the mean of unrelated texts, 1 at equality.

    Twin: every query that compares with a calibrated threshold first converts it by `raw_cosine`.
    """
    return (cosine - mu) / (1.0 - mu)


def raw_cosine(calibrated: float, mu: float) -> float:
    """Return the cosine of a calibrated value; the inverse of `calibrate`."""
    return mu + calibrated * (1.0 - mu)


def from_neo4j(score: float) -> float:
    """Return the cosine in [-1, 1] of Neo4j's cosine score, which is (1 + cosine) / 2."""
    return 2.0 * score - 1.0


def to_neo4j(cosine: float) -> float:
    """Return Neo4j's score of a cosine; the inverse of `from_neo4j`."""
    return (1.0 + cosine) / 2.0


def mean_cosine(
    rows: npt.NDArray[np.float32], others: npt.NDArray[np.float32] | None = None
) -> float:
    """Return the mean cosine over pairs of unrelated texts.

    Args:
        rows: float32[n, d], unit rows.
        others: float32[m, d], unit rows to pair with; None pairs each of `rows` with all others.
    """
    pairs = len(rows) * (len(rows) - 1) if others is None else len(rows) * len(others)
    if not pairs:
        raise InvalidInputError("A mean cosine requires at least one pair of texts.")
    # The sum of all dot products is the dot product of the sums.
    left = rows.astype("float64")
    right = left if others is None else others.astype("float64")
    total = float(left.sum(axis=0) @ right.sum(axis=0))
    if others is None:
        total -= float((left * left).sum())
    return total / pairs


def relevance_floor(model: str, candidates: int) -> float | None:
    """Return the similarity below which the best candidate hardly answers a question.

    The best of few texts is less similar than the best of many, so the floor grows with their
    logarithm.

    Args:
        model: name of the model as recorded in the graph.
        candidates: number of candidates found by vector search.
    """
    floor = RELEVANCE_FLOORS.get(model.rpartition("/")[2])
    return None if floor is None else floor * min(1.0, math.log1p(candidates) / math.log1p(_FULL))


def relevance(
    model: EmbeddingModel, policy: RecallPolicy, vector: Sequence[float | None]
) -> tuple[float | None, float | None]:
    """Return the greatest calibrated similarity of the candidates, and the least that is wanted."""
    scores = [score for score in vector if score is not None]
    least = policy.min_score
    if least is None and policy.score is Score.BLENDED:
        least = relevance_floor(model.name, len(scores))
    if not scores:
        return None, least
    return calibrate(from_neo4j(max(scores)), model.mu_query), least


def number_embeddings(text: str, generation: int) -> str:
    """Return Cypher, or the name of an index, for one generation of embeddings.

    Args:
        text: Cypher or name for the first generation.
        generation: number of the generation, from 1.
    """
    return (
        text if generation == FIRST_GENERATION else _STORED_NAMES.sub(rf"\g<0>_{generation}", text)
    )


def embedding_property(generation: int) -> str:
    """Return the property of a node with its embedding of a generation."""
    return number_embeddings("'embedding'", generation).strip("'")


def generation_properties(properties: Mapping[str, Any], generation: int) -> dict[str, Any]:
    """Return a node's properties, with the embedding and token states of one generation only."""
    kept = {name: value for name, value in properties.items() if not _PROPERTY.fullmatch(name)}
    own = {
        name: properties.get(number_embeddings(f"'{name}'", generation).strip("'"))
        for name in ("embedding", "token_states")
    }
    return kept | {name: value for name, value in own.items() if value is not None}


def question_words(text: str) -> list[str]:
    """Return the distinct words of a question, folded and in lower case, to match names.

    Words with adjacent punctuation are included, because "jr." needs its period. Subjects are
    stored folded. Names of speakers are not, and the server puts them in lower case.
    """
    forms = folding.fold(text), text.lower()
    return list(
        dict.fromkeys(word for form in forms for word in (*_WORD.findall(form), *form.split()))
    )


def asks_of_model(question: str) -> bool:
    """Return whether a question is, in English, about a model's words, or for a summary."""
    return _OF_MODEL.search(question) is not None


def score_params(policy: RecallPolicy, *, tokens: bool = False) -> dict[str, Any]:
    """Return the parameters that define the scoring of a recall.

    Args:
        policy: the ranking; the weights of blended lists are divided by their sum.
        tokens: whether the candidates have token states.
    """
    lists = policy.score in {Score.BLENDED, Score.FUSED}
    blended = policy.score is Score.BLENDED
    return {
        "score": str(policy.score) if lists else "plain",
        "distance": policy.score in {Score.FLAT, Score.ESPER},
        "adds": policy.score is Score.ESPER,
        "unproven": NEUTRAL_BELIEF,
        "k": policy.k,
        **_list_weights(policy, tokens=tokens),
        "recency_days": policy.recency_days,
        "around": policy.around,
        "reach": policy.reach if blended else 0,
        "session": policy.session if blended else 0.0,
        "named": policy.named if blended else 0.0,
        "dated": policy.dated if blended else 0.0,
        "machine": policy.machine if blended else 1.0,
        "min_similarity": policy.min_similarity,
        "beliefs": policy.beliefs,
        "blend": policy.blend if lists or policy.score is Score.ESPER else 1.0,
    }


def _list_weights(policy: RecallPolicy, *, tokens: bool) -> dict[str, float]:
    weights = {
        "vector": policy.vector_weight,
        "words": policy.words_weight,
        "late": policy.late_weight if tokens else 0.0,
        "late_context": policy.late_context_weight if tokens else 0.0,
        "recency": policy.recency_weight,
        "access": policy.access_weight,
    }
    match policy.score:
        case Score.FUSED:
            return weights
        case Score.BLENDED:
            total = sum(weights.values()) or 1.0
            return {name: weight / total for name, weight in weights.items()}
        case _:
            return dict.fromkeys(weights, 0.0) | {"vector": 1.0}
