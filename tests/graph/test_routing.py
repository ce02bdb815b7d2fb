"""Routing in a cluster that proxies play: readers, a new leader, followers that lag."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from graphmem import Handle, Settings
from graphmem.errors import GraphUnavailableError
from tests.plugins.clients import Door
from tests.plugins.cluster import Cluster, cluster_of
from tests.plugins.texts import unlike

pytestmark = pytest.mark.usefixtures("both_clients")

LEADER, FOLLOWERS = 0, {1, 2}
LAG_S = 0.3


@pytest.fixture
def cluster(migrated: Settings) -> Iterator[Cluster]:
    at = urlsplit(str(migrated.uri))
    with cluster_of(str(at.hostname), int(at.port or 0)) as played:
        yield played


@pytest.fixture
def routed(cluster: Cluster, door: Door, migrated: Settings) -> Iterator[Handle]:
    more = {"uri": cluster.uri, "max_retry_time_s": 10.0, "access_log": False}
    with door.opened(migrated.model_copy(update=more)) as handle:
        handle.remember(unlike(0))
        cluster.begun.clear()
        yield handle


def writes(cluster: Cluster) -> list[int]:
    return [one.member for one in cluster.begun if not one.reads]


def test_followers_read_and_the_leader_writes(routed: Handle, cluster: Cluster, door: Door) -> None:
    known = routed.remember(unlike(1)).memory_id
    routed.observe("Ada", "keeps", "bees")
    assert [one.id for one in routed.recall(unlike(1), limit=1).bites] == [known]
    assert routed.current("Ada", "keeps").candidates[0].object == "bees"
    door.together(routed, [lambda m: m.recall(unlike(1), limit=1)] * 8)
    assert {*writes(cluster)} == {LEADER}
    assert {one.member for one in cluster.begun if one.reads} == FOLLOWERS


def test_a_write_that_meets_a_new_leader_is_written_once(routed: Handle, cluster: Cluster) -> None:
    cluster.leader = 2
    done = routed.remember(unlike(1), event_id="once")
    assert writes(cluster) == [LEADER, 2]
    assert [one.id for one in routed.history(str(done.memory_id))] == [done.event_id]
    routed.remember(unlike(2))
    assert writes(cluster) == [LEADER, 2, 2]


@pytest.mark.parametrize("late", [False, True], ids=["before", "after"])
def test_a_leader_that_is_lost_at_a_commit(routed: Handle, cluster: Cluster, *, late: bool) -> None:
    if late:
        cluster.after_commit = True
    else:
        cluster.before_commit = lambda: setattr(cluster, "leader", 1)
    with pytest.raises(GraphUnavailableError):
        routed.remember(unlike(1), event_id="once")
    again = routed.remember(unlike(1), event_id="once")
    assert writes(cluster)[-1] == cluster.leader
    assert [one.id for one in routed.history(str(again.memory_id))] == [again.event_id]


def test_a_follower_waits_until_it_has_the_write(routed: Handle, cluster: Cluster) -> None:
    for one in FOLLOWERS:
        cluster.lag(one)
    known = routed.remember(unlike(1)).memory_id
    assert not cluster.waited
    cluster.begun.clear()
    started = time.monotonic()
    for one in FOLLOWERS:
        threading.Timer(LAG_S, cluster.catch_up, [one]).start()
    assert [one.id for one in routed.recall(unlike(1), limit=1).bites] == [known]
    assert time.monotonic() - started >= LAG_S
    assert cluster.waited
    assert all(one.reads and one.bookmarks for one in cluster.begun)


def test_another_follower_answers_for_one_that_is_down(routed: Handle, cluster: Cluster) -> None:
    cluster.stop(1)
    for n in range(4):
        assert len(routed.recall(unlike(0), limit=1).bites) == 1, n
    assert {one.member for one in cluster.begun} == {2}
