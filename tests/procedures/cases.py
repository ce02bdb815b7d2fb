"""Give each procedure the arguments with which it finds something in the populated graph."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np

from graphmem.integrity.contents import covered
from graphmem.items import rules
from graphmem.model import EventType, Status, TenantScope
from graphmem.ports import Role, run_now
from graphmem.rules import claims, fulltext, identity, read_options, rejections, scoring
from graphmem.testing import HashEmbedder
from tests.plugins.texts import unlike
from tests.procedures.conftest import OFFERS, Populated

LATER = datetime(2200, 1, 1, tzinfo=UTC)
SCOPES = ["global", "alice"]
KINDS = ["memory", "belief", "turn", "episode"]
SILENT: dict[str, str] = {
    "belief/drawn": "no belief generalises others",
    "transfer/not_lifted": "nothing was imported",
    "cache/backfill_find": "every memory has an event",
    "metrics/failing_units": "no background job failed",
    "operation/list": "no client asked for a long call",
    "upkeep/job_units": "no background job has run",
    "upkeep/compressed_turns": "no conversation is compressed",
    "erase/memories_of": "no memory was made in a session",
    "erase/digest_files": "no episode has graduated",
    "erase/find_tombstones": "it is asked by a digest of the tenant",
    "transfer/tombstones": "it is asked by a digest of the tenant",
    "erase/is_recorded": "it is asked by a digest of the tenant",
    "erase/records": "it is asked by a digest of the tenant",
    "seal/waiting": "no event was redacted",
    "seal/newest": "no node was sealed twice",
    "seal/uncovered": "every turn and episode is sealed",
    "seal/waiting_nodes": "no node was changed by an erasure",
}
"""Procedures that return a row that is empty, or none, and why."""


def needed(found: Populated) -> dict[str, dict[str, Any]]:
    """Return what every procedure must be given beside the tenant, by its name and parameters."""
    known, memory, belief = found.known, found.known["memory"], found.known["belief"]
    values = [
        claims.triple_claim("global", "alice", "works_on", value).id
        for value in ("Atlas", "o1", "o2")
    ]
    rejected = claims.statement_claim("global", unlike(997)).id
    said = rejections.text_digest(unlike(997))
    vector = _vector(unlike(1))
    fresh = {"event_id": "new", "exact_ids": [], "value_key": "none", "embedding": vector}
    repeat = {"event_id": "e1", "exact_ids": [memory], "value_key": "none", "embedding": None}
    values_of: dict[str, Any] = {
        "accesses": 3,
        "after_elo": 0.0,
        "after_position": 0,
        "around": 2,
        "at": LATER,
        "attempts": 3,
        "before": LATER,
        "belief_ids": [belief],
        "beliefs": [belief],
        "below": 9999.0,
        "cached_statuses": [*map(str, Status)],
        "candidates": 3,
        "committed": [],
        "conditions": [{"path": ["*", "b"], "from_end": False}],
        "content": covered(),
        "earliest": read_options.BEGINNING,
        "embedding": vector,
        "ends": [{"id": "another", "position": 1}],
        "episode_id": known["episode"],
        "episodes": [known["episode"]],
        "event": "",
        "event_id": "j1",
        "event_ids": ["o1"],
        "events": ["o1"],
        "extractor": "rules",
        "facets": [],
        "file": "MEMORY.md",
        "found": {"candidates": [], "filtered": False},
        "granted": ["global"],
        "high": "a/",
        "id": memory,
        "ids": [memory],
        "importance": 0.8,
        "key": "alice",
        "keys": [rejections.value_key(found.tenant, said)],
        "kind": "Event",
        "kinds": ["Memory", "Belief", "Episode", "Artifact"],
        "label": "Memory",
        "labels": ["Memory"],
        "latest": LATER,
        "links": [{"event_id": "o1", "belief_id": "gone"}],
        "longest": 10,
        "low": "a.",
        "marks": [memory],
        "max_depth": 2,
        "max_events": 1000,
        "max_faceted": 100,
        "memories": [memory],
        "memory_id": memory,
        "memory_ids": [memory],
        "min_elo": 0.0,
        "min_events": 2,
        "min_score": 0.0,
        "min_score_same": 0.0,
        "name": "extract",
        "names": ["alice"],
        "nearest": 5,
        "neighbours": 5,
        "nodes": [{"label": "Memory", "key": memory}],
        "others": [],
        "part": "Memory",
        "path": "",
        "points": 20,
        "predicate": "works_on",
        "predicates": ["works_on"],
        "prefilter": "(?s).*",
        "prefix": "a.",
        "prefixes": ["a/"],
        "quiet_s": 0.0,
        "ratings": [{"elo": 1300.0, "touched_at": LATER, "at": LATER}],
        "reply": "",
        "rows": [repeat, fresh],
        "scope": "global",
        "scopes": SCOPES,
        "session_id": "s2",
        "since": read_options.BEGINNING,
        "skipped": [],
        "slots": 10,
        "stating": [],
        "step": 100.0,
        "subject": "alice",
        "suffix": "b.",
        "system_roles": ["system"],
        "telemetry": [],
        "texts": ["hello"],
        "tokens": True,
        "top": 5,
        "turns": [],
        "types": ["SUPERSEDE"],
        "unindexed": False,
        "until": LATER,
        "uses": True,
        "waiting": [],
        "window": {"known": read_options.FOREVER, "since": read_options.BEGINNING, "until": LATER},
    }
    other: dict[str, dict[str, Any]] = {
        "usage/expand": {"turns": 5},
        "usage/labels": {"ids": [memory, "none"]},
        "belief/chain": {"id": belief},
        "belief/explain": {"id": belief},
        "belief/flip_set": {"id": belief},
        "belief/history": {"id": belief},
        "belief/find_lost": {"ids": values},
        "belief/provenance": {"id": belief},
        "belief/standings": {"memories": [memory], "beliefs": [belief]},
        "belief/test": {"id": belief},
        "belief/timeline": {"id": belief},
        "browser/belief": {"id": belief},
        "browser/episode": {"id": known["episode"]},
        "browser/recalled": {"ids": [memory, belief]},
        "commit/find_known": {"event_ids": ["e1", "none"]},
        "seal/newest": {"nodes": []},
        "seal/unsealed": {"types": ["ADD"]},
        "consolidate/near_passages": {"beliefs": [{"id": "new", "vector": vector}]},
        "consolidate/standing": {"ids": ["o1"]},
        "consolidate/passages": {"label": "Turn", "beliefs": 5},
        "consolidate/attempted": {"ids": [known["reply"]]},
        "episode/get": {"ids": [known["episode"], known["document"]]},
        "episode/history": {"episode_id": known["document"]},
        "episode/find_existing": {"ids": ["1"]},
        "erase/beliefs_of": {"beliefs": []},
        "erase/late_mentions": {"types": [*EventType]},
        "erase/payloads": {"ids": ["o1"]},
        "erase/events": {"episodes": []},
        "ids/event": {"id": "o1"},
        "ids/neighbours": {"turns": ["t_"]},
        "ids/resolve": {
            "memories": [memory[:8]],
            "beliefs": [belief[:8]],
            "episodes": [known["episode"][:8]],
            "top": 2,
        },
        "reject/find": {"id": rejected},
        "reject/find_missing": {
            "events": [{"id": "none", "tombstone": "none", "value_key": "none"}]
        },
        "reject/values": {"label": "Belief"},
        "erase/find_tombstones": {"keys": ["none"]},
        "erase/is_recorded": {"key": "none"},
        "extract/find_existing": {"event_ids": ["o1", known["proposal"]]},
        "extract/proposed": {"ids": [known["proposal"]]},
        "extract/vocabulary": {"predicates": 10, "names": 10},
        "item/get": {"ids": [rules.item_id("global", ("a", "b"), "k")]},
        "item/namespaces_by_suffix": {"conditions": []},
        "lineage/around": {
            "opened": [{"id": one, "top": 3} for one in (memory, belief, known["episode"], "o1")],
            "types": ["SUPPORTS", "REINFORCES", "OCCURRED_IN", "QUOTES", "CONCERNS"],
            "counted": 10,
        },
        "lineage/find_existing": {"event_id": "e1"},
        "recall/hits": {"kinds": KINDS},
        "recall/filtered": {**_asked(found, facets=True)},
        "recall/current": {**_asked(found, facets=False)},
        "recall/stored": {"scopes": ["global"]},
        "recall/vitality": {"ids": [belief]},
        "transfer/taken_positions": {
            "turns": [{"id": "another", "episode_id": known["episode"], "position": 0}]
        },
        "transfer/read_auxiliary": {"kind": "Rating"},
        "transfer/not_lifted": {"ids": ["none"]},
        "transfer/existing": {"kind": "Memory"},
        "vectors/unembedded": {"kind": "memory"},
    }
    return {
        name: {
            one.name: other.get(name, {}).get(one.name, values_of.get(one.name))
            for one in offer.arguments
            if one.required and one.name != "tenant"
        }
        for name, offer in OFFERS.items()
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
