"""Why Codex stopped: `codexErrorInfo` and texts -> failure class and reset.

Owns: the table of its error codes, and the words of its own making.
Must not: keep state, or believe an exit code (0 and 1 both occur with and without a failure).

Order of belief: the code `codexErrorInfo` first, the HTTP status inside it next, then the words. `other` and
the disconnections say only that something went wrong; there the words decide. What nothing explains is
`unknown`: it is surfaced and never run again blindly.

Traps: the apostrophe of "You've hit your usage limit" is U+2019; "try again at 4:53 AM" is a wall clock
without a date when the reset is on the same day. The exact instant is in the quota windows of the stream, so
those win (`hub.providers.codex.windows`); the words are the last resort.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from hub.domain.failure import Failure, FailureClass
from hub.domain.wallclock import HERE
from hub.providers import jsonline
from hub.providers.vendors import of_status
from hub.providers.wording import Wording, failure

MINUTE_WINDOW = "minute"
_TOO_MANY = 429

_CODES: Mapping[str, FailureClass] = {
    "usageLimitExceeded": FailureClass.USAGE_LIMIT,
    "sessionBudgetExceeded": FailureClass.USAGE_LIMIT,
    "rateLimitExceeded": FailureClass.USAGE_LIMIT,
    "contextWindowExceeded": FailureClass.CONTEXT_OVERFLOW,
    "serverOverloaded": FailureClass.OVERLOAD,
    "internalServerError": FailureClass.OVERLOAD,
    "flexUnavailable": FailureClass.OVERLOAD,
    "policyCapacityUnavailable": FailureClass.OVERLOAD,
    "unauthorized": FailureClass.AUTH,
    "cyberPolicy": FailureClass.REFUSAL,
    "bioPolicy": FailureClass.REFUSAL,
    "misalignmentPolicyViolation": FailureClass.REFUSAL,
    "inferenceHookDenied": FailureClass.REFUSAL,
}

WORDING = Wording(
    (
        (FailureClass.CONTEXT_OVERFLOW, r"Codex ran out of room in the model's context window"),
        (
            FailureClass.AUTH,
            r"Missing environment variable: `?\w{0,40}(?:KEY|TOKEN)\b|(?:please )?run `?codex login\b",
        ),
        (FailureClass.USAGE_LIMIT, r"To use Codex with your ChatGPT plan, upgrade"),
        (FailureClass.OVERLOAD, r"stream (?:disconnected|closed) before|error sending request for url"),
    ),
    leads=(
        r"Reconnecting\.\.\. \d+/\d+ \(?|exceeded retry limit, |stream disconnected before completion: "
        r"|Incomplete response returned, |Error while reading the server response: "
        r"|unexpected status \d{3} [A-Za-z ]{1,40}: "
    ),
)
_SHORT = re.compile(r"per[ -]min|\b[RT]PM\b|last status: 429|429 too many requests", re.IGNORECASE)


def code_of(info: object) -> tuple[str, int | None]:
    """(`codexErrorInfo` as a name, the HTTP status in it): it is a string, or an object with one member."""
    if isinstance(info, str):
        return jsonline.clean(info), None
    for name, detail in jsonline.mapping(info).items():
        return jsonline.clean(name), jsonline.integer(jsonline.mapping(detail).get("httpStatusCode"))
    return "", None


def class_of(text: str, code: str = "", status: int | None = None) -> FailureClass | None:
    """The class that the code, the status and the words tell; None when they tell none."""
    if found := _CODES.get(code):
        return found
    return of_status(status or 0) or WORDING.of_error(text)


def classify(text: str, now: float, code: str = "", status: int | None = None) -> Failure:
    """The failure, with the reset that the words tell; a quota window of the stream knows better."""
    kind = class_of(text, code, status) or FailureClass.UNKNOWN
    short = code == "rateLimitExceeded" or _SHORT.search(text) or status == _TOO_MANY
    window = MINUTE_WINDOW if short and code != "usageLimitExceeded" else ""
    return failure(kind, text, now, zone=HERE, window=window)


def from_exit(stderr: str, now: float, how: str) -> Failure:
    """The failure of a run that ended without saying why: its standard error, else a crash."""
    found = WORDING.of_exit(stderr, now, how)
    return found if found.kind is FailureClass.CRASH else classify(found.text, now)
