"""Why Qwen Code stopped: the words of its own making -> failure class.

Owns: the table of those words.
Must not: repeat what vendors say (`hub.providers.acp.failures` knows it, and is asked next).

Traps: an answer that safeguards blocked is asked for four times more and then told as an empty stream. A quota whose
error tells a reset is told at once ("Quota exhausted: ..."); any other 429 after one round of retries, some 80 to
95 s, and in words that say no more than "Rate limit exceeded. Try again later."
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from hub.domain.failure import FailureClass
from hub.providers.acp import failures as common

_TEXTS: Sequence[tuple[FailureClass, str]] = (
    (FailureClass.USAGE_LIMIT, r"\AQuota exhausted: |free allocated quota exceeded"),
    (FailureClass.AUTH, r"OAuth free tier has been discontinued|missing api key|run /auth\b"),
    (FailureClass.CONTEXT_OVERFLOW, r"Context is too large to send safely|session token limit"),
    (FailureClass.REFUSAL, r"Model stream ended with empty response text"),
    (FailureClass.REFUSAL, r"Model stream ended after a tool result without visible progress"),
    (FailureClass.OVERLOAD, r"Model stream ended without a finish reason|streaming request timeout"),
)
_TABLE = [(kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in _TEXTS]


def class_of(text: str, code: int = 0) -> FailureClass | None:
    """The class that the words and the code tell; None when they tell none."""
    own = next((kind for kind, pattern in _TABLE if pattern.search(text)), None)
    return own or common.class_of(text, code)
