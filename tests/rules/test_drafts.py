"""Drafts of texts, and the rows to write."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.errors import InvalidInputError
from graphmem.model import NewMemory, TenantScope
from graphmem.model.terms import Embedding
from graphmem.rules import drafts, identity

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
WALL = TenantScope(tenant="acme", scope="user:alice", scopes=("user:alice", "global", "b", "a"))
FULL: dict[str, Any] = {
    "content": "Alice deploys",
    "at": NOW,
    "tags": ("a", "b"),
    "source": "hook",
    "actor": "alice",
    "artifact_ref": "x.py",
}


def draft_hash(**changed: Any) -> str:
    return drafts.draft(NewMemory(**{**FULL, **changed}), WALL, NOW, ()).request_hash


def test_a_draft_knows_its_content_in_every_visible_scope_its_own_first() -> None:
    made = drafts.draft(NewMemory(content=" Alice  deploys"), WALL, NOW, ())
    scopes = ("user:alice", "a", "b", "global")
    assert made.exact_ids == tuple(identity.memory_id(s, "Alice deploys") for s in scopes)
    assert made.memory_id == made.exact_ids[0]
    assert made.occurred_at == NOW
    assert made.content_hash == identity.content_hash("Alice deploys")


def test_an_id_is_kept_or_made() -> None:
    assert drafts.draft(NewMemory(content="x", event_id="e1"), WALL, NOW, ()).event_id == "e1"
    made = {drafts.draft(NewMemory(content="x"), WALL, NOW, ()).event_id for _ in range(5)}
    assert len(made) == 5


def test_every_field_changes_the_request_hash() -> None:
    changes: list[dict[str, Any]] = [
        {},
        {"content": "Alice sleeps"},
        {"at": NOW - timedelta(microseconds=1)},
        {"at": None},
        {"tags": ("a",)},
        {"tags": ()},
        {"tags": ("b", "a")},
        {"tags": ("a", "b", "x.py")},
        {"tags": ("a\x1fb",)},
        {"source": "manual"},
        {"actor": None},
        {"actor": "x.py", "artifact_ref": "alice"},
        {"artifact_ref": None},
        {"artifact_ref": ""},
        {"artifact_ref": "-"},
    ]
    for one, other in combinations(changes, 2):
        assert draft_hash(**one) != draft_hash(**other), (one, other)


def test_what_makes_no_difference_to_what_was_draft_hash() -> None:
    assert draft_hash(content="  Alice\ndeploys ") == draft_hash()
    assert draft_hash(at=NOW.astimezone(timezone(timedelta(hours=5)))) == draft_hash()
    assert draft_hash(event_id="e1") == draft_hash()


def test_another_scope_asks_for_something_else() -> None:
    there = WALL.model_copy(update={"scope": "global"})
    assert drafts.draft(NewMemory(**FULL), there, NOW, ()).request_hash != draft_hash()


@given(st.lists(st.none() | st.text("-+a\x1f", max_size=2), min_size=1, max_size=4))
def test_absent_and_empty_parts_have_different_hashes(parts: list[str | None]) -> None:
    for place, part in enumerate(parts):
        if part is None:
            for instead in ("", "-", "None"):
                other = [*parts[:place], instead, *parts[place + 1 :]]
                assert drafts.request_hash(*parts) != drafts.request_hash(*other)


@given(st.timedeltas(timedelta(days=-700_000), timedelta(days=700_000)))
def test_only_the_future_is_refused(ahead: timedelta) -> None:
    at = NOW + ahead
    if ahead > drafts.MAX_CLOCK_SKEW:
        with pytest.raises(InvalidInputError) as caught:
            drafts.event_time(at, NOW)
        assert caught.value.hint
    else:
        assert drafts.event_time(at, NOW) == at


def test_without_an_instant_it_happened_now() -> None:
    assert drafts.event_time(None, NOW) == NOW


def test_rows_carry_what_was_given() -> None:
    made = drafts.draft(NewMemory(**FULL, event_id="e1"), WALL, NOW, (lambda _: "no",))
    assert made.reasons == ("no",)
    memory = drafts.memory_row(made, WALL, Embedding(np.ones(2, dtype=np.float32), b"x"))
    assert memory["content"] == FULL["content"]
    assert list(memory["embedding"]) == [1.0, 1.0]
    assert memory["token_states"] == b"x"
    assert memory["scope_key"] == identity.scope_key("acme", "user:alice")
    event = drafts.event_row(made, WALL, "ADD", {"text": "漢"})
    assert (event["id"], event["type"], event["request_hash"]) == ("e1", "ADD", made.request_hash)
    assert json.loads(event["payload"]) == {"text": "漢"}
    assert (event["actor"], event["source"], event["artifact_ref"]) == ("alice", "hook", "x.py")


def test_a_restoration_is_made_from_its_statement_and_is_no_statement() -> None:
    one, other = (drafts.draft(NewMemory(**FULL, event_id=i), WALL, NOW, ()) for i in ("e1", "e2"))
    row = drafts.restore_row(one, WALL, "m_1")
    assert row == drafts.restore_row(one, WALL, "m_1")
    assert (row["type"], row["about"], row["occurred_at"]) == ("RESTORE", "m_1", NOW)
    assert row["request_hash"] != one.request_hash
    ids = {row["id"], drafts.restore_row(other, WALL, "m_1")["id"], one.event_id}
    assert len(ids) == 3


def test_a_handle_sees_its_own_scope_and_the_global_one() -> None:
    assert drafts.default_read_scopes("a") == ("a", "global")
    assert drafts.default_read_scopes("global") == ("global",)


CLAIMED: dict[str, Any] = {**FULL, "claims": (("alice", "lives_in", "Porto"),)}


def test_claims_change_the_request_hash() -> None:
    changes: list[dict[str, Any]] = [
        {"claims": ()},
        {},
        {"claims": (("alice", "lives_in", "Madrid"),)},
        {"claims": (("alice", "lives", "in Porto"),)},
        {"claims": (*CLAIMED["claims"], ("alice", "likes", "sardines"))},
        {"confidence": 0.5},
        {"source_type": "TOOL"},
        {"content": "Alice sleeps"},
        {"tags": ("a",)},
    ]
    hashes = [draft_hash(**{**CLAIMED, **change}) for change in changes]
    assert len(set(hashes)) == len(hashes)


def test_a_text_without_claims_is_hashed_as_it_always_was() -> None:
    assert draft_hash() == ("5689894bff1c25c9fa804f3fd7fea0149b72b3226eb5d596d80c6ce75a744653")


def test_only_a_text_with_claims_is_evidence() -> None:
    assert drafts.evidence_fields(NewMemory(**FULL)) == {}
    memory = NewMemory(**CLAIMED, confidence=0.6, source_type="RULE")
    assert drafts.evidence_fields(memory) == {
        "polarity": 1,
        "confidence": 0.6,
        "source_type": "RULE",
    }


def test_a_source_type_needs_a_weight() -> None:
    drafts.check_source_type("TOOL", {"TOOL": 1.0})
    with pytest.raises(InvalidInputError, match=r"'GOSSIP' has no weight\. Use one of RULE, TOOL"):
        drafts.check_source_type("GOSSIP", {"TOOL": 1.0, "RULE": 0.8})
