"""Share of deliberately corrupted proposals that the checks of extraction dismiss, on real talk."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from bench.conversations import read_conversations
from bench.figures import Cell, Report, Table
from bench.locomo import data_folder
from graphmem.cli.conversation_files import Conversation
from graphmem.extraction import (
    DismissedProposal,
    Proposal,
    assertions,
    proposals,
    quotes,
    sentences,
    windows,
)
from graphmem.extraction.proposals import CheckContext
from graphmem.extraction.quotes import SuppliedText
from graphmem.extraction.windows import TurnWindow, is_person
from graphmem.model import EvidenceKind, Turn
from graphmem.rules import hygiene
from graphmem.settings import SOURCE_WEIGHTS

if TYPE_CHECKING:
    from bench.progress import Steps

SEED = 7
LONGEST_QUOTE = 12
"""Maximum number of words of a quote."""
MIN_WORD = 4
"""Minimum number of characters of a word that may be an object."""
MOONS = ("Enceladus", "Hyperion", "Oberon", "Triton")
"""Names that occur nowhere in the data."""
EARLY = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Case:
    """A proposal that should be accepted, with its window and turn."""

    proposal: Proposal
    window: TurnWindow
    turn: Turn


Corruption = Callable[[Case, CheckContext, random.Random], tuple[Proposal, CheckContext] | None]
"""Turns a case into a corrupted proposal; None if the case does not allow this corruption."""


def measure(steps: Steps) -> Report:
    """Return the share of proposals that each check dismisses, on LoCoMo and on BEAM.

    Raises:
        ConfigurationError: The data set is missing.
    """
    folder = data_folder()
    files = {"LoCoMo": [folder / "locomo" / "locomo.json"]}
    files["BEAM"] = sorted((folder / "beam").glob("*/chat.json"))
    tables: list[Table] = []
    setting: dict[str, Cell] = {"seed": SEED}
    for name, paths in files.items():
        talks = [talk for path in paths for talk in read_conversations(path)]
        sessions = [s for talk in steps.over(talks, name) for s in _sessions(talk)]
        cases = [case for session in sessions for case in _scripted(session)]
        setting[f"{name} turns"] = sum(len(w.turns) for session in sessions for w in session)
        tables += [_corrupted(name, cases), _by_rules(name, sessions)]
    return Report(
        name="extraction",
        tables=tables,
        notes=[
            "A scripted proposal quotes up to twelve words of a person's sentence and uses one of "
            "them as its object; sentences that ask, deny or report are left out. Then one thing "
            "about it is corrupted. Refused: in percent; by: "
            "the codes, the most frequent first. The unchanged proposals are listed next to the "
            "corruptions: any that are refused are refused wrongly.",
            "The last three are not caught: a nearby word may be used wrongly, and no rule here "
            "knows the meaning of words. They need review.",
            "Rules: proposals from the sentence patterns, all of which should be accepted.",
        ],
        setting=setting,
    )


def _sessions(talk: Conversation) -> Iterator[list[TurnWindow]]:
    """Yield the windows of each session of a conversation."""
    by_session: dict[str, list[Turn]] = {}
    for message in talk.messages:
        turns = by_session.setdefault(message.session or "", [])
        at = message.at or EARLY + timedelta(minutes=len(turns))
        turns.append(
            Turn(
                id=f"{message.session}/{len(turns)}",
                episode_id=message.session or "",
                position=len(turns),
                role=message.role,
                name=message.name,
                text=message.content,
                occurred_at=at,
                recorded_at=at,
            )
        )
    for turns in by_session.values():
        places = windows.turn_contexts((t.id, t.position, False, t.occurred_at) for t in turns)
        yield [
            windows.build_window(
                stretch,
                turns[max(0, stretch[0].position - windows.REACH) :][
                    : windows.WINDOW_SIZE + 2 * windows.REACH
                ],
            )
            for stretch in windows.unread_groups(places)
        ]


def _scripted(session: Sequence[TurnWindow]) -> Iterator[Case]:
    """Yield a proposal for each turn of a person that contains a usable word."""
    chance = random.Random(SEED)  # noqa: S311 - chooses words, not for cryptography
    for window in session:
        for turn in window.people:
            quote = " ".join(turn.text.split()[:LONGEST_QUOTE])
            words = [w for w in quote.split() if w.isalpha() and len(w) >= MIN_WORD]
            if not words or not _is_stated(turn.text, quote):
                continue
            yield Case(
                Proposal(
                    turn_id=turn.id,
                    quote=quote,
                    subject="user",
                    predicate="speaks_of",
                    object=chance.choice(words),
                ),
                window,
                turn,
            )


def _is_stated(text: str, quote: str) -> bool:
    """Return whether no word around a quote shows that its speaker does not state it."""
    text = quotes.nfc(text)
    place = next(quotes.find_quote(quote, text), None)
    return place is not None and not (
        any(assertions.doubts(text, place, "", refuting=False))
        or assertions.has_other_subject(text, place, "speaks_of")
    )


def _ground(window: TurnWindow) -> CheckContext:
    return CheckContext(
        scope="bench",
        session={turn.id for turn in (*window.turns, *window.around)},
        rules=hygiene.default_rules(3, 8_000),
        weights=SOURCE_WEIGHTS,
    )


def _corrupted(name: str, cases: Sequence[Case]) -> Table:
    chance = random.Random(SEED)  # noqa: S311 - chooses words, not for cryptography
    rows: list[dict[str, Cell]] = []
    for what, corrupt in CORRUPTIONS.items():
        codes: Counter[str] = Counter()
        tried = 0
        for case in cases:
            made = corrupt(case, _ground(case.window), chance)
            if made is None:
                continue
            tried += 1
            found = proposals.check_proposal(made[0], case.window, made[1])
            if isinstance(found, DismissedProposal):
                codes[found.code] += 1
        wanted = None if what in BLIND else 0 if corrupt is _as_it_is else 100
        share = 100 * codes.total() / tried if tried else None
        rows.append(
            {
                "proposals": what,
                "tried": tried,
                "refused %": share,
                "by": ", ".join(f"{code} {n}" for code, n in codes.most_common(3)) or "–",
                "wanted": wanted,
                "met": None if share is None or wanted is None else share == wanted,
            }
        )
    return Table(f"{name}: scripted proposals", rows)


def _by_rules(name: str, sessions: Sequence[Sequence[TurnWindow]]) -> Table:
    codes: Counter[str] = Counter()
    predicates: Counter[str] = Counter()
    turns = 0
    for window in (w for session in sessions for w in session):
        turns += len(window.people)
        found, malformed = sentences.parse_window(window)
        passed, refused = proposals.check_proposals(found, window, _ground(window))
        codes.update(proposal.code for proposal in (*malformed, *refused))
        predicates.update(str(proposal.claim.predicate) for proposal in passed)
    row: dict[str, Cell] = {
        "turns of people": turns,
        "facts": predicates.total(),
        "predicates": ", ".join(f"{p} {n}" for p, n in predicates.most_common(5)) or "–",
        "refused": ", ".join(f"{code} {n}" for code, n in codes.most_common()) or "0",
    }
    return Table(f"{name}: by the rules", [row])


def _as_it_is(case: Case, ground: CheckContext, _: random.Random) -> tuple[Proposal, CheckContext]:
    return case.proposal, ground


def _changed(**fields: object) -> Corruption:
    def corrupt(
        case: Case, ground: CheckContext, _: random.Random
    ) -> tuple[Proposal, CheckContext]:
        return case.proposal.model_copy(update=fields), ground

    return corrupt


def _one_word(
    case: Case, ground: CheckContext, chance: random.Random
) -> tuple[Proposal, CheckContext]:
    words = case.proposal.quote.split()
    words[chance.randrange(len(words))] = chance.choice(MOONS)
    return case.proposal.model_copy(update={"quote": " ".join(words)}), ground


def _swapped(
    case: Case, ground: CheckContext, chance: random.Random
) -> tuple[Proposal, CheckContext] | None:
    words = case.proposal.quote.split()
    chance.shuffle(words)
    quote = " ".join(words)
    if quote in " ".join(case.turn.text.split()):
        return None
    return case.proposal.model_copy(update={"quote": quote}), ground


def _of_another(
    case: Case, ground: CheckContext, _: random.Random
) -> tuple[Proposal, CheckContext] | None:
    """Quote the previous turn."""
    text = " ".join(case.turn.text.split())
    for turn in case.window.turns:
        quote = " ".join(turn.text.split()[:LONGEST_QUOTE])
        if turn.id != case.turn.id and quote and quote not in text:
            return case.proposal.model_copy(update={"quote": quote}), ground
    return None


def _machines(
    case: Case, ground: CheckContext, _: random.Random
) -> tuple[Proposal, CheckContext] | None:
    """Quote an assistant or tool turn, with the right id."""
    for turn in case.window.turns:
        quote = " ".join(turn.text.split()[:LONGEST_QUOTE])
        if not is_person(turn) and quote:
            update = {"turn_id": turn.id, "quote": quote}
            return case.proposal.model_copy(update=update), ground
    return None


def _supplied(
    case: Case, ground: CheckContext, _: random.Random
) -> tuple[Proposal, CheckContext] | None:
    """Mark the quote as a text that memory supplied earlier."""
    if len(case.proposal.quote.split()) < 2:
        return None
    known = SuppliedText("m", case.proposal.quote, case.turn.recorded_at, "")
    return case.proposal, CheckContext(ground.scope, ground.session, (known,))


def _near(
    case: Case, ground: CheckContext, chance: random.Random
) -> tuple[Proposal, CheckContext] | None:
    """Use another word of the turn as the object."""
    words = [w for w in case.turn.text.split() if w.isalpha() and w != case.proposal.object]
    if not words:
        return None
    return case.proposal.model_copy(update={"object": chance.choice(words)}), ground


def _secret(case: Case, ground: CheckContext, _: random.Random) -> tuple[Proposal, CheckContext]:
    return case.proposal.model_copy(update={"object": "AKIA" + "A1B2" * 4}), ground


CORRUPTIONS: dict[str, Corruption] = {
    "as they are": _as_it_is,
    "one word of the quote changed": _one_word,
    "the quote's words shuffled": _swapped,
    "the quote of another turn": _of_another,
    "an unknown turn": _changed(turn_id="nowhere"),
    "a turn of an assistant or tool": _machines,
    "a text that memory supplied": _supplied,
    "an object not in the text": _changed(object=MOONS[0]),
    "a subject not in the text": _changed(subject=MOONS[1]),
    "a time not in the text": _changed(when="since 1817"),
    "from the future": _changed(since=datetime(2999, 1, 1, tzinfo=UTC)),
    "a credential": _secret,
    "a source without a weight": _changed(source_type="ORACLE"),
    "another word of the turn": _near,
    "the opposite polarity": _changed(kind=EvidenceKind.REFUTING),
    "another predicate": _changed(predicate="owns"),
}
BLIND = {"another word of the turn", "the opposite polarity", "another predicate"}
"""Corruptions that no check can detect from the words alone."""
