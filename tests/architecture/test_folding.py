"""Names and texts are compared in one form: no module but `folding.py` makes another."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from tests.architecture.test_house import MODULES, ROOT, named

FOLDING = {"casefold", "lower", "swapcase", "normalize", "upper", "title"}
OTHERS = {
    "graphmem/local_server/files.py": "names of environment variables",
    "graphmem/local_server/plugin/java_source.py": "names of Java constants",
    "graphmem/local_server/process.py": "names of environment variables",
    "graphmem/models/embedding.py": "features of a model, whose vectors are stored",
    "graphmem/models/service.py": "messages of a library",
    "graphmem/nodes/declarations.py": "names of attributes",
    "graphmem/schema/declared.py": "names of indexes",
    "graphmem/cli/demo.py": "names of months",
    "graphmem/cli/completion.py": "first letters of sentences to print",
    "graphmem/cli/plot.py": "suffixes of files",
    "graphmem/cli/views/usage.py": "labels of nodes",
    "graphmem/erasure/wording.py": "names in capitals, which are folded again",
    "graphmem/cli/parameters.py": "names of values",
    "graphmem/errors.py": "names of classes",
    "graphmem/extraction/quotes.py": "spans of a text, which must keep its length",
    "graphmem/extraction/review.py": "labels of nodes",
    "graphmem/extraction/sentences.py": "words of English sentence forms",
    "graphmem/mcp/clients.py": "names of environment variables",
    "graphmem/serve/guard.py": "a scheme of HTTP",
    "graphmem/mcp/written.py": "names of arguments, choices, numbers and months",
    "graphmem/conversation/wording.py": "roles of messages",
    "graphmem/english/dates.py": "names of months",
    "graphmem/english/facts.py": "facts, which differ by a letter: in Massen is not in Maßen",
    "graphmem/rules/fulltext.py": "words for the analyser of the index, and its operators",
    "graphmem/rules/hygiene.py": "words other than secrets",
    "graphmem/rules/identity.py": "texts as written, from which ids and embeddings are made",
    "graphmem/conversation/messages.py": "roles of messages",
    "graphmem/english/quantities.py": "units and names of months",
    "graphmem/rules/rejections.py": "the folded form, of which it ignores more",
    "graphmem/rules/scoring.py": "names of speakers as the server lowers them",
    "graphmem/integrity/seals.py": "labels of nodes",
    "graphmem/english/spans.py": "names of days and months",
    "graphmem/usage/summaries.py": "suffixes of files",
    "graphmem/model/roles.py": "roles of messages",
    "graphmem/rules/trust.py": "roles of messages",
    "graphmem/setting_files.py": "names of settings",
    "graphmem/signatures.py": "first letters of texts",
    "graphmem/stored.py": "labels of nodes",
    "graphmem/transfer/graphiti.py": "names of relationships in another tool's file",
    "graphmem/transfer/lines.py": "first letters of messages",
    "graphmem/integrity/caches.py": "labels of nodes",
    "graphmem/upkeep/compression.py": "labels of nodes",
    "graphmem/upkeep/rules.py": "labels of nodes",
    "graphmem/integrity/rulings.py": "labels of nodes",
    "graphmem/integrity/sealing.py": "labels of nodes",
    "graphmem/usage/findings.py": "names of tools",
}
"""Modules that change the case or form of something that is not compared as a name or a text."""
CYPHER = re.compile(r"\b(?:toLower|toUpper|lower|upper|normalize)\s*\(", re.IGNORECASE)
ROLE = re.compile(r"toLower\(\w+\.role\)")
SPEAKER = "cypher/fragments/recall_candidates.cypher"
"""Compares words of a question with a speaker's name: a hint in a ranking, not an identity."""


def folds(path: Path) -> bool:
    """Return whether a module calls a method that folds a text."""
    calls = (node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if is_call(node))
    return any(node.func.attr in FOLDING for node in calls)  # type: ignore[attr-defined]


def is_call(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)


def test_only_one_module_folds_what_is_compared() -> None:
    found = {named(path) for path in MODULES if folds(path)}
    assert found - {"graphmem/folding.py"} == OTHERS.keys()


def test_the_server_folds_only_roles() -> None:
    files = [*ROOT.glob("cypher/**/*.cypher"), *ROOT.glob("migrations/**/*.cypher")]
    found = {named(path) for path in files if CYPHER.search(ROLE.sub("", path.read_text("utf-8")))}
    assert found == {SPEAKER}
