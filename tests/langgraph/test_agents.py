"""Agents of LangGraph that use the store: awaited, with tools of both kinds."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import InjectedStore, ToolNode, tools_condition
from langgraph.runtime import Runtime
from langgraph.store.base import BaseStore

from graphmem import Handle
from tests.langgraph.conftest import Stores

FACTS = ("facts",)


@tool
def keep(name: str, fact: str, store: Annotated[BaseStore, InjectedStore()]) -> str:
    """Keep a fact; LangGraph runs it in a thread."""
    store.put(FACTS, name, {"text": fact})
    return "kept"


@tool
async def keep_awaited(name: str, fact: str, store: Annotated[BaseStore, InjectedStore()]) -> str:
    """Keep a fact on the loop."""
    await store.aput(FACTS, name, {"text": fact})
    return "kept"


def called(tool_name: str, name: str, fact: str) -> dict[str, Any]:
    args = {"name": name, "fact": fact}
    return {"name": tool_name, "args": args, "id": name, "type": "tool_call"}


def test_an_agent_on_a_loop_stores_and_finds(
    stores: Stores, memory: Handle, runner: asyncio.Runner
) -> None:
    calls = [
        called("keep", "train", "The user takes the night train to Porto."),
        called("keep_awaited", "tea", "The user drinks green tea."),
    ]
    script = [AIMessage("", tool_calls=calls), AIMessage("Noted."), AIMessage("By train.")]
    model = GenericFakeChatModel(messages=iter(script))
    known: list[set[str]] = []

    async def think(state: MessagesState, runtime: Runtime) -> dict[str, Any]:
        assert runtime.store is not None
        asked = str(state["messages"][-1].content)
        found = await runtime.store.asearch(FACTS, query=asked, limit=1)
        known.append({item.key for item in found})
        return {"messages": [await model.ainvoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("think", think)
    graph.add_node("tools", ToolNode([keep, keep_awaited]))
    graph.add_edge(START, "think")
    graph.add_conditional_edges("think", tools_condition)
    graph.add_edge("tools", "think")
    agent = graph.compile(store=stores(memory, fields=["text"]).inner)

    async def talk(words: str) -> str:
        done = await agent.ainvoke(MessagesState(messages=[HumanMessage(words)]))
        return str(done["messages"][-1].content)

    assert runner.run(talk("I take the night train, and green tea.")) == "Noted."
    assert runner.run(talk("Which train goes to Porto?")) == "By train."
    assert known[0] == set()
    assert known[-1] == {"train"}
