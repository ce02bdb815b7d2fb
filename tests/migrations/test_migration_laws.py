"""The laws of migrations/README.md, on a server without a schema."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, LiteralString

import pytest

from graphmem.errors import (
    CatalogError,
    MigrationChangedError,
    MigrationLockedError,
    MigrationPendingError,
    ModelMismatchError,
)
from graphmem.graph import catalog
from graphmem.io_modes import BLOCKING, SystemClock
from graphmem.ports import Query, run_now
from graphmem.schema import lease, migration
from graphmem.testing import FrozenClock, HashEmbedder
from tests.migrations.conftest import Blank
from tests.plugins.faults import Breaking, LostError, Through

Use = Callable[[dict[str, str]], None]
NAMES = tuple(m.name for m in catalog.migrations())
KEYS = """// Keys.
// mode: schema

CREATE CONSTRAINT a_unique IF NOT EXISTS
FOR (n:A) REQUIRE n.k IS UNIQUE;
"""
MORE = """// More.
// mode: schema

CREATE INDEX a_seen_range IF NOT EXISTS
FOR (n:A) ON (n.seen);
"""
DATA = """// Data.
// mode: write

MERGE (n:A {k: 'x;y // z'})
  SET n.seen = true;
MERGE (n:A {k: 2});
"""


def recorded(blank: Blank) -> list[str]:
    rows = blank.run("MATCH (m:Migration) RETURN m.name AS name ORDER BY m.number")
    return [row["name"] for row in rows]


def test_an_empty_server_and_all_files_make_the_declared_schema(blank: Blank) -> None:
    assert blank.migrate() == NAMES
    assert blank.drift() == ()
    assert recorded(blank) == list(NAMES)
    chain = blank.run(
        "MATCH p = (:Migration {number: 1})-[:FOLLOWED_BY*]->(m) RETURN m.number AS n"
    )
    assert [row["n"] for row in chain] == list(range(2, len(NAMES) + 1))


def test_migrating_twice_changes_nothing(current: Blank) -> None:
    before = (
        current.schema(),
        current.run("MATCH (m:Migration) RETURN properties(m) ORDER BY m.number"),
    )
    assert current.migrate() == ()
    after = (
        current.schema(),
        current.run("MATCH (m:Migration) RETURN properties(m) ORDER BY m.number"),
    )
    assert after == before


def test_every_file_can_be_applied_twice(current: Blank) -> None:
    before = current.schema()
    # As after a crash between the schema change and the record of it.
    current.run("MATCH (m:Migration) DETACH DELETE m")
    assert current.migrate() == NAMES
    assert current.schema() == before
    assert recorded(current) == list(NAMES)


def test_a_migration_that_stops_half_way_is_finished_by_the_next(current: Blank) -> None:
    whole = current.schema()
    name = "0001_schema_keys"
    current.run("DROP CONSTRAINT tombstone_key_unique")
    current.run("MATCH (m:Migration {name: $name}) DETACH DELETE m", name=name)
    with pytest.raises(MigrationPendingError, match=f"1 of {len(NAMES)}"):
        run_now(migration.checked(current.world()))
    assert current.migrate() == (name,)
    assert current.schema() == whole


def test_a_graph_of_another_baseline_is_refused(blank: Blank, migrations_folder: Use) -> None:
    migrations_folder({"0001_schema_keys.cypher": KEYS, "0002_data_seen.cypher": DATA})
    blank.migrate()
    migrations_folder({"0001_schema_keys.cypher": KEYS.replace("n.k", "n.other")})
    before = blank.schema()
    for attempt in (migration.migrate, migration.checked, migration.migrate_if_due):
        with pytest.raises(MigrationChangedError, match="0001_schema_keys") as refused:
            run_now(attempt(blank.world()))
        assert refused.value.code == "migration_changed"
        assert "Export the tenants with the build that wrote the graph" in refused.value.hint
        assert "start with an empty graph" in refused.value.hint
    assert blank.schema() == before


def test_a_migration_of_a_newer_version_is_refused_by_name(current: Blank) -> None:
    current.run(
        "CREATE (:Migration {number: 9999, name: '9999_data_later', sha256: 'x', "
        "applied_at: datetime('2030-01-01T00:00:00Z')})"
    )
    with pytest.raises(MigrationChangedError, match="9999_data_later"):
        current.migrate()
    with pytest.raises(MigrationChangedError, match="9999_data_later"):
        run_now(migration.checked(current.world()))


def test_a_refused_migration_gives_the_lock_back(current: Blank) -> None:
    current.run("MATCH (m:Migration {number: 1}) SET m.sha256 = 'other'")
    with pytest.raises(MigrationChangedError):
        current.migrate()
    assert current.run("MATCH (l:MigrationLock) RETURN l.owner AS owner") == [{"owner": None}]


def test_a_release_adds_a_schema_and_a_data_file(blank: Blank, migrations_folder: Use) -> None:
    first = {"0001_schema_keys.cypher": KEYS}
    later = {"0002_schema_more.cypher": MORE, "0003_data_seen.cypher": DATA}
    migrations_folder(first)
    assert blank.migrate() == ("0001_schema_keys",)
    migrations_folder(first | later)
    with pytest.raises(MigrationPendingError, match="2 of 3"):
        run_now(migration.checked(blank.world()))
    services = blank.world()
    cut: Any = Breaking(services.graph, 3)
    with pytest.raises(LostError):
        run_now(migration.migrate(replace(services, graph=cut)))
    assert recorded(blank) == ["0001_schema_keys", "0002_schema_more"]
    assert blank.migrate() == ("0003_data_seen",)
    rows = blank.run("MATCH (n:A) RETURN n.k AS k, n.seen AS seen ORDER BY n.seen")
    assert rows == [{"k": "x;y // z", "seen": True}, {"k": 2, "seen": None}]
    assert "a_seen_range" in {row["name"] for row in blank.schema()}
    # An older version knows no second and third file.
    migrations_folder(first)
    with pytest.raises(MigrationChangedError, match="0002_schema_more is unknown") as refused:
        blank.migrate()
    assert "or a newer one" in refused.value.hint


def test_several_at_once_all_succeed_and_each_file_is_recorded_once(blank: Blank) -> None:
    start = threading.Barrier(4)
    # Real waiting: each holds the lock for as long as it needs.
    worlds = [blank.world(clock=SystemClock(BLOCKING)) for _ in range(4)]

    def one(at: int) -> tuple[str, ...]:
        start.wait()
        return run_now(migration.migrate(worlds[at]))

    with ThreadPoolExecutor(4) as pool:
        applied = list(pool.map(one, range(4)))
    assert sorted(applied) == [(), (), (), NAMES]
    assert recorded(blank) == list(NAMES)
    assert blank.drift() == ()
    assert blank.run("MATCH (e:EmbeddingModel) RETURN count(*) AS n") == [{"n": 1}]


def held(blank: Blank, expires_at: str) -> None:
    blank.run(
        "CREATE (:MigrationLock {key: 'migration', owner: 'other', "
        "since: datetime('2026-05-01T08:00:00Z'), expires_at: datetime($expires_at)})",
        expires_at=expires_at,
    )


def test_a_held_lease_is_waited_for_and_then_refused_with_its_holder(blank: Blank) -> None:
    held(blank, "2999-01-01T00:00:00Z")
    begin = datetime(2026, 1, 1, tzinfo=UTC)
    clock = FrozenClock(begin)
    with pytest.raises(MigrationLockedError) as refused:
        blank.migrate(clock=clock)
    assert (clock.now() - begin).total_seconds() == lease.WAIT_S > lease.LEASE_S
    # A lease that ends too late is shortened: the clock was set back since.
    holder = "other holds the lease since 2026-05-01 08:00:00 UTC until "
    assert holder in refused.value.message
    assert "2999" not in refused.value.message
    assert holder in blank.told[0]
    assert "graphmem admin migrate" in refused.value.hint
    assert recorded(blank) == []
    assert blank.run("MATCH (l:MigrationLock) RETURN l.owner AS owner") == [{"owner": "other"}]


def test_a_lock_given_back_meanwhile_is_taken(blank: Blank) -> None:
    held(blank, "2999-01-01T00:00:00Z")

    class Releasing(FrozenClock):
        async def sleep(self, seconds: float) -> None:
            blank.run("MATCH (l:MigrationLock) REMOVE l.owner, l.since, l.expires_at")
            await super().sleep(seconds)

    assert blank.migrate(clock=Releasing()) == NAMES


def test_the_lock_of_a_crashed_owner_expires(blank: Blank) -> None:
    held(blank, "2020-01-01T00:00:00Z")
    assert blank.migrate() == NAMES
    assert blank.run("MATCH (l:MigrationLock) RETURN l.owner AS owner") == [{"owner": None}]


class Interrupted(Through):
    """Runs a query before the second statement of each migration; a minute passes with each."""

    def __init__(self, blank: Blank, query: LiteralString) -> None:
        self.clock = FrozenClock()
        self.services = blank.world(clock=self.clock)
        super().__init__(self.services.graph)
        self.blank = blank
        self.query: LiteralString | None = query
        self.seen: list[bool] = []

    async def schema(self, query: Query[Any], /, **params: object) -> list[Any]:
        rows = await super().schema(query, **params)
        self.clock.advance(timedelta(minutes=1))
        at = "MATCH (l:MigrationLock) RETURN l.expires_at > datetime.realtime() AS held"
        self.seen += [row["held"] for row in self.blank.run(at)]
        if self.query is not None and self.seen.count(True) == 2:
            self.blank.run(self.query)
            self.query = None
        return rows

    def migrate(self) -> tuple[str, ...]:
        return run_now(migration.migrate(replace(self.services, graph=self)))


def test_the_lease_is_renewed_before_each_statement(blank: Blank) -> None:
    """Without a renewal the lease would stay expired."""
    here = Interrupted(blank, "MATCH (l:MigrationLock) SET l.expires_at = datetime('2020-01-01')")
    assert here.migrate() == NAMES
    held_at_all = here.seen[here.seen.index(True) : -1]
    assert len(held_at_all) > len(NAMES)
    assert all(held_at_all)


def test_a_process_whose_lease_was_taken_over_waits_and_applies_what_is_left(blank: Blank) -> None:
    """The other process then dies as well, or has finished."""
    here = Interrupted(
        blank,
        "MATCH (l:MigrationLock) "
        "SET l.owner = 'other', l.expires_at = datetime.realtime() + duration('PT0.1S')",
    )
    assert here.migrate() == NAMES
    assert "another process took over the migration" in blank.told
    assert recorded(blank) == list(NAMES)
    assert blank.drift() == ()
    assert blank.run("MATCH (l:MigrationLock) RETURN l.owner AS owner") == [{"owner": None}]


def test_a_lease_that_was_released_by_another_is_not_the_same_lease(blank: Blank) -> None:
    here = Interrupted(blank, "MATCH (l:MigrationLock) REMOVE l.owner, l.since, l.expires_at")
    assert here.migrate() == NAMES
    assert "another process took over the migration" in blank.told


def test_another_model_is_refused_with_both_names(blank: Blank) -> None:
    class Other(HashEmbedder):
        @property
        def name(self) -> str:
            return "other-model"

    blank.migrate()
    ours = HashEmbedder().name
    for attempt in (migration.migrate, migration.checked):
        with pytest.raises(ModelMismatchError, match=re.escape(ours)) as refused:
            run_now(attempt(blank.world(embedder=Other())))
        assert "other-model" in str(refused.value)
    kept = run_now(migration.checked(blank.world()))
    assert kept.name == ours


def test_an_unmigrated_graph_is_refused_and_left_alone(blank: Blank) -> None:
    with pytest.raises(MigrationPendingError, match=f"{len(NAMES)} of {len(NAMES)}"):
        run_now(migration.checked(blank.world()))
    assert blank.schema() == []
    run_now(migration.migrate_if_due(blank.world()))
    run_now(migration.checked(blank.world()))
    blank.told.clear()
    run_now(migration.migrate_if_due(blank.world()))
    assert blank.told == []


def test_every_index_is_online_when_migrate_returns(blank: Blank) -> None:
    blank.run(
        "UNWIND range(1, 5000) AS i "
        "CREATE (:Memory {tenant: 't', id: toString(i), content: 'word ' + i, tenant_key: 'k'})"
    )
    blank.migrate()
    states = {row.get("state") for row in blank.schema() if "state" in row}
    assert states == {"ONLINE"}


@pytest.mark.parametrize(
    ("files", "complaint"),
    [
        ({"0002_schema_keys.cypher": KEYS}, "consecutive"),
        ({"0001_schema_keys.cypher": KEYS, "0001_schema_more.cypher": KEYS}, "unique"),
        ({"0001_schema_keys.cypher": KEYS, "0003_schema_more.cypher": KEYS}, "consecutive"),
        ({"1_schema_keys.cypher": KEYS}, "NNNN"),
        ({"0001_keys.cypher": KEYS}, "NNNN"),
        ({"0001_schema_Keys.cypher": KEYS}, "NNNN"),
        ({"0001_schema_.cypher": KEYS}, "NNNN"),
        ({"0001_data_keys.cypher": KEYS}, "mode"),
        ({"0001_schema_keys.cypher": DATA}, "mode"),
        ({"0001_schema_keys.cypher": "CREATE INDEX;\n"}, "mode"),
    ],
)
def test_names_and_modes_of_files(
    files: dict[str, str], complaint: str, migrations_folder: Use
) -> None:
    migrations_folder(files)
    with pytest.raises(CatalogError, match=complaint):
        catalog.migrations()


@pytest.mark.parametrize(
    ("text", "same"),
    [
        (KEYS.replace("// Keys.", "// Other words."), True),
        (KEYS.replace("\nFOR", "\n  // why\n  FOR"), True),
        (KEYS.replace("\nFOR", "   FOR"), True),
        (KEYS.rstrip().removesuffix(";"), True),
        (KEYS.replace("n.k", "n.K"), False),
        (KEYS + "CREATE INDEX b IF NOT EXISTS FOR (n:A) ON (n.b);\n", False),
    ],
)
def test_the_hash_covers_statements_and_nothing_else(
    text: str, *, same: bool, migrations_folder: Use
) -> None:
    migrations_folder({"0001_schema_keys.cypher": KEYS})
    before = catalog.migrations()[0].sha256
    migrations_folder({"0001_schema_keys.cypher": text})
    assert (catalog.migrations()[0].sha256 == before) is same
