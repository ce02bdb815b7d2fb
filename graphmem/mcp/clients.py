"""Configuration blocks for MCP clients, and the files that they belong in."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import SecretStr

from graphmem.errors import InvalidInputError
from graphmem.model.terms import repaired
from graphmem.rules import display, identity
from graphmem.settings import PREFIX, Settings

NAME = "graphmem"
KEY = "GM_KEY"
"""Environment variable from which a client reads its key."""
Entry = dict[str, Any]
MAX_PROJECT = 100
"""Maximum length of a project's name in a scope, in characters."""


@dataclass(frozen=True)
class Server:
    """Command that starts the server, or its URL."""

    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str | None] | None = None
    """Environment variables; None as the value marks a secret, which is never printed."""
    url: str | None = None


@dataclass(frozen=True)
class Client:
    """Configuration format of one client."""

    title: str
    file: str
    key: str
    """Key of its server entries."""
    kind: bool = False
    """Whether its entries name the transport."""
    url: str | None = "url"
    """Key of a URL; None if its file supports no URLs."""
    secret: Callable[[str], str] = "<the value of {}>".format
    """Format of a reference to a variable, so that the file contains no secret."""
    note: str = ""

    def text(self, server: Server) -> str:
        """Return the block to paste.

        Raises:
            InvalidInputError: the client's file supports no URLs.
        """
        return display.json_text(self.block(server), indent=2)

    def block(self, server: Server) -> Entry:
        """Return the block to paste as data; see `text`."""
        return {self.key: {NAME: self._entry(server)}}

    def _entry(self, server: Server) -> Entry:
        if server.url is None:
            kind = {"type": "stdio"} if self.kind else {}
            entry: Entry = {**kind, "command": server.command, "args": list(server.args)}
            if server.env:
                entry["env"] = {k: self._value(k, v) for k, v in server.env.items()}
            return entry
        if self.url is None:
            raise InvalidInputError(
                f"The configuration file of {self.title} supports no URLs.",
                hint="Let it start the server: omit --url.",
            )
        kind = {"type": "http"} if self.kind else {}
        bearer = {"Authorization": f"Bearer {self.secret(KEY)}"}
        return {**kind, self.url: server.url, "headers": bearer}

    def _value(self, name: str, value: str | None) -> str:
        return self.secret(name) if value is None else value


class VsCode(Client):
    """VS Code, which prompts for secrets and stores them."""

    def block(self, server: Server) -> Entry:
        """Return the block to paste as data; see `text`."""
        secrets = [n for n, v in (server.env or {}).items() if v is None]
        inputs = [
            {"type": "promptString", "id": name, "description": name, "password": True}
            for name in (secrets if server.url is None else [KEY])
        ]
        return super().block(server) | ({"inputs": inputs} if inputs else {})


class Codex(Client):
    """Codex, whose configuration is TOML."""

    def text(self, server: Server) -> str:
        """Return the block to paste."""
        lines = [f"[{self.key}.{NAME}]"]
        if server.url is not None:
            lines += [f"url = {_toml(server.url)}", f"bearer_token_env_var = {_toml(KEY)}"]
            return "\n".join(lines)
        lines.append(f"command = {_toml(server.command)}")
        lines.append(f"args = [{', '.join(map(_toml, server.args))}]")
        if server.env:
            lines += ["", f"[{self.key}.{NAME}.env]"]
            lines += [f"{k} = {_toml(self._value(k, v))}" for k, v in server.env.items()]
        return "\n".join(lines)


CLIENTS: Mapping[str, Client] = {
    "claude-desktop": Client(
        "Claude Desktop",
        "claude_desktop_config.json: ~/Library/Application Support/Claude on macOS, "
        "%APPDATA%\\Claude on Windows, ~/.config/Claude on Linux",
        "mcpServers",
        url=None,
        note="Quit it and start it again.",
    ),
    "claude-code": Client(
        "Claude Code",
        ".mcp.json at the root of the project",
        "mcpServers",
        kind=True,
        secret="${{{}}}".format,
    ),
    "cursor": Client(
        "Cursor",
        "~/.cursor/mcp.json, or .cursor/mcp.json of a project",
        "mcpServers",
        secret="${{env:{}}}".format,
    ),
    "vscode": VsCode(
        "VS Code",
        ".vscode/mcp.json of a project",
        "servers",
        kind=True,
        secret="${{input:{}}}".format,
    ),
    "codex": Codex("Codex", "~/.codex/config.toml", "mcp_servers"),
    "windsurf": Client(
        "Windsurf",
        "~/.codeium/windsurf/mcp_config.json",
        "mcpServers",
        url="serverUrl",
        secret="${{env:{}}}".format,
    ),
    "gemini-cli": Client(
        "Gemini CLI", "~/.gemini/settings.json", "mcpServers", url="httpUrl", secret="${}".format
    ),
    "zed": Client("Zed", "its settings.json (zed: open settings file)", "context_servers"),
}
"""Clients by the name that `--print-config` accepts."""


def started_by(settings: Settings, *more: str, environ: Mapping[str, str] | None = None) -> Server:
    """Return the command by which a client starts the server with these settings.

    Args:
        settings: settings of the server.
        more: further options.
        environ: environment, whose spelling of the settings is passed on; by default the
            process's own.
    """
    target = ("--tenant", settings.tenant, "--scope", settings.scope)
    return Server(
        command=sys.executable,
        args=("-m", "graphmem", "mcp", *target, *more),
        env=_passed_on(settings, os.environ if environ is None else environ),
    )


def project_scope(folder: Path) -> str:
    """Return the scope of the project that a folder belongs to: its name and a digest of its path.

    The project is the innermost folder with `.git`, else the folder itself. Two projects of one
    name have two scopes.
    """
    here = folder.resolve()
    root = next((one for one in (here, *here.parents) if (one / ".git").exists()), here)
    name = repaired(root.name)[:MAX_PROJECT] or "root"
    return f"project:{name}-{identity.digest(repaired(str(root)))[:6]}"


def _passed_on(settings: Settings, environ: Mapping[str, str]) -> dict[str, str | None]:
    fields = type(settings).model_fields.keys() - {"tenant", "scope"}
    passed: dict[str, str | None] = {}
    for name in sorted(fields):
        variable = f"{PREFIX}{name.upper()}"
        # A client starts the server elsewhere, where a project's settings file is not found.
        if value := environ.get(variable) or _written(settings, name):
            passed[variable] = None if _is_secret(getattr(settings, name), value) else value
    return passed


def _written(settings: Settings, name: str) -> str | None:
    """Return a setting as the value of a variable; None for a default and for a secret.

    A reference to a secret that is only in a file would name a variable that does not exist.
    """
    value = getattr(settings, name)
    if name not in settings.model_fields_set or value is None or isinstance(value, SecretStr):
        return None
    return json.dumps(value) if isinstance(value, dict | bool) else str(value)


def _toml(text: str) -> str:
    """Return a text as a TOML basic string, which has no surrogate pairs, unlike JSON.

    Raises:
        InvalidInputError: it contains half of a surrogate pair, which TOML cannot represent.
    """
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise InvalidInputError(
            "--print-config: a value is not valid Unicode, which TOML requires.",
            hint="Give names and paths in UTF-8.",
        )
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + display.escape_text(quoted, lambda character: f"\\U{ord(character):08X}") + '"'


def _is_secret(setting: object, value: str) -> bool:
    """Return whether a value must not be shown; URLs may contain passwords too."""
    if isinstance(setting, SecretStr):
        return True
    if "://" not in value:
        return False
    parts = urlsplit(value)
    return bool("@" in parts.netloc or parts.query)
