"""Translation of Neo4j's error codes: retry, correct the login, or correct the query."""

from __future__ import annotations

import pytest
from neo4j.exceptions import Neo4jError, ServiceUnavailable

from graphmem.errors import GraphAccessError, GraphmemError, GraphQueryError, GraphUnavailableError
from graphmem.graph.driver import translated

CODES = {
    # Seen while a disk was full, and afterwards until the server was restarted.
    "Neo.DatabaseError.Transaction.TransactionStartFailed": GraphUnavailableError,
    "Neo.DatabaseError.Transaction.TransactionLogError": GraphUnavailableError,
    "Neo.DatabaseError.Transaction.TransactionCommitFailed": GraphUnavailableError,
    "Neo.ClientError.Transaction.LockClientStopped": GraphUnavailableError,
    # Met while a server stopped.
    "Neo.ClientError.Transaction.Terminated": GraphUnavailableError,
    "Neo.TransientError.Transaction.DeadlockDetected": GraphUnavailableError,
    "Neo.ClientError.Transaction.TransactionTimedOut": GraphUnavailableError,
    "Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration": GraphUnavailableError,
    "Neo.ClientError.Security.Unauthorized": GraphAccessError,
    "Neo.ClientError.Security.AuthenticationRateLimit": GraphAccessError,
    "Neo.ClientError.Statement.SyntaxError": GraphQueryError,
    "Neo.DatabaseError.Statement.ExecutionFailed": GraphQueryError,
}


@pytest.mark.parametrize(("code", "wanted"), CODES.items(), ids=CODES)
def test_a_code_says_what_to_do(code: str, wanted: type[GraphmemError]) -> None:
    with pytest.raises(wanted) as caught, translated():
        raise Neo4jError._hydrate_neo4j(code=code, message="it quotes 'opensesame'")
    assert "opensesame" not in f"{caught.value} {caught.value.hint}"
    assert caught.value.hint


@pytest.mark.parametrize("error", [ServiceUnavailable("gone"), BufferError("cannot be re-sized")])
def test_a_connection_that_broke_can_be_tried_again(error: Exception) -> None:
    with pytest.raises(GraphUnavailableError, match="cannot be reached"), translated():
        raise error
