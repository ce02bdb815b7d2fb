"""Rules that texts must pass to be stored, and the detection of credentials by their shape.

Every pattern starts with fixed letters and repeats a bounded number of times, or scans a run that
cannot start inside itself. A hostile text therefore takes linear time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable
from typing import TypeAlias

from graphmem.rules import folding

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

# The value is matched by a lookahead, because it may contain the next name.
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


def contains_secret(text: str) -> bool:
    """Return whether the text contains a credential of a well-known shape."""
    return (
        any(pattern.search(text) is not None for pattern in (_TOKENS, _JWT, _HEADER))
        or any(not _PLACEHOLDER.match(match["value"]) for match in _CONNECTION.finditer(text))
        or any(map(_is_assigned, _ASSIGNMENT.finditer(text)))
        or any(map(_is_stated, _SENTENCE.finditer(text)))
    )


def _is_assigned(match: re.Match[str]) -> bool:
    """Return whether a value, not prose, follows `password: …` or `api_key=…`."""
    value = match["value"].rstrip(_CLOSING)
    if not _may_be_secret(value):
        return False
    if not match["strong"]:
        return _is_mixed(value)
    if match["quote"] or match["equals"] or not _PLAIN.fullmatch(value):
        return True
    # A plain word is a value if nothing follows it: "Password: must be changed" is prose.
    tail = (match["value"] + match["tail"])[len(value) :]
    return not tail.strip(_CLOSING + " \r") or tail[0] in ",;"


def _is_stated(match: re.Match[str]) -> bool:
    """Return whether the word after `the password is …` is not an English one."""
    value = match["value"].rstrip(_CLOSING)
    if not _may_be_secret(value):
        return False
    is_number = value.isdigit() and len(value) >= _LONG_NUMBER
    return bool(match["quote"]) or is_number or _is_mixed(value)


def _is_mixed(value: str) -> bool:
    """Return whether it mixes letters and digits and starts with a letter, unlike plain words."""
    return len(value) >= _MIXED and value[0].isalpha() and any(c.isdigit() for c in value)


def _may_be_secret(value: str) -> bool:
    return (
        len(value) > 3
        and "(" not in value
        and value.lower() not in _PROSE
        and not _PLACEHOLDER.match(value)
        and not _REFERENCE.fullmatch(value)
    )


Rule: TypeAlias = Callable[[str], str | None]
"""Function that returns the reason why a text must not be stored, as a stable snake_case code, or
None if it may."""

FENCE = "<graphmem-memory"
"""Start of a context block that memory supplies to a prompt."""

_FENCES = (FENCE, FENCE.replace("<", "</"))
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


def rejection_reasons(text: str, rules: Iterable[Rule]) -> tuple[str, ...]:
    """Return the reasons against storing the text, without duplicates, in the order of the rules.

    Exceptions of rules are not caught, so that their authors see them.
    """
    found = (rule(text) for rule in rules)
    return tuple(dict.fromkeys(reason for reason in found if reason is not None))


def default_rules(min_chars: int, max_chars: int) -> tuple[Rule, ...]:
    """Return the rules of a store, in the order in which their reasons are reported.

    The costly rules skip a text longer than `max_chars`, which is rejected anyway.

    Args:
        min_chars: minimum length without surrounding whitespace, >= 1.
        max_chars: maximum length, >= min_chars.
    """

    def too_short(text: str) -> str | None:
        return "too_short" if 0 < len(text.strip()) < min_chars else None

    def too_long(text: str) -> str | None:
        return "too_long" if len(text) > max_chars else None

    def up_to_length(rule: Rule) -> Rule:
        return lambda text: rule(text) if len(text) <= max_chars else None

    return (
        invalid_unicode,
        empty,
        too_short,
        too_long,
        up_to_length(only_punctuation),
        control_characters,
        memory_echo,
        up_to_length(secret),
    )


def invalid_unicode(text: str) -> str | None:
    """Reject unpaired surrogates, which no encoding can represent."""
    return "invalid_unicode" if _SURROGATE.search(text) else None


def empty(text: str) -> str | None:
    """Reject an empty text, or one of only whitespace."""
    return None if text.strip() else "empty"


def only_punctuation(text: str) -> str | None:
    """Reject a text without a letter or digit of any script; emoji are neither."""
    has_letters = any(character.isalnum() for character in text)
    return None if has_letters or not text.strip() else "only_punctuation"


def control_characters(text: str) -> str | None:
    """Reject C0, DEL and C1 characters, except tab, line feed and carriage return."""
    return "control_characters" if _CONTROL.search(text) else None


def memory_echo(text: str) -> str | None:
    """Reject a text with the fence of a context block that memory supplied."""
    folded = folding.fold(text)
    return "memory_echo" if any(fence in folded for fence in _FENCES) else None


def secret(text: str) -> str | None:
    """Reject a text with a credential; the reason never repeats it."""
    return "secret" if contains_secret(text) else None


FACT_RULES = (control_characters, memory_echo, secret)
"""Rules for statements, parts of triples and notes, which may be short."""

_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)


def reply_secret(raw: str | None) -> str | None:
    """Reject a model's reply with a credential, which JSON may have escaped."""
    if raw is None:
        return None
    plain = _ESCAPE.sub(lambda found: chr(int(found[1], 16)) if found[1] else found[2], raw)
    return secret(raw) or secret(plain)


def echo_rule(supplied_hashes: Container[str], hash_of: Callable[[str], str]) -> Rule:
    """Return a rule that rejects texts which memory supplied.

    Args:
        supplied_hashes: hashes of the supplied texts; read at each check, so it may grow.
        hash_of: function that returns the hash of a text's normal form.
    """
    return lambda text: "memory_echo" if hash_of(text) in supplied_hashes else None
