"""Chat in the terminal with a model that remembers; replies are streamed.

OPENAI_API_KEY=… python chat_streaming.py
"""

import sys
from collections.abc import Iterator

from openai import OpenAI

from graphmem import GraphMem, PromptMessages

openai = OpenAI()


def stream(prompt: PromptMessages) -> Iterator[str]:
    """Yield the parts of the model's reply."""
    parts = openai.chat.completions.create(model="gpt-5-mini", messages=prompt, stream=True)
    for part in parts:
        yield part.choices[0].delta.content or ""


with openai, GraphMem.open() as client:
    me = client.tenant("examples").scope("user:me")
    with me.session("terminal") as chat:
        for line in sys.stdin:
            for part in chat.respond([{"role": "user", "content": line.strip()}], stream):
                print(part, end="", flush=True)
            print()
