"""Ratings as the graph settles them are those that the rules reckon, session by session."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from graphmem import Handle
from graphmem.model.policies import RatingPolicy
from graphmem.ports import run_now, silent
from graphmem.rules import rating
from graphmem.rules.rating import BY_SEARCH, STANDARD, Rating
from graphmem.testing import FrozenClock
from graphmem.usage import access_log
from graphmem.usage.access_log import AccessEntry, Entry, SearchEntry, SearchHit, SessionStart
from tests.oracles import rating as rating_oracle
from tests.plugins.clients import on
from tests.plugins.graph import Look
from tests.plugins.texts import unlike

JUNE = datetime(2026, 6, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


class Log:
    """A made-up log, and the same as the oracle is given it."""

    def __init__(self, memory: Handle, items: Sequence[tuple[str, str]], seed: int) -> None:
        self._memory = memory
        self._tenant = memory._state.context.tenant
        self._items = items
        # The only turn counts for the only episode.
        self._rated = {i: i for _, i in items}
        [episode_id] = [i for label, i in items if label == "Episode"]
        self._rated |= {i: episode_id for label, i in items if label == "Turn"}
        self._chance = random.Random(seed)
        self._at = JUNE
        self._made = 0
        self.searches: list[rating_oracle.Search] = []
        """In the order in which the sessions end."""
        self.touched: dict[str, datetime] = {}

    def session(self) -> list[Entry]:
        """Some searches, some of whose results are opened, some later than the next search."""
        start = self._bound(None)
        made = [self._search(start) for _ in range(self._chance.randint(1, 4))]
        looks = [
            self._access(start, hit)
            for search in made
            for hit in search.found
            if self._chance.random() < 0.3
        ]
        end = self._bound(start.event_id)
        for search in made:
            opened = {
                self._rated[look.item_id]
                for look in looks
                if self._last(made, look) == search.event_id
            }
            similarities: dict[str, list[float]] = {}
            for hit in search.found:
                known = similarities.setdefault(self._rated[hit.id], [])
                known += [] if hit.similarity is None else [hit.similarity]
            results = [
                rating_oracle.Result(item, item in opened, max(found, default=None))
                for item, found in similarities.items()
            ]
            self.searches.append(rating_oracle.Search(search.event_id, results))
        for look in looks:
            item = self._rated[look.item_id]
            self.touched[item] = max(look.at, self.touched.get(item, look.at))
        return [start, *made, *looks, end]

    def _last(self, made: Sequence[SearchEntry], look: AccessEntry) -> str | None:
        """Return the search that returned an item last before its access."""
        item = self._rated[look.item_id]
        of = [s for s in made if s.at <= look.at and item in {self._rated[h.id] for h in s.found}]
        return max(of, key=lambda s: (s.at, s.event_id)).event_id if of else None

    def _search(self, start: SessionStart) -> SearchEntry:
        found = self._chance.sample(self._items, self._chance.randint(0, 6))
        return SearchEntry(
            self._tenant,
            self._id(),
            "global",
            self._then(),
            "s",
            "recall",
            "what?",
            tuple(
                SearchHit(label, i, self._chance.choice([None, 0.3, 0.2, 0.7]))
                for label, i in found
            ),
            start.event_id,
        )

    def _access(self, start: SessionStart, hit: SearchHit) -> AccessEntry:
        return AccessEntry(
            self._tenant,
            self._id(),
            "global",
            str(hit.label),
            hit.id,
            self._then(),
            "s",
            start.event_id,
        )

    def _bound(self, within: str | None) -> SessionStart:
        return SessionStart(self._tenant, self._id(), "global", self._then(), "s", None, within)

    def _id(self) -> str:
        self._made += 1
        return f"{self._tenant}-{self._made:05}"

    def _then(self) -> datetime:
        self._at += MINUTE
        return self._at


def things(memory: Handle, n_memories: int = 8) -> list[tuple[str, str]]:
    """Memories, beliefs, an episode, a turn and an artifact."""
    found = [("Memory", str(memory.remember(unlike(n)).memory_id)) for n in range(n_memories)]
    found += [("Belief", memory.believe(f"It is {n} o'clock").belief_id) for n in (1, 2)]
    with memory.session("talk") as session:
        turn = session.add_messages([{"role": "user", "content": unlike(90)}]).turn_ids[0]
        found += [("Episode", session.episode_id), ("Turn", turn)]
    memory.usage.log_access("file", "docs/plan.md")
    memory.usage.flush()
    return [*found, ("Artifact", access_log.ArtifactRef("global", "file", "docs/plan.md").id)]


def written(memory: Handle, entries: Sequence[Entry]) -> None:
    run_now(access_log.write(memory._state.context.services, entries))


def ratings(look: Look, tenant: str) -> dict[str, dict[str, Any]]:
    rows = look.rows("MATCH (g:Rating {tenant: $tenant}) RETURN g {.*} AS g", tenant=tenant)
    return {row["g"]["id"]: row["g"] for row in rows}


def assert_equal(look: Look, tenant: str, log: Log, by: Rating = STANDARD) -> None:
    wanted = rating_oracle.rate(log.searches, by=by)
    found = ratings(look, tenant)
    assert found.keys() == wanted.standings.keys()
    for item, standing in wanted.standings.items():
        assert found[item]["elo"] == pytest.approx(standing.elo, abs=1e-9)
        assert found[item]["games"] == standing.games
    updates = look.rows(
        "MATCH (e:Event {tenant: $tenant})-[r:RATED]->(n) "
        "RETURN e.id AS search, n.id AS item, r.before AS old, r.after AS new",
        tenant=tenant,
    )
    assert sorted((u["search"], u["item"]) for u in updates) == sorted(
        (u.search, u.item) for u in wanted.updates
    )
    by_game = {(u.search, u.item): u for u in wanted.updates}
    for update in updates:
        other = by_game[update["search"], update["item"]]
        assert update["old"] == pytest.approx(other.old, abs=1e-9)
        assert update["new"] == pytest.approx(other.new, abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_ratings_are_those_of_the_rules(plain: Handle, look: Look, tenant: str, seed: int) -> None:
    memory = plain
    log = Log(memory, things(memory), seed)
    first = [log.session() for _ in range(12)]
    for entries in first:
        written(memory, entries)
    done = memory.usage.rate()
    assert done.sessions == 12
    assert_equal(look, tenant, log)
    # It goes on from there, and a second call finds nothing.
    for _ in range(60):
        written(memory, log.session())
    done = memory.usage.rate()
    assert (done.sessions, done.abandoned) == (60, 0)
    assert done.updates > 60
    assert_equal(look, tenant, log)
    before = ratings(look, tenant)
    assert (again := memory.usage.rate()).sessions == 0
    assert again.updates == 0
    assert ratings(look, tenant) == before
    # From the beginning it comes to the same.
    assert memory.usage.rate(from_scratch=True).sessions == 72
    assert ratings(look, tenant) == before
    assert_equal(look, tenant, log)


def test_a_search_as_one_game(plain: Handle, look: Look, tenant: str) -> None:
    """The other rule, with a K of its own."""
    changed = {"rating": RatingPolicy(rule="search", k_new=100.0)}
    memory = on(plain, settings=plain._state.context.services.settings.model_copy(update=changed))
    by = replace(BY_SEARCH, k_new=100.0)
    log = Log(memory, things(memory), 3)
    for _ in range(40):
        written(memory, log.session())
    assert memory.usage.rate().sessions == 40
    assert_equal(look, tenant, log, by)
    kept = {item: g for item, g in ratings(look, tenant).items() if g["kind"] != "Artifact"}
    before = {item: (g["elo"], g["games"]) for item, g in kept.items()}
    # A roll-up keeps the games as this rule counts them; the artifact goes with the log.
    run_now(access_log.roll_up(memory._state.context, log._at + timedelta(days=9_000), silent))
    memory.usage.rate(from_scratch=True)
    after = {item: (g["elo"], g["games"]) for item, g in ratings(look, tenant).items()}
    assert after == before


def test_what_is_read_is_faded(plain: Handle, look: Look, tenant: str) -> None:
    log = Log(plain, things(plain), 7)
    for _ in range(40):
        written(plain, log.session())
    plain.usage.rate()
    kept = ratings(look, tenant)
    for days in (0.0, 20.8, 365.0):
        now = log._at + timedelta(days=days)
        reader = on(plain, clock=FrozenClock(now))
        wanted = {
            item: rating_oracle.faded(
                g["elo"], (now - g["touched_at"].to_native()) / timedelta(days=1)
            )
            for item, g in kept.items()
        }
        found = reader.usage.ratings()
        assert {one.id for one in found} == wanted.keys()
        for one in found:
            assert one.rating.elo == pytest.approx(wanted[one.id], abs=1e-6)
            assert one.rating.tier is rating.tier(one.rating.elo)
            assert one.text
        assert [one.id for one in found] == [
            one.id for one in sorted(found, key=lambda o: (-o.rating.elo, o.kind, o.id))
        ]
        seen = reader.usage.dashboard(limit=3)
        assert seen.top == found[:3]
        assert sum(seen.tiers.values()) == len(found) == sum(n for _, n in seen.histogram)
        for tier, items in seen.tiers.items():
            assert len(reader.usage.ratings(tier=tier)) == items
    for item, at in log.touched.items():
        if item in kept:
            assert kept[item]["touched_at"].to_native() == at


def test_a_session_that_nobody_ended_is_over_after_a_day(
    plain: Handle, look: Look, tenant: str
) -> None:
    log = Log(plain, things(plain), 3)
    entries = log.session()
    now = datetime.now(UTC)
    written(plain, [one for one in entries if not (isinstance(one, SessionStart) and one.within)])
    start = next(one for one in entries if isinstance(one, SessionStart))
    early = on(plain, clock=FrozenClock(now + timedelta(hours=1)))
    # What was logged is of June; when it was recorded is what counts for its beginning.
    assert early.usage.rate().sessions == 0
    late = on(plain, clock=FrozenClock(now + timedelta(days=2)))
    assert (done := late.usage.rate()).sessions == 1
    assert done.abandoned == 1
    assert_equal(look, tenant, log)
    [end] = look.rows(
        "MATCH (e:Event {tenant: $tenant, type: 'SESSION_END'})-[:WITHIN]->(s) "
        "RETURN e.id AS id, s.id AS start",
        tenant=tenant,
    )
    assert end == {"id": f"end_{start.event_id}", "start": start.event_id}
    assert late.usage.rate().sessions == 0
    # What its process logs after all counts neither now nor when all is rated again.
    found = [one for one in entries if isinstance(one, SearchEntry) and len(one.found) > 1]
    more = [replace(one, event_id=f"{one.event_id}-late", at=JUNE + timedelta(9)) for one in found]
    looks = [replace(log._access(start, one.found[0]), at=JUNE + timedelta(10)) for one in more]
    assert looks
    written(plain, [*more, *looks])
    assert late.usage.rate().sessions == 0
    assert late.usage.rate(from_scratch=True).sessions == 1
    assert_equal(look, tenant, log)


def test_a_write_made_twice_ends_a_session_once(plain: Handle, look: Look, tenant: str) -> None:
    log = Log(plain, things(plain), 5)
    entries = log.session()
    written(plain, entries)
    written(plain, entries)
    written(plain, [replace(entries[0]), *entries[1:]])
    assert plain.usage.rate().sessions == 1
    assert_equal(look, tenant, log)
