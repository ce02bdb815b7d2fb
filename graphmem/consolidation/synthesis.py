"""Synthesise beliefs with a language model, whose reply is checked before anything is written."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from graphmem.consolidation import decisions, rules
from graphmem.consolidation.decisions import BeliefWrite, Cluster, PassageEvidence
from graphmem.consolidation.records import (
    BeliefChange,
    BeliefChangeKind,
    ConsolidationPolicy,
    Quote,
)
from graphmem.consolidation.rules import SynthesisReply
from graphmem.consolidation.sources import NearBelief
from graphmem.errors import ModelReplyError
from graphmem.model import EventType, EvidenceKind
from graphmem.ports import Llm, RequestContext, Role, TokenUsage
from graphmem.rules import claims, prompts, scoring
from graphmem.rules.claims import Claim
from graphmem.rules.passages import Passage

MAX_SHOWN = 20
"""Passages of a cluster shown to the model, those nearest to the centre."""
MAX_BELIEFS = 8
MAX_CHARACTERS = 1_000
"""Characters shown of each passage; twenty long documents would exceed a model's context."""


@dataclass(frozen=True, slots=True)
class ClusterQuestion:
    """A cluster, the beliefs near it, and its reply id."""

    reply_id: str
    cluster: Cluster
    near: Sequence[NearBelief]


def named(llm: Llm) -> str:
    """Return the model name and prompt digest, on which replies depend besides the passages."""
    return f"{llm.name} {prompts.prompt_digest(rules.NAME)[:12]}"


async def ask(
    context: RequestContext,
    llm: Llm,
    of: ClusterQuestion,
    policy: ConsolidationPolicy,
    bill: TokenUsage,
) -> BeliefWrite:
    """Return a model's decisions about a cluster, or its error; write nothing.

    Raises:
        ModelUnavailableError: the model cannot be reached.
    """
    reply_id, cluster = of.reply_id, of.cluster
    shown = {f"e{n}": one for n, one in enumerate(cluster[:MAX_SHOWN], 1)}
    beliefs = {f"b{n}": one for n, one in enumerate(of.near[:MAX_BELIEFS], 1)}
    prompt = rules.synthesis_prompt(
        (
            rules.PromptPassage(key, one.at.date().isoformat(), one.spoken[:MAX_CHARACTERS])
            for key, one in shown.items()
        ),
        (rules.PromptBelief(key, one.claim.statement) for key, one in beliefs.items()),
    )
    try:
        answer = await llm.answer(prompt)
    except ModelReplyError as error:
        return BeliefWrite(
            reply_id, cluster, raw=error.raw or None, problem=(error.code, str(error))
        )
    bill.add(answer)
    reply = answer.value
    if wrong := rules.reply_problems(reply, shown.keys(), beliefs.keys()):
        return BeliefWrite(reply_id, cluster, raw=answer.raw, problem=("refused", "; ".join(wrong)))
    resting = [shown[key] for key in reply.episodes]
    evidence = [
        PassageEvidence(beliefs[key].claim, one, kind, min(policy.max_confidence, reply.confidence))
        for kind, keys in (
            (EvidenceKind.SUPPORTING, reply.supports),
            (EvidenceKind.REFUTING, reply.contradicts),
        )
        for key in keys
        for one in resting
    ]
    archived = frozenset(
        beliefs[key].claim.id for key in reply.supports if beliefs[key].status == "archived"
    )
    if reply.statement is None or reply.supports:
        return BeliefWrite(reply_id, cluster, tuple(evidence), archived=archived, raw=answer.raw)
    claim = _claim(context.scope, reply)
    borne_out = await _borne_out(context, claim, resting, reply.confidence, policy)
    if not decisions.enough(borne_out, policy):
        problem = (
            f"of the {len(resting)} passages it names, those that support {claim.statement!r} "
            f"come from too few episodes"
        )
        return BeliefWrite(reply_id, cluster, raw=answer.raw, problem=("refused", problem))
    return BeliefWrite(reply_id, cluster, (*evidence, *borne_out), raw=answer.raw)


def _claim(scope: str, reply: SynthesisReply) -> Claim:
    if reply.subject is not None and reply.predicate is not None and reply.object is not None:
        parts = reply.subject, reply.predicate, reply.object
        return claims.triple_claim(scope, *parts, reply.statement)
    return claims.statement_claim(scope, str(reply.statement))


async def _borne_out(
    context: RequestContext,
    claim: Claim,
    resting: Sequence[Passage],
    confidence: float,
    policy: ConsolidationPolicy,
) -> list[PassageEvidence]:
    """Return evidence from the passages that are similar enough to the statement."""
    texts = [claim.statement, *(one.spoken for one in resting)]
    matrix = await context.services.embedder.embed(texts, Role.DOCUMENT)
    found = []
    for one, cosine in zip(resting, matrix[1:] @ matrix[0], strict=True):
        similarity = scoring.calibrate(float(cosine), context.model.mu_document)
        if similarity >= policy.grounding_similarity:
            sure = min(policy.max_confidence, confidence, similarity)
            found.append(PassageEvidence(claim, one, EvidenceKind.SUPPORTING, sure))
    return found


_MARKS = {
    EventType.FLAG: BeliefChangeKind.FLAG,
    EventType.RESTORE: BeliefChangeKind.RESTORE,
    EventType.ARCHIVE: BeliefChangeKind.ARCHIVE,
}


def changes(unit: BeliefWrite, existing: Collection[str]) -> Iterator[BeliefChange]:
    """Yield the changes of a unit, by belief.

    Args:
        unit: the decisions.
        existing: ids of beliefs that the unit does not create.
    """
    by_belief: dict[tuple[str, EvidenceKind], list[PassageEvidence]] = defaultdict(list)
    for one in unit.evidence:
        by_belief[one.claim.id, one.kind].append(one)
    for (belief_id, kind), evidence in by_belief.items():
        step = (
            BeliefChangeKind.SUPPORT
            if kind is EvidenceKind.SUPPORTING
            else BeliefChangeKind.CONTRADICT
        )
        yield BeliefChange(
            step=step if belief_id in existing else BeliefChangeKind.CREATE,
            belief_id=belief_id,
            statement=evidence[0].claim.statement,
            quotes=tuple(
                _quote(one) for one in sorted(evidence, key=lambda s: (s.passage.at, s.passage.id))
            ),
        )
    for mark in unit.marks:
        yield BeliefChange(
            step=_MARKS[mark.type],
            belief_id=mark.belief_id,
            statement=mark.statement,
            reason=mark.reason,
        )


def _quote(one: PassageEvidence) -> Quote:
    return Quote(
        episode_id=one.passage.episode_id,
        turn_id=one.passage.turn_id,
        text=one.passage.spoken,
        occurred_at=one.passage.at,
        confidence=one.confidence,
    )
