"""Text as a terminal may show it."""

from __future__ import annotations

import json
import logging
import sys
import unicodedata

import pytest
from hypothesis import given

from graphmem.rules import display
from tests.plugins import hostile


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[2J\x07", r"a\x1b[2J\x07"),
        ("a\x9b2J\x7f", r"a\x9b2J\x7f"),
        ("a\u202eb\u2066c", r"a\u202eb\u2066c"),
        ("a\u200bb\u200dc\ufeff", r"a\u200bb\u200dc\ufeff"),
        ("a\u2028b\u2029c", r"a\u2028b\u2029c"),
        ("a\U000e0041b", r"a\U000e0041b"),
        ("a\ud800b\udcff", r"a\ud800b\udcff"),
        ("a\nb\tc\r", r"a\nb\tc\r"),
        ("see [/etc/hosts] :smile:", "see [/etc/hosts] :smile:"),
    ],
)
def test_what_commands_or_hides_is_written_as_its_escape(text: str, shown: str) -> None:
    assert display.line(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "Zürich, naïve, 東京, עברית, العربية",
        "می\u200cخواهم",  # Persian
        "क\u094d\u200dष",  # Hindi
        "👩\u200d👩\u200d👧 ❤\ufe0f 1\ufe0f\u20e3",
    ],
)
def test_what_people_write_is_shown_as_it_is(text: str) -> None:
    assert display.line(text) == display.block(text) == text
    assert json.loads(display.json_text(text)) == text
    assert text in display.json_text(text)


def test_no_character_that_is_not_shown_is_left_out() -> None:
    """Unicode may learn new ones with a newer Python."""
    kinds = {"Cc", "Cf", "Cs", "Zl", "Zp"}
    unseen = [c for c in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(c) in kinds]
    assert [c for c in unseen if c in display.line(f"a{c}b")] == []
    assert [c for c in unseen if c in display.block(f"a{c}b")] == ["\n"]


@given(hostile.texts)
def test_nothing_that_commands_a_terminal_is_left(text: str) -> None:
    assert hostile.found_in(display.line(text)) == set()
    assert "\n" not in display.line(text)
    assert hostile.found_in(display.block(text)) == set()
    assert display.block(display.block(text)) == display.block(text)
    assert hostile.found_in(display.value(text)) <= {display.BREAK}
    assert display.value(text).count(display.BREAK) == display.block(text).count("\n")


@given(hostile.texts)
def test_json_is_escaped_and_loses_nothing(text: str) -> None:
    for indent in (None, 2):
        written = display.json_text({text: [text]}, indent=indent)
        assert hostile.found_in(written) == set()
        assert json.loads(written) == {text: [text]}


@given(hostile.texts)
def test_a_log_record_is_one_line_that_commands_nothing(text: str) -> None:
    record = logging.LogRecord("a", logging.INFO, "f", 1, "said %s", (text,), None)
    written = display.LogFormatter("%(name)s: %(message)s").format(record)
    assert hostile.found_in(written) == set()
    assert "\n" not in written


def test_a_traceback_in_the_log_commands_nothing() -> None:
    try:
        raise ValueError("a\x1b[2J")
    except ValueError:
        record = logging.LogRecord("a", logging.INFO, "f", 1, "failed", (), sys.exc_info())
    written = display.LogFormatter().format(record)
    assert r"ValueError: a\x1b[2J" in written
    assert hostile.found_in(written) == set()
