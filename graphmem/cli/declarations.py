"""`graphmem predicate` and `graphmem alias`: declare policies and second names."""

from __future__ import annotations

import click

from graphmem.cli import options
from graphmem.cli.app import Group

predicate = Group("predicate", "Declare and list the policies of predicates.")
predicate.method(
    "predicates.declare",
    "Declare how the evidence of predicate NAME is read.",
    click.argument("name"),
    click.option(
        "--cardinality",
        type=click.Choice(["ONE", "MANY"]),
        help="Whether the values of a slot compete (ONE) or coexist.  [default: MANY]",
    ),
    click.option(
        "--kappa", type=float, help="ONE: strength with which newer values suppress others."
    ),
    click.option("--tau-days", type=float, help="ONE: time constant of that suppression, in days."),
    click.option("--decay-per-day", type=float, help="Decay rate of evidence, per day."),
    click.option(
        "--margin", type=float, help="ONE: the two best are ambiguous below this difference."
    ),
    click.option("--combine", help="MANY: how to combine evidence, net or log_odds."),
    click.option("--template", help="Statement of a new belief: '{subject} works on {object}'."),
    options.EVENT,
    options.NOTE,
)
predicate.method("predicates.list", "List the declared policies.")

alias = Group("alias", "Add, remove and list second names of one thing.")
alias.method(
    "aliases.add",
    """Make NAME an alias of OTHER.

    Evidence about either name is read as evidence about both.
    """,
    click.argument("name"),
    click.argument("other"),
    options.EVENT,
    options.NOTE,
)
alias.method(
    "aliases.remove",
    "Remove the alias NAME.",
    click.argument("name"),
    options.EVENT,
    options.NOTE,
)
alias.method("aliases.list", "List the aliases.")
