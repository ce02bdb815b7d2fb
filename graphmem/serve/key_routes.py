"""Routes by which a key with the right `admin` manages keys that grant no more than it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Any, TypeVar

from fastapi import FastAPI, Path, Query, Request
from pydantic import Field

from graphmem.model import Name, Record, Trust
from graphmem.serve.guard import GRANT
from graphmem.serve.keys import Grant, Key, KeyFile, NewKey, Right, ShownKey
from graphmem.serve.operations import TIME
from graphmem.serve.problems import Problem

T = TypeVar("T")
TAG = "keys"
KeyId = Annotated[str, Path(min_length=1, max_length=200, description="Id of the key.")]


class KeyRequest(Record):
    """Parameters of a new key."""

    name: Name = Field(description="Name of the key, for people.")
    scopes: tuple[Name, ...] = Field(
        min_length=1,
        max_length=100,
        description="Scopes that it opens; one that ends in `*` opens all that begin so.",
    )
    rights: tuple[Right, ...] = Field(("read", "write"), min_length=1, description="Its rights.")
    trust: Trust | None = Field(
        None, description="Class of the writer; that of the key that makes it by default."
    )
    days: int | None = Field(
        None,
        ge=1,
        le=36_500,
        description="Days until it expires; with the key that makes it by default.",
    )


class RotationRequest(Record):
    """Parameters of a rotation."""

    until: TIME | None = Field(
        None, description="Time at which the old key stops to be valid; after a day by default."
    )


class KeyPage(Record):
    """A page of keys, oldest first."""

    keys: tuple[ShownKey, ...]
    next_cursor: str | None = None
    """None on the last page."""


class PageQuery(Record):
    """Parameters of a page."""

    limit: int = Field(100, ge=1, le=1_000, description="Maximum number of items.")
    cursor: str | None = Field(
        None, description="`next_cursor` of a page, to get the one after it."
    )


def add_key_routes(app: FastAPI, file: KeyFile, responses: dict[int | str, dict[str, Any]]) -> None:
    """Add the routes to an application.

    Args:
        app: the application.
        file: file of the keys.
        responses: descriptions of answers that all routes have.
    """

    async def list_keys(request: Request, page: Annotated[PageQuery, Query()]) -> KeyPage:
        own, now = maker(request), datetime.now(UTC)
        found = [key for key in await _apart(file.read) if own.contains(key)]
        ids = [key.id for key in found]
        start = ids.index(page.cursor) + 1 if page.cursor in ids else 0
        some = found[start : start + page.limit]
        more = len(found) > start + page.limit
        return KeyPage(
            keys=tuple(key.shown(now) for key in some), next_cursor=some[-1].id if more else None
        )

    async def create_key(request: Request, wanted: KeyRequest) -> NewKey:
        own = maker(request)
        grant = Grant(
            tenant=own.tenant,
            scopes=wanted.scopes,
            rights=tuple(dict.fromkeys(wanted.rights)),
            trust=wanted.trust or own.trust,
        )
        return await _made(lambda: file.create(wanted.name, grant, days=wanted.days, maker=own))

    async def rotate_key(
        request: Request, key_id: KeyId, wanted: RotationRequest | None = None
    ) -> NewKey:
        own, until = maker(request), None if wanted is None else wanted.until
        return await _made(lambda: file.rotate(key_id, until=until, maker=own))

    async def revoke_key(request: Request, key_id: KeyId) -> ShownKey:
        own = maker(request)
        revoked = await _apart(lambda: file.revoke(key_id, maker=own))
        return revoked.shown(datetime.now(UTC))

    for verb, path, endpoint, summary in (
        ("GET", "", list_keys, "List the keys that grant no more than the own one."),
        ("POST", "", create_key, "Create a key and show it, only this once."),
        ("POST", "/{key_id}/rotate", rotate_key, "Replace a key by one of the same grant."),
        ("POST", "/{key_id}/revoke", revoke_key, "Revoke a key."),
    ):
        app.add_api_route(
            f"/v1/keys{path}",
            endpoint,
            methods=[verb],
            operation_id=f"keys_{endpoint.__name__.removesuffix('_keys').removesuffix('_key')}",
            summary=summary,
            description="Needs the right `admin`.",
            tags=[TAG],
            responses=responses,
        )


def maker(request: Request) -> Key:
    """Return the key of a request.

    Raises:
        Problem: it does not grant the right to manage keys, or the server has none.
    """
    grant = request.scope[GRANT]
    if "idempotency-key" in request.headers:
        raise Problem(422, "invalid_input", "Idempotency-Key: this operation takes none.")
    if not isinstance(grant, Key):
        text = "A server without keys manages none."
        raise Problem(403, "not_granted", text, hint="Use `graphmem serve keys`.")
    if "admin" not in grant.rights:
        raise Problem(403, "not_granted", "The key does not grant the right admin.")
    return grant


async def _made(make: Callable[[], tuple[Key, str]]) -> NewKey:
    key, text = await _apart(make)
    return NewKey(**dict(key.shown(datetime.now(UTC))), key=text)


async def _apart(work: Callable[[], T]) -> T:
    """Read or write the file in a thread: it waits for the lock of another process."""
    return await asyncio.to_thread(work)
