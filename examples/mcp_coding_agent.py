"""A coding agent that remembers a project's decisions with the tools of `graphmem mcp`.

OPENAI_API_KEY=… python mcp_coding_agent.py "We lint with ruff." "Which linter do we use?"
"""

import asyncio
import json
import os
import sys

from mcp import Client, StdioServerParameters, stdio_client
from mcp.types import TextContent
from openai import OpenAI
from openai.types.chat import ChatCompletionMessageParam, ChatCompletionToolParam

openai = OpenAI()
SERVER = StdioServerParameters(
    command="graphmem",
    args=["mcp", "--tenant", "examples", "--scope", "project:app"],
    env=dict(os.environ),
)
HEAD = "You write code. Remember decisions with `remember`, and ask `context` before you answer."


async def main(requests: list[str]) -> None:
    async with Client(stdio_client(SERVER)) as memory:
        tools: list[ChatCompletionToolParam] = [
            {
                "type": "function",
                "function": {"name": tool.name, "parameters": tool.input_schema},
            }
            for tool in (await memory.list_tools()).tools
        ]
        messages: list[ChatCompletionMessageParam] = [{"role": "system", "content": HEAD}]
        for request in requests:
            messages.append({"role": "user", "content": request})
            while True:
                done = openai.chat.completions.create(model="gpt-5", messages=messages, tools=tools)
                reply = done.choices[0].message
                messages.append(reply.model_dump(exclude_none=True))  # type: ignore[arg-type]
                if not reply.tool_calls:
                    break
                for call in reply.tool_calls:
                    assert call.type == "function"
                    arguments = json.loads(call.function.arguments)
                    result = await memory.call_tool(call.function.name, arguments)
                    text = "".join(c.text for c in result.content if isinstance(c, TextContent))
                    messages.append({"role": "tool", "tool_call_id": call.id, "content": text})
            print(reply.content)


asyncio.run(main(sys.argv[1:]))
