"""What a text asserts: the beliefs that it is evidence for, and the rows that make it so."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from graphmem.model import Memory, NewMemory, TenantScope
from graphmem.rules import claims
from graphmem.rules.claims import Claim
from graphmem.rules.drafts import TextDraft


def asserted(wish: NewMemory, scope: str) -> list[Claim]:
    """Return the claims of a text in the order of their ids, each once, as it is said first."""
    found = [
        claims.about_triple(scope, said.subject, said.predicate, said.object)
        for said in wish.claims
    ]
    unique = {claim.id: claim for claim in reversed(found)}
    return [unique[claim_id] for claim_id in sorted(unique)]


def belief_ids(wish: NewMemory, scope: str) -> tuple[str, ...]:
    """Return the ids of the beliefs that a text is evidence for."""
    return tuple(claim.id for claim in asserted(wish, scope))


def judged(memory: Memory, lost: Collection[str]) -> Memory:
    """Return a memory that says which of its claims are among those that have lost."""
    if not memory.claim_ids:
        return memory
    return memory.model_copy(
        update={"lost_ids": tuple(one for one in memory.claim_ids if one in lost)}
    )


def predicates(wishes: Sequence[NewMemory]) -> list[str]:
    """Return the keys of the predicates that texts use."""
    return sorted({claims.folded(said.predicate) for wish in wishes for said in wish.claims})


def rows(
    committed: Sequence[tuple[TextDraft, str]], wall: TenantScope, templates: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Return the rows for belief/claim, in the order of the beliefs.

    In one order everywhere, two batches wait for each other and never in a ring.

    Args:
        committed: texts, each with the id of its memory.
        wall: whose, and the scope of the beliefs.
        templates: by predicate, how it is read aloud.
    """
    found = [
        {
            "event": {"id": draft.event_id, "occurred_at": draft.occurred_at},
            "memory_id": memory_id,
            "claim": _worded(claim, templates).row(wall, None),
        }
        for draft, memory_id in committed
        for claim in asserted(draft.wish, wall.scope)
    ]
    return sorted(found, key=lambda row: row["claim"]["id"])


def _worded(claim: Claim, templates: Mapping[str, str]) -> Claim:
    template = templates.get(str(claim.predicate_key))
    parts = str(claim.subject), str(claim.predicate), str(claim.object)
    return replace(claim, statement=claims.spoken(template, *parts))
