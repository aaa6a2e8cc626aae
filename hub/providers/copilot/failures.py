"""Why Copilot CLI stopped: the words of its own making -> failure class.

Owns: the table of those words.
Must not: repeat what vendors say (`hub.providers.acp.failures` knows it, and is asked next).

The words of GitHub's own limits were read in the program, not seen: they need an account.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from hub.domain.failure import Failure, FailureClass
from hub.providers.acp import failures as common

_TEXTS: Sequence[tuple[FailureClass, str]] = (
    (
        FailureClass.AUTH,
        r"\AAuthentication failed|not authenticated|not logged in|No authentication information",
    ),
    (FailureClass.USAGE_LIMIT, r"premium requests?|exceeded the quota|rate limited on the current model"),
    (FailureClass.USAGE_LIMIT, r"additional usage limit reached|out of AI credits"),
)
_TABLE = [(kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in _TEXTS]
_LAST = re.compile(r"Last error: (.+)", re.DOTALL)
_RETRY = re.compile(r"\bRetrying\b", re.IGNORECASE)


def class_of(text: str, code: int = 0) -> FailureClass | None:
    """The class that the words and the code tell; None when they tell none."""
    own = next((kind for kind, pattern in _TABLE if pattern.search(text)), None)
    if own is not None:
        return own
    # After its own retries it says so first, and what the vendor said last.
    last = _LAST.search(text)
    return common.class_of(last[1] if last else text, code)


def classify(text: str, now: float) -> Failure:
    """The failure that an error in the model's place tells."""
    return common.classify(text, 0, now, kinds=class_of)


def is_retry(text: str) -> bool:
    """Whether the program says that it tries again."""
    return _RETRY.search(text) is not None
