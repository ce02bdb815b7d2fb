"""Forged exports: refused by line and field, or taken without harm to anybody.

`HYPOTHESIS_PROFILE=deep` forges 10,000 records that are checked alone, and about as many that are
accepted, in 200 files that are imported.
"""

from __future__ import annotations

import uuid
from itertools import product
from pathlib import Path
from random import Random

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem import Handle
from graphmem.errors import ExportFileError, InvalidInputError, NotFoundError, RefusedError
from graphmem.nodes.declared import NODE_CLASSES, properties
from graphmem.rules import identity
from graphmem.transfer.kinds import KINDS, node_shape
from graphmem.transfer.lines import Reader
from tests.isolation import victims
from tests.isolation.calls import CALLS, READS
from tests.isolation.victims import Victim
from tests.plugins.clients import on_tenant
from tests.plugins.examples import examples
from tests.plugins.forged_exports import Forger, Record, counted, records_of, sealed
from tests.plugins.graph import Look

pytestmark = [pytest.mark.server, pytest.mark.timeout(3_600)]

MOST = hypothesis.settings().max_examples
EACH = 5
"""Forged records of an example."""
SHARE, TRIES = 0.6, 6
"""Of the records of a file that are forged, and how often until one is taken."""
JOBS = (
    "usage.rate",
    "usage.roll_up",
    "consolidate",
    "extract",
    "proposals.accept",
    "usage.prune",
    "items.sweep",
    "admin.backfill",
)
"""Writes that go through all that is there."""
EXPECTED = (InvalidInputError, NotFoundError, RefusedError)
SEEDS = st.integers(0, 2**32)


class Export:
    """A real export, and what a forger may know of another tenant.

    No dataclass: Hypothesis prints all fields of one, and its warning of the size hides a failure.
    """

    def __init__(self, records: list[Record], aimed: list[str]) -> None:
        self.records = records
        self.aimed = aimed


@pytest.fixture(scope="module")
def export(victim: Victim, tmp_path_factory: pytest.TempPathFactory) -> Export:
    """The victim's own: everything, with ids that are the victim's."""
    file = tmp_path_factory.mktemp("forged") / "all.jsonl"
    victim.memory.admin.export_to(file)
    keys = [identity.tenant_key(victim.name), identity.scope_key(victim.name, "global")]
    return Export(records_of(file), [victim.name] * 3 + keys + list(victim.marked.values()))


def taken(export: Export, record: Record) -> bool:
    """Return whether a record alone is taken by the first look at a file."""
    return refusal(export, record) is None


def refusal(export: Export, record: Record) -> str | None:
    """Return what the first look at a file says of a record that it refuses."""
    reader = Reader()
    head, line = sealed([export.records[0], record])
    reader.read(head)
    try:
        reader.read(line)
    except ExportFileError as error:
        return error.message
    return None


def test_every_record_of_a_real_export_is_taken(export: Export) -> None:
    nodes = export.records[1:-1]
    # A sealed export would be refused for its seals before anything else.
    left = {"Consolidation", "Seal"}
    assert {one["kind"] for one in nodes} == {kind.label for kind in KINDS} - left
    assert [one for one in nodes if not taken(export, one)] == []


def test_what_an_import_makes_itself_is_refused(export: Export) -> None:
    for label, record in {one["kind"]: one for one in export.records[1:-1]}.items():
        made = properties(NODE_CLASSES[label]).keys() - node_shape(label).__annotations__
        assert made >= {"tenant"}
        for name in (*made, "embedding_2"):
            forged = {**record, "properties": {**record["properties"], name: "x"}}
            assert (refusal(export, forged) or "").startswith(f"Line 2: properties.{name}: ")


@hypothesis.settings(max_examples=MOST)
@given(seed=SEEDS)
def test_a_forged_record_is_refused_by_line_and_field_or_taken(export: Export, seed: int) -> None:
    random = Random(seed)
    forger = Forger(random, export.records, export.aimed)
    for _ in range(EACH):
        forged = forger.forged(random.choice(export.records[1:-1]))
        assert (refusal(export, forged) or "Line 2").startswith("Line 2")


@pytest.mark.system
@hypothesis.settings(max_examples=examples(3, 20, 200))
@given(seed=SEEDS)
def test_what_is_taken_harms_nobody(
    client: Handle, look: Look, victim: Victim, export: Export, tmp_path: Path, seed: int
) -> None:
    random = Random(seed)
    forger = Forger(random, export.records, export.aimed)
    records = [export.records[0]]
    for record in export.records[1:-1]:
        tries = TRIES if random.random() < SHARE else 0
        forged = (forger.forged(record, keys=False) for _ in range(tries))
        records.append(next((one for one in forged if taken(export, one)), record))
    records.append(counted(records[1:]))
    file = tmp_path / f"{seed}.jsonl"
    file.write_bytes(b"".join(sealed(records)))
    memory = on_tenant(client, f"forger {uuid.uuid4().hex}")
    client.usage.flush()
    before = victims.looks(look, victim.name)

    try:
        memory.admin.import_from(file)
    except EXPECTED as error:
        hypothesis.event(f"{type(error).__name__}")
    for handle, name in product(
        (memory, memory.scope("alice")), [*READS, *JOBS, "admin.rebuild", *READS]
    ):
        try:
            CALLS[name](handle, victim.marked)
        except EXPECTED:
            hypothesis.event(f"{name} refused")

    client.usage.flush()
    assert victims.looks(look, victim.name) == before
