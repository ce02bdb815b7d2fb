"""The digest in a user's file: text outside it never changes, and each line is a list item."""

from __future__ import annotations

import string
from datetime import UTC, datetime

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from graphmem.errors import DigestFileError
from graphmem.upkeep import rules
from graphmem.upkeep.rules import BEGIN, END, HEADING

MARCH = datetime(2026, 3, 1, 23, 59, tzinfo=UTC)
HOSTILE = [
    END,
    BEGIN,
    f"a\n{END}\nb",
    "a\r- b\u2028# c\x0b---\n\n    code",
    "<script>alert(1)</script> <img src=x onerror=y> <!-- --> <b",
    "![x](http://x) [y](javascript:z) [ref] [ref]: http://x",
    "*a* **b** _c_ __d__ ~~e~~ `f` ``g` \\*h\\* {i} {{j}}",
    "&lt;b&gt; &#60;script&#62; &copy AT&T R&D",
    "<http://x.example> <a@b.example>",
    "a\\",
    "`",
    "\\`x`",
    "| a | b |",
    "1. a", "- b", "# c", "> d", "```", "~~~", "    e", "+ f", "===", "---",
    "\u202eright to left\u2066", "\U000e0041tag", "zero\u200bwidth", "\x1b[31mred", "\x85next",
    "\ud800",
    "",
    "می‌خواهم",
]  # fmt: skip
MARKUP = st.text(st.sampled_from('`*_[]()<>!&#;~\\{}|-+=:/" \n\r\tab1.\u200b\u2028'), max_size=60)
WORDS = st.one_of(st.text(max_size=80), MARKUP, st.sampled_from(HOSTILE))
IDS = st.one_of(
    st.text(min_size=1, max_size=40),
    MARKUP.filter(bool),
    st.text(string.ascii_letters + "_`\\u060", min_size=1, max_size=12),
)
ENDINGS = st.sampled_from(["\n", "\r\n", "\r"])
MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])
PLAIN = {"text", "text_special", "code_inline"}


def items(text: str) -> list[list[tuple[str, str]]]:
    """Return the tokens of each list item; the text must be a single list."""
    kinds = ["bullet_list_open", "bullet_list_close", "list_item_open", "list_item_close"]
    kinds += ["paragraph_open", "paragraph_close", "inline"]
    tokens = MARKDOWN.parse(text)
    assert {token.type for token in tokens} <= set(kinds)
    assert sum(token.type == "bullet_list_open" for token in tokens) == 1
    assert sum(token.type == "list_item_open" for token in tokens) == sum(
        token.type == "inline" for token in tokens
    )
    return [[(c.type, c.content) for c in t.children or ()] for t in tokens if t.type == "inline"]


def outside(text: str) -> tuple[str, str]:
    """Return the text before and after the section."""
    section = rules._section(text, "f")
    assert section
    return text[: section.start], text[section.end :]


@given(WORDS, IDS)
@example("a`b", "c`d")
@example("x \\", "\\")
def test_any_text_is_one_list_item_of_plain_text(summary: str, episode_id: str) -> None:
    made = rules.digest_line(MARCH, summary, episode_id)
    assert not {"\n", "\r", "<", ">"} & set(made)
    assert made.splitlines() == [made]
    made.encode()
    [children] = items(made)
    assert {kind for kind, _ in children} <= PLAIN
    assert [kind for kind, _ in children].count("code_inline") == 1
    assert children[-1][0] == "code_inline"
    shown = "".join(content for kind, content in children if kind != "code_inline")
    assert shown.strip() == f"2026-03-01: {rules._visible_line(summary)}".strip()


@pytest.mark.parametrize("summary", HOSTILE)
def test_hostile_text_stays_one_list_item_between_others(summary: str) -> None:
    made = [rules.digest_line(MARCH, one, f"e{n}") for n, one in enumerate(("a", summary, "b"))]
    text = rules.add_lines("Mine\n", {f"e{n}": one for n, one in enumerate(made)}, "f")
    before, after = outside(text)
    assert after.splitlines() == [END]
    found = items(text[len(before) : -len(after)])
    assert len(found) == 3
    shown = "".join(content for kind, content in found[1] if kind != "code_inline")
    assert shown.strip() == f"2026-03-01: {rules._visible_line(summary)}".strip()
    assert rules.add_lines(text, {f"e{n}": one for n, one in enumerate(made)}, "f") == text


def test_what_nobody_sees_is_left_out_and_words_are_whole() -> None:
    made = rules.digest_line(MARCH, "a\u202eb\u200b c\x1bd  e\nf \U000e0041 می‌خواهم", "x")
    assert made == "- 2026-03-01: ab cd e f می‌خواهم `x`"


@given(IDS, IDS)
def test_two_ids_have_two_codes(one: str, other: str) -> None:
    assume(one != other)
    codes = rules.digest_codes(
        rules.add_lines(None, {one: rules.digest_line(MARCH, "x", one)}, "f"), "f"
    )
    assert len(codes) == 1
    assert rules.has_code(codes, one)
    assert not rules.has_code(codes, other)


FILES = st.lists(
    st.tuples(st.one_of(WORDS, st.sampled_from([BEGIN, END, f" {BEGIN}\t", f"{END} x"])), ENDINGS),
    max_size=8,
).map(lambda parts: "".join(text + ending for text, ending in parts))


@given(FILES, st.text(max_size=9), st.dictionaries(IDS, WORDS, min_size=1, max_size=4))
@example("\ufeffa", "", {"e": "b"})
@example("", "", {"e": "b"})
@example(f"{BEGIN}\r\n{END}", "", {"e": "b"})
@example(f"\ufeff{BEGIN}\r{END}\r", "x", {"e": "b"})
def test_what_is_outside_stays_as_it_is(text: str, rest: str, summaries: dict[str, str]) -> None:
    text += rest
    lines = {one: rules.digest_line(MARCH, summary, one) for one, summary in summaries.items()}
    try:
        there = rules.digest_codes(text, "f")
    except DigestFileError:
        with pytest.raises(DigestFileError):
            rules.add_lines(text, lines, "f")
        return
    done = rules.add_lines(text, lines, "f")
    section = rules._section(text, "f")
    if section is None:
        assert done.startswith(text)
        before, after = outside(done)
        assert before[len(text) :].split() == BEGIN.split()
        assert after.strip() == END
    else:
        assert outside(done) == outside(text)
        assert done[section.start :].startswith(text[section.start : section.end])
    assert rules.digest_codes(done, "f") >= there
    assert all(rules.has_code(rules.digest_codes(done, "f"), one) for one in summaries)
    assert rules.add_lines(done, lines, "f") == done


def test_a_missing_file_gets_a_heading() -> None:
    assert rules.add_lines(None, {"e": "- x `e`"}, "f") == f"{HEADING}\n\n{BEGIN}\n- x `e`\n{END}\n"
    assert rules.add_lines("", {"e": "- x `e`"}, "f") == f"{BEGIN}\n- x `e`\n{END}\n"
    assert rules.add_lines(None, {}, "f") == ""


def test_line_ends_are_those_of_the_file() -> None:
    assert rules.add_lines("a\r\nb", {"e": "- x `e`"}, "f") == (
        f"a\r\nb\r\n\r\n{BEGIN}\r\n- x `e`\r\n{END}\r\n"
    )
    assert rules.add_lines("a\r", {"e": "- x `e`"}, "f") == f"a\r\r{BEGIN}\r- x `e`\r{END}\r"
    mixed = f"a\n{BEGIN}\r\n{END}\n"
    assert rules.add_lines(mixed, {"e": "- x `e`"}, "f") == f"a\n{BEGIN}\r\n- x `e`\r\n{END}\n"


def test_a_byte_order_mark_hides_no_marker() -> None:
    text = f"\ufeff{BEGIN}\n{END}\n"
    assert rules.add_lines(text, {"e": "- x `e`"}, "f") == f"\ufeff{BEGIN}\n- x `e`\n{END}\n"


def test_braces_are_escaped_for_what_reads_them_as_code() -> None:
    assert rules.digest_line(MARCH, "{{a}}", "x") == "- 2026-03-01: \\{\\{a\\}\\} `x`"


def test_what_the_user_edited_or_added_inside_stays() -> None:
    made = {n: rules.digest_line(MARCH, f"said {n}", n) for n in ("one", "two")}
    text = f"{BEGIN}\nmine\n- *shorter* `one`, checked\n{END}\nbelow\n"
    assert rules.add_lines(text, made, "f") == (
        f"{BEGIN}\nmine\n- *shorter* `one`, checked\n{made['two']}\n{END}\nbelow\n"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"a\n{BEGIN}\nb\n", "f, line 2: the digest begins and never ends."),
        (f"a\n{BEGIN}\nb {END}\n", "f, line 2: the digest begins and never ends."),
        (f"a\r\rb\r\n{END}", "f, line 4: the digest ends and never began."),
        (f"{END}\n{BEGIN}\n", "f, line 1: the digest ends before it begins, in line 2."),
        (f"{BEGIN}\n{BEGIN}\n{END}", "f, line 2: the digest begins a second time, after line 1."),
        (f"{BEGIN}\n{END}\n\n{END}", "f, line 4: the digest ends a second time, after line 2."),
    ],
)
def test_broken_markers_are_refused_with_their_line(text: str, message: str) -> None:
    with pytest.raises(DigestFileError) as caught:
        rules.add_lines(text, {"e": "- x `e`"}, "f")
    assert caught.value.message == message
    assert BEGIN in caught.value.hint


def test_a_gist_is_what_the_text_tells_first() -> None:
    assert rules.gist("Hi! Are you there? I moved to Porto in May.") == "I moved to Porto in May."
    assert rules.gist("I moved to Porto in May.", "Ann") == "Ann: I moved to Porto in May."
    assert rules.gist("Hi there") == "Hi there"
    assert rules.gist("Hi\n there", "Ann") == "Ann: Hi there"


@given(st.text(min_size=1, max_size=1_000), st.one_of(st.none(), st.text(max_size=9)))
@example("x" * 1_000, "n" * 400)
def test_a_gist_is_short_and_one_line(text: str, name: str | None) -> None:
    made = rules.gist(text, name)
    assert len(made) <= rules.MAX_GIST_CHARS
    assert len(made.splitlines()) <= 1
    assert made == rules.shorten(made)


def test_a_long_text_is_cut_at_a_word() -> None:
    made = rules.shorten("word " * 100)
    assert made == " ".join(["word"] * 59) + "…"
    assert rules.shorten("x" * 400) == "x" * 299 + "…"
    assert rules.shorten("x" * 300) == "x" * 300
