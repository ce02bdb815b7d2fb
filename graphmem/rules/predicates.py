"""Cardinality of undeclared predicates, and the nearest predicates to a misspelled one."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from difflib import SequenceMatcher
from typing import Any

from graphmem.errors import CardinalityConflictError, InvalidInputError
from graphmem.model import Cardinality, EventSource, EventType, Policy, Trust
from graphmem.rules import claims, identity, trust
from graphmem.rules.claims import EvidenceDraft

SINGLE_VALUED = frozenset(
    {
        *("lives_in", "resides_in", "located_in", "location", "address", "home_address"),
        *("home_city", "home_town", "hometown", "born_in", "birthplace", "capital", "time_zone"),
        *("timezone", "works_at", "works_for", "works_as", "employer", "employed_by", "company"),
        *("job", "job_title", "profession", "occupation", "salary", "manager", "reports_to"),
        *("ceo", "head_of_state", "head_of_government", "status", "state", "phase", "stage"),
        *("priority", "severity", "assignee", "assigned_to", "owner", "owned_by", "name"),
        *("full_name", "first_name", "last_name", "username", "email", "email_address", "phone"),
        *("phone_number", "birthday", "birth_date", "date_of_birth", "born_on", "age", "height"),
        *("weight", "gender", "marital_status", "married_to", "spouse", "deploys_from"),
        *("deploys_to", "hosted_on", "default_branch", "version", "current_version"),
        *("latest_version", "price", "cost", "budget", "limit", "deadline", "due_date"),
        *("start_date", "end_date", "population"),
    }
)
"""Keys of the predicates that have one value at a time unless a tenant declares otherwise."""
MAX_NEAREST = 3
"""Maximum number of predicates that a miss names."""
MIN_LIKENESS = 0.6


def policy_fields(policy: Policy) -> dict[str, Any]:
    """Return a policy as event or query properties; no decay becomes an infinite tau."""
    tau_days = math.inf if policy.tau_days is None else policy.tau_days
    return policy.model_dump() | {"tau_days": tau_days}


DEFAULT_POLICY = policy_fields(Policy()) | {"single_valued": sorted(SINGLE_VALUED)}
"""Policy of undeclared predicates, as a query parameter."""


def parse_policy(fields: Mapping[str, Any]) -> Policy:
    """Return the policy in event or query properties."""
    known = {name: fields[name] for name in Policy.model_fields}
    return Policy(
        **known | {"tau_days": None if math.isinf(known["tau_days"]) else known["tau_days"]}
    )


def check_template(template: str) -> str:
    """Return the template if it is valid."""
    if set(claims.FIELD.findall(template)) != {"subject", "object"}:
        raise InvalidInputError(
            "template must contain {subject} and {object}, and no other field in braces.",
            hint="For example: '{subject} lives in {object}'.",
        )
    return template


def nearest(predicate: str, known: Iterable[str]) -> tuple[str, ...]:
    """Return the names most like a predicate, the most alike first."""
    wanted = claims.predicate_key(predicate)
    return _most_alike({name: _likeness(wanted, claims.predicate_key(name)) for name in known})


def nearest_subjects(subject: str, known: Iterable[str]) -> tuple[str, ...]:
    """Return the subjects most like one, the most alike first; all of them if none is and few are.

    A reader asks for "user" where the facts are about a speaker with a name.
    """
    wanted = claims.name_key(subject).replace(" ", "_")
    likeness = {name: _likeness(wanted, claims.name_key(name).replace(" ", "_")) for name in known}
    few = tuple(likeness) if len(likeness) <= MAX_NEAREST else ()
    return _most_alike(likeness) or few


def _most_alike(likeness: Mapping[str, float]) -> tuple[str, ...]:
    alike = sorted((name for name in likeness if likeness[name] >= MIN_LIKENESS), key=str)
    return tuple(sorted(alike, key=lambda name: -likeness[name])[:MAX_NEAREST])


def _likeness(first: str, second: str) -> float:
    """Return how much two keys are alike, in [0, 1]: by their letters, or by whole words."""
    words = set(first.split("_")), set(second.split("_"))
    shared = len(words[0] & words[1]) / min(len(words[0]), len(words[1]))
    return max(SequenceMatcher(None, first, second).ratio(), shared)


def wanted_cardinalities(batch: Iterable[EvidenceDraft]) -> dict[str, Cardinality]:
    """Return the cardinalities given with observations, by predicate key."""
    wanted: dict[str, Cardinality] = {}
    for draft in batch:
        key = draft.claim.predicate_key
        if key is None or draft.cardinality is None:
            continue
        if wanted.setdefault(key, draft.cardinality) is not draft.cardinality:
            raise CardinalityConflictError(
                f"cardinality: {key!r} is given as ONE and as MANY.",
                hint="Give the same cardinality with every observation of a predicate.",
            )
    return wanted


def check_cardinalities(
    wanted: Mapping[str, Cardinality], declared: Iterable[Mapping[str, Any]]
) -> list[str]:
    """Return the keys of `wanted` that have no declaration and need one.

    A predicate that is in use has the built-in or the default cardinality, which only a person
    changes: `declared` names it as used if the writer is another.

    Args:
        declared: rows of predicate/find_declared.
    """
    rows = {row["key"]: row for row in declared}
    missing = []
    for key, cardinality in wanted.items():
        row = rows.get(key)
        if row is None:
            missing.append(key)
            continue
        known = row["cardinality"] or assumed(key)
        if known != cardinality:
            state = "was declared" if row["cardinality"] else "is in use as"
            raise CardinalityConflictError(
                f"cardinality: {key!r} {state} {known}, not {cardinality}.",
                hint=f"Give {known}. A person changes it with `predicates.declare`.",
            )
    return missing


def assumed(key: str) -> Cardinality:
    """Return the cardinality of an undeclared predicate."""
    return Cardinality.ONE if key in SINGLE_VALUED else Policy().cardinality


@dataclass(frozen=True, slots=True)
class PolicyDraft:
    """Declaration of a predicate, as written."""

    name: str
    policy: Policy
    template: str | None = None
    valid_from: datetime | None = None


def declaration(
    draft: PolicyDraft, given: EventSource, now: datetime, *, scope: str, writer: Trust
) -> dict[str, Any]:
    """Return the parameters of predicate/declare, for a declaration in a scope."""
    fields = policy_fields(draft.policy)
    start = None if draft.valid_from is None else draft.valid_from.isoformat()
    checked = None if draft.template is None else check_template(draft.template)
    key = claims.predicate_key(draft.name)
    values = (*(str(value) for value in fields.values()), checked, start)
    written = {"predicate": draft.name, "template": checked, "note": given.note}
    kind = EventType.POLICY
    row = claims.source_event(given, scope, kind, now, (kind, scope, key, *values), written)
    return {
        "id": identity.declared_id("Predicate", scope, key),
        "key": key,
        "name": draft.name.strip(),
        "template": checked,
        "known": None,
        "event": {**row, **fields, "valid_from": draft.valid_from, "trust": trust.rank(writer)},
    }


def first_declaration(draft: EvidenceDraft, now: datetime, writer: Trust) -> dict[str, Any]:
    """Return the parameters of predicate/declare for the cardinality given with an observation."""
    given = draft.given
    source = EventSource(source=given.source, actor=given.actor, artifact_ref=given.artifact_ref)
    policy = Policy(cardinality=draft.cardinality or Cardinality.MANY)
    first = PolicyDraft(str(draft.claim.predicate), policy)
    return declaration(first, source, now, scope=draft.claim.scope, writer=writer)
