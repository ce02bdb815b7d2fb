"""The lease of a migration: one process migrates a graph, and another takes over if it dies."""

from __future__ import annotations

import os
import platform
import secrets
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from graphmem.errors import MigrationLockedError
from graphmem.graph import catalog
from graphmem.ports import Row, Services

LEASE_S = 45
"""Duration of the lease, seconds. A process that died blocks the next one for no longer."""
RENEW_S = 10
"""Minimum time between renewals, seconds."""
WAIT_S = 60
"""Maximum wait for another process, seconds: longer than the lease of one that died."""
POLL_S = 0.25
NEVER = datetime.min.replace(tzinfo=UTC)

LOCK = catalog.query("schema/lock", dict)
UNLOCK = catalog.query("schema/unlock", catalog.ignored)


class LeaseTakenOverError(Exception):
    """The lease ran out, and another process acquired it; acquire it again and start over."""


@dataclass(slots=True)
class MigrationLease:
    """The right of this process to migrate a graph."""

    services: Services
    owner: str = field(
        default_factory=lambda: (
            f"{platform.node() or 'unknown host'}, process {os.getpid()} ({secrets.token_hex(4)})"
        )
    )
    """Name of this process; other processes show it while they wait."""
    _since: datetime | None = None
    _renewed_at: datetime = NEVER

    async def acquire(self) -> None:
        """Acquire the lease; wait for another process if necessary."""
        found = await self._ask()
        if found["owner"] != self.owner:
            self.services.report(f"waiting for another migration: {_shown(found)}")
        attempts = int(WAIT_S / POLL_S)
        while found["owner"] != self.owner:
            if attempts == 0:
                raise MigrationLockedError(f"Another migration is running: {_shown(found)}.")
            attempts -= 1
            await self.services.clock.sleep(POLL_S)
            found = await self._ask()
        self._since = found["since"]

    async def renew(self) -> None:
        """Extend the lease, unless that was done a moment ago; call this before each statement."""
        elapsed = self.services.clock.now() - self._renewed_at
        if timedelta() <= elapsed < timedelta(seconds=RENEW_S):
            return
        found = await self._ask()
        # The other process may have finished already, which leaves the lease free.
        if (found["owner"], found["since"]) != (self.owner, self._since):
            raise LeaseTakenOverError

    async def release(self) -> None:
        """Release the lease if this process still holds it."""
        await self.services.fetch(UNLOCK, owner=self.owner)

    async def _ask(self) -> Row:
        self._renewed_at = self.services.clock.now()
        [found] = await self.services.fetch(LOCK, owner=self.owner, seconds=LEASE_S)
        return found


def _shown(found: Row) -> str:
    since, until = _time(found["since"]), _time(found["expires_at"])
    return f"{found['owner']} holds the lease since {since} until {until}"


def _time(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S} UTC"
