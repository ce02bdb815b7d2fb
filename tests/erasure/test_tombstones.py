"""A tombstone closes one id of one kind, and nothing else."""

from __future__ import annotations

from itertools import product

from graphmem.erasure import rules


def test_each_kind_tenant_and_scope_has_a_key_of_its_own() -> None:
    kinds = (*rules.ERASABLE, rules.PERSON)
    places = list(product(("a", "b"), kinds, ("m_1", "m_2"), ("global", "user:ann")))
    for digest in (rules.key, rules.copy_key):
        keys = {digest(*place) for place in places}
        # Only callers choose ids of episodes and events; other ids include their scope.
        chosen = sum(kind in rules.CHOSEN for _, kind, _, _ in places)
        assert len(keys) == chosen + (len(places) - chosen) // 2
