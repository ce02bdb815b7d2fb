"""Methods of the namespace `admin` that erase data and reopen what was erased."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable
from pathlib import Path
from typing import Any

from graphmem.client.arguments import Limit, event_source, file_of, several
from graphmem.client.namespace import AsyncNamespace, Namespace, blocking
from graphmem.client.state import HandleState
from graphmem.erasure import (
    ErasurePage,
    ErasureReport,
    ReopenReceipt,
    certificates,
    fence,
    guard,
    job,
    persons,
    rules,
)
from graphmem.erasure.job import ErasureRequest
from graphmem.model import Instant, Name, Note, Origin, Part
from graphmem.ports import OnProgress, RequestContext, silent


async def signed(
    state: HandleState,
    erase: Callable[[RequestContext, ErasureRequest], Coroutine[Any, Any, ErasureReport]],
    request: ErasureRequest,
) -> ErasureReport:
    """Run an erasure and sign its certificate with the local key."""
    if not request.apply:
        return await erase(state.context, request)
    moves = await fence.find(state.context)
    if moves is not None and (request.what != "tenant" or moves.what == "arriving"):
        raise guard.refusal(state.context.tenant, **moves.model_dump())
    from graphmem.erasure.signing import SigningKey

    key = SigningKey.of(state.context.services.settings)
    # Waiting log entries may contain the id.
    await state.try_flush()
    done = await erase(state.context, request)
    if done.certificate is None:
        return done
    return done.model_copy(update={"certificate": key.certify(done.certificate)})


async def is_erased(handle: AsyncNamespace) -> bool:
    """Return whether the tenant of a handle was erased."""
    context = handle._state.context
    return await job.is_refused(context, rules.tenant_key(context.tenant))


class AsyncErasing(AsyncNamespace):
    """Methods that erase persons and tenants, and reopen what was erased, awaited."""

    _prefix = "admin."

    async def erase_person(
        self,
        subject: Part,
        *,
        dry_run: bool = True,
        include_mentions: bool = False,
        digests: Iterable[Path | str] = (),
        actor: Name | None = None,
        reason: Note | None = None,
        on_progress: OnProgress = silent,
    ) -> ErasureReport:
        """Erase a person in all scopes of the tenant.

        A person is a subject and all its aliases. Erased are the beliefs with one of these names
        as subject or object, the memories that claim nothing else, the aliases, and everything
        that `forget` erases with them. New facts with such a subject are refused until
        `reopen_person`.

        Texts that only name the person cannot be found with certainty. The report counts them
        (`mentions`) and lists up to 20 (`elsewhere`): memories, free statements, and turns that
        name the person or that a speaker of this name wrote. With `include_mentions`, these
        memories and statements are erased, and the whole episodes of these turns.

        Safe to interrupt and to repeat: another call resumes the erasure.

        Args:
            subject: name of the person, 1 to 1,000 characters; any alias will do.
            dry_run: report what would be erased without erasing; pass False to erase.
            include_mentions: erase memories, free statements and episodes that name the person.
            digests: files that `graduate` wrote, without lines about erased episodes afterwards.
            actor: who asks for it; kept with the record of the erasure and in its certificate.
            reason: the reason; kept likewise, so it must not repeat the erased data.
            on_progress: progress callback; receives `page` for each page of events, and `node` with
                the number of erased nodes.

        Raises:
            NotFoundError: nothing is known about the person.
            DigestFileError, DigestLockedError: a digest cannot be read or written.
            ConfigurationError: the signing key cannot be used; nothing is erased.
        """
        request = ErasureRequest(
            "person",
            subject,
            not dry_run,
            on_progress,
            [file_of("digests", file) for file in several("digests", digests)],
            actor,
            reason,
            mentions=include_mentions,
        )
        return await signed(self._state, persons.erase_person, request)

    async def erase_tenant(
        self,
        *,
        dry_run: bool = True,
        actor: Name | None = None,
        reason: Note | None = None,
        on_progress: OnProgress = silent,
    ) -> ErasureReport:
        """Erase all data of the tenant, in all its scopes.

        Erasure is permanent, and the name of the tenant is refused from then on. The report
        contains a signed certificate; see `forget`.

        Safe to interrupt and to repeat: another call resumes the erasure.

        Args:
            dry_run: report what would be erased without erasing; pass False to erase.
            actor: who asks for it; kept with the record of the erasure and in its certificate.
            reason: the reason; kept likewise.
            on_progress: progress callback; receives `page` for each page of events, and `node` with
                the number of erased nodes.

        Raises:
            NotFoundError: the tenant has no data.
            ConfigurationError: the signing key cannot be used; nothing is erased.
        """
        tenant = self._state.context.tenant
        request = ErasureRequest(
            "tenant", tenant, not dry_run, on_progress, actor=actor, reason=reason
        )
        return await signed(self._state, job.erase_tenant, request)

    async def erasures(self, *, cursor: Name | None = None, limit: Limit = 50) -> ErasurePage:
        """Return one page of the erasures, oldest first.

        A record contains the digest of the target, the time, who asked, why and the counts. It
        outlives the tenant.

        Args:
            cursor: `next_cursor` of the previous page; None for the first page.
            limit: maximum number of records, 1 to 1,000.
        """
        return await certificates.page(self._state.context, cursor, limit)

    async def reopen(
        self,
        scope: Name,
        *,
        at: Instant | None = None,
        origin: Origin | None = None,
    ) -> ReopenReceipt:
        """Reopen a scope that `forget` erased.

        Nothing erased comes back. The ids of its episodes and events stay refused, so that a
        redelivered message or an old export is not stored again; the same texts and facts may be
        stated again. The reopening is recorded as an event of the scope. An erased tenant is not
        reopened.

        Args:
            scope: name of the forgotten scope.
            at: when it was decided, with a time zone; now by default.
            origin: source, actor, artifact and note of the event, and its idempotency key.

        Raises:
            NotFoundError: the scope was not forgotten, or was reopened before.
            RefusedError: its erasure has not finished.
        """
        return await job.reopen(self._state.context, scope, event_source(origin, at))

    async def reopen_person(
        self,
        subject: Part,
        *,
        at: Instant | None = None,
        origin: Origin | None = None,
    ) -> ReopenReceipt:
        """Accept new facts about a person that was erased.

        Nothing erased comes back, and the erased facts stay refused. The reopening is recorded as
        an event of the scope `global`, without the name. Each alias is reopened by itself.

        Args:
            subject: name of the person.
            at: when it was decided, with a time zone; now by default.
            origin: source, actor, artifact and note of the event, and its idempotency key.

        Raises:
            NotFoundError: the person was not erased under this name, or was reopened before.
        """
        return await job.reopen_person(self._state.context, subject, event_source(origin, at))


class Erasing(Namespace):
    """Methods that erase and reopen; blocking twin of `AsyncErasing`."""

    erase_person = blocking(AsyncErasing.erase_person)
    erase_tenant = blocking(AsyncErasing.erase_tenant)
    erasures = blocking(AsyncErasing.erasures)
    reopen = blocking(AsyncErasing.reopen)
    reopen_person = blocking(AsyncErasing.reopen_person)
