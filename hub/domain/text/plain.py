"""Events and answers as plain text, whatever an agent wrote.

Owns: cleaning every string of an event, or of any JSON value.
Must not: know what a character does (`hub.domain.text.safe` does), or redact.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar, cast

from hub.domain.text.safe import clean, marked

if TYPE_CHECKING:
    from hub.domain.event import Event  # a list of sessions has none
    from hub.domain.meta import EventMeta

T = TypeVar("T")
_ASKED = frozenset({"command", "path", "paths", "cwd", "input", "texts", "within"})
"""What a tool is given, in a request for permission: judged whole: a shell runs what stands behind an escape sequence."""


def plain(event: Event) -> Event:
    """The event without anything a terminal would act on or a reader cannot see.

    To be done before redaction: a secret that was cut up by such characters is one again.
    """
    asked = _ASKED if "approvalId" in event.meta else frozenset()
    meta = {key: _plain(value, marked if key in asked else clean) for key, value in event.meta.items()}
    return event.but(clean(event.content), cast("EventMeta", meta))


def plain_value(value: T) -> T:
    """A JSON value with every string in it cleaned, keys too; what is no JSON is left as it is."""
    return cast("T", _plain(value, clean))


def _plain(value: object, made: Callable[[str], str]) -> object:
    if isinstance(value, str):
        return made(value)
    if isinstance(value, list | tuple):
        return [_plain(item, made) for item in value]
    if isinstance(value, dict):
        return {made(str(key)): _plain(item, made) for key, item in value.items()}
    return value
