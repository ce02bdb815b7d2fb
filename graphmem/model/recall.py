"""Records of recall: its policy, its results and their scores."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Final, Literal, TypeAlias, get_args

from pydantic import Field

from graphmem.model.belief import Belief, EvidenceKind
from graphmem.model.episode import Episode, Turn, TurnsReceipt
from graphmem.model.memory import Memory
from graphmem.model.policies import ConfiguredPolicy
from graphmem.model.terms import Instant, Rating, Record, Shown, Trust

Weight = Annotated[float, Field(ge=0, allow_inf_nan=False)]
TraceWeight = Annotated[float, Field(ge=0, le=100)]

Kind: TypeAlias = Literal["memory", "belief", "turn", "episode"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
"""Kinds of results, in the order of the documentation."""


class TraceRank(ConfiguredPolicy):
    """Weight of repetitions of a memory."""

    tau_days: float = Field(21.0, gt=0, le=36_500)
    """Time constant of recency, in days."""
    spacing: TraceWeight = 0.1
    """b: factor 1 + b ln(1 + days) for the gap before a repetition."""
    weight: TraceWeight = 0.35
    """k of final = max(similarity, 0) * (1 + k ln(1 + trace)); 0 ignores the history."""
    window_hours: float = Field(24.0, ge=0, le=8_760)
    """Hours after a full event within which further events form a burst."""
    burst: float = Field(0.1, ge=0, le=1)
    """Base of a burst: its j-th event counts burst^j."""
    import_weight: TraceWeight = 1.0
    """Weight of an IMPORT event; other events weigh 1."""


class Score(StrEnum):
    """Ranking formula."""

    BLENDED = "blended"
    """Weighted sum of the lists, each scaled from the worst to the best score of all."""
    FUSED = "fused"
    """Reciprocal rank fusion: sum of weight / (k + rank) over the lists."""
    FLAT = "flat"
    """1 / (1 + d), d the Euclidean distance of unit vectors; vector search only."""
    TRACE = "trace"
    """TraceRank's final: vector search and history."""
    ESPER = "esper"
    """blend / (1 + d) + (1 - blend) * belief; anything that is not a belief counts as belief
    0.5."""


class RecallPolicy(ConfiguredPolicy):
    """Ranking of recalled items.

    The defaults measured best; docs/explanation/recall.md shows the contribution of each part.
    """

    score: Score = Score.BLENDED
    """Formula: blended, fused, flat, trace or esper."""
    pool: int = Field(200, ge=1, le=1_000)
    """Number of candidates of each list."""
    k: int = Field(60, ge=1)
    """k of reciprocal rank fusion."""
    vector_weight: Weight = 1.0
    """Weight of the vector lists. Blended: the weights of all lists are divided by their sum."""
    words_weight: Weight = 1.0
    """Weight of the BM25 lists."""
    recency_weight: Weight = 0.0
    """Weight of recency; blended: e^(-days / recency_days)."""
    recency_days: float = Field(21.0, gt=0)
    """Time constant of recency, in days."""
    access_weight: Weight = 0.0
    """Weight of the number of `expand` calls; 0 by default, since shown items get opened."""
    around: float = Field(0.08, ge=0, lt=1)
    """Blended: share of its score that a turn passes to its neighbours, squared for the next, and
    so on."""
    reach: int = Field(1, ge=0, le=5)
    """Number of turns to each side that `around` reaches."""
    session: float = Field(0.3, ge=0, le=1)
    """Blended: share of the distance to the best turn of its session by which a turn is raised."""
    named: Weight = 0.3
    """Blended: added if the question names the speaker of a turn or the subject of a belief."""
    dated: Weight = 0.4
    """Blended: added if the item occurred on a day or in a month that the question names, or in the
    week after."""
    machine: float = Field(0.7, ge=0, le=1)
    """Blended: factor for turns that are not by a person, unless the question asks for an
    assistant's words or for a summary."""
    min_similarity: float | None = Field(None, ge=-1, le=1)
    """Minimum similarity; also excludes items found by BM25 only. None applies no limit."""
    min_score: float | None = Field(None, ge=-1, le=1)
    """Similarity that the best item must reach, or nothing is returned. None applies the floor of
    the embedding model, if it has one and the score is blended."""
    beliefs: int = Field(20, ge=1, le=50)
    """Number of beliefs, most relevant first, whose evidence is read."""
    blend: float = Field(0.4, ge=0, le=1)
    """alpha: a belief's score is relevance * (alpha + (1 - alpha) * belief); see also ESPER."""
    trace: TraceRank = TraceRank()
    """Constants of TraceRank; if they are the standard ones, those of the settings apply."""
    late_interaction: bool = True
    """Whether to compare the question with texts token by token, if the model has token states."""
    late_weight: Weight = 0.7
    """Weight of the similarity of tokens."""
    late_context_weight: Weight = 3.0
    """Weight of the similarity of tokens of a text and of the turn before it."""
    mark_outdated: bool = True
    """Whether results are compared, so that older versions of a fact are marked."""
    rerank: bool = True
    """Whether the reranker orders the best results, if there is one."""
    max_results: int | None = Field(None, ge=1)
    """Maximum number of hits; None applies the limit of the call only."""

    @property
    def uses_tokens(self) -> bool:
        """Whether the ranking uses token states."""
        return self.late_interaction and self.score in {Score.BLENDED, Score.FUSED}

    @property
    def uses_reranker(self) -> bool:
        """Whether a reranker may order the results."""
        return self.rerank and self.score in {Score.BLENDED, Score.FUSED}


POLICIES = {
    "default": RecallPolicy(),
    "flat": RecallPolicy(score=Score.FLAT, mark_outdated=False),
    "trace": RecallPolicy(score=Score.TRACE),
    "esper": RecallPolicy(score=Score.ESPER),
    "engram": RecallPolicy(
        score=Score.FUSED,
        vector_weight=1.0,
        words_weight=0.4,
        recency_weight=0.6,
        access_weight=0.4,
        min_similarity=0.25,
        late_interaction=False,
        rerank=False,
        max_results=3,
    ),
    "agent": RecallPolicy(
        vector_weight=0.25,
        words_weight=0.25,
        recency_weight=0.3,
        access_weight=0.2,
        reach=0,
        session=0.0,
        named=0.0,
        late_interaction=False,
        rerank=False,
    ),
}
"""Policies by name."""


class TraceContribution(Record):
    """Contribution of one event to a trace: recency * burst * spacing * weight."""

    event_id: str
    at: Instant
    recency: float
    """e^(-days since / tau), in (0, 1]."""
    burst: float
    """1 for a full event; 0.1^j for the j-th within a day of one."""
    spacing: float
    """1 + b ln(1 + days since the full event before), >= 1."""
    weight: float = 1.0
    """Weight of the event: that of imports for an IMPORT, else 1."""


class Trace(Record):
    """Weight, at one time, of the repetitions of a memory."""

    at: Instant
    by: TraceRank
    trace: float
    """Sum over all events, >= 0."""
    factor: float
    """1 + k ln(1 + trace): multiplies a similarity above 0."""
    sayings: tuple[TraceContribution, ...]
    """The newest events, oldest first."""
    total: int
    """Number of events."""


class ScoreBreakdown(Record):
    """Parts of the relevance of an item to a question."""

    meaning: float = 0.0
    words: float = 0.0
    late: float = 0.0
    """Late interaction: the tokens of the question match its own tokens."""
    late_context: float = 0.0
    """The same, with the tokens of the turn before it."""
    recency: float = 0.0
    access: float = 0.0
    around: float = 0.0
    """From the turns before and after it."""
    session: float = 0.0
    """From the best turn of its session."""
    named: float = 0.0
    """The question names its speaker or its subject."""
    dated: float = 0.0
    """The question names the time when it occurred."""
    factor: float = 1.0
    """Below 1 for turns of an assistant, a tool or a system."""
    reranker: float | None = None
    """Score of the reranker, which then decides the place of the item; not a part of the relevance.
    None if the item was not reranked."""

    @property
    def relevance(self) -> float:
        """Return the factor times the sum of the other parts, without the reranker's score."""
        late, lists = self.late + self.late_context, self.meaning + self.words
        near, rest = self.around + self.session, self.recency + self.access
        return self.factor * (lists + late + near + rest + self.named + self.dated)


class Reason(Record):
    """One event that a bite rests on."""

    event_id: str
    type: str
    at: Instant
    trust: Trust
    """Who vouches for it."""
    kind: EvidenceKind | None = None
    """Supporting or refuting; None if the event is not evidence."""
    confidence: float | None = None
    source_type: str | None = None
    source: str | None = None
    actor: str | None = None
    episode_id: str | None = None
    turn_id: str | None = None
    """Id of the turn that it quotes."""
    speaker: str | None = None
    """Name, else role, of the speaker of that turn."""
    time_zone: str | None = None
    """Zone of that turn."""


class Bite(Record):
    """Fields common to all recalled items."""

    score: float
    """Score of the local ranking; the policy's `score` selects the formula. A reranker does not
    change it."""
    parts: ScoreBreakdown
    """Score breakdown. For memories and turns its relevance is the score; for beliefs the score is
    relevance * (alpha + (1 - alpha) * belief)."""
    similarity: float | None
    """Calibrated cosine to the query, at most 1; None if found by BM25 only."""
    vector_rank: int | None
    """Rank among the vector candidates of its kind."""
    bm25: float | None
    bm25_rank: int | None
    trust: Trust = "unknown"
    """Who vouches for its text; docs/explanation/trust.md has the rule."""
    rating: Rating | None = None
    """Usage rating, which has no influence on the rank; None if never rated, for a turn, or for a
    read as of another time."""
    outdated_by: str | None = None
    """Id of the result that states a newer version of the same fact; this one comes after it."""
    covers: tuple[str, ...] = ()
    """Ids of results that state nothing else, which are not listed: its sources and repeats."""


class MemoryBite(Bite):
    """One recalled memory with its score breakdown."""

    kind: Literal["memory"] = "memory"
    memory: Memory
    trace: float
    """Weight of its history at the time of the read, >= 0."""
    final: float | None
    """max(similarity, 0) * (1 + k ln(1 + trace)), which ranks its vector list."""
    reasons: tuple[Reason, ...] = ()
    """The newest events that state it, newest first; at most three, one of the highest class."""
    stated: int = 0
    """Number of events of the highest class among those that state it."""

    @property
    def id(self) -> str:
        """Return the id of the memory."""
        return self.memory.id

    @property
    def text(self) -> str:
        """Return the content of the memory."""
        return self.memory.content


class OtherValue(Record):
    """Another value of the slot of a recalled belief."""

    belief_id: str
    object: str
    belief: float
    status: str
    last_at: Instant
    """Time of its last affirmation."""


class BeliefBite(Bite):
    """One recalled belief with its score breakdown."""

    kind: Literal["belief"] = "belief"
    belief: Belief
    last_at: Instant | None
    """Time of its last affirmation."""
    ambiguous: bool = False
    """Whether it is one of two values too close to decide."""
    lost: bool = False
    """Whether it is superseded, archived or not the leader of its slot; returned only on
    request."""
    head_ids: tuple[str, ...] = ()
    """Ids of the beliefs that replaced a belief that has lost."""
    assumed_many: bool = False
    """Whether the values of its slot coexist only because its predicate was never declared."""
    others: tuple[OtherValue, ...] = ()
    """Other values of its ONE slot, newest first: the one that matched the question and the
    strongest, at most 20. If values are assumed to coexist, those that are older than this one and
    match the question, but are not listed themselves."""
    found_by: str | None = None
    """Id of the belief that matched the question and lost to this one; None if this one matched."""
    reasons: tuple[Reason, ...] = ()
    """Its newest evidence, newest first; at most three, one of the highest class for it."""
    stated: int = 0
    """Number of conversations in which the highest class among its evidence supports it."""

    def came_after(self, other: OtherValue) -> bool:
        """Return whether `other` was believed before: it was affirmed no later than this value.

        A later value that does not lead was outweighed and was never believed.
        """
        return self.last_at is not None and other.last_at <= self.last_at

    @property
    def id(self) -> str:
        """Return the id of the belief."""
        return self.belief.id

    @property
    def text(self) -> str:
        """Return the statement of the belief."""
        return self.belief.statement

    @property
    def revise_due(self) -> bool:
        """Whether its test demoted it; it keeps its text until `revise` is called."""
        return self.belief.verdict.revise_due


class TurnBite(Bite):
    """One recalled turn with its score breakdown."""

    kind: Literal["turn"] = "turn"
    turn: Turn
    head_ids: tuple[str, ...] = ()
    """Ids of what makes it outdated: the beliefs that lead the slots of what it states, and the
    turns that these quote; or the reply of a person that rejects an assistant's turn."""

    @property
    def id(self) -> str:
        """Return the id of the turn."""
        return self.turn.id

    @property
    def text(self) -> str:
        """Return the text of the turn."""
        return self.turn.text


class EpisodeBite(Bite):
    """One recalled episode with its score breakdown."""

    kind: Literal["episode"] = "episode"
    episode: Episode
    """The episode; of a document, at most the first 2,000 characters."""

    @property
    def id(self) -> str:
        """Return the id of the episode."""
        return self.episode.id

    @property
    def text(self) -> str:
        """Return the summary of the episode, else what remains of its text, else its text."""
        of = self.episode
        return of.summary or of.gist or of.content or ""


AnyBite = MemoryBite | BeliefBite | TurnBite | EpisodeBite


class Reranking(Record):
    """Use of a reranker by a recall."""

    model: str
    """Name of the reranker."""
    candidates: int
    """Number of results that it was given: the best ones of the local ranking."""
    reason: str = ""
    """Why its scores were not used, so that the local order stays; empty if they were."""

    @property
    def used(self) -> bool:
        """Whether its scores order the results."""
        return not self.reason


class Recollection(Shown):
    """Results of recall, and counts of hidden items."""

    bites: tuple[AnyBite, ...]
    """Best first, except that a newer version of a fact comes just before the older ones."""
    hidden: dict[str, int] = Field(default_factory=dict)
    """If nothing was found: number of hidden memories by status."""
    best_similarity: float | None = None
    """Greatest calibrated similarity to the question; None without results of vector search."""
    min_score: float | None = None
    """Least similarity of the best item; None without a limit."""
    reranked: Reranking | None = None
    """Use of the reranker; None if there is none, the policy does not use it, or there are no
    results."""
    left_out: int = 0
    """Number of results after the last one that are noise; a `limit` returns them."""
    reason: str = ""
    """Why nothing was found, and what the handle may read instead, or that probably nothing answers
    the question; empty if something does."""
    provisional: bool = False
    """Whether `known` is so recent that an unfinished write may still be recorded before it."""


class Context(Record):
    """Recalled items as fenced text within a token budget."""

    text: str
    """The block, ready for a prompt; empty if there is nothing to show."""
    ids: tuple[str, ...]
    """Ids of the items in the text, in its order; an answer may cite them."""
    shown: dict[str, str] = Field(default_factory=dict)
    """Ids by the form in which the text shows them; a text shows most ids shortened."""
    tokens: int
    """Number of tokens of the text."""
    left_out: int
    """Number of recalled bites that did not fit, or were only inferred and are not used."""
    reason: str = ""
    """Why there is nothing to show, or that probably nothing answers the question; else empty."""
    reranked: Reranking | None = None
    """Use of the reranker; see `Recollection.reranked`."""
    provisional: bool = False
    """Whether `known` is so recent that an unfinished write may still be recorded before it."""


class ChatReply(Record):
    """Result of `respond`: a model's reply, and what was shown and stored."""

    reply: Any
    """The value that `complete` returned."""
    text: str
    """Words of the assistant in it; empty if it only calls tools."""
    context: Context
    """The block that the model was shown; its `text` is empty if there was nothing to show."""
    receipt: TurnsReceipt
    """The turns of the messages and of the reply."""
