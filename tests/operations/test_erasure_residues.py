"""After an erasure the nodes are named that still hold the same words, however many there are."""

from __future__ import annotations

from typing import Any

import pytest

from graphmem import Handle
from graphmem.erasure import targets
from tests.plugins.graph import Look
from tests.plugins.texts import unlike

WORDED = ["Memory", "Belief", "Turn", "Episode", "Archive", "Event", "Reply", "Item"]
WORDS = "Xanthippe opens the payments service every Friday at noon"


def said_and_forgotten(memory: Handle, every: int, turns: int) -> tuple[Any, ...]:
    """Say words, remember and forget them; return what still holds them."""
    known = str(memory.remember(WORDS).memory_id)
    said = [WORDS if n % every == 0 else unlike(n) for n in range(turns)]
    memory.session("s").add_messages([{"role": "user", "content": one} for one in said])
    return memory.forget("memory", known, dry_run=False).elsewhere


@pytest.mark.parametrize("page", [1, 2, 7, 8])
def test_every_page_of_every_kind_is_looked_at(
    plain: Handle, look: Look, tenant: str, monkeypatch: pytest.MonkeyPatch, page: int
) -> None:
    monkeypatch.setattr(targets, "PAGE", page)
    plain.observe("the porter", "says", WORDS)
    plain.memories.deprecate(str(plain.remember(unlike(9)).memory_id), reason=WORDS)
    found = said_and_forgotten(plain, every=3, turns=7)
    query = (
        "MATCH (n:$any($labels)) WHERE n.tenant = $tenant "
        "AND any(k IN keys(n) WHERE n[k] IS :: STRING AND n[k] CONTAINS $words) "
        "RETURN labels(n)[0] AS label, n.id AS id"
    )
    holding = look.rows(query, tenant=tenant, labels=WORDED, words=WORDS)
    assert {(x.label, x.id) for x in found} == {(row["label"], row["id"]) for row in holding}
    assert {one.label for one in found} == {"Turn", "Event", "Belief"}


def test_of_many_the_first_are_named(plain: Handle) -> None:
    found = said_and_forgotten(plain, every=1, turns=targets.SHOWN + 5)
    assert len(found) == targets.SHOWN
