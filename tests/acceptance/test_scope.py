"""Scope: what one scope stores is not returned in another, whatever is asked."""

from __future__ import annotations

import contextlib

import pytest

from graphmem import Handle
from graphmem.errors import GraphmemError
from graphmem.settings import Settings
from tests.acceptance.surfaces import OverMcp, RefusedError, Surface
from tests.plugins.episodes import FEW, SWIMS, tell
from tests.plugins.graph import Look

SECRET = "Alice keeps the spare key of the boathouse under slate 7319."
QUESTION = "where is the spare key of the boathouse?"
CODE = "7319"
WIDENING = ["user:alice", "*", "", "user:*", "%", "user:alice*", ["user:alice"], ["*"], [""], None]


def test_a_memory_is_present_in_its_scope_and_absent_from_others(surface: Surface) -> None:
    surface.remember(SECRET, "user:alice")
    assert any(CODE in text for text in surface.recall(QUESTION, "user:alice"))
    assert CODE in surface.prompt(QUESTION, "user:alice")
    for other in ("user:bob", "global", "user:alice2"):
        assert CODE not in str(surface.recall(QUESTION, other))
        assert CODE not in surface.prompt(QUESTION, other)


@pytest.mark.parametrize("name", ["scope", "scopes", "read_scopes", "tenant", "user_id"])
def test_a_caller_cannot_widen_its_scope_by_an_argument(
    known: Settings, plain: Handle, tenant: str, name: str
) -> None:
    plain.scope("user:alice").remember(SECRET)
    mcp = OverMcp(known, tenant, plain)
    assert CODE in mcp.call("user:alice", "recall", query=QUESTION)[0]
    # One name that the tools know, and others that they do not.
    for value in WIDENING if name == "scopes" else ["user:alice", ["*"]]:
        for tool, asked in (("recall", {"query": QUESTION}), ("context", {"about": QUESTION})):
            try:
                seen = mcp.call("user:bob", tool, **asked, **{name: value})
            except RefusedError as error:
                seen = (str(error), None)
            assert CODE not in str(seen), (tool, name, value)


def test_a_handle_reads_the_scopes_that_it_was_given_and_no_other(plain: Handle) -> None:
    plain.scope("user:alice").remember(SECRET)
    bob = plain.scope("user:bob", read_scopes=["user:bob", "global"])
    both = plain.scope("user:bob", read_scopes=["user:bob", "user:alice"])
    assert [one.text for one in both.recall(QUESTION, scopes=["user:alice"]).bites] == [SECRET]
    for value in WIDENING:
        names = value if isinstance(value, list) else None if value is None else [value]
        with contextlib.suppress(GraphmemError):
            assert bob.recall(QUESTION, scopes=names).bites == ()


def test_consolidation_caches_and_embeddings_keep_scopes_apart(
    plain: Handle, look: Look, tenant: str
) -> None:
    alice, bob = plain.scope("user:alice"), plain.scope("user:bob")
    tell(alice, SWIMS)
    bob.remember(SWIMS[0])
    assert alice.consolidate(policy=FEW).changes
    assert alice.beliefs.list().beliefs
    assert bob.beliefs.list().beliefs == ()
    assert not bob.consolidate(policy=FEW).changes
    # The same words have the same vector and are two memories, each with its own events.
    mine, theirs = alice.remember(SWIMS[0]), bob.remember(SWIMS[0])
    assert mine.memory_id != theirs.memory_id
    assert plain.admin.verify().wrong == ()
    plain.admin.rebuild()
    assert bob.beliefs.list().beliefs == ()
    scopes = look.rows(
        "MATCH (a {tenant: $tenant})-[r]->(b {tenant: $tenant}) "
        "WHERE a.scope <> b.scope AND NOT b:Predicate AND NOT a:Predicate "
        "RETURN labels(a) AS a, type(r) AS r, labels(b) AS b",
        tenant=tenant,
    )
    assert scopes == []
