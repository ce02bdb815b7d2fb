"""Language models behind one port, by litellm."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphmem.ports import Llm
    from graphmem.settings import Settings


def open_llm(settings: Settings, *, awaited: bool) -> Llm | None:
    """Return the language model that `settings.model` names, or None, without calling it.

    Args:
        settings: `model` is the name of a litellm language model, or None.
        awaited: True for a model that suspends while it works, False for one whose coroutines
            never suspend.

    Raises:
        ConfigurationError: the address or the key cannot be used in an HTTP request.
    """
    if settings.model is None:
        return None
    from graphmem.adapters.models.language.gateway import LanguageGateway
    from graphmem.io_modes import AWAITED, BLOCKING

    return LanguageGateway(settings.model, settings, AWAITED if awaited else BLOCKING)
