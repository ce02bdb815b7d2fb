"""Going over to another embedding model: no gap in service, nothing lost, whatever is killed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from graphmem import GraphMem, Handle
from graphmem.cli import main
from graphmem.errors import (
    GraphUnavailableError,
    IndexNotReadyError,
    MigrationPendingError,
    ModelMismatchError,
    ReembeddingError,
)
from graphmem.model import Outcome
from graphmem.nodes.declared import NODE_CLASSES
from graphmem.ports import Embedder, Role, run_now, silent
from graphmem.schema import ReembedReport, migration, reembedding
from graphmem.settings import Settings
from graphmem.testing import HashEmbedder
from tests.migrations.conftest import Blank
from tests.plugins.everything import ASK_ITEMS, MAY, PUT_ITEMS
from tests.plugins.faults import Breaking, LostError, Retrying, Unacknowledged
from tests.plugins.texts import unlike
from tests.plugins.tokens import TokenHashEmbedder
from tests.plugins.waiting import eventually

OLD, NEW, THIRD = HashEmbedder(), HashEmbedder(48), HashEmbedder(32)
TOKENS = TokenHashEmbedder()
QUESTIONS = [unlike(n) for n in (1, 2, 6, 11)]
VECTORED = ("Belief", "Episode", "ItemText", "Memory", "Turn")


def opened(blank: Blank, embedder: Embedder, tenant: str = "acme") -> GraphMem:
    at = blank.address
    settings = Settings.load({}, uri=at.uri, user=at.user, password=at.password)
    return GraphMem.open(settings=settings, embedder=embedder, tenant=tenant)


def reembed(blank: Blank, embedder: Embedder = NEW) -> ReembedReport:
    return run_now(reembedding.reembed(blank.world(embedder), silent))


def finish(blank: Blank, embedder: Embedder = NEW) -> ReembedReport:
    return run_now(reembedding.finish(blank.world(embedder), silent))


def models(blank: Blank) -> dict[str, tuple[int, int]]:
    found = run_now(migration.state(blank.world())).models
    return {model.key: (model.generation, model.dimension) for model in found}


def embedded(blank: Blank, prop: str) -> dict[str, list[int]]:
    """Return of each label how many nodes have vectors in a property, by their length."""
    rows = blank.run(
        "MATCH (n) WHERE n[$prop] IS NOT NULL RETURN labels(n)[0] AS label, size(n[$prop]) AS size",
        prop=prop,
    )
    found = Counter((row["label"], row["size"]) for row in rows)
    return {label: [size, count] for (label, size), count in sorted(found.items())}


def indexes(blank: Blank) -> set[str]:
    return {row["name"] for row in blank.schema() if row["type"] == "VECTOR"}


def asked(memory: Handle) -> list[dict[str, float | None]]:
    """Return what questions find by meaning, by what it says."""
    return [
        {
            f"{bite.kind}: {bite.text}": bite.similarity and round(bite.similarity, 6)
            for bite in memory.recall(question, limit=50).bites
        }
        for question in QUESTIONS
    ]


def write(memory: Handle) -> None:
    """Write one of all that has embeddings, in few queries: a wiped server plans each anew."""
    memory.remember_many([unlike(1), unlike(2)])
    memory.believe(unlike(6))
    with memory.session("s1") as session:
        session.add_messages([{"role": "user", "content": unlike(11), "id": "1"}])
    memory.episodes.add(episode_id="doc", content=unlike(12))
    memory.items.batch(PUT_ITEMS)


@pytest.fixture
def filled(current: Blank) -> Blank:
    """A graph that the first model filled, in two tenants."""
    for tenant in ("acme", "zenith"):
        with opened(current, OLD, tenant) as memory:
            write(memory)
    return current


def test_all_that_had_an_embedding_has_one_of_the_new_model(filled: Blank) -> None:
    before = embedded(filled, "embedding")
    assert tuple(before) == VECTORED
    done = reembed(filled)
    after = embedded(filled, "embedding_2")
    # What was put away before it was embedded is found by the new model too.
    assert dict.fromkeys(VECTORED, 48) == {label: size for label, (size, _) in after.items()}
    assert all(after[label][1] >= before[label][1] for label in VECTORED)
    assert done.embedded == sum(count for _, count in after.values())
    assert (done.model, done.switched) == (NEW.name, True)
    assert models(filled) == {"current": (2, 48), "former": (1, OLD.DIMENSION)}
    assert filled.drift() == filled.drift(embedder=NEW) == ()
    assert reembed(filled) == ReembedReport(model=NEW.name, switched=False, embedded=0)


def token_states(blank: Blank) -> dict[str, bytes]:
    rows = blank.run(
        "MATCH (n) WHERE n.token_states IS NOT NULL "
        "RETURN elementId(n) AS node, n.token_states AS s"
    )
    return {row["node"]: row["s"] for row in rows}


def test_the_same_model_fills_in_missing_token_states(current: Blank) -> None:
    """Nodes written before a model had token states have a vector only."""
    with opened(current, TOKENS) as memory:
        write(memory)
        before = token_states(current)
        assert len(before) >= len(VECTORED)
        current.run("MATCH (n) WHERE n.token_states IS NOT NULL REMOVE n.token_states")
        found = memory.recall(unlike(1)).bites
        assert {bite.parts.late for bite in found} == {0}
        done = reembed(current, TOKENS)
        assert (done.switched, done.embedded) == (False, len(before))
        assert token_states(current) == before
        assert memory.recall(unlike(1)).bites[0].parts.late > 0
    assert models(current) == {"current": (1, TOKENS.DIMENSION)}
    assert reembed(current, TOKENS).embedded == 0


@pytest.mark.system
def test_a_reembedded_tenant_reads_as_one_that_the_model_filled(filled: Blank) -> None:
    reembed(filled)
    with opened(filled, NEW, "fresh") as fresh, opened(filled, NEW) as memory:
        write(fresh)
        # A vector index shows what is new a little later.
        eventually(lambda: asked(memory) == asked(fresh))
        assert memory.remember(unlike(1)).outcome == Outcome.EXACT_DUPE
        assert memory.remember(unlike(99)).outcome == Outcome.INSERTED_NEW


@pytest.mark.system
def test_clients_of_both_models_are_served_all_the_while(filled: Blank) -> None:
    with opened(filled, OLD) as old:
        before = asked(old)
        services = filled.world(NEW)
        seen: list[bool] = []
        written: list[str] = []

        def meanwhile(_kind: str, _count: int) -> None:
            if len(seen) < 12:
                seen.append(asked(old) == before)
                written.append(str(old.tenant("busy").remember(unlike(30 + len(seen))).memory_id))

        run_now(reembedding.reembed(services, meanwhile))
        assert seen == [True] * 12
        assert asked(old) == before
        with opened(filled, NEW, "busy") as new:
            lacking = filled.run(
                "MATCH (m:Memory {tenant: 'busy'}) WHERE m.embedding_2 IS NULL RETURN m.id"
            )
            assert lacking == []
            assert {m.id for m in new.memories.list().memories} == {*written}


@pytest.mark.system
def test_what_clients_of_the_former_model_write_is_embedded_at_the_end(filled: Blank) -> None:
    with opened(filled, OLD) as old, pytest.raises(ReembeddingError, match="is not hash-48"):
        finish(filled)
    with opened(filled, OLD) as old:
        reembed(filled)
        kept = old.remember(unlike(40)).memory_id
        with opened(filled, NEW) as new:
            assert kept not in near(new, unlike(40))
            done = finish(filled)
            assert (done.embedded, done.switched) == (1, False)
            assert kept in near(new, unlike(40))
        assert embedded(filled, "embedding") == {}
        assert models(filled) == {"current": (2, 48)}
        assert all("_2_" in name for name in indexes(filled))
        assert filled.drift(embedder=NEW) == ()
        with pytest.raises(IndexNotReadyError, match="reopen clients"):
            old.recall(unlike(1))
    with pytest.raises(ModelMismatchError, match="48 dimensions"):
        opened(filled, OLD)
    assert finish(filled).embedded == 0


def near(memory: Handle, question: str) -> list[str]:
    """Return the memories that the vector index found."""
    bites = memory.recall(question, limit=50).bites
    return [bite.id for bite in bites if bite.vector_rank is not None]


@pytest.mark.system
def test_a_third_model_and_the_first_one_again(filled: Blank) -> None:
    with opened(filled, OLD) as old:
        first = asked(old)
    for embedder in (NEW, THIRD, OLD):
        assert reembed(filled, embedder).switched
        with pytest.raises(ReembeddingError, match="still holds"):
            reembed(filled, HashEmbedder(16))
        finish(filled, embedder)
    assert models(filled) == {"current": (4, OLD.DIMENSION)}
    with opened(filled, OLD) as old:
        assert asked(old) == first


@pytest.mark.system
def test_one_that_is_given_up_leaves_nothing(filled: Blank) -> None:
    kept, made = embedded(filled, "embedding"), indexes(filled)
    services = filled.world(NEW)
    cut: Any = Breaking(services.graph, 9)
    with pytest.raises(LostError):
        run_now(reembedding.reembed(replace(services, graph=cut), silent))
    assert models(filled)["next"] == (2, 48)
    with pytest.raises(ModelMismatchError):
        opened(filled, NEW)
    with pytest.raises(ReembeddingError, match=r"being re-embedded with .*48"):
        reembed(filled, THIRD)
    assert run_now(reembedding.give_up(filled.world(), silent)) == NEW.name
    assert run_now(reembedding.give_up(filled.world(), silent)) is None
    assert (embedded(filled, "embedding"), indexes(filled)) == (kept, made)
    assert embedded(filled, "embedding_2") == {}
    assert reembed(filled, THIRD).switched


@pytest.mark.system
def test_a_run_whose_model_is_given_up_writes_no_more(filled: Blank) -> None:
    def given_up(_kind: str, _count: int) -> None:
        run_now(reembedding.give_up(filled.world(), silent))

    with pytest.raises(ReembeddingError, match="given up concurrently"):
        run_now(reembedding.reembed(filled.world(NEW), given_up))
    assert models(filled).keys() == {"current"}
    assert embedded(filled, "embedding_2") == {}


@pytest.mark.system
@pytest.mark.parametrize("nth", [1, 9, 22])
def test_what_breaks_anywhere_goes_on(filled: Blank, nth: int) -> None:
    for fault in (Breaking, Unacknowledged):
        services = filled.world(NEW)
        cut: Any = fault(services.graph, nth)
        with suppress(LostError, GraphUnavailableError):
            run_now(reembedding.reembed(replace(services, graph=cut), silent))
        with opened(filled, OLD) as old:
            assert old.recall(unlike(1)).bites
    reembed(filled)
    finish(filled)
    found = embedded(filled, "embedding_2")
    assert {label: size for label, (size, _) in found.items()} == dict.fromkeys(VECTORED, 48)
    assert filled.drift(embedder=NEW) == ()


@pytest.mark.system
def test_transactions_that_run_twice_change_nothing(filled: Blank) -> None:
    services = filled.world(NEW)
    twice: Any = Retrying(services.graph)
    assert run_now(reembedding.reembed(replace(services, graph=twice), silent)).switched
    assert models(filled) == {"current": (2, 48), "former": (1, OLD.DIMENSION)}


@pytest.mark.system
def test_other_words_take_the_other_model_s_embedding_away(current: Blank) -> None:
    """The earliest evidence words a belief: it may come when the new model has embedded it."""
    with opened(current, OLD) as old:
        old.observe("alice", "lives in", "PORTO", at=MAY)
        reembed(current)
        assert embedded(current, "embedding_2")["Belief"] == [48, 1]
        old.observe("Alice", "lives in", "Porto", at=MAY - timedelta(days=30))
        assert "Belief" not in embedded(current, "embedding_2")
        assert finish(current).embedded == 1


@pytest.mark.system
def test_a_migration_makes_its_indexes_for_every_model_that_is_there(filled: Blank) -> None:
    reembed(filled)
    filled.run("DROP INDEX memory_embedding_vector")
    filled.run("DROP INDEX memory_embedding_2_vector")
    filled.run("MATCH (m:Migration) WHERE m.number >= 4 DETACH DELETE m")
    filled.migrate(embedder=NEW)
    assert filled.drift() == ()
    assert {"memory_embedding_vector", "memory_embedding_2_vector"} <= indexes(filled)


@pytest.mark.system
def test_a_schema_that_is_not_current_is_refused(blank: Blank) -> None:
    with pytest.raises(MigrationPendingError):
        reembed(blank)


@pytest.mark.system
def test_procedures_search_by_the_model_that_the_graph_has(filled: Blank) -> None:
    def called(vector: Sequence[float]) -> list[dict[str, Any]]:
        return filled.run(
            "CALL graphmem.item.near('acme', 'global', '', '\U0010ffff', $vector, [], datetime(), "
            "10, 10) YIELD key, score RETURN key, score ORDER BY key",
            vector=vector,
        )

    [asked_old, asked_new] = (
        [float(x) for x in run_now(model.embed([unlike(1)], Role.QUERY))[0]] for model in (OLD, NEW)
    )
    assert called(asked_old)
    reembed(filled)
    found = called(asked_new)
    assert found
    with opened(filled, NEW) as memory:
        answered = memory.items.batch([ASK_ITEMS[2]])[0]
    assert isinstance(answered, list)
    assert [row["key"] for row in found] == [getattr(item, "key", None) for item in answered]


@pytest.mark.system
def test_the_command_goes_over_and_finishes(
    filled: Blank, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GRAPHMEM_URI", filled.address.uri)
    monkeypatch.setenv("GRAPHMEM_PASSWORD", filled.address.password)
    monkeypatch.setenv("GRAPHMEM_EMBEDDER_DIMENSION", "48")

    def ran(*args: str) -> tuple[int, str]:
        with pytest.raises(SystemExit) as ended:
            main(["admin", "reembed", *args])
        seen = capsys.readouterr()
        return int(ended.value.code or 0), " ".join((seen.out or seen.err).split())

    code, said = ran("--model", "hash", "--finish", "--json")
    assert (code, '"code": "reembedding"' in said) == (2, True)
    assert ran("--finish", "--give-up")[0] == 2
    assert ran("--model", "hash", "--give-up") == (0, "No switch is in progress.")
    code, said = ran("--model", "hash")
    assert (code, "now the graph's model: reopen clients" in said) == (0, True)
    assert "already the graph's model" in ran("--model", "hash")[1]
    code, said = ran("--model", "hash", "--finish", "--json")
    assert json.loads(said) == {"model": NEW.name, "switched": False, "embedded": 0}
    assert models(filled) == {"current": (2, 48)}


@pytest.mark.system
def test_an_export_holds_the_embeddings_of_its_client_s_model(
    filled: Blank, tmp_path: Path
) -> None:
    reembed(filled)
    with opened(filled, NEW) as memory:
        before = memory.admin.export_to(tmp_path / "one.jsonl")
        taken = memory.tenant("copy").admin.import_from(tmp_path / "one.jsonl")
        assert taken.written == sum(before.records.values())
        assert memory.tenant("copy").admin.import_from(tmp_path / "one.jsonl").written == 0
    rows = filled.run(
        "MATCH (n {tenant: 'copy'}) WHERE n.embedding IS NOT NULL OR n.embedding_2 IS NOT NULL "
        "RETURN labels(n)[0] AS label, n.embedding IS NULL AND size(n.embedding_2) = 48 AS is_new"
    )
    assert {row["label"] for row in rows} == {*VECTORED}
    assert all(row["is_new"] for row in rows)


@pytest.mark.system
def test_every_label_with_a_vector_index_is_reembedded() -> None:
    """A new one must have its branch in cypher/vectors."""
    declared = {label for label, node in NODE_CLASSES.items() if hasattr(node, "embedding")}
    assert declared == {*VECTORED}
