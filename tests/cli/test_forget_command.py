"""`graphmem memory forget`, as people and programs read it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from graphmem import GraphMem
from graphmem.settings import Settings
from graphmem.testing import HashEmbedder

Run = Callable[..., Any]


@pytest.fixture
def known(migrated: Settings, tenant: str) -> str:
    """The id of the one memory of the tenant, which a turn says, too."""
    with GraphMem.open(settings=migrated, embedder=HashEmbedder()) as client:
        session = client.tenant(tenant).session("s")
        session.add_messages([{"role": "user", "content": "The shed has a blue door", "id": "1"}])
        return str(client.tenant(tenant).remember("The shed has a blue door").memory_id)


def test_the_plan_then_the_deed_then_it_is_told_that_it_was_done(run: Run, known: str) -> None:
    plan = run("memory", "forget", "memory", known).out
    assert f"Forgetting memory {known} would erase:" in plan
    assert f"- Memory {known}: The shed has a blue door" in plan
    assert "The same text remains in: Turn t_" in plan
    assert "Nothing was written; use --apply." in plan
    done = run("memory", "forget", "memory", known, "--apply").out
    assert f"Forgot memory {known}:" in done
    assert "The final check found no remaining data." in done
    assert "The same text remains in: Turn t_" in done
    again = run("memory", "forget", "memory", known, "--apply").out
    assert "was already erased; nothing remains." in again


def test_programs_read_counts(run: Run, known: str) -> None:
    plan = json.loads(run("memory", "forget", "memory", known, "--json").out)
    assert (plan["applied"], plan["left"]) == (False, None)
    done = json.loads(run("memory", "forget", "memory", known, "--apply", "--json").out)
    assert (done["applied"], done["left"]) == (True, 0)
    assert done["counts"] == plan["counts"] == {"Event": 1, "Memory": 1}
    assert [one["label"] for one in done["elsewhere"]] == ["Turn"]


def test_what_is_not_there_is_said(run: Run) -> None:
    missing = run("memory", "forget", "belief", "b_none", "--apply")
    assert missing.code == 1
    assert "No belief 'b_none'." in missing.err
    assert run("memory", "forget", "event", "e").code == 2


def test_a_message_is_erased_by_its_short_id(run: Run, known: str) -> None:
    turn = run("memory", "forget", "memory", known, "--json").data["elsewhere"][0]["id"]
    plan = run("memory", "forget", "turn", turn[:10]).out
    assert f"- Turn {turn}: The shed has a blue door" in plan
    assert f"The same text remains in: Memory {known}" in plan
    assert f"Forgot turn {turn}:" in run("memory", "forget", "turn", turn[:10], "--apply").out
    assert run("recall", "shed", "--kind", "turn").out.startswith("No results")


@pytest.mark.usefixtures("known")
def test_a_tenant_is_erased_by_its_name_alone(run: Run, tenant: str) -> None:
    for refused in (("memory", "forget", "tenant", tenant), ("admin", "erase-tenant", "--apply")):
        assert run(*refused).code == 2
    missing = run("admin", "erase-tenant", f"{tenant} not", "--apply")
    assert missing.code == 1
    assert "No data in tenant" in missing.err
    plan = run("admin", "erase-tenant", tenant)
    assert f"Forgetting tenant {tenant} would erase:" in plan.out
    assert "Nothing was written; use --apply." in plan.out
    done = json.loads(run("admin", "erase-tenant", tenant, "--apply", "--json").out)
    assert (done["what"], done["id"], done["applied"], done["left"]) == ("tenant", tenant, True, 0)
    assert done["counts"]["Memory"] == done["counts"]["Turn"] == 1
    again = run("admin", "erase-tenant", tenant, "--apply")
    assert (again.code, "nothing remains" in again.out) == (0, True)
    assert run("memory", "remember", "The shed has a red door").code == 1
