"""How evidence is asked about: by which times, which policy, which weights and which test."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from graphmem.model import AsOf, Policy, TenantScope
from graphmem.rules import claims, sequential
from graphmem.settings import Settings


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """By which times and which policy evidence is read."""

    as_of: AsOf = field(default_factory=AsOf)
    policy: Policy | None = None
    """None: as declared."""
    present_policy: bool = False
    """Read by the policy declared by now, and not by that of the time asked about."""


def params(by: ReadOptions, wall: TenantScope, settings: Settings, now: datetime) -> dict[str, Any]:
    """Return what every query that reads beliefs is given.

    Args:
        by: times and policy.
        wall: whose beliefs, and which a reader may see.
        settings: the weights of source types.
        now: the valid time, unless one is asked for.
    """
    return {
        "tenant": wall.tenant,
        "scopes": list(wall.scopes),
        "valid": by.as_of.valid or now,
        "known": by.as_of.known,
        "policy": None if by.policy is None else claims.policy_fields(by.policy),
        "present_policy": by.present_policy,
        "default_policy": claims.policy_fields(Policy()),
        "weights": dict(settings.source_weights),
    }


def bounds(settings: Settings) -> sequential.SprtParameters:
    """Return the bounds of the sequential test that a deployment has chosen."""
    return sequential.SprtParameters(
        alpha=settings.alpha,
        beta=settings.beta,
        promote_step=settings.promote_step,
        demote_step=settings.demote_step,
        most=settings.most_confidence,
        least=settings.least_confidence,
    )


def sent(bounds: sequential.SprtParameters) -> dict[str, float]:
    """Return the bounds of the test as a query is given them."""
    names = ("upper", "lower", "promote_step", "demote_step", "most", "least")
    return {name: getattr(bounds, name) for name in names}
