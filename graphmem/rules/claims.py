"""Claims of beliefs: their keys, slots and wording, and the rows of evidence events."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from graphmem.errors import InvalidInputError
from graphmem.model import (
    BeliefEvidence,
    EventSource,
    EventType,
    EvidenceSource,
    Hypothesis,
    Observation,
    Policy,
    TenantScope,
)
from graphmem.rules import drafts, identity

if TYPE_CHECKING:
    from graphmem.rules.duplicates import Vector

WEAKEST, STRONGEST = 0.1, 0.9
"""Bounds of a strength, so that its logarithm is finite."""
_FIELD = re.compile(r"\{(\w*)\}")


def folded(text: str) -> str:
    """Return the key of a name: trimmed, NFC, case-folded. Equal keys mean the same name."""
    return unicodedata.normalize("NFC", identity.normalised(text).casefold())


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

    def row(self, wall: TenantScope, vector: Vector | None) -> dict[str, Any]:
        """Return the map for fragments/merge_belief."""
        return {
            "id": self.id,
            "scope": self.scope,
            "scope_key": identity.scope_key(wall.tenant, self.scope),
            "slot_id": self.slot_id,
            "statement": self.statement,
            "subject": self.subject,
            "predicate": self.predicate,
            "object": self.object,
            "subject_key": self.subject_key,
            "predicate_key": self.predicate_key,
            "object_key": self.object_key,
            "embedding": vector,
        }


def about_triple(
    scope: str, subject: str, predicate: str, object_: str, statement: str | None = None
) -> Claim:
    """Return the claim of a triple, with the given statement or a generated one."""
    keys = folded(subject), folded(predicate), folded(object_)
    return Claim(
        id="b_" + identity.digest(scope, identity.digest(*keys))[:32],
        scope=scope,
        slot_id=slot_id(scope, subject, predicate),
        statement=statement or spoken(None, subject, predicate, object_),
        subject=subject.strip(),
        predicate=predicate.strip(),
        object=object_.strip(),
        subject_key=keys[0],
        predicate_key=keys[1],
        object_key=keys[2],
        worded=statement is not None,
    )


def about_statement(scope: str, statement: str) -> Claim:
    """Return the claim of a free statement, which has a slot of its own."""
    belief_id = "b_" + identity.digest(scope, identity.content_hash(statement))[:32]
    return Claim(
        id=belief_id, scope=scope, slot_id=belief_id, statement=statement.strip(), worded=True
    )


def said_id(claim_id: str, passage_id: str) -> str:
    """Return the id of the evidence of a turn, or an episode without turns, for a claim.

    Each passage is evidence for a belief only once, whichever extractor reads it.
    """
    return "said_" + identity.digest(claim_id, passage_id)[:32]


def stored(row: Mapping[str, Any]) -> Claim:
    """Return the claim of a stored belief."""
    names = ("id", "scope", "slot_id", "statement", "subject", "predicate", "object")
    return Claim(
        **{name: row[name] for name in names},
        subject_key=row["subject_key"],
        predicate_key=row["predicate_key"],
        object_key=row["object_key"],
        worded=True,
    )


def slot_id(scope: str, subject: str, predicate: str) -> str:
    """Return the id of the slot of a subject and a predicate in a scope; unique in a tenant."""
    return slot_of_keys(scope, folded(subject), folded(predicate))


def slot_of_keys(scope: str, subject_key: str, predicate_key: str) -> str:
    """Return the id of a slot from the folded subject and predicate."""
    return "s_" + identity.digest(scope, subject_key, predicate_key)[:32]


def spoken(template: str | None, subject: str, predicate: str, object_: str) -> str:
    """Return the sentence for a triple: from its predicate's template, else its three parts."""
    if template is None:
        return " ".join((subject.strip(), predicate.strip().replace("_", " "), object_.strip()))
    words = {"subject": subject.strip(), "object": object_.strip()}
    return _FIELD.sub(lambda match: words[match[1]], template)


def spoken_as(claim: Claim, templates: Mapping[str, str]) -> Claim:
    """Return the claim with its triple worded by its predicate's template."""
    template = templates.get(claim.predicate_key or "")
    if claim.worded or template is None:
        return claim
    parts = str(claim.subject), str(claim.predicate), str(claim.object)
    return replace(claim, statement=spoken(template, *parts))


def weights_key(weights: Mapping[str, float]) -> str:
    """Return a digest of a set of source weights, which identifies them in a checkpoint."""
    return identity.digest(*(f"{name}={weights[name]!r}" for name in sorted(weights)))[:32]


def checked_template(template: str) -> str:
    """Return the template if it is valid.

    Raises:
        InvalidInputError: `subject` or `object` is missing, or there is another field.
    """
    if set(_FIELD.findall(template)) != {"subject", "object"}:
        raise InvalidInputError(
            "template must contain {subject} and {object}, and no other field in braces.",
            hint="For example: '{subject} lives in {object}'.",
        )
    return template


def clamped(strength: float) -> float:
    """Return a strength clamped to [0.1, 0.9], as used by the sequential test."""
    return min(max(strength, WEAKEST), STRONGEST)


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

    def spoken_as(self, templates: Mapping[str, str]) -> EvidenceDraft:
        """Return the draft with its triple worded by its predicate's template."""
        return replace(self, claim=spoken_as(self.claim, templates))

    @property
    def looks_after(self) -> bool:
        """Whether this write also updates the slot's checkpoint: one event of 256."""
        return self.claim.subject_key is not None and identity.digest(self.event_id)[:2] == "00"

    def row(self, wall: TenantScope, vector: Vector | None) -> dict[str, Any]:
        """Return the row for belief/append."""
        return {
            "id": self.event_id,
            "looks_after": self.looks_after,
            "scope": self.claim.scope,
            "type": self.type,
            "occurred_at": self.occurred_at,
            "request_hash": self.request_hash,
            **origin(self.given),
            "episode_id": self.given.episode,
            "turn_id": self.given.turn,
            "payload": json.dumps(dict(self.payload), ensure_ascii=False),
            **self.fields,
            "claim": self.claim.row(wall, vector),
        }


def origin(given: EventSource) -> dict[str, Any]:
    """Return the origin of an event as properties."""
    return {name: getattr(given, name) for name in ("source", "actor", "artifact_ref")}


def stated(given: EventSource) -> list[str | datetime | None]:
    """Return all fields of an event's origin as given, for the hash of the request."""
    return [getattr(given, name, None) for name in EvidenceSource.model_fields if name != "id"]


def draft(
    claim: Claim,
    given: EvidenceSource,
    kind: EventType,
    now: datetime,
    fields: Mapping[str, Any],
    wording: str | None = None,
) -> EvidenceDraft:
    """Return an event about a claim with its id and its request hash, which includes `wording`.

    Raises:
        InvalidInputError: `at` is in the future.
    """
    payload = {"belief_id": claim.id} | ({"note": given.note} if given.note else {})
    return EvidenceDraft(
        event_id=given.id or identity.event_id(now),
        claim=claim,
        given=given,
        type=kind,
        occurred_at=drafts.happened(given.at, now),
        request_hash=drafts.request_hash(
            kind, claim.id, *(str(fields[name]) for name in sorted(fields)), wording, *stated(given)
        ),
        fields=fields,
        payload=payload,
    )


def observed(observation: Observation, scope: str, now: datetime) -> EvidenceDraft:
    """Return the event of an observation.

    Raises:
        InvalidInputError: `at` is in the future.
    """
    claim = about_triple(scope, observation.subject, observation.predicate, observation.object)
    fields = {
        "polarity": observation.kind.polarity,
        "confidence": observation.confidence,
        "source_type": observation.source_type,
    }
    return draft(claim, observation, EventType.EVIDENCE, now, fields)


def hypothesised(hypothesis: Hypothesis, scope: str, now: datetime) -> EvidenceDraft:
    """Return the event of a hypothesis.

    Raises:
        InvalidInputError: `at` is in the future.
    """
    if (
        hypothesis.subject is not None
        and hypothesis.predicate is not None
        and hypothesis.object is not None
    ):
        parts = hypothesis.subject, hypothesis.predicate, hypothesis.object
        claim = about_triple(scope, *parts, hypothesis.statement)
    else:
        claim = about_statement(scope, str(hypothesis.statement))
    fields = {"confidence": hypothesis.confidence}
    return draft(claim, hypothesis, EventType.BELIEVE, now, fields, hypothesis.statement)


def testified(given: BeliefEvidence, claim: Claim, now: datetime) -> EvidenceDraft:
    """Return the event of evidence with a strength s: EXPLICIT, with confidence max(0, 2s - 1).

    Raises:
        InvalidInputError: `at` is in the future.
    """
    strength = clamped(given.strength)
    fields = {
        "polarity": given.kind.polarity,
        "confidence": max(0.0, 2 * strength - 1),
        "source_type": "EXPLICIT",
        "strength": strength,
    }
    return draft(claim, given, EventType.EVIDENCE, now, fields)


def policy_fields(policy: Policy) -> dict[str, Any]:
    """Return a policy as event or query properties; no decay becomes an infinite tau."""
    return {
        "cardinality": policy.cardinality,
        "kappa": policy.kappa,
        "tau_days": math.inf if policy.tau_days is None else policy.tau_days,
        "decay_per_day": policy.decay_per_day,
        "margin": policy.margin,
        "combine": policy.combine,
    }


def policy_of(fields: Mapping[str, Any]) -> Policy:
    """Return the policy in event or query properties."""
    names = ("cardinality", "kappa", "decay_per_day", "margin", "combine")
    tau = fields["tau_days"]
    return Policy(
        **{name: fields[name] for name in names}, tau_days=None if math.isinf(tau) else tau
    )
