"""Re-embed a graph with another model while it stays in use, then switch to that model.

The new embeddings form a separate generation next to the current one. Clients of the former model
keep using theirs until they are reopened; a further run embeds what they write in the meantime.
Each step can be repeated, so an interrupted run can be resumed.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Any

from graphmem.english import passages
from graphmem.errors import MigrationPendingError, ReembeddingError
from graphmem.graph import catalog
from graphmem.model import EmbeddingModel
from graphmem.model.terms import embedding_fields
from graphmem.ports import OnProgress, Row, Services, Tx, token_embedder
from graphmem.rules import identity, scoring
from graphmem.schema import GraphState, ReembedReport, migration
from graphmem.schema.migration import INDEXES

PAGE = 500
KINDS = ("memory", "belief", "turn", "episode", "item")
"""Kinds of nodes with embeddings."""

Step = Callable[[Mapping[str, Any]], Awaitable[Row]]
"""Processes the page at the given position."""

HOLD = catalog.query("schema/lock_model", lambda row: row["name"])
LACKING = catalog.query("vectors/unembedded", dict)
WRITE = catalog.query("vectors/write", catalog.ignored)
REMOVE = catalog.query("vectors/remove", dict)
REKEY = catalog.query("schema/rekey_model", lambda row: row["name"])
DELETE = catalog.query("schema/delete_model", catalog.ignored)
DROP_INDEX = catalog.query("schema/drop_index", catalog.ignored)
NEXT_TENANT = catalog.query("schema/next_tenant", lambda row: row["tenant"])


async def reembed(services: Services, on_progress: OnProgress) -> ReembedReport:
    """Fill the graph with embeddings of the configured model, then make that model current."""
    found = await _state(services)
    await _clear(services, found, on_progress)
    model = await _target(services, found)
    made = await _fill(services, model, on_progress)
    if model.key == "next":
        await _switch(services, model)
        # Embed what was written between the last check and the switch.
        made += await _fill(services, model, on_progress)
    return ReembedReport(model=model.name, switched=model.key == "next", embedded=made)


async def finish(services: Services, on_progress: OnProgress) -> ReembedReport:
    """Embed what clients of the former model wrote, and remove that model's embeddings."""
    found = await _state(services)
    await migration.select_model(services, found)
    model = found.keyed("current")
    if model is None or not await _is_ours(services, model):
        raise ReembeddingError(
            f"The current model of the graph is not {services.embedder.name}.",
            hint=f"Run `graphmem admin reembed --model {services.embedder.name}` first.",
        )
    made = await _fill(services, model, on_progress)
    former = found.keyed("former")
    if former is not None:
        await _rekey(services, former, "dropped")
    await _clear(services, await _state(services), on_progress)
    return ReembedReport(model=model.name, switched=False, embedded=made)


async def give_up(services: Services, on_progress: OnProgress) -> str | None:
    """Remove the embeddings of the model that is filling the graph and return its name.

    Return None if no model is. A concurrent run that is filling the graph ends with an error.
    """
    found = await _state(services)
    given_up = found.keyed("next")
    if given_up is not None:
        await _rekey(services, given_up, "dropped")
    await _clear(services, await _state(services), on_progress)
    return given_up.name if given_up else None


async def _state(services: Services) -> GraphState:
    found = await migration.state(services)
    waiting = migration.pending(found)
    if waiting:
        raise MigrationPendingError(f"{len(waiting)} migrations have not been applied.")
    return found


async def _target(services: Services, found: GraphState) -> EmbeddingModel:
    """Return the record of the configured model; create it if the graph has none."""
    current, filling, former = map(found.keyed, ("current", "next", "former"))
    for model in (current, filling):
        if model is not None and await _is_ours(services, model):
            break
    else:
        if filling is not None:
            raise ReembeddingError(
                f"The graph is being re-embedded with {filling.name} "
                f"({filling.dimension} dimensions).",
                hint="Resume with that model, or run `graphmem admin reembed --give-up`.",
            )
        if former is not None:
            raise ReembeddingError(
                f"The graph still holds the embeddings of its former model, {former.name}.",
                hint="Finish that first: `graphmem admin reembed --finish` with the current model.",
            )
        latest = max((model.generation for model in found.models), default=0)
        await migration.record_model(services, "next", latest + 1)
        model = (await migration.state(services)).keyed("next")
    if model is None or not await _is_ours(services, model):
        raise ReembeddingError("Another process started with a different model concurrently.")
    await migration.index_vectors(services, model.generation, model.dimension)
    return model


async def _is_ours(services: Services, model: EmbeddingModel) -> bool:
    return (model.name, model.dimension) == (
        services.embedder.name,
        await services.embedder.dimension(),
    )


async def _switch(services: Services, model: EmbeddingModel) -> None:
    async def work(tx: Tx) -> None:
        found = (await tx.fetch(migration.STATE))[0]
        now = found.keyed("current")
        if now is None or now.generation == model.generation:
            return  # another run switched first, or this transaction is retried
        await tx.fetch(REKEY, generation=now.generation, **{"from": "current", "to": "former"})
        moved = {"from": "next", "to": "current"}
        if not await tx.fetch(REKEY, generation=model.generation, **moved):
            raise ReembeddingError(f"Re-embedding with {model.name} was given up concurrently.")

    await services.graph.write(work)
    services.report(f"the graph now uses {model.name}")


async def _rekey(services: Services, model: EmbeddingModel, to: str) -> None:
    change = {"generation": model.generation, "from": model.key, "to": to}
    await services.fetch(REKEY, **change)


async def _fill(services: Services, model: EmbeddingModel, on_progress: OnProgress) -> int:
    """Embed nodes without an embedding or token states of this model until a pass finds none."""
    look = catalog.in_generation(LACKING, model.generation)
    has_tokens = token_embedder(services.embedder) is not None

    async def step(at: Mapping[str, Any]) -> Row:
        [page] = await services.fetch(look, **at, tokens=has_tokens)
        return page

    made = 0
    while True:
        before = made
        async for tenant, kind, page in _pages(services, step):
            made += await _embed(services, model, tenant, kind, page["texts"])
            on_progress(kind, page["looked"])
        if made == before:
            return made


async def _pages(services: Services, step: Step) -> AsyncIterator[tuple[str, str, Row]]:
    """Yield the result of `step` for each page of nodes, with the tenant and kind."""
    tenant = ""
    while (tenant := (await services.fetch(NEXT_TENANT, after=tenant))[0]) is not None:
        for kind in KINDS:
            after: str | None = ""
            while after is not None:
                page = await step({"tenant": tenant, "kind": kind, "after": after, "limit": PAGE})
                yield tenant, kind, page
                after = page["after"]


async def _embed(
    services: Services, model: EmbeddingModel, tenant: str, kind: str, texts: Sequence[Row]
) -> int:
    worded = [(row, _worded(kind, row)) for row in texts]
    nonempty = [(row, text) for row, text in worded if text.strip()]
    if not nonempty:
        return 0
    made = await services.embed_documents([text for _, text in nonempty])
    rows = [{**row} | embedding_fields(one) for (row, _), one in zip(nonempty, made, strict=True)]
    write = catalog.in_generation(WRITE, model.generation)

    async def work(tx: Tx) -> None:
        if not await tx.fetch(HOLD, generation=model.generation):
            raise ReembeddingError(f"Re-embedding with {model.name} was given up concurrently.")
        await tx.fetch(write, tenant=tenant, kind=kind, texts=rows)

    await services.graph.write(work)
    return len(rows)


def _worded(kind: str, row: Row) -> str:
    """Return the text to embed, as the operation that wrote the node prepared it."""
    text = (row["text"] or "").replace("\0", " ")
    if kind == "memory":
        return identity.normalise(text)
    return passages.prefix_speaker(row["name"], text) if kind == "turn" else text


async def _clear(services: Services, found: GraphState, on_progress: OnProgress) -> None:
    """Remove the embeddings, indexes and records of dropped models."""
    for model in found.models:
        if model.key == "dropped":
            await _drop(services, model, on_progress)


async def _drop(services: Services, model: EmbeddingModel, on_progress: OnProgress) -> None:
    prop = scoring.embedding_property(model.generation)
    for index in await services.fetch(INDEXES):
        if index.type == "VECTOR" and index.properties[0] == prop:
            await services.graph.schema(DROP_INDEX, name=index.name)
    remove = catalog.in_generation(REMOVE, model.generation)

    async def step(at: Mapping[str, Any]) -> Row:
        [page] = await services.fetch(remove, **at)
        return page

    async for _, _, page in _pages(services, step):
        on_progress("removed", page["looked"])
    await services.fetch(DELETE, generation=model.generation)
