"""A chat service like OpenAI's on loopback that can fail in every known way.

with ChatService.opened() as service:
    service.script([{"statement": …}, "no JSON", service.status(429, Retry_After="0")])
    settings = Settings(model="openai/some-model", model_url=service.url, model_key=KEY)
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from tests.plugins.loopback import KEY, LoopbackService, Reply

__all__ = ["KEY", "ChatService", "Reply"]


@dataclass
class ChatService(LoopbackService):
    """A chat service like OpenAI's: `script` sets its replies, `always` the replies after them.

    A reply is a `str` (the message's text), a `dict` (the text as JSON), or one of `status(…)`,
    `text(…)`, `cut_off`, `reset`, `hang`, `chat(…)`.
    """

    always: Callable[[list[dict[str, str]]], str | dict[str, Any]] = lambda _: ""
    """Returns the reply to the messages of a request after the end of the script."""
    refuses: frozenset[str] = frozenset()
    """Response formats that are answered with `refusal`; such requests do not consume the script.
    """
    refusal: int = 400
    """HTTP status of a refusal."""

    def script(self, replies: Iterable[str | dict[str, Any] | Reply]) -> None:
        """Answer the next requests with these replies, each once."""
        self.play(*(reply if callable(reply) else self.chat(reply) for reply in replies))

    def behave(self, body: dict[str, Any]) -> Reply:
        return self.chat(self.always(body["messages"]))

    def chosen(self, body: dict[str, Any]) -> Reply:
        form = self.form(body)
        if form in self.refuses:
            return self.status(self.refusal, f"response_format {form} is not supported")
        return super().chosen(body)

    @staticmethod
    def form(body: dict[str, Any]) -> str | None:
        """Return the requested response format; None for plain text."""
        wanted: dict[str, Any] = body.get("response_format", {})
        return "described_object" if "schema" in wanted else wanted.get("type")

    @property
    def asked(self) -> list[str]:
        """The last message of each request."""
        return [body["messages"][-1]["content"] for body in self.bodies]

    @staticmethod
    def chat(
        content: str | dict[str, Any] | None,
        *,
        sent: int | None = 100,
        received: int = 20,
        finish: str = "stop",
    ) -> Reply:
        """Answer 200 with this message; `sent` None omits the token usage."""
        text = json.dumps(content) if isinstance(content, dict) else content
        message = {"role": "assistant", "content": text}
        body: dict[str, Any] = {
            "id": "c",
            "object": "chat.completion",
            "created": 1,
            "model": "m",
            "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        }
        if sent is not None:
            body["usage"] = {
                "prompt_tokens": sent,
                "completion_tokens": received,
                "total_tokens": sent + received,
            }
        return LoopbackService.text(json.dumps(body).encode())
