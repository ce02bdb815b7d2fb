"""Stars: disjoint, near their centre, of enough episodes, whatever became of the ones before."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from graphmem.consolidation.rules import star_clusters


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[dict[int, float]], list[int]]:
    n = draw(st.integers(0, 14))
    near: list[dict[int, float]] = [{} for _ in range(n)]
    episodes = draw(st.lists(st.integers(0, 5), min_size=n, max_size=n))
    for i in range(n):
        for j in draw(st.sets(st.integers(0, max(n - 1, 0)), max_size=5)):
            if i != j:
                near[i][j] = draw(st.sampled_from([0.75, 0.8, 0.9, 1.0]))
    return near, episodes


def similarity(near: list[dict[int, float]], i: int, j: int) -> float:
    return max(near[i].get(j, 0.0), near[j].get(i, 0.0))


@given(graphs(), st.integers(1, 4))
def test_stars_are_disjoint_near_their_centre_and_of_enough_episodes(
    graph: tuple[list[dict[int, float]], list[int]], min_episodes: int
) -> None:
    near, episodes = graph
    found = star_clusters(near, episodes, min_episodes)
    members = [i for star in found for i in star]
    assert len(members) == len(set(members))
    for star in found:
        assert all(similarity(near, star[0], i) >= 0.75 for i in star[1:])
        assert len({episodes[i] for i in star}) >= min_episodes


@given(graphs())
def test_no_star_of_enough_episodes_is_left(
    graph: tuple[list[dict[int, float]], list[int]],
) -> None:
    near, episodes = graph
    taken = {i for star in star_clusters(near, episodes, 3) for i in star}
    free = set(range(len(near))) - taken
    for i in free:
        around = {episodes[j] for j in free if j != i and similarity(near, i, j)}
        assert len(around | {episodes[i]}) < 3 or not any(
            similarity(near, i, j) for j in free if j != i
        )


@given(graphs(), st.data())
def test_what_is_left_after_some_stars_makes_the_same_others(
    graph: tuple[list[dict[int, float]], list[int]], data: st.DataObject
) -> None:
    near, episodes = graph
    found = star_clusters(near, episodes, 2)
    done = data.draw(st.integers(0, len(found)))
    taken = {i for star in found[:done] for i in star}
    left = [i for i in range(len(near)) if i not in taken]
    place = {i: n for n, i in enumerate(left)}
    rest = [{place[j]: s for j, s in near[i].items() if j in place} for i in left]
    again = star_clusters(rest, [episodes[i] for i in left], 2)
    named = [tuple(left[n] for n in star) for star in again]
    assert named == found[done:]


def test_a_chain_is_no_cluster_of_all_its_links() -> None:
    near = [{1: 0.8}, {2: 0.8}, {3: 0.8}, {4: 0.8}, {}]
    [star] = star_clusters(near, [0, 1, 2, 3, 4], 3)
    assert star == (1, 0, 2)


def test_the_centre_is_the_one_that_most_episodes_gather_about() -> None:
    # Three turns of one episode are near 0, three of three episodes near 4.
    near = [{1: 0.9, 2: 0.9, 3: 0.9}, {}, {}, {}, {5: 0.8, 6: 0.8, 7: 0.8}, {}, {}, {}]
    assert star_clusters(near, [0, 0, 0, 0, 1, 2, 3, 4], 3) == [(4, 5, 6, 7)]
