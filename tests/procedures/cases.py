"""What each procedure needs, so that it has something to say about the populated graph."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np

from graphmem.integrity.contents import covered
from graphmem.items import rules
from graphmem.model import Status, TenantScope
from graphmem.ports import Role, run_now
from graphmem.rules import claims, fulltext, identity, read_options, rejections, scoring
from graphmem.testing import HashEmbedder
from tests.plugins.texts import unlike
from tests.procedures.conftest import Populated

LATER = datetime(2200, 1, 1, tzinfo=UTC)
SCOPES = ["global", "alice"]
KINDS = ["memory", "belief", "turn", "episode"]
SILENT: dict[str, str] = {
    "belief/drawn": "no belief generalises others",
    "transfer/not_lifted": "nothing was imported",
    "cache/backfill_find": "every memory has an event",
    "metrics/failing_units": "no background job failed",
    "upkeep/job_units": "no background job has run",
    "upkeep/compressed_turns": "no conversation is compressed",
    "erase/memories_of": "no memory was made in a session",
    "erase/digest_files": "no episode has graduated",
    "erase/find_tombstones": "it is asked by a digest of the tenant",
    "erase/is_recorded": "it is asked by a digest of the tenant",
    "erase/records": "it is asked by a digest of the tenant",
    "seal/waiting": "no event was redacted",
    "seal/newest": "no node was sealed twice",
    "seal/uncovered": "every turn and episode is sealed",
    "seal/waiting_nodes": "no node was changed by an erasure",
}
"""Procedures that return a row that is empty, or none, and why."""


def needed(found: Populated) -> dict[str, dict[str, Any]]:
    """Return what every procedure must be given beside the tenant, by its name."""
    known, memory, belief = found.known, found.known["memory"], found.known["belief"]
    seen = {"scopes": SCOPES}
    own = {"scope": "global", **seen}
    rated = {"kinds": ["Memory", "Belief", "Episode", "Artifact"]}
    period = {"since": read_options.BEGINNING, "until": LATER}
    backfill = {"earliest": read_options.BEGINNING, "latest": LATER}
    slot = {"subject": "alice", "predicate": "works_on"}
    values = [
        claims.triple_claim("global", "alice", "works_on", value).id
        for value in ("Atlas", "o1", "o2")
    ]
    rejected = claims.statement_claim("global", unlike(997)).id
    said = rejections.text_digest(unlike(997))
    vector = _vector(unlike(1))
    fresh = {"event_id": "new", "exact_ids": [], "value_key": "none", "embedding": vector}
    repeat = {"event_id": "e1", "exact_ids": [memory], "value_key": "none", "embedding": None}
    return {
        "usage/unclosed_sessions": {"before": LATER},
        "usage/expand": {**seen, "id": memory, "around": 2, "turns": 5},
        "usage/sessionless": {**seen, **period},
        "usage/pack_candidates": {**seen, **rated},
        "usage/prune_candidates": {"scope": "global", "after_elo": 0.0},
        "usage/labels": {"scopes": SCOPES, "ids": [memory, "none"], "labels": ["Memory"]},
        "usage/faded": {"ratings": [{"elo": 1_300.0, "touched_at": LATER, "at": LATER}]},
        "usage/rated_sessions": {**seen, "after_position": 0, "top": 5},
        "usage/short_term_size": {"scopes": SCOPES},
        "usage/prune_manifest": {"scope": "global"},
        "usage/ratings": {**seen, **rated, "min_elo": 0.0, "below": 9_999.0},
        "usage/recent_log": seen,
        "usage/count_rollable": {"before": LATER},
        "usage/count_rollable_sessionless": {"before": LATER},
        "usage/sessions": {**seen, **period},
        "usage/rating_histogram": {**seen, **rated, "step": 100.0},
        "usage/stale": {**seen, "until": LATER},
        "usage/rating_updates": seen,
        "belief/chain": {**seen, "id": belief},
        "belief/current": {**own, **slot},
        "belief/drawn": {"scope": "global"},
        "belief/explain": {**own, "id": belief},
        "belief/flip_set": {**seen, "id": belief, "max_events": 1_000},
        "belief/history": {**seen, "id": belief},
        "belief/known_claims": {**own, "predicates": ["works_on"], "belief_ids": [belief]},
        "belief/long_slots": {"min_events": 2},
        "belief/predicates_of": {**seen, "names": ["alice"]},
        "belief/subjects_of": {**seen, "predicate": "works_on"},
        "predicate/find_declared": {**own, "predicates": ["works_on"], "uses": True},
        "belief/find_existing": {**seen, "event_ids": ["o1"], "belief_ids": [belief]},
        "belief/find_lost": {**own, "ids": values},
        "belief/slot_values": {**own, **slot},
        "belief/provenance": {**seen, "id": belief},
        "belief/slots": {**own, "slots": 10},
        "belief/states": own,
        "belief/test": {**seen, "id": belief},
        "belief/timeline": {**own, "id": belief, "points": 20},
        "belief/timeline_slot": {**own, **slot, "points": 20},
        "belief/unembedded": {},
        "browser/belief": {**seen, "id": belief},
        "browser/chain": {**seen, "id": memory},
        "browser/episode": {**seen, "id": known["episode"]},
        "browser/memories": seen,
        "browser/memory": {**seen, "id": memory},
        "browser/recalled": {**seen, "ids": [memory, belief]},
        "browser/slot": {**own, **slot},
        "cache/backfill_find": backfill,
        "cache/beliefs": {},
        "cache/episodes": {},
        "cache/facets": {"ids": [memory]},
        "cache/memories": {},
        "memory/get": {**seen, "ids": [memory]},
        "memory/get_as_of": {**seen, "ids": [memory]},
        "commit/find_known": {"event_ids": ["e1", "none"], "memory_ids": [memory]},
        "memory/list": seen,
        "cache/chains": {"label": "Memory", "types": ["SUPERSEDE"]},
        "cache/keys": {"label": "Memory"},
        "cache/wiring": {"stating": [], "committed": [], "telemetry": []},
        "seal/check": {"content": covered()},
        "seal/find_uncovered": {"label": "Memory", "before": LATER},
        "seal/newest": {"content": covered(), "nodes": []},
        "seal/nodes": {"content": covered(), "nodes": [{"label": "Memory", "key": memory}]},
        "seal/touched": {"nodes": [{"label": "Memory", "key": memory}]},
        "seal/uncovered": {"content": covered(), **period},
        "seal/find_late": {"telemetry": [], "before": LATER},
        "seal/head": {},
        "seal/unsealed": {"types": ["ADD"], "since": read_options.BEGINNING, "until": LATER},
        "seal/waiting": {},
        "seal/waiting_nodes": {"content": covered()},
        "memory/list_as_of": seen,
        "commit/find_existing": {
            **seen,
            "scope": "global",
            "rows": [repeat, fresh],
            "candidates": 3,
            "min_score": 0.0,
        },
        "consolidate/near_passages": {
            "scope": "global",
            "beliefs": [{"id": "new", "vector": vector}],
            "min_score": 0.0,
        },
        "consolidate/inferred": {"scope": "global"},
        "consolidate/parts": {"scope": "global", "max_depth": 2, "nearest": 5, "min_score": 0.0},
        "consolidate/standing": {"ids": ["o1"]},
        "consolidate/outcomes": {},
        "consolidate/missing_links": {"links": [{"event_id": "o1", "belief_id": "gone"}]},
        "consolidate/passages": {
            "scope": "global",
            "label": "Turn",
            "since": read_options.BEGINNING,
            "neighbours": 5,
            "beliefs": 5,
            "min_score": 0.0,
            "min_score_same": 0.0,
        },
        "consolidate/attempted": {"ids": [known["reply"]]},
        "consolidate/waiting": {"scope": "global"},
        "consolidate/state": {"scope": "global"},
        "consolidate/indexed": {"scope": "global"},
        "episode/conversations": {"scope": "global"},
        "episode/get": {**seen, "ids": [known["episode"], known["document"]]},
        "episode/history": {**seen, "episode_id": known["document"]},
        "episode/list": seen,
        "episode/find_existing": {
            "episode_id": known["episode"],
            "ids": ["1"],
            "texts": ["hello"],
            "system_roles": ["system"],
        },
        "episode/turns": {**seen, "episode_id": known["episode"]},
        "erase/beliefs_of": {
            "episodes": [known["episode"]],
            "memories": [memory],
            "beliefs": [],
            "turns": [],
        },
        "erase/count_nodes": {},
        "erase/payloads": {"ids": ["o1"]},
        "erase/digest_files": {},
        "erase/candidates": {"prefilter": "(?s).*"},
        "erase/names_of": {**own, "key": "alice"},
        "erase/items_of_person": {"names": ["alice"]},
        "erase/events": {"memories": [memory], "beliefs": [belief], "episodes": [], "turns": []},
        "erase/events_of_scope": {},
        "erase/target": {**seen, "label": "Memory", "id": memory},
        "erase/count_attached": {
            "memories": [memory],
            "beliefs": [belief],
            "episodes": [known["episode"]],
            "turns": [],
        },
        "erase/texts": {
            "memories": [memory],
            "beliefs": [belief],
            "episodes": [known["episode"]],
            "turns": [],
        },
        "erase/memories_of": {"episodes": [known["episode"]], "turns": []},
        "erase/mentions": {"marks": [memory], "event": "", "reply": ""},
        "erase/items_of_scope": {"scope": "global"},
        "erase/scopes_of": {"turns": [], "episodes": [known["episode"]], "events": ["o1"]},
        "ids/neighbours": {
            "memories": [memory],
            "beliefs": [belief],
            "turns": ["t_"],
            "episodes": [known["episode"]],
        },
        "ids/resolve": {
            **seen,
            "memories": [memory[:8]],
            "beliefs": [belief[:8]],
            "turns": [],
            "episodes": [known["episode"][:8]],
            "events": ["o1"],
            "top": 2,
        },
        "reject/events": {},
        "reject/find": {**seen, "id": rejected},
        "reject/find_missing": {
            "events": [{"id": "none", "tombstone": "none", "value_key": "none"}]
        },
        "reject/find_target": {**seen, "event_id": "j1"},
        "reject/ruled": {**seen, "keys": [rejections.value_key(found.tenant, said)]},
        "reject/values": {"label": "Belief"},
        "erase/find_tombstones": {"keys": ["none"]},
        "erase/is_recorded": {"key": "none"},
        "erase/records": {},
        "extract/find_existing": {"event_ids": ["o1", known["proposal"]], "belief_ids": [belief]},
        "extract/proposals": seen,
        "extract/proposed": {**seen, "ids": [known["proposal"]]},
        "extract/scan": {"scope": "global", "episode_id": known["episode"], "extractor": "rules"},
        "extract/recalled_texts": {
            "scope": "global",
            "session_id": "s2",
            "since": read_options.BEGINNING,
            "waiting": [],
        },
        "extract/unread_sessions": {
            "scope": "global",
            "extractor": "rules",
            "attempts": 3,
            "quiet_s": 0.0,
            "skipped": [],
        },
        "extract/vocabulary": {**own, "predicates": 10, "names": 10},
        "item/count_texts": {"scope": "global", "prefix": "a."},
        "item/expired": {"scope": "global"},
        "item/get": {"scope": "global", "ids": [rules.item_id("global", ("a", "b"), "k")]},
        "item/namespaces": {
            "scope": "global",
            "prefix": "a.",
            "conditions": [{"path": ["*", "b"], "from_end": False}],
        },
        "item/namespaces_by_suffix": {"scope": "global", "suffix": "b.", "conditions": []},
        "item/near": {
            "scope": "global",
            "low": "a.",
            "high": "a/",
            "embedding": vector,
            "facets": [],
        },
        "item/rank": {"scope": "global", "prefix": "a.", "embedding": vector, "facets": []},
        "item/search": {"scope": "global", "prefix": "a.", "facets": [], "unindexed": False},
        "lineage/chain": {**seen, "id": memory},
        "lineage/chain_as_of": {**seen, "id": memory},
        "lineage/history": {**seen, "id": memory},
        "lineage/find_existing": {**seen, "event_id": "e1", "memory_id": memory},
        "metrics/failing_units": {},
        "metrics/jobs": {},
        "metrics/known": {},
        "metrics/ratings": {"step": 100.0},
        "metrics/scopes": {},
        "metrics/sizes": {},
        "metrics/work": {},
        "alias/list": own,
        "predicate/list": own,
        "recall/hits": {"found": {"candidates": [], "filtered": False}, **own, "kinds": KINDS},
        "recall/filtered": {
            **_asked(found, facets=True),
            "cached_statuses": [*map(str, Status)],
            "max_faceted": 100,
            **period,
            "window": {
                "known": read_options.FOREVER,
                "since": read_options.BEGINNING,
                "until": LATER,
            },
        },
        "recall/current": _asked(found, facets=False),
        "recall/stored": {"scopes": ["global"], "others": []},
        "recall/vitality": {**seen, "ids": [belief]},
        "recall/trace": {**seen, "id": memory, "at": LATER},
        "transfer/taken_positions": {
            "ends": [{"id": "another", "position": 1}],
            "turns": [{"id": "another", "episode_id": known["episode"], "position": 0}],
        },
        "transfer/read": {"kind": "Event"},
        "transfer/read_auxiliary": {"kind": "Rating", "part": "Memory"},
        "transfer/not_lifted": {"ids": ["none"], "path": ""},
        "transfer/existing": {"kind": "Memory", "ids": [memory]},
        "upkeep/due_for_graduation": {
            "scope": "global",
            "scopes": SCOPES,
            "file": "MEMORY.md",
            "importance": 0.8,
            "accesses": 3,
            "until": LATER,
            "skipped": [],
        },
        "upkeep/due_for_compression": {
            "scope": "global",
            "importance": 0.8,
            "until": LATER,
            "longest": 10,
        },
        "upkeep/compressed_turns": {"scopes": SCOPES, "episode_id": known["episode"]},
        "upkeep/job_units": {"name": "extract"},
        "upkeep/scopes": {},
        "vectors/unembedded": {"kind": "memory", "tokens": True},
    }


def _asked(found: Populated, *, facets: bool) -> dict[str, Any]:
    """Return what a recall needs for a question."""
    text = f"{unlike(1)} {unlike(6)}"
    tenant_scope, statuses = (
        TenantScope(tenant=found.tenant, scopes=tuple(SCOPES)),
        [str(Status.CURRENT)],
    )
    tokens = identity.facet_keys(found.tenant, ["t"], [])
    asked = {
        "memory": fulltext.memory_query(text, tenant_scope, statuses),
        "belief": fulltext.belief_query(text, tenant_scope, statuses),
        "turn": fulltext.turn_query(text, tenant_scope),
        "episode": fulltext.episode_query(text, tenant_scope),
    }
    return {
        "scope": "global",
        "scopes": SCOPES,
        "kinds": KINDS,
        "embedding": _vector(text),
        "words": asked
        | ({"facets": fulltext.facet_query(tenant_scope, statuses, tokens)} if facets else {}),
        "query_words": scoring.question_words(text),
        "dates": [[read_options.BEGINNING, LATER]],
        "wide_pool": 100,
    }


def _vector(text: str) -> list[float]:
    [made] = run_now(HashEmbedder().embed([text], Role.QUERY))
    found: list[float] = np.asarray(made, dtype=np.float64).tolist()
    return found
