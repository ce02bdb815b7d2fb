"""Beliefs of beliefs: a model states what several consolidated beliefs have in common."""

from __future__ import annotations

from pathlib import Path

import neo4j
import pytest
from rich.console import Console, RenderableType

from graphmem import ConsolidationPolicy, Handle
from graphmem.cli.views import belief, consolidation, recall
from graphmem.consolidation import BeliefChange, BeliefChangeKind
from graphmem.errors import NotFoundError
from graphmem.model import BeliefReasons
from graphmem.testing import ScriptedLlm
from tests.plugins.clients import Door, on_tenant
from tests.plugins.episodes import tell
from tests.plugins.graph import Look, fresh_tenant

PARTS = tuple(
    f"I swim across the cold {water} before breakfast." for water in ("lake", "river", "bay")
)
GENERAL = "I swim across the cold water before breakfast."
REPLY = {"statement": GENERAL, "confidence": 0.8, "episodes": ["e1", "e2", "e3"]}
FIRST = ConsolidationPolicy(min_episodes=1, cluster_similarity=0.95)
THEN = ConsolidationPolicy(min_episodes=1, cluster_similarity=0.5)


@pytest.fixture
def swimmer(memory: Handle) -> Handle:
    """Return a handle with one belief for each of PARTS, from three episodes each."""
    for n, text in enumerate(PARTS):
        tell(memory, [text] * 3, first=3 * n)
    made = memory.consolidate(policy=FIRST).changes
    assert sorted(change.statement for change in made) == sorted(PARTS)
    return memory


def reasons(memory: Handle, belief_id: str) -> BeliefReasons:
    found = memory.why(belief_id)
    assert isinstance(found, BeliefReasons)
    return found


def shown(view: RenderableType) -> str:
    console = Console(width=200)
    with console.capture() as capture:
        console.print(view)
    return capture.get()


def generalise(door: Door, memory: Handle, policy: ConsolidationPolicy = THEN) -> BeliefChange:
    [change] = door.on(memory, llm=ScriptedLlm([REPLY])).consolidate(policy=policy).changes
    return change


def test_a_model_generalises_beliefs_once(
    door: Door, swimmer: Handle, tmp_path: Path, session: neo4j.Session, tenant: str
) -> None:
    assert not swimmer.consolidate(policy=THEN).changes
    previewed = door.on(swimmer, llm=ScriptedLlm([REPLY])).consolidate(policy=THEN, dry_run=True)
    parts = {one.id: one.statement for one in swimmer.beliefs.list().beliefs}
    change = generalise(door, swimmer)
    assert previewed.changes == (change,)
    assert "depth 1, generalises 3 beliefs" in shown(consolidation.consolidation_report(previewed))
    assert (change.step, change.statement, change.depth) == (BeliefChangeKind.CREATE, GENERAL, 1)
    assert set(change.generalises) == parts.keys()
    assert len(change.quotes) == 9

    made = swimmer.beliefs.get(change.belief_id)
    assert (made.depth, made.supporting_episodes, made.subject) == (1, 9, None)
    assert {swimmer.beliefs.get(one).depth for one in parts} == {0}
    why = reasons(swimmer, change.belief_id)
    assert {one.belief_id: one.statement for one in why.derived_from} == parts
    assert why.trust == "model"
    assert all(f"generalises: {text}" in shown(recall.reasons(why)) for text in PARTS)
    assert "1, generalises other beliefs" in shown(belief.belief(made))
    assert {piece.turn_id for piece in why.pieces} == {quote.turn_id for quote in change.quotes}
    origin = swimmer.beliefs.provenance(change.belief_id)
    assert (origin.belief.depth, origin.derived_from) == (1, why.derived_from)

    again = door.on(swimmer, llm=ScriptedLlm([]))
    assert not again.consolidate(policy=THEN).calls
    # A repeat of a part supports the part, not what generalises it.
    tell(swimmer, [PARTS[0]], first=20)
    [repeat] = again.consolidate(policy=FIRST).changes
    assert (repeat.step, repeat.statement) == (BeliefChangeKind.SUPPORT, PARTS[0])

    swimmer.admin.export_to(tmp_path / "all.jsonl")
    copy = on_tenant(swimmer, fresh_tenant())
    copy.admin.import_from(tmp_path / "all.jsonl")
    assert copy.beliefs.get(change.belief_id).depth == 1
    assert reasons(copy, change.belief_id).derived_from == why.derived_from
    lost = "MATCH (b:Belief {tenant: $tenant, id: $id}) DETACH DELETE b"
    session.run(lost, tenant=tenant, id=change.belief_id).consume()
    swimmer.admin.rebuild()
    assert reasons(swimmer, change.belief_id).derived_from == why.derived_from
    assert swimmer.beliefs.get(change.belief_id).depth == 1


def test_what_becomes_of_a_part_reaches_its_generalisation(door: Door, swimmer: Handle) -> None:
    change = generalise(door, swimmer)
    part_id = change.generalises[0]

    def episodes() -> int:
        return swimmer.beliefs.get(change.belief_id).supporting_episodes

    piece = reasons(swimmer, part_id).pieces[0]
    retraction = swimmer.beliefs.retract(piece.event_id)
    assert episodes() == 8
    [gone] = reasons(swimmer, change.belief_id).retracted
    assert gone.note == f"follows from {retraction.event_id}"
    swimmer.beliefs.retract(retraction.event_id)
    assert episodes() == 9

    swimmer.reject(part_id, reason="wrong")
    assert episodes() == 6
    assert swimmer.beliefs.get(change.belief_id).status == "current"
    swimmer.unreject(part_id, reason="it was")
    assert episodes() == 9

    swimmer.forget("episode", str(piece.episode_id), dry_run=False)
    with pytest.raises(NotFoundError):
        swimmer.beliefs.get(change.belief_id)


def test_forgetting_a_part_erases_its_generalisation(
    door: Door, swimmer: Handle, look: Look, tenant: str
) -> None:
    change = generalise(door, swimmer)
    assert swimmer.forget("belief", change.generalises[0], dry_run=False).clean
    with pytest.raises(NotFoundError):
        swimmer.beliefs.get(change.belief_id)
    left = look.rows(
        "MATCH (e:Event {tenant: $tenant, type: 'EVIDENCE'}) RETURN e.target_id AS of",
        tenant=tenant,
    )
    assert [row["of"] for row in left] == [None] * 6
    assert len(swimmer.beliefs.list().beliefs) == 2


@pytest.mark.parametrize(("depth", "limit", "made"), [(1, 2, 2), (1, 1, None), (2, 2, None)])
def test_depth_is_limited(
    door: Door,
    swimmer: Handle,
    session: neo4j.Session,
    tenant: str,
    depth: int,
    limit: int,
    made: int | None,
) -> None:
    session.run(
        "MATCH (b:Belief {tenant: $tenant}) SET b.depth = $depth", tenant=tenant, depth=depth
    ).consume()
    policy = THEN.model_copy(update={"max_depth": limit})
    done = door.on(swimmer, llm=ScriptedLlm([REPLY])).consolidate(policy=policy)
    assert [change.depth for change in done.changes] == ([] if made is None else [made])


def test_a_statement_that_is_there_is_no_generalisation(door: Door, swimmer: Handle) -> None:
    llm = ScriptedLlm([REPLY | {"statement": PARTS[0]}])
    modelled = door.on(swimmer, llm=llm)
    done = modelled.consolidate(policy=THEN)
    assert (done.changes, done.troubles, done.calls) == ((), (), 1)
    assert not modelled.consolidate(policy=THEN).calls
