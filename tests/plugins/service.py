"""The HTTP API in this process, and keys for it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import jsonschema
import pytest
from starlette.testclient import TestClient

from graphmem.serve.keys import Grant, KeyFile
from graphmem.serve.listening import ListenAddress
from graphmem.serve.operations import OPERATIONS
from graphmem.serve.server import Options, guarded
from graphmem.settings import Settings
from tests.docs.openapi_document import document
from tests.plugins.children import environ_of

PORT = 8766


class Api:
    """The application in this process."""

    def __init__(self, http: TestClient, file: KeyFile) -> None:
        self.http = http
        self.file = file

    def key(self, tenant: str, *scopes: str, rights: str = "read write", **more: Any) -> str:
        """Create a key and return its text."""
        grant = Grant(
            tenant=tenant, scopes=scopes or ("global",), rights=tuple(rights.split()), **more
        )
        return self.file.create("test", grant, days=None)[1]

    def send(
        self, key: str | None, verb: str, path: str, given: Any = None, **more: Any
    ) -> httpx2.Response:
        """Send a request with a key; `given` is its query or its body."""
        bearer = {} if key is None else {"Authorization": f"Bearer {key}"}
        headers = bearer | more.pop("headers", {})
        if verb == "GET":
            return self.http.get(path, params=given, headers=headers, **more)
        content = None if given is None else json.dumps(given)
        headers = {"Content-Type": "application/json"} | headers
        return self.http.request(verb, path, headers=headers, content=content, **more)

    def of(self, key: str) -> Callable[..., Any]:
        """Return a function that sends a request with this key, which must succeed."""

        def call(verb: str, path: str, given: Any = None, **more: Any) -> Any:
            found = self.send(key, verb, f"/v1{path}", given, **more)
            assert found.status_code == 200, found.text
            check_described(verb, path, found.json())
            return found.json()

        return call


def check_described(verb: str, path: str, result: Any) -> None:
    """Check that a result is as the document describes it."""
    [found] = [
        one
        for one in OPERATIONS
        if one.verb == verb and re.fullmatch(re.sub(r"{\w+}", "[^/]+", one.path), path)
    ][:1]
    operation = document()["paths"][f"/v1{found.path}"][verb.lower()]
    schema = operation["responses"]["200"]["content"]["application/json"]["schema"]
    components = {"components": document()["components"]}
    jsonschema.Draft202012Validator(schema | components).validate(result)


@contextmanager
def served(settings: Settings, *, no_auth: bool = False, **listen: Any) -> Iterator[Api]:
    """Serve these settings."""
    options = Options(settings, ListenAddress(port=PORT, **listen), no_auth=no_auth)
    address = f"http://127.0.0.1:{PORT}"
    with TestClient(guarded(options, PORT), base_url=address) as http:
        yield Api(http, KeyFile.of(settings))


def settings_of(migrated: Settings, file: Path, tenant: str = "default", **more: str) -> Settings:
    """Return settings for a file of keys."""
    variables = environ_of(migrated, tenant) | {
        "GRAPHMEM_EMBEDDER": "hash",
        "GRAPHMEM_SERVE_KEYS": str(file),
        "GRAPHMEM_SERVE_REQUESTS_PER_S": "100000",
        **more,
    }
    return Settings.load(variables)


@pytest.fixture(scope="session")
def api(migrated: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """The application, shared by the tests of a process."""
    file = tmp_path_factory.mktemp("keys") / "keys.json"
    with pytest.MonkeyPatch.context() as patch:
        # A key that a test creates is valid at once.
        patch.setattr("graphmem.serve.keys.RELOAD_S", 0.0)
        with served(settings_of(migrated, file)) as found:
            yield found


@pytest.fixture
def alone(tmp_path: Path) -> Settings:
    """Settings of a database that does not answer."""
    return Settings.load(
        {
            "GRAPHMEM_URI": "bolt://127.0.0.1:9",
            "GRAPHMEM_PASSWORD": "x",
            "GRAPHMEM_EMBEDDER": "hash",
            "GRAPHMEM_SERVE_KEYS": str(tmp_path / "keys.json"),
        }
    )
