"""Roles of the speakers of messages: people, and instructions to a model."""

from __future__ import annotations

HUMAN_ROLES = frozenset({"user", "human"})
"""Roles of people. Messages of other roles are not evidence."""
SYSTEM_ROLES = frozenset({"system", "developer"})
"""Roles of instructions to a model, which are aligned apart from the talk."""


def is_human(role: str) -> bool:
    """Return whether a role is that of a person."""
    return role.lower() in HUMAN_ROLES


def is_system(role: str) -> bool:
    """Return whether a role is that of instructions to a model."""
    return role.lower() in SYSTEM_ROLES
