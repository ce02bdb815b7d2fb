"""What each procedure needs, so that it has something to say about the populated graph."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np

from graphmem.model import Status, TenantScope
from graphmem.ports import Role, run_now
from graphmem.rules import claims, fulltext, identity, items, read_options, scoring
from graphmem.testing import HashEmbedder
from tests.plugins.texts import unlike
from tests.procedures.conftest import Populated

LATER = datetime(2200, 1, 1, tzinfo=UTC)
SCOPES = ["global", "alice"]
SILENT: dict[str, str] = {
    "cache/backfill_nameless": "every memory has an id",
    "erase/memories_of": "no memory was made in a session",
    "erase/refused": "it is asked by a digest of the tenant",
}
"""Procedures that return a row that is empty, or none, and why."""


def needed(found: Populated) -> dict[str, dict[str, Any]]:
    """Return what every procedure must be given beside the tenant, by its name."""
    known, memory, belief = found.known, found.known["memory"], found.known["belief"]
    seen = {"scopes": SCOPES}
    rated = {"kinds": ["Memory", "Belief", "Episode", "Artifact"]}
    period = {"since": read_options.BEGINNING, "until": LATER}
    backfill = {"earliest": read_options.BEGINNING, "latest": LATER}
    slot = {"subject": "alice", "predicate": "works_on"}
    values = [
        claims.triple_claim("global", "alice", "works_on", value).id
        for value in ("Atlas", "o1", "o2")
    ]
    vector = _vector(unlike(1))
    fresh = {"event_id": "new", "exact_ids": [], "embedding": vector}
    repeat = {"event_id": "e1", "exact_ids": [memory], "embedding": None}
    return {
        "attention/abandoned": {"before": LATER},
        "attention/expand": {**seen, "id": memory, "around": 2, "turns": 5},
        "attention/homeless": {**seen, **period, "type": "SEARCH"},
        "attention/packable": {**seen, **rated},
        "attention/prunable": {
            "scope": "global",
            "kinds": ["Memory", "Belief", "Episode"],
            "after_elo": 0.0,
        },
        "attention/pruned": {"scope": "global"},
        "attention/ratings": {**seen, **rated, "least": 0.0, "below": 9_999.0},
        "attention/recent": seen,
        "attention/rollable": {"before": LATER},
        "attention/rollable_alone": {"before": LATER},
        "attention/sessions": {**seen, **period},
        "attention/spread": {**seen, **rated, "step": 100.0},
        "attention/stale": {**seen, "until": LATER},
        "attention/updates": seen,
        "belief/chain": {**seen, "id": belief},
        "belief/current": {**seen, **slot},
        "belief/explain": {**seen, "id": belief},
        "belief/flip_set": {**seen, "id": belief, "most": 1_000},
        "belief/history": {**seen, "id": belief},
        "belief/known": {"predicates": ["works_on"], "belief_ids": [belief]},
        "belief/long_slots": {"least": 2},
        "belief/look": {**seen, "event_ids": ["o1"], "belief_ids": [belief]},
        "belief/lost": {**seen, "ids": values},
        "belief/project_one": {"scope": "global", **slot},
        "belief/provenance": {**seen, "id": belief},
        "belief/slots": {**seen, "slots": 10},
        "belief/states": seen,
        "belief/test": {**seen, "id": belief},
        "belief/timeline": {**seen, "id": belief, "points": 20},
        "belief/timeline_slot": {**seen, **slot, "points": 20},
        "belief/unembedded": {},
        "browser/belief": {**seen, "id": belief},
        "browser/chain": {**seen, "id": memory},
        "browser/episode": {**seen, "id": known["episode"]},
        "browser/memories": seen,
        "browser/memory": {**seen, "id": memory},
        "browser/recalled": {**seen, "ids": [memory, belief]},
        "browser/slot": {**seen, **slot},
        "cache/backfill_edges": {**backfill, "source": "backfill"},
        "cache/backfill_look": {**backfill, "dimension": len(vector)},
        "cache/backfill_nameless": {},
        "cache/beliefs": {},
        "cache/facets": {"ids": [memory]},
        "cache/memories": {},
        "commit/get": {**seen, "ids": [memory]},
        "commit/get_as_of": {**seen, "ids": [memory]},
        "commit/known": {"event_ids": ["e1", "none"], "memory_ids": [memory]},
        "commit/list": seen,
        "commit/list_as_of": seen,
        "commit/look": {
            **seen,
            "scope": "global",
            "rows": [repeat, fresh],
            "candidates": 3,
            "least": 0.0,
        },
        "consolidate/around": {
            "scope": "global",
            "beliefs": [{"id": "new", "vector": vector}],
            "least": 0.0,
        },
        "consolidate/inferred": {"scope": "global"},
        "consolidate/kept": {},
        "consolidate/lacking": {"links": [{"event_id": "o1", "belief_id": "gone"}]},
        "consolidate/passages": {
            "scope": "global",
            "label": "Turn",
            "since": read_options.BEGINNING,
            "neighbours": 5,
            "beliefs": 5,
            "least": 0.0,
            "least_same": 0.0,
        },
        "consolidate/replies": {"ids": [known["reply"]]},
        "consolidate/state": {"scope": "global"},
        "consolidate/visible": {"scope": "global"},
        "episode/get": {**seen, "ids": [known["episode"], known["document"]]},
        "episode/look": {"episode_id": known["episode"], "ids": ["1"], "given": 1},
        "episode/turns": {**seen, "episode_id": known["episode"]},
        "erase/beliefs_of": {"episodes": [known["episode"]], "memories": [memory]},
        "erase/census": {},
        "erase/elsewhere": {"texts": [unlike(1)]},
        "erase/events": {
            "memories": [memory],
            "beliefs": [belief],
            "episodes": [],
        },
        "erase/events_of_scope": {},
        "erase/found": {**seen, "label": "Memory", "id": memory},
        "erase/held": {
            "memories": [memory],
            "beliefs": [belief],
            "episodes": [known["episode"]],
        },
        "erase/memories_of": {"episodes": [known["episode"]]},
        "erase/mentions": {"marks": [memory], "event": "", "reply": ""},
        "erase/of_scope": {"scope": "global"},
        "erase/places": {"turns": [], "episodes": [known["episode"]], "events": ["o1"]},
        "erase/refused": {"keys": ["none"]},
        "extract/look": {"event_ids": ["o1", known["proposal"]], "belief_ids": [belief]},
        "extract/proposals": seen,
        "extract/proposed": {**seen, "ids": [known["proposal"]]},
        "extract/scan": {
            "scope": "global",
            "episode_id": known["episode"],
            "extractor": "rules",
        },
        "extract/supplied": {
            "scope": "global",
            "session_id": "s2",
            "since": read_options.BEGINNING,
            "waiting": [],
        },
        "extract/vocabulary": {**seen, "predicates": 10, "names": 10},
        "item/count_texts": {"scope": "global", "prefix": "a.", "most": 10},
        "item/expired": {"scope": "global"},
        "item/get": {"scope": "global", "ids": [items.item_id("global", ("a", "b"), "k")]},
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
        "lineage/chain": {**seen, "memory_id": memory},
        "lineage/chain_as_of": {**seen, "memory_id": memory},
        "lineage/history": {**seen, "memory_id": memory},
        "lineage/look": {**seen, "event_id": "e1", "memory_id": memory},
        "metrics/ratings": {"step": 100.0},
        "metrics/sizes": {},
        "metrics/work": {},
        "naming/list": {},
        "predicate/list": {},
        "recall/hits": {**seen, "found": _found(belief)},
        "recall/narrowed": {
            **_asked(found, facets=True),
            "kept": [*map(str, Status)],
            "wide": 100,
            "most": 100,
            **period,
            "window": {
                "known": read_options.FOREVER,
                "since": read_options.BEGINNING,
                "until": LATER,
            },
        },
        "recall/now": _asked(found, facets=False),
        "recall/trace": {**seen, "id": memory},
        "transfer/positions": {
            "ends": [{"id": "another", "position": 1}],
            "turns": [{"id": "another", "episode_id": known["episode"], "position": 0}],
        },
        "transfer/read": {"kind": "Event"},
        "transfer/read_beside": {"kind": "Rating", "part": "Memory"},
        "transfer/there": {"kind": "Memory", "ids": [memory]},
        "upkeep/graduates": {
            "scope": "global",
            "scopes": SCOPES,
            "file": "MEMORY.md",
            "importance": 0.8,
            "accesses": 3,
            "until": LATER,
        },
        "upkeep/unused": {"scope": "global", "importance": 0.8, "until": LATER, "longest": 10},
        "vectors/lacking": {"kind": "memory"},
    }


def _found(belief: str) -> dict[str, Any]:
    """Return what recall/now found: one belief."""
    scores = {"relevance": 1.0, "score": 1.0, "parts": {"meaning": 1.0}}
    ranks = {"vector_score": 0.9, "vector_rank": 1, "bm25": None, "bm25_rank": None}
    shortlist = [{"id": belief, "kind": "belief", **scores, **ranks}]
    return {"found": [], "claimed": [], "hidden": [], "shortlist": shortlist}


def _asked(found: Populated, *, facets: bool) -> dict[str, Any]:
    """Return what a recall needs for a question."""
    text = f"{unlike(1)} {unlike(6)}"
    wall, statuses = TenantScope(tenant=found.tenant, scopes=tuple(SCOPES)), [str(Status.CURRENT)]
    tokens = identity.facet_keys(found.tenant, ["t"], [])
    asked = {
        "memory": fulltext.memory_query(text, wall, statuses),
        "belief": fulltext.belief_query(text, wall, statuses),
        "turn": fulltext.turn_query(text, wall),
    }
    return {
        "scopes": SCOPES,
        "kinds": ["memory", "belief", "turn"],
        "embedding": _vector(text),
        "words": asked
        | ({"facets": fulltext.facet_query(wall, statuses, tokens)} if facets else {}),
        "asked": scoring.question_words(text),
        "dates": [[read_options.BEGINNING, LATER]],
        "mu": 0.1,
    }


def _vector(text: str) -> list[float]:
    [made] = run_now(HashEmbedder().embed([text], Role.QUERY))
    found: list[float] = np.asarray(made, dtype=np.float64).tolist()
    return found
