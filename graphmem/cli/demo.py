"""`graphmem demo`: from an empty machine to a remembered conversation."""

from __future__ import annotations

import json
from collections.abc import Iterable
from importlib import resources
from typing import TYPE_CHECKING, Any

import click

from graphmem.cli.app import App, command

if TYPE_CHECKING:
    from rich.console import RenderableType

    from graphmem.rules.gathering import Kept

TENANT, SCOPE = "demo", "user:alice"
SHOWN = 4
"""Examples of each outcome."""


@click.command()
@command()
def demo(app: App) -> None:
    """Start everything, remember a conversation, recall it.

    The conversation is one that graphmem carries: half a year of talk between an engineer and an
    assistant, with repeats, changed facts and a contradiction. Run twice, it adds nothing new.
    """
    from graphmem.adapters.conversations import read_conversations
    from graphmem.cli.ingest import remember

    with resources.as_file(resources.files("graphmem") / "data" / "demo.jsonl") as path:
        [conversation] = read_conversations(path).conversations
    questions = json.loads(_data("demo_questions.json"))
    with app.memory() as opened:
        memory = opened.tenant(TENANT).scope(SCOPE)
        total, became = remember(app, memory, conversation.messages, "half a year of talk")
        answers = [(q, memory.recall(q["question"], limit=2)) for q in questions]
    link = browser_link(app)
    app.emit(
        {
            "ingested": total,
            "answers": [{"question": q["question"], "found": a} for q, a in answers],
            "browser": link,
        },
        lambda: _view(total, became, answers),
    )
    if link and not app.json:
        # Echoed as one line: a terminal's own wrapping keeps it whole for copying.
        click.echo(f"\nSee it in Neo4j Browser:\n{link}")
        click.echo("The password: graphmem server status --show-password")


def _data(name: str) -> str:
    return (resources.files("graphmem") / "data" / name).read_text("utf-8")


def browser_link(app: App) -> str | None:
    """Return where Neo4j Browser shows the demo's memories; None for a server of the user's own."""
    if app.settings.uri is not None:
        return None
    from graphmem import catalog
    from graphmem.adapters import local_server

    wanted = {"tenant": TENANT, "scope": SCOPE, "limit": 30}
    return local_server.browse_link(
        app.settings, catalog.pasted(catalog.procedure("browser/memories"), wanted)
    )


def _view(total: Any, became: list[Kept], answers: list[Any]) -> RenderableType:
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
    return Group(*parts)


def _examples(became: Iterable[Kept], outcome: Any) -> list[RenderableType]:
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
