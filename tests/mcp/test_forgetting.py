"""Erasure over MCP: a plan, and a confirmation of exactly that plan."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from mcp import Client
from mcp.types import ElicitResult

from graphmem.erasure import ErasedText, ErasureReport, ErasureTarget
from graphmem.mcp import tool
from graphmem.mcp.connection import Caller
from graphmem.mcp.server import MAX_CONCURRENT
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
            assert (plan["kind"], plan["applied"]) == ("memory", False)
            assert plan["texts"] == [f'Memory: "{TEA}"']
            assert plan["counts"]["Memory"] == 1
            assert "Nothing is erased yet" in plan["next"]
            assert (await data(client, "why", item_id=item))["text"] == TEA
            done = await data(client, "forget", item_id=item, confirm=plan["confirm"])
            assert (done["applied"], done["left"]) == (True, 0)
            assert "confirm" not in done
            assert done["texts"] == []
            assert (await refused(client, "why", item_id=item))["code"] == "not_found"
            again = await data(client, "forget", item_id=item, confirm=plan["confirm"])
            assert (again["applied"], again["left"]) == (False, 0)
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


def test_a_turn_is_erased_alone_by_its_short_id(opened: Opened) -> None:
    async def session() -> None:
        async with opened(profile="core") as client, opened() as whole:
            messages = [{"role": "user", "content": one} for one in (TEA, "Hi.", TEA)]
            turns = await data(whole, "add_messages", session_id="june", messages=messages)
            first, _, third = turns["turn_ids"]
            plan = await data(client, "forget", item_id=f"[{first[:10]}]")
            assert (plan["kind"], plan["applied"]) == ("turn", False)
            assert (plan["texts"], plan["copies"]) == ([f'Turn: "{TEA}"'], [f"Turn: {third}"])
            done = await data(client, "forget", item_id=first[:10], confirm=plan["confirm"])
            assert (done["applied"], done["left"], done["counts"]["Turn"]) == (True, 0, 1)
            again = await data(whole, "add_messages", session_id="june", messages=messages)
            assert (again["added"], again["turn_ids"]) == (0, turns["turn_ids"])

    run(session())


def test_a_plan_lists_the_copies_that_stay(opened: Opened) -> None:
    questions: list[str] = []

    async def person(_: Any, asked: Any) -> ElicitResult:
        questions.append(asked.message)
        return ElicitResult(action="decline")

    async def session() -> None:
        async with (
            opened() as client,
            opened(scope="user:bob") as bob,
            opened(person=person) as asking,
        ):
            message = {"role": "user", "content": TEA}
            turns = await data(client, "add_messages", session_id="june", messages=message)
            said = await data(bob, "add_messages", session_id="july", messages=message)
            item = await kept(client)
            plan = await data(client, "forget", item_id=item)
            turn = f"Turn: {turns['turn_ids'][0]}"
            assert plan["copies"] == [turn]
            assert "`copies`" in plan["next"]
            await data(asking, "forget", item_id=item)
            assert questions[0].endswith(f"The same text stays in:\n{turn}")
            done = await data(client, "forget", item_id=item, confirm=plan["confirm"])
            assert done["copies"] == [turn]
            # What is erased with the item is not a copy.
            plan = await data(client, "forget", item_id=turns["episode_id"])
            assert plan["copies"] == []
            assert (await refused(client, "forget", item_id=said["turn_ids"][0]))["code"] in (
                "not_found",
                "foreign_scope",
            )

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


def test_a_plan_shows_all_texts_that_it_erases(opened: Opened) -> None:
    async def session() -> None:
        async with opened() as client:
            messages = [{"role": "user", "content": f"I moved to Porto, {n}."} for n in range(60)]
            messages[0]["content"] = "a\nb\u200b" + "x" * 300
            turns = await data(client, "add_messages", session_id="june", messages=messages[:20])
            for at in (20, 40):
                more = messages[at : at + 20]
                await data(client, "add_messages", session_id="june", messages=more)
            fact = {"subject": "alice", "predicate": "lives_in", "object": "Porto"}
            turn = turns["turn_ids"][1]
            await data(client, "observe", session_id="june", turn_id=turn, **fact)
            plan = await data(client, "forget", item_id=turns["episode_id"])
            belief, first, second, *rest = plan["texts"]
            assert belief.startswith("Belief: ")
            assert "Porto" in belief
            assert first.startswith('Turn: "a\\nb')
            assert first.endswith('x…"')
            assert "\u200b" not in first
            assert len(first) < 230
            assert second == 'Turn: "I moved to Porto, 1."'
            assert (len(rest), rest[-1]) == (48, "… and 11 more")
            assert "cannot ask the user itself" in plan["next"]

    run(session())


def test_a_confirmation_is_of_the_texts_that_were_shown() -> None:
    def confirmation(text: str) -> str:
        shown = ErasedText(label="Memory", id="m_1", text=text)
        plan = ErasureReport(
            what=ErasureTarget.MEMORY, id="m_1", applied=False, counts={"Memory": 1}, texts=(shown,)
        )
        return tool._confirmation(Caller("acme", "global"), plan)

    assert confirmation("tea") == confirmation("tea") != confirmation("coffee")


@pytest.mark.parametrize(
    ("answer", "agreed"),
    [
        (ElicitResult(action="accept", content={"agree": True}), True),
        (ElicitResult(action="accept", content={"agree": False}), False),
        (ElicitResult(action="accept", content={"agree": "true"}), False),
        (ElicitResult(action="accept"), False),
        (ElicitResult(action="decline"), False),
        (ElicitResult(action="cancel", content={"agree": True}), False),
    ],
)
def test_only_the_person_decides_if_the_client_can_ask(
    opened: Opened, answer: ElicitResult, *, agreed: bool
) -> None:
    questions: list[str] = []

    async def person(_: Any, asked: Any) -> ElicitResult:
        questions.append(asked.message)
        return answer

    async def session() -> None:
        async with opened() as silent, opened(person=person) as client:
            item = await kept(client)
            confirm = (await data(silent, "forget", item_id=item))["confirm"]
            # A model that confirms in advance has no effect.
            done = await data(client, "forget", item_id=item, confirm=confirm)
            assert questions == [
                f'Erase this memory for good? It cannot be undone. Texts:\nMemory: "{TEA}"'
            ]
            assert done.get("applied", False) is agreed
            assert "confirm" not in done
            if not agreed:
                assert "did not agree" in done["next"]
                assert (await data(client, "why", item_id=item))["text"] == TEA

    run(session())


def test_an_item_that_changes_while_the_person_is_asked_stays(opened: Opened) -> None:
    async def session() -> None:
        async with opened() as other:

            async def person(_: Any, __: Any) -> ElicitResult:
                await data(other, "remember", content=TEA, session_id="later")
                return ElicitResult(action="accept", content={"agree": True})

            async with opened(person=person) as client:
                item = await kept(client)
                error = await refused(client, "forget", item_id=item)
                assert error["message"].startswith("confirm: ")
                assert (await data(client, "why", item_id=item))["text"] == TEA

    run(session())


def test_open_questions_do_not_keep_other_calls_out(opened: Opened) -> None:
    asked, answered = asyncio.Semaphore(0), asyncio.Event()

    async def person(_: Any, __: Any) -> ElicitResult:
        asked.release()
        await answered.wait()
        return ElicitResult(action="decline")

    async def session() -> None:
        async with opened(person=person) as client:
            item = await kept(client)
            calls = [
                asyncio.ensure_future(data(client, "forget", item_id=item))
                for _ in range(MAX_CONCURRENT + 1)
            ]
            for _ in calls:
                await asyncio.wait_for(asked.acquire(), 60)
            assert (await data(client, "why", item_id=item))["text"] == TEA
            answered.set()
            assert all("did not agree" in found["next"] for found in await asyncio.gather(*calls))

    run(session())
