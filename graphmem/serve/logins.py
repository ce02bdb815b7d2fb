"""Sessions of browsers: a signed cookie instead of a key, and a link that opens one session."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers
from starlette.responses import RedirectResponse, Response

from graphmem.explorer.rendering import ASSETS
from graphmem.rules.links import address
from graphmem.serve.keys import Grant, KeyRing, secret_digest
from graphmem.serve.problems import Problem

SESSION_S = 12 * 3_600
"""Seconds for which a session lasts."""
TICKET_S = 600
"""Seconds for which a one-time link opens a session."""
OPERATOR = "operator"
"""Holder of a session that a one-time link opened."""
LOGIN = "/login"
FILES = frozenset({LOGIN, *(f"/assets/{name}" for name in ASSETS)})
"""Paths of the explorer that need no session."""
MAX_FIELDS = 20
"""Maximum number of fields of a form."""
KEPT = ("id", "reason")
"""Fields of a form that outlive the session; others are in its address."""


@dataclass(frozen=True)
class Secrets:
    """Secrets of one run of the server, shared by its processes."""

    signing: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    ticket: Path | None = None
    """File that exists until the one-time link was used."""


@contextmanager
def one_time() -> Iterator[tuple[Secrets, str]]:
    """Yield secrets, and the ticket of a link that opens one session."""
    with TemporaryDirectory(prefix="graphmem-login-") as folder:
        text = secrets.token_urlsafe(32)
        file = Path(folder) / "ticket"
        file.write_text(secret_digest(text), "ascii")
        yield Secrets(ticket=file), text


class LoginNeeded(Problem):
    """A page needs a session."""

    def __init__(self, path: str, query: str) -> None:
        super().__init__(401, "unauthorized", "A session is needed.")
        self._next = f"{path}?{query}" if query else path

    def keep(self, body: bytes) -> None:
        """Keep what a person typed into a form, for the page that the login leads back to."""
        try:
            typed = dict(parse_qsl(body.decode(), max_num_fields=MAX_FIELDS))
        except ValueError:
            return
        kept = {name: typed[name] for name in KEPT if name in typed}
        if kept:
            self._next += ("&" if "?" in self._next else "?") + urlencode(kept)

    def response(self) -> Response:
        """Return the way to the login, which leads back to the page."""
        return RedirectResponse(address(LOGIN, next=self._next), 303)


class Logins:
    """Sessions of a server."""

    def __init__(
        self,
        known: Secrets,
        port: int,
        keys: KeyRing | Grant,
        operator: Grant,
        pages: Collection[str],
    ) -> None:
        self._known = known
        self._keys = keys
        self._operator = operator
        self.pages = pages
        """Paths that a session opens instead of a key."""
        self.cookie = f"graphmem_{port}"
        """Name of the cookie: browsers share cookies between the ports of a host."""

    def session(self, headers: Headers) -> str:
        """Return the cookie of a request; empty if it has none."""
        return self.value(headers, self.cookie)

    def value(self, headers: Headers, name: str) -> str:
        """Return the value of a cookie; empty if the request does not have it."""
        try:
            found = SimpleCookie(headers.get("cookie", "")).get(name)
        except CookieError:
            return ""
        return "" if found is None else found.value

    def grant(self, headers: Headers) -> Grant | None:
        """Return what the session of a request opens; None without a valid one."""
        if isinstance(self._keys, Grant):
            return self._keys
        holder, _, rest = self.session(headers).partition(".")
        until, _, given = rest.partition(".")
        valid = hmac.compare_digest(self._signature(f"{holder}.{until}").encode(), given.encode())
        if not valid or int(until) < time.time():
            return None
        return self._operator if holder == OPERATOR else self._keys.of_id(holder)

    def opened(self, key: str, ticket: str) -> str | None:
        """Return the cookie of a new session; None if neither key nor ticket is valid."""
        holder = None
        if ticket:
            holder = OPERATOR if self._used(ticket) else None
        elif isinstance(self._keys, KeyRing):
            found = self._keys.find(key)
            holder = None if found is None else found.id
        if holder is None:
            return None
        start = f"{holder}.{int(time.time()) + SESSION_S}"
        return f"{start}.{self._signature(start)}"

    def secret(self, headers: Headers) -> bytes:
        """Return the secret that signs the forms of a session."""
        return self._signature(f"forms {self.session(headers)}").encode()

    def _signature(self, text: str) -> str:
        return hmac.new(self._known.signing, text.encode(), hashlib.sha256).hexdigest()

    def _used(self, ticket: str) -> bool:
        """Use the one-time link; return whether it was valid."""
        file = self._known.ticket
        if file is None:
            return False
        try:
            fresh = time.time() - file.stat().st_mtime < TICKET_S
            known = hmac.compare_digest(file.read_text("ascii"), secret_digest(ticket))
            if fresh and known:
                # Only one process can remove it.
                file.unlink()
        except FileNotFoundError:
            return False
        return fresh and known
