"""One language for the status of values, on every page: a mark, a word and a colour."""

from __future__ import annotations

from typing import Literal, TypeAlias

from graphmem.model import Belief, BeliefReasons, Candidate, Cardinality, Slot, Status
from graphmem.model.recall import AnyBite, BeliefBite, MemoryBite

Standing: TypeAlias = Literal["current", "outdated", "disputed", "rejected"]
MARKS: dict[Standing, str] = {"current": "●", "outdated": "○", "disputed": "◐", "rejected": "✕"}


def of_status(status: str) -> Standing:
    """Return the standing of a memory or a belief by its stored status."""
    if status == Status.REJECTED:
        return "rejected"
    return "current" if status == Status.CURRENT else "outdated"


def of_belief(found: Belief, *, ambiguous: bool = False, leads: bool = True) -> Standing:
    """Return the standing of a belief.

    Args:
        found: the belief.
        ambiguous: whether another value of its slot is as likely.
        leads: whether no other value leads its slot.
    """
    standing = of_status(found.status)
    if standing != "current":
        return standing
    if ambiguous or found.contested or found.verdict.revise_due:
        return "disputed"
    return "current" if leads else "outdated"


def of_reasons(found: BeliefReasons) -> Standing:
    """Return the standing of an explained belief."""
    result = found.competition
    leads = result is None or result.leader_id == found.belief.id
    return of_belief(found.belief, ambiguous=result is not None and result.ambiguous, leads=leads)


def of_candidate(found: Candidate, slot: Slot) -> Standing:
    """Return the standing of a value among the candidates of its slot."""
    standing = of_status(found.status)
    if standing != "current":
        return standing
    if found.ambiguous or found.contested:
        return "disputed"
    if slot.cardinality is Cardinality.MANY:
        return "current" if found.last_at is not None and found.belief > 0 else "outdated"
    leader = slot.leader
    return "current" if leader is not None and leader.belief_id == found.belief_id else "outdated"


def of_bite(bite: AnyBite) -> Standing:
    """Return the standing of a recalled item."""
    if isinstance(bite, BeliefBite):
        leads = not bite.lost and bite.outdated_by is None
        return of_belief(bite.belief, ambiguous=bite.ambiguous, leads=leads)
    if bite.outdated_by is not None:
        return "outdated"
    return of_status(bite.memory.status) if isinstance(bite, MemoryBite) else "current"
