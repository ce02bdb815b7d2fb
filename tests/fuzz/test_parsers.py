"""Whatever is read from outside is taken or refused by a graphmem error, and by nothing else.

No server is needed; `HYPOTHESIS_PROFILE=fuzz` makes 100,000 inputs of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.cli.conversation_files import read_conversations
from graphmem.client.arguments import records
from graphmem.conversation.given import given_messages
from graphmem.english import dates, facts
from graphmem.errors import ConfigurationError, InvalidInputError, SourceFileError
from graphmem.items import GetItem, ListNamespaces, PutItem, SearchItems, rules
from graphmem.mcp.tools import TOOLS
from graphmem.model import AsOf, Message, NewMemory, Observation, Policy, TenantScope
from graphmem.rules import (
    claims,
    duplicates,
    fulltext,
    hygiene,
    predicates,
    read_options,
    scoring,
    urls,
)
from graphmem.serve.keys import KeyFile
from graphmem.settings import Settings
from graphmem.upkeep import PrunePolicy
from graphmem.upkeep import rules as upkeep_rules
from graphmem.usage import findings, packs, summaries
from graphmem.validation import valid
from tests.fuzz import wild
from tests.fuzz.wild import LONGEST, SECRET, everything_of, refusal

RECORDS = (
    *(AsOf, Message, Observation, Policy, PrunePolicy, TenantScope, NewMemory),
    *(GetItem, PutItem, SearchItems, ListNamespaces),
)
ANY_TEXT: dict[str, Callable[[str], Any]] = {
    "asked": scoring.question_words,
    "begin": lambda text: dates.validity_start(text, wild.ODD_INSTANTS[6]),
    "folded": claims.name_key,
    "secret": hygiene.contains_secret,
    "spans": lambda text: dates.date_spans(text, wild.ODD_INSTANTS[5]),
    "late spans": lambda text: dates.date_spans(text, wild.ODD_INSTANTS[6]),
    "gist": upkeep_rules.gist,
    "difference": lambda text: duplicates.difference(text, text[::-1]),
    "words": facts.fact_tokens,
    "hygiene": lambda text: hygiene.rejection_reasons(text, hygiene.default_rules(3, 8_000)),
    "literal": urls.literal,
    "tool": findings.is_keyword_tool,
    "conceptual": findings.is_conceptual,
    "kind": lambda text: summaries.text_kind(text, text),
    "summary": lambda text: summaries.summarise(text, summaries.text_kind("a.py", text)),
    "blocked": lambda text: packs.blocking_pattern(text, [text, "*"]),
    "query": lambda text: fulltext.turn_query(text, TenantScope(tenant="t")),
}
REFUSING: dict[str, Callable[[str], Any]] = {
    "position": read_options.parse_time_cursor,
    "key": lambda text: read_options.parse_key_cursor(text, 3),
    "template": predicates.check_template,
    "browser": lambda text: urls.browser_url(text, 7474),
}
ENVIRON = [f"GRAPHMEM_{name.upper()}" for name in (*Settings.model_fields, "uris", "")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz")


@given(data=st.data())
@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.__name__)
def test_a_record_is_made_or_refused(record: type[Any], data: st.DataObject) -> None:
    names = st.sampled_from([*record.model_fields, "extra"])
    fields = data.draw(st.dictionaries(names, wild.values, max_size=5))
    error = refusal(lambda: valid(record, **fields), by=InvalidInputError)
    assert len(str(error)) < LONGEST
    if error is None:
        made = valid(record, **fields)
        again = {name: getattr(made, name) for name in made.model_fields_set}
        assert valid(record, **again) == made or made != made


@given(given_=wild.values)
def test_lists_of_records_are_made_or_refused(given_: Any) -> None:
    for ask in (
        lambda these: given_messages(these, {}),
        lambda these: records("observations", Observation, these),
    ):
        assert len(str(refusal(partial(ask, given_), by=InvalidInputError))) < LONGEST


@pytest.mark.parametrize("name", ANY_TEXT)
@given(text=wild.texts)
def test_a_rule_takes_any_text_that_is_stored(name: str, text: str) -> None:
    """Texts reach rules through records, which let no lone surrogate pass."""
    if storable(text):
        ANY_TEXT[name](text)


@pytest.mark.parametrize("name", REFUSING)
@given(text=wild.texts)
def test_a_word_from_outside_is_read_or_refused(name: str, text: str) -> None:
    assert len(str(refusal(lambda: REFUSING[name](text)))) < LONGEST


@given(
    key=st.lists(st.text(max_size=9), min_size=1, max_size=3),
    cut=st.integers(0, 60),
    put=st.text(max_size=2),
)
def test_a_cursor_that_was_changed_is_refused(key: list[str], cut: int, put: str) -> None:
    made = read_options.key_cursor(*filter(storable, key))
    changed = made[:cut] + put + made[cut + 1 :]
    if changed != made:
        try:
            found = read_options.parse_key_cursor(changed, len(key))
        except InvalidInputError:
            return
        assert read_options.key_cursor(*found) == changed


@given(value=wild.values)
def test_a_value_of_an_item_comes_back_or_is_refused(value: Any) -> None:
    try:
        text = rules.encode_value(value)
    except InvalidInputError:
        return
    assert rules.encode_value(rules.decode_value(text)) == text


@given(wanted=wild.values, value=wild.json_values)
def test_a_filter_is_checked_or_refused(wanted: Any, value: Any) -> None:
    try:
        found = rules.check_filter(valid(SearchItems, filter=wanted).filter)
    except InvalidInputError:
        return
    rules.matches_filter({"a": value}, found)
    rules.filter_tokens(found)


@given(environ=st.dictionaries(st.sampled_from(ENVIRON), wild.texts, max_size=4))
def test_an_environment_makes_settings_or_is_refused(environ: dict[str, str]) -> None:
    with_secret = {"GRAPHMEM_PASSWORD": SECRET, "GRAPHMEM_MODEL_KEY": SECRET} | environ
    error = refusal(lambda: Settings.load(with_secret), by=ConfigurationError)
    assert SECRET not in everything_of(error)
    if error is None:
        made = Settings.load(with_secret)
        assert SECRET not in f"{made!r} {made} {made.model_dump_json()}"


@given(overrides=st.dictionaries(st.sampled_from([*Settings.model_fields]), wild.values))
def test_overrides_make_settings_or_are_refused(overrides: dict[str, Any]) -> None:
    error = refusal(lambda: Settings.load({}, **overrides), by=ConfigurationError)
    assert len(str(error)) < 10 * LONGEST


MESSAGES = st.fixed_dictionaries(
    {},
    optional={
        "role": st.just("user") | wild.json_values,
        "content": st.just("tea") | wild.json_values,
        **dict.fromkeys(("name", "at", "id", "session", "extra"), wild.json_values),
    },
)
DOCUMENTS = st.one_of(
    wild.json_values,
    st.lists(MESSAGES, max_size=4),
    st.fixed_dictionaries({"messages": wild.json_values | st.lists(MESSAGES, max_size=3)}),
)
FILES: st.SearchStrategy[bytes] = st.one_of(
    st.binary(max_size=300),
    DOCUMENTS.map(lambda found: json.dumps(found).encode()),
    st.lists(MESSAGES, max_size=4).map(
        lambda lines: b"\n".join(json.dumps(line).encode() for line in lines)
    ),
    st.tuples(DOCUMENTS, st.integers(0, 200), st.binary(max_size=3)).map(
        lambda cut: (text := json.dumps(cut[0]).encode())[: cut[1]] + cut[2] + text[cut[1] + 1 :]
    ),
)


@pytest.mark.parametrize("strict", [False, True])
@given(raw=FILES)
def test_a_file_is_read_or_refused(folder: Path, raw: bytes, strict: bool) -> None:  # noqa: FBT001
    path = folder / "talk.json"
    path.write_bytes(raw)
    error = refusal(lambda: read_conversations(path, strict=strict), by=SourceFileError)
    assert error is None or str(path) in str(error)
    if error is None:
        found = read_conversations(path, strict=strict)
        assert all(one.id for each in found.conversations for one in each.messages)


@given(raw=st.binary(max_size=200) | DOCUMENTS.map(lambda found: json.dumps(found).encode()))
def test_a_digest_that_somebody_wrote_is_read(raw: bytes) -> None:
    text = raw.decode("utf-8", "replace")
    assert upkeep_rules.digest_codes(text, "s") == upkeep_rules.digest_codes(text, "s")
    merged = upkeep_rules.add_lines(text, {"ep_1": "- line"}, "s")
    assert upkeep_rules.add_lines(merged, {}, "s") == merged


ENTRIES = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "digest": st.just(SECRET) | wild.texts.map(lambda text: SECRET + text),
            "tenant": st.just("acme") | wild.json_values,
            **dict.fromkeys(
                ("id", "name", "scopes", "rights", "created_at", "x"), wild.json_values
            ),
        },
    ),
    max_size=3,
)


@given(
    entries=wild.json_values | ENTRIES,
    broken=st.sampled_from(["", "", "", "]", '"' + SECRET, "[" * 5_000]),
)
def test_a_file_of_keys_is_read_or_refused(folder: Path, entries: Any, broken: str) -> None:
    path = folder / "keys.json"
    path.write_text(broken + json.dumps(entries), "utf-8")
    path.chmod(0o600)
    refused = refusal(KeyFile(path).read, by=ConfigurationError)
    assert SECRET not in everything_of(refused)


@pytest.mark.parametrize("name", TOOLS)
@given(data=st.data())
def test_arguments_of_a_tool_are_taken_or_refused(name: str, data: st.DataObject) -> None:
    names = st.sampled_from([*TOOLS[name].arguments.model_fields, "record", "self", "x"])
    fields = data.draw(st.dictionaries(names, wild.json_values, max_size=4))
    error = refusal(lambda: TOOLS[name].read(fields), by=InvalidInputError)
    assert len(str(error)) < LONGEST


def storable(text: str) -> bool:
    """Whether UTF-8 can hold a text."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
