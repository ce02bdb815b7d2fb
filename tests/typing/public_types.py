"""The types that a user's checker sees: mypy reads this file with the rest of the tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_type

from graphmem import (
    AsyncGraphMem,
    AsyncHandle,
    AsyncSession,
    Belief,
    BeliefReasons,
    Card,
    ChatReply,
    CommitOutcome,
    ConsolidationReport,
    ConsolidationStatus,
    Context,
    Episode,
    ErasureReport,
    EvidenceReceipt,
    ExtractionReport,
    GraphMem,
    Handle,
    IngestReport,
    Memory,
    MemoryReasons,
    Recollection,
    Session,
    Slot,
    Supersession,
    Trail,
)
from graphmem.client import ReplyStream
from graphmem.erasure import ErasurePage, ReopenReceipt
from graphmem.extraction import ProposalPage, ReviewReport
from graphmem.integrity import BackfillReport, RebuildReport, SealReport
from graphmem.items import ItemAnswer
from graphmem.jobs import WorkerReport
from graphmem.model import (
    Alias,
    BeliefChain,
    BeliefEvent,
    BeliefPage,
    EpisodePage,
    FlipSet,
    MemoryChain,
    MemoryEvent,
    Page,
    Predicate,
    Provenance,
    RejectionReceipt,
    ReplacementReceipt,
    Reranking,
    RetractionReceipt,
    SlotPage,
    StalePage,
    StatusReceipt,
    SummaryReport,
    Timeline,
    Trust,
    TurnPage,
    TurnsReceipt,
)
from graphmem.schema import Health
from graphmem.transfer import ExportReport, ForeignImportReport, ImportReport, MoveReport
from graphmem.upkeep import (
    CompressionReport,
    GraduationReport,
    PinReceipt,
    PruneRecord,
    PruneReport,
    PruneRestoreReport,
    RestoredEpisode,
)
from graphmem.usage import (
    Audit,
    Pack,
    QualityStats,
    RatedItem,
    RatingReport,
    RollUpReport,
    ScopePage,
    TenantPage,
    TenantStats,
    UsageDashboard,
    UsageGoals,
    quality_stats,
)


def blocking_daily_verbs(mem: Handle) -> None:
    """Check the verbs of a handle."""
    assert_type(mem.add_evidence("b_1", "refuting", 0.8), EvidenceReceipt)
    assert_type(mem.believe(), EvidenceReceipt)
    assert_type(mem.consolidate(), ConsolidationReport)
    assert_type(mem.consolidation_status(), ConsolidationStatus)
    assert_type(mem.context("tea"), Context)
    assert_type(mem.current("alice", "likes"), Slot)
    assert_type(mem.evidence_for("b_1"), Trail)
    assert_type(mem.expand("m_1"), Card)
    assert_type(mem.extract(), ExtractionReport)
    assert_type(mem.forget("memory", "m_1"), ErasureReport)
    assert_type(mem.history("m_1"), Sequence[BeliefEvent] | Sequence[MemoryEvent])
    assert_type(mem.ingest([]), IngestReport)
    assert_type(mem.observe("alice", "likes", "tea"), EvidenceReceipt)
    assert_type(mem.observe("alice", "likes", "tea", cardinality="MANY"), EvidenceReceipt)
    assert_type(mem.observe_many([]), Sequence[EvidenceReceipt])
    assert_type(mem.recall("tea"), Recollection)
    assert_type(mem.recall("tea", min_trust="person").bites[0].trust, Trust)
    assert_type(mem.recall("tea").reranked, Reranking | None)
    assert_type(mem.reject("b_1", reason="wrong"), RejectionReceipt)
    assert_type(mem.reject(("alice", "likes", "tea"), reason="wrong"), RejectionReceipt)
    assert_type(mem.unreject("b_1", reason="right"), RejectionReceipt)
    assert_type(mem.remember("Alice likes tea."), CommitOutcome)
    assert_type(mem.remember_many([], on_update="propose"), Sequence[CommitOutcome])
    assert_type(mem.supersede("m_1", "Alice likes tea.", fork=True), Supersession)
    assert_type(mem.why("m_1"), BeliefReasons | MemoryReasons)
    assert_type(mem.scope("user:alice"), Handle)
    assert_type(mem.session("monday"), Session)


def blocking_memories(mem: Handle) -> None:
    """Check the methods of `memories`."""
    assert_type(mem.memories.chain("m_1"), MemoryChain)
    assert_type(mem.memories.deprecate("m_1"), str)
    assert_type(mem.memories.get("m_1"), Memory)
    assert_type(mem.memories.history("m_1"), Sequence[MemoryEvent])
    assert_type(mem.memories.list(), Page)
    assert_type(mem.memories.restore("m_1"), str)
    assert_type(mem.memories.stale(), StalePage)


def blocking_beliefs(mem: Handle) -> None:
    """Check the methods of `beliefs`."""
    assert_type(mem.beliefs.archive("b_1"), StatusReceipt)
    assert_type(mem.beliefs.chain("b_1"), BeliefChain)
    assert_type(mem.beliefs.clear_flag("b_1"), StatusReceipt)
    assert_type(mem.beliefs.flip_set("b_1"), FlipSet)
    assert_type(mem.beliefs.get("b_1"), Belief)
    assert_type(mem.beliefs.history("b_1"), Sequence[BeliefEvent])
    assert_type(mem.beliefs.list(), BeliefPage)
    assert_type(mem.beliefs.merge(["b_1", "b_2"], "Alice likes tea."), ReplacementReceipt)
    assert_type(mem.beliefs.provenance("b_1"), Provenance)
    assert_type(mem.beliefs.restore("b_1"), StatusReceipt)
    assert_type(mem.beliefs.retract("e_1"), RetractionReceipt)
    assert_type(mem.beliefs.revise("b_1"), ReplacementReceipt)
    assert_type(mem.beliefs.slots(), SlotPage)
    assert_type(mem.beliefs.split("b_1", ["Alice likes tea."]), ReplacementReceipt)
    assert_type(mem.beliefs.timeline("b_1"), Timeline)
    assert_type(mem.beliefs.what_if("b_1"), Trail)


def blocking_predicates(mem: Handle) -> None:
    """Check the methods of `predicates`."""
    assert_type(mem.predicates.declare("acme"), Predicate)
    assert_type(mem.predicates.list(), Sequence[Predicate])


def blocking_aliases(mem: Handle) -> None:
    """Check the methods of `aliases`."""
    assert_type(mem.aliases.add("acme", "bob"), Alias)
    assert_type(mem.aliases.list(), Sequence[Alias])
    assert_type(mem.aliases.remove("acme"), Alias)


def blocking_episodes(mem: Handle) -> None:
    """Check the methods of `episodes`."""
    assert_type(mem.episodes.add(), str)
    assert_type(mem.episodes.compress(), CompressionReport)
    assert_type(mem.episodes.get("ep_1"), Episode)
    assert_type(mem.episodes.graduate("MEMORY.md"), GraduationReport)
    assert_type(mem.episodes.list(), EpisodePage)
    assert_type(mem.episodes.restore("ep_1"), RestoredEpisode)
    assert_type(mem.episodes.pin("ep_1"), PinReceipt)
    assert_type(mem.episodes.unpin("ep_1"), PinReceipt)
    assert_type(mem.episodes.summarise("ep_1", by_rules=True, dry_run=True), SummaryReport)
    assert_type(mem.episodes.turns("ep_1"), TurnPage)


def blocking_proposals(mem: Handle) -> None:
    """Check the methods of `proposals`."""
    assert_type(mem.proposals.accept(["p_1"]), ReviewReport)
    assert_type(mem.proposals.dismiss(["p_1"]), ReviewReport)
    assert_type(mem.proposals.list(), ProposalPage)


def blocking_usage(mem: Handle) -> None:
    """Check the methods of `usage`."""
    assert_type(mem.usage.audit(), Audit)
    assert_type(mem.usage.dashboard(), UsageDashboard)
    assert_type(mem.usage.flush(), int)
    assert_type(mem.usage.goals(), UsageGoals)
    mem.usage.log_access("file", "docs/plan.md")
    mem.usage.log_access("memory", "m_1a2b")
    assert_type(quality_stats(mem.recall("tea")), QualityStats)
    mem.usage.log_search("tea", tool="grep")
    assert_type(mem.usage.pack(), Pack)
    assert_type(mem.usage.prune(), PruneReport)
    assert_type(mem.usage.prune_manifest(), tuple[PruneRecord, ...])
    assert_type(mem.usage.rate(), RatingReport)
    assert_type(mem.usage.ratings(), tuple[RatedItem, ...])
    assert_type(mem.usage.restore_pruned("r_1"), PruneRestoreReport)
    assert_type(mem.usage.roll_up(), RollUpReport)


def blocking_admin(mem: Handle) -> None:
    """Check the methods of `admin`."""
    assert_type(mem.admin.backfill(), BackfillReport)
    assert_type(mem.admin.erase_tenant(), ErasureReport)
    assert_type(mem.admin.erase_person("alice"), ErasureReport)
    assert_type(mem.admin.erasures(), ErasurePage)
    assert_type(mem.admin.reopen_person("alice"), ReopenReceipt)
    assert_type(mem.admin.reopen("user:alice"), ReopenReceipt)
    assert_type(mem.admin.export_to("acme.jsonl"), ExportReport)
    assert_type(mem.admin.import_foreign({}), ForeignImportReport)
    assert_type(mem.admin.import_from("acme.jsonl"), ImportReport)
    assert_type(mem.admin.move_to(mem), MoveReport)
    assert_type(mem.admin.rebuild(), RebuildReport)
    assert_type(mem.admin.stats(), TenantStats)
    assert_type(mem.admin.scopes(), ScopePage)
    assert_type(mem.admin.is_empty(), bool)
    assert_type(mem.admin.seal(late=True), SealReport)
    assert_type(mem.admin.verify(head=None), RebuildReport)
    assert_type(mem.admin.verify_export("acme.jsonl"), RebuildReport)


def blocking_items(mem: Handle) -> None:
    """Check the methods of `items`."""
    assert_type(mem.items.batch([]), list[ItemAnswer])
    assert_type(mem.items.sweep(), int)


def blocking_session(mem: Handle) -> None:
    """Check a session."""
    with mem.session("monday") as session:
        assert_type(session, Session)
        assert_type(session.episode_id, str)
        assert_type(session.add_messages([], roles={"clerk": "assistant"}), TurnsReceipt)
        assert_type(session.respond([], lambda messages: messages.system), ChatReply | ReplyStream)
        assert_type(session.remember("Alice likes tea."), CommitOutcome)


def blocking_connection() -> None:
    """Check the client that owns the connection."""
    with GraphMem.open() as mem:
        assert_type(mem, GraphMem)
        assert_type(mem.tenant("acme"), Handle)
        assert_type(mem.tenant("acme", trust="model"), Handle)
        assert_type(mem.health(), Health)
        assert_type(mem.run_jobs(), WorkerReport)
        assert_type(mem.tenants(), TenantPage)
        mem.close()


async def awaited_handles() -> None:
    """Check what the awaited classes do not hand to `blocking`, and that results are awaited."""
    async with await AsyncGraphMem.open() as mem:
        assert_type(mem, AsyncGraphMem)
        assert_type(mem.tenant("acme"), AsyncHandle)
        assert_type(mem.scope("user:alice"), AsyncHandle)
        assert_type(await mem.recall("tea"), Recollection)
        assert_type(await mem.usage.flush(), int)
        async with mem.session("monday") as session:
            assert_type(session, AsyncSession)
            assert_type(session.episode_id, str)
            assert_type(await session.add_messages([]), TurnsReceipt)
