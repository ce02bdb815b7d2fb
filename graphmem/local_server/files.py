"""The data folder of the managed server, private files, and inherited environment variables."""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from pydantic import SecretStr

from graphmem.errors import LocalServerError, ServerLockedError
from graphmem.folders import cache_folder, home_folder
from graphmem.local_server.styling import style_command
from graphmem.private_files import make_folder, remove_others_access, write_private
from graphmem.settings import Settings

INHERITED = frozenset(
    # Locations of programs, libraries and folders.
    {"PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "TMP", "TEMP"}
    | {"LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "NIX_LD", "NIX_LD_LIBRARY_PATH"}
    # Language of messages and time zone.
    | {"LANG", "LANGUAGE", "TZ", "TZDIR"}
    # Variables without which programs on Windows do not start.
    | {"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "USERNAME", "USERPROFILE"}
    | {"APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE"}
)
"""Variables that a process of the server inherits, in upper case; in addition to `LC_…`."""

DATABASE_FOLDERS = ("databases", "transactions")
"""Folders that contain one folder per database."""
PAGE_CACHE = "server.memory.pagecache.size"
HARDENING = {
    # Otherwise anyone with the password could read this user's files and call any address.
    "dbms.security.allow_csv_import_from_file_urls": "false",
    "internal.dbms.cypher_ip_blocklist": "0.0.0.0/0,::/0",
    # Its procedures would connect the server to a Neo4j service that can copy the data.
    "dbms.fleet_manager.enabled": "false",
    # Applies to procedures and functions in plugins; Neo4j's own are always available.
    "dbms.security.procedures.allowlist": "graphmem.*",
}
"""Neo4j's settings that keep queries away from files, networks and other code."""
PLANS = {"dbms.cypher.min_replan_interval": "60s"}
"""Minimum lifetime of a query plan. While a graph is filled, every plan becomes stale, and planning
recall again takes seconds; Neo4j's default is 10s. A plan made for a small graph may scan instead
of using an index, so the lifetime is not much longer."""
VECTORS = {"internal.dbms.index.vector.standard_merge_factor": "10"}
"""Number of parts of about one size of a vector index that are merged into one. With Neo4j's
default of 50, searches found fewer of the nearest among a million memories."""


def environment(*prefixes: str) -> dict[str, str]:
    """Return the environment of a process of the server, with variables of these prefixes.

    The list is of allowed variables, because the keys of model providers have arbitrary names.
    """
    return {
        name: value
        for name, value in os.environ.items()
        if name.upper() in INHERITED or name.startswith(("LC_", *prefixes))
    }


@dataclass(frozen=True)
class ServerState:
    """The server last started on a data folder; it may have ended since."""

    pid: int
    started_at: float
    """Seconds since the epoch."""
    bolt_port: int
    http_port: int
    version: str
    log_from: int
    """Length of Neo4j's log before this start, bytes."""
    login: str = ""
    """SHA-256 digest of the password that it accepted; empty before the first login."""

    @property
    def uri(self) -> str:
        """Address of the Bolt port."""
        return f"bolt://127.0.0.1:{self.bolt_port}"


@dataclass(frozen=True)
class DataFolder:
    """One data folder. It is Neo4j's home, so everything that Neo4j writes stays inside."""

    root: Path

    @classmethod
    def of(cls, settings: Settings) -> DataFolder:
        """Return the data folder of the settings."""
        return cls(home_folder(settings.home) / "server")

    @property
    def conf(self) -> Path:
        """Folder of Neo4j's configuration."""
        return self.root / "conf"

    @property
    def plugins(self) -> Path:
        """Folder whose jars Neo4j loads when it starts."""
        return self.root / "plugins"

    @property
    def imports(self) -> Path:
        """Folder that LOAD CSV may read from; always empty."""
        return self.root / "import"

    @property
    def password_file(self) -> Path:
        """File that contains only the password."""
        return self.root / "password"

    @property
    def state_file(self) -> Path:
        """File of the state of the server last started."""
        return self.root / "state.json"

    @property
    def has_data(self) -> bool:
        """Whether Neo4j was ever started on this folder."""
        return (self.root / "data" / "databases").exists()

    def create(self) -> None:
        """Create the folder, accessible only to its owner."""
        make_folder(self.root, setting="GRAPHMEM_HOME")
        remove_others_access(self.root, setting="GRAPHMEM_HOME")
        self.conf.mkdir(exist_ok=True)
        (self.root / "logs").mkdir(exist_ok=True)
        self.imports.mkdir(mode=0o500, exist_ok=True)

    @contextmanager
    def locked(self, timeout_s: float) -> Iterator[None]:
        """Hold the folder while the block starts or stops its server.

        The operating system frees the lock when its owner ends.
        """
        from filelock import FileLock, Timeout

        try:
            with FileLock(self.root / "start.lock", timeout=timeout_s):
                yield
        except Timeout:
            raise ServerLockedError(
                f"Another process has been starting or stopping the server in {self.root} "
                f"for more than {timeout_s:.0f} s.",
                hint="Wait for it, or stop that process.",
            ) from None

    def password(self) -> SecretStr:
        """Return the password of this data folder; generate it on first use."""
        try:
            text = self.password_file.read_text(encoding="utf-8").strip()
        except FileNotFoundError:
            text = ""
        except (OSError, UnicodeDecodeError) as error:
            raise LocalServerError(
                f"The password file {self.password_file} cannot be read ({error}).",
                hint="Make it readable for your user.",
            ) from None
        if text:
            return SecretStr(text)
        if self.has_data:
            raise LocalServerError(
                f"The password file {self.password_file} is missing or empty, "
                "and the data there is protected by it.",
                hint="Restore the file, or set GRAPHMEM_HOME to another folder for a new graph.",
            )
        # Hexadecimal, so that no character is special on a command line or in an argument file.
        text = secrets.token_hex(24)
        write_private(self.password_file, text + "\n")
        return SecretStr(text)

    def read_state(self) -> ServerState | None:
        """Return the state of the last started server; None if there is none or it is damaged."""
        try:
            return ServerState(**json.loads(self.state_file.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None

    def write_state(self, state: ServerState) -> None:
        """Write the state of a started server atomically."""
        write_private(self.state_file, json.dumps(asdict(state)))

    def mark_asked(self) -> None:
        """Record, in the time of the state file, that a client is about to use the server."""
        os.utime(self.state_file)

    def forget_state(self) -> None:
        """Remove the state, because no server is running."""
        self.state_file.unlink(missing_ok=True)

    def claim_version(self, version: str) -> None:
        """Record that this version of Neo4j writes the data from now on."""
        previous = self.data_version()
        if previous and version_key(previous) > version_key(version):
            raise newer_data_error(self.root, previous, version)
        write_private(self.root / "version", version + "\n")

    def data_version(self) -> str | None:
        """Return the version of Neo4j that last wrote the data; None if there is none."""
        try:
            return (self.root / "version").read_text(encoding="utf-8").strip() or None
        except (FileNotFoundError, NotADirectoryError):
            return None

    def set_aside(self, database: str) -> None:
        """Move a database aside before another one is loaded; see `undo_set_aside`."""
        shutil.rmtree(self.replaced, ignore_errors=True)
        for kind in DATABASE_FOLDERS:
            (self._aside / kind).mkdir(parents=True, exist_ok=True)
            with suppress(FileNotFoundError):
                (self.root / "data" / kind / database).replace(self._aside / kind / database)

    def confirm_replacement(self) -> None:
        """Record that the new database is complete and replaces the one that was put aside."""
        self._aside.replace(self.replaced)

    def undo_set_aside(self, aside: Path | None = None) -> None:
        """Undo a `set_aside` whose restore failed or was killed.

        Args:
            aside: folder of the moved database; by default the one that `set_aside` uses.
        """
        source = aside or self._aside
        for moved in source.glob("*/*"):
            place = self.root / "data" / moved.parent.name / moved.name
            shutil.rmtree(place, ignore_errors=True)
            moved.replace(place)
        shutil.rmtree(source, ignore_errors=True)

    @property
    def replaced(self) -> Path:
        """Folder of the database that a restored one replaced."""
        return self.root / "replaced"

    @property
    def rewritten(self) -> Path:
        """Neo4j home in which `compact` writes the new files of the database."""
        return self.root / "rewritten"

    def remove_leftovers(self) -> None:
        """Remove files of a killed `restore` or `compact`; they may contain erased data."""
        shutil.rmtree(self.replaced, ignore_errors=True)
        shutil.rmtree(self.rewritten, ignore_errors=True)

    @property
    def _aside(self) -> Path:
        return self.root / "aside"

    def configured(self, name: str) -> str | None:
        """Return a Neo4j setting of the last start; None if it was not set."""
        try:
            text = (self.conf / "neo4j.conf").read_text(encoding="utf-8")
        except (FileNotFoundError, NotADirectoryError):
            return None
        pairs = (line.partition("=") for line in text.splitlines())
        return next((value for key, _, value in pairs if key == name), None)

    def write_configuration(self, settings: Settings, *, bolt_port: int, http_port: int) -> None:
        """Write neo4j.conf for one start."""
        lines = {
            "server.default_listen_address": "127.0.0.1",
            "server.default_advertised_address": "127.0.0.1",
            "server.bolt.listen_address": f"127.0.0.1:{bolt_port}",
            "server.bolt.advertised_address": f"127.0.0.1:{bolt_port}",
            "server.http.listen_address": f"127.0.0.1:{http_port}",
            "server.http.advertised_address": f"127.0.0.1:{http_port}",
            "server.https.enabled": "false",
            "server.fleet_discovery.enabled": "false",
            "server.memory.heap.initial_size": settings.heap,
            "server.memory.heap.max_size": settings.heap,
            PAGE_CACHE: settings.page_cache,
            "server.directories.import": self.imports.name,
            **HARDENING,
            "db.transaction.timeout": "30s",
            **PLANS,
            **VECTORS,
            # Otherwise each of the two databases allocates 256 MB of zeros before the first node.
            "db.tx_log.preallocate": "false",
            # Erased data stays in a log file until the file is deleted; the default keeps two days
            # and two GB.
            "db.tx_log.rotation.retention_policy": "keep_none",
            "db.tx_log.rotation.size": "16M",
            # The databases are closed by then; the default waits ten more seconds.
            "internal.dbms.bolt.netty_server_shutdown_quiet_period_duration": "0s",
            "db.logs.query.enabled": "OFF",
            "dbms.usage_report.enabled": "false",
            "client.allow_telemetry": "false",
            "browser.post_connect_cmd": style_command(),
        }
        text = "# Written at every start; changes here are lost.\n" + "".join(
            f"{name}={value}\n" for name, value in lines.items()
        )
        write_private(self.conf / "neo4j.conf", text)


def cache_root(settings: Settings) -> Path:
    """Return the folder of files that can be fetched or built again."""
    return cache_folder(settings.cache) / "server"


def version_key(version: str) -> tuple[int, ...]:
    """Return a sort key of a Neo4j version, so that 2026.10 comes after 2026.9."""
    return tuple(int(number) for number in re.findall(r"\d+", version))


def newer_data_error(root: Path, found: str, ours: str) -> LocalServerError:
    """Return the exception for a data folder that a newer Neo4j wrote."""
    return LocalServerError(
        f"The data in {root} were written by Neo4j {found}; this graphmem runs Neo4j {ours}, "
        "which cannot read them.",
        hint="Install a newer graphmem, or set GRAPHMEM_HOME to another folder.",
    )
