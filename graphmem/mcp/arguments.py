"""What tools are called with: records that refuse what they do not know."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from graphmem.model import AsOf, Instant, Name, Record, Text

Strength = Annotated[float, Field(ge=0.5, le=0.9, allow_inf_nan=False)]
"""Below 0.5 evidence would speak the other way; above 0.9 an agent is too sure."""
Prior = Annotated[float, Field(ge=0.1, le=0.9, allow_inf_nan=False)]
"""Of a hypothesis that nothing speaks for or against yet."""
Question = Annotated[Text, Field(min_length=1, max_length=100_000, pattern=r"\S")]
Rows = Annotated[int, Field(ge=1, le=100)]
"""So many that an answer still fits into a model's context."""
Reason = Annotated[Text, Field(max_length=10_000)]


Session = Annotated[
    Name | None, Field(description="Name of this conversation, the same in every call")
]
When = Annotated[
    AsOf | None,
    Field(description="Answer as of then: what was true (valid), what was recorded (known)"),
]
At = Annotated[Instant | None, Field(description="When it happened, with time zone; default now")]
Turn = Annotated[
    Name | None, Field(description="Id of the turn (of add_messages) whose words it rests on")
]
NotedWhy = Annotated[Reason | None, Field(description="Why, in words; kept")]


class SessionArguments(Record):
    """Arguments of a tool that belongs to a conversation."""

    session: Session = None
