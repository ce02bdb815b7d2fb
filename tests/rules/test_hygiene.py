"""Hygiene: rejected texts with their reasons, and accepted ones."""

from __future__ import annotations

import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.rules import hygiene
from graphmem.rules.identity import content_hash
from tests.plugins import pumps
from tests.rules import credentials

RULES = hygiene.default_rules(min_chars=3, max_chars=8_000)
KEY = string.ascii_letters + string.digits


def refused(text: str) -> tuple[str, ...]:
    return hygiene.rejection_reasons(text, RULES)


@pytest.mark.parametrize(
    ("text", "reasons"),
    [
        ("", ("empty",)),
        (" \t\r\n\u3000", ("empty",)),
        ("ab", ("too_short",)),
        ("  a  ", ("too_short",)),
        ("x" * 8_001, ("too_long",)),
        ("?!?!", ("only_punctuation",)),
        ("🎉🎉 — ❤️", ("only_punctuation",)),
        ("\u200b\u200b\u200b", ("only_punctuation",)),
        ("a\x00b", ("control_characters",)),
        ("bell \x07 rings", ("control_characters",)),
        ("next\x85line", ("control_characters",)),
        ("del \x7f", ("control_characters",)),
        ("half \ud83d", ("invalid_unicode",)),
        ("\udc00\x00", ("invalid_unicode", "too_short", "only_punctuation", "control_characters")),
        ("<graphmem ids=3>Alice likes tea", ("memory_echo",)),
        ("likes tea </GRAPHMEM-memory>", ("memory_echo",)),
        ("password: hunter2", ("secret",)),
    ],
)
def test_refused_text_has_its_reasons_in_order(text: str, reasons: tuple[str, ...]) -> None:
    assert refused(text) == reasons


@pytest.mark.parametrize(
    "text",
    [
        "Alice lives in Porto",
        "abc",
        "x" * 8_000,
        "one\ttwo\r\nthree",
        "猫が好き",
        "مرحبا بك",
        "٤٢٠",
        "naïve café 🎉",
        "the graphmem fence is described in the README",
    ],
)
def test_ordinary_text_passes(text: str) -> None:
    assert refused(text) == ()


SECRETS = [
    "key AKIAIOSFODNN7EXAMPLE in the log",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIE",
    "-----BEGIN PRIVATE KEY-----",
    "-----BEGIN OPENSSH PRIVATE KEY-----",
    "-----BEGIN PGP PRIVATE KEY BLOCK-----",
    f"push with ghp_{KEY[:36]}",
    f"github_pat_{KEY[:22]}_{KEY[:59]}",
    f"glpat-{KEY[40:60]}",
    "slack xoxb-123456789012-123456789012-abcdefghijkl",
    "https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX",
    "stripe sk_live_4eC39HqLyjWDarjtT1zdp7dc",
    f"rk_test_{KEY[:24]}",
    f"OPENAI: sk-{KEY[:48]}",
    f"sk-proj-{KEY[50:]}-{KEY[:30]}",
    f"sk-ant-api03-{KEY[30:]}",
    f"AIza{KEY[:35]}",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
    "Authorization: Bearer abc123def456ghi789",
    "curl -H 'Authorization: Basic dXNlcjpwYXNzd29yZA=='",
    "password: xxxx",
    "Password: swordfish, user: bob",
    "PASSWORD=correct-horse",
    '{"password": "hunter2"}',
    "password: password: hunter2",
    "my password is hunter2",
    "the password was changed to tr0ub4dor",
    'the passphrase is "swordfish"',
    "api_key=abcd1234efgh",
    "API key: 9f8e7d6c",
    "client_secret = 'abcd efgh'",
    "DB_PASSWORD=tr0ub4dor",
    "token: abc123def456",
    "postgres://user:wren42@host/db",
    "redis://:s3cret@cache:6379",
    "neo4j+s://neo4j:hunter2@x.example",
]
INNOCENT = [
    "I forgot my password",
    "The password is required",
    "password is too short",
    "Password: must be changed every 90 days",
    "Password: 8-16 characters",
    "Password policy: at least 12 characters",
    "password: ********",
    "password: <your password>",
    "password: str = Field()",
    "the password is 2FA-protected",
    "api_key=os.environ['KEY']",
    "connect(password=db_password)",
    "password = user.password",
    "password=getpass()",
    "password=${DB_PASSWORD}",
    "The API key is stored in the vault and rotates every 90 days",
    "token: 500 tokens",
    "max tokens: 8192",
    "token budget is 4096 tokens",
    "The secret to success is patience",
    "secret: butter",
    "the bearer of bad news arrived",
    "bearer authentication is used here",
    "see http://host:8080/path and https://blog.example/@user/title",
    "postgres://user:<password>@host/db",
    "postgres://user:pass@host/db",
    "write to bob:alice@example.org",
    "install sk-learn-contrib-project-template",
    "AKIA is the prefix of AWS access key ids",
    "a JWT begins with eyJ",
    "-----BEGIN PUBLIC KEY-----",
    "-----BEGIN CERTIFICATE-----",
    "commit 3f2a9c0d4b5e6f708192a3b4c5d6e7f801234567",
]


@pytest.mark.parametrize("text", SECRETS)
def test_a_credential_is_refused_without_repeating_it(text: str) -> None:
    assert refused(text) == ("secret",)
    assert refused(f"Note to self: {text}\nThat is all.") == ("secret",)


@pytest.mark.parametrize("said", ["is", "was", "now", "to", "is now", "was changed to", "set to"])
@pytest.mark.parametrize("before", [" ", "    "])
@pytest.mark.parametrize("after", [" ", "\n", "\t", ":", ": "])
def test_a_credential_is_found_in_every_sentence(said: str, before: str, after: str) -> None:
    assert refused(f"The password{before}{said}{after}hunter2xyz") == ("secret",)


@pytest.mark.parametrize("sign", ["=", ":", "：", ":=", "=>", " = ", "：  "])
def test_a_credential_is_found_after_every_sign(sign: str) -> None:
    assert refused(f"The password{sign}hunter2xyz") == ("secret",)


@pytest.mark.parametrize("text", INNOCENT)
def test_talk_about_credentials_passes(text: str) -> None:
    assert refused(text) == ()


@pytest.mark.parametrize("half", ["tuning", "kept"])
def test_ordinary_sentences_pass_and_every_shape_is_found(half: str) -> None:
    """At most one ordinary sentence in a hundred is refused; see docs/explanation/trust.md."""
    sentences = [text for text in credentials.ordinary() if credentials.half(text) == half]
    assert len(sentences) > 150
    refused_ones = [text for text in sentences if hygiene.contains_secret(text)]
    assert len(refused_ones) <= len(sentences) / 100, refused_ones
    shapes = {
        (seed, name): text
        for seed in range(10)
        for name, text in credentials.credentials(seed).items()
        if credentials.half(name) == half
    }
    assert len(shapes) > 1_500
    assert [name for name, text in shapes.items() if not hygiene.contains_secret(text)] == []


HOSTILE = [
    *("a", " ", "\n", "'", "-", "=", ":", "://", ":// a:", "://a:", "a:b@"),
    *("sk-", "sk-a-", "eyJ", "-eyJ", "eyJaaaaaaaa.", "ghp_", "glpat-", "xoxb-", "AKIA", "SG."),
    *(
        "-----BEGIN ",
        "password: ",
        "password=",
        "password is  ",
        "secret:::",
        "bearer ",
        "token is",
    ),
]


@pytest.mark.timeout(60)
@pytest.mark.parametrize("unit", HOSTILE)
def test_hostile_text_is_checked_in_linear_time(unit: str) -> None:
    # Within the limit, so that all rules apply.
    rules = hygiene.default_rules(3, 1_000_000)
    assert pumps.is_linear(
        lambda text: hygiene.rejection_reasons(text, rules), pumps.Attack("", unit, "")
    )


def test_the_costly_rules_leave_a_text_alone_that_is_too_long() -> None:
    long = "password: hunter2\n" * 1_000
    assert refused(long) == ("too_long",)
    assert refused("!" * 9_000) == ("too_long",)
    assert refused(long + "\x00\ud800<graphmem") == (
        *("invalid_unicode", "too_long", "control_characters", "memory_echo"),
    )


def test_what_memory_supplied_is_refused_however_it_is_spaced() -> None:
    supplied = {content_hash("Alice likes tea")}
    rules = (*RULES, hygiene.echo_rule(supplied, content_hash))
    assert hygiene.rejection_reasons(" Alice  likes\ntea ", rules) == ("memory_echo",)
    assert hygiene.rejection_reasons("Alice likes coffee", rules) == ()
    supplied.add(content_hash("Alice likes coffee"))
    assert hygiene.rejection_reasons("Alice likes coffee", rules) == ("memory_echo",)
    assert hygiene.rejection_reasons(hygiene.FENCE + " x", (hygiene.memory_echo, *rules)) == (
        "memory_echo",
    )


def test_a_rule_of_ones_own_comes_in_its_place() -> None:
    def no_cats(text: str) -> str | None:
        return "no_cats" if "cat" in text else None

    assert hygiene.rejection_reasons("a cat\x00", (no_cats, *RULES)) == (
        "no_cats",
        "control_characters",
    )
    assert hygiene.rejection_reasons("a cat\x00", (*RULES, no_cats)) == (
        "control_characters",
        "no_cats",
    )


def test_a_rule_that_raises_is_not_swallowed() -> None:
    def broken(text: str) -> str | None:
        raise LookupError(text)

    with pytest.raises(LookupError):
        hygiene.rejection_reasons("fine", (*RULES, broken))


@given(st.text(st.characters(exclude_categories=()), max_size=200))
def test_reasons_are_stable_codes_and_repeatable(text: str) -> None:
    found = refused(text)
    assert all(re.fullmatch(r"[a-z]+(_[a-z]+)*", reason) for reason in found)
    assert len(set(found)) == len(found)
    assert refused(text) == found


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=200))
def test_a_text_that_passes_can_be_encoded_and_says_something(text: str) -> None:
    if not refused(text):
        assert text.encode().strip()
        assert any(character.isalnum() for character in text)
        assert "\x00" not in text
