"""Arguments of the wrong type, found by fuzzing: refused by name, before anything is done."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from graphmem import GraphMem
from graphmem.client.state import valid
from graphmem.errors import InvalidInputError
from graphmem.model import NewMemory
from tests.fuzz.test_clients import METHODS, PARAMETERS, SENSIBLE
from tests.plugins.graph import Look

SWITCHES = sorted(
    (method, name)
    for method in METHODS
    for name, one in inspect.signature(getattr(GraphMem, method)).parameters.items()
    if one.annotation == "bool"
)


def test_there_are_switches() -> None:
    assert {("forget", "apply"), ("prune", "apply"), ("rate", "again")} < {*SWITCHES}


@pytest.mark.parametrize("given", ["no", "", b"", 0, 1, None, [1]], ids=repr)
@pytest.mark.parametrize(("method", "name"), SWITCHES)
def test_what_is_no_yes_or_no_is_refused(
    offline: GraphMem, method: str, name: str, given: Any
) -> None:
    """A text such as "no" counted as a yes: pruning was applied, and what to forget was erased."""
    fits = {of: SENSIBLE[of] for of, must in PARAMETERS[method].items() if must}
    with pytest.raises(InvalidInputError, match=f"^{name} must be True or False"):
        getattr(offline, method)(**fits | {name: given})


@pytest.mark.parametrize("given", [5, 0.5, object, "Memory"], ids=repr)
@pytest.mark.parametrize(
    "call",
    [
        lambda m, given: m.prune(kinds=given),
        lambda m, given: m.ratings(kinds=given),
        lambda m, given: m.attention(kinds=given),
        lambda m, given: m.pack(kinds=given),
        lambda m, given: m.pack(blocked_paths=given),
        lambda m, given: m.restore_pruned("run", ids=given),
        lambda m, given: m.log_search("q", tool="t", results=given),
        lambda m, given: m.forget("memory", "m", digests=given),
    ],
)
def test_what_is_no_list_is_refused(
    offline: GraphMem, call: Callable[[GraphMem, Any], Any], given: Any
) -> None:
    with pytest.raises(InvalidInputError):
        call(offline, given)


def test_a_list_may_come_from_a_generator(memory: GraphMem, look: Look, tenant: str) -> None:
    made = str(memory.remember("Alice deploys from Borealis").memory_id)
    memory.log_search("where?", tool="grep", results=(one for one in [made]))
    memory.flush()
    assert look.count(tenant)["Event"] == 2


@pytest.mark.parametrize(
    "ask",
    [
        lambda m, given: m.get(given),
        lambda m, given: m.belief(given),
        lambda m, given: m.expand(given),
        lambda m, given: m.deprecate(given),
        lambda m, given: m.restore_episode(given),
    ],
)
def test_an_id_longer_than_any_is_refused_and_not_repeated(
    offline: GraphMem, ask: Callable[[GraphMem, Any], Any]
) -> None:
    with pytest.raises(InvalidInputError) as caught:
        ask(offline, "x" * 10_000)
    assert len(str(caught.value)) < 200


def test_a_list_of_thousands_of_mistakes_is_told_shortly() -> None:
    with pytest.raises(InvalidInputError) as caught:
        valid(NewMemory, content="tea", tags=[5] * 4_000, **{"y" * 9_000: 1})
    assert len(str(caught.value)) < 2_000
    assert "more" in str(caught.value)


def test_what_nobody_can_show_is_refused(offline: GraphMem) -> None:
    deep: Any = "current"
    for _ in range(3_000):
        deep = [deep]
    with pytest.raises(InvalidInputError):
        offline.list(statuses=deep)
