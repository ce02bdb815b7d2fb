"""Packs by hand, and their laws: HIGH whole, the budget kept, every item once in the manifest."""

from __future__ import annotations

import hashlib
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from graphmem.conversation import blocks
from graphmem.conversation.tokens import count_tokens
from graphmem.model import Tier
from graphmem.usage import DetailLevel, Pack, PackItem, packs
from graphmem.usage.packs import HEAD, PackBudget, PackEntry, blocking_pattern

HIGH, MEDIUM, LOW, VERY_LOW = Tier.HIGH, Tier.MEDIUM, Tier.LOW, Tier.VERY_LOW
WHOLE, SUMMARY, POINTER, LEFT_OUT = (
    DetailLevel.WHOLE,
    DetailLevel.SUMMARY,
    DetailLevel.POINTER,
    DetailLevel.LEFT_OUT,
)
ELOS = {HIGH: 1_600.0, MEDIUM: 1_200.0, LOW: 800.0, VERY_LOW: 700.0, None: None}
CODE = "def f(a: int) -> int:\n    " + "a += 1\n    " * 30 + "return a\n"
PLENTY = 10**6


def words(text: str) -> int:
    """A tokenizer that is simple to count by hand: what white space divides."""
    return len(text.split())


def characters(text: str) -> int:
    return len(text)


def jumpy(text: str) -> int:
    """Counts more for a whole than for its parts."""
    return len(text) + len(text) ** 2 // 2_000


HEAD_WORDS = words(HEAD)


def item(name: str, tier: Tier | None = MEDIUM, text: str = "Hello.", **other: object) -> PackEntry:
    given = {"kind": "memory", "ref": "", "elo": ELOS[tier], **other}
    return PackEntry(id=name, tier=tier, text=text, **given)  # type: ignore[arg-type]


def pack(*items: PackEntry, tokens: int = PLENTY, blocked: tuple[str, ...] = ()) -> Pack:
    return packs.build_pack(items, PackBudget(tokens, words, "words", blocked))


def shapes(found: Pack) -> list[tuple[str, DetailLevel]]:
    return [(one.id, one.how) for one in found.items]


# By hand.


def test_a_pack_by_hand() -> None:
    found = pack(
        item("m_2", LOW, "Old news " * 60, elo=951.9),
        item("a_1", HIGH, "All of it\n", ref="x/notes.txt", kind="file", elo=1_601.5),
        item("a_2", MEDIUM, CODE, ref="x/y.py", kind="file", elo=1_599.9),
        item("m_3", VERY_LOW, "Nothing."),
        item("m_4", None, "New here."),
        blocked=("z/*",),
    )
    assert found.text == (
        f"# Pack\n\n{blocks.HEAD}\n"
        "\n## [a_1] `x/notes.txt`\n\nHIGH 1601, whole, file\n\n```\nAll of it\n```\n"
        "\n## [a_2] `x/y.py`\n\nMEDIUM 1599, summary, file\n\n```\ndef f(a: int) -> int\n```\n"
        "\n## [m_4]\n\nnever rated, whole, memory\n\n```\nNew here.\n```\n"
        f"- [m_2] `{'Old news ' * 8}Old new…`, LOW 951, memory\n"
    )
    assert found.tokens == words(found.text)
    # Overhead of a block: ##, id, title; tier, rating, detail level, kind; two fences.
    assert [one.tokens for one in found.items] == [9 + 3, 9 + 5, 8 + 2, 23, 0]
    assert found.tokens == HEAD_WORDS + 12 + 14 + 10 + 23
    # Whole they are 3, 97, 2, 120 and 1 words.
    whole = HEAD_WORDS + (9 + 3) + (9 + 97) + (8 + 2) + (8 + 120) + (8 + 1)
    assert (found.whole_tokens, found.saved_tokens) == (whole, whole - found.tokens)
    assert found.saved_share == pytest.approx(1 - found.tokens / whole)
    assert (found.budget, found.overflow, found.counted_by) == (PLENTY, 0, "words")
    assert found.blocked_paths == ("z/*",)
    assert shapes(found) == [
        ("a_1", WHOLE), ("a_2", SUMMARY), ("m_4", WHOLE), ("m_2", POINTER), ("m_3", LEFT_OUT),
    ]  # fmt: skip
    assert found.items[1] == PackItem(
        id="a_2", kind="file", ref="x/y.py", elo=1_599.9, tier=MEDIUM, how=SUMMARY,
        why="MEDIUM is summarised", tokens=14, sha256=hashlib.sha256(CODE.encode()).hexdigest(),
    )  # fmt: skip
    assert [one.why for one in found.items if one.id != "a_2"] == [
        "HIGH is whole whatever the budget",
        "never rated: like MEDIUM, but after it; its summary would be no shorter",
        "LOW is a pointer",
        "VERY_LOW is left out",
    ]


def test_by_tier_then_rating_then_id() -> None:
    found = pack(
        item("g", LOW), item("f", None), item("e", None), item("d", MEDIUM, elo=1_200.0),
        item("c", MEDIUM, elo=1_300.0), item("b", MEDIUM, elo=1_200.0), item("z", HIGH, elo=1700.),
        item("y", HIGH, elo=1_600.0), item("a", VERY_LOW), item("h", LOW, elo=900.0),
    )  # fmt: skip
    assert [one.id for one in found.items] == ["z", "y", "c", "b", "d", "e", "f", "h", "g", "a"]
    shown = re.findall(r"\[(\w)\]", found.text.removeprefix(HEAD))
    assert shown == ["z", "y", "c", "b", "d", "e", "f", "h", "g"]


def test_exactly_the_budget_is_enough_and_one_token_less_is_not() -> None:
    """The summary has 14 tokens, its pointer 6: dash, id, title, tier, rating, kind."""
    code = item("a", MEDIUM, CODE, ref="x.py", kind="file")
    exact = HEAD_WORDS + 14
    assert shapes(pack(code, tokens=exact)) == [("a", SUMMARY)]
    short = pack(code, tokens=exact - 1)
    assert shapes(short) == [("a", POINTER)]
    assert short.items[0].why == "MEDIUM 1200; summary of 14 tokens does not fit in 13"
    assert pack(code, tokens=HEAD_WORDS + 6).tokens == HEAD_WORDS + 6
    out = pack(code, tokens=HEAD_WORDS + 5)
    assert (shapes(out), out.text, out.tokens) == ([("a", LEFT_OUT)], "", 0)
    assert out.items[0].why == (
        "MEDIUM 1200; summary of 14 tokens does not fit in 5; pointer of 6 tokens does not fit in 5"
    )
    assert out.saved_share == 1
    low = pack(item("b", LOW, ref="y"), tokens=0)
    assert low.items[0].why == "LOW 800; pointer of 6 tokens does not fit in 0"


def test_high_items_are_over_the_budget_and_nothing_else_is() -> None:
    big, other = item("h1", HIGH, "word " * 100, ref="h"), item("h2", HIGH, "more " * 50, ref="i")
    found = pack(item("m"), big, item("n", None), item("l", LOW), other, tokens=60)
    assert shapes(found)[:2] == [("h1", WHOLE), ("h2", WHOLE)]
    assert {how for _, how in shapes(found)[2:]} == {LEFT_OUT}
    assert found.tokens == HEAD_WORDS + 109 + 59
    assert found.overflow == found.tokens - 60
    assert found.items[2].why.startswith("MEDIUM 1200; whole of ")
    assert found.items[2].why.endswith("does not fit in 0")


def test_what_comes_after_something_too_long_may_still_fit() -> None:
    room = HEAD_WORDS + 16
    first = item("a", MEDIUM, "word, " * 2_000, ref="t " * 30, elo=1_400.0)
    found = pack(first, item("b", MEDIUM), item("c", LOW, ref="r"), tokens=room)
    assert shapes(found) == [("a", LEFT_OUT), ("b", WHOLE), ("c", POINTER)]
    assert found.tokens == room - 1


def test_never_rated_items_come_after_rated_ones_while_there_is_room() -> None:
    room = HEAD_WORDS + 9
    found = pack(item("a", None), item("b", MEDIUM), tokens=room)
    assert shapes(found) == [("b", WHOLE), ("a", LEFT_OUT)]
    assert shapes(pack(item("a", None), item("b", LOW), tokens=room)) == [
        ("a", WHOLE),
        ("b", LEFT_OUT),
    ]


def test_what_is_blocked_is_left_out_whatever_its_tier() -> None:
    secret = item("a", HIGH, "secret words", ref="INBOX/keys.md::one")
    found = pack(secret, item("b", MEDIUM, ref="b.md"), blocked=("nothing", "INBOX/"))
    assert shapes(found) == [("a", LEFT_OUT), ("b", WHOLE)]
    assert found.items[0].why == "blocked by INBOX/"
    assert "secret" not in found.text
    assert found.whole_tokens > found.tokens


def test_a_pack_of_nothing() -> None:
    found = pack()
    assert (found.text, found.items, found.tokens, found.whole_tokens) == ("", (), 0, 0)
    assert (found.saved_tokens, found.saved_share, found.overflow) == (0, 0.0, 0)


def test_a_line_about_an_item_may_be_longer_than_its_text() -> None:
    by = PackBudget(PLENTY, characters, "characters")
    found = packs.build_pack([item("a", LOW, "\u202e" * 60)], by)
    assert shapes(found) == [("a", POINTER)]
    # Each character is shown as six; whole it has the heading, the line and the fences besides.
    assert found.tokens == len(HEAD) + len("- [a] ``, LOW 800, memory\n") + 6 * 60
    whole = len(HEAD) + len("\n## [a]\n\nLOW 800, whole, memory\n\n```\n\n```\n") + 60
    assert (found.whole_tokens, found.saved_tokens) == (whole, whole - found.tokens)
    assert found.saved_tokens < 0
    assert found.saved_share == pytest.approx(1 - found.tokens / whole)


def test_the_same_item_twice_counts_once_and_another_of_its_id_is_refused() -> None:
    assert pack(item("a"), item("a")) == pack(item("a"))
    with pytest.raises(ValueError, match="same id"):
        pack(item("a"), item("a", text="Bye."))


def test_what_a_whole_has_too_much_is_left_out_at_the_end() -> None:
    """The parts fit by themselves; the whole is counted for more."""
    each = [item(name, MEDIUM, "x" * 60, elo=1_500.0 - n) for n, name in enumerate("abcdefgh")]
    each.append(item("h1", HIGH, "y" * 100))
    parts = sum(one.tokens for one in packs.build_pack(each, PackBudget(PLENTY, jumpy, "x")).items)
    by = PackBudget(parts + jumpy(HEAD), jumpy, "jumpy")
    found = packs.build_pack(each, by)
    assert jumpy(found.text) == found.tokens <= by.tokens
    hows = [one.how for one in found.items]
    assert 1 < hows.count(WHOLE) < 9
    assert hows == sorted(hows, key=[WHOLE, LEFT_OUT].index)
    assert found.items[-1].why == "MEDIUM 1493; with it the pack exceeds the budget"
    assert found.items[-1].tokens == 0


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_no_more_is_left_out_at_the_end_than_has_to_be(share: float) -> None:
    """Three blocks of one length, of which the whole has one token too many, or one block."""
    each = [item(name, MEDIUM, elo=1_500.0 - n) for n, name in enumerate("abc")]
    part = len("\n## [a]\n\nMEDIUM 1500, whole, memory\n\n```\nHello.\n```\n")
    extra = int(share * part) or 1

    def count(text: str) -> int:
        return len(text) + extra * (text.count("##") == len(each))

    found = packs.build_pack(each, PackBudget(len(HEAD) + 3 * part, count, "test"))
    assert shapes(found) == [("a", WHOLE), ("b", WHOLE), ("c", LEFT_OUT)]
    assert found.tokens == len(HEAD) + 2 * part


def test_a_title_of_eighty_characters_is_not_cut() -> None:
    assert f"`{'x' * 80}`" in pack(item("a", title="x" * 80)).text
    assert f"`{'x' * 79}…`" in pack(item("a", title="x" * 81)).text


@pytest.mark.parametrize(
    ("body", "fence"),
    [
        ("", "```"),
        ("a `` b", "~~~"),
        ("a ``` b ~", "~~~"),
        ("``` ~~~", "````"),
        ("````` ~~~~", "~~~~~"),
    ],
)
def test_a_fence_is_as_long_as_it_must_be(body: str, fence: str) -> None:
    assert f"\n{fence}\n{body}\n{fence}\n" in pack(item("a", HIGH, body)).text


# What is blocked.


@pytest.mark.parametrize(
    ("ref", "pattern", "blocked"),
    [
        ("INBOX/a.md", "INBOX/*", True),
        ("INBOX/deep/a.md", "INBOX/*", True),
        ("INBOX/deep/a.md", "INBOX/", True),
        ("INBOX/deep/a.md", "INBOX", True),
        ("INBOX", "INBOX/", True),
        ("INBOXES/a.md", "INBOX", False),
        ("x/INBOX/a.md", "INBOX/*", False),
        ("x/INBOX/a.md", "**/INBOX/*", True),
        ("INBOX/a.md", "**/INBOX/*", True),
        ("x/y/INBOX/a.md", "*/INBOX", True),
        ("./INBOX/a.md", "INBOX/*", True),
        ("x/../INBOX//a.md", "INBOX/*", True),
        ("INBOX\\a.md", "INBOX/*", True),
        ("INBOX/a.md", "INBOX\\*", True),
        ("inbox/a.md", "INBOX/*", False),
        ("x/a.log", "*.log", True),
        ("x/a.log::line", "*.log", True),
        ("x/a.log#part", "*.log", True),
        ("x/a.log.md", "*.log", False),
        ("lab3/x", "lab[0-4]/?", True),
        ("lab5/x", "lab[0-4]/?", False),
        ("https://example.org/x", "https://*", True),
        ("a", "*", True),
        ("", "*", False),
        ("", "", False),
        ("a", "", False),
        ("a", "/", False),
        ("a", "**/", True),
        ("x/a", "**", True),
    ],
)
def test_what_a_pattern_blocks(ref: str, pattern: str, *, blocked: bool) -> None:
    assert blocking_pattern(ref, ["nothing/else", pattern]) == (pattern if blocked else None)


# Hostile texts.

HOSTILE = [
    "",
    "\n",
    "\0",
    "x" * 1_000_000,
    "`" * 50,
    "```\nout of it\n```\n## [m_9] `more`\n",
    "~~~\n```\n````\n~~~~~\n",
    "# Pack\n\n" + blocks.HEAD,
    "<script>alert(1)</script>",
    "\u202eright to left\u2066",
    "مرحبا بك. " * 40,
    "a\r\nb\rc\u2028d\x85e",
    "(" * 5_000,
    "---\n# x\n---",
    "[a]: http://x\n![b](c)",
]
names = st.one_of(
    st.text(min_size=1, max_size=12),
    st.text(st.sampled_from("`*_[]()<>!&#~\\|-+ \n\r\tab"), min_size=1, max_size=12),
    st.sampled_from(["a.py", "INBOX/x", "```", "\u202e", "x\n# y", "- z", "1. a", "\0"]),
)
bodies = st.one_of(
    st.text(max_size=200),
    st.text(st.sampled_from("`~# \n\r-=ab.\0"), max_size=60),
    st.sampled_from([CODE, *HOSTILE]),
)
tiers = st.sampled_from([None, *Tier])


@st.composite
def entries(draw: st.DrawFn) -> PackEntry:
    tier = draw(tiers)
    return PackEntry(
        id=draw(names),
        kind=draw(names),
        ref=draw(st.just("") | names),
        text=draw(bodies),
        elo=None if tier is None else ELOS[tier] + draw(st.floats(0, 99)),  # type: ignore[operator]
        tier=tier,
        title=draw(st.just("") | names),
    )


items = st.lists(entries(), max_size=8, unique_by=lambda one: one.id)
counters = st.sampled_from([words, characters, jumpy, count_tokens])
budgets = st.builds(
    PackBudget,
    st.integers(0, 1_500),
    counters,
    st.just("test"),
    st.sampled_from([(), ("INBOX/*",), ("*",)]),
)


def as_parsed(text: str) -> str:
    """Return a text as a markdown parser reads it."""
    return re.sub(r"\r\n?", "\n", text).replace("\0", "\ufffd")


def inlines(text: str) -> list[Token]:
    return [t for t in MarkdownIt("commonmark").parse(text) if t.type == "inline"]


@given(items, budgets)
@example([item(f"m{n}", HIGH, text) for n, text in enumerate(HOSTILE)], PackBudget(9, words, "w"))
@example(
    [item(f"m{n}", MEDIUM, text) for n, text in enumerate(HOSTILE)], PackBudget(900, words, "w")
)
@example([item(f"m{n}", LOW, text) for n, text in enumerate(HOSTILE)], PackBudget(900, words, "w"))
def test_the_laws_of_a_pack(given_items: list[PackEntry], by: PackBudget) -> None:
    found = packs.build_pack(given_items, by)
    source = {one.id: one for one in given_items}
    assert sorted(one.id for one in found.items) == sorted(source)
    assert found.tokens == (by.count(found.text) if found.text else 0)
    assert found.overflow == max(found.tokens - by.tokens, 0)
    if found.overflow:
        assert {one.tier for one in found.items if one.how is not LEFT_OUT} == {HIGH}
    for one in found.items:
        blocked = blocking_pattern(one.ref, by.blocked_paths)
        assert one.sha256 == hashlib.sha256(source[one.id].text.encode()).hexdigest()
        assert one.why
        assert (one.how is LEFT_OUT) >= (one.tier is VERY_LOW or blocked is not None)
        if one.tier is HIGH and blocked is None:
            assert one.how is WHOLE
            assert source[one.id].text in found.text
        if one.tier is LOW:
            assert one.how in (POINTER, LEFT_OUT)
        assert (one.tokens == 0) == (one.how is LEFT_OUT)


@given(items, budgets, st.randoms(use_true_random=False))
def test_the_order_of_items_does_not_matter(
    given_items: list[PackEntry], by: PackBudget, random: object
) -> None:
    again = [*given_items, *given_items[:2]]
    random.shuffle(again)  # type: ignore[attr-defined]
    assert packs.build_pack(again, by) == packs.build_pack(given_items, by)


@given(items)
@example([item(f"m{n}", tier, text) for n, text in enumerate(HOSTILE) for tier in (HIGH,)])
@example([item(f"m{n}", LOW, text, ref=text[:99]) for n, text in enumerate(HOSTILE)])
def test_nothing_in_a_pack_passes_for_its_frame(given_items: list[PackEntry]) -> None:
    """Each block is a heading, a line about it, and a fence that holds the text, no more."""
    found = packs.build_pack(given_items, PackBudget(PLENTY * 10, characters, "characters"))
    tokens = MarkdownIt("commonmark").parse(found.text)
    blocks = [one for one in found.items if one.how in (WHOLE, SUMMARY)]
    fences = [t.content for t in tokens if t.type == "fence"]
    assert len(fences) == len(blocks)
    source = {one.id: one.text for one in given_items}
    for body, one in zip(fences, blocks, strict=True):
        if one.how is WHOLE:
            text = as_parsed(source[one.id])
            assert body == (text if text.endswith("\n") else f"{text}\n")
    top = [t.tag for t in tokens if t.type == "heading_open"]
    assert top == ["h1"] * bool(found.text) + ["h2"] * len(blocks) * bool(found.text)
    assert sum(t.type == "list_item_open" for t in tokens) == sum(
        one.how is POINTER for one in found.items
    )
    assert {t.type for t in tokens} <= {
        "heading_open", "heading_close", "inline", "paragraph_open", "paragraph_close", "fence",
        "bullet_list_open", "bullet_list_close", "list_item_open", "list_item_close",
    }  # fmt: skip


@given(names, names)
def test_a_title_is_no_markup(name: str, title: str) -> None:
    one = item(name, LOW, title=title, kind="memory")
    children = inlines(pack(one).text)[-1].children or []
    codes = [t.content for t in children if t.type == "code_inline"]
    assert len(codes) == bool(title.split())
    assert not {t.type for t in children} & {"link_open", "image", "html_inline", "softbreak"}


@given(items, counters, st.integers(0, 800), st.integers(0, 800))
def test_a_larger_budget_never_shows_fewer_tokens_of_high(
    given_items: list[PackEntry], count: object, small: int, more: int
) -> None:
    def high(tokens: int) -> list[PackItem]:
        made = packs.build_pack(given_items, PackBudget(tokens, count, "test"))  # type: ignore[arg-type]
        return [one for one in made.items if one.tier is HIGH]

    assert high(small) == high(small + more)
