"""Compare the graph's schema with the declared one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from graphmem import catalog
from graphmem.ports import Row, Services, Tx
from graphmem.rules.scoring import embedding_property, number_embeddings
from graphmem.schema.migration import sets, state
from graphmem.schema.records import DeclaredSchema, Difference, SchemaItem


@dataclass(frozen=True, slots=True)
class _ServerSchemaItem:
    """An index or constraint as reported by the server."""

    item: SchemaItem
    state: str


def _index(row: Row) -> _ServerSchemaItem:
    return _ServerSchemaItem(_item(row, row["config"]), row["state"])


def _constraint(row: Row) -> _ServerSchemaItem:
    # A constraint has no state on the server.
    return _ServerSchemaItem(_item(row, {}), "ONLINE")


def _item(row: Row, config: dict[str, Any]) -> SchemaItem:
    return SchemaItem(
        name=row["name"],
        type=row["type"],
        labels=tuple(row["labels"]),
        properties=tuple(row["properties"]),
        config=config,
    )


INDEXES = catalog.query("schema/show_indexes", _index)
CONSTRAINTS = catalog.query("schema/show_constraints", _constraint)


async def drift(services: Services, declared: DeclaredSchema) -> tuple[Difference, ...]:
    """Return the differences between the graph's indexes and constraints and the declared ones.

    Vector indexes are compared with the recorded models, of which there are two during a change of
    model; full-text indexes with the settings' language. Labels of other applications are ignored.
    """

    async def work(tx: Tx) -> list[_ServerSchemaItem]:
        return [*await tx.fetch(INDEXES), *await tx.fetch(CONSTRAINTS)]

    kept = await sets(await state(services), services)
    here = [one for item in declared.items for one in _here(item, kept, services.settings.language)]
    wanted = {item.name: item for item in here}
    present = {found.item.name: found for found in await services.graph.read(work)}
    differences = (
        *(d for name, item in wanted.items() for d in _judged(item, present.get(name))),
        *(
            _unexpected(f.item)
            for name, f in present.items()
            if name not in wanted and declared.labels.intersection(f.item.labels)
        ),
    )
    return tuple(sorted(differences, key=lambda d: (d.name, d.kind)))


def _here(item: SchemaItem, kept: Mapping[int, int], language: str) -> Iterator[SchemaItem]:
    """Yield a declared item as this graph must have it: one vector index per generation."""
    if item.type == "VECTOR":
        for generation, dimension in kept.items():
            about = item.model_copy(
                update={
                    "name": number_embeddings(item.name, generation),
                    "properties": (embedding_property(generation), *item.properties[1:]),
                }
            )
            yield _set(about, {"vector.dimensions": dimension})
    else:
        yield _set(item, {"fulltext.analyzer": language} if item.type == "FULLTEXT" else {})


def _set(item: SchemaItem, config: dict[str, Any]) -> SchemaItem:
    return item.model_copy(update={"config": {**item.config, **config}})


def _judged(wanted: SchemaItem, found: _ServerSchemaItem | None) -> Iterator[Difference]:
    if found is None:
        yield Difference(kind="missing", name=wanted.name, text=f"{_shown(wanted)} is missing.")
        return
    # The server reports every setting of an index; only the declared ones are compared.
    config = {key: found.item.config.get(key) for key in wanted.config}
    here = found.item.model_copy(update={"config": config})
    if here != wanted:
        text = f"wanted {_shown(wanted)}, found {_shown(here)}."
        yield Difference(kind="different", name=wanted.name, text=text)
    if found.state != "ONLINE":
        text = f"{_shown(wanted)} is {found.state}."
        yield Difference(kind="not online", name=wanted.name, text=text)


def _unexpected(item: SchemaItem) -> Difference:
    text = f"{_shown(item)} is not declared."
    return Difference(kind="unexpected", name=item.name, text=text)


def _shown(item: SchemaItem) -> str:
    config = "".join(f", {key} {value}" for key, value in sorted(item.config.items()))
    return f"{item.type} on {'|'.join(item.labels)}({', '.join(item.properties)}){config}"
