"""Why Copilot CLI stopped: the words of its own making -> failure class.

Owns: the table of those words.
Must not: repeat what vendors say (`hub.providers.vendors`).

The words of GitHub's own limits were read in the program, not seen: they need an account.
"""

from __future__ import annotations

import re

from hub.domain.failure import Failure, FailureClass
from hub.providers.acp import failures as common
from hub.providers.wording import Wording

WORDING = Wording(
    (
        (
            FailureClass.AUTH,
            (
                r"Authentication failed with provider|No authentication information (?:was )?found|Not authenticated\b"
                r"|Access denied by policy settings"
            ),
        ),
        (
            FailureClass.USAGE_LIMIT,
            (
                r"You(?:'ve| have) (?:exceeded|used|run out of) (?:all |the |your )*(?:quota|premium requests?)"
                r"|Additional usage limit reached|(?:You are )?out of AI credits"
            ),
        ),
        # What it was told last stands behind that, and says more.
        (
            FailureClass.OVERLOAD,
            r"Failed to get response from the AI model(?!.*Last error: (?!Unknown error))",
        ),
    ),
    leads=r"(?:Last error|Execution failed|Model call failed): ",  # what the vendor said last comes behind it
)
_RETRY = re.compile(r"\bRetrying\b", re.IGNORECASE)


def class_of(text: str, code: int = 0) -> FailureClass | None:
    """The class that the words and the code tell; None when they tell none."""
    return common.class_of(text, code, WORDING)


def classify(text: str, now: float) -> Failure:
    """The failure that an error in the model's place tells."""
    return common.classify(text, 0, now, wording=WORDING)


def is_retry(text: str) -> bool:
    """Whether the program says that it tries again."""
    return _RETRY.search(text) is not None
