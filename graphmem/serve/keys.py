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
    UnavailableError,
)
from graphmem.model import GLOBAL_SCOPE, Instant, Name, Record, Trust
from graphmem.private_files import make_folder, read_private, write_private
from graphmem.settings import Settings

Right: TypeAlias = Literal["read", "write", "review", "erase", "admin"]
RIGHTS: tuple[Right, ...] = get_args(Right)
PREFIX = "gm_"
"""Start of every key, by which scanners of code find keys that were published."""
ANY = "*"
"""End of a granted scope that is a prefix."""
MAX_FILE = 4_000_000
"""Maximum size of the file of keys, in bytes."""
LOCK_S = 10.0
"""Seconds to wait for another process that changes the file."""
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
    def covers_tenant(self) -> bool:
        """Whether all scopes of the tenant are granted."""
        return ANY in self.scopes

    def covers(self, scope: str) -> bool:
        """Return whether a scope is granted."""
        prefixes = tuple(one[:-1] for one in self.scopes if one.endswith(ANY))
        return scope in self.named or scope.startswith(prefixes)


class Key(Grant):
    """A key as stored: a grant, and the digest of the secret instead of the secret."""

    id: str
    name: Name
    digest: str
    created_at: Instant
    expires_at: Instant | None = None
    """None if it does not expire."""
    revoked_at: Instant | None = None

    def state(self, now: datetime) -> Literal["valid", "expired", "revoked"]:
        """Return whether the key opens anything at this time."""
        if self.revoked_at is not None:
            return "revoked"
        return "expired" if self.expires_at is not None and self.expires_at <= now else "valid"


_KEYS = TypeAdapter(tuple[Key, ...])


class KeyFile:
    """The file of the keys, which only its owner may read."""

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

    def create(self, name: str, grant: Grant, *, days: int | None) -> tuple[Key, str]:
        """Store a new key; return it with the text that opens its grant, which is not stored.

        Args:
            name: name of the key, for people.
            grant: what the key opens.
            days: days until it expires; None: it does not.
        """
        now, key_id, secret = datetime.now(UTC), secrets.token_hex(6), secrets.token_urlsafe(32)
        key = Key(
            **dict(grant),
            id=key_id,
            name=name,
            digest=_digest(secret),
            created_at=now,
            expires_at=None if days is None else now + timedelta(days=days),
        )
        with self._changing():
            self._write([*self.read(), key])
        return key, f"{PREFIX}{key_id}_{secret}"

    def revoke(self, key_id: str) -> Key:
        """Revoke a key and return it.

        Raises:
            NotFoundError: no key has this id.
        """
        with self._changing():
            keys = {key.id: key for key in self.read()}
            if key_id not in keys:
                raise NotFoundError(
                    f"No key {key_id!r}.", hint="`graphmem serve keys list` shows the ids."
                )
            known = keys[key_id]
            at = known.revoked_at or datetime.now(UTC)
            keys[key_id] = known.model_copy(update={"revoked_at": at})
            self._write(keys.values())
        return keys[key_id]

    @contextmanager
    def _changing(self) -> Iterator[None]:
        make_folder(self.path.parent, setting="GRAPHMEM_SERVE_KEYS")
        try:
            with FileLock(f"{self.path}.lock", timeout=LOCK_S, mode=0o600):
                yield
        except Timeout:
            raise UnavailableError(f"Another process holds {self.path}.") from None

    def _write(self, keys: Iterable[Key]) -> None:
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
        known = hmac.compare_digest(key.digest if key else _digest(""), _digest(secret))
        if key is None or not known or key.state(datetime.now(UTC)) != "valid":
            return None
        return key

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


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
