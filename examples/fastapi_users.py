"""Serve a chat with a memory for each user: `uvicorn fastapi_users:app`.

The name of the user comes from a header here; take it from your authentication instead.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

from fastapi import Depends, FastAPI, Header, Request
from openai import AsyncOpenAI
from openai.types.chat import ChatCompletion
from pydantic import BaseModel

from graphmem import AsyncGraphMem, AsyncHandle, PromptMessages

openai = AsyncOpenAI()


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    async with openai, await AsyncGraphMem.open() as client:
        app.state.client = client
        yield


app = FastAPI(lifespan=lifespan)


def memory_of(request: Request, x_user: Annotated[str, Header()]) -> AsyncHandle:
    """Return the memory of the user who calls; no other user's is in its reach."""
    client: AsyncGraphMem = request.app.state.client
    return client.tenant("examples").scope(f"user:{x_user}")


Memory = Annotated[AsyncHandle, Depends(memory_of)]


class Question(BaseModel):
    session: str
    text: str


async def complete(prompt: PromptMessages) -> ChatCompletion:
    return await openai.chat.completions.create(model="gpt-5-mini", messages=prompt)


@app.post("/chat")
async def chat(question: Question, memory: Memory) -> str:
    async with memory.session(question.session) as session:
        reply = await session.respond([{"role": "user", "content": question.text}], complete)
    return reply.text


@app.get("/facts")
async def facts(memory: Memory) -> list[str]:
    return [belief.statement for belief in (await memory.beliefs.list()).beliefs]
