"""Audit of agent sessions by their logged searches and accesses."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeVar

from graphmem import folding
from graphmem.rules import quoting
from graphmem.usage import AuditFinding, Severity

OPEN_AFTER = timedelta(hours=24)
"""Time without activity after which an open session counts as abandoned. Ours."""

KEYWORD_TOOLS = frozenset(
    {
        *("ack", "ag", "egrep", "fgrep", "find", "findstr", "fd", "gitgrep", "glob", "grep"),
        *("greptool", "rg", "ripgrep", "zgrep"),
        *("bm25", "bm25search", "exactsearch", "fulltext", "fulltextsearch"),
        *("keyword", "keywordsearch", "regexsearch", "stringsearch", "textsearch"),
    }
)
"""Names of tools that search for literal words; see is_keyword_tool for how they are matched.
Recall is not among them, because it also searches by meaning."""
_NAMESPACE = re.compile(r"__|[./:\\]")
_NO_NAME = re.compile(r"[\W_]+")

_WORD = re.compile(r"\w+(?:['’]\w+)*")
QUESTION_WORDS = frozenset(
    {
        *("how", "how's", "what", "what's", "when", "where", "where's", "which", "who", "who's"),
        *("whom", "whose", "why", "compare", "describe", "explain"),
    }
)
FUNCTION_WORDS = frozenset(
    {
        *("a", "about", "after", "all", "an", "and", "any", "are", "as", "at", "be", "because"),
        *("been", "before", "between", "but", "by", "can", "could", "did", "do", "does", "during"),
        *("for", "from", "had", "has", "have", "he", "her", "him", "his", "how", "i", "if", "in"),
        *("into", "is", "it", "its", "me", "my", "no", "not", "of", "on", "or", "our", "over"),
        *("she", "should", "so", "some", "than", "that", "the", "their", "them", "then", "there"),
        *("these", "they", "this", "those", "to", "us", "was", "we", "were", "what", "when"),
        *("where", "which", "while", "who", "why", "will", "with", "would", "you", "your"),
    }
)
"""English words that occur in sentences but not in lists of keywords."""
MIN_QUESTION_WORDS, MIN_STATEMENT_WORDS = 3, 5
_ASKING = ("？", "؟")
"""Question marks that keyword searches do not contain. No minimum of words applies to them, since
Chinese and Japanese are written without spaces."""
_CLOSING = ")]}\"'”’» "

_EXACT = re.compile(
    r"[{}\[\]<>=|\\^*`\"“”„«»]"  # Quotes, and characters of patterns and code.
    r"|\$[A-Za-z{(]|\$$|://|::|->"
    r"|(?<!\w)'[^']+'(?!\w)"
    r"|(?<!\S)--?[A-Za-z]|(?<!\w)[@#]\w|\w@\w"
    r"|\w_|_\w|(?<!\w)[a-z]{2,64}[A-Z]"  # snake_case, CONSTANT_CASE, camelCase; not YouTube.
    r"|\w\w\.[a-z_]|\w\((?!s\))|\w:\w"  # A file or an attribute, a call, a key with its value.
    r"|(?<!\w)(?:~|\.{1,2})?/\w|[A-Za-z_]/[\w.-]{1,100}/"
    r"|\b(?=[0-9a-f]{0,64}[0-9])(?=[0-9a-f]{0,64}[a-f])[0-9a-f]{7,64}\b"
)
"""Every repeat is bounded or scans a run that cannot start inside itself: linear in the query."""
_SHOWN = 80


@dataclass(frozen=True, slots=True)
class LoggedSearch:
    """A logged search."""

    id: str
    session_id: str | None
    tool: str
    query: str
    at: datetime
    results: int


@dataclass(frozen=True, slots=True)
class LoggedAccess:
    """Record of an opened item."""

    item_id: str
    session_id: str | None
    at: datetime


@dataclass(frozen=True, slots=True)
class LoggedSession:
    """A session of an agent."""

    id: str
    agent: str
    start: datetime
    end: datetime | None
    """Time at which it ended; None if it is open or was abandoned."""


def audit_findings(
    searches: Iterable[LoggedSearch],
    accesses: Iterable[LoggedAccess],
    sessions: Iterable[LoggedSession],
    now: datetime,
    open_after: timedelta = OPEN_AFTER,
) -> list[AuditFinding]:
    """Return the violations of the protocol, most severe first; repeated log entries count once.

    Searches and accesses may name other sessions. An open session is reported after `open_after`
    without activity.
    """
    log = sorted(set(searches), key=lambda entry: (entry.at, entry.id))
    opened = sorted(set(accesses), key=lambda entry: (entry.at, entry.item_id))
    searched, accessed = _by_session(log), _by_session(opened)
    findings = [
        *_keyword_searches(log),
        *_searches_without_session(searched.pop(None, [])),
        *_accesses_without_session(accessed.pop(None, [])),
        *_access_before_search(searched, accessed),
    ]
    for session in set(sessions):
        entries = (*searched.get(session.id, ()), *accessed.get(session.id, ()))
        quiet = now - max([session.start, *(entry.at for entry in entries)])
        if session.end is None and quiet >= open_after:
            findings.append(_never_ended(session, quiet))
    order = list(Severity)
    return sorted(findings, key=lambda entry: (order.index(entry.severity), entry.code, entry.ids))


def is_keyword_tool(tool: str) -> bool:
    """Return whether a tool searches for literal words rather than by meaning.

    Only the last part of its name counts, without a server or module, and without case, hyphens
    and underscores: `mcp__files__Grep`, `Full-Text Search` and `index.keyword_search` all match.
    """
    parts = [name for part in _NAMESPACE.split(tool) if (name := _NO_NAME.sub("", part))]
    return bool(parts) and parts[-1].casefold() in KEYWORD_TOOLS


def is_conceptual(query: str) -> bool:
    """Return whether a query asks for a meaning rather than for an exact string.

    It must be free of signs of an exact search: quotes, regular expressions, paths, code,
    snake_case and camelCase names, flags, addresses, hashes. It is then conceptual if

    - it has 3 words or more, and begins with a question word or ends with a question mark,
    - it ends with a Chinese or an Arabic question mark, or
    - it has 5 words or more, one of them an English function word.

    Limits: a question about a named identifier or a quoted title counts as exact. A few keywords
    for an idea ("error handling philosophy") are missed. An exact sentence without quotes, such as
    an error message, counts as conceptual. In the table of its tests it finds 30 of 34 concepts,
    and takes 4 of 50 exact searches for one: precision and recall 0.88. Whole questions
    are easier: of LoCoMo's 1,204 it finds 98.9 %.
    """
    text = query.strip()
    if _EXACT.search(text):
        return False
    question = text.rstrip(_CLOSING)
    if question.endswith(_ASKING):
        return True
    words = _WORD.findall(folding.fold(text))
    if len(words) >= MIN_STATEMENT_WORDS and not FUNCTION_WORDS.isdisjoint(words):
        return True
    return len(words) >= MIN_QUESTION_WORDS and (
        words[0] in QUESTION_WORDS or question.endswith("?")
    )


_Logged = TypeVar("_Logged", LoggedSearch, LoggedAccess)


def _by_session(log: Iterable[_Logged]) -> dict[str | None, list[_Logged]]:
    """Return log entries by session, in the given order; None is the key of those without one."""
    by_session = defaultdict[str | None, list[_Logged]](list)
    for entry in log:
        by_session[entry.session_id or None].append(entry)
    return dict(by_session)


def _keyword_searches(log: Iterable[LoggedSearch]) -> Iterator[AuditFinding]:
    for search in log:
        if is_keyword_tool(search.tool) and is_conceptual(search.query):
            outcome = f"found {search.results}" if search.results else "found nothing"
            yield _finding(
                "keyword_for_concept",
                Severity.WARNING,
                f"{_quote(search.tool)} searched for the words of {_quote(search.query)} and "
                f"{outcome}; use recall to search by meaning, and keyword search for exact "
                "strings.",
                (search.id,),
            )


def _searches_without_session(log: Iterable[LoggedSearch]) -> Iterator[AuditFinding]:
    by_tool = defaultdict[str, list[str]](list)
    for search in log:
        by_tool[search.tool].append(search.id)
    for tool, ids in by_tool.items():
        yield _finding(
            "search_without_session",
            Severity.ERROR,
            f"{_quote(tool)} logged {_count(len(ids), 'search', 'searches')} without a session "
            "id, so they cannot be used for ratings; start a session and pass its id to the tool.",
            tuple(ids),
        )


def _accesses_without_session(opened: Sequence[LoggedAccess]) -> Iterator[AuditFinding]:
    if opened:
        yield _finding(
            "access_without_session",
            Severity.ERROR,
            f"{_count(len(opened), 'item was', 'items were')} opened without a session id, so "
            "they cannot be linked to a search; open items within a session.",
            _items(opened),
        )


def _access_before_search(
    searched: Mapping[str | None, Sequence[LoggedSearch]],
    accessed: Mapping[str | None, Sequence[LoggedAccess]],
) -> Iterator[AuditFinding]:
    """Yield a finding for each session that opened items before or without a search."""
    for session_id, opened in accessed.items():
        name = session_id or ""
        log = searched.get(session_id)
        if not log:
            yield _finding(
                "access_without_search",
                Severity.WARNING,
                f"Session {_quote(name)} opened {_count(len(opened), 'item', 'items')} without "
                "a search; search first, because only search results can be rated.",
                (name, *_items(opened)),
            )
        elif early := [access for access in opened if access.at < log[0].at]:
            yield _finding(
                "access_before_search",
                Severity.INFO,
                f"Session {_quote(name)} opened {_count(len(early), 'item', 'items')} before its "
                "first search; search first, unless it continues work from another session.",
                (name, *_items(early)),
            )


def _never_ended(session: LoggedSession, quiet: timedelta) -> AuditFinding:
    return _finding(
        "session_not_ended",
        Severity.WARNING,
        f"Session {_quote(session.id)} of {_quote(session.agent)} has not ended and was inactive "
        f"for {quiet // timedelta(hours=1)} h; end it or run rate, which ends it, because its "
        "searches are not rated until then.",
        (session.id,),
    )


def _finding(code: str, severity: Severity, message: str, ids: tuple[str, ...]) -> AuditFinding:
    return AuditFinding(code=code, severity=severity, message=message, ids=ids)


def _items(opened: Iterable[LoggedAccess]) -> tuple[str, ...]:
    """Return the ids of opened items, each once, in the order of first opening."""
    return tuple(dict.fromkeys(access.item_id for access in opened))


def _count(number: int, singular: str, plural: str) -> str:
    return f"{number} {singular if number == 1 else plural}"


def _quote(text: str) -> str:
    """Return a text as one quoted line, truncated if it is long."""
    return quoting.quote(text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…")
