"""graphmem's exceptions for queries that a server refuses."""

from __future__ import annotations

from neo4j import exceptions

from graphmem.errors import (
    GraphAccessError,
    GraphmemError,
    GraphQueryError,
    GraphUnavailableError,
    IndexNotReadyError,
    InvalidInputError,
)

FULLTEXT_QUERY = "db.index.fulltext.queryNodes"
TOO_MANY_TRIES = "Neo.ClientError.Security.AuthenticationRateLimit"
REFUSED_BOOKMARK = "Neo.ClientError.Transaction.InvalidBookmark"
"""Prefix of the codes for texts that are not bookmarks of this database."""
BROKEN = "Neo.DatabaseError.Transaction."
"""Prefix of the codes of a database that can no longer write, for example after its disk was full.
Every transaction fails with one of them until the server is restarted."""
ENDED = (
    "Neo.ClientError.Transaction.TransactionTimedOut",
    "Neo.ClientError.Transaction.LockClientStopped",
    "Neo.ClientError.Transaction.Terminated",
)
"""Prefixes of the codes of a transaction that reached its timeout; the second one if it waited for
a lock. A stopping server reports the last two."""


def query_error(error: exceptions.Neo4jError) -> GraphmemError:
    """Return the exception for a query that the server did not run.

    A vector search fails immediately if its index is not ready. A full-text search waits for its
    index until 30 seconds or the transaction timeout have passed, and reports which came first.
    """
    message, ended = error.message or "", (error.code or "").startswith(ENDED)
    if (known := _known(error.code or "")) is not None:
        return known
    if error.gql_status == "51N63":
        return IndexNotReadyError()
    waited = ended and FULLTEXT_QUERY in (error.gql_status_description or "")
    if waited or "online within a reasonable time" in message:
        return IndexNotReadyError("Timed out waiting for an index to come online.")
    if error.gql_status == "22N69" or "no such fulltext schema index" in message:
        return IndexNotReadyError(
            "An index that the search needs does not exist.",
            hint="Run `graphmem admin migrate --check` to find missing indexes. After `graphmem "
            "admin reembed --finish`, reopen clients that use the former model.",
        )
    if error.gql_status == "52N37" and "FAILED state" in message:
        return IndexNotReadyError("An index could not be built: its state is FAILED.")
    if ended:
        return GraphUnavailableError(
            "The transaction timed out, or Neo4j is stopping; the transaction was rolled back.",
            hint="Try again, in smaller batches or with fewer concurrent writers.",
        )
    return GraphQueryError(f"Neo4j rejected a query: {error.code} {error.gql_status}.")


def _known(code: str) -> GraphmemError | None:
    """Return the exception for a code that suffices to choose it; None for another one."""
    if code == TOO_MANY_TRIES:
        return GraphAccessError(
            "Neo4j has locked this user: a wrong password was given too often.",
            hint="Wait some seconds (5 by default), then try the correct password.",
        )
    if code.startswith(REFUSED_BOOKMARK):
        return InvalidInputError(
            "The database does not accept these bookmarks.",
            hint="Omit them. Reopen a client whose database was replaced.",
        )
    if code.startswith(BROKEN):
        return GraphUnavailableError(
            f"Neo4j cannot run transactions: {code}.",
            hint="See its log; often its disk is full. Free disk space and restart it. A write "
            "can be retried unchanged with the same id.",
        )
    return None
