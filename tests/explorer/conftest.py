"""The explorer as a browser shows it, and a browser for it."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from itertools import chain, product
from urllib.parse import urlencode

import httpx2
from starlette.testclient import TestClient

from graphmem import Handle
from tests.plugins import hostile
from tests.plugins.service import Api, alone, api

__all__ = ["EVIL", "Browser", "Checked", "alone", "api", "browser", "correct", "form_of", "undo"]
EVIL = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "'><a href='javascript:alert(1)'>x</a>",
    "javascript:alert(1)",
    "</title></bdi></textarea><iframe src=//evil.example>",
    "{{ 7 * 7 }} {% raw %} ${7*7} #{x}",
    "&lt;b&gt; &#60;b&#62; &amp;lt;",
    "[x](javascript:alert(1)) ![y](http://evil.example/z.png)",
    "http://evil.example/ //evil.example data:text/html,x",
)
TAGS = frozenset(
    {"a", "bdi", "blockquote", "body", "button", "circle", "code", "dd", "details", "div", "dl"}
    | {"dt", "fieldset", "figcaption", "figure", "footer", "form", "g", "h1", "h2", "h3", "head"}
    | {"header", "html", "input", "label", "legend", "li", "link", "main", "meta", "nav", "ol", "p"}
    | {
        "option",
        "path",
        "pre",
        "rect",
        "script",
        "section",
        "select",
        "span",
        "strong",
        "summary",
        "sup",
        "svg",
    }
    | {"table", "tbody", "td", "text", "th", "thead", "time", "title", "tr", "ul"}
)
FIELDS = frozenset({"href", "src", "action", "formaction"})


class Checked(HTMLParser):
    """Parser of a page that refuses what only stored text could have added."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.links = list[str]()
        self.forms = list[dict[str, str]]()
        self.shown = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in TAGS, tag
        found = {name: value or "" for name, value in attrs}
        for name, value in found.items():
            assert not name.startswith("on"), name
            assert name not in {"style", "srcset", "srcdoc"}, name
            assert name not in FIELDS or re.match(r"/(?!/)|#main$", value), value
        if tag == "script":
            assert found == {"src": "/assets/explorer.js", "defer": ""}
        if tag == "a":
            self.links.append(found["href"])
        if tag == "form":
            self.forms.append({"action": found["action"]})
        if tag in {"input", "button"} and self.forms and found.get("name"):
            self.forms[-1].setdefault(found["name"], found.get("value", ""))

    def handle_data(self, data: str) -> None:
        assert self.cdata_elem is None or not data.strip(), data
        self.shown += data


def check_inert(page: str) -> None:
    """Check that a page has only the markup of the templates, and shows invisible characters."""
    Checked(page)
    left = hostile.found_in(page.replace("\n", " ")) - {"\u200c", "\u200d"}
    assert not left, left


def write_hostile(memory: Handle) -> list[str]:
    """Write two hundred hostile texts into memories and beliefs, and return them."""
    pairs = product((*hostile.MARKUP, *hostile.UNSEEN), EVIL)
    both = chain.from_iterable((f"{evil} {odd}", f"{odd} {evil}") for odd, evil in pairs)
    texts = [f"{number} {text}" for number, text in enumerate(both)][:200]
    assert len(texts) == 200
    memory.remember_many(texts)
    memory.observe_many(
        {"subject": text, "predicate": "is", "object": text, "note": text, "actor": text[:100]}
        for text in texts
    )
    memory.observe_many({"subject": "Ada", "predicate": "is", "object": text} for text in texts)
    return texts


class Browser:
    """A browser with a session."""

    def __init__(self, http: TestClient, cookie: str = "") -> None:
        self.http = http
        self.cookies = {"session": cookie} if cookie else {}

    def log_in(self, **given: str) -> httpx2.Response:
        """Log in with a key or a ticket; keep the cookie."""
        found = self._sent("POST", "/login", given)
        self._keep(found)
        return found

    def get(self, path: str, status: int = 200, /, **query: str) -> str:
        """Return a page, which must have this status; its markup is only the templates'."""
        found = self._sent("GET", f"{path}?{urlencode(query)}" if query else path)
        assert found.status_code == status, (path, found.text[:300])
        Checked(found.text)
        return found.text

    def post(self, form: dict[str, str], *, follows: bool = True) -> httpx2.Response:
        """Submit a form of a page; follow the redirect."""
        fields = {name: value for name, value in form.items() if name != "action"}
        found = self._sent("POST", form["action"], fields)
        self._keep(found)
        if follows and found.status_code == 303:
            return self._sent("GET", found.headers["location"])
        return found

    def _keep(self, found: httpx2.Response) -> None:
        for line in found.headers.get_list("set-cookie"):
            name, _, rest = line.partition("=")
            self.cookies[name] = rest.partition(";")[0]

    def _sent(self, verb: str, path: str, form: dict[str, str] | None = None) -> httpx2.Response:
        self.http.cookies.clear()
        headers = {"Cookie": "; ".join(f"{name}={it}" for name, it in self.cookies.items())}
        if form is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        found = self.http.request(
            verb,
            path,
            headers=headers,
            content=None if form is None else urlencode(form),
            follow_redirects=False,
        )
        self.http.cookies.clear()
        return found


def browser(api: Api, tenant: str, *scopes: str, rights: str = "read write review") -> Browser:
    """Return a browser that has logged in with a new key."""
    found = Browser(api.http)
    assert found.log_in(key=api.key(tenant, *scopes, rights=rights)).status_code == 303
    return found


def form_of(page: str, action: str, **given: str) -> dict[str, str]:
    """Return a filled form of a page."""
    [found] = [one for one in Checked(page).forms if one["action"].startswith(action)][:1]
    return found | given


def correct(visitor: Browser, item_id: str, **given: str) -> str:
    """Put an item right in the way a person does; return the page afterwards."""
    asked = visitor.get("/correct", id=item_id)
    filled = form_of(asked, "/correct", reason="I know it", **given)
    preview = visitor.get(filled.pop("action"), **filled)
    done = visitor.post(form_of(preview, "/correct"))
    assert "Done: the memory has your correction." in done.text, done.text
    return done.text


def undo(visitor: Browser, page: str) -> None:
    """Take a correction back."""
    found = visitor.post(form_of(page, "/undo"))
    assert "Taken back" in found.text, found.text
