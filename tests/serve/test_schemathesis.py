"""Calls that schemathesis makes up from the OpenAPI document: no server error, only problems.

With HYPOTHESIS_PROFILE=deep there are more than ten thousand.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.core.result import Ok

from graphmem.serve.keys import RIGHTS
from tests.docs.openapi_document import document
from tests.plugins.graph import fresh_tenant
from tests.plugins.service import Api

PARTS = 4
ALL = " ".join(RIGHTS)
OWN = {"user-agent", "authorization", "connection", "x-schemathesis-testcaseid"}
"""Headers that the test sets itself."""
KNOWN = {200, 202, 400, 401, 403, 404, 405, 409, 413, 422}
"""Statuses of requests that the client can help."""


@cache
def declared() -> list[Any]:
    """Return the operations of the document."""
    found = schemathesis.openapi.from_dict(document()).get_all_operations()
    return [one.ok() for one in found if isinstance(one, Ok)]


def sent(api: Api, key: str, case: Case[Any]) -> Any:
    """Return the answer to a request."""
    made = case.as_transport_kwargs(base_url="http://127.0.0.1:8766")
    made.pop("cookies", None)
    if made.get("data") is not None:
        made["content"] = made.pop("data")
    own = {"Authorization": f"Bearer {key}", "Graphmem-Scope": "user:alice"}
    headers = own | {
        name: value
        for name, value in made.pop("headers").items()
        if name.lower() not in OWN and value != "null"
    }
    encoded = {
        name.encode(): str(value).encode("utf-8", "replace") for name, value in headers.items()
    }
    return api.http.request(**made, headers=encoded)


def call_all(api: Api, operation: Any, examples: int) -> None:
    """Make calls of an operation up; each must be answered, or refused with a problem."""
    key = api.key(fresh_tenant(), "user:alice", "*", rights=ALL)
    modes = (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)

    @settings(
        max_examples=examples,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=st.one_of(*(operation.as_strategy(generation_mode=mode) for mode in modes)))
    def call(case: Case[Any]) -> None:
        found = sent(api, key, case)
        assert found.status_code in KNOWN, (case, found.status_code, found.text)
        if found.status_code >= 400:
            assert found.headers["content-type"] == "application/problem+json"

    call()


@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("part", range(PARTS))
def test_no_call_is_a_server_error(api: Api, part: int) -> None:
    examples = max(1, settings().max_examples // 18)
    wrong = list[str]()
    for operation in declared()[part::PARTS]:
        try:
            call_all(api, operation, examples)
        except AssertionError as error:
            wrong.append(str(error))
    assert wrong == []
