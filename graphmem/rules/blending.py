"""What a recall is scored by, as the query takes it.

The blend is a weighted sum of lists that were each put on one scale, which keeps how much better
the best is, where reciprocal ranks forget it (Bruch, Gai and Ingber, TOIS 2023).
"""

from __future__ import annotations

import re
from typing import Any

from graphmem.model.recall import RecallPolicy, Score

UNPROVEN = 0.5
"""What counts, in ESPER's blend, as the belief of what is no belief."""
_WORD = re.compile(r"\w+")


def asked(text: str) -> list[str]:
    """Return the words of a question, lower case, each once: among them it may name somebody.

    Each as it stands too, with what is around it: "jr." is no word without its point.
    """
    lower = text.lower()
    return list(dict.fromkeys([*_WORD.findall(lower), *lower.split()]))


def sent(policy: RecallPolicy) -> dict[str, Any]:
    """Return how to score as a query is given it."""
    lists = policy.score in {Score.BLENDED, Score.FUSED}
    blended = policy.score is Score.BLENDED
    return {
        "score": str(policy.score) if lists else "plain",
        "distance": policy.score in {Score.FLAT, Score.ESPER},
        "adds": policy.score is Score.ESPER,
        "unproven": UNPROVEN,
        "k": policy.k,
        "vector": policy.vector_weight if lists else 1.0,
        "words": policy.words_weight if lists else 0.0,
        "recency": policy.recency_weight if lists else 0.0,
        "recency_days": policy.recency_days,
        "access": policy.access_weight if lists else 0.0,
        "around": policy.around,
        "reach": policy.reach if blended else 0,
        "named": policy.named if blended else 0.0,
        "dated": policy.dated if blended else 0.0,
        "machine": policy.machine if blended else 1.0,
        "least": policy.min_similarity,
        "beliefs": policy.beliefs,
        "blend": policy.blend if lists or policy.score is Score.ESPER else 1.0,
    }
