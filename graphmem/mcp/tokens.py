"""Bearer tokens: each opens one tenant and one scope, and is never shown."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field, SecretStr, TypeAdapter, ValidationError

from graphmem.errors import ConfigurationError
from graphmem.mcp.sessions import Caller
from graphmem.model import GLOBAL_SCOPE, Name, Record
from graphmem.settings import Settings

LEAST = 16
"""Characters of a token: less can be guessed."""
_FORMAT = 'Write it as JSON: [{"token": "…", "tenant": "acme", "scope": "user:alice"}, …].'
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def _sendable(token: SecretStr) -> SecretStr:
    try:
        token.get_secret_value().encode()
    except UnicodeEncodeError:
        raise ValueError("holds what UTF-8 cannot") from None
    return token


class _Entry(Record):
    token: Annotated[SecretStr, Field(min_length=LEAST), AfterValidator(_sendable)]
    tenant: Name
    scope: Name = GLOBAL_SCOPE
    read_only: bool = False


class TokenTable:
    """Who comes with which token. Only digests are kept."""

    def __init__(self, who: dict[bytes, Caller]) -> None:
        self._who = who

    def __len__(self) -> int:
        return len(self._who)

    def __iter__(self) -> Iterator[Caller]:
        return iter(self._who.values())

    def who(self, offered: bytes) -> Caller | None:
        """Return whose token this is; None: nobody's. It takes as long for every guess."""
        digest, found = _digest(offered), None
        for known, who in self._who.items():
            if hmac.compare_digest(known, digest):
                found = who
        return found


def of_settings(settings: Settings, *, read_only: bool) -> TokenTable:
    """Return the tokens that the settings name; none, when they name none.

    Raises:
        ConfigurationError: a token is too short or there twice, or the file cannot be used.
    """
    entries = [] if settings.mcp_tokens is None else _read(settings.mcp_tokens.expanduser())
    if settings.mcp_token is not None:
        entries.append(_own(settings, settings.mcp_token.get_secret_value()))
    return _tokens(entries, read_only=read_only)


def kept(settings: Settings, *, read_only: bool) -> tuple[TokenTable, Path]:
    """Return the token of this user's own server, made on first use, and the file it is in.

    Raises:
        ConfigurationError: the file cannot be written or read.
    """
    from graphmem.adapters.local_server.files import DataFolder, make_folder, write_private

    file = DataFolder.of(settings).root.parent / "mcp-token"
    make_folder(file.parent, setting="GRAPHMEM_HOME")
    if not file.exists():
        write_private(file, secrets.token_urlsafe(32) + "\n")
    text = _private(file).strip()
    return _tokens([_own(settings, text)], read_only=read_only), file


def _own(settings: Settings, token: str) -> _Entry:
    if len(token) < LEAST:
        raise ConfigurationError(
            f"The token has fewer than {LEAST} characters.",
            hint='Make one: python -c "import secrets; print(secrets.token_urlsafe(32))".',
        )
    entry = {"token": token, "tenant": settings.tenant, "scope": settings.scope}
    [found] = _entries([entry], "GRAPHMEM_MCP_TOKEN with GRAPHMEM_TENANT and GRAPHMEM_SCOPE")
    return found


def _read(file: Path) -> list[_Entry]:
    text = _private(file)
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if found is None:
        # Not inside: the error of the parser holds the file, and would go along with this one.
        raise ConfigurationError(f"{file} is no JSON.", hint=_FORMAT)
    return _entries(found, str(file))


def _entries(given: Any, source: str) -> list[_Entry]:
    try:
        return TypeAdapter(list[_Entry]).validate_python(given)
    except ValidationError as error:
        # Values stay out of the message: one of them is a token.
        first = error.errors(include_input=False, include_url=False)[0]
    place = ".".join(map(str, first["loc"]))
    raise ConfigurationError(f"{source}: {place or 'it'}: {first['msg']}.", hint=_FORMAT)


def _private(file: Path) -> str:
    """Return the text of a file that nobody else may read.

    Raises:
        ConfigurationError: others may, or it cannot be read.
    """
    try:
        mode = file.stat().st_mode
        text = file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise ConfigurationError(f"{file} cannot be read: {reason}.") from None
    if os.name == "posix" and mode & _OTHERS:
        raise ConfigurationError(f"Others may read {file}.", hint=f"chmod 600 {file}")
    return text


def _tokens(entries: list[_Entry], *, read_only: bool) -> TokenTable:
    who = {
        _digest(one.token.get_secret_value().encode()): Caller(
            one.tenant, one.scope, read_only or one.read_only
        )
        for one in entries
    }
    if len(who) < len(entries):
        raise ConfigurationError("One token is there twice.", hint="Give each caller its own.")
    return TokenTable(who)


def _digest(token: bytes) -> bytes:
    return hashlib.sha256(token).digest()
