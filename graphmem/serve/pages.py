"""Routes of the explorer: sessions, forms, and errors as pages."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias
from urllib.parse import parse_qsl, quote, unquote, urlsplit, urlunsplit

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from graphmem import local_server
from graphmem.errors import GraphmemError, StillStartingError
from graphmem.explorer import (
    correction,
    erasure,
    graph,
    jobs,
    pages,
    rendering,
    replay,
    review,
    usage,
)
from graphmem.explorer.reader import Asked, MissingRightError, Reader
from graphmem.graph import drawing
from graphmem.model import GLOBAL_SCOPE, Belief, Episode, Memory, Turn
from graphmem.rules.links import address
from graphmem.serve import problems
from graphmem.serve.app import Service, check_right
from graphmem.serve.guard import GRANT, GuessLimit
from graphmem.serve.keys import ANY, Grant, Key
from graphmem.serve.logins import FILES, LOGIN, MAX_FIELDS, SESSION_S, Logins
from graphmem.serve.operations import BY_METHOD
from graphmem.serve.problems import Problem

Answer: TypeAlias = Callable[["Visit"], Awaitable[Response]]
"""Function that answers a request for a page."""
SCOPE = "graphmem_scope"
"""Cookie with the scope that a reader chose."""
CHANGED = "The fact was changed meanwhile: this is the new preview."
DRAWN: Mapping[type, str] = {Belief: "belief", Episode: "episode", Memory: "memory"}
"""Kinds of pictures in Neo4j Browser."""
READS: Mapping[str, pages.Page] = {
    "/": pages.home,
    "/search": pages.search,
    "/replay": replay.page,
    "/graph": graph.page,
    "/subject": pages.subject,
    "/slot": pages.slot,
    "/item": pages.item,
    "/review": review.review,
    "/usage": usage.usage,
}


class Visit:
    """A request for a page, of a reader with a session."""

    def __init__(
        self,
        request: Request,
        reader: Reader,
        form: Mapping[str, str],
        cookie: str,
        service: Service,
    ) -> None:
        self.reader = reader
        self.service = service
        self.cookie = cookie
        """Name of the session's cookie."""
        self.form = Asked(form)
        self.asked = Asked(dict(request.query_params))
        self.request = request

    @property
    def grant(self) -> Grant:
        """Grant of the reader's key."""
        grant: Grant = self.request.scope[GRANT]
        return grant

    def page(self, name: str, values: Mapping[str, Any]) -> Response:
        """Return a page of this reader."""
        shared = {"reader": self.reader, "token": self.reader.sign("form")}
        return _html(rendering.page(name, **shared, **values))


class Explorer:
    """The pages of a server."""

    def __init__(self, logins: Logins, service: Service, deadline_s: float) -> None:
        self._logins = logins
        self._service = service
        self._deadline_s = deadline_s
        self._guesses = GuessLimit()

    def add_to(self, app: FastAPI) -> None:
        """Add the routes to an application."""
        routes: dict[tuple[str, str], Callable[[Request], Awaitable[Response]]] = {
            ("GET", LOGIN): self._ask,
            ("POST", LOGIN): self._log_in,
            **{route: self._answering(answer) for route, answer in ANSWERS.items()},
            **{("GET", path): _file for path in FILES - {LOGIN}},
        }
        for (verb, path), endpoint in routes.items():
            app.add_api_route(path, endpoint, methods=[verb], include_in_schema=False)

    def _answering(self, answer: Answer) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            reader: Reader | None = None
            try:
                async with asyncio.timeout(self._deadline_s):
                    reader = await self._reader(request)
                    form = {} if request.method == "GET" else await _form(request)
                    if request.method == "POST" and not reader.signed(
                        "form", form.get("token", "")
                    ):
                        raise Problem(403, "form_refused", "This form is of another session.")
                    cookie = self._logins.cookie
                    return await answer(Visit(request, reader, form, cookie, self._service))
            except MissingRightError as error:
                return _message(reader, 403, "Not granted", str(error))
            except Problem as error:
                return _message(reader, error.status, "Refused", error.detail, error.hint)
            except GraphmemError as error:
                return _refusal(reader, error, is_form=request.method == "POST")
            except TimeoutError:
                return _message(reader, 504, "This did not work", "The answer took too long.")
            except Exception as error:  # noqa: BLE001 - others would log its content
                fault = problems.of_fault(error, request.url.path)
                return _message(reader, fault.status, "This did not work", fault.detail)

        return endpoint

    async def _reader(self, request: Request) -> Reader:
        grant: Grant = request.scope[GRANT]
        chosen = unquote(self._logins.value(request.headers, SCOPE))
        scope = chosen if chosen and grant.covers(chosen) else None
        if scope is None and not grant.named:
            # A key of prefixes: its reader chooses another scope on the page.
            scope = grant.scopes[0].removesuffix(ANY) or GLOBAL_SCOPE
        handle = await self._service.handle(grant, scope)
        return Reader(
            handle=handle,
            rights=grant.rights,
            scopes=grant.scopes,
            scope=scope or grant.named[0],
            name=grant.name if isinstance(grant, Key) else "operator",
            secret=self._logins.secret(request.headers),
            tenant=grant.tenant,
            covers_tenant=grant.covers_tenant,
        )

    async def _ask(self, request: Request) -> Response:
        return _login(dict(request.query_params))

    async def _log_in(self, request: Request) -> Response:
        given = await _form(request)
        cookie = self._logins.opened(given.get("key", "").strip(), given.get("ticket", ""))
        if cookie is None:
            try:
                self._guesses.take_of(request.scope)
            except Problem as problem:
                return _message(None, problem.status, "Too many attempts", problem.detail)
            problem_text = "This key opens nothing: it is unknown, expired or revoked."
            if given.get("ticket"):
                problem_text = "This link was used or is too old. Log in with a key."
            return _login({"next": given.get("next", "")}, problem_text, 401)
        answer = RedirectResponse(_local(given.get("next", "")), 303)
        _set(answer, request, self._logins.cookie, cookie)
        return answer


def _reading(page: pages.Page) -> Answer:
    async def answer(visit: Visit) -> Response:
        name, values = await page(visit.reader, visit.asked)
        return visit.page(name, values | _done(visit))

    return answer


def _done(visit: Visit) -> dict[str, Any]:
    """Return the note about a correction that was just made, and how to take it back."""
    steps, signature = visit.asked.text("steps"), visit.asked.text("signature")
    if not signature or not visit.reader.signed(steps, signature):
        return {"done": "Taken back." if visit.asked.text("undone") else ""}
    item_id = visit.asked.text("id")
    undo = {"steps": steps, "signature": signature, "id": item_id}
    done = "Done: the memory has your " + ("correction." if item_id else "decision.")
    return {"done": done, "undo": undo if steps else None}


async def _plan(visit: Visit, problem: str = "") -> Response:
    """Ask what is right, or show what a correction would change."""
    reader = visit.reader
    wanted = await correction.asked_for(reader, visit.asked)
    plan = None
    if visit.asked.text("step") == "preview":
        reader.need(*wanted.rights)
        lacking = correction.missing(wanted)
        problem = problem or lacking or ""
        plan = None if lacking else await correction.preview(reader, wanted)
    return visit.page("correct", {"wanted": wanted, "plan": plan, "problem": problem})


async def _correct(visit: Visit) -> Response:
    reader, form = visit.reader, visit.form
    wanted = await correction.asked_for(reader, visit.asked)
    try:
        steps = await correction.apply(
            reader, wanted, seen=form.text("seen"), once=form.text("once")
        )
    except correction.ChangedMeanwhileError:
        visit.asked = Asked({**visit.asked.given, "step": "preview"})
        return await _plan(visit, CHANGED)
    shown, slot = {"id": wanted.item.id}, wanted.slot
    if slot is not None:
        shown |= {"subject": slot.subject, "predicate": slot.predicate}
    done = {"steps": steps, "signature": reader.sign(steps)}
    return RedirectResponse(address("/item" if slot is None else "/slot", **shown, **done), 303)


async def _undo(visit: Visit) -> Response:
    steps = visit.form.given.get("steps", "").replace("\r\n", "\n")
    if not visit.reader.signed(steps, visit.form.text("signature")):
        raise Problem(403, "form_refused", "These steps are of another session.")
    await correction.undo(visit.reader, steps)
    item_id = visit.form.text("id")
    back = address("/item" if item_id else "/review", id=item_id, undone="1")
    return RedirectResponse(back, 303)


async def _decide(visit: Visit) -> Response:
    steps = await review.decide(visit.reader, visit.form)
    given = {"steps": steps, "signature": visit.reader.sign(steps)}
    return RedirectResponse(address("/review", **given), 303)


async def _plan_erasure(visit: Visit, problem: str = "") -> Response:
    return visit.page(*await erasure.plan(visit.reader, visit.asked, problem))


async def _erase(visit: Visit) -> Response:
    given = {**visit.asked.given, "reason": visit.form.text("reason")}
    wanted = erasure.asked_for(visit.reader, Asked(given))
    if wanted is None:
        return RedirectResponse("/erase", 303)
    done = await erasure.erase(visit.reader, wanted, visit.form)
    if isinstance(done, str):
        visit.asked = Asked(given)
        return await _plan_erasure(visit, done)
    return visit.page("erased", {"report": done})


async def _jobs(visit: Visit) -> Response:
    visit.reader.need("read")
    cursor = visit.asked.text("cursor") or None
    calls = await visit.service.runner.page(visit.reader.handle, visit.grant, cursor=cursor)
    return visit.page(*await jobs.jobs(visit.reader, calls))


async def _change_job(visit: Visit) -> Response:
    """End a long call, or run background jobs again."""
    visit.reader.need("read")
    runner, handle, call = visit.service.runner, visit.reader.handle, visit.form.text("id")
    if call:
        await runner.cancel(handle, visit.grant, call)
    else:
        operation = BY_METHOD["run_jobs"]
        check_right(operation, visit.grant)
        asked = {"given": {"jobs": [visit.form.text("job")]}, "path": {}}
        await runner.ask(handle, operation, asked, grant=visit.grant, key=None)
    return RedirectResponse("/jobs", 303)


async def _draw(visit: Visit) -> Response:
    """Lead to Neo4j Browser, with the statement that draws an item and what is around it."""
    visit.reader.need("read", "admin")
    item = (await visit.reader.reads.expand(visit.asked.text("id"))).item
    if isinstance(item, Turn):
        item = await visit.reader.reads.episodes.get(item.episode_id)
    statement = drawing.query(DRAWN[type(item)], (visit.grant.tenant, item.scope), {"id": item.id})
    link = await asyncio.to_thread(local_server.browse_link, visit.service.settings, statement)
    if link is None:
        raise Problem(503, "unavailable", "The managed server does not run.")
    return RedirectResponse(link, 303)


async def _choose(visit: Visit) -> Response:
    scope = visit.form.text("scope")
    if not scope or not visit.grant.covers(scope):
        raise Problem(403, "not_granted", "Your key does not grant this scope.")
    answer = RedirectResponse("/", 303)
    _set(answer, visit.request, SCOPE, quote(scope))
    return answer


async def _log_out(visit: Visit) -> Response:
    answer = RedirectResponse(LOGIN, 303)
    answer.delete_cookie(visit.cookie)
    answer.delete_cookie(SCOPE)
    return answer


ANSWERS: Mapping[tuple[str, str], Answer] = {
    **{("GET", path): _reading(page) for path, page in READS.items()},
    ("GET", "/draw"): _draw,
    ("GET", "/correct"): _plan,
    ("POST", "/correct"): _correct,
    ("POST", "/undo"): _undo,
    ("POST", "/review"): _decide,
    ("GET", "/erase"): _plan_erasure,
    ("POST", "/erase"): _erase,
    ("GET", "/jobs"): _jobs,
    ("POST", "/jobs"): _change_job,
    ("POST", "/scope"): _choose,
    ("POST", "/logout"): _log_out,
}
"""Answers to requests of a session, by verb and path."""
PAGES = frozenset(path for _, path in ANSWERS)
"""Paths that a session opens instead of a key."""


async def _file(request: Request) -> Response:
    name = request.url.path.rpartition("/")[2]
    kind = rendering.ASSETS[name]
    return Response(rendering.asset(name), media_type=kind, headers=dict(rendering.HEADERS))


async def _form(request: Request) -> dict[str, str]:
    """Return the fields of a form.

    Raises:
        Problem: it is not a form of a page.
    """
    try:
        text = (await request.body()).decode()
        return dict(parse_qsl(text, keep_blank_values=True, max_num_fields=MAX_FIELDS))
    except ValueError:
        raise Problem(400, "invalid_form", "This is not a form of the explorer.") from None


def _set(answer: Response, request: Request, name: str, value: str) -> None:
    secure = request.url.scheme == "https"
    answer.set_cookie(name, value, SESSION_S, httponly=True, samesite="strict", secure=secure)


def _login(given: Mapping[str, str], problem: str = "", status: int = 200) -> Response:
    values = {"ticket": given.get("ticket", ""), "next": given.get("next", ""), "problem": problem}
    return _html(rendering.page("login", reader=None, **values), status)


def _local(address: str) -> str:
    """Return where a login leads: a page of the explorer, else home."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return "/"
    shown = {path for verb, path in ANSWERS if verb == "GET"}
    known = not parts.scheme and not parts.netloc and parts.path in shown
    return urlunsplit(("", "", parts.path, parts.query, "")) if known else "/"


def _refusal(reader: Reader | None, error: GraphmemError, *, is_form: bool) -> Response:
    """Return the page of an error; that of a memory that is starting loads again, but no form."""
    problem = problems.of_error(error)
    if isinstance(error, StillStartingError):
        hint = "Send the form again." if is_form else "This page loads again by itself."
        title = "The memory is starting"
        return _message(reader, problem.status, title, problem.detail, hint, again=not is_form)
    title = "Not found" if problem.status == 404 else "This did not work"
    return _message(reader, problem.status, title, problem.detail, problem.hint)


def _message(
    reader: Reader | None,
    status: int,
    title: str,
    text: str,
    hint: str = "",
    *,
    again: bool = False,
) -> Response:
    token = "" if reader is None else reader.sign("form")
    shown = {"title": title, "text": text, "hint": hint, "again": again}
    return _html(rendering.page("message", reader=reader, token=token, **shown), status)


def _html(text: str, status: int = 200) -> Response:
    return HTMLResponse(text, status, headers=dict(rendering.HEADERS))
