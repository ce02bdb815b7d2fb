"""Errors: codes that programs may match on, texts that say what to do, a tree that is drawn."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from graphmem import errors
from graphmem.errors import GraphmemError, LocalServerError

CODES = {
    "GraphmemError": "graphmem",
    "ConfigurationError": "configuration",
    "ModelFetchError": "model_fetch",
    "ModelMismatchError": "model_mismatch",
    "ReembeddingError": "reembedding",
    "DatabaseNotFoundError": "database_not_found",
    "LanguageMismatchError": "language_mismatch",
    "CatalogError": "catalog",
    "SchemaError": "schema",
    "MigrationPendingError": "migration_pending",
    "MigrationChangedError": "migration_changed",
    "MigrationLockedError": "migration_locked",
    "InvalidInputError": "invalid_input",
    "AmbiguousIdError": "ambiguous_id",
    "SourceFileError": "source_file",
    "DigestFileError": "digest_file",
    "ExportFileError": "export_file",
    "RefusedError": "refused",
    "EventConflictError": "event_conflict",
    "ErasedError": "erased",
    "TenantMovedError": "tenant_moved",
    "ContentRefusedError": "content_refused",
    "ForeignScopeError": "foreign_scope",
    "SelfSupersessionError": "self_supersession",
    "ArchiveDamagedError": "archive_damaged",
    "ImportConflictError": "import_conflict",
    "NameChainError": "name_chain",
    "CardinalityConflictError": "cardinality_conflict",
    "ForkedChainError": "forked_chain",
    "SupersededBeliefError": "superseded_belief",
    "PersonOnlyError": "person_only",
    "RejectedError": "rejected",
    "NotFoundError": "not_found",
    "UnavailableError": "unavailable",
    "GraphUnavailableError": "graph_unavailable",
    "IndexNotReadyError": "index_not_ready",
    "ReadConflictError": "read_conflict",
    "LeaseLostError": "lease_lost",
    "DigestLockedError": "digest_locked",
    "StillStartingError": "still_starting",
    "TenantArrivingError": "tenant_arriving",
    "ModelUnansweredError": "model_unanswered",
    "ModelUnavailableError": "model_unavailable",
    "LocalServerError": "local_server",
    "ServerFetchError": "server_fetch",
    "ProceduresNotBuiltError": "procedures_not_built",
    "ServerLockedError": "server_locked",
    "ClientClosedError": "client_closed",
    "EventLoopError": "event_loop",
    "GraphAccessError": "graph_access",
    "GraphQueryError": "graph_query",
    "ModelReplyError": "model_reply",
    "SuspendedInSyncError": "suspended_in_sync",
}


def tree(root: type[GraphmemError]) -> Iterator[type[GraphmemError]]:
    """Yield a class and all below it that errors.py defines."""
    yield root
    for child in root.__subclasses__():
        if child.__module__ == errors.__name__:
            yield from tree(child)


ALL = sorted(tree(GraphmemError), key=lambda cls: cls.__name__)


def test_codes_are_stable() -> None:
    assert {cls.__name__: cls.code for cls in ALL} == CODES
    assert len(set(CODES.values())) == len(CODES)


def test_every_error_of_the_module_has_its_code() -> None:
    defined = {name for name, value in vars(errors).items() if isinstance(value, type)}
    assert defined == set(CODES)


@pytest.mark.parametrize("cls", ALL, ids=lambda cls: cls.__name__)
def test_an_error_says_what_and_what_to_do(cls: type[GraphmemError]) -> None:
    bare = cls()
    assert bare.message == (cls.__doc__ or "").splitlines()[0]
    assert bare.message.endswith(".")
    assert bare.hint == cls.default_hint
    assert str(bare) == f"{bare.message} {bare.hint}".strip()
    told = cls("This went wrong.", hint="Do that.")
    assert str(told) == "This went wrong. Do that."
    assert told.args == ("This went wrong.",)
    with pytest.raises(GraphmemError):
        raise told


def test_a_server_that_died_shows_the_tail_of_its_log() -> None:
    died = LocalServerError("It died.", hint="Look.", log_tail="line 1\nline 2")
    assert str(died) == "It died. Look.\nLast lines of its log:\nline 1\nline 2"
    assert "log" not in str(LocalServerError("It died.", hint="Look."))


def test_an_error_of_ones_own_gets_a_code() -> None:
    class VeryOwnError(errors.RefusedError):
        """No."""

    assert VeryOwnError.code == "very_own"
