"""The types that a user's checker sees: mypy reads this file with the rest of the tests."""

from __future__ import annotations

from typing import assert_type

from graphmem import (
    AsyncHandle,
    AsyncSession,
    CommitOutcome,
    EvidenceReceipt,
    Handle,
    Recollection,
    Session,
    Slot,
)


def blocking(mem: Handle) -> None:
    """Check the calls of a blocking client."""
    with mem.session("s1") as session:
        assert_type(session, Session)
        assert_type(session.remember("Alice likes tea."), CommitOutcome)
    assert_type(mem.scope("user:alice"), Handle)
    assert_type(mem.observe("alice", "likes", "tea", kind="refuting"), EvidenceReceipt)
    assert_type(mem.recall("tea", policy="flat"), Recollection)
    assert_type(mem.current("alice", "likes"), Slot)


async def awaited(mem: AsyncHandle) -> None:
    """Check the calls of an awaited client."""
    async with mem.session("s1") as session:
        assert_type(session, AsyncSession)
        assert_type(await session.remember("Alice likes tea."), CommitOutcome)
    assert_type(await mem.current("alice", "likes"), Slot)
