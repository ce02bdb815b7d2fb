"""The person who reads a page: scopes, rights, and the form token of the session."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from graphmem.client.handle import AsyncHandle
from graphmem.errors import InvalidInputError
from graphmem.model import AsOf, Origin

SOURCE = "explorer"
"""Source of the events that corrections write."""
RANKED = 1_000
"""Number of values above which a slot is not ranked in a list."""
MAX_TEXT = 2_000
"""Characters of what is right, and of a reason: they are part of an address."""


class MissingRightError(Exception):
    """The key of the reader does not grant a right, or all scopes, which a page needs."""

    def __init__(self, right: str | None) -> None:
        text = "Your key does not grant all scopes of the tenant, which this needs."
        super().__init__(
            text if right is None else f"Your key lacks the right {right}, which this needs."
        )


@dataclass(frozen=True)
class Reader:
    """A reader's rights, and the handle on the scopes."""

    handle: AsyncHandle
    """Handle for writes."""
    rights: Collection[str]
    scopes: Sequence[str]
    """Granted scopes and prefixes."""
    scope: str
    """Scope that writes go to."""
    name: str
    """Name of the key, which becomes the actor of a correction."""
    secret: bytes
    """Secret of the session, which signs its forms."""
    tenant: str
    covers_tenant: bool
    """Whether the key grants all scopes of the tenant."""

    @property
    def reads(self) -> AsyncHandle:
        """Return a handle whose reads are not logged: looking is not use."""
        return self.handle.session(SOURCE, logged=False)

    def need(self, *rights: str) -> None:
        """Check that the key grants rights.

        Raises:
            MissingRightError: it does not grant one of them.
        """
        for right in rights:
            if right not in self.rights:
                raise MissingRightError(right)

    def sign(self, text: str) -> str:
        """Return the signature of a text, which only this session's pages contain."""
        return hmac.new(self.secret, text.encode(), hashlib.sha256).hexdigest()

    def signed(self, text: str, signature: str) -> bool:
        """Return whether a text was signed by this session."""
        return hmac.compare_digest(self.sign(text).encode(), signature.encode())

    def need_tenant(self) -> None:
        """Check that the key grants all scopes of the tenant.

        Raises:
            MissingRightError: it does not.
        """
        if not self.covers_tenant:
            raise MissingRightError(None)

    def origin(self, event_id: str | None = None, note: str | None = None) -> Origin:
        """Return the origin of an event that this reader writes."""
        return Origin(event_id=event_id, source=SOURCE, actor=self.name, note=note)


@dataclass(frozen=True)
class Asked:
    """Parameters of the address of a page."""

    given: Mapping[str, str]

    def text(self, name: str) -> str:
        """Return a parameter; empty if it is missing."""
        return self.given.get(name, "").strip()

    def short(self, name: str) -> str:
        """Return a parameter that a person typed.

        Raises:
            InvalidInputError: it is too long.
        """
        text = self.text(name)
        if len(text) > MAX_TEXT:
            raise InvalidInputError(f"{name}: must have at most {MAX_TEXT:,} characters.")
        return text

    def day(self, name: str) -> datetime | None:
        """Return the last instant of a day; None if none is given, or if it is not over.

        Raises:
            InvalidInputError: the parameter is not a date.
        """
        text = self.text(name)
        if not text:
            return None
        try:
            end = datetime.fromisoformat(text[:10]).replace(tzinfo=UTC) + timedelta(days=1)
        except (ValueError, OverflowError):
            raise InvalidInputError(f"{name}: must be a date such as 2026-03-01.") from None
        return None if end > datetime.now(UTC) else end - timedelta(microseconds=1)

    @property
    def as_of(self) -> AsOf:
        """Return the valid and known time of the read; now by default."""
        return AsOf(valid=self.day("valid"), known=self.day("known"))
