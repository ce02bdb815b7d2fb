"""Erasure over MCP: a plan, and a confirmation of exactly that plan."""

from __future__ import annotations

from mcp import Client

from tests.mcp.conftest import Opened, data, refused
from tests.plugins.loops import run_apart as run

TEA = "Alice prefers green tea."


async def kept(client: Client, content: str = TEA) -> str:
    """Return the id of a new memory."""
    found = await data(client, "remember", content=content)
    return str(found["memory_id"])


def test_the_first_call_plans_and_the_confirmed_one_erases(opened: Opened) -> None:
    async def session() -> None:
        async with opened(profile="core") as client:
            item = await kept(client)
            plan = await data(client, "forget", item_id=item)
            assert (plan["kind"], plan["text"], "applied" in plan) == ("memory", TEA, False)
            assert plan["counts"]["Memory"] == 1
            assert "Nothing is erased yet" in plan["next"]
            assert (await data(client, "why", item_id=item))["text"] == TEA
            done = await data(client, "forget", item_id=item, confirm=plan["confirm"])
            assert (done["applied"], done["left"]) == (True, 0)
            assert "confirm" not in done
            assert (await refused(client, "why", item_id=item))["code"] == "not_found"
            again = await data(client, "forget", item_id=item, confirm=plan["confirm"])
            assert ("applied" in again, again["left"]) == (False, 0)
            again = await data(client, "remember", content=TEA)
            assert again["hygiene_reasons"] == ["erased"]

    run(session())


def test_a_belief_and_an_episode_are_erased_by_their_ids(opened: Opened) -> None:
    async def session() -> None:
        async with opened() as client:
            fact = {"subject": "alice", "predicate": "lives_in", "object": "Porto"}
            seen = await data(client, "observe", **fact)
            message = {"role": "user", "content": "I moved to Porto."}
            turns = await data(client, "add_messages", session_id="june", messages=message)
            for kind, item in (("belief", seen["belief_id"]), ("episode", turns["episode_id"])):
                plan = await data(client, "forget", item_id=item)
                assert plan["kind"] == kind
                done = await data(client, "forget", item_id=item, confirm=plan["confirm"])
                assert (done["applied"], done["left"]) == (True, 0)

    run(session())


def test_a_confirmation_is_of_one_plan_only(opened: Opened) -> None:
    async def session() -> None:
        async with opened() as client:
            first, second = await kept(client), await kept(client, "The office closes at six.")
            plan = await data(client, "forget", item_id=first)
            other = await data(client, "forget", item_id=second)
            for confirm in ("yes", "yes-0123456789ab", other["confirm"]):
                error = await refused(client, "forget", item_id=first, confirm=confirm)
                assert error["message"].startswith("confirm: ")
                assert "Call forget with item_id only" in error["hint"]
            # Another event has been added since the plan.
            await data(client, "remember", content=TEA, session_id="later")
            error = await refused(client, "forget", item_id=first, confirm=plan["confirm"])
            assert error["code"] == "invalid_input"
            assert (await data(client, "why", item_id=first))["text"] == TEA

    run(session())


def test_another_user_cannot_confirm_a_plan(opened: Opened) -> None:
    async def session() -> None:
        async with opened() as alice, opened(scope="user:bob") as bob:
            item = await kept(alice)
            plan = await data(alice, "forget", item_id=item)
            error = await refused(bob, "forget", item_id=item, confirm=plan["confirm"])
            assert error["code"] in ("not_found", "foreign_scope")
            assert (await data(alice, "why", item_id=item))["text"] == TEA

    run(session())
