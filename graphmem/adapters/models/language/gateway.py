"""The language model: asked for JSON of a schema, checked, asked once more when it does not fit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from graphmem.adapters.models.access import ModelAccess
from graphmem.adapters.models.faults import FaultKind, RequestFault, error_of
from graphmem.adapters.models.language.replies import ReplyProblem, cost_of, read, said, tokens_of
from graphmem.adapters.models.language.schemas import response_format
from graphmem.adapters.models.service import ModelService
from graphmem.adapters.models.wire import too_long
from graphmem.errors import ModelReplyError
from graphmem.ports import Answer
from graphmem.rules.identity import digest

if TYPE_CHECKING:
    from pydantic import BaseModel

    from graphmem.adapters.models.faces import IOMode
    from graphmem.ports import Prompt
    from graphmem.rules.prompting import M
    from graphmem.settings import Settings

Message = dict[str, str]

FORMS = ("json_schema", "described_object", "json_object", "plain")
"""How a reply may be asked for, the strictest first; a service that refuses one gets the next."""
ATTEMPTS = 2
_REPEATED_CHARS = 8_000
"""Of a reply that did not fit, shown to the model again."""

_accepted: dict[str, int] = {}
"""Which of the forms a model took, by its name and address, for as long as the process lives."""


@dataclass
class _Spent:
    requests: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float | None = 0.0

    def add(self, model: str, response: Any) -> None:
        sent, received = tokens_of(response)
        self.tokens_in += sent
        self.tokens_out += received
        cost = cost_of(model, response)
        if cost is None or self.cost_usd is None:
            self.cost_usd = None
        else:
            self.cost_usd += cost


class LanguageGateway:
    """An `Llm` behind litellm; safe to share between threads and event loops.

    Raises:
        ConfigurationError: the address or the key cannot be used in an HTTP request.
    """

    def __init__(self, model: str, settings: Settings, face: IOMode) -> None:
        self._access = ModelAccess(
            noun="language model service",
            setting="GRAPHMEM_MODEL",
            example="openai/gpt-5-mini or ollama_chat/qwen3",
            too_much="If the prompt is longer than this model reads, set GRAPHMEM_MODEL to one "
            "that reads more.",
            model=model,
            url=settings.model_url,
            key=settings.model_key,
            timeout_s=settings.model_timeout_s,
            max_bytes=settings.model_max_reply_bytes,
            retries=settings.model_retries,
        )
        self._service = ModelService(self._access, face)
        self._identity = digest(model, settings.model_url or "")

    @property
    def name(self) -> str:
        """Stable name of the model."""
        return self._access.model

    async def answer(self, prompt: Prompt[M]) -> Answer[M]:
        """Return the model's reply as the record that the prompt asks for.

        Raises:
            ConfigurationError: litellm does not know whose model it is.
            ModelUnavailableError: the model cannot be reached or refuses the key.
            ModelReplyError: the reply fits no such record, after one attempt at repair; `raw`
                holds it.
        """
        spent = _Spent()
        talk: list[Message] = [_says("system", prompt.system), _says("user", prompt.user)]
        raw, misfit = "", ReplyProblem("")
        for _ in range(ATTEMPTS):
            raw = await self._asked(talk, prompt.reply, spent)
            value = read(raw, prompt.reply)
            if not isinstance(value, ReplyProblem):
                return Answer(
                    value=value,
                    raw=raw,
                    model=self.name,
                    requests=spent.requests,
                    tokens_in=spent.tokens_in,
                    tokens_out=spent.tokens_out,
                    cost_usd=spent.cost_usd,
                )
            misfit = value
            talk += [_says("assistant", raw[:_REPEATED_CHARS] or "(nothing)"), _repair(misfit)]
        raise ModelReplyError(
            f"Model {self.name!r} did not answer as it was asked to, {ATTEMPTS} times: "
            f"{misfit.reason}.",
            hint="Try again, or set GRAPHMEM_MODEL to a more capable model.",
            raw=raw,
        )

    async def _asked(self, talk: list[Message], reply: type[BaseModel], spent: _Spent) -> str:
        """Return the text of a reply in the strictest form that the service takes.

        What it refuses for another reason, it refuses in every form; so only a form that was
        answered is remembered.
        """
        form = _accepted.get(self._identity, 0)
        while True:
            answer, requests = await self._service.ask(
                "acompletion", partial(self._request, talk, reply, FORMS[form])
            )
            spent.requests += requests
            if not isinstance(answer, RequestFault):
                _accepted[self._identity] = form
                spent.add(self.name, answer)
                text = said(answer)
                if len(text) <= self._access.max_bytes:
                    return text
                # litellm was told to bring a transport of its own, which reads everything.
                answer = RequestFault(FaultKind.REPLY, str(too_long(self._access.max_bytes)))
            form += 1
            if answer.kind is not FaultKind.REQUEST or form == len(FORMS):
                raise error_of(answer, self._access, requests)

    def _request(self, talk: list[Message], reply: type[BaseModel], form: str) -> dict[str, Any]:
        self._service.provider()
        request = self._access.request() | {"messages": talk}
        if form != "plain":
            # Some models take no temperature, some providers no format: litellm drops what it
            # knows to be refused.
            wishes = {"temperature": 0, "response_format": response_format(form, reply)}
            request |= wishes | {"drop_params": True}
        return request


def _says(role: str, content: str) -> Message:
    return {"role": role, "content": content}


def _repair(misfit: ReplyProblem) -> Message:
    return _says(
        "user",
        f"That answer cannot be used: {misfit.reason}. Answer the same question again, with "
        "JSON only, as it was asked for.",
    )
