"""`graphmem attention roll-up`: make the search log small."""

from __future__ import annotations

import click

from graphmem.cli.app import App, command


@click.command("roll-up")
@click.option("--days", default=90.0, show_default=True, help="Sessions that ended so long ago.")
@click.option("--apply", is_flag=True, help="Do it; without this it is told what would be done.")
@command(wall=True)
def roll_up(app: App, *, days: float, apply: bool) -> None:
    """Replace the searches of old sessions that are rated by their counts; with --apply, do it.

    Ratings and looks stay, and `rate --again` begins from what ratings were then. The searches
    cannot be brought back.
    """
    from graphmem.cli.belief_views import counted

    with app.memory() as memory, app.counting({"session": "Sessions", "search": "Others"}) as tell:
        done = memory.roll_up_log(days=days, apply=apply, on_part=tell)
    searches = counted(done.searches, "search", "searches")
    said = f"{searches} with {done.results:,} results, of {counted(done.sessions, 'session')}"
    if not done.searches:
        said = (
            f"Nothing to roll up: no search that is rated, or never will be, is {days:g} days old."
        )
    elif done.applied:
        said += ": gone, and counted."
    else:
        said += " would go; --apply does it."
    app.emit(done, lambda _: said)
