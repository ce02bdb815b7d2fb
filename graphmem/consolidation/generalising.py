"""Generalise beliefs: one statement for at least three similar beliefs, by a language model.

Without a model nothing is generalised: the only statements at hand are those of the parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from graphmem import stored
from graphmem.consolidation import ConsolidationPolicy, decisions, rules, sources, synthesis
from graphmem.consolidation.decisions import BeliefWrite, DrawnFrom, PassageEvidence
from graphmem.consolidation.sources import ScopeSnapshot
from graphmem.consolidation.statements import ClauseSimilarities
from graphmem.english.passages import Passage
from graphmem.graph import catalog
from graphmem.model import EvidenceKind
from graphmem.ports import Llm, RequestContext, TokenUsage
from graphmem.rules import claims

PAGE = 64
"""Beliefs per read, with a vector search each."""

PARTS = catalog.query("consolidate/parts", dict)


@dataclass(frozen=True, slots=True)
class Part:
    """A belief that may be generalised."""

    id: str
    statement: str
    depth: int
    at: datetime
    evidence: tuple[tuple[Passage, DrawnFrom], ...]
    """Its evidence, the surest of each episode."""


@dataclass(frozen=True, slots=True)
class PartCluster:
    """Similar beliefs, the central one first, and the reply id."""

    reply_id: str
    parts: tuple[Part, ...]

    @property
    def passages(self) -> tuple[Passage, ...]:
        """Passages on which the parts rest, each once."""
        found = (passage for part in self.parts for passage, _ in part.evidence)
        return tuple({passage.id: passage for passage in found}.values())

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of the parts."""
        return tuple(part.id for part in self.parts)


async def clusters(
    context: RequestContext, seen: ScopeSnapshot, policy: ConsolidationPolicy, name: str
) -> list[PartCluster]:
    """Return clusters of at least `min_belief_episodes` beliefs that no belief generalises."""
    rows: list[dict[str, Any]] = []
    asked = {
        "known": seen.known,
        "max_depth": policy.max_depth,
        "nearest": policy.neighbours,
        "min_score": sources.index_score(context, policy.cluster_similarity),
        "limit": PAGE,
    }
    after = ""
    while page := await context.fetch(PARTS, after=after, **asked):
        after = page[-1]["id"]
        rows += [row for row in page if row["evidence"]]
    places = {row["id"]: n for n, row in enumerate(rows)}
    near = [
        {places[i]: sources.similarity(context, score) for i, score in row["near"] if i in places}
        for row in rows
    ]
    stars = rules.star_clusters(near, range(len(rows)), policy.min_belief_episodes)
    found = [tuple(_part(rows[n]) for n in star) for star in stars]
    return [
        PartCluster(
            decisions.reply_id(context.scope, name, "parts", *sorted(part.id for part in parts)),
            parts,
        )
        for parts in found
    ]


def _part(row: Mapping[str, Any]) -> Part:
    surest: dict[str, tuple[Passage, DrawnFrom]] = {}
    for one in row["evidence"]:
        passage = sources.row_passage(one)
        drawn = DrawnFrom(one["event_id"], one["confidence"], one["trust"])
        held = surest.get(passage.episode_id)
        if held is None or drawn.confidence > held[1].confidence:
            surest[passage.episode_id] = passage, drawn
    return Part(
        row["id"], row["statement"], row["depth"], row["created_at"], tuple(surest.values())
    )


async def ask(
    context: RequestContext,
    llm: Llm,
    cluster: PartCluster,
    policy: ConsolidationPolicy,
    bill: TokenUsage,
) -> BeliefWrite:
    """Return a model's generalisation of a cluster, or its error; write nothing.

    The statement of an existing belief generalises nothing, which prevents cycles. The result is a
    free statement and competes in no slot.
    """
    shown = {f"e{n}": part for n, part in enumerate(cluster.parts[: synthesis.MAX_SHOWN], 1)}
    prompt = rules.synthesis_prompt(
        (
            rules.PromptPassage(key, part.at.date().isoformat(), part.statement)
            for key, part in shown.items()
        ),
        (),
    )
    empty = BeliefWrite(cluster.reply_id, cluster.passages, parts=cluster.ids)
    answer = await synthesis.checked_answer(llm, prompt, shown, (), empty, bill)
    if isinstance(answer, BeliefWrite):
        return answer
    reply = answer.value
    made = replace(empty, raw=answer.raw)
    if reply.statement is None:
        return made
    claim = claims.statement_claim(context.scope, reply.statement)
    found = await stored.find_existing(context, belief_ids=[claim.id])
    if found["beliefs"]:
        return made
    named = [shown[key] for key in reply.episodes]
    similarities = ClauseSimilarities(context)
    await similarities.embed([claim.statement, *(part.statement for part in named)])
    resting = [
        (part, min(policy.max_confidence, reply.confidence, similarity))
        for part in named
        if (similarity := similarities.between(part.statement, claim.statement))
        >= policy.grounding_similarity
        and rules.compare_texts(part.statement, claim.statement) is not EvidenceKind.REFUTING
    ]
    claim = replace(claim, depth=1 + max((part.depth for part, _ in resting), default=0))
    evidence = tuple(
        PassageEvidence(claim, passage, EvidenceKind.SUPPORTING, min(sure, drawn.confidence), drawn)
        for passage, drawn, sure in _each_once(resting)
    )
    if len(resting) < policy.min_belief_episodes or not decisions.enough(evidence, policy):
        problem = (
            f"of the {len(named)} beliefs it names, too few are similar to {claim.statement!r} "
            f"or rest on different episodes"
        )
        return replace(made, problem=("refused", problem))
    stated = [(None, part.statement) for part, _ in resting]
    if invented := synthesis.ungrounded(claim.statement, stated):
        return replace(made, problem=invented)
    return replace(made, evidence=evidence, parts=tuple(part.id for part, _ in resting))


def _each_once(
    resting: Iterable[tuple[Part, float]],
) -> Iterator[tuple[Passage, DrawnFrom, float]]:
    """Yield the evidence of the parts; a passage behind two parts counts for the first."""
    seen: set[str] = set()
    for part, sure in resting:
        for passage, drawn in part.evidence:
            if passage.id not in seen:
                seen.add(passage.id)
                yield passage, drawn, sure
