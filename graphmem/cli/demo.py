"""`graphmem demo`: from an empty machine to a remembered conversation."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from importlib import resources
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from graphmem.cli import terminal
from graphmem.cli.app import App, command

if TYPE_CHECKING:
    from rich.console import RenderableType

    from graphmem.client import GraphMem
    from graphmem.model import BeliefBite, Message, Recollection
    from graphmem.rules.transcripts import IngestedMessage

TENANT, SCOPE = "demo", "user:alice"
SHOWN = 4
"""Examples of each outcome."""
BEGAN = datetime(2026, 1, 12, tzinfo=UTC)
"""The day of the first message."""
ASKED = "Where does Alice deploy Tidepool from now?"
SUBJECT, PREDICATE = "Alice", "deploys_from"
SEEN = (("jan12-05", "Borealis", 0.8), ("feb04-03", "Borealis", 0.8), ("apr02-03", "Atlas", 0.9))
"""Which message affirms which value, and how surely."""


class PolicyComparison(NamedTuple):
    """What two policies answer to one question."""

    question: str
    flat: Recollection
    esper: Recollection


@click.command()
@command()
def demo(app: App) -> None:
    """Start everything, remember a conversation, recall it.

    The conversation is one that graphmem carries: half a year of talk between an engineer and an
    assistant, with repeats, changed facts and a contradiction. One of the changed facts is recorded
    as evidence too, and asked for with and without belief. Run twice, it adds nothing new.
    """
    from graphmem.adapters.conversations import read_conversations
    from graphmem.cli.ingest import remember

    with resources.as_file(resources.files("graphmem") / "data" / "demo.jsonl") as path:
        [conversation] = read_conversations(path).conversations
    questions = json.loads(_data("demo_questions.json"))
    app.look_only()
    with app.memory() as opened:
        memory = opened.tenant(TENANT).scope(SCOPE)
        total, became = remember(app, memory, conversation.messages, "half a year of talk")
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
        # Echoed: what is to be copied must not be broken at the terminal's width, or cut there.
        wall = f"--tenant {TENANT} --scope {SCOPE}"
        terminal.echo(f"\nWhy:          graphmem why {compared.flat.bites[0].id} {wall}")
        terminal.echo(f"As a picture: graphmem server browse slot {SUBJECT} {PREDICATE} {wall}")


def observe(memory: GraphMem, messages: Sequence[Message]) -> None:
    """Record from where Alice deployed, and when, as evidence of a predicate with one value."""
    said = {message.id: message for message in messages}
    memory.predicate(
        PREDICATE,
        cardinality="ONE",
        template="{subject} deploys Tidepool from {object}",
        id="demo-deploys-from",
        at=BEGAN,
    )
    memory.observe_many(
        {
            "subject": SUBJECT,
            "predicate": PREDICATE,
            "object": value,
            "confidence": confidence,
            "id": f"demo-{message_id}",
            "at": said[message_id].at,
        }
        | _scene(memory, said[message_id])
        for message_id, value, confidence in SEEN
    )


def _scene(memory: GraphMem, message: Message) -> dict[str, str]:
    """Return the episode that a message was said in, and its turn."""
    episode_id = memory.session(str(message.session)).episode_id
    turns = memory.turns(episode_id)
    return {
        "episode": episode_id,
        "turn": next(turn.id for turn in turns if turn.text == message.content),
    }


def compare(memory: GraphMem) -> PolicyComparison:
    """Ask by meaning alone and by meaning and belief, of the same beliefs, outvoted ones too."""
    flat, esper = (
        memory.recall(ASKED, memories=False, hidden=True, limit=2, policy=policy)
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

    from graphmem.cli import recall_views, views
    from graphmem.model import Outcome

    parts: list[RenderableType] = [
        Rule("What was said", align="left"),
        Text(f"{total.messages} messages, {total.turns_added} of them new."),
        views.outcomes(total.outcomes, total.repeated),
    ]
    for outcome in (Outcome.EXACT_DUPE, Outcome.NEAR_DUPE, Outcome.REJECTED_HYGIENE):
        parts.extend(_examples(became, outcome))
    updates = [k for k in became if k.outcome and k.outcome.possible_update_of]
    if updates:
        parts.append(Text("\nnot taken for repeats, since a fact differs", style="yellow"))
        parts.extend(Text(f"  {kept.message.content}") for kept in updates[:SHOWN])
    parts.append(Rule("What is remembered", align="left"))
    for question, found in answers:
        parts.append(Text(f"\n{question['question']}", style="bold"))
        parts.append(recall_views.recollection(found))
    parts.append(Rule("What is believed", align="left"))
    parts.extend(_side_by_side(compared))
    return Group(*parts)


def _side_by_side(compared: PolicyComparison) -> list[RenderableType]:
    from rich.table import Table
    from rich.text import Text

    table = Table("", "flat: meaning", "esper: meaning and belief", box=None, pad_edge=False)
    pairs = list(zip(_beliefs(compared.flat), _beliefs(compared.esper), strict=True))
    for place, pair in enumerate(pairs, 1):
        table.add_row(f"{place:>2}", *(f"{bite.score:.3f}  {bite.belief.object}" for bite in pair))
    flat, esper = pairs[0]
    said = f"By meaning alone the answer is {flat.belief.object}. "
    if flat.id == esper.id:
        said += "So it is by belief: with this embedder its wording is the nearer one too."
    else:
        said += (
            f"Belief answers {esper.belief.object}: what was said later took "
            f"{flat.belief.object} down to {flat.belief.belief:.2f}, "
            f"{esper.belief.object} stands at {esper.belief.belief:.2f}."
        )
    return [Text(f"\n{compared.question}", style="bold"), table, Text(said)]


def _beliefs(found: Recollection) -> list[BeliefBite]:
    return [bite for bite in found.bites if bite.kind == "belief"]


def _examples(became: Iterable[IngestedMessage], outcome: Any) -> list[RenderableType]:
    from rich.text import Text

    from graphmem.cli import views

    found = [k for k in became if k.outcome and k.outcome.outcome is outcome]
    words, colour = views.OUTCOMES[outcome]
    lines: list[RenderableType] = [Text(f"\n{words}", style=colour)] if found else []
    for kept in found[:SHOWN]:
        reasons = kept.outcome.hygiene_reasons if kept.outcome else ()
        # A refused text may be a secret: it is named by its place, never shown.
        shown = f"{kept.message.id}: {', '.join(reasons)}" if reasons else kept.message.content
        lines.append(Text(f"  {shown}"))
    return lines
