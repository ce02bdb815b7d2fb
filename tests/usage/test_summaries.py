"""Summaries: what each kind of text keeps, and that none is longer than its text."""

from __future__ import annotations

import textwrap
import warnings
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from graphmem.usage import summaries
from graphmem.usage.summaries import (
    MAX_CHARS,
    MAX_LINE_CHARS,
    MAX_SHARE,
    MIN_CHARS,
    TextKind,
    summarise,
    text_kind,
)

LF = "\n"
ROOT = Path(__file__).resolve().parents[2]
MODULE = textwrap.dedent('''
    """A module that says so."""

    import os
    from typing import overload

    LIMIT = 3

    class Tree(Base, metaclass=Meta):
        """Grows."""

        size: int = 0

        def __init__(self, *, depth: int = 1, **rest: object) -> None:
            def hidden(): ...
            self.depth = depth

        async def grow(self, by, /, *more: int) -> "Tree":
            return self

        class Leaf:
            def fall(self): return os.path

    if LIMIT:
        def first(a: list[int] = [1, 2]) -> None: ...
    else:
        def second(): ...
    try:
        import fast
    except ImportError:
        def third(): ...

    @decorated
    def last(a,
             b="x\\ny"):
        return lambda: a
''').lstrip()  # fmt: skip
SIGNATURES = textwrap.dedent("""
    class Tree(Base, metaclass=Meta)
        def __init__(self, *, depth: int=1, **rest: object) -> None
        async def grow(self, by, /, *more: int) -> 'Tree'
        class Leaf
            def fall(self)
    def first(a: list[int]=[1, 2]) -> None
    def second()
    def third()
    def last(a, b='x\\ny')
""").strip()
SCRIPT = """
import x from "y";
/** Adds things up. */
export default class Foo extends Bar {
  method() { return 1 }
}
export const add = (a: number, b: (c: number) => void): number => a + b;
const plain = 5;
const sizes = all.map((one) => one.size);
const wait = async ms => {
let g = function (a) {
function* steps(a, b) {
  async function inner() {
export async function load(url) {
interface Props<T> extends Other {
type Id = string | number;
export type { Z } from "./z";
enum Plain {
declare function told(a: string): void;
export * from "./x";
const many = (
  a, b,
) => {
class of people
function of time
""".strip()
DECLARED = """
export default class Foo extends Bar
export const add = (a: number, b: (c: number) => void): number =>
const wait = async ms =>
let g = function (a)
function* steps(a, b)
  async function inner()
export async function load(url)
interface Props<T> extends Other
type Id = string | number;
export type { Z } from "./z";
enum Plain
declare function told(a: string): void;
export * from "./x";
const many = (
""".strip()
MARKDOWN = """\
---
title: not a heading
---
# One #

Some text about it, and about what else there may be to say of it.
More
====
## Two `code` \\#
```python
# a comment
~~~
```
~~~~ text
# another
```
~~~
~~~~
Under
---

---
> # quoted
- # in a list
    # indented
####### seven
#hashtag
   ###   Three   ###
#
"""
HEADINGS = "# One\n# More\n## Two `code` \\#\n## Under\n### Three"

HOSTILE = [
    "",
    "\0",
    " \n\t\r\n",
    "x" * 1_000_000,
    "x " * 500_000,
    "(" * 100_000,
    "-" * 100_000 + "1",
    "a" + ".b" * 100_000,
    "def f(" * 20_000,
    "def f(a=" + "1+" * 50_000 + "1): pass",
    "def f(a=" + "9" * 5_000 + "): pass",
    "def f(): pass\0",
    "".join(f"{' ' * n}class C{n}:\n" for n in range(300)),
    "if a: pass\n" + "elif a: pass\n" * 5_000,
    "const a = " + "(" * 100_000,
    "const a = " + "=" * 100_000,
    "type A" + "<" * 100_000,
    "export " * 100_000,
    "#" * 1_000_000,
    "# " * 300_000,
    "`" * 1_000_000,
    "```\n" * 100_000,
    "a\n---\n" * 100_000,
    "---\n" * 100_000,
    "```python\ndef f(): pass\n```\n",
    "\u202eright to left\u2066 " * 100,
    "مرحبا بك في المدرسة. كيف حالك؟ " * 50,
    "我爱北京。" * 500,
    "\ufeffdef f(): pass",
    "\ud800 def f(): pass",
    "a.\r\nb.\rc." * 100,
    "def f(a:b,c:d):0",
]  # fmt: skip

texts = st.one_of(
    st.text(max_size=400),
    st.text(st.sampled_from("def clas():#`~-= \n\tAz.。?!export{}const=>\u202e\0"), max_size=400),
    st.lists(st.sampled_from([*MODULE.split("\n"), *SCRIPT.split("\n"), *MARKDOWN.split("\n")]))
    .map("\n".join),
)  # fmt: skip
kinds = st.sampled_from(TextKind)


# What a text is written in.


@pytest.mark.parametrize(
    ("ref", "kind"),
    [
        ("a/b.py", TextKind.PYTHON),
        ("a/b.PYI", TextKind.PYTHON),
        (r"a\b.py", TextKind.PYTHON),
        ("a.py::Tree.grow", TextKind.PYTHON),
        ("a.py:12", TextKind.PYTHON),
        ("a.py:12-15", TextKind.PYTHON),
        ("a.md#part-1.2", TextKind.MARKDOWN),
        ("https://example.org:8080/x/y.tsx", TextKind.SCRIPT),
        ("x.test.mjs", TextKind.SCRIPT),
        ("notes.markdown", TextKind.MARKDOWN),
        ("data.json", TextKind.TEXT),
        # These say nothing, so the text decides, which is markdown.
        ("", TextKind.MARKDOWN),
        ("py", TextKind.MARKDOWN),
        (".py", TextKind.MARKDOWN),
        ("v1.py/README", TextKind.MARKDOWN),
        ("graphmem.usage.packs", TextKind.MARKDOWN),
        ("a.rb", TextKind.MARKDOWN),
    ],
)
def test_the_suffix_decides_and_else_the_text(ref: str, kind: TextKind) -> None:
    assert text_kind(ref, "# A heading\n") is kind


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (MODULE, TextKind.PYTHON),
        ("# Not a heading\n\nasync def f(a):\n    pass\n", TextKind.PYTHON),
        ("class A(B):  \n    pass", TextKind.PYTHON),
        ("broken (\ndef f[T](a):", TextKind.PYTHON),
        (SCRIPT, TextKind.SCRIPT),
        ("// a\nconst f = (a) => {\n}", TextKind.SCRIPT),
        ("export { a, b };", TextKind.SCRIPT),
        (MARKDOWN, TextKind.MARKDOWN),
        ("# Use\n```python\ndef f():\n    pass\n```\n~~~\nexport {\n~~~", TextKind.MARKDOWN),
        ("```\n# comment\n```\nIt ends.", TextKind.TEXT),
        ("Alice lives in Porto.", TextKind.TEXT),
        ("class dismissed: everybody went home", TextKind.TEXT),
        ("export of goods (grain)\nfunction of the liver (hepatic);", TextKind.TEXT),
        ("    def f(a):", TextKind.TEXT),
        ("#hashtag", TextKind.TEXT),
        ("", TextKind.TEXT),
    ],
)
def test_the_lines_decide_outside_fences(text: str, kind: TextKind) -> None:
    assert text_kind("", text) is kind


# Python.


def test_the_signatures_of_python() -> None:
    assert summarise(MODULE, TextKind.PYTHON) == SIGNATURES
    assert summarise(f"\ufeff{MODULE}", TextKind.PYTHON) == SIGNATURES


def test_broken_python_keeps_the_lines_that_define() -> None:
    broken = "import (\r\nclass A(B):\r    async def f(self,\n  default = 1\ndefine(x)\n"
    broken += "def g() -> int:\n"
    for text in (broken + "1", MODULE.replace("import os", "import (")):
        with pytest.raises(SyntaxError):
            compile(text, "x", "exec")
    assert summarise(broken + "# more\n" * 9, TextKind.PYTHON) == (
        "class A(B)\n    async def f(self,\ndef g() -> int"
    )


def test_an_invalid_escape_is_read_all_the_same() -> None:
    """The parser warns of it; with warnings as errors that would be a syntax error."""
    text = "def f(a, b=1):\n    return '\\d' + a" + " + a" * 30
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert summarise(text, TextKind.PYTHON) == "def f(a, b=1)"


def test_python_without_definitions_keeps_its_beginning() -> None:
    text = "LIMIT = 3\n" * 100
    assert summarise(text, TextKind.PYTHON) == "\n".join(["LIMIT = 3"] * 20)


def test_a_long_signature_is_cut() -> None:
    text = f"def f(a={'x' * 500!r}):\n    return {'y' * 500!r}"
    for source in (text, text + "\n("):
        made = summarise(source, TextKind.PYTHON)
        assert made == f"def f(a='{'x' * (MAX_LINE_CHARS - 10)}…"
        assert len(made) == MAX_LINE_CHARS


# JavaScript and TypeScript, markdown.


def test_the_declarations_of_a_script() -> None:
    assert summarise(SCRIPT, TextKind.SCRIPT) == DECLARED
    assert summarise(SCRIPT.replace("\n", "\r\n"), TextKind.SCRIPT) == DECLARED


def test_the_headings_of_markdown() -> None:
    assert summarise(MARKDOWN, TextKind.MARKDOWN) == HEADINGS
    assert summarise(MARKDOWN.replace("\n", "\r\n"), TextKind.MARKDOWN) == HEADINGS


def test_a_heading_is_cut_where_it_is_too_long() -> None:
    longest = f"# {'x' * 198}"
    assert (
        summarise(f"{longest}\n{longest}y\nend", TextKind.MARKDOWN) == f"{longest}\n{longest[:-1]}…"
    )


def test_what_looks_like_front_matter_and_never_ends_is_text() -> None:
    assert summarise("---\ntitle\n===\n" + "x" * 99, TextKind.MARKDOWN) == "# title"


def headings(text: str) -> str:
    """Return the top headings that a real parser finds, the last line of each."""
    tokens = MarkdownIt("commonmark").parse(text)
    return "\n".join(
        f"{'#' * int(token.tag[1])} {inline.content.split(LF)[-1]}"
        for token, inline in pairwise(tokens)
        if token.type == "heading_open" and token.level == 0 and inline.content
    )


@pytest.mark.parametrize(
    "path", sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]), ids=lambda path: path.stem
)
def test_the_headings_of_real_pages(path: Path) -> None:
    text = path.read_text("utf-8")
    assert text_kind("", text) is TextKind.MARKDOWN
    assert summarise(text, TextKind.MARKDOWN) == headings(text)


LINES = [
    *("# a", "## b ##", " ### c", "#### d #e", "#", "#f", "text", "two words", "", "===", "---"),
    *(
        "```",
        "````",
        "~~~",
        "``` python",
        "``` a`b",
        "~~~~ x",
        "  ---",
        "=== ",
        "***",
        "_ _ _",
        "--",
    ),
]


@given(st.lists(st.sampled_from(LINES), max_size=12))
def test_headings_are_those_of_a_real_parser(lines: list[str]) -> None:
    text = "\n".join(["start", "", *lines, "", "end" * 999])
    assert summarise(text, TextKind.MARKDOWN) == (headings(text) or summarise(text, TextKind.TEXT))


# Other text.


def test_the_first_sentences_up_to_a_share() -> None:
    """A fifth of 1,000 characters is 200: of sentences of 30, six and not seven."""
    text = ("This sentence has 29 letters." + " ") * 33 + "ten more.."
    assert len(text) == 1_000
    assert summarise(text, TextKind.TEXT) == " ".join(["This sentence has 29 letters."] * 6)
    assert MAX_SHARE * len(text) == 200


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a" * MIN_CHARS, "a" * MIN_CHARS),
        ("a" * (MIN_CHARS - 1) + " ", "a" * (MIN_CHARS - 1) + " "),
        ("  " + "a" * MIN_CHARS, "a" * MIN_CHARS),
        ("a" * (MIN_CHARS + 1), "a" * (MIN_CHARS - 1) + "…"),
        ("word " * 20, ("word " * 15).strip() + " word…"),
        ("Is it so? " * 10, ("Is it so? " * 8).strip()),
        ("A line\n" * 20, ("A line\n" * 11).strip()),
        ("Hello.\n" + "b" * 300, "Hello.…"),
        ("Hello. " + "and so on " * 30, "Hello. " + ("and so on " * 7).strip() + "…"),
        ("x" * 39 + ". " + "y" * 100, "x" * 39 + "."),
        ("x" * 38 + ". " + "y" * 100, "x" * 38 + ".…"),
        ("我爱北京。" * 40, "我爱北京。" * 16),
        ("هل أنت هنا؟ " * 20, ("هل أنت هنا؟ " * 6).strip()),
        (" " * 50 + "One. " * 20, ("One. " * 16).strip()),
        (" " * 200, ""),
        (" " * 200 + "x", "x"),
    ],
)
def test_the_beginning_of_a_text(text: str, expected: str) -> None:
    assert summarise(text, TextKind.TEXT) == expected


def test_no_beginning_is_longer_than_the_most() -> None:
    assert len(summarise("x" * 1_000_000, TextKind.TEXT)) == MAX_CHARS
    assert summarise("Ten words. " * 100_000, TextKind.TEXT) == ("Ten words. " * 181).strip()


# Laws.


@pytest.mark.timeout(120)
@pytest.mark.parametrize("kind", TextKind)
@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_text_has_a_summary_that_is_not_longer(text: str, kind: TextKind) -> None:
    assert text_kind("", text) in TextKind
    made = summarise(text, kind)
    assert len(made) <= len(text)
    assert max(map(len, made.split("\n"))) <= max(MAX_CHARS, MAX_LINE_CHARS)
    assert bool(made.strip()) == bool(text.strip())


@given(texts, kinds)
@example("def f(a:b,c:d):0", TextKind.PYTHON)
def test_a_summary_is_never_longer_than_its_text(text: str, kind: TextKind) -> None:
    made = summarise(text, kind)
    assert len(made) <= len(text)
    assert made == summarise(text, kind)
    assert text_kind("", text) in TextKind


@given(st.text(), st.text(alphabet=".? \n\u202eab", max_size=3_000))
def test_a_beginning_says_nothing_that_the_text_does_not(ref: str, text: str) -> None:
    made = summarise(text, TextKind.TEXT)
    assert text.lstrip().startswith(made.removesuffix("…")) or made == text
    assert text_kind(ref, "") in summaries.TextKind
