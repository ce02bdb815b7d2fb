"""Keys of the HTTP API: their grants, and the private file that holds their digests."""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Literal, TypeAlias, get_args

from filelock import FileLock, Timeout
from pydantic import Field, TypeAdapter, ValidationError

from graphmem.errors import (
    ConfigurationError,
    GraphmemError,
    NotFoundError,
    RefusedError,
    UnavailableError,
)
from graphmem.model import GLOBAL_SCOPE, Instant, Name, Record, Trust
from graphmem.private_files import append_private, make_folder, read_private, write_private
from graphmem.rules.trust import rank
from graphmem.settings import Settings

Right: TypeAlias = Literal["read", "write", "review", "erase", "admin"]
State: TypeAlias = Literal["valid", "expired", "revoked"]
RIGHTS: tuple[Right, ...] = get_args(Right)
PREFIX = "gm_"
"""Start of every key, by which scanners of code find keys that were published."""
ANY = "*"
"""End of a granted scope that is a prefix."""
MAX_FILE = 4_000_000
"""Maximum size of the file of keys, in bytes."""
MAX_AUDIT = 100_000_000
"""Maximum size of the file of their changes, in bytes."""
LOCK_S = 10.0
"""Seconds to wait for another process that changes the file."""
ROTATION = timedelta(days=1)
"""Time for which a rotated key stays valid by default."""
OPERATOR = "command line"
"""Who made or changed a key, if no key did."""
RELOAD_S = 1.0
"""Seconds after which the file is checked for changes: a revoked key is refused then."""
log = logging.getLogger("graphmem.serve")


class Grant(Record):
    """Rights of a caller in scopes of a tenant."""

    tenant: Name
    scopes: Annotated[tuple[Name, ...], Field(min_length=1, max_length=100)] = (GLOBAL_SCOPE,)
    """Scopes; one that ends in `*` grants all that begin with the rest."""
    rights: Annotated[tuple[Right, ...], Field(min_length=1)] = ("read", "write")
    trust: Trust = "person"
    """Class of the writer; nothing that the caller writes is trusted more."""

    @property
    def named(self) -> tuple[str, ...]:
        """Granted scopes that are not prefixes."""
        return tuple(scope for scope in self.scopes if not scope.endswith(ANY))

    @property
    def prefixes(self) -> tuple[str, ...]:
        """Beginnings of names whose scopes are granted."""
        return tuple(scope.removesuffix(ANY) for scope in self.scopes if scope.endswith(ANY))

    @property
    def covers_tenant(self) -> bool:
        """Whether all scopes of the tenant are granted."""
        return ANY in self.scopes

    def covers(self, scope: str) -> bool:
        """Return whether a scope is granted."""
        return scope in self.named or scope.startswith(self.prefixes)

    def contains(self, other: Grant) -> bool:
        """Return whether another grant opens nothing that this one does not open."""
        return (
            self.tenant == other.tenant
            and all(self._covers_all(scope) for scope in other.scopes)
            and set(self.rights) >= set(other.rights)
            and rank(self.trust) >= rank(other.trust)
        )

    def _covers_all(self, granted: str) -> bool:
        """Return whether everything is granted that another grant's scope or prefix grants."""
        if not granted.endswith(ANY):
            return self.covers(granted)
        return granted.removesuffix(ANY).startswith(self.prefixes)


class KeyRecord(Grant):
    """A key without its secret."""

    id: str
    name: Name
    created_at: Instant
    created_by: str = OPERATOR
    """Id of the key that made it, or `command line`."""
    expires_at: Instant | None = None
    """None if it does not expire."""
    revoked_at: Instant | None = None
    replaced_by: str | None = None
    """Id of the key that replaces it; None if it was not rotated."""


class ShownKey(KeyRecord):
    """A key without its secret, and whether it opens anything now."""

    state: State


class NewKey(ShownKey):
    """A key that was just made."""

    key: str
    """Text that opens the grant; it is not shown again."""


class Key(KeyRecord):
    """A key as stored: with the digest of the secret instead of the secret."""

    digest: str

    def state(self, now: datetime) -> State:
        """Return whether the key opens anything at this time."""
        if self.revoked_at is not None:
            return "revoked"
        return "expired" if self.expires_at is not None and self.expires_at <= now else "valid"

    def shown(self, now: datetime) -> ShownKey:
        """Return the key for people, with its state at this time."""
        return ShownKey(**dict(self.record), state=self.state(now))

    @property
    def record(self) -> KeyRecord:
        """Return the key without the digest."""
        return KeyRecord(**{name: getattr(self, name) for name in KeyRecord.model_fields})


class KeyChange(Record):
    """An entry of the audit file: a key was created, rotated or revoked."""

    at: Instant
    action: Literal["create", "rotate", "revoke"]
    by: str
    """Id of the key that asked for it, or `command line`."""
    key: KeyRecord
    """The new key, or the one that is revoked."""
    replaces: str | None = None
    """Id of the key that the new one replaces."""


_KEYS = TypeAdapter(tuple[Key, ...])


class KeyFile:
    """The file of the keys and that of their changes, which only their owner may read."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def of(cls, settings: Settings) -> KeyFile:
        """Return the file of the settings; by default it is in the folder of graphmem's data."""
        from graphmem.local_server.files import DataFolder

        own = settings.serve_keys
        folder = DataFolder.of(settings).root.parent
        return cls(folder / "keys.json" if own is None else own.expanduser())

    def read(self) -> tuple[Key, ...]:
        """Return all keys, also expired and revoked ones, oldest first.

        Raises:
            ConfigurationError: the file cannot be read, or others can read it.
        """
        if not self.path.exists():
            return ()
        text = read_private(self.path, MAX_FILE)
        try:
            return _KEYS.validate_json(text)
        except ValidationError:
            pass
        # Raised outside `except`: the parser's error contains parts of the file.
        raise ConfigurationError(
            f"{self.path} is not a file of keys.",
            hint="Restore it, or remove it and create new keys.",
        )

    def create(
        self, name: str, grant: Grant, *, days: int | None, maker: Key | None = None
    ) -> tuple[Key, str]:
        """Store a new key; return it with the text that opens its grant, which is not stored.

        Args:
            name: name of the key, for people.
            grant: what the key opens.
            days: days until it expires; None: it expires with its maker.
            maker: key that makes it; None: the operator, whose keys need not expire.

        Raises:
            RefusedError: the maker does not have this grant, or expires earlier.
        """
        now = datetime.now(UTC)
        limit = None if maker is None else maker.expires_at
        expires = limit if days is None else now + timedelta(days=days)
        if maker is not None and not maker.contains(grant):
            raise RefusedError("A key cannot grant more than it has.", hint="Grant less.")
        if limit is not None and (expires is None or expires > limit):
            raise RefusedError("A key cannot outlive its maker.", hint="Give fewer days.")
        key, text = _new(name, grant, now, expires, maker)
        with self._changing():
            self._write([*self.read(), key], _change("create", now, key, maker))
        return key, text

    def rotate(
        self, key_id: str, *, until: datetime | None = None, maker: Key | None = None
    ) -> tuple[Key, str]:
        """Store a new key of the same grant and lifetime; see `create` for the result.

        Args:
            key_id: id of the key to replace.
            until: time at which it stops to be valid; None: after a day.
            maker: key that asks for it, which the new one does not outlive; None: the operator.

        Raises:
            NotFoundError: no key has this id.
            RefusedError: the key is not valid, or was rotated before.
        """
        now = datetime.now(UTC)
        with self._changing():
            keys, old = self._found(key_id, maker)
            if old.state(now) != "valid":
                raise RefusedError(f"The key is {old.state(now)}.", hint="Create a new one.")
            if old.replaced_by is not None:
                raise RefusedError(f"Key {old.replaced_by} replaces it.", hint="Rotate that one.")
            lifetime = None if old.expires_at is None else old.expires_at - old.created_at
            limit = None if maker is None else maker.expires_at
            expires = _earlier(None if lifetime is None else now + lifetime, limit)
            key, text = _new(old.name, old, now, expires, maker)
            ends = _earlier(old.expires_at, until or now + ROTATION)
            keys[key_id] = old.model_copy(update={"expires_at": ends, "replaced_by": key.id})
            change = _change("rotate", now, key, maker, replaces=key_id)
            self._write([*keys.values(), key], change)
        return key, text

    def revoke(self, key_id: str, *, maker: Key | None = None) -> Key:
        """Revoke a key and return it.

        Raises:
            NotFoundError: no key has this id, or the maker does not have its grant.
        """
        now = datetime.now(UTC)
        with self._changing():
            keys, old = self._found(key_id, maker)
            if old.revoked_at is not None:
                return old
            keys[key_id] = old.model_copy(update={"revoked_at": now})
            self._write(keys.values(), _change("revoke", now, keys[key_id], maker))
        return keys[key_id]

    def changes(self) -> tuple[KeyChange, ...]:
        """Return all changes of keys, oldest first.

        Raises:
            ConfigurationError: the audit file cannot be read, or others can read it.
        """
        if not self._audit.exists():
            return ()
        lines = read_private(self._audit, MAX_AUDIT).splitlines()
        try:
            return tuple(KeyChange.model_validate_json(line) for line in lines)
        except ValidationError:
            pass
        raise ConfigurationError(f"{self._audit} has a line that is not a change of a key.")

    @property
    def _audit(self) -> Path:
        return self.path.with_suffix(".audit.jsonl")

    def _found(self, key_id: str, maker: Key | None) -> tuple[dict[str, Key], Key]:
        keys = {key.id: key for key in self.read()}
        found = keys.get(key_id)
        if found is None or (maker is not None and not maker.contains(found)):
            raise NotFoundError(
                f"No key {key_id!r}.", hint="`graphmem serve keys list` shows the ids."
            )
        return keys, found

    @contextmanager
    def _changing(self) -> Iterator[None]:
        make_folder(self.path.parent, setting="GRAPHMEM_SERVE_KEYS")
        try:
            with FileLock(f"{self.path}.lock", timeout=LOCK_S, mode=0o600):
                yield
        except Timeout:
            raise UnavailableError(f"Another process holds {self.path}.") from None

    def _write(self, keys: Iterable[Key], change: KeyChange) -> None:
        # Written first, so that every change has an entry.
        append_private(self._audit, change.model_dump_json(exclude_none=True) + "\n")
        log.info("Key %s: %s by %s", change.key.id, change.action, change.by)
        stored = [key.model_dump(mode="json", exclude_none=True) for key in keys]
        write_private(self.path, json.dumps(stored, indent=1))


class KeyRing:
    """Valid keys of a file, read again when it changes."""

    def __init__(self, file: KeyFile, clock: Callable[[], float] = time.monotonic) -> None:
        self._file = file
        self._clock = clock
        self._looked_at = -RELOAD_S
        self._seen: tuple[int, ...] = ()
        self._keys: Mapping[str, Key] = {}

    def find(self, given: str) -> Key | None:
        """Return the valid key of a text; None if there is none.

        Every secret is compared, in constant time, also for an unknown id.
        """
        self._refresh()
        start, _, secret = given.removeprefix(PREFIX).partition("_")
        key = self._keys.get(start) if given.startswith(PREFIX) else None
        known = hmac.compare_digest(key.digest if key else secret_digest(""), secret_digest(secret))
        if key is None or not known or key.state(datetime.now(UTC)) != "valid":
            return None
        return key

    def tenants(self) -> frozenset[str]:
        """Return the tenants of all keys, also of those that have ended."""
        self._refresh()
        return frozenset(key.tenant for key in self._keys.values())

    def of_id(self, key_id: str) -> Key | None:
        """Return the valid key with this id; None if there is none."""
        self._refresh()
        found = self._keys.get(key_id)
        return found if found and found.state(datetime.now(UTC)) == "valid" else None

    def is_valid(self, key: Key) -> bool:
        """Return whether a key that was found is still valid."""
        return self.of_id(key.id) is not None

    def _refresh(self) -> None:
        if self._clock() - self._looked_at < RELOAD_S:
            return
        self._looked_at = self._clock()
        try:
            info = self._file.path.stat()
            seen = (info.st_mtime_ns, info.st_size, info.st_ino, info.st_mode)
            if seen != self._seen:
                self._keys = {key.id: key for key in self._file.read()}
                self._seen = seen
        except FileNotFoundError:
            self._keys, self._seen = {}, ()
        except (GraphmemError, OSError) as error:
            # Without a readable file no key is valid.
            self._keys, self._seen = {}, ()
            log.error("No key is accepted: %s", error)


def _new(
    name: str, grant: Grant, now: datetime, expires: datetime | None, maker: Key | None
) -> tuple[Key, str]:
    key_id, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
    key = Key(
        **{field: getattr(grant, field) for field in Grant.model_fields},
        id=key_id,
        name=name,
        digest=secret_digest(secret),
        created_at=now,
        created_by=OPERATOR if maker is None else maker.id,
        expires_at=expires,
    )
    return key, f"{PREFIX}{key_id}_{secret}"


def _change(
    action: Literal["create", "rotate", "revoke"],
    at: datetime,
    key: Key,
    maker: Key | None,
    replaces: str | None = None,
) -> KeyChange:
    by = OPERATOR if maker is None else maker.id
    return KeyChange(at=at, action=action, by=by, key=key.record, replaces=replaces)


def _earlier(one: datetime | None, other: datetime | None) -> datetime | None:
    return min((at for at in (one, other) if at is not None), default=None)


def secret_digest(secret: str) -> str:
    """Return the digest by which a secret is stored."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
