"""Short ids of a block, which every call accepts that takes the id of something stored."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from graphmem import Handle
from graphmem.client import admin, episodes, handle, memories, proposals, usage
from graphmem.client import beliefs as belief_namespace
from graphmem.errors import AmbiguousIdError, GraphmemError, NotFoundError
from graphmem.rules import identity
from graphmem.rules.short_ids import MIN_DIGITS
from graphmem.validation import id_parameters
from tests.plugins.clients import on_tenant
from tests.plugins.graph import Look, fresh_tenant

SHORT = len("m_") + MIN_DIGITS


def twins(first: str, second: str) -> tuple[str, str]:
    """Return two texts whose memories, one in each scope, have ids with the same beginning."""
    texts = [f"The ferry number {n} leaves at dawn." for n in range(2_000)]
    known = {identity.memory_id(first, text)[:SHORT]: text for text in texts}
    return next(
        (known[prefix], text)
        for text in texts
        if (prefix := identity.memory_id(second, text)[:SHORT]) in known and known[prefix] != text
    )


def short(item_id: object) -> str:
    """Return the beginning of an id as a block shows it in a small tenant."""
    return str(item_id)[: str(item_id).index("_") + 1 + MIN_DIGITS]


CALLS: dict[str, Callable[[Handle, dict[str, str]], Any]] = {
    "expand memory": lambda m, i: m.expand(i["memory"]).item.id,
    "expand belief": lambda m, i: m.expand(i["belief"]).item.id,
    "expand turn": lambda m, i: m.expand(i["turn"]).item.id,
    "expand episode": lambda m, i: m.expand(i["episode"]).item.id,
    "why memory": lambda m, i: m.why(i["memory"]).memory.id,  # type: ignore[union-attr]
    "why belief": lambda m, i: m.why(i["belief"]).belief.id,  # type: ignore[union-attr]
    "history": lambda m, i: [one.type for one in m.history(i["episode"])] or "episode",
    "evidence_for": lambda m, i: m.evidence_for(i["belief"]).belief_id,
    "add_evidence": lambda m, i: (
        m.add_evidence(i["belief"], "supporting", 0.8, turn_id=i["turn"]).belief_id
    ),
    "observe": lambda m, i: (
        m.observe("ann", "likes", "tea", turn_id=i["turn"], episode_id=i["episode"]).belief_id
    ),
    "observe_many": lambda m, i: (
        m.observe_many(
            [{"subject": "ann", "predicate": "likes", "object": "mate", "turn_id": i["turn"]}]
        )[0].belief_id
    ),
    "remember": lambda m, i: m.remember("Ann drinks tea at noon.", turn_id=i["turn"]).memory_id,
    "get memory": lambda m, i: m.memories.get(i["memory"]).id,
    "chain": lambda m, i: [one.id for one in m.memories.chain(i["memory"]).memories],
    "get belief": lambda m, i: m.beliefs.get(i["belief"]).id,
    "get episode": lambda m, i: m.episodes.get(i["episode"]).id,
    "turns": lambda m, i: [one.id for one in m.episodes.turns(i["episode"]).turns],
    "provenance": lambda m, i: m.beliefs.provenance(i["belief"]).belief.id,
    "what_if": lambda m, i: m.beliefs.what_if(i["belief"], without=[i["event"]]).belief_id,
    "what_if of all": lambda m, i: m.beliefs.what_if(i["belief"]).belief_id,
    "log_search": lambda m, i: m.usage.log_search("tea", tool="grep", results=[i["turn"]]),
    "forget": lambda m, i: m.forget("memory", i["memory"]).left,
    "reject": lambda m, i: m.reject(i["belief"], reason="no").belief_ids,
    "supersede": lambda m, i: m.supersede(i["memory"], "Ann drinks mate at dawn.").older_id,
    "revise": lambda m, i: m.beliefs.revise(i["belief"], "ann drinks mate").older_ids,
    "retract": lambda m, i: m.beliefs.retract(i["event"]).found,
    "deprecate": lambda m, i: (
        m.memories.deprecate(i["memory"]) and m.memories.get(i["memory"]).status
    ),
    "pin": lambda m, i: m.episodes.pin(i["episode"]).episode_id,
}


def stored(memory: Handle) -> dict[str, str]:
    """Store an item of each kind, and return their ids."""
    with memory.session("s") as session:
        [turn] = session.add_messages([{"role": "user", "content": "I drink tea."}]).turn_ids
        belief = session.observe("ann", "drinks", "tea", turn_id=turn)
        done = session.remember("Ann drinks tea at dawn.")
    return {
        "memory": str(done.memory_id),
        "belief": belief.belief_id,
        "turn": turn,
        "episode": session.episode_id,
        "event": belief.event_id,
    }


def test_a_short_id_is_accepted_like_the_whole_one(memory: Handle) -> None:
    one, other = (on_tenant(memory, fresh_tenant()) for _ in range(2))
    whole = stored(one)
    given = {kind: short(item_id) for kind, item_id in stored(other).items() if kind != "event"}
    event = next(e.id for e in other.history(given["belief"]) if e.type == "EVIDENCE")
    given["event"] = event[:-1]
    for name, call in CALLS.items():
        # Ids of memories, beliefs, turns and episodes derive from their content: they are equal.
        assert call(other, given) == call(one, whole), name


PARTS = (
    *(handle.AsyncHandle, handle.AsyncSession, memories.AsyncMemories, episodes.AsyncEpisodes),
    *(belief_namespace.AsyncBeliefs, usage.AsyncUsage, admin.AsyncAdmin),
    proposals.AsyncProposals,
)
NEW = {"event_id", "session_id", "run_id", "proposal_id"}
"""Parameters that name what the call makes, or something that is not an item."""
OTHERWISE = {
    "forget": "resolves the id itself, because its target may be a scope",
    "add": "the id of the new episode",
    "restore_pruned": "the id of a run, besides those of items",
}


def test_every_parameter_that_names_an_item_takes_short_ids() -> None:
    wrong = [
        f"{name}({parameter})"
        for part in PARTS
        for name, method in inspect.getmembers(part, inspect.iscoroutinefunction)
        if not name.startswith("_") and name not in OTHERWISE
        for parameter in inspect.signature(method).parameters
        if parameter.endswith(("_id", "_ids"))
        and (parameter not in NEW or name == "retract")
        and parameter not in id_parameters(inspect.unwrap(method))
    ]
    assert wrong == []


def test_an_ambiguous_prefix_is_refused_with_its_candidates(memory: Handle) -> None:
    first, second = (str(memory.remember(one).memory_id) for one in twins("global", "global"))
    with pytest.raises(AmbiguousIdError, match=f"{first[:SHORT]!r}.*m_") as raised:
        memory.memories.get(first[:SHORT])
    assert raised.value.code == "ambiguous_id"
    assert first in raised.value.message
    assert second in raised.value.message
    assert "more characters" in raised.value.hint
    with pytest.raises(AmbiguousIdError):
        memory.forget("memory", first[:SHORT], dry_run=False)
    # A block shows as many digits as tell them apart, and those are accepted.
    made = memory.context("when does the ferry leave?", min_score=-1)
    assert set(made.shown.values()) == {first, second}
    for shown, whole in made.shown.items():
        assert len(shown) > SHORT
        assert f"[{shown}] " in made.text
        assert memory.memories.get(shown).id == whole


def test_an_unknown_prefix_is_not_found(memory: Handle) -> None:
    known = stored(memory)
    for unknown in ("m_" + "0" * MIN_DIGITS, "b_ffffffff", "t_" + "1" * 31, "ep_0000"):
        if not any(one.startswith(unknown) for one in known.values()):
            with pytest.raises(NotFoundError, match=unknown):
                memory.expand(unknown)
    with pytest.raises(NotFoundError):
        memory.beliefs.get(short(known["memory"]))


def test_no_id_of_another_scope_or_tenant_is_read(memory: Handle, look: Look) -> None:
    mine, theirs = twins("alice", "bob")
    own = str(memory.scope("alice").remember(mine).memory_id)
    foreign = str(memory.scope("bob").remember(theirs).memory_id)
    prefix = own[:SHORT]
    assert foreign.startswith(prefix)
    # It is not ambiguous to a reader who cannot see the other one, and never names that.
    assert memory.scope("alice").memories.get(prefix).id == own
    assert memory.scope("bob").memories.get(prefix).id == foreign
    with pytest.raises(NotFoundError):
        memory.memories.get(prefix)
    with pytest.raises(NotFoundError):
        memory.forget("memory", prefix, dry_run=False)
    assert memory.scope("bob").memories.get(foreign).id == foreign
    elsewhere = on_tenant(memory, fresh_tenant())
    with pytest.raises(NotFoundError):
        elsewhere.scope("alice").expand(prefix)
    # Unique in the tenant, so that it stays valid for a reader of both.
    [shown] = memory.scope("alice").context("when does the ferry leave?", min_score=-1).shown
    assert len(shown) > SHORT
    both = memory.scope("alice", read_scopes=["alice", "bob"])
    assert both.memories.get(shown).id == own
    with pytest.raises(AmbiguousIdError):
        both.memories.get(prefix)


def test_an_id_of_a_caller_is_shown_whole_and_precedes_longer_ones(memory: Handle) -> None:
    own = memory.episodes.add(episode_id="ep_aaaa", summary="The ferry to Oslo leaves at dawn.")
    memory.episodes.add(episode_id="ep_aaaab", summary="The ferry to Bergen leaves at noon.")
    made = memory.context("which ferry leaves at dawn?", min_score=-1)
    assert set(made.shown) == {"ep_aaaa", "ep_aaaab"} == set(made.ids)
    assert memory.episodes.get("ep_aaaa").id == own
    assert memory.episodes.get("ep_aaaab").id == "ep_aaaab"


GIVEN: dict[str, Any] = {
    "content": "The tram is red.",
    "statement": "The tram is red.",
    "statements": ["The tram is red.", "The tram is blue."],
    "kind": "supporting",
    "strength": 0.8,
    "reason": "a mistake",
    "subject": "ann",
    "predicate": "likes",
    "object": "tea",
    "query": "tea",
    "tool": "grep",
    "what": "memory",
}
KINDS = {
    "memory_id": {"memory"},
    "belief_id": {"belief"},
    "beliefs": {"belief"},
    "episode_id": {"episode"},
    "turn_id": {"turn"},
    "event_id": {"event"},
    "without": {"event"},
    "target": {"memory", "belief"},
    "of": {"belief"},
    "proposal_ids": set[str](),
}
"""Kinds of ids that a parameter takes; an `item_id` takes those of its method."""
LISTS = {"beliefs", "without", "results", "proposal_ids"}
ITEMS = {
    "expand": {"memory", "belief", "turn", "episode"},
    "why": {"memory", "belief"},
    "history": {"memory", "belief", "episode"},
    "forget": {"memory"},
    "log_search": {"memory", "belief", "turn", "episode", "word"},
}
"""Likewise, by method; a search may find a file of any name."""


def id_calls() -> list[tuple[type, str, str]]:
    """Return the namespace, the method and the parameter of every call that takes an id."""
    return [
        (part, name, parameter)
        for part in PARTS
        if part is not handle.AsyncSession
        for name, method in inspect.getmembers(part, inspect.iscoroutinefunction)
        if not name.startswith("_") and (name, part) != ("add", episodes.AsyncEpisodes)
        for parameter in sorted({*id_parameters(inspect.unwrap(method)), "item_id", "proposal_ids"})
        if parameter in inspect.signature(method).parameters and name != "restore_pruned"
    ]


def test_an_id_of_another_kind_or_of_nothing_is_refused_by_name(
    memory: Handle, look: Look, tenant: str
) -> None:
    ids = stored(memory)
    other = memory.observe("ann", "drinks", "mate").belief_id
    before = look.count(tenant)
    given = {**ids, "nothing": "m_" + "0" * 32, "no episode": "ep_" + "0" * 32, "word": "xyz"}
    for part, name, parameter in id_calls():
        signature = inspect.signature(inspect.unwrap(getattr(part, name))).parameters
        arguments: dict[str, Any] = {
            key: GIVEN.get(key, [ids["belief"], other] if key == "beliefs" else None)
            or ids[key.removesuffix("_id").replace("target", "memory").replace("item", "memory")]
            for key, of in list(signature.items())[1:]
            if key != parameter
            and (of.default is of.empty or (key == "statement" and name != "observe"))
        }
        space = part.__name__.removeprefix("Async").lower()
        call = getattr(memory if space == "handle" else getattr(memory, space), name)
        for kind in given.keys() - KINDS.get(parameter, ITEMS.get(name, set())):
            value = [given[kind], other] if parameter in LISTS else given[kind]
            with pytest.raises(GraphmemError) as refused:
                call(**arguments | {parameter: value})
            assert given[kind] in refused.value.message, (name, kind)
            assert refused.value.hint, (name, kind)
        assert look.count(tenant) == before, (name, parameter)
