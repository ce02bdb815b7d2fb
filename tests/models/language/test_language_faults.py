"""The litellm language model against a service that fails: asked again, or reported in words."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from typing import Any

import pytest

from graphmem.errors import (
    ConfigurationError,
    GraphmemError,
    ModelReplyError,
    ModelUnavailableError,
)
from graphmem.models import open_llm, service
from graphmem.settings import Settings
from tests.models.language.conftest import GOOD, VALUE, Connect
from tests.plugins.chat_service import KEY, ChatService
from tests.plugins.loopback import chain

# The others are tested with embeddings, by the same code.
PASSING: dict[str, Callable[[ChatService], Any]] = {
    "429": lambda s: s.status(429),
    "500": lambda s: s.status(500),
    "reset": lambda s: s.reset,
    "hang": lambda s: s.hang,
}


@pytest.mark.parametrize("fault", PASSING.values(), ids=PASSING)
def test_a_passing_fault_is_asked_again(
    connect: Connect, service: ChatService, fault: Callable[[ChatService], Any]
) -> None:
    hangs = fault(service) == service.hang
    service.script([fault(service), fault(service), GOOD])
    # The reply after the faults must come in time on a busy machine as well.
    talk = connect(model_timeout_s=1.0 if hangs else 30.0)
    answer = talk.ask()
    assert answer.value == VALUE
    assert (answer.requests, answer.tokens_in, answer.tokens_out) == (3, 100, 20)
    first, second = talk.waits.pauses
    assert 0.25 <= first <= 0.5 <= second <= 1.0


def test_a_storm_passes_when_its_wishes_are_honoured(
    connect: Connect, service: ChatService
) -> None:
    service.script([service.status(429, Retry_After="7")] * 3 + [GOOD])
    talk = connect()
    assert talk.ask().requests == 4
    assert len(talk.waits.pauses) == 3
    assert all(7 <= pause <= 7.5 for pause in talk.waits.pauses)


@pytest.mark.parametrize("retries", [0, 1, 3])
@pytest.mark.parametrize("status", [429, 500])
def test_retries_are_bounded_by_the_setting(
    connect: Connect, service: ChatService, status: int, retries: int
) -> None:
    service.script([service.status(status)] * 9)
    with pytest.raises(ModelUnavailableError, match=f"after {retries + 1} request") as e:
        connect(model_max_retries=retries).ask()
    assert len(service.bodies) == retries + 1
    assert e.value.code == "model_unavailable"
    assert e.value.hint


def test_a_service_that_asks_for_an_hour_is_reported_at_once(
    connect: Connect, service: ChatService
) -> None:
    service.script([service.status(429, Retry_After="3600")])
    with pytest.raises(ModelUnavailableError, match=r"asks to wait 3600 s"):
        connect().ask()
    assert len(service.bodies) == 1


def test_a_fault_on_the_way_to_a_repair_is_asked_again_too(
    connect: Connect, service: ChatService
) -> None:
    service.script(["prose", service.status(500), GOOD])
    assert connect().ask().requests == 3


FINAL: dict[str, tuple[Callable[[ChatService], Any], type[GraphmemError], str, int]] = {
    "401": (lambda s: s.status(401, f"bad {KEY}"), ModelUnavailableError, "key was rejected", 1),
    "403": (lambda s: s.status(403, f"bad {KEY}"), ModelUnavailableError, "key was rejected", 1),
    "404": (lambda s: s.status(404, f"no {KEY}"), ModelUnavailableError, "No such model", 1),
    # A service may accept in one form a request that it rejects in another.
    "400": (lambda s: s.status(400, f"no {KEY}"), ModelReplyError, "Request rejected", 4),
    "413": (lambda s: s.status(413, f"no {KEY}"), ModelReplyError, "Request rejected", 4),
    "422": (lambda s: s.status(422, f"no {KEY}"), ModelReplyError, "Request rejected", 4),
    "html": (lambda s: s.text(b"<html>hush"), ModelReplyError, "it is not valid JSON", 1),
    "half": (lambda s: s.text(b'{"choices": [{"hush'), ModelReplyError, "it is not valid JSON", 1),
    "not utf-8": (lambda s: s.text(b"\xff\xfe{"), ModelReplyError, "it is not valid UTF-8", 1),
    "no choices": (lambda s: s.text(b"{}"), ModelUnavailableError, "No response", 1),
    "none of them": (lambda s: s.text(b'{"choices": []}'), ModelReplyError, "it is empty", 2),
}


@pytest.mark.parametrize(("fault", "error", "message", "requests"), FINAL.values(), ids=FINAL)
def test_a_lasting_fault_is_reported_without_the_key(
    connect: Connect,
    service: ChatService,
    fault: Callable[[ChatService], Any],
    error: type[GraphmemError],
    message: str,
    requests: int,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    service.script([fault(service)] * 9)
    with (
        caplog.at_level(logging.DEBUG, logger="graphmem"),
        pytest.raises(error, match=message) as e,
    ):
        connect(model_max_retries=0).ask()
    assert len(service.bodies) == requests
    links = list(chain(e.value))
    assert {type(link).__module__.split(".")[0] for link in links} <= {"graphmem", "builtins"}
    out, err = capfd.readouterr()
    shown = "".join(map(repr, links)) + str(e.value) + caplog.text + out + err
    assert "opensesame" not in shown
    assert "hush" not in shown
    assert service.keys == [f"Bearer {KEY}"] * requests


def test_credentials_in_the_address_are_not_shown(connect: Connect, service: ChatService) -> None:
    service.script([service.status(404, "see http://me:hunter2@host")])
    url = service.url.replace("http://", "http://me:hunter2@") + "?token=hunter3"
    talk = connect(model_url=url)
    with pytest.raises(ModelUnavailableError, match=r"127\.0\.0\.1") as e:
        talk.ask()
    assert "hunter" not in str(e.value)
    access = talk.model._access
    assert "hunter" not in repr(access)
    assert "opensesame" not in repr(access) + repr(talk.model) + repr(vars(talk.model))


def test_no_key_at_all_is_said_without_a_request(connect: Connect, service: ChatService) -> None:
    with pytest.raises(ModelUnavailableError, match="key is missing") as e:
        connect(model_key=None).ask()
    assert "GRAPHMEM_MODEL_KEY" in e.value.hint
    assert service.bodies == []


def test_nobody_listens(connect: Connect) -> None:
    talk = connect(model_url="http://127.0.0.1:1/v1", model_max_retries=1)
    with pytest.raises(ModelUnavailableError, match=r"127\.0\.0\.1:1 .* after 2 request"):
        talk.ask()


def test_a_name_without_a_service_is_a_wrong_setting(connect: Connect) -> None:
    with pytest.raises(ConfigurationError, match="'nonsense'") as e:
        connect(model="nonsense", model_url=None).ask()
    assert "GRAPHMEM_MODEL" in e.value.hint


@pytest.mark.parametrize("url", ["", "host/v1", "ftp://host/v1", "http://", "http://h:port/v1"])
def test_an_address_that_is_none_is_a_wrong_setting(url: str) -> None:
    with pytest.raises(ConfigurationError, match="GRAPHMEM_MODEL_URL must be an http"):
        open_llm(Settings(model="openai/x", model_url=url), awaited=False)


@pytest.mark.parametrize("key", ["sk-open\nsesame", "sk-opensesame two", "sk-opensesame€"])
def test_a_key_that_cannot_be_sent_is_a_wrong_setting(key: str) -> None:
    settings = Settings.load({}, model="openai/x", model_key=key)
    with pytest.raises(ConfigurationError, match="GRAPHMEM_MODEL_KEY") as e:
        open_llm(settings, awaited=True)
    assert "open" not in str(e.value)


def test_a_warning_of_pydantic_about_types_of_litellm_loses_no_reply() -> None:
    service.import_litellm()
    # pydantic gives it once a process, while it reads the first reply.
    warnings.warn(
        "Item 'summary' on TypedDict class 'ChatCompletionReasoningItem' is using the `ReadOnly` "
        "qualifier from PEP 705.",
        UserWarning,
        stacklevel=1,
    )
