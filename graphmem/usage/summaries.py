"""Summaries from a text's own words: signatures of code, headings of markdown, first sentences.

No model is used, so a summary contains nothing that the text does not.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum

MAX_SHARE = 0.2
"""Maximum share of an unstructured text in its summary. Ours, like the next three."""
MIN_CHARS, MAX_CHARS = 80, 2_000
"""Bounds of such a summary in characters, whatever the share: a shorter one is uninformative, and a
longer one is not a summary."""
MAX_LINE_CHARS = 200
"""Maximum length of a signature or a heading, in characters."""
_LINE_READ = 800
"""Number of characters read from a line, so that the cost of a line of a million is bounded."""

_PLACE = re.compile(r"(?:::|#).*", re.DOTALL)
"""Symbol or section after the name of a file."""
_NUMBERED = "0123456789:-"
"""Characters of a line range after the name of a file, as in `a.py:10-20`."""

_LINE = re.compile(r"\r\n?|\n")
_BYTE_ORDER_MARK = "\ufeff"
_INDENT = 4 * " "
_PYTHON = re.compile(
    r"[ \t]*(?:(?:async[ \t]+)?def[ \t]+\w+[ \t]*[(\[]|class[ \t]+\w+[ \t]*[(:\[])"
)
_UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)
"""Exceptions of `ast` for code that is invalid, contains a NUL or is nested too deeply."""
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")

# Possessive: a line of any length takes linear time.
_ARROW = (
    r"(?:const|let|var)[ \t]++[\w$]++[^=]*+=[ \t]*+(?:async\b[ \t]*+)?"
    r"(?:[\w$]++[ \t]*+=>|(?:<[^>]*+>[ \t]*+)?\([^()]*+(?>(?:\([^()]*+\)[^()]*+)*)\)[^=]*+=>)"
)
_SCRIPT = re.compile(
    r"[ \t]*+(?P<exported>export\b[ \t]*+(?:default\b[ \t]*+)?)?(?:declare[ \t]++)?"
    rf"(?:(?P<arrow>{_ARROW})|(?P<other>"
    r"(?:async[ \t]++)?function\b[ \t]*+(?:\*[ \t]*+)?(?:[\w$]++[ \t]*+)?[(<]"
    r"|(?:const|let|var)[ \t]++[\w$]++[^=]*+=[ \t]*+(?:async\b[ \t]*+)?(?:function\b|\([^)]*+$)"
    r"|(?:abstract[ \t]++)?(?:class|interface)[ \t]++[\w$]++[ \t]*+"
    r"(?:<|\{|$|extends\b|implements\b)"
    r"|type[ \t]++[\w$]++[ \t]*+(?:<.*)?="
    r"|(?:const[ \t]++)?(?:enum|namespace)[ \t]++[\w$.]++[ \t]*+\{?$"
    r"))?"
)
"""Matches any line; a group is set for a line that declares or exports something."""
_CODE_ENDS = ("{", "}", "(", ";", "=>")

_FENCE = re.compile(r" {0,3}(?P<marks>`{3,}|~{3,})(?P<info>.*)")
_HEADING = re.compile(r" {0,3}(?P<marks>#{1,6})(?=[ \t]|$)(?P<title>.*)")
_CLOSING = re.compile(r"(?:^|[ \t])#+$")
_UNDERLINE = re.compile(r" {0,3}(?:(?P<first>=+)|-+)[ \t]*$")
_PARAGRAPH = re.compile(
    r" {0,3}(?!\s|>|[-+*](?:[ \t]|$)|\d{1,9}[.)](?:[ \t]|$)|([-*_])[ \t]*(?:\1[ \t]*){2,}$)"
)
"""A line that may be underlined as a heading: not a quote, list or rule."""

_SENTENCE_END = re.compile(r"(?<=[.!?…؟])\s|(?<=[。！？])|[\r\n]")


class TextKind(StrEnum):
    """Format of a text."""

    PYTHON = "python"
    SCRIPT = "script"
    """JavaScript or TypeScript."""
    MARKDOWN = "markdown"
    TEXT = "text"
    """Any other format."""


_SUFFIXES: Mapping[str, TextKind] = {
    **dict.fromkeys(("py", "pyi", "pyw"), TextKind.PYTHON),
    **dict.fromkeys(("js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts"), TextKind.SCRIPT),
    **dict.fromkeys(("md", "markdown", "mdx"), TextKind.MARKDOWN),
    **dict.fromkeys(("csv", "html", "json", "jsonl", "log", "tsv", "txt", "xml"), TextKind.TEXT),
}


def _file_of(ref: str) -> str:
    """Return the name of a file without a trailing symbol, section or line range."""
    path = _PLACE.sub("", ref)
    head = path.rstrip(_NUMBERED)
    _, colon, lines = path[len(head) :].partition(":")
    return path[: -len(colon + lines)] if lines[:1].isdecimal() else path


def text_kind(ref: str, text: str) -> TextKind:
    """Return the format of a text: by the suffix of its name, else by its lines.

    Args:
        ref: name of a file, optionally followed by a symbol, a section or a line
            (`a.py::f`, `a.md#part`, `a.py:12`); other text is ignored.
        text: text of the file.
    """
    name = re.split(r"[\\/]", _file_of(ref))[-1]
    stem, _, suffix = name.rpartition(".")
    if stem and (kind := _SUFFIXES.get(suffix.lower())):
        return kind
    lines = list(_outside_fences(_lines(text)))
    if any(map(_opens_python, lines)):
        return TextKind.PYTHON
    if any(map(_opens_script, lines)):
        return TextKind.SCRIPT
    return TextKind.MARKDOWN if any(map(_HEADING.match, lines)) else TextKind.TEXT


def summarise(text: str, kind: TextKind) -> str:
    """Return a summary of a text in its own words, never longer than the text.

    The summary of code is its signatures, that of markdown its headings. If there are none, and for
    other text, it is the first sentences up to SHARE of the text.
    """
    summary = "\n".join(_MAKERS[kind](text)) if kind in _MAKERS else ""
    if not summary.strip():
        summary = _first_sentences(text)
    return summary if len(summary) < len(text) else text


def _python(text: str) -> Iterator[str]:
    """Yield the signatures of functions, classes and methods, except nested functions."""
    try:
        with warnings.catch_warnings():
            # The text is only read, so its invalid escapes do not matter.
            warnings.simplefilter("ignore")
            module = ast.parse(text.removeprefix(_BYTE_ORDER_MARK))
        signatures = list(_members(module.body, ""))
    except _UNREADABLE:
        signatures = [line.rstrip().rstrip(":") for line in _lines(text) if _PYTHON.match(line)]
    yield from map(_cut_line, signatures)


def _members(body: Sequence[ast.AST], indent: str) -> Iterator[str]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            word = "def" if isinstance(node, ast.FunctionDef) else "async def"
            result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
            yield f"{indent}{word} {node.name}({ast.unparse(node.args)}){result}"
        elif isinstance(node, ast.ClassDef):
            bases = ", ".join(map(ast.unparse, (*node.bases, *node.keywords)))
            yield f"{indent}class {node.name}{f'({bases})' if bases else ''}"
            yield from _members(node.body, indent + _INDENT)
        else:
            # Definitions may be nested in `if` or `try`.
            for block in _BLOCKS:
                yield from _members(getattr(node, block, ()), indent)


def _script(text: str) -> Iterator[str]:
    """Yield the lines that declare or export something, without a trailing opening brace."""
    for line in _lines(text):
        match = _match_declaration(line)
        if match:
            declaration = match[0] if match["arrow"] else line
            yield _cut_line(declaration.rstrip().removesuffix("{").rstrip())


def _match_declaration(line: str) -> re.Match[str] | None:
    match = _SCRIPT.match(line)
    return match if match and match.lastgroup else None


def _markdown(text: str) -> Iterator[str]:
    """Yield the headings outside code with their levels, except within lists and quotes."""
    before = ""
    for line in _outside_fences(_without_front_matter(_lines(text))):
        if match := _HEADING.match(line):
            title, marks = _CLOSING.sub("", match["title"].strip()).strip(), match["marks"]
            before = ""
        elif before and (match := _UNDERLINE.match(line)):
            title, marks = before.strip(), "#" if match["first"] else "##"
            before = ""
        else:
            title, marks = "", ""
            before = line if _PARAGRAPH.match(line) else ""
        if title:
            yield _cut_line(f"{marks} {title}")


def _without_front_matter(lines: Sequence[str]) -> Sequence[str]:
    if lines[0].rstrip() == "---":
        for place, line in enumerate(lines[1:], 1):
            if line.rstrip() in ("---", "..."):
                return lines[place + 1 :]
    return lines


def _outside_fences(lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines outside fenced code; an unclosed fence extends to the end."""
    fence = ""
    for line in lines:
        match = _FENCE.match(line)
        if fence:
            if match and match["marks"].startswith(fence) and not match["info"].strip():
                fence = ""
        elif match and not (match["marks"][0] == "`" and "`" in match["info"]):
            fence = match["marks"]
        else:
            yield line
            continue
        yield ""


def _opens_python(line: str) -> bool:
    if line[:1].isspace() or not _PYTHON.match(line):
        return False
        # A sentence may start with "class", but hardly with "def name(".
    return not line.startswith("class") or line.rstrip().endswith(":")


def _opens_script(line: str) -> bool:
    return bool(
        not line[:1].isspace() and line.rstrip().endswith(_CODE_ENDS) and _match_declaration(line)
    )


def _lines(text: str) -> list[str]:
    return [line[:_LINE_READ] for line in _LINE.split(text.removeprefix(_BYTE_ORDER_MARK))]


def _cut_line(line: str) -> str:
    line = " ".join(line.splitlines())
    return line if len(line) <= MAX_LINE_CHARS else f"{line[: MAX_LINE_CHARS - 1].rstrip()}…"


def _first_sentences(text: str) -> str:
    """Return the first sentences; if they fill less than half of the room, the next one is cut."""
    room = min(max(int(len(text) * MAX_SHARE), MIN_CHARS), MAX_CHARS)
    if len(text) <= room:
        return text
    head = text.lstrip()[: room + 1]
    ends = [match.start() for match in _SENTENCE_END.finditer(head)]
    if ends and ends[-1] >= room / 2:
        return head[: ends[-1]].rstrip()
    if len(head) <= room:
        return head.rstrip()
    words = re.match(r".*\s", head[:room], re.DOTALL)
    return f"{(words[0] if words else head[: room - 1]).rstrip()}…"


_MAKERS: Mapping[TextKind, Callable[[str], Iterator[str]]] = {
    TextKind.PYTHON: _python,
    TextKind.SCRIPT: _script,
    TextKind.MARKDOWN: _markdown,
}
