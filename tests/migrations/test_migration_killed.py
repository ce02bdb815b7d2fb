"""A migration that dies at any statement: the next one finishes it, and the data are as before."""

from __future__ import annotations

import signal
import sys
from typing import Any

import pytest

from graphmem import GraphMem
from graphmem.client import connect
from graphmem.errors import MigrationLockedError, MigrationPendingError
from graphmem.graph import catalog
from graphmem.ports import Query, run_now
from graphmem.schema import migration
from graphmem.settings import Settings
from graphmem.testing import FrozenClock, HashEmbedder
from tests.migrations.conftest import Blank
from tests.migrations.test_migration_laws import NAMES, recorded
from tests.plugins import children
from tests.plugins.everything import write_everything
from tests.plugins.faults import Through
from tests.plugins.graph import Look

TENANT = "acme"


class Stopping(Through):
    """Stops before or after a schema statement, until it is killed."""

    def __init__(self, inner: Any, nth: int, *, late: bool) -> None:
        super().__init__(inner)
        self.left = nth
        self.late = late

    async def schema(self, query: Query[Any], /, **params: object) -> list[Any]:
        self.left -= 1
        self.stop(late=False)
        rows = list(await self.inner.schema(query, **params))
        self.stop(late=True)
        return rows

    def stop(self, *, late: bool) -> None:
        if self.left == 0 and self.late is late:
            print("stopped", flush=True)
            sys.stdin.readline()


def migrate_until(nth: str, late: str) -> None:
    """Migrate in this process up to a statement."""
    settings = Settings.load()
    address = connect.address(settings, connect.silent)
    services = connect.open_services(settings, address, connect.silent, HashEmbedder())
    object.__setattr__(services, "graph", Stopping(services.graph, int(nth), late=late == "late"))
    run_now(migration.migrate(services))
    print("finished", flush=True)


CHILD = """
import sys
from tests.migrations.test_migration_killed import migrate_until
migrate_until(*sys.argv[1:])
"""


def killed(settings: Settings, nth: int, late: str) -> str:
    """Start a migration, kill it at a statement, and return the last that it printed."""
    given = (str(nth), late)
    with children.running(CHILD, *given, settings=settings, tenant=TENANT) as child:
        assert child.stdout is not None
        heard = child.stdout.readline()
        child.send_signal(signal.SIGKILL)
    return heard.strip()


@pytest.mark.system
@pytest.mark.timeout(900)
@pytest.mark.parametrize("late", ["early", "late"])
def test_a_killed_migration_is_finished_by_the_next(current: Blank, late: str) -> None:
    at = current.address
    settings = Settings.load({}, uri=at.uri, user=at.user, password=at.password)
    with GraphMem.open(settings=settings, embedder=HashEmbedder(), tenant=TENANT) as client:
        write_everything(client)
    look = Look(current.driver)
    graph, schema = look.graph(TENANT), current.schema()
    statements = sum(len(m.statements) for m in catalog.migrations())
    for nth in range(3, statements, 9):
        # As an upgrade from a version of which all is to be applied again.
        current.run("MATCH (m:Migration) DETACH DELETE m")
        assert killed(settings, nth, late) == "stopped"
        with pytest.raises(MigrationPendingError):
            run_now(migration.checked(current.world()))
        # The lease of a process that died stays until it ends.
        with pytest.raises(MigrationLockedError):
            current.migrate(clock=FrozenClock())
        current.run("MATCH (l:MigrationLock) SET l.expires_at = datetime('2020-01-01')")
        assert current.migrate()
        assert recorded(current) == list(NAMES)
        assert current.schema() == schema
        assert current.drift() == ()
        assert look.graph(TENANT) == graph
    assert killed(settings, 10 * statements, late) == "finished"
