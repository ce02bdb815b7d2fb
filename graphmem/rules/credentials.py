"""Whether a text carries a credential, told by the shape of well-known ones.

Every pattern begins with fixed letters and repeats a bounded number of times, or scans a run
that cannot begin inside itself, so that a hostile text costs linear time.
"""

from __future__ import annotations

import re

_TOKENS = re.compile(
    r"-----BEGIN (?:[A-Z]{2,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
    r"|hooks\.slack\.com/services/T[A-Z0-9]{6,12}/B[A-Z0-9]{6,12}/[A-Za-z0-9]{16}"
    r"|(?<![A-Za-z0-9])(?:"
    r"(?:AKIA|ASIA|ABIA|ACCA|AROA|AIDA)[A-Z0-9]{16}(?![A-Za-z0-9])"  # AWS
    r"|gh[pousr]_[A-Za-z0-9]{30}|github_pat_[A-Za-z0-9_]{22}"
    r"|gl(?:pat|dt|rt|cbt|ptt|ft|soat|agent|oas)-[A-Za-z0-9_-]{20}"  # GitLab
    r"|xox[abeoprs]-[A-Za-z0-9-]{10}|xapp-\d-[A-Za-z0-9-]{10}"  # Slack
    r"|[sr]k_(?:live|test)_[A-Za-z0-9]{10}|whsec_[A-Za-z0-9]{20}"  # Stripe
    r"|AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20}"  # Google
    r"|hf_[A-Za-z0-9]{30}|npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{50}"
    r"|SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{20}"  # SendGrid
    # OpenAI and Anthropic. "sk-learn-contrib-project-template" has no digit and no long run.
    r"|sk-(?:(?:proj|svcacct|admin|ant)-)?"
    r"(?:[A-Za-z0-9]{20}|(?=[A-Za-z_-]{0,64}\d)[A-Za-z0-9_-]{20})"
    r")"
)
_JWT = re.compile(
    r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,4096}\.eyJ[A-Za-z0-9_-]{8,4096}\.[A-Za-z0-9_-]{8}"
)
_HEADER = re.compile(
    r"(?i:\bbearer)\s{1,4}"
    r"(?:[A-Za-z0-9]{20}|(?=[A-Za-z._~+/-]{0,64}\d)[A-Za-z0-9._~+/-]{16})"
    r"|(?i:\bauthorization)[\"']?\s{0,4}:\s{0,4}[\"']?(?i:basic)\s{1,4}[A-Za-z0-9+/]{8}"
)
_CONNECTION = re.compile(r"://(?=[^\s:/@]{0,100}:(?P<value>[^\s@/]{1,200})@)")

# The value is looked at and not consumed: it may hold the next name.
_NAME = (
    r"(?<![A-Za-z])(?:(?i:(?P<strong>(?:pg|db)?pass(?:word|wd|phrase|code)|pwd"
    r"|(?:api|secret|private|access|account|encryption|signing)[ _-]?key"
    r"|(?:access|auth|api|bearer|refresh|session|bot)[ _-]?token"
    r"|(?:client|app|api)[ _-]?secret))|(?i:token|secret))"
)
_VALUE = r"(?=(?P<quote>[\"'`]?)(?P<value>[^\s\"'`]{4,200})(?P<tail>[^\n]{0,2}))"
_ASSIGNMENT = re.compile(
    _NAME + r"[\"'`]?\s{0,4}(?:(?P<equals>:=|=>|=)|:)\s{0,4}(?![=\s])" + _VALUE
)
_SENTENCE = re.compile(
    _NAME + r" {1,4}(?i:(?:(?:is|was|set|changed|was changed|was set) )?(?:now|to)|is|was)"
    r"(?:\s{1,4}|\s{0,4}:\s{0,4})(?!\s)" + _VALUE
)

_CLOSING = ".,;:!?)}]>"
_PLAIN = re.compile(r"[^\W\d_]+(?:[-/’][^\W\d_]+)*|[\d.,:/-]+")
_PLACEHOLDER = re.compile(
    r"[<{\[…]|\$[{(A-Z]|%[({A-Z]|\.\.\.|https?:|[*•#]+$|(?i:redacted|process\.env|os\.environ)"
)
_REFERENCE = re.compile(
    r"[A-Za-z_.]*[_.](?i:pass|passwd|password|pwd|key|token|secret)|[a-z_]+(?:\.[a-z_]+)+"
)
_PROSE = frozenset(
    {
        *("bytes", "changed", "compromised", "default", "empty", "expired", "false", "forgotten"),
        *("hidden", "incorrect", "invalid", "leaked", "missing", "needed", "none", "null"),
        *("optional", "password", "required", "reset", "rotated", "secret", "secretstr", "stored"),
        *("string", "text", "token", "true", "undefined", "unknown", "updated", "wrong"),
    }
)
_LONG_NUMBER, _MIXED = 6, 6


def carries_secret(text: str) -> bool:
    """Return whether a credential of a well-known shape stands in the text."""
    return (
        any(pattern.search(text) is not None for pattern in (_TOKENS, _JWT, _HEADER))
        or any(not _PLACEHOLDER.match(found["value"]) for found in _CONNECTION.finditer(text))
        or any(map(_is_assigned, _ASSIGNMENT.finditer(text)))
        or any(map(_is_told, _SENTENCE.finditer(text)))
    )


def _is_assigned(found: re.Match[str]) -> bool:
    """Return whether `password: …` or `api_key=…` goes on with a value and not with prose."""
    value = found["value"].rstrip(_CLOSING)
    if not _may_be_secret(value):
        return False
    if not found["strong"]:
        return _is_mixed(value)
    if found["quote"] or found["equals"] or not _PLAIN.fullmatch(value):
        return True
    # A plain word is a value where nothing follows: "Password: must be changed" is prose.
    tail = (found["value"] + found["tail"])[len(value) :]
    return not tail.strip(_CLOSING + " \r") or tail[0] in ",;"


def _is_told(found: re.Match[str]) -> bool:
    """Return whether `the password is …` goes on with what is no English word."""
    value = found["value"].rstrip(_CLOSING)
    if not _may_be_secret(value):
        return False
    is_number = value.isdigit() and len(value) >= _LONG_NUMBER
    return bool(found["quote"]) or is_number or _is_mixed(value)


def _is_mixed(value: str) -> bool:
    """Return whether letters and digits stand together, a letter first, as in no plain word."""
    return len(value) >= _MIXED and value[0].isalpha() and any(c.isdigit() for c in value)


def _may_be_secret(value: str) -> bool:
    return (
        len(value) > 3
        and "(" not in value
        and value.lower() not in _PROSE
        and not _PLACEHOLDER.match(value)
        and not _REFERENCE.fullmatch(value)
    )
