"""An agent of LangGraph with graphmem as its long-term store.

OPENAI_API_KEY=… python langgraph_agent.py "I take the night train to Porto." "How do I travel?"
"""

import sys
import uuid
from typing import TypedDict

from langgraph.graph import START, StateGraph
from langgraph.runtime import Runtime
from openai import OpenAI

from graphmem import GraphMem
from graphmem.langgraph import GraphMemStore

openai = OpenAI()
NOTES = ("notes",)


class State(TypedDict):
    asked: str
    answer: str


def answer(state: State, runtime: Runtime) -> State:
    """Answer with what the store has about the question."""
    assert runtime.store is not None
    notes = [item.value["text"] for item in runtime.store.search(NOTES, query=state["asked"])]
    known = "Notes about the user:\n" + "\n".join(notes)
    done = openai.chat.completions.create(
        model="gpt-5-mini",
        messages=[
            {"role": "system", "content": known},
            {"role": "user", "content": state["asked"]},
        ],
    )
    return {"asked": state["asked"], "answer": done.choices[0].message.content or ""}


def keep(state: State, runtime: Runtime) -> None:
    """Keep what the user stated."""
    if runtime.store is not None and not state["asked"].endswith("?"):
        runtime.store.put(NOTES, str(uuid.uuid4()), {"text": state["asked"]})


with openai, GraphMem.open() as client:
    store = GraphMemStore(client.tenant("examples").scope("user:me"), fields=["text"])
    graph = StateGraph(State).add_sequence([answer, keep]).add_edge(START, "answer")
    agent = graph.compile(store=store)
    for words in sys.argv[1:]:
        print(agent.invoke({"asked": words, "answer": ""})["answer"])
