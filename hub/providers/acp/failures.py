"""Why an agent that speaks ACP stopped: JSON-RPC errors, the words in them and its standard error -> failure class.

Owns: the table of words that model vendors use, whoever the agent is, and the frame of a classification.
Must not: keep state, believe an exit code (such agents leave with 0), or know the words of one agent's own making
(its `failures.py` does; it asks this table last).

Order of belief: the words first, for vendors answer a bad key and a full context both with 400; then the HTTP status
at the head of the words ("429 You exceeded ..."), then the JSON-RPC code, which in some agents is the status.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from hub.domain.failure import Failure, FailureClass
from hub.domain.resets import parse_reset
from hub.providers import jsonline
from hub.providers.rpc import Fault

MINUTE_WINDOW = "minute"
DAY_WINDOW = "day"
AUTH_REQUIRED = -32000
"""ACP: the agent is not logged in."""
NO_ANSWER = "The turn ended without an answer: the model's safeguards blocked it, or it said nothing."
LONG_WAIT = 90.0
"""A wait longer than this is no per-minute limit's, whatever the words around it say."""
ClassOf = Callable[[str, int], FailureClass | None]

_TOO_MANY = 429
_CONTEXT_TOO_LARGE = 413
_UNAUTHORISED = frozenset({401, 403, AUTH_REQUIRED})
_NO_MONEY = 402
_SERVER_ERRORS = range(500, 600)
_TEXTS: Sequence[tuple[FailureClass, str]] = (
    (FailureClass.OVERLOAD, r"exhausted your capacity|capacity exceeded|model_capacity_e\w+"),
    (FailureClass.USAGE_LIMIT, r"exceeded your current quota|quota (?:exceeded|exhausted)|exhausted your"),
    (
        FailureClass.USAGE_LIMIT,
        r"insufficient[_ ](?:quota|balance|credits?)|resource_exhausted|out of credits?",
    ),
    (
        FailureClass.USAGE_LIMIT,
        r"(?:usage|rate|daily|weekly|monthly|session|request)[ _]limit|rate[- ]limited",
    ),
    (FailureClass.USAGE_LIMIT, r"too many requests|credit balance is too low|requests? per (?:min|day|hour)"),
    (
        FailureClass.AUTH,
        r"api[ _-]?key (?:not valid|is missing|provided|expired)|(?:invalid|incorrect) api[ _-]?key",
    ),
    (FailureClass.AUTH, r"invalid[_ ]api[_ ]key|x-api-key|unauthenticated|unauthorized|authentication"),
    (FailureClass.AUTH, r"invalid_grant|permission_denied|not logged in|(?:log|sign) ?in (?:is )?required"),
    (FailureClass.AUTH, r"please (?:log|sign) ?in|(?:no|missing) (?:api key|credentials)"),
    (
        FailureClass.CONTEXT_OVERFLOW,
        r"(?:maximum )?context (?:length|window)|prompt is too long|too many tokens",
    ),
    (FailureClass.CONTEXT_OVERFLOW, r"input token count|maximum number of tokens|context_length_exceeded"),
    (FailureClass.REFUSAL, r"safety settings|prohibited_content|content[_ ](?:filter|policy)|blocked due to"),
    (FailureClass.REFUSAL, r"flagged (?:by|as)|usage polic|recitation|refused to"),
    (FailureClass.OVERLOAD, r"overloaded|unavailable|fetch failed|socket hang up|etimedout|econnre\w+"),
    (
        FailureClass.OVERLOAD,
        r"internal server error|bad gateway|gateway time-?out|connection error|timed? ?out",
    ),
)
_TABLE = [(kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in _TEXTS]
_STATUS = re.compile(r"(?:\A|\b(?:error|HTTP|status(?: code)?|API Error):? ?\(?)([45]\d\d)\b", re.IGNORECASE)
_DAILY = re.compile(r"daily|per ?day", re.IGNORECASE)
_MINUTELY = re.compile(r"per ?min(?:ute)?\b", re.IGNORECASE)
_FRAME = re.compile(r"\s+at .*[:(]")
_EMPTY = frozenset({"", "internal error", "internal server error", "unknown error"})


def class_of(text: str, code: int = 0) -> FailureClass | None:
    """The class that the words and the code tell; None when they tell none."""
    found = next((kind for kind, pattern in _TABLE if pattern.search(text)), None)
    if found is not None and found is not FailureClass.OVERLOAD:
        return found
    told = _STATUS.search(text)
    return found or of_status(int(told[1]) if told else code)


def of_status(status: int) -> FailureClass | None:
    """The class of an HTTP status, or of a JSON-RPC code of ACP's."""
    if status in (_TOO_MANY, _NO_MONEY):
        return FailureClass.USAGE_LIMIT
    if status in _UNAUTHORISED:
        return FailureClass.AUTH
    if status == _CONTEXT_TOO_LARGE:
        return FailureClass.CONTEXT_OVERFLOW
    return FailureClass.OVERLOAD if status in _SERVER_ERRORS else None


def words_of(error: Fault) -> str:
    """What an error says: its message and, where that says nothing, what its data adds."""
    data = jsonline.mapping(error.data)
    more = [jsonline.text(data.get(name)) for name in ("details", "message", "error", "reason")]
    told = next(filter(None, more), jsonline.text(error.data))
    if error.message.strip().lower() in _EMPTY:
        return told or error.message
    return error.message if not told or told in error.message else f"{error.message}: {told}"


def classify(
    text: str, code: int, now: float, *, hint: float | None = None, kinds: ClassOf = class_of
) -> Failure:
    """The failure.

    Args:
        text: The error's words, or the error body the vendor sent.
        code: The JSON-RPC error code, or the HTTP status.
        now: When it came, epoch seconds.
        hint: The reset that was told elsewhere, if any.
        kinds: The agent's own `class_of`.
    """
    kind = kinds(text, code) or FailureClass.UNKNOWN
    said = readable(text)
    if kind is not FailureClass.USAGE_LIMIT:
        return Failure(kind, said)
    reset = parse_reset(text, now, None)
    resets_at = reset.at if reset else hint
    return Failure(kind, said, resets_at, window(text, None if resets_at is None else resets_at - now))


def window(text: str, wait: float | None) -> str:
    """The quota window that a limit's words and its wait tell; "" for none."""
    if _DAILY.search(text):
        return DAY_WINDOW
    if wait is not None and wait > LONG_WAIT:
        return ""
    return MINUTE_WINDOW if _MINUTELY.search(text) or wait is not None else ""


def readable(text: str) -> str:
    """The message inside an error body; the text itself where it is none."""
    body = jsonline.mapping((jsonline.read(text.encode("utf-8", "replace")) or {}).get("error"))
    return jsonline.text(body.get("message")) or text


def from_exit(stderr: str, now: float, how: str, kinds: ClassOf = class_of) -> Failure:
    """The failure of a run that ended without an answer: its standard error, else a crash."""
    # Numbers in a stack trace (`chunk.js:503:28`) are no status.
    words = "\n".join(line for line in stderr.splitlines() if not _FRAME.match(line)).strip()
    kind = kinds(words, 0) if words else None
    if kind is None:
        return Failure(FailureClass.CRASH, f"{how}: {words}" if words else how, source="exit")
    reset = parse_reset(words, now, None) if kind is FailureClass.USAGE_LIMIT else None
    return Failure(kind, words, reset.at if reset else None, source="stderr")


def of_stop(stop: str, title: str) -> Failure:
    """The failure of a turn that ended with another stop reason than a finished one."""
    match stop:
        case "refusal":
            return Failure(FailureClass.REFUSAL, "The model refused to go on.")
        case "max_tokens":
            return Failure(FailureClass.CONTEXT_OVERFLOW, "The task no longer fits the model's context.")
        case "max_turn_requests":
            return Failure(FailureClass.UNKNOWN, f"{title} stopped: too many steps in one turn, or a loop.")
        case _:
            return Failure(FailureClass.UNKNOWN, f"{title} stopped: {stop or 'no reason'}")
