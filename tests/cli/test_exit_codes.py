"""An argument that does not fit ends with code 2 and is named; what is missing ends with 1."""

from __future__ import annotations

import shlex

from tests.cli.conftest import Run

LATE = "--at 2996-01-01T00:00:00Z"
LONG = "x" * 10_000
REFUSED = {
    "nonsense": "No such command",
    "belief add-evidence b_nope maybe 0.8": "maybe",
    "belief archive": "BELIEF",
    "belief believe": "statement",
    "belief current a p --limit 0": "limit",
    "belief import nowhere.jsonl": "cannot be read",
    "belief list --cursor x": "cursor",
    "belief merge b_nope --into New": "two",
    "belief observe ' ' p o": "subject",
    f"belief observe a p o {LATE}": "future",
    "belief observe a p o --confidence 2": "confidence",
    "belief observe a p o --source-type GUESS": "no weight",
    "belief reject --reason x": "TARGET",
    "belief reject a b --reason x": "SUBJECT PREDICATE OBJECT",
    "belief reject a b c d --reason x": "SUBJECT PREDICATE OBJECT",
    "belief reject b_1": "--reason",
    "belief split b_nope 'Only one'": "two",
    "context": "QUERY",
    "context ' '": "about",
    "context cats --limit 0": "limit",
    "context cats --policy best": "policy",
    "context cats --tokens 10": "tokens",
    "context cats --tokens many": "--tokens",
    "expand": "ITEM_ID",
    "memory list --cursor x": "cursor",
    f"memory remember 'hello there' {LATE}": "future",
    "memory remember 'hello there' --at 2026-02-30": "must be a time such",
    "memory remember 'hello there' --at soon": "must be a time such as",
    f"memory remember 'hello there' --scope {LONG}": "scope",
    "memory stale --cursor x": "cursor",
    "memory stale --days 0": "days",
    "memory stale --days 1000000000": "days",
    "memory stale --days soon": "integer",
    "memory stale --limit 0": "limit",
    "memory stale --limit 1000000": "limit",
    "predicate declare --cardinality ONE": "NAME",
    "predicate declare p --combine sum": "combine",
    "recall ' '": "query",
    "recall cats --limit 0": "limit",
    "recall cats --tenant ''": "tenant",
    "why nope --known 2996-01-01T00:00:00Z": "future",
    "why nope --limit 0": "limit",
    "why nope --valid soon": "must be a time such as",
}
MISSING = {
    "belief evidence-for b_nope": "not_found",
    "belief get b_nope": "not_found",
    "belief observe a p o --episode-id never": "not_found",
    "expand nope": "not_found",
    "memory get m_nope": "not_found",
    "memory remember '   '": "empty",
    "why nope": "not_found",
}


def test_what_does_not_fit_ends_with_its_code_and_is_named(run: Run) -> None:
    for code, lines in ((2, REFUSED), (1, MISSING)):
        for line, named in lines.items():
            ended = run(*shlex.split(line))
            assert (ended.code, named in ended.out + ended.err) == (code, True), line
