"""Every error graphmem raises, each with a stable code and a hint.

The class docstring is the default message, so the text is written once.

    GraphmemError
    ├─ ConfigurationError            a setting does not fit; found before any write
    │  ├─ ModelMismatchError         the graph was filled with another embedding model
    │  ├─ ReembeddingError           the graph is between two embedding models
    │  └─ LanguageMismatchError      its words are indexed in another language
    ├─ CatalogError                  a Cypher file contradicts its header
    ├─ SchemaError
    │  ├─ MigrationPendingError · MigrationChangedError · MigrationLockedError
    ├─ InvalidInputError             an argument breaks the contract of the call
    │  ├─ SourceFileError            a conversation file cannot be read; names the line
    │  ├─ DigestFileError            a digest cannot be read or written; names the line
    │  └─ ExportFileError            an export cannot be read or written; names the line
    ├─ RefusedError                  the request is well formed and breaks a rule of the domain
    │  ├─ EventConflictError         the id exists with other content
    │  ├─ ErasedError                it was forgotten and does not come back
    │  ├─ ContentRefusedError        hygiene refuses a text that must be kept word for word
    │  ├─ ForeignScopeError          what belongs to another scope is not this handle's to change
    │  ├─ SelfSupersessionError
    │  ├─ ArchiveDamagedError        what it holds is not what was put into it
    │  ├─ ImportConflictError        a record contradicts what is there; names its line
    │  ├─ NameChainError             a name would stand for one that stands for another
    │  └─ SupersededBeliefError      something else stands in its place already
    ├─ NotFoundError                 nothing visible has this id
    ├─ UnavailableError              may work later
    │  ├─ GraphUnavailableError · ModelUnavailableError
    │  ├─ IndexNotReadyError         a search would find less than there is
    │  ├─ ReadConflictError          something was deleted while it was read
    │  ├─ LeaseLostError             another worker has gone on with the work
    │  ├─ DigestLockedError          another process was at the file for too long
    │  ├─ StillStartingError         the memory server answers and its database is on its way
    │  └─ LocalServerError           the managed server did not start; carries the log's tail
    │     ├─ ServerFetchError        its files could not be fetched or were damaged
    │     ├─ ProceduresNotBuiltError the compiler refused the plugin of procedures
    │     └─ ServerLockedError       another process owns the data folder
    ├─ GraphAccessError              the server refused the credentials
    ├─ GraphQueryError               the server refused a query
    ├─ ModelReplyError               the model answered outside its contract
    └─ SuspendedInSyncError          a bug in graphmem: blocking code met a real await
"""

from __future__ import annotations

import re
from typing import ClassVar

_WORD = re.compile(r"(?<!^)(?=[A-Z])")


class GraphmemError(Exception):
    """Something went wrong in graphmem."""

    code: ClassVar[str] = "graphmem"
    """Stable snake_case name, made from the class name; programs may match on it."""
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
    """A setting does not fit."""


class ModelMismatchError(ConfigurationError):
    """The graph was filled with another embedding model."""

    default_hint = (
        "Open it with the recorded model, or run `graphmem admin reembed --model M` to go over to "
        "another one."
    )


class ReembeddingError(ConfigurationError):
    """The graph is on its way from one embedding model to another."""


class LanguageMismatchError(ConfigurationError):
    """The words of this graph are indexed in another language."""

    default_hint = "Run `graphmem admin migrate` to index them anew, or set GRAPHMEM_LANGUAGE."


class CatalogError(GraphmemError):
    """A Cypher file contradicts its header."""


class SchemaError(GraphmemError):
    """The graph's schema is not what this version of graphmem needs."""


class MigrationPendingError(SchemaError):
    """Migrations have not been applied."""

    default_hint = "Run `graphmem admin migrate`."


class MigrationChangedError(SchemaError):
    """A migration that was applied has changed since, or is unknown here."""

    default_hint = "Install the graphmem version that applied it, or a newer one."


class MigrationLockedError(SchemaError):
    """Another process is migrating this graph."""

    default_hint = "Wait for it to finish and try again; a lock left by a crash expires by itself."


class InvalidInputError(GraphmemError):
    """An argument breaks the contract of the call."""


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

    default_hint = "Use a new id, or send exactly what was sent before."


class ErasedError(RefusedError):
    """It was forgotten and does not come back."""

    default_hint = "Nothing was written. Leave it out; what is to be known again needs a new id."

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
        """Of what was forgotten and was to be written again."""
        self.places = places
        """Tenants (with None) and scopes that were forgotten and were to be written to."""


class ContentRefusedError(RefusedError):
    """The text breaks a hygiene rule."""


class ForeignScopeError(RefusedError):
    """It belongs to another scope."""

    default_hint = "Open a handle on that scope to change it."


class SelfSupersessionError(RefusedError):
    """A memory cannot supersede itself."""

    default_hint = "Give a text that differs from the memory it replaces."


class ArchiveDamagedError(RefusedError):
    """An archive holds another text than was put into it."""

    default_hint = "Nothing was changed. Restore the graph from a backup, or add the episode again."


class ImportConflictError(RefusedError):
    """A record of the file contradicts what is there."""

    default_hint = "Nothing of its batch was written. Import into a tenant of its own."


class NameChainError(RefusedError):
    """A name would stand for one that stands for another itself."""

    default_hint = "Let both stand for the same name."


class SupersededBeliefError(RefusedError):
    """The belief was superseded already."""

    default_hint = "Revise what stands at the end of its chain: `chain` shows it."


class NotFoundError(GraphmemError):
    """Nothing visible to this handle has this id."""

    default_hint = "Check the id, the tenant and the scopes of the handle."


class UnavailableError(GraphmemError):
    """Something this needs cannot be reached now; it may work later."""


class GraphUnavailableError(UnavailableError):
    """Neo4j cannot be reached."""

    default_hint = "Run `graphmem server doctor`."


class IndexNotReadyError(UnavailableError):
    """An index that the search needs is still being filled."""

    default_hint = (
        "`graphmem admin migrate` returns when every index is ready, with --check it says which "
        "is not."
    )


class ReadConflictError(UnavailableError):
    """Something was deleted while it was read."""

    default_hint = "Try again: the next read finds the graph without it."


class LeaseLostError(UnavailableError):
    """Another worker has gone on with this run: the lease ran out before its next sign of life."""

    default_hint = "What was written stays; the other worker finishes the run."


class DigestLockedError(UnavailableError):
    """Another process is writing the digest."""

    default_hint = "Wait for it and try again; a process that died holds no lock."


class StillStartingError(UnavailableError):
    """The database is still being started."""

    default_hint = "Go on without memory and call again in some seconds."


class ModelUnavailableError(UnavailableError):
    """The embedding or language model cannot be reached."""


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
    """The plugin of CALLable procedures could not be compiled."""

    default_hint = "Everything else works without it."


class ServerLockedError(LocalServerError):
    """Another process owns this data folder."""


class GraphAccessError(GraphmemError):
    """Neo4j refused the credentials or the permission."""

    default_hint = "Check GRAPHMEM_USER and GRAPHMEM_PASSWORD."


class GraphQueryError(GraphmemError):
    """Neo4j refused a query."""

    default_hint = "graphmem needs Neo4j 2026.08 or later; `graphmem server doctor` checks it."


class ModelReplyError(GraphmemError):
    """The model answered outside its contract."""

    def __init__(self, message: str = "", *, hint: str = "", raw: str = "") -> None:
        super().__init__(message, hint=hint)
        self.raw = raw
        """What a language model answered last. Neither the message nor `repr` shows it."""


class SuspendedInSyncError(GraphmemError):
    """Blocking code met a real await: a bug in graphmem."""

    default_hint = "Please report it with the traceback."
