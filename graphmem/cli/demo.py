"""`graphmem demo`: ingest a sample conversation and recall it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from importlib import resources
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from graphmem import Handle
from graphmem.cli import terminal
from graphmem.cli.app import App, command

if TYPE_CHECKING:
    from rich.console import RenderableType

    from graphmem.model import BeliefBite, Message, Recollection
    from graphmem.rules.transcripts import IngestedMessage

TENANT, SCOPE = "demo", "user:alice"
SHOWN = 4
"""Number of examples shown per outcome."""
BEGAN = datetime(2026, 1, 12, tzinfo=UTC)
"""Date of the first message."""
ASKED = "Which region does Alice deploy Tidepool from now?"
SUBJECT, PREDICATE = "Alice", "deploys_from"
SEEN = (("jan12-05", "Borealis", 0.8), ("feb04-03", "Borealis", 0.8), ("apr02-03", "Atlas", 0.9))
"""Message id, affirmed value and confidence of each piece of evidence."""


class PolicyComparison(NamedTuple):
    """The results of two ranking policies for one question."""

    question: str
    flat: Recollection
    esper: Recollection


@click.command()
@command()
def demo(app: App) -> None:
    """Start a server, ingest a sample conversation, recall it.

    The package contains the conversation: half a year of messages between an engineer and an
    assistant, with repeats, changed facts and a contradiction. The demo also records one of the
    changed facts as evidence and recalls it with and without belief. A second run adds nothing.
    """
    from graphmem.adapters.conversations import read_conversations
    from graphmem.cli.jobs import remember

    with resources.as_file(resources.files("graphmem") / "data" / "demo.jsonl") as path:
        [conversation] = read_conversations(path).conversations
    questions = json.loads(_data("demo_questions.json"))
    app.skip_log()
    with app.client() as opened:
        memory = opened.tenant(TENANT).scope(SCOPE)
        total, became = remember(app, memory, conversation.messages, "half a year of conversation")
        observe(memory, conversation.messages)
        compared = compare(memory)
        answers = [(q, memory.recall(q["question"], limit=2)) for q in questions]
    app.emit(
        {
            "ingested": total,
            "answers": [{"question": q["question"], "found": a} for q, a in answers],
            "compared": compared._asdict(),
        },
        lambda _: _view(*terminal.visible((total, became, answers, compared))),
    )
    if not app.json:
        # Not through the console, which would wrap commands that the user copies.
        where = f"--tenant {TENANT} --scope {SCOPE}"
        terminal.echo(f"\nWhy:          graphmem why {compared.flat.bites[0].id} {where}")
        terminal.echo(f"As a picture: graphmem server browse slot {SUBJECT} {PREDICATE} {where}")


def observe(memory: Handle, messages: Sequence[Message]) -> None:
    """Record where Alice deployed, and when, as evidence for a predicate of cardinality ONE."""
    by_id = {message.id: message for message in messages}
    memory.predicates.declare(
        PREDICATE,
        cardinality="ONE",
        template="{subject} deploys Tidepool from {object}",
        event_id="demo-deploys-from",
        at=BEGAN,
    )
    memory.observe_many(
        {
            "subject": SUBJECT,
            "predicate": PREDICATE,
            "object": value,
            "confidence": confidence,
            "event_id": f"demo-{message_id}",
            "at": by_id[message_id].at,
        }
        | _place(memory, by_id[message_id])
        for message_id, value, confidence in SEEN
    )


def _place(memory: Handle, message: Message) -> dict[str, str]:
    """Return the ids of the episode and the turn of a message."""
    episode_id = memory.session(str(message.session)).episode_id
    turns = memory.episodes.turns(episode_id).turns
    return {
        "episode_id": episode_id,
        "turn_id": next(turn.id for turn in turns if turn.text == message.content),
    }


def compare(memory: Handle) -> PolicyComparison:
    """Recall the same beliefs, outvoted ones included, by policies flat and esper."""
    flat, esper = (
        memory.recall(ASKED, memories=False, include_hidden=True, limit=2, policy=policy)
        for policy in ("flat", "esper")
    )
    return PolicyComparison(ASKED, flat, esper)


def _data(name: str) -> str:
    return (resources.files("graphmem") / "data" / name).read_text("utf-8")


def _view(
    total: Any, became: list[IngestedMessage], answers: list[Any], compared: PolicyComparison
) -> RenderableType:
    from rich.console import Group
    from rich.rule import Rule
    from rich.text import Text

    from graphmem.cli.views import memory, recall
    from graphmem.model import Outcome

    parts: list[RenderableType] = [
        Rule("Conversation", align="left"),
        Text(f"{total.messages} messages, {total.turns_added} of them new."),
        memory.outcomes(total.outcomes, total.repeated),
    ]
    for outcome in (Outcome.EXACT_DUPE, Outcome.NEAR_DUPE, Outcome.REJECTED_HYGIENE):
        parts.extend(_examples(became, outcome))
    updates = [k for k in became if k.outcome and k.outcome.possible_update_of]
    if updates:
        parts.append(Text("\nnot merged as duplicates, since a fact differs", style="yellow"))
        parts.extend(Text(f"  {kept.message.content}") for kept in updates[:SHOWN])
    parts.append(Rule("Memories", align="left"))
    for question, found in answers:
        parts.append(Text(f"\n{question['question']}", style="bold"))
        parts.append(recall.recollection(found))
    parts.append(Rule("Beliefs", align="left"))
    parts.extend(_side_by_side(compared))
    return Group(*parts)


def _side_by_side(compared: PolicyComparison) -> list[RenderableType]:
    from rich.table import Table
    from rich.text import Text

    table = Table("", "flat: similarity", "esper: similarity and belief", box=None, pad_edge=False)
    pairs = list(zip(_beliefs(compared.flat), _beliefs(compared.esper), strict=True))
    for place, pair in enumerate(pairs, 1):
        table.add_row(f"{place:>2}", *(f"{bite.score:.3f}  {bite.belief.object}" for bite in pair))
    flat, esper = pairs[0]
    summary = f"By similarity alone the answer is {flat.belief.object}. "
    if flat.id == esper.id:
        summary += "Belief gives the same answer: this embedder also ranks its text higher."
    else:
        summary += (
            f"Belief answers {esper.belief.object}: later evidence lowered "
            f"{flat.belief.object} to {flat.belief.belief:.2f}; "
            f"{esper.belief.object} has {esper.belief.belief:.2f}."
        )
    return [Text(f"\n{compared.question}", style="bold"), table, Text(summary)]


def _beliefs(found: Recollection) -> list[BeliefBite]:
    return [bite for bite in found.bites if bite.kind == "belief"]


def _examples(became: Iterable[IngestedMessage], outcome: Any) -> list[RenderableType]:
    from rich.text import Text

    from graphmem.cli.views import memory

    found = [k for k in became if k.outcome and k.outcome.outcome is outcome]
    words, colour = memory.OUTCOMES[outcome]
    lines: list[RenderableType] = [Text(f"\n{words}", style=colour)] if found else []
    for kept in found[:SHOWN]:
        reasons = kept.outcome.hygiene_reasons if kept.outcome else ()
        # A rejected text may contain a secret: show its id, never its content.
        shown = f"{kept.message.id}: {', '.join(reasons)}" if reasons else kept.message.content
        lines.append(Text(f"  {shown}"))
    return lines
