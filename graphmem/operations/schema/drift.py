"""What the graph's schema has too little, too much or otherwise than declared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from graphmem import catalog
from graphmem.model import DeclaredSchema, Difference, SchemaItem
from graphmem.operations.schema.migration import sets, state
from graphmem.ports import Row, Services, Tx
from graphmem.rules.scoring import in_generation, property_of


@dataclass(frozen=True, slots=True)
class _ServerSchemaItem:
    """One index or constraint as the server shows it."""

    item: SchemaItem
    state: str


def _index(row: Row) -> _ServerSchemaItem:
    return _ServerSchemaItem(_item(row, row["config"]), row["state"])


def _constraint(row: Row) -> _ServerSchemaItem:
    # A constraint is there or not; the server shows no state of it.
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


async def drift(world: Services, declared: DeclaredSchema) -> tuple[Difference, ...]:
    """Return how the graph's indexes and constraints differ from the declared ones, by name.

    Vector indexes are held to the recorded models, of which there are two while the graph goes over
    to another one; full-text indexes to the settings' language. What stands on labels that are not
    ours is left alone.
    """

    async def work(tx: Tx) -> list[_ServerSchemaItem]:
        return [*await tx.fetch(INDEXES), *await tx.fetch(CONSTRAINTS)]

    kept = await sets(await state(world), world)
    here = [one for item in declared.items for one in _here(item, kept, world.settings.language)]
    wanted = {item.name: item for item in here}
    present = {found.item.name: found for found in await world.graph.read(work)}
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
    """Yield a declared item as this graph should have it: a vector index for each generation."""
    if item.type == "VECTOR":
        for generation, dimension in kept.items():
            about = item.model_copy(
                update={
                    "name": in_generation(item.name, generation),
                    "properties": (property_of(generation), *item.properties[1:]),
                }
            )
            yield _set(about, {"vector.dimensions": dimension})
    else:
        yield _set(item, {"fulltext.analyzer": language} if item.type == "FULLTEXT" else {})


def _set(item: SchemaItem, config: dict[str, Any]) -> SchemaItem:
    return item.model_copy(update={"config": {**item.config, **config}})


def _judged(wanted: SchemaItem, found: _ServerSchemaItem | None) -> Iterator[Difference]:
    if found is None:
        yield Difference(kind="missing", name=wanted.name, text=f"{_shown(wanted)} is not there.")
        return
    # The server shows every setting of an index; only the declared ones matter.
    config = {key: found.item.config.get(key) for key in wanted.config}
    here = found.item.model_copy(update={"config": config})
    if here != wanted:
        text = f"wanted {_shown(wanted)}, found {_shown(here)}."
        yield Difference(kind="different", name=wanted.name, text=text)
    if found.state != "ONLINE":
        text = f"{_shown(wanted)} is {found.state}."
        yield Difference(kind="not online", name=wanted.name, text=text)


def _unexpected(item: SchemaItem) -> Difference:
    text = f"{_shown(item)} is declared nowhere."
    return Difference(kind="unexpected", name=item.name, text=text)


def _shown(item: SchemaItem) -> str:
    config = "".join(f", {key} {value}" for key, value in sorted(item.config.items()))
    return f"{item.type} on {'|'.join(item.labels)}({', '.join(item.properties)}){config}"
