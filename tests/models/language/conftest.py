"""A language model over a loopback chat, with both faces called the same way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from graphmem.models import language
from graphmem.models.language import LanguageGateway
from graphmem.ports import Answer, Prompt
from graphmem.settings import Settings
from tests.plugins.chat_service import KEY, ChatService
from tests.plugins.loopback import Waits


class Colour(BaseModel):
    """Reply format of these tests."""

    name: Annotated[str, Field(min_length=1, max_length=20)]
    share: Annotated[float, Field(ge=0, le=1)]
    near: tuple[str, ...] = ()


GOOD: dict[str, Any] = {"name": "teal", "share": 0.25, "near": ["blue"]}
VALUE = Colour(name="teal", share=0.25, near=("blue",))


@dataclass
class Talk:
    """A language model and how it waited."""

    model: LanguageGateway
    waits: Waits

    def ask(self, user: str = "Which colour?") -> Answer[Colour]:
        return self.waits.finish(
            self.model.answer(Prompt("colour", "Answer with JSON.", user, Colour))
        )


Connect = Callable[..., Talk]


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatService]:
    # A port may be used twice; the forms that one service rejected do not apply to the next.
    monkeypatch.setattr(language, "_accepted", {})
    with ChatService.opened() as played:
        yield played


@pytest.fixture
def connect(client_name: str, service: ChatService, monkeypatch: pytest.MonkeyPatch) -> Connect:
    """Open a model over the loopback chat; keywords are settings."""
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE"):
        monkeypatch.delenv(name, raising=False)

    def opened(**fields: Any) -> Talk:
        waits = Waits(awaited=client_name == "awaited")
        fields = {"model": "openai/some-model", "model_url": service.url, "model_key": KEY} | fields
        return Talk(LanguageGateway(fields["model"], Settings(**fields), waits), waits)

    return opened
