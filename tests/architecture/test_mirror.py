"""The tests of a module are found by its path, and the others in a scenario that is named here."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCENARIOS = {
    "acceptance": "the promises of the README, on every surface",
    "architecture": "the tree as a whole",
    "everyday": "conversations of everyday life",
    "fuzz": "texts, arguments and programs that are generated",
    "isolation": "tenants and scopes against each other",
    "known_failures": "defects of other memories",
    "machines": "random histories, compared with a model",
    "oracles": "the formulas in plain Python",
    "plugins": "fixtures",
    "release": "files of the repository, builds, and what earlier releases wrote",
    "procedures": "the plugin of the managed server, called in Cypher",
    "samples": "data of tests",
    "security": "hostile texts and secrets, on every surface",
    "typing": "public types, read by type checkers",
}
RUNNING = {"conftest.py", "mutate.py"}


def mirrors(path: str) -> bool:
    """Return whether a file of tests mirrors a module or folder, or belongs to a scenario."""
    *folders, name = path.split("/")
    if not folders:
        return name in RUNNING or (ROOT / "graphmem" / name.removeprefix("test_")).exists()
    place = ROOT / "graphmem" / "/".join(folders)
    return (
        folders[0] in SCENARIOS
        or (ROOT / folders[0]).is_dir()
        or place.is_dir()
        or place.with_suffix(".py").is_file()
    )


def test_every_file_of_tests_mirrors_a_module_or_a_scenario() -> None:
    tests = ROOT / "tests"
    files = [path.relative_to(tests).as_posix() for path in tests.rglob("*.py")]
    assert [path for path in files if not mirrors(path)] == []
    assert {path.name for path in tests.iterdir()} >= SCENARIOS.keys()


def test_a_file_without_a_place_is_found() -> None:
    assert mirrors("models/embedding/test_gateway.py")
    assert mirrors("test_folding.py")
    assert mirrors("cypher/belief/test_slots.py")
    wrong = ("test_vanished.py", "vanished/test_one.py", "models/vanished/test_one.py")
    assert [path for path in wrong if mirrors(path)] == []
