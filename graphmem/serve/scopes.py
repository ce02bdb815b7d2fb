"""Scopes of a call: those that its key grants, or the one that the request names."""

from __future__ import annotations

from collections.abc import Mapping

from graphmem.errors import InvalidInputError
from graphmem.model import GLOBAL_SCOPE
from graphmem.serve.keys import Grant
from graphmem.serve.problems import Problem

SCOPE = "Graphmem-Scope"


def asked_scope(grant: Grant, headers: Mapping[str, str]) -> str | None:
    """Return the scope that a request names; None if it names none.

    Raises:
        Problem: the grant does not contain the scope.
        InvalidInputError: its name is not UTF-8.
    """
    header = headers.get(SCOPE)
    if header is None:
        return None
    asked = utf8(header)
    if not grant.covers(asked):
        raise Problem(403, "not_granted", "The key does not grant this scope.")
    return asked


def scopes_of(grant: Grant, asked: str | None) -> tuple[str, tuple[str, ...] | None]:
    """Return the scope to write to and those to read; None: its own and `global`.

    Args:
        grant: grant of the caller.
        asked: scope that the request names; None: all that the grant names.

    Raises:
        InvalidInputError: the request must name a scope.
    """
    if asked is not None:
        return asked, None
    if not grant.named:
        raise InvalidInputError(
            "The key grants scopes by a prefix.", hint=f"Name one in the header {SCOPE}."
        )
    own, *others = grant.named
    return own, tuple(dict.fromkeys([own, *others, GLOBAL_SCOPE])) if others else None


def utf8(header: str) -> str:
    """Return the text of a header.

    Raises:
        InvalidInputError: it is not UTF-8.
    """
    try:
        return header.encode("latin-1").decode()
    except UnicodeDecodeError:
        raise InvalidInputError("A header must be UTF-8.") from None
