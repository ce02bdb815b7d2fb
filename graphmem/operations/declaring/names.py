"""Say by which names somebody is known; taking that back is an event too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graphmem import catalog
from graphmem.errors import NotFoundError
from graphmem.model import Alias, EventSource, EventType
from graphmem.operations.declaring import events
from graphmem.ports import RequestContext, Tx
from graphmem.rules import claims, names
from graphmem.rules.conflicts import consistent


def _alias(row: Mapping[str, Any]) -> tuple[str, str, Alias]:
    """Return the folded name, what it stands for, folded, and the two as written."""
    found = row["alias"]
    fields = ("name", "same_as", "event_id", "occurred_at")
    return found["key"], found["same_key"], Alias(**{name: found[name] for name in fields})


SAY = catalog.query("naming/say", catalog.ignored)
LIST_ALIASES = catalog.query("naming/list", _alias)


async def say(to: RequestContext, name: str, other: str | None, given: EventSource) -> Alias:
    """Let a name stand for another one, in the whole tenant; without another, for itself again.

    Raises:
        EventConflictError: the id was used for something else.
        InvalidInputError: it lies in the future, or the names are one.
        NameChainError: one of them stands for a third, or is stood for.
        NotFoundError: it stands for itself already.
    """
    now = to.world.clock.now()
    key, other_key = claims.folded(name), None if other is None else claims.folded(other)
    written = {"name": name, "other": other}
    row = events.drafted(EventType.SAME_AS, (key, other_key), written, given, now)

    async def write(tx: Tx) -> None:
        _check((key, name), (other_key, other), await tx.fetch(LIST_ALIASES, tenant=to.wall.tenant))
        await tx.fetch(
            SAY,
            tenant=to.wall.tenant,
            key=key,
            name=name.strip(),
            other_key=other_key,
            other=None if other is None else other.strip(),
            event={**row, "same_as": other_key},
        )

    await events.append(to, row, write)
    return Alias(
        name=name.strip(),
        same_as=None if other is None else other.strip(),
        event_id=row["id"],
        occurred_at=row["occurred_at"],
    )


def _check(
    name: tuple[str, str],
    other: tuple[str | None, str | None],
    there: Sequence[tuple[str, str, Alias]],
) -> None:
    (key, written), (other_key, other_written) = name, other
    if other_key is not None and other_written is not None:
        names.check((key, written), (other_key, other_written), {k: to for k, to, _ in there})
    elif key not in {k for k, _, _ in there}:
        raise NotFoundError(
            f"{written!r} stands for nobody else.", hint="`names` shows which names do."
        )


@consistent
async def aliases(to: RequestContext) -> list[Alias]:
    """Return every name that stands for another one, by name."""
    return [alias for _, _, alias in await _listed(to)]


async def canonical(to: RequestContext) -> Mapping[str, str]:
    """Return canonical names as written, by the folded names that stand for them."""
    return {key: alias.same_as for key, _, alias in await _listed(to) if alias.same_as is not None}


async def _listed(to: RequestContext) -> list[tuple[str, str, Alias]]:
    return await to.world.graph.read(lambda tx: tx.fetch(LIST_ALIASES, tenant=to.wall.tenant))
