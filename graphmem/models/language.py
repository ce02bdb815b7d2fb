"""Language models behind litellm: reply formats, parsing, usage and repair."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from graphmem.errors import ModelReplyError
from graphmem.models.access import ModelAccess
from graphmem.models.ports import Answer
from graphmem.models.service import (
    FaultKind,
    ModelService,
    RequestFault,
    exception_of,
    import_litellm,
    too_long,
)
from graphmem.rules.identity import digest

if TYPE_CHECKING:
    from pydantic import BaseModel

    from graphmem.io_modes import IOMode
    from graphmem.models.ports import Prompt
    from graphmem.rules.prompts import M
    from graphmem.settings import Settings


_MAPS = ("properties", "$defs")
_KEPT = frozenset({"$ref", "anyOf", "const", "description", "enum", "items", "type", *_MAPS})
"""Schema keywords that every service with strict schemas accepts. Most reject bounds of numbers
and lengths, which graphmem checks itself."""

_FENCED = re.compile(r"```[a-zA-Z]*+(.*?)```", re.DOTALL)
_FAULTS_SHOWN = 5

Message = dict[str, str]

FORMS = ("json_schema", "described_object", "json_object", "plain")
"""Forms of a request for a reply, strictest first; a service that rejects one gets the next."""
ATTEMPTS = 2
_REPEATED_CHARS = 8_000
"""Maximum characters of an invalid reply that the repair request repeats."""

_accepted: dict[str, int] = {}
"""Index in `FORMS` of the form that a model accepted, by identity; kept until the process ends."""


def response_format(form: str, reply: type[BaseModel]) -> dict[str, Any]:
    """Return the `response_format` of a request: a form of `FORMS` other than `plain`.

    llama.cpp's servers enforce `described_object`.
    """
    if form == "json_object":
        return {"type": "json_object"}
    schema = strict(reply.model_json_schema())
    if form == "described_object":
        return {"type": "json_object", "schema": schema}
    described = {"name": reply.__name__, "schema": schema, "strict": True}
    return {"type": "json_schema", "json_schema": described}


def strict(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a JSON schema in which every property is required and no other is allowed."""
    kept = {key: _strict_value(key, value) for key, value in schema.items() if key in _KEPT}
    if "properties" in kept:
        kept |= {"required": list(kept["properties"]), "additionalProperties": False}
    return kept


def _strict_value(key: str, value: Any) -> Any:
    if key in _MAPS:
        return {name: strict(schema) for name, schema in value.items()}
    if key == "anyOf":
        return [strict(schema) for schema in value]
    return strict(value) if key == "items" else value


@dataclass(frozen=True, slots=True)
class ReplyProblem:
    """Reason why a reply cannot be used."""

    reason: str
    """Description of the problem, without the content of the reply."""


def reply_text(response: Any) -> str:
    """Return the text of a chat completion; empty if there is none."""
    choices = getattr(response, "choices", None) or [None]
    content = getattr(getattr(choices[0], "message", None), "content", None)
    return content.strip() if isinstance(content, str) else ""


def parse_reply(raw: str, reply: type[M]) -> M | ReplyProblem:
    """Return the record in a reply; it may be in a code fence or between other text."""
    if not raw:
        return ReplyProblem("it is empty")
    try:
        return reply.model_validate_json(_json_text(raw))
    except ValidationError as error:
        return ReplyProblem("; ".join(_validation_faults(error)))


def _json_text(raw: str) -> str:
    """Return the JSON object of a reply: alone, fenced, or from the first brace to the last."""
    if raw.startswith("{"):
        return raw
    if fenced := _FENCED.search(raw):
        return fenced[1].strip()
    start, end = raw.find("{"), raw.rfind("}")
    return raw[start : end + 1] if 0 <= start < end else raw


def _validation_faults(error: ValidationError) -> list[str]:
    """Return the first problems of a reply with their locations, without its content.

    An unknown key is content of the reply, so it is left out of the location.
    """
    faults = error.errors(include_input=False, include_url=False, include_context=False)
    return [
        f"{'.'.join(map(str, location))}: {fault['msg']}" if location else fault["msg"]
        for fault in faults[:_FAULTS_SHOWN]
        for location in [fault["loc"][:-1] if fault["type"] == "extra_forbidden" else fault["loc"]]
    ]


def token_counts(response: Any) -> tuple[int, int]:
    """Return the tokens sent and received; 0 where the service did not count them."""
    usage = getattr(response, "usage", None)
    sent, received = (getattr(usage, name, None) for name in ("prompt_tokens", "completion_tokens"))
    return _count(sent), _count(received)


def _count(given: object) -> int:
    return max(0, given) if isinstance(given, int) else 0


def _cost_usd(model: str, response: Any) -> float | None:
    """Return the price in US dollars; None if litellm does not know it.

    Without counted tokens litellm would count them itself and might download a tokenizer.
    """
    if not any(token_counts(response)):
        return None
    try:
        cost = import_litellm().completion_cost(completion_response=response, model=model)
    except Exception:  # noqa: BLE001 - litellm raises a bare Exception for a model it does not know
        return None
    return float(cost)


@dataclass
class _TokenUsage:
    requests: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float | None = 0.0

    def add(self, model: str, response: Any) -> None:
        sent, received = token_counts(response)
        self.tokens_in += sent
        self.tokens_out += received
        cost = _cost_usd(model, response)
        if cost is None or self.cost_usd is None:
            self.cost_usd = None
        else:
            self.cost_usd += cost


class LanguageGateway:
    """An `Llm` behind litellm; safe to share between threads and event loops.

    Raises:
        ConfigurationError: the address or the key cannot be used in an HTTP request.
    """

    def __init__(self, model: str, settings: Settings, mode: IOMode) -> None:
        self._access = ModelAccess(
            service_name="language model service",
            setting="GRAPHMEM_MODEL",
            example="openai/gpt-5-mini or ollama_chat/qwen3",
            too_large_hint="If the prompt exceeds the model's context window, set GRAPHMEM_MODEL "
            "to a model with a larger one.",
            model=model,
            url=settings.model_url,
            key=settings.model_key,
            timeout_s=settings.model_timeout_s,
            max_bytes=settings.model_max_reply_bytes,
            retries=settings.model_max_retries,
        )
        self._service = ModelService(self._access, mode)
        self._identity = digest(model, settings.model_url or "")

    @property
    def name(self) -> str:
        """Stable name of the model."""
        return self._access.model

    async def answer(self, prompt: Prompt[M]) -> Answer[M]:
        """Return the model's reply as the record that the prompt asks for.

        Raises:
            ConfigurationError: litellm does not know the model's provider.
            ModelUnavailableError: the service cannot be reached or rejects the key.
            ModelReplyError: the reply does not match the record, even after one repair request;
                `raw` contains it.
        """
        usage = _TokenUsage()
        messages: list[Message] = [_message("system", prompt.system), _message("user", prompt.user)]
        raw, problem = "", ReplyProblem("")
        for _ in range(ATTEMPTS):
            raw = await self._complete(messages, prompt.reply, usage)
            value = parse_reply(raw, prompt.reply)
            if not isinstance(value, ReplyProblem):
                return Answer(value=value, raw=raw, model=self.name, **asdict(usage))
            problem = value
            messages += [
                _message("assistant", raw[:_REPEATED_CHARS] or "(nothing)"),
                _repair(problem),
            ]
        raise ModelReplyError(
            f"Model {self.name!r} gave an invalid reply {ATTEMPTS} times: {problem.reason}.",
            hint="Try again, or set GRAPHMEM_MODEL to a more capable model.",
            raw=raw,
        )

    async def _complete(
        self, messages: list[Message], reply: type[BaseModel], usage: _TokenUsage
    ) -> str:
        """Return the text of a reply in the strictest form that the service accepts.

        A request that is rejected for another reason fails in every form, so only a form that
        got a response is remembered.
        """
        form = _accepted.get(self._identity, 0)
        while True:
            answer, requests = await self._service.ask(
                "acompletion", partial(self._request, messages, reply, FORMS[form])
            )
            usage.requests += requests
            if not isinstance(answer, RequestFault):
                _accepted[self._identity] = form
                usage.add(self.name, answer)
                text = reply_text(answer)
                if len(text) <= self._access.max_bytes:
                    return text
                # litellm was configured with its own transport, which reads the whole reply.
                answer = RequestFault(FaultKind.REPLY, str(too_long(self._access.max_bytes)))
            form += 1
            if answer.kind is not FaultKind.REQUEST or form == len(FORMS):
                raise exception_of(answer, self._access, requests)

    def _request(
        self, messages: list[Message], reply: type[BaseModel], form: str
    ) -> dict[str, Any]:
        self._service.provider()
        request = self._access.request() | {"messages": messages}
        if form != "plain":
            # Some models accept no temperature, some providers no format: litellm drops the
            # parameters that it knows to be unsupported.
            options = {"temperature": 0, "response_format": response_format(form, reply)}
            request |= options | {"drop_params": True}
        return request


def _message(role: str, content: str) -> Message:
    return {"role": role, "content": content}


def _repair(problem: ReplyProblem) -> Message:
    return _message(
        "user",
        f"That answer cannot be used: {problem.reason}. Answer the same question again, with "
        "JSON only, as it was asked for.",
    )
