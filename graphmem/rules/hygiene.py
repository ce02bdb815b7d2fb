"""Rules that texts must pass to be stored, and the detection of credentials by their shape.

Every pattern starts with fixed letters and repeats a bounded number of times, or scans a run that
cannot start inside itself. A hostile text therefore takes linear time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable
from typing import TypeAlias

from graphmem import folding

_TOKENS = re.compile(
    r"-----BEGIN (?:[A-Z]{2,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----|AGE-SECRET-KEY-1[A-Z0-9]{50}"
    r"|hooks\.slack\.com/services/T[A-Z0-9]{6,12}/B[A-Z0-9]{6,12}/[A-Za-z0-9]{16}"
    r"|(?<![A-Za-z0-9])(?:"
    r"(?:AKIA|ASIA|ABIA|ACCA|AROA|AIDA)[A-Z0-9]{16}(?![A-Za-z0-9])"  # AWS
    r"|gh[pousr]_[A-Za-z0-9]{30}|github_pat_[A-Za-z0-9_]{22}"
    r"|gl(?:pat|dt|rt|cbt|ptt|ft|soat|agent|oas)-[A-Za-z0-9_-]{20}"  # GitLab
    r"|xox[abeoprs]-[A-Za-z0-9-]{10}|xapp-\d-[A-Za-z0-9-]{10}"  # Slack
    r"|[sr]k_(?:live|test)_[A-Za-z0-9]{10}|whsec_[A-Za-z0-9]{20}"  # Stripe
    r"|AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20}|GOCSPX-[A-Za-z0-9_-]{20}"  # Google
    r"|hf_[A-Za-z0-9]{30}|npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{50}"
    r"|SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{20}"  # SendGrid
    r"|sk-[A-Za-z0-9]{20}|sk-(?:proj|svcacct|admin|ant)-[A-Za-z0-9_-]{20}"  # OpenAI, Anthropic
    r"|sk-or-v1-[a-f0-9]{32}"
    r"|(?:dckr_pat|figd|fo1|glsa|gsk|lin_api|ntn|secret|pscale_[a-z]{2,5}|r8)_[A-Za-z0-9_-]{24}"
    r"|(?:nvapi|pplx|tvly|xai)-[A-Za-z0-9_-]{24}"
    r"|lsv2_[a-z]{2}_[a-f0-9]{32}|do[opr]_v1_[a-f0-9]{32}|dapi[a-f0-9]{32}|SK[a-f0-9]{32}|key-[a-f0-9]{32}"
    r"|[a-f0-9]{32}-us\d{1,2}(?!\d)|sbp_[a-f0-9]{32}|shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"
    r"|hv[sbr]\.[A-Za-z0-9_-]{24}|dp\.[a-z]{2,5}\.[A-Za-z0-9]{32}"  # Vault, Doppler
    r"|NRAK-[A-Z0-9]{24}|ATATT3x[A-Za-z0-9_=-]{30}|EAAA[A-Za-z0-9_-]{56}"
    r"|pat[A-Za-z0-9]{14}\.[a-f0-9]{32}|[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{40}"
    r"|\d{8,10}:AA[A-Za-z0-9_-]{33}"  # Telegram
    r"|[MNO][A-Za-z0-9]{23}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27}"  # Discord
    r")"
)
_PREFIXED = re.compile(
    r"(?<![A-Za-z0-9_-])[A-Za-z][A-Za-z0-9]{1,9}(?:[_-][A-Za-z0-9]{1,6}){0,2}[_-]"
    r"(?P<value>[A-Za-z0-9+/_-]{20,200})"
)
"""A token as most services make it: a name of the service, then a random run."""
_JWT = re.compile(
    r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,4096}\.eyJ[A-Za-z0-9_-]{8,4096}\.[A-Za-z0-9_-]{8}"
)
_HEADER = re.compile(
    r"(?i:\bbearer)\s{1,4}"
    r"(?:[A-Za-z0-9]{20}|(?=[A-Za-z._~+/-]{0,64}\d)[A-Za-z0-9._~+/-]{16})"
    r"|(?i:\bauthorization)[\"']?\s{0,4}:\s{0,4}[\"']?(?i:basic)\s{1,4}[A-Za-z0-9+/]{8}"
    r"|(?i:\bcookie)[\"']?\s{0,4}:[^\n=]{1,40}=[A-Za-z0-9%._-]{16}"
    r"|[?&](?:sig|signature|X-Amz-Signature)=[A-Za-z0-9%+/]{32}"
)
_CONNECTION = re.compile(r"://(?=[^\s:/@]{0,100}:(?P<value>[^\s@/]{1,200})@)")

# The value is matched by a lookahead, because it may contain the next name.
_NAME = (
    r"(?<![^\W\d_])(?:(?i:(?P<key>(?:api|secret|private|access|account|encryption|signing)[ _-]?key"
    r"|(?:access|auth|api|bearer|refresh|session|bot)[ _-]?token|(?:client|app|api)[ _-]?secret)"
    r"|(?P<word>(?:pg|db)?pass(?:word|wd|phrase|code)|pwd"
    r"|passwort|kennwort|contraseña|contrasena|mot de passe|mdp|senha|wachtwoord|hasło|lösenord"
    r"|adgangskode|salasana|şifre|пароль|κωδικός|密码|密碼|パスワード|비밀번호))"
    r"|(?i:token|secret))"
)
_VALUE = r"(?=(?P<quote>[\"'`]?)(?P<value>[^\s\"'`]{4,200})(?P<tail>[^\n]{0,40}))"
_ASSIGNMENT = re.compile(
    _NAME + r"[\"'`]?\s{0,4}(?:(?P<equals>:=|=>|=)|[:：])\s{0,4}(?![=\s])" + _VALUE
)
_SENTENCE = re.compile(
    _NAME + r" {1,4}(?i:(?:(?:is|was|set|changed|was changed|was set) )?(?:now|to)|is|was)"
    r"(?:\s{1,4}|\s{0,4}:\s{0,4})(?!\s)" + _VALUE
)

_SEPARATOR = re.compile(r"[=:：]")
_VERB = re.compile(r"(?i) (?:is|was|to|now)[\s:]")
"""Part of every assignment or sentence with a credential, which is found in far less time."""

_CLOSING = ".,;:!?)}]>"
_JOINED = re.compile(r"[-/’'+.,:~_]+")
_ALGORITHM = re.compile(
    r"(?i:aes|rsa|dsa|ecdsa|ecdh|eddsa|ed|x|p|rs|hs|es|ps|sha|hmac|md|chacha|poly|kyber)\d{1,5}"
)
_NEXT_PAIR = re.compile(r"[,;]\s*(?:$|[\w .-]{1,24}[:=])")
_PLACEHOLDER = re.compile(
    r"[<{\[…]|~/|\.{1,2}/|\$[{(A-Z]|%[({A-Z]|\.\.\.|https?:|[*•#]+$|(?i:redacted|process\.env|os\.environ)"
    r"|(?i:password|passwd|pass|pwd|pw|secret|token)$"
)
_REFERENCE = re.compile(
    r"[A-Za-z_.]*[_.](?i:pass|passwd|password|pwd|key|token|secret)|[a-z_]+(?:\.[a-z_]+)+"
    r"|[A-Za-z_][\w.]{0,60}[\[({].*"
)
_PROSE = frozenset(
    {
        *("bytes", "changed", "compromised", "default", "empty", "expired", "false", "forgotten"),
        *("hidden", "incorrect", "invalid", "leaked", "missing", "needed", "none", "null"),
        *("optional", "required", "reset", "rotated", "secretstr", "stored"),
        *("string", "text", "true", "undefined", "unknown", "updated", "wrong"),
    }
)
_LONG_NUMBER, _MIXED = 6, 6

Rule: TypeAlias = Callable[[str], str | None]
"""Function that returns the reason why a text must not be stored, as a stable snake_case code, or
None if it may."""

FENCE = "<graphmem"
"""Start of a context block that memory supplies to a prompt."""

_FENCES = (FENCE, FENCE.replace("<", "</"))
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")

_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)


def contains_secret(text: str) -> bool:
    """Return whether the text contains a credential of a well-known shape."""
    return bool(
        any(pattern.search(text) is not None for pattern in (_TOKENS, _JWT, _HEADER))
        or any(_is_random_run(match["value"]) for match in _PREFIXED.finditer(text))
        or any(not _PLACEHOLDER.match(match["value"]) for match in _CONNECTION.finditer(text))
        or (_SEPARATOR.search(text) and any(map(_is_assigned, _ASSIGNMENT.finditer(text))))
        or (_VERB.search(text) and any(map(_is_stated, _SENTENCE.finditer(text))))
    )


def _is_assigned(match: re.Match[str]) -> bool:
    """Return whether a value, not prose, follows `password: …` or `api_key=…`."""
    value = match["value"].rstrip(_CLOSING)
    if not _may_be_secret(value):
        return False
    if not (match["word"] or match["key"]):
        return _is_mixed(value)
    if match["quote"] or match["equals"] or not _is_plain(value):
        return True
    # A key is random, not words, and a path is where something is.
    if match["key"] or value.startswith("/"):
        return False
    # A plain word is a value if nothing follows it, or only the next pair: "Password: must be
    # changed" is prose.
    tail = (match["value"] + match["tail"])[len(value) :]
    return not tail.strip(_CLOSING + " \r") or _NEXT_PAIR.match(tail) is not None


def _is_stated(match: re.Match[str]) -> bool:
    """Return whether the word after `the password is …` is not an English one."""
    value = match["value"].rstrip(_CLOSING)
    if not _may_be_secret(value):
        return False
    is_number = value.isdigit() and len(value) >= _LONG_NUMBER
    return bool(match["quote"]) or is_number or _is_mixed(value)


def _is_plain(value: str) -> bool:
    """Return whether it consists of words, numbers and names of algorithms: "30-day", "RS256"."""
    return all(
        part.isalpha() or part.isdecimal() or _ALGORITHM.fullmatch(part)
        for part in _JOINED.split(value)
        if part
    )


def _is_mixed(value: str) -> bool:
    """Return whether letters and digits alternate in it as in no word, number, date or size."""
    if len(value) < _MIXED or _is_plain(value):
        return False
    return _turns(value) >= (1 if value[0].isalpha() else 3)


def _is_random_run(value: str) -> bool:
    """Return whether capitals, small letters and digits alternate in it as in no name."""
    has_cases = any(map(str.isupper, value)) and any(map(str.islower, value))
    return has_cases and _turns(value) >= 4


def _turns(value: str) -> int:
    """Return how often a letter follows a digit or a digit a letter."""
    return len(re.findall(r"[^\W\d_](?=\d)|\d(?=[^\W\d_])", value))


def _may_be_secret(value: str) -> bool:
    return (
        len(value) > 3
        and "(" not in value
        and value.lower() not in _PROSE
        and not _PLACEHOLDER.match(value)
        and not _REFERENCE.fullmatch(value)
    )


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
    if text.isascii() and "<" not in text:  # folding makes no "<" of ASCII
        return None
    folded = folding.fold(text)
    return "memory_echo" if any(fence in folded for fence in _FENCES) else None


def secret(text: str) -> str | None:
    """Reject a text with a credential; the reason never repeats it."""
    return "secret" if contains_secret(text) else None


FACT_RULES = (control_characters, memory_echo, secret)
"""Rules for statements, parts of triples and notes, which may be short."""


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
