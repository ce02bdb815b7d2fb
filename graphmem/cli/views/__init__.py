"""Terminal views: what people see of the result of each method of the client."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from rich.console import RenderableType

from graphmem.cli.views import admin, belief, jobs, memory, recall, usage

VIEWS: dict[str, Callable[[Any], RenderableType]] = {
    "admin.backfill": admin.backfill,
    "admin.erase_tenant": admin.erasure,
    "admin.import_foreign": admin.foreign_import,
    "admin.rebuild": admin.mismatches,
    "admin.stats": admin.stats,
    "admin.verify": admin.mismatches,
    "aliases.add": belief.alias,
    "aliases.list": belief.aliases,
    "aliases.remove": belief.alias,
    "believe": belief.recorded,
    "beliefs.archive": belief.status,
    "beliefs.chain": belief.chain,
    "beliefs.clear_flag": belief.flag,
    "beliefs.flip_set": belief.flip_set,
    "beliefs.get": belief.belief,
    "beliefs.history": belief.history,
    "beliefs.list": belief.page,
    "beliefs.merge": belief.replaced,
    "beliefs.provenance": belief.provenance,
    "beliefs.restore": belief.status,
    "beliefs.retract": belief.retracted,
    "beliefs.revise": belief.replaced,
    "beliefs.slots": belief.slots,
    "beliefs.split": belief.replaced,
    "beliefs.what_if": belief.trail,
    "consolidate": jobs.consolidation_report,
    "episodes.compress": jobs.compression,
    "episodes.get": usage.episode,
    "episodes.graduate": jobs.graduation,
    "episodes.list": usage.episodes,
    "episodes.restore": jobs.restored,
    "episodes.turns": usage.turns,
    "evidence_for": belief.trail,
    "expand": usage.card,
    "extract": jobs.extraction_report,
    "forget": admin.erasure,
    "memories.chain": memory.chain,
    "memories.get": memory.memory,
    "memories.history": memory.history,
    "memories.list": memory.page,
    "memories.stale": memory.stale,
    "observe": belief.recorded,
    "predicates.declare": lambda found: belief.predicates([found]),
    "predicates.list": belief.predicates,
    "proposals.accept": partial(jobs.decided, decision="accepted"),
    "proposals.dismiss": partial(jobs.decided, decision="dismissed"),
    "proposals.list": jobs.proposals,
    "recall": recall.recollection,
    "remember": memory.outcome,
    "supersede": memory.superseded,
    "usage.audit": usage.audit,
    "usage.dashboard": usage.dashboard,
    "usage.log_access": lambda _: "Logged.",
    "usage.log_search": lambda _: "Logged.",
    "usage.prune": usage.pruned,
    "usage.prune_manifest": usage.manifest,
    "usage.rate": usage.rated,
    "usage.ratings": usage.ratings,
    "usage.restore_pruned": usage.restored,
    "usage.roll_up": usage.rolled_up,
    "why": recall.reasons,
}
"""View of a method's result, by the path of the method."""
