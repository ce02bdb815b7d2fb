"""A model behind an OpenAI-compatible service that knows tools only from their listing.

It understands a small English. It chooses a tool by comparing its situation with the sentence
"Use when …" of each description, and fills arguments by comparing what it knows with the names and
descriptions of the listed schema. So a wrong description or schema makes it fail.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tests.plugins.loopback import LoopbackService, Reply

Json = dict[str, Any]

UNKNOWN = "I do not know."
_DATE = r"\d{4}-\d\d-\d\d(?:T\d\d:\d\d)?"
_ON = rf"(?: on (?P<as_of>{_DATE}))?"
_SINCE = rf"(?: since (?P<since>{_DATE}))?"
_WHO = r"(?P<subject>[A-Z]\w*)"
_VERB = r"(?P<verb>live|work|deploy)"


@dataclass(frozen=True)
class Request:
    """Request of the user, with the facts known about it."""

    situation: str
    known: Mapping[str, str]
    about: str
    """Words that the wanted item has."""


SITUATIONS = {
    "value": "the user asks what the value of a fact is, or was on a past date",
    "open": "the user asks an open question; memory may hold the answer",
    "list": "the user asks a question about what has some tags",
    "why": "the user asks why something is believed, and who it comes from",
    "fact": "a fact about a person or thing is learned, or its value changed",
    "sentence": "a preference, a decision, a plan or a rule of the user, worth knowing later",
    "changed": "a remembered sentence has changed; the new sentence replaces it",
    "wrong": "a recorded fact was a mistake, wrong from the start",
    "forget": "the user asks to forget or delete something for good",
    "id": "the id of a stored item is needed",
}
"""Situations of the model, in words of its own."""
KNOWN = {
    "question": "question of the user in full, keywords",
    "sentence": "sentence that is clear on its own",
    "subject": "subject person thing",
    "predicate": "predicate relation",
    "value": "object value",
    "since": "date since when it holds",
    "as_of": "as_of past date of the question",
    "tag": "tags labels",
    "session": "session name of this conversation",
    "confirm": "confirm the plan, the user agreed",
    "cardinality": "cardinality of a new predicate: one, many",
}
"""Kinds of values that the model can know, in words of its own."""
ONE_AT_A_TIME = {"lives_in", "works_at", "employer", "deploys_from", "mascot", "codename", "name"}
"""Predicates of which the model knows that a thing has one value at a time."""
_PREDICATES = {"live": "lives_in", "work": "works_at", "deploy": "deploys_from"}
_FACTS = (
    rf"{_WHO} (?:never )?{_VERB}(?:s|d|ed)? (?:in|at|from) (?P<value>.+?){_SINCE}",
    rf"{_WHO}'s (?P<noun>[\w ]+?) (?:is|was)(?: never)? (?P<value>.+?){_SINCE}",
    rf"{_WHO} (?P<other>likes|owns) (?P<value>.+?){_SINCE}",
)
_QUESTIONS = (
    rf"Where (?:does|did) {_WHO} {_VERB}(?: from)?{_ON}\?",
    rf"What (?:is|was) {_WHO}'s (?P<noun>[\w ]+?){_ON}\?",
    rf"What does {_WHO} (?P<plain>like|own)\?",
)


def understood(text: str) -> Request:
    """Return what a user's message asks for."""
    for pattern in _QUESTIONS:
        if match := re.fullmatch(pattern, text):
            known = _slot(match)
            return _request("value", {"question": text, **known}, known["subject"])
    if match := re.fullmatch(r"What is tagged (?P<tag>\w+)\?", text):
        return _request("list", {"question": match["tag"], "tag": match["tag"]}, match["tag"])
    if match := re.fullmatch(r"Why do you think that (?P<fact>.+)\?", text):
        return _request("why", {"question": match["fact"], **_fact(match["fact"])}, match["fact"])
    if match := re.fullmatch(rf"(.+?){_ON}\?", text):
        known = {"question": f"{match[1]}?"} | _given(match)
        return _request("open", known, match[1])
    return _statement(text.removesuffix("."))


def _statement(text: str) -> Request:
    if match := re.fullmatch(r"Please (?:forget|delete) that (?P<what>.+)", text):
        what = match["what"]
        return _request("forget", {"question": what, **_fact(what)}, what)
    if match := re.fullmatch(r"I was wrong: (?P<fact>.+)", text):
        known = _fact(match["fact"])
        return _request("wrong", {"question": match["fact"], **known}, known["value"])
    changed = rf"(?P<new>.+?)(?: since (?P<since>{_DATE}))?, no longer: (?P<old>.+)"
    if match := re.fullmatch(changed, text):
        known = {"question": match["old"], "sentence": f"{match['new']}."} | _given(match)
        return _request("changed", known, match["old"])
    if match := re.fullmatch(rf"Remember(?: under (?P<tag>\w+))? that (?P<what>.+?){_SINCE}", text):
        return _request(
            "sentence", {"sentence": f"{match['what']}."} | _given(match), match["what"]
        )
    if known := _fact(text):
        return _request("fact", known, known["value"])
    return _request("sentence", {"sentence": f"{text}."}, text)


def _request(situation: str, known: Mapping[str, str], about: str) -> Request:
    return Request(situation, known, about)


def _given(match: re.Match[str]) -> dict[str, str]:
    names = {"since", "as_of", "tag", "subject", "value"}
    return {name: value for name, value in match.groupdict().items() if value and name in names}


def _fact(text: str) -> dict[str, str]:
    for pattern in _FACTS:
        if match := re.fullmatch(pattern, text):
            return _slot(match)
    return {}


def _slot(match: re.Match[str]) -> dict[str, str]:
    found = match.groupdict()
    if verb := found.get("verb"):
        predicate = _PREDICATES[verb]
    elif noun := found.get("noun"):
        predicate = noun.replace(" ", "_")
    else:
        predicate = found.get("other") or f"{found['plain']}s"
    reading = "one value at a time" if predicate in ONE_AT_A_TIME else "several values at once"
    return {"predicate": predicate, "cardinality": reading} | _given(match)


_OF_THE_ITEM = {"question", "subject", "predicate", "tag", "session"}
"""Kinds that help to find a stored item; the date of a change, for one, does not."""
_COMMON = frozenset(
    ("a", "an", "and", "as", "at", "be", "by", "for", "from", "if", "in", "is", "it", "no", "of")
) | {"on", "or", "so", "that", "the", "to"}


def _stems(text: str) -> Counter[str]:
    words = re.findall(r"[a-z]+", text.lower().replace("_", " "))
    kept = [word for word in words if word not in _COMMON]
    return Counter(re.sub(r"(?<=\w{3})(ing|ed|es|s)$", "", word) for word in kept)


def _nearest(text: str, others: Mapping[str, str], *, least: float) -> str | None:
    """Return the name of the text that is most like `text`, by the cosine of rare words."""
    counted = {name: _stems(other) for name, other in others.items()}
    seen = Counter(word for words in counted.values() for word in words)
    weight = {word: math.log((1 + len(counted)) / count) for word, count in seen.items()}

    def dot(a: Counter[str], b: Counter[str]) -> float:
        return sum(weight.get(word, 0.0) ** 2 for word in a.keys() & b.keys())

    wanted = _stems(text)
    best, name = least, None
    for one, words in counted.items():
        norm = math.sqrt(dot(wanted, wanted) * dot(words, words))
        score = dot(wanted, words) / norm if norm else 0.0
        if score > best:
            best, name = score, one
    return name


@dataclass(frozen=True)
class Done:
    """A call of a tool and its result."""

    tool: str
    arguments: Json
    result: Any
    failed: bool


class Literal:
    """One answer to one request, from its messages and its tools alone."""

    def __init__(self, body: Json) -> None:
        self.tools: dict[str, Json] = {
            one["function"]["name"]: one["function"] for one in body["tools"]
        }
        self.messages: list[Json] = body["messages"]
        [named] = re.findall(r"conversation is named (\w+)", self.messages[0]["content"])
        self.session = named
        last = max(n for n, one in enumerate(self.messages) if one["role"] == "user")
        self.before = list(self._done(self.messages[:last]))
        self.since = list(self._done(self.messages[last:]))
        self.text: str = self.messages[last]["content"]

    def _done(self, messages: Sequence[Json]) -> Iterator[Done]:
        calls = {call["id"]: call for one in messages for call in one.get("tool_calls") or ()}
        for one in messages:
            if one["role"] == "tool":
                call = calls[one["tool_call_id"]]["function"]
                content = one["content"]
                with_error = content.startswith("Error: ")
                result = _parsed(content.removeprefix("Error: "))
                yield Done(call["name"], json.loads(call["arguments"]), result, with_error)

    def reply(self) -> str | tuple[str, Json]:
        """Return the answer, or the name and the arguments of a tool to call."""
        if self.text.startswith("No."):
            return "Nothing was changed."
        if self.since and self.since[-1].failed:
            return self._corrected(self.since[-1])
        if self.text.startswith("Yes."):
            return self._confirmed()
        request = understood(self.text)
        request = replace(request, known={**request.known, "session": self.session})
        tool = self._tool(request.situation)
        if tool is None:
            return "I have no tool for that."
        if self.since and self.since[-1].tool == tool:
            return self._answer(request, self.since[-1])
        if self.since and request.situation == "value":
            return self._answer(request, self.since[-1])
        return self._call(request, tool)

    def _tool(self, situation: str) -> str | None:
        clauses = {}
        for name, tool in self.tools.items():
            if match := re.match(r"Use (?:first |only )?when (.+?)(?:\. |$)", tool["description"]):
                clauses[name] = match[1]
        return _nearest(SITUATIONS[situation], clauses, least=0.2)

    def _call(self, request: Request, tool: str) -> str | tuple[str, Json]:
        """Return the call of a tool, or of one that gives an id that is missing."""
        arguments, missing = self._filled(tool, request.known, request.about)
        if missing is None:
            return tool, arguments
        if not missing.endswith("_id"):
            return f"I do not know what {missing} of {tool} means."
        named = re.search(r"\(call (\w+) for (?:it|its id)\b", self.tools[tool]["description"])
        helper = named[1] if named else self._tool("id")
        if helper not in self.tools or any(done.tool == helper for done in self.since):
            return UNKNOWN
        known = {kind: value for kind, value in request.known.items() if kind in _OF_THE_ITEM}
        arguments, missing = self._filled(helper, known, request.about)
        return UNKNOWN if missing else (helper, arguments)

    def _filled(self, tool: str, known: Mapping[str, str], about: str) -> tuple[Json, str | None]:
        """Return the arguments of a call, and the name of a required one that is unknown."""
        schema = self.tools[tool]["parameters"]
        required = schema.get("required", ())
        # As models do, it leaves an optional argument out until an error explains it.
        found = dict(self._values(schema["properties"], {**known, "cardinality": None}))
        found = {name: value for name, value in found.items() if value is not None}
        for name in required:
            if name not in found and name.endswith("_id"):
                found[name] = self._id(schema["properties"][name], about)
            if found.get(name) is None:
                return {}, name
        return found, None

    def _values(
        self, properties: Json, known: Mapping[str, str | None]
    ) -> Iterator[tuple[str, Any]]:
        texts = {name: f"{name} {of.get('description', '')}" for name, of in properties.items()}
        for name, text in texts.items():
            kind = _nearest(text, KNOWN, least=0.2)
            if kind is None or kind not in known:
                continue
            if _nearest(KNOWN[kind], texts, least=0.3) == name:
                yield name, known[kind]

    def _id(self, argument: Json, about: str) -> str | None:
        """Return the newest id that an argument names, of the record most about `about`."""
        names = re.findall(r"\w+_id|\[id\]", argument.get("description", ""))
        wanted = _stems(about)
        best, found = 0, None
        for done in (*self.before, *self.since):
            if done.failed:
                continue
            for record in _records(done.result, done.arguments):
                ids = [record[one] for one in names if one in record]
                shared = (wanted & _stems(_words(record))).total()
                if ids and shared >= max(best, 1):
                    best, found = shared, ids[0]
        return found

    def _corrected(self, done: Done) -> str | tuple[str, Json]:
        """Return the call again with the argument that an error explains, or the error."""
        message = done.result["message"]
        name = message.partition(":")[0]
        schema = self.tools[done.tool]["parameters"]["properties"]
        values = schema.get(name, {}).get("enum")
        if values is None or name in done.arguments:
            return f"That failed: {message}"
        readings = {one: _after(one, f"{message} {done.result['hint']}") for one in values}
        wanted = understood(self.text).known.get(name, "")
        chosen = _nearest(wanted, readings, least=0.0)
        if chosen is None:
            return f"That failed: {message}"
        return done.tool, {**done.arguments, name: chosen}

    def _confirmed(self) -> str | tuple[str, Json]:
        if self.since:
            return f"Done: {self.since[-1].result}"
        if not self.before:
            return UNKNOWN
        planned = self.before[-1]
        properties = self.tools[planned.tool]["parameters"]["properties"]
        known = {"confirm": planned.result.get("confirm")}
        given = dict(self._values(properties, known))
        return planned.tool, {**planned.arguments, **given}

    def _answer(self, request: Request, done: Done) -> str | tuple[str, Json]:
        result = done.result
        if request.situation == "value":
            return self._value(request, done)
        if isinstance(result, str):
            return _read("" if request.situation == "list" else request.known["question"], result)
        if result.get("outcome") == "REJECTED_HYGIENE":
            return f"Not stored: {', '.join(result['hygiene_reasons'])}"
        if "confirm" in result:
            return f"Shall I erase this for good: {'; '.join(result['texts'])}?"
        return f"Done: {json.dumps(result, ensure_ascii=False)}"

    def _value(self, request: Request, done: Done) -> str | tuple[str, Json]:
        result = done.result
        if isinstance(result, str):
            return _read(request.known["question"], result)
        values = [one["object"] for one in result.get("candidates", ()) if one["belief"] >= 0.5]
        if result.get("ambiguous"):
            unclear = [one["object"] for one in result["candidates"] if one.get("ambiguous")]
            return f"I am not sure: {' or '.join(sorted(unclear))}."
        if result.get("leader") is not None:
            return ", ".join(values) if result["cardinality"] == "MANY" else result["leader"]
        near = [one for one in result.get("nearest", ()) if one not in done.arguments.values()]
        if near and len(self.since) < 2:
            return done.tool, {**done.arguments, "predicate": near[0]}
        other = self._tool("open")
        return UNKNOWN if other is None or result["total"] else self._call(request, other)


def _read(question: str, block: str) -> str:
    """Return the lines of a block that have a word of the question, if any, apart from names."""
    plain = _stems(" ".join(re.findall(r"\b[a-z]+", question.removesuffix("?"))))
    wanted = plain.keys() - _stems("does did do was are kept")
    lines = [line for line in block.splitlines() if line.startswith("[")]
    read = [line for line in lines if not wanted or wanted & _stems(line).keys()]
    return "\n".join(read) or UNKNOWN


def _parsed(content: str) -> Any:
    try:
        return json.loads(content)
    except ValueError:
        return content


def _records(result: Any, arguments: Json) -> Iterator[Json]:
    """Yield the maps in a result, and the lines of a text that begin with an id in brackets."""
    if isinstance(result, str):
        for line in result.splitlines():
            if match := re.match(r"\W*\[(\w+)\]", line):
                yield {"[id]": match[1], "text": line}
    elif isinstance(result, list):
        for one in result:
            yield from _records(one, {})
    elif isinstance(result, dict):
        yield {**arguments, **result}
        for one in result.values():
            yield from _records(one, {})


def _words(record: Json) -> str:
    return " ".join(value for value in record.values() if isinstance(value, str))


def _after(word: str, text: str) -> str:
    """Return the words that follow a word in a text, up to the next sign."""
    match = re.search(rf"\b{word}\b([^.;]*)", text)
    return match[1] if match else ""


class LiteralService(LoopbackService):
    """The service of the model."""

    def behave(self, body: Json) -> Reply:
        try:
            reply = Literal(body).reply()
        except Exception as error:  # noqa: BLE001 - it is its answer
            reply = f"I am confused: {error!r}"
        message: Json = {"role": "assistant", "content": None}
        if isinstance(reply, str):
            message["content"] = reply
        else:
            name, arguments = reply
            function = {"name": name, "arguments": json.dumps(arguments)}
            message["tool_calls"] = [
                {"id": f"call_{len(body['messages'])}", "type": "function", "function": function}
            ]
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        answer = {"id": "c", "object": "chat.completion", "model": "literal", "choices": [choice]}
        return self.text(json.dumps(answer).encode())


def chat_tools(tools: Iterable[Any]) -> list[Json]:
    """Return listed MCP tools as tools of a chat request."""
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.input_schema,
            },
        }
        for tool in tools
    ]
