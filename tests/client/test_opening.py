"""Opening and closing: wrong models, wrong passwords, nobody there, and one chain of bookmarks."""

from __future__ import annotations

import socket
import traceback
import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import neo4j
import pytest

from graphmem import AsyncGraphMem, GraphMem, Handle, Settings
from graphmem.errors import (
    ClientClosedError,
    ConfigurationError,
    DatabaseNotFoundError,
    GraphAccessError,
    GraphUnavailableError,
    InvalidInputError,
    LanguageMismatchError,
    ModelMismatchError,
)
from graphmem.ports import Telemetry
from graphmem.telemetry.receivers import CompositeTelemetry
from graphmem.testing import HashEmbedder, ScriptedLlm
from tests.plugins.clients import Door
from tests.plugins.texts import unlike

pytestmark = pytest.mark.usefixtures("both_clients")

SECRET = "opensesame-0123456789"


class Renamed(HashEmbedder):
    """The same vectors under another name."""

    @property
    def name(self) -> str:
        return "another-model"


class Selecting(HashEmbedder):
    """A choice of models that records what filled the graph."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[list[str]] = []

    async def select(self, recorded: Sequence[str]) -> None:
        self.asked.append(list(recorded))


@pytest.fixture
def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


@pytest.fixture
def silent_server() -> Iterator[int]:
    """A port that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]


def told(error: BaseException) -> str:
    """Everything that a log would show of an error."""
    return "".join(traceback.format_exception(error)) + repr(error) + str(error)


@pytest.mark.parametrize("embedder", [Renamed(), HashEmbedder(128)], ids=["name", "dimension"])
def test_another_model_is_refused(door: Door, embedder: HashEmbedder) -> None:
    with pytest.raises(ModelMismatchError) as caught:
        door.open(embedder=embedder)
    assert caught.value.code == "model_mismatch"
    assert "hash-256" in str(caught.value)
    assert embedder.name in str(caught.value)
    assert caught.value.hint


@pytest.mark.parametrize("telemetry", [None, CompositeTelemetry([])], ids=["plain", "observed"])
def test_a_choice_of_models_learns_which_one_filled_the_graph(
    door: Door, telemetry: Telemetry | None
) -> None:
    embedder = Selecting()
    with door.opened(embedder=embedder, telemetry=telemetry):
        pass
    assert embedder.asked == [["hash-256"]]


def test_another_language_is_refused(door: Door, migrated: Settings) -> None:
    with pytest.raises(LanguageMismatchError, match="english, not in german") as caught:
        door.open(migrated.model_copy(update={"language": "german"}))
    assert caught.value.code == "language_mismatch"
    with pytest.raises(ConfigurationError, match="GRAPHMEM_LANGUAGE") as unknown:
        door.open(migrated.model_copy(update={"language": "klingon"}))
    assert "german" in unknown.value.hint


def test_a_wrong_password_is_refused_and_not_shown(door: Door, migrated: Settings) -> None:
    settings = Settings.load({}, uri=migrated.uri, user=migrated.user, password=SECRET)
    with pytest.raises(GraphAccessError) as caught:
        door.open(settings)
    assert caught.value.code == "graph_access"
    assert caught.value.hint
    assert SECRET not in told(caught.value)
    assert SECRET not in repr(settings)


@pytest.fixture
def somebody(driver: neo4j.Driver) -> Iterator[str]:
    """Another user, whom a wrong password may lock out."""
    name = f"u{uuid.uuid4().hex}"
    driver.execute_query(
        "CREATE USER $name SET PASSWORD $password CHANGE NOT REQUIRED",
        name=name,
        password=SECRET,
        database_="system",
    )
    yield name
    driver.execute_query("DROP USER $name", name=name, database_="system")


def test_who_tried_too_often_is_told_to_wait(door: Door, migrated: Settings, somebody: str) -> None:
    """The right password is refused too, for a while."""
    for password in ("wrong 1", "wrong 2", "wrong 3", SECRET):
        settings = Settings.load({}, uri=migrated.uri, user=somebody, password=password)
        with pytest.raises(GraphAccessError) as caught:
            door.open(settings)
    assert "too often" in str(caught.value)
    assert "Wait" in caught.value.hint


def test_nobody_there_is_said_at_once(door: Door, free_port: int) -> None:
    settings = Settings.load(
        {}, uri=f"bolt://127.0.0.1:{free_port}", password=SECRET, max_retry_time_s=0
    )
    with pytest.raises(GraphUnavailableError) as caught:
        door.open(settings)
    assert caught.value.code == "graph_unavailable"
    assert SECRET not in told(caught.value)


def test_a_server_that_says_nothing_is_given_up_on(door: Door, silent_server: int) -> None:
    settings = Settings.load(
        {},
        uri=f"bolt://127.0.0.1:{silent_server}",
        password=SECRET,
        connect_timeout_s=0.2,
        pool_timeout_s=0.5,
        max_retry_time_s=0,
    )
    with pytest.raises(GraphUnavailableError):
        door.open(settings)


@pytest.mark.parametrize(
    "uri",
    [
        "",
        "nonsense",
        "http://127.0.0.1:7474",
        "bolt://",
        "bolt://127.0.0.1:x",
        "bolt://127.0.0.1:99999",
        "bolt://127.0.0.1:0",
        "bolt://[::1",
        "://",
        f"bolt://neo4j:{SECRET}@127.0.0.1:7687",
    ],
)
def test_an_address_that_is_none_is_refused(door: Door, uri: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        door.open(Settings.load({}, uri=uri, password=SECRET))
    assert caught.value.hint
    assert SECRET not in told(caught.value)


def test_an_address_without_a_password_is_refused(door: Door, migrated: Settings) -> None:
    with pytest.raises(ConfigurationError) as caught:
        door.open(Settings.load({}, uri=migrated.uri))
    assert caught.value.hint


@pytest.mark.parametrize(
    "wrong", [{"tenant": ""}, {"tenant": "x" * 10_000}, {"scope": ""}, {"scope": "\ud800"}]
)
def test_settings_name_a_tenant_and_a_scope(
    door: Door, migrated: Settings, wrong: dict[str, Any]
) -> None:
    with pytest.raises(InvalidInputError) as caught:
        door.open(migrated.model_copy(update=wrong))
    assert len(str(caught.value)) < 300


def test_a_language_model_is_optional(door: Door, migrated: Settings) -> None:
    with door.open() as client:
        assert client._state.context.services.llm is None
    with door.open(migrated.model_copy(update={"model": "openai/some-model"})) as client:
        llm = client._state.context.services.llm
        assert llm is not None
        assert llm.name == "openai/some-model"


def test_a_language_model_of_ones_own_wins(door: Door, migrated: Settings) -> None:
    own = ScriptedLlm([])
    settings = migrated.model_copy(update={"model": "openai/some-model"})
    with door.open(settings, llm=own) as client:
        assert client.tenant("t")._state.context.services.llm is own
    assert own.prompts == []


def test_a_language_model_that_cannot_be_reached_is_a_wrong_setting(
    door: Door, migrated: Settings
) -> None:
    with pytest.raises(ConfigurationError, match="GRAPHMEM_MODEL_URL"):
        door.open(migrated.model_copy(update={"model": "openai/m", "model_url": "nowhere"}))


def test_a_closed_client_says_so(door: Door, tenant: str) -> None:
    client = door.open()
    memory = client.tenant(tenant)
    memory.remember(unlike(1))
    client.close()
    client.close()
    calls: list[Callable[[], object]] = [
        lambda: memory.remember(unlike(2)),
        lambda: memory.recall(unlike(1)),
        client.health,
    ]
    for call in calls:
        with pytest.raises(ClientClosedError, match="The client is closed") as caught:
            call()
        assert "open" in caught.value.hint


def test_an_unknown_keyword_is_refused(migrated: Settings) -> None:
    """It could have named another server."""
    given: dict[str, Any] = {"adress": migrated.uri}
    for kind in (GraphMem, AsyncGraphMem):
        with pytest.raises(TypeError, match="unexpected keyword argument 'adress'"):
            kind.open(**given)


@pytest.mark.parametrize("name", ["nope", "no such 'name'"])
def test_a_wrong_database_is_named(door: Door, migrated: Settings, name: str) -> None:
    with pytest.raises(DatabaseNotFoundError) as caught:
        door.open(migrated.model_copy(update={"database": name}))
    assert repr(name) in caught.value.message
    assert "GRAPHMEM_DATABASE" in caught.value.hint


def test_handles_share_the_connections_of_their_client(door: Door, tenant: str) -> None:
    with door.open() as client:
        one, two = client.tenant(tenant), client.tenant(tenant).scope("alice")
        one.remember(unlike(1))
        assert len(two.memories.list().memories) == 1
        assert one._state.context.services is two._state.context.services


def test_a_write_is_read_by_the_next_session(door: Door, memory: Handle) -> None:
    """Bookmarks are chained: a read waits for what was acknowledged, on a cluster too."""
    guarded: Any = memory._state.context.services.graph
    graph = guarded._inner
    before = door.run(_bookmarks(graph, door.name))
    done = memory.remember(unlike(1))
    after = door.run(_bookmarks(graph, door.name))
    assert after
    assert after != before
    assert memory.memories.get(str(done.memory_id)).content == unlike(1)
    assert memory.recall(unlike(1)).bites


async def _bookmarks(graph: Any, name: str) -> set[str]:
    found = graph._bookmarks.get_bookmarks()
    return set(await found if name == "awaited" else found)
