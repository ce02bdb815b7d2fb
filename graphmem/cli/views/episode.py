"""Terminal views of cards, episodes and turns."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from graphmem import model, upkeep
from graphmem.cli.console import counted, day, more, shortened
from graphmem.cli.views import belief as belief_views
from graphmem.cli.views import memory as memory_views
from graphmem.cli.views.extraction import LONGEST_QUOTE

LONGEST = 80
"""Length of a text in a list, in characters."""
MAX_EPISODES = 20


def card(found: model.Card) -> Group:
    """Return the card of one item."""
    parts: list[RenderableType] = list(_head(found))
    if found.trust != "person":
        parts.append(Text(f"trust: {found.trust}", style="yellow"))
    if isinstance(found.item, model.Memory):
        parts += ["", memory_views.history(found.events)]
    elif found.events:
        parts += ["", belief_views.history(found.events)]
    if found.turns:
        parts += ["", *_turns(found)]
    around = list(_around(found))
    if around:
        parts += ["", *around]
    return Group(*parts, "", _accesses(found))


def _head(found: model.Card) -> Iterator[RenderableType]:
    item = found.item
    if isinstance(item, model.Memory):
        yield memory_views.memory(item)
    elif isinstance(item, model.Belief):
        yield belief_views.belief(item)
    elif isinstance(item, model.Turn):
        yield Text(f"turn {item.position} of {item.episode_id}", style="dim")
    else:
        yield from _episode(item)


def episode(found: model.Episode) -> Group:
    """Return one episode."""
    return Group(*_episode(found))


def episodes(found: model.EpisodePage) -> Group:
    """Return a page of episodes, two lines each, and the cursor of the next page."""
    return Group(*map(_episode_lines, found.episodes), *more(found.next_cursor))


def conversations(found: model.EpisodePage) -> Group:
    """Return a page of the episodes of sessions, two lines each."""
    lines = []
    for item in found.episodes:
        line = _heading(item)
        line.append(f"   {counted(item.turns, 'turn')}, {item.scope}", style="not bold")
        lines.append(line.append(f"\n  {item.id}", style="dim not bold"))
    return Group(*(lines or [Text("No sessions.", style="dim")]), *more(found.next_cursor))


def _episode_lines(item: model.Episode) -> Text:
    line = _heading(item)
    if text := item.summary or item.content or item.gist:
        line.append(f"   {shortened(text, LONGEST)}", style="not bold")
    return line.append(f"\n  {item.id}   {counted(item.turns, 'turn')}", style="dim not bold")


def _heading(item: model.Episode) -> Text:
    name = f"session {item.session_id}" if item.session_id else "episode"
    return Text(f"{name} of {day(item.occurred_at)}", style="bold")


def _episode(item: model.Episode) -> Iterator[Text]:
    yield _heading(item)
    yield Text(f"{item.id}   {counted(item.turns, 'turn')}", style="dim")
    for text in (item.summary, item.content, item.gist):
        if text:
            yield Text(text)
    if item.compressed:
        yield Text(f"compressed; `graphmem episode restore {item.id}`", style="yellow")
    about = f"about {', '.join(item.entities)}; " if item.entities else ""
    yield Text(f"{about}importance {item.importance:.2f}", style="dim")


def turn(found: model.Turn, *, bold: bool = False) -> Text:
    """Return a turn on one line."""
    line = Text(f"{found.name or found.role}: ", style="bold")
    line.append(found.text, style="bold" if bold else "not bold")
    return line.append(f"   {day(found.occurred_at)}   {found.id}", style="not bold dim")


def turns(found: model.TurnPage) -> Group:
    """Return turns, one per line."""
    lines = [turn(one) for one in found.turns] or [Text("No turns.", style="dim")]
    return Group(*lines, *more(found.next_cursor))


def _turns(found: model.Card) -> Iterator[Text]:
    """Yield turns in order; quoted turns and the item itself are marked."""
    item, shown = found.item, list(found.turns)
    quoted = isinstance(item, model.Memory | model.Belief)
    if isinstance(item, model.Turn):
        shown = sorted([*shown, item], key=lambda each: each.position)
    for each in shown:
        line = Text("» " if quoted or each == item else "  ", style="blue")
        yield line.append_text(turn(each, bold=each == item))
    if isinstance(item, model.Episode) and item.turns > len(shown):
        yield Text(f"  {counted(item.turns - len(shown), 'more turn')}", style="dim")


def _around(found: model.Card) -> Iterator[Text]:
    """Yield the neighbours in the chain, the asserted beliefs and the episodes."""
    for word, others in (("replaces", found.supersedes), ("replaced by", found.superseded_by)):
        for other in others:
            yield _neighbour(word, other)
    for belief in found.claims:
        line = Text("asserts ").append_text(belief_views.headline(belief))
        yield line.append(f"   {belief.id}", style="dim")
    lost = found.item.lost_ids if isinstance(found.item, model.Memory) else None
    if lost:
        yield Text(f"beliefs no longer held: {', '.join(lost)}", style="yellow")
    for episode in found.episodes:
        name = f"session {episode.session_id}" if episode.session_id else "episode"
        yield Text(f"in {name} of {day(episode.occurred_at)}, {episode.id}", style="dim")


def _neighbour(word: str, other: model.ChainNeighbor) -> Text:
    back = "" if other.in_force else "; the value came back"
    return Text(
        f"{word} {other.text} ({other.id}) on {day(other.occurred_at)}{back}",
        style="yellow" if other.in_force else "dim",
    )


def _accesses(found: model.Card) -> Text:
    if found.last_access_at is None:
        return Text("not accessed before", style="dim")
    times = counted(found.accesses, "time")
    return Text(f"accessed {times} before, last {day(found.last_access_at)}", style="dim")


def graduation(found: upkeep.GraduationReport) -> Group:
    """Return the lines that were or would be added to a digest."""
    lines = [
        Text(episode.line)
        if episode.added
        else Text(f"{episode.line}   already present", style="dim")
        for episode in found.episodes
    ]
    verb = "Graduated" if found.applied else "Would graduate"
    if not found.episodes:
        return Group(Text(f"No episode is due for {found.file}.", style="dim"))
    more = "; the next run adds others" if found.more else ""
    head = f"{verb} into {found.file}: {counted(len(lines), 'episode')}{more}."
    return Group(Text(head), *lines)


def compression(found: upkeep.CompressionReport) -> Group:
    """Return the episodes that were or would be compressed."""
    if not found.episodes:
        return Group(Text("No episode to compress.", style="dim"))
    verb = "Compressed" if found.applied else "Would be compressed"
    freed = sum(one.characters - len(one.kept) for one in found.episodes if not one.turns)
    turns = sum(one.turns for one in found.episodes)
    searched = f", {counted(turns, 'turn')} no longer searched" if turns else ""
    lines = [
        Text(
            f"{verb}: {counted(len(found.episodes), 'episode')}, {freed:,} characters saved"
            f"{searched}."
        )
    ]
    for episode in found.episodes[:MAX_EPISODES]:
        line = Text(f"{day(episode.occurred_at):>11}  ", style="dim")
        line.append(shortened(episode.kept, LONGEST_QUOTE), style="default")
        lines.append(line.append(f"   {episode.episode_id}, {episode.characters:,} characters"))
    if len(found.episodes) > MAX_EPISODES:
        lines.append(Text(f"and {len(found.episodes) - MAX_EPISODES} more", style="dim"))
    return Group(*lines)


def pinned(done: upkeep.PinReceipt) -> Text:
    """Return whether pruning leaves an episode alone."""
    return Text(f"{done.episode_id} is {'pinned' if done.pinned else 'not pinned'}.")


def summaries(found: model.SummaryReport) -> Group:
    """Return the conversations that were or would be summarised."""
    if not found.episodes:
        return Group(Text("No conversation to summarise.", style="dim"))
    verb = "Summarised" if found.applied else "Would be summarised"
    lines = [Text(f"{verb}: {counted(len(found.episodes), 'conversation')}.")]
    for one in found.episodes[:MAX_EPISODES]:
        line = Text(f"{day(one.occurred_at):>11}  ", style="dim")
        line.append(shortened(one.summary, LONGEST_QUOTE), style="default")
        lines.append(line.append(f"   {one.episode_id}, importance {one.importance:.2f}"))
        if one.problem:
            lines.append(Text(f"             by rules: {one.problem}", style="yellow"))
    if len(found.episodes) > MAX_EPISODES:
        lines.append(Text(f"and {len(found.episodes) - MAX_EPISODES} more", style="dim"))
    if found.calls:
        lines.append(Text(f"{counted(found.calls, 'request')} to the model", style="dim"))
    return Group(*lines)


def restored(done: upkeep.RestoredEpisode) -> str:
    """Return the receipt of a restored episode."""
    state = f"is restored; event {done.event_id}" if done.changed else "was not compressed"
    return f"{done.episode_id} {state}."
