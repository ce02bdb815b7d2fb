"""`graphmem demo`: ingest a sample conversation and recall it."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from importlib import resources
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import click

from graphmem.cli import options, terminal
from graphmem.cli.app import App, command
from graphmem.english import quantities

if TYPE_CHECKING:
    from rich.console import RenderableType

    from graphmem import Handle
    from graphmem.model import BeliefBite, CommitOutcome, Message, Recollection

TENANT, SCOPE = "demo", "user:alice"
SHOWN = 4
"""Number of examples shown per outcome."""
BEGAN = datetime(2026, 1, 12, tzinfo=UTC)
"""Date of the first message in the file."""
LATEST = timedelta(days=2)
"""Minimum age of the last message on the day of the first run."""
ASKED = "Which region does Alice deploy Tidepool from now?"
SUBJECT, PREDICATE = "Alice", "deploys_from"
SEEN = (("jan12-05", "Borealis", 0.8), ("feb04-03", "Borealis", 0.8), ("apr02-03", "Atlas", 0.9))
"""Message id, affirmed value and confidence of each piece of evidence."""
CHANGED = (
    ("I live in Lisbon, five minutes from the river.", "apr15-04"),
    ("Tomás is on call for Tidepool.", "apr15-08"),
    ("I deploy Tidepool from Borealis.", "apr02-03"),
)
"""Memories that a message corrects without repeating their words, and the id of that message."""
CHATTER = "user:bea"
"""Scope of a person who only chats."""
CHAT = (
    (datetime(2026, 3, 2, 9, tzinfo=UTC), "I live in Lisbon."),
    (datetime(2026, 5, 11, 9, tzinfo=UTC), "The tram was late again."),
    (datetime(2026, 7, 6, 9, tzinfo=UTC), "Actually, I moved to Porto last week."),
)
"""Her messages, one in each conversation; the last one corrects the first."""
CHAT_ASKED = "Where do I live?"
CONFIDENCES = (0.5, 0.6, 0.7)
"""Confidences of the evidence for each of two values: once in one conversation, once in three."""
COUNTED = ("tram", "is_often")
IN_ONE, IN_THREE = "crowded", "late"
_MONTHS = tuple(month.capitalize() for month in quantities.MONTHS)
_DATE = re.compile(rf"\b(?:(\d{{1,2}}) )?({'|'.join(_MONTHS)})\b")


class PolicyComparison(NamedTuple):
    """The results of two ranking policies for one question."""

    question: str
    flat: Recollection
    esper: Recollection


class Correction(NamedTuple):
    """Block for a question before and after a correction in a chat, as lines."""

    question: str
    words: str
    before: tuple[str, ...]
    after: tuple[str, ...]


class Counted(NamedTuple):
    """Belief in a value, and in how many conversations it is supported."""

    object: str
    belief: float
    reinforcement_count: int | None


class Stored(NamedTuple):
    """The messages of the conversation."""

    messages: int
    added: int
    """Number of new turns."""
    became: list[tuple[Message, CommitOutcome]]
    """Outcome of each text that was to become a memory."""


class Chatted(NamedTuple):
    """The results of the chat."""

    correction: Correction
    counted: tuple[Counted, ...]


@click.command()
@command()
def demo(app: App) -> None:
    """Start a server, ingest a sample conversation, recall it.

    The package contains the conversation: half a year of messages between an engineer and an
    assistant, with repeats, changed facts and a contradiction; it ends some days before the first
    run. The demo supersedes three changed facts, records one of them as evidence and recalls it
    with and without belief. A correction in a chat changes the block for a prompt, and the same
    evidence counts more from three conversations than from one. A second run adds nothing.
    """
    from graphmem.cli.conversation_files import read_conversations

    with resources.as_file(resources.files("graphmem") / "data" / "demo.jsonl") as path:
        [conversation] = read_conversations(path).conversations
    questions = json.loads(_data("demo_questions.json"))
    app.skip_log()
    with app.client() as opened:
        memory = opened.tenant(TENANT).scope(SCOPE)
        weeks = weeks_later(memory, conversation.messages)
        messages = [moved(message, weeks) for message in conversation.messages]
        # First, so that a new server has indexed it when it is read.
        chatter = opened.tenant(TENANT).scope(CHATTER)
        count(chatter, chat(chatter, weeks))
        stored = remember(app, memory, messages)
        observe(memory, messages, weeks)
        corrected = correct(memory, messages, weeks)
        compared = compare(memory)
        answers = [(q, memory.recall(q["question"], kinds=("memory",), limit=2)) for q in questions]
        chatted = Chatted(corrected_chat(chatter, weeks), counts(chatter))
    app.emit(
        {
            "messages": {"stored": stored.messages, "added": stored.added},
            "superseded": corrected,
            "answers": [{"question": q["question"], "found": a} for q, a in answers],
            "compared": compared._asdict(),
            "correction": chatted.correction._asdict(),
            "counted": [one._asdict() for one in chatted.counted],
        },
        lambda _: _view(*terminal.visible((stored, corrected, answers, compared, chatted))),
    )
    if not app.json:
        # Not through the console, which would wrap commands that the user copies.
        where = f"--tenant {TENANT} --scope {SCOPE}"
        terminal.echo(f"\nWhy:          graphmem why {compared.flat.bites[0].id} {where}")
        terminal.echo(f"As a picture: graphmem server browse slot {SUBJECT} {PREDICATE} {where}")
        terminal.echo(_next_steps(managed=app.settings.uri is None))


def _next_steps(*, managed: bool) -> str:
    """Return commands for a memory of the user's own."""
    steps = [
        "",
        'Your own:     graphmem memory remember "I live in Porto."',
        "              graphmem recall where do I live",
        "In an agent:  graphmem mcp --print-config claude-code",
        "In Python:    from graphmem import GraphMem; README.md shows the first calls",
    ]
    if managed:
        steps.append(
            "When done:    graphmem server down    # keeps the data; any command starts it"
        )
    return "\n".join(steps)


def remember(app: App, memory: Handle, messages: Sequence[Message]) -> Stored:
    """Store each conversation, and what its people stated as memories."""
    from graphmem.model import NewMemory

    added = 0
    became: list[tuple[Message, CommitOutcome]] = []
    with app.progress() as bars:
        bar = bars.add_task("Remembering half a year of conversation", total=len(messages))
        for name, group in itertools.groupby(messages, lambda one: one.session):
            written = list(group)
            with memory.session(str(name)) as session:
                receipt = session.add_messages(written)
                stated = [
                    (message, turn_id)
                    for message, turn_id in zip(written, receipt.turn_ids, strict=True)
                    if message.role == "user" and not message.content.endswith("?")
                ]
                outcomes = session.remember_many(
                    NewMemory(
                        content=message.content,
                        event_id=f"demo-remembers-{message.id}",
                        at=message.at,
                        source="conversation",
                        actor=message.name,
                        turn_id=turn_id,
                    )
                    for message, turn_id in stated
                )
            added += receipt.added
            became += zip((message for message, _ in stated), outcomes, strict=True)
            bars.advance(bar, len(written))
    return Stored(len(messages), added, became)


def weeks_later(memory: Handle, messages: Sequence[Message]) -> int:
    """Return by how many weeks the conversation is moved, so that it ends some days ago.

    Weekdays stay. A conversation that is stored already keeps its dates.
    """
    stored = memory.episodes.list(limit=1_000).episodes
    if stored:
        return (stored[-1].occurred_at.date() - BEGAN.date()).days // 7
    last = messages[-1].at or BEGAN
    return (options.now() - LATEST - last).days // 7


def moved(message: Message, weeks: int) -> Message:
    """Return a message that was written some weeks later, with the dates in its text and ids."""
    by = timedelta(weeks=weeks)
    session = message.session and str(date.fromisoformat(message.session) + by)
    return message.model_copy(
        update={
            "at": message.at and message.at + by,
            "id": message.id and moved_id(message.id, weeks),
            "session": session,
            "content": _DATE.sub(lambda found: _moved_date(found, by), message.content),
        }
    )


def moved_id(message_id: str, weeks: int) -> str:
    """Return the id of a message, which begins with its date, some weeks later."""
    month, day, rest = message_id[:3], int(message_id[3:5]), message_id[5:]
    number = next(n for n, name in enumerate(_MONTHS, 1) if name.lower().startswith(month))
    then = date(BEGAN.year, number, day) + timedelta(weeks=weeks)
    return f"{_MONTHS[then.month - 1][:3].lower()}{then.day:02}{rest}"


def _moved_date(found: re.Match[str], by: timedelta) -> str:
    day, month = found.groups()
    # A month alone is named by its middle.
    then = date(BEGAN.year, _MONTHS.index(month) + 1, int(day or 15)) + by
    return f"{then.day} {_MONTHS[then.month - 1]}" if day else _MONTHS[then.month - 1]


def correct(memory: Handle, messages: Sequence[Message], weeks: int) -> list[dict[str, str]]:
    """Supersede the memories of changed facts; return the old and new texts and ids."""
    from graphmem.model import Origin
    from graphmem.rules import identity

    by_id = {message.id: message for message in messages}
    corrected = []
    for text, message_id in CHANGED:
        newer = by_id[moved_id(message_id, weeks)]
        older_id = identity.memory_id(SCOPE, text)
        done = memory.supersede(
            older_id,
            newer.content,
            at=newer.at,
            origin=Origin(event_id=f"demo-supersedes-{message_id}", actor=newer.name),
        )
        corrected.append(
            {"older_id": older_id, "older": text, "newer_id": done.newer_id, "newer": newer.content}
        )
    return corrected


def observe(memory: Handle, messages: Sequence[Message], weeks: int = 0) -> None:
    """Record where Alice deployed, and when, as evidence for a predicate of cardinality ONE."""
    from graphmem.model import Origin

    by_id = {message.id: message for message in messages}
    memory.predicates.declare(
        PREDICATE,
        cardinality="ONE",
        template="{subject} deploys Tidepool from {object}",
        at=BEGAN + timedelta(weeks=weeks),
        origin=Origin(event_id="demo-deploys-from"),
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
        for message_id, value, confidence in (
            (moved_id(original, weeks), value, confidence) for original, value, confidence in SEEN
        )
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
    """Recall the values of one fact, outvoted ones included, by policies flat and esper."""
    return PolicyComparison(ASKED, _recall_values(memory, "flat"), _recall_values(memory, "esper"))


def _recall_values(memory: Handle, policy: Literal["flat", "esper"]) -> Recollection:
    found = memory.recall(ASKED, kinds=("belief",), include_hidden=True, policy=policy)
    values = tuple(bite for bite in _beliefs(found) if bite.belief.predicate == PREDICATE)
    return found.model_copy(update={"bites": values})


def chat(memory: Handle, weeks: int) -> list[str]:
    """Store the conversations of a person who only chats; return the ids of the episodes."""
    episode_ids = []
    for at, text in CHAT:
        then = at + timedelta(weeks=weeks)
        with memory.session(f"{at:%B}") as session:
            session.add_messages(
                [{"role": "user", "content": text, "at": then, "id": f"{at:%b%d}"}]
            )
            episode_ids.append(session.episode_id)
    return episode_ids


def corrected_chat(memory: Handle, weeks: int) -> Correction:
    """Return the block for a question before the last message of the chat, and after it."""
    from graphmem import AsOf

    *_, (before, _), (_, words) = CHAT
    past = AsOf(valid=before + timedelta(weeks=weeks))
    blocks = (memory.context(CHAT_ASKED, as_of=one).text for one in (past, None))
    return Correction(CHAT_ASKED, words, *(tuple(text.splitlines()) for text in blocks))


def count(memory: Handle, episode_ids: Sequence[str]) -> None:
    """Record the same confidences for one value in one episode, and for another in three."""
    subject, predicate = COUNTED
    at = memory.episodes.get(episode_ids[-1]).occurred_at
    memory.observe_many(
        {
            "subject": subject,
            "predicate": predicate,
            "object": value,
            "confidence": confidence,
            "event_id": f"demo-{value}-{number}",
            "at": at,
            "episode_id": episode_id,
        }
        for value, episodes in ((IN_ONE, [episode_ids[0]] * 3), (IN_THREE, episode_ids))
        for number, (confidence, episode_id) in enumerate(zip(CONFIDENCES, episodes, strict=True))
    )


def counts(memory: Handle) -> tuple[Counted, ...]:
    """Return the belief in each of the two values."""
    return tuple(
        Counted(one.object, one.belief, one.reinforcement_count)
        for one in memory.current(*COUNTED).candidates
    )


def _data(name: str) -> str:
    return (resources.files("graphmem") / "data" / name).read_text("utf-8")


def _view(
    stored: Stored,
    corrected: list[dict[str, str]],
    answers: list[Any],
    compared: PolicyComparison,
    chatted: Chatted,
) -> RenderableType:
    from rich.console import Group
    from rich.rule import Rule
    from rich.text import Text

    from graphmem.cli.views import memory, recall
    from graphmem.model import Outcome

    parts: list[RenderableType] = [
        Rule("Conversation", align="left"),
        Text(f"{stored.messages} messages, {stored.added} of them new."),
        memory.outcomes(outcome for _, outcome in stored.became),
    ]
    for outcome in (Outcome.EXACT_DUPE, Outcome.NEAR_DUPE, Outcome.REJECTED_HYGIENE):
        parts.extend(_examples(stored.became, outcome))
    updates = [message for message, outcome in stored.became if outcome.possible_update_of]
    if updates:
        parts.append(Text("\nnot merged as duplicates, since a fact differs", style="yellow"))
        parts.extend(Text(f"  {message.content}") for message in updates[:SHOWN])
    parts.append(Text("\nsuperseded, since another one replaced it", style="yellow"))
    parts.extend(Text(f"  {one['older']} → {one['newer']}") for one in corrected)
    parts.append(Rule("Memories", align="left"))
    for question, found in answers:
        parts.append(Text(f"\n{question['question']}", style="bold"))
        parts.append(recall.recollection(found))
    parts.append(Rule("Beliefs", align="left"))
    parts.extend(_side_by_side(compared))
    parts.extend(_independent(chatted.counted))
    parts.append(Rule("A correction in a chat", align="left"))
    parts.extend(_before_and_after(chatted.correction))
    return Group(*parts)


def _independent(counted: Iterable[Counted]) -> list[RenderableType]:
    from rich.table import Table
    from rich.text import Text

    table = Table("value", "conversations", "belief", box=None, pad_edge=False)
    for one in counted:
        table.add_row(one.object, str(one.reinforcement_count), f"{one.belief:.2f}")
    shown = ", ".join(map(str, CONFIDENCES))
    heading = f"\nThe same evidence ({shown}) from one conversation, and from three"
    return [
        Text(heading, style="bold"),
        table,
        Text("What is repeated within one conversation does not count again."),
    ]


def _before_and_after(correction: Correction) -> list[RenderableType]:
    from rich.text import Text

    return [
        Text(f"\nBlock for a prompt: {correction.question}", style="bold"),
        *(Text(f"  {line}") for line in correction.before),
        Text(f"\nafter she wrote: {correction.words}", style="yellow"),
        *(Text(f"  {line}") for line in correction.after),
    ]


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


def _examples(
    became: Iterable[tuple[Message, CommitOutcome]], outcome: Any
) -> list[RenderableType]:
    from rich.text import Text

    from graphmem.cli.views import memory

    found = [(message, made) for message, made in became if made.outcome is outcome]
    words, colour = memory.OUTCOMES[outcome]
    lines: list[RenderableType] = [Text(f"\n{words}", style=colour)] if found else []
    for message, made in found[:SHOWN]:
        reasons = made.hygiene_reasons
        # A rejected text may contain a secret: show its id, never its content.
        shown = f"{message.id}: {', '.join(reasons)}" if reasons else message.content
        lines.append(Text(f"  {shown}"))
    return lines
