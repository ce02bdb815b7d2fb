"""The language of a graph: chosen, held to, changed on purpose, and half a change found."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from graphmem import GraphMem
from graphmem.client import schema
from graphmem.errors import (
    ConfigurationError,
    LanguageMismatchError,
    MigrationPendingError,
)
from graphmem.graph import catalog
from graphmem.model import Status, TenantScope
from graphmem.ports import Mode, Query, run_now
from graphmem.rules import fulltext
from graphmem.schema import migration
from graphmem.settings import Settings
from graphmem.testing import HashEmbedder
from tests.migrations.conftest import Blank, made

NAMES = tuple(m.name for m in catalog.migrations())
WORDS = ("0003_schema_fulltext",)
PLURAL = "Die Häuser am Hafen sind rot."


def opened(blank: Blank, **chosen: Any) -> GraphMem:
    at = blank.address
    settings = Settings.load({}, uri=at.uri, user=at.user, password=at.password, **chosen)
    return GraphMem.open(settings=settings, embedder=HashEmbedder())


def analysers(blank: Blank) -> set[str]:
    rows = blank.run(
        "SHOW INDEXES YIELD type, options WHERE type = 'FULLTEXT' "
        "RETURN options.indexConfig['fulltext.analyzer'] AS analyser"
    )
    assert len(rows) == 4
    return {row["analyser"] for row in rows}


WALL = TenantScope(tenant="default", scope="global", scopes=("global",))
BY_WORDS = Query(
    name="by_words",
    text="CALL db.index.fulltext.queryNodes('memory_content_fulltext', $words) "
    "YIELD node, score FILTER score > 0 RETURN node.content AS content",
    mode=Mode.READ,
    params=frozenset({"words"}),
    row=lambda row: str(row["content"]),
)


def by_words(blank: Blank, text: str) -> list[str]:
    """What words alone find among memories."""
    asked = fulltext.memory_query(text, WALL, [Status.CURRENT])
    return run_now(blank.world().graph.read(lambda tx: tx.fetch(BY_WORDS, words=asked)))


def test_a_german_plural_is_found_in_german_and_not_in_english(blank: Blank) -> None:
    blank.migrate(language="german")
    with opened(blank, language="german") as memory:
        memory.remember(PLURAL)
        memory.remember("Nichts davon.")
    assert by_words(blank, "welches Haus?") == [PLURAL]
    blank.migrate(language="english")
    assert by_words(blank, "welches Haus?") == []
    assert by_words(blank, "welche Häuser?") == [PLURAL]


def test_every_word_of_hindi_is_found_whole(blank: Blank) -> None:
    blank.migrate(language="hindi")
    with opened(blank, language="hindi") as memory:
        memory.remember("वह हिन्दी भाषा बोलती है।")
    assert by_words(blank, "भाषा")


def test_a_turkish_capital_is_another_letter(blank: Blank) -> None:
    blank.migrate(language="turkish")
    with opened(blank, language="turkish") as memory:
        memory.remember("Isparta gül kokar.")
    assert by_words(blank, "ISPARTA")
    assert by_words(blank, "ısparta")
    assert not by_words(blank, "isparta")


def test_the_language_is_that_of_the_settings(blank: Blank) -> None:
    assert blank.migrate(language="german") == NAMES
    assert analysers(blank) == {"german"}
    assert blank.drift(language="german") == ()
    run_now(migration.checked(blank.world(language="german")))


def test_a_change_is_refused_until_it_is_made_on_purpose(current: Blank) -> None:
    german = current.world(language="german")
    for attempt in (migration.checked, migration.migrate_if_due):
        current.run("MATCH (m:Migration {number: $last}) DETACH DELETE m", last=len(NAMES))
        if attempt is migration.checked:
            current.migrate()
        with pytest.raises(LanguageMismatchError, match="english, not in german") as refused:
            run_now(attempt(german))
        assert refused.value.code == "language_mismatch"
        assert "graphmem admin migrate" in refused.value.hint
    assert analysers(current) == {"english"}


def test_migrating_makes_the_indexes_anew_and_nothing_else(current: Blank) -> None:
    kept = [row for row in current.schema() if row["type"] != "FULLTEXT"]
    plan = schema.SchemaClient(current.world(language="german")).plan()
    assert plan == [*WORDS]
    assert current.migrate(language="german") == WORDS
    assert analysers(current) == {"german"}
    assert current.drift(language="german") == ()
    assert [row for row in current.schema() if row["type"] != "FULLTEXT"] == kept
    assert current.migrate(language="german") == ()
    assert current.migrate() == WORDS
    run_now(migration.checked(current.world()))


class StoppedError(Exception):
    """The process was killed here."""


class Stopping:
    """A graph that stops at the n-th schema command."""

    def __init__(self, graph: Any, at: int) -> None:
        self._graph = graph
        self._left = at

    def __getattr__(self, name: str) -> Any:
        return getattr(self._graph, name)

    async def schema(self, query: Query[Any], /, **params: object) -> list[Any]:
        if query.name.startswith("0003"):
            if not self._left:
                raise StoppedError
            self._left -= 1
        return list(await self._graph.schema(query, **params))


@pytest.mark.parametrize(
    ("at", "then"), [(0, "german"), (1, "english"), (2, "german"), (5, "english")]
)
def test_a_change_that_stops_half_way_is_found_and_finished(
    current: Blank, at: int, then: str
) -> None:
    whole = current.world(language="german")
    cut: Any = Stopping(whole.graph, at)
    with pytest.raises(StoppedError):
        run_now(migration.migrate(replace(whole, graph=cut)))
    for language in ("english", "german"):
        with pytest.raises(MigrationPendingError, match="rebuild of the full-text"):
            run_now(migration.checked(current.world(language=language)))
    assert current.migrate(language=then) == WORDS
    assert analysers(current) == {then}
    assert current.drift(language=then) == ()
    run_now(migration.checked(current.world(language=then)))


@pytest.mark.parametrize("language", ["klingon", "German", "simple", "stop", "thai", "x" * 5_000])
def test_what_is_no_language_is_refused_before_anything_is_applied(
    blank: Blank, language: str
) -> None:
    with pytest.raises(ConfigurationError, match="GRAPHMEM_LANGUAGE") as refused:
        blank.migrate(language=language)
    assert "german" in refused.value.hint
    assert "thai" not in refused.value.hint
    assert blank.run("MATCH (m:Migration) RETURN m") == []
    blank.migrate()
    for attempt in (migration.checked, migration.migrate):
        with pytest.raises(
            ConfigurationError, match="not a supported full-text language"
        ) as refused:
            run_now(attempt(blank.world(language=language)))
        assert "cjk" in refused.value.hint
    assert analysers(blank) == {"english"}


@pytest.mark.system
def test_every_language_offered_keeps_the_wall(current: Blank) -> None:
    """The digests stay whole, whatever the analyser does with words."""
    known = {row["name"] for row in current.run(LANGUAGES)}
    with opened(current) as memory:
        memory.tenant("one").remember("Berlin 2024", tags=["x"])
        memory.tenant("two").remember("Berlin 2024", tags=["x"])
    rows = current.run(
        "MATCH (m:Memory) RETURN m.tenant AS tenant, m.tenant_key AS tenant_key, "
        "m.scope_key AS scope_key, m.facet_keys AS facet_keys"
    )
    for language in sorted(known - migration.UNFIT):
        current.run("DROP INDEX memory_content_fulltext")
        current.run(made("memory_content_fulltext"), fulltext_options=options(language))
        current.run("CALL db.awaitIndexes(60)")
        for row in rows:
            for field in ("tenant_key", "scope_key", "facet_keys"):
                values = row[field] if isinstance(row[field], list) else [row[field]]
                for value in values:
                    found = current.run(
                        "CALL db.index.fulltext.queryNodes('memory_content_fulltext', $words) "
                        "YIELD node RETURN collect(node.tenant) AS tenants",
                        words=f"+{field}:{value}^0",
                    )
                    assert found == [{"tenants": [row["tenant"]]}], (language, field)


LANGUAGES = "CALL db.index.fulltext.listAvailableAnalyzers() YIELD analyzer RETURN analyzer AS name"


def options(language: str) -> dict[str, Any]:
    return {"indexConfig": {"fulltext.analyzer": language}}
