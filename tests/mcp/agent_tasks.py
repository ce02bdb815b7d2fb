"""Tasks for an agent with a memory: conversations, and what it must answer."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Turn:
    """One message of a user, and what the answer must and must not contain."""

    text: str
    has: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    user: str = "alice"
    session: str = "monday"


@dataclass(frozen=True)
class Task:
    """A conversation with an empty memory."""

    name: str
    turns: tuple[Turn, ...]


def state(text: str, *, user: str = "alice", session: str = "monday") -> Turn:
    """State something, which must be stored."""
    return Turn(text, ("Done",), user=user, session=session)


def ask(
    text: str, *has: str, lacks: str = "", user: str = "alice", session: str = "friday"
) -> Turn:
    """Ask something in a later conversation."""
    return Turn(text, has, tuple(lacks.split(", ")) if lacks else (), user, session)


def task(name: str, *turns: Turn) -> Task:
    """Return a task."""
    return Task(name, turns)


UNKNOWN = "I do not know"
TEA = "Remember that Ana prefers green tea."
LISBON = state("Ana lives in Lisbon since 2025-01-10.")
PORTO = state("Ana lives in Porto since 2025-05-01.")
BOREALIS = (
    state("Ana deploys from Borealis since 2025-01-05."),
    state("Ana deploys from Borealis since 2025-02-05.", session="tuesday"),
)
ATLAS = state("Ana deploys from Atlas since 2025-04-01.", session="thursday")
SHIPPING = state("Remember that releases are shipped on Fridays since 2025-01-10.")
MONDAYS = state(
    "Releases are shipped on Mondays since 2025-06-01, no longer: releases are shipped on Fridays."
)
YES, NO = Turn("Yes.", ("Done",)), Turn("No.", ("Nothing was changed",))

TASKS = (
    # Store.
    task("a preference", state(TEA), ask("Which tea does Ana prefer?", "green tea")),
    task(
        "a tag",
        state("Remember under kitchen that the oven needs a new fuse."),
        state("Remember under garden that the hose leaks near the tap."),
        ask("What is tagged kitchen?", "fuse", lacks="hose"),
    ),
    task(
        "several values at once",
        state("Ana likes chess."),
        state("Ana likes rowing."),
        ask("What does Ana like?", "chess", "rowing"),
    ),
    task(
        "a new predicate with one value",
        state("Ana's mascot is an otter since 2025-01-01."),
        state("Ana's mascot is a heron since 2025-03-01."),
        ask("What is Ana's mascot?", "heron", lacks="otter"),
    ),
    # Update, and ask now.
    task("a move", LISBON, PORTO, ask("Where does Ana live?", "Porto", lacks="Lisbon")),
    task(
        "a sentence replaced later",
        SHIPPING,
        Turn(MONDAYS.text, ("Done",), session="thursday"),
        ask("When are releases shipped?", "Mondays", lacks="Fridays"),
    ),
    task(
        "stated out of order",
        PORTO,
        LISBON,
        ask("Where does Ana live?", "Porto", lacks="Lisbon"),
    ),
    # Ask as of a date.
    task("before a move", LISBON, PORTO, ask("Where did Ana live on 2025-02-15?", "Lisbon")),
    task(
        "as of February",
        *BOREALIS,
        ATLAS,
        ask("Where did Ana deploy from on 2025-02-20?", "Borealis", lacks="Atlas"),
    ),
    task(
        "as of a time of day",
        state("Ana lives in Lisbon since 2025-01-10T08:00."),
        state("Ana lives in Porto since 2025-01-10T18:00."),
        ask("Where did Ana live on 2025-01-10T12:00?", "Lisbon", lacks="Porto"),
    ),
    task(
        "a replaced sentence on a past date",
        SHIPPING,
        MONDAYS,
        ask("When are releases shipped on 2025-03-01?", "Fridays", lacks="Mondays"),
    ),
    # Correct a mistake.
    task(
        "only a mistake",
        LISBON,
        state("I was wrong: Ana never lived in Lisbon.", session="thursday"),
        ask("Where does Ana live?", UNKNOWN),
    ),
    task(
        "a mistake replaced by the truth",
        state("Ana's employer is Initech since 2025-01-01."),
        state("I was wrong: Ana's employer was never Initech."),
        state("Ana's employer is Hooli since 2025-01-01."),
        ask("What was Ana's employer on 2025-02-01?", "Hooli", lacks="Initech"),
    ),
    # Forget.
    task(
        "forget a sentence",
        state(TEA),
        Turn("Please forget that Ana prefers green tea.", ("erase", "green tea")),
        YES,
        ask("Which tea does Ana prefer?", UNKNOWN),
    ),
    task(
        "forget nothing after all",
        state(TEA),
        Turn("Please forget that Ana prefers green tea.", ("erase", "green tea")),
        NO,
        ask("Which tea does Ana prefer?", "green tea"),
    ),
    task(
        "forget a fact",
        state("Ana likes chess."),
        state("Ana likes rowing."),
        Turn("Please forget that Ana likes chess.", ("erase", "chess"), session="friday"),
        Turn("Yes.", ("Done",), session="friday"),
        ask("What does Ana like?", "rowing", lacks="chess", session="sunday"),
    ),
    task(
        "stated again after it was forgotten",
        state(TEA),
        Turn("Please forget that Ana prefers green tea.", ("erase",)),
        YES,
        Turn(TEA, ("Not stored", "erased"), session="friday"),
    ),
    # Several users.
    task(
        "the same fact of two users",
        LISBON,
        state("Ana lives in Porto since 2025-01-10.", user="bob"),
        ask("Where does Ana live?", "Lisbon", lacks="Porto"),
        ask("Where does Ana live?", "Porto", lacks="Lisbon", user="bob"),
    ),
    task(
        "what everybody may know",
        state("Remember that the office closes at six.", user="global"),
        ask("When does the office close?", "six"),
        ask("When does the office close?", "six", user="bob"),
    ),
    # Disputes, and a name that changes.
    task(
        "a dispute",
        state("Ana's codename is Falcon since 2025-03-01."),
        state("Ana's codename is Osprey since 2025-03-01.", session="tuesday"),
        ask("What is Ana's codename?", "not sure", "Falcon", "Osprey"),
    ),
    task(
        "a new name",
        state("Ana's name is Ana Lima since 2025-01-01."),
        state("Ana's name is Ana Costa since 2025-07-01."),
        ask("What is Ana's name?", "Costa", lacks="Lima"),
        ask("What was Ana's name on 2025-02-01?", "Lima", lacks="Costa"),
    ),
    # Echoes, reasons, and questions without an answer.
    task(
        "an echo of the context",
        state(TEA),
        ask("Which tea does Ana prefer?", "green tea"),
        Turn(TEA, ("Not stored", "memory_echo"), session="friday"),
        Turn(TEA, ("EXACT_DUPE",), session="sunday"),
    ),
    task(
        "the reason of a belief",
        LISBON,
        ask("Why do you think that Ana lives in Lisbon?", "supporting", "2025-01-10"),
    ),
    task(
        "no answer",
        LISBON,
        state(TEA),
        ask("What is Ana's salary?", UNKNOWN),
        ask("How many moons has Neptune?", UNKNOWN),
    ),
)
