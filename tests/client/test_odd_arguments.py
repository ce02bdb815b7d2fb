"""Arguments of the wrong type, found by fuzzing: refused by name, before anything is done."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from operator import attrgetter
from typing import Any

import pytest

from graphmem import Handle
from graphmem.client.validation import valid
from graphmem.errors import InvalidInputError
from graphmem.model import NewMemory
from tests.fuzz.test_clients import METHODS, PARAMETERS, SENSIBLE
from tests.plugins.graph import Look
from tests.plugins.twins import public

SWITCHES = sorted(
    (method, name)
    for method in METHODS
    for name, one in inspect.signature(public()[method]).parameters.items()
    if one.annotation == "bool"
)


def test_there_are_switches() -> None:
    assert {("forget", "dry_run"), ("usage.prune", "dry_run"), ("usage.rate", "from_scratch")} < {
        *SWITCHES
    }


@pytest.mark.parametrize("given", ["no", "", b"", 0, 1, None, [1]], ids=repr)
@pytest.mark.parametrize(("method", "name"), SWITCHES)
def test_what_is_no_yes_or_no_is_refused(
    offline: Handle, method: str, name: str, given: Any
) -> None:
    """A text such as "no" counted as a yes: pruning was applied, and what to forget was erased."""
    fits = {of: SENSIBLE[of] for of, must in PARAMETERS[method].items() if must}
    with pytest.raises(InvalidInputError, match=f"^{name}: must be True or False"):
        attrgetter(method)(offline)(**fits | {name: given})


@pytest.mark.parametrize("given", [5, 0.5, object, "Memory"], ids=repr)
@pytest.mark.parametrize(
    "call",
    [
        lambda m, given: m.memories.list(statuses=given),
        lambda m, given: m.usage.ratings(kinds=given),
        lambda m, given: m.usage.dashboard(kinds=given),
        lambda m, given: m.usage.pack(kinds=given),
        lambda m, given: m.usage.pack(blocked_paths=given),
        lambda m, given: m.usage.restore_pruned("run", item_ids=given),
        lambda m, given: m.usage.log_search("q", tool="t", results=given),
        lambda m, given: m.forget("memory", "m", digests=given),
    ],
)
def test_what_is_no_list_is_refused(
    offline: Handle, call: Callable[[Handle, Any], Any], given: Any
) -> None:
    with pytest.raises(InvalidInputError):
        call(offline, given)


def test_a_list_may_come_from_a_generator(memory: Handle, look: Look, tenant: str) -> None:
    made = str(memory.remember("Alice deploys from Borealis").memory_id)
    memory.usage.log_search("where?", tool="grep", results=(one for one in [made]))
    memory.usage.flush()
    assert look.count(tenant)["Event"] == 2


@pytest.mark.parametrize(
    "ask",
    [
        lambda m, given: m.memories.get(given),
        lambda m, given: m.beliefs.get(given),
        lambda m, given: m.expand(given),
        lambda m, given: m.memories.deprecate(given),
        lambda m, given: m.episodes.restore(given),
    ],
)
def test_an_id_longer_than_any_is_refused_and_not_repeated(
    offline: Handle, ask: Callable[[Handle, Any], Any]
) -> None:
    with pytest.raises(InvalidInputError) as caught:
        ask(offline, "x" * 10_000)
    assert len(str(caught.value)) < 200


def test_a_list_of_thousands_of_mistakes_is_told_shortly() -> None:
    with pytest.raises(InvalidInputError) as caught:
        valid(NewMemory, content="tea", tags=[5] * 4_000, **{"y" * 9_000: 1})
    assert len(str(caught.value)) < 2_000
    assert "more" in str(caught.value)


def test_what_nobody_can_show_is_refused(offline: Handle) -> None:
    deep: Any = "current"
    for _ in range(3_000):
        deep = [deep]
    with pytest.raises(InvalidInputError):
        offline.memories.list(statuses=deep)
