"""Errors of graphmem, each with a stable code and a hint.

The class docstring is the default message, so the text is written once.
"""

from __future__ import annotations

import re
from typing import ClassVar

_WORD = re.compile(r"(?<!^)(?=[A-Z])")


class GraphmemError(Exception):
    """Base class of graphmem's errors."""

    code: ClassVar[str] = "graphmem"
    """Stable snake_case name, derived from the class name; programs may match on it."""
    default_hint: ClassVar[str] = ""

    def __init_subclass__(cls) -> None:
        cls.code = _WORD.sub("_", cls.__name__.removesuffix("Error")).lower()

    def __init__(self, message: str = "", *, hint: str = "") -> None:
        self.message = message or (type(self).__doc__ or "").splitlines()[0]
        self.hint = hint or self.default_hint
        super().__init__(self.message)

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class ConfigurationError(GraphmemError):
    """A setting is invalid."""


class ModelMismatchError(ConfigurationError):
    """The graph was filled with another embedding model."""

    default_hint = (
        "Open it with the recorded model, or run `graphmem admin reembed --model M` to switch to "
        "another one."
    )


class ReembeddingError(ConfigurationError):
    """The graph is between two embedding models."""


class LanguageMismatchError(ConfigurationError):
    """The full-text indexes of this graph use another language."""

    default_hint = "Run `graphmem admin migrate` to rebuild them, or set GRAPHMEM_LANGUAGE."


class DatabaseNotFoundError(ConfigurationError):
    """The server has no database of this name."""

    default_hint = (
        "Set GRAPHMEM_DATABASE to a name that `SHOW DATABASES` lists, or unset it for the user's "
        "home database."
    )


class CatalogError(GraphmemError):
    """A Cypher file contradicts its header."""


class SchemaError(GraphmemError):
    """The graph's schema does not match this version of graphmem."""


class MigrationPendingError(SchemaError):
    """Migrations have not been applied."""

    default_hint = "Run `graphmem admin migrate`."


class MigrationChangedError(SchemaError):
    """An applied migration has changed since, or is unknown to this version."""

    default_hint = "Install the graphmem version that applied it, or a newer one."


class MigrationLockedError(SchemaError):
    """Another process is migrating this graph."""

    default_hint = (
        "Wait for it to finish and run `graphmem admin migrate` again. If its process died, the "
        "lease ends by itself within a minute."
    )


class InvalidInputError(GraphmemError):
    """An argument is invalid."""


class AmbiguousIdError(InvalidInputError):
    """Several ids begin with this short id."""

    default_hint = "Give more characters of the id, or all of them."


class SourceFileError(InvalidInputError):
    """A conversation file cannot be read."""


class DigestFileError(InvalidInputError):
    """A digest cannot be read or written."""


class ExportFileError(InvalidInputError):
    """An export cannot be read or written."""


class RefusedError(GraphmemError):
    """The request breaks a rule of the domain."""


class EventConflictError(RefusedError):
    """This id already exists with other content."""

    default_hint = "Use a new id, or send the same content as before."


class ErasedError(RefusedError):
    """It was erased and must not be written again."""

    default_hint = (
        "Nothing was written. Omit it, or use a new id, or another session, to store it again."
    )

    def __init__(
        self,
        message: str = "",
        *,
        hint: str = "",
        ids: frozenset[str] = frozenset(),
        places: frozenset[tuple[str, str | None]] = frozenset(),
    ) -> None:
        super().__init__(message, hint=hint)
        self.ids = ids
        """Ids of erased items that were to be written again."""
        self.places = places
        """Erased scopes that were to be written to, with their tenants; None as scope for a whole
        tenant."""


class TenantMovedError(RefusedError):
    """The tenant moved to another server."""

    default_hint = (
        "Nothing was written. Open a client for that server; this one only reads what was here."
    )

    def __init__(self, message: str = "", *, hint: str = "", tenant: str = "") -> None:
        super().__init__(message, hint=hint)
        self.tenant = tenant
        """Name of the tenant."""


class ContentRefusedError(RefusedError):
    """The text breaks a hygiene rule."""


class ForeignScopeError(RefusedError):
    """It belongs to another scope."""

    default_hint = "Open a handle on that scope to change it."


class SelfSupersessionError(RefusedError):
    """A memory cannot supersede itself."""

    default_hint = "Give a text that differs from the memory that it replaces."


class ArchiveDamagedError(RefusedError):
    """The text of an archive does not match its checksum."""

    default_hint = "Nothing was changed. Restore the graph from a backup, or add the episode again."


class ImportConflictError(RefusedError):
    """A record of the file contradicts existing data."""

    default_hint = "Nothing of its batch was written. Import into a new tenant."


class NameChainError(RefusedError):
    """A name would be an alias of an alias."""

    default_hint = "Make both aliases of the same name."


class ForkedChainError(RefusedError):
    """The chain of this memory has several heads."""


class CardinalityConflictError(RefusedError):
    """A predicate was declared with the other cardinality."""


class PersonOnlyError(RefusedError):
    """The handle must be a person's."""

    default_hint = (
        "Nothing was written. Let a person do it, on the command line or by a handle without "
        "`trust`."
    )


class RejectedError(RefusedError):
    """A person rejected this value."""

    default_hint = "Nothing was written. Give another value, or let a person `unreject` this one."


class SupersededBeliefError(RefusedError):
    """The belief was superseded already."""

    default_hint = "Revise the head of its chain instead; `chain` shows it."


class NotFoundError(GraphmemError):
    """Nothing visible to this handle has this id."""

    default_hint = "Check the id, the tenant and the scopes of the handle."


class UnavailableError(GraphmemError):
    """A required service cannot be reached now; it may work later."""


class GraphUnavailableError(UnavailableError):
    """Neo4j cannot be reached."""

    default_hint = "Run `graphmem server doctor`."


class IndexNotReadyError(UnavailableError):
    """An index that the search needs is still being populated."""

    default_hint = (
        "`graphmem admin migrate` returns when every index is ready; with --check it lists those "
        "that are not."
    )


class ReadConflictError(UnavailableError):
    """Data was deleted while it was read."""

    default_hint = "Retry: the next read no longer finds it."


class LeaseLostError(UnavailableError):
    """Another worker has resumed this run: the lease expired before it was renewed."""

    default_hint = "Everything written so far stays; the other worker finishes the run."


class DigestLockedError(UnavailableError):
    """Another process is writing the digest."""

    default_hint = "Wait for it and retry; a process that died holds no lock."


class StillStartingError(UnavailableError):
    """The database is still starting."""

    default_hint = "Continue without memory and call again in some seconds."


class TenantArrivingError(UnavailableError):
    """The tenant is being moved to this server."""

    default_hint = "Nothing was written. Write to it where it comes from, or wait and retry."


class ModelUnavailableError(UnavailableError):
    """The embedding or language model cannot be reached."""


class ModelUnansweredError(ModelUnavailableError):
    """The model answers other requests, but not this one."""

    default_hint = "The text may be too long or too slow for it; it is tried again later."


class ModelFetchError(ModelUnavailableError):
    """The files of a local model could not be fetched."""


class LocalServerError(UnavailableError):
    """The managed Neo4j server did not start."""

    default_hint = "Run `graphmem server doctor`."

    def __init__(self, message: str = "", *, hint: str = "", log_tail: str = "") -> None:
        super().__init__(message, hint=hint)
        self.log_tail = log_tail

    def __str__(self) -> str:
        tail = f"\nLast lines of its log:\n{self.log_tail}" if self.log_tail else ""
        return super().__str__() + tail


class ServerFetchError(LocalServerError):
    """The files of the managed server could not be fetched."""


class ProceduresNotBuiltError(LocalServerError):
    """The plugin of procedures could not be compiled."""

    default_hint = "Everything else works without it."


class ServerLockedError(LocalServerError):
    """Another process owns this data folder."""


class ClientClosedError(GraphmemError):
    """The client is closed."""

    default_hint = "Call `GraphMem.open()` again; use the new client and its handles."


class EventLoopError(GraphmemError):
    """The client belongs to another event loop, which still runs."""

    default_hint = "Open one `AsyncGraphMem` in each event loop."


class GraphAccessError(GraphmemError):
    """Neo4j refused the credentials or the permission."""

    default_hint = "Check GRAPHMEM_USER and GRAPHMEM_PASSWORD."


class GraphQueryError(GraphmemError):
    """Neo4j refused a query."""

    default_hint = "graphmem needs Neo4j 2026.08 or later; `graphmem server doctor` checks it."


class ModelReplyError(GraphmemError):
    """The model's reply is invalid."""

    def __init__(self, message: str = "", *, hint: str = "", raw: str = "") -> None:
        super().__init__(message, hint=hint)
        self.raw = raw
        """The language model's last reply. Neither the message nor `repr` shows it."""


class SuspendedInSyncError(GraphmemError):
    """Blocking code reached a suspending await: a bug in graphmem."""

    default_hint = "Please report it with the traceback."
