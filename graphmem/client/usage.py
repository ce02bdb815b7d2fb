"""Namespace `usage` of a handle."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Annotated, Literal, TypeAlias, cast, get_args

from pydantic import Field

from graphmem.client.arguments import ItemId, Limit, Question
from graphmem.client.namespace import AsyncNamespace, Namespace, blocking
from graphmem.client.state import HandleState
from graphmem.conversation.tokens import TOKENIZER, count_tokens
from graphmem.model import Name, Tier
from graphmem.models.service import token_counter
from graphmem.operations import ids
from graphmem.ports import OnProgress, silent
from graphmem.rules import read_options
from graphmem.upkeep import PrunePolicy, PruneRecord, PruneReport, PruneRestoreReport, pruning
from graphmem.usage import (
    Audit,
    Pack,
    RatedItem,
    RatingReport,
    RollUpReport,
    UsageDashboard,
    UsageGoals,
    access_log,
    auditing,
    goals,
    packs,
    ratings,
)
from graphmem.usage.access_log import ArtifactRef, SearchHit
from graphmem.usage.packs import PackBudget
from graphmem.validation import As, Whole

MAX_DAYS = 36_500
Kind = Literal["file", "symbol", "document"]
OpenedKind = Literal[Kind, "memory", "belief", "turn", "episode"]
Ref = Annotated[str, Field(min_length=1, max_length=2_000, pattern=r"\S")]
Result = str | tuple[str, str]
RatedKind = Literal["Memory", "Belief", "Episode", "Artifact"]
RATED: tuple[RatedKind, ...] = ("Memory", "Belief", "Episode", "Artifact")

Kinds: TypeAlias = Annotated[
    Sequence[RatedKind], As(Annotated[tuple[RatedKind, ...], Field(min_length=1)])
]
Results: TypeAlias = Annotated[
    Iterable[Result],
    As(Annotated[tuple[ItemId | tuple[Kind, Ref], ...], Field(max_length=1_000)]),
]


class AsyncUsage(AsyncNamespace):
    """Methods about the search log, ratings, pruning and packs, awaited."""

    _prefix = "usage."

    async def log_search(self, query: Question, *, tool: Name, results: Results = ()) -> None:
        """Log a search of another tool, with its results.

        `recall` and `context` log their own searches.

        Args:
            query: text of the query; 2,000 characters are kept.
            tool: name of the tool that searched, for example grep.
            results: results, best first, 1,000 at most: ids of memories, beliefs, turns or
                episodes, and (kind, ref) of files, symbols and documents.

        Raises:
            NotFoundError: no visible item has one of these ids; nothing is logged.
        """
        results = list(results)
        named = [result for result in results if isinstance(result, str)]
        await access_log.labelled(self._state.context, named, "results: no item")
        hits = [_hit(self._state, result) for result in results]
        await self._state.searched(tool, query, hits)

    async def log_access(self, kind: Annotated[str, As(OpenedKind)], ref: Ref) -> None:
        """Log the use of an artifact or an item; see `expand`.

        `expand` and `why` log their own accesses, and so does a stored reply that
        cites the id of a result or repeats its words.

        Args:
            kind: file, symbol, document, memory, belief, turn or episode.
            ref: stable name of an artifact: a path, a qualified name or an address; or the id of
                an item.

        Raises:
            NotFoundError: no visible item of this kind has this id; nothing is logged.
        """
        request = self._state.context
        if kind in get_args(Kind):
            touched = ArtifactRef(request.scope, kind, ref)
            await self._state.accessed("Artifact", touched.id, touched)
        else:
            item_id = (await ids.resolved(request, [ref])).get(ref, ref)
            label = kind.capitalize()
            await access_log.labelled(request, [item_id], f"ref: no {kind}", [label])
            await self._state.accessed(label, item_id)

    async def _log_used(self, item_ids: Sequence[str]) -> None:
        """Log the use of items of any kind; of all or, if one of them is not visible, of none."""
        request = self._state.context
        known = await ids.resolved(request, item_ids)
        used = list(dict.fromkeys(known.get(one, one) for one in item_ids))
        labels = await access_log.labelled(request, used, "used: no item", access_log.ITEMS)
        for item_id in used:
            await self._state.accessed(labels[item_id], item_id)

    async def flush(self) -> int:
        """Write the log entries of all handles of this client; return the number of new entries.

        Searches and accesses are written in one transaction. Each entry has a fixed id, so
        writing it again adds nothing.

        Raises:
            UnavailableError: the write failed; the entries are kept and can be flushed again.
        """
        return await self._state.flush()

    async def rate(
        self, *, from_scratch: bool = False, on_progress: OnProgress = silent
    ) -> RatingReport:
        """Rate the ended sessions of the search log.

        An opened result wins against the unopened results of the same search (Elo). Each call
        resumes where the last one stopped. Safe to interrupt and to run concurrently. A session
        without an end counts as ended a day after its last entry.

        Args:
            from_scratch: delete all ratings and rate the log again from the first session.
            on_progress: progress callback; receives `session`, or `rating` for deleted ratings, and
                the number processed.

        Raises:
            InvalidInputError: `from_scratch` is neither True nor False.
        """
        settle = ratings.settle_again if from_scratch else ratings.settle
        await self._state.flush()
        return await settle(self._state.context, on_progress)

    async def ratings(
        self,
        *,
        tier: Annotated[Tier | str, As(Tier)] | None = None,
        kinds: Kinds = RATED,
        limit: Limit = 50,
    ) -> tuple[RatedItem, ...]:
        """Return the most used items, highest rating first.

        Args:
            tier: return only items of this tier.
            kinds: any of Memory, Belief, Episode and Artifact.
            limit: maximum number of items, 1 to 1,000.
        """
        wanted = None if tier is None else Tier(tier)
        return tuple(await ratings.items(self._state.context, wanted, kinds, limit))

    async def dashboard(self, *, kinds: Kinds = RATED, limit: Limit = 10) -> UsageDashboard:
        """Return an overview of the use of the read scopes.

        Args:
            kinds: any of Memory, Belief, Episode and Artifact.
            limit: maximum number of rows of each part, 1 to 1,000.
        """
        return await ratings.attention(self._state.context, kinds, limit)

    async def goals(self) -> UsageGoals:
        """Return whether the ratings reach the goals of Vector ELO.

        Each goal has its value, whether it is reached or why not, and the curve of its values by
        the number of rated sessions. It replays the log, so its duration is proportional to it.
        Sessions that `roll_up` replaced are left out.
        """
        await self._state.flush()
        request = self._state.context
        return await goals.read_goals(request, RATED, partial(ids.shortened, request))

    async def audit(
        self,
        *,
        days: Annotated[float, Field(gt=0, le=MAX_DAYS, allow_inf_nan=False)] = 7.0,
        session_id: Name | None = None,
    ) -> Audit:
        """Return sessions and violations of the search protocol.

        Findings are a keyword search for a conceptual query, a search or an access outside any
        session, an access without an earlier search, and a session without an end.

        Args:
            days: length of the period in days, up to now; above 0, up to 36,500.
            session_id: audit only the sessions of this id, and no entries outside sessions.
        """
        await self._state.flush()
        now = self._state.context.services.clock.now()
        since, until = now - timedelta(days=days), read_options.FOREVER
        return await auditing.audit(self._state.context, since, until, session_id)

    async def prune(
        self,
        *,
        dry_run: bool = True,
        policy: PrunePolicy | None = None,
        on_progress: OnProgress = silent,
    ) -> PruneReport:
        """Compress and archive episodes of the write scope that agents find but do not open.

        Only short-term memory is pruned: memories and beliefs never are, and neither are pinned
        episodes (`episodes.pin`), unrated, MEDIUM and HIGH ones. A VERY_LOW episode is archived
        after 30 days without a write or an access; its turns are not found. The full text of a LOW
        episode moves to an archive after 14 days, and the episode is archived after 30. Nothing is
        deleted, and `restore_pruned` restores all items. Ratings are those of the last
        `usage.rate()`; `roll_up` shortens the search log.

        Safe to interrupt and to repeat: each item is pruned completely, under the id of the run.

        Args:
            dry_run: report what would be written without writing; pass False to write.
            policy: days before each action; those of the settings by default.
            on_progress: progress callback; receives `rating` and the number examined.
        """
        used = policy or self._state.context.services.settings.pruning
        await self._state.flush()
        return await pruning.prune(self._state.context, used, on_progress, apply=not dry_run)

    async def prune_manifest(self, run_id: Name | None = None) -> tuple[PruneRecord, ...]:
        """Return the items that pruning changed, oldest first.

        Args:
            run_id: id of a run; None for all runs.

        Raises:
            NotFoundError: the write scope has no such run.
            InvalidInputError: the id is invalid.
        """
        return tuple(await pruning.pruned(self._state.context, run_id))

    async def restore_pruned(
        self,
        run_id: Name,
        *,
        item_ids: Annotated[Iterable[str], As(frozenset[ItemId])] | None = None,
        on_progress: OnProgress = silent,
    ) -> PruneRestoreReport:
        """Restore the items of a run of `prune`.

        Args:
            run_id: id of the run.
            item_ids: ids of the items to restore; None for all items of the run.
            on_progress: progress callback; receives `item` and the number restored.

        Raises:
            NotFoundError: the write scope has no such run, or the run has no such item.
            ArchiveDamagedError: an archive does not match its checksum.
        """
        chosen = None if item_ids is None else frozenset(item_ids)
        return await pruning.restore_run(self._state.context, run_id, chosen, on_progress)

    async def pack(
        self,
        tokens: Annotated[int, Whole(1, packs.MAX_PACK)] = 4_000,
        *,
        model: Name | None = None,
        kinds: Kinds = RATED,
        blocked_paths: Annotated[
            Sequence[str], As(Annotated[tuple[Name, ...], Field(max_length=1_000)])
        ] = (),
        root: str | os.PathLike[str] | None = None,
        limit: Annotated[int, Whole(1, packs.MAX_PACKED)] = 500,
    ) -> Pack:
        """Return the most used items as one Markdown text within a token budget.

        HIGH items are included whole, regardless of the budget. MEDIUM ones are summarised
        (signatures of code, headings of Markdown, else the first sentences), LOW ones are one
        line, VERY_LOW ones are left out. Unrated memories follow MEDIUM ones, shortened the same
        way. The manifest lists the treatment of each item and its reason.

        Args:
            tokens: maximum number of tokens, 1 to 10,000,000.
            model: model whose tokens litellm counts; None for the tokenizer o200k.
            kinds: any of Memory, Belief, Episode and Artifact.
            blocked_paths: globs of artifacts to leave out, at most 1,000.
            root: folder whose files and documents are packed with their text; None to pack
                artifacts by name only.
            limit: maximum number of rated items, and of unrated memories in each scope, 1 to
                10,000.
        """
        budget = PackBudget(
            tokens=tokens,
            count=count_tokens if model is None else token_counter(model),
            counted_by=TOKENIZER if model is None else f"{model}, counted by litellm",
            blocked_paths=tuple(blocked_paths),
        )
        folder = None if root is None else Path(root)
        request = self._state.context
        shorten = partial(ids.shortened, request)
        return await packs.pack(request, budget, kinds, limit, folder, shorten)

    async def roll_up(
        self,
        *,
        days: Annotated[float, Field(ge=0, le=MAX_DAYS, allow_inf_nan=False)] = 90.0,
        dry_run: bool = True,
        on_progress: OnProgress = silent,
    ) -> RollUpReport:
        """Replace searches of old sessions by counts, in all scopes.

        Rolls up sessions that `rate` has rated and that ended at least `days` ago, in the order of
        their ends, and entries of that age outside any session. Ratings stay, and
        `usage.rate(from_scratch=True)` starts from their values at that time. Accesses to memories,
        beliefs and episodes stay; those to files, symbols and documents are replaced too, and
        those that no entry names any more are removed unless their rating is above LOW. `audit`
        and `dashboard` no longer show these entries. They cannot be restored.

        Safe to interrupt and to run concurrently.

        Args:
            days: days since the end of the session; 0 to 36,500.
            dry_run: report what would be written without writing; pass False to write.
            on_progress: progress callback; receives `session` or `search`, and a number of them.
        """
        await self._state.flush()
        request = self._state.context
        before = request.services.clock.now() - timedelta(days=days)
        if dry_run:
            return await access_log.rollable(request, before)
        return await access_log.roll_up(request, before, on_progress)


class Usage(Namespace):
    """Methods about the search log, ratings, pruning and packs; blocking twin of `AsyncUsage`."""

    log_search = blocking(AsyncUsage.log_search)
    log_access = blocking(AsyncUsage.log_access)
    flush = blocking(AsyncUsage.flush)
    rate = blocking(AsyncUsage.rate)
    ratings = blocking(AsyncUsage.ratings)
    dashboard = blocking(AsyncUsage.dashboard)
    goals = blocking(AsyncUsage.goals)
    audit = blocking(AsyncUsage.audit)
    prune = blocking(AsyncUsage.prune)
    prune_manifest = blocking(AsyncUsage.prune_manifest)
    restore_pruned = blocking(AsyncUsage.restore_pruned)
    pack = blocking(AsyncUsage.pack)
    roll_up = blocking(AsyncUsage.roll_up)


def _hit(state: HandleState, result: Result) -> SearchHit:
    if isinstance(result, str):
        return SearchHit(None, result)
    kind, ref = cast("tuple[Kind, str]", result)
    touched = ArtifactRef(state.context.scope, kind, ref)
    return SearchHit("Artifact", touched.id, artifact=touched)
