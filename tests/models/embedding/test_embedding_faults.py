"""When to ask a service again, and how long to wait."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.models.service import (
    FIRST_PAUSE_S,
    LONGEST_PAUSE_S,
    FaultKind,
    classify_fault,
    pause_s,
)

jitters = st.floats(0, 1, exclude_max=True)


class RefusedByServiceError(Exception):
    """Looks like what litellm raises."""

    def __init__(self, status: int, message: str = "no", **headers: str) -> None:
        super().__init__(message)
        self.status_code = status
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


@given(attempt=st.integers(0, 50), jitter=jitters)
def test_pauses_grow_to_a_bound(attempt: int, jitter: float) -> None:
    pause = pause_s(attempt, None, jitter)
    assert FIRST_PAUSE_S / 2 <= pause <= LONGEST_PAUSE_S
    assert pause <= pause_s(attempt + 1, None, jitter)


@given(attempt=st.integers(0, 50), wait=st.floats(0, 60), jitter=jitters)
def test_a_service_is_never_asked_before_it_wishes(
    attempt: int, wait: float, jitter: float
) -> None:
    assert wait <= pause_s(attempt, wait, jitter) <= wait + FIRST_PAUSE_S


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, FaultKind.KEY),
        (403, FaultKind.KEY),
        (404, FaultKind.MODEL),
        (408, FaultKind.PASSING),
        (429, FaultKind.PASSING),
        (500, FaultKind.PASSING),
        (504, FaultKind.PASSING),
        (400, FaultKind.REQUEST),
        (422, FaultKind.REQUEST),
    ],
)
def test_a_status_decides_what_to_do(status: int, kind: FaultKind) -> None:
    assert classify_fault(RefusedByServiceError(status), secrets=frozenset()).kind is kind


def test_retry_after_may_be_a_date() -> None:
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    fault = classify_fault(RefusedByServiceError(429, retry_after=soon), secrets=frozenset())
    assert fault.wait_s is not None
    assert 0 < fault.wait_s <= 30


@pytest.mark.parametrize(
    ("retry_after", "wait_s"),
    [
        ("12", 12.0),
        ("-5", 0.0),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0),
        ("later", None),
        ("nan", None),
        ("inf", None),
    ],
)
def test_retry_after_is_read_with_care(retry_after: str, wait_s: float | None) -> None:
    fault = classify_fault(RefusedByServiceError(429, retry_after=retry_after), secrets=frozenset())
    assert fault.wait_s == wait_s


@given(before=st.text(), after=st.text())
def test_secrets_are_struck_out_and_the_rest_is_one_short_line(before: str, after: str) -> None:
    error = RefusedByServiceError(500, f"{before}sk-secret{after}\n" * 20)
    detail = classify_fault(error, secrets=frozenset({"sk-secret"})).detail
    assert "sk-secret" not in detail
    assert "\n" not in detail
    assert len(detail) <= 300
