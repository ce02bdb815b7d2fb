"""The stored log equals the conversation, whatever list of it a client sends, and when it fails."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from random import Random

import hypothesis
from hypothesis import given
from hypothesis import strategies as st

from graphmem.conversation import plans
from graphmem.conversation.plans import StoredConversation, StoredTurn, TurnPlan
from graphmem.model import Message, roles
from tests.plugins.examples import examples

MAY = datetime(2025, 5, 5, tzinfo=UTC)
EPISODE = "ep"


class Log:
    """A stored conversation, written as `conversation.storing` does, in memory."""

    def __init__(self) -> None:
        self.turns: list[StoredTurn] = []
        self.attempts: dict[tuple[Message, ...], TurnPlan] = {}

    def texts(self) -> list[str]:
        return [turn.key[2] for turn in self.turns]

    def add(
        self, messages: Sequence[Message], *, repeats: bool = True, after: str | None = None
    ) -> TurnPlan:
        """Store a list, and keep the attempt until `acknowledge`."""
        tried = self.attempts.get(tuple(messages))
        if tried and {turn.id for turn in self.turns}.issuperset(tried.ids):
            return tried
        keyed = [after is None] * len(messages)
        sent = plans.sent_messages(EPISODE, messages, keyed, "person")
        asked = {one for message in sent for one in message.ids} | {after}
        texts = {message.content for message in messages}
        stored = StoredConversation(
            [turn for turn in self.turns if turn.key[2] in texts or turn.id in asked],
            [n for n, turn in enumerate(self.turns) if roles.is_system(turn.key[0])],
            max((n for n, turn in enumerate(self.turns) if turn.key[0] == "user"), default=-1),
            len(self.turns),
        )
        plan = (
            plans.plan_reply(EPISODE, sent, after, stored)
            if after
            else plans.plan_turns(EPISODE, sent, stored, repeats=repeats)
        )
        self.attempts[tuple(messages)] = plan
        for n, i in enumerate(plan.new):
            self.turns.append(StoredTurn(plan.ids[i], plan.next + n, sent[i].key))
        return plan

    def acknowledge(self) -> None:
        self.attempts.clear()


class Client:
    """A chat program: its history, how it sends it, and what the log must hold."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.log = Log()
        self.expected: list[str] = []
        self.history: list[Message] = []
        self.system: Message | None = None
        self.edited: list[str] = []
        self.count = 0
        self.shape = self.random.choice(["whole", "window", "trimmed", "new"])
        self.window = self.random.randint(4, 7)
        self.head = self.random.randint(1, 3)
        self.prompt = self.random.choice(["none", "pinned", "changing"])
        self.responds = self.random.choice(["never", "always", "mixed"])
        self.keys = self.random.choice(["none", "ids", "some ids", "some times", "mixed"])
        self.revises = self.shape != "new" and self.chance()
        # Answers that are repeated cannot be distinguished in a part of the conversation.
        self.repeats_answers = self.shape in ("whole", "new") and not self.revises
        self.fails = self.chance()

    def chance(self) -> bool:
        return self.random.random() < 0.5

    # Messages

    def message(self, role: str, text: str) -> Message:
        self.count += 1
        chosen = self.keys
        if chosen == "mixed":
            chosen = self.random.choice(["none", "ids", "some times"])
        elif chosen.startswith("some"):
            chosen = chosen if self.chance() else "none"
        return Message(
            role=role,
            content=text,
            id=f"m{self.count}" if "ids" in chosen else None,
            at=MAY + timedelta(minutes=self.count) if "times" in chosen else None,
        )

    def question(self) -> Message:
        text = self.random.choice(["higher", "lower", "yes", ""])
        return self.message("user", text or f"question {self.count}")

    def answer(self) -> Message:
        text = self.random.choice(["ok", "right", ""]) if self.repeats_answers else ""
        return self.message("assistant", text or f"answer {self.count}")

    # Calls

    def sent(self, new: int) -> list[Message]:
        """Return the list that is sent, of whose messages the last `new` are new."""
        old, fresh = self.history[: len(self.history) - new], self.history[-new:]
        if self.shape == "new":
            old = []
        elif self.shape == "window":
            old = old[-self.window :]
        elif self.shape == "trimmed" and len(old) > self.head + self.window:
            old = [*old[: self.head], *old[-self.window :]]
        return [*self.instruction(), *old, *fresh]

    def instruction(self) -> list[Message]:
        if self.prompt == "none":
            return []
        if self.system is None or (self.prompt == "changing" and self.chance()):
            self.count += 1
            self.system = Message(role="system", content=f"It is {self.count} o'clock.")
            self.expected.append(self.system.content)
        return [self.system]

    def lost(self) -> bool:
        return self.fails and self.random.randint(0, 3) == 0

    def add(self, messages: Sequence[Message]) -> None:
        """Call `add_messages`, again after each lost call."""
        if self.lost():
            if self.chance():
                self.log.add(messages)
            self.log.add(messages)
        else:
            self.log.add(messages)
        self.log.acknowledge()

    def respond(self, messages: Sequence[Message], answer: Message) -> None:
        """Call `respond`; the reply has no id or time yet."""
        reply = [Message(role="assistant", content=answer.content)]
        while True:
            if self.lost() and self.chance():
                continue  # The first write failed.
            asked = self.log.add(messages, repeats=False)
            if self.lost():
                continue  # The model failed.
            self.log.add(reply, after=asked.ids[-1])
            if self.lost():
                continue  # The acknowledgement of the second write was lost.
            break
        self.log.acknowledge()

    def exchange(self, question: Message | None, answer: Message) -> None:
        """Send a question, if it is new, and its answer."""
        if question is not None:
            self.history.append(question)
        by_model = self.responds == "always" or (self.responds == "mixed" and self.chance())
        if by_model:
            sent = self.sent(1)
            self.history.append(answer)
        else:
            self.history.append(answer)
            sent = self.sent(2)
        self.expected += self.edited + ([question.content] if question else [])
        self.edited = []
        self.expected.append(answer.content)
        self.respond(sent, answer) if by_model else self.add(sent)

    # Events

    def step(self) -> None:
        action = self.random.choice(["ask", "ask", "regenerate", "edit last", "edit"])
        if not self.revises or len(self.history) < 6 or action == "ask":
            self.exchange(self.question(), self.answer())
        elif action == "regenerate":
            self.history.pop()
            self.exchange(None, self.answer())
        elif action == "edit last":
            del self.history[-2:]
            self.exchange(self.message("user", f"edited {self.count}"), self.answer())
        else:
            self.edit()

    def edit(self) -> None:
        """Change a message that stays in its place, and ask what was not asked before, twice."""
        if self.shape != "whole":
            return
        place = self.random.randint(0, len(self.history) - 1)
        old = self.history[place]
        own = old.id if self.chance() else self.message("user", "").id
        text = f"edited {self.count}"
        self.count += 1
        self.history[place] = old.model_copy(update={"content": text, "id": own})
        self.edited = [text]
        for _ in range(2):
            self.exchange(self.message("user", f"question {self.count}"), self.answer())


@hypothesis.settings(max_examples=examples(500, 2_000, 10_000))
@given(st.integers(0, 2**64))
def test_the_log_equals_the_conversation(seed: int) -> None:
    client = Client(Random(seed))
    for _ in range(client.random.randint(1, 12)):
        client.step()
        assert client.log.texts() == client.expected
