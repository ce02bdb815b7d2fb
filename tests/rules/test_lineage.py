"""Status from events: the newest effect, in an order that does not depend on arrival."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from graphmem.model import ChainLink, Status
from graphmem.rules.claims import chain_ends
from graphmem.rules.read_options import BEGINNING
from tests.oracles.lineage import Effect, in_force, seen, status_of

MAY = datetime(2025, 5, 5, tzinfo=UTC)


@st.composite
def histories(draw: st.DrawFn) -> list[Effect]:
    """Draw effects with ids of their own, many of one instant, the first of them a statement."""
    n = draw(st.integers(0, 7))
    ids = draw(st.permutations([f"e{i}" for i in range(n + 1)]))
    first = Effect(MAY, ids[0], Status.CURRENT, is_statement=True)
    rest = []
    for event_id in ids[1:]:
        status = draw(st.sampled_from(Status))
        rest.append(
            Effect(
                occurred_at=MAY + timedelta(hours=draw(st.integers(-1, 2))),
                event_id=event_id,
                status=status,
                is_statement=status is Status.CURRENT and draw(st.booleans()),
                recorded_at=MAY + timedelta(days=draw(st.integers(0, 3))),
            )
        )
    return [first, *rest]


def replayed(effects: list[Effect]) -> tuple[Status, set[str]]:
    """Fold the effects one by one: the status, and the supersessions that nothing undid."""
    status, forces = Status.CURRENT, set[str]()
    ordered = sorted(effects, key=lambda e: (e.occurred_at, not e.is_statement, e.event_id))
    for effect in ordered:
        status = effect.status
        if status is Status.CURRENT:
            forces = set()
        elif status is Status.SUPERSEDED:
            forces = forces | {effect.event_id}
    return status, forces


@given(histories())
def test_a_replay_gives_the_same(effects: list[Effect]) -> None:
    status, forces = replayed(effects)
    assert status_of(effects) is status
    superseding = [e for e in effects if e.status is Status.SUPERSEDED]
    assert {e.event_id for e in superseding if in_force(e, effects)} == forces


hours = st.integers(-2, 3).map(lambda n: MAY + timedelta(hours=n))
days = st.integers(-1, 4).map(lambda n: MAY + timedelta(days=n))


def test_nothing_hides_what_has_no_effect_yet() -> None:
    deprecated = Effect(MAY, "e", Status.DEPRECATED)
    assert status_of([]) is Status.CURRENT
    assert status_of(seen([deprecated], MAY - timedelta(hours=1), MAY)) is Status.CURRENT
    assert seen([deprecated], MAY, BEGINNING) == [deprecated]


def test_at_one_instant_a_correction_outranks_a_statement_then_the_larger_id() -> None:
    stated = Effect(MAY, "z", Status.CURRENT, is_statement=True)
    deprecated = Effect(MAY, "a", Status.DEPRECATED)
    over = Effect(MAY, "b", Status.SUPERSEDED)
    back = Effect(MAY, "c", Status.CURRENT)
    for order in permutations([stated, deprecated]):
        assert status_of(order) is Status.DEPRECATED
    for order in permutations([stated, deprecated, over]):
        assert status_of(order) is Status.SUPERSEDED
        assert in_force(over, order)
    for order in permutations([stated, deprecated, over, back]):
        assert status_of(order) is Status.CURRENT
        assert not in_force(over, order)


@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 2)).filter(
            lambda pair: pair[0] != pair[1]
        ),
        max_size=10,
    )
)
def test_edges_in_force_make_no_cycle(edges: list[tuple[int, int, int]]) -> None:
    """Because superseding brings the newer one back."""
    effects = {m: [Effect(MAY, "", Status.CURRENT, is_statement=True)] for m in range(5)}
    made = []
    for n, (newer, older, hour) in enumerate(edges):
        at = MAY + timedelta(hours=hour)
        over = Effect(at, f"e{n}", Status.SUPERSEDED)
        effects[older].append(over)
        effects[newer].append(Effect(at, f"e{n}", Status.CURRENT))
        made.append((newer, older, over))
    below: dict[int, set[int]] = {m: set() for m in range(5)}
    for newer, older, over in made:
        if in_force(over, effects[older]):
            below[newer].add(older)
    left = dict(below)
    while left:
        ends = [m for m in left if not left[m] & left.keys()]
        assert ends, "a cycle"
        for m in ends:
            del left[m]


def link(older: str, newer: str, *, in_force: bool = True) -> ChainLink:
    return ChainLink(
        newer_id=newer,
        older_id=older,
        event_id=f"{older}-{newer}",
        occurred_at=MAY,
        recorded_at=MAY,
        in_force=in_force,
    )


nodes = st.integers(0, 7)


@given(st.sets(st.tuples(nodes, nodes).filter(lambda pair: pair[0] < pair[1])), st.data())
def test_ends_are_what_links_in_force_lead_to(
    pairs: set[tuple[int, int]], data: st.DataObject
) -> None:
    kept = data.draw(st.sets(st.sampled_from(sorted(pairs)))) if pairs else set()

    def ends(node: int) -> set[str]:
        further = [newer for older, newer in kept if older == node]
        return set().union(*map(ends, further)) if further else {str(node)}

    links = [link(str(a), str(b), in_force=(a, b) in kept) for a, b in sorted(pairs)]
    assert chain_ends(links) == {str(a): sorted(ends(a)) for a, _ in kept}


def test_ends_of_a_chain_of_any_length_are_found() -> None:
    links = [link(str(n), str(n + 1)) for n in range(10_000)]
    assert set(map(tuple, chain_ends(links).values())) == {("10000",)}


def test_what_leads_into_a_cycle_of_a_damaged_graph_has_no_end() -> None:
    assert chain_ends([link("a", "b"), link("b", "c"), link("c", "b"), link("d", "e")]) == {
        "d": ["e"]
    }
