"""Bring the graph's schema up to date and hold it to the embedding model that filled it."""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from graphmem import catalog
from graphmem.catalog import Migration
from graphmem.errors import (
    MigrationChangedError,
    MigrationLockedError,
    MigrationPendingError,
    ModelMismatchError,
)
from graphmem.model import AppliedMigration, EmbeddingModel, GraphState
from graphmem.ports import Embedder, Role, Tx, World
from graphmem.rules.calibration import Calibration, mean_cosine

LOCK_S = 600
"""A crashed owner's lock expires after this; a live one renews it before every file."""
WAIT_S = 60
POLL_S = 0.25
INDEXES_S = 3600


def _state(row: Any) -> GraphState:
    return GraphState(
        migrations=tuple(AppliedMigration(**m) for m in row["migrations"]),
        model=EmbeddingModel(**row["model"]) if row["model"] else None,
    )


STATE = catalog.query("schema/state", _state)
LOCK = catalog.query("schema/lock", lambda row: row["owner"])
UNLOCK = catalog.query("schema/unlock", catalog.ignored)
RECORD = catalog.query("schema/record_migration", catalog.ignored)
RECORD_MODEL = catalog.query("schema/record_model", catalog.ignored)
BOOTSTRAP = (
    catalog.query("schema/bootstrap_lock", catalog.ignored),
    catalog.query("schema/bootstrap_record", catalog.ignored),
)
AWAIT_INDEXES = catalog.query("schema/await_indexes", catalog.ignored)


async def state(world: World) -> GraphState:
    """Return what was applied to the graph and which model filled it."""

    async def work(tx: Tx) -> GraphState:
        return (await tx.fetch(STATE))[0]

    return await world.graph.read(work)


def pending(found: GraphState) -> Sequence[Migration]:
    """Return the migrations that are still to be applied, in order.

    Raises:
        MigrationChangedError: an applied one differs from its file, or has none here.
    """
    known = {m.number: m for m in catalog.migrations()}
    for applied in found.migrations:
        here = known.pop(applied.number, None)
        if here is None or here.sha256 != applied.sha256:
            raise MigrationChangedError(
                f"Migration {applied.name} was applied with other statements than this version of "
                "graphmem has."
            )
    return tuple(known.values())


async def checked(world: World) -> EmbeddingModel:
    """Return the graph's embedding model when the schema is current and the model is ours.

    Raises:
        MigrationPendingError, MigrationChangedError: the schema is not current.
        ModelMismatchError: another model filled the graph.
    """
    found = await state(world)
    waiting = pending(found)
    if waiting or found.model is None:
        raise MigrationPendingError(
            f"{len(waiting)} of {len(catalog.migrations())} migrations have not been applied."
        )
    await _same_model(found.model, world)
    return found.model


async def migrate_if_due(world: World) -> None:
    """Migrate when something is pending; one read when nothing is."""
    found = await state(world)
    if found.model is None or pending(found):
        await migrate(world)


async def migrate(world: World) -> tuple[str, ...]:
    """Apply what is pending, wait for the indexes, record the model; return what was applied.

    Safe to run twice and by two processes at once.

    Raises:
        MigrationLockedError: another process kept the lock for a minute.
        MigrationChangedError, ModelMismatchError: see `pending` and `checked`.
    """
    for statement in BOOTSTRAP:
        await world.graph.schema(statement)
    owner = secrets.token_hex(8)
    await _lock(world, owner)
    try:
        found = await state(world)
        if found.model is not None:
            await _same_model(found.model, world)
        applied = [await _apply(world, owner, m) for m in pending(found)]
        if found.model is None:
            await _record_model(world)
    finally:
        await world.graph.write(lambda tx: tx.fetch(UNLOCK, owner=owner))
    # Also when nothing was applied: who applied it may still wait, or have died waiting.
    world.report("waiting for the indexes")
    await world.graph.schema(AWAIT_INDEXES, seconds=INDEXES_S)
    return tuple(applied)


async def measure(embedder: Embedder) -> Calibration:
    """Return the model's mean cosines over the unrelated texts that the package carries.

    It embeds 100 short texts, a second or three with the local model.

    Raises:
        ModelUnavailableError: the model cannot be reached or refuses the key.
        ModelReplyError: its answer is not one vector a text.
    """
    sample = json.loads(files("graphmem").joinpath("data/calibration.json").read_text("utf-8"))
    statements = await embedder.embed(sample["statements"], Role.DOCUMENT)
    questions = await embedder.embed(sample["questions"], Role.QUERY)
    return Calibration(
        mu_document=mean_cosine(statements), mu_query=mean_cosine(questions, statements)
    )


async def _lock(world: World, owner: str) -> None:
    for _ in range(int(WAIT_S / POLL_S)):
        if await world.graph.write(lambda tx: tx.fetch(LOCK, owner=owner, seconds=LOCK_S)):
            return
        await world.clock.sleep(POLL_S)
    raise MigrationLockedError


async def _apply(world: World, owner: str, migration: Migration) -> str:
    world.report(f"applying {migration.name}")
    await _lock(world, owner)
    offered = {"vector_options": _vector_options(await world.embedder.dimension())}
    for statement in migration.statements:
        params = {name: offered[name] for name in statement.params}
        await world.graph.schema(statement, **params)
    await world.graph.write(
        lambda tx: tx.fetch(
            RECORD, number=migration.number, name=migration.name, sha256=migration.sha256
        )
    )
    return migration.name


def _vector_options(dimension: int) -> dict[str, Any]:
    return {
        "indexConfig": {
            "vector.dimensions": dimension,
            "vector.similarity_function": "cosine",
            "vector.quantization.type": "NONE",
        }
    }


async def _record_model(world: World) -> None:
    world.report(f"measuring the embedding model {world.embedder.name}")
    calibration = await measure(world.embedder)
    dimension = await world.embedder.dimension()
    await world.graph.write(
        lambda tx: tx.fetch(
            RECORD_MODEL,
            name=world.embedder.name,
            dimension=dimension,
            mu_document=calibration.mu_document,
            mu_query=calibration.mu_query,
        )
    )


async def _same_model(recorded: EmbeddingModel, world: World) -> None:
    ours = (world.embedder.name, await world.embedder.dimension())
    if ours != (recorded.name, recorded.dimension):
        raise ModelMismatchError(
            f"This graph was filled with {recorded.name} ({recorded.dimension} dimensions), "
            f"not with {ours[0]} ({ours[1]})."
        )
