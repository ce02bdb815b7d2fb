"""A synthetic search log: sessions over one tenant's memories, and loading it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any, LiteralString, NamedTuple

import numpy as np

from graphmem.model import GLOBAL_SCOPE
from graphmem.rules import identity
from tests.oracles.rating import Result, Search

if TYPE_CHECKING:
    from bench.bare import Bare
    from bench.progress import Steps

TENANT = "tenant-log"
RESULTS = 10
"""Number of results of each search."""
SEARCHES = 10
"""Number of searches of each session."""
OPENED = (0.3, 0.5, 0.2)
"""Probabilities that none, one or two of a search's results are opened."""
ZIPF = 1.0
"""Exponent: the k-th memory is returned with weight k^-ZIPF."""
STARTED = datetime(2026, 1, 1, tzinfo=UTC)
STEP = timedelta(seconds=1)
MEMORIES_AT_ONCE = 1_000
SESSIONS_AT_ONCE = 50

LOAD_MEMORIES: LiteralString = """CYPHER 25
UNWIND $rows AS row
CREATE (:Memory {
  tenant: $tenant, id: row.id, scope: $scope, content: row.content, content_hash: row.content_hash,
  status: 'current', created_at: $at, recorded_at: $at
})
"""

# The events that a client logs: see start_sessions, log_searches, log_accesses and end_sessions in
# cypher/usage.
LOAD_LOG: LiteralString = """CYPHER 25
UNWIND $rows AS row
CREATE (start:Event {
  tenant: $tenant, id: row.id + '-start', scope: $scope, type: 'SESSION_START',
  occurred_at: row.at, recorded_at: row.at, actor: 'agent', payload: row.payload
})
CREATE (end:Event {
  tenant: $tenant, id: row.id + '-end', scope: $scope, type: 'SESSION_END',
  occurred_at: row.ended_at, recorded_at: row.ended_at, actor: 'agent', payload: row.payload,
  position: row.position
})
CREATE (end)-[:WITHIN]->(start)
WITH row, start
UNWIND row.searches AS s
CREATE (e:Event {
  tenant: $tenant, id: s.id, scope: $scope, type: 'SEARCH', occurred_at: s.at, recorded_at: s.at,
  actor: row.id, payload: s.payload
})
CREATE (e)-[:WITHIN]->(start)
WITH row, start, s, e
CALL (s, e) {
  UNWIND s.found AS hit
  MATCH (m:Memory {tenant: $tenant, id: hit.id})
  CREATE (e)-[:RETURNED {
    rank: hit.rank, similarity: hit.similarity, content_hash: m.content_hash
  }]->(m)
}
CALL (row, start, s) {
  UNWIND s.opened AS look
  MATCH (m:Memory {tenant: $tenant, id: look.item_id})
  CREATE (e:Event {
    tenant: $tenant, id: look.id, scope: $scope, type: 'ACCESS', occurred_at: look.at,
    recorded_at: look.at, actor: row.id
  })
  CREATE (e)-[:ACCESSED]->(m)
  CREATE (e)-[:WITHIN]->(start)
}
"""

COUNT_ENDS: LiteralString = "CYPHER 25 MERGE (r:Rater {tenant: $tenant}) SET r.ended = $ended"


class LoggedSearch(NamedTuple):
    """One search of a session, with its results and the opened ones."""

    found: tuple[int, ...]
    """Numbers of the returned memories, best first."""
    similarities: tuple[float, ...]
    opened: tuple[int, ...]
    """Positions in `found` of the opened results."""


@dataclass(frozen=True)
class SyntheticLog:
    """A log with `results` results over `memories` memories; each session depends on its number."""

    results: int
    memories: int = 10_000
    seed: int = 1

    @property
    def sessions(self) -> int:
        """Number of sessions."""
        return self.results // (RESULTS * SEARCHES)

    @cached_property
    def ids(self) -> list[str]:
        """Ids of the memories, by number."""
        return [identity.memory_id(GLOBAL_SCOPE, _text(n)) for n in range(self.memories)]

    @cached_property
    def _shares(self) -> Any:
        weights = np.arange(1, self.memories + 1) ** -ZIPF
        return np.cumsum(weights / weights.sum())

    def session(self, number: int) -> list[LoggedSearch]:
        """Return the searches of one session."""
        rng = np.random.default_rng((self.seed, number))
        return [self._logged_search(rng) for _ in range(SEARCHES)]

    def searches(self, number: int) -> list[Search]:
        """Return the searches of one session as the rating rules take them."""
        return [
            Search(
                f"{_name(number)}-{place}",
                [
                    Result(self.ids[memory], at in asked.opened, asked.similarities[at])
                    for at, memory in enumerate(asked.found)
                ],
            )
            for place, asked in enumerate(self.session(number))
        ]

    def _logged_search(self, rng: np.random.Generator) -> LoggedSearch:
        found: dict[int, None] = {}
        while len(found) < RESULTS:
            drawn = np.searchsorted(self._shares, rng.random(2 * RESULTS))
            found |= dict.fromkeys(drawn.tolist())
        similarities = np.sort(rng.uniform(0.2, 0.8, RESULTS))[::-1]
        opened = rng.permutation(RESULTS)[: rng.choice(len(OPENED), p=OPENED)]
        return LoggedSearch(
            tuple(found)[:RESULTS], tuple(similarities.tolist()), tuple(sorted(opened.tolist()))
        )


def load(log: SyntheticLog, bare: Bare, steps: Steps) -> None:
    """Load the memories and the unrated log into the graph, as clients would have written them."""
    for first in steps.over(range(0, log.memories, MEMORIES_AT_ONCE), "load memories"):
        numbers = range(first, min(first + MEMORIES_AT_ONCE, log.memories))
        bare.write(
            LOAD_MEMORIES,
            tenant=TENANT,
            scope=GLOBAL_SCOPE,
            at=STARTED,
            rows=[
                {
                    "id": log.ids[n],
                    "content": _text(n),
                    "content_hash": identity.content_hash(_text(n)),
                }
                for n in numbers
            ],
        )
    for first in steps.over(range(0, log.sessions, SESSIONS_AT_ONCE), f"load {log.results:,}"):
        numbers = range(first, min(first + SESSIONS_AT_ONCE, log.sessions))
        rows = [_row(log, n) for n in numbers]
        bare.write(LOAD_LOG, tenant=TENANT, scope=GLOBAL_SCOPE, rows=rows)
    bare.write(COUNT_ENDS, tenant=TENANT, ended=log.sessions)


def _row(log: SyntheticLog, number: int) -> dict[str, Any]:
    # One second per entry: a search, then the openings of its results.
    at = STARTED + number * SEARCHES * (1 + len(OPENED)) * STEP
    searches = []
    for place, asked in enumerate(log.session(number)):
        name = f"{_name(number)}-{place}"
        then = at + place * (1 + len(OPENED)) * STEP
        searches.append(
            {
                "id": name,
                "at": then,
                "payload": f'{{"tool": "recall", "query": "what is known of {number} {place}?"}}',
                "found": _found(log.ids, asked),
                "opened": [
                    {
                        "id": f"{name}-{nth}",
                        "item_id": log.ids[asked.found[position]],
                        "at": then + nth * STEP,
                    }
                    for nth, position in enumerate(asked.opened, 1)
                ],
            }
        )
    return {
        "id": _name(number),
        "at": at,
        "ended_at": at + SEARCHES * (1 + len(OPENED)) * STEP,
        "position": number + 1,
        "payload": f'{{"session_id": "{_name(number)}"}}',
        "searches": searches,
    }


def _found(ids: Sequence[str], asked: LoggedSearch) -> list[dict[str, Any]]:
    return [
        {"id": ids[memory], "rank": rank, "similarity": similarity}
        for rank, (memory, similarity) in enumerate(
            zip(asked.found, asked.similarities, strict=True), 1
        )
    ]


def _name(number: int) -> str:
    return f"session-{number:06}"


def _text(number: int) -> str:
    return f"Text of the synthetic memory number {number}."
