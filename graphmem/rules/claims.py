"""Claims of beliefs and memories: keys, slots, wording, rows of evidence, chains and aliases."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from datetime import datetime
from graphlib import CycleError, TopologicalSorter
from itertools import chain
from typing import TYPE_CHECKING, Any

from graphmem import folding
from graphmem.errors import ContentRefusedError, InvalidInputError, NameChainError
from graphmem.model import (
    BeliefEvidence,
    Cardinality,
    ChainLink,
    EventSource,
    EventType,
    EvidenceSource,
    Hypothesis,
    Memory,
    NewMemory,
    Observation,
    Status,
    TenantScope,
)
from graphmem.model.terms import embedding_fields
from graphmem.rules import drafts, formulas, hygiene, identity, rejections
from graphmem.rules.drafts import TextDraft

if TYPE_CHECKING:
    from graphmem.model.terms import Embedding


FIELD = re.compile(r"\{(\w*)\}")
"""Field of a predicate's template."""
_SEPARATORS = re.compile(r"[\s_-]+")


def name_key(text: str) -> str:
    """Return the key of a name: its folded form. Equal keys mean the same name."""
    # A name of characters that are not drawn stays a name.
    return folding.fold(text) or text.strip()


def predicate_key(text: str) -> str:
    """Return the key of a predicate: "Lives in", "lives-in" and "lives_in" have the same one."""
    key = name_key(text)
    return _SEPARATORS.sub("_", key).strip("_") or key


@dataclass(frozen=True, slots=True)
class Claim:
    """Statement of a belief, with its scope and slot; fields are named as in the graph."""

    id: str
    scope: str
    slot_id: str
    statement: str
    """Wording of the triple by default, unless a statement was given."""
    subject: str | None = None
    predicate: str | None = None
    object: str | None = None
    subject_key: str | None = None
    predicate_key: str | None = None
    object_key: str | None = None
    worded: bool = False
    """Whether the statement was given rather than generated from the triple."""
    depth: int = 0
    """1 more than the deepest belief that it generalises; 0 if it generalises none."""

    def row(self, tenant_scope: TenantScope, embedding: Embedding | None) -> dict[str, Any]:
        """Return the map for fragments/merge_belief."""
        row = {name: getattr(self, name) for name in _STORED}
        scope_key = identity.scope_key(tenant_scope.tenant, self.scope)
        keys = {
            "scope_key": scope_key,
            **rejections.belief_keys(tenant_scope.tenant, row),
            "depth": self.depth or None,
        }
        return row | keys | embedding_fields(embedding)


_STORED = tuple(one.name for one in fields(Claim) if one.name != "worded")


def triple_claim(
    scope: str, subject: str, predicate: str, object_: str, statement: str | None = None
) -> Claim:
    """Return the claim of a triple, with the given statement or a generated one."""
    keys = name_key(subject), predicate_key(predicate), name_key(object_)
    return Claim(
        id="b_" + identity.digest(scope, identity.digest(*keys))[:32],
        scope=scope,
        slot_id=slot_id(scope, subject, predicate),
        statement=statement or triple_sentence(None, subject, predicate, object_),
        subject=subject.strip(),
        predicate=predicate.strip(),
        object=object_.strip(),
        subject_key=keys[0],
        predicate_key=keys[1],
        object_key=keys[2],
        worded=statement is not None,
    )


def statement_claim(scope: str, statement: str) -> Claim:
    """Return the claim of a free statement, which has a slot of its own."""
    belief_id = "b_" + identity.digest(scope, identity.content_hash(statement))[:32]
    return Claim(
        id=belief_id, scope=scope, slot_id=belief_id, statement=statement.strip(), worded=True
    )


def passage_evidence_id(claim_id: str, passage_id: str) -> str:
    """Return the id of the evidence of a turn, or an episode without turns, for a claim.

    Each passage is evidence for a belief only once, whichever extractor reads it.
    """
    return "said_" + identity.digest(claim_id, passage_id)[:32]


def replacing_event_id(event_id: str, claim_id: str) -> str:
    """Return the id of the event that states a belief by which an event replaces others.

    It has a copy of the note of that event.
    """
    return "believe_" + identity.digest(event_id, claim_id)[:32]


def stored_claim(row: Mapping[str, Any]) -> Claim:
    """Return the claim of a stored belief."""
    names = [field.name for field in fields(Claim) if field.name not in ("worded", "depth")]
    return Claim(**{name: row[name] for name in names}, worded=True, depth=row["depth"] or 0)


def recorded_claim(recorded: Mapping[str, Any]) -> Claim:
    """Return the claim in a record, with the key of its predicate as it is today."""
    claim = Claim(**recorded)
    if claim.subject_key is None or claim.predicate_key is None:
        return claim
    key = predicate_key(claim.predicate_key)
    slot = slot_id_of_keys(claim.scope, claim.subject_key, key)
    return replace(claim, predicate_key=key, slot_id=slot)


def slot_id(scope: str, subject: str, predicate: str) -> str:
    """Return the id of the slot of a subject and a predicate in a scope; unique in a tenant."""
    return slot_id_of_keys(scope, name_key(subject), predicate_key(predicate))


def slot_id_of_keys(scope: str, subject_key: str, predicate_key: str) -> str:
    """Return the id of a slot from the folded subject and predicate."""
    return "s_" + identity.digest(scope, subject_key, predicate_key)[:32]


def triple_sentence(template: str | None, subject: str, predicate: str, object_: str) -> str:
    """Return the sentence for a triple: from its predicate's template, else its three parts."""
    if template is None:
        return " ".join((subject.strip(), predicate.strip().replace("_", " "), object_.strip()))
    parts = {"subject": subject.strip(), "object": object_.strip()}
    return FIELD.sub(lambda match: parts[match[1]], template)


def reword_claim(claim: Claim, templates: Mapping[str, str]) -> Claim:
    """Return the claim with its triple worded by its predicate's template."""
    template = templates.get(claim.predicate_key or "")
    if claim.worded or template is None:
        return claim
    parts = str(claim.subject), str(claim.predicate), str(claim.object)
    return replace(claim, statement=triple_sentence(template, *parts))


def weights_key(weights: Mapping[str, float]) -> str:
    """Return a digest of a set of source weights, which identifies them in a checkpoint."""
    return identity.digest(*(f"{name}={weights[name]!r}" for name in sorted(weights)))[:32]


@dataclass(frozen=True, slots=True)
class EvidenceDraft:
    """One event about a belief, prepared before any transaction."""

    event_id: str
    claim: Claim
    given: EvidenceSource
    type: EventType
    occurred_at: datetime
    request_hash: str
    fields: Mapping[str, Any]
    """Properties specific to this type of event."""
    payload: Mapping[str, Any]
    cardinality: Cardinality | None = None
    """Cardinality to declare for the predicate of the claim, if it has none."""

    def reword(self, templates: Mapping[str, str]) -> EvidenceDraft:
        """Return the draft with its triple worded by its predicate's template."""
        claim = reword_claim(self.claim, templates)
        return self if claim is self.claim else replace(self, claim=claim)

    @property
    def looks_after(self) -> bool:
        """Whether this write also updates the slot's checkpoint: one event of 256."""
        return self.claim.subject_key is not None and identity.digest(self.event_id)[:2] == "00"

    def row(self, tenant_scope: TenantScope, embedding: Embedding | None) -> dict[str, Any]:
        """Return the row for belief/append."""
        return {
            "id": self.event_id,
            "looks_after": self.looks_after,
            "scope": self.claim.scope,
            "type": self.type,
            "occurred_at": self.occurred_at.isoformat(),
            "request_hash": self.request_hash,
            **drafts.origin_fields(self.given),
            "episode_id": self.given.episode_id,
            "turn_id": self.given.turn_id,
            "payload": json.dumps(dict(self.payload), ensure_ascii=False),
            **self.fields,
            "claim": self.claim.row(tenant_scope, embedding),
        }


def hashed_fields(source: EventSource) -> list[str | datetime | None]:
    """Return all fields of an event's origin as given, for the hash of the request."""
    return [getattr(source, name, None) for name in EvidenceSource.model_fields if name != "id"]


def source_event(
    given: EventSource,
    scope: str,
    kind: EventType,
    now: datetime,
    identifying: Iterable[str | None],
    payload: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the event fields that all events given by a caller share.

    Args:
        identifying: values that, with the source, identify a repeated request.
        payload: further fields of the payload.
    """
    noted = {**(payload or {}), **({"note": given.note} if given.note else {})}
    event_id, at = given.event_id or identity.event_id(now), drafts.event_time(given.at, now)
    asked = *identifying, *hashed_fields(given)
    event = drafts.event(event_id, scope, kind, at, asked, noted)
    return event | drafts.origin_fields(given)


def draft_event(
    claim: Claim,
    source: EvidenceSource,
    kind: EventType,
    now: datetime,
    fields: Mapping[str, Any],
    wording: str | None = None,
) -> EvidenceDraft:
    """Return an event about a claim with its id and its request hash, which includes `wording`."""
    payload = {"belief_id": claim.id} | ({"note": source.note} if source.note else {})
    return EvidenceDraft(
        event_id=source.event_id or identity.event_id(now),
        claim=claim,
        given=source,
        type=kind,
        occurred_at=drafts.event_time(source.at, now),
        request_hash=drafts.request_hash(
            kind,
            claim.id,
            *(str(fields[name]) for name in sorted(fields)),
            wording,
            *hashed_fields(source),
        ),
        fields=fields,
        payload=payload,
    )


def draft_observation(observation: Observation, scope: str, now: datetime) -> EvidenceDraft:
    """Return the event of an observation."""
    claim = triple_claim(scope, observation.subject, observation.predicate, observation.object)
    _check_storable(observation.note, claim)
    fields = {
        "polarity": observation.kind.polarity,
        "confidence": observation.confidence,
        "source_type": observation.source_type,
    }
    given = observation.cardinality
    wording = None if given is None else f"cardinality {given}"
    draft = draft_event(claim, observation, EventType.EVIDENCE, now, fields, wording)
    return draft if given is None else replace(draft, cardinality=given)


def draft_hypothesis(hypothesis: Hypothesis, scope: str, now: datetime) -> EvidenceDraft:
    """Return the event of a hypothesis."""
    if hypothesis.subject is None:
        claim = statement_claim(scope, str(hypothesis.statement))
    else:
        parts = hypothesis.subject, str(hypothesis.predicate), str(hypothesis.object)
        claim = triple_claim(scope, *parts, hypothesis.statement)
    _check_storable(hypothesis.note, claim)
    confidence = {"confidence": hypothesis.confidence}
    return draft_event(claim, hypothesis, EventType.BELIEVE, now, confidence, hypothesis.statement)


def _check_storable(note: str | None, claim: Claim | None = None) -> None:
    parts = () if claim is None else ("statement", "subject", "predicate", "object")
    for name, text in (*((part, getattr(claim, part)) for part in parts), ("note", note)):
        if text is not None and (found := hygiene.rejection_reasons(text, hygiene.FACT_RULES)):
            # The text itself may be a credential, and an error is logged.
            raise ContentRefusedError(f"The {name} was refused: {', '.join(found)}.")


def draft_evidence(evidence: BeliefEvidence, claim: Claim, now: datetime) -> EvidenceDraft:
    """Return the event of evidence with a strength s: EXPLICIT, with confidence max(0, 2s - 1)."""
    _check_storable(evidence.note)
    strength = formulas.clamp_strength(evidence.strength)
    fields = {
        "polarity": evidence.kind.polarity,
        "confidence": max(0.0, 2 * strength - 1),
        "source_type": "EXPLICIT",
        "strength": strength,
    }
    return draft_event(claim, evidence, EventType.EVIDENCE, now, fields)


def chain_ends(links: Iterable[ChainLink]) -> dict[str, list[str]]:
    """Return the end of the chain for each replaced memory or belief, as sorted ids by id.

    Each link is followed once, so the time is linear in the length of the chain.
    """
    newer: dict[str, set[str]] = {}
    for link in links:
        if link.in_force:
            newer.setdefault(link.older_id, set()).add(link.newer_id)
    order = TopologicalSorter(newer)
    # Only the cache of a damaged graph has a cycle; nodes that lead into one have no end.
    with suppress(CycleError):
        order.prepare()
    ends_by_id: dict[str, list[str]] = {}
    while ready := order.get_ready():
        for node in ready:
            ends = [ends_by_id[newer_id] for newer_id in newer.get(node, ())]
            ends_by_id[node] = sorted(set(chain.from_iterable(ends))) if ends else [node]
        order.done(*ready)
    return {node: ends for node, ends in ends_by_id.items() if node in newer}


def add_chain_ends(
    cards: Iterable[dict[str, Any]], links: Iterable[ChainLink]
) -> Iterator[dict[str, Any]]:
    """Yield the cards of a chain; each superseded one gets the ids of the chain's end."""
    ends = chain_ends(links)
    for card in cards:
        hidden = card["status"] == Status.SUPERSEDED
        yield card | {"head_ids": ends.get(card["id"], []) if hidden else []}


def memory_claims(memory: NewMemory, scope: str) -> list[Claim]:
    """Return the distinct claims of a memory, ordered by id; the first wording of each is kept."""
    all_claims = [
        triple_claim(scope, triple.subject, triple.predicate, triple.object)
        for triple in memory.claims
    ]
    unique = {claim.id: claim for claim in reversed(all_claims)}
    return [unique[claim_id] for claim_id in sorted(unique)]


def claimed_ids(memory: NewMemory, scope: str) -> tuple[str, ...]:
    """Return the ids of the beliefs that a memory is evidence for."""
    return tuple(claim.id for claim in memory_claims(memory, scope))


def mark_lost_claims(memory: Memory, lost: Collection[str]) -> Memory:
    """Return a memory with `lost_ids` set to those of its claims that are in `lost`."""
    if not memory.claim_ids:
        return memory
    return memory.model_copy(
        update={"lost_ids": tuple(claim_id for claim_id in memory.claim_ids if claim_id in lost)}
    )


def predicate_keys(memories: Sequence[NewMemory]) -> list[str]:
    """Return the keys of the predicates in the claims of memories, sorted."""
    return sorted(
        {predicate_key(triple.predicate) for memory in memories for triple in memory.claims}
    )


def claim_rows(
    committed: Sequence[tuple[TextDraft, str]],
    tenant_scope: TenantScope,
    templates: Mapping[str, str],
) -> list[dict[str, Any]]:
    """Return the rows for belief/claim of drafts, each with its memory's id, ordered by belief.

    All batches lock beliefs in this order, so that they wait for each other without deadlock.
    """
    rows = [
        {
            "event": {"id": draft.event_id, "occurred_at": draft.occurred_at},
            "memory_id": memory_id,
            "claim": reword_claim(claim, templates).row(tenant_scope, None),
        }
        for draft, memory_id in committed
        for claim in memory_claims(draft.memory, tenant_scope.scope)
    ]
    return sorted(rows, key=lambda row: row["claim"]["id"])


def check_alias_chain(
    name: tuple[str, str], other: tuple[str, str], canonical: Mapping[str, str]
) -> None:
    """Refuse an alias that would form a chain of aliases.

    Args:
        name: the alias, folded and as written.
        other: the canonical name, likewise.
        canonical: existing aliases: canonical names as written, by folded alias.
    """
    (key, written), (other_key, other_written) = name, other
    if key == other_key:
        raise InvalidInputError(
            f"An alias must differ from its canonical name {written!r}.",
            hint="To remove an alias, call `apart`.",
        )
    if (further := canonical.get(other_key)) is not None:
        raise NameChainError(
            f"{other_written!r} is itself an alias of {further!r}.",
            hint=f"Use {further!r} as the canonical name.",
        )
    aliases = [alias for alias, target in canonical.items() if name_key(target) == key]
    if aliases:
        raise NameChainError(
            f"{written!r} has {len(aliases)} aliases of its own, for example {aliases[0]!r}.",
            hint=f"Make each of them an alias of {other_written!r} first.",
        )
